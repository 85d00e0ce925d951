# SPDX-License-Identifier: BSD-3-Clause
"""Several labs replayed at once, a process each: which are due, how far each is, what came of it.

Each lab runs as `linklab.run.runner` runs it alone, and its process tells how far it is.  One that ends without a word
counts as broken off, and the others go on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from linklab.base.supervise import Began, Ended, Job, Told, supervised
from linklab.base.text import one_line
from linklab.base.worker import Tell
from linklab.engine.api import Engine
from linklab.errors import InputError, LinklabError
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.reference import load_reference
from linklab.lab.sections import chosen_steps
from linklab.manual.model import Step
from linklab.run.likeness import against_recording
from linklab.run.record import record
from linklab.run.report import write_report
from linklab.run.runner import run_lab, verdict_data
from linklab.run.stage import Capture, RunSettings

TICK_S = 0.2
"""Wall-clock seconds between two looks at how long each lab has taken so far."""
BYTES_PER_S = 0.9e9
"""Of iperf3 data that a pocket computes in a second of wall time, about; only the order of starting depends on it."""


@dataclass
class Task:
    """One lab of a batch and what is known of it.

    state: "waiting", "running", "pass", "fail" (expectations not met) or "broken" (`why` says where it broke off).
    doing: title of the step under way; done, steps: how many steps are done, of how many.
    passed, of: expectations; changes: what recording changed, None where nothing was recorded.
    recording: how the bytes compare with those of the recording, in words; "" if they need not be the same.
    differs: whether they are others.
    """

    lab: Lab
    out: Path
    state: str = "waiting"
    doing: str = ""
    done: int = 0
    steps: int = 0
    passed: int = 0
    of: int = 0
    network_s: float = 0.0
    wall_s: float = 0.0
    why: str = ""
    recording: str = ""
    differs: bool = False
    verdicts: list[dict[str, str]] = field(default_factory=list)
    changes: list[str] | None = None

    @property
    def summary(self) -> dict[str, Any]:
        """What summary.json holds of it."""
        return {
            "lab": self.lab.number,
            "slug": self.lab.slug,
            "outcome": self.state,
            "passed": self.passed,
            "of": self.of,
            "network_s": round(self.network_s, 3),
            "wall_s": round(self.wall_s, 3),
            "out": str(self.out),
            "why": self.why,
            "recording": self.recording,
        }


def estimate_s(lab: Lab) -> float:
    """How long a replay takes on one processor, about, from the lab's reference; endless where there is none."""
    try:
        reference = load_reference(lab)
    except LinklabError:
        reference = None
    if reference is None:
        return float("inf")
    sent = sum(
        value
        for found in reference.recorded.scalars.values()
        for name, (value, _) in found.items()
        if name.startswith("iperf3.") and name.endswith(".bytes.sent") and ".stream." not in name
    )
    return float(2 + sent / BYTES_PER_S + reference.data["network_s"] / 50)


def run_batch(
    tasks: Sequence[Task],
    engine: Callable[[], Engine],
    settings: RunSettings,
    jobs: int,
    changed: Callable[[Task | None], None],
    *,
    recording: bool = False,
) -> None:
    """Run all tasks, the longest first, and fill in what came of each.

    Args:
        tasks: each lab, with a folder that is free.
        engine: makes the engine, in the process of a lab.
        settings: clock, seed and profile of all.
        jobs: how many at once.
        changed: told of each task whose state changed, and with None a few times a second.
        recording: make each run that meets its expectations the reference of its lab.
    """
    due = sorted(range(len(tasks)), key=lambda number: -estimate_s(tasks[number].lab))
    replays = (
        Job(number, partial(_replay, tasks[number], engine, settings, recording), printed=_log(tasks[number].out))
        for number in due
    )
    started: dict[int, float] = {}
    with supervised(replays, jobs, tick_s=TICK_S) as events:
        for event in events:
            match event:
                case Began(number):
                    task = tasks[number]
                    started[number] = time.perf_counter()
                    task.state, task.steps = "running", len(chosen_steps(task.lab.manual, None))
                    changed(task)
                case Told(number, found):
                    _take_in(tasks[number], found)
                case Ended(number, found, error, wall_s):
                    task = tasks[number]
                    _take_in(task, found or {"state": "broken", "why": one_line(str(error))})
                    task.wall_s = wall_s
                    del started[number]
                    _unless_empty(_log(task.out))
                    changed(task)
                case _:
                    for number, since in started.items():
                        tasks[number].wall_s = time.perf_counter() - since
                    changed(None)


def _take_in(task: Task, found: dict[str, Any]) -> None:
    """What the process of a lab told, by the names of the task's fields."""
    for name, value in found.items():
        setattr(task, name, value)


def _log(out: Path) -> Path:
    """What a lab's process prints goes beside its folder, not into the table."""
    return out.with_name(f"{out.name}.log")


def _unless_empty(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size == 0:
            path.unlink()


def _replay(
    task: Task, engine: Callable[[], Engine], settings: RunSettings, recording: bool, tell: Tell
) -> dict[str, Any]:
    """The work of one process: what is known of the task when it has ended."""
    done = run_lab(task.lab, engine(), settings, task.out, _Reporter(tell))
    page = ""
    try:
        write_report(done)
    except InputError as error:  # a full disk, say: the verdicts are there, and `linklab report` writes it again
        page = str(error)
    passed = sum(verdict.outcome is Outcome.PASS for verdict in done.verdicts)
    good = passed == len(done.verdicts)
    likeness = None if recording else against_recording(task.lab, done)
    failed = next((verdict.message for verdict in done.verdicts if verdict.outcome is not Outcome.PASS), "")
    return {
        "state": "pass" if good else "fail",
        "passed": passed,
        "of": len(done.verdicts),
        "network_s": done.network_s,
        "why": failed or page,
        "recording": likeness.words if likeness else "",
        "differs": likeness is not None and not likeness.same,
        "verdicts": verdict_data(done.verdicts),
        "changes": record(task.lab, done) if recording and good else None,
    }


@dataclass
class _Reporter:
    """Narrator of a lab that tells the parent."""

    tell: Tell
    count: int = 0

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        self.tell({"doing": steps[0].title or steps[0].id, "network_s": network_s})

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        self.count += len(captures)
        self.tell({"done": self.count, "network_s": network_s})
