"""What a container's grading is made of: another user, whose files alone come out, and whose processes all end."""

import os
import subprocess
from pathlib import Path

import pytest

from linklab.engine import pocket
from linklab.errors import MissingError
from linklab.grade.container import FIRST_USER, ContainerEngine, as_user, end_all, readable
from linklab.grade.exchange import Exchange, Room

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users")
USER = FIRST_USER + 99


@pytest.fixture
def theirs(tmp_path):
    """A folder of another user's, and an open file of it."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, USER, USER)
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    yield folder, number
    os.close(number)


@as_root
def test_what_comes_in_belongs_to_the_user_inside(tmp_path, theirs):
    """Also in folders, which that user may write to."""
    folder, number = theirs
    ours = tmp_path / "ours"
    (ours / "sub").mkdir(parents=True)
    (ours / "sub/a.txt").write_text("a")
    (ours / "sub/a.txt").chmod(0o600)
    Exchange(ours, number, Room(), owner=USER).push()
    found = [(folder / "sub").stat(), (folder / "sub/a.txt").stat()]
    assert [(about.st_uid, about.st_gid) for about in found] == [(USER, USER), (USER, USER)]


@as_root
def test_only_that_users_files_come_out(tmp_path, theirs):
    """A link to a file that only we can read would show it."""
    folder, number = theirs
    secret = tmp_path / "secret"
    secret.write_text("s")
    (folder / "link").hardlink_to(secret)
    (folder / "mine").write_text("m")
    os.chown(folder / "mine", USER, USER)
    ours = tmp_path / "ours"
    ours.mkdir()
    Exchange(ours, number, Room(), owner=USER).pull()
    assert [path.name for path in ours.iterdir()] == ["mine"]


@as_root
def test_every_process_of_a_user_ends():
    """Those in sessions of their own too, which end with nothing else; no other user's."""
    other = subprocess.Popen([*as_user(USER - 1), "sleep", "60"])
    subprocess.run([*as_user(USER), "sh", "-c", "setsid sleep 61 & setsid sleep 62 & exit"], check=True, cwd="/")
    end_all(USER)
    shown = ["ps", "-o", "stat=", "-u", str(USER)]
    left = subprocess.run(shown, capture_output=True, text=True, check=False).stdout.split()
    assert [state for state in left if not state.startswith("Z")] == []  # the dead wait for whoever adopted them
    assert other.poll() is None
    end_all(USER - 1)
    assert other.wait(10) == -9


@as_root
def test_what_a_students_commands_can_read_is_tried(tmp_path):
    """By a command of theirs, in the order asked; what is not there cannot be read."""
    (tmp_path / "shut").write_text("")
    (tmp_path / "shut").chmod(0o600)
    seen = [Path("/etc/passwd"), Path("/etc")]
    assert readable([tmp_path / "shut", seen[0], tmp_path / "gone", seen[1]]) == seen


def test_only_root_grades_in_a_container(monkeypatch):
    """It could give the student's commands no other user."""
    monkeypatch.setattr("linklab.pocket_kernel.require", lambda: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingError, match="--in-container is for root: it gives the student's commands another user"):
        ContainerEngine().check()


@pytest.mark.parametrize(("seccomp", "filtered"), [("0", False), ("2", True)])
def test_a_container_that_filters_system_calls_is_noticed(tmp_path, monkeypatch, seccomp, filtered):
    """Its filter answers what it denies before the pocket kernel could: a pocket could not mount anything."""
    (tmp_path / "status").write_text(f"Name:\tpython3\nNoNewPrivs:\t1\nSeccomp:\t{seccomp}\nSeccomp_filters:\t1\n")
    monkeypatch.setattr(pocket, "Path", lambda _: tmp_path / "status")
    assert pocket._filtered() is filtered
