#!/bin/bash
# A test runs the real nginx: as root, install it if missing; otherwise, report it (the test is skipped).
set -euo pipefail
cd "$(dirname "$0")/../.."

PATH="$PATH:/usr/sbin"
command -v nginx >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    deploy/setup/apt.sh nginx-light
else
    echo "The test of deploy/nginx.conf needs nginx, which is missing: apt-get install nginx-light."
fi
