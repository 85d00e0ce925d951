# SPDX-License-Identifier: BSD-3-Clause
"""Facts, metrics and answers of a submission → what came of each check, told as a story.

Pure. Only a submission's own doing is a fail: what our tools could not measure is an error, what was not judged is
skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from linklab.errors import InputError
from linklab.exercise.answers import in_order
from linklab.exercise.evidence import SHARES, Evidence, fact_value
from linklab.exercise.fill import fill
from linklab.exercise.model import Band, Check, Exercise, Experiment, SteadyCase
from linklab.exercise.observed import looked_at
from linklab.exercise.report import CheckResult
from linklab.judge import samples
from linklab.judge.dimension import PLAIN, WORD
from linklab.judge.evaluation import Lookup, NoValueError, holds, names, number
from linklab.judge.quantity import Value
from linklab.judge.tolerance import Tolerance, between
from linklab.judge.verdict import Outcome


def judge(evidence: Evidence, checks: Sequence[Check] | None = None) -> list[CheckResult]:
    """A result for each check of the exercise (or of those given), in order."""
    results: dict[str, CheckResult] = {}
    for check in checks if checks is not None else evidence.exercise.checks:
        result = _judge(_filled(check, evidence.lookup), evidence, results)
        results[check.id] = replace(result, experiments=experiments_of(check, evidence.exercise))
    return list(results.values())


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
        needless = bool(check.needs_any) and len({*check.needs_any} - lost) < check.needs_least
        if lost.intersection(check.needs) or needless or unanswered:
            lost.add(check.id)
        elif experiments:
            wanted.update(experiments)
        else:
            results[check.id] = _judge(_filled(check, evidence.lookup), evidence, results)
            if results[check.id].outcome not in (Outcome.PASS, Outcome.PARTIAL):
                lost.add(check.id)
    return [_lasting(experiment, evidence) for experiment in evidence.exercise.experiments if experiment.id in wanted]


def steady_case(experiment: Experiment, evidence: Evidence) -> SteadyCase | None:
    """The first of its cases that the submitted state is."""
    for case in experiment.steady:
        found = {fact: evidence.fact(fact) for fact in case.where}
        if all((value := found[fact]) and fnmatchcase(value.shown, word) for fact, word in case.where.items()):
            return case
    return None


def _lasting(experiment: Experiment, evidence: Evidence) -> Experiment:
    """The experiment, over the time that the case or the planted fault asks for."""
    if (case := steady_case(experiment, evidence)) is not None:
        return experiment.lasting(case.seconds, case.omit_s)
    planted = (fault for fault in evidence.exercise.faults if fault.id == evidence.fault)
    seconds = next((fault.seconds.get(experiment.id) for fault in planted), None)
    return experiment if seconds is None else experiment.lasting(seconds)


# --- one check

_UNMET = (Outcome.ERROR, Outcome.SKIPPED, Outcome.FAIL)
"""What a check that needs another is not judged after."""


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
        if need in before and before[need].outcome in _UNMET:
            broke = before[need].outcome is Outcome.ERROR
            return _result(
                check,
                Outcome.ERROR if broke else Outcome.SKIPPED,
                f"not judged: it needs “{before[need].title}” first",
            )
    lacking = [before[need] for need in check.needs_any if need in before and before[need].outcome in _UNMET]
    if lacking and len(check.needs_any) - len(lacking) < check.needs_least:
        lost = sum(result.outcome is not Outcome.ERROR for result in lacking)
        broke = len(check.needs_any) - lost >= check.needs_least
        outcome = Outcome.ERROR if broke else Outcome.SKIPPED
        one, least = f"“{lacking[0].title}”", check.needs_least
        wanted = f"{least} checks such as {one} to pass" if least > 1 else f"{one}, or one like it,"
        return _result(check, outcome, f"not judged: it needs {wanted} first")
    if evidence.impossible and check.kind in ("state", "unchanged"):
        told = f"the state that was handed in cannot be set up, so what it says does not count: {evidence.impossible}"
        return _result(check, Outcome.FAIL, told, absent=True)
    try:
        judges = {"unchanged": _unchanged, "holds": _holds, "observed": _observed}
        return judges.get(check.kind, _banded)(check, evidence)
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
    if check.kind == "answer" and evidence.answers.value(check.subject) is None:
        why = f"{check.subject}: {evidence.answers.why_not(check.subject)}"
    elif name.startswith("answer."):
        why = f"{name.removeprefix('answer.')}: {evidence.answers.why_not(name[7:])}"
    return _result(check, Outcome.FAIL, f"expected what follows: {check.why.rstrip('.')}; but {why}.", absent=True)


def _unchanged(check: Check, evidence: Evidence) -> CheckResult:
    if check.reference not in evidence.references:
        return _result(check, Outcome.ERROR, f"could not be judged: the {check.reference} state is not known")
    excepted = [fill(pattern, evidence.lookup) for pattern in check.excepted]
    wrong = [
        change
        for change in evidence.since(check.reference, check.along, check.only)
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


def _observed(check: Check, evidence: Evidence) -> CheckResult:
    """Whether something that the fault set was looked at while it was there; what, would name the fault."""
    if not {"start", "healthy"} <= evidence.references.keys():
        return _result(check, Outcome.ERROR, "could not be judged: the start and the healthy state are not known")
    planted = [change.fact for change in evidence.planted()]
    if any(looked_at(fact, evidence.typed, evidence.hosts) for fact in planted):
        told = "what was wrong was looked at before it was changed."
        return _result(check, Outcome.PASS, told, share=1, expected="looked at", seen="looked at")
    lines = sum(map(len, evidence.typed))
    seen = f"none of the {lines} lines in your terminals and work.sh does" if lines else "no line was recorded"
    told = f"expected a command that shows what is wrong, before it was changed ({_reason(check)}), but {seen}."
    return _result(check, Outcome.FAIL, told, expected="looked at", seen="not looked at")


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
    wanted = [_wanted(check, check.bands[0], evidence), *(_partial(check, band, evidence) for band in check.bands[1:])]
    expected = str(wanted[0])
    if seen.value is None:
        return _result(
            check,
            Outcome.FAIL,
            f"expected {expected} ({_reason(check)}), but {seen.why}.",
            expected=expected,
            absent=True,
            saw=seen.why,
        )
    unit, saw = seen.value.unit, f"saw {seen.value.shown}{seen.done}"
    for band, ends in zip(check.bands, wanted, strict=True):
        if ends is None or not _fits(seen.value, ends, any_order=_any_order(check, evidence.exercise)):
            continue
        outcome = Outcome.PASS if band.share == 1 else Outcome.PARTIAL
        told = f"expected {expected} ({_reason(check)}), {saw}."
        if outcome is Outcome.PARTIAL:
            told += f" That is {ends}, which earns {band.share:.0%} of the points."
        return _result(
            check,
            outcome,
            told,
            share=band.share,
            expected=expected,
            seen=seen.value.shown,
            runs=seen.samples,
            unit=unit,
            saw=saw,
        )
    told = f"expected {expected} ({_reason(check)}), {saw}."
    shown = seen.value.shown
    return _result(check, Outcome.FAIL, told, expected=expected, seen=shown, runs=seen.samples, unit=unit, saw=saw)


def _look(check: Check, evidence: Evidence) -> _Seen | None:
    """What the check looks at; None where our tools broke."""
    match check.kind:
        case "state":
            value = evidence.fact(check.subject)
            where, _, what = check.subject.rpartition(".")
            return _Seen(value, f"{where} has no {what}")
        case "answer":
            value = evidence.answers.value(check.subject)
            return _Seen(value, evidence.answers.why_not(check.subject))
    experiment, _, metric = check.subject.partition(".")
    if experiment in evidence.errors:
        return None
    values = tuple(evidence.metrics.get(experiment, {}).get(metric, ()))
    middle = samples.median(values)
    if middle is None:
        return _Seen(None, evidence.broken.get(experiment, f"{check.subject} was not measured"))
    described = next(_lasting(each, evidence) for each in evidence.exercise.experiments if each.id == experiment)
    seeds = samples.in_words(values)
    done = f" ({describe(described, evidence.lookup, evidence.exercise)}{f', {seeds}' if seeds else ''})"
    return _Seen(fact_value(metric, middle), samples=values, done=done)


def describe(experiment: Experiment, lookup: Lookup, exercise: Exercise) -> str:
    """An experiment in a few words: "h1 → h2 for 20 s on your network with h1.cc = reno".

    How long it takes is not told where that would tell what is planted.
    """
    whose = {
        "submitted": "your network",
        "start": "the network as it was set up",
        "healthy": "the network without the fault",
    }
    flows = ", ".join(f"{flow.source} → {flow.target}" for flow in experiment.flows)
    ping = f"ping {experiment.ping.source} → {experiment.ping.target}" if experiment.ping else ""
    changed = ", ".join(
        f"{fact.replace('*.', 'every ')} = {fill(value, lookup)}" for fact, value in experiment.changes.items()
    )
    parts = " and ".join(part for part in (flows, ping) if part)
    told = any(experiment.id in fault.seconds for fault in exercise.faults)
    lasts = "" if told else f" for {experiment.seconds:g} s"
    return f"{parts}{lasts} on {whose[experiment.base]}" + (f" with {changed}" if changed else "")


def _wanted(check: Check, band: Band, evidence: Evidence) -> Tolerance | str:
    """What a band accepts: numbers within a tolerance, or certain words."""
    if band.exactly:
        return _words(band.exactly, evidence)
    share = check.subject.rpartition(".")[2] in SHARES

    def end(text: str) -> Value | None:
        found = number(text, evidence.name, evidence.fact) if text else None
        return fact_value(check.subject, found.number) if found and share and found.unit == PLAIN else found

    return between(end(band.low), end(band.high), check.why)


def _partial(check: Check, band: Band, evidence: Evidence) -> Tolerance | str | None:
    """What a band that earns a share accepts; None where that rests on what is not there, such as a measurement."""
    try:
        return _wanted(check, band, evidence)
    except NoValueError:
        return None


def _words(exactly: str, evidence: Evidence) -> str:
    def with_fault(name: str) -> Value | None:
        return Value(unit=WORD, word=evidence.fault) if name == "fault" else evidence.lookup(name)

    words = fill(exactly, with_fault)
    if not words.strip():  # with no word to compare with, every answer would be right
        raise InputError(f'"{exactly}" is nothing here')
    return words


def _fits(value: Value, wanted: Tolerance | str, *, any_order: bool) -> bool:
    if isinstance(wanted, Tolerance):
        return wanted.accepts(value)
    if any_order:
        return in_order(value.shown) == in_order(wanted)
    return value.shown.casefold().split() == wanted.casefold().split()


def _any_order(check: Check, exercise: Exercise) -> bool:
    """Whether words may stand in any order: names of nodes and links may, disciplines and choices may not."""
    if check.kind == "state":
        return check.subject.startswith("topology.")
    return any(answer.name == check.subject and answer.kind == "words" for answer in exercise.answers)


def _reason(check: Check) -> str:
    """Why, as it stands in parentheses."""
    return check.why.rstrip(".")


def _result(
    check: Check,
    outcome: Outcome,
    told: str,
    *,
    share: float = 0.0,
    expected: str = "",
    seen: str = "",
    runs: tuple[float, ...] = (),
    unit: str = "",
    absent: bool = False,
    saw: str = "",
) -> CheckResult:
    story = f"{outcome.value} {check.id}: {told}"
    return CheckResult(
        check.id,
        check.title,
        check.kind,
        round(check.weight * share, 2),
        check.weight,
        check.hidden,
        check.why,
        check.hints,
        outcome=outcome,
        story=story,
        expected=expected,
        seen="none" if absent else seen,
        samples=runs,
        unit=unit,
        absent=absent,
        saw=saw,
    )
