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
from linklab.viewer.comparing import Comparing
from linklab.viewer.filing import OpenAndSave
from linklab.viewer.layout import METADATA, PLOTS, RUNS, ViewerCallbacks, ViewerLayout
from linklab.viewer.reading import Reader
from linklab.viewer.runs import Run, Runs
from linklab.viewer.runs_table import RunsTold
from linklab.viewer.settings import ViewerSettings, load_settings, save_settings
from linklab.viewer.showing import Showing
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
        self.comparing = Comparing(self.window, self.runs, self.showing, lambda: self.layout.runs, self.refresh)
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
        """Close the window; if a test is running, ask first."""
        if self.testing.is_on:
            text = "A test is running. It ends with the window; what it measured up to now is kept."
            self.window.ask("A Test Is Running", text, [("Abort and Quit", self.leave), ("Go On", lambda: None)])
        else:
            self.leave()

    def leave(self) -> None:
        """Keep the settings, end the test, and close the window."""
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
        told = RunsTold(self.comparing.show, self.comparing.toggle, self.comparing.menu, self._menu_of_heading)
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
            "close": self.comparing.close,
            "save": files.save,
            "export": files.export,
            "quit": self.quit,
            "next_run": partial(self.comparing.step, 1),
            "previous_run": partial(self.comparing.step, -1),
            "flip": self.comparing.flip,
            "overlay": self.comparing.overlay,
            "overlay_all": self.comparing.overlay_all,
            "only": self.comparing.only,
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
        """Show the metadata of the current run, if their table is seen: filling it takes time."""
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
        """Choose the row of a run that was opened, once the table has it."""
        self.root.after_idle(lambda: self.layout.runs.go_to(run))

    def _abort(self) -> None:
        """End the test that runs, or else what is being read."""
        if self.testing.is_on or not self.filing.left:
            self.testing.abort()
        else:
            self.filing.cancel()
            self.refresh()

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
        self.window.copy(metadata.to_copy(value))
        self.window.say(Phrase("copied the value of {key}", key=metadata.SEPARATOR.join(path)))

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
        """Show a fault of the viewer with its traceback."""
        note = "The viewer made a mistake. The files are as they were. What follows helps to mend the mistake."
        self.window.show_text("A fault in the viewer", detail, note)

    def _about(self) -> None:
        text = Phrase(
            "Version {version}. Shows what tests and labs measured: data files of Linklab and of Flent.\n\n"
            "Licence: BSD-3-Clause.",
            version=__version__,
        )
        self.window.tell("Linklab", text)
