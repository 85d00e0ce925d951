# SPDX-License-Identifier: BSD-3-Clause
"""The window of all addresses: `address_table` on the screen, each cell a field that is typed into.

A cell is taken when it is left; what is wrong stays there in red with its sentence below it, until it is mended or
Escape gives it up. The window follows the drawing and can only be read while the network runs. Only the rows that are
seen have widgets, so a drawing of a thousand nodes opens as fast as one of three.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk

from linklab.editor import address_table
from linklab.editor.address_table import COLUMNS, EDITABLE, TITLES, Cell, PortRow
from linklab.editor.document import Document
from linklab.editor.theme import Look
from linklab.editor.toplevel import Dialog
from linklab.errors import InputError

WRAP = 800
WIDTHS = {"node": 6, "port": 9, "peer": 9, "ipv4": 18, "ipv6": 18, "gateway": 18, "routes": 25}
MOST_SHOWN, FEWEST_SHOWN = 12, 3
ROW_HIGH, REST_HIGH = 31, 250
"""Of a row, and of all that is above and below the rows, in pixels of the design."""
SIGNS = {"error": "✗", "warning": "!"}
READ_ONLY = "The network is running: stop it to change addresses."
HELP = (
    "Several addresses or routes are separated by commas: 10.0.3.0/24 via 10.0.2.2, default via 10.0.2.9. "
    "An address in grey is counted from the host's number."
)


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
        room = (self.winfo_screenheight() - look.px(REST_HIGH)) // look.px(ROW_HIGH)
        self.shown = max(FEWEST_SHOWN, min(MOST_SHOWN, room))
        wrap = min(look.px(WRAP), self.winfo_screenwidth() - look.px(40))
        self.typed: dict[Cell, str] = {}
        self.wrong: dict[Cell, str] = {}
        self.doubts: dict[Cell, tuple[str, str]] = {}
        ttk.Label(self.body, text=HELP, style="Muted.TLabel", wraplength=wrap).pack(anchor="w")
        frame = ttk.Frame(self.body)
        frame.pack(fill="both", expand=True, pady=(look.px(8), 0))
        self.headings: dict[str, ttk.Button] = {}
        for i, column in enumerate(COLUMNS):
            head = ttk.Button(frame, command=partial(self.sort, column), style="Heading.TButton", width=1)
            head.grid(row=0, column=i + 1, sticky="ew")
            self.headings[column] = head
            frame.columnconfigure(i + 1, weight=WIDTHS[column] if column in EDITABLE else 0)
        self.lines = [_Line(self, frame, i) for i in range(self.shown)]
        self.bar = ttk.Scrollbar(frame, orient="vertical", command=self._scrolled)
        self.bar.grid(row=1, column=len(COLUMNS) + 1, rowspan=self.shown, sticky="ns")
        self.bubble = tk.Label(frame, justify="left", wraplength=look.px(360), borderwidth=1, relief="solid")
        self.message = ttk.Label(self.body, text="", wraplength=wrap)
        self.message.pack(fill="x", pady=(look.px(6), 0))
        self.button("Close", self.close, style="Accent.TButton")
        self.button("Copy All", self.copy)
        self.button("Paste", self.paste_at_focus)
        self.assign_button = self.button("Assign Addresses…", assign, side="left")
        for event, step in (("<Button-4>", -1), ("<Button-5>", 1), ("<Prior>", -self.shown), ("<Next>", self.shown)):
            self.bind(event, lambda _, by=step: self.scroll(by))  # type: ignore[misc]
        self.protocol("WM_DELETE_WINDOW", self.close)
        self.focused: Cell | None = None
        self._is_filled = True
        self.follow()
        self.open(self.lines[0].fields["ipv4"])
        if self.winfo_reqwidth() > self.winfo_screenwidth():  # the columns that are typed into become narrower
            self.geometry(f"{self.winfo_screenwidth()}x{self.winfo_reqheight()}+0+{self.winfo_y()}")

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
            style.map(name, bordercolor=[("focus", colour)], lightcolor=[("focus", colour)])
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
        self.show()
        if fault:
            self.message.configure(text=f"Mend this first: {fault}", style="Bad.TLabel")

    def show(self) -> None:
        """Fill the rows that are seen."""
        self.top = max(0, min(self.top, len(self.table) - self.shown))
        for column, head in self.headings.items():
            arrow = " ▾" if self.descending else " ▴"
            head.configure(text=TITLES[column] + (arrow if column == self.sorted_by else ""))
        for i, line in enumerate(self.lines):
            line.show(self.table[self.top + i] if self.top + i < len(self.table) else None)
        size = max(len(self.table), 1)
        self.bar.set(self.top / size, min(1.0, (self.top + self.shown) / size))
        if len(self.table) <= self.shown:
            self.bar.grid_remove()
        else:
            self.bar.grid()
        self.assign_button.configure(state="disabled" if self._locked() else "normal")
        self._summarise()
        self.explain()

    def _summarise(self) -> None:
        if self._locked():
            self.message.configure(text=READ_ONLY, style="Warn.TLabel")
        elif self.wrong:
            (port, column), sentence = next(iter(self.wrong.items()))
            more = f" ({len(self.wrong) - 1} more)" if len(self.wrong) > 1 else ""
            self.message.configure(text=f"Not taken: {port}, {TITLES[column]}: {sentence}{more}", style="Bad.TLabel")
        elif self.doubts:
            (port, column), (_, sentence) = next(iter(self.doubts.items()))
            more = f" ({len(self.doubts) - 1} more)" if len(self.doubts) > 1 else ""
            self.message.configure(text=f"{port}, {TITLES[column]}: {sentence}{more}", style="Warn.TLabel")
        elif self.table:
            count = len(self.table)
            self.message.configure(text=f"{count} port{'s' if count > 1 else ''}, nothing wrong", style="Muted.TLabel")
        else:
            self.message.configure(text="No host or router is linked yet.", style="Muted.TLabel")

    def text_of(self, row: PortRow, column: str) -> str:
        """What a cell shows: what was typed into it and not taken, or what the drawing has."""
        return self.typed.get((row.port, column), row.texts[column])

    def said_of(self, cell: Cell) -> tuple[str, str]:
        """("error" or "warning" or "", sentence) of a cell."""
        return ("error", self.wrong[cell]) if cell in self.wrong else self.doubts.get(cell, ("", ""))

    def explain(self) -> None:
        """Put what is said of the focused cell below it."""
        self.bubble.place_forget()
        for line in self.lines:
            for column, field in line.fields.items():
                if line.row is None or (line.row.port, column) != self.focused:
                    continue
                severity, sentence = self.said_of((line.row.port, column))
                if sentence:
                    p = self.look.palette
                    ink = p.bad if severity == "error" else p.warn
                    self.bubble.configure(text=f"{SIGNS[severity]} {sentence}", background=p.panel, foreground=ink)
                    self.bubble.place(in_=field, relx=0, rely=1.0, y=2)
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
        for line in self.lines:
            for column, field in line.fields.items():
                if line.row is not None and (line.row.port, column) == self.focused:
                    self.take(line.row, column, field.get())

    def take(self, row: PortRow, column: str, text: str) -> None:
        """A cell was left."""
        cell = (row.port, column)
        if not self._locked() and text.strip() != self.text_of(row, column):
            self.take_all({cell: text.strip()}, f"Change {TITLES[column]} of {row.port}")

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

    def move(self, line: int, column: str, by: int) -> str:
        """To the cell above or below, over the edge of what is seen if need be."""
        self.take_focused()
        target = line + by
        if not 0 <= target < self.shown:
            self.top, target = self.top + by, line
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
        self.message.configure(text="copied; paste it into a spreadsheet", style="Muted.TLabel")

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
            more = f" ({len(said) - 1} more)" if len(said) > 1 else ""
            self.message.configure(text=f"{said[0]}{more}", style="Warn.TLabel")
        elif not self.wrong:
            count = len(changes)
            self.message.configure(text=f"{count} cell{'s' if count != 1 else ''} changed", style="Muted.TLabel")
        return True

    def close(self) -> None:
        """Take what is being typed and go."""
        self.take_focused()
        self.destroy()


class _Line:
    """The widgets of one row that is seen."""

    def __init__(self, window: AddressWindow, frame: ttk.Frame, place: int) -> None:
        self.window, self.place = window, place
        self.row: PortRow | None = None
        px = window.look.px
        self.sign = ttk.Label(frame, text="", width=2, anchor="center")
        self.sign.grid(row=place + 1, column=0)
        self.labels: dict[str, ttk.Label] = {}
        self.fields: dict[str, ttk.Entry] = {}
        for i, column in enumerate(COLUMNS):
            if column not in EDITABLE:
                self.labels[column] = ttk.Label(frame, text="", width=WIDTHS[column])
                self.labels[column].grid(row=place + 1, column=i + 1, sticky="w", padx=px(6))
                continue
            field = ttk.Entry(frame, width=WIDTHS[column])
            field.grid(row=place + 1, column=i + 1, sticky="ew", padx=px(1), pady=px(1))
            self.fields[column] = field
            for event, do in (
                ("<FocusIn>", self._entered),
                ("<FocusOut>", self._left),
                ("<Escape>", self._escaped),
                ("<<Paste>>", self._pasted),
            ):
                field.bind(event, partial(_for, do, column))
            for event, by in (("<Up>", -1), ("<Down>", 1), ("<Return>", 1), ("<KP_Enter>", 1)):
                field.bind(event, lambda _, c=column, b=by: window.move(place, c, b))  # type: ignore[misc]

    def show(self, row: PortRow | None) -> None:
        """Show a row; None leaves the line empty."""
        self.row = row
        worst = ""
        for column, label in self.labels.items():
            label.configure(text=row.texts[column] if row else "")
        for column, field in self.fields.items():
            text = self.window.text_of(row, column) if row else ""
            usable = row is not None and row.editable(column)
            severity, _ = self.window.said_of((row.port, column)) if row and usable else ("", "")
            worst = severity if severity == "error" or not worst else worst
            counted = row is not None and column == "ipv4" and row.automatic and text == row.texts[column]
            plain = "Counted.TEntry" if counted else "TEntry"
            style = {"error": "Wrong.TEntry", "warning": "Doubt.TEntry"}.get(severity, plain)
            if field.get() != text:
                field.configure(state="normal")
                field.delete(0, "end")
                field.insert(0, text)
            locked = self.window._locked()
            field.configure(style=style, state="disabled" if not usable else "readonly" if locked else "normal")
            if row is None or not usable:
                field.grid_remove()
            else:
                field.grid()
        p = self.window.look.palette
        colour = {"error": p.bad, "warning": p.warn}.get(worst, p.ink)
        self.sign.configure(text=SIGNS.get(worst, ""), foreground=colour)

    def _entered(self, column: str) -> None:
        if self.row is not None:
            self.window.focused = (self.row.port, column)
            self.window.explain()

    def _left(self, column: str) -> None:
        if self.row is not None and self.window.focused == (self.row.port, column):
            self.window.take(self.row, column, self.fields[column].get())
            self.window.focused = None
            self.window.explain()

    def _escaped(self, column: str) -> str | None:
        """Give up what is typed here; with nothing typed, the window closes."""
        row = self.row
        if row is None or self.fields[column].get() == row.texts[column]:
            return None
        self.window.give_up(row, column)
        return "break"

    def _pasted(self, column: str) -> str | None:
        return "break" if self.row is not None and self.window.paste((self.row.port, column)) else None


def _for(do: Callable[[str], str | None], column: str, _: tk.Event[tk.Misc]) -> str | None:
    return do(column)
