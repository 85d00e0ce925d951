# SPDX-License-Identifier: BSD-3-Clause
"""Facts, metrics and answers of a submission → what came of each check, told as a story.

Pure. Only a submission's own doing is a fail: what our tools could not measure is an error, what was not judged is
skipped.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from linklab.errors import InputError
from linklab.exercise.answers import Answers, in_order
from linklab.exercise.expression import Lookup, NoValueError, holds, names, number
from linklab.exercise.fill import fill
from linklab.exercise.model import Band, Check, Exercise, Experiment
from linklab.exercise.quantity import WORD, Value
from linklab.exercise.report import CheckResult, Outcome

Facts = Mapping[str, "float | str"]

_UNITS = {
    **dict.fromkeys(("rate", "pacing", "throughput"), "bit/s"),
    **dict.fromkeys(("delay", "jitter", "mean", "max"), "s"),
    **dict.fromkeys(("queue", "burst", "mtu", "rmem", "wmem"), "bytes"),
}
_SHARES = ("loss", "duplicate", "corrupt", "reorder")
_SAME = 1e-3
"""Relative difference within which two numbers read back from the kernel are the same; it rounds rates and times."""


@dataclass(frozen=True)
class Evidence:
    """What is known of a submission.

    lookup: parameters and derived quantities; fault: id of the planted one.
    facts: of the submitted state; references: "start" and "healthy" → their facts.
    metrics: experiment → metric → a value for each seed, base units.
    broken: experiment → why the network gave no number (the submission's doing); errors: why our tools gave none.
    """

    exercise: Exercise
    lookup: Lookup
    fault: str
    facts: Facts
    references: Mapping[str, Facts]
    metrics: Mapping[str, Mapping[str, Sequence[float]]]
    answers: Answers
    broken: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    def name(self, name: str) -> Value | None:
        """Value of a parameter, answer or metric; None where there is none, KeyError for no such name."""
        first, _, rest = name.partition(".")
        if first == "answer" and rest:
            return self.answers.values.get(rest)
        if first in {experiment.id for experiment in self.exercise.experiments} and rest:
            samples = self.metrics.get(first, {}).get(rest)
            return None if not samples else fact_value(rest, statistics.median(samples))
        return self.lookup(name)

    def fact(self, name: str) -> Value | None:
        """Value of a fact of the submitted state; None where it is absent."""
        found = self.facts.get(name)
        return None if found is None else fact_value(name, found)


@dataclass(frozen=True)
class Change:
    """A fact that differs; None where it is absent."""

    fact: str
    before: float | str | None
    after: float | str | None

    @property
    def words(self) -> tuple[str, str, str]:
        """(fact, before, after) for people."""
        return self.fact, _shown(self.fact, self.before), _shown(self.fact, self.after)

    def __str__(self) -> str:
        fact, before, after = self.words
        where, _, what = fact.rpartition(".")
        if self.after is None and what in ("rate", "delay", "loss"):
            noun = {"rate": "rate limit", "delay": "delay", "loss": "loss"}[what]
            return f"the {noun} of {where} ({before}) has been removed"
        if self.before is None:
            return f"{where} has got {what} {after}"
        return f"{what} of {where} was {before} and is {after}"


def fact_value(name: str, found: float | str) -> Value:
    """A fact or metric with its unit; shares are shown as percents."""
    if isinstance(found, str):
        return Value(unit=WORD, word=found)
    share = name.rpartition(".")[2] in _SHARES
    return Value(found, unit_of(name), text=f"{100 * found:.3g} %" if share else "")


def unit_of(name: str) -> str:
    """Base unit of a metric ("ping.mean") or fact ("s1-eth2.rate") by its name."""
    if name == "backlog.max":
        return "bytes"
    head = name.partition(".")[0]
    return "bit/s" if head == "throughput" else _UNITS.get(name.rpartition(".")[2], "1")


def changes(before: Facts, after: Facts) -> list[Change]:
    """The facts that differ, by name; MAC addresses are drawn anew in every network and left out."""
    found = []
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if name.endswith(".mac") or one == other:
            continue
        if (
            isinstance(one, float)
            and isinstance(other, float)
            and abs(one - other) <= _SAME * max(abs(one), abs(other))
        ):
            continue
        found.append(Change(name, one, other))
    return found


def judge(evidence: Evidence, checks: Sequence[Check] | None = None) -> list[CheckResult]:
    """A result for each check of the exercise (or of those given), in order."""
    results: dict[str, CheckResult] = {}
    for check in checks if checks is not None else evidence.exercise.checks:
        result = _judge(_filled(check, evidence.lookup), evidence, results)
        results[check.id] = replace(result, experiments=_experiments(check, evidence.exercise))
    return list(results.values())


def _experiments(check: Check, exercise: Exercise) -> tuple[str, ...]:
    """Those that the check's subject and bands name."""
    texts = [check.subject, *(end for band in check.bands for end in (band.low, band.high, band.exactly))]
    return tuple(
        each.id for each in exercise.experiments if re.search(rf"(?<![\w.-]){re.escape(each.id)}\.", " ".join(texts))
    )


def spoken_of(check: Check) -> set[str]:
    """Names of parameters, metrics and answers a check speaks of."""
    texts = [check.subject] if check.kind in ("measure", "holds") else []
    texts += [end for band in check.bands for end in (band.low, band.high) if end]
    asked = {f"answer.{check.subject}"} if check.kind == "answer" else set()
    return asked.union(*map(names, texts))


def experiments_of(check: Check, exercise: Exercise) -> tuple[str, ...]:
    """Ids of the experiments a check speaks of, in order of the exercise."""
    spoken = {name.partition(".")[0] for name in spoken_of(check)}
    return tuple(experiment.id for experiment in exercise.experiments if experiment.id in spoken)


def worth_doing(evidence: Evidence, checks: Sequence[Check]) -> list[Experiment]:
    """The experiments that some check may still pass by, judged by what is known without any."""
    lost: set[str] = set()
    wanted: set[str] = set()
    results: dict[str, CheckResult] = {}
    for check in checks:
        experiments = experiments_of(check, evidence.exercise)
        unanswered = any(f"answer.{name}" in spoken_of(check) for name in evidence.answers.problems)
        if lost.intersection(check.needs) or unanswered:
            lost.add(check.id)
        elif experiments:
            wanted.update(experiments)
        else:
            results[check.id] = _judge(_filled(check, evidence.lookup), evidence, results)
            if results[check.id].outcome not in (Outcome.PASS, Outcome.PARTIAL):
                lost.add(check.id)
    return [experiment for experiment in evidence.exercise.experiments if experiment.id in wanted]


def agree(evidence: Evidence, checks: Sequence[Check]) -> bool:
    """Whether the runs of the seeds so far, each judged by itself and all together, earn the same in every check."""
    count = max((len(values) for found in evidence.metrics.values() for values in found.values()), default=0)
    earned = {tuple(result.score for result in judge(evidence, checks))}
    for run in range(count):
        alone = {
            experiment: {name: [values[min(run, len(values) - 1)]] for name, values in found.items()}
            for experiment, found in evidence.metrics.items()
        }
        earned.add(tuple(result.score for result in judge(replace(evidence, metrics=alone), checks)))
    return len(earned) <= 1


# --- one check


@dataclass(frozen=True)
class _Seen:
    """What a check looks at: `value` None where there is none, with `why`."""

    value: Value | None
    why: str = ""
    samples: tuple[float, ...] = ()
    done: str = ""


def _filled(check: Check, lookup: Lookup) -> Check:
    """The check with its texts for this instance."""
    hints = tuple(fill(hint, lookup) for hint in check.hints)
    return replace(check, title=fill(check.title, lookup), why=fill(check.why, lookup), hints=hints)


def _judge(check: Check, evidence: Evidence, before: Mapping[str, CheckResult]) -> CheckResult:
    for need in check.needs:
        if need in before and before[need].outcome in (Outcome.ERROR, Outcome.SKIPPED, Outcome.FAIL):
            broke = before[need].outcome is Outcome.ERROR
            return _result(
                check,
                Outcome.ERROR if broke else Outcome.SKIPPED,
                f"not judged: it needs “{before[need].title}” first",
            )
    try:
        match check.kind:
            case "unchanged":
                return _unchanged(check, evidence)
            case "holds":
                return _holds(check, evidence)
            case _:
                return _banded(check, evidence)
    except NoValueError as missing:
        return _missing(check, evidence, missing.name)
    except InputError as error:
        return _result(check, Outcome.ERROR, f"this check is broken: {error}")


def _missing(check: Check, evidence: Evidence, name: str) -> CheckResult:
    """What a check comes to when a name in it has no value."""
    experiment = name.partition(".")[0]
    if experiment in evidence.errors:
        return _result(check, Outcome.ERROR, f"could not be judged: {evidence.errors[experiment]}")
    why = evidence.broken.get(experiment, f"there is no {name}")
    if name.startswith("answer."):
        why = f"{name.removeprefix('answer.')}: {evidence.answers.problems.get(name[7:], 'there is no answer')}"
    return _result(check, Outcome.FAIL, f"expected what follows: {check.why.rstrip('.')}; but {why}.", seen="none")


def _unchanged(check: Check, evidence: Evidence) -> CheckResult:
    reference = evidence.references.get(check.reference)
    if reference is None:
        return _result(check, Outcome.ERROR, f"could not be judged: the {check.reference} state is not known")
    excepted = [fill(pattern, evidence.lookup) for pattern in check.excepted]
    wrong = [
        change
        for change in changes(reference, evidence.facts)
        if (not check.only or any(fnmatchcase(change.fact, pattern) for pattern in check.only))
        and not any(fnmatchcase(change.fact, pattern) for pattern in excepted)
    ]
    if not wrong:
        return _result(
            check,
            Outcome.PASS,
            "nothing else differs, as it should be",
            share=1,
            expected="unchanged",
            seen="unchanged",
        )
    told = "; ".join(str(change) for change in wrong[:6]) + (f"; and {len(wrong) - 6} more" if len(wrong) > 6 else "")
    result = _result(
        check,
        Outcome.FAIL,
        f"expected nothing else to be changed ({_reason(check)}), but {told}.",
        expected="unchanged",
        seen=told,
    )
    return replace(result, differs=tuple((change.fact, str(change)) for change in wrong))


def _holds(check: Check, evidence: Evidence) -> CheckResult:
    if holds(check.subject, evidence.name, evidence.fact):
        return _result(check, Outcome.PASS, check.why, share=1, expected="holds", seen="holds")
    return _result(
        check,
        Outcome.FAIL,
        f"expected that {_inside(check.title)}: {check.why}",
        expected="holds",
        seen="does not hold",
    )


def _inside(title: str) -> str:
    """A title within a sentence; names such as BBR keep their capitals."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _banded(check: Check, evidence: Evidence) -> CheckResult:
    seen = _look(check, evidence)
    if seen is None:
        return _result(check, Outcome.ERROR, f"could not be judged: {evidence.errors[check.subject.partition('.')[0]]}")
    wanted = [_ends(check, band, evidence) for band in check.bands]
    expected = _expected(check.bands[0], wanted[0])
    if seen.value is None:
        return _result(
            check,
            Outcome.FAIL,
            f"expected {expected} ({_reason(check)}), but {seen.why}.",
            expected=expected,
            seen="none",
        )
    unit = seen.value.unit
    for band, ends in zip(check.bands, wanted, strict=True):
        if not _within(seen.value, ends, check, any_order=_any_order(check, evidence.exercise)):
            continue
        outcome = Outcome.PASS if band.share == 1 else Outcome.PARTIAL
        told = f"expected {expected} ({_reason(check)}), saw {seen.value.shown}{seen.done}."
        if outcome is Outcome.PARTIAL:
            told += f" That is {_expected(band, ends)}, which earns {band.share:.0%} of the points."
        return _result(
            check,
            outcome,
            told,
            share=band.share,
            expected=expected,
            seen=seen.value.shown,
            samples=seen.samples,
            unit=unit,
        )
    told = f"expected {expected} ({_reason(check)}), saw {seen.value.shown}{seen.done}."
    return _result(check, Outcome.FAIL, told, expected=expected, seen=seen.value.shown, samples=seen.samples, unit=unit)


def _look(check: Check, evidence: Evidence) -> _Seen | None:
    """What the check looks at; None where our tools broke."""
    match check.kind:
        case "state":
            value = evidence.fact(check.subject)
            where, _, what = check.subject.rpartition(".")
            return _Seen(value, f"{where} has no {what}")
        case "answer":
            value = evidence.answers.values.get(check.subject)
            return _Seen(value, evidence.answers.problems.get(check.subject, "there is no answer"))
    experiment, _, metric = check.subject.partition(".")
    if experiment in evidence.errors:
        return None
    samples = tuple(evidence.metrics.get(experiment, {}).get(metric, ()))
    if not samples:
        return _Seen(None, evidence.broken.get(experiment, f"{check.subject} was not measured"))
    described = next(each for each in evidence.exercise.experiments if each.id == experiment)
    seeds = f", median of {len(samples)} runs" if len(samples) > 1 else ""
    done = f" ({describe(described, evidence.lookup)}{seeds})"
    return _Seen(fact_value(metric, statistics.median(samples)), samples=samples, done=done)


def describe(experiment: Experiment, lookup: Lookup) -> str:
    """An experiment in a few words: "h1 → h2 for 20 s on your network with h1.cc = reno"."""
    whose = {
        "submitted": "your network",
        "start": "the network as it was set up",
        "healthy": "the network without the fault",
    }
    flows = ", ".join(f"{flow.source} → {flow.target}" for flow in experiment.flows)
    ping = f"ping {experiment.ping.source} → {experiment.ping.target}" if experiment.ping else ""
    changed = ", ".join(f"{fact} = {fill(value, lookup)}" for fact, value in experiment.changes.items())
    parts = " and ".join(part for part in (flows, ping) if part)
    return f"{parts} for {experiment.seconds:g} s on {whose[experiment.base]}" + (f" with {changed}" if changed else "")


_Ends = tuple["Value | None", "Value | None", str]


def _ends(check: Check, band: Band, evidence: Evidence) -> _Ends:
    share = check.subject.rpartition(".")[2] in _SHARES

    def end(text: str) -> Value | None:
        found = number(text, evidence.name, evidence.fact) if text else None
        return fact_value(check.subject, found.number) if found and share and found.unit == "1" else found

    def with_fault(name: str) -> Value | None:
        return Value(unit=WORD, word=evidence.fault) if name == "fault" else evidence.lookup(name)

    exactly = fill(band.exactly, with_fault) if band.exactly else ""
    if band.exactly and not exactly.strip():  # with no word to compare with, every answer would be right
        raise InputError(f'"{band.exactly}" is nothing here')
    return end(band.low), end(band.high), exactly


def _within(value: Value, ends: _Ends, check: Check, *, any_order: bool) -> bool:
    low, high, exactly = ends
    if exactly:
        if any_order:
            return in_order(value.shown) == in_order(exactly)
        return value.shown.casefold().split() == exactly.casefold().split()
    for end in (low, high):
        if end is not None and end.unit != value.unit:
            raise InputError(f"check {check.id} compares {value.unit} with {end.unit}")
    return (low is None or value.number >= low.number) and (high is None or value.number <= high.number)


def _any_order(check: Check, exercise: Exercise) -> bool:
    """Whether words may stand in any order: names of nodes and links may, disciplines and choices may not."""
    if check.kind == "state":
        return check.subject.startswith("topology.")
    return any(answer.name == check.subject and answer.kind == "words" for answer in exercise.answers)


def _expected(band: Band, ends: _Ends) -> str:
    low, high, exactly = ends
    if exactly:
        return exactly
    if low and high:
        return f"{low.shown} to {high.shown}"
    return f"at least {low.shown}" if low else f"at most {high.shown}" if high else ""


def _reason(check: Check) -> str:
    """Why, as it stands in parentheses."""
    return check.why.rstrip(".")


def _shown(fact: str, value: float | str | None) -> str:
    return "none" if value is None else fact_value(fact, value).shown


def _result(
    check: Check,
    outcome: Outcome,
    told: str,
    *,
    share: float = 0.0,
    expected: str = "",
    seen: str = "",
    samples: tuple[float, ...] = (),
    unit: str = "",
) -> CheckResult:
    story = f"{outcome.value} {check.id}: {told}"
    return CheckResult(
        check.id,
        check.title,
        check.kind,
        outcome,
        round(check.weight * share, 2),
        check.weight,
        check.hidden,
        story,
        expected,
        seen,
        check.why,
        check.hints,
        samples,
        unit,
    )
