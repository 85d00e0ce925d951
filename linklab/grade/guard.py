# SPDX-License-Identifier: BSD-3-Clause
"""A process beside a grading process that ends its network where nobody there can look at what the network takes.

Threads look at that, and none runs while C code that reads what a stranger wrote, such as `re`, holds the interpreter's
lock; some of it takes a minute for a few kilobytes.  A thread tells the guard several times a second that it runs.
Counted is the grading process's own time between, so that a busy machine ends nothing.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

MOST_S = 4.0
"""Processor seconds of the grading process, of all its threads, without a word; honest work takes one at most."""
_LOOK_S = 0.5
_PROGRAM = """
import os, select, signal, sys, time

look_s, most_s = map(float, sys.argv[1:3])
handles, told = ([int(number) for number in text.split(",") if number] for text in sys.argv[3:5])
clock = ~os.getppid() << 3 | 2  # of a process, as clock_getcpuclockid(3) makes it
heard_s = time.clock_gettime(clock)
while True:
    ready, _, _ = select.select([0], [], [], look_s)
    try:
        used_s = time.clock_gettime(clock)
    except OSError:  # it has gone
        break
    if ready:
        if not os.read(0, 4096):
            break
        heard_s = used_s
    elif used_s - heard_s > most_s:
        os.write(1, b"!")
        for each in told:
            os.write(each, b"!")
        for each in handles:
            try:
                signal.pidfd_send_signal(each, signal.SIGKILL)
            except OSError:  # it has ended
                pass
        break
"""


class Guard:
    """One network's guard; to be left, also where it has ended the network."""

    def __init__(self, handles: Sequence[int] = (), told: Sequence[int] = (), *, most_s: float = MOST_S) -> None:
        """Start it.

        Args:
            handles: of processes (pidfd_open(2)) that are killed, with which all of the network ends.
            told: open files to which a byte is written, so that whoever reads there ends it.
            most_s: as MOST_S.

        Raises:
            OSError: it cannot be started.
        """
        listed = [",".join(map(str, each)) for each in (handles, told)]
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_LOOK_S), str(most_s), *listed]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[*handles, *told],
            start_new_session=True,
            cwd="/",
            env={},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            os.set_blocking(pipe.fileno(), False)
        self._fired = False

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def hear(self) -> bool:
        """Tell it that our threads run; False where it has gone."""
        try:
            with contextlib.suppress(BlockingIOError):
                os.write(self._in.fileno(), b".")
        except (OSError, ValueError):
            return False
        return True

    @property
    def fired(self) -> bool:
        """Whether it has ended the network."""
        if not self._fired:
            with contextlib.suppress(OSError, ValueError):
                self._fired = bool(os.read(self._out.fileno(), 1))
        return self._fired

    def close(self) -> None:
        """End it; the network is left as it is."""
        self._fired = self.fired
        self._in.close()
        self._process.wait()
        self._out.close()
