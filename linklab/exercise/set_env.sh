#!/bin/sh
# Set this exercise's environment in the running network, from the Client's terminal.  Usage: sudo ./set_env.sh
# The same script in every exercise: what it sets is in instance.json beside it.  It may be run again, by any shell.
folder=$(cd -- "$(dirname -- "$0")" && pwd)
if [ -z "${LINKLAB_INSIDE:-}" ] && ! python3 -c 'import linklab' 2>/dev/null; then
  echo "set_env.sh: run this inside the network, in its Client's terminal: linklab attach client" >&2
  exit 1
fi
PYTHONSAFEPATH=1 python3 -m linklab.agent.exercise_env "$folder"
