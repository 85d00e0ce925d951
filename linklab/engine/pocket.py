# SPDX-License-Identifier: BSD-3-Clause
"""The pocket engine: a network in a Linux kernel of its own, as an ordinary program of an ordinary user.

The keeper (`linklab.engine.keeper`, a process) starts and ends the kernel; this side speaks with the agent inside and
orders the keeper about. Clocks, seed and cost profiles: docs/architecture.md; kernel parameters: kernel/README.md.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab import native, pocket_kernel
from linklab.agent.protocol import LARGEST
from linklab.base import installation, place
from linklab.bpf.build import compile_if_possible
from linklab.engine.agent_link import AgentLink
from linklab.engine.agent_network import AgentNetwork
from linklab.engine.api import VIRTUAL_START_NS, Clock, OnStage, Paced
from linklab.engine.bytecode import INSIDE, PACKAGE, compile_once
from linklab.engine.cpus import CpuLock
from linklab.engine.failures import of_oserror, start_failure
from linklab.engine.profiles import PROFILES
from linklab.errors import BootError, EngineError, InputError, LinklabError, ShortageError
from linklab.topology import Topology

BOOT_DEADLINE_S = 120
CLOSE_DEADLINE_S = 5
KEEPER_DEADLINE_S = 30
LAST_WORDS = 600
GUEST_CHANNEL_FD = 63
REFUSED = 75
"""Status with which the pocket's kernel ends if the machine ends or refuses a guest's process (its patch 7/0021)."""
_REFUSING = "this machine has ended or refused what the network needs, such as memory or processes (ulimit -u)"
RUN_DIR = "/proc/self/cwd"
"""The run directory, which is the kernel's working directory, by a name that is the same in every run.

Programs find it in /proc/cmdline and /proc/mounts, and each byte that they read takes network time.
"""
PYTHON_INSIDE = f"{INSIDE}/venv/bin/python"
"""The Python of Linklab's own commands, by a path that is the same in every run (`init.sh`)."""
ROOT_INSIDE = Path("/run/linklab/root")
"""Says inside where the labs of this Linklab are; a file and not a variable, which every program would copy."""
WITHOUT_SETUPTOOLS = "SETUPTOOLS_USE_DISTUTILS=stdlib"
"""For the agent: Mininet imports distutils, and setuptools puts itself in its place where it is installed.

Importing it takes a quarter of the time until a network is ready.
"""
CLOCK_NS = 256
"""What reading the clock takes in network time, as in UML itself, so that a loop that waits for the clock ends."""


@dataclass(frozen=True)
class Places:
    """Where the keeper finds things, as it sees them: a confined one sees other paths (`linklab.grade.sandbox`).

    code: folder that holds the package and, in a clone, scripts/.
    venv: the virtual environment of the Python that runs Linklab's own commands inside; None for `python` itself.
    owner: user and group of the files in `work`, as they are seen there, whom tcpdump becomes if that is not root.
    share: the keeper hands the folders of work and memory over as open files, since nobody else sees them.
    limits: of the kernel and each process inside, named as in `resource` without RLIMIT_.
    known_as: a link that the keeper makes to the folder of the run, "" for none.
    """

    python: str
    code: Path
    kernel: Path
    work: Path
    memory: Path
    run_base: Path
    known_as: str = ""
    venv: Path | None = None
    owner: tuple[int, int] = (0, 0)
    share: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)


