# SPDX-License-Identifier: BSD-3-Clause
"""The window of all addresses: `address_table` on the screen, each cell a field that is typed into.

A cell is taken when it is left; what is wrong stays there in red with its sentence below it, until it is mended or
Escape gives it up. The window follows the drawing and can only be read while the network runs. Its cells are those of
`address_grid`.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk

from linklab.editor import address_table
from linklab.editor.address_grid import SIGNS, AddressGrid, GridLine
from linklab.editor.address_table import EDITABLE, TITLES, Cell, PortRow
from linklab.editor.document import Document
from linklab.errors import InputError
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog
from linklab.windows.words import Phrase, of_number

WRAP = 800
BUBBLE = 360
MOST_SHOWN, FEWEST_SHOWN = 12, 3
READ_ONLY = "The network is running: stop it to change addresses."
HELP = (
    "Several addresses or routes are separated by commas: 10.0.3.0/24 via 10.0.2.2, default via 10.0.2.9. "
    "An address in grey is counted from the host's number."
)
SHORT_HELP = "Put commas between several values. Grey: by the host's number."
"""Where there is room for a single line."""


class AddressWindow(Dialog):
    """The table of one document."""

    _is_filled = False

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        document: Document,
        *,
        locked: Callable[[], bool],
        assign: Callable[[], None],
    ) -> None:
        super().__init__(master, look, "Addresses and Routes")
        self.document, self._locked = document, locked
        self.sorted_by, self.descending = "", False
        self.table: list[PortRow] = []
        self.top = 0
        self.typed: dict[Cell, str] = {}
        self.wrong: dict[Cell, str] = {}
        self.doubts: dict[Cell, tuple[str, str]] = {}
        self.focused: Cell | None = None
        self._wide = self.maxsize()[0] - 2 * look.px(16)
        wrap = min(look.px(WRAP), self._wide)
        self.button("Close", self.close, style="Accent.TButton")
        self.button("Copy All", self.copy)
        self.button("Paste", self.paste_at_focus)
        self.assign_button = self.button("Assign Addresses…", assign, side="left")
        help_text = SHORT_HELP if look.is_narrow else HELP
        ttk.Label(self.body, text=look.say(help_text), style="Muted.TLabel", wraplength=wrap).pack(anchor="w")
        self.message = ttk.Label(self.body, text="\n", wraplength=wrap)
        self.message.pack(side="bottom", fill="x", pady=(look.px(6), 0))
        frame = ttk.Frame(self.body)
        frame.pack(fill="both", expand=True, pady=(look.px(8), 0))
        self.bar = ttk.Scrollbar(frame, orient="vertical", command=self._scrolled)
        self._bar_wide = self.bar.winfo_reqwidth()
        self.grid_of_cells = AddressGrid(frame, self, self.explain)
        self.grid_of_cells.pack(side="left", fill="both", expand=True)
        self.headings, self.lines = self.grid_of_cells.headings, self.grid_of_cells.lines
        self._add_lines()
        self.bubble = tk.Label(self, justify="left", wraplength=look.px(BUBBLE), borderwidth=1, relief="solid")
        for event, step in (("<Button-4>", -1), ("<Button-5>", 1), ("<Prior>", -self.shown), ("<Next>", self.shown)):
            self.bind(event, lambda _, by=step: self.scroll(by))  # type: ignore[misc]
        self.protocol("WM_DELETE_WINDOW", self.close)
        self._is_filled = True
        self.follow()
        self.update_idletasks()
        self.grid_of_cells.fit(self._wide - self._bar_wide)
        self.open(self.lines[0].fields["ipv4"])

    def _add_lines(self) -> None:
        """As many as there is room for on the screen, with a message of two lines."""
        grid = self.grid_of_cells
        for _ in range(FEWEST_SHOWN):
            grid.add_line()
        self.update_idletasks()
        grid.fit(self._wide)
        self.update_idletasks()
        row = grid.frozen.grid_bbox(0, 1)
        assert row is not None
        room = (self.maxsize()[1] - self.winfo_reqheight() - self._bar_wide) // max(1, row[3])
        for _ in range(min(room, MOST_SHOWN - FEWEST_SHOWN)):
            grid.add_line()
        self.shown = len(self.lines)

    def restyle(self) -> None:
        """Take the theme."""
        super().restyle()
        self._styles()
        if self._is_filled:
            self.follow()

    def _styles(self) -> None:
        style, p = ttk.Style(self), self.look.palette
        style.configure("Heading.TButton", padding=(self.look.px(6), self.look.px(3)), anchor="w")
        for name, colour in (("Wrong.TEntry", p.bad), ("Doubt.TEntry", p.warn)):
            style.configure(name, bordercolor=colour, lightcolor=colour, darkcolor=colour)
            ring = [("focus", p.accent)]  # the sentence below the cell says then what the colour said
            style.map(name, bordercolor=ring, lightcolor=ring, darkcolor=ring)
        style.configure("Counted.TEntry", foreground=p.muted)

    # --- what is shown

    def follow(self) -> None:
        """Show the drawing as it is now."""
        try:
            self.table = address_table.rows(self.document.topology)
            found = address_table.findings(self.table, self.document.topology.problems())
            fault = ""
        except (KeyError, ValueError, TypeError, AttributeError, InputError) as error:  # faults to be mended first
            errors = [str(problem) for problem in self.document.topology.problems() if problem.severity == "error"]
            self.table, found, fault = [], {}, (errors or [str(error)])[0]
        if self.sorted_by:
            self.table = address_table.ordered(self.table, self.sorted_by, descending=self.descending)
        self.doubts = {cell: (problem.severity, problem.message) for cell, problem in found.items()}
        there = {row.port for row in self.table}
        self.typed = {cell: text for cell, text in self.typed.items() if cell[0] in there}
        self.wrong = {cell: text for cell, text in self.wrong.items() if cell in self.typed}
        self.grid_of_cells.give_widths(self.table)
        self.show()
        if fault:
            self._tell(Phrase("Mend this first: {fault}", fault=fault), "Bad")

    def show(self) -> None:
        """Fill the rows that are seen."""
        self.top = max(0, min(self.top, len(self.table) - self.shown))
        self.grid_of_cells.show_headings(self.sorted_by, descending=self.descending)
        for i, line in enumerate(self.lines):
            line.show(self.table[self.top + i] if self.top + i < len(self.table) else None)
        size = max(len(self.table), 1)
        self.bar.set(self.top / size, min(1.0, (self.top + self.shown) / size))
        if len(self.table) <= self.shown:
            self.bar.pack_forget()
        elif not self.bar.winfo_manager():
            self.bar.pack(side="right", fill="y", before=self.grid_of_cells)
        self.assign_button.configure(state="disabled" if self._locked() else "normal")
        self._summarise()
        self.explain()

    def _summarise(self) -> None:
        if self._locked():
            self._tell(READ_ONLY, "Warn")
        elif self.wrong:
            (port, column), sentence = next(iter(self.wrong.items()))
            said = Phrase("Not taken: {at}: {why}", at=self._at(port, column), why=Phrase(sentence))
            self._tell(_first(said, len(self.wrong)), "Bad")
        elif self.doubts:
            (port, column), (_, sentence) = next(iter(self.doubts.items()))
            said = Phrase("{at}: {why}", at=self._at(port, column), why=Phrase(sentence))
            self._tell(_first(said, len(self.doubts)), "Warn")
        elif self.table:
            self._tell(
                of_number(len(self.table), "{count} port, nothing wrong", "{count} ports, nothing wrong"), "Muted"
            )
        else:
            self._tell("No host or router is linked yet.", "Muted")

    def _tell(self, text: str, style: str) -> None:
        """The line at the bottom."""
        self.message.configure(text=self.look.say(text), style=f"{style}.TLabel")

    def _at(self, port: str, column: str) -> str:
        return f"{port}, {self.look.say(TITLES[column])}"

    @property
    def is_locked(self) -> bool:
        """Whether nothing can be changed now."""
        return self._locked()

    def text_of(self, row: PortRow, column: str) -> str:
        """What a cell shows: what was typed into it and not taken, or what the drawing has."""
        return self.typed.get((row.port, column), row.texts[column])

    def said_of(self, cell: Cell) -> tuple[str, str]:
        """("error" or "warning" or "", sentence) of a cell."""
        return ("error", self.wrong[cell]) if cell in self.wrong else self.doubts.get(cell, ("", ""))

    def explain(self) -> None:
        """Put what is said of the focused cell below it, or above it where there is no room below."""
        self.bubble.place_forget()
        for line, column, cell in self.grid_of_cells.cells():
            severity, sentence = self.said_of(cell)
            if cell == self.focused and sentence:
                p = self.look.palette
                ink = p.bad if severity == "error" else p.warn
                self.bubble.configure(
                    text=f"{SIGNS[severity]} {self.look.say(sentence)}", background=p.panel, foreground=ink
                )
                self._put_bubble(line.fields[column])

    def _put_bubble(self, field: ttk.Entry) -> None:
        """At a cell, and whole inside the window."""
        margin, gap = self.look.px(8), self.look.px(2)
        wide, high = self.bubble.winfo_reqwidth(), self.bubble.winfo_reqheight()
        x, y = field.winfo_rootx() - self.winfo_rootx(), field.winfo_rooty() - self.winfo_rooty()
        below = y + field.winfo_height() + gap
        if below + high > self.winfo_height() - margin:
            below = max(0, y - high - gap)
        self.bubble.place(x=max(margin, min(x, self.winfo_width() - wide - margin)), y=below)
        self.bubble.lift()

    def sort(self, column: str) -> None:
        """By this column; once more: the other way round; a third time: as the file has it."""
        if self.sorted_by != column:
            self.sorted_by, self.descending = column, False
        elif not self.descending:
            self.descending = True
        else:
            self.sorted_by, self.descending = "", False
        self.top = 0
        self.follow()

    def _scrolled(self, kind: str, value: str, unit: str = "") -> None:
        if kind == "moveto":
            self.scroll(round(float(value) * len(self.table)) - self.top)
        else:
            self.scroll(int(value) * (self.shown if unit == "pages" else 1))

    def scroll(self, by: int) -> None:
        """Show other rows; what is being typed is taken first."""
        self.take_focused()
        self.top += by
        self.show()

    # --- what is typed

    def take_focused(self) -> None:
        """Take what is typed into the cell that has the focus."""
        for line, column, cell in self.grid_of_cells.cells():
            if cell == self.focused and line.row is not None:
                self.take(line.row, column, line.fields[column].get())

    def take(self, row: PortRow, column: str, text: str) -> None:
        """A cell was left."""
        cell = (row.port, column)
        if not self._locked() and text.strip() != self.text_of(row, column):
            self.take_all(
                {cell: text.strip()}, Phrase("Change {column} of {port}", column=Phrase(TITLES[column]), port=row.port)
            )

    def take_all(self, changes: dict[Cell, str], label: str) -> None:
        """Take cells; those that are wrong keep what was typed."""
        after, wrong = address_table.changed(self.document.topology, changes)
        for cell, text in changes.items():
            self.wrong.pop(cell, None)
            self.typed.pop(cell, None)
            if cell in wrong:
                self.typed[cell], self.wrong[cell] = text, wrong[cell]
        if after != self.document.topology:
            self.document.apply(label, after)  # the window that shows the document then calls `follow`
        self.follow()

    def give_up(self, row: PortRow, column: str) -> None:
        """Show again what the drawing has."""
        self.typed.pop((row.port, column), None)
        self.wrong.pop((row.port, column), None)
        self.show()

    def entered(self, line: GridLine, column: str) -> None:
        """A cell has the focus now."""
        if line.row is not None:
            self.focused = (line.row.port, column)
            self.grid_of_cells.see(line.fields[column])
            self.explain()

    def left(self, line: GridLine, column: str) -> None:
        """A cell has lost the focus."""
        if line.row is not None and self.focused == (line.row.port, column):
            self.take(line.row, column, line.fields[column].get())
            self.focused = None
            self.explain()

    def escaped(self, line: GridLine, column: str) -> str | None:
        """Give up what is typed in a cell; with nothing typed, the window closes."""
        row = line.row
        if row is None or line.fields[column].get() == row.texts[column]:
            return None
        self.give_up(row, column)
        return "break"

    def pasted(self, line: GridLine, column: str) -> str | None:
        """Take rows and columns; a plain word is the field's own."""
        return "break" if line.row is not None and self.paste((line.row.port, column)) else None

    def move(self, place: int, column: str, by: int) -> str:
        """To the cell above or below, over the edge of what is seen if need be."""
        self.take_focused()
        target = place + by
        if not 0 <= target < self.shown:
            self.top, target = self.top + by, place
            self.show()
        if self.lines[target].row is not None:
            field = self.lines[target].fields[column]
            field.focus_set()
            field.selection_range(0, "end")
        return "break"

    # --- the clipboard

    def copy(self) -> None:
        """The whole table, as it is sorted, for a spreadsheet."""
        self.clipboard_clear()
        self.clipboard_append(address_table.to_text(self.table))
        self._tell("copied; paste it into a spreadsheet", "Muted")

    def paste_at_focus(self) -> None:
        """What a spreadsheet copied, from the focused cell on, or where its Port column says."""
        if self.table:
            first = (self.table[0].port, "ipv4")
            self.paste(self.focused if self.focused in self._cells() else first)

    def _cells(self) -> set[Cell | None]:
        return {(row.port, column) for row in self.table for column in EDITABLE}

    def paste(self, at: Cell | None) -> bool:
        """Paste rows and columns; False where the clipboard holds a plain word, which the field takes itself."""
        try:
            text = str(self.clipboard_get())
        except tk.TclError:
            return False
        if at is None or self._locked() or not any(mark in text.strip("\n") for mark in "\t\n"):
            return False
        changes, said = address_table.pasted(self.table, at, text)
        self.take_all(changes, "Paste addresses")
        if said:
            self._tell(_first(said[0], len(said)), "Warn")
        elif not self.wrong:
            count = len(changes)
            self._tell(of_number(count, "{count} cell changed", "{count} cells changed"), "Muted")
        return True

    def close(self) -> None:
        """Take what is being typed and go."""
        self.take_focused()
        self.destroy()


def _first(said: str, count: int) -> str:
    """The first of several sentences, and how many more there are."""
    return Phrase("{first} ({count} more)", first=Phrase(said), count=count - 1) if count > 1 else said
