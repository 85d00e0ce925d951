# SPDX-License-Identifier: BSD-3-Clause
"""A lab: `labs/NN-slug/lab.toml` with its manual, and the verdicts on what a run of it measured.

Judging is pure: scalars and outputs in, verdicts out. Messages name lab.toml and the line of the expectation. The keys
of lab.toml are in docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from linklab.base import installation, toml
from linklab.base.numbers import base_unit, digits_to_tell, format_number
from linklab.errors import InputError, LabError
from linklab.manual.model import Manual
from linklab.manual.parse import load_manual
from linklab.relation import Lookup, Relation, parse_relation
from linklab.tolerance import Tolerance, parse_tolerance
from linklab.topology import Topology

Scalars = Mapping[str, Mapping[str, tuple[float, str]]]
"""Step id → metric → (value, unit)."""

_KEYS = {
    "number": int,
    "title": str,
    "topology": str,
    "minutes": int,
    "objectives": list,
    "parts": list,
    "expect": list,
}
_EXPECT_KEYS = frozenset(
    {"step", "what", "range", "value", "within", "at_least", "at_most", "chance", "trials", "shows", "relation"}
    | {"why", "series", "hint"}
)


@dataclass(frozen=True)
class Expectation:
    """One `[[expect]]`: what a step must measure or show, or how steps relate.

    Exactly one of `tolerance` (of metric `what`), `shows` (a regular expression for the output) and `relation` is set.
    series: what the original lab measured, as text for people; `where` is "lab.toml:LINE".
    """

    step: str
    what: str
    tolerance: Tolerance | None
    shows: re.Pattern[str] | None
    relation: Relation | None
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
        return tuple(dict.fromkeys(n.step for n in self.relation.names())) if self.relation else (self.step,)


class Outcome(Enum):
    """What came of an expectation; only `PASS` earns points and only `FAIL` is the student's fault."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    SKIPPED = "skipped"
    ERROR = "error"


@dataclass(frozen=True)
class Verdict:
    """An expectation and what came of it; `measured` as a table shows it, `message` for whoever wants to know why."""

    expectation: Expectation
    outcome: Outcome
    measured: str
    message: str = ""


@dataclass(frozen=True)
class Lab:
    """A lab as its folder describes it.

    topology: file under `topologies/`; None for a lab that builds its own.
    minutes: how long a student needs.
    parts: slugs of the sections with which a part begins that a replay does beside the others, in its own network.
    """

    folder: Path
    number: int
    title: str
    topology: Path | None
    minutes: int
    objectives: tuple[str, ...]
    expectations: tuple[Expectation, ...]
    manual: Manual
    parts: tuple[str, ...] = ()

    @property
    def slug(self) -> str:
        """Name of its folder, such as "14-router-bufferbloat"."""
        return self.folder.name

    @property
    def heading(self) -> str:
        """Its full name, such as "Lab 14: Router's bufferbloat"."""
        return f"Lab {self.number}: {self.title}"

    def load_topology(self) -> Topology | None:
        """The topology, checked; TopologyError as it raises."""
        return Topology.load(self.topology) if self.topology else None


def lab_folders(root: Path | None = None) -> list[Path]:
    """The folders of all labs, in order of their numbers; relative where that is shorter, for messages.

    Raises:
        MissingError: this is not a clone.
    """
    root = root or installation.ROOT
    installation.need(root / "labs")
    here = Path.cwd()
    if here in (root, *root.parents):
        root = root.relative_to(here)
    return sorted(path.parent for path in (root / "labs").glob("[0-9][0-9]-*/lab.toml"))


def find_lab(name: str, root: Path | None = None) -> Path:
    """The folder of a lab given by number ("8", "lab8"), slug ("08-bdp-and-tcp-buffers", or its beginning) or path.

    Raises:
        LabError: there is none.
        MissingError: this is not a clone, and no path was given.
    """
    if "/" in name or (Path(name) / "lab.toml").is_file():
        if (Path(name) / "lab.toml").is_file():
            return Path(name).resolve()
        raise LabError(f"{name}: no lab.toml there")
    folders = lab_folders(root)
    number = re.fullmatch(r"(?:lab[ _-]?)?(\d+)", name.strip(), re.IGNORECASE | re.ASCII)
    for folder in folders:
        if folder.name == name or (number and int(folder.name[:2]) == int(number[1])):
            return folder
    begin_so = [folder for folder in folders if re.match(r"\d\d-", name) and folder.name.startswith(name)]
    if len(begin_so) == 1:
        return begin_so[0]
    known = ", ".join(str(int(folder.name[:2])) for folder in folders) or "none"
    raise LabError(f'there is no lab "{name}"; I have {known}')


