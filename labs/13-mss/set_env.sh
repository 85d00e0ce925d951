#!/usr/bin/env bash
# Lab 13: make the settings that stand before SECTION, or all.  Usage: sudo ./set_env.sh [SECTION]
# Derived from manual.md by `linklab set-env`; change the manual, not this file.
set -euo pipefail
m() { # node command…: run a command on a node of the running network; what it prints says which
  local pid
  pid=$(pgrep -o -f "mininet:$1\$") || { echo "set_env.sh: node $1 is not running" >&2; exit 3; }
  mnexec -a "$pid" "${@:2}" | sed "s/^/$1: /"
}
sections="1 1.1 1.2 1.3 2 2.1 3 3.1 3.2 3.3 3.4 4 4.1 4.2 5 6 end"
[[ " $sections " == *" ${1:-end} "* ]] || { echo "set_env.sh: no section $1; I know $sections" >&2; exit 2; }
at() { for section; do [[ $section != "$goal" ]] || exit 0; done; } # ends the script at the section asked for
goal=${1:-end}
settings() {
    tc qdisc del dev s1-eth2 root 2>/dev/null || true
    at 1 1.1 1.2 1.3 2 2.1
    tc qdisc add dev s1-eth2 root handle 1: netem loss 1%
    tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 15000000
    at 3 3.1 3.2
    m h1 ifconfig h1-eth0 mtu 9000
    m h2 ifconfig h2-eth0 mtu 9000
    ifconfig s1-eth1 mtu 9000
    ifconfig s2-eth1 mtu 9000
    at 3.3
    ifconfig s1-eth2 mtu 9000
    ifconfig s2-eth2 mtu 9000
    at 3.4 4 4.1
    tc qdisc change dev s1-eth2 root handle 1: netem delay 10ms loss 0.01% limit 10000
    m h1 ethtool -K h1-eth0 tso off
}
settings
