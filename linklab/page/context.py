# SPDX-License-Identifier: BSD-3-Clause
"""What the handlers of a lab's page share: the lab, its network as soon as it runs, and the way to those who watch.

The page is served while the network still boots, so `network` and `attach` raise NotReadyError until `started` is
called. Calls that wait go through `in_thread` or `in_lane`, because the loop must serve terminals meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from linklab.engine.api import Network
from linklab.errors import EngineError
from linklab.guide import words
from linklab.guide.continuing import BroughtBack
from linklab.guide.evidence import GuideEvidence
from linklab.guide.session import GuideSession
from linklab.lab.model import Lab
from linklab.manual.model import Manual
from linklab.page.access import Access
from linklab.page.events import PageEvents
from linklab.terminal.attach_server import AttachServer
from linklab.topology import Topology

P = ParamSpec("P")
T = TypeVar("T")


class Lane(Enum):
    """What a call waits for, in threads that no other lane can use up; terminals have threads of their own."""

    NETWORK = "network"
    CLOCK = "clock"
    TOOLS = "tools"
    """Programs of this machine, such as tshark."""


THREADS = {Lane.NETWORK: 8, Lane.CLOCK: 2, Lane.TOOLS: 2}


class NotReadyError(EngineError):
    """The network is still being built, or has ended."""


@dataclass
class PageContext:
    """One lab's page.

    topology: what the network was drawn as; None for a lab without a drawing.
    folder: the working folder of the lab, /lab inside.
    name: of the student, for the report; "" if it was not given.
    events: what every open page is told.
    """

    lab: Lab
    topology: Topology | None
    folder: Path
    access: Access = field(default_factory=Access)
    name: str = ""
    events: PageEvents = field(default_factory=PageEvents)
    ended: str = ""
    """Why the network has ended; "" while it boots or runs."""
    loop: asyncio.AbstractEventLoop | None = None
    active_s: float = field(default_factory=time.monotonic)
    """When the person last did something here; on the monotonic clock."""
    first_seen: list[GuideEvidence] = field(default_factory=list)
    """What was seen of the network before anybody could work in it; for the guide."""
    _network: Network | None = None
    _attach: AttachServer | None = None
    _waiting: list[Callable[[], None]] = field(default_factory=list)
    _closing: list[Callable[[], None]] = field(default_factory=list)
    _workers: list[Callable[[], bool]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: dict[Lane, ThreadPoolExecutor] = field(
        default_factory=lambda: {
            lane: ThreadPoolExecutor(count, f"page, {lane.value}") for lane, count in THREADS.items()
        }
    )

    @property
    def manual(self) -> Manual:
        """The lab's manual."""
        return self.lab.manual

    @property
    def prefix(self) -> str:
        """Path of the page, with a slash at both ends."""
        return self.access.prefix

    @property
    def token(self) -> str:
        """What the printed address carries."""
        return self.access.token

    @property
    def ready(self) -> bool:
        """Whether the network runs."""
        return self._network is not None and not self.ended

    @property
    def network(self) -> Network:
        """The running network; NotReadyError before it runs and after its end."""
        if self._network is None or self.ended:
            raise NotReadyError(self.ended or "the network is still starting")
        return self._network

    @property
    def attach(self) -> AttachServer:
        """The terminals of the network; NotReadyError as `network`."""
        if self._attach is None or self.ended:
            raise NotReadyError(self.ended or "the network is still starting")
        return self._attach

    @property
    def nodes(self) -> list[str]:
        """Where a terminal can be opened; the Mininet CLI is that of a drawn network. NotReadyError as `network`."""
        return ["client", *(["mininet"] if self.topology else []), *self.network.nodes]

    @cached_property
    def guide(self) -> GuideSession:
        """The guide of the lab in this folder; InputError if the folder's progress is another lab's or not readable."""
        return GuideSession(self.lab, self.folder, view=words.PAGE)

    def touch(self) -> None:
        """The person has done something: typed, pressed a button, opened the page."""
        self.active_s = time.monotonic()

    def works_if(self, call: Callable[[], bool]) -> None:
        """Ask this when somebody wants to know whether the lab is at work by itself; it must not wait or raise."""
        with self._lock:
            self._workers.append(call)

    @property
    def at_work(self) -> bool:
        """Whether a command runs that the person may be waiting for."""
        with self._lock:
            workers = list(self._workers)
        return self.ready and any(call() for call in workers)

    def when_ready(self, call: Callable[[], None]) -> None:
        """Call this once the network runs, or now if it does; in the thread that started it."""
        with self._lock:
            if self._network is None:
                self._waiting.append(call)
                return
        call()

    def on_close(self, call: Callable[[], None]) -> None:
        """Call this before the network ends, the last registered first; it must not raise."""
        with self._lock:
            self._closing.append(call)

    def continues(self, brought: BroughtBack) -> None:
        """The lab was begun before, and its network is set as it was then; before `started`."""
        self.first_seen = brought.evidence
        again = [{"node": terminal, "text": text} for terminal, text in brought.again]
        self.events.publish("continued", done=brought.done, missing=brought.missing, again=again, at=time.time())

    def started(self, network: Network, attach: AttachServer) -> None:
        """The network runs: whoever waits for it is called, then every page is told."""
        with self._lock:
            self._network, self._attach = network, attach
            waiting, self._waiting = self._waiting, []
        network.link.on("end", lambda _: self.has_ended(network.link.ended or ""))
        for call in waiting:
            call()
        self.events.publish("ready", nodes=self.nodes, network=attach.id)

    def has_ended(self, why: str) -> None:
        """The network will not answer any more; why: what is known of it beside that, "" for nothing."""
        if not self.ended:
            self.ended = why or "the network has ended"
            self.events.publish("ended", why=why)

    def close(self) -> None:
        """Let everything that was registered with `on_close` go."""
        with self._lock:
            closing, self._closing = self._closing, []
        for call in reversed(closing):
            call()
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)

    async def in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what may wait for the network in another thread."""
        return await self.in_lane(Lane.NETWORK, call, *args, **kwargs)

    async def in_lane(self, lane: Lane, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do it in a thread of that lane; a call that is cancelled before a thread was free is not done."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads[lane], partial(call, *args, **kwargs))

    def soon(self, call: Callable[..., Any], *args: Any) -> None:
        """Call this in the loop, from any thread; nothing happens once the loop has ended."""
        loop = self.loop
        if loop is not None and not loop.is_closed():
            try:
                loop.call_soon_threadsafe(call, *args)
            except RuntimeError:  # closed between the two lines
                return
