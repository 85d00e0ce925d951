# SPDX-License-Identifier: BSD-3-Clause
"""What `linklab clean` says of what it may not touch."""

import errno
import os
import tempfile

import pytest

from linklab.cli import main
from linklab.commands import clean
from linklab.errors import EngineError


@pytest.fixture
def tidy(tmp_path, monkeypatch):
    """An interrupted build and a broken run, in a place of their own."""
    (tmp_path / "cache/linklab/kernel/build-abc").mkdir(parents=True)
    (tmp_path / "runs/broken").mkdir(parents=True)
    (tmp_path / "runs/broken/incomplete.json").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))  # where no killed grading left anything
    monkeypatch.setattr(clean, "run_base", lambda: tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_a_lock_that_cannot_be_opened_is_one_sentence(tidy, capsys):
    """And all else has been cleaned; regression: an error that named the file and no reason."""
    lock = tidy / "cache/linklab/kernel/lock"
    lock.mkdir()
    assert main(["clean", "--runs", str(tidy / "runs")]) == 2
    said = capsys.readouterr()
    assert said.out == f"removed incomplete run {tidy}/runs/broken\n"
    assert f"{lock}: Is a directory, so whether a kernel is being built cannot be seen" in said.err
    assert (tidy / "cache/linklab/kernel/build-abc").exists()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_lock_that_can_only_be_read_is_enough(tidy, capsys):
    """It is only locked."""
    lock = tidy / "cache/linklab/kernel/lock"
    lock.touch(mode=0o444)
    assert main(["clean"]) == 0
    assert "removed interrupted kernel build" in capsys.readouterr().out


def test_what_stays_is_not_said_to_be_removed(tidy, capsys, monkeypatch):
    """Regression: a folder that could not be removed was."""
    (tidy / "cache/linklab/kernel/lock").touch()

    def refuse(folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    monkeypatch.setattr(clean.shutil, "rmtree", refuse)
    assert main(["clean", "--runs", str(tidy / "runs")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"incomplete run {tidy}/runs/broken cannot be removed: Permission denied" in said.err
    assert "interrupted kernel build" in said.err


def test_a_lock_that_cannot_be_opened_hides_nothing_that_stays(tidy, capsys, monkeypatch):
    """Regression: its sentence took the place of all others."""
    (tidy / "cache/linklab/kernel/lock").mkdir()

    def refuse(folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    monkeypatch.setattr(clean.shutil, "rmtree", refuse)
    assert main(["clean", "--runs", str(tidy / "runs")]) == 2
    broken = f"{tidy}/runs/broken"
    said = capsys.readouterr().err
    assert f"incomplete run {broken} cannot be removed: Permission denied: {broken}; {tidy}/cache/" in said
    assert said.rstrip().endswith("interrupted builds stay")


def test_a_process_that_may_not_be_killed_is_named_without_a_file(tidy, capsys, monkeypatch):
    """Regression: "Operation not permitted: None"."""
    folder = tidy / f"linklab-{os.getuid()}-abc"
    folder.mkdir()
    (folder / "owner").write_text("4711")
    (folder / "kernel").write_text("4712")
    monkeypatch.setattr(clean, "_command_line", lambda pid: f"linux {folder}" if pid == 4712 else "")

    def refuse(pid, number):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(clean.os, "kill", refuse)
    assert main(["clean"]) == 2
    said = capsys.readouterr()
    sentence = f"process 4712, the kernel of {folder} cannot be removed: Operation not permitted"
    assert said.err == f"linklab: {sentence}\n"
    assert said.out == f"removed run directory {folder}\n"


def test_what_others_named_like_our_folders_is_left_alone(tidy, capsys):
    """Regression: a pipe called `owner`, or called as our folders are, had `clean` wait for ever."""
    (tidy / f"linklab-{os.getuid()}-folder").mkdir()
    os.mkfifo(tidy / f"linklab-{os.getuid()}-folder/owner")
    os.mkfifo(tidy / f"linklab-{os.getuid()}-pipe")
    (tidy / f"linklab-{os.getuid()}-link").symlink_to(tidy)
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == "nothing to clean\n"


def test_one_place_that_cannot_be_looked_at_hides_no_other(tidy, capsys, monkeypatch):
    """Regression: a socket folder that could not be had ended `clean` before it had done anything."""

    def refuse(**_):
        raise EngineError("/x is not a folder of yours")

    monkeypatch.setattr(clean.attach, "remove_stale", refuse)
    assert main(["clean", "--runs", str(tidy / "runs")]) == 2
    said = capsys.readouterr()
    assert said.out == f"removed incomplete run {tidy}/runs/broken\n"
    assert said.err == "linklab: /x is not a folder of yours\n"


@pytest.mark.parametrize(("pid", "gone"), [(2**22, True), (os.getpid(), False)], ids=["gone", "at it"])
def test_the_note_of_several_runs_goes_with_the_last_of_them(tidy, pid, gone):
    """Unless the process that it names is still at it."""
    several = tidy / "runs/all-1"
    (several / "lab01").mkdir(parents=True)
    (several / "lab01/incomplete.json").write_text('{"pid": 4194304}')
    (several / "running.json").write_text(f'{{"pid": {pid}}}')
    assert main(["clean", "--runs", str(tidy / "runs")]) == 0
    assert several.exists() is not gone
