# SPDX-License-Identifier: BSD-3-Clause
"""A network that runs already as the place of a campaign: its nodes are asked, and each experiment's traces removed.

Experiments follow each other there, so each must begin with the network as it was before the first one: `keeping`
notes the values that an experiment sets and puts them back when it has ended, takes its disciplines away, and lets the
clients forget what they know of earlier connections.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from linklab.errors import EngineError, InputError
from linklab.experiment.place import PathPort, TrialPlace
from linklab.experiment.running import HERE, Door, Ground, ground_of, place_on
from linklab.linux.allowed_settings import setting_file
from linklab.netesto.disciplines import Standing
from linklab.netesto.network_plan import FLUSH, PlannedExperiment
from linklab.netesto.site import Pair
from linklab.topology import Topology

_KERNELS_OWN = ("noqueue", "pfifo_fast", "fq_codel", "pfifo", "fq", "mq")
"""What an interface may have that nobody has set, if its handle is 0:."""


class RunningSite:
    """The network behind a door."""

    name = HERE

    def __init__(self, door: Door) -> None:
        self.door = door
        self.grounds: dict[Pair, Ground] = {}
        self.seen: dict[PathPort, Standing] = {}

    def nodes(self) -> list[str]:
        """All nodes, hosts first."""
        ground = ground_of(self.door, "", ())
        return [*ground.hosts, *(node for node in ground.addresses if node not in ground.hosts)]

    def place(self, pairs: Sequence[Pair]) -> TrialPlace:
        """As `Site.place`; all experiments take the ports that were free when the first was planned."""
        grounds = [self._ground(*pair) for pair in pairs]
        first = next(iter(self.grounds.values()))
        targets = {target["node"]: target for ground in grounds for target in ground.targets}
        together = Ground(
            grounds[0].source,
            tuple(target for ground in grounds for target in ground.targets),
            grounds[0].addresses,
            slot=first.slot,
        )
        made = place_on(together, len(together.targets), HERE)
        return TrialPlace(
            topology=Topology(),
            name=HERE,
            words="",
            source=made.source,
            targets=tuple(targets),
            addresses=made.addresses,
            ports=made.ports,
            egress=made.egress,
            slot=made.slot,
        )

    def way(self, client: str, server: str) -> tuple[list[PathPort], list[PathPort]]:
        """As `Site.way`."""
        target = self._ground(client, server).targets[0]
        return [PathPort(*port) for port in target["up"]], [PathPort(*port) for port in reversed(target["down"])]

    def interfaces(self, node: str, ports: Sequence[PathPort]) -> list[str]:
        """As `Site.interfaces`: those that the experiment's packets leave by."""
        return [port.interface for port in ports if port.node == node]

    def standing(self, port: PathPort) -> Standing:
        """As `Site.standing`: what somebody set could not be put back, so the script must not replace it."""
        if port not in self.seen:
            argv = ["tc", "qdisc", "show", "dev", port.interface]
            status, text = self.door.ask(argv, f"looking at {port.interface}", port.node)
            if status:
                raise EngineError(f"{port.interface} of {port.node}: {' '.join(text.split())}")
            set_by_hand = [line for line in text.splitlines() if not _is_default(line)]
            if set_by_hand:
                raise InputError(
                    f"{port.interface} has a discipline already ({' '.join(set_by_hand[0].split()[1:3])}), which a "
                    f"script does not replace on a network that runs; type sudo tc qdisc del dev {port.interface} root "
                    f"in a terminal of {port.node}, or leave the line out"
                )
            self.seen[port] = Standing()
        return self.seen[port]

    def _ground(self, client: str, server: str) -> Ground:
        if (client, server) not in self.grounds:
            self.grounds[client, server] = ground_of(self.door, client, (server,))
        return self.grounds[client, server]


def _is_default(line: str) -> bool:
    """Whether a line of `tc qdisc show` is of what the kernel gives an interface by itself."""
    words = line.split()
    return len(words) > 2 and words[1] in _KERNELS_OWN and words[2] == "0:"


@contextmanager
def keeping(planned: PlannedExperiment, door: Door) -> Iterator[None]:
    """Within the block an experiment runs on the network behind the door; before and after it the network is the same.

    Raises:
        EngineError: something could not be put back.
    """
    for node in dict.fromkeys(group["host"] for group in planned.about["groups"]):
        door.ask(list(FLUSH), "forgetting earlier connections", node)
    values = {place: text for place in _values(planned.plan.data["settings"]) if (text := _value(door, place))}
    try:
        yield
    finally:
        lost = [what for what in _put_back(planned, values, door) if what]
        if lost:
            raise EngineError(f"the network is not as it was before the experiment: {'; '.join(lost)}")


def _values(settings: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Node and file of each value that is set."""
    return list(
        dict.fromkeys((each["node"], setting_file(each["word"], each["name"])) for each in settings if each.get("word"))
    )


def _value(door: Door, place: tuple[str, str]) -> tuple[str, str] | None:
    """Where a value holds, on its node or for the whole kernel, and what it is; None where the kernel has none."""
    node, path = place
    for where in (node, ""):
        status, text = door.ask(["cat", path], path, where)
        if not status:
            return where, text.strip()
    return None


def _put_back(
    planned: PlannedExperiment, values: Mapping[tuple[str, str], tuple[str, str]], door: Door
) -> Iterator[str]:
    """What could not be put back, in words."""
    for (_, path), (where, text) in values.items():
        line = f"printf %s {shlex.quote(text)} > {shlex.quote(path)}"
        status, said = door.ask(["sh", "-c", line], path, where)
        yield f"{path}: {' '.join(said.split())}" if status else ""
    shaped = {
        (each["node"], each["argv"][each["argv"].index("dev") + 1])
        for each in planned.plan.data["settings"]
        if each.get("argv", ("",))[0] == "tc"
    }
    for node, interface in sorted(shaped):
        door.ask(["tc", "qdisc", "del", "dev", interface, "root"], interface, node)  # fails where the script did so
        status, text = door.ask(["tc", "qdisc", "show", "dev", interface], interface, node)
        fine = not status and all(map(_is_default, text.splitlines()))
        yield "" if fine else f"{interface} of {node} still has {' '.join(text.split()[1:3])}"
