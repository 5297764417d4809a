#!/bin/bash
# venv.sh [--compile] [--into FOLDER] LOCK...: create an environment in FOLDER (.venv) with exactly the packages of the
# lock files. Does nothing if it already exists with exactly these files.
# Modules are compiled when they are first imported, which makes a first start much faster; --compile compiles them all
# now, for servers that run as a user who must not write here.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/setup/progress.sh

venv=.venv compile=false
if [ "$1" = --compile ]; then
    compile=true
    shift
fi
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
compile_all() {
    ! $compile || "$venv/bin/python" -m compileall -q -j 0 "$venv/lib" >/dev/null || true  # some packages contain templates
}
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    compile_all
    exit 0
fi

say "Setting up $venv with $("$python" -V) ($python); later starts skip this"
if [ -e "$venv" ] && [ "$(version_of "$venv/bin/python")" != "$(version_of "$python")" ]; then
    rm -rf "$venv"
fi
installs=()
for lock in "$@"; do installs+=(-r "$lock"); done
creating() { echo "still creating $venv"; }
installing() {
    local found installed
    found=$(grep -cE '^(Collecting|Processing) ' "$1" || true)
    installed=$(find "$venv/lib" -mindepth 3 -maxdepth 3 -name '*.dist-info' | wc -l)
    if grep -q '^Installing' "$1"; then
        echo "$((installed < found ? installed : found)) of $found packages installed"
    else
        echo "$found packages found"
    fi
}
getting_venv() { echo "still installing python3-venv"; }

if command -v uv >/dev/null; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --clear --python "$python" "$venv"
    say "Installing packages with uv"
    during installing uv pip install --quiet --require-hashes --python "$venv/bin/python" "${installs[@]}"
else
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            say "Installing python3-venv"
            during getting_venv deploy/setup/apt.sh python3-venv
        fi
        if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python cannot make virtual environments: install python3-venv (apt-get install python3-venv)." >&2
            exit 1
        fi
    fi
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || during creating "$python" -m venv --clear "$venv"
    # The lock files name every package that is needed, so pip does not have to look for others.
    say "Installing packages"
    during installing "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off \
        --no-compile --no-deps --require-hashes "${installs[@]}"
fi
compile_all
echo "$wanted" > "$stamp"
say "The packages are installed"
