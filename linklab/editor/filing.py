# SPDX-License-Identifier: BSD-3-Clause
"""Files as the person sees them: new, open, save, export, recent ones, labs, what a crash left, and leaving.

Nothing is thrown away without asking. Part of the window; reading and writing itself is in `files` and `export`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tkinter as tk
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.editor import export, files, mending, questions
from linklab.editor.chooser import Chooser
from linklab.editor.document import Document
from linklab.errors import InputError, LinklabError
from linklab.topology import Topology
from linklab.topology.near import nearest

if TYPE_CHECKING:
    from linklab.editor.app import Editor

AUTOSAVE_MS = 3000
QUIT_WAIT_S = 8.0


class Filing:
    """File commands of one window."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.autosave = files.Autosave()
        self._kept: Topology | None = None

    @property
    def document(self) -> Document:
        """What is being edited."""
        return self.editor.document

    def begin(self) -> None:
        """Once the window is there: keep the drawing from now on, offer what was lost."""
        self.editor.root.after(AUTOSAVE_MS, self._autosave)
        lost = self.autosave.lost()
        if lost:
            self._offer(lost[0])

    def _autosave(self) -> None:
        topology = self.document.topology
        if self.document.is_changed and topology is not self._kept:
            self.autosave.keep(topology, self.document.path)
            self._kept = topology
            if self.autosave.failed:
                self.editor.say(f"the drawing cannot be kept for a crash: {self.autosave.failed}", bad=True)
        elif not self.document.is_changed and self._kept is not None:
            self.autosave.done()
            self._kept = None
        self.editor.root.after(AUTOSAVE_MS, self._autosave)

    def _offer(self, lost: files.Lost) -> None:
        when = time.strftime("%H:%M on %d %B", time.localtime(lost.when))
        name = lost.path.name if lost.path else "a drawing without a name"

        def restore() -> None:
            self._show(lost.topology, lost.path)
            self.document.never_saved()
            lost.file.unlink(missing_ok=True)

        questions.ask(
            self.editor.root,
            self.editor.look,
            "Restore a drawing?",
            f"The editor ended badly at {when}; {name} was not saved. It is still here.",
            [("Restore", restore), ("Throw away", lambda: lost.file.unlink(missing_ok=True)), ("Later", lambda: None)],
        )

    # --- commands

    def new(self) -> None:
        """An empty drawing."""
        self._safely(lambda: self._show(Topology(), None))

    def open(self) -> None:
        """Ask for a file and open it."""
        self._safely(lambda: self._choose("Open", self.open_path))

    def _choose(
        self,
        title: str,
        take: Callable[[Path], None],
        *,
        save: bool = False,
        ending: str = files.ENDING,
        name: str = "",
    ) -> None:
        path = self.document.path
        folder = path.parent if path and not save else installation.work_folder(path)
        root, look = self.editor.root, self.editor.look
        Chooser(root, look, title, folder=folder, ending=ending, name=name, save=save, take=take)

    def open_path(self, path: Path, *, first: bool = False) -> None:
        """Open a file; one that cannot be held leaves the drawing as it is."""
        try:
            topology = files.open_file(path)
        except InputError as error:
            if first and not path.exists():
                self._begin(path)
                return
            self.editor.root.after_idle(lambda text=str(error): self.editor.tell("This file cannot be opened", text))  # type: ignore[misc]
            return
        self._show(topology, path)
        self.editor.settings.opened(path)
        problems = topology.problems()
        errors = [str(problem) for problem in problems if problem.severity == "error"]
        if errors:
            self.editor.root.after_idle(lambda: self._faults(errors))
        elif problems:
            self.editor.say(f"opened {path.name}; {problems[0]}")
        else:
            self.editor.say(f"opened {path.name}")

    def _begin(self, path: Path) -> None:
        """A drawing with a name and no file yet; another file may have been meant."""
        self._show(Topology(), path)
        made = "saving makes it" if path.parent.is_dir() else "nor does its folder, so save it elsewhere"
        self.editor.say(f"{path} does not exist yet; {made}", bad=True)
        near = nearest(path)
        if near is not None:
            root, look = self.editor.root, self.editor.look
            text = f"{path} does not exist. There is {near}."
            answers = [(f"Open {near.name}", lambda: self.open_path(near)), ("A new drawing", lambda: None)]
            root.after_idle(lambda: questions.ask(root, look, "Which file?", text, answers))

    def _faults(self, errors: list[str]) -> None:
        """Tell the faults of a file just opened, and offer to mend what cannot be seen in a drawing."""
        text = "It is open, so that you can mend it; it will not run before.\n\n" + "\n".join(errors[:8])
        mended, said = mending.mend(self.document.topology)

        def take() -> None:
            self.document.apply("Mend", mended, ())
            self.editor.say("; ".join(said))

        answers: list[tuple[str, Callable[[], None]]] = [("OK", lambda: None)]
        if said:
            text += "\n\nMend would do this: " + "; ".join(said) + "."
            answers = [("Mend", take), ("Leave it", lambda: None)]
        questions.ask(self.editor.root, self.editor.look, "There are faults in this file", text, answers)

    def _show(self, topology: Topology, path: Path | None) -> None:
        old = self.document
        fresh = Document(topology, path)
        fresh.on_change = old.on_change
        self.editor.document = fresh
        self.editor.gestures.document = fresh
        self.editor.tool = "select"
        if self.editor.root.winfo_viewable():
            self.editor.drawing.state = fresh.state
            self.editor.drawing.fit()
        fresh.on_change()

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Save under the file's name, or ask for one."""
        if self.document.path is None:
            self.save_as(then)
        else:
            self.save_path(self.document.path, then)

    def save_as(self, then: Callable[[], None] = lambda: None) -> None:
        """Ask for a name and save."""
        path = self.document.path
        name = path.name if path else ""
        self._choose("Save As", lambda chosen: self.save_path(chosen, then), save=True, name=name)

    def save_path(self, path: Path, then: Callable[[], None] = lambda: None) -> None:
        """Save there; say why if it cannot be."""
        try:
            files.save_file(self.document.topology, path)
        except InputError as error:
            self.editor.tell("Not saved", str(error))
            return
        self.document.saved(path)
        self.autosave.done()
        self._kept = None
        self.editor.settings.opened(path)
        self.editor.say(f"saved {path}")
        then()

    def export(self) -> None:
        """Ask for a name and write a Python script for Mininet."""
        path = self.document.path
        name = f"{path.stem}.py" if path else "network.py"
        self._choose("Export", self.export_path, save=True, ending=".py", name=name)

    def export_path(self, path: Path) -> None:
        """Write the script there."""
        try:
            text = export.script(self.document.topology, self.document.title)
            path.write_text(text)
            path.chmod(path.stat().st_mode | 0o100)
        except LinklabError as error:
            self.editor.tell("Not exported", str(error))
        except OSError as error:
            self.editor.tell("Not exported", f"{path} could not be written: {error.strerror}")
        else:
            self.editor.say(f"exported; run it with: sudo python3 {path.name}")

    def quit(self) -> None:
        """Leave: what is not saved is asked about, a running network is ended."""
        self._safely(self._leave)

    def _leave(self) -> None:
        self.editor.keep_settings()
        self.autosave.done()
        runner = self.editor.networking.runner
        runner.stop()
        self.editor.root.withdraw()
        self.editor.root.update_idletasks()
        runner.wait(QUIT_WAIT_S)
        self.editor.close()

    def _safely(self, do: Callable[[], None]) -> None:
        """Ask about unsaved changes first."""
        if not self.document.is_changed:
            do()
            return
        questions.ask(
            self.editor.root,
            self.editor.look,
            "Save the changes?",
            f"{self.document.title} has changes that are not saved.",
            [("Save", lambda: self.save(do)), ("Do not save", do), ("Cancel", lambda: None)],
        )

    # --- submenus and help

    def fill_recent(self, menu: tk.Menu) -> None:
        """Files opened before."""
        for name in self.editor.settings.recent:
            path = Path(name)
            label = f"{path.name}   {path.parent}"
            menu.add_command(label=label, command=lambda p=path: self._safely(lambda: self.open_path(p)))  # type: ignore[misc]
        if not self.editor.settings.recent:
            menu.add_command(label="none yet", state="disabled")

    def fill_labs(self, menu: tk.Menu) -> None:
        """The labs by name."""
        for number, path in files.lab_files():
            label = files.lab_title(number)
            menu.add_command(label=label, command=lambda p=path: self._safely(lambda: self.open_path(p)))  # type: ignore[misc]

    def open_manual(self) -> None:
        """Show the manual of the lab whose topology this is, or the handout of the exercise."""
        if page := files.handout(self.document.path):
            self._browse(page, "The handout")
            return
        number = files.lab_number(self.document.path)
        if number is None:
            self.editor.say("neither a lab's nor an exercise's topology is open: File, Labs has the labs'")
            return
        out = Path(tempfile.gettempdir()) / f"linklab-manual-{os.getuid()}"
        out.mkdir(mode=0o700, exist_ok=True)
        page = out / f"lab-{number}.html"
        command = [sys.executable, "-m", "linklab", "manual", str(number), "--out", str(page)]
        self.editor.say("making the manual …")
        self._await_manual(subprocess.Popen(command, stderr=subprocess.PIPE, text=True), page)

    def _await_manual(self, making: subprocess.Popen[str], page: Path) -> None:
        if making.poll() is None:
            self.editor.root.after(100, lambda: self._await_manual(making, page))
        elif making.returncode:
            complaint = making.stderr.read().strip() if making.stderr else ""
            self.editor.tell("No manual", complaint or "the manual could not be made")
        else:
            self._browse(page, "The manual")

    def _browse(self, page: Path, what: str) -> None:
        if not webbrowser.open(page.resolve().as_uri()):
            self.editor.tell(what, f"There is no browser to show it in; it is {page}")
