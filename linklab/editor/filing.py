# SPDX-License-Identifier: BSD-3-Clause
"""Files as the person sees them: new, open, save, export, recent ones, labs, what a crash left, and leaving.

Nothing is thrown away without asking. Reading and writing itself is in `files` and `export`.
"""

from __future__ import annotations

import subprocess
import time
import tkinter as tk
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path

from linklab.base import installation
from linklab.base.files import write
from linklab.base.place import private
from linklab.editor import export, files
from linklab.editor.document import Document
from linklab.editor.exchanging import foreign, open_foreign
from linklab.editor.settings import EditorSettings
from linklab.editor.tidying import Tidying
from linklab.errors import InputError, LinklabError
from linklab.topology import Topology
from linklab.topology.near import nearest
from linklab.windows.chooser import Chooser
from linklab.windows.window import Window
from linklab.windows.words import Phrase

AUTOSAVE_MS = 3000


class Filing:
    """File commands of one document; `leave` ends the window, `runs` says whether its network does."""

    def __init__(
        self,
        window: Window,
        document: Document,
        settings: EditorSettings,
        leave: Callable[[], None],
        runs: Callable[[], bool],
    ) -> None:
        self.window, self.document, self.settings, self.leave, self.runs = window, document, settings, leave, runs
        self.tidying = Tidying(window, document)
        self._on_disk: str | None = None
        self.autosave = files.Autosave()
        self._kept: Topology | None = None

    def begin(self) -> None:
        """Once the window is there: keep the drawing from now on, offer what was lost."""
        self.window.after(AUTOSAVE_MS, self._autosave)
        lost = self.autosave.lost()
        if lost:
            self.window.when_free(lambda: self._offer(lost[0]))

    def _autosave(self) -> None:
        topology = self.document.topology
        if self.document.is_changed and topology is not self._kept:
            self.autosave.keep(topology, self.document.path)
            self._kept = topology
            if self.autosave.failed:
                self.window.say(
                    Phrase("the drawing cannot be kept for a crash: {why}", why=self.autosave.failed), bad=True
                )
        elif not self.document.is_changed and self._kept is not None:
            self.autosave.done()
            self._kept = None
        self.window.after(AUTOSAVE_MS, self._autosave)

    def _offer(self, lost: files.Lost) -> None:
        when = time.strftime("%H:%M on %d %B", time.localtime(lost.when))
        name = lost.path.name if lost.path else Phrase("a drawing without a name")

        def restore() -> None:
            self._on_disk = files.fingerprint(lost.path) if lost.path else None
            self.document.open(lost.topology, lost.path)
            self.document.never_saved()
            lost.file.unlink(missing_ok=True)

        text = Phrase(
            "The editor ended badly at {when}; {drawing} was not saved. It is still here.", when=when, drawing=name
        )
        if self.document.is_changed:
            text = Phrase(
                "{what} Restore puts it in place of {drawing}, which is not saved either, and asks first.",
                what=text,
                drawing=Phrase(self.document.title),
            )
        self.window.ask(
            "Restore a drawing?",
            text,
            [
                ("Restore", lambda: self.safely(restore)),
                ("Throw away", lambda: lost.file.unlink(missing_ok=True)),
                ("Later", lambda: None),
            ],
        )

    # --- commands

    def new(self) -> None:
        """An empty drawing."""
        self.safely(self._new)

    def _new(self) -> None:
        self._on_disk = None
        self.document.open(Topology(), None)

    def open(self) -> None:
        """Ask for a file and open it."""
        self.safely(lambda: self.choose("Open", self.open_path))

    def choose(
        self,
        title: str,
        take: Callable[[Path], None],
        *,
        save: bool = False,
        ending: str | tuple[str, ...] = files.ENDING,
        name: str = "",
    ) -> None:
        """Ask for a file, in the folder of the drawing or where work is saved; `take` gets its path."""
        path = self.document.path
        folder = path.parent if path and not save else installation.work_folder(path)
        root, look = self.window.root, self.window.look
        Chooser(root, look, title, folder=folder, ending=ending, name=name, save=save, take=take)

    def open_path(self, path: Path, *, first: bool = False) -> None:
        """Open a file; one that cannot be held leaves the drawing as it is."""
        if first and foreign(path):
            self.window.soon(lambda: open_foreign(self.window, self.document, path))
            return
        seen = files.fingerprint(path)  # before it is read: a change in between is noticed at the next save
        try:
            topology = files.open_file(path)
        except InputError as error:
            if first and not path.exists():
                self._begin(path)
                return
            self.window.soon(partial(self.window.tell, "This file cannot be opened", str(error)))
            return
        self._on_disk = seen
        self.document.open(topology, path)
        self.settings.opened(path)
        self.tidying.opened(path.name)

    def _begin(self, path: Path) -> None:
        """A drawing with a name and no file yet; another file may have been meant."""
        self._on_disk = None
        self.document.open(Topology(), path)
        no_folder = "{path} does not exist yet; nor does its folder, so save it elsewhere"
        template = "{path} does not exist yet; saving makes it" if path.parent.is_dir() else no_folder
        self.window.say(Phrase(template, path=path), bad=True)
        near = nearest(path)
        if near is not None:
            text = Phrase("{path} does not exist. There is {near}.", path=path, near=near)
            answers = [
                (Phrase("Open {file}", file=near.name), lambda: self.open_path(near)),
                ("A new drawing", lambda: None),
            ]
            self.window.soon(lambda: self.window.ask("Which file?", text, answers))

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Save under the file's name, or ask for one."""
        path = self.document.path
        if path is None:
            self.save_as(then)
        elif files.fingerprint(path) in (None, self._on_disk):
            self.save_path(path, then)
        else:
            self._changed_meanwhile(path, then)

    def _changed_meanwhile(self, path: Path, then: Callable[[], None]) -> None:
        """Another program has written the file since it was read or saved here."""
        text = Phrase(
            "{file} is not as it was when it was opened or last saved here: another window or program has "
            "written it. Saving would throw away what was written there.",
            file=path.name,
        )
        answers = [
            ("Save As…", lambda: self.save_as(then)),
            ("Write over it", lambda: self.save_path(path, then)),
            ("Cancel", lambda: None),
        ]
        self.window.ask("The file has changed", text, answers)

    def save_as(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask for a name and save."""
        path = self.document.path
        name = path.name if path else ""
        self.choose("Save As", lambda chosen: self.save_path(chosen, then), save=True, name=name)

    def save_path(self, path: Path, then: Callable[[], None] = lambda: None) -> None:
        """Save there; say why if it cannot be."""
        try:
            files.save_file(self.document.topology, path)
        except InputError as error:
            self.window.tell("Not saved", str(error))
            return
        self._on_disk = files.fingerprint(path)
        self.document.saved(path)
        self.autosave.done()
        self._kept = None
        self.settings.opened(path)
        self.window.say(Phrase("saved {path}", path=path))
        then()

    def export(self) -> None:
        """Ask for a name and write a Python script for Mininet."""
        path = self.document.path
        name = f"{path.stem}.py" if path else "network.py"
        self.choose("Export", self.export_path, save=True, ending=".py", name=name)

    def export_path(self, path: Path) -> None:
        """Write the script there."""
        try:
            text = export.script(self.document.topology, self.document.title)
            write(path, text)
            path.chmod(path.stat().st_mode | 0o100)
        except LinklabError as error:
            self.window.tell("Not exported", str(error))
        except OSError as error:
            self.window.tell(
                "Not exported", Phrase("{path} could not be written: {why}", path=path, why=error.strerror)
            )
        else:
            self.window.say(Phrase("exported; run it with: sudo python3 {file}", file=path.name))

    def quit(self) -> None:
        """Leave: a running network, which ends, and what is not saved are asked about."""
        if not self.runs():
            self.safely(self._leave)
            return
        text = "Quitting ends it, with its terminals and whatever runs in them."
        answers = [("Quit", lambda: self.safely(self._leave)), ("Cancel", lambda: None)]
        self.window.ask("The network is running", text, answers)

    def _leave(self) -> None:
        self.autosave.done()
        self.leave()

    def safely(self, do: Callable[[], None]) -> None:
        """Ask about unsaved changes first."""
        if not self.document.is_changed:
            do()
            return
        self.window.ask(
            "Save the changes?",
            Phrase("{drawing} has changes that are not saved.", drawing=Phrase(self.document.title)),
            [("Save", lambda: self.save(do)), ("Do not save", do), ("Cancel", lambda: None)],
        )

    # --- submenus and help

    def fill_recent(self, menu: tk.Menu) -> None:
        """Files opened before."""
        for name in self.settings.recent:
            path = Path(name)
            label = f"{path.name}   {path.parent}"
            menu.add_command(label=label, command=partial(self.safely, partial(self.open_path, path)))
        if not self.settings.recent:
            menu.add_command(label=self.window.look.say("none yet"), state="disabled")

    def fill_labs(self, menu: tk.Menu) -> None:
        """The labs by name."""
        for number, path in files.lab_files():
            label = files.lab_title(number)
            menu.add_command(label=label, command=partial(self.safely, partial(self.open_path, path)))

    def open_manual(self) -> None:
        """Show the manual of the lab whose topology this is, or the handout of the exercise."""
        if page := files.handout(self.document.path):
            self._browse(page, "The handout")
            return
        number = files.lab_number(self.document.path)
        if number is None:
            self.window.say("neither a lab's nor an exercise's topology is open: File, Labs has the labs'")
            return
        try:
            page = private("manual") / f"lab-{number}.html"
        except LinklabError as error:
            self.window.tell("No manual", str(error))
            return
        command = installation.command("manual", str(number), "--out", str(page))
        self.window.say("making the manual …")
        self._await_manual(subprocess.Popen(command, stderr=subprocess.PIPE, text=True), page)

    def _await_manual(self, making: subprocess.Popen[str], page: Path) -> None:
        if making.poll() is None:
            self.window.after(100, lambda: self._await_manual(making, page))
        elif making.returncode:
            complaint = making.stderr.read().strip() if making.stderr else ""
            self.window.tell("No manual", complaint or "the manual could not be made")
        else:
            self._browse(page, "The manual")

    def _browse(self, page: Path, what: str) -> None:
        if not webbrowser.open(page.resolve().as_uri()):
            self.window.tell(what, Phrase("There is no browser to show it in; it is {page}", page=page))