def load_lab(folder: Path) -> Lab:
    """Read lab.toml, the manual and, for the names of the nodes, the topology.

    Raises:
        LabError: lab.toml is missing or wrong, or names a step that the manual does not have.
        ManualError, TopologyError: as their readers raise them.
    """
    path = folder / "lab.toml"
    try:
        text = path.read_text(encoding="utf-8")
        table = toml.loads(text)
    except FileNotFoundError:
        raise LabError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise LabError(f"{path}: {error}") from error
    _check_keys(table, path)
    topology = folder.parent.parent / "topologies" / table["topology"] if "topology" in table else None
    nodes = [node.name for node in Topology.load(topology).nodes] if topology else None
    manual = load_manual(folder / "manual.md", nodes)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[expect\]\]", line)]
    expectations = [
        _expectation(expect, f"{path}:{line}")
        for expect, line in zip(table.get("expect", []), [*lines, *[1] * len(table.get("expect", []))], strict=False)
    ]
    for expectation in expectations:
        for step in expectation.steps:
            if manual.step(step) is None:
                known = ", ".join(step.id for step in manual.steps if not step.id.startswith("step-"))
                raise LabError(f'{expectation.where}: the manual has no step "{step}"; it has {known or "none"}')
    return Lab(
        folder=folder,
        number=table["number"],
        title=table["title"],
        topology=topology,
        minutes=table.get("minutes", 0),
        objectives=tuple(table.get("objectives", [])),
        expectations=tuple(expectations),
        manual=manual,
        parts=tuple(table.get("parts", [])),
    )


def judge(
    expectations: tuple[Expectation, ...], scalars: Scalars, outputs: Mapping[str, str], broken: Mapping[str, str]
) -> list[Verdict]:
    """A verdict for each expectation.

    Args:
        expectations: of the lab.
        scalars: what was measured, by step.
        outputs: terminal output of each step that was done; a step that is not here counts as not done.
        broken: steps whose output could not be measured, with the reason.
    """
    return [_judge(expectation, scalars, outputs, broken) for expectation in expectations]


def _judge(
    expectation: Expectation, scalars: Scalars, outputs: Mapping[str, str], broken: Mapping[str, str]
) -> Verdict:
    missing = [step for step in expectation.steps if step not in outputs]
    if missing:
        return Verdict(expectation, Outcome.SKIPPED, "", f"skipped (needs {', '.join(missing)})")
    if expectation.shows:
        found = expectation.shows.search(outputs[expectation.step])
        outcome = Outcome.PASS if found else Outcome.FAIL
        return Verdict(expectation, outcome, found[0] if found else "not shown", "" if found else _story(expectation))

    def lookup(step: str, metric: str) -> float:
        try:
            return scalars[step][metric][0]
        except KeyError:
            why = broken.get(step, f"it has {', '.join(sorted(scalars.get(step, {}))) or 'no measurement'}")
            raise LabError(f"{expectation.where}: step {step} gave no {metric}: {why}") from None

    try:
        return _measured(expectation, lookup, scalars)
    except (LabError, ZeroDivisionError) as error:
        return Verdict(expectation, Outcome.ERROR, "", str(error))


def _measured(expectation: Expectation, lookup: Lookup, scalars: Scalars) -> Verdict:
    if expectation.relation:
        _check_units(expectation, expectation.relation, scalars)
        holds, left, right = expectation.relation.evaluate(lookup)
        left_shown, right_shown = _both(expectation.relation, left, right, scalars)
        shown = f"{left_shown} {'' if holds else 'not '}{expectation.relation.sign} {right_shown}"
        story = "" if holds else _story(expectation, shown)
        return Verdict(expectation, Outcome.PASS if holds else Outcome.FAIL, shown, story)
    tolerance = expectation.tolerance
    if tolerance is None:
        raise LabError(f"{expectation.where}: nothing to judge by")
    value = lookup(expectation.step, expectation.what)
    unit = scalars[expectation.step][expectation.what][1]
    if base_unit(unit) != tolerance.unit:
        raise LabError(f"{expectation.where}: {expectation.what} is in {unit}, not in {tolerance.unit}")
    fits = value in tolerance
    digits = digits_to_tell(lambda count: (float(f"{value:.{count - 1}e}") in tolerance) == fits)
    shown = format_number(value, unit, significant=digits)
    story = "" if fits else _story(expectation, shown)
    return Verdict(expectation, Outcome.PASS if fits else Outcome.FAIL, shown, story)


