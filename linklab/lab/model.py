# SPDX-License-Identifier: BSD-3-Clause
"""A lab: `labs/NN-slug/lab.toml` with its manual and what is expected of a run of it.

Messages name lab.toml and, for an expectation, its line. The keys of lab.toml are in docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base import installation, toml
from linklab.base.text import excerpt
from linklab.errors import InputError, LabError, ManualError, TopologyError
from linklab.judge.expectation import Expectation, read_expectation
from linklab.manual.model import Manual, PredictionAnswer
from linklab.manual.parse import load_manual
from linklab.manual.predict import load_answers
from linklab.topology import Topology

LONGEST_NAME = 255
"""Bytes of a file's name (NAME_MAX in limits.h)."""

MOST_WORDS = 600
"""Letters of a message, which may quote from the file."""


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

    @property
    def answers_path(self) -> Path:
        """The instructor's answers, which a lab may lack."""
        return self.folder / "answers.md"

    def load_answers(self) -> Mapping[str, PredictionAnswer]:
        """The answers to the manual's predictions by their ids; ManualError as `load_answers`."""
        return load_answers(self.answers_path)

    def load_topology(self) -> Topology | None:
        """The topology, checked; TopologyError as it raises."""
        return Topology.load(self.topology) if self.topology else None


@dataclass(frozen=True)
class LabCard:
    """What a list of labs shows of one."""

    folder: Path
    number: int
    title: str
    minutes: int


def load_card(folder: Path) -> LabCard:
    """Read the head of lab.toml alone, which takes a hundredth of the time of `load_lab`; LabError as that."""
    path = folder / "lab.toml"
    try:
        table = toml.parse(toml.read_text(path), str(path))
        return LabCard(folder, table.take("number", int), table.take("title", str), table.take("minutes", int, 0))
    except InputError as error:
        raise LabError(excerpt(str(error), MOST_WORDS)) from error


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
        text = toml.read_text(path)
        lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[expect\]\]", line)]
        return _lab(toml.parse(text, str(path)), folder, lines)
    except (LabError, ManualError, TopologyError):
        raise
    except InputError as error:
        raise LabError(excerpt(str(error), MOST_WORDS)) from error


def _lab(table: toml.Table, folder: Path, lines: Sequence[int]) -> Lab:
    """The lab of a table; `lines` are those at which its `[[expect]]` tables begin."""
    number, title = table.take("number", int), table.take("title", str)
    drawing = table.take("topology", str, "")
    minutes, objectives, parts = table.take("minutes", int, 0), table.texts("objectives"), table.texts("parts")
    tables = table.tables("expect")
    table.end()
    for expect, line in zip(tables, [*lines, *[1] * len(tables)], strict=False):
        expect.where = f"{table.where}:{line}"
    if not drawing.isprintable() or len(drawing) > LONGEST_NAME:
        raise LabError(f'{folder / "lab.toml"}: "topology" must be the name of a file, not "{excerpt(drawing)}"')
    topology = folder.parent.parent / "topologies" / drawing if drawing else None
    nodes = [node.name for node in Topology.load(topology).nodes] if topology else None
    manual = load_manual(folder / "manual.md", nodes)
    expectations = tuple(map(read_expectation, tables))
    _check_steps(expectations, manual)
    return Lab(folder, number, title, topology, minutes, objectives, expectations, manual, parts)


def _check_steps(expectations: Sequence[Expectation], manual: Manual) -> None:
    for expectation in expectations:
        for step in expectation.steps:
            if manual.step(step) is None:
                known = ", ".join(step.id for step in manual.steps if not step.id.startswith("step-")) or "none"
                raise LabError(f'{expectation.where}: the manual has no step "{excerpt(step)}"; it has {known}')
