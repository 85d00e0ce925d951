# SPDX-License-Identifier: BSD-3-Clause
"""A list of trials → a folder of data files: which trials are due, how far each is, what came of it.

Each trial has a process of its own (`linklab.base.supervise`), here or on a cluster. One that fails or dies is named,
and the others go on. `linklab.experiment.trial_folder` keeps what is done.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from linklab.base.supervise import Began, Ended, Job, Told, supervised
from linklab.base.text import one_line
from linklab.base.worker import Tell
from linklab.errors import LinklabError
from linklab.experiment.model import Trial
from linklab.experiment.trial_folder import DONE, TrialFolder
from linklab.experiment.trial_list import ListedTrial
from linklab.experiment.trial_work import Made, TrialSettings, bundled, work

_FAR_ENOUGH = 0.3
"""Share of a trial from which on its time so far tells how long it takes: it begins with what is no network time."""
TICK_S = 0.2
"""Wall-clock seconds between two looks at how long each trial has taken so far."""


@dataclass
class TrialTask:
    """One trial of a list and what is known of it.

    state: "waiting", "running", "done", "gaps" (a program of it failed, and `why` says which), or "failed".
    why: what went wrong; of a trial that is done, a command of it.
    kept: it was done by an earlier run.
    doing: what it is at; network_s: how far its clock is.
    values: what was looked for in its data.
    """

    entry: ListedTrial
    state: str = "waiting"
    kept: bool = False
    doing: str = ""
    network_s: float = 0.0
    wall_s: float = 0.0
    why: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def guess_s(self) -> float:
        """How long it takes on one processor, about, from what it asks for; 1 for each where nothing is known."""
        return self.entry.cost_s or 1.0


@dataclass
class ListProgress:
    """All trials of a list, and how long those will take that are not done."""

    tasks: list[TrialTask] = field(default_factory=list)
    jobs: int = 1
    measured_s: float = 0.0
    guessed_s: float = 0.0

    def count(self, *states: str) -> int:
        """How many are in one of these states."""
        return sum(task.state in states for task in self.tasks)

    def ended(self, task: TrialTask) -> None:
        """A trial has run; what it took counts for those that have not."""
        self.measured_s += task.wall_s
        self.guessed_s += task.guess_s

    @property
    def left_s(self) -> float:
        """Wall-clock seconds until all are done, about: the guesses, corrected by how wrong they have been so far."""
        ratio = self.measured_s / self.guessed_s if self.guessed_s else self._so_far()
        waiting = sum(task.guess_s for task in self.tasks if task.state == "waiting")
        under_way = sum(max(0.0, task.guess_s * ratio - task.wall_s) for task in self.tasks if task.state == "running")
        return (waiting * ratio + under_way) / max(1, min(self.jobs, self.count("waiting", "running")))

    def _so_far(self) -> float:
        """How wrong the guesses are by those under way, whose clocks say how far they are; at least 1."""
        ratios = [
            task.wall_s / (task.guess_s * task.network_s / task.entry.network_s)
            for task in self.tasks
            if task.state == "running" and 0 < task.entry.network_s * _FAR_ENOUGH <= task.network_s
        ]
        return max([1.0, *ratios])

    @property
    def measured(self) -> bool:
        """Whether the estimate rests on trials that have run."""
        return self.guessed_s > 0


Changed: TypeAlias = Callable[[TrialTask | None], None]
Happened: TypeAlias = "tuple[str, int, Any] | None"
"""("began", number, None), ("told", number, what), ("ended", number, (Made or an error, wall-clock seconds))."""
Deal: TypeAlias = "Callable[[Sequence[tuple[int, ListedTrial]], Path], Iterator[Happened]]"
"""Has trials done, each in a folder with its number; what happens with them, and None a few times a second."""


def run_entries(
    entries: Sequence[ListedTrial], folder: TrialFolder, deal: Deal, progress: ListProgress, changed: Changed
) -> list[TrialTask]:
    """Do the trials of a list that are not done yet, in its order.

    Args:
        entries: of the list, or more of it.
        folder: that keeps them.
        deal: has them done, here (`here`) or elsewhere.
        progress: gets their tasks.
        changed: told of each task whose state changed, and with None a few times a second.
    """
    due = {entry.file for entry in folder.add(entries)}
    tasks = {len(progress.tasks) + number: TrialTask(entry) for number, entry in enumerate(entries)}
    progress.tasks += tasks.values()
    for task in tasks.values():
        if task.entry.file not in due:
            task.state, task.why, task.values = folder.state(task.entry)
            task.kept = True
    waiting = [(number, task.entry) for number, task in tasks.items() if task.state == "waiting"]
    since: dict[int, float] = {}
    folder.scratch.mkdir(exist_ok=True)
    with _closed(deal(waiting, folder.scratch)) as events:
        for happened in events:
            for number, began in since.items():
                tasks[number].wall_s = time.perf_counter() - began
            if happened is None:
                changed(None)
                continue
            kind, number, what = happened
            if kind == "told":
                tasks[number].doing, tasks[number].network_s = str(what.stage), float(what.done_s)
                continue
            if kind == "began":
                since[number] = time.perf_counter()
                tasks[number].state = "running"
            else:
                del since[number]
                came, tasks[number].wall_s = what
                _ended(folder, tasks[number], came, folder.scratch / str(number))
                progress.ended(tasks[number])
            changed(tasks[number])
    return list(tasks.values())


@contextlib.contextmanager
def _closed(events: Iterator[Happened]) -> Iterator[Iterator[Happened]]:
    """However the block is left, what the iterator has begun is ended first."""
    try:
        yield events
    finally:
        events.close()  # type: ignore[attr-defined] # a generator


def _ended(folder: TrialFolder, task: TrialTask, came: Made | LinklabError, place: Path) -> None:
    """A trial's process has ended: what it made is kept, or why it made nothing."""
    if isinstance(came, Made):
        task.state, task.values = ("gaps" if came.gaps else "done"), came.values
        task.why = "; ".join(filter(None, (came.gaps, came.warning)))
        folder.take(task.entry, came, task.state, task.why)
    else:
        task.state, task.why = "failed", one_line(str(came))
        folder.fail(task.entry, task.why)
    folder.keep_log(task.entry, place / "log", needed=task.entry.keep_log or task.state not in DONE)
    shutil.rmtree(place, ignore_errors=True)


