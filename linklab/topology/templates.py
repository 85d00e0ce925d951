# SPDX-License-Identifier: BSD-3-Clause
"""Networks that courses often start from, by name and numbers: "dumbbell:3", "fat-tree:4", or `mn`'s "tree:2,3".

    made("dumbbell:3,rate=10") → Topology

Those of `mn` have the names, ports and addresses that Mininet gives them (mininet/topo.py, mininet/topolib.py). Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from linklab.errors import InputError
from linklab.topology import switching
from linklab.topology.builder import Builder, natural
from linklab.topology.model import Topology

MOST_NODES = 2000
PITCH = 90.0
LEVELS = (160.0, 300.0, 440.0, 560.0)
"""Pixels between hosts of a fat tree, and its rows from the core down; a controller has room above."""
Values = Mapping[str, int]


@dataclass(frozen=True)
class Number:
    """A parameter of a template."""

    name: str
    label: str
    default: int
    least: int
    most: int
    unit: str = ""


@dataclass(frozen=True)
class Template:
    """One kind of network; help: a phrase for the dialog and the command line."""

    name: str
    label: str
    help: str
    numbers: tuple[Number, ...]
    draw: Callable[[Builder, Values], None]
    mininet: bool = False


_RATE = Number("rate", "Bottleneck", 10, 1, 1000, "Mbit/s")
_DELAY = Number("delay", "Delay of the bottleneck", 10, 0, 10_000, "ms")
_OPENFLOW = Number("openflow", "OpenFlow switches with a controller", 0, 0, 1)


def _bottleneck(values: Values) -> dict[str, Any]:
    return {"bw": values["rate"], **({"delay": f"{values['delay']}ms"} if values["delay"] else {})}


def _dumbbell(to: Builder, values: Values) -> None:
    left, right = to.switch(), to.switch()
    pairs = values["pairs"]
    hosts = [to.host() for _ in range(2 * pairs)]
    for i, host in enumerate(hosts):
        to.link(host, left if i < pairs else right)
    to.link(left, right, _bottleneck(values))


def _rtt_fairness(to: Builder, values: Values) -> None:
    """As a dumbbell, where each sender is twice as far away as the one before."""
    left, right = to.switch(), to.switch()
    pairs = values["pairs"]
    hosts = [to.host() for _ in range(2 * pairs)]
    for i, host in enumerate(hosts[:pairs]):
        to.link(host, left, {"delay": f"{values['first'] << i}ms"})
    for host in hosts[pairs:]:
        to.link(host, right)
    to.link(left, right, _bottleneck(values))


def _parking_lot(to: Builder, values: Values) -> None:
    """One flow over every bottleneck, and one of its own over each."""
    hops = values["hops"]
    switches = [to.switch() for _ in range(hops + 1)]
    to.link(to.host(), switches[0])
    to.link(to.host(), switches[-1])
    for i in range(hops):
        to.link(to.host(), switches[i])
        to.link(to.host(), switches[i + 1])
    for one, other in pairwise(switches):
        to.link(one, other, _bottleneck(values))


def _star(to: Builder, values: Values) -> None:
    middle = to.switch()
    for _ in range(values["hosts"]):
        to.link(to.host(), middle)


def _ring(to: Builder, values: Values) -> None:
    switches = [to.switch() for _ in range(values["switches"])]
    for switch in switches:
        to.link(to.host(), switch)
    for i, switch in enumerate(switches):
        to.link(switch, switches[(i + 1) % len(switches)])


def _fat_tree(to: Builder, values: Values) -> None:
    """Al-Fares et al. (2008): k pods of k/2 edge and k/2 aggregation switches, (k/2)² core switches, k³/4 hosts."""
    ports = values["ports"]
    if ports % 2:
        raise InputError(f"fat-tree: the ports of a switch must be an even number, not {ports}")
    half = ports // 2
    core = [to.switch() for _ in range(half * half)]
    wide = half * half * PITCH
    for i, name in enumerate(core):
        to.places[name] = (PITCH + ports * wide * (i + 0.5) / len(core), LEVELS[0])
    for pod in range(ports):
        left = PITCH + pod * wide
        upper = [to.switch() for _ in range(half)]
        to.places |= {name: (left + wide * (i + 0.5) / half, LEVELS[1]) for i, name in enumerate(upper)}
        for i, switch in enumerate(upper):
            for j in range(half):
                to.link(core[i * half + j], switch)
        for number in range(half):
            edge = to.switch()
            to.places[edge] = (left + wide * (number + 0.5) / half, LEVELS[2])
            for switch in upper:
                to.link(switch, edge)
            for place in range(half):
                host = to.host()
                to.link(host, edge)
                to.places[host] = (left + PITCH * (number * half + place + 0.5), LEVELS[3])


def _single(to: Builder, values: Values) -> None:
    _star(to, {"hosts": values["k"]})


def _minimal(to: Builder, values: Values) -> None:
    _star(to, {"hosts": 2})


def _reversed(to: Builder, values: Values) -> None:
    count = values["k"]
    middle = to.switch()
    for number in range(1, count + 1):
        to.link(to.host(), middle, ports=(0, count - number + 1))


def _linear(to: Builder, values: Values) -> None:
    each = values["n"]
    names = [[f"h{i}" if each == 1 else f"h{j}s{i}" for j in range(1, each + 1)] for i in range(1, values["k"] + 1)]
    for name in sorted((name for some in names for name in some), key=natural):
        to.host(name)
    before = ""
    for some in names:
        switch = to.switch()
        for name in some:
            to.link(name, switch)
        if before:
            to.link(switch, before)
        before = switch


def _tree(to: Builder, values: Values) -> None:
    def below(depth: int) -> str:
        if depth == 0:
            return to.host()
        switch = to.switch()
        for _ in range(values["fanout"]):
            to.link(switch, below(depth - 1))
        return switch

    below(values["depth"])


def _torus(to: Builder, values: Values) -> None:
    wide, high, each = values["x"], values["y"], values["n"]
    spots = [(i, j) for i in range(wide) for j in range(high)]

    def hosts(i: int, j: int) -> list[str]:
        return [f"h{i + 1}x{j + 1}" + (f"x{k}" if each > 1 else "") for k in range(1, each + 1)]

    for name in sorted((name for spot in spots for name in hosts(*spot)), key=natural):
        to.host(name)
    switches = {(i, j): to.switch(f"s{i + 1}x{j + 1}", dpid=f"{(i + 1) * 256 + j + 1:x}") for i, j in spots}
    for i, j in spots:
        x, y = 120.0 + i * 260, 120.0 + j * 200
        to.places[switches[i, j]] = (x, y)
        for k, name in enumerate(hosts(i, j)):
            to.link(name, switches[i, j])
            to.places[name] = (x + 70 + k % 2 * 80, y + 70 + k // 2 * 70)
    for i, j in spots:
        to.link(switches[i, j], switches[i, (j + 1) % high])
        to.link(switches[i, j], switches[(i + 1) % wide, j])


TEMPLATES = (
    Template(
        "dumbbell",
        "Dumbbell",
        "pairs of hosts that share one bottleneck",
        (Number("pairs", "Pairs of hosts", 2, 1, 200), _RATE, _DELAY),
        _dumbbell,
    ),
    Template(
        "parking-lot",
        "Parking Lot",
        "a flow over several bottlenecks, and another over each of them",
        (Number("hops", "Bottlenecks", 3, 1, 100), _RATE, _DELAY),
        _parking_lot,
    ),
    Template(
        "rtt-fairness",
        "RTT Fairness",
        "a dumbbell in which each sender is twice as far away as the one before",
        (
            Number("pairs", "Pairs of hosts", 3, 1, 10),
            Number("first", "Delay of the first sender", 5, 1, 1000, "ms"),
            _RATE,
            Number("delay", "Delay of the bottleneck", 0, 0, 10_000, "ms"),
        ),
        _rtt_fairness,
    ),
    Template("star", "Star", "hosts around one switch", (Number("hosts", "Hosts", 4, 1, 1000),), _star),
    Template(
        "ring",
        "Ring",
        "switches in a circle, a host on each; a spanning tree breaks the loop",
        (Number("switches", "Switches", 5, 3, 500),),
        _ring,
    ),
    Template(
        "fat-tree",
        "Fat Tree",
        "a data centre of equal switches; a spanning tree breaks its loops",
        (Number("ports", "Ports of each switch", 4, 2, 16),),
        _fat_tree,
    ),
    Template("minimal", "minimal", "two hosts on a switch, as mn --topo minimal", (), _minimal, mininet=True),
    Template(
        "single",
        "single",
        "hosts on a switch, as mn --topo single,k",
        (Number("k", "Hosts", 2, 1, 1000),),
        _single,
        mininet=True,
    ),
    Template(
        "reversed",
        "reversed",
        "as single, the first host on the last port: mn --topo reversed,k",
        (Number("k", "Hosts", 2, 1, 1000),),
        _reversed,
        mininet=True,
    ),
    Template(
        "linear",
        "linear",
        "switches in a row with hosts on each, as mn --topo linear,k,n",
        (Number("k", "Switches", 2, 1, 500), Number("n", "Hosts of each", 1, 1, 100)),
        _linear,
        mininet=True,
    ),
    Template(
        "tree",
        "tree",
        "a tree of switches with hosts at its ends, as mn --topo tree,depth,fanout",
        (Number("depth", "Depth", 1, 1, 8), Number("fanout", "Fanout", 2, 1, 64)),
        _tree,
        mininet=True,
    ),
    Template(
        "torus",
        "torus",
        "a grid whose ends meet, as mn --topo torus,x,y,n; a spanning tree breaks its loops",
        (Number("x", "Across", 3, 3, 40), Number("y", "Down", 3, 3, 40), Number("n", "Hosts of each", 1, 1, 50)),
        _torus,
        mininet=True,
    ),
)
"""In the order of the menu; `mininet` are those of `mn --topo`."""


def template(name: str) -> Template:
    """The template of that name.

    Raises:
        InputError: it does not exist; the message lists those that do.
    """
    for each in TEMPLATES:
        if each.name == name:
            return each
    raise InputError(f'there is no template "{name[:40]}"; there are {", ".join(each.name for each in TEMPLATES)}')


def numbers_of(one: Template) -> tuple[Number, ...]:
    """The parameters of a template, including the one that all templates have."""
    return (*one.numbers, _OPENFLOW)


def draw(one: Template, values: Values) -> Topology:
    """Draw the network with these numbers, or the template's defaults. Loops of switches get a spanning tree.

    Raises:
        InputError: a number is out of its range, or the network is too large to be drawn.
    """
    given: dict[str, int] = {}
    for number in numbers_of(one):
        value = values.get(number.name, number.default)
        if not number.least <= value <= number.most:
            raise InputError(
                f'{one.name}: "{number.name}" must be a whole number from {number.least} to {number.most}, not {value}'
            )
        given[number.name] = value
    if one.name == "tree" and given["fanout"] ** given["depth"] > MOST_NODES:
        raise InputError(f"tree: {given['fanout']} to the power of {given['depth']} hosts are more than {MOST_NODES}")
    to = Builder(one.label, openflow=bool(given["openflow"]))
    one.draw(to, given)
    if len(to.hosts) + len(to.switches) > MOST_NODES:
        raise InputError(f"{one.name}: {len(to.hosts) + len(to.switches)} nodes are more than {MOST_NODES}")
    drawn = to.done()
    return switching.with_spanning_tree(drawn) if switching.closing_links(drawn) else drawn


def made(text: str) -> Topology:
    """The network of a name with its numbers: "dumbbell:3", "dumbbell:pairs=3,rate=100", "tree,2,3".

    Raises:
        InputError: the template or a number does not exist, or a number is out of its range.
    """
    name, _, rest = text.replace(",", ":", 1).partition(":") if ":" not in text else text.partition(":")
    one = template(name.strip())
    known = numbers_of(one)
    values: dict[str, int] = {}
    for place, word in enumerate(rest.split(",") if rest.strip() else ()):
        key, is_named, value = word.partition("=")
        if not is_named:
            if place >= len(known):
                raise InputError(f"{one.name}: takes {len(known)} numbers at most: {_usage(known)}")
            key, value = known[place].name, word
        key, value = key.strip(), value.strip()
        if key not in [number.name for number in known]:
            raise InputError(f'{one.name}: has no "{key[:40]}"; it takes {_usage(known)}')
        if not value.isdecimal() or len(value) > 9:
            raise InputError(f'{one.name}: "{key}" must be a whole number, not "{value[:40]}"')
        values[key] = int(value)
    return draw(one, values)


def _usage(known: tuple[Number, ...]) -> str:
    return ", ".join(f"{number.name}={number.default}" for number in known)
