# SPDX-License-Identifier: BSD-3-Clause
"""Several labs replayed at once, a process each: which are due, how far each is, what came of it.

Each lab runs as `linklab.run.runner` runs it alone; the processes only report, over a pipe. One that ends without a
word counts as broken off, and none outlives the call.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from linklab.base.processes import end, settle_in
from linklab.engine.api import Engine
from linklab.errors import LinklabError
from linklab.lab.model import Lab, Outcome
from linklab.lab.reference import load_reference
from linklab.lab.sections import chosen_steps
from linklab.manual.model import Step
from linklab.run.record import record
from linklab.run.report import write_report
from linklab.run.runner import run_lab, verdict_data
from linklab.run.stage import Capture, Settings

BYTES_PER_S = 0.9e9
"""Of iperf3 data that a pocket computes in a second of wall time, about; only the order of starting depends on it."""


@dataclass
class Task:
    """One lab of a batch and what is known of it.

    state: "waiting", "running", "pass", "fail" (expectations not met) or "broken" (`why` says where it broke off).
    doing: title of the step under way; done, steps: how many steps are done, of how many.
    passed, of: expectations; changes: what recording changed, None where nothing was recorded.
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
    settings: Settings,
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
    context = multiprocessing.get_context("fork")
    due = sorted(tasks, key=lambda task: -estimate_s(task.lab))
    running: dict[Connection, tuple[Task, ForkProcess, float]] = {}
    try:
        while due or running:
            while due and len(running) < jobs:
                task = due.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(
                    target=_work,
                    args=(os.getpid(), theirs, task, engine, settings),
                    kwargs={"recording": recording},
                )
                process.start()
                theirs.close()
                task.state, task.steps = "running", len(chosen_steps(task.lab.manual, None))
                running[ours] = (task, process, time.perf_counter())
                changed(task)
            for connection in wait(list(running), timeout=0.2):
                assert isinstance(connection, Connection)
                task, process, started = running[connection]
                _read(connection, task)
                task.wall_s = time.perf_counter() - started
                if task.state != "running":
                    process.join()
                    connection.close()
                    del running[connection]
                    changed(task)
            for task, _, started in running.values():
                task.wall_s = time.perf_counter() - started
            changed(None)
    finally:
        end([process for _, process, _ in running.values()])


def _read(connection: Connection, task: Task) -> None:
    """Take in what a process reported; its end without a result is one too."""
    try:
        while connection.poll():
            for name, value in connection.recv().items():
                setattr(task, name, value)
    except (EOFError, OSError):
        if task.state == "running":
            task.state, task.why = "broken", task.why or "its process ended without a word"


def _work(
    parent: int, report: Connection, task: Task, engine: Callable[[], Engine], settings: Settings, *, recording: bool
) -> None:
    """The life of one process."""
    try:
        if not settle_in(parent):
            return
        with _messages(task.out):
            report.send(_replay(report, task, engine, settings, recording))
    except KeyboardInterrupt:
        with contextlib.suppress(BrokenPipeError):  # the parent has gone
            report.send({"state": "broken", "why": "stopped with Ctrl+C"})
    except LinklabError as error:
        report.send({"state": "broken", "why": " ".join(str(error).split())})
    except Exception as error:  # the table names it, and the other labs go on
        report.send({"state": "broken", "why": f"{type(error).__name__}: {error}"})


def _replay(
    report: Connection, task: Task, engine: Callable[[], Engine], settings: Settings, recording: bool
) -> dict[str, Any]:
    done = run_lab(task.lab, engine(), settings, task.out, _Reporter(report))
    write_report(done)
    passed = sum(verdict.outcome is Outcome.PASS for verdict in done.verdicts)
    good = passed == len(done.verdicts)
    failed = next((verdict.message for verdict in done.verdicts if verdict.outcome is not Outcome.PASS), "")
    return {
        "state": "pass" if good else "fail",
        "passed": passed,
        "of": len(done.verdicts),
        "network_s": done.network_s,
        "why": failed,
        "verdicts": verdict_data(done.verdicts),
        "changes": record(task.lab, done) if recording and good else None,
    }


@dataclass
class _Reporter:
    """Narrator of a lab that tells the parent."""

    report: Connection
    count: int = 0

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        self.report.send({"doing": steps[0].title or steps[0].id, "network_s": network_s})

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        self.count += len(captures)
        self.report.send({"done": self.count, "network_s": network_s})


@contextlib.contextmanager
def _messages(out: Path) -> Iterator[None]:
    """What the process prints goes beside its folder, not into the table; an empty file is taken away."""
    path = out.with_name(f"{out.name}.log")
    with path.open("wb") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
        try:
            yield
        finally:
            if path.stat().st_size == 0:
                path.unlink()
