# SPDX-License-Identifier: BSD-3-Clause
"""How long networks of many hosts take to begin and to end, in the pocket and on the host engine; for `tools/bench.py`.

The large one is a tree of 32 x 32 hosts: Mininet's published figure for starting 1,024 hosts is 818 s (Lantz, Heller,
McKeown: A Network in a Laptop, HotNets 2010).
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linklab.engine.api import Clock, Typed
from linklab.engine.host import HostEngine
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

Found = tuple[str, str, str, bool]
TREE_PORTS = 32


def drawn(hosts: int, switches: int, *, tree: bool) -> Topology:
    """Hosts at Linux bridges, in turn; the bridges below the first, or in a row."""
    named = [_node(f"h{n}", n) for n in range(1, hosts + 1)]
    bridges = [_node(f"s{n}", n, switchType="legacySwitch") for n in range(1, switches + 1)]
    if tree:
        links = [_link(f"h{n}", f"s{(n - 1) // TREE_PORTS + 2}") for n in range(1, hosts + 1)]
        links += [_link(f"s{n}", "s1") for n in range(2, switches + 1)]
    else:
        links = [_link(f"h{n}", f"s{(n - 1) % switches + 1}") for n in range(1, hosts + 1)]
        links += [_link(f"s{n}", f"s{n + 1}") for n in range(1, switches)]
    whole = {"hosts": named, "switches": bridges, "links": links, "controllers": [], "version": "2"}
    return Topology.loads(json.dumps(whole), f"{hosts} hosts")


def _node(name: str, number: int, **opts: str) -> dict[str, Any]:
    return {"number": str(number), "opts": {"hostname": name, "nodeNum": number, **opts}, "x": "1", "y": "1"}


def _link(src: str, dest: str) -> dict[str, Any]:
    return {"src": src, "dest": dest, "opts": {}}


def start_and_stop(engine: Any, clock: Clock, topology: Topology, last: str) -> tuple[float, float]:
    """Wall seconds until the last host answers the first's network, and from there to nothing."""
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as work:
        begun = time.monotonic()
        with engine.start(topology, workdir=Path(work), clock=clock) as network:
            up = time.monotonic() - begun
            (done,) = network.run([Typed("h1", f"ping -c 1 -W 5 {last}")])
            if " 0% packet loss" not in done.output:
                raise RuntimeError(f"{last} does not answer h1: {done.output}")
            ending = time.monotonic()
        return up, time.monotonic() - ending


def hosts() -> list[Found]:
    """The networks of the table's rows; those of the host engine where root may be used."""
    found = []
    small, large = drawn(100, 10, tree=False), drawn(1024, 33, tree=True)
    if os.getuid() == 0:
        up, down = start_and_stop(HostEngine(), Clock.WALL, small, "10.0.0.100")
        what = "host engine, 100 hosts and 10 switches: start and stop"
        found.append((what, "under 10 s", f"{up:.1f} s + {down:.1f} s", up + down < 10))
        up, down = start_and_stop(HostEngine(), Clock.WALL, large, "10.0.4.0")
        what = "host engine, 1,024 hosts and 33 switches (Mininet's figure: 818 s)"
        found.append((what, "under 30 s", f"{up:.1f} s + {down:.1f} s", up + down < 30))
    for clock in (Clock.VIRTUAL, Clock.PACED):
        up, down = start_and_stop(PocketEngine(), clock, large, "10.0.4.0")
        what = f"pocket, {clock.value} clock, 1,024 hosts and 33 switches (Mininet's figure: 818 s)"
        found.append((what, "under 30 s", f"{up:.1f} s + {down:.1f} s", up + down < 30))
    return found


MEASURES: dict[str, Callable[[], list[Found]]] = {"hosts": hosts}
