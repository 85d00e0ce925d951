# SPDX-License-Identifier: BSD-3-Clause
"""The Spanning Tree Protocol (IEEE 802.1D) on the switches of a network, and the wait until the tree has formed.

The timers are the shortest that the standard allows, 4 s each to listen and to learn, so that a loop costs eight
seconds, not thirty. Imported for networks that ask for it alone.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from linklab.agent.open_vswitch import call

FORWARD_DELAY_S, MAX_AGE_S, HELLO_S = 4, 6, 2
LISTENING, LEARNING = "1", "2"
"""BR_STATE_LISTENING and BR_STATE_LEARNING of include/uapi/linux/if_bridge.h."""
DEADLINE_S = 60
POLL_S = 0.25


def begin(switch: Any, kind: str) -> None:
    """Have a switch that has just started speak STP with our timers."""
    if kind != "legacySwitch":
        timers = (
            f"other_config:stp-forward-delay={FORWARD_DELAY_S}",
            f"other_config:stp-max-age={MAX_AGE_S}",
            f"other_config:stp-hello-time={HELLO_S}",
        )
        call(["ovs-vsctl", "set", "Bridge", switch.name, "stp_enable=true", *timers])
        return
    switch.cmd(f"ifconfig {switch.name} down")  # the timers that run keep their old length
    switch.cmd(f"brctl setfd {switch.name} {FORWARD_DELAY_S}")
    switch.cmd(f"brctl setmaxage {switch.name} {MAX_AGE_S}")
    switch.cmd(f"brctl sethello {switch.name} {HELLO_S}")
    switch.cmd(f"ifconfig {switch.name} up")


def wait() -> None:
    """Until no port listens or learns any more: what is sent before is lost."""
    time.sleep(POLL_S)
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline and (_bridges_learn() or _ovs_learns()):
        time.sleep(POLL_S)


def _bridges_learn() -> bool:
    states = (path.read_text().strip() for path in Path("/sys/class/net").glob("*/brport/state"))
    return any(state in (LISTENING, LEARNING) for state in states)


def _ovs_learns() -> bool:
    if not Path("/var/run/openvswitch/db.sock").exists():
        return False
    asked = ["ovs-vsctl", "--bare", "--columns=status", "list", "Port"]
    shown = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return "stp_state=listening" in shown or "stp_state=learning" in shown
