# SPDX-License-Identifier: BSD-3-Clause
"""Short dialogs in the editor's own look: a question with buttons, a message, a text to read or copy.

None of them blocks the program: what follows is a callback. A question is modal: its answer is about the drawing as it
is now.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog, scrolled_page

WIDE = 440
"""Of a question's text, in pixels of a plain display."""
WIDEST = 96
"""Letters of a line of text that is shown whole, where the screen is wide enough."""


def ask(
    master: tk.Misc, look: Look, title: str, text: str, answers: Sequence[tuple[str, Callable[[], None]]]
) -> Dialog:
    """A question; the first answer is the one Return gives, Escape gives none."""
    dialog = Dialog(master, look, title, modal=True)
    ttk.Label(dialog.body, text=look.say(title), style="Title.TLabel").pack(anchor="w", padx=look.px(12))
    page = scrolled_page(None, dialog.body, look, "")
    ttk.Label(page, text=look.say(text), wraplength=look.px(WIDE), justify="left").pack(anchor="w")

    def give(command: Callable[[], None]) -> None:
        dialog.destroy()
        command()

    first = None
    for i, (label, command) in enumerate(answers):
        style = "TButton" if i else "Accent.TButton"
        made = dialog.button(label, lambda chosen=command: give(chosen), style=style)  # type: ignore[misc]
        first = first or made
    if answers:
        dialog.bind("<Return>", lambda _: give(answers[0][1]))
    dialog.open(first)
    return dialog


def text_area(frame: ttk.Frame, look: Look, text: str) -> tk.Text:
    """A text that is read only, in a fixed font, with bars."""
    lines = text.split("\n")
    width = max(40, min(WIDEST, max(len(line) for line in lines) + 2))
    area = tk.Text(frame, width=width, height=max(4, min(28, len(lines) + 1)), wrap="none", font="TkFixedFont")
    area.insert("1.0", text)
    area.configure(state="disabled")
    down = ttk.Scrollbar(frame, orient="vertical", command=area.yview)
    across = ttk.Scrollbar(frame, orient="horizontal", command=area.xview)
    area.configure(yscrollcommand=partial(_bar, down, {"side": "right", "fill": "y", "before": area}))
    area.configure(xscrollcommand=partial(_bar, across, {"side": "bottom", "fill": "x", "before": area}))
    area.pack(side="left", fill="both", expand=True)
    return area


def _bar(bar: ttk.Scrollbar, place: dict[str, Any], first: str, last: str) -> None:
    """Show a bar while something is out of view."""
    bar.set(first, last)
    wanted = float(first) > 0 or float(last) < 1
    if wanted and not bar.winfo_manager():
        bar.pack(**place)
    elif not wanted:
        bar.pack_forget()


def tell(master: tk.Misc, look: Look, title: str, text: str) -> Dialog:
    """A message to be acknowledged."""
    return ask(master, look, title, text, [("OK", lambda: None)])


def show_text(master: tk.Misc, look: Look, title: str, text: str, *, note: str = "") -> Dialog:
    """A text in a fixed font, to be read, selected and copied."""
    dialog = Dialog(master, look, title)
    if note:
        label = ttk.Label(
            dialog.body,
            text=look.say(note),
            style="Muted.TLabel",
            wraplength=min(look.px(640), dialog.maxsize()[0] - look.px(40)),
        )
        label.pack(anchor="w", pady=(0, look.px(8)))
    frame = ttk.Frame(dialog.body)
    frame.pack(fill="both", expand=True)
    text = look.say(text).expandtabs()
    area = text_area(frame, look, text)

    def copy() -> None:
        dialog.clipboard_clear()
        dialog.clipboard_append(text)

    dialog.button("Close", dialog.destroy, style="Accent.TButton")
    dialog.button("Copy", copy)
    dialog.bind("<Return>", lambda _: dialog.destroy())
    dialog.open(area)
    return dialog
