# SPDX-License-Identifier: BSD-3-Clause
"""Run a program to which system calls are denied, as a sandbox or a container does.

Usage: denied.py NAME,… PROGRAM ARG…   By a filter of seccomp(2) that answers EPERM; numbers of x86-64. "namespaces"
stands for what Docker's default profile denies of them: unshare, setns, mounts, and clone into a new user namespace.
"privileges" denies nothing: programs such as sudo can then gain privileges, as in Docker; this needs CAP_SYS_ADMIN.
"""

import ctypes
import os
import struct
import sys

NUMBERS = {"seccomp": 317, "pidfd_open": 434, "landlock_create_ruleset": 444}
OF_NAMESPACES = (155, 165, 166, 272, 308)
"""pivot_root, mount, umount2, unshare, setns."""
CLONE, CLONE3, CLONE_NEWUSER = 56, 435, 0x10000000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER, PRCTL = 38, 22, 2, 157
LOAD, JUMP_IF_EQUAL, JUMP_IF_SET, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, EPERM, ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026


class Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def rules(names):
    """The filter: each call that is named, and with `seccomp` also the way to it by prctl(2)."""
    lines = [(LOAD, 0, 0, 0)]
    for name in names:
        if name in ("namespaces", "privileges"):
            continue
        lines += [(JUMP_IF_EQUAL, 0, 1, NUMBERS[name]), (RETURN, 0, 0, EPERM)]
    if "seccomp" in names:
        lines += [(JUMP_IF_EQUAL, 0, 3, PRCTL), (LOAD, 0, 0, 16), (JUMP_IF_EQUAL, 0, 1, PR_SET_SECCOMP)]
        lines += [(RETURN, 0, 0, EPERM)]
    if "namespaces" in names:
        lines += [(LOAD, 0, 0, 0)]
        for number in OF_NAMESPACES:
            lines += [(JUMP_IF_EQUAL, 0, 1, number), (RETURN, 0, 0, EPERM)]
        # its flags are in registers; those of clone3 are not, which Docker answers so that libc takes clone
        lines += [(JUMP_IF_EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, ENOSYS), (JUMP_IF_EQUAL, 0, 3, CLONE)]
        lines += [(LOAD, 0, 0, 16), (JUMP_IF_SET, 0, 1, CLONE_NEWUSER), (RETURN, 0, 0, EPERM)]
    return b"".join(struct.pack("HBBI", *line) for line in [*lines, (RETURN, 0, 0, ALLOW)])


def main():
    """Deny and begin."""
    names, program = sys.argv[1].split(","), sys.argv[2:]
    filter_ = ctypes.create_string_buffer(rules(names))
    known = Program(len(filter_) // 8, ctypes.addressof(filter_))
    libc = ctypes.CDLL(None, use_errno=True)
    keeps = "privileges" not in names
    if (keeps and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) or libc.prctl(
        PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(known), 0, 0
    ):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
