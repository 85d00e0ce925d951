# SPDX-License-Identifier: BSD-3-Clause
"""Pockets for what strangers wrote: the keeper, and with it the kernel and all inside, runs under bubblewrap.

`SandboxEngine` stands wherever a `PocketEngine` does.  Inside are programs (/usr), some of /etc, the package without
the clone around it, and one file system in memory for all that is written; no network, process or environment of ours.
What the kernel and the keeper say is not believed.  Why each part is there: docs/architecture.md, The sandbox.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from linklab import pocket_kernel
from linklab.base import kernel_memory, open_files
from linklab.base.processes import children
from linklab.base.processor_time import LOOKING, Family, Taken
from linklab.base.signals import signals_wait
from linklab.base.text import visible
from linklab.engine.api import Completed, Computed, Typed
from linklab.engine.failures import of_oserror
from linklab.engine.pocket import Places, PocketEngine, PocketNetwork
from linklab.errors import BootError, EngineError, MissingError, OverusedError, ShortageError
from linklab.grade.bubblewrap import (
    CODE,
    KERNEL,
    MEMORY,
    POCKET,
    PYTHON,
    RUN,
    VENV,
    another_user,
    explain,
    packages,
    sandbox,
    settings,
    why_not,
)
from linklab.grade.exchange import CameOut, Exchange
from linklab.grade.guard import FILES, PROCESSES, REST, RUNS, WAKE_S, NetworkGuard
from linklab.grade.hearsay import MOST_CONSOLE, answers, believing_nothing, built, keepers_word, times
from linklab.grade.limits import HANG_S, IDLE_S, LAB_S, MOST_HELD, Limits
from linklab.grade.looks import CROWDED, Bounds
from linklab.grade.their_folder import IN_ITS_PLACE, OF_THE_GRADER
from linklab.topology import Topology

_LEAST_S = 10.0
"""Processor time, s, of a network also where the others have used all: it is set up and measured in some five.

