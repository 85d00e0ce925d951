# SPDX-License-Identifier: BSD-3-Clause
"""Does steps of a lab on its networks, in order, and measures what each showed as soon as it has ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from linklab.base.finish import Prompt
from linklab.data import Dataset, save
from linklab.engine.api import Computed, Engine
from linklab.errors import DataError
from linklab.judge.expectation import ExpectationVerdict
from linklab.lab.model import Lab
from linklab.manual.model import Commands, Manual, Step
from linklab.manual.parse import groups
from linklab.measure import Measurements, measure, merge
from linklab.run import campaign_tables, sweep_tables
from linklab.run.campaign_tables import is_campaign_table, measure_campaign_table
from linklab.run.data_files import JOURNAL, is_data_file, measure_data_file
from linklab.run.stage import Capture, RunSettings, Stage
from linklab.run.sweep_tables import is_sweep_table, measure_sweep_table

_TABLES = (sweep_tables.TABLE, campaign_tables.TABLE)
_MEASURED_FILES = {".json", ".jsonl", ".txt", ".log", ".out", ".pcap", ".pcapng"}


class Narrator(Protocol):
    """Whoever tells the person how far the run is."""

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        """These steps are about to be done."""
        ...

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        """They are done."""
        ...


@dataclass
class Replayed:
    """What steps gave.

    measured: what each step measured that measured something, in the order in which they ended.
    broken: steps whose output could not be measured, with the reason.
    unclaimed: files below the working folder of which nobody knows which step wrote them.
    read_back: what came of looking at the settings, where nothing else is judged.
    network_s: how long they took on the network's clock.
    computed: programs for which network time followed the processor's, in network time since the run began.
    """

    environment: Mapping[str, Any] = field(default_factory=dict)
    captures: dict[str, Capture] = field(default_factory=dict)
    measured: dict[str, Dataset] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    read_back: list[ExpectationVerdict] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    network_s: float = 0.0
    computed: list[Computed] = field(default_factory=list)


@dataclass(frozen=True)
class Scene:
    """What is replayed, on what, and how."""

    lab: Lab
    engine: Engine
    settings: RunSettings


def replay(
    scene: Scene, steps: Sequence[Step], out: Path, narrator: Narrator, note: Callable[[Sequence[Step]], None]
) -> Replayed:
    """Do `steps`, leaving files and outputs in `out`; `note` is told of each group before it is typed.

    Raises:
        LinklabError: as the engine and the steps raise it.
    """
    done = Replayed()
    with Stage(scene.lab, scene.engine, scene.settings, out / "files") as stage:
        for group in groups(steps):
            note(group)
            narrator.begin(group, stage.now_s())
            finished = stage.perform(group)
            save_outputs(stage.captures, out)
            # At once: a later step may write the same files again.
            measure_captures(scene, stage, finished, done)
            save_data(stage.captures, {c.step: done.measured[c.step] for c in finished if c.step in done.measured}, out)
            if scene.settings.settings_only:
                done.read_back += stage.read_back(group)
            narrator.end(finished, stage.now_s())
        done.network_s = stage.now_s()
    done.environment, done.captures, done.unclaimed = stage.environment, stage.captures, stage.unclaimed
    done.computed = stage.computed
    return done


def measure_captures(scene: Scene, stage: Stage, captures: Sequence[Capture], done: Replayed) -> None:
    """Add what finished steps measured to `done.measured`, or why it could not be read to `done.broken`."""
    for capture in captures:
        try:
            measured = measure_step(scene.lab.manual, capture, stage.files)
            if measured.scalars or measured.series:
                step = scene.lab.manual.step(capture.step)
                title = f"{scene.lab.heading}: {step.title if step and step.title else capture.step}"
                done.measured[capture.step] = Dataset.of(measured, _known(scene, stage, capture), title)
        except DataError as error:
            done.broken[capture.step] = str(error)


def _known(scene: Scene, stage: Stage, capture: Capture) -> dict[str, Any]:
    """What a step's data set says of how it came about."""
    return {
        "lab": scene.lab.number,
        "slug": scene.lab.slug,
        "step": capture.step,
        "terminal": capture.terminal,
        "commands": capture.typed.splitlines(),
        "start_s": capture.start_s,
        "end_s": capture.end_s,
        "clock": scene.settings.clock.value,
        "seed": scene.settings.seed,
        "profile": scene.settings.profile,
        "environment": dict(stage.environment),
    }


