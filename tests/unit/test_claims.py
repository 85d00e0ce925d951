# SPDX-License-Identifier: BSD-3-Clause
"""Of several processes that want one folder, exactly one gets it."""

import errno
import io
import json
import multiprocessing
import os

import pytest

from linklab.base import claims
from linklab.errors import InputError

CROWD = 6
ROUNDS = 25


def crowd(work, folder):
    """Let many processes do `work(folder)` at the same moment; what each gave."""
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(CROWD), context.Queue()

    def one():
        start.wait(20)
        answers.put(work(folder))

    processes = [context.Process(target=one) for _ in range(CROWD)]
    for process in processes:
        process.start()
    found = [answers.get(timeout=20) for _ in processes]
    for process in processes:
        process.join(20)
    return found


@pytest.mark.parametrize("there", [False, True])
def test_of_many_at_once_one_gets_the_folder(tmp_path, there):
    """Regression: looking whether it is empty and then making it, two runs with one --out were both accepted."""
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        if there:
            folder.mkdir()
        found = crowd(lambda path: claims.take(path, "note.json", {"pid": os.getpid()}), folder)
        assert sorted(found) == [False] * (CROWD - 1) + [True]


def test_a_note_that_cannot_be_written_holds_no_folder(tmp_path, monkeypatch):
    """Regression: after a full disk the folder was in use for good, by nobody."""
    folder = tmp_path / "run"

    class Full(io.RawIOBase):
        """A file on a full disk."""

        def write(self, _):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "fdopen", lambda handle, mode: (os.close(handle), Full())[1])
        with pytest.raises(InputError, match="run: cannot be made: No space left on device"):
            claims.take(folder, "note.json", {})
    assert claims.take(folder, "note.json", {})


def test_many_at_once_get_folders_of_their_own(tmp_path):
    """Regression: three runs in one second chose the same name, and two of them ended with "in use"."""
    for number in range(ROUNDS):
        found = crowd(lambda path: str(claims.make_new(path)), tmp_path / f"run{number}")
        names = [f"run{number}", *(f"run{number}-{n}" for n in range(2, CROWD + 1))]
        assert sorted(found) == [str(tmp_path / name) for name in names]


def test_what_is_taken_says_by_whom(tmp_path):
    """And a folder that holds anything is not taken, nor changed."""
    assert claims.take(tmp_path / "a/b", "note.json", {"pid": 7})
    assert json.loads((tmp_path / "a/b/note.json").read_text()) == {"pid": 7}
    assert not claims.take(tmp_path / "a", "note.json", {"pid": 7})
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_a_folder_is_held_as_long_as_the_block(tmp_path):
    """The first that is free; the note goes with the block, whatever ended it."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one/x").touch()
    with pytest.raises(KeyboardInterrupt), claims.held([tmp_path / "one", tmp_path / "two"]) as folder:
        assert (folder, (folder / "running.json").is_file()) == (tmp_path / "two", True)
        raise KeyboardInterrupt
    assert list((tmp_path / "two").iterdir()) == []
    with (
        pytest.raises(InputError, match="one: this folder is in use; give another with --out"),
        claims.held([tmp_path / "one"]),
    ):
        pass


def test_a_place_where_nothing_can_be_made_is_named(tmp_path):
    """As --out below a file."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/x: cannot be made: Not a directory"):
        claims.take(tmp_path / "file/x", "note.json", {})
    with pytest.raises(InputError, match="file: cannot be made: File exists"):
        claims.make_new(tmp_path / "file/x")
