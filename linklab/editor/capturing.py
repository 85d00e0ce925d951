# SPDX-License-Identifier: BSD-3-Clause
"""Captures that the editor has begun: one for each interface, into Wireshark or into a file of the working folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import IO

from linklab.capture import wireshark
from linklab.capture.copying import BackgroundCapture, free_name
from linklab.capture.session import CaptureOrder
from linklab.editor.running import Runner, Session
from linklab.windows.window import Window
from linklab.windows.words import Phrase


class Capturing:
    """Captures of one window's network; they end with it."""

    def __init__(self, window: Window, runner: Runner) -> None:
        self.window, self.runner = window, runner
        self.running: dict[str, BackgroundCapture] = {}

    def begin(self, node: str, port: str, *, into_wireshark: bool) -> None:
        """Capture an interface; the line at the bottom says where to."""
        if port in self.running:
            return
        self.window.say(Phrase("starting the capture of {port} …", port=port))
        work = partial(self._begun, node=node, port=port, into_wireshark=into_wireshark)
        self.runner.order(work, partial(self._keep, port), lambda why: self.window.say(why, bad=True))

    def _begun(self, session: Session, *, node: str, port: str, into_wireshark: bool) -> BackgroundCapture:
        """Start it; in a thread of the runner's."""
        folder = session.server.workdir or Path.cwd()
        out: IO[bytes]
        if into_wireshark:
            _, out = wireshark.started()
            name = "Wireshark"
        else:
            path = free_name(folder, port)
            out, name = path.open("wb"), str(path)

        def begun(_: list[str]) -> None:
            words = Phrase("capturing {port} to {name}; right-click to stop", port=port, name=name)
            self.runner.post(lambda: self.window.say(words))

        def ended(said: str, is_bad: bool) -> None:
            self.runner.post(lambda: self._ended(port, said, is_bad=is_bad))

        order = CaptureOrder([f"{node}:{port}"], user=f"Linklab, {session.server.name}")
        try:
            return BackgroundCapture(session.server.connect(), folder, order, out, name, begun=begun, ended=ended)
        except BaseException:
            out.close()
            raise

    def _keep(self, port: str, capture: BackgroundCapture) -> None:
        if capture.is_running:
            self.running[port] = capture

    def _ended(self, port: str, said: str, *, is_bad: bool) -> None:
        self.running.pop(port, None)
        words = said if is_bad else Phrase("captured: {summary}", summary=said)
        self.window.say(words, bad=is_bad)

    def stop(self, port: str) -> None:
        """End the capture of an interface; the line at the bottom says what it has come to."""
        if port in self.running:
            self.running[port].stop()
