# SPDX-License-Identifier: BSD-3-Clause
"""The dialog of a link: MiniEdit's fields for both directions, then each direction by itself, and the exact tc lines.

While the network runs, OK and Apply change the running link too.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping
from dataclasses import replace
from tkinter import ttk
from typing import Any

from linklab.editor import link_fields
from linklab.editor.node_fields import LINK_PAGE
from linklab.errors import FieldError, InputError
from linklab.tc import DISCIPLINES
from linklab.topology import Link
from linklab.topology.forgiven import forgiven_link
from linklab.windows.dialogs import Input, MessageLine, fill_page
from linklab.windows.fields import read, texts
from linklab.windows.questions import text_area
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog, scrolled_page
from linklab.windows.words import Phrase, told_by

Take = Callable[[dict[str, Any], dict[str, Any]], None]
NO_DISCIPLINE = Phrase("first in, first out")
COMMANDS = 3
"""Place of the tab of that name."""


class Direction:
    """The tab of one direction."""

    def __init__(self, page: ttk.Frame, look: Look) -> None:
        self.look = look
        self.own = tk.StringVar(page, "0")
        self.box = ttk.Checkbutton(page, variable=self.own, onvalue="1", offvalue="0", command=self._switched)
        self.box.pack(anchor="w", pady=(0, look.px(8)))
        fields = ttk.Frame(page)
        fields.pack(anchor="w", fill="x")
        self.inputs: dict[str, Input] = {}
        for i, field in enumerate(link_fields.DIRECTION_FIELDS):
            self.inputs[field.key] = Input(fields, look, field, "", i, width=12, beside=True)
        line = ttk.Frame(page)
        line.pack(anchor="w", pady=look.px(10))
        ttk.Label(line, text=look.say("Queue discipline")).pack(side="left", padx=(0, look.px(12)))
        self.kind = ttk.Combobox(line, values=[look.say(NO_DISCIPLINE), *DISCIPLINES], state="readonly", width=18)
        self.kind.pack(side="left")
        self.kind.bind("<<ComboboxSelected>>", lambda _: self._chose({}))
        self.parameters = ttk.Frame(page)
        self.parameters.pack(anchor="w", fill="x")
        self.locked = False
        self.show("", None)

    def show(self, title: str, data: Mapping[str, Any] | None) -> None:
        """Show a direction as the drawing has it."""
        text = Phrase("{direction} has settings of its own, in place of the tab Link", direction=title)
        self.box.configure(text=self.look.say(text))
        self.own.set("0" if data is None else "1")
        shown = link_fields.shown(data or {})
        self.kind.set(shown["kind"] or self.look.say(NO_DISCIPLINE))
        for field in link_fields.DIRECTION_FIELDS:
            self.inputs[field.key].set(shown[field.key])
        self._chose(shown)
        self._untouched = self._typed()

    def follow(self, title: str, data: Mapping[str, Any] | None) -> None:
        """Show what the direction has become, unless something was typed here."""
        if self._typed() == self._untouched or self._is(data):
            self.show(title, data)

    def _is(self, data: Mapping[str, Any] | None) -> bool:
        """Whether what is typed is that."""
        try:
            return self.get() == data
        except InputError:
            return False

    def _typed(self) -> tuple[str, str, dict[str, str]]:
        return self.own.get(), self.kind.get(), {key: each.get() for key, each in self.inputs.items()}

    def _chose(self, shown: Mapping[str, str]) -> None:
        """Show the parameters of the discipline chosen."""
        for child in self.parameters.winfo_children():
            child.destroy()
        for key in [key for key in self.inputs if key.startswith("discipline.")]:
            del self.inputs[key]
        kind = self.kind.get()
        if kind in DISCIPLINES:
            for i, parameter in enumerate(DISCIPLINES[kind]):
                field = link_fields.discipline_field(kind, parameter.name)
                text = shown.get(field.key, field.default)
                self.inputs[field.key] = Input(self.parameters, self.look, field, text, i, width=12, beside=True)
        self._switched()

    def lock(self, locked: bool) -> None:
        """Let nothing be changed, or let it be changed again."""
        self.locked = locked
        self.box.configure(state="disabled" if locked else "normal")
        self._switched()

    def _switched(self) -> None:
        """Fields are greyed while the tab Link decides."""
        usable = self.own.get() == "1" and not self.locked
        for each in self.inputs.values():
            each.enable(usable)
        self.kind.configure(state="readonly" if usable else "disabled")

    def get(self) -> dict[str, Any] | None:
        """The object, None where the tab Link decides; InputError, shown at its field."""
        for each in self.inputs.values():
            each.complain("")
        if self.own.get() == "0":
            return None
        values = {key: each.get() for key, each in self.inputs.items()}
        values["kind"] = self.kind.get() if self.kind.get() in DISCIPLINES else ""
        try:
            return link_fields.collect(values)
        except FieldError as error:
            if error.key in self.inputs:
                self.inputs[error.key].complain(error.what)
                self.inputs[error.key].widget.focus_set()
            raise


class LinkDialog(Dialog):
    """Edits one link."""

    def __init__(self, master: tk.Misc, look: Look, link: Link, ends: tuple[str, str], take: Take) -> None:
        """Show `link`; `take` gets its new `opts` and `own`."""
        super().__init__(master, look, "")
        self.link, self.ends, self._take = link, ends, take
        self.message = MessageLine(self.body, look)
        self.notebook = ttk.Notebook(self.body)
        self.notebook.pack(fill="both", expand=True)
        self.tabs(self.notebook)
        self.inputs: dict[str, Input] = {}
        both = scrolled_page(self.notebook, self.body, look, LINK_PAGE.title)
        fill_page(both, look, LINK_PAGE, texts([LINK_PAGE], forgiven_link(link).opts), self.inputs)
        self.directions = [
            Direction(scrolled_page(self.notebook, self.body, look, title), look) for title in ("→", "←")
        ]
        commands = ttk.Frame(self.notebook, padding=look.px(12))
        self.text = text_area(commands, look, "")
        self.text.configure(width=56, height=12)
        self.notebook.add(commands, text=look.say("Commands"))
        self.notebook.bind("<<NotebookTabChanged>>", lambda _: self._tab_changed())
        self.accept = self.button("OK", self.ok, style="Accent.TButton")
        self.refuse = self.button("Cancel", self.destroy)
        self.apply_button = self.button("Apply", self.apply_and_stay)
        self.button("Show the commands", self.show_commands, side="left")
        self.bind("<Return>", lambda _: self.ok())
        self.locked = self._running = False
        self._name_directions()
        self._show_tab(link_fields.tab_of(link))
        at = self.directions[self.at - 1].inputs["rate"] if self.at else self.inputs["bw"]
        self.apply_button.pack_forget()
        self.open(at.widget)

    @property
    def at(self) -> int:
        """The tab in front."""
        return int(self.notebook.index("current"))  # type: ignore[no-untyped-call] # typeshed

    def _name_directions(self, *, anew: bool = True) -> None:
        link = self.link
        self.call_it(Phrase("Link {ends}", ends=" – ".join(self.ends)))
        for end, key in enumerate(("forward", "backward")):
            title = f"{(link.src, link.dest)[end]} → {(link.src, link.dest)[1 - end]}"
            self.notebook.tab(end + 1, text=title)  # type: ignore[no-untyped-call] # typeshed
            direction = self.directions[end]
            (direction.show if anew else direction.follow)(title, link.own.get(key))

    def follow(self, link: Link, ends: tuple[str, str], locked: str, *, running: bool) -> None:
        """Show what the link has become; a tab in which something was typed keeps that.

        locked: why nothing can be changed now. running: what is taken is also done to the network.
        """
        if (link.src, link.dest, link.opts, link.own) != (self.link.src, self.link.dest, self.link.opts, self.link.own):
            self.link, self.ends = link, ends
            for key, value in texts([LINK_PAGE], forgiven_link(link).opts).items():
                self.inputs[key].follow(value)
            self._name_directions(anew=False)
        self.ends = ends
        self.call_it(Phrase("Link {ends}", ends=" – ".join(ends)))
        if running != self._running:
            self._running = running
            if running:
                self.apply_button.pack(side="right", padx=(self.look.px(8), 0))
            else:
                self.apply_button.pack_forget()
        if bool(locked) != self.locked:
            self.locked = bool(locked)
            self.message.configure(text=locked, style="Warn.TLabel")
            self.accept.configure(state="disabled" if locked else "normal")
            for each in self.inputs.values():
                each.enable(not locked)
            for direction in self.directions:
                direction.lock(self.locked)

    def answer(self, text: str) -> None:
        """Say what the kernel made of what was applied."""
        self.message.configure(text=text, style="Muted.TLabel")

    def collect(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """New `opts` and `own`; None, with the field marked, if something is wrong."""
        self.message.configure(text="", style="Bad.TLabel")
        opts, wrong = read([LINK_PAGE], {key: each.get() for key, each in self.inputs.items()}, self.link.opts)
        for key, each in self.inputs.items():
            each.complain(wrong.get(key, ""))
        if wrong:
            self._show_tab(0)
            self.inputs[next(iter(wrong))].widget.focus_set()
            return None
        own = {key: value for key, value in self.link.own.items() if key not in ("forward", "backward")}
        for i, key in enumerate(("forward", "backward")):
            try:
                data = self.directions[i].get()
            except InputError as error:
                self._show_tab(i + 1)
                self.message.configure(text=told_by(error))
                return None
            if data is not None:
                own[key] = data
        return opts, own

    def _show_tab(self, at: int) -> None:
        self.notebook.select(at)  # type: ignore[no-untyped-call] # typeshed

    def _tab_changed(self) -> None:
        if self.at == COMMANDS and not self.locked:
            self._fill_commands()

    def show_commands(self) -> None:
        """Turn to the exact tc lines for what is typed."""
        if self.collect() is not None:
            self._show_tab(COMMANDS)

    def _fill_commands(self) -> None:
        found = self.collect()
        if found is None:
            return
        opts, own = found
        lines = link_fields.lines_of(replace(self.link, opts=opts, own=own), self.ends)
        notes = [note for key in ("forward", "backward") for note in link_fields.notes_of(own.get(key))]
        lines += ["", *(f"# note: {note}" for note in notes)] if notes else []
        self.text.configure(state="normal")
        self.text.delete("1.0", "end")
        self.text.insert("1.0", "\n".join(lines))
        self.text.configure(state="disabled")

    def apply(self) -> bool:
        """Take the values; whether they were right."""
        found = None if self.locked else self.collect()
        if found is None:
            return False
        self._take(*found)
        return True

    def apply_and_stay(self) -> None:
        """Take the values and leave the dialog open."""
        self.apply()

    def ok(self) -> None:
        """Take the values and close."""
        if self.apply():
            self.destroy()
