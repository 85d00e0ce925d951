# SPDX-License-Identifier: BSD-3-Clause
"""One process of `linklab.base.supervise`: how it starts, and its life: settle in, do the work, say what came of it.

It is a copy of the process that supervises, has an interpreter of its own (`linklab.base.fresh`), or is a copy of one
that was prepared for it (`linklab.base.fork_server`).
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import IO, Any, Protocol, TypeAlias, TypeVar

from linklab.base.text import one_line
from linklab.errors import LinklabError

T = TypeVar("T")
Tell: TypeAlias = Callable[[Any], None]
"""Sends something that can be pickled to the process that supervises."""
Work: TypeAlias = Callable[[Tell], T]

PR_SET_PDEATHSIG = 1


class WorkerError(LinklabError):
    """A process of ours did not do its work; no fault of what it worked on."""

    exit_code = 3


class BrokenError(WorkerError):
    """An exception that is no LinklabError: a fault of ours. trace: as Python prints it."""

    trace = ""

    @classmethod
    def of(cls, error: Exception) -> BrokenError:
        """The error that says so in a line."""
        found = cls(f"{type(error).__name__}: {one_line(str(error))}")
        found.trace = "".join(traceback.format_exception(error))
        return found


class StoppedError(WorkerError):
    """The process was stopped with Ctrl+C, by its supervisor."""


class DiedError(WorkerError):
    """The process ended without an answer; how: "signal SIGKILL" or "exit code 3"."""

    how = ""

    @classmethod
    def of(cls, status: int) -> DiedError:
        """The error for an exit status as `subprocess` gives it, below 0 for a signal."""
        named = {number.value: number.name for number in signal.Signals}
        how = f"signal {named.get(-status, -status)}" if status < 0 else f"exit code {status}"
        found = cls(f"its process ended without a word ({how})")
        found.how = how
        return found


# --- how it starts


class Process(Protocol):
    """What the two kinds of process have in common."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def status(self) -> int:
        """Wait for its end; the exit code, below 0 for a signal."""
        ...


@dataclass(frozen=True)
class _Copy:
    process: BaseProcess
    pid: int

    def status(self) -> int:
        self.process.join()
        assert self.process.exitcode is not None
        return self.process.exitcode


@dataclass(frozen=True)
class _Program:
    process: subprocess.Popen[bytes]
    pid: int

    def status(self) -> int:
        return self.process.wait()


def copied(work: Work[Any], folder: Path | None, printed: Path | None) -> tuple[Connection, Process]:
    """Start a copy of this process; the channel on which it answers."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_in_copy, args=(os.getpid(), (ours, theirs), (work, folder), printed))
    try:
        process.start()
    finally:
        theirs.close()
    assert process.pid is not None
    return ours, _Copy(process, process.pid)


def fresh(work: Work[Any], folder: Path | None, printed: Path | None) -> tuple[Connection, Process]:
    """Start a new interpreter, to which `work` goes as a pickle; the channel on which it answers."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    command = [sys.executable, "-m", "linklab.base.fresh", str(theirs.fileno()), str(os.getpid())]
    with contextlib.ExitStack() as stack:
        stack.callback(theirs.close)
        task = stack.enter_context(tempfile.TemporaryFile())
        pickle.dump((work, folder), task)
        task.seek(0)
        output: IO[bytes] | None = stack.enter_context(printed.open("wb")) if printed is not None else None
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).resolve().parents[2],  # `-m` puts this folder first on the module path: ours
            stdin=task,
            stdout=output,
            stderr=output,
            pass_fds=[theirs.fileno()],
        )
    return ours, _Program(process, process.pid)


# --- its life

Task: TypeAlias = "tuple[Work[Any], Path | None]"
"""What it does, and where."""


def settle_in(parent: int) -> bool:
    """Take Ctrl+C from the parent alone, and end when the parent is killed; the first thing that such a process does.

    Returns:
        Whether the parent still lives.
    """
    os.setpgid(0, 0)  # Ctrl+C in the terminal is for the parent, which passes it on once
    signal.signal(signal.SIGINT, _interrupt_once())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)  # prctl(2)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    return os.getppid() == parent


def _interrupt_once() -> Callable[[int, FrameType | None], None]:
    """A handler under which the first Ctrl+C interrupts and the others leave the teardown alone.

    There are others: the kernel signals again for each thread of a killed parent that dies after the one that began us.
    """
    heard = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal heard
        first, heard = not heard, True
        if first:
            raise KeyboardInterrupt

    return interrupt


def _in_copy(parent: int, pipe: tuple[Connection, Connection], task: Task, printed: Path | None) -> None:
    theirs, channel = pipe
    theirs.close()
    if printed is not None:
        with printed.open("wb") as file:
            for descriptor in (1, 2):
                os.dup2(file.fileno(), descriptor)
    live(parent, channel, lambda: task)


def live(parent: int, channel: Connection, task: Callable[[], Task]) -> None:
    """Do the task and send what comes of it: ("told", …) on the way, then ("done", result) or ("failed", error)."""
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # stopped while it says so, or the parent has gone
        answer: tuple[str, Any]
        try:
            if not settle_in(parent):
                return
            work, folder = task()
            if folder is not None:
                os.chdir(folder)
            answer = ("done", work(lambda what: channel.send(("told", what))))
        except KeyboardInterrupt:
            answer = ("failed", StoppedError("stopped with Ctrl+C"))
        except LinklabError as error:
            answer = ("failed", error)
        except Exception as error:  # the parent says it, and the others go on
            answer = ("failed", BrokenError.of(error))
        try:
            channel.send(answer)
        except BrokenPipeError:
            raise
        except Exception as error:  # what cannot be pickled
            channel.send(("failed", BrokenError.of(error)))
