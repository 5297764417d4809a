#!/bin/bash
# Create .venv-otree: oTree with its old pins, separate from Parley's own packages.
# Does nothing if it already exists with exactly these requirements.
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
# Most of oTree's pins are source packages. Building them with one setuptools, and SQLAlchemy without its C
# extensions, takes a third of the time.
install "setuptools<81" wheel
DISABLE_SQLALCHEMY_CEXT=1 install --no-build-isolation --no-compile -r deploy/otree/requirements.txt
echo "$wanted" > "$stamp"
