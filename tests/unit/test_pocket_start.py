# SPDX-License-Identifier: BSD-3-Clause
"""The start of a pocket, as far as it goes without a kernel: given up by another thread, or refused by the machine."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab import pocket_kernel
from linklab.engine import pocket
from linklab.engine.api import Clock
from linklab.errors import BootError, EngineError


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A network whose kernel is said to be built, and which has not been started."""
    kernel = pocket_kernel.Kernel(tmp_path / "linux", "7.3.4", "0" * 12, {})
    monkeypatch.setattr(pocket_kernel, "require", lambda: kernel)
    monkeypatch.setattr(pocket, "compile_once", lambda _: None)
    return pocket.PocketNetwork(workdir=tmp_path, clock=Clock.PACED, seed=1, profile="desktop", memory_mib=64)


def test_a_network_closed_before_it_starts_is_not_started(network, monkeypatch):
    """Regression: Cancel during the editor's first stage left a kernel running for as long as the editor was open."""
    started = []
    monkeypatch.setattr(network, "_start", started.append)
    network.close()
    with pytest.raises(EngineError, match="stopped"):
        network.boot()
    assert started == []


def test_a_keeper_that_cannot_be_started_leaves_no_file_open(network, monkeypatch):
    """Regression: the sockets for the keeper and the agent stayed open."""

    def refuse(argv, fds):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(network, "_start_keeper", refuse)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BootError, match="starting its keeper"):
        network.boot()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    network.close()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_keeper_that_goes_with_its_order_unread_is_one_that_has_gone(network, monkeypatch):
    """Regression: the thread that listens to it ended with a traceback, ECONNRESET (unix(7))."""

    def start(argv, fds):
        ending = "import select, sys; select.select([int(sys.argv[1])], [], [])"
        return subprocess.Popen([sys.executable, "-c", ending, str(fds[0])], pass_fds=fds)

    monkeypatch.setattr(network, "_start_keeper", start)
    with pytest.raises(BootError, match="ended while booting, and its keeper has gone without a word"):
        network.boot()
    network.close()
