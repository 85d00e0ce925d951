# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs drawn from fields (`fields.py`): tabs, units, help beside each field, errors next to the field they are of.

A dialog closes only when its values were taken or the person gives up; a wrong value never loses the others. The mouse
is not needed: Tab, Return for OK, Escape for Cancel, Alt+digit for a tab.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.editor.fields import Field, Page, read, texts
from linklab.editor.theme import Look
from linklab.errors import InputError

Take = Callable[[dict[str, Any]], None]
WRAP = 420
BESIDE = 235


class Dialog(tk.Toplevel):
    """A window above another with a row of buttons; `body` is for the one who derives from it."""

    def __init__(self, master: tk.Misc, look: Look, title: str) -> None:
        super().__init__(master)
        self.withdraw()
        self.look = look
        self.title(title)
        self.configure(
            background=look.palette.window,
            highlightthickness=1,
            highlightbackground=look.palette.border,
            highlightcolor=look.palette.border,
        )
        self.transient(master.winfo_toplevel())
        self.body = ttk.Frame(self, padding=look.px(12))
        self.buttons = ttk.Frame(self, padding=(look.px(12), 0, look.px(12), look.px(12)))
        self.buttons.pack(side="bottom", fill="x")
        self.body.pack(side="top", fill="both", expand=True)
        self.bind("<Escape>", lambda _: self.destroy())
        self.protocol("WM_DELETE_WINDOW", self.destroy)

    def button(
        self, text: str, command: Callable[[], None], *, style: str = "TButton", side: str = "right"
    ) -> ttk.Button:
        """Add a button at the bottom."""
        made = ttk.Button(self.buttons, text=text, command=command, style=style)
        made.pack(side="right" if side == "right" else "left", padx=(self.look.px(8), 0) if side == "right" else 0)
        return made

    def open(self, focus: tk.Misc | None = None) -> None:
        """Show it in the middle of its window."""
        self.update_idletasks()
        parent = self.master.winfo_toplevel()
        x = parent.winfo_rootx() + (parent.winfo_width() - self.winfo_reqwidth()) // 2
        y = parent.winfo_rooty() + max(0, (parent.winfo_height() - self.winfo_reqheight()) // 3)
        x = max(0, min(x, self.winfo_screenwidth() - self.winfo_reqwidth()))
        y = max(0, min(y, self.winfo_screenheight() - self.winfo_reqheight()))
        self.geometry(f"+{x}+{y}")
        self.deiconify()
        self.lift()
        (focus or self).focus_set()


class FormDialog(Dialog):
    """A dialog of fields."""

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        title: str,
        *,
        pages: Sequence[Page],
        data: Mapping[str, Any],
        take: Take,
        locked: str = "",
    ) -> None:
        """Show `data`; `take` gets the new object and raises InputError if it cannot be.

        locked: why nothing can be changed now, "" if it can.
        """
        super().__init__(master, look, title)
        self.pages, self.before, self._take = pages, dict(data), take
        self.inputs: dict[str, Input] = {}
        shown = texts(pages, data)
        self.notebook: ttk.Notebook | None = None
        if len(pages) > 1:
            self.notebook = ttk.Notebook(self.body)
            self.notebook.pack(fill="both", expand=True)
        for i, page in enumerate(pages):
            frame = ttk.Frame(self.notebook or self.body, padding=look.px(12))
            if self.notebook is not None:
                self.notebook.add(frame, text=page.title)
                self.bind(f"<Alt-Key-{i + 1}>", lambda _, at=i: self._show(at))  # type: ignore[misc]
            else:
                frame.pack(fill="both", expand=True)
            fill_page(frame, look, page, shown, self.inputs)
        self.message = ttk.Label(self.body, style="Bad.TLabel", wraplength=look.px(WRAP), text="")
        self.message.pack(fill="x", pady=(look.px(6), 0))
        if locked:
            self.message.configure(text=locked, style="Warn.TLabel")
            self.button("Close", self.destroy, style="Accent.TButton")
            for each in self.inputs.values():
                each.enable(False)
        else:
            self.button("OK", self.ok, style="Accent.TButton")
            self.button("Cancel", self.destroy)
            self.bind("<Return>", self._return)
            self._grey_what_means_nothing()
        first = next(iter(self.inputs.values()))
        self.open(first.widget)

    def _grey_what_means_nothing(self) -> None:
        """Now, and whenever the field on which another depends is changed."""
        for each in self.inputs.values():
            if each.field.only is not None:
                key, value = each.field.only
                self.inputs[key].watch(partial(_enable_at, each, value))

    def _return(self, event: tk.Event[tk.Misc]) -> None:
        if not isinstance(event.widget, tk.Text):
            self.ok()

    def _show(self, page: int) -> None:
        assert self.notebook is not None
        self.notebook.select(page)  # type: ignore[no-untyped-call] # typeshed

    def ok(self) -> None:
        """Take the values, or show what is wrong with them."""
        values = {key: each.get() for key, each in self.inputs.items()}
        data, wrong = read(self.pages, values, self.before)
        for key, each in self.inputs.items():
            each.complain(wrong.get(key, ""))
        self.message.configure(text="")
        if wrong:
            page = next(i for i, page in enumerate(self.pages) if any(f.key in wrong for f in page.fields))
            if self.notebook is not None:
                self.notebook.select(page)  # type: ignore[no-untyped-call] # typeshed
            self.inputs[next(iter(wrong))].widget.focus_set()
            return
        try:
            self._take(data)
        except InputError as error:
            self.message.configure(text=str(error))
            return
        self.destroy()


