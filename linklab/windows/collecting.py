# SPDX-License-Identifier: BSD-3-Clause
"""Garbage is collected in the window's thread alone: tkinter's variables must not be freed in another."""

from __future__ import annotations

import gc
import tkinter as tk

EVERY_MS = 10_000


class Collecting:
    """Collects while the window lives."""

    def __init__(self, root: tk.Tk) -> None:
        self._root = root
        gc.disable()
        gc.freeze()  # modules and classes stay; looking through them takes longer than a drawing
        root.after(EVERY_MS, self._collect)

    def _collect(self) -> None:
        gc.disable()  # somebody else may have turned it on
        gc.collect()
        self._root.after(EVERY_MS, self._collect)

    def end(self) -> None:
        """Collect as usual again; the window has gone."""
        gc.unfreeze()
        gc.collect()
        gc.enable()