Else a submission whose networks use nearly all of theirs would end where the next one is set up, as an error of ours.
"""
_MOST_OVER_S = 60.0
"""What such networks may take together; an exercise has six of them, and a lab as many as its progress says."""
_FOLDERS = 2
_LOOK_S = 0.25
"""The least time between two looks."""
_LOOK_WITHIN, _STANDS_STILL_S = 20, 0.001
"""Wakes, of half a second, after which a look is held up that has used less processor time than that meanwhile."""
_IDLE = 0.02
"""Share of a processor below which a network does not compute, but waits for what does not come."""
_ORDERLY_S = 1.0
"""Wall-clock seconds that a network has to end by itself when it has taken too much."""
_FILES_EVERY = 2
"""Looks, of which one counts open files."""
_LEAST_PID_MAX = 301
"""The least that Linux accepts (kernel/pid.c)."""
_SHELLS_KILLED = 128
"""What bubblewrap adds to the number of the signal that ended its program."""
_REFUSED = (
    "made a system call that the grader's sandbox does not allow, as one from a newer system may: grade a file by "
    "`strace -f -e trace=none -e signal=SIGSYS -o calls linklab grade …`; the file calls names it as si_syscall in the "
    "line before `killed by SIGSYS`, and a report of it is welcome"
)


class SandboxEngine(PocketEngine):
    """Starts networks in pocket kernels that reach nothing else of this machine.

    own_users: whether a network is started only as a user of its own.
    """

    def __init__(self, limits: Limits | None = None, *, own_users: bool = False) -> None:
        self.limits = limits or Limits()
        self.own_users = own_users
        self._networks: list[SandboxNetwork] = []
        self._came_out = CameOut()
        super().__init__(self.limits.memory_mib)

    def check(self) -> None:
        """MissingError, with the cure, where there is no kernel, no bubblewrap, or no right to use it."""
        pocket_kernel.require()
        if why := why_not():
            raise MissingError(why)

    def within(self, processor_s: float) -> SandboxEngine:
        """The same, whose networks may take at most that much processor time, in seconds, of what both have left."""
        found = copy.copy(self)
        found.limits = replace(self.limits, processor_s=min(processor_s, self.limits.processor_s))
        return found

    def for_a_lab(self) -> SandboxEngine:
        """The same for a lab: more processor time, and each network begins with the folder that the last one left."""
        found = copy.copy(self)
        found._came_out = replace(self._came_out, left={})
        found.limits = replace(self.limits, processor_s=LAB_S, total_s=LAB_S)
        return found

    def left_s(self) -> float:
        """Processor time that the next network may take, in seconds.

        Raises:
            OverusedError: there is no next one, because those before it took far more than all together may.
        """
        left_s = self.limits.total_s - sum(network.used_s() for network in self._networks)
        if left_s < -_MOST_OVER_S:
            raise OverusedError(f"the networks took more than {self.limits.total_s:g} s of processor time together")
        return min(self.limits.processor_s, max(_LEAST_S, left_s))

    def _network(self, **options: Any) -> PocketNetwork:
        user = another_user()
        if user is None and self.own_users:
            raise MissingError("no user of its own could be given to a network, though there was one before: try again")
        return self._noted(SandboxNetwork(replace(self.limits, processor_s=self.left_s()), user, **options))

    def _noted(self, network: SandboxNetwork) -> SandboxNetwork:
        """The network, which from here on counts for what all together may take."""
        network.came_out = self._came_out
        self._networks.append(network)
        return network


@contextlib.contextmanager
def _open_handle(pid: int) -> Iterator[int]:
    """A handle of a process of ours that has not been waited for (pidfd_open(2))."""
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def patience(deadline_s: float, began_s: float, used_s: Callable[[], float]) -> Iterator[float]:
    """How long to wait for an answer, bit by bit, so that a busy machine decides nothing.

    Until the network has used as much processor time as the deadline has seconds, or did next to nothing for a bit.
    Its limits hold all the same.

    Args:
        deadline_s: of the request.
        began_s: processor time of the network, in seconds, at the last look before the request.
        used_s: gives what it is now.

    Yields:
        Seconds to wait on.
    """
    seen_s, wait_s = began_s, min(deadline_s, IDLE_S)
    while wait_s > 0:
        yield wait_s
        now_s = used_s()
        if now_s - seen_s < _IDLE * wait_s:
            return
        seen_s, wait_s = now_s, min(IDLE_S, deadline_s - (now_s - began_s))


class SandboxNetwork(PocketNetwork):
    """A network in the sandbox; its working folder is copied in before what is typed and out after it.

    user: number of the user that all inside runs as, None for our own.
    """

    own_disk = True  # nobody else's files are where its own lie
    build_within_s = HANG_S  # what a drawing costs is counted in processor time
    largest_message = 16 * 2**20
    most_values = 2**19  # while Python reads them, which takes some 0.3 s at worst, no limit is looked at

    def __init__(self, limits: Limits, user: int | None, **options: Any) -> None:
        super().__init__(**options)
        self.limits = replace(limits, memory_mib=self.memory_mib)
        self.user = user
        self._began = time.monotonic()
        self._used_s = 0.0
        self._idle_s = 0.0  # wall-clock time of requests in which next to nothing was done, and not answered
        self._crowded = 0  # looks up to now in which too many computed
        self._looking_at = 0  # number of the look at its processes, from 1, that goes on; 0 for none
        self._looks_clock = 0  # of the thread that looks
        self._at_look = threading.Lock()
        self._heard_s = 0.0  # processor time of ours that hearing the keeper has taken
        self._carried_s = 0.0  # the same of carrying files
        self._shared: list[int] = []  # open folders: of work and memory
        self._inits: list[int] = []  # handles of the first process inside, with which all others end
        self._handles = threading.Lock()
        self._guard: NetworkGuard | None = None
        self.came_out = CameOut()
        self._exchange: Exchange | None = None
        self._exchanges = threading.Lock()
        self._sharing = threading.Lock()  # apart from that: to carry files may take seconds, in which limits hold too

    # --- start and end

    def boot(self) -> None:
        """Start the kernel in the sandbox."""
        try:
            super().boot()
        except BootError as error:
            said = self._complaint()
            if said.startswith("bwrap:"):
                raise MissingError(explain(said, settings())) from None
            if -signal.SIGSYS in (self.exit_code, self._keeper.poll()):
                raise BootError(f"the pocket kernel {_REFUSED}") from None
            if self._keeper.poll() == _SHELLS_KILLED + signal.SIGSYS:
                raise BootError(f"the keeper of the pocket kernel {_REFUSED}") from None
            raise error from None
        self.link.patience = self._patience
        with contextlib.suppress(ProcessLookupError):
            self._inits += map(os.pidfd_open, children(self.keeper_pid))
        try:
            self._guard = self._guarded()
        except OSError as error:
            raise of_oserror("starting its guard", error) from error
        if len(self._shared) != _FOLDERS:
            raise BootError("the sandbox did not hand its folders over")
        self._exchange = self._exchanged(self._shared[0])
        # two threads, since to look at folders may take as long as they are held up
        for excess, word in ((self._excess, PROCESSES), (self._excess_of_files, FILES)):
            threading.Thread(target=self._watch, args=(excess, word), name="sandbox", daemon=True).start()
        threading.Thread(target=self._watch_looks, name="looks", daemon=True).start()

    def _guarded(self) -> NetworkGuard:
        """The guard of the network, which has just begun."""
        with _open_handle(self.keeper_pid) as keeper:
            return NetworkGuard(self._bounds, keeper=self.keeper_pid, handles=[*self._inits, keeper])

    @property
    def _bounds(self) -> Bounds:
        about = self.limits
        return Bounds(
            processor_s=about.processor_s,
            own_mib=about.own_mib,
            processes=about.processes,
            busy=about.busy,
            tables_mib=about.tables_mib,
            sockets=about.sockets,
            held=MOST_HELD,
        )

    def _patience(self, deadline_s: float) -> Iterator[float]:
        """As `patience`; notes for how long nothing was done meanwhile."""
        before_s = self._used_s
        for wait_s in patience(deadline_s, before_s, self.used_s):
            yield wait_s
            if self._used_s - before_s < _IDLE * wait_s:
                self._idle_s += wait_s
            before_s = self._used_s

    def build(self, topology: Topology | None, *, display: bool = False) -> None:
        """Have the agent build the network; no windows."""
        with self._carrying(), believing_nothing():
            super().build(topology, display=False)
            built(self.nodes, self.failed_commands, self.environment["tools"], self._ready_clock_s)

    def close(self) -> None:
        """End it, and all that is inside with it; at once, since nothing of it is wanted any more.

        In an orderly end each process inside is ended by the kernel there, which takes a tenth of a network's time.
        Neither Ctrl+C nor the end of our own processor time breaks this off.
        """
        with signals_wait(signal.SIGPROF):
            self._end()

    def _end(self) -> None:
        if self._hello.is_set() and not self._gone.is_set():
            with contextlib.suppress(OSError):  # for want of open files
                self.used_s()
        try:
            self._kill()
            super().close()
        finally:
            self._let_go()

    def _kill(self) -> None:
        """End all inside at once."""
        with self._handles:
            for init in self._inits:
                with contextlib.suppress(OSError):  # it has ended, or takes no signals of ours and ends with the keeper
                    signal.pidfd_send_signal(init, signal.SIGKILL)

    def _let_go(self) -> None:
        """Wait until all inside has ended, also where the keeper ended before, and close what is open of it.

        Raises:
            EngineError: it does not end.
        """
        stay = 0
        if self._guard is not None:
            self._guard.close()
        with self._handles:
            inits, self._inits = self._inits, []
        for init in inits:  # each has ended when all in its namespace have (pid_namespaces(7))
            ended = select.poll()
            ended.register(init, select.POLLIN)
            stay += not ended.poll(HANG_S * 1000)  # to take a hundred full lists of mappings apart takes 15 s
            os.close(init)
        if hasattr(self, "_keeper") and self._keeper.stderr is not None:
            self._keeper.stderr.close()
        with self._exchanges:
            if self._exchange is not None:
                with contextlib.suppress(OSError):
                    self._exchange.end()
            self._exchange = None
        with self._sharing:
            while self._shared:
                os.close(self._shared.pop())
        if stay:
            raise EngineError("what ran in the sandbox does not end")

    def _places(self) -> Places:
        return Places(
            python=PYTHON,
            code=CODE,
            kernel=KERNEL,
            work=POCKET / "lab",
            memory=MEMORY,
            run_base=POCKET,
            known_as=RUN,
            venv=VENV if packages() is not None else None,
            owner=(os.geteuid(), os.getegid()) if self.user is None else (self.user, self.user),
            share=True,
            # those that were set before the filter was loaded, but for the one that the filter lets nobody set
            limits={name: most for name, most in self.limits.of_a_process().items() if name != "CORE"},
        )

    def _start_keeper(self, argv: list[str], fds: list[int]) -> subprocess.Popen[bytes]:
        with sandbox(self.kernel.path, self.limits, self.user, self.processor) as (command, more):
            return subprocess.Popen(
                [*command, *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a file of ours could be opened inside, by /proc/N/fd; a pipe holds little
                stderr=subprocess.PIPE,
                pass_fds=[*fds, *more],
                start_new_session=True,
                env={},
            )

    def _config(self, places: Places) -> dict[str, Any]:
        """Without a processor to choose: the sandbox has been given one, and nothing in it can take another."""
        return {**super()._config(places), "cpu": None}

    def _files(self) -> dict[str, str]:
        most = max(_LEAST_PID_MAX, self.limits.of_a_process()["NPROC"])  # our own hard limit may be lower
        return {**super()._files(), "/proc/sys/kernel/pid_max": str(most)}

    def _complaint(self) -> str:
        """What bubblewrap said, once it has ended."""
        pipe = self._keeper.stderr
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(1)
        if pipe is None or pipe.closed or self._keeper.poll() is None:
            return ""
        os.set_blocking(pipe.fileno(), False)
        with contextlib.suppress(OSError):
            return os.read(pipe.fileno(), MOST_CONSOLE).decode(errors="replace").strip()
        return ""

    def _keeper_says(self) -> Iterator[dict[str, Any]]:
        """Messages from inside, where somebody else may speak by now: no path of theirs is ours to remove."""
        buffer = b""
        expected = _FOLDERS
        while True:
            self._heard_s = time.thread_time()
            data, fds, _, _ = socket.recv_fds(self._control, MOST_CONSOLE, _FOLDERS)
            for number in fds:
                if expected:
                    self._shared.append(number)
                    expected -= 1
                else:
                    os.close(number)
            if not data or len(buffer) > MOST_CONSOLE:
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                yield from keepers_word(line)

    # --- limits

    def used_s(self) -> float:
        """Processor time that it has used, in seconds; after its end, what it had used when it was looked at last.

        The machine's kernel counts it nowhere else: of a process space that ends, no time goes to whoever waits for it.
        """
        self._look()
        return self._used_s

    def _look(self) -> Taken:
        found = self._taken() if hasattr(self, "_keeper") and not self._gone.is_set() else Taken()
        self._used_s = max(self._used_s, found.processor_s)
        return found

    def _taken(self) -> Taken:
        """By all processes inside; one that has lost its parent is adopted by bubblewrap, and so stays below it."""
        return self._family.taken()

    def _watch(self, excess: Callable[[int], str], word: bytes) -> None:
        """End the network when it has taken too much, as `excess` says with the number of each look.

        word: with which the guard is told of each look.
        """
        look_s = 0.0  # thousands of processes that only wait would take half an hour of ours
        for number in itertools.count():
            if self._gone.wait(_LOOK_S if self._crowded else max(_LOOK_S, REST * look_s)):
                self._kill()  # what has ended the keeper may go on, and nobody would look at it
                return
            began_s = time.thread_time()
            whose: type[EngineError] = OverusedError
            try:
                with LOOKING.counting():
                    why = excess(number)
                if not why and self._idle_s > IDLE_S:
                    why, whose = f"the network did nothing for {self._idle_s:g} s and was stopped", EngineError
            except OSError as error:  # this thread holds every limit, and must not end by what is done inside
                why = f"what the network takes cannot be counted ({error.strerror}), and it was stopped"
                whose = ShortageError if error.errno in OF_THE_GRADER else OverusedError
            except MemoryError:  # what is read has taken all of this process's; the guard looks, since it hears nothing
                continue
            if why:
                self._stop(why, whose)
                return
            if not self._tell_guard(word):
                return
            look_s = time.thread_time() - began_s

    def _watch_looks(self) -> None:
        """End the network when its processes cannot be looked at, since somebody holds what that needs, as of /proc.

        Then a look goes on and computes nothing; on a busy machine it computes slowly.  Counted are wakes of this
        thread, so that a machine or a grader that stood still ends nothing.
        """
        at, since_s, wakes = 0, 0.0, 0
        while not self._gone.wait(WAKE_S):
            if not self._tell_guard(RUNS):
                return
            with self._at_look:  # so that the thread whose time is read is there
                now, used_s = self._looking_at, time.clock_gettime(self._looks_clock) if self._looking_at else 0.0
            if now and now == at and used_s - since_s < _STANDS_STILL_S:
                wakes += 1
            else:
                at, since_s, wakes = now, used_s, 0
            if wakes >= _LOOK_WITHIN:
                self._stop("the network kept itself from being looked at, and was stopped", OverusedError)
                return

    def _tell_guard(self, word: bytes) -> bool:
        """Tell the guard something; where it has gone, end the network, and say why if it has ended that itself."""
        if self._guard is None or self._guard.tell(word):
            return True
        said = self._guard.said
        if not self._gone.is_set() or said:  # else it was closed with the network
            self._stop(said or "the guard of the network has gone", OverusedError if said else ShortageError)
        return False

    def _keeper_gone(self, run_dir: str | None) -> None:
        if self._guard is not None and self._guard.said:
            self.link.end(self._guard.said, OverusedError)
        super()._keeper_gone(run_dir)

    def _stop(self, why: str, whose: type[EngineError]) -> None:
        """End the network for that reason."""
        self.link.end(why, whose)
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        if not self._gone.wait(_ORDERLY_S):  # who has left the pocket's kernel may have stopped the keeper
            self._kill()

    def _excess(self, number: int) -> str:
        """Why the network must be stopped for what its processes take, by a look; "" if it may go on.

        Raises:
            OSError: it cannot be looked at.
        """
        limits = self.limits
        with self._at_look:
            self._looking_at, self._looks_clock = number + 1, time.pthread_getcpuclockid(threading.get_ident())
        try:
            found = self._look()
        finally:
            with self._at_look:
                self._looking_at = 0
        self._crowded = self._crowded + 1 if found.busy > limits.busy else 0
        heard_s = self.link.taken_s + self._heard_s
        limited = (
            (heard_s > limits.heard_s, f"said more than the grader reads in {limits.heard_s:g} s"),
            (time.monotonic() - self._began > limits.wall_s, f"ran longer than {limits.wall_s:g} s"),
        )
        if why := self._bounds.excess(found, self._used_s):
            return why
        if why := next((why for over, why in limited if over), ""):
            return f"the network {why} and was stopped"
        if self._crowded >= CROWDED:
            return self._bounds.crowd()
        if self.came_out.full:
            return self._too_much_came_out()
        if self._carried_s > limits.carried_s:
            why = f"copying the network's files took more than {limits.carried_s:g} s of processor time"
            return f"{why}, and the network was stopped"
        return ""

    def _excess_of_files(self, number: int) -> str:
        """The same of what it writes and holds open.

        Raises:
            OSError: it cannot be looked at.
        """
        why = ""
        if number % _FILES_EVERY == 0:
            why = self._bounds.excess_of_files(self._open_files()) or self._excess_in_kernel()
        over = self._overfull() if not why else ""
        return why or (f"{over}, and the network was stopped" if over else "")

    @cached_property
    def _family(self) -> Family:
        """All processes inside, looked at for what they take."""
        return Family(self.keeper_pid)

    @cached_property
    def _holders(self) -> Family:
        """The same, looked at less often for what they hold open."""
        return Family(self.keeper_pid)

    def holds_many_files(self) -> bool:
        """hostfs keeps one of the machine's open for each name that it knows, such as after `find /`."""
        held = open_files.count(Family(self.keeper_pid), MOST_HELD)
        return held > self.limits.of_a_process()["NOFILE"] // 2

    def _open_files(self) -> int:
        """Open files of all processes inside."""
        return open_files.count(self._holders, MOST_HELD)

    def _excess_in_kernel(self) -> str:
        """Why it has too much memory of the machine's kernel, most of which is charged to no process; "" if not."""
        return self._bounds.excess_in_kernel(*self._in_kernel())

    def _in_kernel(self) -> tuple[int, int]:
        """Bytes of tables, and the number of sockets; these are of the namespace below bubblewrap outside."""
        found = Family(self.keeper_pid).look()
        tables = sum(kernel_memory.table_bytes(each.pid) for each in found)
        inside = [each.pid for each in found if each.parent == self.keeper_pid]
        return tables, max(map(kernel_memory.sockets, inside), default=0)

    def _exchanged(self, work: int) -> Exchange:
        """What carries files between our working folder and theirs, an open folder."""
        return Exchange(self.workdir, work, self.limits.room, self.user, self.came_out, own_disk=self.own_disk)

    def _overfull(self) -> str:
        """Why it has made too many files, "" if it has not."""
        with self._sharing:
            found = list(map(os.fstatvfs, self._shared))
        over = sum(about.f_files - about.f_ffree for about in found) > self.limits.files
        return f"more than {self.limits.files} files were made inside" if over else ""

    # --- typing

    def run(self, actions: Sequence[Typed], **options: Any) -> list[Completed]:
        """Type all actions; see `Network.run`."""
        with self._carrying(), believing_nothing():
            return answers(super().run(actions, **options), len(actions))

    def _one(self, op: str, terminal: str, deadline_s: float, what: str, **more: float | None) -> Completed:
        with self._carrying(), believing_nothing():
            return answers([super()._one(op, terminal, deadline_s, what, **more)], 1)[0]

    def now_s(self) -> float:
        """Network time."""
        with believing_nothing():
            return times(super().now_s())[0]

    def computed(self) -> list[Computed]:
        """See `Network.computed`."""
        with believing_nothing():
            found = super().computed()
            times(*(each.from_s for each in found), *(each.lasted_s for each in found))
            return [replace(each, program=str(each.program)) for each in found]

    def state_text(self) -> str:
        """See `Network.state_text`."""
        with believing_nothing():
            return super().state_text()

    @contextlib.contextmanager
    def _carrying(self) -> Iterator[None]:
        """Files come in before and out after, also where the network does not answer.

        Raises:
            OverusedError: more was written than a submission may write, and not all of it came out; or a folder or a
                link was put in the place of a file of ours.
            ShortageError: our side has no room for what came out, or cannot bring a file in.
        """
        with self._exchanges, self._counting():
            if self._exchange is not None:
                try:
                    for name in self._exchange.push():
                        sys.stderr.write(f"the network's folder does not take {visible(name)}\n")
                except OSError as error:
                    found = OverusedError if error.errno in IN_ITS_PLACE else ShortageError
                    raise found(f"no file can be brought into the network: {error.strerror}") from error
        try:
            yield
        except BaseException:
            with contextlib.suppress(EngineError):  # the first error says more
                self._carry_out()
            raise
        self._carry_out()

    def _carry_out(self) -> None:
        with self._exchanges, self._counting():
            if self._exchange is not None:
                try:
                    self._exchange.pull()
                except OSError as error:
                    raise ShortageError(f"what the network wrote cannot be kept: {error.strerror}") from error
        if self.came_out.full:
            raise OverusedError(self._too_much_came_out())

    def _too_much_came_out(self) -> str:
        return f"more than {self.limits.room.written >> 20} MiB came out of the networks, and the network was stopped"

    @contextlib.contextmanager
    def _counting(self) -> Iterator[None]:
        """What this thread takes meanwhile is for carrying files."""
        began_s = time.thread_time()
        try:
            yield
        finally:
            self._carried_s += time.thread_time() - began_s
