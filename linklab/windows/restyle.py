# SPDX-License-Identifier: BSD-3-Clause
"""A window in another theme, as it stands: nothing moves, closes or is made anew, and what is typed stays.

ttk's widgets follow their styles; a widget of ours with `restyle` does it itself; tkinter's own get the options of
`theme.plain_styles`.
"""

from __future__ import annotations

import tkinter as tk
from tkinter import ttk

from linklab.windows.theme import Look, apply, plain_styles

KEPT = ("relief", "borderwidth")
"""What is no colour, and not the same for every widget of a class."""


def restyle(root: tk.Tk, look: Look) -> None:
    """Show the whole window, its menus and its dialogs in the colours of `look`."""
    root.option_clear()
    apply(root, look)
    styles = plain_styles(look)
    for child in list(root.children.values()):
        _dress(child, styles)


def _dress(widget: tk.Misc, styles: dict[str, dict[str, object]]) -> None:
    own = getattr(widget, "restyle", None)
    if own is not None:
        own()
    elif isinstance(widget, ttk.Combobox):
        widget.tk.call("destroy", f"{widget}.popdown")  # ttk makes the list anew, in its new colours
    elif widget.winfo_class() in styles:
        options = {key.lower(): value for key, value in styles[widget.winfo_class()].items()}
        widget.configure(**{key: value for key, value in options.items() if key not in KEPT})
    for child in list(widget.children.values()):
        _dress(child, styles)
