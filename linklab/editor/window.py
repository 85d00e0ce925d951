# SPDX-License-Identifier: BSD-3-Clause
"""The window as its parts see it: where dialogs open, what says what happens, and what is done a moment later."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence

from linklab.editor import questions
from linklab.editor.bars import StatusBar
from linklab.editor.theme import Look

Answers = Sequence[tuple[str, Callable[[], None]]]


class Window:
    """One window."""

    look: Look
    status: StatusBar

    def __init__(self, root: tk.Tk) -> None:
        self.root = root

    def dress(self, look: Look, status: StatusBar) -> None:
        """Take the theme and size, and the status line in them; before anything is said, and when they change."""
        self.look, self.status = look, status

    def say(self, text: str, *, bad: bool = False) -> None:
        """One line at the bottom."""
        self.status.say(text, bad=bad)

    def tell(self, title: str, text: str) -> None:
        """A message that must be seen."""
        questions.tell(self.root, self.look, title, text)

    def ask(self, title: str, text: str, answers: Answers) -> None:
        """A question; the first answer is the one Return gives."""
        questions.ask(self.root, self.look, title, text, answers)

    def show_text(self, title: str, text: str, note: str = "") -> None:
        """A text to read or copy."""
        questions.show_text(self.root, self.look, title, text, note=note)

    def soon(self, do: Callable[[], object]) -> None:
        """Do it when the window has nothing else to do."""
        self.root.after_idle(do)

    def after(self, milliseconds: int, do: Callable[[], object]) -> None:
        """Do it then."""
        self.root.after(milliseconds, do)
