# SPDX-License-Identifier: BSD-3-Clause
"""A network that runs while the window goes on: start by stages, cancel, orders, samples, and its end.

`Runner` lives in the window's thread, the network in threads of its own; what they have to say is posted, in order, for
the window to take with `take`. No tkinter. What a person asked for that this engine cannot do is named (`unheeded`).
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linklab.engine.api import Clock, Typed
from linklab.errors import EngineError, LinklabError
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords, parse_speed
from linklab.terminal.windows import Windows
from linklab.topology import Topology

METER = ["sh", "-c", 'exec python3 "$(dirname "$(command -v modprobe)")/../meter.py"']
POLL_S = 0.2
CAUSE_WAIT_S = 2.0
READ_BACK_DEADLINE_S = 30
ENVIRONMENT_DEADLINE_S = 120


@dataclass(frozen=True)
class Choice:
    """How to run: names as in Preferences."""

    engine: str = "pocket"
    clock: str = "paced"
    speed: str = "1"
    profile: str = "desktop"
    seed: int = 1

    @classmethod
    def of(cls, topology: Topology) -> Choice:
        """What the file says, defaults for the rest."""
        run = topology.extra.get("linklab", {}).get("run") or {}
        known = {key: str(run[key]) for key in ("engine", "clock", "speed", "profile") if key in run}
        if known.get("engine") == "host":
            known["clock"] = Clock.WALL.value  # the only one that it has; the file keeps the pocket's
        return cls(**known, seed=int(run.get("seed", 1)))


@dataclass
class Session:
    """A network that is ready, and what belongs to it."""

    network: Any
    server: AttachServer
    windows: Windows
    clock: ClockWords | None


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
        self._starting: Any = None
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
        work: Callable[[Session], Any],
        then: Callable[[Any], None] = lambda _: None,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Do something with the network outside the window's thread; `then` gets what it gives, `failed` why not."""
        session = self.session
        if session is None:
            if failed is not None:
                failed("no network is running")
            return

        def do() -> None:
            try:
                found = work(session)
            except LinklabError as error:
                if failed is not None:
                    text = str(error)
                    self._posted.put(lambda: failed(text))
                return
            self._posted.put(lambda: then(found))

        self._orders.submit(do)

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
                self._meter(session)
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
        from linklab.commands.run import load_engine  # noqa: PLC0415 - the window does not wait for it

        paced = choice.clock == "paced"
        options: dict[str, Any] = {"speed": parse_speed(choice.speed)} if paced else {}
        engine: Any = load_engine(choice.engine)
        starting = engine.start(
            topology,
            workdir=workdir,
            clock=Clock(choice.clock),
            seed=choice.seed,
            profile=choice.profile,
            display=display,
            on_stage=self._stage,
            **options,
        )
        network = stack.enter_context(starting)
        clocks: list[ClockWords] = []

        def clock(on_change: Callable[[dict[str, Any]], None]) -> ClockWords:
            clocks.append(ClockWords(network, on_change))
            return clocks[0]

        server = stack.enter_context(
            AttachServer(network.link, network.nodes, topology.name, clock if paced else None, workdir)
        )
        windows = stack.enter_context(Windows(network.link, server, workdir, display=display))
        return Session(network, server, windows, clocks[0] if clocks else None)

    def _stage(self, what: str, network: Any) -> None:
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

    def _meter(self, session: Session) -> None:
        """Start the meter inside; what it prints comes as samples."""
        fields = {"node": "client", "argv": METER, "rows": 24, "columns": 80}
        try:
            answer = session.network.link.request("open", deadline_s=10, what="starting the meter", **fields)
        except EngineError:
            return  # traces are a comfort; the network runs without
        session.server.own(answer["terminal"], _Lines(self._sampled))

    def _sampled(self, line: str) -> None:
        with contextlib.suppress(ValueError):
            sample = json.loads(line)
            if isinstance(sample, dict) and "i" in sample:
                self._posted.put(lambda: self.listener.sample(sample))


class _Lines:
    """Takes what a terminal shows and gives it line by line."""

    def __init__(self, take: Callable[[str], None]) -> None:
        self._take, self._rest = take, ""

    def tell(self, message: Mapping[str, Any]) -> None:
        """From the attach server, for an owner of a terminal."""
        if message.get("event") == "data":
            *lines, self._rest = (self._rest + base64.b64decode(message["data"]).decode(errors="replace")).split("\n")
            for line in lines:
                self._take(line.strip())


def preload() -> None:
    """Load what Run needs, in a thread of its own, so that the first Run does not wait for it."""

    def load() -> None:
        with contextlib.suppress(ImportError):  # told of at Run
            importlib.import_module("linklab.commands.run")
            importlib.import_module("linklab.engine.pocket")

    threading.Thread(target=load, name="preload", daemon=True).start()


