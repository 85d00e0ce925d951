# SPDX-License-Identifier: BSD-3-Clause
"""Where a pocket's memory may lie, found by looking."""

import errno
import os
import socket
import tempfile
from collections import namedtuple
from pathlib import Path

import pytest

from linklab.base import place
from linklab.engine import cpus, host
from linklab.engine.cpus import CpuLock
from linklab.errors import EngineError, MissingError
from linklab.terminal import attach

Room = namedtuple("Room", "f_bavail f_frsize")


def test_a_folder_with_room_is_taken(tmp_path, monkeypatch):
    """LINKLAB_TMP comes first."""
    monkeypatch.setenv("LINKLAB_TMP", str(tmp_path))
    assert place.memory_dir(2**20) == tmp_path


def test_a_folder_without_room_is_passed_over(tmp_path, monkeypatch):
    """Room is what the file system says is available to us."""
    monkeypatch.setattr(place.os, "statvfs", lambda _: Room(10, 4096))
    assert place.why_not(tmp_path, 2**30) == "has only 0 MiB free"


def test_a_folder_mounted_noexec_is_passed_over(tmp_path, monkeypatch):
    """As /dev/shm is in a container; the kernel would die at boot."""

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(place.mmap, "mmap", refuse)
    assert place.why_not(tmp_path, 2**20) == "is mounted noexec"


def test_where_no_folder_will_do_each_is_named_with_its_reason(tmp_path, monkeypatch):
    """And what to set."""
    monkeypatch.setattr(place, "candidates", lambda: [tmp_path / "none", tmp_path])
    monkeypatch.setattr(place.os, "statvfs", lambda _: Room(256, 4096))
    with pytest.raises(MissingError) as caught:
        place.memory_dir(2**31)
    assert str(caught.value) == (
        f"no folder for 2048 MiB of memory: {tmp_path}/none is not a folder; {tmp_path} has only 1 MiB free. "
        "Set LINKLAB_TMP to one with room, not mounted noexec"
    )


def test_a_folder_for_one_user_is_closed_to_others(tmp_path, monkeypatch):
    """Made so, and mended if it was open."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = place.private("x")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert place.private("x").stat().st_mode & 0o777 == 0o700


def foreign(folder, monkeypatch):
    """Have a folder belong to somebody else, as far as anybody can see."""
    folder.mkdir(parents=True, exist_ok=True)
    real = type(folder).lstat
    theirs = namedtuple("Theirs", "st_mode st_uid")

    def lstat(self):
        about = real(self)
        return theirs(about.st_mode, about.st_uid + 1) if self == folder else about

    monkeypatch.setattr(type(folder), "lstat", lstat)


def prepare(folder, kind, monkeypatch):
    """What another user may have put in the place of a folder that everybody can name beforehand."""
    if kind == "link":
        (folder.parent / "elsewhere").mkdir()
        folder.symlink_to(folder.parent / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(folder)
    elif kind == "file":
        folder.touch()
    else:
        foreign(folder, monkeypatch)


@pytest.mark.parametrize("kind", ["link", "file", "pipe", "theirs"])
def test_a_folder_that_somebody_else_prepared_is_not_used(tmp_path, monkeypatch, kind):
    """Regression: a link in its place had a file of ours emptied, and anything else in its place ended every run."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    prepare(tmp_path / f"linklab-{os.getuid()}-x", kind, monkeypatch)
    assert place.private("x") == tmp_path / "home/linklab/private/x"
    assert not (tmp_path / "elsewhere/x").exists()


def test_where_no_private_folder_can_be_had_all_are_named(tmp_path, monkeypatch):
    """With what is in the way of each."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").touch()
    prepare(tmp_path / f"linklab-{os.getuid()}-x", "file", monkeypatch)
    with pytest.raises(EngineError) as caught:
        place.private("x")
    assert str(caught.value) == (
        f"{tmp_path}/linklab-{os.getuid()}-x is not a folder of yours; remove it, or set TMPDIR to a folder of your "
        f"own; {tmp_path}/home/linklab/private/x cannot be made: Not a directory"
    )


def test_roots_files_stay_out_of_the_users_runtime_folder(tmp_path, monkeypatch):
    """Regression: `sudo -E linklab shell` left a folder of root's there, which locked the user out."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert place.runtime_folder() == tmp_path
    uid = os.getuid()
    monkeypatch.setattr(place.os, "getuid", lambda: uid + 1)
    assert place.runtime_folder() is None
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "gone"))
    assert place.runtime_folder() is None


def test_terminals_are_found_where_the_runtime_folder_is_locked(tmp_path, monkeypatch):
    """A user whom an earlier Linklab locked out attaches through the next place, and so does the network."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert attach.folder() == tmp_path / "linklab"
    foreign(tmp_path / "linklab", monkeypatch)
    assert attach.folder() == tmp_path / "tmp" / f"linklab-{os.getuid()}"


def test_a_missing_processor_lock_costs_speed_and_not_the_run(tmp_path, monkeypatch):
    """Where the locks cannot be had, or the file system has none, the pocket shares a processor."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    allowed = os.sched_getaffinity(0)
    prepare(tmp_path / f"linklab-{os.getuid()}-cpus", "pipe", monkeypatch)
    lock = CpuLock()
    assert lock.number in allowed
    lock.release()
    (tmp_path / f"linklab-{os.getuid()}-cpus").unlink()

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(cpus.fcntl, "flock", refuse)
    assert CpuLock().number in allowed


def test_a_socket_below_a_path_with_a_blank_is_seen():
    """Regression: the path was taken apart at its blanks, and the socket of a network that started was removed."""
    table = (
        b"Num       RefCount Protocol Flags    Type St Inode Path\n"
        b"0000000000000000: 00000002 00000000 00010000 0001 01 23456 /run/user/1/my run/linklab/host/ab.sock\n"
        b"0000000000000000: 00000003 00000000 00000000 0001 03 23457\n"
        b"0000000000000000: 00000002 00000000 00010000 0001 01 23458 @abstract\n"
    )
    assert host.bound_paths(table) == {b"/run/user/1/my run/linklab/host/ab.sock", b"@abstract"}


def test_a_socket_that_is_awaited_is_not_stale(tmp_path, monkeypatch):
    """One that is bound stays, one that nobody has any more goes, also below a path with a blank."""
    runtime = tmp_path / "my run"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    with host._listening() as listener:
        left = Path(listener.getsockname()).with_name("left.sock")
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(str(left))
        assert host.remove_stale() == [left]
        assert Path(listener.getsockname()).exists()
