"""What a container's grading is made of: another user, whose files alone come out, and whose processes all end."""

import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab.base import place
from linklab.base.orphans import orphans_end
from linklab.base.processes import children, owners
from linklab.commands import grade as grade_command
from linklab.engine import pocket
from linklab.engine.api import Clock
from linklab.errors import EngineError, MissingError
from linklab.grade import accounts, container, enter, leftovers
from linklab.grade.accounts import FIRST_USER, as_user, deleted, end_all, processes, readable
from linklab.grade.bubblewrap import PYTHON
from linklab.grade.container import ContainerEngine, _files
from linklab.grade.exchange import Exchange, Room
from linklab.grade.leftovers import remove_leftovers
from linklab.grade.limits import Limits
from linklab.grade.syscalls import program

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users")
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)
"""The version that this machine's kernel has (landlock(7)), -1 for none."""
with_landlock = pytest.mark.skipif(LANDLOCK < 2, reason=f"no Landlock that can be used here (version {LANDLOCK})")
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
    with as_user(USER - 1, Limits()) as (command, more):
        other = subprocess.Popen([*command, "/bin/sleep", "60"], pass_fds=more)
    with as_user(USER, Limits()) as (command, more):
        started = [*command, "/bin/sh", "-c", "setsid sleep 61 & setsid sleep 62 & exit"]
        subprocess.run(started, check=True, cwd="/", pass_fds=more)
    end_all(USER)
    shown = ["ps", "-o", "stat=", "-u", str(USER)]
    left = subprocess.run(shown, capture_output=True, text=True, check=False).stdout.split()
    assert [state for state in left if not state.startswith("Z")] == []  # the dead wait for whoever adopted them
    assert other.poll() is None
    end_all(USER - 1)
    assert other.wait(10) == -9


HIDES = {
    "name": 'libc.prctl(15, b"a) Z 1 (b")',
    "first thread": "threading.Thread(target=time.sleep, args=(600,)).start(); libc.syscall(60, 0)",
}
"""PR_SET_NAME (prctl(2)); exit(2) of the first thread alone."""


@as_root
@pytest.mark.parametrize("how", HIDES)
def test_no_process_is_taken_for_a_dead_one(how):
    """Regression: one called ") Z" was in no limit, and killed by nobody; nor is one whose first thread has ended."""
    code = f"import ctypes, threading, time; libc = ctypes.CDLL(None); {HIDES[how]}; time.sleep(600)"
    with as_user(USER, Limits()) as (command, more):
        started = subprocess.Popen([*command, PYTHON, "-I", "-S", "-c", code], pass_fds=more, cwd="/", env={})
    try:
        about = Path(f"/proc/{started.pid}/stat")
        until = time.monotonic() + 20
        while ") Z" not in about.read_text() and time.monotonic() < until:
            time.sleep(0.01)
        assert ") Z" in about.read_text()
        assert processes(USER) == [started.pid]
    finally:
        end_all(USER)
    assert started.wait(10) == -signal.SIGKILL
    assert processes(USER) == []


HOLDS = """
import ctypes, os, threading, time
held = os.open("held", os.O_RDWR | os.O_CREAT)
os.unlink("held")
os.write(held, bytes(2**20))
threading.Thread(target=time.sleep, args=(600,)).start()
os.mkdir("written")
ctypes.CDLL(None).syscall(60, 0)
"""
"""Its first thread ends, by exit(2)."""


@as_root
def test_a_deleted_file_counts_once_its_holders_first_thread_has_ended(monkeypatch, request):
    """Regression: /proc/N/fd is empty then, so 300 MiB were not seen; and no table of files takes a look of minutes."""
    folder = Path(tempfile.mkdtemp())  # that of a test can be entered by its owner alone
    request.addfinalizer(lambda: shutil.rmtree(folder))
    os.chown(folder, USER, USER)
    with as_user(USER, Limits(), [folder]) as (command, more):
        command += [PYTHON, "-I", "-S", "-c", HOLDS]
        started = subprocess.Popen(command, pass_fds=more, cwd=folder, env={})
    try:
        about = Path(f"/proc/{started.pid}/stat")
        until = time.monotonic() + 20
        while ") Z" not in about.read_text() and time.monotonic() < until:
            time.sleep(0.01)
        assert (folder / "written").is_dir()
        found, whole = deleted(USER)
        assert (sum(found.values()), whole) == (2**20, True)
        monkeypatch.setattr(accounts, "MOST_HELD", 2)
        assert deleted(USER)[1] is False
    finally:
        end_all(USER)
        started.wait(10)


