# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

import errno
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from linklab.base import files
from linklab.base.files import remove_folder
from linklab.errors import InputError


def umask():
    """The file mode creation mask, looked up without setting it (proc(5))."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask"))
    return int(line.split()[1], 8)


def names(folder):
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    """Permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_that_the_umask_allows(tmp_path):
    """As open(2) makes it, not the 0600 of a temporary file."""
    files.write(tmp_path / "a", "x\r\n")
    assert (tmp_path / "a").read_bytes() == b"x\r\n"
    assert mode(tmp_path / "a") == 0o666 & ~umask()


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_that_is_there_keeps_its_mode(tmp_path, durable):
    """A private drawing stays private, a script stays executable."""
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o750)
    files.write(path, b"new", durable=durable)
    assert (path.read_bytes(), mode(path)) == (b"new", 0o750)
    assert names(tmp_path) == ["a"]


def test_a_link_is_followed(tmp_path):
    """A drawing that is linked to from a folder is changed where it lies, and the link stays a link."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("there/a")
    files.write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "there" / "a").read_text() == "new"


def test_a_link_to_what_is_not_there_makes_it(tmp_path):
    """As open(2) does."""
    (tmp_path / "link").symlink_to("later")
    files.write(tmp_path / "link", "new")
    assert (tmp_path / "later").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    """Regression: `--out /dev/null` as root would have put a file in the device's place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    files.write(pipe, "through")
    reader.join(10)
    assert found == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_after_a_failure_the_old_contents_are_there_and_nothing_else(tmp_path, monkeypatch):
    """A full disk is noticed when the contents are put on it, before the name is taken."""
    path = tmp_path / "a"
    path.write_text("old")

    def full(_handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        files.write(path, "new", durable=True)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert (path.read_text(), names(tmp_path)) == ("old", ["a"])


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    """Ctrl+C in the middle, too."""

    def interrupted(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path / "a", "new", durable=True)
    assert names(tmp_path) == []


def test_an_error_names_the_file_that_was_meant(tmp_path):
    """Not the one that stands in for it meanwhile."""
    with pytest.raises(FileNotFoundError) as caught:
        files.write(tmp_path / "none" / "a", "x")
    assert caught.value.filename == str(tmp_path / "none" / "a")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        files.write(tmp_path / "folder", "x")
    assert caught.value.filename == str(tmp_path / "folder")


def test_the_longest_name_can_be_written(tmp_path):
    """Regression: the file that stood in for it had a longer name."""
    path = tmp_path / ("n" * 255)
    files.write(path, "x")
    assert path.read_text() == "x"


def test_json_keeps_a_file_name_that_is_no_utf_8(tmp_path):
    """Regression: one such name in a run's folder lost run.json."""
    name = os.fsdecode(b"caf\xe9.json")
    files.write_json(tmp_path / "a.json", {"file": name, "ü": 1})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"file": name, "ü": 1}


def test_two_who_write_at_once_leave_one_whole_file(tmp_path):
    """Regression: both used the same name meanwhile, and one of them failed."""
    path = tmp_path / "a"
    texts = [str(number) * 200_000 for number in range(4)]
    failed = []

    def work(text):
        try:
            for _ in range(20):
                files.write(path, text)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert path.read_text() in texts
    assert names(tmp_path) == ["a"]


def test_a_file_that_somebody_asked_for(tmp_path):
    """Its folders are made; where that cannot be, it is a sentence with the file's name."""
    path = tmp_path / "one" / "two" / "page.html"
    assert files.write_asked(path, "text") == path
    assert path.read_text() == "text"
    with pytest.raises(InputError, match=r"page\.html/x: cannot be written: "):
        files.write_asked(path / "x", "text")


def test_a_folder_is_removed_however_deep(tmp_path):
    """Regression: one of 1,950 folders in each other, which a submission made, ended the grading of a whole class."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1950):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove_folder(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_what_a_link_leads_to_is_not_removed(tmp_path):
    """Only folders are."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to("kept")
    remove_folder(tmp_path / "link")
    assert (tmp_path / "kept").is_dir()
