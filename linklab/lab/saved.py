# SPDX-License-Identifier: BSD-3-Clause
"""A finished run as it lies in its folder: `run.json`, the output of each step and the data sets.

Reads files and nothing else, so that a run of years ago, or of another machine, can be reported, drawn and compared.
Layout of the folder: docs/writing-a-lab.md, "What a run leaves".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from linklab.base.json_words import why_not_json
from linklab.base.text import excerpt
from linklab.data import Dataset, open_file
from linklab.errors import DataError
from linklab.judge.expectation import Observed, Scalars
from linklab.judge.verdict import Outcome

FORMAT = 2
"""Of run.json; raised when a reader of the old one would misread the new one."""


@dataclass(frozen=True)
class SavedStep:
    """What one step left.

    exit_status: None where there is none.
    start_s, end_s: network time, running on over the networks of a lab.
    files: paths below `files/` that the step wrote.
    data_file: path of its data set below the run's folder, "" where it measured nothing.
    not_measured: why its output could not be measured, "" where it could.
    """

    id: str
    title: str
    terminal: str
    typed: str
    output: str
    exit_status: int | None
    start_s: float
    end_s: float
    files: tuple[str, ...]
    data_file: str
    not_measured: str


@dataclass(frozen=True)
class SavedVerdict:
    """An expectation in words, and what came of it; `steps` are those that it speaks of."""

    step: str
    what: str
    outcome: Outcome
    measured: str
    expected: str
    series: str
    why: str
    message: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class SavedComputing:
    """See `linklab.engine.api.Computed`; network time since the run began."""

    program: str
    from_s: float
    lasted_s: float


@dataclass(frozen=True)
class SavedRun:
    """A whole run.

    section: the one that was replayed, None for all.
    settings_only: settings were read back and nothing else was judged.
    replayed: digest of what was done, as `linklab.lab.reference.replayed` gives it.
    network_s, wall_s: how long it took on the network's clock and on the wall.
    steps: by id, in the order in which they were done.
    scalars: step → metric → (value, unit), in the order in which the steps ended.
    unclaimed: paths below `files/` of which nobody knows which step wrote them.
    machine: the processor and the SHA-256 of the kernel it was made with; {} for a run of an older Linklab.
    computed: programs for which network time followed the processor's, earliest first; from the first on, the run
        cannot be repeated.
    """

    folder: Path
    lab: int
    slug: str
    title: str
    section: str | None
    settings_only: bool
    replayed: str
    seed: int
    clock: str
    profile: str
    network_s: float
    wall_s: float
    environment: Mapping[str, Any]
    steps: Mapping[str, SavedStep]
    scalars: Scalars
    unclaimed: tuple[str, ...]
    verdicts: tuple[SavedVerdict, ...]
    machine: Mapping[str, Any] = field(default_factory=dict)
    computed: tuple[SavedComputing, ...] = ()

    @property
    def not_repeatable(self) -> str:
        """A sentence on why the same seed may give another run; "" if no program computed for too long."""
        if not self.computed:
            return ""
        programs = {one.program: 0.0 for one in self.computed}
        for one in self.computed:
            programs[one.program] += one.lasted_s
        least_s = max(programs.values()) / 10  # others only happened to run meanwhile
        what = ", ".join(f"{name} {lasted_s:.1f} s" for name, lasted_s in programs.items() if lasted_s >= least_s)
        return (
            f"From {self.computed[0].from_s:.1f} s on this run cannot be repeated: "
            f"a program computed so long that network time had to go on without it ({what})."
        )

    @property
    def heading(self) -> str:
        """The full name of its lab, such as "Lab 14: Router's bufferbloat"."""
        return f"Lab {self.lab}: {self.title}"

    @property
    def outputs(self) -> dict[str, str]:
        """What each step showed."""
        return {step.id: step.output for step in self.steps.values()}

    @property
    def broken(self) -> dict[str, str]:
        """Steps whose output could not be measured, with the reason."""
        return {step.id: step.not_measured for step in self.steps.values() if step.not_measured}

    @property
    def observed(self) -> Observed:
        """What expectations are judged by."""
        return Observed(self.scalars, self.outputs, self.broken)

    def data(self, step: str) -> Dataset:
        """What a step measured.

        Raises:
            DataError: there is no such step, it measured nothing, or its file cannot be read.
        """
        if step not in self.steps:
            raise DataError(f'{self.folder}: there is no step "{step}"; there is {", ".join(self.steps) or "none"}')
        if not self.steps[step].data_file:
            raise DataError(f"{self.folder}: step {step} measured nothing to draw")
        return open_file(self.folder / self.steps[step].data_file)


def load_run(folder: Path | str) -> SavedRun:
    """Read the folder of a run; text is as a person gave it.

    Raises:
        DataError: there is no whole run in it, or one of another format; the message says which file is wrong.
    """
    if folder == "":
        raise DataError("the folder of the run is empty text; give a folder that linklab run has left")
    folder = Path(folder)
    path = folder / "run.json"
    if not folder.is_dir():
        what = "this is not a folder" if folder.exists() else "there is no such folder"
        raise DataError(f"{folder}: {what}; give a folder that linklab run has left")
    if not path.is_file():
        why = "it broke off, or goes on" if (folder / "incomplete.json").is_file() else "it has no run.json"
        raise DataError(f"{folder}: this is no whole run: {why}; give a folder that linklab run has left")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if (kind := found["format"]) != FORMAT:
            age, cure = ("an older", "replay the lab") if kind < FORMAT else ("a newer", "use that Linklab")
            raise DataError(f"{path}: this run is of {age} Linklab (format {kind}, I read {FORMAT}); {cure}")
        steps = [_step(folder, step) for step in found["steps"]]
        return SavedRun(
            folder=folder,
            lab=_whole(found, "lab"),
            slug=_text(found, "slug"),
            title=_text(found, "title"),
            section=None if found["section"] is None else _text(found, "section"),
            settings_only=bool(found["settings_only"]),
            replayed=_text(found, "replayed"),
            seed=_whole(found, "seed"),
            clock=_text(found, "clock"),
            profile=_text(found, "profile"),
            network_s=_number(found, "network_s"),
            wall_s=_number(found, "wall_s"),
            environment=dict(found["environment"]),
            steps={step.id: step for step in steps},
            scalars=_scalars(found["steps"], found["measured"]),
            unclaimed=tuple(str(name) for name in found["unclaimed"]),
            verdicts=tuple(_verdict(verdict) for verdict in found["verdicts"]),
            machine=dict(found.get("machine", {})),
            computed=tuple(_computing(one) for one in found.get("computed", [])),
        )
    except KeyError as error:
        raise DataError(f"{path}: it has no {excerpt(str(error))}") from error
    except json.JSONDecodeError as error:
        cure = "copy the run again, or replay the lab"
        raise DataError(f"{path}:{error.lineno}: cannot be read: {why_not_json(error)}; {cure}") from error
    except OSError as error:
        name = error.filename or path
        raise DataError(f"{path}: cannot be read: {name}: {error.strerror}; copy the run again") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {excerpt(str(error))}") from error


def _step(folder: Path, found: Mapping[str, Any]) -> SavedStep:
    return SavedStep(
        id=_text(found, "step"),
        title=_text(found, "title"),
        terminal=_text(found, "terminal"),
        typed=_text(found, "typed"),
        # as bytes: what a terminal showed may hold carriage returns, which read_text would change
        output=(folder / _below(found, "output_file")).read_bytes().decode("utf-8"),
        exit_status=None if found["exit_status"] is None else _whole(found, "exit_status"),
        start_s=_number(found, "start_s"),
        end_s=_number(found, "end_s"),
        files=tuple(str(name) for name in found["files"]),
        data_file=_below(found, "data_file") if found["data_file"] else "",
        not_measured=str(found.get("not_measured", "")),
    )


def _computing(found: Mapping[str, Any]) -> SavedComputing:
    return SavedComputing(_text(found, "program"), _number(found, "from_s"), _number(found, "lasted_s"))


def _verdict(found: Mapping[str, Any]) -> SavedVerdict:
    words = {key: _text(found, key) for key in ("step", "what", "measured", "expected", "series", "why", "message")}
    return SavedVerdict(**words, outcome=Outcome(found["outcome"]), steps=tuple(map(str, found["steps"])))


def _scalars(steps: Sequence[Mapping[str, Any]], measured: Sequence[str]) -> Scalars:
    found = {step["step"]: step["scalars"] for step in steps}
    return {
        step: {name: (_number(scalar, "value"), _text(scalar, "unit")) for name, scalar in found[step].items()}
        for step in measured
        if found[step]
    }


def _below(found: Mapping[str, Any], key: str) -> str:
    """A path that stays below the folder of the run, wherever the run is from."""
    path = PurePosixPath(_text(found, key))
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{key} {path} leads out of the folder of the run")
    return str(path)


def _text(found: Mapping[str, Any], key: str) -> str:
    if not isinstance(found[key], str):
        raise ValueError(f"{key} must be text, not {found[key]!r:.40}")
    return str(found[key])


def _whole(found: Mapping[str, Any], key: str) -> int:
    if not isinstance(found[key], int) or isinstance(found[key], bool):
        raise ValueError(f"{key} must be a whole number, not {found[key]!r:.40}")
    return int(found[key])


def _number(found: Mapping[str, Any], key: str) -> float:
    value = found[key]
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{key} must be a number, not {value!r:.40}")
    return float(value)
