#!/bin/bash
# apt.sh PACKAGE...: install Debian packages, refreshing apt's lists only if a package is unknown. Needs root.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
echo "Installing with apt: $*"
install=(apt-get install -y -qq --no-install-recommends "$@")
"${install[@]}" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}" >/dev/null; }