class PocketEngine:
    """Starts networks in pocket kernels."""

    side_by_side = True

    def __init__(self, memory_mib: int = 2048) -> None:
        self.memory_mib = memory_mib

    def check(self) -> None:
        """MissingError if no kernel is built or its memory has no place; see `Engine.check`."""
        pocket_kernel.require()
        place.memory_dir(self.memory_mib * 2**20)

    @contextlib.contextmanager
    def start(
        self,
        topology: Topology | None,
        *,
        workdir: Path,
        clock: Clock = Clock.VIRTUAL,
        seed: int = 1,
        profile: str = "desktop",
        display: bool = False,
        memory_mib: int | None = None,
        on_stage: OnStage = lambda stage, network: None,
    ) -> Iterator[PocketNetwork]:
        """Build `topology` in a new pocket, and end it on every way out.

        Args:
            topology: the network; None for the root namespace alone.
            workdir: an existing folder of the host; the terminals' working folder, and all that stays.
            clock: which clock; the paced one begins at the speed of wall time.
            seed: 0..2**64-1; on the virtual clock the same seed gives the same run.
            profile: what computing costs, a name in PROFILES.
            display: whether windows may be opened on the host for programs inside.
            memory_mib: memory of the pocket; used only as far as it is filled.
            on_stage: told what is being done, and of the network, which may be closed from another thread meanwhile.

        Raises:
            MissingError: no kernel built, or no place for its memory.
            BootError: the kernel did not come up; its last words.
            AgentError: Mininet could not build the network.
        """
        if profile not in PROFILES:
            raise InputError(f"there is no cost profile {profile!r}; there are {', '.join(PROFILES)}")
        if not 0 <= seed < 2**64:
            raise InputError(f"seed {seed} is outside 0 to 2^64-1")
        network = self._network(
            workdir=workdir,
            clock=clock,
            seed=seed,
            profile=profile,
            memory_mib=memory_mib or self.memory_mib,
        )
        try:
            on_stage("starting the kernel", network)
            network.boot()
            on_stage("building the network", network)
            network.build(topology, display=display)
            yield network
        finally:
            network.close()

    def _network(self, **options: Any) -> PocketNetwork:
        """The network to be started; an engine that confines it makes one of its own."""
        return PocketNetwork(**options)


