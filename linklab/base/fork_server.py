# SPDX-License-Identifier: BSD-3-Clause
"""Workers that begin as copies of one interpreter, which has done once what each of them needs, such as imports.

    with fork_server(prepare) as server, supervised([Job(1, work, server=server)], 1) as events: …

The server is a program of its own, `python -m linklab.base.fork_server CONTROL PARENT`, that has no threads and holds
nothing of the process that asks for copies: their tasks go past it, in files that only the copy reads.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from linklab.base.signals import signals_wait
from linklab.base.worker import Process, Task, Work, live, settle_in

Prepare = Callable[[], None]

_START, _WAIT = b"s", b"w"
_NUMBER = struct.Struct("=q")
_ANSWERS_S, _ENDS_S = 60.0, 10.0
"""Wall-clock seconds after which a server that has not answered, or ended, is replaced, or killed."""
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Else importing numpy would start threads, of which a copy has none (fork(2))."""


@dataclass(frozen=True)
class _Copy:
    server: ForkServer
    control: socket.socket
    pid: int

    def status(self) -> int:
        return self.server.wait(self.control, self.pid)


class ForkServer:
    """The server, from outside; where it has died, another one takes its place.

    Its copies are interrupted with it, as by Ctrl+C: they would not hear of the end of the process that asked for them.

    prepare: called in it once, and reached as a pickle; what it raises is left to the copies, which need the same.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._one_asks = threading.Lock()
        self._control = socket.socket()  # leads to nobody, where no process can be had yet
        self._process: subprocess.Popen[bytes] | None = None
        with contextlib.suppress(OSError):
            self._begin()

    def _begin(self) -> None:
        control, theirs = socket.socketpair()
        command = [sys.executable, "-m", "linklab.base.fork_server", str(theirs.fileno()), str(os.getpid())]
        with contextlib.ExitStack() as stack:
            stack.callback(control.close)
            stack.callback(theirs.close)
            task = stack.enter_context(tempfile.TemporaryFile())
            pickle.dump(self._prepare, task)
            task.seek(0)
            self._process = subprocess.Popen(
                command,
                cwd=Path(__file__).resolve().parents[2],  # `-m` puts this folder first on the module path: ours
                env={**os.environ, **_ONE_THREAD},
                stdin=task,
                pass_fds=[theirs.fileno()],
            )
            stack.pop_all()
        theirs.close()
        control.settimeout(_ANSWERS_S)
        self._control.close()
        self._control = control

    def start(self, work: Work[Any], folder: Path | None, printed: Path | None) -> tuple[Connection, Process]:
        """Start a copy, to which `work` goes as a pickle; the channel on which it answers, and the process.

        Raises:
            OSError: no process can be had.
        """
        ours, theirs = Pipe(duplex=False)
        with contextlib.ExitStack() as stack, contextlib.ExitStack() as unless_begun:
            stack.callback(theirs.close)
            unless_begun.callback(ours.close)
            task = stack.enter_context(tempfile.TemporaryFile())
            pickle.dump((work, folder), task)
            task.seek(0)
            fds = [theirs.fileno(), task.fileno()]
            if printed is not None:
                fds.append(stack.enter_context(printed.open("wb")).fileno())
            with self._one_asks:
                try:
                    pid = self._ask(_START, fds)
                except OSError:
                    self._end()
                    self._begin()
                    pid = self._ask(_START, fds)
                control = self._control
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
            unless_begun.pop_all()
        return ours, _Copy(self, control, pid)

    def wait(self, control: socket.socket, pid: int) -> int:
        """Wait for the end of a copy; its exit code, below 0 for a signal.

        Where the server that began it, which `control` leads to, has died, nobody knows it any more: -SIGKILL.
        """
        with self._one_asks:
            if control is not self._control:
                return -signal.SIGKILL
            try:
                return self._ask(_WAIT + _NUMBER.pack(pid), [])
            except OSError:
                return -signal.SIGKILL

    def _ask(self, request: bytes, fds: list[int]) -> int:
        socket.send_fds(self._control, [request], fds)
        answer = self._control.recv(_NUMBER.size, socket.MSG_WAITALL)
        if len(answer) < _NUMBER.size:
            raise ConnectionResetError
        return int(_NUMBER.unpack(answer)[0])

    def close(self) -> None:
        """End it."""
        with self._one_asks:
            self._end()

    def _end(self) -> None:
        self._control.close()
        if self._process is None:
            return
        try:
            self._process.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def fork_server(prepare: Prepare) -> Iterator[ForkServer]:
    """A server, which ends with the block; its copies have ended before."""
    with signals_wait():  # between its start and here it would be nobody's
        server = ForkServer(prepare)
    try:
        yield server
    finally:
        server.close()


# --- in the server


def _main(control: socket.socket, parent: int) -> None:
    with contextlib.suppress(KeyboardInterrupt):  # the parent was killed
        if settle_in(parent):
            with contextlib.suppress(Exception):
                pickle.load(sys.stdin.buffer)()  # noqa: S301 - our parent wrote it
            _serve(control)
    os._exit(0)  # to take its modules apart would take Python half a second


def _serve(control: socket.socket) -> None:
    """Start copies until nobody asks for one any more."""
    server = os.getpid()
    while True:
        request, fds, _, _ = socket.recv_fds(control, 1 + _NUMBER.size, 3)
        if not request:
            return
        if request[:1] == _WAIT:
            _, status = os.waitpid(_NUMBER.unpack(request[1:])[0], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            try:
                answer = os.fork()
                if answer == 0:
                    control.close()
                    _as_copy(server, *fds)
            except OSError as error:
                answer = -(error.errno or 1)
            for fd in fds:
                os.close(fd)
        control.sendall(_NUMBER.pack(answer))


def _as_copy(server: int, channel: int, task: int, *printed: int) -> NoReturn:
    """The life of a copy, which ends here whatever happens."""

    def read() -> Task:
        with os.fdopen(task, "rb") as file:
            found: Task = pickle.load(file)  # noqa: S301 - the server's parent wrote it
        return found

    status = 1
    try:
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        for fd in printed:
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            os.close(fd)
        live(server, Connection(channel, readable=False), read)
        status = 0
    except BaseException:  # nothing may go on from here
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
