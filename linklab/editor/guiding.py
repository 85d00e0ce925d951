# SPDX-License-Identifier: BSD-3-Clause
"""Run > Guide: how far somebody is in the lab whose network runs, what is wrong, what comes next, and hints.

A window over `linklab.guide.session`, which judges; it follows terminals that are opened from then on. The guide is
imported when it is asked for, so that the editor starts as fast as without it.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from linklab.base import installation, lab_script
from linklab.editor.command_window import CommandWindow
from linklab.editor.document import Document
from linklab.editor.networking import Networking
from linklab.editor.running import Session
from linklab.errors import LinklabError
from linklab.windows.window import Window

if TYPE_CHECKING:
    from linklab.guide.session import GuideSession

LOOK_MS = 300


class Guiding:
    """The guide of the network of one document."""

    def __init__(self, window: Window, document: Document, network: Networking) -> None:
        self.window, self.document, self.network = window, document, network
        self.session: GuideSession | None = None
        self._shown: CommandWindow | None = None
        self._following = contextlib.ExitStack()
        self._running: Session | None = None
        self._changed = threading.Event()
        self._hinted = ("", "")
        """The step that the last hint was for, and the hint, which stays until that step is done."""

    def show(self) -> None:
        """Open the window, and begin to follow the lab."""
        path, running = self.document.path, self.network.runner.session
        if running is None:
            self.window.say("no network is running: F5 runs it")
            return
        if path is None or not lab_script.is_known(path):
            self.window.say("the guide is for the network of a lab: open one by File > Labs", bad=True)
            return
        if self._running is not running:
            self.end()
        if self.session is None:
            from linklab.guide.session import GuideSession  # noqa: PLC0415 - as said above
            from linklab.guide.words import EDITOR  # noqa: PLC0415 - as said above
            from linklab.lab.model import find_lab, load_lab  # noqa: PLC0415 - as said above

            try:
                folder = installation.work_folder(path)
                self.session = GuideSession(load_lab(find_lab(path.stem)), folder, self._changed.set, EDITOR)
            except LinklabError as error:
                self.window.tell("The guide cannot begin", str(error))
                return
            self._running = running
            self._following.enter_context(self.session.collecting(running.network, running.server, path.name))
        self._open()

    def _open(self) -> None:
        if self._shown is None or not self._shown.winfo_exists():
            note = "Terminals that you open from now on are followed. A step counts by what it does, not by its words."
            self._shown = CommandWindow(self.window.root, self.window.look, "Guide", note=note)
            self._shown.button("Hint", self._hint)
            self._changed.set()
            self._look()
            self._shown.open()
        else:
            self._shown.lift()

    def _look(self) -> None:
        """Show what has changed, as long as the window is open and the network runs."""
        session, shown = self.session, self._shown
        if not self.network.is_running:
            self.end()
        if session is None or shown is None or not shown.winfo_exists():
            return
        if self._changed.is_set():
            self._changed.clear()
            self._tell(session, shown)
        self.window.after(LOOK_MS, self._look)

    def _tell(self, session: GuideSession, shown: CommandWindow) -> None:
        from linklab.guide.listing import listing, summary  # noqa: PLC0415 - as said above

        steps = [state.as_json() for state in session.steps()]
        following = session.next_step()
        head, (step, hint) = summary(session.lab.heading, steps), self._hinted
        head += f"\n\n{session.trouble}." if session.trouble else ""
        shown.say(f"{head}\n\n{hint}" if following is not None and following.id == step else head)
        shown.show("\n".join(listing(steps, steps, following.id if following else None)).strip())

    def _hint(self) -> None:
        """Say the next hint for the step that comes next."""
        following = self.session.next_step() if self.session else None
        if self.session is None or following is None:
            self.window.say("every step is done")
            return
        self._hinted = following.id, self.session.hint(following.id)
        self._changed.set()

    def end(self) -> None:
        """The network has ended; what was done is kept in its folder."""
        self.session = None
        closing = self._following.pop_all()  # which may wait for an answer of the network
        threading.Thread(target=closing.close, name="end of the guide", daemon=True).start()
