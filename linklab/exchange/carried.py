# SPDX-License-Identifier: BSD-3-Clause
"""What both formats of containers have in common: a network under construction, lines of a shell, settings of links.

A container's lines of shell become what a drawing has a field for: addresses, routes, forwarding; the rest is
the start command, with our names of the interfaces. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.topology import Topology, addressing
from linklab.topology.builder import Builder
from linklab.topology.checks import LONGEST_INTERFACE_NAME
from linklab.topology.mending import mend
from linklab.topology.naming import Names, plain_name

MOST_NODES = 5000
FORWARDING = ("sysctl -w net.ipv4.ip_forward=1",)


@dataclass(frozen=True)
class Carried:
    """A network that was read, and a sentence for each thing that the drawing does not have."""

    topology: Topology
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Exported:
    """Texts by file name, and a sentence for each thing that the format has no place for."""

    files: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass
class Machine:
    """One container: what it is here, its interfaces by their own names in the order of its links, and its lines."""

    name: str
    kind: str = ""
    lines: list[str] = field(default_factory=list)
    interfaces: list[str] = field(default_factory=list)
    addresses: list[tuple[str, str]] = field(default_factory=list)
    routes: list[dict[str, str]] = field(default_factory=list)
    forwards: bool = False
    bridges: bool = False

    def read_lines(self) -> None:
        """Take what a drawing has a field for out of the lines."""
        rest = []
        for line in self.lines:
            # what stands in quotes is the program's own
            parts = [line.strip()] if re.search("[\"']", line) else re.split(r"\s*(?:&&|;)\s*", line.strip())
            for part in parts:
                if part and not part.startswith("#") and not self._taken(part):
                    rest.append(part)
        self.lines = rest

    def _taken(self, line: str) -> bool:
        """Whether a line says what a drawing has a field for, or what every interface here is anyway."""
        try:
            words = shlex.split(line)
        except ValueError:
            return False
        return self._is_for_a_bridge(words) or self._is_for_addresses(words) or self._is_for_a_router(words)

    def _is_for_a_bridge(self, words: list[str]) -> bool:
        joined = " ".join(words)
        is_made = re.search(r"\bbrctl addbr\b|\btype bridge\b", joined) is not None
        self.bridges = self.bridges or is_made
        return is_made or (self.bridges and re.match(r"brctl addif|ip link set .*(master|up)", joined) is not None)

    def _is_for_addresses(self, words: list[str]) -> bool:
        match words:
            case ["ip", *flag, str(what), "add", str(address), "dev", str(interface)] if _is("address", what, flag):
                return self._address(interface, address)
            case ["ifconfig", str(interface), str(address), *more] if more in ([], ["up"]):
                return self._address(interface, address)
            case ["ifconfig", str(interface), str(address), "netmask", str(mask), *more] if more in ([], ["up"]):
                return self._address(interface, f"{address}/{mask}")
            case ["ip", "link", "set", *more]:
                return more[-1:] == ["up"]
        return False

    def _is_for_a_router(self, words: list[str]) -> bool:
        if words[:1] == ["sysctl"] and "ip_forward=1" in "".join(words):
            self.forwards = True
            return True
        match words:
            case ["ip", *flag, str(what), "add" | "replace", str(to), "via", str(via)] if _is("route", what, flag):
                return self._route(to, via)
            case ["ip", *flag, str(what), "add" | "replace", str(to), "via", str(via), "dev", str(interface)]:
                return _is("route", what, flag) and interface in self.interfaces and self._route(to, via)
            case ["route", "add", "default", "gw", str(via)]:
                return self._route(addressing.DEFAULT, via)
            case ["route", "add", "-net", str(to), "gw", str(via)]:
                return self._route(to, via)
        return False

    def _address(self, interface: str, address: str) -> bool:
        try:
            given = ip_interface(address)
        except ValueError:
            return False
        if interface not in self.interfaces:
            return False
        self.addresses.append((interface, str(given)))
        return True

    def _route(self, to: str, via: str) -> bool:
        """Whether it is a route, and the first one there."""
        try:
            route = addressing.read_route({"to": to, "via": via})
        except InputError:
            return False
        before = next((each["via"] for each in self.routes if each["to"] == route.to), None)
        if before is None or ip_address(before).version != route.version:
            self.routes.append({"to": route.to, "via": route.via})
            return True
        return before == route.via

    def own(self, interface: str) -> list[str]:
        """The addresses of an interface that are not the host's "ip"."""
        return [address for at, address in self.addresses if at == interface]

    @property
    def is_router(self) -> bool:
        """Whether it forwards, or has addresses in two networks, which nothing but a router is drawn for."""
        return self.forwards or len({interface for interface, _ in self.addresses}) > 1


