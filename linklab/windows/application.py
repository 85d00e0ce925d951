# SPDX-License-Identifier: BSD-3-Clause
"""What every program with a window has: the window itself, its theme, size and language, and what a fault does.

The editor and the viewer derive from `Application`, which knows neither.
"""

from __future__ import annotations

import os
import tkinter as tk
import traceback
from collections.abc import Callable
from functools import partial
from types import TracebackType

from linklab.errors import InputError, MissingError
from linklab.windows.actions import AS_THE_SYSTEM, SCALES
from linklab.windows.collecting import Collecting
from linklab.windows.restyle import restyle
from linklab.windows.settings import WindowSettings
from linklab.windows.theme import Look, apply
from linklab.windows.toplevel import Dialog, to_question
from linklab.windows.window import Window
from linklab.windows.words import in_language, languages, told_by


class Application:
    """A program of one window; the class that derives from it makes the widgets and fills `ticks`."""

    settings: WindowSettings
    ticks: dict[str, tk.BooleanVar]

    def __init__(self, class_name: str, settings: WindowSettings, language: str, instead: str) -> None:
        """Make the window, which is not seen yet; `language` comes before that of the settings.

        Args:
            class_name: by which the desktop knows its windows, as in desktop/*.desktop.
            settings: the person's choices.
            language: a code, or "".
            instead: what can be done without a display, for the message.

        Raises:
            MissingError: there is no display.
            InputError: the language's catalogue cannot be read.
        """
        try:
            self.root = tk.Tk(className=class_name)
        except tk.TclError as error:
            raise MissingError(f"no display for a window ({error}): {instead}") from error
        self.root.withdraw()
        self.root.report_callback_exception = self._broke
        self.settings, self.ticks = settings, {}
        say = in_language(language or settings.language, os.environ)
        self.look = Look(self.root, settings.theme, settings.scale, say)
        self.window = Window(self.root)
        self._collecting: Collecting | None = None

    def run(self) -> None:
        """Work until the window is closed."""
        self.root.mainloop()

    def appear(self) -> None:
        """Show the window."""
        self.root.deiconify()
        self._collecting = Collecting(self.root)

    def close(self) -> None:
        """Destroy the window, and cancel what it was going to do later."""
        for waiting in self.root.tk.splitlist(self.root.tk.call("after", "info")):
            self.root.tk.call("after", "cancel", waiting)
        self.root.destroy()
        if self._collecting is not None:
            self._collecting.end()

    # --- for the class that derives from it

    def refresh(self) -> None:
        """Show everything as it is now."""
        raise NotImplementedError

    def rebuild(self) -> None:
        """Make the widgets anew, in a changed size or language."""
        raise NotImplementedError

    def tell_fault(self, detail: str) -> None:
        """Tell the person of a fault of ours; `detail` is the traceback."""
        raise NotImplementedError

    def clear(self) -> None:
        """Remove every widget but open dialogs, and take the theme: what is made next has it."""
        for child in list(self.root.children.values()):
            if not isinstance(child, Dialog):
                child.destroy()
        self.root.option_clear()
        apply(self.root, self.look)
        self.root.bind("<FocusIn>", lambda _: to_question(self.root))
        self.root.bind("<Shift-F10>", lambda _: "break")  # else Tk takes it for F10, and opens the first menu

    # --- actions of both windows

    def turn(self, name: str, then: Callable[[], None]) -> None:
        """Change a tick by its key, as the menu does without our help."""
        self.ticks[name].set(not self.ticks[name].get())
        then()

    def set_theme(self) -> None:
        """Take the theme that the tick says."""
        self.settings.theme = "dark" if self.ticks["dark"].get() else "light"
        self.look.change(self.settings.theme)
        restyle(self.root, self.look)
        self.refresh()

    def set_scale(self, scale: float) -> None:
        """Take another size of everything."""
        self.settings.scale = scale
        self.root.after_idle(self.rebuild)

    def set_language(self, code: str) -> None:
        """Take another language; "" is the system's."""
        self.settings.language = code
        self.look.say = in_language(code, os.environ)
        self.root.after_idle(self.rebuild)

    def fill_scales(self, menu: tk.Menu) -> None:
        """Fill the submenu of sizes."""
        for label, value in SCALES:
            tick = "• " if value == self.settings.scale else "   "
            menu.add_command(label=tick + self.look.say(label), command=partial(self.set_scale, value))

    def fill_languages(self, menu: tk.Menu) -> None:
        """Fill the submenu of languages."""
        for code, name in {"": self.look.say(AS_THE_SYSTEM), **languages()}.items():
            tick = "• " if code == self.settings.language else "   "
            menu.add_command(label=tick + name, command=partial(self.set_language, code))

    def _broke(self, kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        """Something failed in a callback: say so, and go on."""
        if isinstance(error, InputError):
            self.window.say(told_by(error), bad=True)
        else:
            self.tell_fault("".join(traceback.format_exception(kind, error, at)))
