#!/bin/bash
# Print the Python for the environment: $PARLEY_PYTHON, or the first of python3.11 and python3 that is new enough.
set -euo pipefail

candidates=(python3.11 python3)
[ -z "${PARLEY_PYTHON:-}" ] || candidates=("$PARLEY_PYTHON")
for candidate in "${candidates[@]}"; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
done
echo "Parley needs Python 3.11 or newer, and found none as ${candidates[*]}." >&2
exit 1
