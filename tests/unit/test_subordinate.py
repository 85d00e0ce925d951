# SPDX-License-Identifier: BSD-3-Clause
"""Networks as subordinate users, for who grades without being root."""

import ctypes
import multiprocessing
import os
import tempfile
import threading
from pathlib import Path

import pytest

from linklab.base import place
from linklab.grade import bubblewrap, subordinate

ALONE = ("unshare", "--user", "--map-root-user", "--", "/bin/sh", "-c", "echo; read _")
"""A namespace that anybody may make, with no user but oneself."""
NOBODY = 65_534
PR_GET_PDEATHSIG, PR_SET_PDEATHSIG = 2, 1


def as_nobody(work):
    """What a function gives in a process of an ordinary user."""

    def run(channel):
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        channel.send(work())

    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(theirs,))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()


@pytest.fixture
def everybodys():
    """A folder in which every user may write; pytest's are its user's alone."""
    with tempfile.TemporaryDirectory(prefix="linklab-test-") as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture
def a_newuidmap(monkeypatch, everybodys):
    """One is installed."""
    (everybodys / "newuidmap").symlink_to("/bin/true")
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
    why, users = as_nobody(lambda: (subordinate.enter(), bubblewrap._users()))
    allowed(why)
    assert (why, users) == ("", range(0))


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


def test_a_process_with_threads_cannot_enter(monkeypatch, a_newuidmap):
    """The machine's kernel refuses it, and says so."""
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
    assert why == "Invalid argument"


def test_without_newuidmap_its_package_is_named(monkeypatch, tmp_path):
    """Debian's base system does not have it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert as_nobody(subordinate.enter) == "newuidmap is not installed: sudo apt-get install uidmap"


@pytest.mark.parametrize(
    ("uids", "gids", "found"),
    [
        ("0 0 4294967295\n", "0 0 4294967295\n", range(2**30, 2**31)),
        ("0 1000 1\n1 165536 65535\n", "0 1000 1\n1 165536 65535\n", range(20_000, 60_000)),
        ("0 1000 1\n1 100000 65535\n", "0 1000 1\n1 100000 29999\n", range(20_000, 30_000)),
        ("0 1000 1\n", "0 1000 1\n", range(0)),
        ("0 1000 1\n1 165536 65535\n", "0 1000 1\n", range(0)),
        ("0 0 25000\n30000 90000 30000\n", "0 0 65536\n", range(30_000, 60_000)),
        ("", "", range(0)),
    ],
)
def test_the_numbers_of_other_users_are_nobodys(uids, gids, found):
    """Those that no distribution assigns, or in a small namespace those between people's and the system's."""
    assert bubblewrap.unused(uids, gids) == found


def test_two_networks_of_a_small_namespace_have_different_users(monkeypatch):
    """And so have those of the processes that grade beside each other."""
    monkeypatch.setattr(bubblewrap.os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap, "why_no_other_user", lambda: "")
    monkeypatch.setattr(bubblewrap, "_users", lambda: range(20_000, 60_000))
    found = set()
    for pid in (4000, 4001):
        monkeypatch.setattr(bubblewrap.os, "getpid", lambda pid=pid: pid)
        found |= {bubblewrap.another_user() for _ in range(100)}
    assert len(found) == 200
    assert found <= set(range(20_000, 60_000))


def test_what_is_installed_here_makes_one(monkeypatch):
    """unshare and newuidmap as they are; for a user who has subordinate ones."""
    if os.geteuid() == 0:
        pytest.skip("root needs none")
    why, maps = as_nobody(lambda: (subordinate.enter(), Path("/proc/self/uid_map").read_text()))
    if why:
        pytest.skip(why)
    assert len(maps.splitlines()) == 2
    assert maps.split()[:3] == ["0", str(os.getuid()), "1"]


def test_why_networks_are_no_users_of_their_own_is_told(monkeypatch, tmp_path):
    """The doctor says it, with the cure; what tries it is a process of its own, so that ours stays who it is."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert as_nobody(lambda: (bubblewrap.as_whom(), os.geteuid() == 0)) == (
        "as the user who grades, without a capability, because no network can have a subordinate user of its own "
        "(newuidmap is not installed: sudo apt-get install uidmap)",
        False,
    )
