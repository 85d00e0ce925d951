# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps as TOML → what is varied, what is measured, how often: `Sweep`, checked. Nothing is run here.

    test = "tcp_1up"
    path = "10mbit 50ms {buffer}"
    [factors]
    buffer = ["0.5bdp", "1bdp", "2bdp"]
    [measures.throughput]
    series = "TCP upload"

docs/tests.md describes the file; `linklab.experiment.sweep` makes trials of it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab import units
from linklab.analysis.reducers import check_reducer
from linklab.base.text import excerpt
from linklab.base.toml import Table, parse, read_text
from linklab.errors import InputError
from linklab.experiment.sweep_range import levels_of
from linklab.experiment.trial_list import MOST_ENTRIES

LEAST_WITH_UNTIL = 3
"""Repetitions before an interval may end a sweep: of two it says next to nothing."""
MOST = 30
"""Repetitions at most, where an interval decides and the file says nothing."""
OVER = ("mean", "sum", "min", "max")
"""What is made of several series that a pattern names."""
REPETITION = "repetition"
"""The place that stands for the number of the repetition."""
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OF_A_NETWORK = {"seed", "clock", "engine", "cpu"}
"""Keys that say how a network is started."""


@dataclass(frozen=True)
class Measure:
    """One number of each trial.

    series: a name or a pattern (`linklab.data.names`); of several the values are put together by `over`.
    reduce: how a series becomes a number (`linklab.analysis.reducers`).
    cutoff: seconds that count, since the beginning of the test; an end of 0 or less counts from its end. None for all.
    until: half the width of the interval over the mean that is to be reached; None where it does not matter.
    """

    name: str
    series: str
    reduce: str = "mean"
    over: str = "mean"
    cutoff: tuple[float, float] | None = None
    until: float | None = None

    @property
    def key(self) -> str:
        """What decides the number."""
        cut = "" if self.cutoff is None else f" {self.cutoff[0]:g}..{self.cutoff[1]:g}"
        return f"{self.reduce} of {self.series}, {self.over}{cut}"


@dataclass(frozen=True)
class Sweep:
    """What a sweep file says.

    test, path, topology, source, targets, parameters, before, title, note: texts in which `{factor}` stands for its
        level; in the last four also `{repetition}`, for 01, 02 and so on.
    before: commands for the network's root namespace before each test; if one fails, there is no test.
    here: it runs on the network whose terminal this is, which says what the path is.
    factors: name → levels, as text, in the order of the file; a cell is one level of each.
    repetitions: of each cell, at least; most: at most, where a measure has an `until`.
    seed: of the first repetition; the next ones count on, the same ones in each cell.
    """

    name: str
    test: str
    factors: Mapping[str, tuple[str, ...]]
    measures: tuple[Measure, ...]
    path: str = ""
    topology: str = ""
    source: str = ""
    targets: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    length: str = ""
    step_s: float | None = None
    seed: int = 1
    repetitions: int = 3
    most: int = 3
    title: str = ""
    note: str = ""
    clock: str = "virtual"
    engine: str = "pocket"
    profile: str = "desktop"
    here: bool = False

    def cells(self) -> Iterator[dict[str, str]]:
        """Every combination of levels, by factor."""
        for levels in itertools.product(*self.factors.values()):
            yield dict(zip(self.factors, levels, strict=True))


def load_sweep(path: Path, *, here: bool = False) -> Sweep:
    """Read a sweep file; `here` for one that is to run on the network whose terminal this is.

    Raises:
        InputError: it is not there, no TOML, or not a sweep; the message names the file and the key.
    """
    return read_sweep(read_text(path), str(path), here=here)


def read_sweep(text: str, where: str, *, here: bool = False) -> Sweep:
    """The sweep of a file's text; files that it names lie beside it."""
    table = parse(text, where)
    if here and (own := sorted(_OF_A_NETWORK & table.data.keys())):
        raise table.wrong(
            f'"{own[0]}": the network that runs has its own; leave the key out, or use linklab sweep on your machine'
        )
    factors = _factors(Table(table.take("factors", dict), f"{where} factors"))
    until = _share(table, "until")
    measures = _measures(Table(table.take("measures", dict), f"{where} measures"), until)
    folder = Path(where).parent
    test, topology = table.text("test"), table.text("topology", "")
    repetitions = _count(table, "repetitions", 3)
    sweep = Sweep(
        name=Path(where).stem,
        test=str(folder / test) if test.endswith(".toml") else test,
        factors=factors,
        measures=measures,
        path=table.text("path", ""),
        topology=str(folder / topology) if topology else "",
        source=table.text("from", ""),
        targets=table.texts("to"),
        parameters={key: str(value) for key, value in table.take("parameters", dict, {}).items()},
        before=table.texts("before"),
        length=table.text("length", ""),
        step_s=_time(table, "step"),
        seed=_count(table, "seed", 1, least=0),
        repetitions=repetitions,
        most=_count(table, "most", max(MOST, repetitions) if any(one.until for one in measures) else repetitions),
        title=table.text("title", ""),
        note=table.text("note", ""),
        clock=table.text("clock", "virtual"),
        engine=table.text("engine", "pocket"),
        profile=table.text("cpu", "desktop"),
        here=here,
    )
    table.end()
    _check(sweep, table)
    return sweep


