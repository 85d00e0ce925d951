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
import shutil
import subprocess
from collections.abc import Iterator

from linklab.base.place import keep_user_number
from linklab.base.text import one_line

_CLONE_NEWUSER = 0x10000000
_PR_GET_PDEATHSIG, _PR_SET_PDEATHSIG = 2, 1
_MAKE = ("unshare", "--user", "--map-root-user", "--map-auto", "--", "/bin/sh", "-c", "echo; read _")


def enter() -> str:
    """Make this process, which must have no other thread, root of a namespace of one's subordinate users.

    Returns:
        Why it is not, "" if it is; then nothing has changed.
    """
    if os.geteuid() == 0:
        return "root needs no subordinate users"
    if shutil.which("newuidmap") is None:
        return "newuidmap is not installed: sudo apt-get install uidmap"
    libc = ctypes.CDLL(None, use_errno=True)
    heard = ctypes.c_int()
    libc.prctl(_PR_GET_PDEATHSIG, ctypes.byref(heard))
    try:
        with _namespace() as number:
            keep_user_number()
            if libc.setns(number, _CLONE_NEWUSER) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    except OSError as error:
        return one_line(error.strerror or str(error))
    libc.prctl(_PR_SET_PDEATHSIG, heard.value)  # a change of user takes it away (prctl(2))
    return ""


@contextlib.contextmanager
def _namespace() -> Iterator[int]:
    """An open file of a new namespace; once nobody is in it, it is gone with that file.

    Raises:
        OSError: there can be none; strerror says why.
    """
    made = subprocess.Popen(_MAKE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert made.stdin is not None
    assert made.stdout is not None
    assert made.stderr is not None
    with made:
        try:
            if not made.stdout.readline():
                said = made.stderr.read(1000).decode(errors="replace").strip()
                raise OSError(None, said.splitlines()[0] if said else "unshare fails without a word")
            number = os.open(f"/proc/{made.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            made.stdin.close()
    try:
        yield number
    finally:
        os.close(number)
