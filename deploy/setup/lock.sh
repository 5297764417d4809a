#!/bin/bash
# Write requirements*.lock: the current versions for the ranges in requirements*.txt. The first three form one
# environment, each adding to those before it; requirements-docs.lock is a separate environment.
# lock.sh [docs]: only requirements-docs.lock.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

python=$(deploy/setup/python.sh)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$python" -m venv "$fresh/venv"

quiet_pip() {  # PYTHON ARGUMENT...
    "$1" -m pip --disable-pip-version-check "${@:2}"
}
pinned() {
    quiet_pip "$1" freeze --exclude pip --exclude setuptools --exclude wheel | sort -f
}
# The hashes of every file in the registry, so that later installations get exactly these files.
hashed() {
    if grep -qE '@ |://' "$1"; then
        echo "These were installed from a URL and cannot be locked:" >&2
        grep -E '@ |://' "$1" >&2
        exit 1
    fi
    "$fresh/tools/bin/uv" pip compile --quiet --no-deps --universal --generate-hashes --no-annotate --no-header "$1"
}
"$python" -m venv "$fresh/tools"
quiet_pip "$fresh/tools/bin/python" install --quiet uv

"$python" -m venv "$fresh/docs"
quiet_pip "$fresh/docs/bin/python" install --quiet -r requirements-docs.txt
pinned "$fresh/docs/bin/python" > "$fresh/of-docs"
{ echo "# Made by \`make lock\` from requirements-docs.txt, for .venv-docs alone."; hashed "$fresh/of-docs"; } \
    > requirements-docs.lock
if [ "${1:-}" = docs ]; then
    exit 0
fi

main=$fresh/venv/bin/python
quiet_pip "$main" install --quiet -r requirements.txt
pinned "$main" > "$fresh/core"
quiet_pip "$main" install --quiet -r requirements-analysis.txt -c "$fresh/core"
pinned "$main" > "$fresh/with-analysis"
quiet_pip "$main" install --quiet -r requirements-test.txt -c "$fresh/with-analysis"
pinned "$main" > "$fresh/all"

comm -13 <(sort "$fresh/core") <(sort "$fresh/with-analysis") | sort -f > "$fresh/analysis"
comm -13 <(sort "$fresh/with-analysis") <(sort "$fresh/all") | sort -f > "$fresh/test"
{ echo "# Made by \`make lock\` from requirements.txt."; hashed "$fresh/core"; } > requirements.lock
{
    echo "# Made by \`make lock\` from requirements-analysis.txt; comes on top of requirements.lock."
    hashed "$fresh/analysis"
} > requirements-analysis.lock
{
    echo "# Made by \`make lock\` from requirements-test.txt; comes on top of requirements-analysis.lock."
    hashed "$fresh/test"
} > requirements-test.lock
