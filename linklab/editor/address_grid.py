# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the table of addresses: node and port stay at the left, the other columns scroll sideways beside them.

Columns are as wide as what stands in them, within limits, so that a cell can be read however narrow the screen is. Only
the rows that are seen have widgets. `address_window` says what the cells show and takes what is typed into them.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from tkinter import ttk
from typing import Protocol

from linklab.editor.address_table import COLUMNS, EDITABLE, TITLES, Cell, PortRow
from linklab.editor.surface import least_shift
from linklab.windows.theme import Look

FROZEN = ("node", "port")
LETTERS = {
    "node": (6, 15),
    "port": (9, 15),
    "peer": (9, 15),
    "ipv4": (18, 36),
    "ipv6": (18, 44),
    "gateway": (18, 18),
    "routes": (25, 60),
}
"""The least and the most of each column; 15 is the longest name of an interface."""
SIGNS = {"error": "✗", "warning": "!"}


class Owner(Protocol):
    """What the cells belong to."""

    look: Look

    @property
    def is_locked(self) -> bool:
        """Whether nothing can be changed now."""
        ...

    def text_of(self, row: PortRow, column: str) -> str:
        """What a cell shows."""
        ...

    def said_of(self, cell: Cell) -> tuple[str, str]:
        """("error" or "warning" or "", sentence) of a cell."""
        ...

    def sort(self, column: str) -> None:
        """By this column."""
        ...

    def entered(self, line: GridLine, column: str) -> None:
        """A cell has the focus now."""
        ...

    def left(self, line: GridLine, column: str) -> None:
        """A cell has lost the focus."""
        ...

    def escaped(self, line: GridLine, column: str) -> str | None:
        """Escape was pressed in a cell; "break" where that was of use there."""
        ...

    def pasted(self, line: GridLine, column: str) -> str | None:
        """Something is pasted into a cell; "break" where the table took it."""
        ...

    def move(self, place: int, column: str, by: int) -> str:
        """Go to the cell above or below."""
        ...


class AddressGrid(ttk.Frame):
    """Headings, the lines that are seen, and a bar below them where the columns do not fit."""

    def __init__(self, master: tk.Misc, owner: Owner, moved: Callable[[], None]) -> None:
        """moved: is called when the columns have been scrolled."""
        super().__init__(master)
        self.owner, self.look, self._moved = owner, owner.look, moved
        self.frozen = ttk.Frame(self)
        self.canvas = tk.Canvas(self, highlightthickness=0, borderwidth=0)
        self.free = ttk.Frame(self.canvas)
        self._item = self.canvas.create_window(0, 0, anchor="nw", window=self.free)
        self._across = ttk.Scrollbar(self, orient="horizontal", command=self._scrolled)
        self.canvas.configure(xscrollcommand=self._across.set)
        self.columnconfigure(1, weight=1)
        self.frozen.grid(row=0, column=0, sticky="n")
        self.canvas.grid(row=0, column=1, sticky="new")
        self.headings: dict[str, ttk.Button] = {}
        for i, column in enumerate(COLUMNS):
            frame = self.side(column)
            head = ttk.Button(frame, command=partial(owner.sort, column), style="Heading.TButton", width=1)
            head.grid(row=0, column=i + 1, sticky="ew")
            self.headings[column] = head
            frame.columnconfigure(i + 1, weight=LETTERS[column][0] if column in EDITABLE else 0)
        self.lines: list[GridLine] = []
        self.free.bind("<Configure>", lambda _: self.fit())
        self.canvas.bind("<Configure>", lambda _: self.fit())
        self.bind_all_wheels()
        self.restyle()

    def bind_all_wheels(self) -> None:
        """The wheel with Shift goes sideways, wherever in the dialog the pointer is."""
        for event, steps in (("<Shift-Button-4>", -1), ("<Shift-Button-5>", 1)):
            self.winfo_toplevel().bind(event, lambda _, by=steps: self._scrolled("scroll", str(by), "units"))  # type: ignore[misc]

    def restyle(self) -> None:
        """Take the theme."""
        self.canvas.configure(background=self.look.palette.window)

    def side(self, column: str) -> ttk.Frame:
        """The frame that a column is in."""
        return self.frozen if column in FROZEN else self.free

    def add_line(self) -> None:
        """One more row that is seen, as high at both sides."""
        line = GridLine(self.owner, self, len(self.lines))
        self.lines.append(line)
        high = max(field.winfo_reqheight() for field in line.fields.values()) + 2 * self.look.px(1)
        heading = self.headings["node"].winfo_reqheight()
        for frame in (self.frozen, self.free):
            frame.rowconfigure(0, minsize=heading)
            frame.rowconfigure(line.place + 1, minsize=high)

    def give_widths(self, table: Sequence[PortRow]) -> None:
        """Make each column as wide as its longest text asks for."""
        for column, (least, most) in LETTERS.items():
            longest = max((len(row.texts[column]) for row in table), default=0)
            letters = min(max(least, longest + 1), most)
            for line in self.lines:
                widget = line.fields.get(column) or line.labels[column]
                if widget.cget("width") != letters:
                    widget.configure(width=letters)

    def fit(self, most: int = 0) -> None:
        """Give the columns the room that there is, and show the bar where that does not do; most: to ask for."""
        wide, high = self.free.winfo_reqwidth(), self.free.winfo_reqheight()
        self.canvas.configure(height=high, scrollregion=(0, 0, wide, high))
        if most:
            self.canvas.configure(width=min(wide, max(1, most - self.frozen.winfo_reqwidth())))
        has = self.canvas.winfo_width()
        self.canvas.itemconfigure(self._item, width=max(wide, has))
        if has <= 1:
            return
        if wide > has and not self._across.winfo_manager():
            self._across.grid(row=1, column=1, sticky="ew")
        elif wide <= has:
            self._across.grid_remove()

    def see(self, field: tk.Misc) -> None:
        """Scroll sideways until a cell is seen whole."""
        left = field.winfo_rootx() - self.free.winfo_rootx()
        first = self.canvas.canvasx(0)
        shown = (first, first + self.canvas.winfo_width())
        shift = least_shift((left, left + field.winfo_width()), shown, self.look.px(2))
        if shift:
            self.canvas.xview_moveto((first + shift) / max(1, self.free.winfo_width()))
            self.update_idletasks()
            self._moved()

    def _scrolled(self, *words: str) -> None:
        self.canvas.xview(*words)
        self.update_idletasks()
        self._moved()

    def cells(self) -> Iterator[tuple[GridLine, str, Cell]]:
        """Every cell that is seen: its line, its column, its name."""
        for line in self.lines:
            if line.row is not None:
                for column in line.fields:
                    yield line, column, (line.row.port, column)

    def show_headings(self, by: str, *, descending: bool) -> None:
        """The titles, with an arrow at the column by which they are sorted."""
        arrow = " ▾" if descending else " ▴"
        for column, head in self.headings.items():
            head.configure(text=self.owner.look.say(TITLES[column]) + (arrow if column == by else ""))


