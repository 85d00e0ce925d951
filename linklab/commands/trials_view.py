# SPDX-License-Identifier: BSD-3-Clause
"""How far a list of trials is: a live table of it, or a line for each trial that ends, and what came of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from linklab.commands.console import make_console, plain
from linklab.experiment.runner import ListProgress, TrialTask

_STYLES = {"waiting": "dim", "running": "", "done": "green", "gaps": "yellow", "failed": "red bold"}
_ROOM = 8
"""Lines of a terminal that the table does not take."""
_LEAST = 5


class TrialsView:
    """The table, redrawn a few times a second; on something that is no terminal, a line for each trial that ends."""

    def __init__(self, progress: ListProgress, folder: Path, *, quiet: bool, noun: str = "trial") -> None:
        self.progress, self.folder, self.noun = progress, folder, noun
        self.console = make_console(quiet=quiet)
        # Redrawn by us: a thread that draws must not be there while processes are forked.
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> TrialsView:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.live.stop()

    def changed(self, task: TrialTask | None) -> None:
        """A task's state changed, or time went on."""
        if self.console.is_terminal:
            self.live.update(Group(plain(self.line()), self.table()), refresh=True)
        elif task is not None and task.state not in ("waiting", "running"):
            why = f": {task.why}" if task.why else ""
            ended = len(self.progress.tasks) - self.progress.count("waiting", "running")
            total = len(self.progress.tasks)
            left = f", about {duration(self.progress.left_s)} left" if ended < total else ""
            line = f"{ended}/{total} {task.entry.label}: {task.state} in {task.wall_s:.1f} s{left}{why}"
            self.console.print(plain(line, style=_STYLES[task.state]), soft_wrap=True)

    def say(self, sentence: str) -> None:
        """A sentence beside the table."""
        self.console.print(plain(sentence), soft_wrap=True)

    def line(self) -> str:
        """How far all of it is."""
        progress = self.progress
        counts = {"done": progress.count("done", "gaps"), "failed": progress.count("failed")}
        parts = [f"{counts['done']} of {len(progress.tasks)} {self.noun}s done"]
        parts += [f"{counts['failed']} failed"] if counts["failed"] else []
        least = "" if progress.measured else "at least "
        return f"{', '.join(parts)}; {least}about {duration(progress.left_s)} left"

    def table(self) -> Table:
        """The trials that matter now, as many as there is room for."""
        table = Table(header_style="bold")
        table.add_column(self.noun.capitalize(), ratio=2, no_wrap=True)
        for name in ("Network time", "Took"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("State", no_wrap=True)
        table.add_column("", ratio=1, no_wrap=True)
        shown = list(chosen(self.progress.tasks, max(_LEAST, self.console.height - _ROOM)))
        for task in shown:
            running = task.state == "running"
            network_s = task.network_s if running else task.entry.network_s * (task.state in ("done", "gaps"))
            cells = (
                task.entry.label,
                f"{network_s:.0f} s" if network_s else "",
                f"{task.wall_s:.0f} s" if task.wall_s else "",
                "kept" if task.kept else task.state,
                task.doing if running else task.why,
            )
            table.add_row(*(_cell(cell, _STYLES[task.state]) for cell in cells))
        if hidden := len(self.progress.tasks) - len(shown):
            table.add_row(_cell(f"and {hidden} more", "dim"))
        return table

    def end(self, wall_s: float) -> None:
        """What came of all, and the stories of those that failed."""
        progress = self.progress
        for task in progress.tasks:
            if task.why:
                said = {"failed": "failed", "gaps": "has gaps"}.get(task.state, "is done, but")
                line = f"{task.entry.label} {said}: {task.why}"
                style = _STYLES["gaps" if task.state == "done" else task.state]
                self.console.print(plain(line, style=style), soft_wrap=True)
        kept = sum(task.kept for task in progress.tasks)
        before = f", {kept} of them in an earlier run" if kept else ""
        network_s = sum(task.entry.network_s for task in progress.tasks if not task.kept and task.state != "failed")
        at_a_time = f", {progress.jobs} at a time" if progress.jobs > 1 else ""
        self.say(
            f"{progress.count('done', 'gaps')} of {len(progress.tasks)} {self.noun}s gave data{before}. "
            f"{duration(network_s)} of network time in {duration(wall_s)}{at_a_time}. Folder: {self.folder}"
        )


def chosen(tasks: Sequence[TrialTask], most: int) -> Iterator[TrialTask]:
    """The tasks that are shown where not all can be: what runs, what failed, what has ended last, what is next."""
    if len(tasks) <= most:
        yield from tasks
        return
    numbered = list(enumerate(tasks))
    running = [number for number, task in numbered if task.state == "running"]
    failed = [number for number, task in numbered if task.state == "failed"]
    ended = [number for number, task in numbered if task.state in ("done", "gaps")]
    waiting = [number for number, task in numbered if task.state == "waiting"]
    room = most - len(running)
    picked = [*running, *failed[-room // 3 :]] if room > 0 else running[:most]
    for more in (ended[: -most // 2 : -1], waiting, ended[::-1], failed[::-1]):
        picked += [number for number in more if number not in picked][: most - len(picked)]
    for number in sorted(picked[:most]):
        yield tasks[number]


def duration(seconds: float) -> str:
    """A time as people say it: "8 s", "2 min 5 s", "1 h 10 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    return f"{whole // 3600} h" + (f" {whole % 3600 // 60} min" if whole % 3600 >= 60 else "")


def before_running(progress: ListProgress) -> str:
    """How long the trials of a list will take, before any of them has run: a machine that does more takes longer."""
    at_a_time = f", {progress.jobs} at a time" if progress.jobs > 1 else ""
    return f"at least about {duration(progress.left_s)}{at_a_time}; the first to end will tell more"


def _cell(text: str, style: str) -> Text:
    cell = plain(text, style)
    cell.overflow = "ellipsis"
    return cell
