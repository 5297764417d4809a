#!/bin/bash
# Print the Python for the environment: 3.11 or newer.
set -euo pipefail

for candidate in python3.11 python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
done
echo "Parley needs Python 3.11 or newer, and found none as python3.11 or python3." >&2
exit 1