class PocketNetwork(AgentNetwork):
    """A running network in a pocket; see `linklab.engine.api.Network`."""

    largest_message = LARGEST
    """Bytes of what the agent may say at once."""
    most_values: int | None = None
    """In one message of the agent's, as of `linklab.agent.protocol.Decoder`."""

    def __init__(self, *, workdir: Path, clock: Clock, seed: int, profile: str, memory_mib: int) -> None:
        super().__init__()
        self.kernel = pocket_kernel.require()
        self.workdir = workdir.resolve()
        self.clock = clock
        self.seed = seed
        self.profile = profile
        self.memory_mib = memory_mib
        self.last_words = ""
        self.exit_code: int | None = None
        self.pid: int | None = None
        self._cpu = CpuLock()
        self._closed = False
        self._closing = threading.Lock()  # either `close` finds what has been started, or nothing is started after it
        self._failed: LinklabError | None = None
        self._watcher = threading.Thread(target=self._watch_keeper, name="pocket keeper", daemon=True)
        self._gone = threading.Event()
        self._hello = threading.Event()
        self._clock_answers: list[dict[str, Any]] = []
        self._clock_changed = threading.Condition()
        self._clock_asks = threading.Lock()  # answers carry no number: one question at a time
        self.on_reached: Callable[[], None] | None = None

    # --- start and end

    def boot(self) -> None:
        """Start the kernel and wait for its agent."""
        places = self._places()
        compile_once(PACKAGE)
        native.build()  # the doctor says what lacks
        compile_if_possible()
        with self._closing:
            if self._closed:
                raise EngineError("stopped")
            try:
                self._start(places)
            except OSError as error:
                raise of_oserror("starting its keeper", error) from error
        deadline = time.monotonic() + BOOT_DEADLINE_S
        while not self._hello.wait(0.2):
            late = time.monotonic() > deadline
            if late:
                self.close()
            if self._gone.is_set() and self._failed is not None:
                raise self._failed
            if late or self._gone.is_set():
                how = f"did not come up within {BOOT_DEADLINE_S} s" if late else "ended while booting"
                words = self.last_words.strip()[-LAST_WORDS:] or "(none)"
                raise BootError(f"the pocket kernel {how}, {self._exit_words()}. Its last words: {words}")

    def _exit_words(self) -> str:
        """How the kernel ended, after `Popen.returncode`; what nobody told is said to be unknown."""
        if self.exit_code is None:
            return "and its keeper has gone without a word"
        if self.exit_code < 0:
            return f"killed by signal {-self.exit_code} ({signal.strsignal(-self.exit_code)})"
        return f"with status {self.exit_code}"

    def _start(self, places: Places) -> None:
        """Start the keeper, and tell it what to start."""
        ours, guests = socket.socketpair()
        self.link = AgentLink(ours, self.largest_message, self.most_values)
        self.link.on("hello", self._greeted)
        with guests:
            control, keepers = socket.socketpair()
            self._control = control
            with keepers:
                fds = [keepers.fileno(), guests.fileno()]
                keeper = str(places.code / PACKAGE.name / "engine/keeper.py")
                try:
                    self._keeper = self._start_keeper([places.python, "-I", "-S", keeper, *map(str, fds)], fds)
                except OSError:
                    control.close()
                    self.link.end("the pocket could not start")
                    raise
        try:
            self._watcher.start()
            self.link.begin()
        except RuntimeError as error:  # what threading says where no thread can be had (pthread_create(3), EAGAIN)
            raise start_failure("starting a thread", errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
        with contextlib.suppress(EngineError):  # it has gone, and what it said of that is better than that it has
            self._order(self._config(places))

    def _greeted(self, _message: dict[str, Any]) -> None:
        """Note that the agent has come up; a second greeting means that the kernel has restarted."""
        if self._hello.is_set():
            self.link.end("the pocket kernel was restarted from inside, so the network is gone; start it again")
        self._hello.set()

    def _places(self) -> Places:
        """MissingError if there is no place for the memory."""
        return Places(
            python=sys.executable,
            code=PACKAGE.parent,
            kernel=self.kernel.path,
            work=self.workdir,
            memory=place.memory_dir(self.memory_mib * 2**20),
            run_base=run_base(),
            venv=virtual_environment(),
            owner=(os.geteuid(), os.getegid()),
        )

    def _start_keeper(self, argv: list[str], fds: list[int]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, pass_fds=fds, start_new_session=True)

    @property
    def processor(self) -> int:
        """Number of the processor that it runs on."""
        return self._cpu.number

    @property
    def keeper_pid(self) -> int:
        """Process id of the keeper."""
        return self._keeper.pid

    def _config(self, places: Places) -> dict[str, Any]:
        argv = [
            str(places.kernel),
            f"mem={self.memory_mib}M",
            f"pocket.seed={self.seed}",
            f"pocket.fd={GUEST_CHANNEL_FD}",
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/",
            "rw",
            "con=null",
            "con0=fd:0,fd:1",
            "quiet",
            "bonding.max_bonds=0",  # no bond0 before a program asks for one
            f"init={RUN_DIR}/init",
            f"RUN={RUN_DIR}",
            f"CLOCK={self.clock.value}",
            "seccomp=auto",  # "on" would end the kernel where a sandbox denies it; "auto" then takes ptrace
            *(["notify=off"] if _filtered() else []),
            *([WITHOUT_SETUPTOOLS] if _has_distutils() else []),
        ]
        if self.clock is Clock.VIRTUAL:
            argv += ["time-travel=inf-cpu", f"time-travel-start={VIRTUAL_START_NS}"]
        if self.clock is Clock.PACED:
            argv += ["nohz=off", f"time-travel-start={time.time_ns()}"]
        return {
            "run_base": str(places.run_base),
            "known_as": places.known_as,
            "channel_fd": GUEST_CHANNEL_FD,
            "argv": argv,
            "env": {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": str(places.memory)},
            "links": {
                "lib": str(places.code),
                "work": str(places.work),
                "modules": str(places.kernel.parent / "modules"),
                "init": str(places.code / PACKAGE.name / "engine/init.sh"),
                **({"venv/bin/python": places.python} if places.venv is None else {"venv": str(places.venv)}),
            },
            "user": "{}:{}".format(*places.owner) if places.owner[0] else "",
            "share": places.share,
            "limits": dict(places.limits),
            "clock": self.clock.value,
            "cpu": self.processor,
        }

    def _files(self) -> dict[str, str]:
        """What is written inside when the network is built; only from then on computing takes time."""
        # the clock's price comes last, because from then on computing has its price and the watch looks
        prices = {"begin": "1", **PROFILES[self.profile].prices, "orphan": "1", "clock_ns": str(CLOCK_NS)}
        files = {f"/sys/module/pocket/parameters/{name}": price for name, price in prices.items()}
        return {
            "/run/linklab/python": f"{PYTHON_INSIDE}\n",
            str(ROOT_INSIDE): f"{installation.ROOT}\n",
            **files,
        }

    def build(self, topology: Topology | None, *, display: bool = False) -> None:
        """Have the agent build the network."""
        self._typed_within_s = PROFILES[self.profile].start_ms / 1000
        tools = self._build(topology, self._files(), display=display)
        if self.clock is Clock.PACED:
            # the boot took other time than outside; a folder has the host's date, which is then that of the network
            self.link.request("date", deadline_s=BOOT_DEADLINE_S, what="setting its date", date_ns=time.time_ns())
            self.set_speed(1.0)  # until now it went as fast as it could
        self.environment = {
            "engine": "pocket",
            "kernel": self.kernel.version,
            "kernel_digest": self.kernel.digest,
            "clock": self.clock.value,
            "seed": self.seed,
            "profile": self.profile,
            "memory_mib": self.memory_mib,
            "tools": tools,
        }

    def close(self) -> None:
        """End the network; whatever state it is in, nothing of it is left."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if hasattr(self, "_keeper"):
            deaf = self.clock is Clock.VIRTUAL and self.link.busy  # it reads no order until what it does has ended
            if self._hello.is_set() and not self._gone.is_set() and not deaf:
                with contextlib.suppress(EngineError):
                    self.link.send("shutdown")
                    self._gone.wait(CLOSE_DEADLINE_S if self.clock is not Clock.PACED or self._says_goodbye else 0.3)
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_WR)
            try:
                self._keeper.wait(KEEPER_DEADLINE_S)
            except subprocess.TimeoutExpired:
                self._keeper.kill()  # the kernel dies with it
                self._keeper.wait()
            if self._watcher.ident is not None:
                self._watcher.join()
            self._control.close()
            self.link.end("the network has been closed")
        self._cpu.release()

    def _watch_keeper(self) -> None:
        """Read what the keeper says until it has gone."""
        run_dir: str | None = None
        try:
            for message in self._keeper_says():
                if message["event"] == "started":
                    self.pid, run_dir = message["pid"], message.get("run_dir")
                elif message["event"] == "failed":
                    self._failed = start_failure(
                        message["doing"], message["errno"], message["why"], message.get("file")
                    )
                elif message["event"] == "ended":
                    self.last_words, self.exit_code = message["console"], message["code"]
                elif message["event"] in ("clock", "reached"):
                    with self._clock_changed:
                        if message["event"] == "clock":
                            self._clock_answers.append(message)
                        self._clock_changed.notify_all()
                    if message["event"] == "reached" and self.on_reached:
                        self.on_reached()
        except ConnectionResetError:
            pass  # it has gone and left an order unread, which is no more than that it has gone
        finally:
            self._keeper_gone(run_dir)

    def _keeper_says(self) -> Iterator[dict[str, Any]]:
        """The keeper's messages as they come."""
        with self._control.makefile("rb") as lines:
            yield from map(json.loads, lines)

    def _keeper_gone(self, run_dir: str | None) -> None:
        if run_dir is not None:  # a keeper that was killed could not; its kernel dies with it
            shutil.rmtree(run_dir, ignore_errors=True)
        self._gone.set()
        with self._clock_changed:
            self._clock_changed.notify_all()
        words = self.last_words.strip().split("\n")[-1]
        refused = self.exit_code == REFUSED
        why = f", because {_REFUSING}" if refused else ""
        said = f"the pocket kernel has ended{why}" + (f"; its last words: {words}" if words else "")
        self.link.end(said, ShortageError if refused else EngineError)

    def _order(self, order: dict[str, Any]) -> None:
        try:
            self._control.sendall(json.dumps(order).encode() + b"\n")
        except OSError as error:
            raise EngineError("the pocket's keeper has gone") from error

    # --- the paced clock

    @property
    def paced(self) -> Paced | None:
        """Itself on the paced clock, whose orders the other clocks cannot obey."""
        return self if self.clock is Clock.PACED else None

    def clock_status(self) -> dict[str, Any]:
        """The paced clock: now_s (network time), speed, paused, behind_s (wall seconds it has slowed down)."""
        return self._clock({"do": "status"})

    def set_speed(self, speed: float) -> dict[str, Any]:
        """Network seconds a wall second, 0.001 to 1000; inf is as fast as it goes. InputError for another."""
        return self._clock({"do": "set", "speed": speed})

    def pause(self) -> dict[str, Any]:
        """Stop time for every node."""
        return self._clock({"do": "set", "paused": True})

    def resume(self) -> dict[str, Any]:
        """Let time go on."""
        return self._clock({"do": "set", "paused": False})

    def step(self, seconds: float) -> dict[str, Any]:
        """Let this much network time pass, then be paused; InputError if it is nothing or more than 1,000,000 s."""
        return self._clock({"do": "step", "step_ns": _ns(seconds)})

    def until(self, time_s: float, speed: float = math.inf) -> dict[str, Any]:
        """Go to this network time at `speed`, then go on as before; InputError if it is over 1,000,000 s away."""
        target = _ns(time_s + self._ready_clock_s)
        return self._clock({"do": "until", "target_ns": target, "speed": speed})

    def _clock(self, order: dict[str, Any]) -> dict[str, Any]:
        if self.clock is not Clock.PACED:
            raise InputError(f"this network runs on the {self.clock.value} clock; only the paced clock can be set")
        with self._clock_asks, self._clock_changed:
            before = len(self._clock_answers)
            self._order(order)
            if not self._clock_changed.wait_for(lambda: len(self._clock_answers) > before or self._gone.is_set(), 10):
                raise EngineError("the pocket's keeper does not answer")
            if self._gone.is_set():
                raise EngineError("the network has ended")
            answer = self._clock_answers[-1]
            del self._clock_answers[:]
        if answer.get("refused"):
            raise InputError(answer["refused"])
        status = dict(answer["clock"])
        status["now_s"] = status.pop("now_ns") / 1e9 - self._ready_clock_s
        return status


def _filtered() -> bool:
    """Whether a container filters our system calls (proc_pid_status(5), Seccomp).

    What its filter denies is answered before it could be handed over by notification, as if the network had called the
    host: in seccomp(2) SECCOMP_RET_ERRNO goes before SECCOMP_RET_USER_NOTIF, and a signal, SECCOMP_RET_TRAP, before it.
    """
    with contextlib.suppress(OSError):
        return "\nSeccomp:\t2\n" in Path("/proc/self/status").read_text(encoding="utf-8")
    return False


def _has_distutils() -> bool:
    """Whether Python inside has a distutils of its own; from Python 3.12 on there is setuptools' alone (PEP 632)."""
    return Path(f"/usr/lib/{Path('/usr/bin/python3').resolve().name}/distutils").is_dir()


def virtual_environment() -> Path | None:
    """The virtual environment that this Python runs in, None if it runs in none (PEP 405)."""
    return None if sys.prefix == sys.base_prefix else Path(sys.prefix)


def _ns(seconds: float) -> int | None:
    """Whole nanoseconds; None for no time at all, which the keeper refuses."""
    return int(seconds * 1e9) if math.isfinite(seconds * 1e9) else None


def run_base() -> Path:
    """Where run directories lie: a folder without blanks in its path, since it goes onto a kernel command line."""
    folder = Path(tempfile.gettempdir())
    return folder if not any(c.isspace() for c in str(folder)) and os.access(folder, os.W_OK) else Path("/tmp")  # noqa: S108
