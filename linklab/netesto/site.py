# SPDX-License-Identifier: BSD-3-Clause
"""What an experiment's plan asks of the network that it is for: ways, ports, and what stands at them.

`DrawnSite` answers from a topology, for a network that is still to be built; `linklab.netesto.running_site` asks one
that runs already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from linklab.experiment.place import PathPort, TrialPlace, place_between, way_between
from linklab.netesto import disciplines
from linklab.netesto.disciplines import Standing
from linklab.topology import Topology
from linklab.topology.plan import plan as plan_of

Pair = tuple[str, str]
"""A client's node and a server's."""


class Site(Protocol):
    """A network that experiments run on; name: for people."""

    @property
    def name(self) -> str: ...  # noqa: D102 - see above

    def place(self, pairs: Sequence[Pair]) -> TrialPlace:
        """Where flows between these pairs run."""
        ...

    def way(self, client: str, server: str) -> tuple[list[PathPort], list[PathPort]]:
        """The ports that packets leave by on the way up, and on the way down, both as they pass them."""
        ...

    def interfaces(self, node: str, ports: Sequence[PathPort]) -> list[str]:
        """The interfaces of a node whose counters are read; ports: those that the experiment's packets leave by."""
        ...

    def standing(self, port: PathPort) -> Standing:
        """What stands at a port before the script sets anything.

        Raises:
            InputError: nothing may be set there.
        """
        ...


class DrawnSite:
    """A network as it is drawn."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology

    @property
    def name(self) -> str:
        """Of the drawing."""
        return self.topology.name

    @cached_property
    def built(self) -> Mapping[str, Any]:
        """The plan by which it is built."""
        return plan_of(self.topology)

    @cached_property
    def _standing(self) -> dict[PathPort, Standing]:
        found = {}
        for link in self.built["links"]:
            for end in (link["src"], link["dest"]):
                lines = end.get("tc", {}).get("lines", ())
                found[PathPort(end["node"], end["interface"])] = disciplines.drawn(lines, other=bool(link["opts"]))
        return found

    def place(self, pairs: Sequence[Pair]) -> TrialPlace:
        """As `Site.place`."""
        return place_between(self.topology, "", pairs, self.built)

    def way(self, client: str, server: str) -> tuple[list[PathPort], list[PathPort]]:
        """As `Site.way`."""
        return way_between(self.topology, client, server)

    def interfaces(self, node: str, ports: Sequence[PathPort]) -> list[str]:
        """As `Site.interfaces`: all that the node has."""
        del ports
        return [
            interface
            for link, ends in zip(self.topology.links, self.topology.link_ends(), strict=True)
            for name, interface in zip((link.src, link.dest), ends, strict=True)
            if name == node
        ]

    def standing(self, port: PathPort) -> Standing:
        """As `Site.standing`."""
        return self._standing.get(port, Standing())
