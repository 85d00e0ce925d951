# SPDX-License-Identifier: BSD-3-Clause
"""Where a pocket's memory may lie, found by looking."""

import tempfile
from collections import namedtuple

import pytest

from linklab.engine import place
from linklab.errors import EngineError, MissingError

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


@pytest.mark.parametrize("kind", ["link", "file", "theirs"])
def test_a_folder_that_somebody_else_prepared_is_not_used(tmp_path, monkeypatch, kind):
    """Regression: a link in a foreign folder of the lock files' name had a file of ours emptied."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"linklab-{place.os.getuid()}-x"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        folder.touch()
    else:
        folder.mkdir()
        real = type(folder).lstat
        theirs = namedtuple("Theirs", "st_mode st_uid")
        monkeypatch.setattr(type(folder), "lstat", lambda self: theirs(real(self).st_mode, real(self).st_uid + 1))
    with pytest.raises(EngineError, match=f"linklab-{place.os.getuid()}-x"):
        place.private("x")
