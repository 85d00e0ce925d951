# SPDX-License-Identifier: BSD-3-Clause
"""A dialog that chooses a file to open or to save as, in the editor's own look and size; it does not block the program.

A whole path may be typed; overwriting is asked about once.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from pathlib import Path
from tkinter import ttk

from linklab.windows.dialogs import MessageLine
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog
from linklab.windows.words import Phrase

ROWS = 14


class Chooser(Dialog):
    """A folder's files to choose from, and a line to type a name."""

    def __init__(
        self,
        master: tk.Misc,
        look: Look,
        title: str,
        *,
        folder: Path,
        ending: str | tuple[str, ...],
        name: str,
        save: bool,
        take: Callable[[Path], None],
    ) -> None:
        """Show `folder`; `take` gets the path chosen.

        ending: of the files shown, ".mn", or several; the first is added to a name typed without one.
        save: the file need not exist.
        """
        super().__init__(master, look, title, modal=True)
        self.endings = (ending,) if isinstance(ending, str) else ending
        self.ending, self.saving, self._take = self.endings[0], save, take
        self.folder = folder
        self._sure: Path | None = None
        top = ttk.Frame(self.body)
        top.pack(fill="x")
        self.where = ttk.Label(top, text="", style="Muted.TLabel")
        ttk.Button(top, text=look.say("Up"), command=lambda: self.show(self.folder.parent), width=-6).pack(side="right")
        ttk.Button(top, text=look.say("Home"), command=lambda: self.show(Path.home()), width=-6).pack(
            side="right", padx=look.px(6)
        )
        self.where.pack(side="left", fill="x", expand=True)
        self.message = MessageLine(self.body, look)
        line = ttk.Frame(self.body)
        line.pack(side="bottom", fill="x")
        ttk.Label(line, text=look.say("File name")).pack(side="left", padx=(0, look.px(10)))
        self.name = tk.StringVar(self, name)
        entry = ttk.Entry(line, textvariable=self.name)
        entry.pack(side="left", fill="x", expand=True)
        entry.selection_range(0, len(name.removesuffix(self.ending)))
        entry.icursor("end")
        middle = ttk.Frame(self.body)
        middle.pack(fill="both", expand=True, pady=look.px(8))
        self.list = ttk.Treeview(middle, show="tree", selectmode="browse", height=ROWS)
        self.list.column("#0", width=look.px(440))
        bar = ttk.Scrollbar(middle, orient="vertical", command=self.list.yview)
        self.list.configure(yscrollcommand=bar.set)
        self.list.pack(side="left", fill="both", expand=True)
        bar.pack(side="right", fill="y")
        self.accept = self.button("Save" if save else "Open", self.choose, style="Accent.TButton")
        self.button("Cancel", self.destroy)
        self.list.bind("<<TreeviewSelect>>", lambda _: self._selected())
        self.list.bind("<Double-Button-1>", lambda _: self.choose())
        self.bind("<Return>", lambda _: self.choose())
        self.show(folder)
        self.open(entry)

    def show(self, folder: Path) -> None:
        """List a folder."""
        try:
            found = sorted(folder.iterdir(), key=lambda path: (not path.is_dir(), _natural(path.name)))
        except OSError as error:
            self.message.configure(text=Phrase("{folder} cannot be read: {why}", folder=folder, why=error.strerror))
            return
        self.folder = folder.resolve()
        self.where.configure(text=str(self.folder))
        self.list.delete(*self.list.get_children())
        for path in found:
            if path.name.startswith("."):
                continue
            if path.is_dir():
                self.list.insert("", "end", iid=path.name, text=f"  {path.name}/")
            elif path.suffix in self.endings:
                self.list.insert("", "end", iid=path.name, text=f"  {path.name}")

    def _selected(self) -> None:
        chosen = self.list.selection()
        if chosen and not (self.folder / chosen[0]).is_dir():
            self.name.set(chosen[0])

    def choose(self) -> None:
        """Take the file, or go into the folder."""
        chosen = self.list.selection()
        typed = self.name.get().strip()
        if chosen and (self.folder / chosen[0]).is_dir() and self.focus_get() is self.list:
            self.show(self.folder / chosen[0])
            return
        if not typed:
            self.message.configure(text=Phrase("type a name, or choose a file"))
            return
        path = self.folder / Path(typed).expanduser()
        if path.is_dir():
            self.show(path)
            self.name.set("")
            return
        if not path.suffix:
            path = path.with_name(path.name + self.ending)
        elif self.saving and Path(path.stem).suffix in self.endings:
            path = path.with_name(path.stem)  # only the part before ".svg" was selected, and "out.pdf" typed over it
        if not self.saving and not path.exists():
            self.message.configure(text=Phrase("there is no file {path}", path=path))
        elif self.saving and path.exists() and self._sure != path:
            self._sure = path
            button = self.accept.cget("text")
            exists = Phrase("{name} exists; press {button} again to write over it", name=path.name, button=button)
            self.message.configure(text=exists)
        else:
            self.destroy()
            self._take(path)


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Lab 2 before Lab 10."""
    parts: list[tuple[int, int | str]] = []
    text = ""
    for letter in [*name.casefold(), ""]:
        if text and (letter.isdigit() != text[-1].isdigit() or not letter):
            parts.append((0, int(text)) if text.isdecimal() else (1, text))
            text = ""
        text += letter
    return parts
