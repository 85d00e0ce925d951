# SPDX-License-Identifier: BSD-3-Clause
"""Several labs for `linklab run` and `linklab record`: which are meant, a live table of them, a summary."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.live import Live
from rich.table import Table
from rich.text import Text

from linklab.base import claims, installation
from linklab.base.files import write_json
from linklab.base.processes import processors
from linklab.commands.console import make_console, plain
from linklab.commands.interrupt import says_what_is_left
from linklab.engine.choice import REPLAY_CLOCK, clock_of, load_engine
from linklab.errors import InputError, LabError
from linklab.lab.model import find_lab, lab_folders, load_lab
from linklab.run.many import Task, run_batch
from linklab.run.stage import RunSettings

_STYLES = {"waiting": "dim", "running": "", "pass": "green", "fail": "red bold", "broken": "magenta bold"}


def chosen(text: str) -> list[Path] | None:
    """The folders of "all", "5-7,10"; None where the text names one lab.

    A range takes the labs that are there; a number that stands alone must be one.

    Raises:
        LabError: there is no such lab.
    """
    if text == "all":
        return lab_folders()
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text) or text.isdecimal():
        return None
    numbers = {int(folder.name[:2]): folder for folder in lab_folders()}
    folders: dict[int, Path] = {}
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not dash:
            folders[int(first)] = find_lab(first)
            continue
        found = {number: folder for number, folder in numbers.items() if int(first) <= number <= int(last)}
        if not found:
            raise LabError(f"there are no labs {part}; I have {', '.join(map(str, numbers))}")
        folders.update(found)
    return [folders[number] for number in sorted(folders)]


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """The option that only matters for several labs."""
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="of several labs, how many at once (default and most: one a processor)"
    )


def run_several(
    args: argparse.Namespace,
    folders: Sequence[Path],
    *,
    out: Path | None = None,
    recording: bool = False,
    quiet: bool = False,
) -> tuple[list[Task], Path]:
    """Replay labs side by side with a live table; what came of each, and the folder that holds them.

    Raises:
        LinklabError: a lab is wrong, or the folder is in use; before anything starts.
    """
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}; at least one lab runs at a time")
    settings = RunSettings(clock_of(args.clock, args.engine, REPLAY_CLOCK), args.seed, args.cpu)
    labs = [load_lab(folder) for folder in folders]
    engine = load_engine(args.engine)
    most = processors() if engine.side_by_side else 1
    jobs = min(args.jobs or most, processors())
    engine.check()
    folder = out or claims.make_new(
        installation.runs_folder() / f"all-{datetime.now():%Y%m%d-%H%M%S}-seed{settings.seed}"
    )
    with claims.held([folder]):
        tasks = [Task(lab, folder / f"lab{lab.number:02d}") for lab in labs]
        started = time.perf_counter()
        view = _LabsView(tasks, quiet=quiet)
        with says_what_is_left(folder), view:
            run_batch(tasks, lambda: load_engine(args.engine), settings, jobs, view.changed, recording=recording)
        wall_s = time.perf_counter() - started
        write_json(folder / "summary.json", _summary(tasks, settings, jobs, wall_s))
    view.end(wall_s, jobs, folder)
    return tasks, folder


def _summary(tasks: Sequence[Task], settings: RunSettings, jobs: int, wall_s: float) -> dict[str, Any]:
    return {
        "seed": settings.seed,
        "clock": settings.clock.value,
        "profile": settings.profile,
        "jobs": jobs,
        "wall_s": round(wall_s, 3),
        "network_s": round(sum(task.network_s for task in tasks), 3),
        "labs": [task.summary for task in tasks],
    }


class _LabsView:
    """The table, redrawn a few times a second; on something that is no terminal, a line for each lab that ends."""

    def __init__(self, tasks: Sequence[Task], *, quiet: bool) -> None:
        self.tasks = tasks
        self.console = make_console(quiet=quiet)
        # Redrawn by us: a thread that draws must not be there while processes are forked.
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> _LabsView:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.live.stop()

    def changed(self, task: Task | None) -> None:
        if self.console.is_terminal:
            self.live.update(self._table(), refresh=True)
        elif task is not None and task.state not in ("waiting", "running"):
            line = f"{task.lab.heading}: {task.state}, {_met(task)} in {task.wall_s:.1f} s"
            self.console.print(plain(line, style=_STYLES[task.state]), soft_wrap=True)

    def end(self, wall_s: float, jobs: int, folder: Path) -> None:
        """The table as it stays, the stories of what failed, the sum."""
        self.console.print(self._table())
        for task in self.tasks:
            if task.why:
                line = f"Lab {task.lab.number} {task.state}: {task.why}"
                self.console.print(plain(line, style=_STYLES[task.state]), soft_wrap=True)
        for task in self.tasks:
            if task.differs:
                self.console.print(plain(f"Lab {task.lab.number}: {task.recording}"), soft_wrap=True)
        if compared := [task for task in self.tasks if task.recording]:
            same = sum(not task.differs for task in compared)
            words = f"{same} of the {len(compared)} labs that were compared gave the bytes of their recordings."
            self.console.print(words, soft_wrap=True)
        good = sum(task.state == "pass" for task in self.tasks)
        network_s = sum(task.network_s for task in self.tasks)
        self.console.print(
            f"{good} of {len(self.tasks)} labs meet all their expectations. {network_s:.0f} s of network time "
            f"in {wall_s:.0f} s, {jobs} at a time. Folder: {folder}",
            soft_wrap=True,
        )

    def _table(self) -> Table:
        table = Table(header_style="bold")
        for name in ("Lab", "Network time", "Took", "Expectations"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("State", no_wrap=True)
        compared = any(task.recording for task in self.tasks)
        if compared:
            table.add_column("Recording", no_wrap=True)
        table.add_column("Title" if all(task.state != "running" for task in self.tasks) else "Title or step", ratio=1)
        for task in self.tasks:
            running = task.state == "running"
            state = f"{task.done}/{task.steps}" if running else task.state
            cells = (
                str(task.lab.number),
                f"{task.network_s:.0f} s" if task.network_s else "",
                f"{task.wall_s:.0f} s" if task.wall_s else "",
                _met(task) if task.of else "",
                state,
                *([_recording(task)] if compared else []),
                task.doing if running else task.lab.title,
            )
            table.add_row(*(_cell(cell, _STYLES[task.state]) for cell in cells))
        return table


def _cell(text: str, style: str) -> Text:
    cell = plain(text, style)
    cell.overflow = "ellipsis"
    return cell


def _recording(task: Task) -> str:
    if not task.recording:
        return ""
    return "differs" if task.differs else "same bytes"


def _met(task: Task) -> str:
    return f"{task.passed} of {task.of}"
