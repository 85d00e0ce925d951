# SPDX-License-Identifier: BSD-3-Clause
"""Whether an exercise holds together: every name in it leads somewhere, and every expression has one unit.

Pure. So a check that cannot be judged is found when the exercise is read, not when a submission is graded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from linklab.errors import InputError
from linklab.exercise.answers import unit_of_kind
from linklab.exercise.evidence import unit_of
from linklab.exercise.fill import placeholders
from linklab.exercise.model import Check, Exercise, Experiment
from linklab.judge.check import check as unit_of_expression
from linklab.judge.dimension import PLAIN, WORD, in_words
from linklab.judge.evaluation import NoValueError, names, number
from linklab.judge.language import is_yes_or_no
from linklab.judge.parser import parse
from linklab.judge.quantity import Value, parse_value

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ID = re.compile(r"[a-z][a-z0-9-]*")
_WAY = re.compile(r"\w+>\w+")
_METRIC = re.compile(r"throughput(\.\w+)?|jain|retransmits|ping\.(mean|max|loss)|backlog\.max")

MOST_SPREADS = 6
"""Metrics of an experiment whose ends are judged in all combinations."""


@dataclass(frozen=True)
class _Known:
    """The names that an expression may speak of: those with their units, and the metrics of experiments.

    units: None where the values of a name have several units.
    """

    units: Mapping[str, str | None]
    experiments: frozenset[str] = frozenset()

    def unit(self, name: str) -> str | None:
        """The unit of a name; KeyError if there is no such name."""
        experiment, _, metric = name.partition(".")
        if experiment in self.experiments and _METRIC.fullmatch(metric):
            return unit_of(metric)
        return self.units[name]


def check_coherence(exercise: Exercise) -> None:
    """Look whether an exercise holds together.

    Raises:
        InputError: it does not: which table, what was found.
    """
    _unique("parameter", [p.name for p in exercise.parameters] + list(exercise.derived), _NAME)
    _unique("experiment", [e.id for e in exercise.experiments], _NAME)
    _unique("answer", [a.name for a in exercise.answers], _NAME)
    _unique("fault", [f.id for f in exercise.faults], _ID)
    _unique("check", [c.id for c in exercise.checks], _ID)
    if (exercise.kind == "problem") != bool(exercise.faults):
        raise InputError("a problem has faults, an exercise none")
    given = _given(exercise)
    _check_faults(exercise)
    settings = [*exercise.settings, *(setting for fault in exercise.faults for setting in fault.settings)]
    for setting in settings:
        for text in (*setting.lines, setting.says):
            for expression in placeholders(text):
                _value(f'setting "{text}"', expression, given)
    _check_measured(exercise, given)
    _check_needs(exercise.checks)


def _given(exercise: Exercise) -> _Known:
    """The parameters and derived quantities with their units."""
    given: dict[str, str | None] = {}
    series: dict[str, Value] = {parameter.name: parse_value(parameter.series) for parameter in exercise.parameters}
    for parameter in exercise.parameters:
        units = {parse_value(value).unit for value in parameter.values}
        given[parameter.name] = units.pop() if len(units) == 1 else None
    for name, text in exercise.derived.items():
        given[name] = _value(f"derived {name}", text, _Known(given))
        for fault in exercise.faults:
            if name in fault.derived:
                where = f"fault {fault.id}: derived {name}"
                _same(where, given[name], _value(where, fault.derived[name], _Known(given)))
                _evaluated(where, fault.derived[name], series)
        series[name] = _evaluated(f"derived {name}", text, series)
    return _Known(given)


def _evaluated(where: str, text: str, series: Mapping[str, Value]) -> Value:
    """The value of a derived quantity with the series' parameters."""
    try:
        return number(text, series.__getitem__)
    except NoValueError as error:
        raise InputError(f"{where}: {error} has no value") from error
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _check_faults(exercise: Exercise) -> None:
    """What changes while a fault is planted is there without it."""
    experiments = {experiment.id: experiment for experiment in exercise.experiments}
    for fault in exercise.faults:
        if more := fault.derived.keys() - exercise.derived.keys():
            raise InputError(f"fault {fault.id}: derived {min(more)} replaces nothing: [derived] has no such quantity")
        for name, seconds in fault.seconds.items():
            if name not in experiments or experiments[name].base != "start":
                raise InputError(f'fault {fault.id}: seconds: there is no experiment "{name}" of base "start"')
            if not experiments[name].omit_s < seconds <= experiments[name].seconds:
                most, least = experiments[name].seconds, experiments[name].omit_s
                raise InputError(
                    f"fault {fault.id}: seconds: {name} takes from {least:g} s to {most:g}, not {seconds:g}"
                )


def _check_measured(exercise: Exercise, given: _Known) -> None:
    experiments = frozenset(experiment.id for experiment in exercise.experiments)
    kinds = {answer.name: unit_of_kind(answer.kind) for answer in exercise.answers}
    answered = _Known({**given.units, **{f"answer.{name}": unit for name, unit in kinds.items()}})
    known = replace(answered, experiments=experiments)
    for experiment in exercise.experiments:
        for flow in experiment.flows:
            where = f"experiment {experiment.id}"
            _same(f"{where}: a number of streams", PLAIN, _value(where, flow.streams, answered))
        _check_spread(experiment)
    for fault in exercise.faults if exercise.withheld is None else ():
        _yes_or_no(f"fault {fault.id}", fault.seen, replace(given, experiments=experiments))
    for check in exercise.checks:
        where = f"check {check.id}"
        unit: str | None = None
        match check.kind:
            case "measure":
                unit = _value(where, check.subject, _Known({}, experiments))
            case "state":
                unit = unit_of(check.subject)
            case "answer" if check.subject in kinds:
                unit = kinds[check.subject]
            case "answer":
                raise InputError(f'{where}: there is no answer "{check.subject}"')
            case "holds":
                _yes_or_no(where, check.subject, known)
            case "observed" if not exercise.faults:
                raise InputError(f"{where}: kind observed asks for a look at what was planted, and there are no faults")
            case "unchanged" if check.reference not in ("start", "healthy"):
                raise InputError(f'{where}: reference "{check.reference}"; use start or healthy')
            case "unchanged" if wrong := [way for way in check.along if not _WAY.fullmatch(way)]:
                raise InputError(f'{where}: along "{wrong[0]}" must be a way from node to node, such as "h1>h2"')
        _check_bands(where, unit, check, replace(given, units={**given.units, "fault": WORD}), known)


