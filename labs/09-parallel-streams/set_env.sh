#!/usr/bin/env bash
# Lab 9: undo changes to queues, offloads, MTU, and sysctls, then repeat the settings before SECTION, or all.
# Usage, in any terminal of the running network: sudo ./set_env.sh [SECTION]
# Derived from manual.md by `linklab set-env`; change the manual, not this file.
set -euo pipefail
m() { # node command…: run a command on a node of the running network; what it prints says which
  local pid
  pid=$(pgrep -o -f "mininet:$1\$") || { echo "set_env.sh: node $1 is not running" >&2; exit 3; }
  mnexec -a "$pid" "${@:2}" | sed "s/^/$1: /"
}
sections="1 1.1 1.2 1.3 1.4 1.5 2 2.1 2.2 3 4 4.1 4.2 4.3 5 6 end"
[[ " $sections " == *" ${1:-end} "* ]] || { echo "set_env.sh: no section $1; I know $sections" >&2; exit 2; }
pgrep -f "mininet:" >/dev/null || {
  echo "set_env.sh: no network is running here; type this in a terminal of it, such as the one of: linklab attach" >&2
  exit 3
}
[[ $(id -u) == 0 ]] || { echo "set_env.sh: only root may change these settings: sudo ./set_env.sh $*" >&2; exit 3; }
here=$(readlink /proc/self/ns/net) root=$(readlink /proc/1/ns/net || true)
[[ -z $root || $here == "$root" ]] || exec mnexec -a 1 bash "$0" "$@" # a node does not see the switches' ports
# tells the guide that what changes from here on is this script's doing: its process, and when that started
if [[ -d /sys/module/pocket ]]; then
  stat=$(</proc/$$/stat)
  read -ra stat <<<"${stat##*) }"
  echo "$$ ${stat[19]}" >>/run/linklab/set_env || true
fi
at() { # ends the script at the section asked for
  for section; do [[ $section != "$goal" ]] || { echo "Section $goal can begin."; exit 0; }; done
}
goal=${1:-end}
undo() { # whatever was set since the network was started; where Linklab keeps no record of that, only the queues
  local status=3
  [[ -z ${LINKLAB_INSIDE:-} ]] || { status=0; PYTHONSAFEPATH=1 python3 -m linklab.agent.fresh || status=$?; }
  case $status in
  0) return ;;
  3) ;; # no record
  *) echo "set_env.sh: not everything could be undone, see above; the settings were not made" >&2; exit 1 ;;
  esac
  tc qdisc del dev s1-eth2 root 2>/dev/null || true
}
settings() {
    at 1 1.1 1.2 1.3 1.4 1.5 2 2.1
    tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms
    tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 15000000
    at 2.2 3 4 4.1
    tc qdisc del dev s1-eth2 root
    tc qdisc add dev s1-eth2 root handle 1: netem loss 1%
    tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 15000000
}
undo
settings
echo "All settings are made."
