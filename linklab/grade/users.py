# SPDX-License-Identifier: BSD-3-Clause
"""Users for networks: numbers that nobody else has, and that no two networks have at once.

A number is ours by a lock on the byte of that number in a file of this account's on this machine, until this process
and those that it has forked have ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import struct
from pathlib import Path

from linklab.base import place
from linklab.base.processes import owners
from linklab.errors import EngineError

_NO_DISTRIBUTIONS = range(0x7000_0000, 0x7FFE_0000)
"""Numbers that no distribution assigns to anybody, nor systemd to a container (systemd.io/UIDS-GIDS)."""
FREE = range(20_000, 60_000)
"""Numbers in a namespace that has no more than 65,536; accounts get theirs from 1000 on, and few have so many."""
_NETWORKS = 2**8
_PACKED = "hhqqi4x"
"""struct flock (fcntl_locking(2)): type, whence, start, length, pid."""
_network = itertools.count()
_locks: dict[int, int] = {}
"""Process → its open file of locks; a forked process needs one of its own, or it would share its parent's locks."""


def take(among: range) -> int | None:
    """Take one of these numbers for this process; None if none of those that it may take is free.

    There are too few numbers for all processes that there may be: those of two whose own numbers differ by a million,
    or by 156 in a namespace of subordinate users, are the same.  So a number is locked, and one that still has a
    process is skipped: that may outlive who started it by some seconds.
    """
    busy = {owner for _, owner in owners()}
    mine = (among[(os.getpid() * _NETWORKS + next(_network) % _NETWORKS) % len(among)] for _ in range(_NETWORKS))
    return next((user for user in mine if user not in busy and _lock(user)), None)


def _lock(user: int) -> bool:
    """Lock a number; False if another process has it, True if files cannot be locked here."""
    with contextlib.suppress(OSError, EngineError):
        if os.getpid() not in _locks:
            _locks[os.getpid()] = os.open(
                place.of_account("users") / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        lock = struct.pack(_PACKED, fcntl.F_WRLCK, os.SEEK_SET, user, 1, 0)
        try:
            fcntl.fcntl(_locks[os.getpid()], fcntl.F_OFD_SETLK, lock)
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES, as POSIX has it
            return False
    return True


def numbers() -> range:
    """Numbers that this process, as root, may give; empty where it has but its own.

    Raises:
        OSError: there is no /proc.
    """
    return unused(*(Path(f"/proc/self/{kind}_map").read_text(encoding="utf-8") for kind in ("uid", "gid")))


def unused(*maps: str) -> range:
    """The numbers that all these maps contain and hardly any account uses; empty if there are fewer than 40,000.

    Format: user_namespaces(7).
    """
    found = [_NO_DISTRIBUTIONS, FREE]
    for text in maps:
        extents = [
            range(first, first + count) for first, _, count in (map(int, line.split()) for line in text.splitlines())
        ]
        found = [max((_common(one, each) for each in extents), key=len, default=range(0)) for one in found]
    return next((each for each in found if len(each) >= len(FREE)), range(0))


def _common(one: range, other: range) -> range:
    return range(max(one.start, other.start), min(one.stop, other.stop))
