# SPDX-License-Identifier: BSD-3-Clause
"""The window as its parts see it: where dialogs open, what says what happens, and what is done a moment later."""

from __future__ import annotations

import time
import tkinter as tk
from collections import deque
from collections.abc import Callable, Sequence

from linklab.windows import questions
from linklab.windows.status import StatusBar
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog

MESSAGES = 200
FREE_MS = 100

Answers = Sequence[tuple[str, Callable[[], None]]]


class Window:
    """One window."""

    look: Look
    status: StatusBar

    def __init__(self, root: tk.Tk) -> None:
        self.root = root
        self.said: deque[str] = deque(maxlen=MESSAGES)
        self._drawn: object = None
        self._said_of: object = None

    def dress(self, look: Look, status: StatusBar) -> None:
        """Take the theme and size, and the status line in them; before anything is said, and when they change."""
        self.look, self.status = look, status

    def say(self, text: str, *, bad: bool = False) -> None:
        """One line at the bottom, in the person's language."""
        text = self.look.say(text)
        self.said.append(f"{time.strftime('%H:%M:%S')}  {text}")
        self._said_of = self._drawn
        self.status.say(text, bad=bad)

    def outdate(self, drawn: object) -> None:
        """Take away a line that was said of another drawing than the one that is shown now."""
        self._drawn = drawn
        if self._said_of is not drawn and self.status.said:
            self.status.say("")

    def show_said(self) -> None:
        """What was said at the bottom, the newest last, whole."""
        self.show_text("Messages", "\n".join(self.said) or "Nothing was said yet.")

    def tell(self, title: str, text: str) -> None:
        """A message that must be seen."""
        questions.tell(self.root, self.look, title, text)

    def ask(self, title: str, text: str, answers: Answers) -> None:
        """A question; the first answer is the one Return gives."""
        questions.ask(self.root, self.look, title, text, answers)

    def show_text(self, title: str, text: str, note: str = "") -> None:
        """A text to read or copy."""
        questions.show_text(self.root, self.look, title, text, note=note)

    def copy(self, text: str) -> None:
        """Put a text on the clipboard."""
        self.root.clipboard_clear()
        self.root.clipboard_append(text)

    def soon(self, do: Callable[[], object]) -> None:
        """Do it when the window has nothing else to do."""
        self.root.after_idle(do)

    def when_free(self, do: Callable[[], object]) -> None:
        """Do it as soon as no dialog is open, so that one question does not hide another."""
        if any(isinstance(child, Dialog) for child in self.root.children.values()):
            self.after(FREE_MS, lambda: self.when_free(do))
        else:
            do()

    def after(self, milliseconds: int, do: Callable[[], object]) -> None:
        """Do it then."""
        self.root.after(milliseconds, do)
