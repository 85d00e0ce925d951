# SPDX-License-Identifier: BSD-3-Clause
"""A sweep → trials, round by round, until every cell has been repeated often enough.

A cell's first repetitions are those that the file asks for. Where it asks for an interval, a cell goes on until each of
its measures has one, or it has been repeated as often as it may. What a round holds depends on the outcomes alone, so
that the same sweep makes the same trials however many run at once, and after an interruption.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from linklab.analysis import reducers
from linklab.analysis.reducers import reduce
from linklab.analysis.statistics import Interval, interval
from linklab.data import Dataset, open_file
from linklab.data.names import main_series, matching
from linklab.errors import InputError
from linklab.experiment.model import Expanded, Trial, TrialCommand, When
from linklab.experiment.sweep_file import REPETITION, Measure, Sweep, filled, length_s
from linklab.experiment.trial_list import ListedTrial, as_name, check_names

BEFORE = "the command before the test"
FOLDER = "trials"
"""Of the data files, in that of the sweep."""
_OF_LEAST = ("span", "mean_span")
"""Reducers that take each value less the least one."""
_CURE = "write the levels so that they differ in letters or digits"
_OVER: Mapping[str, Callable[[Sequence[float]], Any]] = {"mean": np.mean, "sum": np.sum, "min": np.min, "max": np.max}


@dataclass
class Cell:
    """One combination of levels, and what its repetitions gave.

    levels: by factor.
    values: of each measure, one a repetition, in the order of the seeds; NaN where a trial gave none.
    """

    levels: Mapping[str, str]
    values: dict[str, list[float]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What sets it apart, for people."""
        return ", ".join(f"{factor} {level}" for factor, level in self.levels.items())

    @property
    def repetitions(self) -> int:
        """How many trials of it have ended."""
        return max(map(len, self.values.values()), default=0)

    def interval(self, measure: Measure) -> Interval:
        """The mean of a measure with its 95 % interval."""
        return interval(self.values.get(measure.name, []))


@dataclass(frozen=True)
class Looked:
    """Reads the measures of a sweep in a data set; can be pickled, so that the process of a trial does it."""

    measures: tuple[Measure, ...]

    def __call__(self, data: Dataset) -> dict[str, float | None]:
        """Values by the key of each measure; None where the data set has none."""
        return {measure.key: _known(value_of(measure, data)) for measure in self.measures}


def value_of(measure: Measure, data: Dataset) -> float:
    """A measure of one data set; NaN where its series is not there or has no value.

    A sum is known only if all of its series are: where the program of one failed, the others' sum is no measurement.
    """
    if measure.reduce in ("fairness", "fairness_mean"):  # of all flows together
        return reduce(measure.reduce, data, measure.series, measure.cutoff)
    names = matching(measure.series, main_series(data.series)) or matching(measure.series, data.series)
    values = [reduce(measure.reduce, data, name, measure.cutoff) for name in names]
    known = [value for value in values if not math.isnan(value)]
    if measure.over == "sum" and (len(known) < len(values) or _failed(measure, data)):
        return math.nan
    return float(_OVER[measure.over](known)) if known else math.nan


def _failed(measure: Measure, data: Dataset) -> list[str]:
    """Series of a measure whose programs failed, so that they are missing or broken off."""
    failed = data.metadata.get("failed")
    return matching(measure.series, list(failed)) if isinstance(failed, dict) else []


def unit_of(measure: Measure, data: Dataset) -> str:
    """The unit of a measure's numbers, as far as the series tells it."""
    names = matching(measure.series, main_series(data.series)) or matching(measure.series, data.series)
    return reducers.unit_of(measure.reduce, data.series[names[0]].unit) if names else ""


def units(rounds: Rounds, folder: Path) -> dict[str, str]:
    """The unit of each measure, by the first trial that gave it; "" where none did.

    Args:
        rounds: with all values.
        folder: of the sweep.
    """
    found = {}
    for measure in rounds.sweep.measures:
        gave = (
            rounds.entry(cell, number)
            for cell in rounds.cells
            for number, value in enumerate(cell.values[measure.name], 1)
            if not math.isnan(value)
        )
        first = next(gave, None)
        found[measure.name] = unit_of(measure, open_file(folder / first.file)) if first else ""
    return found


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


