# SPDX-License-Identifier: BSD-3-Clause
"""A person's terminal as the screen of one inside, against a network played by the test."""

import base64
import contextlib
import os
import pty
import socket
import termios
import threading
import time

import pytest

from linklab.engine.frames import FrameStream
from linklab.terminal import screen
from linklab.terminal.attach import Connection
from linklab.terminal.screen import Screen


@pytest.fixture
def network():
    """The person's connection, and the network's side of it."""
    ours, networks = socket.socketpair()
    connection, side = Connection(ours), FrameStream(networks)
    yield connection, side
    connection.close()
    side.close()


@pytest.fixture
def streams(tmp_path, monkeypatch):
    """Take a file for standard input, and another for standard output."""
    with contextlib.ExitStack() as stack:

        def use(keys):
            monkeypatch.setattr(screen.sys, "stdin", keys)
            picture = stack.enter_context((tmp_path / "picture").open("w"))
            monkeypatch.setattr(screen.sys, "stdout", picture)
            return tmp_path / "picture"

        yield use


def test_a_file_is_typed_whole_and_no_faster_than_the_network_takes_it(tmp_path, network, streams):
    """Then Ctrl+D; regression: a plain file was cut after 1 MiB."""
    connection, side = network
    text = b"".join(b"echo %07d\n" % number for number in range(250_000))
    (tmp_path / "commands").write_bytes(text)
    typed, most = [], [0]

    def serve():
        waiting = []
        while True:
            for message in side.receive(0.05) or []:
                if message["op"] == "open":
                    side.send({"event": "opened"})
                elif message["op"] == "input":
                    typed.append(base64.b64decode(message["data"]))
                    waiting.append(len(message["data"]))
            most[0] = max(most[0], sum(waiting))
            if waiting and (sum(waiting) >= screen.MOST_UNTAKEN or typed[-1] == b"\x04"):
                for taken in waiting:
                    side.send({"event": "typed", "bytes": taken})
                waiting.clear()
            if typed[-1:] == [b"\x04"]:
                side.send({"event": "closed", "status": 7})
                return

    with (tmp_path / "commands").open() as keys:
        streams(keys)
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        assert Screen(connection, "h1").show() == 7
        server.join(5)
    assert b"".join(typed) == text + b"\x04"
    assert screen.MOST_UNTAKEN <= most[0] < screen.MOST_UNTAKEN + 2 * screen.READ_BYTES


@pytest.mark.parametrize("text", [b"sleep 1", b"sleep 1\n", b""])
def test_the_end_of_the_input_ends_a_shell_that_was_not_listening(tmp_path, network, streams, monkeypatch, text):
    """Regression: Ctrl+D before a prompt, while a command ran, or after a line without an Enter was lost for ever."""
    monkeypatch.setattr(screen, "END_AGAIN_S", 0.05)
    connection, side = network
    (tmp_path / "commands").write_bytes(text)
    heard = []

    def serve():
        while heard.count(b"\x04") < 4:
            for message in side.receive(0.05) or []:
                if message["op"] == "open":
                    side.send({"event": "opened"})
                elif message["op"] == "input":
                    heard.append(base64.b64decode(message["data"]))
                    side.send({"event": "typed", "bytes": len(message["data"])})
        side.send({"event": "closed", "status": 7})

    with (tmp_path / "commands").open() as keys:
        streams(keys)
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        assert Screen(connection, "h1").show() == 7
        server.join(5)
    whole = text if text.endswith(b"\n") or not text else text + b"\n"
    assert b"".join(heard) == whole + b"\x04" * heard.count(b"\x04")


def test_the_end_of_the_input_waits_while_time_stands_and_until_the_network_has_taken_it(
    tmp_path, network, streams, monkeypatch
):
    """A network that takes nothing is not sent one Ctrl+D after the other."""
    monkeypatch.setattr(screen, "END_AGAIN_S", 0.02)
    connection, side = network
    (tmp_path / "commands").write_bytes(b"")
    heard = []

    def listen(within_s):
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            for message in side.receive(0.02) or []:
                if message["op"] == "input":
                    heard.append(message["data"])

    def serve():
        side.send({"event": "opened"})
        listen(0.3)
        assert len(heard) == 1
        paused = {"event": "clock", "paused": True, "on_way": False, "speed": 1.0, "text": "paused"}
        side.send(paused)
        side.send({"event": "typed", "bytes": len(heard[0])})
        listen(0.3)
        assert len(heard) == 1
        side.send({**paused, "paused": False})
        listen(0.3)
        assert len(heard) == 2
        side.send({"event": "closed", "status": 0})

    with (tmp_path / "commands").open() as keys:
        streams(keys)
        failed = []

        def served():
            try:
                serve()
            except AssertionError as error:
                failed.append(error)
                side.send({"event": "closed", "status": 1})

        server = threading.Thread(target=served, daemon=True)
        server.start()
        assert Screen(connection, "h1").show() == 0, failed
        server.join(5)


def once_raw(keyboard):
    """Wait until the screen has the terminal: what was typed before is dropped."""
    while termios.tcgetattr(keyboard)[3] & termios.ICANON:
        time.sleep(0.01)
    time.sleep(0.1)


def test_quit_leaves_a_network_that_takes_nothing(network, streams):
    """Regression: with the buffer full of keys the terminal waited for room, and no key helped."""
    connection, side = network
    keyboard, terminal = pty.openpty()
    side.send({"event": "opened"})

    def presses():
        once_raw(keyboard)
        for _ in range(2000):
            os.write(keyboard, b"\x1b[A" * 300)
        time.sleep(0.2)
        os.write(keyboard, b"\x1dquit\r")

    with os.fdopen(terminal) as keys:
        picture = streams(keys)
        threading.Thread(target=presses, daemon=True).start()
        assert Screen(connection, "h1").show() == 0
    os.close(keyboard)
    assert "clock>" in picture.read_text()


def test_a_window_that_changes_while_the_terminal_opens_has_its_new_size(network, streams, monkeypatch, tmp_path):
    """Regression: on a busy machine the size stayed 24 x 80, because a change was told to open terminals alone."""
    connection, side = network
    sizes = [os.terminal_size((80, 24)), os.terminal_size((100, 30))]
    monkeypatch.setattr(screen.shutil, "get_terminal_size", lambda: sizes[0] if len(sizes) == 2 else sizes[-1])
    (tmp_path / "commands").write_bytes(b"")
    told = []

    def serve():
        while True:
            for message in side.receive(0.05) or []:
                told.append((message["op"], message.get("rows"), message.get("columns")))
                if message["op"] == "open":
                    del sizes[0]
                    side.send({"event": "opened"})
                elif message["op"] == "input":
                    side.send({"event": "closed", "status": 0})
                    return

    with (tmp_path / "commands").open() as keys:
        streams(keys)
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        assert Screen(connection, "h1").show() == 0
        server.join(5)
    assert told[:2] == [("open", 24, 80), ("resize", 30, 100)]


def test_quit_leaves_before_the_terminal_has_opened(network, streams):
    """As at a paused network, which opens none."""
    connection, _ = network
    keyboard, terminal = pty.openpty()

    def presses():
        once_raw(keyboard)
        os.write(keyboard, b"ls\r\x1dquit\r")

    with os.fdopen(terminal) as keys:
        streams(keys)
        threading.Thread(target=presses, daemon=True).start()
        assert Screen(connection, "h1").show() == 0
    os.close(keyboard)
