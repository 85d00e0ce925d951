# SPDX-License-Identifier: BSD-3-Clause
"""The editor's menu bar: which actions can be done while the network runs, and what Undo would undo."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping

from linklab.base.catalogue import Say
from linklab.editor.actions import MENUS
from linklab.windows.actions import Action
from linklab.windows.menus import Fill, MenuBar
from linklab.windows.words import Phrase

TRAVELS = {"undo": Phrase("Undo {change}"), "redo": Phrase("Redo {change}")}


class EditorMenus(MenuBar):
    """The bar and the keys."""

    def __init__(
        self,
        root: tk.Tk,
        commands: Mapping[str, Callable[[], None]],
        submenus: Mapping[str, Fill],
        ticks: Mapping[str, tk.BooleanVar],
        say: Say,
    ) -> None:
        self.running = False
        super().__init__(root, MENUS, commands, submenus, ticks, say=say, anywhere=("quit", "run"))

    def is_usable(self, action: Action) -> bool:
        """Some want the network running, some stopped."""
        return not action.when or (action.when == "running") == self.running

    def show_state(self, *, running: bool, undo: str | None, redo: str | None) -> None:
        """Grey what cannot be done now; name what undo would undo."""
        self.running = running
        for menu, at, action in self._entries:
            usable = self.is_usable(action)
            if action.name in ("undo", "redo"):
                label = undo if action.name == "undo" else redo
                usable = usable and label is not None
                words = Phrase(TRAVELS[action.name], change=Phrase(label)) if label else action.label
                menu.entryconfigure(at, label=self.say(words))
            menu.entryconfigure(at, state="normal" if usable else "disabled")
