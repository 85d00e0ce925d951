# SPDX-License-Identifier: BSD-3-Clause
"""What the plot shows: which plot of the shown runs, with which options, at which scale."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from linklab.plots.named import Loaded, Options, draw
from linklab.plots.spec import PlotSpec
from linklab.viewer.chart import Chart
from linklab.viewer.drawable import drawable
from linklab.viewer.numbers import summary
from linklab.viewer.options import PAGES, options_of, sound, texts_of, toggled
from linklab.viewer.runs import Run, Runs
from linklab.viewer.scale import AxisLimits
from linklab.viewer.settings import ViewerSettings
from linklab.windows.dialogs import FormDialog
from linklab.windows.theme import Look
from linklab.windows.window import Window
from linklab.windows.words import Phrase

LOW_IN = 2.6

TOGGLED: Mapping[str, tuple[str, Any, Any]] = {
    "no_title": ("no_title", "1", None),
    "no_legend": ("legend", "none", None),
    "log": ("log_y", "10", None),
    "zero": ("zero", "1", None),
}
"""Option of the menu → key of what is remembered, its value when on and when off."""


class Showing:
    """The plot of the window; `chart` is set before anything is drawn, and again when the widgets are made anew."""

    chart: Chart

    def __init__(self, window: Window, runs: Runs, settings: ViewerSettings) -> None:
        self.window, self.runs, self.settings = window, runs, settings
        settings.options = sound(settings.options)
        self.options: Options = options_of(settings.options)
        self.specs: list[PlotSpec] = []
        self.spec: PlotSpec | None = None
        self.keeps = False
        self._loaded: dict[int, Loaded] = {}
        self._of: tuple[Any, ...] = ()
        self._drawn: tuple[Any, ...] = ()
        self._keep: tuple[AxisLimits, ...] = ()
        self._limits: dict[str, tuple[AxisLimits, ...]] = {}
        self._why = ""
        self._form: tk.Misc | None = None

    @property
    def loaded(self) -> list[Loaded]:
        """The shown runs that are read, as plots take them."""
        return [self._as_loaded(run) for run in self.runs.shown if run.data is not None]

    def _as_loaded(self, run: Run) -> Loaded:
        found = self._loaded.get(id(run))
        if found is None or found.data is not run.data or found.name != run.name:
            assert run.data is not None
            found = self._loaded[id(run)] = Loaded(run.name, run.data)
        return found

    def draw(self) -> None:
        """Draw the plot, unless the window shows it already."""
        open_now = {id(run) for run in self.runs.every}
        self._loaded = {key: one for key, one in self._loaded.items() if key in open_now}
        loaded = self.loaded
        of = tuple(loaded)
        if of != self._of:
            self._of = of
            self._find_plots(loaded)
        waiting = any(run.is_waiting for run in self.runs.every)
        wanted = (of, self.spec, self.options, not loaded and waiting)
        if wanted == self._drawn:
            return
        self._note()
        keep = self._scale()
        self._drawn, self._keep = wanted, ()
        spec, options, specs = self.spec, self.options, self.specs
        if spec is None:
            self.chart.show(self._hint, ())
            return
        names = [one.name for one in loaded]
        like = (spec.name, len(loaded), options.legend, options.title, options.annotation)
        kept = self.chart.show(
            lambda figure: draw(figure, spec, loaded, fitting(options, figure), specs), names, keep, like
        )
        if keep and not kept:
            self.window.say("the scale could not be kept: the axes are others")

    def _scale(self) -> Sequence[AxisLimits]:
        """The limits that the next drawing is to have: of a flip, or those that are kept."""
        if self._keep:
            same_plot = bool(self._drawn) and self._drawn[1] == self.spec
            return self._keep if same_plot else ()
        if self.keeps and self.spec is not None:
            return self._limits.get(self.spec.name, ())
        if self._drawn and self._drawn[:2] == (self._of, self.spec) and looks_alone(self._drawn[2], self.options):
            return self.chart.limits if self.chart.is_zoomed else ()
        return ()

    def _find_plots(self, loaded: Sequence[Loaded]) -> None:
        """The plots of what is shown now; the one that was seen stays, if it still is one."""
        if not loaded:
            self.specs, self.spec = [], None
            return
        found = drawable(loaded)
        self.specs = found.specs
        if found.why and found.why != self._why:
            self.window.say(found.why, bad=True)
        self._why = found.why
        by_name = {spec.name: spec for spec in self.specs}
        wanted = self.spec.name if self.spec is not None else self.settings.plot
        self.spec = by_name.get(wanted) or found.default

    def _hint(self, figure: Figure) -> None:
        waiting = any(run.is_waiting for run in self.runs.every)
        words = Phrase("reading …") if waiting else Phrase("Open data files with Ctrl+O, or run a test with F5.")
        figure.clear()
        figure.text(0.5, 0.5, self.window.look.say(words), ha="center", va="center", size=10)

    def forget(self) -> None:
        """Draw anew the next time, even if nothing has changed."""
        self._drawn = ()

    # --- which plot

    def choose(self, spec: PlotSpec) -> None:
        """Show this plot."""
        self.spec = spec
        self.settings.plot = spec.name

    def step(self, by: int) -> None:
        """Show the plot that many places further, from the first again."""
        if self.specs:
            at = self.specs.index(self.spec) if self.spec in self.specs else -by
            self.choose(self.specs[(at + by) % len(self.specs)])

    # --- scale

    def same_scale(self) -> None:
        """Give the next plot the limits of this one."""
        if self._drawn and self.spec is not None:
            self._keep = self.chart.limits

    def keep_scale(self, wanted: bool) -> None:
        """Keep the limits of each plot for all runs, or stop keeping them."""
        self.keeps = wanted
        self._limits = {}
        self._note()

    def _note(self) -> None:
        """Remember the scale of the plot that is seen, if scales are kept."""
        spec = self._drawn[1] if self._drawn else None
        if self.keeps and spec is not None:
            self._limits[spec.name] = self.chart.limits

    # --- options

    def is_on(self, name: str) -> bool:
        """Whether an option of the menu is on."""
        key, on, off = TOGGLED[name]
        return bool(self.settings.options.get(key, off) == on)

    def toggle(self, name: str) -> None:
        """Switch an option of the menu on or off."""
        self.change(toggled(self.settings.options, *TOGGLED[name]))

    def change(self, chosen: Mapping[str, Any]) -> None:
        """Take other options, and remember them.

        Raises:
            InputError: two do not go together.
        """
        self.options = options_of(chosen)
        self.settings.options = dict(chosen)

    def ask_options(self, changed: Callable[[], None]) -> None:
        """Open the dialog of the options, which stays while others are tried."""
        if self._form is not None and self._form.winfo_exists():
            self._form.focus_set()
            return

        def take(data: dict[str, Any]) -> None:
            self.change(data)
            changed()

        self._form = OptionsDialog(self.window.root, self.window.look, texts_of(self.settings.options), take)

    def show_numbers(self) -> None:
        """The numbers of what is shown, as a table to read or copy."""
        if self.spec is None:
            self.window.say("there is nothing to compute")
            return
        text = summary(self.spec, self.loaded, self.options, self.specs)
        self.window.show_text(
            "Numbers of What Is Shown",
            text,
            "Of the series that the plot draws, cut and smoothed as it is. The command linklab test summary says the "
            "same, with the same --cutoff and --smooth.",
        )


LOOKS = ("title", "legend", "legend_title", "labels", "colour_by", "style", "note", "annotation", "markers")
"""Options that do not change what the axes show."""


def looks_alone(before: Options, after: Options) -> bool:
    """Whether options differ in words and looks alone, so that what is enlarged stays so."""
    return replace(before, **{name: getattr(after, name) for name in LOOKS}) == after


def fitting(options: Options, figure: Figure) -> Options:
    """The options for a figure in the window: a low one has no words around it, which the window says as well."""
    high = figure.get_size_inches()[1]
    if high >= LOW_IN:
        return options
    return replace(options, annotation=False, note="", title=options.title or "")


class OptionsDialog(FormDialog):
    """The options, to be tried with Apply."""

    def __init__(
        self, master: tk.Misc, look: Look, data: Mapping[str, Any], take: Callable[[dict[str, Any]], None]
    ) -> None:
        super().__init__(master, look, "Options of the Plot", pages=PAGES, data=data, take=take)
        self.button("Apply", self._try)

    def _try(self) -> None:
        self.apply()
