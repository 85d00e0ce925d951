# SPDX-License-Identifier: BSD-3-Clause
"""Whether a script's flows can be, as far as it says: a kernel has their algorithms, and their servers begin."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.base.text import excerpt
from linklab.experiment.algorithms import why_lacking
from linklab.netesto.expansion import Expansion
from linklab.netesto.lines import CommandPlace, ScriptError, ScriptProblem, in_order, problem_at


def refuse_unsound(expansion: Expansion, engine: str = "pocket") -> None:
    """Refuse flows that cannot be; engine: what runs them, since the kernel of a host may have other algorithms.

    Raises:
        ScriptError: with a problem for each algorithm and server.
    """
    problems = lacking_algorithms(expansion.algorithms) if engine == "pocket" else []
    problems += [
        problem_at(
            place, f"DO_CLIENT: no DO_SERVER begins {excerpt(name)}; write DO_SERVER host={excerpt(name)} start=1"
        )
        for name, place in expansion.unserved.items()
    ]
    if problems:
        raise ScriptError(in_order(problems))


def lacking_algorithms(asked: Mapping[str, CommandPlace]) -> list[ScriptProblem]:
    """A problem for each congestion control that the pocket kernel does not have; asked: each with its place."""
    return [
        problem_at(place, f"DO_CLIENT: the pocket kernel has no congestion control {excerpt(name)}: {why}")
        for name, place in asked.items()
        if (why := why_lacking(name))
    ]
