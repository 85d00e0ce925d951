# SPDX-License-Identifier: BSD-3-Clause
"""What ends a network where the threads that look at it cannot run."""

import os
import re
import select
import subprocess
import sys
import threading
import time

import pytest

from linklab.grade.guard import Guard


@pytest.fixture
def sleeper():
    """A program that sleeps, in place of a network, and a handle of it."""
    with subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"]) as one:
        handle = os.pidfd_open(one.pid)
        yield one, handle
        os.close(handle)
        one.kill()


def computing(seconds):
    """Use so much processor time."""
    until_s = time.process_time() + seconds
    while time.process_time() < until_s:
        pass


def test_a_network_ends_where_the_interpreter_is_held(sleeper):
    """Regression: an expression that took minutes over 2 MB kept every limit from being looked at meanwhile."""
    one, handle = sleeper
    stop = threading.Event()

    def tell(guard):
        while not stop.wait(0.05):
            guard.hear()

    with Guard([handle], most_s=1.0) as guard:
        thread = threading.Thread(target=tell, args=(guard,))
        thread.start()
        computing(2.5)  # other threads run meanwhile
        assert one.poll() is None
        assert not guard.fired
        held = re.compile(r"(a*)*b")  # takes some minutes; the interpreter's lock is held
        with pytest.raises(KeyboardInterrupt):
            _interrupted_once_it_has_ended(handle, lambda: held.fullmatch("a" * 32))
        stop.set()
        thread.join()
        assert one.wait(10) == -9
        assert guard.fired


def _interrupted_once_it_has_ended(handle, work):
    """Do that until the process of the handle has ended, which another process waits for."""
    watcher = [
        sys.executable,
        "-S",
        "-c",
        "import os, select, signal, sys\n"
        "select.select([int(sys.argv[1])], [], [])\n"
        "os.kill(os.getppid(), signal.SIGINT)",
        str(handle),
    ]
    with subprocess.Popen(watcher, pass_fds=[handle]):
        work()


def test_who_waits_without_computing_ends_nothing(sleeper):
    """As on a machine that is busy with something else."""
    one, handle = sleeper
    with Guard([handle], most_s=0.2) as guard:
        time.sleep(1.5)
        assert one.poll() is None
        assert not guard.fired


def test_whoever_reads_there_is_told():
    """As the process that ends all of a user's in a container."""
    reads, writes = os.pipe()
    with Guard(told=[writes], most_s=0.2) as guard:
        computing(1.5)
        assert select.select([reads], [], [], 10)[0] == [reads]
        assert os.read(reads, 10) == b"!"
        assert guard.fired
    os.close(reads)
    os.close(writes)


def test_a_guard_that_has_gone_is_noticed(sleeper):
    """It is no guard any more."""
    one, handle = sleeper
    with Guard([handle]) as guard:
        assert guard.hear()
        guard._process.kill()
        guard._process.wait()
        assert not guard.hear()
        assert not guard.fired
    assert one.poll() is None
