# SPDX-License-Identifier: BSD-3-Clause
"""Which runs are shown, and in which combination: what the table of runs and the menu Compare do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from linklab.viewer.runs import Run, Runs
from linklab.viewer.runs_table import RunsTable
from linklab.viewer.showing import Showing
from linklab.windows.menus import popup
from linklab.windows.window import Window


class Comparing:
    """Shows runs alone or over each other; `table` gives the table of runs, which is made anew with the widgets."""

    def __init__(
        self, window: Window, runs: Runs, showing: Showing, table: Callable[[], RunsTable], changed: Callable[[], None]
    ) -> None:
        self.window, self.runs, self._showing = window, runs, showing
        self._table, self._changed = table, changed

    def show(self, run: Run) -> None:
        """Show a run alone, or say why it cannot be read."""
        if run.why:
            self.window.say(run.why, bad=True)
            return
        self.runs.show(run)
        self._changed()

    def toggle(self, run: Run) -> None:
        """Lay a run over the others, or take it away."""
        if run.why:
            self.window.say(run.why, bad=True)
            return
        self.runs.toggle(run)
        self._changed()

    def overlay(self) -> None:
        """Lay the run of the chosen row over the others, or take it away, wherever the focus is."""
        run = self._table().here
        if run is not None:
            self.toggle(run)

    def overlay_all(self) -> None:
        """Lay all runs over each other that can be read."""
        self.runs.show_all([run for run in self._table().order if not run.why])
        self._changed()

    def only(self) -> None:
        """Show the current run alone."""
        if self.runs.current is not None:
            self.runs.show(self.runs.current)
            self._changed()

    def step(self, step: int) -> None:
        """Show the next run in the order of the table, at the scale of this one."""
        run = self.runs.next_to(self._table().order, step)
        if run is not None:
            self._showing.same_scale()
            self.runs.show(run)
            self._table().go_to(run)
            self._changed()

    def flip(self) -> None:
        """Show what was shown before, at the same scale."""
        self._showing.same_scale()
        self.runs.flip()
        if self.runs.current is not None:
            self._table().go_to(self.runs.current)
        self._changed()

    def close(self) -> None:
        """Take the run of the chosen row out of the window."""
        run = self._table().here or self.runs.current
        if run is not None:
            self.runs.close(run, self._table().order)
            self._changed()

    def menu(self, run: Run, x: int, y: int) -> None:
        """Open the menu of a run."""
        readable = not run.why
        shown = run in self.runs.shown
        over = "Take It Away" if shown else "Lay It over the Others"
        tell = partial(self.window.tell, "A file that cannot be read", run.why)
        entries: list[tuple[str, Callable[[], None] | None]] = [
            ("Show It Alone", partial(self.show, run) if readable else None),
            (over, partial(self.toggle, run) if readable else None),
            ("", None),
            ("Why It Cannot Be Read", None if readable else tell),
            ("Copy the Path", partial(self.window.copy, str(run.path))),
            ("Close", self.close),
        ]
        popup(self.window.root, entries, x, y, self.window.look.say)
