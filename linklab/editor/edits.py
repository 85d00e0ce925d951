# SPDX-License-Identifier: BSD-3-Clause
"""Every change of a drawing as a function Topology → Topology; the caller makes it undoable (`Document.apply`).

Port numbers that a person has seen stay: whatever is deleted, the remaining links keep theirs (`keep_ports`).
New nodes take the lowest number that no node of their kind and no name has. Raises InputError for what cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from linklab.editor import decorations
from linklab.editor.document import AnyNode, Key, everyone, is_node
from linklab.errors import FieldError, InputError
from linklab.topology import Controller, Host, Link, Preferences, Switch, Topology, parts
from linklab.topology.checks import NAME
from linklab.topology.parts import new_identity
from linklab.windows.words import Phrase

KINDS = ("host", "switch", "legacySwitch", "legacyRouter", "controller")
PREFIXES = {"host": "h", "switch": "s", "legacySwitch": "s", "legacyRouter": "r", "controller": "c"}
CONTROLLER_PORT = 6633
position = parts.position


def places(topology: Topology, keys: Iterable[Key]) -> dict[str, tuple[float, float]]:
    """Coordinates of the nodes and decorations among these, and of what stands in the frames among them."""
    spots = {node.name: position(node) for node in everyone(topology)}
    spots |= {key: (each.x, each.y) for key, each in decorations.decorations(topology).items()}
    chosen = decorations.carried(topology, set(keys), spots)
    return {key: spot for key, spot in spots.items() if key in chosen}


def named(topology: Topology) -> dict[str, AnyNode]:
    """Nodes and controllers by name; of two with one name the first."""
    found: dict[str, AnyNode] = {}
    for node in everyone(topology):
        found.setdefault(node.name, node)
    return found


def kind_of(node: AnyNode) -> str:
    """One of KINDS."""
    if isinstance(node, Host):
        return "host"
    if isinstance(node, Switch):
        return node.type if node.type in ("legacySwitch", "legacyRouter") else "switch"
    return "controller"


def free_number(topology: Topology, kind: str) -> int:
    """The lowest number that gives a new name; hosts and switches count from 1, controllers from 0."""
    names = set(named(topology))
    taken: set[int] = set()
    if kind == "host":
        taken = {host.node_num for host in topology.hosts}
    elif kind != "controller":
        taken = {switch.node_num for switch in topology.switches}
    number = 0 if kind == "controller" else 1
    while number in taken or PREFIXES[kind] + str(number) in names:
        number += 1
    return number


def add_node(topology: Topology, kind: str, x: float, y: float) -> tuple[Topology, str]:
    """A new node of a kind with its next free name; the topology and the name."""
    number = free_number(topology, kind)
    name = PREFIXES[kind] + str(number)
    at: dict[str, Any] = {"x": str(float(round(x))), "y": str(float(round(y)))}
    if kind == "controller":
        opts: dict[str, Any] = {
            "hostname": name,
            "controllerType": "ref",
            "controllerProtocol": "tcp",
            "remoteIP": "127.0.0.1",
            "remotePort": CONTROLLER_PORT + number,
        }
        return replace(topology, controllers=(*topology.all_controllers, Controller(opts=opts, **at))), name
    opts = {"hostname": name, "nodeNum": number}
    if kind == "host":
        host = Host(number=str(number), opts={**opts, "sched": "host"}, **at)
        return replace(topology, hosts=(*topology.hosts, host)), name
    opts["switchType"] = "default" if kind == "switch" else kind
    if kind != "legacyRouter":
        opts["controllers"] = []
    switch = Switch(number=str(number), opts=opts, **at)
    return replace(topology, switches=(*topology.switches, switch)), name


def why_no_link(topology: Topology, src: str, dest: str) -> str | None:
    """The reason two nodes cannot be joined, None if they can."""
    nodes = named(topology)
    if src == dest:
        return Phrase("{node} cannot be linked to itself", node=src)
    ends = [nodes[src], nodes[dest]]
    controllers = [node for node in ends if isinstance(node, Controller)]
    if len(controllers) == 2:
        return Phrase("two controllers cannot be linked")
    if controllers:
        other = next(node for node in ends if not isinstance(node, Controller))
        if not isinstance(other, Switch) or other.type in ("legacySwitch", "legacyRouter"):
            return Phrase("a controller is linked to an OpenFlow switch, and {node} is none", node=other.name)
        if controllers[0].name in other.controllers:
            return Phrase("{node} has {other} already", node=other.name, other=controllers[0].name)
    return None


def add_link(topology: Topology, src: str, dest: str) -> Topology:
    """Join two nodes, or give a switch a controller."""
    if why := why_no_link(topology, src, dest):
        raise InputError(why)
    nodes = named(topology)
    for one, other in ((src, dest), (dest, src)):
        if isinstance(nodes[one], Controller):
            switch = nodes[other]
            assert isinstance(switch, Switch)
            return set_opts(topology, other, {"controllers": [*switch.controllers, one]})
    return keep_ports(topology, replace(topology, links=(*topology.links, Link(src, dest))))


def link_all(topology: Topology, names: Sequence[str]) -> tuple[Topology, str]:
    """Join nodes to the one switch or router among them, in their order; the topology and that node's name.

    Raises:
        InputError: there is no such node among them or more than one, or one cannot be joined to it.
    """
    nodes = named(topology)
    hubs = [name for name in names if isinstance(nodes[name], Switch)]
    if len(names) < 2 or len(hubs) != 1:
        raise InputError("select two nodes, or nodes and the one switch that they are to be linked to")
    for name in names:
        if name != hubs[0]:
            topology = add_link(topology, name, hubs[0])
    return topology, hubs[0]


def set_opts(topology: Topology, name: str, opts: Mapping[str, Any], drop: Collection[str] = ()) -> Topology:
    """Change keys of a node's or controller's `opts`; a changed "hostname" is changed wherever it is named.

    Raises:
        FieldError: a name that another node has, or that Linux refuses; the key is "hostname".
    """
    node = named(topology)[name]
    new_name = str(opts.get("hostname", name))
    if new_name != name and new_name in named(topology):
        raise FieldError(Phrase("there is a {name} already", name=new_name), key="hostname")
    if not NAME.fullmatch(new_name):
        words = "a name holds letters, digits, _ . and -, and starts with a letter, a digit or _"
        raise FieldError(words, key="hostname")
    changed = replace(node, opts={**{k: v for k, v in node.opts.items() if k not in drop}, **opts})
    if isinstance(changed, Controller) and changed.key is not None:
        changed = replace(changed, key=new_name)
    after = exchanged(topology, node, changed)
    if new_name != name:
        after = _renamed(after, name, new_name, is_controller=isinstance(node, Controller))
    return keep_ports(topology, after)


def exchanged(topology: Topology, node: AnyNode, changed: AnyNode) -> Topology:
    """One node or controller in place of another."""
    return replace(
        topology,
        hosts=_exchanged(topology.hosts, node, changed),
        switches=_exchanged(topology.switches, node, changed),
        controllers=_controllers(topology, lambda n: changed if n is node else n),
    )


def _exchanged(nodes: tuple[Any, ...], node: AnyNode, changed: AnyNode) -> tuple[Any, ...]:
    return tuple(changed if n is node else n for n in nodes)


def _controllers(topology: Topology, change: Callable[[Controller], Any]) -> tuple[Controller, ...] | None:
    if topology.controllers is None:
        return None
    return tuple(changed for n in topology.controllers if (changed := change(n)) is not None)


def _renamed(topology: Topology, old: str, new: str, *, is_controller: bool) -> Topology:
    if is_controller:
        return _without_controllers(topology, lambda c: new if c == old else c)
    links = tuple(
        replace(k, src=new if k.src == old else k.src, dest=new if k.dest == old else k.dest)
        if old in (k.src, k.dest)
        else k
        for k in topology.links
    )
    return replace(topology, links=links)


def _without_controllers(topology: Topology, change: Callable[[str], str | None]) -> Topology:
    def switch(node: Switch) -> Switch:
        before = list(node.controllers)
        after = [new for name in before if (new := change(name)) is not None]
        return node if after == before else replace(node, opts={**node.opts, "controllers": after})

    return replace(topology, switches=tuple(switch(node) for node in topology.switches))


def set_link(topology: Topology, place: int, opts: Mapping[str, Any], own: Mapping[str, Any]) -> Topology:
    """Set a link's `opts` (MiniEdit's) and what is ours of it, whole."""
    changed = replace(topology.links[place], opts=dict(opts), own=dict(own))
    links = tuple(changed if i == place else link for i, link in enumerate(topology.links))
    return replace(topology, links=links)


def set_preferences(topology: Topology, data: Mapping[str, Any], ours: Mapping[str, Any] | None = None) -> Topology:
    """Set the object "application", and keys of ours under "linklab"."""
    after = replace(topology, application=Preferences(dict(data)))
    if ours is not None:
        kept = {**topology.extra.get("linklab", {}), **ours}
        kept = {key: value for key, value in kept.items() if value is not None}
        extra = {key: value for key, value in topology.extra.items() if key != "linklab"}
        after = replace(after, extra={**extra, "linklab": kept} if kept else extra)
    return keep_ports(topology, after)


def delete(topology: Topology, keys: Collection[Key]) -> Topology:
    """Remove nodes, controllers, links and decorations; links of a node that goes, go with it."""
    names = {key for key in keys if is_node(key)}
    topology = decorations.delete(topology, keys)
    for switch, _, controller in (key.partition(">") for key in keys if isinstance(key, str) and ">" in key):
        asked = next(s for s in topology.switches if s.name == switch).controllers
        topology = set_opts(topology, switch, {"controllers": [c for c in asked if c != controller]})
    controllers = {c.name for c in topology.all_controllers if c.name in names}
    kept = [i for i, k in enumerate(topology.links) if i not in keys and not names & {k.src, k.dest}]
    after = replace(
        topology,
        hosts=tuple(n for n in topology.hosts if n.name not in names),
        switches=tuple(n for n in topology.switches if n.name not in names),
        controllers=_controllers(topology, lambda c: None if c.name in names else c),
        links=tuple(topology.links[i] for i in kept),
    )
    if controllers:
        after = _without_controllers(after, lambda c: None if c in controllers else c)
    return keep_ports(topology, after, kept)


def keep_ports(before: Topology, after: Topology, kept: Sequence[int] | None = None) -> Topology:
    """`after` with port numbers said where counting would give links other ones than in `before`.

    kept: for each link of `after` its place in `before`; None if the first ones are the same.
    A node that counting numbers rightly says nothing, so that files stay as MiniEdit writes them.
    """
    places = list(range(min(len(before.links), len(after.links)))) if kept is None else list(kept)
    try:
        old = before.ports()
        counted = replace(after, links=tuple(_said(link, (None, None)) for link in after.links))
        fresh = counted.ports()
    except KeyError:  # a link leads nowhere: nothing has numbers before that is mended
        return after
    wanted = [old[place] for place in places]
    first = {node.name: node.first_port + len(node.external_interfaces) for node in after.nodes}
    differing = {
        node
        for link, want, got in zip(after.links, wanted, fresh, strict=False)
        for node, one, other in zip((link.src, link.dest), want, got, strict=True)
        if one != other and one >= first[node]
    }

    def kept_port(node: str, port: int) -> int | None:
        """None also where an external interface has come in between: that link takes the next free number."""
        return port if node in differing and port >= first[node] else None

    links = [
        _said(link, (kept_port(link.src, want[0]), kept_port(link.dest, want[1])))
        for link, want in zip(after.links, wanted, strict=False)
    ]
    links += [_said(link, (None, None)) for link in after.links[len(links) :]]
    return after if tuple(links) == after.links else replace(after, links=tuple(links))


def _said(link: Link, ports: tuple[int | None, int | None]) -> Link:
    if link.ports == ports:
        return link
    own = {key: value for key, value in link.own.items() if key != "ports"}
    return replace(link, own=own if ports == (None, None) else {**own, "ports": list(ports)})


def move(topology: Topology, places: Mapping[str, tuple[float, float]]) -> Topology:
    """Put nodes, controllers and decorations at these coordinates."""
    topology = decorations.move(topology, places)

    def moved(node: Any) -> Any:
        if node.name not in places or getattr(node, "key", None) is not None:  # version 1 says no place of it
            return node
        x, y = places[node.name]
        return replace(node, x=str(float(round(x))), y=str(float(round(y))))

    return replace(
        topology,
        hosts=tuple(moved(n) for n in topology.hosts),
        switches=tuple(moved(n) for n in topology.switches),
        controllers=_controllers(topology, moved),
    )


def part(topology: Topology, names: Iterable[str]) -> Topology:
    """These nodes and decorations and the links among them, for the clipboard."""
    chosen = set(names)
    ours = decorations.part(topology, chosen)
    links = [(i, k) for i, k in enumerate(topology.links) if k.src in chosen and k.dest in chosen]
    return Topology(
        hosts=tuple(n for n in topology.hosts if n.name in chosen),
        switches=tuple(n for n in topology.switches if n.name in chosen),
        controllers=tuple(c for c in topology.all_controllers if c.name in chosen),
        links=tuple(_without_addresses(_said(link, (None, None))) for _, link in links),
        extra={decorations.KEY: ours} if ours else {},
    )


def _without_addresses(link: Link) -> Link:
    """A copy is no copy of addresses: two nodes with one address are no network."""
    own = {key: value for key, value in link.own.items() if key != "addresses"}
    return replace(link, own=own)


def paste(topology: Topology, piece: Topology, offset: tuple[float, float]) -> tuple[Topology, list[str]]:
    """Add copies with new names, numbers and addresses, moved by `offset`; the topology and the new names."""
    names: dict[str, str] = {}
    after = topology
    for node in everyone(piece):
        x, y = position(node)
        kind = kind_of(node)
        after, name = add_node(after, kind, x + offset[0], y + offset[1])
        names[node.name] = name
        fresh = named(after)[name].opts
        # A copy's address and identity come from its own number; two nodes with one address are no network.
        own = {
            key: value for key, value in node.opts.items() if key not in ("hostname", "nodeNum", "ip", "dpid", "dpctl")
        }
        if kind == "controller":
            own.pop("remotePort", None)
        if "controllers" in own:
            have = {c.name for c in topology.all_controllers}
            own["controllers"] = [names.get(c, c) for c in parts.words(own["controllers"]) if c in have or c in names]
        after = set_opts(after, name, {**own, **{k: fresh[k] for k in ("hostname", "nodeNum") if k in fresh}})
    for switch in (s for s in piece.switches if s.controllers):
        wanted = [names.get(c, c) for c in switch.controllers if c in names or c in named(topology)]
        after = set_opts(after, names[switch.name], {"controllers": wanted})
    links = tuple(replace(k, src=names[k.src], dest=names[k.dest], identity=new_identity()) for k in piece.links)
    after, drawn = decorations.paste(keep_ports(topology, replace(after, links=(*after.links, *links))), piece, offset)
    return after, [*names.values(), *drawn]


def align(topology: Topology, names: Sequence[str], how: str) -> Topology:
    """Bring nodes into line: "left", "centre", "right", "top", "middle", "bottom", or spread "across" or "down"."""
    nodes = named(topology)
    places = {name: position(nodes[name]) for name in names}
    if len(places) < 2:
        return topology
    axis = 0 if how in ("left", "centre", "right", "across") else 1
    values = sorted(place[axis] for place in places.values())
    if how in ("across", "down"):
        order = sorted(places, key=lambda name: places[name][axis])
        step = (values[-1] - values[0]) / (len(order) - 1)
        target = {name: values[0] + i * step for i, name in enumerate(order)}
    else:
        at = {"left": values[0], "top": values[0], "right": values[-1], "bottom": values[-1]}.get(how)
        middle = (values[0] + values[-1]) / 2
        target = dict.fromkeys(places, middle if at is None else at)
    return move(topology, {n: (target[n], p[1]) if axis == 0 else (p[0], target[n]) for n, p in places.items()})
