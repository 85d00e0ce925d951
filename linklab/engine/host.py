# SPDX-License-Identifier: BSD-3-Clause
"""The host engine: a network on the machine's own kernel, in namespaces of its own, by the same agent as in the pocket.

The warden (`linklab.warden`, root) makes the space and starts the agent in it; this side, an ordinary user's, listens
for the agent on a socket of its own and speaks with it. Only the wall clock is there. docs/architecture.md, The host
engine.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from linklab.base import place
from linklab.bpf.build import compile_if_possible
from linklab.engine import host_kernel, sudo
from linklab.engine.agent_link import AgentLink
from linklab.engine.agent_network import AgentNetwork
from linklab.engine.api import Background, Clock, Completed, OnStage, Typed
from linklab.engine.wall import require_wall
from linklab.errors import BootError, EngineError, LinklabError
from linklab.linux.sockets import peer
from linklab.topology import Topology
from linklab.topology.needs import of_topology

START_DEADLINE_S = 60
CLOSE_DEADLINE_S = 10
WARDEN_DEADLINE_S = 30
LOOK_S = 0.1
RESTING_S, RESTING_TICKS, RESTING_DEADLINE_S = 0.1, 2, 10
"""Between two looks at what was left running; the ticks of ten that it may compute meanwhile, as a sampler does; and
when to go on all the same."""


class HostEngine:
    """Starts networks on the machine's own kernel."""

    side_by_side = False  # they share the machine's processors and its time

    def check(self) -> None:
        """MissingError, with the cure, if the warden may not be started or a tool is missing; see `Engine.check`."""
        sudo.ask({"do": "check"})

    @contextlib.contextmanager
    def start(
        self,
        topology: Topology | None,
        *,
        workdir: Path,
        clock: Clock = Clock.WALL,
        seed: int = 1,
        profile: str = "desktop",
        display: bool = False,
        on_stage: OnStage = lambda stage, network: None,
    ) -> Iterator[HostNetwork]:
        """Build `topology` in a space of its own on this kernel, and end it on every way out; see `Engine.start`.

        Seed and profile mean nothing here: chance is the kernel's, and computing takes what it takes.

        Raises:
            InputError: another clock was asked for.
            MissingError: the warden may not be started, or a tool or a part of this kernel is missing.
            BootError: the space did not come up.
            AgentError: Mininet could not build the network.
        """
        require_wall(clock)
        drawn = of_topology(topology)
        if drawn - of_topology(None):  # what every network needs is found missing soon enough
            host_kernel.require(drawn, topology.name if topology else "the network")
        network = HostNetwork(workdir)
        try:
            on_stage("starting the warden", network)
            network.boot()
            on_stage("building the network", network)
            network.build(topology, display=display)
            yield network
        finally:
            network.close()


