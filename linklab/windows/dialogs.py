# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs drawn from fields (`fields.py`): tabs, units, help beside each field, errors next to the field they are of.

A dialog closes when its values were taken, the person gives up, or what it is of is gone; a wrong value never loses the
others. Keys and size are those of every dialog (`toplevel.py`).
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from tkinter import ttk
from typing import Any

from linklab.errors import FieldError, InputError
from linklab.windows.fields import SHOWN, Field, Page, read, texts, value_of
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog, scrolled_page
from linklab.windows.words import Phrase, told_by

Take = Callable[[dict[str, Any]], None]
WRAP = 420
BESIDE, BESIDE_NARROW = 205, 162


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
        modal: bool = False,
    ) -> None:
        """Show `data`; `take` gets the new object and raises InputError if it cannot be.

        locked: why nothing can be changed now, "" if it can. modal: for one that replaces the drawing.
        """
        super().__init__(master, look, title, modal=modal)
        self.pages, self.before, self._take = pages, dict(data), take
        self.inputs: dict[str, Input] = {}
        self.message = MessageLine(self.body, look)
        shown = texts(pages, data)
        self.notebook: ttk.Notebook | None = None
        if len(pages) > 1:
            self.notebook = ttk.Notebook(self.body)
            self.notebook.pack(fill="both", expand=True)
            self.tabs(self.notebook)
        for page in pages:
            fill_page(scrolled_page(self.notebook, self.body, look, page.title), look, page, shown, self.inputs)
        self.accept = self.button("OK", self.ok, style="Accent.TButton")
        self.refuse = self.button("Cancel", self.destroy)
        self.bind("<Return>", self._return)
        self.locked = ""
        for each in self.inputs.values():
            if each.field.only is not None:
                self.inputs[each.field.only[0]].watch(self._grey_what_means_nothing)
        self.lock(locked)
        self.open(self.refuse if locked else next(iter(self.inputs.values())).widget)

    def follow(self, title: str, data: Mapping[str, Any], locked: str) -> None:
        """Show what its thing has become; a field in which something was typed keeps that."""
        self.call_it(title)
        if data != self.before:
            self.before = dict(data)
            for key, value in texts(self.pages, data).items():
                self.inputs[key].follow(value)
        self.lock(locked)

    def lock(self, why: str) -> None:
        """Let nothing be changed, and say why; "" lets it be changed again."""
        if why == self.locked:
            return
        self.locked = why
        self.message.configure(text=why, style="Warn.TLabel" if why else "Bad.TLabel")
        self.accept.configure(state="disabled" if why else "normal")
        self.refuse.configure(text=self.look.say("Close" if why else "Cancel"))
        for each in self.inputs.values():
            each.enable(not why)
        self._grey_what_means_nothing()

    def _grey_what_means_nothing(self, _: Any = None) -> None:
        """A field that depends on another is usable where that has the value."""
        for each in self.inputs.values():
            if each.field.only is not None and not self.locked:
                key, value = each.field.only
                each.enable(self.inputs[key].get() == value)

    def _return(self, event: tk.Event[tk.Misc]) -> None:
        if not isinstance(event.widget, tk.Text):
            self.ok()

    def _complain(self, wrong: Mapping[str, str]) -> None:
        """Show at each field what is wrong with it, and turn to the first."""
        for key, each in self.inputs.items():
            each.complain(wrong.get(key, ""))
        page = next((i for i, page in enumerate(self.pages) if any(f.key in wrong for f in page.fields)), None)
        if page is not None:
            if self.notebook is not None:
                self.notebook.select(page)  # type: ignore[no-untyped-call] # typeshed
            first = next(key for key in self.inputs if key in wrong)
            self.inputs[first].widget.focus_set()
            self.grow()

    def ok(self) -> None:
        """Take the values, or show what is wrong with them."""
        if self.apply():
            self.destroy()

    def apply(self) -> bool:
        """Take the values and stay open, or show what is wrong with them; whether they were taken."""
        if self.locked:
            return False
        values = {key: each.get() for key, each in self.inputs.items()}
        data, wrong = read(self.pages, values, self.before)
        self.message.configure(text="")
        self._complain(wrong)
        if wrong:
            return False
        try:
            self._take(data)
        except InputError as error:
            if isinstance(error, FieldError) and error.key in self.inputs:
                self._complain({error.key: error.what})
            else:
                self.message.configure(text=told_by(error))
            return False
        return True


