# SPDX-License-Identifier: BSD-3-Clause
"""Users to give away without being root: one's subordinate ones, which /etc/subuid and /etc/subgid name.

A process that has entered a user namespace of them is root there, and can start each network as another user, as root
does.  That process is still its user's own for everything outside, and gains no right over what other accounts have.
unshare(1) makes the namespace, with the help of newuidmap(1), which alone may set more than one's own number.
Source: subuid(5), user_namespaces(7), setns(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator

from linklab.base.place import keep_user
from linklab.base.text import one_line

_CLONE_NEWUSER = 0x10000000
_MAKE = ("unshare", "--user", "--map-root-user", "--map-auto", "--", "/bin/sh", "-c", "echo; read _")
_MAKE_S = 20.0
_PROGRAMS = {"unshare": "util-linux", "newuidmap": "uidmap", "newgidmap": "uidmap"}
"""What has to be installed, with Debian's package."""


def enter() -> str:
    """Make this process, which must have no other thread, root of a namespace of one's subordinate users.

    What the process starts keeps its user's home, and may be as many processes as that user's hard limit says.

    Returns:
        Why it is not, "" if it is; then it is still who it was.
    """
    if os.geteuid() == 0:
        return "root needs no subordinate users"
    for name, package in _PROGRAMS.items():
        if shutil.which(name) is None:
            return f"{name} is not installed: sudo apt-get install {package}"
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names alone
        return "a process with threads can enter no user namespace"
    for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_SIGPENDING):
        # the soft limit of who makes a namespace holds for all users in it together (linux, kernel/ucount.c)
        resource.setrlimit(limit, (resource.getrlimit(limit)[1],) * 2)
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        with _namespace() as number:
            keep_user()
            if libc.setns(number, _CLONE_NEWUSER) != 0:
                return f"setns: {os.strerror(ctypes.get_errno())}"
    except OSError as error:
        return one_line(error.strerror or str(error))
    return ""


@contextlib.contextmanager
def _namespace() -> Iterator[int]:
    """An open file of a new namespace; once nobody is in it, it is gone with that file.

    Raises:
        OSError: there can be none; strerror says why.
    """
    pipe, plain = subprocess.PIPE, {**os.environ, "LC_ALL": "C"}
    with subprocess.Popen(_MAKE, stdin=pipe, stdout=pipe, stderr=pipe, env=plain, start_new_session=True) as made:
        assert made.stdout is not None
        assert made.stderr is not None
        try:
            if not select.select([made.stdout], [], [], _MAKE_S)[0]:
                raise OSError(None, f"unshare makes no namespace within {_MAKE_S:g} s")
            if not made.stdout.readline():
                said = made.stderr.read(1000).decode(errors="replace").strip()
                raise OSError(None, said.splitlines()[0] if said else "unshare fails without a word")
            number = os.open(f"/proc/{made.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(made.pid, signal.SIGKILL)  # with what it has started: newuidmap may hang
    try:
        yield number
    finally:
        os.close(number)
