# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong or doubtful in a topology, as sentences that name the node and the key.

An "error" would keep Mininet from building the network, or build another one than the file says; a "warning" runs but
deserves a look. What MiniEdit forgives (`forgiven`) is a warning, and the rest is looked at as it is then understood.
Pure. Limits: IFNAMSIZ in Linux's uapi/linux/if.h (15 characters), mininet/link.py `TCIntf`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from linklab import units
from linklab.base.text import excerpt, quoted
from linklab.errors import InputError
from linklab.topology import address_checks, switching
from linklab.topology.drawn import DrawnNetwork, interface_of
from linklab.topology.forgiven import CONTROLLER_TYPES, SWITCH_TYPES, forgiven
from linklab.topology.parts import MOST_DIGITS, Controller, Link, Node
from linklab.topology.problem import Problem

__all__ = ["NAME", "SWITCH_TYPES", "Problem", "problems", "wireless_names"]

LONGEST_INTERFACE_NAME = 15
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_TARGET = re.compile(r"[\w.:\[\]%-]*", re.ASCII)
"""Letters of a collector's address and port; Open vSwitch refuses a quote, for one."""
OWN_TERMINALS = ("client", "mininet")
"""Terminals in the root namespace and of the Mininet CLI; a node of that name cannot be told from these."""


def problems(topology: DrawnNetwork) -> list[Problem]:
    """Everything found; names and addresses are looked at only once all values have the right type."""
    topology, said = forgiven(topology)
    found = [Problem("warning", each.where, each.message) for each in said]
    found += _values(topology)
    if not any(problem.severity == "error" for problem in found):
        found += [*_names(topology), *_ends(topology)]
    if not any(problem.severity == "error" for problem in found):
        found += [*_interface_names(topology), *_addresses(topology), *_loops(topology), *_unheeded(topology)]
    if not wireless_names(topology) and not any(problem.severity == "error" for problem in found):
        found += address_checks.meanings(topology)
    return found


_MOST_DELAY_S = 2**32 * 64e-9
"""tc keeps a delay in 32 bits, by ticks of 64 ns (iproute2, tc/q_netem.c, get_ticks); Mininet goes on without it."""
# A check gets a value and returns None, or what the value must be.
_Check = Callable[[Any], str | None]


def _that(test: Callable[[Any], bool], wanted: str) -> _Check:
    return lambda value: None if test(value) else f"must be {wanted}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MOST_DIGITS


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_pair(value: Any) -> bool:
    return _is_strings(value) and len(value) == 2


def _parses(parse: Callable[[str], object], value: Any) -> bool:
    try:
        return isinstance(value, str) and parse(value) is not None
    except ValueError:
        return False


def _time(value: Any) -> str | None:
    if not isinstance(value, str):
        return 'must be a string with a unit, such as "5ms"'
    try:
        units.parse_time_s(value)
    except InputError as error:
        return f"must be a time: {error}"
    return None


def _delay(value: Any) -> str | None:
    wrong = _time(value)
    if wrong is None and units.parse_time_s(value) >= _MOST_DELAY_S:
        return f"must be below {int(_MOST_DELAY_S)} s, the most that tc takes"
    return wrong


def _bandwidth(value: Any) -> str | None:
    if _is_number(value):
        return None if value > 0 else "must be above 0 Mbit/s"
    if not isinstance(value, str):
        return 'must be a number of Mbit/s or a string such as "10mbit"'
    try:
        units.parse_rate_mbit(value)
    except InputError as error:
        return f"must be a rate: {error}"
    return None


