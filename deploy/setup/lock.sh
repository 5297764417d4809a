#!/bin/bash
# Writes requirements.lock and requirements-test.lock: what the ranges in requirements*.txt resolve to today.
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
"${pip[@]}" install --quiet -r requirements-test.txt -c "$fresh/core"
pinned > "$fresh/all"

if grep -qE '@ |://' "$fresh/all"; then
    echo "These came from an address and cannot be locked:" >&2
    grep -E '@ |://' "$fresh/all" >&2
    exit 1
fi
{ echo "# Made by \`make lock\` from requirements.txt."; cat "$fresh/core"; } > requirements.lock
{
    echo "# Made by \`make lock\` from requirements-test.txt; comes on top of requirements.lock."
    comm -13 <(sort "$fresh/core") <(sort "$fresh/all") | sort -f
} > requirements-test.lock
