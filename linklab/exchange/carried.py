# SPDX-License-Identifier: BSD-3-Clause
"""What both formats of containers have in common: the network under construction, and what an export types and omits.

Lines that no field of a drawing holds (`machine`) become the start command, with our names of the interfaces. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exchange.machine import FORWARDING, Machine, joined, renamed
from linklab.topology import Topology, addressing, switching
from linklab.topology.builder import Builder, natural
from linklab.topology.checks import LONGEST_INTERFACE_NAME, wireless_names
from linklab.topology.mending import mend
from linklab.topology.naming import Names, plain_name
from linklab.topology.parts import Node

MOST_NODES = 5000


@dataclass(frozen=True)
class Carried:
    """A network that was read, and a sentence for each thing that could not be carried over."""

    topology: Topology
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Exported:
    """Texts by file name, and a sentence for each thing that the format cannot hold."""

    files: Mapping[str, str]
    notes: tuple[str, ...]


class Assembly:
    """Machines and the links among them, to be drawn."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.machines: dict[str, Machine] = {}
        self.links: list[tuple[tuple[str, str], tuple[str, str]]] = []
        self.notes: list[str] = []
        self.images: list[str] = []

    def machine(self, name: str) -> Machine:
        """The machine of that name, created if it is new."""
        return self.machines.setdefault(name, Machine(name))

    def link(self, one: str, one_interface: str, other: str, other_interface: str) -> None:
        """Join two machines' interfaces."""
        self.links.append(((one, one_interface), (other, other_interface)))
        self.machines[one].interfaces.append(one_interface)
        self.machines[other].interfaces.append(other_interface)

    def done(self) -> Carried:
        """The drawing; names are valid on Linux, and ports are in the order of the interfaces' names."""
        to = Builder(self.name)
        names = Names(set())
        ours: dict[str, str] = {}
        places = self._ports_in_order()
        for machine in self.machines.values():
            machine.read_lines()
            kind = machine.kind or ("legacySwitch" if machine.bridges else "legacyRouter" if machine.is_router else "")
            wanted = plain_name(machine.name) or {"legacySwitch": "s1", "legacyRouter": "r1"}.get(kind, "h1")
            longest = LONGEST_INTERFACE_NAME - len(f"-eth{len(machine.interfaces)}")
            name = ours[machine.name] = names.fresh(wanted, longest)
            if name != machine.name:
                self.notes.append(f"{machine.name} is called {name} here")
            commands = self._commands(machine, name, kind)
            if kind == "legacySwitch":
                to.switch(name, kind, **commands)
                self._leave_out(machine, name)
            elif kind:
                to.switch(name, kind, routes=machine.routes, **commands)
            else:
                opts = _host(machine)
                to.host(name, routes=machine.routes, **opts, **commands)
        for ends in self.links:
            (one, _), (other, _) = ends
            to.link(ours[one], ours[other], addresses=[self.machines[at].own(interface) for at, interface in ends])
        first = {node.name: node.first_port for node in (*to.hosts, *to.switches)}
        to.number_ports(
            [
                (first[ours[one]] + src, first[ours[other]] + dest)
                for ((one, _), (other, _)), (src, dest) in zip(self.links, places, strict=True)
            ]
        )
        mended, said = mend(self._with_spanning_tree(to.done()))
        return Carried(mended, tuple(dict.fromkeys((*self.notes, *said, *self._assumed(mended, ours)))))

    def _ports_in_order(self) -> list[tuple[int, int]]:
        """For both ends of each link, which port of its machine it is; a machine's interfaces are put in that order."""
        places: dict[str, list[int]] = {}
        for machine in self.machines.values():
            order = sorted(enumerate(machine.interfaces), key=lambda each: natural(each[1]))
            place_of = {i: place for place, (i, _) in enumerate(order)}
            places[machine.name] = [place_of[i] for i in range(len(order))]
            machine.interfaces = [interface for _, interface in order]
        waiting = {name: iter(of_machine) for name, of_machine in places.items()}
        return [(next(waiting[one]), next(waiting[other])) for (one, _), (other, _) in self.links]

    def _with_spanning_tree(self, topology: Topology) -> Topology:
        """With a spanning tree if a bridge speaks STP; a drawing has one for all switches or none."""
        bridges = [machine for machine in self.machines.values() if machine.kind == "legacySwitch" or machine.bridges]
        asking = [machine.name for machine in bridges if machine.spanning_tree]
        if not asking:
            return topology
        if len(asking) < len(bridges):
            self.notes.append(f"every switch speaks STP here; there only {short_list(asking)}")
        return switching.with_spanning_tree(topology)

    def _assumed(self, topology: Topology, ours: Mapping[str, str]) -> Iterator[str]:
        """What the drawing adds of its own."""
        linked = {ours[name] for ends in self.links for name, _ in ends}
        counted = [host for host in topology.hosts if host.name in linked and not host.opts.get("ip")]
        if counted:
            shown = short_list(f"{host.name} ({topology.address(host)})" for host in counted)
            yield f"a host always has an IPv4 address here, so these got one: {shown}"
        if self.images:
            shown = short_list(dict.fromkeys(self.images))
            yield f"images are not carried over, so programs are those of this machine: {shown}"

    def _leave_out(self, machine: Machine, name: str) -> None:
        """Drop and name the addresses and routes of a bridge."""
        lost = [*(address for _, address in machine.addresses), *(route["to"] for route in machine.routes)]
        if lost:
            why = "because a switch has no addresses or routes"
            self.notes.append(f"{name}: not carried over, {why}: {short_list(lost)}")
        machine.addresses, machine.routes = [], []

    def _commands(self, machine: Machine, name: str, kind: str) -> dict[str, Any]:
        """The start command: the lines that no field of a drawing holds."""
        offset = 1 if kind == "legacySwitch" else 0
        ours = {interface: f"{name}-eth{i + offset}" for i, interface in enumerate(machine.interfaces)}
        lines = []
        for line in machine.lines:
            named = renamed(line, ours)
            if kind == "legacySwitch" or re.search(r"(?<![\w-])eth\d", named):
                self.notes.append(f"{name}: not carried over: {excerpt(line)}")
            else:
                lines.append(named)
        return {"startCommand": joined(lines)} if lines else {}