def _is_digits(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal() and len(value) <= MOST_DIGITS


def _vlan(value: Any) -> bool:
    return _is_pair(value) and _parses(IPv4Interface, value[0]) and _is_digits(value[1]) and 1 <= int(value[1]) <= 4094


def _is_place(value: Any) -> bool:
    return _parses(lambda text: float(text) if math.isfinite(float(text)) else None, str(value))


def _one_of(*words: str) -> _Check:
    return _that(lambda v: isinstance(v, str) and v in words, "one of " + ", ".join(f'"{w}"' for w in words))


_string = _that(lambda v: isinstance(v, str), "a string")
_strings = _that(_is_strings, "a list of strings")
_flag = _one_of("0", "1")
_number_text = _that(lambda v: v == "" or _is_digits(v), f"at most {MOST_DIGITS} digits in a string")
_whole = _that(_is_whole, "a whole number")
_counting = _that(lambda v: _is_whole(v) and v >= 0, "a whole number from 0")
_positive = _that(lambda v: _is_whole(v) and v > 0, "a whole number above 0")

_HOST: dict[str, _Check] = {
    "hostname": _string,
    "nodeNum": _counting,
    "ip": _that(lambda v: v == "" or _parses(IPv4Interface, v), 'an IPv4 address such as "10.0.0.1" or "10.0.0.1/8"'),
    "defaultRoute": _that(lambda v: v == "" or _parses(IPv4Address, v), 'an IPv4 address such as "10.0.0.254"'),
    "sched": _one_of("host", "cfs", "rt"),
    "cpu": _that(lambda v: _is_number(v) and v > 0, "a number above 0, the share of one processor"),
    "cores": _that(
        lambda v: isinstance(v, str) and re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", v) is not None,
        'processor numbers such as "0,1"',
    ),
    "startCommand": _string,
    "stopCommand": _string,
    "externalInterfaces": _strings,
    "vlanInterfaces": _that(
        lambda v: isinstance(v, list) and all(map(_vlan, v)), 'a list of pairs such as ["10.0.0.9", "100"]'
    ),
    "privateDirectory": _that(
        lambda v: isinstance(v, list) and all(isinstance(item, str) or _is_pair(item) for item in v),
        'a list of folders or of pairs such as ["/etc/x", "/tmp/x"]',
    ),
}
_SWITCH: dict[str, _Check] = {
    "hostname": _string,
    "nodeNum": _counting,
    "controllers": _strings,
    "switchType": _one_of(*SWITCH_TYPES),
    "dpid": _that(
        lambda v: isinstance(v, str) and re.fullmatch("[0-9A-Fa-f]{0,16}", v.replace(":", "")) is not None,
        "at most 16 hexadecimal digits",
    ),
    "dpctl": _number_text,
    "switchIP": _that(lambda v: v == "" or _parses(IPv4Interface, v), "an IPv4 address"),
    "netflow": _flag,
    "sflow": _flag,
    "startCommand": _string,
    "stopCommand": _string,
    "externalInterfaces": _strings,
}
_CONTROLLER: dict[str, _Check] = {
    "hostname": _string,
    "controllerType": _one_of(*CONTROLLER_TYPES),
    "controllerProtocol": _one_of("tcp", "ssl"),
    "remoteIP": _string,
    "remotePort": _that(lambda v: _is_whole(v) and 0 < v < 65536, "a port number from 1 to 65535"),
}
_LINK: dict[str, _Check] = {
    "bw": _bandwidth,
    "delay": _delay,
    "jitter": _delay,
    "loss": _that(lambda v: _is_number(v) and 0 <= v <= 100, "a number of percent from 0 to 100"),
    "max_queue_size": _that(lambda v: _is_whole(v) and 0 < v < 2**32, "a whole number from 1 to 4,294,967,295"),
    "speedup": _that(lambda v: _is_number(v) and v >= 0, "a number of Mbit/s, or 0 for none"),
}
_APPLICATION: dict[str, _Check] = {
    "ipBase": _that(
        lambda v: _parses(lambda t: IPv4Network(t, strict=False), v) and "/" in v,
        'a network such as "10.0.0.0/8"',
    ),
    "startCLI": _flag,
    "terminalType": _one_of("xterm", "gterm"),
    "switchType": _one_of("ovs", "ivs", "user", "userns"),
    "dpctl": _number_text,
    **dict.fromkeys(("netflow", "sflow", "openFlowVersions"), _that(lambda v: isinstance(v, Mapping), "an object")),
}
_target = _that(
    lambda v: isinstance(v, str) and _TARGET.fullmatch(v) is not None,
    'an address and a port of letters, digits, and . : [ ] % -, such as "10.0.0.1:6343"',
)
_PARTS: dict[str, dict[str, _Check]] = {
    "netflow": {"nflowTarget": _target, "nflowTimeout": _number_text, "nflowAddId": _flag},
    "sflow": {"sflowTarget": _target, **dict.fromkeys(("sflowSampling", "sflowHeader", "sflowPolling"), _number_text)},
    "openFlowVersions": dict.fromkeys(("ovsOf10", "ovsOf11", "ovsOf12", "ovsOf13"), _flag),
}


_TABLES = {"application": _APPLICATION, "controller": _CONTROLLER, "host": _HOST, "switch": _SWITCH, "link": _LINK}


def wrong_values(what: str, opts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys whose values have the wrong type or are out of range, and what each must be; unknown keys pass.

    what: "host", "switch", "controller", "link", "application", or a part of it as in "application netflow".
    """
    table = _TABLES[what] if what in _TABLES else _PARTS[what.removeprefix("application ")]
    for key, check in table.items():
        if key in opts and (wanted := check(opts[key])) is not None:
            yield key, wanted


def known_keys(what: str) -> frozenset[str]:
    """The options that MiniEdit gives to a "host", "switch", "controller", "link", or the "application"."""
    return frozenset(_TABLES[what])


def _values(topology: DrawnNetwork) -> Iterator[Problem]:
    """Values of the wrong type or out of range; unknown keys pass."""
    application = topology.preferences.data
    found: list[tuple[str, str, Mapping[str, Any]]] = [("application", "application", application)]
    found += [
        (f"application {part}", f"application {part}", application[part])
        for part in _PARTS
        if isinstance(application.get(part), Mapping)
    ]
    each: tuple[Controller | Node | Link, ...] = (*topology.all_controllers, *topology.nodes, *topology.links)
    found += [(part.what, f"{part.what} {part.name}", part.opts) for part in each]
    for what, where, opts in found:
        for key, wanted in wrong_values(what, opts):
            yield Problem("error", where, f'"{key}" {wanted}, found {quoted(opts[key])}', key=key)
    for link in topology.links:
        try:
            _ = link.impairments
        except InputError as error:
            yield Problem("error", f"link {link.name}", f'"linklab": {error}')
    yield from address_checks.values(topology)
    for node in topology.nodes:
        for key, value in (("x", node.x), ("y", node.y)):
            if value is not None and not _is_place(value):
                message = f'"{key}" must be a number, found "{excerpt(str(value))}"; Lay Out finds a place'
                yield Problem("warning", f"{node.what} {node.name}", message)


def _names(topology: DrawnNetwork) -> Iterator[Problem]:
    """Names that Linux or Mininet would refuse, or that two nodes share."""
    named: list[Controller | Node] = [*topology.all_controllers, *topology.nodes]
    for name, count in Counter(node.name for node in named).items():
        if count > 1:
            kinds = " and ".join(sorted({node.what for node in named if node.name == name}))
            yield Problem("error", f"{kinds} {name}", f'{count} nodes have the "hostname" {quoted(name)}')
    for node in named:
        where = f"{node.what} {node.name}"
        if not NAME.fullmatch(node.name):
            rule = "may hold letters, digits, _ . and -, and starts with a letter, a digit or _"
            yield Problem("error", where, f'"hostname" {rule}; found {quoted(node.name)}', key="hostname")
        elif node.name in OWN_TERMINALS:
            yield Problem("warning", where, f'a terminal called "{node.name}" is Linklab\'s own; rename the node')


def _ends(topology: DrawnNetwork) -> Iterator[Problem]:
    """Links and controllers that lead nowhere."""
    ports = {node.name: node.what for node in topology.nodes}
    controllers = {controller.name for controller in topology.all_controllers}
    wireless = wireless_names(topology)
    if wireless:
        named = ", ".join(sorted(wireless))
        yield Problem("warning", "the file", f"wireless nodes are kept but cannot be run: {named}")
    for switch in topology.switches:
        for name in switch.controllers:
            if name not in controllers:
                yield Problem("error", f"switch {switch.name}", f'"controllers" names {name}, and there is none')
    for link in topology.links:
        for key, end in (("src", link.src), ("dest", link.dest)):
            if end in controllers:
                hint = 'a switch names its controllers in "controllers"'
                yield Problem("error", f"link {link.name}", f'"{key}" is the controller {end}; {hint}')
            elif end not in ports and end not in wireless:
                yield Problem("error", f"link {link.name}", f'"{key}" names {end}, and there is no such node')
        if link.src == link.dest:
            yield Problem("error", f"link {link.name}", f"joins {link.src} to itself")
        elif ports.get(link.src) == ports.get(link.dest) == "host":
            yield Problem("warning", f"link {link.name}", "joins two hosts, which runs but which MiniEdit cannot draw")
        bandwidth = link.opts.get("bw", 0)
        rate_mbit = units.parse_rate_mbit(bandwidth) if isinstance(bandwidth, str) else bandwidth
        if rate_mbit > 1000:
            message = f'"bw" {rate_mbit:g} Mbit/s is above 1000, from where stock Mininet leaves a link unlimited'
            yield Problem("warning", f"link {link.name}", message)


def _interface_names(topology: DrawnNetwork) -> Iterator[Problem]:
    """Interface names that Linux would refuse; only to be asked once every link leads somewhere."""
    if wireless_names(topology):
        return
    yield from _ports_twice(topology)
    interfaces = topology.interfaces()
    for node in topology.nodes:
        longest = max((*interfaces[node.name], node.name), key=len)
        if len(longest) > LONGEST_INTERFACE_NAME:
            limit = f"Linux allows {LONGEST_INTERFACE_NAME} characters"
            yield Problem(
                "error",
                f"{node.what} {node.name}",
                f'"hostname" makes the interface name {longest}; {limit}',
                key="hostname",
            )


def _ports_twice(topology: DrawnNetwork) -> Iterator[Problem]:
    """Port numbers that the file itself gives to two links of a node, or that an external interface has."""
    ends = [
        (link.name, node, port)
        for link, ports in zip(topology.links, topology.ports(), strict=True)
        for node, port in zip((link.src, link.dest), ports, strict=True)
    ]
    owners: dict[tuple[str, int], str] = {
        (node.name, node.first_port + i): f"external interface {name}"
        for node in topology.nodes
        for i, name in enumerate(node.external_interfaces)
    }
    for link_name, node_name, port in ends:
        if (node_name, port) in owners:
            other = owners[node_name, port]
            yield Problem("error", f"link {link_name}", f"port {port} of {node_name} is that of {other} too")
        owners[node_name, port] = f"link {link_name}"


def _addresses(topology: DrawnNetwork) -> Iterator[Problem]:
    """Addresses that two hosts share, or that ipBase does not hold."""
    base = IPv4Network(topology.preferences.ip_base, strict=False)
    routed = any(switch.type == "legacyRouter" for switch in topology.switches)
    owners: dict[IPv4Address, str] = {}
    for host in topology.hosts:
        where = f"host {host.name}"
        given = bool(host.opts.get("ip"))
        if not given and host.node_num >= base.num_addresses:
            message = f'"nodeNum" {host.node_num} is more than the addresses of ipBase {base}'
            yield Problem("error", where, message, key="nodeNum")
            continue
        if host.node_num == 0:
            if not given:
                message = f'"nodeNum" 0 gives the address of the network {base} itself; give another number, or an "ip"'
                yield Problem("error", where, message, key="nodeNum")
                continue
            yield Problem("warning", where, '"nodeNum" 0 gives no address; the "ip" is what counts', key="nodeNum")
        address = interface_of(topology.address(host)).ip if given else base.network_address + host.node_num
        source = '"ip"' if given else 'no "ip", so by its "nodeNum"'
        if address in owners:
            message = f"has the address {address} ({source}) that {owners[address]} has too; only one of them answers"
            yield Problem("warning", where, message, key="ip" if given else "nodeNum")
        owners.setdefault(address, where)
        if address not in base and not routed:  # behind a router any subnet will do
            yield Problem("warning", where, f'"ip" {address} is outside the ipBase {base}', key="ip")


def _loops(topology: DrawnNetwork) -> Iterator[Problem]:
    """Rings of switches: a broadcast circles in them for ever unless a spanning tree breaks them."""
    if switching.has_spanning_tree(topology):
        return
    for i in switching.closing_links(topology):
        message = (
            "closes a loop of switches; without a spanning tree broadcasts circle in it for ever. "
            "Preferences > Switches > Spanning tree breaks the loop"
        )
        yield Problem("warning", f"link {topology.links[i].name}", message)


def _unheeded(topology: DrawnNetwork) -> Iterator[Problem]:
    """What is right but has no effect: User-mode Linux has one processor."""
    for host in topology.hosts:
        if cores := host.opts.get("cores"):
            message = f'"cores" {cores} is kept in the file but has no effect in a pocket, which has one processor'
            yield Problem("warning", f"host {host.name}", message)
        if host.opts.get("sched") == "rt" and host.opts.get("cpu"):
            message = '"sched" rt is kept in the file, but a pocket shares its processor out by cfs'
            yield Problem("warning", f"host {host.name}", message)


def wireless_names(topology: DrawnNetwork) -> set[str]:
    """Names of mininet-wifi's stations and access points."""
    found = set()
    for key, prefix in (("stations", "sta"), ("aps", "ap")):
        given = topology.extra.get(key)
        for node in given if isinstance(given, list) else ():
            if isinstance(node, Mapping) and isinstance(node.get("opts"), Mapping):
                found.add(str(node["opts"].get("hostname", prefix + str(node.get("number", "")))))
    return found
