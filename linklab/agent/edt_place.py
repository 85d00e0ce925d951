# SPDX-License-Identifier: BSD-3-Clause
"""Two names → the keys of a link between them, and the interface at which its packets are held.

Default: where the first router (IP hop) after the source sends them on, or else the last port before the target. What
stands before the first router counts for TCP small queues: there a packet still belongs to the socket that sent it
(tcp_small_queue_check of net/ipv4/tcp_output.c), unless the pocket's links orphan it (kernel/README.md, `orphan`), or
the program does, which costs a copy of the packet's head.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from itertools import product
from pathlib import Path
from typing import TypeVar

from linklab.agent.own_kernel import PARAMETERS
from linklab.agent.trial_map import MapInterface, WayError
from linklab.agent.trial_way import Ways
from linklab.linux import edt_maps
from linklab.linux.edt_stage import EdtStage
from linklab.linux.kernelcalls import CLONE_NEWNET, CLONE_NEWNS, setns
from linklab.linux.traffic_control import TrafficControl

ANY = "any"
BEFORE_ROUTER = (
    "at {place} packets still belong to {node}'s socket, so each is sent on as a copy that belongs to none; with "
    "orphan off TCP would count what is held and send about 1 ms of its rate in each delay (TCP small queues)"
)
STARVED = (
    "at {place} packets still belong to {node}'s socket, so with orphan off TCP counts what is held and sends about "
    "1 ms of its rate in each delay (TCP small queues)"
)
_AGENT = re.compile(r"/proc/(\d+)/root/")
T = TypeVar("T")


class PlaceError(Exception):
    """The names mean no link; the sentence says why."""


@dataclass(frozen=True)
class HeldAt:
    """An interface of a node, and what a person should know about holding packets there ("" if nothing).

    starved: the same for links that leave packets to their socket.
    """

    node: str
    interface: str
    warning: str = ""
    starved: str = ""

    def __str__(self) -> str:
        return f"{self.node}:{self.interface}"

    def note(self, *, orphan: bool) -> str:
        """What there is to know of a link whose packets do or do not leave their socket."""
        return self.warning if orphan else self.starved or self.warning


def enter_root(environment: Mapping[str, str] = os.environ) -> None:
    """Go to where the network's switches are, from whichever node's terminal this was typed in."""
    agent = _AGENT.match(environment.get("LINKLAB_SOCKET", ""))
    root = f"/proc/{agent[1] if agent else 1}/ns"
    for name, kind in (("net", CLONE_NEWNET), ("mnt", CLONE_NEWNS)):
        if Path(f"{root}/{name}").readlink() == Path(f"/proc/self/ns/{name}").readlink():
            continue
        file = os.open(f"{root}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(file, kind)
        finally:
            os.close(file)


class LinkWays:
    """The network that runs, as links need it."""

    @cached_property
    def ways(self) -> Ways:
        """What stands where; read when it is first needed."""
        return Ways()

    # --- names

    def addresses(self, word: str) -> list[str]:
        """Those of a node, or the one that was typed; "any" is its own.

        Raises:
            PlaceError: it is neither.
        """
        if word == ANY:
            return [ANY]
        if word in self.ways.nodes.found:
            if found := self.ways.addresses(word):
                return found
            raise PlaceError(f"{word} has no address; give it one, or name a node that has one")
        try:
            return [str(ip_address(word))]
        except ValueError:
            hosts = ", ".join(self.ways.hosts()[:12]) or "none"
            raise PlaceError(f"{word} is neither a node of this network nor an address; hosts are {hosts}") from None

    def keys(self, source: str, target: str) -> list[bytes]:
        """A key for each pair of addresses of the same version."""
        if target == ANY != source:
            raise PlaceError("a link needs a target; any can only be its source, or both")
        pairs = product(self.addresses(source), self.addresses(target))
        found = [edt_maps.key(a, b) for a, b in pairs if a == ANY or ip_address(a).version == ip_address(b).version]
        if not found:
            raise PlaceError(f"{source} and {target} have no addresses of one version")
        return found

    def name(self, address: str) -> str:
        """The node that has an address, else the address."""
        return self.ways.owner(address) or address

    # --- where

    def place(self, source: str, target: str, at: str = "") -> HeldAt:
        """Where packets of a link are held.

        Args:
            source: a node or an address, or any where `at` says where.
            target: a node or an address.
            at: NODE:INTERFACE, or the interface alone; "" for the default.

        Raises:
            PlaceError, WayError: there is no such interface, or no way between the two.
        """
        if at:
            one = self._interface(at)
            return HeldAt(one.node, one.name, *self._warnings(source, target, one.place))
        ports = self._ports(source, target)
        router = next((port for port in ports[1:] if self._is_router(port[0])), None)
        place = router or ports[-1]
        return HeldAt(*place, *self._warnings(source, target, place))

    def _ports(self, source: str, target: str) -> list[tuple[str, str]]:
        """The ports by which packets leave on their way; PlaceError for names that say no way."""
        if source == ANY:
            raise PlaceError(f"from any node there is no one way to {target}: say where with at NODE:INTERFACE")
        first, _ = self._node(source)
        node, address = self._node(target)
        if node == first:
            raise PlaceError(f"{source} and {target} are one node; a link needs two")
        return self.ways.way(first, address)

    def _node(self, word: str) -> tuple[str, str]:
        """A node, and the address by which it is reached."""
        address = self.addresses(word)[0]
        node = word if word in self.ways.nodes.found else self.ways.owner(address)
        if not node:
            raise PlaceError(f"{word} belongs to no node, so there is no way to it: say where with at NODE:INTERFACE")
        return node, address

    def _is_router(self, node: str) -> bool:
        space = self.ways.spaces[self.ways.space_of[node]]
        return self.ways.nodes[node].apart and space.forwards

    def _interface(self, at: str) -> MapInterface:
        node, _, name = at.rpartition(":")
        found = [one for one in self._interfaces() if one.name == name and node in ("", one.node)]
        if len(found) == 1:
            return found[0]
        if found:
            raise PlaceError(f"{name} is on {' and '.join(one.node for one in found)}: say which, as NODE:{name}")
        raise PlaceError(f"there is no interface {at}; write it as NODE:INTERFACE, such as s1:s1-eth2")

    def _interfaces(self) -> Iterator[MapInterface]:
        for space in self.ways.spaces.values():
            yield from space.interfaces.values()

    def _warnings(self, source: str, target: str, place: tuple[str, str]) -> tuple[str, ...]:
        """What will happen where packets are held before the first router, or where they do not pass."""
        try:
            ports = self._ports(source, target)
        except (PlaceError, WayError):
            return ()  # of addresses that no node has
        name = ":".join(place)
        if place not in ports:
            way = ", ".join(":".join(port) for port in ports)
            return (f"packets from {source} to {target} do not leave by {name} but by {way}, so this link meets none",)
        routed = next((number for number, port in enumerate(ports) if number and self._is_router(port[0])), len(ports))
        number = ports.index(place)
        if number >= routed or (number and _links_orphan()):
            return ()
        return tuple(text.format(place=name, node=source) for text in (BEFORE_ROUTER, STARVED))

    # --- the stages

    @contextmanager
    def stage(self, place: HeldAt) -> Iterator[EdtStage]:
        """The stage at a place, opened in its node's network."""
        opened = self.inside(place.node, lambda: EdtStage(place.interface))
        with self._within(place.node, opened):
            yield opened

    @contextmanager
    def _within(self, node: str, stage: EdtStage) -> Iterator[None]:
        self.inside(node, stage.__enter__)
        try:
            yield
        finally:
            stage.__exit__()

    def inside(self, node: str, make: Callable[[], T]) -> T:
        """What `make` gives in the network of a node."""
        return self.ways.nodes[node].inside(make)

    def stages(self) -> list[HeldAt]:
        """All places at which packets are held, in the order of nodes and interfaces."""
        found = []
        for space in self.ways.spaces.values():
            indices = space.node.inside(_held_at)
            found += [HeldAt(one.node, one.name) for index, one in space.interfaces.items() if index in indices]
        return sorted(found, key=str)


def _held_at() -> set[int]:
    """Interfaces with our fq, in the namespace that this thread is in."""
    control = TrafficControl()
    try:
        return {one.interface for one in control.all_disciplines() if one.handle == edt_maps.FQ_HANDLE}
    finally:
        control.close()


def _links_orphan() -> bool:
    """Whether a packet that has entered a link belongs to no socket any more, as on a real network card."""
    try:
        return (PARAMETERS / "orphan").read_text(encoding="ascii").strip() in ("1", "Y")
    except OSError:
        return False
