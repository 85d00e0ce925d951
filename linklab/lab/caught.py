# SPDX-License-Identifier: BSD-3-Clause
"""Whether a mistake was noticed where it was made, from the verdicts on the replay of a mutant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from linklab.base.text import one_line
from linklab.judge.expectation import ExpectationVerdict
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.mutants import STATUS, Mutant, at_step, names_of, order_of, within_reach


@dataclass(frozen=True)
class Found:
    """What came of the replay of a mutant.

    caught: whether it failed as and where it should.
    at: the step that was the first to fail, "" if none did; story: what is wrong, "" where it was caught.
    """

    caught: bool
    at: str
    story: str


def judged(lab: Lab, mutant: Mutant, verdicts: Sequence[ExpectationVerdict], refused: str) -> Found:
    """Whether a mutant was caught.

    Args:
        lab: the lab as it is.
        mutant: what was replayed.
        verdicts: on all of the lab's expectations; what was not replayed is skipped.
        refused: the step of which a command ended with another status than the manual expects, "" if none.
    """
    order = order_of(lab)
    failed = [verdict.expectation for verdict in verdicts if _missed(verdict)]
    missed = {names_of(expectation): at_step(lab, expectation) for expectation in failed}
    if refused:
        missed[f"{refused} {STATUS}"] = refused
    if not missed:
        return Found(False, "", f"survived: {_shown(verdicts, mutant.fails) or 'nothing was measured'}")
    first = min(missed.values(), key=order.__getitem__)
    names = [name for name, at in missed.items() if at == first]
    shown = ", ".join(names)
    own = {names_of(expectation): expectation.steps[-1] for expectation in failed}
    at = own.get(names[0], first)  # a step that only ends another one seldom has a name
    if order[first] < order[mutant.step]:
        return Found(False, at, f"{shown} fails, before the mistake")
    passed = [name for name in mutant.fails if name not in missed]
    if passed:
        also = _shown(verdicts, passed) or f"{', '.join(passed)} was not reached"
        return Found(False, at, f"{shown} fails, and this does not: {also}")
    if first not in within_reach(lab, mutant.step) and not mutant.late:
        return Found(False, at, f"{shown} is too late for a mistake in step {mutant.step}")
    if first not in {missed[name] for name in mutant.fails}:
        return Found(False, at, f"{shown} fails before what is named in fails; name it there")
    return Found(True, at, "")


def _missed(verdict: ExpectationVerdict) -> bool:
    """A step that gave no measurement has missed what was expected of it."""
    return verdict.outcome in (Outcome.FAIL, Outcome.ERROR)


def _shown(verdicts: Sequence[ExpectationVerdict], names: Collection[str]) -> str:
    """What was measured of what these names call."""

    def told() -> Iterator[str]:
        for verdict in verdicts:
            if (name := names_of(verdict.expectation)) in names and verdict.outcome is not Outcome.SKIPPED:
                yield f"{name} saw {one_line(verdict.seen or verdict.story)} where {verdict.expected} is expected"

    return "; ".join(told())


def control_story(lab: Lab, verdicts: Sequence[ExpectationVerdict], refused: str) -> str:
    """What fails where the steps are done as they are printed, "" if nothing does; then no mutant proves anything."""
    if refused:
        return f"without any mistake step {refused} ends with another status than the manual expects"
    missed = [names_of(verdict.expectation) for verdict in verdicts if _missed(verdict)]
    return f"without any mistake this fails too: {', '.join(missed)}" if missed else ""
