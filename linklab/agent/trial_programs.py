# SPDX-License-Identifier: BSD-3-Clause
"""The programs of a trial: forked, held when loaded, let go together, asked to end.

A child costs what a program costs that was typed in a terminal of its node, though the runner itself is free: the
kernel frees a process, not those that it forks (kernel/README.md). What a child does before it is let go lies before
the test. Each program is the leader of a session of its own, so Ctrl+C reaches the runner alone, and all that it
started can be found (`linklab.agent.trial_keeper`).
"""

from __future__ import annotations

import os
import re
import resource
import signal
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from linklab.agent import own_kernel
from linklab.agent.trial_keeper import Sessions
from linklab.agent.trial_nodes import NodeError, Nodes
from linklab.agent.trial_plan import PlannedProgram
from linklab.linux import children, held
from linklab.native import find

TAIL_BYTES = 4096
NOT_RUN = (126, 127)
"""What a shell ends with that cannot become a program."""
SHELL = "/bin/sh"
DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCHLD)
"""Signals that Python, or who started it (nohup(1)), ignores or handles, and a program in a terminal does not."""
PRELOADED = ("iperf3_wait", "iperf3_tos")
"""Shared objects of ours for iperf3; the second is for servers that mark what they send."""
_IPERF3_ERROR = re.compile(r'"error":\s*"((?:[^"\\]|\\.)*)"')


@dataclass
class Child:
    """A program and what became of it; times of the kernel's monotonic clock.

    hold: whether it is let go by `Programs.release` alone. loaded: whether it waits at its first instruction.
    lot: its place among those that are let go together. asked: the signals by which it was asked to end.
    """

    program: PlannedProgram
    hold: bool = False
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

    def __init__(self, nodes: Nodes, out: Path, sessions: Sessions) -> None:
        self.nodes, self.out, self.sessions = nodes, out, sessions
        self.children: dict[int, Child] = {}
        self.files = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.slack_ns = held.timer_slack(1)

    def start(self, program: PlannedProgram, *, hold: bool = False, prints_to: int | None = None) -> Child:
        """Start a program, to be held when it is loaded, or to run on; what it prints goes to its files, or to a file.

        A program that cannot be there is over at once, with the reason.
        """
        child = Child(program, hold=hold)
        try:
            self._start(child, prints_to)
        except (NodeError, OSError) as error:
            child.ended_ns, child.why = (
                time.monotonic_ns(),
                children.reason(error) if isinstance(error, OSError) else str(error),
            )
        return child

    def _start(self, child: Child, prints_to: int | None) -> None:
        program = child.program
        node = self.nodes[program.node]
        with ExitStack() as stack:
            out, err = (prints_to, prints_to) if prints_to is not None else self._files(program, stack)
            null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, null)
            folder: str | int = ""
            if program.in_out:
                folder = os.open(self.out, os.O_PATH | os.O_CLOEXEC)
                stack.callback(os.close, folder)
            stack.enter_context(node.entered(folder))
            stack.enter_context(self._as_in_a_terminal())
            child.pid = os.posix_spawn(
                SHELL,
                ["sh", "-c", held.HOLD, program.argv[0], *program.argv],
                {**os.environ, **_preloaded(program), **program.env},
                file_actions=[(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate((null, out, err))],
                setsid=True,
                setsigmask=(),
                setsigdef=(*DEFAULT,),
            )
        self.sessions.add(child.pid)
        self.children[child.pid] = child
        node.share_processor(child.pid)

    def _files(self, program: PlannedProgram, stack: ExitStack) -> list[int]:
        files = []
        for suffix in ("out", "err"):
            path = self.out / f"{program.id}.{suffix}"
            files.append(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666))
            stack.callback(os.close, files[-1])
        return files

    @contextmanager
    def _as_in_a_terminal(self) -> Iterator[None]:
        """Within this block what is started has the usual timers and as many files as where we were started."""
        held.timer_slack(self.slack_ns)
        files = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, self.files)
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, files)
            held.timer_slack(1)

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
                if child.started_ns is None and held.stopped(pid, status):
                    self._loaded(child)
                continue
            child.ended_ns = time.monotonic_ns()
            child.status = os.waitstatus_to_exitcode(status)
            child.why = self._why(child)
            ended.append(child)

    def _loaded(self, child: Child) -> None:
        child.loaded = True
        if not child.hold:
            self.release([child])

    def draw_lots(self, those: Sequence[Child]) -> None:
        """Decide the order in which programs of one start are let go: by lot, where this kernel knows chance.

        Which of those that may run in the same instant runs first is chance on any machine, and so on this one; else
        the first of a plan would always be the first to send.
        """
        drawn = own_kernel.not_ours(8 * len(those)) if by_lot() else bytes(8 * len(those))
        for child, (lot,) in zip(those, struct.iter_unpack("=Q", drawn), strict=True):
            child.lot = lot

    def release(self, those: Sequence[Child]) -> None:
        """Let loaded programs run, in the order of their lots: at one instant if we are `held.undisturbed`."""
        waiting = [child for child in those if child.loaded and child.runs]
        waiting.sort(key=lambda child: child.lot)
        for child in waiting:
            with suppress(ProcessLookupError):
                held.let_go(child.pid)
            child.started_ns = time.monotonic_ns()
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
            os.kill(child.pid, number)

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
        if child.started_ns is None and child.status in NOT_RUN:
            return f"{child.program.argv[0]} could not be started: {last_line(files[0]).rpartition(': ')[2]}"
        said = last_line(files[0]) or iperf3_error(files[1])
        how = f"ended by signal {-child.status}" if child.status < 0 else f"exit status {child.status}"
        return f"{how}: {said}" if said else how


def _preloaded(program: PlannedProgram) -> dict[str, str]:
    """What has an iperf3 wait with a pause, and a server mark what it sends if it is told so; {} for other programs."""
    if Path(program.argv[0]).name != "iperf3":
        return {}
    names = PRELOADED if "IPERF3_TOS" in program.env else PRELOADED[:1]
    paths = [str(path) for path in map(find, names) if path is not None]
    return {"LD_PRELOAD": ":".join(paths)} if paths else {}


def by_lot() -> bool:
    """Whether this kernel lets processes that are woken together run in another order each time."""
    wake = own_kernel.PARAMETERS / "wake_ns"
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
