#!/usr/bin/env bash
# Makes .venv-otree: oTree with its old pins, apart from Parley's own packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ ! -x .venv-otree/bin/otree ] || [ deploy/otree/requirements.txt -nt .venv-otree/installed ]; then
    [ -x .venv-otree/bin/python ] || "$(deploy/setup/python.sh)" -m venv .venv-otree
    echo "Setting up .venv-otree …"
    .venv-otree/bin/pip install --quiet --disable-pip-version-check -r deploy/otree/requirements.txt
    touch .venv-otree/installed
fi
