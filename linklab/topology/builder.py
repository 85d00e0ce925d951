# SPDX-License-Identifier: BSD-3-Clause
"""Builds a topology node by node, as MiniEdit would draw it; for templates and imports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from linklab.topology.arrange import arranged
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.mending import moved
from linklab.topology.model import Topology
from linklab.topology.parts import Controller, Host, Link, Preferences, Switch

CONTROLLER_PORT = 6633
Routes = Sequence[Mapping[str, str]]
"""As in the file: "to" and "via"."""


class Builder:
    """The drawing so far.

    openflow: switches are OpenFlow switches with the controller c0 instead of legacy switches.
    """

    def __init__(self, name: str, *, openflow: bool = False) -> None:
        self.name, self.openflow = name, openflow
        self.hosts: list[Host] = []
        self.switches: list[Switch] = []
        self.links: list[Link] = []
        self.places: dict[str, tuple[float, float]] = {}

    def host(self, name: str = "", *, routes: Routes = (), **opts: Any) -> str:
        """Add a host and return its name: h1, h2, and so on if none is given."""
        number = len(self.hosts) + 1
        name = name or f"h{number}"
        opts = {"hostname": name, "nodeNum": number, "sched": "host", **opts}
        self.hosts.append(Host(str(number), None, None, opts, own=_own_routes(routes)))
        return name

    def switch(self, name: str = "", kind: str = "", *, routes: Routes = (), **opts: Any) -> str:
        """Add a switch or router and return its name."""
        number = len(self.switches) + 1
        kind = kind or ("default" if self.openflow else "legacySwitch")
        name = name or f"{'r' if kind == 'legacyRouter' else 's'}{number}"
        asked = ["c0"] if self.openflow and kind not in ("legacySwitch", "legacyRouter") else []
        own: dict[str, Any] = {"hostname": name, "nodeNum": number, "switchType": kind}
        if kind != "legacyRouter":
            own["controllers"] = asked
        self.switches.append(Switch(str(number), None, None, {**own, **opts}, own=_own_routes(routes)))
        return name

    def link(
        self,
        src: str,
        dest: str,
        opts: Mapping[str, Any] | None = None,
        ports: Sequence[int | None] = (None, None),
        addresses: Sequence[Sequence[str]] = ((), ()),
    ) -> None:
        """Link two nodes; `opts` are MiniEdit's, and pairs are in the order src, dest.

        A port number of None is counted. The addresses have a prefix length; a host's "ip" is not among them.
        """
        own: dict[str, Any] = {} if tuple(ports) == (None, None) else {"ports": list(ports)}
        if any(addresses):
            own["addresses"] = [list(end) for end in addresses]
        self.links.append(Link(src, dest, dict(opts or {}), own=own))

    def number_ports(self, wanted: Sequence[tuple[int, int]]) -> None:
        """Give the ports of each link (src, dest) these numbers; nothing is written where counting gives the same."""
        drawn = DrawnNetwork(hosts=tuple(self.hosts), switches=tuple(self.switches), links=tuple(self.links))
        if drawn.ports() != list(wanted):
            self.links = [
                replace(link, own={**link.own, "ports": list(ports)})
                for link, ports in zip(self.links, wanted, strict=True)
            ]

    def done(self) -> Topology:
        """The topology; nodes that are not in `places` are laid out."""
        controllers: tuple[Controller, ...] = ()
        if self.openflow:
            opts = {
                "hostname": "c0",
                "controllerType": "ref",
                "controllerProtocol": "tcp",
                "remoteIP": "127.0.0.1",
                "remotePort": CONTROLLER_PORT,
            }
            controllers = (Controller(opts=opts),)
        topology = Topology(
            hosts=tuple(self.hosts),
            switches=tuple(self.switches),
            links=tuple(self.links),
            controllers=controllers,
            application=Preferences({"ipBase": "10.0.0.0/8"}),
            name=self.name,
        )
        return moved(topology, {**arranged(topology), **self.places})


def _own_routes(routes: Routes) -> dict[str, Any]:
    return {"routes": [dict(route) for route in routes]} if routes else {}


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key that puts h2 before h10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,15})", name) if part]
