# SPDX-License-Identifier: BSD-3-Clause
"""What looks at a network where the threads that do so cannot run."""

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from linklab.grade.guard import FILES, PROCESSES, RUNS, NetworkGuard
from linklab.grade.looks import Bounds

WIDE = Bounds(processor_s=600, own_mib=4096, processes=2048, busy=16, tables_mib=256, sockets=4608, held=200_000)
NO_MEMORY = replace(WIDE, own_mib=0)
TOOK_MEMORY = "the network took more than 0 MiB beside its kernel's memory and was stopped"
LONG_S = 3.0
"""Several times as long as a guard waits for a word."""


@pytest.fixture
def sleeper():
    """A program that sleeps, in place of a network, and a handle of it."""
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) as one:
        handle = os.pidfd_open(one.pid)
        yield one, handle
        one.kill()
        os.close(handle)


@contextmanager
def telling(guard, *words):
    """A thread that tells the guard something all the time."""
    stop = threading.Event()

    def tell():
        while not stop.wait(0.1):
            for word in words:
                guard.tell(word)

    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def ended(handle, within_s=30):
    """Whether the process of a handle ends in time."""
    return bool(select.select([handle], [], [], within_s)[0])


@contextmanager
def interrupted_at_the_end_of(handle):
    """Ctrl+C for this process once that of the handle has ended."""
    waits = "import os, select, signal, sys; select.select([int(sys.argv[1])], [], []); os.kill(os.getppid(), 2)"
    program = [sys.executable, "-S", "-c", waits, str(handle)]
    with subprocess.Popen(program, pass_fds=[handle]), pytest.raises(KeyboardInterrupt):
        yield


def test_limits_hold_where_the_interpreter_is_held(sleeper):
    """Regression: an expression that took minutes over 2 MB kept every limit from being looked at meanwhile."""
    one, handle = sleeper
    with NetworkGuard(NO_MEMORY, keeper=one.pid, handles=[handle]) as guard, telling(guard, RUNS, PROCESSES, FILES):
        time.sleep(LONG_S)
        assert not ended(handle, 0)  # it is told of looks
        with interrupted_at_the_end_of(handle):
            re.fullmatch(r"(a*)*b", "a" * 40)  # other threads do not run meanwhile
        assert guard.said == TOOK_MEMORY
        assert one.wait() == -signal.SIGKILL


@pytest.mark.parametrize("words", [(RUNS, PROCESSES), (RUNS, FILES)])
def test_limits_hold_where_a_look_does_not_come_to_its_end(sleeper, words):
    """A thread that looks needs the interpreter's lock for each process, and may get it a hundred times a second."""
    one, handle = sleeper
    with NetworkGuard(NO_MEMORY, keeper=one.pid, handles=[handle]) as guard, telling(guard, *words):
        assert ended(handle)
        assert guard.said == TOOK_MEMORY


def test_what_keeps_within_its_limits_goes_on_also_where_nobody_looks(sleeper):
    """However long the grader reads."""
    one, handle = sleeper
    with NetworkGuard(WIDE, keeper=one.pid, handles=[handle]) as guard:
        assert not ended(handle, LONG_S)
        assert guard.said == ""


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ({"processor_s": -1}, "the network took more than -1 s of processor time and was stopped"),
        ({"processes": -3}, "the network had more than -3 processes and was stopped"),
        ({"busy": -1}, "the network had more than -1 programs of the machine compute at once and was stopped"),
        ({"tables_mib": 0}, "tables of pages and open files of more than 0 MiB were made inside"),
        ({"held": -1}, "more than -1 files were held open inside"),
    ],
    ids=["processor", "processes", "busy", "tables", "files"],
)
def test_each_limit_is_looked_at(sleeper, bound, said):
    """By the same sentences as those of the grader's own looks."""
    one, handle = sleeper
    with NetworkGuard(replace(WIDE, **bound), keeper=one.pid, handles=[handle]) as guard:
        assert ended(handle)
        assert guard.said.startswith(said)
        assert guard.said.endswith("was stopped")


def test_in_a_container_a_network_ends_that_nobody_looks_at():
    """The grader alone can see what is written there, so where it is silent, whatever kills all of a user's is told."""
    reads, writes = os.pipe()
    with NetworkGuard(WIDE, user=2**31 - 5, told=[writes], silent=2) as guard:
        with telling(guard, RUNS):
            assert not ended(reads, LONG_S)
        assert ended(reads)
        assert os.read(reads, 10) == b"!"
        assert guard.said == "the network was not looked at while what it said was read, and was stopped"
    os.close(reads)
    os.close(writes)


def test_a_guard_that_has_gone_is_noticed(sleeper):
    """It is no guard any more."""
    one, handle = sleeper
    with NetworkGuard(WIDE, keeper=one.pid, handles=[handle]) as guard:
        assert guard.tell(RUNS)
        guard._process.kill()
        guard._process.wait()
        assert not guard.tell(RUNS)
        assert guard.said == ""
    assert not ended(handle, 0)


def test_a_guard_ends_with_who_started_it(sleeper):
    """Nothing of a grader that was killed stays."""
    one, handle = sleeper
    guard = NetworkGuard(WIDE, keeper=one.pid, handles=[handle])
    guards = os.pidfd_open(guard._process.pid)
    guard._in.close()  # as the end of a process does
    assert ended(guards)
    guard.close()
    os.close(guards)
    assert not ended(handle, 0)
