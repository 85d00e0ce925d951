# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of the network that a trial runs on: their namespaces, their control groups, who listens there.

Finds a node by the shell that Mininet keeps on it (`linklab.agent.node_state`); in networks of many nodes, whose shells
start when something is typed, the agent leaves a note (`leave_note`). A program that is started here is where one is
that was typed in the node's terminal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from linklab.agent.node_state import nodes
from linklab.agent.trial_plan import CLIENT
from linklab.linux.kernelcalls import CLONE_NEWNET, CLONE_NEWNS, setns

NOTE = Path("/run/linklab/nodes-without-shell.json")
LISTEN = "0A"  # a state of /proc/net/tcp, include/net/tcp_states.h
T = TypeVar("T")


class NodeError(Exception):
    """There is no such node; the sentence says what there is."""


@dataclass(frozen=True)
class NodeSpace:
    """A node, and whether it has a network of its own.

    network, mounts: its namespaces, as files in /proc. pid: of its shell, 0 where none has started yet.
    """

    name: str
    pid: int
    apart: bool
    network: str
    mounts: str

    @contextmanager
    def entered(self, folder: str | int) -> Iterator[None]:
        """Within this block we, and what we start, are in the node's network and mounts, and in a folder there.

        folder: as the node calls it, or opened, which the node itself need not see; "" for where we are.
        """
        here = Path.cwd()
        if not self.apart:
            os.chdir(folder or here)
            try:
                yield
            finally:
                os.chdir(here)
            return
        name = Path(f"/proc/self/fd/{folder}").readlink() if isinstance(folder, int) else None
        ours, theirs = _opened(*_of("self")), _opened(self.network, self.mounts)
        try:
            _go(theirs)
            os.chdir(folder or here)
            if name and isinstance(folder, int):
                _by_name(name, folder)
            yield
        finally:
            _go(ours)
            os.chdir(here)
            for file in (*ours, *theirs):
                os.close(file)

    def share_processor(self, process: int) -> None:
        """Put a process into the control groups of the node's shell, as whose share of a processor is limited."""
        if not self.apart or not self.pid:
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
        there = os.open(self.network, os.O_RDONLY | os.O_CLOEXEC)
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
        for line in self.inside(lambda: _table(protocol) + _table(f"{protocol}6")):
            _, local, _, state, _ = line.split(None, 4)
            port = wanted.get(local.rpartition(":")[2])
            if port is not None and (protocol == "udp" or state == LISTEN):
                found.add(port)
        return found

    def taken(self, protocol: str) -> set[int]:
        """All ports on which something listens (TCP) or that are bound (UDP) there."""
        rows = [line.split(None, 4) for line in self.inside(lambda: _table(protocol) + _table(f"{protocol}6"))]
        return {int(row[1].rpartition(":")[2], 16) for row in rows if protocol == "udp" or row[3] == LISTEN}


def _table(name: str) -> list[str]:
    file = Path("/proc/self/net", name)
    return file.read_text(encoding="ascii").splitlines()[1:] if file.exists() else []


def _of(process: int | str) -> tuple[str, str]:
    return f"/proc/{process}/ns/net", f"/proc/{process}/ns/mnt"


def _opened(*files: str) -> list[int]:
    return [os.open(file, os.O_RDONLY | os.O_CLOEXEC) for file in files]


def _go(namespaces: list[int]) -> None:
    for file, kind in zip(namespaces, (CLONE_NEWNET, CLONE_NEWNS), strict=True):
        setns(file, kind)


def _by_name(name: Path, folder: int) -> None:
    """Go into the opened folder by its name, if that means the same folder here.

    A folder that was opened among other mounts has no path here.  The C library of a program that asks for one (the
    shell, at its start) then looks for its name in all folders above it, /tmp among them (getcwd(3)), so that what
    others have there would decide how long the program takes to start; so it does on a node with a /tmp of its own.
    """
    with suppress(OSError):
        os.chdir(name)
    if not os.path.samestat(Path().stat(), os.fstat(folder)):
        os.chdir(folder)


class Nodes:
    """All nodes of the network, and the client."""

    def __init__(self) -> None:
        here = Path("/proc/self/ns/net").stat().st_ino
        self.found = {CLIENT: NodeSpace(CLIENT, os.getpid(), False, *_of("self"))}
        for name, (network, mounts) in _noted().items():
            with suppress(OSError):  # of a network that is no more
                self.found[name] = NodeSpace(name, 0, Path(network).stat().st_ino != here, network, mounts)
        for name, pid in nodes().items():
            network, mounts = _of(pid)
            self.found[name] = NodeSpace(name, pid, Path(network).stat().st_ino != here, network, mounts)

    def __getitem__(self, name: str) -> NodeSpace:
        """NodeError if there is none of that name."""
        if name not in self.found:
            there = ", ".join(self.found) if len(self.found) > 1 else "none but the client"
            raise NodeError(f"there is no node {name} in this network; there are: {there}")
        return self.found[name]


def leave_note(places: Mapping[str, tuple[str, str] | None]) -> None:
    """Note where nodes without a shell are: their network and mounts as files in /proc, None with us."""
    whole = {name: place or _of(os.getpid()) for name, place in places.items()}
    NOTE.write_text(json.dumps(whole), encoding="utf-8")


def _noted() -> dict[str, tuple[str, str]]:
    return dict(json.loads(NOTE.read_text(encoding="utf-8"))) if NOTE.exists() else {}
