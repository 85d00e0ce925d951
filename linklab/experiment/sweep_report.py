# SPDX-License-Identifier: BSD-3-Clause
"""What a sweep gave → a table of its cells, one of its trials, a figure with intervals, and which factor matters most.

Everything is made of the values in the cells, so that it is the same however the trials were run.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from linklab.analysis.effects import METHOD, Effects, effects
from linklab.analysis.statistics import distinct
from linklab.base.files import write
from linklab.base.text import csv_cell
from linklab.experiment.sweep import Rounds
from linklab.experiment.sweep_file import Measure
from linklab.experiment.table_grid import spelt
from linklab.plots import style
from linklab.plots.intervals import IntervalPanel, Point, draw_intervals

TABLE, TRIALS, FIGURE, FINDINGS = "table.csv", "trials.csv", "figure.svg", "findings.txt"
_SMALL_P = 0.05


def write_report(rounds: Rounds, units: Mapping[str, str], folder: Path) -> list[str]:
    """Write tables, figure and findings into the folder of a sweep; the findings.

    Args:
        rounds: with all values.
        units: of each measure.
        folder: of the sweep.

    Raises:
        OSError: it cannot be written.
    """
    found = list(findings(rounds, units))
    write(folder / TABLE, cell_table(rounds, units))
    write(folder / TRIALS, trial_table(rounds))
    write(folder / FINDINGS, "".join(f"{line}\n" for line in found))
    draw(rounds, units, folder / FIGURE)
    return found


def cell_table(rounds: Rounds, units: Mapping[str, str]) -> str:
    """CSV with a row for each cell: levels, and of each measure n, mean and the ends of the 95 % interval."""
    measures = rounds.sweep.measures
    head = [*rounds.sweep.factors]
    for measure in measures:
        head += [f"{measure.name} {what}" for what in ("n", "mean", "low", "high", "distinct", "unit")]
    rows = []
    for cell in rounds.cells:
        row = list(cell.levels.values())
        for measure in measures:
            found, values = cell.interval(measure), [each for each in cell.values[measure.name] if not math.isnan(each)]
            numbers = [_number(found.value), _number(found.low), _number(found.high)]
            row += [
                str(found.n),
                *numbers,
                str(distinct([_rounded(each) for each in values])),
                units.get(measure.name, ""),
            ]
        rows.append(row)
    return _csv(head, rows)


def trial_table(rounds: Rounds) -> str:
    """CSV with a row for each trial: file, levels, seed, values."""
    sweep = rounds.sweep
    rows = []
    for cell in rounds.cells:
        for repetition in range(1, cell.repetitions + 1):
            entry = rounds.entry(cell, repetition)
            values = [_number(cell.values[measure.name][repetition - 1]) for measure in sweep.measures]
            number = repetition if sweep.here else entry.trial.seed
            rows.append([entry.file, *cell.levels.values(), str(number), *values])
    numbered = "repetition" if sweep.here else "seed"
    return _csv(["file", *sweep.factors, numbered, *(measure.name for measure in sweep.measures)], rows)


def _csv(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    file = io.StringIO()
    written = csv.writer(file, lineterminator="\n")
    for row in (head, *rows):
        written.writerow([csv_cell(cell) for cell in row])
    return file.getvalue()


def _rounded(value: float) -> str:
    """As many digits as can differ by more than rounding (`linklab.analysis.effects.ROUNDING`)."""
    return f"{value:.9g}"


def _number(value: float) -> str:
    """All digits that tell it from others; empty where it is not known."""
    return "" if math.isnan(value) else repr(value)


# --- what matters


def findings(rounds: Rounds, units: Mapping[str, str]) -> Iterator[str]:
    """Sentences: of each measure the factor that matters most with the shares of all, and what is still uncertain.

    Args:
        rounds: with all values.
        units: of each measure, as far as they are known.
    """
    several = {factor: levels for factor, levels in rounds.sweep.factors.items() if len(levels) > 1}
    for measure in rounds.sweep.measures:
        if several:
            yield f"{measure.name}: {_of_measure(rounds, measure, list(several), units.get(measure.name, ''))}"
    if several:
        yield f"Method: {METHOD}, over all trials; levels count as names."
    for cell, measure, relative in rounds.missed():
        assert measure.until is not None
        how = "is not known" if math.isnan(relative) else f"is ±{100 * relative:.3g} %"
        yield (
            f"{cell.label}: after {cell.repetitions} repetitions the interval of {measure.name} {how}, "
            f"wider than the ±{100 * measure.until:g} % that were asked for"
        )
    for cell in rounds.cells:
        for measure in rounds.sweep.measures:
            if missing := sum(map(math.isnan, cell.values[measure.name])):
                yield f"{cell.label}: {missing} of {cell.repetitions} trials gave no {measure.name}"


def _of_measure(rounds: Rounds, measure: Measure, factors: Sequence[str], unit: str) -> str:
    trials = [(cell, value) for cell in rounds.cells for value in cell.values[measure.name]]
    levels = {factor: [cell.levels[factor] for cell, _ in trials] for factor in factors}
    found = effects(levels, [value for _, value in trials])
    if found.n < 2:
        return "too few trials gave a value to say what matters"
    first = found.factors[0]
    if math.isnan(first.share):
        return "all trials gave the same value, so no factor matters"
    shares = [f"{effect.factor} {_percent(effect.share)}" for effect in found.factors[1:]]
    shares += [f"combinations of factors {_percent(found.interactions)}"] if not math.isnan(found.interactions) else []
    shares += [f"differences between repetitions {_percent(found.chance)}"] if not math.isnan(found.chance) else []
    rest = f" ({', '.join(shares)})" if shares else ""
    if not found.most:
        return f"no factor by itself explains any of the variance{rest}"
    size = f"; its means lie between {_between(list(first.means.values()))}{f' {spelt(unit)}' if unit else ''}"
    words = "matters most, with" if len(factors) > 1 else "explains"
    return f"{first.factor} {words} {_percent(first.share)} of the variance{rest}{size}{_doubts(found)}"


def _between(means: Sequence[float]) -> str:
    """The least and the greatest, with as many digits as tell them apart by two."""
    low, high = min(means), max(means)
    apart = high - low
    decimals = min(6, max(0, 1 - math.floor(math.log10(apart)))) if apart > 0 else 2
    return f"{low:.{decimals}f} and {high:.{decimals}f}"


def _doubts(found: Effects) -> str:
    first = found.factors[0]
    said = ""
    if math.isnan(first.p):
        said += "; without repetitions nothing tells it from chance"
    elif first.p > _SMALL_P:
        said += f"; it may be chance (p = {first.p:.2g})"
    if not found.balanced:
        said += "; cells have been repeated unequally often, so shares need not add up to 100 %"
    return said


def _percent(share: float) -> str:
    """In three digits; what only rounding leaves, which differs between processors, is 0."""
    return f"{100 * round(share, 12):.3g} %"


# --- the figure


def draw(rounds: Rounds, units: Mapping[str, str], path: Path) -> None:
    """A panel for each measure over the first factor, a line for each combination of the others."""
    first, *others = rounds.sweep.factors.items()
    cells = {tuple(cell.levels.values()): cell for cell in rounds.cells}
    names = [name for name, _ in others]
    panels = []
    for measure in rounds.sweep.measures:
        lines = {}
        for rest in itertools.product(*(levels for _, levels in others)):
            found = [cells[each].interval(measure) for each in ((level, *rest) for level in first[1])]
            label = _line(dict(zip(names, rest, strict=True)))
            lines[label] = [Point(one.value, one.low, one.high) for one in found]
        unit = units.get(measure.name, "")
        panels.append(IntervalPanel(f"{measure.name} ({spelt(unit)})" if unit else measure.name, lines))
    counts = sorted({cell.repetitions for cell in rounds.cells})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    note = f"Mean and 95 % interval (Student's t) of {n} {'repetitions' if rounds.sweep.here else 'seeds'} each"
    if counts == [1]:
        note = "One run each, so no intervals are known"
    with style.context():
        style.save(draw_intervals(panels, first[0], first[1], note), path)


def _line(levels: Mapping[str, str]) -> str:
    if len(levels) == 1 and not next(iter(levels.values()))[:1].isdecimal():  # a name tells what it is, 4 does not
        return next(iter(levels.values()))
    return ", ".join(f"{factor} {level}" for factor, level in levels.items())
