# SPDX-License-Identifier: BSD-3-Clause
"""The dialog of several things: what is ticked, which typing does by itself, becomes the same for all of a kind."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.editor.several import Group
from linklab.windows.dialogs import WRAP, Input, MessageLine
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog, scrolled_page
from linklab.windows.words import Phrase

Shown = Mapping[str, tuple[str, str]]
Take = Callable[[dict[str, dict[str, str]]], Mapping[tuple[str, str], str]]


class SeveralDialog(Dialog):
    """Edits several things."""

    def __init__(
        self, master: tk.Misc, look: Look, chosen: Sequence[Group], shown: Mapping[str, Shown], take: Take
    ) -> None:
        """Show what the things of each group have (`several.shown`, by kind).

        take: gets by kind and key what is ticked, and gives back by (kind, key) what is wrong with it.
        """
        super().__init__(master, look, "")
        self._take = take
        self.inputs: dict[tuple[str, str], Input] = {}
        self.ticks: dict[tuple[str, str], tk.BooleanVar] = {}
        self._boxes: dict[tuple[str, str], ttk.Checkbutton] = {}
        self._locked: dict[str, str] = {}
        self.message = MessageLine(self.body, look)
        self.notebook = ttk.Notebook(self.body)
        self.notebook.pack(fill="both", expand=True)
        self.tabs(self.notebook)
        self.kinds = [group.kind for group in chosen]
        for group in chosen:
            self._fill(scrolled_page(self.notebook, self.body, look, group.title), group, shown[group.kind])
        self.accept = self.button("OK", self.ok, style="Accent.TButton")
        self.refuse = self.button("Cancel", self.destroy)
        self.bind("<Return>", lambda _: self.ok())
        self._retitle(chosen)
        self.open(next(iter(self._boxes.values())))

    def _retitle(self, chosen: Sequence[Group]) -> None:
        titles = ", ".join(self.look.say(group.title) for group in chosen)
        self.call_it(Phrase("Properties of {things}", things=titles))

    def _fill(self, page: ttk.Frame, group: Group, shown: Shown) -> None:
        """A tab: in each line a tick, the field and what the things have now."""
        page.columnconfigure(1, weight=1)
        note = ttk.Label(page, text=self.look.say(group.page.note), style="Muted.TLabel", wraplength=self.look.px(WRAP))
        note.grid(row=0, column=0, columnspan=4, sticky="w", pady=(0, self.look.px(8)))
        for line, field in enumerate(group.page.fields):
            at = (group.kind, field.key)
            text, now = shown[field.key]
            words = "; ".join(self.look.say(each) for each in (now, field.help) if each)
            row = 1 + 2 * line
            self.ticks[at] = tk.BooleanVar(self, False)
            box = ttk.Checkbutton(page, text=self.look.say(field.label), variable=self.ticks[at])
            label = "on all of them" if field.kind == "flag" else ""
            each = Input(page, self.look, replace(field, help=words, label=label), text, row)
            box.grid(row=row, column=0, sticky="nw", padx=(0, self.look.px(12)), pady=self.look.px(3))
            each.watch_typing(partial(self.ticks[at].set, True))
            self.inputs[at], self._boxes[at] = each, box

    def follow(self, chosen: Sequence[Group], shown: Mapping[str, Shown], locked: Mapping[str, str]) -> None:
        """Show what the things have become; a field that is ticked keeps what is typed.

        locked: by kind why those cannot be changed now.
        """
        self._retitle(chosen)
        titles = {group.kind: group.title for group in chosen}
        for place, kind in enumerate(self.kinds):
            self.notebook.tab(place, text=self.look.say(titles.get(kind, Phrase("none left"))))  # type: ignore[no-untyped-call] # typeshed
            for at in (at for at in self.inputs if at[0] == kind):
                if kind in shown and not self.ticks[at].get():
                    self.inputs[at].set(shown[kind][at[1]][0])
                    self.ticks[at].set(False)
                self._usable(at, kind in shown and not locked.get(kind))
        self._locked = {kind: locked.get(kind, "") for kind in self.kinds}
        why = next((words for words in self._locked.values() if words), "")
        self.message.configure(text=why, style="Warn.TLabel")
        self.accept.configure(state="disabled" if why and all(self._locked.values()) else "normal")

    def _usable(self, at: tuple[str, str], usable: bool) -> None:
        self.inputs[at].enable(usable)
        self._boxes[at].configure(state="normal" if usable else "disabled")

    def ok(self) -> None:
        """Give what is ticked to all, or show what is wrong with it."""
        if all(self._locked.get(kind) for kind in self.kinds):
            return
        ticked: dict[str, dict[str, Any]] = {kind: {} for kind in self.kinds if not self._locked.get(kind)}
        for (kind, key), tick in self.ticks.items():
            if tick.get() and kind in ticked:
                ticked[kind][key] = self.inputs[kind, key].get()
        wrong = self._take(ticked)
        for at, each in self.inputs.items():
            each.complain(wrong.get(at, ""))
        if not wrong:
            self.destroy()
            return
        first = next(at for at in self.inputs if at in wrong)
        self.notebook.select(self.kinds.index(first[0]))  # type: ignore[no-untyped-call] # typeshed
        self.inputs[first].widget.focus_set()
