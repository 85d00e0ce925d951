# SPDX-License-Identifier: BSD-3-Clause
"""Run > Test…: a named test on the network that runs, with its parameters; how far it is; the result opens itself.

`linklab test run --attach` does the work in a process of its own, so the window never waits for it. What a test is, and
the list to choose from, are in `test_forms`, which is imported when the first test is asked for.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from linklab.base import installation
from linklab.base.text import excerpt
from linklab.editor import pinging
from linklab.editor.asking import Asking
from linklab.editor.document import Document
from linklab.editor.networking import Networking
from linklab.windows.dialogs import FormDialog
from linklab.windows.window import Window
from linklab.windows.words import Phrase

if TYPE_CHECKING:
    from linklab.experiment.entries import NamedTest
    from linklab.viewer.child import ChildLine, RunningCommand

LOOK_MS = 150
SEE_FOR_MS = 20_000
"""For so long it is seen whether the viewer could open."""
ABORTED = 130
"""Exit status of a command that was ended with Ctrl+C."""
KEPT = ("source", "targets", "length_s")
"""What the next test has as well, if nothing else is typed."""


class Testing:
    """Runs one test at a time on the network of one document."""

    def __init__(self, window: Window, document: Document, network: Networking, asking: Asking) -> None:
        self.window, self.document, self.network, self.asking = window, document, network, asking
        self.last: dict[str, Any] = {}
        """What the last test was run with, and its name."""
        self._child: RunningCommand | None = None
        self._viewers: list[RunningCommand] = []
        self._what = ""
        self._file: Path | None = None

    @property
    def is_on(self) -> bool:
        """Whether a test runs."""
        return self._child is not None

    def rebuilt(self) -> None:
        """The window was made anew."""
        if self.is_on:
            self.window.status.busy(True)

    # --- asking

    def ask(self) -> None:
        """Ask which test, and then how."""
        if self.is_on:
            self.window.say(Phrase("{test} is running; Ctrl+Shift+A aborts it", test=self._what), bad=True)
        elif len(pinging.pingable(self.document.topology)) < 2:
            self.window.say("a test needs two hosts or routers", bad=True)
        elif self.asking.can_ask():
            last = str(self.last.get("name", ""))
            self._forms().TestChooser(self.window.root, self.window.look, last, self.ask_about)

    def ask_about(self, test: NamedTest) -> None:
        """Ask from where to where, and for the parameters, and run it."""
        last = self.last
        data = last if last.get("name") == test.name else {key: last[key] for key in KEPT if key in last}
        names = pinging.pingable(self.document.topology)
        chosen = self.asking.selected()
        source, *targets = chosen if len(chosen) > 1 else names
        data = {"source": source, "targets": ", ".join(targets if chosen else targets[-1:]), **data}

        def take(asked: dict[str, Any]) -> None:
            forms.checked(test, asked, names)
            self.last = {**asked, "name": test.name}
            self.start(test.name, asked, forms.parameters_of(test, asked))

        forms = self._forms()
        title, shown = Phrase("Test: {test}", test=test.name), forms.pages(test, names)
        form = FormDialog(self.window.root, self.window.look, title, pages=shown, data=data, take=take, modal=True)
        form.accept.configure(text=self.window.look.say("Run"))

    # --- running

    def start(self, name: str, asked: dict[str, Any], given: dict[str, str]) -> None:
        """Run it on the network that runs; its file goes to the folder of the drawing."""
        session = self.network.runner.session
        if session is None:
            return
        folder = installation.work_folder(self.document.path)
        words = self._forms().command(name, session.server.id, asked, given, folder)
        self._child, self._what, self._file = self._forms().RunningCommand(words, folder), name, None
        self.window.status.busy(True)
        self.window.say(Phrase("{test}: starting", test=name))
        self._look()

    def abort(self) -> None:
        """End the test, and keep what it measured."""
        if self._child is None:
            self.window.say("no test is running")
        elif self._child.stop():
            self.window.say(Phrase("{test}: ending; what was measured is kept", test=self._what))

    def _look(self) -> None:
        """Take what it has said meanwhile."""
        child = self._child
        if child is None:
            return
        for line in child.lines():
            self._tell(line)
        status = child.status
        if status is None:
            self.window.after(LOOK_MS, self._look)
            return
        self._child = None
        self.window.status.share(None)
        self.window.status.busy(False)
        self._end(status, child.said)

    def _tell(self, line: ChildLine) -> None:
        told = line.told
        if "file" in told:
            self._file = Path(str(told["file"]))
        elif told.get("done_s") and told.get("total_s"):
            done, total = float(told["done_s"]), float(told["total_s"])
            self.window.status.share(done / total)
            template = "{test}: {done:.0f} of {total:.0f} s of network time"
            self.window.say(Phrase(template, test=self._what, done=done, total=total))
        elif line.text and not told:
            self.window.say(Phrase("{test}: {line}", test=self._what, line=excerpt(line.text, 160)))

    def _end(self, status: int, said: Sequence[str]) -> None:
        text, test = "\n".join(said), self._what
        if self._file is None:
            self.window.say(Phrase("{test}: nothing was measured", test=test), bad=True)
            self.window.tell(Phrase("{test}: nothing was measured", test=test), text or str(status))
            return
        if status == 0:
            self.window.say(Phrase("{test}: done, {file}", test=test, file=self._file.name))
        elif status == ABORTED:
            self.window.say(Phrase("{test}: ended early; what was measured is kept", test=test))
        else:
            self.window.say(Phrase("{test}: something is missing", test=test), bad=True)
            self.window.show_text(Phrase("{test}: something is missing", test=test), text)
        self._view(self._file)

    def _view(self, file: Path) -> None:
        """Open the result in a window of its own; where the viewer lacks something, draw its picture."""
        viewer = self._forms().RunningCommand(["view", str(file)], file.parent)
        self._viewers = [*(each for each in self._viewers if each.status is None), viewer]
        self._see(viewer, file, SEE_FOR_MS)

    def _see(self, viewer: RunningCommand, file: Path, left_ms: int) -> None:
        """Whether the viewer stays; one that ended at once, or was closed, says so by its status."""
        status = viewer.status
        if status:
            viewer.lines()
            self._draw(file, "\n".join(viewer.said))
        elif status is None and left_ms > 0:
            self.window.after(LOOK_MS, lambda: self._see(viewer, file, left_ms - LOOK_MS))

    def _draw(self, file: Path, why: str) -> None:
        picture = file.with_name(f"{file.name.partition('.flent')[0]}.png")
        drawn = self._forms().RunningCommand(["test", "plot", str(file), "-o", str(picture)], file.parent)

        def look() -> None:
            if drawn.lines() or drawn.status is None:
                self.window.after(LOOK_MS, look)
            elif drawn.status == 0:
                self.window.say(Phrase("{test}: a picture of it is in {file}", test=self._what, file=picture.name))
                if opener := shutil.which("xdg-open"):
                    subprocess.Popen([opener, str(picture)], stdin=subprocess.DEVNULL)
            else:
                self.window.tell(Phrase("{test}: the result cannot be shown", test=self._what), why)

        look()

    @staticmethod
    def _forms() -> ModuleType:
        """What needs the library of tests, which takes a second to load."""
        from linklab.editor import test_forms  # noqa: PLC0415 - as said

        return test_forms