class HostNetwork(AgentNetwork):
    """A running network on the machine's own kernel; see `linklab.engine.api.Network`."""

    clock = Clock.WALL

    def __init__(self, workdir: Path) -> None:
        super().__init__()
        self.workdir = workdir.resolve()
        self._hello = threading.Event()
        self._gone = threading.Event()
        self._closed = False
        self._closing = threading.Lock()
        self._warden: sudo.Warden | None = None
        self._connection: socket.socket | None = None
        self._said = ""
        """Why it ended, as far as somebody has said so."""

    def boot(self) -> None:
        """Have the warden make the space, and wait for its agent."""
        compile_if_possible()
        with _listening() as listener:
            path = Path(listener.getsockname())
            self._warden = sudo.Warden({"do": "run", "socket": str(path), "work": str(self.workdir)})
            connection = self._accept(listener, self._warden)
        with self._closing:  # `close` ends a connection that it finds, and we one that comes too late for it
            if self._closed:
                connection.close()
                raise EngineError("stopped")
            self._connection = connection
            self.link = AgentLink(connection)
        self.link.on("hello", lambda _: self._hello.set())
        self.link.on("end", lambda _: self._gone.set())
        self.link.on("end", lambda _: self.link.end(f"the network's agent has ended{self._last_words()}"))
        self.link.begin()
        deadline = time.monotonic() + START_DEADLINE_S
        while not self._hello.wait(LOOK_S):
            if self._gone.is_set() or time.monotonic() > deadline:
                self.close()
                raise BootError(f"the network's space did not come up{self._last_words() or ': no reason was given'}")

    def _accept(self, listener: socket.socket, warden: sudo.Warden) -> socket.socket:
        """The warden's connection: of root, or of our own user where that is root; others are turned away."""
        deadline = time.monotonic() + START_DEADLINE_S
        listener.settimeout(LOOK_S)
        while time.monotonic() < deadline and not self._closed:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                if warden.process.poll() is not None:
                    warden.answer()  # raises what it says
                    raise BootError("the warden ended before the network was there") from None
                continue
            if peer(connection) == 0:
                connection.settimeout(None)
                return connection
            connection.close()
        raise EngineError("stopped" if self._closed else f"the warden did not answer within {START_DEADLINE_S} s")

    def _last_words(self) -> str:
        if self._warden is not None and self._warden.complaints:
            self._said = self._warden.complaints.splitlines()[-1]
        return f"; its last words: {self._said}" if self._said else ""

    def build(self, topology: Topology | None, *, display: bool = False) -> None:
        """Have the agent build the network."""
        tools = self._build(topology, {"/run/linklab/python": f"{sys.executable}\n"}, display=display)
        self.environment = {
            "engine": "host",
            "kernel": os.uname().release,
            "clock": self.clock.value,
            "machine": os.uname().machine,
            "tools": tools,
        }

    def run(
        self,
        actions: Sequence[Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
        at_once: bool = False,
    ) -> list[Completed]:
        """As `AgentNetwork.run`; what is left running is waited for until it waits itself, as a server that listens."""
        done = super().run(actions, deadline_s=deadline_s, on_output=on_output, at_once=at_once)
        for action in actions:
            if isinstance(action.finish, Background):
                self._until_resting(action.terminal)
        return done

    def _until_resting(self, terminal: str) -> None:
        deadline, before = time.monotonic() + RESTING_DEADLINE_S, -RESTING_TICKS - 1
        while time.monotonic() < deadline:
            time.sleep(RESTING_S)
            seen = self.link.request("resting", deadline_s=60, what=f"looking at {terminal}", terminal=terminal)
            if not seen["busy"] and seen["ticks"] - before <= RESTING_TICKS:
                return
            before = seen["ticks"]

    def close(self) -> None:
        """End the network; whatever state it is in, nothing of it is left."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if self._connection is not None:
            if self._hello.is_set() and not self._gone.is_set():
                with contextlib.suppress(EngineError):
                    self.link.send("shutdown")
                    self._gone.wait(CLOSE_DEADLINE_S)
            self.link.end("the network has been closed")
        if self._warden is not None:
            self._last_words()
            try:
                self._warden.answer(WARDEN_DEADLINE_S)
            except LinklabError as error:  # of one that was killed it says so
                self._said = self._said or str(error)
            self._warden.close()
            self._warden = None


@contextlib.contextmanager
def _listening() -> Iterator[socket.socket]:
    """A socket of this user's alone, in a folder of this user's alone, until the warden has found it."""
    path = folder() / f"{secrets.token_hex(4)}.sock"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # nobody else can enter the folder; the umask is that of every thread
        listener.listen(4)
        yield listener
    finally:
        listener.close()
        path.unlink(missing_ok=True)


def folder() -> Path:
    """Where the sockets lie on which wardens are awaited."""
    return place.make_private(place.for_sockets() / "host")


def bound_paths(table: bytes) -> set[bytes]:
    """The paths in the table of Unix sockets (proc_net_unix(5)): its eighth column, which may hold blanks."""
    rows = [line.split(maxsplit=7) for line in table.splitlines()[1:]]
    return {row[7] for row in rows if len(row) == 8}


def remove_stale(*, dry_run: bool = False) -> list[Path]:
    """Remove the sockets on which nobody awaits a warden any more; which they were.

    Not by connecting, as elsewhere: who awaits a warden would take root for it.
    """
    found = sorted(folder().glob("*.sock"))  # first, so that one which is bound meanwhile is not looked at
    awaited = bound_paths(Path("/proc/net/unix").read_bytes())
    stale = [path for path in found if os.fsencode(path) not in awaited]
    for path in [] if dry_run else stale:
        path.unlink(missing_ok=True)
    return stale
