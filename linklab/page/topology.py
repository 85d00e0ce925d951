# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the network on a lab's page: where everything is, and what passes the links.

`GET drawing` answers nodes and links; socket `topology` gives {"links": [{"up", "rates", "queues"}, …]} as read four
times a second of network time, unless nothing has changed. The meter inside runs only while somebody looks.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

from linklab.errors import EngineError, LinklabError
from linklab.manual.picture import drawn_places, topology_parts
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, PageSocket
from linklab.page.port_watch import LinkWatch, meter_nodes
from linklab.terminal.attached import listen_to

METER = ("env", "PYTHONSAFEPATH=1", "python3", "-m", "linklab.agent.meter")
"""What lies in the working folder is not ours (as `linklab.terminal.attached.STATE_PROGRAM` has it)."""
AGAIN_S = 1.0


class MeterOnPage:
    """Readings for all browsers that look, by one program inside."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self.sockets: set[TopologySocket] = set()
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._last = ""
        context.when_ready(self._begin)
        context.on_close(self.close)

    def _begin(self) -> None:
        if self.context.topology is not None:
            threading.Thread(target=self._run, name="meter of the page", daemon=True).start()

    def close(self) -> None:
        """End it."""
        self._ended.set()
        self._wanted.set()

    def watch(self, socket: TopologySocket) -> None:
        """Begin to tell a browser; in the loop."""
        self.sockets.add(socket)
        if self._last:
            socket.tell(self._last)
        self._wanted.set()

    def leave(self, socket: TopologySocket) -> None:
        """Tell it nothing more; in the loop."""
        self.sockets.discard(socket)
        if not self.sockets and not self._ended.is_set():
            self._wanted.clear()

    def _run(self) -> None:
        topology = self.context.topology
        assert topology is not None
        watch = LinkWatch(topology.link_ends())
        nodes = meter_nodes(topology)
        argv = [*METER, *(["--nodes", ",".join(nodes)] if nodes else [])]

        def said(line: str) -> None:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                sample = json.loads(line)
                links = json.dumps({"links": watch.add(sample)})
                if links != self._last:
                    self._last = links
                    self.context.soon(self._tell, links)

        while self._wanted.wait() and not self._ended.is_set() and self.context.ready:
            with contextlib.suppress(LinklabError, OSError):  # paused, or ended meanwhile
                self._read(argv, said, lambda: not self._wanted.is_set() or self._ended.is_set())
            time.sleep(AGAIN_S)  # a meter that ends at once is not started without a pause

    def _read(self, argv: list[str], said: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        server = self.context.attach
        state = server.clock.state() if server.clock is not None else None
        if state is not None and state["paused"]:
            raise EngineError("time is paused")
        network = {"id": server.id, "name": server.name}
        listen_to(network, argv, said, what="reading the links", stopped=stopped)

    def _tell(self, message: str) -> None:
        for socket in list(self.sockets):
            socket.tell(message)


class TopologyHandler(PageHandler):
    """The drawing."""

    def get(self) -> None:
        """Answer with nodes and links; none for a lab without a drawing."""
        topology = self.context.topology
        if topology is None:
            self.answer(nodes=[], links=[])
            return
        nodes, links = topology_parts(topology)
        places = drawn_places(nodes)
        self.answer(
            nodes=[
                {"name": node.name, "kind": node.kind, "x": places[node.name][0], "y": places[node.name][1]}
                | ({"note": node.note} if node.note else {})
                for node in nodes
            ],
            links=[{"a": link.a, "b": link.b, "ports": [link.a_port, link.b_port]} for link in links],
        )


class TopologySocket(PageSocket):
    """One browser's view of the links."""

    def initialize(self, context: PageContext, meter: MeterOnPage) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.meter = meter

    def open(self, *_: str, **__: str) -> None:
        """Tell the last reading, then those that come."""
        self.set_nodelay(True)
        self.meter.watch(self)

    def on_message(self, _: str | bytes) -> None:
        """Only a sign of life."""

    def on_close(self) -> None:
        """The page was closed."""
        self.meter.leave(self)

    def tell(self, message: str) -> None:
        """Send a reading; in the loop."""
        with contextlib.suppress(WebSocketClosedError):
            self.write_message(message)


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    return [
        (f"{context.prefix}drawing", TopologyHandler, {"context": context}),
        (f"{context.prefix}topology", TopologySocket, {"context": context, "meter": MeterOnPage(context)}),
    ]
