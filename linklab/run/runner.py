# SPDX-License-Identifier: BSD-3-Clause
"""Replays a lab: manual and network in, a folder with everything it showed and a verdict on each expectation out.

The network's side is `linklab.run.stage`, the judging `linklab.judge.expectation`. `run.json` is written last and only
for a whole run; until then there is `incomplete.json`, which says who is at it, or why the run broke off. Layout of the
folder: docs/writing-a-lab.md, "What a run leaves".
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from linklab.base import claims, installation
from linklab.base.files import write_json
from linklab.engine import machine
from linklab.engine.api import Engine
from linklab.errors import LinklabError, MissingError
from linklab.judge.expectation import ExpectationVerdict, Observed, verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.reference import replayed
from linklab.lab.saved import FORMAT, SavedRun, SavedVerdict, load_run
from linklab.lab.sections import chosen_steps, parts_of
from linklab.manual.model import Step
from linklab.run.compare import in_words
from linklab.run.replay import Narrator, Replayed, Scene, data_name, output_name, replay, scalars_of
from linklab.run.sections import replay_parts
from linklab.run.stage import Capture, RunSettings

FREE_BYTES = 200 * 2**20
"""Room that a run may need: results, plots and queue samples of the largest lab take a tenth of it."""


def run_lab(
    lab: Lab, engine: Engine, settings: RunSettings, out: Path, narrator: Narrator, *, section: str | None = None
) -> SavedRun:
    """Replay a lab, or one section of it after the settings of those before.

    Raises:
        LinklabError: InputError where the folder is in use; as preflight, the engine and the steps raise it. Once the
            folder is taken it then holds `incomplete.json`.
    """
    started = time.perf_counter()
    parts = parts_of(lab) if section is None else [chosen_steps(lab.manual, section)]
    preflight(lab, engine, out)
    scene = Scene(lab, engine, settings)
    with _incomplete_unless_whole(lab, settings, out) as note:
        if len(parts) == 1:
            done = replay(scene, parts[0], out, narrator, note)
        else:
            done = replay_parts(scene, parts, out, narrator, note)
        outputs = {step: capture.output for step, capture in done.captures.items()}
        verdicts = verdicts_on(lab.expectations, [Observed(scalars_of(done.measured), outputs, done.broken)])
        if settings.settings_only:
            verdicts = [*done.read_back, *map(not_judged, verdicts)]
        wall_s = time.perf_counter() - started
        write_json(out / "run.json", _run_data(scene, section, done, verdicts, wall_s))
        (out / "incomplete.json").unlink(missing_ok=True)
    return load_run(out)


def not_judged(verdict: ExpectationVerdict) -> ExpectationVerdict:
    """The same expectation, skipped; what was measured is still told."""
    return replace(verdict, outcome=Outcome.SKIPPED, story="skipped (only settings are judged)")


def preflight(lab: Lab, engine: Engine, out: Path) -> None:
    """Fail before anything is made: the topology can be read, the engine can start, there is room for the folder.

    Raises:
        LinklabError: TopologyError, MissingError for a kernel, a tool or a full disk.
    """
    lab.load_topology()
    engine.check()
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < FREE_BYTES:
        raise MissingError(f"{out}: {free >> 20} MiB are free there and a run may need {FREE_BYTES >> 20} MiB")


@contextmanager
def run_folder(lab: Lab, settings: RunSettings, out: Path | None = None) -> Iterator[Path]:
    """Give the folder of a run: `out`, or one made for it, such as `runs/lab14-20260131-142530-seed1`.

    One that was made and stays empty, since nothing could begin, is taken away again.

    Raises:
        InputError: it cannot be made.
    """
    if out is not None:
        yield out
        return
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    folder = claims.make_new(installation.runs_folder() / f"lab{lab.number:02d}-{stamp}-seed{settings.seed}")
    try:
        yield folder
    finally:
        with suppress(OSError):  # it holds the run
            folder.rmdir()


def verdict_data(verdicts: Sequence[SavedVerdict]) -> list[dict[str, Any]]:
    """The verdicts as run.json and `--json` give them."""
    return [{**asdict(verdict), "outcome": verdict.outcome.value} for verdict in verdicts]


def _run_data(
    scene: Scene, section: str | None, done: Replayed, verdicts: Sequence[ExpectationVerdict], wall_s: float
) -> dict[str, Any]:
    """What run.json holds."""
    lab, settings = scene.lab, scene.settings
    return {
        "format": FORMAT,
        "lab": lab.number,
        "slug": lab.slug,
        "title": lab.title,
        "section": section,
        "settings_only": settings.settings_only,
        "replayed": replayed(lab),
        "seed": settings.seed,
        "clock": settings.clock.value,
        "profile": settings.profile,
        "network_s": round(done.network_s, 9),
        "wall_s": round(wall_s, 3),
        "environment": dict(done.environment),
        "machine": machine.describe(done.environment),
        "steps": [_step_data(lab, done, capture) for capture in done.captures.values()],
        "measured": list(done.measured),
        "unclaimed": done.unclaimed,
        "computed": [asdict(one) for one in sorted(done.computed, key=lambda one: one.from_s)],
        "verdicts": verdict_data([in_words(verdict) for verdict in verdicts]),
    }


def _step_data(lab: Lab, done: Replayed, capture: Capture) -> dict[str, Any]:
    step = lab.manual.step(capture.step)
    data = asdict(capture)
    del data["output"]
    data["title"] = step.title if step else ""
    data["start_s"], data["end_s"] = round(capture.start_s, 9), round(capture.end_s, 9)
    data["output_file"] = output_name(done.captures, capture.step)
    data["data_file"] = data_name(done.captures, capture.step) if capture.step in done.measured else None
    data["scalars"] = {
        name: {"value": scalar.value, "unit": scalar.unit}
        for name, scalar in (done.measured[capture.step].scalars.items() if capture.step in done.measured else ())
    }
    if capture.step in done.broken:
        data["not_measured"] = done.broken[capture.step]
    return data


@contextmanager
def _incomplete_unless_whole(lab: Lab, settings: RunSettings, out: Path) -> Iterator[Callable[[Sequence[Step]], None]]:
    """Keep `incomplete.json`: who runs this while it does, the reason if it fails; gives a function to note a group.

    A run that is ended by SIGKILL leaves the first; `linklab clean --runs` knows by its `pid` that nobody is at it.
    """
    data = {"format": FORMAT, "lab": lab.number, "seed": settings.seed, "clock": settings.clock.value}
    if not claims.take(out, "incomplete.json", {**data, "at": [], "why": "running", "pid": os.getpid()}):
        raise claims.in_use(out)
    at: list[str] = []

    def note(group: Sequence[Step]) -> None:
        at[:] = [step.id for step in group]

    try:
        yield note
    except BaseException as error:
        match error:
            case LinklabError():
                why = str(error)
            case KeyboardInterrupt():
                why = "stopped with Ctrl+C"
            case SystemExit():
                why = "ended from outside by a signal"
            case _:
                why = f"{type(error).__name__}: {error}"
        with suppress(OSError):  # a full disk, say: the first error is the one to tell
            write_json(out / "incomplete.json", {**data, "at": at, "why": why})
        raise
