# SPDX-License-Identifier: BSD-3-Clause
"""The window of every dialog: above its parent, on the screen whole, worked by keys, buttons always in view.

Tab goes around, Return presses the button that has the focus and else the blue one, Escape gives up, Alt+digit turns
to a tab. A modal one must be answered before anything else is done. None blocks the program.
"""

from __future__ import annotations

import tkinter as tk
import tkinter.font as tkfont
from collections.abc import Callable
from functools import partial
from tkinter import ttk
from typing import Any

from linklab.windows.scrolled import Scrolled, around, pages_in
from linklab.windows.theme import Look

FRAME = (16, 56)
"""Pixels of the screen, across and down, that are left to a window manager's frame and panel."""
WAIT_MS = 20
LEAST_LETTERS = 6
"""Points; smaller ones cannot be read."""
OWN_WHEEL = ("Text", "Treeview", "Listbox")
"""Widgets that scroll by themselves."""


class Dialog(tk.Toplevel):
    """A window above another with a row of buttons; `body` is for the one who derives from it."""

    def __init__(self, master: tk.Misc, look: Look, title: str, *, modal: bool = False) -> None:
        super().__init__(master)
        self.withdraw()
        self.look, self.modal = look, modal
        self._below: tk.Misc | None = None
        self.first: tk.Misc = self
        self._notebook: ttk.Notebook | None = None
        self.call_it(title)
        self.configure(highlightthickness=1)
        self.restyle()
        self.transient(master.winfo_toplevel())
        self.maxsize(self.winfo_screenwidth() - FRAME[0], self.winfo_screenheight() - FRAME[1])
        self.body = ttk.Frame(self, padding=look.px(12))
        self.buttons = ttk.Frame(self, padding=(look.px(12), 0, look.px(12), look.px(12)))
        self.buttons.pack(side="bottom", fill="x")
        self.body.pack(side="top", fill="both", expand=True)
        self.bind("<Escape>", lambda _: self.destroy())
        self.bind("<KP_Enter>", lambda _: self.event_generate("<Return>"))
        self.bind("<Shift-F10>", lambda _: "break")  # else Tk takes it for F10
        self.bind("<FocusIn>", self._focused)
        for event, steps in (("<Button-4>", -2), ("<Button-5>", 2)):
            self.bind(event, partial(_wheel, steps))
        self.protocol("WM_DELETE_WINDOW", self.destroy)

    def call_it(self, title: str) -> None:
        """Show this title, in the person's language."""
        self.title(self.look.say(title))

    def restyle(self) -> None:
        """Take the theme."""
        p = self.look.palette
        self.configure(background=p.window, highlightbackground=p.edge, highlightcolor=p.edge)

    def button(
        self, text: str, command: Callable[[], None], *, style: str = "TButton", side: str = "right"
    ) -> ttk.Button:
        """Add a button at the bottom."""
        made = ttk.Button(self.buttons, text=self.look.say(text), command=command, style=style)
        made.pack(side="right" if side == "right" else "left", padx=(self.look.px(8), 0) if side == "right" else 0)
        return made

    def tabs(self, notebook: ttk.Notebook) -> None:
        """Turn its tabs by Alt+digit, and by Ctrl+Tab as elsewhere."""
        self._notebook = notebook
        notebook.enable_traversal()
        for digit in range(1, 10):
            self.bind(f"<Alt-Key-{digit}>", partial(_turn, notebook, digit - 1))

    def open(self, focus: tk.Misc | None = None) -> None:
        """Show it in the middle of its window, as soon as that is seen itself: one shown before would lie under it."""
        if not self.winfo_exists():
            return
        self.first = focus or self
        parent = self.master.winfo_toplevel()
        if not parent.winfo_viewable():
            self.after(WAIT_MS, lambda: self.open(focus))
            return
        self.update_idletasks()
        for page in pages_in(self):
            page.fit()
        self.update_idletasks()
        most = self.maxsize()
        wide, high = min(self.winfo_reqwidth(), most[0]), min(self.winfo_reqheight(), most[1])
        if self._notebook is not None:
            _fit_tabs(self._notebook, self.look, wide - 2 * self.look.px(12))
        x = parent.winfo_rootx() + (parent.winfo_width() - wide) // 2
        y = parent.winfo_rooty() + max(0, (parent.winfo_height() - high) // 3)
        if pages_in(self):  # what is chosen later scrolls, and the window keeps its size; see `grow`
            self.geometry(f"{wide}x{high}")
        self._put(x, y, wide, high)
        self.deiconify()
        self.lift()
        self.first.focus_set()
        self.bind("<Configure>", self._grown)
        if self.modal:
            self._below = holder(self.grab_current)
            self._grab()

    def grow(self) -> None:
        """Become as high as what is inside now asks for, as far as the screen allows; the rest scrolls."""
        if not self.winfo_viewable() or not pages_in(self):
            return
        self.update_idletasks()
        high = min(self.winfo_reqheight(), self.maxsize()[1])
        if high > self.winfo_height():
            self.geometry(f"{self.winfo_width()}x{high}")
            self._put(self.winfo_x(), self.winfo_y(), self.winfo_width(), high)

    def destroy(self) -> None:
        """Close; the focus goes back to what had it before, and so does the grab of a modal one.

        The focus moves first: a program whose window with the focus is gone has none, and Tk would only note the wish.
        """
        if not self.winfo_exists():
            return
        owner = self.master.winfo_toplevel()
        below = self._below if isinstance(self._below, Dialog) and self._below.winfo_exists() else None
        if self.modal:
            self.grab_release()
        if below is not None:
            below.focus_set()
        elif _inside(holder(self.focus_displayof), self) and owner.winfo_exists():
            (holder(owner.focus_lastfor) or owner).focus_set()
        super().destroy()
        if below is not None:
            below._grab()

    def _put(self, x: int, y: int, wide: int, high: int) -> None:
        """Place it there, or as near as it is on the screen whole."""
        x = max(0, min(x, self.winfo_screenwidth() - wide - FRAME[0] // 2))
        y = max(0, min(y, self.winfo_screenheight() - high - FRAME[1] // 2))
        self.geometry(f"+{x}+{y}")

    def _grown(self, event: tk.Event[tk.Misc]) -> None:
        """What became larger, by a message or a chosen discipline, stays on the screen."""
        if event.widget is not self or event.y + event.height <= self.winfo_screenheight():
            return
        self._put(self.winfo_x(), self.winfo_y(), event.width, event.height)

    def _grab(self) -> None:
        """Keep the mouse from everything else, once there is something to be seen."""
        if not self.winfo_exists():
            return
        if self.winfo_viewable():
            self.grab_set()
        else:
            self.after(WAIT_MS, self._grab)

    def _focused(self, event: tk.Event[tk.Misc]) -> None:
        frame = around(event.widget)
        if frame is not None:
            frame.see(event.widget)


def scrolled_page(notebook: ttk.Notebook | None, master: tk.Misc, look: Look, title: str) -> ttk.Frame:
    """A frame to fill, which scrolls: a tab of that title, or what a dialog without tabs holds."""
    page = Scrolled(notebook or master, look)
    if notebook is not None:
        notebook.add(page, text=look.say(title))
    else:
        page.pack(fill="both", expand=True)
    return page.body


def holder(ask: Callable[[], tk.Misc | None]) -> tk.Misc | None:
    """What has the grab or the focus, by tkinter's answer; None also if that is a menu of the bar.

    Tk posts a copy of such a menu, which tkinter does not know: it raises KeyError.
    """
    try:
        return ask()
    except KeyError:
        return None


def to_question(root: tk.Misc) -> None:
    """Give the keys to the modal dialog that is open, if there is one: a grab holds the mouse alone.

    In it they go where they were last, and at first where `open` was told.
    """
    dialog = holder(root.grab_current)
    if isinstance(dialog, Dialog):
        last = holder(dialog.focus_lastfor)
        (dialog.first if last in (None, dialog) else last).focus_set()


def _wheel(steps: int, event: tk.Event[tk.Misc]) -> None:
    frame = around(event.widget)
    if frame is not None and event.widget.winfo_class() not in OWN_WHEEL:
        frame.wheel(steps)


def _fit_tabs(notebook: ttk.Notebook, look: Look, room: int) -> None:
    """Give the tabs the largest letters with which all titles fit into `room`, in pixels; ttk would cut the titles."""
    style = ttk.Style(notebook)
    titles = [str(notebook.tab(tab, "text")) for tab in notebook.tabs()]  # type: ignore[no-untyped-call] # typeshed
    font = tkfont.Font(notebook, font=look.font())
    beside = 2 * look.px(4 if look.is_narrow else 12) + look.px(4)  # of the padding and the border of a tab
    while sum(font.measure(title) + beside for title in titles) > room and abs(font.cget("size")) > LEAST_LETTERS:
        size = font.cget("size")
        font.configure(size=size - 1 if size > 0 else size + 1)
    if font.actual("size") != tkfont.Font(notebook, font=look.font()).actual("size"):
        name = f"Fitted{abs(font.cget('size'))}.TNotebook"
        style.configure(f"{name}.Tab", font=font)
        notebook.configure(style=name)
        notebook.fitted = font  # type: ignore[attr-defined] # Tk forgets a font that Python does


def _turn(notebook: ttk.Notebook, page: int, _: tk.Event[tk.Misc]) -> str:
    if page < len(notebook.tabs()):  # type: ignore[no-untyped-call] # typeshed
        notebook.select(page)  # type: ignore[no-untyped-call] # typeshed
        chosen: Any = notebook.nametowidget(notebook.select())  # type: ignore[no-untyped-call] # typeshed
        first = next((each for each in _reachable(chosen)), None)
        (first or notebook).focus_set()
    return "break"


def _reachable(widget: tk.Misc) -> list[tk.Misc]:
    """What Tab reaches inside a widget, in its order; containers themselves are not."""
    found: list[tk.Misc] = []
    for child in widget.winfo_children():
        if child.winfo_class() in ("TEntry", "TCombobox", "TCheckbutton", "TButton", "Text"):
            if "disabled" not in str(child.cget("state")):
                found.append(child)
        else:
            found += _reachable(child)
    return found


def _inside(widget: object, toplevel: tk.Misc) -> bool:
    return isinstance(widget, tk.Misc) and widget.winfo_toplevel() is toplevel
