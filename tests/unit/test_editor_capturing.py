# SPDX-License-Identifier: BSD-3-Clause
"""Captures from the editor's menus: into a file, ended by the menu, and what is said of them."""

import time
from types import SimpleNamespace

import pytest
from test_capture_session import HEAD, ScriptedConnection, packet, said

from linklab.editor import capturing as module
from linklab.editor.capturing import Capturing
from linklab.linux import pcapng


class ImmediateRunner:
    """Does orders at once, and what is posted when it is asked to."""

    def __init__(self, session):
        self.session, self.posted = session, []

    def order(self, work, then, failed):
        """In the same thread."""
        then(work(self.session))

    def post(self, do):
        """Keep it, as the window's queue does."""
        self.posted.append(do)

    def take(self):
        """Do what was posted."""
        while self.posted:
            self.posted.pop(0)()


@pytest.fixture
def begun(tmp_path):
    """A window's captures over a scripted network, and what the window has said."""
    connection, told = ScriptedConnection(), []
    server = SimpleNamespace(connect=lambda: connection, workdir=tmp_path, name="Lab 8")
    runner = ImmediateRunner(SimpleNamespace(server=server))
    window = SimpleNamespace(say=lambda words, bad=False: told.append((str(words), bad)))
    return Capturing(window, runner), connection, runner, told


def until(runner, true):
    """Take what is posted until something holds."""
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        runner.take()
        time.sleep(0.01)


def test_a_capture_goes_to_a_file_named_after_its_interface(begun, tmp_path):
    """The menu ends it; the line at the bottom says what it has come to."""
    capturing, connection, runner, told = begun
    (tmp_path / "h1-eth0.pcapng").touch()
    capturing.begin("h1", "h1-eth0", into_wireshark=False)
    assert list(capturing.running) == ["h1-eth0"]
    (tmp_path / connection.folder.name / "000001").write_bytes(HEAD + packet(5) + packet(6))
    connection.plan.append([said({"listens": ["h1:h1-eth0"]})])
    until(runner, lambda: any("right-click to stop" in words for words, _ in told))
    connection.plan.append([said({"ended": "stopped"}), {"event": "closed", "status": 0}])
    capturing.stop("h1-eth0")
    until(runner, lambda: told[-1][0].startswith("captured"))
    assert capturing.running == {}
    assert told[-1] == (f"captured: 2 packets to {tmp_path / 'h1-eth0-2.pcapng'}", False)
    kinds = [kind for kind, _ in pcapng.BlockReader().feed((tmp_path / "h1-eth0-2.pcapng").read_bytes())]
    assert kinds.count(pcapng.PACKET) == 2


def test_what_cannot_be_captured_is_said(begun):
    """In the words of the program inside."""
    capturing, connection, runner, told = begun
    connection.plan.append([said({"error": "h1 has no interface h1-eth0"})])
    capturing.begin("h1", "h1-eth0", into_wireshark=False)
    until(runner, lambda: told[-1] == ("h1 has no interface h1-eth0", True))
    assert capturing.running == {}


def test_wireshark_gets_the_stream(begun, tmp_path, monkeypatch):
    """Through a pipe, from the first byte."""
    capturing, connection, runner, told = begun
    shown = tmp_path / "shown"
    monkeypatch.setattr(module.wireshark, "started", lambda: (None, shown.open("wb")))
    capturing.begin("h1", "h1-eth0", into_wireshark=True)
    (tmp_path / connection.folder.name / "000001").write_bytes(HEAD + packet(5))
    connection.plan += [[said({"listens": ["h1:h1-eth0"]})], [], [{"event": "closed", "status": 0}]]
    until(runner, lambda: told[-1][0].startswith("captured"))
    assert shown.read_bytes().startswith(HEAD + packet(5))
