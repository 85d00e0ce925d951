# SPDX-License-Identifier: BSD-3-Clause
"""A node before and after its dialog → what the checks find only now, and which of it keeps the dialog open. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.editor import address_fields, edits
from linklab.editor.document import AnyNode
from linklab.errors import FieldError
from linklab.topology import Host, Problem, Topology

KINDS = ("host", "router", "switch", "controller")
"""What the checks call a node."""


@dataclass(frozen=True)
class Caused:
    """What a change of a node caused.

    name: of the node, after the change. problems: those that the checks found only after it, in the drawing as a whole.
    hidden: errors elsewhere kept the checks from looking at everything before the change.
    """

    topology: Topology
    name: str
    problems: tuple[Problem, ...]
    hidden: bool

    @property
    def words(self) -> str:
        """The first problem, and how many more there are; "" if there is none."""
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        return f"{self.problems[0]}{more}" if self.problems else ""

    def refuse(self, first: str) -> None:
        """Raise FieldError for the first error of the node, at its field.

        A node without links is never refused: it may be given its address and gateway before it is linked.
        first: its name when the dialog was opened, which its fields have.
        """
        is_linked = any(self.name in (link.src, link.dest) for link in self.topology.links)
        if self.hidden or not is_linked:
            return
        for problem in self.problems:
            kind, _, name = problem.where.partition(" ")
            if problem.severity == "error" and kind in KINDS and name == self.name:
                node = edits.named(self.topology)[name]
                raise FieldError(problem.message, key=_field_of(problem, node, first))


def caused(before: Topology, after: Topology, name: str, new_name: str) -> Caused:
    """What the checks find after a change of a node that they did not find before it, by whatever name."""
    known = before.problems()
    # the checks stop at errors of values and names; those of a gateway or a route are the last that they look at
    hidden = any(problem.severity == "error" and not problem.at for problem in known)
    if new_name != name:
        renamed = edits.set_opts(before, name, {"hostname": new_name}).problems()
        known += [problem for problem in renamed if problem.key != "hostname"]
    seen = set(known)
    return Caused(after, new_name, tuple(problem for problem in after.problems() if problem not in seen), hidden)


def _field_of(problem: Problem, node: AnyNode, first: str) -> str:
    """The field of the node's dialog that a problem belongs to; "" if there is none."""
    if problem.at == "gateway":
        return "defaultRoute" if isinstance(node, Host) else address_fields.GATEWAY
    if problem.at == "routes":
        return address_fields.ROUTES
    if problem.at.startswith(f"{node.name}-"):
        return address_fields.PORT + first + problem.at.removeprefix(node.name)
    return problem.key
