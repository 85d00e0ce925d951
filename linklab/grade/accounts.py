# SPDX-License-Identifier: BSD-3-Clause
"""Users that a container gives away: commands run as one of them, their processes, their open files, and their end.

For root in a container, where each network's commands are those of a user of its own (`linklab.grade.container`).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from linklab.base import open_files
from linklab.base.processes import ended_first, owners
from linklab.engine.bytecode import PACKAGE
from linklab.errors import EngineError, MissingError
from linklab.grade.bubblewrap import PYTHON
from linklab.grade.limits import HANG_S, MOST_HELD, Limits
from linklab.grade.syscalls import program

FIRST_USER, USERS = 61_000, 100
"""Numbers of users that no distribution gives away (Debian Policy 9.2.2: 60000 to 64999 are reserved, unused here)."""
EVERY_USER = range(FIRST_USER, FIRST_USER + USERS)
ENTER = PACKAGE / "grade/enter.py"
BLOCK = 512
"""Bytes of what stat(2) counts in st_blocks."""
_LOOK = """
for path; do
    { test -r "$path" || { test -d "$path" && test -x "$path"; }; } && printf "%s\\0" "$path"
done
true
"""
"""A folder that can be entered shows what lies in it to everybody who knows its name."""
_STATE, _THREADS = 0, 17
"""Places of fields 3 and 20 of a process's stat behind its name."""
_DEAD = ("Z", "X")
_KILLS = (
    "import os, sys; user, other = map(int, sys.argv[1:]); os.setresgid(other, other, other); "
    "os.setresuid(other, user, other); os.kill(-1, 9)"
)
"""What ends all processes of a user at once; its real number is another's, so that they cannot stop it (kill(2))."""
_KILLS_LATER = f"import sys; sys.stdin.buffer.read(1); {_KILLS}"
_KILLER, _LOOKER = FIRST_USER - 1, FIRST_USER - 2
_KILLS_S, _LOOK_S = 5.0, 60.0


@contextlib.contextmanager
def as_user(
    user: int, limits: Limits, writable: Sequence[Path] = (), processor: int | None = None
) -> Iterator[tuple[list[str], list[int]]]:
    """The command that runs another one as a user without any privilege nor a way to one, and the files it inherits.

    Args:
        user: its number.
        limits: of each process.
        writable: the only files and folders that can be written, beside /dev/null.
        processor: number of the only one that it runs on; None for all of ours.
    """
    number = program()
    places = [*map(str, writable), os.devnull]
    settings = {"filter": number, "user": user, "limits": limits.of_a_process()}
    settings |= {"processor": processor, "writable": places}
    try:
        yield [*ended_first(), PYTHON, "-I", "-S", str(ENTER), json.dumps(settings)], [number]
    finally:
        os.close(number)


def readable(paths: Sequence[Path]) -> list[Path]:
    """Those that the student's commands could read; MissingError if they cannot be started."""
    asked = [str(path.resolve()) for path in paths]
    with as_user(_LOOKER, Limits()) as (command, more):  # whom no network has, so that what is left hinders nothing
        look = [*command, "/bin/sh", "-c", _LOOK, "sh", *asked]
        try:
            done = subprocess.run(
                look, capture_output=True, text=True, check=False, cwd="/", pass_fds=more, env={}, timeout=_LOOK_S
            )
        except subprocess.TimeoutExpired as error:
            raise MissingError(f"a command that was run as another user did not end within {_LOOK_S:g} s") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise MissingError(f"no command can be run as another user here: {said[-1]}")
    found = set(done.stdout.split("\0"))
    return [path for path, name in zip(paths, asked, strict=True) if name in found]


def end_all(user: int) -> None:
    """Kill every process of a user, also those that are started meanwhile.

    Raises:
        EngineError: some do not end.
    """
    until = time.monotonic() + HANG_S  # to take a hundred full lists of mappings apart takes 15 s
    while mine := processes(user):
        if time.monotonic() > until:
            raise EngineError(f"{len(mine)} processes of the student's commands (user {user}) do not end")
        # one call for all, since what starts others is faster than who ends one after the other (kill(2), -1)
        try:
            killer = [PYTHON, "-I", "-S", "-c", _KILLS, str(user), str(_KILLER)]
            subprocess.run(killer, stderr=subprocess.DEVNULL, check=False, timeout=_KILLS_S)
        except (subprocess.TimeoutExpired, OSError):  # they have all processes that this container may
            for pid in mine:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def killer(user: int) -> subprocess.Popen[bytes]:
    """A process of ours that ends all of a user's at a byte on its standard input, or its end, as where we have ended.

    It needs neither a look at /proc nor a program to be started, both of which they can hold up.
    """
    command = [PYTHON, "-I", "-S", "-c", _KILLS_LATER, str(user), str(_KILLER)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", env={})


def processes(user: int) -> list[int]:
    """Those that run; one that is dead and has not been waited for does no harm."""
    return [pid for pid, owner in owners() if owner == user and _is_running(pid)]


def _is_running(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return _runs(Path(f"/proc/{pid}/stat").read_text(encoding="latin-1"))
    return False


def _runs(about: str) -> bool:
    """Whether a process is not dead, by its stat, in which its name may hold anything.

    Where the first thread has ended and others go on, its state is that of a dead one too (proc_pid_stat(5)).
    """
    fields = about.rpartition(")")[2].split()
    return fields[_STATE] not in _DEAD or int(fields[_THREADS]) > 1


def deleted(user: int) -> tuple[dict[tuple[int, int], int], bool]:
    """Device and number → bytes of each deleted file that a process of that user still has open; whether all were seen.

    /proc/N/fd opens to the same user alone, or to a right that containers do not have (proc_pid_fd(5), ptrace(2)), so
    this thread takes the user's number for what it does with files, and is root with it for nothing else (setfsuid(2)).
    It must not be the main thread: the kernel clears a thread's PR_SET_PDEATHSIG when that number changes, and grading
    would outlive a grader that is killed.  Processes may share one table of files, in each of which it is looked at
    again.
    """
    pids, libc = processes(user), ctypes.CDLL(None)
    found: dict[tuple[int, int], int] = {}
    libc.setfsgid(user)
    libc.setfsuid(user)
    try:
        for count, path in enumerate(chain.from_iterable(map(open_files.paths, pids))):
            if count == MOST_HELD:
                return found, False
            with contextlib.suppress(OSError):
                about = os.stat(path)  # noqa: PTH116 - for thousands of files, four times a second
                if stat.S_ISREG(about.st_mode) and about.st_nlink == 0:
                    found[about.st_dev, about.st_ino] = about.st_blocks * BLOCK
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)
    return found, True
