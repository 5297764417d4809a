#!/bin/bash
# Writes requirements.lock, requirements-analysis.lock and requirements-test.lock: what the ranges in
# requirements*.txt resolve to today. Each comes on top of those before it.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."

python=$(deploy/setup/python.sh)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$python" -m venv "$fresh/venv"
pip=("$fresh/venv/bin/python" -m pip --disable-pip-version-check)

pinned() {
    "${pip[@]}" freeze --exclude pip --exclude setuptools --exclude wheel | sort -f
}

"${pip[@]}" install --quiet -r requirements.txt
pinned > "$fresh/core"
"${pip[@]}" install --quiet -r requirements-analysis.txt -c "$fresh/core"
pinned > "$fresh/with-analysis"
"${pip[@]}" install --quiet -r requirements-test.txt -c "$fresh/with-analysis"
pinned > "$fresh/all"

if grep -qE '@ |://' "$fresh/all"; then
    echo "These came from an address and cannot be locked:" >&2
    grep -E '@ |://' "$fresh/all" >&2
    exit 1
fi
# The hashes of every file that the registry has of each: what is installed later is what was looked at now.
"${pip[@]}" install --quiet uv
hashed() {
    "$fresh/venv/bin/uv" pip compile --quiet --no-deps --universal --generate-hashes --no-annotate --no-header "$1"
}
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
