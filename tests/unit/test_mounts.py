# SPDX-License-Identifier: BSD-3-Clause
"""Where files lie, whichever mounts they are seen by."""

from pathlib import Path

import pytest

from linklab.linux.mounts import Location, Mount, location, locations_below, mounts

SEEN = """\
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
97 27 8:17 / /media/ann/Übung\\0401 rw,relatime shared:52 - vfat /dev/sdb1 rw
98 27 0:40 / /usr/src rw - tmpfs none rw
99 27 0:40 /course /home/ann rw,relatime shared:3 master:1 - tmpfs none rw
100 99 8:1 /usr/share /home/ann/s ro - ext4 /dev/sda1 rw
""".encode()
"""As captured, with a few lines made up: a stick, something mounted below /usr, and two bind mounts."""


def test_mounts_with_spaces_and_umlauts_are_read():
    """mountinfo writes a space as an octal number, and UTF-8 as it is; optional fields are passed over."""
    assert mounts(SEEN)[1] == Mount(97, 27, "8:17", Path("/"), Path("/media/ann/Übung 1"), "vfat")
    assert mounts(SEEN)[3] == Mount(99, 27, "0:40", Path("/course"), Path("/home/ann"), "tmpfs")


@pytest.mark.parametrize(
    ("path", "device", "within"),
    [
        ("/etc/hosts", "8:1", "/etc/hosts"),
        ("/usr/src/course/c.toml", "0:40", "/course/c.toml"),
        ("/home/ann/c.toml", "0:40", "/course/c.toml"),
        ("/home/ann/s/x", "8:1", "/usr/share/x"),
        ("/home/anna", "8:1", "/home/anna"),
    ],
)
def test_a_file_is_the_same_by_whichever_mount_it_is_named(path, device, within):
    """Of mounts around it the innermost counts."""
    assert location(Path(path), mounts(SEEN)) == Location(device, Path(within))


def test_below_a_folder_lies_what_is_mounted_there_too():
    """A course file that is named by a bind mount of a folder below /usr lies below /usr."""
    below = [*locations_below(Path("/usr"), mounts(SEEN))]
    assert below == [Location("8:1", Path("/usr")), Location("0:40", Path("/"))]
    inside = [
        any(map(location(Path(path), mounts(SEEN)).is_in, below)) for path in ("/home/ann/c.toml", "/home/ann/s", "/x")
    ]
    assert inside == [True, True, False]


def test_a_mount_is_covered_by_a_later_one_at_a_folder_above_it():
    """Regression: a course file below a bind mount of /usr was taken for one in a file system that it covers."""
    covered = (
        b"1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /srv/c/x rw - tmpfs b rw\n3 1 8:1 /usr/share /srv/c rw - ext4 a rw\n"
    )
    assert location(Path("/srv/c/x/f"), mounts(covered)) == Location("8:1", Path("/usr/share/x/f"))


@pytest.mark.parametrize(
    ("text", "path", "lies"),
    [
        ("1 1 0:2 / / rw - rootfs rootfs rw\n", "/c/f", Location("0:2", Path("/c/f"))),  # it stands on itself
        ("5 4 8:1 /jail/c /c rw - ext4 a rw\n6 4 0:5 / /c/x rw - tmpfs b rw\n", "/c/x/f", Location("0:5", Path("/f"))),
        ("5 4 8:1 /jail/c /c rw - ext4 a rw\n", "/d", Location("", Path("/d"))),
    ],
    ids=["a root of its own", "mounts in a chroot", "the root of a chroot"],
)
def test_a_root_may_stand_on_itself_or_be_no_mount(text, path, lies):
    """As where a machine runs from its first memory, and in a chroot."""
    assert location(Path(path), mounts(text.encode())) == lies


def test_of_two_at_one_point_the_later_lies_on_top():
    """It stands on the other one."""
    twice = b"1 0 8:1 / / rw - ext4 a rw\n2 1 0:5 / /mnt rw - tmpfs b rw\n3 2 0:6 /x /mnt rw - tmpfs c rw\n"
    assert location(Path("/mnt/f"), mounts(twice)) == Location("0:6", Path("/x/f"))


def test_this_machine_is_read():
    """Every process has a root."""
    assert any(each.point == Path("/") for each in mounts())