def scalars_of(measured: Mapping[str, Dataset]) -> dict[str, dict[str, tuple[float, str]]]:
    """The scalars of each step that measured some."""
    return {
        step: {name: (quantity.value, quantity.unit) for name, quantity in found.scalars.items()}
        for step, found in measured.items()
        if found.scalars
    }


def measure_step(manual: Manual, capture: Capture, files: Path) -> Measurements:
    """What one step measured, with the names of files as they are below `files`; DataError as `measure` raises it.

    What a stopped command printed counts for the step that started it, not for the one that stopped it.
    """
    step = manual.step(capture.step)
    if step is None or not isinstance(step.action, Commands):
        return Measurements(source=f"step {capture.step}")
    stopped = not isinstance(step.action.finish, Prompt)
    return measure_output(capture.output, capture.files, files, f"step {capture.step}", partial=stopped)


def measure_output(output: str, names: Sequence[str], files: Path, source: str, *, partial: bool) -> Measurements:
    """What the output of a command and the files that it wrote measured.

    Args:
        output: of its terminal.
        names: of the files, below `files`.
        files: the working folder.
        source: where it is from, for messages.
        partial: take what a killed or failed program measured up to then.

    Raises:
        DataError: as `measure` raises it.
    """
    if tables := [files / name for name in names if is_sweep_table(files / name)]:
        # what a sweep prints and writes beside its tables says the same, in words that other tools use, too
        return _below(files, merge(map(measure_sweep_table, tables), source))
    if tables := [files / name for name in names if is_campaign_table(files / name)]:
        return _below(files, merge(map(measure_campaign_table, tables), source))
    paths = [files / name for name in names if _holds_output(Path(name))]
    found = measure(output, paths, source, partial=partial)
    tests = [measure_data_file(files / name) for name in names if is_data_file(name)]
    if tests:
        found = merge([found, *tests] if found.tool else tests, source)
    return _below(files, found)


def is_read(name: str) -> bool:
    """Whether `measure_output` may look into a file of this name."""
    path = Path(name)
    return _holds_output(path) or is_data_file(name) or path.name in _TABLES


def _holds_output(path: Path) -> bool:
    return path.suffix in _MEASURED_FILES and path.name != JOURNAL


def _below(files: Path, measured: Measurements) -> Measurements:
    """With sources and notes that name no folder of this machine, so that the same run gives the same data set."""
    folder = f"{files}/"
    series = {name: replace(one, source=one.source.removeprefix(folder)) for name, one in measured.series.items()}
    return replace(measured, series=series, notes=tuple(note.replace(folder, "") for note in measured.notes))


def output_name(captures: Mapping[str, Capture], step: str) -> str:
    """A step's file with what it showed, such as "steps/07-bulk.txt"."""
    return f"steps/{list(captures).index(step) + 1:02d}-{step}.txt"


def data_name(captures: Mapping[str, Capture], step: str) -> str:
    """A step's file with what it measured, such as "data/07-bulk.flent.gz"."""
    return f"data/{list(captures).index(step) + 1:02d}-{step}.flent.gz"


def save_outputs(captures: Mapping[str, Capture], out: Path) -> None:
    """Write the outputs that are new or longer than before to `out`/steps."""
    (out / "steps").mkdir(exist_ok=True)
    for step, capture in captures.items():
        path = out / output_name(captures, step)
        output = capture.output.encode("utf-8", "backslashreplace")  # a file name in it may be no UTF-8
        if not path.exists() or path.stat().st_size != len(output):
            path.write_bytes(output)


def save_data(captures: Mapping[str, Capture], measured: Mapping[str, Dataset], out: Path) -> None:
    """Write what steps measured to `out`/data."""
    for step, data in measured.items():
        save(data, out / data_name(captures, step))
