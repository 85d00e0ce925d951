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
from linklab.editor.dialogs import Dialog, Input, fill_page
from linklab.editor.fields import read, texts
from linklab.editor.node_fields import LINK_PAGE
from linklab.editor.theme import Look
from linklab.errors import FieldError, InputError
from linklab.tc import DISCIPLINES
from linklab.topology import Link

Take = Callable[[dict[str, Any], dict[str, Any]], None]
NO_DISCIPLINE = "first in, first out"


class Direction(ttk.Frame):
    """The tab of one direction."""

    def __init__(self, master: tk.Misc, look: Look, title: str, data: Mapping[str, Any] | None) -> None:
        super().__init__(master, padding=look.px(12))
        self.look = look
        self.own = tk.StringVar(self, "0" if data is None else "1")
        box = ttk.Checkbutton(
            self,
            text=f"{title} has settings of its own, in place of the tab Link",
            variable=self.own,
            onvalue="1",
            offvalue="0",
        )
        box.pack(anchor="w")
        box.configure(command=self._switched)
        self.columns = ttk.Frame(self)
        self.columns.pack(fill="both", expand=True, pady=(look.px(8), 0))
        self.inputs: dict[str, Input] = {}
        shown = link_fields.shown(data or {})
        left, right = ttk.Frame(self.columns), ttk.Frame(self.columns)
        left.pack(side="left", anchor="n")
        right.pack(side="left", anchor="n", padx=(look.px(24), 0))
        for i, field in enumerate(link_fields.DIRECTION_FIELDS):
            self.inputs[field.key] = Input(left, look, field, shown[field.key], i, width=14, beside=True)
        line = ttk.Frame(right)
        line.pack(anchor="w", pady=(look.px(2), look.px(8)))
        ttk.Label(line, text="Queue discipline").pack(side="left", padx=(0, look.px(12)))
        self.kind = ttk.Combobox(line, values=[NO_DISCIPLINE, *DISCIPLINES], state="readonly", width=18)
        self.kind.set(shown["kind"] or NO_DISCIPLINE)
        self.kind.pack(side="left")
        self.kind.bind("<<ComboboxSelected>>", lambda _: self._chose({}))
        self.parameters = ttk.Frame(right)
        self.parameters.pack(anchor="w")
        self._chose(shown)
        self._switched()

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

    def _switched(self) -> None:
        """Fields are greyed while the tab Link decides."""
        state = "normal" if self.own.get() == "1" else "disabled"
        for each in self.inputs.values():
            each.enable(state == "normal")
        self.kind.configure(state="readonly" if state == "normal" else "disabled")

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

    def __init__(
        self, master: tk.Misc, look: Look, link: Link, ends: tuple[str, str], take: Take, *, running: bool
    ) -> None:
        """Show `link`; `take` gets its new `opts` and `own`."""
        super().__init__(master, look, f"Link {' – '.join(ends)}")
        self.link, self.ends, self._take = link, ends, take
        self.notebook = ttk.Notebook(self.body)
        self.notebook.pack(fill="both", expand=True)
        self.inputs: dict[str, Input] = {}
        both = ttk.Frame(self.notebook, padding=look.px(12))
        fill_page(both, look, LINK_PAGE, texts([LINK_PAGE], link.opts), self.inputs)
        self.notebook.add(both, text="Link")
        self.directions = []
        for end, key in enumerate(("forward", "backward")):
            title = f"{(link.src, link.dest)[end]} → {(link.src, link.dest)[1 - end]}"
            direction = Direction(self.notebook, look, title, link.own.get(key))
            self.notebook.add(direction, text=title)
            self.directions.append(direction)
        commands = ttk.Frame(self.notebook, padding=look.px(12))
        self.text = tk.Text(commands, width=96, height=18, wrap="none", font="TkFixedFont", state="disabled")
        self.text.pack(fill="both", expand=True)
        self.notebook.add(commands, text="Commands")
        self.notebook.bind("<<NotebookTabChanged>>", lambda _: self._tab_changed())
        self.message = ttk.Label(self.body, style="Bad.TLabel", wraplength=look.px(700), text="")
        self.message.pack(fill="x", pady=(look.px(6), 0))
        self.button("OK", self.ok, style="Accent.TButton")
        self.button("Cancel", self.destroy)
        if running:
            self.button("Apply", self.apply_and_stay)
        self.button("Show the commands", self.show_commands, side="left")
        self.bind("<Return>", lambda _: self.ok())
        self.open(self.inputs["bw"].widget)

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
                self.message.configure(text=str(error))
                return None
            if data is not None:
                own[key] = data
        return opts, own

    def _show_tab(self, at: int) -> None:
        self.notebook.select(at)  # type: ignore[no-untyped-call] # typeshed

    def _tab_changed(self) -> None:
        if self.notebook.index("current") == 3:  # type: ignore[no-untyped-call] # typeshed
            self._fill_commands()

    def show_commands(self) -> None:
        """Turn to the exact tc lines for what is typed."""
        if self.collect() is not None:
            self._show_tab(3)

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
        found = self.collect()
        if found is None:
            return False
        opts, own = found
        self._take(opts, own)
        self.link = replace(self.link, opts=opts, own=own)
        return True

    def apply_and_stay(self) -> None:
        """Take the values and leave the dialog open."""
        self.apply()

    def ok(self) -> None:
        """Take the values and close."""
        if self.apply():
            self.destroy()
