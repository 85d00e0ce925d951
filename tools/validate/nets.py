# SPDX-License-Identifier: BSD-3-Clause
"""Networks for experiments: a topology from its links, a pocket that runs it, and short names for typing into it."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from in_pocket import BUFFERS, processor_s, started

from linklab.engine.api import Background, Clock, Typed
from linklab.engine.pocket import PocketNetwork
from linklab.topology import Topology

INSIDE = Path(__file__).parent / "inside"
PARAMETERS = "/sys/module/pocket/parameters"
MSS = 1448


def topology(*links: tuple[str, str]) -> Topology:
    """The network of these links; hN is a host, sN a legacy switch, and rN a legacy router.

    Ports are numbered in the order of the links: s1-eth1 leads to the first neighbour named with s1.
    """
    names = sorted({name for link in links for name in link})
    hosts = [_node(name, {}) for name in names if name[0] == "h"]
    kinds = {"s": "legacySwitch", "r": "legacyRouter"}
    switches = [_node(name, {"switchType": kinds[name[0]]}) for name in names if name[0] in kinds]
    data = {
        "hosts": hosts,
        "switches": switches,
        "links": [{"src": src, "dest": dest, "opts": {}} for src, dest in links],
        "controllers": [],
        "version": "2",
    }
    return Topology.loads(json.dumps(data), "validation")


def _node(name: str, options: dict[str, Any]) -> dict[str, Any]:
    number = int(name[1:])
    return {
        "number": str(number),
        "opts": {"hostname": name, "nodeNum": number, **options},
        "x": str(100 * number),
        "y": "100",
    }


LINE = topology(("h1", "s1"), ("s1", "h2"))
"""h1 - s1 - h2; s1-eth2 is the port towards h2."""
ROUTED = topology(("h1", "r1"), ("r1", "s1"), ("s1", "h2"))
"""h1 - r1 - s1 - h2, with s1-eth2 towards h2 as in LINE."""
DUMBBELL = topology(("s1", "s2"), ("h1", "s1"), ("h2", "s1"), ("s2", "h3"), ("s2", "h4"))
"""h1 and h2 on s1, h3 and h4 on s2; s1-eth1 is the port between the switches."""


class Net:
    """A running network with short names for what experiments do; `folder` is every terminal's working folder."""

    def __init__(self, network: PocketNetwork, folder: Path) -> None:
        self.network, self.folder = network, folder

    def type(self, terminal: str, text: str, *, deadline_s: float = 600) -> str:
        """Type a command that has to succeed and return its output."""
        (done,) = self.network.run([Typed(terminal, text)], deadline_s=deadline_s)
        if done.exit_status:
            raise RuntimeError(f"{terminal}: {text}: status {done.exit_status}: {done.output[-500:]}")
        return done.output

    def together(self, commands: Sequence[tuple[str, str]], *, deadline_s: float = 600) -> list[str]:
        """Type commands at the same instant, each in a terminal of its own, and return their outputs."""
        done = self.network.run([Typed(*command) for command in commands], deadline_s=deadline_s)
        for one in done:
            if one.exit_status:
                raise RuntimeError(f"{one.terminal}: {one.text}: status {one.exit_status}: {one.output[-500:]}")
        return [one.output for one in done]

    def leave(self, terminal: str, text: str) -> None:
        """Type a command and leave it running."""
        self.network.run([Typed(terminal, text, Background())])

    def left(self, terminal: str) -> str:
        """Wait for the command that was left running and return its output; a background command has no exit status."""
        return self.network.finished(terminal).output

    def program(self, name: str) -> str:
        """Copy a program of `inside/` into the working folder and return the command that starts it."""
        shutil.copy(INSIDE / name, self.folder)
        return f"python3 {name}"

    def tc(self, *lines: str) -> None:
        """Type tc commands without the word tc."""
        for line in lines:
            self.type("client", f"tc {line}")

    def parameter(self, name: str, value: str) -> bool:
        """Set a parameter of the pocket's kernel; False if this kernel does not have it."""
        return "absent" not in self.type("client", f"echo {value} > {PARAMETERS}/{name} || echo absent")

    def offload(self, state: str, *hosts: str) -> None:
        """Switch segmentation and receive offload of hosts "on" or "off"."""
        for host in hosts:
            self.type(host, f"ethtool -K {host}-eth0 tso {state} gso {state} gro {state}")

    def buffers(self, *hosts: str) -> None:
        """Make the TCP buffers of hosts so large that they limit nothing."""
        for host in hosts:
            self.type(host, BUFFERS)

    def quiet(self, *hosts: str) -> None:
        """Keep ARP and IPv6 off the links: two hosts get permanent entries for each other, and IPv6 is switched off."""
        for node in ("client", *(name for name in self.network.nodes if name[0] == "h")):
            self.type(node, "sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
        for host, other in (hosts, hosts[::-1]):
            address = self.type(other, f"cat /sys/class/net/{other}-eth0/address").strip()
            self.type(host, f"ip neigh replace 10.0.0.{other[1:]} lladdr {address} nud permanent dev {host}-eth0")

    def cpu_s(self) -> float:
        """Processor time that the pocket has taken so far, seconds."""
        assert self.network.pid is not None
        return processor_s(self.network.pid)

    def json(self, name: str) -> Any:
        """Read a JSON file that a program has written into the working folder."""
        return json.loads((self.folder / name).read_text())

    def qdiscs(self, port: str) -> dict[str, dict[str, Any]]:
        """Counters of a port's queueing disciplines, by handle."""
        found = json.loads(self.type("client", f"tc -s -j qdisc show dev {port}"))
        return {one["handle"]: one for one in found}


@contextlib.contextmanager
def network(shape: Topology, seed: int, *, profile: str = "desktop", clock: Clock = Clock.VIRTUAL) -> Iterator[Net]:
    """A pocket with this topology and a temporary working folder."""
    with (
        tempfile.TemporaryDirectory(prefix="linklab-validate-") as work,
        started(shape, workdir=Path(work), clock=clock, seed=seed, profile=profile) as net,
    ):
        yield Net(net, Path(work))


def rtts_ms(output: str) -> list[float]:
    """The round-trip times that ping printed."""
    return [float(found) for found in re.findall(r"time=([\d.]+) ms", output)]


def goodput_mbit(result: dict[str, Any]) -> float:
    """Goodput at iperf3's receiver, Mbit/s."""
    return round(float(result["end"]["sum_received"]["bits_per_second"]) / 1e6, 6)
