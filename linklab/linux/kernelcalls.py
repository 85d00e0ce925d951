# SPDX-License-Identifier: BSD-3-Clause
"""System calls that Python's standard library does not offer: namespaces, mounts, and a mount under another owner.

Specified by unshare(2), setns(2), mount(2), pivot_root(2), prctl(2), mount_setattr(2) and include/uapi/linux/mount.h.
Each raises OSError with the call's own reason.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from pathlib import Path

from linklab.linux import children

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT = 1, 2, 4, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_OPEN_TREE, SYS_MOVE_MOUNT, SYS_MOUNT_SETATTR = 428, 429, 442  # the same on every architecture
OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC, MOVE_MOUNT_F_EMPTY_PATH, AT_EMPTY_PATH = 1, os.O_CLOEXEC, 4, 0x1000
AT_FDCWD = -100
MOUNT_ATTR_IDMAP = 0x00100000
LAST_ID = 65535

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(what: str, number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments), what)


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    _checked(_libc.unshare(flags), "unshare")


def setns(file: int, kind: int) -> None:
    """Enter a namespace of that kind, held by an open file."""
    _checked(_libc.setns(file, kind), "setns")


def die_with_parent() -> None:
    """SIGKILL as soon as the process that forked this one has gone."""
    _checked(_libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")


def mount(source: str, target: str | Path, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or change how one is mounted."""
    result = _libc.mount(
        source.encode(), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _checked(result, f"mount {kind or source} on {target}")


def bind(source: str | Path, target: str | Path, *, read_only: bool = False, recursive: bool = False) -> None:
    """Show a file or folder at a second place."""
    mount(str(source), target, flags=MS_BIND | (MS_REC if recursive else 0))
    if read_only:
        mount("none", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def make_root(folder: Path) -> None:
    """Make a mount point the root of this mount namespace and let go of the old root."""
    os.chdir(folder)
    _syscall("pivot_root", SYS_PIVOT_ROOT[os.uname().machine], b".", b".")
    _checked(_libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def take_mount(folder: int) -> int:
    """A copy of what is mounted at an open folder, as an open file, for another mount namespace (Linux 5.2).

    It is of that very folder, whatever becomes of the path by which it was found.
    """
    flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH
    return _syscall("open_tree", SYS_OPEN_TREE, folder, b"", flags)


def map_owners(taken: int, namespace: int) -> None:
    """Give a taken mount the owners that a user namespace (an open file) makes of its own (Linux 5.12).

    OSError with EINVAL where the folder's file system cannot do that.
    """
    attr = _MountAttr(attr_set=MOUNT_ATTR_IDMAP, userns_fd=namespace)
    size = ctypes.c_size_t(ctypes.sizeof(attr))
    _syscall("mount_setattr", SYS_MOUNT_SETATTR, taken, b"", AT_EMPTY_PATH, ctypes.byref(attr), size)


def place_mount(taken: int, target: Path) -> None:
    """Show a taken mount there; its open file is closed."""
    try:
        _syscall("move_mount", SYS_MOVE_MOUNT, taken, b"", AT_FDCWD, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH)
    finally:
        os.close(taken)


def swapping_namespace(uid: int, gid: int) -> int:
    """A user namespace, open, in which root and a user have changed places, and everybody else is who they are.

    To be made where /proc shows our own process space.
    """
    ours, theirs = os.pipe()
    ready, told = os.pipe()

    def keep() -> None:  # pragma: no cover - the child, which only keeps the namespace until it has been opened
        os.close(theirs)
        try:
            unshare(CLONE_NEWUSER)
        except OSError as error:
            os.write(told, str(error.errno).encode())
            return
        os.write(told, b"0")
        os.read(ours, 1)

    child = os.fork()
    if child == 0:  # pragma: no cover - the child
        children.live(keep)
    try:
        os.close(ours)
        os.close(told)
        failed = int(os.read(ready, 16) or errno.EINVAL)
        if failed:
            raise OSError(failed, f"no user namespace could be made: {os.strerror(failed)}")
        Path(f"/proc/{child}/uid_map").write_text(swapped(uid), encoding="ascii")
        Path(f"/proc/{child}/gid_map").write_text(swapped(gid), encoding="ascii")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(theirs)
        os.close(ready)
        os.waitpid(child, 0)


def swapped(number: int) -> str:
    """The map of user_namespaces(7) in which 0 and `number` have changed places; a user's group may be 0."""
    if number == 0:
        return f"0 0 {LAST_ID + 1}\n"
    ranges = [(0, number, 1), (number, 0, 1)]
    if number > 1:
        ranges.append((1, 1, number - 1))
    if number < LAST_ID:
        ranges.append((number + 1, number + 1, LAST_ID - number))
    return "".join(f"{inside} {outside} {count}\n" for inside, outside, count in sorted(ranges))