# --- orders


def open_terminal(session: Session, node: str) -> str:
    """Open the person's terminal program on a node; "" or why not."""
    text, status = session.windows.answer(["terminal", node])
    return text if status else ""


def plot_queue(session: Session, node: str, interface: str) -> None:
    """Open the plot of `plot_q.sh` on an interface."""
    fields = {"node": node, "argv": ["plot_q.sh", interface], "rows": 24, "columns": 200}
    answer = session.network.link.request("open", deadline_s=30, what="opening the plot", **fields)
    session.server.own(answer["terminal"], _Lines(lambda _: None))


def obey(session: Session, words: list[str]) -> str:
    """Set the clock; its state as a sentence, or why not."""
    return session.server.obey_clock(words)[0]


def type_lines(session: Session, lines: list[tuple[str, str]]) -> str:
    """Type (terminal, line) pairs one after the other; what they showed.

    Raises:
        EngineError: one of them failed; its words.
    """
    shown = []
    for terminal, line in lines:
        (done,) = session.network.run([Typed(f"{terminal}#editor", line)], deadline_s=READ_BACK_DEADLINE_S)
        shown.append(done.output.strip())
        if done.exit_status and " del " not in line:
            raise EngineError(f"{line}: {done.output.strip()}")
    return "\n".join(each for each in shown if each)


def set_environment(session: Session) -> str:
    """Type an exercise's ./set_env.sh in the root terminal; what it printed.

    Raises:
        EngineError: it failed; its words.
    """
    (done,) = session.network.run([Typed("client#editor", "./set_env.sh")], deadline_s=ENVIRONMENT_DEADLINE_S)
    shown: str = done.output.strip()
    if done.exit_status:
        raise EngineError(shown.removeprefix("set_env.sh: ") or f"./set_env.sh ended with status {done.exit_status}")
    return shown


REFUSED = {
    "ivs": "Indigo Virtual Switch is part of no supported system",
    "user": "the userspace switch is part of no supported system",
    "userns": "the userspace switch is part of no supported system",
}


WHERE = {"pocket": "a pocket", "host": "a network of the host engine"}


def refused(topology: Topology) -> list[str]:
    """Why this topology runs on no engine, a sentence for each node."""
    found: list[str] = []
    for switch in topology.switches:
        kind = topology.preferences.switch_type if switch.type == "default" else switch.type
        if kind in REFUSED:
            where = "Preferences, Default Switch" if switch.type == "default" else "its Properties, Switch Type"
            found.append(f"{switch.name}: {REFUSED[kind]}. It is kept in the file; to run, choose another in {where}.")
    return found


def unheeded(topology: Topology, choice: Choice) -> list[str]:
    """What of the drawing this engine cannot do, a sentence each; kept in the file all the same."""
    found: list[str] = []
    where = WHERE.get(choice.engine, choice.engine)
    for node in topology.nodes:
        if node.external_interfaces:
            names = ", ".join(node.external_interfaces)
            found.append(
                f"{node.name}: {where} has no interface {names} of this machine; left out, ports counted with it"
            )
    for host in topology.hosts:
        if "cpu" in host.opts or "cores" in host.opts:
            if choice.engine == "host":
                found.append(f"{host.name}: no share of a processor on the host engine; all hosts share the machine's")
            else:
                found.append(
                    f"{host.name}: no share of a processor on the pocket's clocks; computing costs what Preferences say"
                )
    for controller in topology.all_controllers:
        if controller.opts.get("controllerType") in ("remote", "inband"):
            address = controller.opts.get("remoteIP", "127.0.0.1")
            found.append(f"{controller.name}: a controller outside ({address}) cannot be reached from {where}")
    if topology.preferences.netflow["nflowTarget"] or topology.preferences.sflow["sflowTarget"]:
        found.append("Preferences: NetFlow and sFlow reach collectors inside the network alone")
    return found


def runnable(topology: Topology, choice: Choice) -> Topology:
    """The topology without what `unheeded` names, with the same ports and addresses."""
    ports = topology.ports()
    dropped = ("cpu", "cores", "externalInterfaces")

    def stripped(node: Any) -> Any:
        return replace(node, opts={key: value for key, value in node.opts.items() if key not in dropped})

    links = tuple(
        replace(link, own={**link.own, "ports": list(pair)}) for link, pair in zip(topology.links, ports, strict=True)
    )
    return replace(
        topology,
        hosts=tuple(map(stripped, topology.hosts)),
        switches=tuple(map(stripped, topology.switches)),
        links=links if any(node.external_interfaces for node in topology.nodes) else topology.links,
    )