# --- on this machine


def here(how: TrialSettings, jobs: int, *, fresh: bool = False) -> Deal:
    """Have trials done on this machine.

    Args:
        how: see there.
        jobs: how many at once.
        fresh: each in a new interpreter, for a program with threads.
    """

    def deal(entries: Sequence[tuple[int, ListedTrial]], scratch: Path) -> Iterator[Happened]:
        folder = scratch.resolve()  # the processes work in folders of their own

        def job(number: int, entry: ListedTrial) -> Job[Made]:
            place = folder / str(number)
            place.mkdir()
            try:
                task = partial(work, bundled(entry), place, how)
            except LinklabError as error:  # a file of it has gone: this one is lost, the others go on
                task = partial(_refuse, error)
            return Job(number, task, fresh=fresh, folder=place, printed=place / "log")

        with supervised((job(*each) for each in entries), jobs, tick_s=TICK_S) as events:
            for event in events:
                match event:
                    case Began(number):
                        yield "began", number, None
                    case Told(number, what):
                        yield "told", number, what
                    case Ended(number, made, error, wall_s):
                        yield "ended", number, (error or made, wall_s)
                    case _:
                        yield None

    return deal


def _refuse(error: LinklabError, _tell: Tell) -> Made:
    raise error


def at_once(trials: Sequence[Trial], wanted: int | None, most: int) -> int:
    """How many trials run at once: those whose clock is the wall's would disturb each other."""
    if any(trial.clock != "virtual" or trial.engine != "pocket" for trial in trials):
        return 1
    return min(wanted or most, most, max(1, len(trials)))
