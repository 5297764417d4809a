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
wanted=$({ pwd; cat "$@"; } | sha256sum | cut -d' ' -f1)
stamp=$venv/parley-$(basename "${@: -1}").stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

python=$(deploy/setup/python.sh)
echo "Setting up $venv with $python …"
installs=()
for lock in "$@"; do installs+=(-r "$lock"); done

if command -v uv >/dev/null; then
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -c '' 2>/dev/null || uv venv --quiet --clear --python "$python" "$venv"
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
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes "${installs[@]}"
fi
echo "$wanted" > "$stamp"
