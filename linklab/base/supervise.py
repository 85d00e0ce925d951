# SPDX-License-Identifier: BSD-3-Clause
"""Jobs → processes that do them, a few at once, and events: what began, what was told on the way, what came of each.

    with supervised(jobs, at_once=2) as events:
        for event in events: …

However the block is left, no process of it is left running.  A process that dies, hangs or raises is the outcome of
its job and not the end of the others; the caller decides what follows.  A job is drawn from `jobs` when there is room
for it, so that an iterator may prepare it as late as that.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from linklab.base.fork_server import ForkServer
from linklab.base.signals import TO_STOP, signals_wait
from linklab.base.worker import BrokenError, DiedError, Work, copied, fresh
from linklab.errors import DeadlineError, LinklabError

T = TypeVar("T")

GRACE_S = 20.0
"""Wall-clock seconds that a process has to end after its answer or after Ctrl+C; then it is killed."""


class OverdueError(DeadlineError):
    """The job was not done within its deadline, `after_s`, and its process was ended."""

    after_s = 0.0

    @classmethod
    def of(cls, after_s: float) -> OverdueError:
        """The error that says so."""
        found = cls(f"it took longer than {after_s:g} s and was ended")
        found.after_s = after_s
        return found


@dataclass(frozen=True)
class Job(Generic[T]):
    """One piece of work for a process of its own.

    Args:
        key: names the job in its events; unlike those of the others.
        work: called in the process, with a function that sends something on the way; what it returns is the result.
        deadline_s: wall-clock seconds from the start; None for as long as it takes.
        fresh: a new interpreter does it, which `work` reaches as a pickle; otherwise a copy of this process does.
            A program with threads cannot be copied safely, and a new one holds nothing of this one's memory.
        server: a copy that this server makes does it, and `fresh` says nothing: it holds no more of this process's
            memory than a new interpreter, and begins sooner; at its end nothing that is registered for that is called.
        folder: where it works; None where this process does, or for a server's copy the server.
        printed: file for its standard output and error, begun anew; None for those of this process.
    """

    key: int
    work: Work[T]
    deadline_s: float | None = None
    fresh: bool = False
    server: ForkServer | None = None
    folder: Path | None = None
    printed: Path | None = None


@dataclass(frozen=True)
class Began:
    """The process of a job was started, or could not be, which its end says."""

    key: int


@dataclass(frozen=True)
class Told:
    """A job sent something on the way."""

    key: int
    what: Any


@dataclass(frozen=True)
class Ended(Generic[T]):
    """The process of a job has ended.

    value: what the job returned; None where `error` says why there is nothing: the job's own LinklabError,
    BrokenError for any other exception, StoppedError for Ctrl+C, DiedError or OverdueError.
    wall_s: seconds from its start to its end.
    """

    key: int
    value: T | None
    error: LinklabError | None
    wall_s: float


Event: TypeAlias = "Began | Told | Ended[T]"


@contextlib.contextmanager
def supervised(
    jobs: Iterable[Job[T]], at_once: int, *, tick_s: float | None = None, grace_s: float = GRACE_S
) -> Iterator[Iterator[Event[T] | None]]:
    """Do the jobs, the first ones first; the iterator of their events is over when all have ended.

    Args:
        jobs: in the order in which they begin.
        at_once: how many processes run at most.
        tick_s: the iterator gives a None about this often, so that a display can go on; None for never.
        grace_s: how long a process may take to end, in wall-clock seconds.
    """
    supervisor = _Supervisor(iter(jobs), at_once, grace_s)
    try:
        yield supervisor.events(tick_s)
    finally:
        supervisor.end()


class _Supervisor(Generic[T]):
    """The processes of one call."""

    def __init__(self, jobs: Iterator[Job[T]], at_once: int, grace_s: float) -> None:
        self.jobs, self.at_once, self.grace_s = jobs, at_once, grace_s
        self.more = True
        self.running: list[_Watched[T]] = []

    def events(self, tick_s: float | None) -> Iterator[Event[T] | None]:
        """See `supervised`."""
        ticks_at = None if tick_s is None else time.monotonic() + tick_s
        while True:
            while self.more and len(self.running) < self.at_once:
                if (job := next(self.jobs, None)) is None:
                    self.more = False
                else:
                    failed = self._begin(job)
                    yield Began(job.key)
                    if failed is not None:
                        yield failed
            if not self.running:
                return
            moments = [each.until for each in self.running if each.until is not None]
            moments += [] if ticks_at is None else [ticks_at]
            _wait_for(self.running, min(moments, default=None))
            for each in list(self.running):
                ended = each.has_ended()  # first: what it has sent before its end is there to be read
                yield from each.told()
                if ended:
                    self.running.remove(each)
                    yield each.outcome()
                else:
                    each.keep_time()
            if tick_s is not None and ticks_at is not None and time.monotonic() >= ticks_at:
                ticks_at = time.monotonic() + tick_s
                yield None

    def _begin(self, job: Job[T]) -> Ended[T] | None:
        """Start its process; its end where that cannot be, for want of memory or of a place for its task."""
        try:
            with signals_wait():  # between its start and its place in the list a process would be nobody's
                self.running.append(_Watched(job, self.grace_s))
        except Exception as error:
            return Ended(job.key, None, BrokenError.of(error), 0.0)
        return None

    def end(self) -> None:
        """Ctrl+C to each that runs, so that it tears its network down; then by force. More signals wait until then."""
        with signals_wait(*TO_STOP):
            for each in self.running:
                each.interrupt()
            until = time.monotonic() + self.grace_s
            while self.running and time.monotonic() < until:
                _wait_for(self.running, until)
                self._let_go()
            for each in self.running:
                each.kill()
            while self.running:
                _wait_for(self.running, None)
                self._let_go()

    def _let_go(self) -> None:
        for each in [each for each in self.running if each.has_ended()]:
            for _ in each.told():  # nobody listens any more
                pass
            each.outcome()
            self.running.remove(each)


def _wait_for(watched: Sequence[_Watched[T]], until: float | None) -> None:
    timeout = None if until is None else max(0.0, until - time.monotonic())
    wait([channel for each in watched for channel in each.channels()], timeout)


class _Watched(Generic[T]):
    """A process from start to end."""

    def __init__(self, job: Job[T], grace_s: float) -> None:
        self.job, self.grace_s = job, grace_s
        self.began = time.monotonic()
        self.until = None if job.deadline_s is None else self.began + job.deadline_s
        self.answer: tuple[T | None, LinklabError | None] | None = None
        self.open = True
        start = job.server.start if job.server is not None else fresh if job.fresh else copied
        self.connection, self.process = start(job.work, job.folder, job.printed)
        try:
            self.pidfd = os.pidfd_open(self.process.pid)
        except OSError:  # for want of open files: nobody could watch it
            os.kill(self.process.pid, signal.SIGKILL)  # nobody has waited for it, so the number is still its own
            self.process.status()
            self.connection.close()
            raise

    def channels(self) -> list[Connection | int]:
        """What becomes readable when there is something to do."""
        return [self.connection, self.pidfd] if self.open else [self.pidfd]

    def told(self) -> Iterator[Told]:
        """What it has sent so far; its answer is kept."""
        try:
            while self.open and self.connection.poll():
                kind, what = self.connection.recv()
                if kind == "told":
                    yield Told(self.job.key, what)
                elif self.answer is None:
                    self._settle(*((what, None) if kind == "done" else (None, what)))
        except (EOFError, OSError):
            self.open = False
        except Exception as error:  # what cannot be read is no answer
            self.open = False
            self._settle(None, BrokenError.of(error))

    def _settle(self, value: T | None, error: LinklabError | None) -> None:
        """What came of it is known; now it has to end."""
        self.answer = (value, error)
        self.until = time.monotonic() + self.grace_s

    def keep_time(self) -> None:
        """Interrupt it where its deadline has passed, and kill it where it does not end then or after its answer."""
        if self.until is None or time.monotonic() < self.until:
            return
        if self.answer is None:
            self.interrupt()
            self._settle(None, OverdueError.of(self.job.deadline_s or 0.0))
        else:
            self.kill()
            self.until = None

    def has_ended(self) -> bool:
        """Whether the process has ended; `outcome` takes it away."""
        return bool(wait([self.pidfd], 0))

    def outcome(self) -> Ended[T]:
        """What came of it, once it has ended; what it left running in its process group ends here."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # while the group's number is still its own
            os.killpg(self.process.pid, signal.SIGKILL)
        status = self.process.status()
        os.close(self.pidfd)
        self.connection.close()
        value, error = self.answer or (None, DiedError.of(status))
        return Ended(self.job.key, value, error, time.monotonic() - self.began)

    def interrupt(self) -> None:
        """Ctrl+C."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End it by force."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, number)