def _check_units(expectation: Expectation, relation: Relation, scalars: Scalars) -> None:
    """LabError with its place where different units are compared; one that was not measured is told of later."""
    known = {(step, metric): unit for step, found in scalars.items() for metric, (_, unit) in found.items()}
    if all((name.step, name.metric) in known for name in relation.names()):
        try:
            relation.check_units(lambda step, metric: known[step, metric])
        except InputError as error:
            raise LabError(f"{expectation.where}: {error}") from error


def _story(expectation: Expectation, saw: str = "") -> str:
    shows = f"/{expectation.shows.pattern}/" if expectation.shows else expectation.what
    what = expectation.relation.text if expectation.relation else f"{expectation.step} {shows}"
    seen = f", saw {saw}" if saw else ""
    hint = f" {expectation.hint}" if expectation.hint else ""
    return f"{what}: expected {expectation.expected} ({expectation.why}){seen}.{hint}"


def _both(relation: Relation, left: float, right: float, scalars: Scalars) -> tuple[str, str]:
    """Both sides, with as many digits as tell them apart.

    They have the unit that the arithmetic gives; of a ratio, or of a product of units, the bare numbers are shown.
    """
    powers = relation.left.dimension(lambda step, metric: scalars[step][metric][1])
    unit: str | None = None
    if not powers and "/" not in relation.text:
        unit = ""
    elif list(powers.values()) == [1]:
        unit = next(iter(powers))

    def written(digits: int) -> tuple[str, str]:
        if unit is None:
            return f"{left:.{digits + 1}g}", f"{right:.{digits + 1}g}"
        return format_number(left, unit, significant=digits), format_number(right, unit, significant=digits)

    return written(digits_to_tell(lambda digits: len(set(written(digits))) > 1))


def _check_keys(table: Mapping[str, Any], path: Path) -> None:
    for key, value in table.items():
        if key not in _KEYS:
            raise LabError(f'{path}: unknown key "{key}"; I know {", ".join(_KEYS)}')
        if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
            raise LabError(f"{path}: {key} must be of type {_KEYS[key].__name__}, not {type(value).__name__}")
    for key in ("number", "title"):
        if key not in table:
            raise LabError(f'{path}: "{key}" is missing')
    for key, kind in (("objectives", "sentences"), ("parts", "names of sections")):
        if not all(isinstance(item, str) for item in table.get(key, [])):
            raise LabError(f"{path}: {key} is a list of {kind}")


def _expectation(table: object, where: str) -> Expectation:
    if not isinstance(table, dict):
        raise LabError(f"{where}: write expectations as [[expect]] tables")
    for key in table:
        if key not in _EXPECT_KEYS:
            raise LabError(f'{where}: unknown key "{key}"; I know {", ".join(sorted(_EXPECT_KEYS))}')
    text = {key: table.get(key, "") for key in ("step", "what", "why", "series", "hint", "relation", "shows")}
    for key, value in text.items():
        if not isinstance(value, str):
            raise LabError(f"{where}: {key} must be text")
    if not text["why"]:
        raise LabError(f"{where}: every expectation needs its why")
    tolerance, relation, shows = None, None, None
    try:
        if text["relation"]:
            relation = parse_relation(text["relation"])
        elif not text["step"]:
            raise LabError("give step, or relation")
        elif text["shows"]:
            shows = re.compile(text["shows"], re.MULTILINE)
        elif not text["what"]:
            raise LabError("give what, the name of a measurement, or shows")
        else:
            tolerance = parse_tolerance(table, text["why"])
    except (InputError, re.error) as error:
        raise LabError(f"{where}: {error}") from error
    fields = {key: text[key] for key in ("step", "what", "why", "series", "hint")}
    return Expectation(tolerance=tolerance, shows=shows, relation=relation, where=where, **fields)
