# SPDX-License-Identifier: BSD-3-Clause
"""The congestion controls that a test asks for, and those that a kernel has."""

from __future__ import annotations

import difflib

from linklab.engine import host_kernel
from linklab.errors import MissingError
from linklab.experiment.model import Expanded
from linklab.tc.needs import Needs

POCKET = frozenset({"reno", "cubic", "bic", "westwood", "htcp", "hstcp", "hybla", "vegas", "nv", "scalable", "lp"}) | {
    "veno",
    "yeah",
    "illinois",
    "dctcp",
    "cdg",
    "bbr",
}
"""Of the pocket kernel; kernel/fragment.config says so, and a test holds the two together."""

NOT_LINUX = {"ledbat": "LEDBAT is not part of Linux", "prague": "TCP Prague is not part of Linux"}


def algorithms(expanded: Expanded) -> tuple[str, ...]:
    """The congestion controls that the flows ask for, each once, in their order."""
    return tuple(dict.fromkeys(flow.congestion for flow in expanded.flows if flow.congestion))


def lacking(expanded: Expanded) -> str:
    """What the pocket kernel lacks for this test, as the end of a sentence; "" if it has all."""
    missing = [name for name in algorithms(expanded) if name not in POCKET]
    if not missing:
        return ""
    return f"the congestion control {missing[0]}, which the pocket kernel does not have: {why_lacking(missing[0])}"


def why_lacking(name: str) -> str:
    """Why the pocket kernel lacks an algorithm, or which one may be meant; "" if it has it."""
    if name in POCKET:
        return ""
    near = difflib.get_close_matches(name, POCKET, 1)
    return NOT_LINUX.get(name) or (f"did you mean {near[0]}?" if near else f"it has {', '.join(sorted(POCKET))}")


def refuse_missing(expanded: Expanded, engine: str) -> None:
    """MissingError where the kernel that would run the test lacks an algorithm that it asks for."""
    if engine == "host":
        named = frozenset(algorithms(expanded)) - {"reno", "cubic"}
        if named:
            host_kernel.require(Needs(congestion=named), expanded.name)
        return
    if what := lacking(expanded):
        raise MissingError(f"{expanded.name} needs {what}")
