# SPDX-License-Identifier: BSD-3-Clause
"""What `linklab grade` shows: how far the class is, the table at the end, what to look at."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from linklab.commands.console import QUIET_S, make_console, plain
from linklab.exercise.report import Status
from linklab.grade.classfiles import STATUS
from linklab.grade.cohort import Entry
from linklab.grade.grading import Graded, Progress
from linklab.grade.handed_in import HandedIn, Skipped
from linklab.grade.marks import mark, tool_broke
from linklab.grade.results import adjusted, points
from linklab.judge.verdict import Outcome

MOST_NAMED = 8
"""Checks that the table names as not met."""
MOST_SKIPPED = 10
"""Files that are named on the console."""

_STYLES = {Status.GRADED: "", Status.UNGRADABLE: "yellow", Status.ERROR: "magenta bold"}


def whole(entry: Entry) -> bool:
    """Whether it was graded, and no tool of ours broke at it."""
    return entry.report.status is Status.GRADED and not tool_broke(entry.report)


class GradeView:
    """How far the class is: a bar and what is under way.

    On something that is no terminal a line a submission, and where nothing was done for a while, a line that says so.
    """

    def __init__(self, submissions: Sequence[HandedIn], *, quiet: bool) -> None:
        self.submissions = submissions
        self.console = make_console(quiet=quiet)
        self.running: dict[int, float] = {}
        self.entries: dict[int, Entry] = {}
        self.started = time.perf_counter()
        self.told = self.started
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> GradeView:
        if self.console.is_terminal:
            self.live.start()
        elif len(self.submissions) > 1:
            self.console.print(f"Grading {len(self.submissions)} submissions", soft_wrap=True)
        return self

    def __exit__(self, *_error: object) -> None:
        self.live.stop()

    def changed(self, event: Progress | None) -> None:
        """Take in what happened."""
        if event is not None and event.entry is None:
            self.running[event.index] = time.perf_counter()
        elif event is not None and event.entry is not None:
            self.running.pop(event.index, None)
            if not event.again:
                self.entries[event.index] = event.entry
        if self.console.is_terminal:
            self.live.update(self._now(), refresh=True)
        elif event is not None and event.entry is not None:
            outcome = "in doubt, so it is graded once more at the end" if event.again else _outcome(event.entry)
            line = f"{self._count()} {event.entry.label}: {outcome}"
            self._line(plain(line, style=_STYLES[event.entry.report.status]))
        elif time.perf_counter() - self.told > QUIET_S:
            self._line(plain(f"{self._count()} running: {', '.join(self._names())}"))

    def _line(self, text: Text) -> None:
        self.console.print(text, soft_wrap=True)
        self.told = time.perf_counter()

    def _count(self) -> str:
        """How many are done, how many run, and since when."""
        done, spent = len(self.entries), time.perf_counter() - self.started
        return f"[{done}/{len(self.submissions)} done, {len(self.running)} running, {spent:.0f} s]"

    def _names(self) -> list[str]:
        now = time.perf_counter()
        return [f"{self.submissions[index].label} ({now - since:.0f} s)" for index, since in self.running.items()]

    def _now(self) -> Table:
        count, total = len(self.entries), len(self.submissions)
        spent = time.perf_counter() - self.started
        ahead = f", about {spent / count * (total - count):.0f} s to go" if 2 < count < total else ""
        grid = Table.grid(padding=(0, 1))
        grid.add_row("Grading", ProgressBar(total, count, width=30), f"{count}/{total} in {spent:.0f} s{ahead}")
        running = plain(", ".join(self._names()), style="dim")
        running.overflow, running.no_wrap = "ellipsis", True
        table = Table.grid()
        table.add_row(grid)
        table.add_row(running)
        return table

    def end(self, graded: Graded, out: Path, wall_s: float, left: Sequence[Skipped]) -> None:
        """The table as it stays, what needs a look, the sum."""
        table = Table(header_style="bold")
        for name in ("Student", "Submission", "Exercise"):
            table.add_column(name, overflow="fold")
        table.add_column("Points", justify="right", no_wrap=True)
        table.add_column("Not met", ratio=1, overflow="fold")
        for entry in graded.entries:
            report = entry.report
            final = mark(report)
            counts = report.score if final is None else final
            shown = f"{points(counts)} / {points(report.max_score)}"
            told = shown if report.status is Status.GRADED or final is not None else "–"
            cells = (entry.person, entry.name, report.heading.partition(":")[0], told, _missed(entry))
            table.add_row(*(plain(cell, style=_STYLES[report.status]) for cell in cells))
        self.console.print(table)
        for finding in graded.findings:
            who = ", ".join(entry.name for entry in finding.entries)
            what = f"{who}: {finding.says}" if who else finding.says
            self.console.print(plain(f"To look at: {what}", style="yellow"), soft_wrap=True)
        if left:
            some = ", ".join(f"{each.label} ({each.why})" for each in left[:MOST_SKIPPED])
            more = f", and {len(left) - MOST_SKIPPED} more, which index.html names" if len(left) > MOST_SKIPPED else ""
            self.console.print(plain(f"Skipped: {some}{more}"), soft_wrap=True)
        done = sum(whole(entry) for entry in graded.entries)
        self.console.print(
            plain(f"{done} of {len(graded.entries)} graded in {wall_s:.0f} s. Overview: {out / 'index.html'}"),
            soft_wrap=True,
        )


def _outcome(entry: Entry) -> str:
    report = entry.report
    if report.status is Status.GRADED:
        broke = ", and a check at which our tool broke" if tool_broke(report) else ""
        return " ".join([f"{points(report.score)} of {points(report.max_score)} points{broke}", *adjusted(report)])
    return f"{STATUS[report.status]}: {' '.join(report.notes)}"


def _missed(entry: Entry) -> str:
    report = entry.report
    if report.status is not Status.GRADED:
        return f"{STATUS[report.status]}: {' '.join(report.notes)}"
    bad = (Outcome.FAIL, Outcome.PARTIAL, Outcome.ERROR)
    names = [check.id for check in report.checks if check.outcome in bad]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])