def _check(sweep: Sweep, table: Table) -> None:
    if sweep.here and (sweep.path or sweep.topology):
        raise table.wrong(
            'here is only the network that runs: leave "path" and "topology" out, or use linklab sweep on your machine'
        )
    if not sweep.here and bool(sweep.path) == bool(sweep.topology):
        raise table.wrong('give either "path", such as "10mbit 50ms {qdisc}", or "topology" with "from" and "to"')
    texts = [
        sweep.test,
        sweep.path,
        sweep.topology,
        sweep.source,
        *sweep.targets,
        sweep.length,
    ]
    if REPETITION in sweep.factors:
        raise table.wrong(
            f'"{REPETITION}" cannot be the name of a factor: {{{REPETITION}}} is the number of the repetition'
        )
    of_each = [*sweep.parameters.values(), *sweep.before, sweep.title, sweep.note]
    used = {name for text in of_each for name in _PLACE.findall(text)} - {REPETITION}
    used |= {name for text in texts for name in _PLACE.findall(text)}
    for name in sorted(used - set(sweep.factors)):
        raise table.wrong(f'"{{{excerpt(name)}}}" is not a factor; the factors are {excerpt(", ".join(sweep.factors))}')
    for name in sweep.factors:
        if name not in used:
            raise table.wrong(f'the factor "{excerpt(name)}" changes nothing; write {{{name}}} where it belongs')
    if any(measure.until for measure in sweep.measures):
        if sweep.repetitions < LEAST_WITH_UNTIL:
            raise table.wrong(f'with "until", "repetitions" must be at least {LEAST_WITH_UNTIL}')
        if sweep.most < sweep.repetitions:
            raise table.wrong(f'"most" must be at least "repetitions", {sweep.repetitions}')
    elif sweep.most != sweep.repetitions:
        raise table.wrong('"most" is for sweeps with "until"; "repetitions" says how often each cell is run')
    if math.prod(map(len, sweep.factors.values())) * sweep.most > MOST_ENTRIES:
        raise table.wrong(f"it makes more than {MOST_ENTRIES} trials; leave levels out")
    for cell in sweep.cells():
        length_s(sweep, cell, table.where)


def filled(text: str, cell: Mapping[str, str]) -> str:
    """A text with the levels of a cell in their places."""
    return _PLACE.sub(lambda match: cell[match[1]], text)


def length_s(sweep: Sweep, cell: Mapping[str, str], where: str = "") -> float | None:
    """Length of the test in a cell, seconds; None for the test's own."""
    text = filled(sweep.length, cell)
    return None if not text else _seconds(text, f"{where}: length" if where else "length")


# --- its parts


def _factors(table: Table) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in list(table.data):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise table.wrong(f'"{excerpt(name)}" must be a word of letters, digits and "_", as it stands in {{…}}')
        levels = table.take(name, (list, dict))
        if isinstance(levels, dict):
            found[name] = levels_of(Table(levels, f"{table.where}.{name}"))
        else:
            table.data[name] = levels
            found[name] = table.texts(name)
        if not found[name]:
            raise table.wrong(f'"{name}" has no level')
        if len(set(found[name])) < len(found[name]):
            raise table.wrong(f'"{name}" has a level twice')
    if not found:
        raise table.wrong('there is no factor; write at least one, such as qdisc = ["pfifo", "fq_codel"]')
    return found


def _measures(table: Table, until: float | None) -> tuple[Measure, ...]:
    found = []
    for name in list(table.data):
        each = Table(table.take(name, dict), f"{table.where}.{name}")
        if not re.fullmatch(r"[\w ()/.-]{1,60}", name):
            raise table.wrong(f'"{excerpt(name)}" is no name for a measure; use letters, digits and spaces')
        series, reduce, over = each.text("series"), each.text("reduce", "mean"), each.text("over", "mean")
        try:
            check_reducer(excerpt(reduce))
        except InputError as error:
            raise each.wrong(str(error)) from error
        if over not in OVER:
            raise each.wrong(f'"over" must be {", ".join(OVER)}, not "{excerpt(over)}"')
        cutoff = _cutoff(each)
        own = until if "until" not in each.data else _share(each, "until")
        each.end()
        found.append(Measure(name, series, reduce, over, cutoff, own))
    if not found:
        raise table.wrong(
            'there is no measure; write at least one, such as [measures.throughput] series = "TCP upload"'
        )
    return tuple(found)


def _cutoff(table: Table) -> tuple[float, float] | None:
    if "from" not in table.data and "to" not in table.data:
        return None
    start, end = (
        _seconds(table.text(key, "0s"), f"{table.where}: {key}", signed=key == "to") for key in ("from", "to")
    )
    if 0 < end <= start:
        raise table.wrong('"to" must be later than "from"')
    return start, end


def _seconds(text: str, where: str, *, signed: bool = False) -> float:
    """A time; a bare number is of seconds, and a negative one counts from the end."""
    text = excerpt(text)  # a longer one is no time, and the message repeats it
    sign = -1.0 if signed and text.startswith("-") else 1.0
    bare = text.removeprefix("-") if signed else text
    try:
        return sign * units.parse_time_s(f"{bare}s" if re.fullmatch(r"[\d.]+", bare) else bare)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _time(table: Table, key: str) -> float | None:
    return _seconds(table.text(key), f"{table.where}: {key}") if key in table.data else None


def _share(table: Table, key: str) -> float | None:
    """A share from "2 %"; None where it is not given or "none"."""
    text = table.text(key, "none")
    if text == "none":
        return None
    try:
        share = units.parse_percent_frac(excerpt(text).replace(" ", ""))
    except InputError as error:
        raise table.wrong(f"{key}: {error}") from error
    if not share:
        raise table.wrong(f'"{key}" must be above 0 %')
    return share


def _count(table: Table, key: str, default: int, least: int = 1) -> int:
    value: Any = table.take(key, int, default)
    if not least <= value < 2**63:
        raise table.wrong(f'"{key}" must be a whole number from {least} on, not {value}')
    return int(value)
