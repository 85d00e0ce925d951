# SPDX-License-Identifier: BSD-3-Clause
"""Two runs of a lab, or a run and the lab's reference → what differs noticeably, in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from linklab.base.numbers import format_number
from linklab.data import dump
from linklab.errors import DataError
from linklab.judge.expectation import ExpectationVerdict, Scalars
from linklab.lab.model import Lab
from linklab.lab.reference import Reference, judged
from linklab.lab.saved import SavedRun, SavedVerdict

NOTICEABLE = 0.005
"""Relative change of a number that is worth a line."""


@dataclass(frozen=True)
class Compared:
    """One side of a comparison: what it is, what it measured and showed, and its verdicts by what they are about.

    data: the text of each step's data set; None for the reference of a lab, which keeps no data sets.
    unreadable: for each step whose data set cannot be read, why not.
    section: the one that was replayed, None for all.
    steps: the steps that a run of one section did; None for a whole lab.
    made: versions, kernel and processor it was made with, which may change bytes; by name.
    """

    words: str
    scalars: Scalars
    outputs: Mapping[str, str]
    verdicts: Mapping[tuple[str, str], str]
    data: Mapping[str, str] | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)
    section: str | None = None
    steps: frozenset[str] | None = None
    made: Mapping[str, str] = field(default_factory=dict)


def compared_run(run: SavedRun) -> Compared:
    """A run as one side, with its data sets read; those that cannot be read are named, not raised."""
    made = f"seed {run.seed}, {run.clock} clock, profile {run.profile}"
    verdicts = {(verdict.step, verdict.what): verdict.outcome.value for verdict in run.verdicts}
    data, unreadable = {}, {}
    for step in run.steps.values():
        if step.data_file:
            try:
                data[step.id] = dump(run.data(step.id))
            except DataError as error:
                unreadable[step.id] = str(error)
    return Compared(
        words=f"{run.folder} ({made})",
        scalars=run.scalars,
        outputs=_shown(run.outputs),
        verdicts=verdicts,
        data=data,
        unreadable=unreadable,
        section=run.section,
        steps=None if run.section is None else frozenset(run.steps),
        made=made_with(run.environment, run.machine),
    )


def compared_reference(lab: Lab, reference: Reference) -> Compared:
    """A lab's recording as one side, judged by the expectations of today."""
    data = reference.data
    made = f"seed {data['seed']}, {data['clock']} clock, profile {data['profile']}"
    verdicts = {(found.step, found.what): found.outcome.value for found in map(in_words, judged(lab, reference))}
    recorded = reference.recorded
    return Compared(
        words=f"the reference of Lab {lab.number} ({made})",
        scalars=recorded.scalars,
        outputs=_shown(recorded.outputs),
        verdicts=verdicts,
        made=made_with(data["environment"], data.get("machine", {})),
    )


def in_common(before: Compared, after: Compared) -> tuple[Compared, Compared]:
    """Both sides, cut down to the steps and verdicts of the section where one of them is a run of one section."""
    partial = [side.steps for side in (before, after) if side.steps is not None]
    if not partial:
        return before, after
    steps = frozenset.intersection(*partial)
    # A section's run skips the expectations that need steps of other sections.
    skipped = {
        key
        for side in (before, after)
        if side.steps is not None
        for key in {*before.verdicts, *after.verdicts}
        if side.verdicts.get(key, "skipped") == "skipped"
    }
    first, second = (
        replace(
            side,
            scalars={step: found for step, found in side.scalars.items() if step in steps},
            outputs={step: found for step, found in side.outputs.items() if step in steps},
            verdicts={key: found for key, found in side.verdicts.items() if key not in skipped},
            data=None if side.data is None else {step: text for step, text in side.data.items() if step in steps},
            unreadable={step: why for step, why in side.unreadable.items() if step in steps},
        )
        for side in (before, after)
    )
    return first, second


def differences(before: Compared, after: Compared) -> list[str]:
    """What differs: verdicts, then numbers by more than `NOTICEABLE`, then data sets that cannot be read.

    Empty if nothing does.
    """
    before, after = in_common(before, after)
    unreadable = [why for side in (before, after) for why in side.unreadable.values()]
    return _verdict_lines(before, after) + compare(before.scalars, after.scalars) + unreadable


