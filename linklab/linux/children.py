# SPDX-License-Identifier: BSD-3-Clause
"""What a forked child does, from the fork to its end.

After fork(2) both processes stand at the same place in the program, so an exception that left the child's part would
make it a second agent or warden, reading the same channel as the first. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

FAILED = 126
"""Exit status of a child that could not do its work, as a shell's for a command that cannot be run."""


def live(work: Callable[[], object]) -> NoReturn:
    """Do the child's work, usually an exec, and end the process whatever happens.

    An exception is said on standard error, as one sentence, and makes the exit status FAILED; else it is 0.
    """
    status = FAILED
    try:
        work()
        status = 0
    except SystemExit as leave:
        status = leave.code if isinstance(leave.code, int) else 0
    except BaseException as error:  # nothing may go on from here
        with contextlib.suppress(OSError):
            os.write(2, f"linklab: {reason(error)}\n".encode(errors="replace"))
    finally:
        os._exit(status)


def become(command: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Become another program, found by PATH; OSError that names it if it cannot be run."""
    try:
        os.execvpe(command[0], list(command), env)
    except OSError as error:
        raise OSError(error.errno, error.strerror, command[0]) from error


def reason(error: BaseException) -> str:
    """An exception as a person may read it: "mnexec: No such file or directory", "ValueError: no such number"."""
    if isinstance(error, OSError) and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__}: {error}"
