#!/bin/bash
# venv.sh [--into FOLDER] LOCK...: create an environment in FOLDER (.venv) with exactly the packages of the lock files.
# Does nothing if it already exists with exactly these files.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=.venv
if [ "$1" = --into ]; then
    venv=$2
    shift 2
fi
python=$(deploy/setup/python.sh)
version_of() {
    "$1" -VV 2>/dev/null
}
wanted=$({ pwd; version_of "$python"; cat "$@"; } | sha256sum | cut -d' ' -f1)
stamp=$venv/parley-$(basename "${@: -1}").stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

echo "Setting up $venv with $python ($("$python" -V)). The first time, this takes a minute or two."
if [ -e "$venv" ] && [ "$(version_of "$venv/bin/python")" != "$(version_of "$python")" ]; then
    rm -rf "$venv"
fi
installs=()
for lock in "$@"; do installs+=(-r "$lock"); done

if command -v uv >/dev/null; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --clear --python "$python" "$venv"
    uv pip install --quiet --require-hashes --python "$venv/bin/python" "${installs[@]}"
else
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            deploy/setup/apt.sh python3-venv
        fi
        if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python cannot make virtual environments: install python3-venv (apt-get install python3-venv)." >&2
            exit 1
        fi
    fi
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off \
        --require-hashes "${installs[@]}" |
        awk '/^Collecting/ && ++count % 20 == 0 { print "  " count " packages found"; fflush() }
             /^Installing/ { print "  installing them"; fflush() }'
fi
echo "$wanted" > "$stamp"
