# SPDX-License-Identifier: BSD-3-Clause
"""What chance does to a lab's figures: `labs/NN-slug/seeds.toml`, the value of each for every seed that was run.

`tools/seeds.py` writes it, and nobody edits it; ranges of lab.toml are checked against it and proposed from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base import toml
from linklab.errors import InputError, LabError
from linklab.judge.expectation import Expectation, Observed, Scalars, verdicts_on
from linklab.judge.language import names
from linklab.judge.parser import parse
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.reference import replayed

FILE = "seeds.toml"
DIGITS = 6
"""Significant digits that are kept of a value."""


@dataclass(frozen=True)
class Spread:
    """The figures of a lab over seeds.

    kernel: digest of the kernel; steps: digest of what was replayed (`linklab.lab.reference.replayed`).
    runs: by seed what each step measured, of the metrics that expectations name.
    """

    kernel: str
    steps: str
    runs: Mapping[int, Scalars]

    def values(self, step: str, metric: str) -> list[float]:
        """A metric's values, in the order of the seeds; those of runs that lack it are left out."""
        return [run[step][metric][0] for run in self.runs.values() if metric in run.get(step, {})]


def metrics_of(expectations: Sequence[Expectation]) -> list[tuple[str, str]]:
    """The (step, metric) that expectations name, in their order."""
    found = []
    for expectation in expectations:
        if expectation.relation:
            found += [name.partition(".")[::2] for name in sorted(names(parse(expectation.relation)))]
        elif expectation.what:
            found.append((expectation.step, expectation.what))
    return list(dict.fromkeys(found))


def dumped(lab: Lab, kernel: str, runs: Mapping[int, Scalars]) -> str:
    """The text of the file."""
    lines = [
        "# Written by tools/seeds.py; do not edit. A figure's values are those of the seeds, in their order.",
        f'kernel = "{kernel}"',
        f'steps = "{replayed(lab)}"',
        f"seeds = {sorted(runs)}",
    ]
    for step, metric in metrics_of(lab.expectations):
        found = [runs[seed].get(step, {}).get(metric) for seed in sorted(runs)]
        unit = next((one[1] for one in found if one), "")
        values = ", ".join("nan" if one is None else _written(one[0]) for one in found)
        lines += ["", "[[figure]]", f'step = "{step}"', f'metric = "{metric}"', f'unit = "{unit}"']
        lines.append(f"values = [{values}]")
    return "\n".join(lines) + "\n"


def _written(value: float) -> str:
    text = f"{value:.{DIGITS}g}"
    return str(int(float(text))) if float(text).is_integer() and abs(value) < 1e15 else text


def load_spread(lab: Lab) -> Spread | None:
    """The table of a lab, None where it has none.

    Raises:
        LabError: it cannot be read.
    """
    path = lab.folder / FILE
    if not path.is_file():
        return None
    try:
        return _spread(toml.parse(toml.read_text(path), str(path)))
    except InputError as error:
        raise LabError(f"{error}; write it anew with tools/seeds.py") from error


def _spread(table: toml.Table) -> Spread:
    kernel, steps, seeds = table.take("kernel", str), table.take("steps", str), table.take("seeds", list)
    runs: dict[int, dict[str, dict[str, tuple[float, str]]]] = {int(seed): {} for seed in seeds}
    for figure in table.tables("figure"):
        step, metric, unit = (figure.take(key, str) for key in ("step", "metric", "unit"))
        values = figure.take("values", list)
        figure.end()
        if len(values) != len(runs):
            raise figure.wrong(f"{len(values)} values for {len(runs)} seeds")
        for run, value in zip(runs.values(), values, strict=True):
            if not math.isnan(value):
                run.setdefault(step, {})[metric] = (float(value), unit)
    table.end()
    return Spread(kernel, steps, runs)


def stale(lab: Lab, spread: Spread) -> str:
    """Why the table does not tell what the lab would measure now, "" if it does."""
    if spread.steps != replayed(lab):
        return "it was made of other steps"
    known = {(step, metric) for run in spread.runs.values() for step, found in run.items() for metric in found}
    missing = [f"{step} {metric}" for step, metric in metrics_of(lab.expectations) if (step, metric) not in known]
    return f"it lacks {', '.join(missing)}" if missing else ""


def seed_problems(lab: Lab) -> list[str]:
    """The seeds that miss an expectation of lab.toml, or lack what it needs; "FILE:LINE: …" each.

    A table of other steps has none.
    """
    spread = load_spread(lab)
    if spread is None or spread.steps != replayed(lab):
        return []
    figures = [expectation for expectation in lab.expectations if not expectation.shows]
    outputs = {step.id: "" for step in lab.manual.steps}
    found = []
    for seed, run in spread.runs.items():
        for verdict in verdicts_on(figures, [Observed(run, outputs)]):
            where = verdict.expectation.where
            if verdict.outcome is Outcome.FAIL:
                found.append(f"{where}: seed {seed} misses it: {verdict.story}")
            elif verdict.outcome is Outcome.ERROR:
                found.append(f"{where}: seed {seed} cannot be judged: {verdict.story.removeprefix(f'{where}: ')}")
    return found


def path_of(lab: Lab) -> Path:
    """Where a lab's table is."""
    return lab.folder / FILE
