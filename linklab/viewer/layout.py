# SPDX-License-Identifier: BSD-3-Clause
"""The widgets of the viewer and where each stands: tables at the left, the plot at the right."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from tkinter import ttk

from linklab.plots.spec import PlotSpec
from linklab.viewer.actions import DIGITS, MENUS
from linklab.viewer.chart import Chart, ChartNews
from linklab.viewer.metadata_table import MetadataTable
from linklab.viewer.runs_table import RunsTable, RunsTold
from linklab.viewer.settings import ViewerSettings
from linklab.viewer.tables import PlotsTable
from linklab.windows.icons import Icons
from linklab.windows.menus import MenuBar
from linklab.windows.status import StatusBar
from linklab.windows.theme import Look
from linklab.windows.tips import Tip
from linklab.windows.toplevel import FRAME
from linklab.windows.words import Phrase

SIDE, SIDE_NARROW = 400, 210
MOST_SIDE = 0.45
"""The share of the window's width that the tables have at most, unless a person draws them wider."""
RUNS, PLOTS, METADATA = range(3)
TITLES = ("Runs", "Plots", "Metadata")
"""Of the tables at the left."""


@dataclass(frozen=True)
class ViewerCallbacks:
    """What the widgets call.

    commands: what each action does; submenus: what fills each. runs, plot: of the tables. copy, column: of metadata.
    """

    commands: Mapping[str, Callable[[], None]]
    submenus: Mapping[str, Callable[[tk.Menu], None]]
    runs: RunsTold
    plot: Callable[[PlotSpec], None]
    copy: Callable[[tuple[str, ...]], None]
    column: Callable[[tuple[str, ...]], None]
    zoomed: Callable[[], None]


class ViewerLayout:
    """Menu bar above, tables at the left, the plot with its bar at the right, the status line below."""

    def __init__(
        self,
        root: tk.Tk,
        look: Look,
        settings: ViewerSettings,
        ticks: dict[str, tk.BooleanVar],
        callbacks: ViewerCallbacks,
    ) -> None:
        self._root, self._look, self._settings = root, look, settings
        self.icons = Icons(root)
        px = look.px
        menu_bar = px(30)  # which Tk does not count as part of the height
        most = (root.winfo_screenwidth() - FRAME[0], root.winfo_screenheight() - FRAME[1] - menu_bar)
        wide, high = (min(want, has) for want, has in zip((px(1180), px(740)), most, strict=True))
        root.geometry(settings.geometry or f"{wide}x{high}")
        root.minsize(min(px(640), most[0]), min(px(400), most[1]))
        root.iconphoto(True, self.icons.get("chart", 64, look.palette.accent, "#ffffff"))
        commands = callbacks.commands
        self.menus = MenuBar(root, MENUS, commands, callbacks.submenus, ticks, say=look.say, anywhere=ANYWHERE)
        for action in DIGITS:
            self.menus.bind(action)
        self.status = StatusBar(root, look, commands["abort"], commands["messages"])
        self.status.pack(side="bottom", fill="x")
        ttk.Separator(root).pack(side="bottom", fill="x")
        self.halves = ttk.PanedWindow(root, orient="horizontal")
        self.halves.pack(side="top", fill="both", expand=True)
        self.side = ttk.Notebook(self.halves, width=px(settings.side or (SIDE_NARROW if look.is_narrow else SIDE)))
        self.side.enable_traversal()
        self.runs = RunsTable(self.side, look, self.icons, callbacks.runs)
        self.plots = PlotsTable(self.side, look, callbacks.plot)
        self.metadata = MetadataTable(self.side, look, copy=callbacks.copy, column=callbacks.column)
        for page, title in zip((self.runs, self.plots, self.metadata), TITLES, strict=True):
            self.side.add(page, text=look.say(title))
        right = ttk.Frame(self.halves)
        self.bar = PlotBar(right, look, self.icons, commands, callbacks.plot)
        self.bar.pack(side="top", fill="x")
        self.values = ttk.Label(right, text="", style="Panel.TLabel", padding=(px(10), px(3)), anchor="w")
        if not look.is_narrow:
            self.values.pack(side="bottom", fill="x")
        self.chart = Chart(right, look, ChartNews(self._say_values, callbacks.zoomed))
        self.chart.pack(side="top", fill="both", expand=True)
        self.halves.add(right, weight=1)
        self.halves.bind("<Configure>", self._share_room)
        self.show_side(settings.shows_side)
        self.runs.restyle()

    def _share_room(self, event: tk.Event[tk.Misc]) -> None:
        """Leave the plot its share of a window that becomes narrow."""
        most = round(event.width * MOST_SIDE)
        if self._settings.shows_side and event.width > 1 and self.side.winfo_width() > most:
            self.halves.sashpos(0, most)  # type: ignore[no-untyped-call] # typeshed

    def _say_values(self, words: str) -> None:
        self.values.configure(text=words)
        if self._look.is_narrow:  # there is room for one line
            self.status.say(words)

    def show_side(self, wanted: bool) -> None:
        """Show the tables at the left, or give their room to the plot."""
        there = str(self.side) in map(str, self.halves.panes())  # type: ignore[no-untyped-call] # typeshed
        if wanted and not there:
            self.halves.insert(0, self.side, weight=0)
        elif there and not wanted:
            self.halves.forget(self.side)

    def is_seen(self, page: int) -> bool:
        """Whether this one of the tables is."""
        chosen = self.side.index(self.side.select())  # type: ignore[no-untyped-call] # typeshed
        return self._settings.shows_side and int(chosen) == page

    def keep_width(self) -> None:
        """Remember how wide the tables are."""
        if self._settings.shows_side and self.side.winfo_width() > 1:
            self._settings.side = round(self.side.winfo_width() / self._look.scale)

    def go(self, page: int) -> None:
        """Turn to one of the tables, with the keys."""
        self.side.select(page)  # type: ignore[no-untyped-call] # typeshed
        (self.runs.tree, self.plots.tree, self.metadata.table.tree)[page].focus_set()