class Assembly:
    """Machines and the links among them, to be drawn."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.machines: dict[str, Machine] = {}
        self.links: list[tuple[tuple[str, str], tuple[str, str]]] = []
        self.notes: list[str] = []

    def machine(self, name: str) -> Machine:
        """The machine of that name, made where it is new."""
        return self.machines.setdefault(name, Machine(name))

    def link(self, one: str, one_interface: str, other: str, other_interface: str) -> None:
        """Join two machines' interfaces; the order is that of the ports."""
        self.links.append(((one, one_interface), (other, other_interface)))
        self.machines[one].interfaces.append(one_interface)
        self.machines[other].interfaces.append(other_interface)

    def done(self) -> Carried:
        """The drawing; names are made such as Linux takes."""
        to = Builder(self.name)
        names = Names(set())
        ours: dict[str, str] = {}
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
        mended, said = mend(to.done())
        return Carried(mended, tuple(dict.fromkeys((*self.notes, *said))))

    def _leave_out(self, machine: Machine, name: str) -> None:
        """The addresses and routes of a bridge, whose ports here have none."""
        lost = [*(address for _, address in machine.addresses), *(route["to"] for route in machine.routes)]
        if lost:
            self.notes.append(f"{name}: not carried over, since a switch has none: {short_list(lost)}")
        machine.addresses, machine.routes = [], []

    def _commands(self, machine: Machine, name: str, kind: str) -> dict[str, Any]:
        """The start command: lines that no field of ours has."""
        offset = 1 if kind == "legacySwitch" else 0
        ours = {interface: f"{name}-eth{i + offset}" for i, interface in enumerate(machine.interfaces)}
        lines = []
        for line in machine.lines:
            named = _named(line, ours)
            if kind == "legacySwitch" or re.search(r"(?<![\w-])eth\d", named):
                self.notes.append(f"{name}: not carried over: {excerpt(line)}")
            else:
                lines.append(named)
        return {"startCommand": "; ".join(lines)} if lines else {}


def _host(machine: Machine) -> dict[str, Any]:
    """MiniEdit's fields of a host: its first address and its default gateway, which leave the machine's lists."""
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


def _is(whole: str, typed: str, flag: Sequence[str]) -> bool:
    """Whether this abbreviates an object of `ip`, with no flag or one that says the version."""
    return bool(typed) and whole.startswith(typed) and list(flag) in ([], ["-4"], ["-6"])


def _named(line: str, names: Mapping[str, str]) -> str:
    """A line with other names of interfaces."""
    for interface, name in names.items():
        line = re.sub(rf"(?<![\w-]){re.escape(interface)}(?![\w-])", name, line)
    return line


def commands_of(topology: Topology, ports: Mapping[str, str]) -> dict[str, list[str]]:
    """What is typed on each host and router there: addresses, routes, the start command with their names of interfaces.

    ports: their name of each of our interfaces.
    """
    found: dict[str, list[str]] = {}
    for node in topology.nodes:
        if addressing.has_ports(node):
            found[node.name] = list(FORWARDING) if addressing.is_router(node) else []
    for port in addressing.ports(topology):
        where = ports.get(port.interface, port.interface)
        found[port.node] += [f"ip addr add {address} dev {where}" for address in port.addresses]
    for node in topology.nodes:
        if addressing.has_ports(node):
            found[node.name] += [
                f"ip {'-6 ' if route.version == 6 else ''}route replace {route.to} via {route.via}"
                for route in addressing.routes(node)
            ]
    for node in topology.nodes:
        if node.name in found and (command := node.opts.get("startCommand")):
            found[node.name].append(_named(command, ports))
    return found


def netem(opts: Mapping[str, Any]) -> str:
    """What netem is told, by the words of tc-netem(8), to do what MiniEdit's fields of a link say; "" for nothing."""
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


def left_out(topology: Topology) -> list[str]:
    """What no format of containers has a place for."""
    notes = []
    for controller in topology.all_controllers:
        notes.append(f"{controller.name}: controllers are not carried over; start one of yours there")
    for host in topology.hosts:
        keys = {"cpu": "share of a processor", "cores": "cores", "privateDirectory": "private directories"}
        keys |= {"vlanInterfaces": "VLANs", "externalInterfaces": "external interfaces"}
        lost = [words for key, words in keys.items() if host.opts.get(key)]
        if lost:
            notes.append(f"{host.name}: not carried over: {', '.join(lost)}")
    for node in topology.nodes:
        if node.opts.get("stopCommand"):
            notes.append(f"{node.name}: its stop command is not carried over")
    for link in topology.links:
        if link.own.get("forward") is not None or link.own.get("backward") is not None:
            notes.append(f"link {link.name}: the settings of a direction are not carried over")
    return notes


def short_list(words: Iterable[str], most: int = 6) -> str:
    """The first of some words and how many more."""
    given: Sequence[str] = list(words)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more