class Rounds:
    """The trials of a sweep in rounds; each is made of what the ones before it gave.

    Args:
        sweep: what is asked for.
        shuffle_seed: of the order of the cells within each repetition, so that what changes while it runs, such as the
            load of a machine, falls on all cells alike; None for the order of the file.
    """

    def __init__(self, sweep: Sweep, shuffle_seed: int | None = None) -> None:
        self.sweep, self.shuffle_seed = sweep, shuffle_seed
        self.cells = [Cell(levels, {measure.name: [] for measure in sweep.measures}) for levels in sweep.cells()]

    def next(self) -> list[tuple[Cell, ListedTrial]]:
        """The trials of the next round, with the cell of each; none when all is done.

        Raises:
            InputError: two cells would give their files the same name.
        """
        numbers = {
            number: range(cell.repetitions + 1, self._wanted(cell) + 1) for number, cell in enumerate(self.cells)
        }
        # repetition by repetition, so that an early look shows all cells
        found = []
        for repetition in range(1, max((each.stop for each in numbers.values()), default=0)):
            block = [self.cells[number] for number, wanted in numbers.items() if repetition in wanted]
            if self.shuffle_seed is not None:
                random.Random(f"{self.shuffle_seed}:{repetition}").shuffle(block)  # noqa: S311 - an order, no secret
            found += [(cell, self.entry(cell, repetition)) for cell in block]
        check_names([entry for _, entry in found], _CURE)
        return found

    def take(self, cell: Cell, values: Mapping[str, float | None]) -> None:
        """What the next repetition of a cell gave, by the keys of the measures."""
        for measure in self.sweep.measures:
            value = values.get(measure.key)
            cell.values[measure.name].append(math.nan if value is None else value)

    def _wanted(self, cell: Cell) -> int:
        """How many repetitions a cell needs, as far as is known now."""
        done = cell.repetitions
        if done < self.sweep.repetitions:
            return self.sweep.repetitions
        wanted = done
        for measure in self.sweep.measures:
            if measure.until is None:
                continue
            relative = cell.interval(measure).relative
            if math.isnan(relative):
                wanted = max(wanted, done + 1)
            elif relative > measure.until:
                # the interval shrinks with the root of the repetitions; at most twice as many at a time
                needed = done * min(2.0, (relative / measure.until) ** 2)
                wanted = max(wanted, done + 1, math.ceil(needed))
        return min(wanted, max(self.sweep.most, done))

    def entry(self, cell: Cell, repetition: int) -> ListedTrial:
        """The trial of a repetition of a cell."""
        sweep, levels = self.sweep, cell.levels
        each = {**levels, REPETITION: f"{repetition:02}"}
        title = filled(sweep.title, each) or cell.label
        trial = Trial(
            test=filled(sweep.test, levels),
            path=filled(sweep.path, levels),
            topology=filled(sweep.topology, levels),
            source=filled(sweep.source, levels),
            targets=tuple(filled(target, levels) for target in sweep.targets),
            parameters={key: filled(value, each) for key, value in sweep.parameters.items()},
            length_s=length_s(sweep, levels),
            step_s=sweep.step_s,
            seed=sweep.seed + repetition - 1,
            clock=sweep.clock,
            engine=sweep.engine,
            profile=sweep.profile,
            title=title,
            note=filled(sweep.note, each),
            extra={"BATCH_NAME": sweep.name, "sweep": {"factors": dict(levels), "repetition": repetition}},
            commands=tuple(TrialCommand(BEFORE, filled(line, each), When.PRE, essential=True) for line in sweep.before),
        )
        name = as_name("-".join(level.lstrip(".") for level in levels.values()), ".+")
        which = f"repetition {repetition}" if sweep.here else f"seed {trial.seed}"
        return ListedTrial(f"{FOLDER}/{name}-{repetition:03}", f"{cell.label}, {which}", trial)

    def lacking(self) -> list[Measure]:
        """Measures that no trial gave."""
        values = {
            measure.name: [v for cell in self.cells for v in cell.values[measure.name]]
            for measure in self.sweep.measures
        }
        return [measure for measure in self.sweep.measures if all(map(math.isnan, values[measure.name]))]

    def missed(self) -> Iterator[tuple[Cell, Measure, float]]:
        """Cells that have been repeated as often as they may, with an interval that is still too wide: how wide."""
        for cell in self.cells:
            for measure in self.sweep.measures:
                relative = cell.interval(measure).relative
                if measure.until is not None and not relative <= measure.until:
                    yield cell, measure, relative


def sizes(sweep: Sweep) -> tuple[int, int]:
    """The number of trials at least, and at most."""
    cells = math.prod(map(len, sweep.factors.values()))
    return cells * sweep.repetitions, cells * sweep.most


def checked(sweep: Sweep) -> Sequence[ListedTrial]:
    """The first trial of each cell, to be looked at before anything runs."""
    rounds = Rounds(sweep)
    found = [rounds.entry(cell, 1) for cell in rounds.cells]
    check_names(found, _CURE)
    return found


def unknown(sweep: Sweep, expanded: Expanded) -> Iterator[str]:
    """Sentences about measures whose series is none of the test's; one of a sampler is known only when it has run."""
    names = [flow.series for flow in expanded.flows] + [derived.series for derived in expanded.derived]
    for measure in sweep.measures:
        if not matching(measure.series.split("::tcp_")[0], names):
            yield (
                f'measure {measure.name}: {expanded.name} has no series "{measure.series}". It has {", ".join(names)}. '
                "The measure has a value only if a sampler records that series."
            )


def doubtful(sweep: Sweep) -> Iterator[str]:
    """Sentences about measures that take the least value of a part of the test, in which a queue may never empty."""
    for measure in sweep.measures:
        if measure.reduce in _OF_LEAST and measure.cutoff is not None and measure.cutoff[0] > 0:
            yield (
                f"measure {measure.name}: {measure.reduce} counts from the least value after {measure.cutoff[0]:g} s, "
                'when the queue may never be empty; leave "from" out, or take the mean and subtract the round-trip '
                "time of the path"
            )


def check_windows(sweep: Sweep, entries: Sequence[ListedTrial]) -> None:
    """Refuse measures that count what lies beyond the end of a test.

    Args:
        sweep: the sweep.
        entries: the first trial of each cell, with how long it is.

    Raises:
        InputError: a measure does; the message names it and the combination.
    """
    for entry in entries:
        for measure in sweep.measures:
            start, end = measure.cutoff or (0.0, 0.0)
            until = end if end > 0 else entry.network_s + end
            if until > entry.network_s:
                wrong = f'"to" is {end:g} s'
            elif start >= until:
                wrong = f'"from" is {start:g} s, and nothing is left before {until:g} s'
            else:
                continue
            raise InputError(
                f"measure {measure.name}: {wrong}, but the test lasts {entry.network_s:g} s ({entry.label})"
            )


def lasting(entry: ListedTrial, first: ListedTrial) -> ListedTrial:
    """The entry with how long its trial is and takes, as the first one of its cell."""
    return replace(entry, network_s=first.network_s, cost_s=first.cost_s)
