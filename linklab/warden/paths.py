# SPDX-License-Identifier: BSD-3-Clause
"""Whether what is to run as root, and what root is to touch, belongs to root or the calling user alone.

A guard against a carelessly shared installation: root runs the package's code, so nobody else may be able to write it.
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import socket
import stat
from pathlib import Path

from linklab.linux.sockets import peer
from linklab.warden import handover

INTERPRETER = Path("/usr/bin/python3")
CODE = ("__init__.py", "__pycache__", "warden", "agent", "linux", "../scripts")
"""What of the package runs as root: warden, agent, their calls to the kernel, and the scripts that terminals find."""


class RefusedError(Exception):
    """Something cannot be done; the sentence says what and why."""


def caller() -> int:
    """The user on whose behalf we run: whoever called sudo, else root itself."""
    return int(os.environ.get("SUDO_UID", "0"))


def check_code(package: Path, uid: int) -> None:
    """Raises RefusedError, with the cure, if others than root and `uid` could change what runs as root.

    Not looked at where root itself calls: it already runs all of the package, with or without us.
    """
    if uid == 0:
        return
    for path in (package, INTERPRETER):
        for folder in path.resolve().parents:
            about = folder.stat()
            # as in /tmp: nobody but its owner can put another entry in place of this one
            sticky = about.st_mode & stat.S_ISVTX and about.st_uid in (0, uid)
            if not sticky:
                check_owner(folder, about, uid)
    check_owner(INTERPRETER, INTERPRETER.stat(), 0)
    check_owner(package, package.stat(), uid)
    for code in (package / name for name in CODE):
        for path in (code, *code.rglob("*")) if code.exists() else ():
            check_owner(path, path.stat(), uid)


def check_owner(path: Path, about: os.stat_result, uid: int) -> None:
    """RefusedError if others than root and `uid` could change it."""
    if about.st_uid not in (0, uid):
        raise RefusedError(
            f"{path} belongs to {_name(about.st_uid)} and would be used by root; use a Linklab that belongs to root or "
            f"to {_name(uid)}"
        )
    shared = about.st_mode & stat.S_IWGRP and not _private_group(about.st_gid, about.st_uid)
    if (shared or about.st_mode & stat.S_IWOTH) and not stat.S_ISLNK(about.st_mode):
        who = "its group" if shared else "everybody"
        raise RefusedError(f"{path} can be written by {who} and would be used by root; type: chmod go-w {path}")


def _private_group(gid: int, uid: int) -> bool:
    """Whether the group is the owner's alone, as distributions make one of the same name for each user."""
    if gid == 0:
        return True
    try:
        group, owner = grp.getgrgid(gid), pwd.getpwuid(uid)
    except KeyError:
        return False
    members = {user.pw_name for user in pwd.getpwall() if user.pw_gid == gid} | set(group.gr_mem)
    return group.gr_name == owner.pw_name and members <= {owner.pw_name}  # a directory service may not list all users


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def connect(path: Path, uid: int) -> socket.socket:
    """Connect to the caller's socket, which lies in a folder of the caller's alone; RefusedError if it does not."""
    folder, about = path.parent.lstat(), path.lstat()
    if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != uid or folder.st_mode & 0o077:
        raise RefusedError(f"{path.parent} is not a folder of {_name(uid)} alone")
    if not stat.S_ISSOCK(about.st_mode) or about.st_uid != uid or about.st_mode & 0o077:
        raise RefusedError(f"{path} is not a socket of {_name(uid)} alone")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(str(path))
    if peer(connection) != uid:
        connection.close()
        raise RefusedError(f"{path} is served by another user than {_name(uid)}")
    return connection


def open_work(work: Path, uid: int) -> tuple[int, bool]:
    """The working folder, open, and whether root may write it on behalf of `uid`: it is theirs.

    Raises:
        RefusedError: it is no folder, its path leads over a link, or root may not enter it.
    """
    try:
        folder = handover.open_folder(work)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            raise RefusedError(
                f"root may not enter the working folder {work}, as on some network file systems; work in a folder on "
                "this machine's disk"
            ) from error
        raise RefusedError(f"the working folder {work} is no folder, or a link to one") from error
    if Path(f"/proc/self/fd/{folder}").readlink() != work:
        raise RefusedError(f"the path of the working folder, {work}, leads over a link")
    return folder, os.fstat(folder).st_uid == uid or uid == 0
