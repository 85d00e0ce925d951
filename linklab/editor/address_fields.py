# SPDX-License-Identifier: BSD-3-Clause
"""The page of a host's or router's properties that has the addresses of its ports, its routes and its gateway. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from linklab.editor import address_edits, address_table
from linklab.editor.document import AnyNode
from linklab.errors import InputError
from linklab.topology import Controller, Host, Topology, address_words, addressing
from linklab.topology.addressing import Port, StaticRoute
from linklab.topology.parts import Node
from linklab.windows.fields import SHOWN, Field, Page
from linklab.windows.words import Phrase

PORT = "port "
OWN = "linklab own address"
GATEWAY, ROUTES = "linklab gateway", "linklab routes"
TITLE = Phrase("Ports and Routes")


def page(topology: Topology, node: Node) -> Page:
    """The page; a host's own address and default gateway are set on its first page, as in MiniEdit."""
    fields = [field for port in _ports(topology, node) for field in _fields(port)]
    if not isinstance(node, Host):
        fields.append(Field(GATEWAY, "Default Gateway", "the next router to everywhere else", check=_cell("gateway")))
    fields.append(Field(ROUTES, "Static Routes", "one a line: 10.0.3.0/24 via 10.0.2.2", kind="lines", check=_route))
    note = (
        "Addresses with prefix length, separated by commas: 10.0.1.254/24, 2001:db8:1::1/64. "
        "Edit > Addresses and Routes has those of all nodes in one table."
    )
    return Page(TITLE, tuple(fields), note)


def _fields(port: Port) -> list[Field]:
    """The field of a port; before that of a host's first one its own address, which has its field elsewhere."""
    check = partial(_addresses, port)
    if not port.has_host_address:
        return [Field(PORT + port.interface, port.interface, Phrase("linked to {peer}", peer=port.peer), check=check)]
    further = Phrase("of {port}, linked to {peer}", port=port.interface, peer=port.peer)
    return [
        Field(OWN, port.interface, "set on the tab Properties, as IP Address", kind=SHOWN),
        Field(PORT + port.interface, "Further Addresses", further, check=check),
    ]


def _ports(topology: Topology, node: Node) -> list[Port]:
    return [port for port in addressing.ports(topology) if port.node == node.name]


def _cell(column: str) -> Callable[[str], str]:
    return lambda text: ", ".join(str(getattr(each, "via", each)) for each in address_table.read_cell(column, text))


def _addresses(port: Port, text: str) -> str:
    words = address_words.with_prefixes(text).replace(",", " ").split()
    return ", ".join(dict.fromkeys(map(addressing.read_address, words)))


def _route(line: str) -> str:
    (route,) = address_table.read_cell("routes", line)
    return str(route)


def data(topology: Topology, node: Node) -> dict[str, Any]:
    """What the fields show."""
    found: dict[str, Any] = {
        PORT + port.interface: ", ".join(port.addresses[port.has_host_address :]) for port in _ports(topology, node)
    }
    own = next((port for port in _ports(topology, node) if port.has_host_address), None)
    if own is not None:
        found[OWN] = own.addresses[0] + (" (counted)" if own.automatic else "")
    routes = list(addressing.own_routes(node))
    gateway = next((route for route in routes if route.is_default and route.version == 4), None)
    if gateway is not None and not isinstance(node, Host):
        routes.remove(gateway)
        found[GATEWAY] = gateway.via
    found[ROUTES] = [str(route) for route in routes]
    return {key: value for key, value in found.items() if value}


def is_shown(topology: Topology, node: Node) -> bool:
    """Whether a node has this page: it has ports, and nothing in the drawing has to be mended before they are read."""
    if not addressing.has_ports(node):
        return False
    try:
        addressing.ports(topology)
        for each in topology.nodes:
            addressing.own_routes(each)
    except (KeyError, ValueError, TypeError, AttributeError, InputError):
        return False
    return True


def shown(topology: Topology, node: AnyNode, first: str) -> dict[str, Any]:
    """What the fields of a page show that was made when the node was called `first`."""
    if isinstance(node, Controller) or not is_shown(topology, node):
        return {}
    made = PORT + first
    found = data(topology, node)
    return {
        made + k.removeprefix(PORT + node.name) if k.startswith(PORT + node.name) else k: v for k, v in found.items()
    }


def split(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """MiniEdit's `opts`, and what belongs to this page."""
    ours = {key for key in values if key.startswith(PORT) or key in (OWN, GATEWAY, ROUTES)}
    return {k: v for k, v in values.items() if k not in ours}, {k: v for k, v in values.items() if k in ours}


def taken(topology: Topology, name: str, values: Mapping[str, Any]) -> Topology:
    """Take what belongs to this page; the node may have been renamed since the page was made."""
    node = next(node for node in topology.nodes if node.name == name)
    places = {port.interface.removeprefix(name): port for port in _ports(topology, node)}
    addresses: dict[str, list[str]] = {}
    for suffix, port in places.items():
        text = next((v for k, v in values.items() if k.startswith(PORT) and k.endswith(suffix)), "")
        given = [address for address in text.split(", ") if address]
        if given != list(port.addresses[port.has_host_address :]):  # what is not edited is not rewritten
            # a counted address is written down when another one would take its place
            counts_on = port.automatic and all(":" in address for address in given)
            own = [port.addresses[0]] if port.has_host_address and not counts_on else []
            addresses[port.interface] = [*own, *given]
    routes = [_read(line) for line in values.get(ROUTES, ())]
    if gateway := values.get(GATEWAY):
        routes.insert(0, _read(f"{addressing.DEFAULT} via {gateway}"))
    if isinstance(node, Host) and (via := node.opts.get("defaultRoute")):
        routes.insert(0, _read(f"{addressing.DEFAULT} via {via}"))
    return address_edits.set_routes(address_edits.set_addresses(topology, addresses), {name: routes})


def _read(line: str) -> StaticRoute:
    (route,) = address_table.read_cell("routes", line)
    assert isinstance(route, StaticRoute)
    return route