class GridLine:
    """The widgets of one row that is seen."""

    def __init__(self, owner: Owner, grid: AddressGrid, place: int) -> None:
        self.owner, self.place = owner, place
        self.row: PortRow | None = None
        px = owner.look.px
        self.sign = ttk.Label(grid.frozen, text="", width=2, anchor="center")
        self.sign.grid(row=place + 1, column=0)
        self.labels: dict[str, ttk.Label] = {}
        self.fields: dict[str, ttk.Entry] = {}
        for i, column in enumerate(COLUMNS):
            if column not in EDITABLE:
                self.labels[column] = ttk.Label(grid.side(column), text="", width=LETTERS[column][0])
                self.labels[column].grid(row=place + 1, column=i + 1, sticky="w", padx=px(6))
            else:
                self.fields[column] = self._field(grid.side(column), column)
                self.fields[column].grid(row=place + 1, column=i + 1, sticky="ew", padx=px(1), pady=px(1))

    def _field(self, frame: ttk.Frame, column: str) -> ttk.Entry:
        owner, field = self.owner, ttk.Entry(frame, width=LETTERS[column][0])
        for event, do in (
            ("<FocusIn>", owner.entered),
            ("<FocusOut>", owner.left),
            ("<Escape>", owner.escaped),
            ("<<Paste>>", owner.pasted),
        ):
            field.bind(event, lambda _, do=do: do(self, column))  # type: ignore[misc]
        for event, by in (("<Up>", -1), ("<Down>", 1), ("<Return>", 1), ("<KP_Enter>", 1)):
            field.bind(event, lambda _, by=by: owner.move(self.place, column, by))  # type: ignore[misc]
        return field

    def show(self, row: PortRow | None) -> None:
        """Show a row; None leaves the line empty."""
        self.row = row
        worst = ""
        for column, label in self.labels.items():
            label.configure(text=row.texts[column] if row else "")
        for column, field in self.fields.items():
            severity = self._show(row, column, field)
            worst = severity if severity == "error" or not worst else worst
        p = self.owner.look.palette
        colour = {"error": p.bad, "warning": p.warn}.get(worst, p.ink)
        self.sign.configure(text=SIGNS.get(worst, ""), foreground=colour)

    def _show(self, row: PortRow | None, column: str, field: ttk.Entry) -> str:
        """Show one cell; how bad what is said of it is."""
        text = self.owner.text_of(row, column) if row else ""
        if field.get() != text:
            field.configure(state="normal")
            field.delete(0, "end")
            field.insert(0, text)
        if row is None or not row.editable(column):
            field.configure(style="TEntry", state="disabled")
            field.grid_remove()
            return ""
        severity, _ = self.owner.said_of((row.port, column))
        counted = column == "ipv4" and row.automatic and text == row.texts[column]
        plain = "Counted.TEntry" if counted else "TEntry"
        style = {"error": "Wrong.TEntry", "warning": "Doubt.TEntry"}.get(severity, plain)
        field.configure(style=style, state="readonly" if self.owner.is_locked else "normal")
        field.grid()
        return severity