class MessageLine(ttk.Label):
    """Where a dialog says what is wrong: below the rest, with no room taken while there is nothing to say."""

    def __init__(self, body: tk.Misc, look: Look) -> None:
        super().__init__(body, style="Bad.TLabel", wraplength=look.px(WRAP), text="")
        self._say = look.say
        self._pady = (look.px(6), 0)

    def configure(self, **options: Any) -> None:  # type: ignore[override]
        """As of any label, in the person's language; shown or hidden by its text."""
        if "text" in options:
            options["text"] = self._say(options["text"])
        super().configure(**options)
        others = self.master.pack_slaves()
        if not self.cget("text"):
            self.pack_forget()
        elif self not in others and others:
            # first in order, so that it is seen however small the dialog
            self.pack(side="bottom", fill="x", pady=self._pady, before=others[0])
        dialog = self.winfo_toplevel()
        if isinstance(dialog, Dialog):
            dialog.grow()


def fill_page(frame: ttk.Frame, look: Look, page: Page, shown: Mapping[str, Any], inputs: dict[str, Input]) -> None:
    """Draw the fields of a page into a frame."""
    frame.columnconfigure(1, weight=1)
    row = 0
    if page.note:
        note = ttk.Label(frame, text=look.say(page.note), style="Muted.TLabel", wraplength=look.px(WRAP))
        note.grid(row=row, column=0, columnspan=3, sticky="w", pady=(0, look.px(8)))
        row += 1
    for field in page.fields:
        inputs[field.key] = Input(frame, look, field, shown[field.key], row)
        row += 2


