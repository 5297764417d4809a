#!/bin/bash
# Makes .venv-otree: oTree with its old pins, apart from Parley's own packages.
# Does nothing when it was already made from these very requirements.
set -euo pipefail
cd "$(dirname "$0")/../.."

wanted=$({ pwd; cat deploy/otree/requirements.txt; } | sha256sum | cut -d' ' -f1)
stamp=.venv-otree/parley.stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

python=$(deploy/setup/python.sh)
echo "Setting up .venv-otree with $python …"
"$python" -m venv --clear .venv-otree
install() {
    .venv-otree/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 "$@"
}
# Most of oTree's pins come as sources. Built by one setuptools, and SQLAlchemy without its parts in C, they
# take a third of the time.
install "setuptools<81" wheel
DISABLE_SQLALCHEMY_CEXT=1 install --no-build-isolation --no-compile -r deploy/otree/requirements.txt
echo "$wanted" > "$stamp"
