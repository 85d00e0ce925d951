#!/usr/bin/env bash
# Print Jain's fairness index of the flows in iperf3's JSON: of the mean throughput of each over its whole test, as the
# receiver saw it. Flows of several files count together, parallel streams each, and with --bidir each direction alone.
# Usage: fairness.sh FILE.json...
set -euo pipefail
# Inside a network linklab is on the path; other programs, such as readlink, would take network time there.
if ! command -v linklab >/dev/null; then
  here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
  PATH="$PATH:$here/../.venv/bin"
fi
exec linklab fairness "$@"
