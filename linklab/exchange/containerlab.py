# SPDX-License-Identifier: BSD-3-Clause
"""A topology file of containerlab (YAML) ↔ a drawing.

Containers of the kind linux are hosts, or routers where they forward; bridges are legacy switches; any other kind is a
router whose own system is not run. Format: containerlab.dev/manual/topo-def-file, manual/nodes, manual/links.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

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
from linklab.exchange.machine import Machine
from linklab.topology import Topology, switching
from linklab.topology.forgiven import forgiven

ENDINGS = (".yml", ".yaml")
IMAGE = "alpine:3"
BRIDGES = ("bridge", "ovs-bridge")
_OF_BASH = r"<<<|\$'|[<>]\("
"""Here-strings, $'…', and <(…), which a plain sh has not."""
READ = {"kind", "exec", "group", "labels", "image"}
"""Keys of a node that are read, or that change nothing of the network."""
OUTSIDE = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy")


class _Ends(list[str]):
    """Both ends of a link, which are written on one line."""


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # which has no types
    """Writes YAML as people write such files."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists, too."""
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Ends, lambda dumper, ends: dumper.represent_sequence("tag:yaml.org,2002:seq", ends, flow_style=True)
)


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # which has no types
    """Refuses a key that stands twice, of which PyYAML would silently drop one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Construct a mapping with unique keys."""
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
        if twice := [key for key, times in Counter(keys).items() if times > 1]:
            where = f"in the mapping that begins on line {node.start_mark.line + 1}"
            raise yaml.YAMLError(f'the key "{excerpt(twice[0])}" appears twice {where}')
        return super().construct_mapping(node, deep)


def load(text: str, name: str) -> Carried:
    """The drawing of a topology file.

    name: of the file, for messages.

    Raises:
        InputError: the text is not a topology file.
    """
    try:
        data = yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: not valid YAML: {excerpt(str(error), 200)}") from error
    topology = _object(data).get("topology")
    nodes = _object(_object(topology).get("nodes"))
    if not nodes:
        raise InputError(f'{name}: not a containerlab topology: "topology" has no "nodes"')
    if len(nodes) > MOST_NODES:
        raise InputError(f"{name}: {len(nodes)} nodes are more than {MOST_NODES}")
    assert isinstance(topology, Mapping)
    assembly = Assembly(str(_object(data).get("name") or name))
    others: list[str] = []
    for key, given in nodes.items():
        others += _node(assembly, str(key), _settings(topology, _object(given)))
    if others:
        assembly.notes.append(f"not carried over of the nodes: {short_list(dict.fromkeys(others))}")
    for link in _list(topology.get("links")):
        _link(assembly, _object(link))
    for key in _object(data):
        if key not in ("name", "topology", "prefix"):
            assembly.notes.append(f'not carried over: "{excerpt(str(key))}"')
    for machine in assembly.machines.values():
        _without_management(assembly, machine)
    return assembly.done()


def _node(assembly: Assembly, name: str, settings: Mapping[str, Any]) -> list[str]:
    """Make a node's machine; the keys of the node that are not read."""
    machine = assembly.machine(name)
    kind = _word(settings["kind"]) or "linux"
    if kind in BRIDGES:
        machine.kind = "legacySwitch"
    elif kind != "linux":
        machine.kind = "legacyRouter"
        assembly.notes.append(f"{name}: {excerpt(kind)} is not run; a plain router takes its place")
    lines = list(filter(None, map(_word, settings["exec"])))
    machine.lines = [command for line in lines for command in _commands(line)]
    if len(lines) < len(settings["exec"]):
        assembly.notes.append(f'{name}: a part of "exec" is not a line and is not carried over')
    if image := _word(settings.get("image")):
        assembly.images.append(image)
    return [str(key) for key in settings if key not in READ]


