# SPDX-License-Identifier: BSD-3-Clause
"""What the machine refused when a pocket was to start (errno(3)) → one sentence with the cure."""

from __future__ import annotations

import errno
import os

from linklab.errors import BootError, LinklabError, MissingError

_FULL = "free space or files there (df -h and df -i show both), or set TMPDIR to a folder with room"
_BUSY = "close other programs, or raise the limits of processes and memory (ulimit -u, ulimit -v)"
_DENIED = "a sandbox or a container denies it: run outside, or with the container's default seccomp profile"

_CURES = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: "set TMPDIR to a folder that can be written",
    errno.EMFILE: "raise the limit of open files (ulimit -n 4096)",
    errno.ENFILE: "close other programs: the whole machine has too many files open (sysctl fs.file-max)",
    errno.ENOMEM: _BUSY,
    errno.EAGAIN: _BUSY,
    errno.EPERM: _DENIED,
    errno.EACCES: _DENIED,
    errno.ENOSYS: _DENIED,
}


def start_failure(doing: str, number: int | None, why: str, file: str | None = None) -> LinklabError:
    """The error, to be raised, where a pocket could not start.

    Args:
        doing: what was being done, such as "starting the kernel".
        number: errno, where there is one.
        why: its words.
        file: the file that it is about.

    Returns:
        MissingError where there is no room, else BootError.
    """
    cure = _CURES.get(number or 0, "")
    if file is not None and number in (errno.EPERM, errno.EACCES):
        cure = f"you need the right to use {file}; TMPDIR and LINKLAB_TMP name other folders"
    sentence = f"the pocket could not start: {doing}: {f'{file}: ' if file else ''}{why}{f'; {cure}' if cure else ''}"
    return (MissingError if number in (errno.ENOSPC, errno.EDQUOT) else BootError)(sentence)


def of_oserror(doing: str, error: OSError) -> LinklabError:
    """The same for an error of this process."""
    file = None if error.filename is None else os.fsdecode(error.filename)
    return start_failure(doing, error.errno, error.strerror or str(error), file)