def made_differently(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What may explain why two runs of one seed differ: other programs, kernels and processors, a line each.

    What one of them does not say, because an older Linklab made it, is left out.

    Args:
        before: what the first was made with, as `made_with` gives it.
        after: what the second was made with.
    """
    lines = []
    for name in before:
        was, now = before[name], after.get(name, "")
        if not was or not now or was == now:
            continue
        if name == "processor's features":
            only = [" ".join(sorted({*one.split()} - {*other.split()})) for one, other in ((was, now), (now, was))]
            was, now = (f"also {words}" if words else "no more" for words in only)
        lines.append(f"made with another {name}: was {was}, is {now}")
    return lines


def made_with(environment: Mapping[str, Any], machine: Mapping[str, Any]) -> dict[str, str]:
    """The programs, kernel and processor of a run, by name and as text; "" for what it does not say."""
    processor, tools = (
        found if isinstance(found, dict) else {} for found in (machine.get("processor"), environment.get("tools"))
    )
    found = {
        "kernel": environment.get("kernel"),
        "kernel's digest": environment.get("kernel_digest"),
        "kernel's SHA-256": machine.get("kernel_sha256"),
        "memory (MiB)": environment.get("memory_mib"),
        **{name: version for name, version in tools.items() if name != "kernel"},
        "processor": processor.get("model"),
        "processor's features": processor.get("features"),
    }
    return {name: str(value) for name, value in found.items() if value}


def summary(before: Compared, after: Compared) -> str:
    """How much differs, in one line; it claims nothing of what was not read."""
    before, after = in_common(before, after)
    judged_by = {*before.verdicts, *after.verdicts}
    changed = len(_verdict_lines(before, after))
    parts = [f"verdicts: {f'{changed} of {len(judged_by)} differ' if changed else 'the same'}"]
    numbers = list(_numbers(before.scalars, after.scalars))
    moved = sum(1 for line in numbers if line)
    alike = before.scalars == after.scalars and before.outputs == after.outputs
    unreadable = {*before.unreadable, *after.unreadable}
    if is_same(before, after):
        named = "numbers and outputs" if before.data is None or after.data is None else "numbers, outputs and data sets"
        parts.append(f"{named}: the same, to the last byte")
    elif alike:
        parts.append("numbers and outputs: the same, to the last byte")
    elif moved:
        parts.append(f"{moved} of {len(numbers)} numbers {'differs' if moved == 1 else 'differ'}")
    else:
        parts.append(f"none of {len(numbers)} numbers differs by more than {NOTICEABLE:.1%}".replace("%", " %"))
    if before.data is not None and after.data is not None:
        sets = {*before.data, *after.data, *unreadable}
        other = [step for step in sets - unreadable if before.data.get(step) != after.data.get(step)]
        if alike and other:
            parts.append(f"{len(other)} of {len(sets)} data sets {'differs' if len(other) == 1 else 'differ'}")
    elif before.data or after.data:
        parts.append("a reference keeps no data sets to compare")
    if unreadable:
        parts.append(f"data sets that cannot be read: {len(unreadable)}")
    return "; ".join(parts)


def is_same(before: Compared, after: Compared) -> bool:
    """Whether each number is the same to the last bit, and each output and data set to the last byte.

    Data sets count where both sides keep them; one that cannot be read is never the same.
    """
    if before.unreadable or after.unreadable:
        return False
    if before.data is not None and after.data is not None and before.data != after.data:
        return False
    return before.scalars == after.scalars and before.outputs == after.outputs


def compare(before: Scalars, after: Scalars) -> list[str]:
    """What differs noticeably between two sets of scalars, in sentences; empty if nothing does."""
    return list(filter(None, _numbers(before, after)))


def _verdict_lines(before: Compared, after: Compared) -> list[str]:
    lines = []
    for key in dict.fromkeys([*before.verdicts, *after.verdicts]):
        old, new = before.verdicts.get(key, "not judged"), after.verdicts.get(key, "not judged")
        if old != new:
            lines.append(f"{' '.join(filter(None, key))}: was {old}, is {new}")
    return lines


def _numbers(before: Scalars, after: Scalars) -> Iterator[str]:
    """For each number of either side the sentence that says how it differs, "" where it does not."""
    for step in dict.fromkeys([*before, *after]):
        old, new = before.get(step, {}), after.get(step, {})
        for metric in dict.fromkeys([*old, *new]):
            if _repeats(metric, old, new):
                continue
            name, line = f"{step}.{metric}", ""
            if metric not in new:
                line = f"{name}: was {format_number(*old[metric])}, is gone"
            elif metric not in old:
                line = f"{name}: new, {format_number(*new[metric])}"
            elif not math.isclose(old[metric][0], new[metric][0], rel_tol=NOTICEABLE):
                line = f"{name}: was {format_number(*old[metric])}, is {format_number(*new[metric])}"
            yield line


_Found = Mapping[str, tuple[float, str]]


def _repeats(metric: str, old: _Found, new: _Found) -> bool:
    """Whether a number of a test's only stream is on both sides the number of the whole test."""
    stream = re.fullmatch(r"(.+)\.stream\.1\.(.+)", metric)
    if stream is None or any(name.startswith(f"{stream[1]}.stream.2.") for name in (*old, *new)):
        return False
    whole = f"{stream[1]}.{stream[2]}"
    return (whole in old or whole in new) and (old.get(metric), new.get(metric)) == (old.get(whole), new.get(whole))


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
