# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of the network that a trial runs on: their namespaces, their control groups, who listens there.

Finds a node by the shell that Mininet keeps on it (`linklab.agent.node_state`), as `mnexec -a` does, which it stands
for: a program that is started here is where one is that was typed in the node's terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from linklab.agent.node_state import nodes
from linklab.agent.trial_plan import CLIENT
from linklab.linux.kernelcalls import CLONE_NEWNET, CLONE_NEWNS, setns

LISTEN = "0A"  # a state of /proc/net/tcp, include/net/tcp_states.h
T = TypeVar("T")


class NodeError(Exception):
    """There is no such node; the sentence says what there is."""


@dataclass(frozen=True)
class Node:
    """A node: the process of its shell, and whether it has a network of its own."""

    name: str
    pid: int
    apart: bool

    def enter(self) -> None:
        """Go there for good, as a child does before it becomes its program: control groups, network, mounts."""
        if not self.apart:
            return
        self._join_groups()
        for name, kind in (("net", CLONE_NEWNET), ("mnt", CLONE_NEWNS)):
            file = os.open(f"/proc/{self.pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
            setns(file, kind)
            os.close(file)

    def _join_groups(self) -> None:
        """The share of a processor that the node was given is its shell's group's (cgroups(7))."""
        ours = Path("/proc/self/cgroup").read_text(encoding="ascii")
        theirs = Path(f"/proc/{self.pid}/cgroup").read_text(encoding="ascii")
        for line in sorted(set(theirs.splitlines()) - set(ours.splitlines())):
            _, controllers, group = line.split(":", 2)
            folder = Path("/sys/fs/cgroup", controllers.removeprefix("name="), group.lstrip("/"))
            (folder / "cgroup.procs").write_text("0", encoding="ascii")

    def inside(self, make: Callable[[], T]) -> T:
        """What `make` gives in this node's network; we come back. What it opens there stays there."""
        if not self.apart:
            return make()
        here = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        there = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(there, CLONE_NEWNET)
            return make()
        finally:
            setns(here, CLONE_NEWNET)
            os.close(here)
            os.close(there)

    def listens(self, protocol: str, ports: Iterable[int]) -> set[int]:
        """Those of the ports on which something listens (TCP) or is bound (UDP) there."""
        wanted, found = {f"{port:04X}": port for port in ports}, set()
        for table in (protocol, f"{protocol}6"):
            file = Path(f"/proc/{self.pid}/net/{table}")
            if file.exists():
                for line in file.read_text(encoding="ascii").splitlines()[1:]:
                    _, local, _, state, _ = line.split(None, 4)
                    port = wanted.get(local.rpartition(":")[2])
                    if port is not None and (protocol == "udp" or state == LISTEN):
                        found.add(port)
        return found


class Nodes:
    """All nodes of the network, and the client."""

    def __init__(self) -> None:
        here = Path("/proc/self/ns/net").stat().st_ino
        self.found = {CLIENT: Node(CLIENT, os.getpid(), apart=False)}
        for name, pid in nodes().items():
            self.found[name] = Node(name, pid, apart=Path(f"/proc/{pid}/ns/net").stat().st_ino != here)

    def __getitem__(self, name: str) -> Node:
        """NodeError if there is none of that name."""
        if name not in self.found:
            there = ", ".join(self.found) if len(self.found) > 1 else "none but the client"
            raise NodeError(f"there is no node {name} in this network; there are: {there}")
        return self.found[name]