ANYWHERE = ("quit", "test", "batch", "abort", "go_runs", "go_plots", "go_metadata", "go_plot", "dark", "side", "save")
"""Actions whose keys also work in a field, because they do not type a letter."""


AT_RIGHT = (
    ("options", "options", Phrase("Options of the plot (Ctrl+,)")),
    ("save", "save", Phrase("Save the figure (Ctrl+S)")),
    ("whole", "fit", Phrase("All of it (Home)")),
    ("flip", "flip", Phrase("Flip to what was shown before (F)")),
)
"""Buttons at the right of the bar, from the right; on a narrow screen the first one alone."""


class PlotBar(ttk.Frame):
    """Which plot it is, and what is done most often."""

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        icons: Icons,
        commands: Mapping[str, Callable[[], None]],
        choose: Callable[[PlotSpec], None],
    ) -> None:
        super().__init__(master, style="Panel.TFrame", padding=look.px(4))
        self.look, self._icons, self._specs = look, icons, list[PlotSpec]()
        self._buttons: dict[str, ttk.Button] = {}
        for name, icon, tip in (
            ("previous_plot", "back", "Previous plot (Ctrl+←)"),
            ("next_plot", "on", "Next plot (Ctrl+→)"),
        ):
            self._button(name, icon, tip, commands[name], side="left")
        for name, icon, tip in AT_RIGHT[: 1 if look.is_narrow else None]:
            self._button(name, icon, tip, commands[name], side="right")
        self.which = ttk.Combobox(self, state="readonly", width=12)
        self.which.pack(side="left", fill="x", expand=True, padx=look.px(6))
        self.which.bind("<<ComboboxSelected>>", lambda _: self._chosen(choose))
        Tip(self.which, look, "The plot; 1 to 9 choose the first ones")
        self.restyle()

    def _button(self, name: str, icon: str, tip: str, command: Callable[[], None], *, side: str) -> None:
        button = ttk.Button(self, command=command, style="Flat.TButton", takefocus=True, name=name)
        button.pack(side="left" if side == "left" else "right", padx=self.look.px(1))
        Tip(button, self.look, tip)
        self._buttons[icon] = button

    def _chosen(self, choose: Callable[[PlotSpec], None]) -> None:
        at = self.which.current()
        if 0 <= at < len(self._specs):
            choose(self._specs[at])
        self.which.selection_clear()

    def restyle(self) -> None:
        """Take the theme."""
        p = self.look.palette
        for icon, button in self._buttons.items():
            button.configure(image=self._icons.get(icon, self.look.px(18), p.ink, p.panel))

    def show(self, specs: Sequence[PlotSpec], chosen: PlotSpec | None) -> None:
        """Show these plots, and which of them is drawn."""
        if list(specs) != self._specs:
            self._specs = list(specs)
            self.which.configure(values=[f"{spec.name} – {spec.description}" for spec in specs])
        if chosen is not None and chosen in self._specs:
            self.which.current(self._specs.index(chosen))
        else:
            self.which.set("")