def _settings(topology: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a node with those it inherits: from its group, its kind, and the defaults; "exec" adds up."""
    defaults = _object(topology.get("defaults"))
    group = _object(_object(topology.get("groups")).get(_word(node.get("group") or defaults.get("group"))))
    kind = node.get("kind") or group.get("kind") or defaults.get("kind")
    levels = (defaults, _object(_object(topology.get("kinds")).get(_word(kind))), group, node)
    found: dict[str, Any] = {}
    for level in levels:
        found |= {str(key): value for key, value in level.items()}
    return {**found, "kind": kind, "exec": [line for level in levels for line in _list(level.get("exec"))]}


def _link(assembly: Assembly, link: Mapping[str, Any]) -> None:
    ends = list(_ends(link))
    shown = " and ".join(":".join(end) for end in ends) or "nothing"
    if len(ends) != 2 or any(name in OUTSIDE or name not in assembly.machines for name, _ in ends):
        assembly.notes.append(f"the link of {shown} leads out of the network and is not carried over")
        return
    (one, first), (other, second) = ends
    if one == other:
        assembly.notes.append(f"the link of {shown} joins {one} to itself and is not carried over")
        return
    assembly.link(one, first, other, second)
    for key in link:
        if key not in ("endpoints", "type"):
            assembly.notes.append(f'link of {shown}: "{excerpt(str(key))}" is not carried over')


def _ends(link: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The ends of a link in the short form ("h1:eth1") or the long one; a link to the outside may have only one."""
    for end in (*_list(link.get("endpoints")), *([link["endpoint"]] if "endpoint" in link else [])):
        if isinstance(end, str):
            name, _, interface = end.partition(":")
            yield name, interface
        elif isinstance(end, Mapping):
            yield _word(end.get("node")), _word(end.get("interface"))


def _without_management(assembly: Assembly, machine: Machine) -> None:
    """Drop and name lines about eth0, which is containerlab's management interface unless a link uses it."""
    if "eth0" in machine.interfaces:
        return
    for line in machine.lines:
        if re.search(r"\beth0\b", line):
            why = "because eth0 is the management interface"
            assembly.notes.append(f"{machine.name}: not carried over, {why}: {excerpt(line)}")
    machine.lines = [line for line in machine.lines if not re.search(r"\beth0\b", line)]


def dump(topology: Topology, name: str) -> Exported:
    """The topology file and what it omits; the first notes say what to type before and after deploying.

    Raises:
        TopologyError: the drawing has faults.
        InputError: it has wireless nodes.
    """
    refuse_wireless(topology)
    topology.check()
    topology, _ = forgiven(topology)
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "network"
    bridges = {switch.name: "ovs-bridge" for switch in topology.switches if switch.type != "legacyRouter"}
    bridges |= {switch.name: "bridge" for switch in topology.switches if switch.type == "legacySwitch"}
    ports = {}
    for (one, other), link in zip(topology.link_ends(), topology.links, strict=True):
        for port, end in ((one, link.src), (other, link.dest)):
            # eth0 is the network of management there
            number = int(port.rpartition("-eth")[2])
            ports[port] = port if end in bridges else f"eth{number + 1}"
    commands = commands_of(topology, ports)
    nodes: dict[str, Any] = {}
    for node in topology.nodes:
        if node.name in bridges:
            nodes[node.name] = {"kind": bridges[node.name]}
        else:
            lines = commands[node.name]
            nodes[node.name] = {
                "kind": "linux",
                "image": IMAGE,
                **({"exec": [_line(each) for each in lines]} if lines else {}),
            }
    links = [
        {"endpoints": _Ends((f"{link.src}:{ports[one]}", f"{link.dest}:{ports[other]}"))}
        for link, (one, other) in zip(topology.links, topology.link_ends(), strict=True)
    ]
    data = {"name": plain, "topology": {"nodes": nodes, "links": links}}
    notes = [f"containers have the image {IMAGE}; choose one with the programs that you need"]
    has_stp = switching.has_spanning_tree(topology)
    before = [_making(bridge, kind, has_stp=has_stp) for bridge, kind in bridges.items()]
    after = list(_impairments(topology, ports, set(bridges), plain))
    if before:
        notes.append(f"make the bridges before deploying, with the commands at the head: {short_list(bridges)}")
    if after:
        notes.append("set rates, delays, and losses after deploying, with the commands at the head")
    head = ["# deploy: sudo containerlab deploy -t " + f"{plain}.clab.yml"]
    head += ["# before, as root:", *(f"#   {line}" for line in before)] if before else []
    head += ["# after, as root:", *(f"#   {line}" for line in after)] if after else []
    text = (
        "\n".join(head) + "\n" + yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=False, width=200)
    )
    return Exported({f"{plain}.clab.yml": text}, (*notes, *left_out(topology)))


def _making(bridge: str, kind: str, *, has_stp: bool) -> str:
    """The commands that create a bridge on the machine."""
    if kind == "ovs-bridge":
        return f"ovs-vsctl add-br {bridge}" + (f" -- set bridge {bridge} stp_enable=true" if has_stp else "")
    return f"ip link add {bridge} type bridge{' stp_state 1' if has_stp else ''} && ip link set {bridge} up"


def _line(line: str) -> str:
    """The line as containerlab can run it, without a shell: one that needs a shell is passed to sh, or to bash."""
    if re.fullmatch(r"[\w ./:=-]+", line):
        return line
    return f"{'bash' if re.search(_OF_BASH, line) else 'sh'} -c {_quoted(line)}"


def _quoted(line: str) -> str:
    return "'" + line.replace("'", "'\\''") + "'"


def _impairments(topology: Topology, ports: Mapping[str, str], bridges: set[str], name: str) -> Iterator[str]:
    for link, ends in zip(topology.links, topology.link_ends(), strict=True):
        words = netem(link.opts)
        if not words:
            continue
        for node, port in zip((link.src, link.dest), ends, strict=True):
            line = f"tc qdisc add dev {ports[port]} root netem {words}"
            yield line if node in bridges else f"ip netns exec clab-{name}-{node} {line}"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _commands(text: str) -> list[str]:
    """The commands of an entry of "exec", which may be a script; a quote that goes over several lines is one."""
    lines = folded(text.splitlines())
    try:
        for line in lines:
            shlex.split(line)
    except ValueError:
        return [text]
    return lines


def _word(value: Any) -> str:
    """A scalar as text; "" for anything else, whose text aliases of YAML can make as long as they like."""
    return str(value) if isinstance(value, str | int | float) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
