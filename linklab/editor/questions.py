# SPDX-License-Identifier: BSD-3-Clause
"""Short dialogs in the editor's own look: a question with buttons, a message, a text to read or copy.

None of them blocks the program: what follows is a callback.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from tkinter import ttk

from linklab.editor.dialogs import Dialog
from linklab.editor.theme import Look


def ask(
    master: tk.Misc, look: Look, title: str, text: str, answers: Sequence[tuple[str, Callable[[], None]]]
) -> Dialog:
    """A question; the first answer is the one Return gives, Escape gives none."""
    dialog = Dialog(master, look, title)
    ttk.Label(dialog.body, text=title, style="Title.TLabel").pack(anchor="w")
    ttk.Label(dialog.body, text=text, wraplength=look.px(460), justify="left").pack(anchor="w", pady=(look.px(8), 0))

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


def tell(master: tk.Misc, look: Look, title: str, text: str) -> Dialog:
    """A message to be acknowledged."""
    return ask(master, look, title, text, [("OK", lambda: None)])


def show_text(master: tk.Misc, look: Look, title: str, text: str, *, note: str = "") -> Dialog:
    """A text in a fixed font, to be read, selected and copied."""
    dialog = Dialog(master, look, title)
    if note:
        label = ttk.Label(dialog.body, text=note, style="Muted.TLabel", wraplength=look.px(640))
        label.pack(anchor="w", pady=(0, look.px(8)))
    frame = ttk.Frame(dialog.body)
    frame.pack(fill="both", expand=True)
    text = text.expandtabs()
    lines = text.split("\n")
    width = max(40, min(110, max(len(line) for line in lines) + 2))
    area = tk.Text(frame, width=width, height=max(4, min(28, len(lines) + 1)), wrap="none", font="TkFixedFont")
    area.insert("1.0", text)
    area.configure(state="disabled")
    bar = ttk.Scrollbar(frame, orient="vertical", command=area.yview)
    area.configure(yscrollcommand=bar.set)
    area.pack(side="left", fill="both", expand=True)
    if len(lines) > 27:
        bar.pack(side="right", fill="y")

    def copy() -> None:
        dialog.clipboard_clear()
        dialog.clipboard_append(text)

    dialog.button("Close", dialog.destroy, style="Accent.TButton")
    dialog.button("Copy", copy)
    dialog.bind("<Return>", lambda _: dialog.destroy())
    dialog.open(area)
    return dialog
