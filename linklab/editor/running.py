# SPDX-License-Identifier: BSD-3-Clause
"""A network that runs while the window goes on: start by stages, cancel, orders, samples, and its end.

`Runner` lives in the window's thread, the network in threads of its own; what they have to say is posted, in order, for
the window to take with `take`. No tkinter.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from linklab.editor.network_state import meter_arguments
from linklab.editor.runnable import Choice
from linklab.engine.api import Clock, Network
from linklab.engine.choice import load_engine
from linklab.errors import EngineError, LinklabError
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords, parse_speed
from linklab.terminal.windows import Windows
from linklab.topology import Topology

METER = ("env", "PYTHONSAFEPATH=1", "python3", "-m", "linklab.agent.meter")
"""What lies in the working folder is not ours: no json.py there may stand in for the standard one (Python 3.11)."""
METER_DEADLINE_S = 10
POLL_S = 0.2
CAUSE_WAIT_S = 2.0

T = TypeVar("T")


@dataclass
class Session:
    """A network that is ready, and what belongs to it."""

    network: Network
    server: AttachServer
    windows: Windows
    typing: threading.Lock = field(default_factory=threading.Lock)
    """Held while lines are typed: a terminal takes one line at a time, and orders come from several threads."""

    @property
    def clock(self) -> ClockWords | None:
        """What obeys `clock`; None where the clock cannot be set."""
        return self.server.clock

    def follow(
        self,
        node: str,
        argv: Sequence[str],
        take: Callable[[str], None],
        *,
        what: str,
        deadline_s: float,
        ended: Callable[[], None] = lambda: None,
    ) -> str:
        """Run a program on a node; `take` gets each line that it prints, in the thread that reads the network's link.

        Returns:
            The name of its terminal.

        Raises:
            EngineError: it could not be started; `what` names it.
        """
        fields = {"node": node, "argv": list(argv), "rows": 24, "columns": 200}
        answer = self.network.link.request("open", deadline_s=deadline_s, what=what, **fields)
        self.server.own(answer["terminal"], Lines(take, ended))
        return str(answer["terminal"])


@dataclass
class Listener:
    """What the window wants to hear; each is called in its thread."""

    stage: Callable[[str], None]
    ready: Callable[[Session], None]
    ended: Callable[[str | None], None]
    clock: Callable[[dict[str, Any]], None]
    sample: Callable[[dict[str, Any]], None]


class Runner:
    """One network at a time."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.state = "stopped"
        self.session: Session | None = None
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._starting: Network | None = None
        self._cancelled = False
        self._orders = ThreadPoolExecutor(4, "order")
        self._thread: threading.Thread | None = None

    def take(self) -> None:
        """Do what was posted; called by the window again and again."""
        for _ in range(200):
            try:
                self._posted.get_nowait()()
            except queue.Empty:
                return

    def start(self, topology: Topology, choice: Choice, workdir: Path, *, display: bool) -> None:
        """Begin; `stage`, then `ready` or `ended` follow."""
        self.state, self._cancelled = "starting", False
        self._stop.clear()
        arguments = (topology, choice, workdir, display)
        self._thread = threading.Thread(target=self._run, args=arguments, name="network", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the network, or give up starting it; `ended` follows."""
        if self.state == "stopped":
            return
        was, self.state = self.state, "stopping"
        self._cancelled = was == "starting"
        self._stop.set()
        if self._starting is not None and was == "starting":
            network = self._starting
            threading.Thread(target=network.close, name="cancel", daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait for the network's end, when the program ends."""
        if self._thread is not None:
            self._thread.join(seconds)

    def order(
        self,
        work: Callable[[Session], T],
        then: Callable[[T], None],
        failed: Callable[[str], None],
    ) -> None:
        """Do something with the network outside the window's thread; `then` gets what it gives, `failed` why not.

        Anything but a LinklabError is a fault of ours: `take` raises it in the window's thread, which shows faults.
        """
        session = self.session
        if session is None:
            failed("the network is not ready yet" if self.state == "starting" else "no network is running")
            return

        def do() -> None:
            try:
                found = work(session)
            except LinklabError as error:
                self._posted.put(partial(failed, str(error)))
            except Exception as error:
                self._posted.put(partial(_raise, error))
            else:
                self._posted.put(lambda: then(found))

        self._orders.submit(do)

    def post(self, do: Callable[[], None]) -> None:
        """Have the window do something; called in any thread."""
        self._posted.put(do)

    # --- in threads of the network

    def _run(self, topology: Topology, choice: Choice, workdir: Path, display: bool) -> None:
        why: str | None = None
        try:
            with contextlib.ExitStack() as stack:
                self._say("looking for the engine")
                session = self._open(stack, topology, choice, workdir, display=display)
                if self._stop.is_set():
                    raise EngineError("stopped")
                session.network.link.on("end", lambda _: self._stop.set())
                self._posted.put(lambda: self._ready(session))
                self._tell_clock(session)
                # in a thread of its own: where time is paused at once, the meter starts when it goes on again
                meter = (session, meter_arguments(topology))
                threading.Thread(target=self._meter, args=meter, name="meter", daemon=True).start()
                while not self._stop.wait(POLL_S):
                    self._tell_clock(session)
                why = None if self.state == "stopping" else self._cause(session)
                self._say("ending the network")
        except LinklabError as error:
            why = None if self._cancelled else str(error)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        self._starting = None
        self._posted.put(lambda: self._ended(why))

    @staticmethod
    def _cause(session: Session) -> str:
        """Why a network ended that nobody stopped; known a moment after its end is noticed."""
        link = session.network.link
        deadline = time.monotonic() + CAUSE_WAIT_S
        while link.ended is None and time.monotonic() < deadline:
            time.sleep(0.02)
        return link.ended or "the network has ended by itself"

    def _open(
        self, stack: contextlib.ExitStack, topology: Topology, choice: Choice, workdir: Path, *, display: bool
    ) -> Session:
        clock = Clock(choice.clock)
        speed = parse_speed(choice.speed) if clock is Clock.PACED else None
        starting = load_engine(choice.engine).start(
            topology,
            workdir=workdir,
            clock=clock,
            seed=choice.seed,
            profile=choice.profile,
            display=display,
            on_stage=self._stage,
        )
        network = stack.enter_context(starting)
        paced = network.paced
        if paced is not None and speed is not None:
            paced.set_speed(speed)
        words = partial(ClockWords, paced) if paced is not None else None
        server = stack.enter_context(AttachServer(network.link, network.nodes, topology.name, words, workdir))
        windows = stack.enter_context(Windows(network.link, server, workdir, display=display))
        return Session(network, server, windows)

    def _stage(self, what: str, network: Network) -> None:
        self._starting = network
        if self._stop.is_set():
            raise EngineError("stopped")
        self._say(what)

    def _say(self, what: str) -> None:
        self._posted.put(lambda: self.listener.stage(what))

    def _ready(self, session: Session) -> None:
        if self.state == "starting":
            self.session, self.state = session, "running"
            self.listener.ready(session)

    def _ended(self, why: str | None) -> None:
        self.session, self.state = None, "stopped"
        self.listener.ended(why)

    def _tell_clock(self, session: Session) -> None:
        if session.clock is None:
            return
        with contextlib.suppress(EngineError):
            state = session.clock.state()
            self._posted.put(lambda: self.listener.clock(state))

    def _meter(self, session: Session, arguments: Sequence[str]) -> None:
        """Start the meter inside; what it prints comes as samples."""
        with contextlib.suppress(EngineError):  # traces are a comfort; the network runs without
            argv = [*METER, *arguments]
            session.follow("client", argv, self._sampled, what="starting the meter", deadline_s=METER_DEADLINE_S)

    def _sampled(self, line: str) -> None:
        with contextlib.suppress(ValueError):
            sample = json.loads(line)
            if isinstance(sample, dict) and "i" in sample:
                self._posted.put(lambda: self.listener.sample(sample))


class Lines:
    """Takes what a terminal shows (`linklab.terminal.terminals.Taker`) and gives it line by line."""

    def __init__(self, take: Callable[[str], None], ended: Callable[[], None] = lambda: None) -> None:
        self._take, self._ended, self._rest = take, ended, ""

    def tell(self, message: Mapping[str, Any]) -> None:
        """Take an event of the terminal."""
        if message.get("event") == "data":
            *lines, self._rest = (self._rest + base64.b64decode(message["data"]).decode(errors="replace")).split("\n")
            for line in lines:
                self._take(line.strip())
        elif message.get("event") == "closed":
            self._ended()


def _raise(error: Exception) -> None:
    raise error


def preload() -> None:
    """Load what Run needs, in a thread of its own, so that the first Run does not wait for it."""

    def load() -> None:
        with contextlib.suppress(ImportError):  # told of at Run
            importlib.import_module("linklab.engine.pocket")

    threading.Thread(target=load, name="preload", daemon=True).start()
