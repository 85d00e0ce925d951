# SPDX-License-Identifier: BSD-3-Clause
"""What processes hold open is counted, in whatever thread."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.base import open_files
from linklab.base.processor_time import Family

HOLDS = """
import ctypes, os, sys, threading
def own_table():
    ctypes.CDLL(None).unshare(0x400)
    held = [os.open(sys.executable, os.O_RDONLY) for _ in range(20)]
    print(flush=True)
    sys.stdin.read()
threading.Thread(target=own_table).start()
"""
"""A second thread with a table of its own (unshare(2), CLONE_FILES)."""


@pytest.fixture
def holder():
    """Number of a process that runs HOLDS."""
    command = [sys.executable, "-Sc", HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        started.stdout.readline()
        yield started.pid


def test_a_table_of_a_second_thread_counts(holder):
    """Regression: only the first thread's was looked at, so files could be hidden in another one's."""
    program = os.path.realpath(sys.executable)
    assert [os.path.realpath(path) for path in open_files.paths(holder)].count(program) == 20
    assert open_files.listed([holder, holder], 10_000) == 2 * len(list(open_files.paths(holder)))
    assert open_files.count(Family(holder), 10_000) == len(list(open_files.paths(holder)))


def test_counting_ends_where_it_is_too_much(holder):
    """Of many processes the first are looked at."""

    def pids():
        yield from [holder] * 3
        raise AssertionError("a fourth is looked at")

    assert open_files.listed(pids(), 5) == 6


def test_a_process_that_has_gone_holds_nothing():
    """And is no error."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert (open_files.listed([gone.pid], 5), list(open_files.paths(gone.pid))) == (0, [])
    assert open_files.count(Family(gone.pid), 5) == 0


HOPS = """
import ctypes, os, resource, sys, time
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what loses its parent becomes a child of this process
if os.fork() == 0:
    held = [os.dup(1) for _ in range(900)]
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:
        if os.fork():
            os._exit(0)
        time.sleep(0.004)
for _ in range(300):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
print(flush=True)
while True:
    os.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/fd").stat().st_size, reason="Linux before 6.2 does not say how many are open")
def test_files_that_go_from_process_to_process_are_counted():
    """Regression: 20 processes, each of which handed its files to a child and ended, held 399,472 and had 12,020."""
    with subprocess.Popen([sys.executable, "-Sc", HOPS], stdout=subprocess.PIPE, start_new_session=True) as hops:
        try:
            hops.stdout.readline()
            family = Family(hops.pid)
            seen = [open_files.count(family, 10_000) for _ in range(20)]
        finally:
            os.killpg(hops.pid, 9)
    # of 301 processes 3 each, and of the one that moves 900 more: one of 20 looks may miss it
    assert len([number for number in seen if number > 900 + 900]) >= 15


WAITS_FOR_NOBODY = """
import time
child = os.fork() or os._exit(0)
while open(f"/proc/{child}/stat").read().rpartition(")")[2].split()[0] != "Z":
    time.sleep(0.01)
print(listed([child], 5), _held_by(child))
"""


def test_a_process_that_nobody_has_waited_for_holds_nothing():
    """An ordinary user may not look into it, as if it hid something."""
    program = Path(open_files.__file__).read_text() + WAITS_FOR_NOBODY
    ordinary = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    said = subprocess.run(["/usr/bin/python3", "-ISc", program], stdout=subprocess.PIPE, check=True, **ordinary)
    assert said.stdout == b"0 0\n"


def test_a_process_that_hides_its_files_counts_as_too_much(holder, monkeypatch):
    """Regression: a program that cannot be read, started by an ordinary user, held 995,800 and was passed over."""
    scandir = os.scandir

    def hidden(path):
        if str(path).endswith("/fd"):
            raise PermissionError(path)  # as of a process that is not dumpable (proc(5)); root would see its files
        return scandir(path)

    monkeypatch.setattr(os, "scandir", hidden)
    assert (open_files.listed([holder], 5), list(open_files.paths(holder))) == (6, [])
    monkeypatch.setattr(open_files, "_sized", lambda _: 0)  # as before Linux 6.2
    assert open_files.count(Family(holder), 5) == 6


def test_before_linux_6_2_the_names_of_files_are_counted(holder, monkeypatch):
    """Their folder has no size there."""
    monkeypatch.setattr(open_files, "_sized", lambda _: 0)
    assert open_files.count(Family(holder), 10_000) == len(list(open_files.paths(holder)))
    assert open_files.count(Family(holder), 5) == 6


def test_a_number_that_is_hidden_is_over_any_limit(holder, monkeypatch):
    """As under a security module that lets nobody look."""

    def hidden(path, **_):
        raise PermissionError(path)

    monkeypatch.setattr(os, "stat", hidden)
    assert open_files._held_by(holder) > 10**9
