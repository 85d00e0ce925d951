# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of the network that a trial runs on: their namespaces, their control groups, who listens there.

Finds a node by the shell that Mininet keeps on it (`linklab.agent.node_state`), as `mnexec -a` does, which it stands
for: a program that is started here is where one is that was typed in the node's terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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

    @contextmanager
    def entered(self, folder: str) -> Iterator[None]:
        """Within this block we, and what we start, are in the node's network and mounts, and in a folder there."""
        here = Path.cwd()
        if not self.apart:
            os.chdir(folder or here)
            try:
                yield
            finally:
                os.chdir(here)
            return
        ours, theirs = _namespaces("self"), _namespaces(self.pid)
        try:
            _go(theirs)
            os.chdir(folder or here)
            yield
        finally:
            _go(ours)
            os.chdir(here)
            for file in (*ours, *theirs):
                os.close(file)

    def share_processor(self, process: int) -> None:
        """Put a process into the control groups of the node's shell, as whose share of a processor is limited."""
        if not self.apart:
            return
        ours = Path(f"/proc/{process}/cgroup").read_text(encoding="ascii")
        theirs = Path(f"/proc/{self.pid}/cgroup").read_text(encoding="ascii")
        for line in sorted(set(theirs.splitlines()) - set(ours.splitlines())):
            _, controllers, group = line.split(":", 2)
            folder = Path("/sys/fs/cgroup", controllers.removeprefix("name="), group.lstrip("/"))
            (folder / "cgroup.procs").write_text(str(process), encoding="ascii")

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


def _namespaces(process: int | str) -> list[int]:
    return [os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("net", "mnt")]


def _go(namespaces: list[int]) -> None:
    for file, kind in zip(namespaces, (CLONE_NEWNET, CLONE_NEWNS), strict=True):
        setns(file, kind)


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
