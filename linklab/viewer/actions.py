# SPDX-License-Identifier: BSD-3-Clause
"""Everything that can be done in the viewer, once: its name in the menu, its key, and which menu holds it. Pure."""

from __future__ import annotations

from linklab.base.catalogue import Say, unchanged
from linklab.windows.actions import LINE, Action, Menu, as_table, in_dialogs, rows_of


def _a(name: str, label: str, key: str = "", *events: str, toggles: bool = False) -> Action:
    return Action(name, label, key, events, toggles=toggles)


MENUS: dict[str, Menu] = {  # Alt with the letter behind & opens the menu
    "&File": (
        _a("open", "Open…", "Ctrl+O", "<Control-o>"),
        _a("recent", "Open Recent"),
        _a("close", "Close the Run", "Ctrl+W", "<Control-w>"),
        LINE,
        _a("save", "Save the Figure…", "Ctrl+S", "<Control-s>"),
        _a("export", "Export Numbers…", "Ctrl+E", "<Control-e>"),
        LINE,
        _a("quit", "Quit", "Ctrl+Q", "<Control-q>"),
    ),
    "&Compare": (
        _a("next_run", "Next Run at This Scale", "Ctrl+↓", "<Control-Down>"),
        _a("previous_run", "Previous Run at This Scale", "Ctrl+↑", "<Control-Up>"),
        _a("flip", "Flip to What Was Shown Before", "F", "<Key-f>"),
        LINE,
        _a("overlay", "Lay the Run over the Others, or Take It Away", "Space"),
        _a("overlay_all", "Lay All Runs over Each Other", "Ctrl+A", "<Control-a>"),
        _a("only", "Show the Current Run Alone", "Escape", "<Escape>"),
        LINE,
        _a("columns", "Remove a Column"),
    ),
    "&Plot": (
        _a("next_plot", "Next Plot", "Ctrl+→", "<Control-Right>"),
        _a("previous_plot", "Previous Plot", "Ctrl+←", "<Control-Left>"),
        LINE,
        _a("options", "Options…", "Ctrl+,", "<Control-comma>"),
        _a("no_title", "Without a Title", "T", "<Key-t>", toggles=True),
        _a("no_legend", "Without a Legend", "L", "<Key-l>", toggles=True),
        _a("log", "Logarithmic Y Axis", "G", "<Key-g>", toggles=True),
        _a("zero", "Y Axis from Zero", "Z", "<Key-z>", toggles=True),
        _a("as_usual", "Forget All Options"),
        LINE,
        _a("numbers", "Numbers of What Is Shown", "Ctrl+I", "<Control-i>"),
    ),
    "&View": (
        _a("zoom_in", "Zoom In", "+", "<plus>", "<KP_Add>", "<equal>"),
        _a("zoom_out", "Zoom Out", "-", "<minus>", "<KP_Subtract>"),
        _a("x_in", "Zoom In, X Alone", "X", "<Key-x>"),
        _a("x_out", "Zoom Out, X Alone", "Shift+X", "<Key-X>"),
        _a("y_in", "Zoom In, Y Alone", "Y", "<Key-y>"),
        _a("y_out", "Zoom Out, Y Alone", "Shift+Y", "<Key-Y>"),
        _a("whole", "All of It", "Home", "<Home>", "<Key-0>"),
        _a("keep", "Keep the Scale", "K", "<Key-k>", toggles=True),
        LINE,
        _a("go_runs", "Go to the Runs", "F2", "<F2>"),
        _a("go_plots", "Go to the Plots", "F3", "<F3>"),
        _a("go_metadata", "Go to the Metadata", "F4", "<F4>"),
        _a("go_plot", "Go to the Plot", "F6", "<F6>"),
        _a("side", "Tables at the Left", "Ctrl+B", "<Control-b>", toggles=True),
        LINE,
        _a("dark", "Dark Theme", "F9", "<F9>", toggles=True),
        _a("scale", "Size of Everything"),
        _a("language", "Language"),
    ),
    "&Run": (
        _a("test", "New Test…", "F5", "<F5>"),
        _a("batch", "Batch…", "Shift+F5", "<Shift-F5>"),
        _a("abort", "Abort, and Keep What Was Measured", "Ctrl+.", "<Control-period>"),
    ),
    "&Help": (
        _a("keys", "Keys", "Ctrl+/", "<Control-slash>"),
        _a("messages", "Messages", "Shift+F1", "<Shift-F1>"),
        _a("about", "About Linklab"),
    ),
}

IN_WINDOW = (
    ("1 … 9", "the plot of that number"),
    ("Space", "in the runs: lay one over the others, or take it away"),
    ("Return", "in the runs: show this one alone"),
    ("←, →", "in the plot: the values of the next point of a series"),
    ("↑, ↓", "in the plot: another series"),
    ("Shift+Arrows", "in the plot: move what is seen"),
    ("C", "in the metadata: make the key a column of the runs"),
    ("/", "in the metadata: search"),
    ("Wheel", "zoom; with Ctrl Y alone, with Shift X alone"),
    ("Drag", "zoom to the frame that is drawn"),
    ("Middle button, Shift+drag", "move what is seen"),
    ("Double click", "all of it"),
    ("Ctrl+click", "lay a run over the others"),
)

DIGITS = tuple(Action(f"plot{digit}", "", str(digit), (f"<Key-{digit}>",)) for digit in range(1, 10))
"""Keys that no menu has."""


def keys_text(say: Say = unchanged) -> str:
    """All keys as a table, for Help > Keys."""
    rows = [*rows_of(MENUS, say), *((say(key), say(what)) for key, what in IN_WINDOW), *in_dialogs(say)]
    return as_table(rows)
