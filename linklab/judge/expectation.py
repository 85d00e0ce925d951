# SPDX-License-Identifier: BSD-3-Clause
"""What a step of a lab must measure or show, and the verdict on it; from `[[expect]]` in lab.toml.

Judged is one run, or several of the same lab with other seeds: then the median of each metric counts, and output must
be shown in every run. Keys of `[[expect]]`: docs/writing-a-lab.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linklab.base.numbers import digits_to_tell, format_number
from linklab.base.toml import Table
from linklab.errors import InputError
from linklab.judge.check import check
from linklab.judge.dimension import canonical
from linklab.judge.evaluation import Evaluation, NoValueError
from linklab.judge.language import is_yes_or_no, names
from linklab.judge.parser import parse
from linklab.judge.quantity import Value
from linklab.judge.samples import in_words, median
from linklab.judge.shown import told
from linklab.judge.tolerance import SHAPES, Tolerance, parse_tolerance
from linklab.judge.verdict import Outcome, Verdict

Scalars = Mapping[str, Mapping[str, tuple[float, str]]]
"""Step id → metric → (value, unit), of one run."""
MOST_LOOKED_THROUGH = 4096
"""Letters at each end of an output in which a pattern is looked for; the longest of the series is 5,022.

Many patterns take time by the square of the length, and a lab that is handed in says itself what its commands showed.
"""


@dataclass(frozen=True)
class Expectation:
    """One `[[expect]]`: what a step must measure or show, or how steps relate.

    Exactly one of `tolerance` (of metric `what`), `shows` (a regular expression for the output) and `relation` (an
    expression, its names STEP.METRIC) is set.
    series: what the original lab measured, as text for people; `where` is "lab.toml:LINE".
    """

    step: str
    what: str
    tolerance: Tolerance | None
    shows: re.Pattern[str] | None
    relation: str
    why: str
    series: str
    hint: str
    where: str

    @property
    def expected(self) -> str:
        """What is expected, as a table shows it."""
        if self.tolerance:
            return str(self.tolerance)
        return "shown" if self.shows else "holds"

    @property
    def steps(self) -> tuple[str, ...]:
        """Ids of the steps it speaks of."""
        if not self.relation:
            return (self.step,)
        return tuple(dict.fromkeys(name.partition(".")[0] for name in names(parse(self.relation))))


@dataclass(frozen=True)
class ExpectationVerdict(Verdict):
    """The verdict on an expectation."""

    expectation: Expectation


@dataclass(frozen=True)
class Observed:
    """What one run gave.

    scalars: what was measured, by step.
    outputs: terminal output of each step that was done; a step that is not here counts as not done.
    broken: steps whose output could not be measured, with the reason.
    """

    scalars: Scalars
    outputs: Mapping[str, str]
    broken: Mapping[str, str] = field(default_factory=dict)


def read_expectation(table: Table) -> Expectation:
    """Read an `[[expect]]` table.

    Raises:
        InputError: a key is wrong or missing, or an expression cannot be judged; it begins with the table's place.
    """
    text = {key: table.take(key, str, "") for key in ("step", "what", "why", "series", "hint", "relation", "shows")}
    ends = {key: table.take(key, object, None) for key in (*SHAPES, "within", "trials")}
    table.end()
    if not text["why"]:
        raise table.wrong("every expectation needs its why")
    tolerance, shows = None, None
    try:
        if text["relation"]:
            _check_relation(text["relation"])
        elif not text["step"]:
            raise InputError("give step, or relation")
        elif text["shows"]:
            shows = re.compile(text["shows"], re.MULTILINE)
        elif not text["what"]:
            raise InputError("give what, the name of a measurement, or shows")
        else:
            tolerance = parse_tolerance({key: end for key, end in ends.items() if end is not None}, text["why"])
    except (InputError, re.error, RecursionError, OverflowError) as error:  # the last two of a regular expression
        raise table.wrong(str(error)) from error
    fields = {key: text[key] for key in ("step", "what", "relation", "why", "series", "hint")}
    return Expectation(tolerance=tolerance, shows=shows, where=table.where, **fields)


def verdicts_on(expectations: Sequence[Expectation], runs: Sequence[Observed]) -> list[ExpectationVerdict]:
    """A verdict for each expectation, by what one run or several gave."""
    return [_judge(expectation, runs) for expectation in expectations]


def _check_relation(text: str) -> None:
    expression = parse(text)
    check(text, lambda name: None)
    if not is_yes_or_no(expression):
        raise InputError(f'relation "{text}" is a value; compare it with another, by < <= > >= == or !=')
    for name in names(expression):
        if "." not in name:
            raise InputError(f'relation "{text}": "{name}" is no measurement; write STEP.METRIC')


def _judge(expectation: Expectation, runs: Sequence[Observed]) -> ExpectationVerdict:
    missing = [step for step in expectation.steps if not all(step in run.outputs for run in runs)]
    if missing or not runs:
        return _judged(expectation, Outcome.SKIPPED, story=f"skipped (needs {', '.join(missing) or 'a run'})")
    try:
        if expectation.shows:
            return _shown(expectation, expectation.shows, runs)
        if expectation.relation:
            return _related(expectation, runs)
        return _measured(expectation, runs)
    except NoValueError as lacking:
        told_why = _lacking(lacking.name, runs) if lacking.missing else f"{lacking.name} has no value"
        return _judged(expectation, Outcome.ERROR, story=f"{expectation.where}: {told_why}")
    except InputError as error:
        return _judged(expectation, Outcome.ERROR, story=f"{expectation.where}: {error}")


def _shown(expectation: Expectation, pattern: re.Pattern[str], runs: Sequence[Observed]) -> ExpectationVerdict:
    found = [pattern.search(_looked_through(run.outputs[expectation.step])) for run in runs]
    if all(found):
        return _judged(expectation, Outcome.PASS, seen=found[0][0] if found[0] else "")
    return _judged(expectation, Outcome.FAIL, seen="not shown", story=_story(expectation))


def _looked_through(output: str) -> str:
    if len(output) <= 2 * MOST_LOOKED_THROUGH:
        return output
    return f"{output[:MOST_LOOKED_THROUGH]} … {output[-MOST_LOOKED_THROUGH:]}"


def _related(expectation: Expectation, runs: Sequence[Observed]) -> ExpectationVerdict:
    def lookup(name: str) -> Value | None:
        return _value(name, runs)

    evaluation = Evaluation(expectation.relation, lookup)
    expression = parse(expectation.relation)
    holds = evaluation.of(expression) is True
    seen = told(evaluation, expression)
    samples = [_samples(name, runs) for name in names(expression)]
    medians = in_words(max(samples, key=lambda each: sum(map(math.isnan, each)), default=()))
    outcome = Outcome.PASS if holds else Outcome.FAIL
    return _judged(expectation, outcome, seen=seen, story="" if holds else _story(expectation, seen, medians))


def _measured(expectation: Expectation, runs: Sequence[Observed]) -> ExpectationVerdict:
    name, tolerance = f"{expectation.step}.{expectation.what}", expectation.tolerance
    value = _value(name, runs)
    if value is None:
        raise NoValueError(name)
    if tolerance is None:
        raise InputError("there is nothing to judge by")
    if value.unit != tolerance.unit:
        raise InputError(f"{expectation.what} is in {value.unit}, not in {tolerance.unit}")
    fits = tolerance.accepts(value)
    digits = digits_to_tell(lambda count: (float(f"{value.number:.{count - 1}e}") in tolerance) == fits)
    shown = format_number(value.number, value.unit, significant=digits)
    samples = _samples(name, runs)
    return _judged(
        expectation,
        Outcome.PASS if fits else Outcome.FAIL,
        seen=shown,
        story="" if fits else _story(expectation, shown, in_words(samples)),
        samples=samples,
        unit=value.unit,
    )


def _samples(name: str, runs: Sequence[Observed]) -> tuple[float, ...]:
    """The values of STEP.METRIC in the runs; NaN where one has none."""
    step, _, metric = name.partition(".")
    return tuple(run.scalars.get(step, {}).get(metric, (float("nan"), ""))[0] for run in runs)


def _value(name: str, runs: Sequence[Observed]) -> Value | None:
    """What STEP.METRIC came to; None where no run measured it.

    Raises:
        InputError: the runs measured it in different units.
    """
    step, _, metric = name.partition(".")
    middle = median(_samples(name, runs))
    units = {canonical(run.scalars[step][metric][1]) for run in runs if metric in run.scalars.get(step, {})}
    if middle is None:
        return None
    if len(units) > 1:
        raise InputError(f"the runs measured {name} in different units: {', '.join(sorted(units))}")
    return Value(middle, units.pop())


def _lacking(name: str, runs: Sequence[Observed]) -> str:
    """Why there is no value of STEP.METRIC."""
    step, _, metric = name.partition(".")
    broken = next((run.broken[step] for run in runs if step in run.broken), "")
    known = sorted({other for run in runs for other in run.scalars.get(step, {})})
    return f"step {step} gave no {metric}: {broken or 'it has ' + (', '.join(known) or 'no measurement')}"


def _story(expectation: Expectation, saw: str = "", medians: str = "") -> str:
    shows = f"/{expectation.shows.pattern}/" if expectation.shows else expectation.what
    what = expectation.relation or f"{expectation.step} {shows}"
    seen = f", saw {saw}" if saw else ""
    seen += f" ({medians})" if saw and medians else ""
    hint = f" {expectation.hint}" if expectation.hint else ""
    return f"{what}: expected {expectation.expected} ({expectation.why}){seen}.{hint}"


def _judged(
    expectation: Expectation,
    outcome: Outcome,
    *,
    seen: str = "",
    story: str = "",
    samples: tuple[float, ...] = (),
    unit: str = "",
) -> ExpectationVerdict:
    return ExpectationVerdict(
        expectation,
        outcome=outcome,
        story=story,
        expected=expectation.expected,
        seen=seen,
        samples=samples,
        unit=unit,
    )
