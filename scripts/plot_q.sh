#!/usr/bin/env bash
# Plot how full the queue of an interface is while the network runs; the key s stops it and saves the figure.
# Usage: plot_q.sh IFACE   or, without a display: plot_q.sh IFACE --out FILE.pdf --seconds N
set -euo pipefail
# Inside a network linklab is on the path; other programs, such as readlink, would take network time there.
if ! command -v linklab >/dev/null; then
  here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
  PATH="$PATH:$here/../.venv/bin"
fi
exec linklab plot queue "$@"