class Input:
    """One field on the screen: label, widget, unit, and help or what is wrong below them, or `beside` them."""

    def __init__(
        self, frame: ttk.Frame, look: Look, field: Field, value: Any, row: int, *, width: int = 24, beside: bool = False
    ) -> None:
        self.field, self.look = field, look
        px = look.px
        if field.kind in ("lines", "rows"):
            self.widget: tk.Misc = self._text(frame, value)
        elif field.kind == "choice":
            self._labels = {key: look.say(label) for key, label in field.choices}
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
            label = look.say(field.label)
            self.widget = ttk.Checkbutton(frame, text=label, variable=self._variable, onvalue="1", offvalue="0")
        else:
            self._variable = tk.StringVar(frame, value)
            self.widget = ttk.Entry(frame, textvariable=self._variable, width=width)
            self.enable(True)
        if field.kind == "flag":
            self.widget.grid(row=row, column=1, columnspan=2, sticky="w", pady=(px(2), 0))
        else:
            title = " / ".join(map(look.say, field.columns)) if field.kind == "rows" else look.say(field.label)
            ttk.Label(frame, text=title, wraplength=px(150)).grid(
                row=row, column=0, sticky="nw", padx=(0, px(12)), pady=px(4)
            )
            self.widget.grid(row=row, column=1, sticky="ew", pady=px(2))
            unit = ttk.Label(frame, text=look.say(field.unit), style="Muted.TLabel", wraplength=px(84))
            unit.grid(row=row, column=2, sticky="w", padx=(px(8), 0))
        wrap = px((BESIDE_NARROW if look.is_narrow else BESIDE) if beside else WRAP - 130)
        self._note = ttk.Label(frame, text=self._help(), style="Muted.TLabel", font=look.font(9), wraplength=wrap)
        self._place: dict[str, Any] = {"row": row + 1, "column": 1, "columnspan": 2, "pady": (0, px(5))}
        if beside:
            self._place = {"row": row, "column": 3, "padx": (px(8), 0)}
        self.complain("")
        self._untouched = self.get()
        if isinstance(self.widget, tk.Text):
            self.widget.bind("<<Modified>>", self._text_changed)
        else:
            self._variable.trace_add("write", lambda *_: self._changed())

    def _text_changed(self, _: object) -> None:
        """Tk says this once, until the mark is taken away again."""
        if isinstance(self.widget, tk.Text) and self.widget.edit_modified():
            self.widget.edit_modified(False)
            self._changed()

    def _changed(self) -> None:
        """What is said to be wrong goes when it is mended, or becomes what is wrong now."""
        if self._is_wrong:
            try:
                value_of(self.field, self.get())
            except (InputError, ValueError) as error:
                self.complain(told_by(error))
            else:
                self.complain("")

    def _help(self) -> str:
        if self.field.kind == "rows":
            first, second = map(Phrase, self.field.columns)
            return self.look.say(Phrase("one a line: {first}, a blank, {second}", first=first, second=second))
        return self.look.say(self.field.help)

    def _text(self, frame: ttk.Frame, value: Any) -> tk.Text:
        text = tk.Text(frame, width=30, height=5, font="TkFixedFont", undo=True)
        text.insert("1.0", self._lines(value))
        text.bind("<Tab>", _next_widget)
        return text

    def _lines(self, value: Any) -> str:
        return "\n".join([" ".join(each).strip() for each in value] if self.field.kind == "rows" else value)

    def get(self) -> Any:
        """What is typed, as `fields.Values` has it."""
        if isinstance(self.widget, tk.Text):
            lines = self.widget.get("1.0", "end").split("\n")
            if self.field.kind == "lines":
                return lines
            return [(first, rest.strip()) for first, _, rest in (line.strip().partition(" ") for line in lines)]
        shown = self._variable.get()
        if self.field.kind == "choice":
            return next((value for value, label in self._labels.items() if label == shown), shown)
        return shown

    def set(self, value: Any) -> None:
        """Put another value there, as `fields.Values` has it."""
        if isinstance(self.widget, tk.Text):
            before = self.widget.cget("state")
            self.widget.configure(state="normal")
            self.widget.delete("1.0", "end")
            self.widget.insert("1.0", self._lines(value))
            self.widget.configure(state=before)
        else:
            self._variable.set(self._labels.get(value, value) if self.field.kind == "choice" else value)

    def follow(self, value: Any) -> None:
        """Show what the thing has now, unless something was typed here."""
        if self.get() in (self._untouched, value):
            self.set(value)
            self._untouched = self.get()

    def watch(self, changed: Callable[[Any], None]) -> None:
        """Call `changed` with the value, now and after every change; not for lines and rows."""
        self._variable.trace_add("write", lambda *_: changed(self.get()))
        changed(self.get())

    def watch_typing(self, changed: Callable[[], None]) -> None:
        """Call `changed` after every change from now on; not for lines and rows."""
        self._variable.trace_add("write", lambda *_: changed())

    def enable(self, usable: bool) -> None:
        """To be changed, or only to be looked at."""
        normal = "readonly" if self.field.kind == "choice" else "normal"
        usable = usable and self.field.kind != SHOWN
        self.widget.configure(state=normal if usable else "disabled")  # type: ignore[call-arg]

    def complain(self, message: str) -> None:
        """Show what is wrong, or the help again."""
        self._is_wrong = bool(message)
        self._note.configure(
            text=self.look.say(message) or self._help(), style="Bad.TLabel" if message else "Muted.TLabel"
        )
        if message or self._help():
            self._note.grid(**self._place, sticky="w")
        else:
            self._note.grid_remove()


def _next_widget(event: tk.Event[tk.Misc]) -> str:
    following = event.widget.tk_focusNext()
    if following is not None:
        following.focus_set()
    return "break"