def _host(machine: Machine) -> dict[str, Any]:
    """Take MiniEdit's fields of a host, its first address and its default gateway, out of the machine's lists."""
    opts: dict[str, Any] = {}
    for given in machine.addresses:
        if [given[0]] == machine.interfaces[:1] and ip_interface(given[1]).version == 4:
            opts["ip"] = given[1]
            machine.addresses.remove(given)
            break
    for route in machine.routes:
        if route["to"] == addressing.DEFAULT and ip_address(route["via"]).version == 4:
            opts["defaultRoute"] = route["via"]
            machine.routes.remove(route)
            break
    return opts


def commands_of(topology: Topology, ports: Mapping[str, str]) -> dict[str, list[str]]:
    """The commands for each host and router: addresses, routes, and the start command.

    ports: for each of our interfaces its name there.
    """
    of_node: dict[str, list[addressing.Port]] = {node.name: [] for node in topology.nodes}
    for port in addressing.ports(topology):
        of_node[port.node].append(port)
    return {
        node.name: list(_commands_of(node, of_node[node.name], ports))
        for node in topology.nodes
        if addressing.has_ports(node)
    }


def _commands_of(node: Node, own: Sequence[addressing.Port], ports: Mapping[str, str]) -> Iterator[str]:
    if addressing.is_router(node):
        versions = {4, *(interface.version for port in own for interface in port.interfaces)}
        yield from (f"sysctl -w {FORWARDING[version]}" for version in sorted(versions))
    for port in own:
        yield from (f"ip addr add {address} dev {ports[port.interface]}" for address in port.addresses)
    for route in addressing.routes(node):
        yield f"ip {'-6 ' if route.version == 6 else ''}route replace {route.to} via {route.via}"
    if command := node.opts.get("startCommand"):
        yield renamed(command, {port.interface: ports[port.interface] for port in own})


def netem(opts: Mapping[str, Any]) -> str:
    """The arguments of netem, as in tc-netem(8), that do what MiniEdit's fields of a link say; "" if they are empty."""
    words = []
    if opts.get("delay"):
        words += ["delay", str(opts["delay"]), *([str(opts["jitter"])] if opts.get("jitter") else [])]
    if opts.get("loss"):
        words += ["loss", f"{opts['loss']:g}%"]
    if opts.get("bw"):
        words += ["rate", opts["bw"] if isinstance(opts["bw"], str) else f"{opts['bw']:g}mbit"]
    if opts.get("max_queue_size"):
        words += ["limit", str(opts["max_queue_size"])]
    return " ".join(words)


_LOST = {
    "cpu": "share of a processor",
    "cores": "cores",
    "privateDirectory": "private directories",
    "vlanInterfaces": "VLANs",
    "externalInterfaces": "external interfaces",
    "dpid": "dpid",
    "dpctl": "dpctl port",
    "switchIP": "address of the switch",
    "netflow": "NetFlow",
    "sflow": "sFlow",
    "stopCommand": "stop command",
}
"""Options of nodes that no format of containers has, in words."""


def left_out(topology: Topology) -> list[str]:
    """A sentence for each thing that neither format can hold."""
    notes = []
    for controller in topology.all_controllers:
        notes.append(f"{controller.name}: controllers are not carried over; start one of yours there")
    for node in topology.nodes:
        lost = [words for key, words in _LOST.items() if node.opts.get(key) not in (None, "", "0", [])]
        if switching.is_switch(node) and node.opts.get("startCommand"):
            lost.append("start command")
        if lost:
            notes.append(f"{node.name}: not carried over: {', '.join(lost)}")
    ours = topology.extra.get("linklab")
    drawn = [key for key in ("notes", "groups", "background") if isinstance(ours, Mapping) and ours.get(key)]
    if drawn:
        notes.append(f"not carried over of the drawing: {', '.join(drawn)}")
    for link in topology.links:
        if link.opts.get("speedup"):
            notes.append(f'link {link.name}: "speedup" is not carried over')
        if link.opts.get("jitter") and not link.opts.get("delay"):
            notes.append(f'link {link.name}: "jitter" is not carried over, because netem needs a delay for it')
        if link.own.get("forward") is not None or link.own.get("backward") is not None:
            notes.append(f"link {link.name}: the settings of a direction are not carried over")
    return notes


def refuse_wireless(topology: Topology) -> None:
    """Refuse a drawing with stations or access points, which neither format has.

    Raises:
        InputError: the drawing has some.
    """
    if names := wireless_names(topology):
        raise InputError(
            f"{topology.name}: has wireless nodes ({short_list(sorted(names))}), which cannot be exported; "
            "Mend turns them into wired ones"
        )


def short_list(words: Iterable[str], most: int = 6) -> str:
    """The first words of a list, and how many more there are."""
    given: Sequence[str] = list(words)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more
