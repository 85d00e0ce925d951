# SPDX-License-Identifier: BSD-3-Clause
"""Networks as subordinate users, for who grades without being root."""

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import pwd
import resource
import shutil
import tempfile
import threading
import time
from pathlib import Path

import pytest

from linklab.base import place
from linklab.grade import bubblewrap, subordinate, users, worker

ALONE = ("unshare", "--user", "--map-root-user", "--", "/bin/sh", "-c", "echo; read _")
"""A namespace that anybody may make, with no user but oneself."""
NOBODY = 65_534
PR_GET_PDEATHSIG, PR_SET_PDEATHSIG = 2, 1


def apart(work):
    """What a function gives in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=lambda: theirs.send(work()))
    process.start()
    theirs.close()
    try:
        assert ours.poll(60)
        return ours.recv()
    finally:
        process.kill()
        process.join()


def as_nobody(work, user=NOBODY, group=NOBODY):
    """The same in a process of an ordinary user, by default one who has nothing."""

    def become():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
        return work()

    return apart(become)


@pytest.fixture
def everybodys():
    """A folder in which every user may write; pytest's are its user's alone."""
    with tempfile.TemporaryDirectory(prefix="linklab-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture
def a_newuidmap(monkeypatch, everybodys):
    """One is installed."""
    for name in ("newuidmap", "newgidmap"):
        (everybodys / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{everybodys}:{os.environ['PATH']}")


def allowed(why):
    """Skip where the machine allows no user namespaces."""
    if "not permitted" in why or "No space left" in why:
        pytest.skip(f"no user namespaces here: {why}")


def test_who_has_entered_is_root_inside_and_the_same_user_outside(monkeypatch, a_newuidmap, everybodys):
    """Its files are its user's, its folders have its user's number, and it still ends with its parent."""
    monkeypatch.setattr(subordinate, "_MAKE", ALONE)

    def work():
        libc, heard = ctypes.CDLL(None), ctypes.c_int()
        libc.prctl(PR_SET_PDEATHSIG, 2)
        before = os.geteuid()
        why = subordinate.enter()
        libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(heard))
        (everybodys / "file").touch()
        return before, why, os.geteuid(), place.user_number(), heard.value

    before, why, after, named, heard = as_nobody(work)
    allowed(why)
    assert (why, after, named, heard) == ("", 0, before, 2)
    assert (everybodys / "file").stat().st_uid == before


def test_a_namespace_without_other_users_gives_none(monkeypatch, a_newuidmap):
    """Then networks run as the user who grades."""
    monkeypatch.setattr(subordinate, "_MAKE", ALONE)
    why, free = as_nobody(lambda: (subordinate.enter(), users.numbers()))
    allowed(why)
    assert (why, free) == ("", range(0))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (("/bin/sh", "-c", "echo 'unshare: no line matching user' >&2; exit 1"), "unshare: no line matching user"),
        (("/bin/false",), "unshare fails without a word"),
    ],
)
def test_why_there_is_no_namespace_is_told(make, why, monkeypatch, a_newuidmap):
    """Nothing has changed then."""
    monkeypatch.setattr(subordinate, "_MAKE", make)
    assert as_nobody(lambda: (subordinate.enter(), os.geteuid() == 0, place.user_number() == os.getuid())) == (
        why,
        False,
        True,
    )


def test_a_newuidmap_that_hangs_ends_with_the_trial(monkeypatch, a_newuidmap, everybodys):
    """Regression: unshare alone was ended, and what it had started ran on, once for each submission."""
    script = f"sleep 60 & echo $! >{everybodys}/started; wait"
    monkeypatch.setattr(subordinate, "_MAKE", ("/bin/sh", "-c", script))
    monkeypatch.setattr(subordinate, "_MAKE_S", 5.0)
    assert as_nobody(subordinate.enter) == "unshare makes no namespace within 5 s"
    left = Path("/proc", (everybodys / "started").read_text().strip(), "stat")
    until = time.monotonic() + 10
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # once its new parent has reaped it
        while ") Z" not in left.read_text() and time.monotonic() < until:
            time.sleep(0.05)
    assert time.monotonic() < until


def test_a_process_with_threads_cannot_enter(monkeypatch, a_newuidmap):
    """setns(2) refuses it with words that say nothing."""
    monkeypatch.setattr(subordinate, "_MAKE", ALONE)

    def work():
        ended = threading.Event()
        threading.Thread(target=ended.wait).start()
        try:
            return subordinate.enter()
        finally:
            ended.set()

    why = as_nobody(work)
    allowed(why)
    assert why == "a process with threads can enter no user namespace"


@pytest.mark.parametrize(
    ("there", "named"),
    [
        ((), "unshare is not installed: sudo apt-get install util-linux"),
        (("unshare",), "newuidmap is not installed: sudo apt-get install uidmap"),
        (("unshare", "newuidmap"), "newgidmap is not installed: sudo apt-get install uidmap"),
    ],
)
def test_a_program_that_is_missing_is_named_with_its_package(there, named, monkeypatch, everybodys):
    """Debian's base system has no newuidmap."""
    for name in there:
        (everybodys / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(everybodys))
    assert as_nobody(subordinate.enter) == named


