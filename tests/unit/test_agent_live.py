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

from linklab.agent import console
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


FOLDER_GONE = (
    "/gone: No such file or directory; the working folder was removed, renamed or replaced after the network was "
    "started: put it back, or end the network and start it in a folder that is there"
)


def shown(loop, name):
    """What a terminal has shown."""
    told = [message for message in loop.told if message["event"] == "data" and message["terminal"] == name]
    return b"".join(base64.b64decode(message["data"]) for message in told).decode()


@pytest.mark.parametrize("kind", ["shell", "console"])
def test_a_terminal_whose_folder_has_gone_says_so_and_ends(tmp_path, kind):
    """Regression: the fork went on as a second agent, and both read the same channel."""
    loop, gone = Loop(), str(tmp_path / "gone")
    if kind == "shell":
        name = loop.live.open({"node": "h1"}, [], dict(os.environ), gone)
    else:
        name = loop.live.open_console(None, dict(os.environ), {}, gone, 0.0)
    loop.until(lambda: loop.status() is not None)
    assert (loop.status(), shown(loop, name)) == (126, f"linklab: {tmp_path}{FOLDER_GONE}\r\n")


def test_a_program_that_is_not_there_is_named(tmp_path):
    """As mnexec where Mininet has been removed meanwhile."""
    loop = Loop()
    name = loop.opens(tmp_path, "no-such-program")
    loop.until(lambda: loop.status() is not None)
    assert (loop.status(), shown(loop, name)) == (126, "linklab: no-such-program: No such file or directory\r\n")


def test_what_a_slow_window_has_not_taken_stays_in_the_terminal(tmp_path):
    """The program waits, as at a terminal that has stopped, and nothing is lost when the window goes on."""
    loop = Loop()
    name = loop.opens(tmp_path, "sh", "-c", "stty raw -echo; echo ready; read go; seq 30000; echo done >done")
    loop.until(lambda: shown(loop, name) == "ready\n")
    loop.told.clear()
    loop.live.flow({"terminal": name, "on": False})
    loop.live.flow({"terminal": name, "on": False})
    loop.types(name, b"go\n")
    for _ in range(5):
        for key, _ in loop.selector.select(0.1):
            key.data()
    assert shown(loop, name) == ""
    assert not (tmp_path / "done").exists()
    loop.live.flow({"terminal": name, "on": True})
    loop.live.flow({"terminal": name, "on": True})
    loop.until(lambda: loop.status() is not None)
    assert shown(loop, name) == "".join(f"{number}\n" for number in range(1, 30001))
    assert loop.live.held == set()


def test_a_window_that_was_left_to_wait_can_be_closed(tmp_path):
    """Nothing of it stays."""
    loop = Loop()
    name = loop.opens(tmp_path, "sh", "-c", "echo ready; exec cat")
    loop.until(lambda: shown(loop, name))
    loop.live.flow({"terminal": name, "on": False})
    loop.live.hangup({"terminal": name})
    loop.until(lambda: loop.status() is not None)
    assert (loop.status(), loop.live.held, loop.live.open_ones) == (-signal.SIGHUP, set(), {})
    loop.live.flow({"terminal": name, "on": True})


def test_the_mininet_cli_does_not_hold_the_terminals_opened_before_it(tmp_path, monkeypatch):
    """Regression: a fork of the agent, it kept them open, so a closed window's shell went on while the CLI was open."""
    monkeypatch.setattr(console, "Console", lambda _: time.sleep(60))
    loop = Loop()
    shell = loop.opens(tmp_path, "sh", "-c", "echo ready; exec cat")
    loop.until(lambda: shown(loop, shell))
    cli = loop.live.open_console(None, dict(os.environ), {}, str(tmp_path), 0.0)
    time.sleep(0.3)
    loop.live.hangup({"terminal": shell})
    loop.until(lambda: loop.status() is not None, seconds=5)
    assert loop.status() == -signal.SIGHUP
    loop.live.hangup({"terminal": cli})
    loop.until(lambda: len([message for message in loop.told if message["event"] == "closed"]) == 2)


def test_a_terminal_opened_later_does_not_hold_this_one(tmp_path):
    """Closing a window hangs up its programs; regression: each shell opened later held the pty, so they ran on."""
    loop = Loop()
    first = loop.opens(tmp_path, "sh", "-c", "echo $$ >ready; exec sleep 60")
    loop.until((tmp_path / "ready").exists)
    pid = int((tmp_path / "ready").read_text())
    loop.opens(tmp_path, "sh", "-c", "echo $$ >later; exec sleep 60")
    loop.until((tmp_path / "later").exists)
    loop.live.hangup({"terminal": first})
    loop.until(lambda: loop.status() is not None)
    assert loop.status() == -signal.SIGHUP
    assert not Path(f"/proc/{pid}").exists()
    loop.live.hangup({"terminal": "t2"})
