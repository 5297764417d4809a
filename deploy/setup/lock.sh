#!/bin/bash
# Write requirements*.lock: the current versions for the ranges in requirements*.txt, for every Python from 3.11.0 on.
# The first three form one environment, each adding to those before it; requirements-docs.lock is a separate one.
# lock.sh [--keep] [docs]: keep the present versions where the ranges allow them; only requirements-docs.lock.
set -euo pipefail
cd "$(dirname "$0")/../.."

upgrade=(--upgrade)
if [ "${1:-}" = --keep ]; then
    upgrade=()
    shift
fi
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$(deploy/setup/python.sh)" -m venv "$tools"
"$tools/bin/python" -m pip --disable-pip-version-check install --quiet uv

# Markers say which Python needs a package. The hashes are those of every file in the registry, so that later
# installations get exactly these files.
lock() {  # PART WHERE-IT-GOES [PART-BELOW...]
    local part=$1 below=()
    for lower in "${@:3}"; do
        below+=(-c "requirements$lower.lock")
        mapfile -t -O "${#below[@]}" below < <(sed -nE 's/^([a-z0-9._-]+)==.*/--no-emit-package=\1/p' "requirements$lower.lock")
    done
    "$tools/bin/uv" pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
        --no-annotate --no-header "${upgrade[@]}" "${below[@]}" "requirements$part.txt" -o "requirements$part.lock"
    sed -i "1i # Made by \`make lock\` from requirements$part.txt$2." "requirements$part.lock"
}
lock -docs ", for .venv-docs alone"
if [ "${1:-}" != docs ]; then
    lock "" ""
    lock -analysis "; comes on top of requirements.lock" ""
    lock -test "; comes on top of requirements-analysis.lock" "" -analysis
fi
