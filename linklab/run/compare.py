# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of a lab, or a run and the lab's reference → what differs noticeably, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from linklab.base.numbers import format_number
from linklab.judge.expectation import ExpectationVerdict, Scalars
from linklab.lab.model import Lab
from linklab.lab.reference import Reference, judged
from linklab.lab.saved import SavedRun, SavedVerdict

NOTICEABLE = 0.005
"""Relative change of a number that is worth a line."""


@dataclass(frozen=True)
class Compared:
    """One side of a comparison: what it is, what it measured and showed, and its verdicts by what they are about."""

    words: str
    scalars: Scalars
    outputs: Mapping[str, str]
    verdicts: Mapping[tuple[str, str], str]


def compared_run(run: SavedRun) -> Compared:
    """A run as one side."""
    made = f"seed {run.seed}, {run.clock} clock, profile {run.profile}"
    verdicts = {(verdict.step, verdict.what): verdict.outcome.value for verdict in run.verdicts}
    return Compared(f"{run.folder} ({made})", run.scalars, _shown(run.outputs), verdicts)


def compared_reference(lab: Lab, reference: Reference) -> Compared:
    """A lab's recording as one side, judged by the expectations of today."""
    data = reference.data
    made = f"seed {data['seed']}, {data['clock']} clock, profile {data['profile']}"
    verdicts = {(found.step, found.what): found.outcome.value for found in map(in_words, judged(lab, reference))}
    recorded = reference.recorded
    return Compared(f"the reference of Lab {lab.number} ({made})", recorded.scalars, _shown(recorded.outputs), verdicts)


def differences(before: Compared, after: Compared) -> list[str]:
    """What differs: verdicts, then numbers by more than `NOTICEABLE`; empty if nothing does."""
    lines = []
    for key in dict.fromkeys([*before.verdicts, *after.verdicts]):
        old, new = before.verdicts.get(key, "not judged"), after.verdicts.get(key, "not judged")
        if old != new:
            lines.append(f"{' '.join(filter(None, key))}: was {old}, is {new}")
    return lines + compare(before.scalars, after.scalars)


def is_same(before: Compared, after: Compared) -> bool:
    """Whether each number is the same to the last bit, and each output to the last byte."""
    return before.scalars == after.scalars and before.outputs == after.outputs


def compare(before: Scalars, after: Scalars) -> list[str]:
    """What differs noticeably between two sets of scalars, in sentences; empty if nothing does."""
    lines = []
    for step in dict.fromkeys([*before, *after]):
        old, new = before.get(step, {}), after.get(step, {})
        for metric in dict.fromkeys([*old, *new]):
            if metric not in new:
                lines.append(f"{step}.{metric}: was {format_number(*old[metric])}, is gone")
            elif metric not in old:
                lines.append(f"{step}.{metric}: new, {format_number(*new[metric])}")
            elif not math.isclose(old[metric][0], new[metric][0], rel_tol=NOTICEABLE):
                now = format_number(*new[metric])
                lines.append(f"{step}.{metric}: was {format_number(*old[metric])}, is {now}")
    return lines


def in_words(verdict: ExpectationVerdict) -> SavedVerdict:
    """A verdict as run.json holds it."""
    expectation = verdict.expectation
    return SavedVerdict(
        step=expectation.step,
        what=expectation.relation or expectation.what,
        outcome=verdict.outcome,
        measured=verdict.seen,
        expected=verdict.expected,
        series=expectation.series,
        why=expectation.why,
        message=verdict.story,
        steps=expectation.steps,
    )


def _shown(outputs: Mapping[str, str]) -> dict[str, str]:
    return {step: output for step, output in outputs.items() if output}
