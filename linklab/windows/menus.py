# SPDX-License-Identifier: BSD-3-Clause
"""A menu bar and its key bindings, drawn from actions; submenus are filled when they are opened."""

from __future__ import annotations

import tkinter as tk
import tkinter.font as tkfont
from collections.abc import Callable, Mapping
from functools import partial

from linklab.base.catalogue import Say, unchanged
from linklab.windows.actions import Action, Menus, key_name
from linklab.windows.toplevel import LEAST_LETTERS

Fill = Callable[[tk.Menu], None]
TYPED_IN = ("TEntry", "Text", "TCombobox", "TSpinbox")
"""Classes of widgets that keep the keys for what is typed."""


class MenuBar:
    """The bar and the keys."""

    def __init__(
        self,
        root: tk.Tk,
        menus: Menus,
        commands: Mapping[str, Callable[[], None]],
        submenus: Mapping[str, Fill],
        ticks: Mapping[str, tk.BooleanVar],
        *,
        say: Say,
        anywhere: tuple[str, ...] = ("quit",),
    ) -> None:
        """`anywhere`: actions whose keys also work where something is typed."""
        self.root, self.commands, self.say, self._anywhere = root, commands, say, anywhere
        self.bar = tk.Menu(root, tearoff=False, relief="flat", borderwidth=1)
        self._entries: list[tuple[tk.Menu, int, Action]] = []
        for title, actions in menus.items():
            menu = tk.Menu(self.bar, tearoff=False)
            menu.configure(postcommand=partial(_fit, menu, str(menu.cget("font"))))
            label, underline = access_key(say(title))
            self.bar.add_cascade(label=label, menu=menu, underline=underline)
            for action in actions:
                if action is None:
                    menu.add_separator()
                    continue
                self._add(menu, action, submenus, ticks)
        root.configure(menu=self.bar)

    def _add(
        self, menu: tk.Menu, action: Action, submenus: Mapping[str, Fill], ticks: Mapping[str, tk.BooleanVar]
    ) -> None:
        label, key = self.say(action.label), key_name(action.key, self.say)
        if action.name in submenus:
            below = tk.Menu(menu, tearoff=False)
            fill = submenus[action.name]
            below.configure(postcommand=lambda: _refill(below, fill))
            menu.add_cascade(label=label, menu=below)
        elif action.toggles:
            command = self.commands[action.name]
            menu.add_checkbutton(label=label, accelerator=key, variable=ticks[action.name], command=command)
        else:
            menu.add_command(label=label, accelerator=key, command=self.commands[action.name])
        self._entries.append((menu, menu.index("end") or 0, action))
        self.bind(action)

    def bind(self, action: Action) -> None:
        """Let its keys do it, also if no menu has it."""
        for event in action.events:
            self.root.bind(event, lambda e, a=action: self._key(e, a))  # type: ignore[misc]

    def _key(self, event: tk.Event[tk.Misc], action: Action) -> str | None:
        if self.root.tk.call("grab", "current", self.root):  # a question, or an open menu, which comes first
            return "break"
        if isinstance(event.widget, tk.Misc) and event.widget.winfo_toplevel() is not self.root:
            return None
        if event.widget.winfo_class() in TYPED_IN and action.name not in self._anywhere:
            return None
        if not self.is_usable(action):
            return "break"
        if action.toggles:
            self.commands[f"key:{action.name}"]()
        else:
            self.commands[action.name]()
        return "break"

    def is_usable(self, action: Action) -> bool:
        """Whether its key does something now; for the one who derives from it."""
        return True

    def enable(self, usable: Callable[[Action], bool]) -> None:
        """Grey what cannot be done now."""
        for menu, at, action in self._entries:
            menu.entryconfigure(at, state="normal" if usable(action) else "disabled")


def _fit(menu: tk.Menu, font: str) -> None:
    """Fit a menu, whose letters have this font if there is room, to the screen; Tk would cut it off.

    What helps is a second column, then smaller letters. The second column begins after the line nearest to the middle
    that makes both low enough, else in the middle.
    """
    menu.configure(font=font)
    last, high, wide = menu.index("end") or 0, menu.winfo_screenheight(), menu.winfo_screenwidth()
    middle = (last + 1) // 2
    lines = [at for at in range(1, last) if menu.type(at) == "separator"]
    for first in (0, *(at + 1 for at in sorted(lines, key=lambda at: abs(at - middle))), middle):
        for at in range(1, last + 1):
            if menu.type(at) != "separator":
                menu.entryconfigure(at, columnbreak=at == first)
        menu.update_idletasks()
        if menu.winfo_reqheight() <= high:
            break
    smaller = tkfont.Font(menu, font=font)
    size = int(smaller.actual("size"))
    while (menu.winfo_reqheight() > high or menu.winfo_reqwidth() > wide) and size > LEAST_LETTERS:
        size -= 1
        smaller.configure(size=size)
        menu.configure(font=smaller)
        menu.fitted = smaller  # type: ignore[attr-defined] # Tk forgets a font that Python does
        menu.update_idletasks()


def _refill(menu: tk.Menu, fill: Fill) -> None:
    menu.delete(0, "end")
    fill(menu)


def access_key(title: str) -> tuple[str, int]:
    """A menu's title without its "&", and which letter of it opens the menu with Alt: the one behind the "&"."""
    before, _, after = title.partition("&")
    return before + after, len(before)


def popup(
    master: tk.Misc, entries: list[tuple[str, Callable[[], None] | None]], x: int, y: int, say: Say = unchanged
) -> tk.Menu:
    """A menu where the mouse is; an entry without a command is grey, one without a label a line."""
    menu = tk.Menu(master, tearoff=False)
    for label, command in entries:
        if not label:
            menu.add_separator()
        elif command is None:
            menu.add_command(label=say(label), state="disabled")
        else:
            menu.add_command(label=say(label), command=command)
    menu.tk_popup(x, y)
    return menu