@as_root
def test_what_the_networks_of_a_killed_grader_left_goes(tmp_path, monkeypatch):
    """Regression: the next submission could read folders, and be hindered by what led no session; others' stay."""
    memory, elsewhere, other = tmp_path / "memory", tmp_path / "elsewhere", FIRST_USER - 2
    memory.mkdir()
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(place, "candidates", lambda: [memory])
    monkeypatch.setattr(leftovers, "_BEGAN", tmp_path / "began")
    (tmp_path / "handed-in.zip").touch()
    os.chown(tmp_path / "handed-in.zip", USER, USER)  # unpacked so, long before
    time.sleep(0.02)  # the machine dates files by its ticks
    (tmp_path / "began").write_text(str(elsewhere))
    time.sleep(0.02)
    started = []
    for user in (USER, USER - 1, other):
        for where in (tmp_path, memory, elsewhere):
            (where / f"linklab-container-{user}/deep").mkdir(parents=True)
            (where / f"linklab-container-{user}/deep/work.sh").write_text("true\n")
            os.chown(where / f"linklab-container-{user}", user, user)
        with as_user(user, Limits()) as (command, more):
            begun = [*command, "/bin/sh", "-c", "echo; exec sleep 600"]
            started.append(subprocess.Popen(begun, pass_fds=more, cwd="/", env={}, stdout=subprocess.PIPE))
    for name in ("moved", "ours"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    for path in ("moved", "moved/file"):
        os.chown(tmp_path / path, USER, USER)
    (memory / "link").symlink_to(tmp_path / "ours")
    os.chown(memory / "link", USER, USER, follow_symlinks=False)
    try:
        assert [each.stdout.readline() for each in started] == [b"\n"] * 3
        remove_leftovers(range(USER - 1, USER + 1))
        assert [processes(user) for user in (USER, USER - 1)] == [[], []]
        assert started[2].poll() is None
        assert {str(path.relative_to(tmp_path)) for path in tmp_path.glob("**/*.sh")} == {
            f"{where}linklab-container-{other}/deep/work.sh" for where in ("", "memory/", "elsewhere/")
        }
        assert not (tmp_path / "moved").exists()
        assert (tmp_path / "ours/file").exists()
        assert (tmp_path / "handed-in.zip").exists()
        assert not (tmp_path / "began").exists()
        assert not (memory / "link").is_symlink()
    finally:
        for each in started:
            each.kill()
            each.communicate()


def test_a_second_grading_in_a_container_is_refused(tmp_path):
    """Regression: each ended the other's networks, and both submissions were errors of ours."""
    held = leftovers._hold(tmp_path / "lock")
    with pytest.raises(MissingError, match=r"another `linklab grade --in-container` runs in this container: wait"):
        leftovers._hold(tmp_path / "lock")
    os.close(held)
    os.close(leftovers._hold(tmp_path / "lock"))


@as_root
def test_what_cannot_be_removed_lets_no_submission_begin(tmp_path, monkeypatch):
    """Regression: a root without CAP_FOWNER left what lay in a sticky folder, and the next submission read it."""
    (tmp_path / "linklab-container-a").mkdir()
    os.chown(tmp_path / "linklab-container-a", USER, USER)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(place, "candidates", list)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    with pytest.raises(EngineError, match=r"linklab-container-a, which an earlier submission has made, cannot be rem"):
        remove_leftovers(range(USER, USER + 1))


@as_root
def test_a_loose_file_that_cannot_be_removed_lets_no_submission_begin(tmp_path, monkeypatch):
    """Regression: only folders of networks were looked for again; the rest stayed in silence, for the next to read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(place, "candidates", list)
    monkeypatch.setattr(leftovers, "_BEGAN", tmp_path / "began")
    (tmp_path / "began").write_text(str(tmp_path))
    time.sleep(0.05)  # a file system's times are those of the machine's ticks
    (tmp_path / "loot").touch()
    os.chown(tmp_path / "loot", USER, USER)
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda argv, **more: None if "-delete" in argv else run(argv, **more))
    with pytest.raises(EngineError, match=r"/loot, which an earlier submission has made, cannot be removed: use a new"):
        remove_leftovers(range(USER, USER + 1))
    monkeypatch.setattr(subprocess, "run", run)
    remove_leftovers(range(USER, USER + 1))
    assert not (tmp_path / "loot").exists()


def test_what_stays_at_the_end_is_said_and_loses_no_result(monkeypatch, capsys):
    """The container is thrown away; what was graded in it counts."""

    def stays():
        raise EngineError("/tmp/linklab-container-a cannot be removed")

    monkeypatch.setattr(leftovers, "remove_leftovers", stays)
    leftovers.leave_empty()
    assert capsys.readouterr().err == (
        "linklab: something of the submissions stays in this container: /tmp/linklab-container-a cannot be removed\n"
    )


@pytest.mark.parametrize(("lacks", "said"), [(True, "linklab: no Landlock here ("), (False, "")])
def test_who_grades_in_a_container_without_landlock_is_warned(lacks, said, monkeypatch, capsys):
    """Of a submission too that is graded alone: its commands write wherever anybody may."""
    monkeypatch.setattr(leftovers, "lacks_landlock", lambda: lacks)
    monkeypatch.setattr(grade_command, "_engine", lambda *_: SimpleNamespace(check=lambda: None))
    grade_command._need_engine(SimpleNamespace(cluster="", container=True, trusted=False), ["one"])
    assert capsys.readouterr().err.partition("Linux")[0] == said


@as_root
def test_the_dead_of_one_submission_are_no_processes_of_the_next(tmp_path, monkeypatch):
    """Regression: 4,080 that nobody waited for were all that their user may have: the next one was our error."""
    monkeypatch.setattr(leftovers, "_BEGAN", tmp_path / "began")
    forks = "import os\nfor _ in range(40):\n if os.fork() == 0: os._exit(0)"
    with orphans_end(1.0):
        with as_user(USER, Limits()) as (command, more):
            subprocess.run([*command, PYTHON, "-ISc", forks], pass_fds=more, check=True, cwd="/")
        adopted = {pid for pid, owner in owners() if owner == USER} & {*children(os.getpid())}
        assert len(adopted) == 40
        remove_leftovers(range(USER, USER + 1))
        assert not adopted & {*children(os.getpid())}


@as_root
def test_processes_that_stop_others_end_all_the_same():
    """Regression: what ended them had their number, so they could stop it, and grading waited for an hour."""
    stops = (
        "import os, signal\nprint(flush=True)\n"
        "while True:\n try: os.kill(-1, signal.SIGSTOP)\n except ProcessLookupError: pass"
    )
    started = {"stdout": subprocess.PIPE, "start_new_session": True}
    with as_user(USER, Limits()) as (command, more):
        other = subprocess.Popen([*command, PYTHON, "-ISc", stops], pass_fds=more, **started)
    try:
        assert other.stdout.readline() == b"\n"
        end_all(USER)
        assert other.wait(10) == -9
    finally:
        other.kill()
        other.communicate()


@as_root
def test_processes_that_leave_no_room_for_another_one_end_all_the_same(monkeypatch):
    """Regression: under docker's --pids-limit nothing could be started to end them."""

    def no_room(*_, **__):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    with as_user(USER, Limits()) as (command, more):
        begun = [*command, "/bin/sh", "-c", "sleep 600 & sleep 600 & echo; wait"]
        other = subprocess.Popen(begun, pass_fds=more, stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"\n"
        monkeypatch.setattr(subprocess, "run", no_room)
        end_all(USER)
        assert other.wait(10) == -signal.SIGKILL
        assert processes(USER) == []
    finally:
        other.kill()
        other.communicate()


@as_root
def test_what_a_students_commands_can_read_is_tried(tmp_path, request):
    """By a command of theirs, in the order asked, whatever the name; what is not there cannot be read."""
    (tmp_path / "shut").write_text("")
    (tmp_path / "shut").chmod(0o600)
    odd = Path(tempfile.mkdtemp(prefix="two\nlines"))
    request.addfinalizer(odd.rmdir)
    odd.chmod(0o755)
    seen = [Path("/etc/passwd"), odd, Path("/etc")]
    assert readable([tmp_path / "shut", *seen[:2], tmp_path / "gone", seen[2]]) == seen


@with_landlock
def test_only_what_is_named_can_be_written(tmp_path):
    """Files, folders, and their names, below a folder or not; also by a program that is started then."""
    for folder in ("mine/sub", "others"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "others/file").write_text("as it was")
    script = """
    for file in mine/new others/new mine/../others/file /dev/null; do (: >$file) 2>/dev/null && echo writes $file; done
    mkdir mine/folder && mkdir others/folder 2>/dev/null || echo no folder
    mv mine/new mine/sub/moved && mv mine/sub/moved others 2>/dev/null || echo not moved
    rm others/file 2>/dev/null || echo not removed
    read -r line <others/file; printf %s "$line"
    """
    number = program()
    places = [str(tmp_path / "mine"), os.devnull]
    settings = json.dumps({"filter": number, "user": None, "limits": {}, "processor": None, "writable": places})
    command = [PYTHON, "-I", "-S", enter.__file__, settings, "/bin/sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, pass_fds=[number], check=True)
    os.close(number)
    told = "writes mine/new\nwrites /dev/null\nno folder\nnot moved\nnot removed\nas it was"
    assert (done.stdout, done.stderr) == (told, "")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "mine", "moved", "others", "sub"]


@as_root
def test_a_students_commands_have_no_network():
    """A program that broke out of the pocket's kernel would have had the container's."""
    with as_user(USER, Limits()) as (command, more):
        asks = [*command, PYTHON, "-IS", "-c", "import socket; socket.socket()"]
        done = subprocess.run(asks, capture_output=True, pass_fds=more, check=False)
    assert done.returncode == -signal.SIGSYS


def test_folders_are_counted_however_deep_they_are(tmp_path):
    """Regression: a thousand folders within each other ended the thread that holds a network to its limits."""
    deep = tmp_path
    for _ in range(40):
        deep /= "d"
        deep.mkdir()
    number = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    assert [depth for _, depth in _files(number)] == [*range(1, 34)]
    os.close(number)


def test_a_folder_that_is_exchanged_for_a_pipe_holds_up_nobody(tmp_path, monkeypatch):
    """Regression: the thread that watches the limits blocked for ever on opening the pipe."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * 10)

    def exchanged(name, flags, *more, opens=os.open, **where):
        if name in ("a", "b"):
            shutil.rmtree(tmp_path / name)
            os.mkfifo(tmp_path / name)
        return opens(name, flags, *more, **where)

    top = os.open(tmp_path, os.O_RDONLY)
    monkeypatch.setattr(os, "open", exchanged)
    assert [depth for _, depth in _files(top)] == [1, 1]
    os.close(top)


@as_root
def test_what_belongs_to_a_user_of_networks_is_refused(tmp_path, monkeypatch):
    """Regression: whether a course file can be read was asked as one user, and another of them owned it."""
    (tmp_path / "c.toml").write_text("")
    (tmp_path / "c.toml").chmod(0o600)
    os.chown(tmp_path / "c.toml", FIRST_USER + 7, FIRST_USER + 7)
    monkeypatch.setattr("linklab.pocket_kernel.require", lambda: SimpleNamespace(path=Path("/kernel")))
    monkeypatch.setattr(leftovers, "_LOCK", tmp_path / "lock")
    monkeypatch.setattr(leftovers, "_WORKING", tmp_path / "working")
    monkeypatch.setattr(container, "remove_leftovers", lambda: None)
    monkeypatch.setattr(container, "readable", lambda paths: [path for path in paths if "c.toml" not in path.name])
    with pytest.raises(MissingError, match=r"c\.toml belongs to a user whom the student's commands may run as: chown"):
        ContainerEngine([tmp_path / "c.toml"]).check()


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


@as_root
def test_all_of_a_user_is_killed_before_anything_is_looked_at(tmp_path, monkeypatch):
    """Regression: to look at /proc waited for what was to be killed, which held its lock."""
    user = FIRST_USER + 97
    monkeypatch.setattr(pocket.pocket_kernel, "require", lambda: None)
    network = container.ContainerNetwork(
        Limits(), user, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1, profile="desktop", memory_mib=16
    )
    network._killer = accounts.killer(user)
    left = []
    with subprocess.Popen(["sleep", "60"], user=user, group=user, extra_groups=[]) as sleeps:
        monkeypatch.setattr(container, "end_all", lambda _: left.append(sleeps.wait(10)))
        network._kill()
    network._remove_folders()
    assert left == [-signal.SIGKILL]
    assert network._killer.poll() is not None
