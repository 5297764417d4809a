#!/bin/bash
# The browser tests use Debian's chromium: as root, install it if missing; otherwise, report it.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v chromium >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    deploy/setup/apt.sh chromium
fi
if ! command -v chromium >/dev/null; then
    echo "The browser tests need chromium, which is missing: apt-get install chromium." >&2
    exit 1
fi