def test_what_makes_no_namespace_in_time_is_ended(monkeypatch, a_newuidmap):
    """Such as newuidmap that waits for a directory service."""
    monkeypatch.setattr(subordinate, "_MAKE", ("/bin/sleep", "60"))
    monkeypatch.setattr(subordinate, "_MAKE_S", 0.2)
    assert as_nobody(subordinate.enter) == "unshare makes no namespace within 0.2 s"


def test_a_home_is_not_roots_afterwards(monkeypatch, a_newuidmap):
    """Regression: without HOME, the kernel in the user's own cache was not found."""
    monkeypatch.setattr(subordinate, "_MAKE", ALONE)
    monkeypatch.delenv("HOME", raising=False)

    def work():
        before = Path.home()
        return subordinate.enter(), before, Path.home()

    why, before, after = as_nobody(work)
    allowed(why)
    assert (why, after) == ("", before)


def test_a_low_soft_limit_of_processes_binds_no_other_user(monkeypatch, a_newuidmap):
    """That of who makes a namespace holds for all in it; what is asked for is the hard limit."""
    monkeypatch.setattr(subordinate, "_MAKE", ALONE)

    def work():
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        resource.setrlimit(resource.RLIMIT_NPROC, (50, hard))
        return subordinate.enter(), resource.getrlimit(resource.RLIMIT_NPROC) == (hard, hard)

    why, raised = as_nobody(work)
    allowed(why)
    assert (why, raised) == ("", True)


@pytest.mark.parametrize(
    ("uids", "gids", "found"),
    [
        ("0 0 4294967295\n", "0 0 4294967295\n", range(0x7000_0000, 0x7FFE_0000)),
        ("0 1000 1\n1 165536 65535\n", "0 1000 1\n1 165536 65535\n", range(20_000, 60_000)),
        ("0 1000 1\n1 100000 65535\n", "0 1000 1\n1 100000 59999\n", range(20_000, 60_000)),
        ("0 1000 1\n1 100000 65535\n", "0 1000 1\n1 100000 59998\n", range(0)),  # few would be had by several at once
        (f"0 0 65536\n{0x7000_0000} 65536 39999\n", "0 0 4294967295\n", range(20_000, 60_000)),
        ("0 1000 1\n", "0 1000 1\n", range(0)),
        ("0 1000 1\n1 165536 65535\n", "0 1000 1\n", range(0)),
        ("0 0 25000\n30000 90000 30000\n", "0 0 65536\n", range(0)),
        ("", "", range(0)),
    ],
)
def test_the_numbers_of_other_users_are_nobodys(uids, gids, found):
    """Those that no distribution assigns, or in a small namespace those between people's and the system's."""
    assert users.unused(uids, gids) == found


def given(monkeypatch, pid, running=(), count=100):
    """Users for that many networks of a process with that number, beside processes as (number, owner)."""
    monkeypatch.setattr(users, "owners", lambda: running)
    monkeypatch.setattr(users, "_network", itertools.count())
    monkeypatch.setattr(users, "_locks", {})  # as a process has it that has just begun
    monkeypatch.setattr(users.os, "getpid", lambda: pid)
    return [users.take(range(20_000, 60_000)) for _ in range(count)]


