# SPDX-License-Identifier: BSD-3-Clause
"""The viewer's window: puts its parts together and gives every action of `actions.MENUS` something to do.

What is open and shown is in `runs`, what is drawn in `showing`, files to open and save in `filing`, tests that are run
in `testing`; none of them knows this module. Here are the widgets and the view.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from linklab import __version__
from linklab.plots.spec import PlotSpec
from linklab.viewer import actions, metadata
from linklab.viewer.columns import Column
from linklab.viewer.filing import OpenAndSave
from linklab.viewer.layout import METADATA, PLOTS, RUNS, ViewerCallbacks, ViewerLayout
from linklab.viewer.reading import Reader
from linklab.viewer.runs import Run, Runs
from linklab.viewer.settings import ViewerSettings, load_settings, save_settings
from linklab.viewer.showing import Showing
from linklab.viewer.tables import RunsTold
from linklab.viewer.testing import RunningTests
from linklab.windows.application import Application
from linklab.windows.menus import popup
from linklab.windows.words import Phrase

POLL_MS = 30
TOGGLES = ("no_title", "no_legend", "log", "zero", "keep", "side", "dark")


class Viewer(Application):
    """The window and what it shows."""

    settings: ViewerSettings

    def __init__(
        self,
        paths: Sequence[Path] = (),
        settings: ViewerSettings | None = None,
        language: str = "",
        reader: Reader | None = None,
    ) -> None:
        """Open the window and begin to read the files, unless `reader` has begun.

        `language` comes before that of the settings.

        Raises:
            MissingError: there is no display.
            InputError: the language's catalogue cannot be read.
        """
        chosen = settings if settings is not None else load_settings()
        super().__init__("Linklab-viewer", chosen, language, "`linklab test plot FILE` needs none")
        self.settings = chosen
        self.runs = Runs()
        self.showing = Showing(self.window, self.runs, self.settings)
        self.filing = OpenAndSave(
            self.window, self.runs, self.showing, self.settings, self.refresh, reader=reader or Reader()
        )
        self.testing = RunningTests(self.window, self.runs, self.settings, self._open_result)
        self._tree: tuple[Run | None, dict[str, object] | None] = (None, None)
        self.root.protocol("WM_DELETE_WINDOW", self.quit)
        self._build()
        self.filing.on_shown = self._came
        self.filing.open(paths)
        self.refresh()
        self.appear()
        self.layout.runs.tree.focus_set()
        self.root.after(POLL_MS, self._poll)

    def quit(self) -> None:
        """End; if a test runs, ask what is to become of it."""
        if self.testing.is_on:
            text = "A test is running. It ends with the window; what it measured up to now is kept."
            self.window.ask("A Test Is Running", text, [("Abort and Quit", self.leave), ("Go On", lambda: None)])
        else:
            self.leave()

    def leave(self) -> None:
        """Remember the settings and end."""
        self.settings.geometry = self.root.geometry().split("+")[0]
        self.layout.keep_width()
        save_settings(self.settings)
        self.root.withdraw()
        self.root.update_idletasks()
        self.testing.stop()
        self.close()

    def close(self) -> None:
        """End all reading, and the window."""
        self.filing.stop()
        super().close()

    # --- the window

    def _build(self) -> None:
        """Make every widget, in the theme and size of the settings; called again when those change."""
        self.clear()
        self.ticks = {name: tk.BooleanVar(self.root) for name in TOGGLES}
        told = RunsTold(self._show_run, self._toggle_run, self._menu_of_run, self._menu_of_heading)
        callbacks = ViewerCallbacks(
            self._commands(), self._submenus(), told, self._choose_plot, self._copy, self._make_column, self._show_zoom
        )
        self.layout = ViewerLayout(self.root, self.look, self.settings, self.ticks, callbacks)
        self.layout.side.bind("<<NotebookTabChanged>>", lambda _: self._show_metadata())
        self.layout.runs.bind("<<Sorted>>", lambda _: self.refresh())
        self.window.dress(self.look, self.layout.status)
        self.showing.chart = self.layout.chart

    def rebuild(self) -> None:
        """Take a changed scale or language: the widgets are made anew, what is shown stays."""
        sorted_by, widget = self.layout.runs.sorted_by, self.layout.side
        page = widget.index(widget.select())  # type: ignore[no-untyped-call] # typeshed
        self.layout.keep_width()
        self.settings.geometry = ""
        self.look.resize(self.root, self.settings.scale)
        self._build()
        self.layout.runs.sorted_by = sorted_by
        self.showing.forget()
        self.refresh()
        self.layout.go(int(page))

    def _commands(self) -> dict[str, Callable[[], None]]:
        """What each action does."""
        show, files = self.showing, self.filing
        commands: dict[str, Callable[[], None]] = {
            "open": files.ask,
            "close": self._close,
            "save": files.save,
            "export": files.export,
            "quit": self.quit,
            "next_run": partial(self._step_run, 1),
            "previous_run": partial(self._step_run, -1),
            "flip": self._flip,
            "overlay": self._overlay,
            "overlay_all": self._overlay_all,
            "only": self._only,
            "next_plot": partial(self._step_plot, 1),
            "previous_plot": partial(self._step_plot, -1),
            "options": lambda: show.ask_options(self.refresh),
            "as_usual": self._as_usual,
            "numbers": show.show_numbers,
            "zoom_in": partial(self._zoom, 0.8),
            "zoom_out": partial(self._zoom, 1.25),
            "x_in": partial(self._zoom, 0.8, y=False),
            "x_out": partial(self._zoom, 1.25, y=False),
            "y_in": partial(self._zoom, 0.8, x=False),
            "y_out": partial(self._zoom, 1.25, x=False),
            "whole": self._whole,
            "go_runs": partial(self._go, RUNS),
            "go_plots": partial(self._go, PLOTS),
            "go_metadata": partial(self._go, METADATA),
            "go_plot": self._go_to_plot,
            "keep": lambda: show.keep_scale(self.ticks["keep"].get()),
            "side": self._set_side,
            "dark": self.set_theme,
            "test": self.testing.ask,
            "batch": self.testing.ask_batch,
            "abort": self._abort,
            "keys": lambda: self.window.show_text("Keys", actions.keys_text(self.look.say)),
            "messages": self.window.show_said,
            "about": self._about,
        }
        for name in ("no_title", "no_legend", "log", "zero"):
            commands[name] = partial(self._toggle_option, name)
        for number in range(1, 10):
            commands[f"plot{number}"] = partial(self._number_plot, number)
        return commands | {f"key:{name}": partial(self.turn, name, commands[name]) for name in TOGGLES}

    def _submenus(self) -> dict[str, Callable[[tk.Menu], None]]:
        def columns(menu: tk.Menu) -> None:
            for column in self.settings.own_columns:
                menu.add_command(label=column.key, command=partial(self._remove_column, column))
            if not self.settings.own_columns:
                menu.add_command(label=self.look.say("Make one in the metadata"), state="disabled")

        return {
            "recent": self.filing.fill_recent,
            "columns": columns,
            "scale": self.fill_scales,
            "language": self.fill_languages,
        }

    def _poll(self) -> None:
        """Take what has been read since the last time."""
        if self.filing.take() | self.testing.take():
            self.refresh()
        self.layout.status.busy(bool(self.filing.left) or self.testing.is_on)
        self.root.after(POLL_MS, self._poll)

    def refresh(self) -> None:
        """Show everything as it is now."""
        runs, show = self.runs, self.showing
        self.layout.runs.show(runs.every, runs.shown, self.settings.own_columns)
        show.draw()
        self.layout.plots.show(show.specs, show.spec)
        self.layout.bar.show(show.specs, show.spec)
        self._show_metadata()
        current = runs.current
        self.root.title(f"{current.name} – Linklab" if current is not None else f"{self.look.say('Viewer')} – Linklab")
        left = self.filing.left
        count = Phrase("{shown} of {count} shown", shown=len(runs.shown), count=len(runs.every))
        if left:
            count = Phrase("{left} still to be read", left=left)
        self.layout.status.count.configure(text=self.look.say(count) if runs.every else "")
        for name in ("no_title", "no_legend", "log", "zero"):
            self.ticks[name].set(show.is_on(name))
        self.ticks["keep"].set(show.keeps)
        self.ticks["side"].set(self.settings.shows_side)
        self.ticks["dark"].set(self.look.theme == "dark")
        self._show_zoom()

    def _show_zoom(self) -> None:
        self.layout.status.zoom.configure(text=self.look.say("enlarged") if self.showing.chart.is_zoomed else "")

    def _show_metadata(self) -> None:
        """Show those of the current run, if the table is seen: they may be many."""
        if not self.layout.is_seen(METADATA):
            return
        run = self.runs.current
        data = run.data if run is not None else None
        if self._tree[0] is not run or (self._tree[1] is None) != (data is None):
            self._tree = (run, metadata.tree_of(data) if data is not None else None)
        self.layout.metadata.show(self._tree[1])

    def _open_result(self, paths: Sequence[Path], show: bool) -> None:
        self.filing.open(paths, show=show)
        self.refresh()

    def _came(self, run: Run) -> None:
        """A run that was opened is shown: put the keys of its table on it, once it is in it."""
        self.root.after_idle(lambda: self.layout.runs.go_to(run))

    def _abort(self) -> None:
        """End the test that runs, or else what is being read."""
        if self.testing.is_on or not self.filing.left:
            self.testing.abort()
        else:
            self.filing.cancel()
            self.refresh()

    # --- runs

    def _show_run(self, run: Run) -> None:
        if run.why:
            self.window.say(run.why, bad=True)
            return
        self.runs.show(run)
        self.refresh()

    def _toggle_run(self, run: Run) -> None:
        if run.why:
            self.window.say(run.why, bad=True)
            return
        self.runs.toggle(run)
        self.refresh()

    def _overlay(self) -> None:
        """Of the row where the keys are, wherever they are now."""
        run = self.layout.runs.here
        if run is not None:
            self._toggle_run(run)

    def _overlay_all(self) -> None:
        self.runs.show_all([run for run in self.layout.runs.order if not run.why])
        self.refresh()

    def _only(self) -> None:
        if self.runs.current is not None:
            self.runs.show(self.runs.current)
            self.refresh()

    def _step_run(self, step: int) -> None:
        """Show the next run in the order of the table, at the scale of this one."""
        run = self.runs.next_to(self.layout.runs.order, step)
        if run is not None:
            self.showing.same_scale()
            self.runs.show(run)
            self.layout.runs.go_to(run)
            self.refresh()

    def _flip(self) -> None:
        self.showing.same_scale()
        self.runs.flip()
        if self.runs.current is not None:
            self.layout.runs.go_to(self.runs.current)
        self.refresh()

    def _close(self) -> None:
        """Take the run where the keys are out of the window."""
        run = self.layout.runs.here or self.runs.current
        if run is not None:
            self.runs.close(run, self.layout.runs.order)
            self.refresh()

    def _menu_of_run(self, run: Run, x: int, y: int) -> None:
        readable = not run.why
        shown = run in self.runs.shown
        over = "Take It Away" if shown else "Lay It over the Others"
        tell = partial(self.window.tell, "A file that cannot be read", run.why)
        entries: list[tuple[str, Callable[[], None] | None]] = [
            ("Show It Alone", partial(self._show_run, run) if readable else None),
            (over, partial(self._toggle_run, run) if readable else None),
            ("", None),
            ("Why It Cannot Be Read", None if readable else tell),
            ("Copy the Path", partial(self._to_clipboard, str(run.path))),
            ("Close", self._close),
        ]
        popup(self.root, entries, x, y, self.look.say)

    # --- columns and metadata

    def _menu_of_heading(self, column: Column, x: int, y: int) -> None:
        own = column in self.settings.own_columns
        entries: list[tuple[str, Callable[[], None] | None]] = [
            ("Sort", partial(self.layout.runs.sort, column)),
            ("Remove the Column", partial(self._remove_column, column) if own else None),
        ]
        popup(self.root, entries, x, y, self.look.say)

    def _make_column(self, path: metadata.Path) -> None:
        column = Column.of(path)
        if column not in self.settings.own_columns:
            self.settings.own_columns = [*self.settings.own_columns, column]
        self.window.say(Phrase("the runs have a column {key}", key=column.key))
        self.refresh()

    def _remove_column(self, column: Column) -> None:
        self.settings.own_columns = [each for each in self.settings.own_columns if each != column]
        self.refresh()

    def _copy(self, path: metadata.Path) -> None:
        try:
            value = metadata.value_at(self._tree[1] or {}, path)
        except KeyError:
            return
        self._to_clipboard(metadata.to_copy(value))
        self.window.say(Phrase("copied the value of {key}", key=metadata.SEPARATOR.join(path)))

    def _to_clipboard(self, text: str) -> None:
        self.root.clipboard_clear()
        self.root.clipboard_append(text)

    # --- plots

    def _choose_plot(self, spec: PlotSpec) -> None:
        self.showing.choose(spec)
        self.refresh()

    def _step_plot(self, step: int) -> None:
        self.showing.step(step)
        self.refresh()

    def _number_plot(self, number: int) -> None:
        if number <= len(self.showing.specs):
            self._choose_plot(self.showing.specs[number - 1])

    def _toggle_option(self, name: str) -> None:
        self.showing.toggle(name)
        self.refresh()

    def _as_usual(self) -> None:
        self.showing.change({})
        self.refresh()

    # --- the view

    def _zoom(self, factor: float, *, x: bool = True, y: bool = True) -> None:
        self.showing.chart.zoom(factor, x=x, y=y)

    def _whole(self) -> None:
        self.showing.chart.whole()

    def _go_to_plot(self) -> None:
        self.showing.chart.widget.focus_set()

    def _go(self, page: int) -> None:
        if not self.settings.shows_side:
            self.settings.shows_side = True
            self._show_side()
        self.layout.go(page)

    def _set_side(self) -> None:
        self.layout.keep_width()
        self.settings.shows_side = self.ticks["side"].get()
        self._show_side()

    def _show_side(self) -> None:
        self.layout.show_side(self.settings.shows_side)
        self._show_metadata()
        if not self.settings.shows_side:
            self.showing.chart.widget.focus_set()
        self.ticks["side"].set(self.settings.shows_side)

    # --- telling

    def tell_fault(self, detail: str) -> None:
        """Tell the person of a fault of ours."""
        note = "The viewer made a mistake. The files are as they were. What follows helps to mend the mistake."
        self.window.show_text("A fault in the viewer", detail, note)

    def _about(self) -> None:
        text = Phrase(
            "Version {version}. Shows what tests and labs measured: data files of Linklab and of Flent.\n\n"
            "Licence: BSD-3-Clause.",
            version=__version__,
        )
        self.window.tell("Linklab", text)
