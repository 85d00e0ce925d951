# SPDX-License-Identifier: BSD-3-Clause
"""Run > Live Plots: a window on what the running network does, one for each network.

The window is imported when it is first asked for, because Matplotlib takes a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.editor.document import Document
from linklab.editor.networking import Networking
from linklab.live import LiveFeed, LiveHistory
from linklab.windows.window import Window

if TYPE_CHECKING:
    from linklab.editor.running import Session
    from linklab.viewer.live_window import LiveWindow


class LivePlotting:
    """The windows of live plots of one document."""

    def __init__(self, window: Window, document: Document, network: Networking) -> None:
        self.window, self.document, self.network = window, document, network
        self.shown: LiveWindow | None = None
        self._session: Session | None = None

    def open(self) -> None:
        """Show the window of the network that runs; a second time it comes to the front."""
        session = self.network.runner.session
        if session is None:
            self.window.say("live plots need a network that is running: press F5", bad=True)
            return
        if self.shown is not None and self._session is session:
            self.shown.lift()
            self.shown.view.widget.focus_set()
            return
        from linklab.viewer.live_window import LiveWindow  # noqa: PLC0415 - Matplotlib takes a second to load

        topology = self.document.topology
        feed = LiveFeed(session.server.connect, LiveHistory(self.network.running_topology or topology))
        folder = installation.work_folder(self.document.path)
        made = LiveWindow(self.window.root, self.window.look, feed, name=topology.name, folder=folder)
        made.closed = lambda: self._gone(made)
        self.shown, self._session = made, session
        self.window.say("live plots: Space pauses them, the arrow keys read values")

    def _gone(self, window: LiveWindow) -> None:
        if self.shown is window:
            self.shown = None