def test_two_networks_of_a_small_namespace_have_different_users(monkeypatch, tmp_path):
    """And so have those of the processes that grade beside each other."""
    monkeypatch.setattr(users.place, "of_account", lambda _: tmp_path)
    found = {*given(monkeypatch, 4000), *given(monkeypatch, 4001)}
    assert len(found) == 200
    assert found <= set(range(20_000, 60_000))


def test_no_network_has_the_user_of_one_that_runs(monkeypatch):
    """Regression: the numbers of two processes that grade, 625 apart, gave both of their networks one user."""
    monkeypatch.setattr(users, "_lock", lambda _: True)  # where no file can be locked
    first = given(monkeypatch, 4000)
    second = given(monkeypatch, 4625, [(1, user) for user in first])
    assert len({*first, *second}) == 200


def test_two_that_ask_at_the_same_moment_get_different_users(monkeypatch, tmp_path):
    """Regression: a user without a process yet was taken twice; it is locked now, until who took it has ended."""
    monkeypatch.setattr(users.place, "of_account", lambda _: tmp_path)
    first = given(monkeypatch, 4000)
    (locks,) = users._locks.values()
    second = given(monkeypatch, 4625)
    assert len({*first, *second}) == 200
    os.close(locks)
    assert given(monkeypatch, 5250) == first


def with_subordinates():
    """An account of this machine that has subordinate users: ours, or as root the first in /etc/subuid."""
    names = [pwd.getpwuid(os.getuid()).pw_name]
    if os.geteuid() == 0:
        names = [line.partition(":")[0] for line in Path("/etc/subuid").read_text().splitlines()]
    for name in names:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    return None


def test_what_is_installed_here_makes_one():
    """unshare and newuidmap as they are, for a user who has subordinate ones."""
    account = with_subordinates() if Path("/etc/subuid").exists() else None
    if account is None or shutil.which("newuidmap") is None:
        pytest.skip("nobody here has subordinate users, or there is no newuidmap (Debian: uidmap)")
    user, group = account.pw_uid, account.pw_gid
    why, maps, free = as_nobody(
        lambda: (subordinate.enter(), Path("/proc/self/uid_map").read_text(), users.numbers()), user, group
    )
    allowed(why)
    assert why == ""
    assert maps.split()[:3] == ["0", str(user), "1"]
    assert free == range(20_000, 60_000)


@pytest.mark.parametrize(
    ("options", "entered"),
    [({}, 1), ({"sandboxed": True}, 1), ({"sandboxed": False}, 0), ({"sandboxed": True, "container": True}, 0)],
)
def test_a_submission_is_graded_among_subordinate_users(options, entered, monkeypatch, tmp_path):
    """Before grading has threads; not what is trusted, and not where the container is the sandbox."""
    seen = []
    monkeypatch.setattr(subordinate, "enter", lambda: seen.append(threading.active_count()) or "")
    monkeypatch.setattr(worker, "graded", lambda *_: worker.failed(repr(seen)))
    (tmp_path / "work").mkdir()

    def work():
        os.chdir(tmp_path / "work")
        return worker._work(worker.Unit("a.zip", b"", None, 60.0, options), "a.zip", lambda _: None).report.notes

    assert apart(work) == (repr([1] * entered),)


def test_who_is_stopped_while_entering_leaves_no_folder(monkeypatch, tmp_path):
    """Regression: the folder of the submission stayed."""

    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(subordinate, "enter", stopped)
    (tmp_path / "unit/work").mkdir(parents=True)

    def work():
        os.chdir(tmp_path / "unit/work")
        with contextlib.suppress(KeyboardInterrupt):
            worker._work(worker.Unit("a.zip", b"", None, 60.0), "a.zip", lambda _: None)
        return (tmp_path / "unit").exists()

    assert apart(work) is False


def test_why_networks_are_no_users_of_their_own_is_told(monkeypatch, everybodys):
    """The doctor says it, with the cure; what tries it is a process of its own, so that ours stays who it is."""
    (everybodys / "unshare").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(everybodys))
    assert as_nobody(lambda: (bubblewrap.as_whom(), os.geteuid() == 0)) == (
        "as the user who grades, without a capability, because no network can have a subordinate user of its own "
        "(newuidmap is not installed: sudo apt-get install uidmap)",
        False,
    )