def _check_spread(experiment: Experiment) -> None:
    where = f"experiment {experiment.id}: spread"
    if experiment.spread and experiment.runs == 1:
        raise InputError(f"{where}: runs = 1 makes one run, which a spread cannot describe; remove one of the two")
    if len(experiment.spread) > MOST_SPREADS:
        raise InputError(f"{where}: of {len(experiment.spread)} metrics; {MOST_SPREADS} at most")
    _check_steady(f"experiment {experiment.id}: steady", experiment)
    texts = [*experiment.spread.items(), *(each for case in experiment.steady for each in case.spread.items())]
    for metric, text in texts:
        if not _METRIC.fullmatch(metric):
            raise InputError(f'{where}: there is no metric "{metric}"')
        if text.strip().endswith("%") and unit_of(metric) in (PLAIN, "bytes") and metric != "jain":
            raise InputError(f'{where}: {metric} may be 0, and so is a share of that; give a distance, such as "0.01"')
        far = parse_value(text)
        if far.is_word or far.number <= 0:
            raise InputError(f'{where}: {metric} = "{text}" must be a share such as "5 %" or a distance above 0')
        if not text.strip().endswith("%"):
            _same(f"{where}: {metric}", unit_of(metric), far.unit)


def _check_steady(where: str, experiment: Experiment) -> None:
    for case in experiment.steady:
        if experiment.base != "submitted":
            raise InputError(f"{where}: it looks at the facts of what is submitted, and the base is another")
        if not case.where:
            raise InputError(f"{where}: it needs where, with facts")
        for fact in case.where:
            unit_of(fact)
        if more := case.spread.keys() - experiment.spread.keys():
            raise InputError(f"{where}: its spread speaks of {min(more)}, of which the experiment's says nothing")
        if case.seconds > experiment.seconds:
            most = f"at most the experiment's {experiment.seconds:g}"
            raise InputError(f"{where}: seconds = {case.seconds:g} must be {most}")
        if not 0 <= case.omit_s < case.seconds:
            raise InputError(f"{where}: omit = {case.omit_s:g} must be below its {case.seconds:g} seconds")
        if (case.seconds, case.omit_s, case.spread) == (experiment.seconds, experiment.omit_s, {}):
            raise InputError(f"{where}: it changes nothing; give seconds, omit, or spread")


def _check_bands(where: str, unit: str | None, check: Check, words: _Known, known: _Known) -> None:
    for band in check.bands:
        for end in (band.low, band.high):
            if end:
                _same(f'{where}: "{check.subject}"', unit, _value(where, end, known))
        for expression in placeholders(band.exactly):
            _value(where, expression, words)


def _check_needs(checks: Sequence[Check]) -> None:
    before: dict[str, Check] = {}
    for check in checks:
        if not 1 <= check.needs_least <= max(1, len({*check.needs_any})):
            many = f"needs_any names {len(check.needs_any)}"
            raise InputError(f"check {check.id}: needs_least is {check.needs_least}, and {many}")
        for need in (*check.needs, *check.needs_any):
            if need not in before:
                raise InputError(f'check {check.id}: it needs "{need}", which is no check before it')
            if before[need].hidden and not check.hidden:
                why = "which is hidden: its title would be told to students"
                raise InputError(f'check {check.id}: it needs "{need}", {why}')
        before[check.id] = check


def _unique(what: str, found: Sequence[str], pattern: re.Pattern[str]) -> None:
    for name in found:
        if not pattern.fullmatch(name):
            raise InputError(f'{what} "{name}": a name is {pattern.pattern}')
        if found.count(name) > 1:
            raise InputError(f'{what} "{name}" is there twice')


def _value(where: str, text: str, known: _Known) -> str | None:
    """The unit of what must be a value; None where it is not known."""
    if is_yes_or_no(parse(text)):
        raise InputError(f'{where}: "{text}" is a yes or no, where a value is wanted')
    return _unit(where, text, known)


def _yes_or_no(where: str, text: str, known: _Known) -> None:
    if not is_yes_or_no(parse(text)):
        raise InputError(f'{where}: "{text}" is a value, where a yes or no is wanted')
    _unit(where, text, known)


def _unit(where: str, text: str, known: _Known) -> str | None:
    """The unit of an expression whose names are all known; that of a fact is not."""
    for name in names(text):
        try:
            known.unit(name)
        except KeyError:
            raise InputError(f'{where}: "{text}" speaks of {name}, which is not there') from None
    try:
        return unit_of_expression(text, known.unit, lambda fact: None)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _same(where: str, wanted: str | None, found: str | None) -> None:
    if wanted is not None and found is not None and wanted != found:
        raise InputError(f"{where} is {in_words(wanted)}, and what it is compared with is {in_words(found)}")