def fill_page(frame: ttk.Frame, look: Look, page: Page, shown: Mapping[str, Any], inputs: dict[str, Input]) -> None:
    """Draw the fields of a page into a frame."""
    frame.columnconfigure(1, weight=1)
    row = 0
    if page.note:
        note = ttk.Label(frame, text=page.note, style="Muted.TLabel", wraplength=look.px(WRAP))
        note.grid(row=row, column=0, columnspan=3, sticky="w", pady=(0, look.px(8)))
        row += 1
    for field in page.fields:
        inputs[field.key] = Input(frame, look, field, shown[field.key], row)
        row += 2


class Input:
    """One field on the screen: label, widget, unit, and help or what is wrong below them, or `beside` them."""

    def __init__(
        self, frame: ttk.Frame, look: Look, field: Field, value: Any, row: int, *, width: int = 32, beside: bool = False
    ) -> None:
        self.field, self.look = field, look
        px = look.px
        if field.kind in ("lines", "rows"):
            self.widget: tk.Misc = self._text(frame, value)
        elif field.kind == "choice":
            self._labels = dict(field.choices)
            self._labels.setdefault(value, value)
            self._variable = tk.StringVar(frame, self._labels[value])
            self.widget = ttk.Combobox(
                frame,
                textvariable=self._variable,
                values=list(self._labels.values()),
                state="readonly",
                width=width - 2,
            )
        elif field.kind == "flag":
            self._variable = tk.StringVar(frame, value)
            self.widget = ttk.Checkbutton(frame, text=field.label, variable=self._variable, onvalue="1", offvalue="0")
        else:
            self._variable = tk.StringVar(frame, value)
            self.widget = ttk.Entry(frame, textvariable=self._variable, width=width)
        if field.kind == "flag":
            self.widget.grid(row=row, column=1, columnspan=2, sticky="w", pady=(px(2), 0))
        else:
            title = " / ".join(field.columns) if field.kind == "rows" else field.label
            ttk.Label(frame, text=title, wraplength=px(150)).grid(
                row=row, column=0, sticky="nw", padx=(0, px(12)), pady=px(4)
            )
            self.widget.grid(row=row, column=1, sticky="ew", pady=px(2))
            ttk.Label(frame, text=field.unit, style="Muted.TLabel").grid(row=row, column=2, sticky="w", padx=(px(8), 0))
        wrap = px(BESIDE if beside else WRAP - 120)
        self._note = ttk.Label(frame, text=self._help(), style="Muted.TLabel", font=look.font(9), wraplength=wrap)
        self._place: dict[str, Any] = {"row": row + 1, "column": 1, "columnspan": 2, "pady": (0, px(5))}
        if beside:
            self._place = {"row": row, "column": 3, "padx": (px(8), 0)}
        self.complain("")

    def _help(self) -> str:
        if self.field.kind == "rows":
            return f"one a line: {self.field.columns[0]}, a blank, {self.field.columns[1]}"
        return self.field.help

    def _text(self, frame: ttk.Frame, value: Any) -> tk.Text:
        text = tk.Text(frame, width=36, height=5, font="TkFixedFont", undo=True)
        lines = [" ".join(each).strip() for each in value] if self.field.kind == "rows" else value
        text.insert("1.0", "\n".join(lines))
        text.bind("<Tab>", _next_widget)
        return text

    def get(self) -> Any:
        """What is typed, as `fields.Values` has it."""
        if isinstance(self.widget, tk.Text):
            lines = self.widget.get("1.0", "end").split("\n")
            if self.field.kind == "lines":
                return lines
            return [(first, rest.strip()) for first, _, rest in (line.strip().partition(" ") for line in lines)]
        shown = self._variable.get()
        if self.field.kind == "choice":
            return next(value for value, label in self._labels.items() if label == shown)
        return shown

    def set(self, text: str) -> None:
        """Put another text there."""
        self._variable.set(self._labels.get(text, text) if self.field.kind == "choice" else text)

    def watch(self, changed: Callable[[Any], None]) -> None:
        """Call `changed` with the value, now and after every change; not for lines and rows."""
        self._variable.trace_add("write", lambda *_: changed(self.get()))
        changed(self.get())

    def enable(self, usable: bool) -> None:
        """To be changed, or only to be looked at."""
        normal = "readonly" if self.field.kind == "choice" else "normal"
        self.widget.configure(state=normal if usable else "disabled")  # type: ignore[call-arg]

    def complain(self, message: str) -> None:
        """Show what is wrong, or the help again."""
        self._note.configure(text=message or self._help(), style="Bad.TLabel" if message else "Muted.TLabel")
        if message or self._help():
            self._note.grid(**self._place, sticky="w")
        else:
            self._note.grid_remove()


def _next_widget(event: tk.Event[tk.Misc]) -> str:
    following = event.widget.tk_focusNext()
    if following is not None:
        following.focus_set()
    return "break"


def _enable_at(one: Input, value: Any, seen: Any) -> None:
    """What depends on another field is usable where that has the value."""
    one.enable(seen == value)
