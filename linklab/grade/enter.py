# SPDX-License-Identifier: BSD-3-Clause
"""The last step into the sandbox: gives up the privileges that are left, then becomes the program that is confined.

A program of its own (`python3 -I -S enter.py SETTINGS PROGRAM ARGUMENT…`, standard library only), which bubblewrap
starts inside. SETTINGS are JSON: "filter", an open file with a program of classic BPF (`linklab.grade.syscalls`);
"user", a number or null; "limits", named as in `resource` without RLIMIT_. Bubblewrap could load the filter itself, but
the filter would then have to allow the calls that change the user; and a limit of processes that is set outside would
count everything that the person who grades is running. Source: seccomp(2), setpriv(1), user_namespaces(7).
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITIES = 64
_NO_CAPABILITIES = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
"""The two arguments of capset(2), version 3."""
_INSTRUCTION = 8
"""Bytes of a struct sock_filter."""


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
    for name, most in wanted["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    control(_PR_SET_NO_NEW_PRIVS, 1)
    with os.fdopen(wanted["filter"], "rb") as file:
        program = file.read()
    rules = _Program(len(program) // _INSTRUCTION, program)
    control(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(rules))
    os.execve(command[0], command, {})


if __name__ == "__main__":
    main(*sys.argv[1:])
