#!/usr/bin/env bash
# Plot every field of iperf3's JSON into results/ of the current folder; several files go into the same figures.
# Usage: plot_iperf.sh FILE.json...
set -euo pipefail
# Inside a network linklab is on the path; other programs, such as readlink, would take network time there.
if ! command -v linklab >/dev/null; then
  here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
  PATH="$PATH:$here/../.venv/bin"
fi
exec linklab plot iperf "$@"
