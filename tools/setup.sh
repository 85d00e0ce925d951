#!/usr/bin/env bash
# Set up this machine for Linklab; quick when nothing has changed.  Usage: setup.sh [packages|tools|all|browser|firefox|deb|vm|vm-arm64]  (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."

python=/usr/bin/python3 # the distribution's: Mininet, tkinter and matplotlib are installed for it
if [ ! -x "$python" ]; then
  echo "setup: installing python3"
  if [ "$(id -u)" = 0 ]; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3
  elif sudo -n true 2>/dev/null; then
    sudo -n apt-get update && sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3
  else
    echo "setup: python3 is missing; run: sudo apt-get install python3" >&2
    exit 4
  fi
fi
exec "$python" tools/setup.py "$@"
