#!/bin/bash
# Create .venv-inspect: inspect_ai, which reads what `manage.py export_inspect` writes, apart from Parley's packages.
# Does nothing if it already exists with exactly these requirements.
set -euo pipefail
cd "$(dirname "$0")/../.."

wanted=$({ pwd; cat requirements-inspect.txt; } | sha256sum | cut -d' ' -f1)
stamp=.venv-inspect/parley.stamp
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

python=$(deploy/setup/python.sh)
echo "Setting up .venv-inspect with $python …"
"$python" -m venv --clear .venv-inspect
.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 \
    --no-compile -r requirements-inspect.txt
echo "$wanted" > "$stamp"
