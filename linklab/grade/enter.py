# SPDX-License-Identifier: BSD-3-Clause
"""The last step into the sandbox: gives up the privileges that are left, then becomes the program that is confined.

A program of its own (`python3 -I -S enter.py SETTINGS PROGRAM ARGUMENT…`, standard library only), which bubblewrap
starts inside, and the grader itself in a platform's container. SETTINGS are JSON: "filter", an open file with a program
of classic BPF (`linklab.grade.syscalls`); "user", a number or null; "limits", named as in `resource` without RLIMIT_;
"processor", the number of the only one to run on, or null; "writable", files and folders beside which nothing can be
written, or null where the file systems see to that.
Bubblewrap could load the filter itself, but the filter would then have to allow the calls that change the user; and a
limit of processes that is set outside would count everything that the person who grades is running.
Source: seccomp(2), landlock(7), setpriv(1), user_namespaces(7).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import stat
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_PR_SET_THP_DISABLE = 41
"""No huge pages: of one that is given back but for a part, all stays taken, and counts as that part."""
_SECCOMP_MODE_FILTER = 2
_ADDR_NO_RANDOMIZE = 0x40000
"""personality(2); the pocket's kernel would set it and start itself again by /proc/self/exe, which is not there."""
_CAPABILITIES = 64
_NO_CAPABILITIES = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
"""The two arguments of capset(2), version 3."""
_INSTRUCTION = 8
"""Bytes of a struct sock_filter."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, which have these numbers on every processor."""
_ASK_VERSION, _PATH_BENEATH = 1, 1
_LEAST_LANDLOCK = 2
"""The version that can allow moving a file to another folder (Linux 5.19); the first one forbids it everywhere."""
_WRITE_FILE, _READ_FILE, _TRUNCATE = 1 << 1, 1 << 2, 1 << 14
_DEVICES = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""What can be read in /dev, beside what can be written; no terminals, of which a machine has one pool for all."""
_OF_PROC = ("/proc/cpuinfo",)
"""What can be read in /proc, as in bubblewrap's sandbox."""
_OF_FOLDERS = sum(1 << bit for bit in (*range(4, 13), 13))
"""Removing folders and files, making any kind of these, and moving them to another folder."""


class _Beneath(ctypes.Structure):
    """struct landlock_path_beneath_attr."""

    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def main(settings: str, *command: str) -> None:
    """Become the command.

    Raises:
        OSError: a privilege cannot be given up, or the command cannot be started.
    """
    wanted = json.loads(settings)
    libc = ctypes.CDLL(None, use_errno=True)

    def done(result: int) -> None:
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def control(option: int, *values: object) -> None:
        done(libc.prctl(option, *values, *[0] * (4 - len(values))))

    if wanted["user"] is not None:
        for capability in range(_CAPABILITIES):
            try:
                control(_PR_CAPBSET_DROP, capability)
            except OSError as error:
                if error.errno != errno.EINVAL:
                    raise
                break  # the kernel has no more of them
        os.setgroups([])
        os.setresgid(*[wanted["user"]] * 3)
        os.setresuid(*[wanted["user"]] * 3)  # with which all capabilities go but the inheritable (capabilities(7))
        done(libc.capset(*_NO_CAPABILITIES))
        control(_PR_SET_PDEATHSIG, signal.SIGKILL)  # which the change of user has taken away
    if wanted["processor"] is not None:
        with contextlib.suppress(OSError):  # the processor was taken from us meanwhile: run on those that are left
            os.sched_setaffinity(0, {wanted["processor"]})
    for name, most in wanted["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    libc.personality(_ADDR_NO_RANDOMIZE)  # where a container denies it, it denies it to the kernel, which goes on
    control(_PR_SET_THP_DISABLE, 1)
    control(_PR_SET_NO_NEW_PRIVS, 1)
    if wanted["writable"] is not None:
        confine_files(wanted["writable"], libc)
    with os.fdopen(wanted["filter"], "rb") as file:
        program = file.read()
    rules = _Program(len(program) // _INSTRUCTION, program)
    control(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(rules))
    os.execve(command[0], command, {})


def _landlock(libc: ctypes.CDLL) -> int:
    """Return the version of Landlock that can be used here, below 1 for none (landlock_create_ruleset(2))."""
    return int(libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def has_landlock(libc: ctypes.CDLL) -> bool:
    """Whether this kernel, and the container's filter, have what `confine_files` needs."""
    return _landlock(libc) >= _LEAST_LANDLOCK


def confine_files(places: Sequence[str], libc: ctypes.CDLL) -> None:
    """Let this process and its children write in these places alone, and read few devices, where there is Landlock.

    Without it, or with its first version, nothing changes.

    Raises:
        OSError: a place cannot be opened, or the kernel refuses.
    """
    version = _landlock(libc)
    if not has_landlock(libc):
        return

    def done(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result

    of_files = _WRITE_FILE | (_TRUNCATE if version > _LEAST_LANDLOCK else 0)
    handled = ctypes.c_uint64(of_files | _READ_FILE | _OF_FOLDERS)
    rules = done(libc.syscall(_CREATE_RULESET, ctypes.byref(handled), ctypes.sizeof(handled), 0))
    read = [f"/{name}" for name in os.listdir("/") if name not in ("dev", "proc")]  # noqa: PTH208 - pathlib is slow
    rights = dict.fromkeys((*read, *_DEVICES, *_OF_PROC), _READ_FILE) | dict.fromkeys(
        places, of_files | _READ_FILE | _OF_FOLDERS
    )
    for place, allowed in rights.items():
        try:
            number = os.open(place, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # such as a link to where this user may not look: what cannot be reached needs no rule
            if place in places:
                raise
            continue
        mask = ~0 if stat.S_ISDIR(os.fstat(number).st_mode) else ~_OF_FOLDERS
        done(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_Beneath(allowed & mask, number)), 0))
        os.close(number)
    done(libc.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


if __name__ == "__main__":
    main(*sys.argv[1:])
