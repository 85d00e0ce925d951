#!/usr/bin/env bash
# Print Jain's fairness index of the streams in iperf3's JSON.
# Usage: fairness.sh FILE.json...
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
PATH="$PATH:$here/../.venv/bin"
exec linklab fairness "$@"
