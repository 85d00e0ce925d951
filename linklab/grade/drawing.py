# SPDX-License-Identifier: BSD-3-Clause
"""A submitted drawing → what of it the grader builds, and why a drawing that can be built cannot be graded.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import Fault, InputError
from linklab.topology import Topology
from linklab.topology.checks import OWN_TERMINALS, wireless_names
from linklab.topology.parts import Link, Node
from linklab.topology.switching import has_spanning_tree, loop_words

MOST_OF = {"nodes and controllers": 200, "links": 1000, "entries of lists": 2000}
"""What a student's drawing may have; an exercise needs a dozen.  Entries are addresses, routes, VLANs, and folders.

Each node takes the grader some 50 ms an experiment, and with thousands of them the limits of the sandbox, within which
a network may be built or not as chance has it, are reached before anything is measured.
"""


class UnbuildableError(InputError):
    """The submission's topology cannot be built, or cannot be set up as the exercise wants it; a sentence."""

    fault = Fault.SUBMISSION


def need_few(topology: Topology, beside: Topology | None = None) -> None:
    """Refuse a drawing of more than `MOST_OF`, whatever else it is, because checking it takes quadratic time.

    Args:
        topology: as handed in, not checked.
        beside: the exercise's own drawing, where it hands one out: the student's may have as much more.

    Raises:
        UnbuildableError: it has more.
    """
    found, own = _counts(topology), _counts(beside) if beside is not None else {}
    for what, most in MOST_OF.items():
        allowed = most + own.get(what, 0)
        if found[what] > allowed:
            raise UnbuildableError(
                f"the topology has {found[what]:,} {what}, and the grader builds at most {allowed:,}: "
                "draw only what the exercise asks for"
            )


def need_gradable(topology: Topology, beside: Topology | None = None) -> None:
    """Refuse a drawing that can be built and not be graded.

    Args:
        topology: as handed in.
        beside: the exercise's own drawing, where it hands one out.

    Raises:
        UnbuildableError: it is refused by `need_few`, or has wireless nodes; or a node's name is that of another node's
            interface or of a terminal of ours, so that a state could not say which is meant; or what the first
            broadcast starts never ends.
    """
    need_few(topology, beside)
    if wireless := sorted(wireless_names(topology)):
        more = f" (and {len(wireless) - 1} more)" if wireless[1:] else ""
        raise UnbuildableError(
            f"the topology cannot be built: {excerpt(wireless[0])} is wireless{more}, which only Mininet-WiFi runs: "
            "take it out"
        )
    nodes = {each.name for each in topology.nodes}
    for name in sorted(nodes.intersection(OWN_TERMINALS)):
        raise UnbuildableError(f"the topology has a node {name}, which is a name of Linklab's own: rename the node")
    for node, interfaces in topology.interfaces().items():
        for name in sorted({*interfaces} & nodes):
            raise UnbuildableError(f"the topology has a node {name}, which an interface of {node} is called too")
    if beside is None and not has_spanning_tree(topology) and (circles := loop_words(topology)):
        raise UnbuildableError(
            f"the topology cannot be measured: {circles}, in which broadcasts circle for ever: take a link out, or let "
            "a spanning tree break the loop"
        )


def _counts(topology: Topology) -> Mapping[str, int]:
    """How much there is of what `MOST_OF` bounds."""
    parts: list[Node | Link] = [*topology.nodes, *topology.links]
    entries = sum(_entries(each) for part in parts for each in (part.opts, part.own))
    counts = len(topology.nodes) + len(topology.controllers or ()), len(topology.links), entries
    return dict(zip(MOST_OF, counts, strict=True))


def _entries(table: Mapping[str, Any]) -> int:
    """Entries of all lists of a table, also of those within each other, which a stranger may nest as deep as JSON."""
    count, lists = 0, [value for value in table.values() if isinstance(value, (list, tuple))]
    while lists:
        entries = lists.pop()
        count += len(entries)
        lists += [each for each in entries if isinstance(each, (list, tuple))]
    return count


_RUN_OR_REACH_OUT = (
    *("startCommand", "stopCommand", "externalInterfaces", "privateDirectory", "cpu", "cores"),
    *("netflow", "sflow"),
)
"""Options of a node by which it runs commands, reaches outside, or takes folders and processors of the machine.

By the last two a switch reports to collectors: sampled packets are traffic beside the grader's own.
"""


def is_tame(topology: Topology) -> bool:
    """Whether no node runs commands, reaches outside, or takes folders: such a network fails by no fault of its own."""
    return not any(node.opts.get(option) for node in topology.nodes for option in _RUN_OR_REACH_OUT)


def tame(topology: Topology) -> Topology:
    """The topology without what `is_tame` speaks of, and without controllers."""

    def tamed(node: Any) -> Any:
        return replace(node, opts={key: value for key, value in node.opts.items() if key not in _RUN_OR_REACH_OUT})

    return replace(
        topology,
        hosts=tuple(map(tamed, topology.hosts)),
        switches=tuple(
            replace(tamed(switch), opts={**tamed(switch).opts, "controllers": []}) for switch in topology.switches
        ),
        controllers=(),
    )
