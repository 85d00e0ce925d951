# SPDX-License-Identifier: BSD-3-Clause
"""A process beside a grading process that looks at its network while nobody there can.

Threads of the grading process look.  None runs while C code that reads what a stranger wrote, such as `re`, holds the
interpreter's lock, some of which takes minutes for a few kilobytes, and each waits for that lock at every file of
/proc while Python computes.  They tell the guard of each look, and where it hears of none, it looks itself and ends
what takes too much.

A program of its own as well (`python3 -I -S guard.py SETTINGS`, standard library and `base` only): see `_Watch`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from linklab.base import kernel_memory, open_files
from linklab.base.processes import owners
from linklab.base.processor_time import Family, taken_by
from linklab.grade.looks import CROWDED, Bounds

WAKE_S = 0.5
"""Wall-clock seconds between two wakes of a guard, and between two words that threads run."""
RUNS, PROCESSES, FILES = b"r", b"p", b"f"
"""Words to a guard: that threads run, and that a look at processes, or at what they hold, has ended."""
REST = 10
"""How many times as long as the processor time of a look takes the rest after it is."""
_SILENT = 2
"""Wakes of a guard in a row without a word on a look, from which on it looks."""
_HELD_UP, _STANDS_STILL_S = 20, 0.001
"""Wakes after which a look is held up that has used less processor time than that meanwhile."""
_MOST_SAID = 4096
_GRACE_S = 2.0


class NetworkGuard:
    """The guard of one network; to be closed, also where it has ended the network."""

    def __init__(
        self,
        bounds: Bounds,
        *,
        keeper: int | None = None,
        user: int | None = None,
        handles: Sequence[int] = (),
        told: Sequence[int] = (),
        silent: int | None = None,
    ) -> None:
        """Start it.

        Args:
            bounds: what it ends the network for.
            keeper: process whose family is the network; None where all processes of `user` are.
            user: number of the network's user.
            handles: of processes (pidfd_open(2)) that are killed, with which all of the network ends.
            told: open files to which a byte is written; the processes that read them end the network.
            silent: wakes in a row without a word that threads run after which it ends the network, whatever that
                takes; None for never.

        Raises:
            OSError: it cannot be started.
        """
        settings: dict[str, Any] = {"bounds": asdict(bounds), "keeper": keeper, "user": user, "silent": silent}
        settings |= {"handles": list(handles), "told": list(told)}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, json.dumps(settings)],
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
        self._said = ""
        self._open = threading.Lock()  # the pipes are used, or closed

    def __enter__(self) -> NetworkGuard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tell(self, word: bytes) -> bool:
        """Tell it RUNS, PROCESSES, or FILES; False where it has gone."""
        with self._open:
            try:
                with contextlib.suppress(BlockingIOError):  # it has not read yet what it was told
                    os.write(self._in.fileno(), word)
            except (OSError, ValueError):  # ValueError: `close` was called
                return False
        return True

    @property
    def said(self) -> str:
        """Why it has ended the network; "" if it has not."""
        with self._open:
            if not self._said:
                with contextlib.suppress(OSError, ValueError):
                    self._said = os.read(self._out.fileno(), _MOST_SAID).decode()
            return self._said

    def close(self) -> None:
        """End it; the network is left as it is."""
        self._said = self.said
        with self._open:
            self._in.close()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:  # it looks at what holds it up
            self._process.kill()
            self._process.wait()
        with self._open:
            self._out.close()


class _Watch:
    """What a guard does: hears, and looks where it hears nothing."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.bounds = Bounds(**settings["bounds"])
        self.user: int | None = settings["user"] if settings["keeper"] is None else None
        self.family = Family(settings["keeper"] or 0)
        self.silent: int | None = settings["silent"]
        self.handles: list[int] = settings["handles"]
        self.told: list[int] = settings["told"]
        self.crowded = self.held_up = 0
        self.used_s = self.rests_until_s = 0.0
        self.why = ""
        self.looking: threading.Thread | None = None
        self.heard: set[bytes] = set()
        self.lock = threading.Lock()

    def serve(self) -> None:
        """Until the grading process closes our input or ends, or the network has been ended."""
        threading.Thread(target=self._hear, daemon=True).start()
        wakes = dict.fromkeys((RUNS, PROCESSES, FILES), 0)
        while not self.why:
            time.sleep(WAKE_S)
            with self.lock:
                heard, self.heard = self.heard, set()
            wakes = {word: 0 if word in heard else count + 1 for word, count in wakes.items()}
            if self.silent is not None and wakes[RUNS] > self.silent:
                self.why = "the network was not looked at while what it said was read, and was stopped"
            elif self.looking is not None and self.looking.is_alive():
                if self._is_held_up(self.looking):
                    self.why = "the network kept itself from being looked at, and was stopped"
            elif max(wakes[PROCESSES], wakes[FILES]) < _SILENT:
                self.crowded = 0
            elif time.monotonic() > self.rests_until_s:
                self.looking, self.held_up, self.used_s = threading.Thread(target=self._look, daemon=True), 0, 0.0
                self.looking.start()
        self._end()

    def _is_held_up(self, looking: threading.Thread) -> bool:
        """Whether a look goes on and computes nothing; on a busy machine it computes slowly."""
        assert looking.ident is not None
        try:
            used_s = time.clock_gettime(time.pthread_getcpuclockid(looking.ident))
        except OSError:  # it has just ended
            return False
        self.held_up = self.held_up + 1 if used_s - self.used_s < _STANDS_STILL_S else 0
        self.used_s = used_s
        return self.held_up >= _HELD_UP

    def _hear(self) -> None:
        while words := os.read(0, _MOST_SAID):
            with self.lock:
                self.heard |= {words[at : at + 1] for at in range(len(words))}
        os._exit(0)

    def _look(self) -> None:
        begun_s = time.thread_time()
        try:
            self.why = self.why or self._excess()
        except OSError as error:
            self.why = f"what the network takes cannot be counted ({error.strerror}), and it was stopped"
        self.rests_until_s = time.monotonic() + REST * (time.thread_time() - begun_s)

    def _excess(self) -> str:
        if self.user is None:
            members = self.family.look()
            pids = [each.pid for each in members]
            found, held = self.family.taken(), open_files.count(Family(self.family.pid), self.bounds.held)
            inside = (each.pid for each in members if each.parent == self.family.pid)
            sockets = max(map(kernel_memory.sockets, inside), default=0)  # of the namespace below bubblewrap outside
        else:
            pids = [pid for pid, owner in owners() if owner == self.user]
            found, held, sockets = taken_by(pids), 0, 0
        self.crowded = self.crowded + 1 if found.busy > self.bounds.busy else 0
        return (
            self.bounds.excess(found, found.processor_s)
            or (self.bounds.crowd() if self.crowded >= CROWDED else "")
            or self.bounds.excess_in_kernel(sum(map(kernel_memory.table_bytes, pids)), sockets)
            or self.bounds.excess_of_files(held)
        )

    def _end(self) -> None:
        """End the network, having said why."""
        with contextlib.suppress(OSError):
            os.write(1, self.why.encode())
        for each in self.handles:
            with contextlib.suppress(OSError):  # it has ended, or takes no signals of ours and ends with the keeper
                signal.pidfd_send_signal(each, signal.SIGKILL)
        for each in self.told:
            with contextlib.suppress(OSError):
                os.write(each, b"!")


if __name__ == "__main__":
    _Watch(json.loads(sys.argv[1])).serve()
