# SPDX-License-Identifier: BSD-3-Clause
"""The programs of a trial: forked, held when loaded, let go together, asked to end.

A child costs what a program costs that was typed in a terminal of its node, though the runner itself is free: the
kernel frees a process, not those that it forks (kernel/README.md). What a child does before it is let go lies before
the test. Each program is the leader of a session of its own, so Ctrl+C reaches the runner alone, and all that it
started can be found (`linklab.agent.trial_keeper`).
"""

from __future__ import annotations

import mmap
import os
import re
import signal
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from linklab.agent.own_kernel import PARAMETERS
from linklab.agent.trial_keeper import Sessions
from linklab.agent.trial_nodes import NodeError, Nodes
from linklab.agent.trial_plan import Program
from linklab.linux import children, held
from linklab.linux.kernelcalls import die_with_parent

TAIL_BYTES = 4096
_LOT = struct.Struct("=Q")
_IPERF3_ERROR = re.compile(r'"error":\s*"((?:[^"\\]|\\.)*)"')


@dataclass
class Child:
    """A program and what became of it; times of the kernel's monotonic clock.

    loaded: whether it waits at its first instruction. lot: the place of the number that it drew.
    asked: the signals by which it was asked to end.
    """

    program: Program
    pid: int = 0
    loaded: bool = False
    lot: int = 0
    started_ns: int | None = None
    ended_ns: int | None = None
    status: int | None = None
    why: str = ""
    asked: list[signal.Signals] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """Whether there is a process."""
        return self.pid != 0 and self.ended_ns is None

    @property
    def over(self) -> bool:
        """Whether nothing more is to come of it."""
        return self.ended_ns is not None


class Programs:
    """All children of a trial."""

    def __init__(self, nodes: Nodes, out: Path, sessions: Sessions, most: int) -> None:
        """`most` programs in all."""
        self.nodes, self.out, self.sessions = nodes, out, sessions
        self.lots = mmap.mmap(-1, _LOT.size * (most + 1))
        self.by_lot = by_lot()
        self.children: dict[int, Child] = {}
        self.count = 0
        self.us = os.getpid()
        self.slack_ns = held.timer_slack(1)

    def start(self, program: Program, *, hold: bool = False, prints_to: int | None = None) -> Child:
        """Fork a program, to be held or to run now; what it prints goes to its files, or to an open file.

        A program that cannot be there is over at once, with the reason.
        """
        child = Child(program, lot=self.count)
        self.count += 1
        try:
            node = self.nodes[program.node]
        except NodeError as error:
            child.ended_ns, child.why = time.monotonic_ns(), str(error)
            return child

        def become() -> None:  # pragma: no cover - the child
            self._as_in_a_terminal()
            self._say_to(program, prints_to)
            if hold and self.by_lot:
                _LOT.pack_into(self.lots, child.lot * _LOT.size, *_LOT.unpack(os.urandom(_LOT.size)))
            node.enter()
            if program.cwd:
                os.chdir(program.cwd)
            if hold:
                held.hold_me()
            children.become(program.argv, {**os.environ, **program.env})

        child.pid = os.fork()
        if child.pid == 0:  # pragma: no cover - the child
            children.live(become)
        if not hold:
            child.started_ns = time.monotonic_ns()
        self.sessions.add(child.pid)
        self.children[child.pid] = child
        return child

    def _as_in_a_terminal(self) -> None:  # pragma: no cover - in the child
        die_with_parent()
        if os.getppid() != self.us:
            raise OSError("the runner has gone")
        os.setsid()
        held.timer_slack(self.slack_ns)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):  # which Python ignores or handles
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def _say_to(self, program: Program, prints_to: int | None) -> None:  # pragma: no cover - in the child
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if prints_to is not None:
            os.dup2(prints_to, 1)
            os.dup2(prints_to, 2)
            return
        for number, suffix in ((1, "out"), (2, "err")):
            path = self.out / f"{program.id}.{suffix}"
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), number)

    def notice(self) -> list[Child]:
        """Take notice of the children that are loaded now or have ended; those that have ended."""
        ended: list[Child] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return ended
            if pid == 0:
                return ended
            child = self.children.get(pid)
            if child is None:  # an orphan of a program's
                continue
            if os.WIFSTOPPED(status):
                child.loaded = child.started_ns is None
                continue
            child.ended_ns = time.monotonic_ns()
            child.status = os.waitstatus_to_exitcode(status)
            child.why = self._why(child)
            ended.append(child)

    def release(self, those: Sequence[Child]) -> None:
        """Let loaded programs run at one instant; in an order by lot, where this kernel knows chance.

        Which of those that may run in the same instant runs first is chance on any machine, and so on this one; else
        the first of a plan would always be the first to send.
        """
        waiting = [child for child in those if child.loaded and child.runs]
        if self.by_lot:
            waiting.sort(key=lambda child: _LOT.unpack_from(self.lots, child.lot * _LOT.size))
        with held.undisturbed():
            for child in waiting:
                with suppress(ProcessLookupError):
                    held.let_go(child.pid)
                child.started_ns = time.monotonic_ns()
        for child in waiting:
            child.loaded = False

    def ask_to_end(self, child: Child, how: signal.Signals) -> None:
        """Send a signal to a program and its children; one that has not begun is ended without being asked."""
        if not child.runs:
            return
        child.asked.append(how)
        number = signal.SIGKILL if child.started_ns is None else how
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)  # it may not lead its session yet

    def _why(self, child: Child) -> str:
        """Why the outcome of a program that has ended is not as it should be, as a sentence; "" where it is."""
        if child.started_ns is None and child.asked:
            return child.why or "the test ended before it was to start"
        if signal.SIGKILL in child.asked:
            return "it did not end when asked by SIGINT and SIGTERM, and was killed"
        if child.asked or child.why:
            return child.why
        files = [self.out / f"{child.program.id}.{suffix}" for suffix in ("err", "out")]
        if not child.status:  # iperf3 3.12 -J says that it failed nowhere else
            return iperf3_error(files[1]) if Path(child.program.argv[0]).name == "iperf3" else ""
        said = last_line(files[0]) or iperf3_error(files[1])
        how = f"ended by signal {-child.status}" if child.status < 0 else f"exit status {child.status}"
        return f"{how}: {said}" if said else how


def by_lot() -> bool:
    """Whether this kernel lets processes that are woken together run in another order each time."""
    wake = PARAMETERS / "wake_ns"
    return wake.exists() and "," in wake.read_text(encoding="ascii")


def last_line(path: Path) -> str:
    """The last line of a file in which anything stands."""
    lines = [line for line in _tail(path).splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def iperf3_error(path: Path) -> str:
    """The "error" in iperf3's JSON, "" where there is none."""
    found = _IPERF3_ERROR.search(_tail(path))
    return found[1] if found else ""


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read().decode(errors="replace")
    except OSError:
        return ""
