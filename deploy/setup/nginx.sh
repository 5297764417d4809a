#!/bin/bash
# Tests run the real nginx, and check the units with systemd: as root, install what is missing; otherwise, report it
# (those tests are skipped).
set -euo pipefail
cd "$(dirname "$0")/../.."

PATH="$PATH:/usr/sbin"
missing=()
command -v nginx >/dev/null || missing+=(nginx-light)
command -v systemd-analyze >/dev/null || missing+=(systemd)
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    deploy/setup/apt.sh "${missing[@]}"
else
    echo "The tests of deploy/nginx.conf and deploy/systemd need what is missing: apt-get install ${missing[*]}."
fi
