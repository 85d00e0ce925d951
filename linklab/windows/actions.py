# SPDX-License-Identifier: BSD-3-Clause
"""What can be done in a window, as data: its name in the menu and its key. Pure; `menus` draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linklab.base.catalogue import Say
from linklab.windows.words import Phrase


@dataclass(frozen=True)
class Action:
    """One thing to do; `name` is looked up in the window's commands.

    key: as people read it, "Ctrl+S"; events: as tkinter wants it. when: "" always, "stopped" or "running".
    toggles: it shows a tick; group: the radio group it belongs to.
    """

    name: str
    label: str
    key: str = ""
    events: tuple[str, ...] = ()
    when: str = ""
    toggles: bool = False


LINE = None
Menu = tuple[Action | None, ...]
Menus = Mapping[str, Menu]
"""Titles, with "&" before the letter that opens the menu with Alt, and what is in each."""

SCALES = (("As the display says", 0.0), ("100 %", 1.0), ("125 %", 1.25), ("150 %", 1.5), ("200 %", 2.0))
"""Sizes of everything, to choose from."""

AS_THE_SYSTEM = "As the system says"
"""The choice of a language that follows the environment."""

KEY_NAMES = (Phrase("Shift"), Phrase("Return"), Phrase("Del"))
"""Names of keys that keyboards of other countries call otherwise."""


def key_name(key: str, say: Say) -> str:
    """A key as people read it, "Ctrl+Shift+S", in their language."""
    return "+".join(say(part) for part in key.split("+"))


IN_DIALOGS = (
    ("Tab, Shift+Tab", "the next or previous field or button"),
    ("Return", "press the button that has the focus, else the blue one"),
    ("Escape", "close, and change nothing"),
    ("Alt+1 … Alt+9", "turn to a tab"),
)


def rows_of(menus: Menus, say: Say) -> list[tuple[str, str]]:
    """Each action that has a key: the key, and the menu with the action."""
    return [
        (key_name(action.key, say), f"{say(menu).replace('&', '')}: {say(action.label).rstrip('…')}")
        for menu, actions in menus.items()
        for action in actions
        if action and action.key
    ]


def in_dialogs(say: Say) -> list[tuple[str, str]]:
    """The keys of every dialog."""
    return [(say(key), say(Phrase("Dialogs: {what}", what=Phrase(what)))) for key, what in IN_DIALOGS]


def as_table(rows: Sequence[tuple[str, str]]) -> str:
    """Keys and what they do, one a line, in two columns."""
    width = max(len(key) for key, _ in rows)
    return "\n".join(f"{key:<{width}}   {what}" for key, what in rows)
