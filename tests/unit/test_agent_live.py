# SPDX-License-Identifier: BSD-3-Clause
"""Terminals for a person, on ptys of this machine, without the agent around them."""

import base64
import contextlib
import gc
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("mininet", reason="needs the mininet package")

from linklab.agent.live import LiveTerminals


@pytest.fixture(autouse=True)
def hangups():
    """A hangup is ignored, as in what nohup(1) starts; a program in a terminal is not to inherit that."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


class Loop:
    """The agent's loop in small."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.told = []
        self.live = LiveTerminals(self.told.append, self.watch, self.unwatch)

    def watch(self, file, handler, events=selectors.EVENT_READ):
        """As the agent's."""
        self.selector.register(file, events, handler)

    def unwatch(self, file):
        """As the agent's."""
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(file)

    def until(self, done, seconds=20):
        """Serve until `done()`."""
        end = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < end, f"not within {seconds} s: {self.told[-1:]}"
            for key, _ in self.selector.select(0.1):
                key.data()

    def opens(self, tmp_path, *argv):
        """A program in a terminal; its name."""
        return self.live.open({"node": "h1", "argv": list(argv)}, [], dict(os.environ), str(tmp_path))

    def types(self, name, data):
        """Keys."""
        self.live.input({"terminal": name, "data": base64.b64encode(data).decode()})

    def status(self):
        """Exit status of what has ended, else None."""
        return next((message["status"] for message in self.told if message["event"] == "closed"), None)


def test_long_input_arrives_whole(tmp_path):
    """300 KB into a program that begins to read late; regression: what the pty had no room for was lost."""
    loop = Loop()
    name = loop.opens(tmp_path, "sh", "-c", "stty raw -echo; echo ready; sleep 0.3; head -c 300000 | cksum >sum")
    loop.until(lambda: any(message["event"] == "data" for message in loop.told))
    data = b"".join(b"%07d\n" % number for number in range(37500))
    loop.types(name, data[:200000])
    loop.types(name, data[200000:])
    loop.until(lambda: loop.status() is not None)
    assert (tmp_path / "sum").read_text() == subprocess.check_output(["cksum"], input=data).decode()
    assert not loop.live.writers
    assert not loop.live.pending


def open_files():
    """(descriptor, what it is) of all that this process has open."""
    found = set()
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            found.add((path.name, path.readlink()))
    return {(name, target) for name, target in found if not str(target).startswith("/proc/")}


def test_input_to_a_program_that_never_reads_stops_nothing(tmp_path):
    """Another terminal goes on, and closing the window closes everything."""
    gc.collect()  # what earlier tests left to be closed is closed now, not while we count
    loop = Loop()
    before = open_files()
    name = loop.opens(tmp_path, "sh", "-c", "stty raw -echo; echo ready; exec sleep 60")
    loop.until(lambda: any(message["event"] == "data" for message in loop.told))
    loop.types(name, b"x" * 500000)
    assert loop.live.pending[name]
    other = loop.opens(tmp_path, "sh", "-c", "read word; echo got $word >word")
    loop.types(other, b"it\n")
    loop.until(lambda: loop.status() is not None)
    assert (tmp_path / "word").read_text() == "got it\n"
    loop.told.clear()
    loop.live.hangup({"terminal": name})
    loop.until(lambda: loop.status() is not None)
    assert (loop.live.pending, loop.live.writers, loop.live.open_ones) == ({}, {}, {})
    assert open_files() - before == set()
