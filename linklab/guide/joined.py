# SPDX-License-Identifier: BSD-3-Clause
"""A line that joins by `&&` or `;` what are several lines in the manual → each program, and what it does.  Pure.

The shell tells the status of the last list of a line alone (POSIX, Shell Command Language, 2.9.3), so of what stands
before a `;` nobody knows whether it succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from linklab.guide.chains import At
from linklab.guide.evidence import TypedEvidence
from linklab.guide.matching import MatchedRun
from linklab.guide.programs import ProgramRun, run_of
from linklab.guide.settings import SettingsMap
from linklab.guide.shell import commands_in
from linklab.guide.simulate import SimulatedNetwork


@dataclass(frozen=True)
class JoinedRun:
    """A program of a line.

    found: the step that it is for, None for none; is_known: whether the status of the line says that it succeeded.
    """

    run: ProgramRun
    found: MatchedRun | None
    is_known: bool

    @property
    def fulfils(self) -> At | None:
        """What it does as it is wanted."""
        return self.found.at if self.found is not None and not self.found.differing else None


def joined_runs(
    line: TypedEvidence,
    nodes: Collection[str],
    network: SimulatedNetwork,
    find: Callable[[ProgramRun, SettingsMap, int | None], MatchedRun | None],
) -> list[JoinedRun]:
    """The programs of a line that set nothing, in order; none for a line of one command.

    Args:
        line: as it begins.
        nodes: of the network.
        network: as it is before the line; each program is found by what is set at its place in the line.
        find: the step of a program, by what is set while it runs, and by the step before it in the line.
    """
    commands = commands_in(line.terminal, line.text, nodes, surely_run=True)
    known = len(commands_in(line.terminal, line.text, nodes, last_list=True))
    found: list[JoinedRun] = []
    for number, command in enumerate(commands if len(commands) > 1 else ()):
        done = network.after(command)
        if done is None:
            run = run_of(command)
            before = found[-1].fulfils if found else None
            step = find(run, network.settings(), before[0] if before else None)
            found.append(JoinedRun(run, step, number >= len(commands) - known))
        elif done.network is not None:
            network = done.network
    return found


def fulfilled(parts: Sequence[JoinedRun]) -> list[At]:
    """What the programs of a line do as it is wanted, each once."""
    return list(dict.fromkeys(part.fulfils for part in parts if part.fulfils is not None))
