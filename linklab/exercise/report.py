# SPDX-License-Identifier: BSD-3-Clause
"""The graded report of one submission, as plain data, and its JSON text.

Read by everything that shows or adds up grades. Holds no wall-clock time and no path of the machine, so that grading
one submission twice gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any

from linklab.judge.verdict import Outcome, Verdict

FORMAT = 1
NAN = float("nan")


class Status(Enum):
    """GRADED; UNGRADABLE: the submission cannot be graded, `notes` say why; ERROR: our tool broke."""

    GRADED = "graded"
    UNGRADABLE = "ungradable"
    ERROR = "error"


@dataclass(frozen=True)
class CheckResult(Verdict):
    """The verdict on a check.

    story: one paragraph for the student: what was set up, done, expected and from what, seen (house style, rule 22).
    experiments: those it was judged by; the student's report hides those that hidden checks alone name.
    absent: what it judges is not there: no answer, no such value; `seen` then says "none", which an answer may say too.
    saw: what was seen and how it was measured, without what was expected; of checks with bands.
    differs: of a check that nothing was changed, what was: (fact, in words), so that a report can leave some out.
    """

    id: str
    title: str
    kind: str
    score: float
    max_score: float
    hidden: bool
    why: str = ""
    hints: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    differs: tuple[tuple[str, str], ...] = ()
    absent: bool = False
    saw: str = ""

    @property
    def advice(self) -> tuple[str, ...]:
        """The hints as they fit what was seen: of an answer that is not there, none says what is wrong with it."""
        if self.kind != "answer" or self.outcome is not Outcome.FAIL or not self.absent:
            return self.hints
        return tuple("There is no answer that can be used." if n == 1 else hint for n, hint in enumerate(self.hints))


@dataclass(frozen=True)
class Trace:
    """One curve of the re-run, for plots: `values[i]` at `time_s[i]`; NaN is a gap.

    what: "throughput" (bit/s), "rtt" (s) or "backlog" (bytes); label: "h1 → h2".
    """

    experiment: str
    seed: int
    what: str
    label: str
    unit: str
    time_s: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Adjustment:
    """Points beside those of the checks: below 0 where some are taken.

    kind: "late" or "by hand" (`linklab.grade.marks`); reason: for the student.
    """

    kind: str
    points: float
    reason: str


@dataclass(frozen=True)
class Report:
    """A graded submission.

    notes: sentences on what happened: why it is ungradable, what was ignored, what the sandbox stopped.
    fault: of a problem, its id; untouched: facts that the fault set and the student left so.
    changes: what the student changed, as (fact, before, after); work: text of work.sh; answers: as read.
    experiments: experiment → what was done, in words (`linklab.exercise.judge.describe`), for the plots' headings.
    metrics: experiment → metric → value for each seed, base units; words: answers of kind "text", for the instructor.
    fingerprint: SHA-256 of what the student made (state, work.sh, answers) without what differs by itself.
    environment: kernel, engine, seeds, versions.
    score: the points of the checks; adjustments: what is added to it for the mark (`linklab.grade.marks.mark`).
    handed_in: when it was, ISO 8601 with an offset, "" where that is not known.
    forged: what instance.json says otherwise than what was issued; impossible: why the state that was handed in cannot
    be set up, "" where it can.
    unproven: whether nothing proves whose it is, as of a lab; claims: whom it names then, by its own word.
    packed_for: whom manifest.json names, where that is another than the student whose instance it is.
    typed: of a lab, what was typed, a line each, for the instructor.
    stopped: the note that says how the student's commands, repeated, had to be stopped or broke their network.
    """

    exercise: str
    heading: str
    student: str
    name: str
    course: str
    source: str
    status: Status
    score: float
    max_score: float
    checks: tuple[CheckResult, ...] = ()
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    untouched: tuple[str, ...] = ()
    changes: tuple[tuple[str, str, str], ...] = ()
    work: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    experiments: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict)
    traces: tuple[Trace, ...] = ()
    unproven: bool = False
    forged: tuple[str, ...] = ()
    impossible: str = ""
    claims: str = ""
    packed_for: str = ""
    handed_in: str = ""
    typed: str = ""
    stopped: str = ""
    adjustments: tuple[Adjustment, ...] = ()

    def dumps(self) -> str:
        """JSON text: keys in the order of the report, which pages follow, NaN as null, without the traces."""
        data = {**asdict(self), "format": FORMAT, "status": self.status.value}
        del data["traces"]
        data["checks"] = [{**asdict(check), "outcome": check.outcome.value} for check in self.checks]
        return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_report(data: Mapping[str, Any]) -> Report:
    """The report of the table that `Report.dumps` writes, without traces.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    if data["format"] != FORMAT:
        raise ValueError(f"its format is {data['format']}, not {FORMAT}")
    found = {each.name: _frozen(data[each.name]) for each in fields(Report) if each.name in data}
    metrics = {
        experiment: {name: tuple(NAN if value is None else value for value in values) for name, values in each.items()}
        for experiment, each in data["metrics"].items()
    }
    checks = tuple(_check(each) for each in data["checks"])
    given = tuple(Adjustment(**each) for each in data["adjustments"])
    known = {"status": Status(data["status"]), "checks": checks, "metrics": metrics, "adjustments": given}
    return Report(**{**found, **known})


def _check(data: Mapping[str, Any]) -> CheckResult:
    values = {name: _frozen(value) for name, value in data.items()}
    values["samples"] = tuple(NAN if value is None else value for value in data["samples"])
    return CheckResult(**{**values, "outcome": Outcome(data["outcome"])})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def called(student: str, name: str) -> str:
    """Such as "Ada Lovelace (s1234)"; "" for nobody."""
    return f"{name} ({student})" if name and student else name or student


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
