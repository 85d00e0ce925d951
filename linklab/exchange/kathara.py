# SPDX-License-Identifier: BSD-3-Clause
"""A network scenario of Kathará (lab.conf and the startup files beside it) ↔ a drawing.

A collision domain of two devices is a link, one of more a legacy switch; a device that makes a bridge is a legacy
switch, one that forwards or has two addresses a router. Format: kathara-lab.conf(5).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exchange.carried import (
    MOST_NODES,
    Assembly,
    Carried,
    Exported,
    commands_of,
    left_out,
    netem,
    refuse_wireless,
    short_list,
)
from linklab.exchange.heredoc import folded
from linklab.exchange.machine import FORWARDING, Machine
from linklab.topology import Topology, switching
from linklab.topology.forgiven import forgiven
from linklab.topology.naming import Names, plain_name

CONF = "lab.conf"
STARTUP = ".startup"
_LINE = re.compile(r"""\s*([\w.-]+)\[([\w-]+)\]\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#]*))\s*(?:#.*)?""")
_SAID = re.compile(r"""\s*LAB_\w+\s*=.*""")


def load(files: Mapping[str, str], name: str, others: Sequence[str] = ()) -> Carried:
    """The drawing of a scenario.

    files: lab.conf and the startup files, text by name; name: of the folder; others: what else is in the folder.

    Raises:
        InputError: lab.conf joins nothing.
    """
    assembly = Assembly(name)
    domains: dict[str, list[tuple[str, int]]] = {}
    left: list[str] = []
    for number, line in enumerate(files[CONF].splitlines(), 1):
        if not line.strip() or line.strip().startswith("#") or _SAID.fullmatch(line):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            assembly.notes.append(f"{CONF}, line {number} could not be read: {excerpt(line.strip())}")
            continue
        device, key, value = match[1], match[2], next(text for text in (*match.groups()[2:], "") if text is not None)
        machine = assembly.machine(device)
        if key.isdecimal() and len(key) < 5:
            domain, _, mac = value.partition("/")
            domains.setdefault(domain, []).append((device, int(key)))
            left += ["MAC addresses"] if mac else []
        elif key == "image":
            assembly.images.append(value)
        elif not _read_option(machine, key, value):
            left.append(key)
    if not domains:
        raise InputError(f"{name}: {CONF} has no interface, such as pc1[0]=A")
    if len(assembly.machines) > MOST_NODES:
        raise InputError(f"{name}: {len(assembly.machines)} devices are more than {MOST_NODES}")
    shared = _lines(files.get("shared" + STARTUP, ""))
    for device, machine in assembly.machines.items():
        machine.lines = [*shared, *_lines(files.get(device + STARTUP, "")), *machine.lines]
    if left:
        assembly.notes.append(f"not carried over of the devices: {short_list(dict.fromkeys(left))}")
    if others:
        assembly.notes.append(f"not carried over of the folder: {short_list(others)}")
    _join(assembly, domains)
    return assembly.done()


def _read_option(machine: Machine, key: str, value: str) -> bool:
    """Read an option of a device; False if a drawing has no field for it."""
    if key == "exec":
        machine.lines.append(value)
    elif key == "sysctl" and value.replace(" ", "") in FORWARDING.values():
        machine.forwards = True
    else:
        return False
    return True


def _lines(text: str) -> list[str]:
    """The commands of a startup file, a line each; one that ends with a backslash goes on in the next."""
    return "\n".join(folded(text.splitlines())).replace("\\\n", " ").splitlines()


def _join(assembly: Assembly, domains: Mapping[str, list[tuple[str, int]]]) -> None:
    """Each domain as a link, or as a switch with a link to each of its interfaces."""
    names = Names(set(assembly.machines))
    joined = []
    for domain, members in domains.items():
        if len(members) == 2 and members[0][0] != members[1][0]:
            joined.append((members[0], members[1]))
            continue
        if len(members) == 1:
            device, number = members[0]
            assembly.notes.append(f"{device}: eth{number} is alone on {domain} and is not carried over")
            continue
        switch = names.fresh(plain_name(domain) or "s1", 60)
        assembly.machine(switch).kind = "legacySwitch"
        assembly.notes.append(f"the collision domain {domain} of {len(members)} interfaces is the switch {switch} here")
        joined += [(member, (switch, place)) for place, member in enumerate(members)]
    for (one, first), (other, second) in sorted(joined, key=lambda ends: (ends[0][1], ends[1][1])):
        assembly.link(one, f"eth{first}", other, f"eth{second}")


def dump(topology: Topology, name: str) -> Exported:
    """lab.conf and the startup files, and what they omit.

    Raises:
        TopologyError: the drawing has faults.
        InputError: it has wireless nodes, or two nodes would have one name.
    """
    refuse_wireless(topology)
    topology.check()
    topology, _ = forgiven(topology)
    names = {node.name: re.sub(r"[^a-z0-9_]", "_", node.name.lower()) for node in topology.nodes}
    notes = [f"{node} is called {given} there" for node, given in names.items() if node != given]
    if len(set(names.values())) < len(names):
        raise InputError(f"{name}: two nodes would have the same name, because Kathará allows only lower-case letters")
    bridges = [switch for switch in topology.switches if switch.type != "legacyRouter"]
    interfaces = topology.interfaces()
    own = {node.name: interfaces[node.name][len(node.external_interfaces) :] for node in topology.nodes}
    # Kathará's numbers have no gaps
    ports = {port: f"eth{i}" for of_node in own.values() for i, port in enumerate(of_node)}
    conf = [f'LAB_NAME="{re.sub(r"[^ -~]|[$`]", "", name).replace(chr(34), "")}"', ""]
    lines: dict[str, list[str]] = {node: [] for node in names}
    for domain, (link, ends) in enumerate(zip(topology.links, topology.link_ends(), strict=True), 1):
        for node, port in zip((link.src, link.dest), ends, strict=True):
            conf.append(f'{names[node]}[{ports[port].removeprefix("eth")}]="L{domain}"')
            if words := netem(link.opts):
                lines[node].append(f"tc qdisc add dev {ports[port]} root netem {words}")
    for switch in bridges:
        if switch.type != "legacySwitch":
            notes.append(f"{switch.name}: an OpenFlow switch is a bridge there, which learns by itself")
        made = [f"ip link add br0 type bridge{' stp_state 1' if switching.has_spanning_tree(topology) else ''}"]
        made += [f"ip link set {ports[port]} master br0" for port in own[switch.name]]
        lines[switch.name] = [*made, "ip link set br0 up", *lines[switch.name]]
    for node, typed in commands_of(topology, ports).items():
        lines[node] = [*typed, *lines[node]]
    files = {CONF: "\n".join(conf) + "\n"}
    started = {node: typed for node, typed in lines.items() if typed and own[node]}
    files |= {f"{names[node]}{STARTUP}": "\n".join(typed) + "\n" for node, typed in started.items()}
    if alone := [node for node, of_node in own.items() if not of_node]:
        notes.append(f"not carried over, because they have no link: {short_list(alone)}")
    return Exported(files, (*notes, *left_out(topology)))
