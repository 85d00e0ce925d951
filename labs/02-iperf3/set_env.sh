#!/usr/bin/env bash
# Lab 2: make the settings that stand before SECTION, or all.  Usage: sudo ./set_env.sh [SECTION]
# Derived from manual.md by `linklab set-env`; change the manual, not this file.
set -euo pipefail
m() { # node command…: run a command on a node of the running network; what it prints says which
  local pid
  pid=$(pgrep -o -f "mininet:$1\$") || { echo "set_env.sh: node $1 is not running" >&2; exit 3; }
  mnexec -a "$pid" "${@:2}" | sed "s/^/$1: /"
}
sections="1 1.1 1.2 2 3 3.1 3.2 3.3 3.4 3.5 3.6 3.7 4 4.1 4.2 5 6 7 end"
[[ " $sections " == *" ${1:-end} "* ]] || { echo "set_env.sh: no section $1; I know $sections" >&2; exit 2; }
at() { for section; do [[ $section != "$goal" ]] || exit 0; done; } # ends the script at the section asked for
goal=${1:-end}
settings() {
    : nothing in this lab outlasts its section
}
settings
