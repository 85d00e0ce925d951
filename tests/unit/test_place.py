# SPDX-License-Identifier: BSD-3-Clause
"""Where a pocket's memory may lie, found by looking."""

from collections import namedtuple

import pytest

from linklab.engine import place
from linklab.errors import MissingError

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
