# SPDX-License-Identifier: BSD-3-Clause
"""The Spanning Tree Protocol (IEEE 802.1D) on the switches of a network, and the wait until the tree has formed.

The timers are the shortest that the standard allows, 4 s each to listen and to learn, so that a loop costs eight
seconds, not thirty. Imported only for networks that ask for it, and by the meter where switches form a loop.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from linklab.agent import ovs_tables
from linklab.agent.open_vswitch import call

FORWARD_DELAY_S, MAX_AGE_S, HELLO_S = 4, 6, 2
STATES = ("disabled", "listening", "learning", "forwarding", "blocking")
"""By the numbers BR_STATE_… of include/uapi/linux/if_bridge.h; stp_state of Open vSwitch has the same words."""
UNSETTLED = ("listening", "learning")
INTERFACES = Path("/sys/class/net")
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


def wait() -> str:
    """Until no port listens or learns any more: what is sent before is lost.

    Returns:
        "", or a sentence where ports still do after DEADLINE_S, or Open vSwitch does not say whether they do.
    """
    time.sleep(POLL_S)
    deadline = time.monotonic() + DEADLINE_S
    while (words := _unformed()) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return words


def _unformed() -> str:
    """Why the tree cannot be relied on yet; "" if it has formed."""
    try:
        ports = unsettled({**bridge_ports(), **ovs_ports()}.items())
    except ovs_tables.UnreadableError as error:
        return f"after {DEADLINE_S} s the state of the spanning tree could not be read: {error}"
    if not ports:
        return ""
    return (
        f"the spanning tree has not formed: after {DEADLINE_S} s {', '.join(ports)} still "
        f"{'listens or learns' if len(ports) == 1 else 'listen or learn'}, so frames are lost there"
    )


def unsettled(states: Iterable[tuple[str, str]]) -> list[str]:
    """The ports that neither forward nor block yet."""
    return sorted(port for port, state in states if state in UNSETTLED)


def bridge_ports() -> dict[str, str]:
    """The state of each port of a Linux bridge, one of STATES."""
    found = {path.parent.parent.name: _number(path) for path in INTERFACES.glob("*/brport/state")}
    return {port: STATES[number] for port, number in found.items() if 0 <= number < len(STATES)}


def bridge_roots() -> list[str]:
    """The Linux bridges that are the root of their spanning tree."""
    speaking = [path.parent for path in INTERFACES.glob("*/bridge/stp_state") if _number(path) > 0]
    return [each.parent.name for each in speaking if _text(each / "root_id") == _text(each / "bridge_id")]


def ovs_ports() -> dict[str, str]:
    """The state of each port of Open vSwitch that speaks STP, one of STATES; may raise UnreadableError."""
    rows = ovs_tables.table("Port", "name,status")
    return {name: status["stp_state"] for name, status in rows if "stp_state" in status}


def ovs_roots() -> list[str]:
    """The bridges of Open vSwitch that are the root of their spanning tree; may raise UnreadableError."""
    rows = [(name, status) for name, status in ovs_tables.table("Bridge", "name,status") if "stp_bridge_id" in status]
    return [name for name, status in rows if status["stp_bridge_id"] == status.get("stp_designated_root")]


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # the interface has gone meanwhile
        return ""


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdecimal() else -1
