# SPDX-License-Identifier: BSD-3-Clause
"""What keys mean while time stands still, and how a person's terminal shows them."""

import base64
import os
import pty
import select

import pytest

from linklab.terminal.clock import ClockWords
from linklab.terminal.paused_line import PausedLine
from linklab.terminal.screen import Screen


@pytest.mark.parametrize(
    ("typed", "is_for"),
    [
        (["clock resume\r"], [["resume"]]),
        (["c", "l", "o", "c", "k", " ", "r", "e", "s", "u", "m", "e", "\r"], [["resume"]]),
        (["clock\r"], [["status"]]),
        (["clock until 90s\r"], [["until", "90s"]]),
        (["r\r", "s\n"], [["resume"], ["step", "10ms"]]),
        (["route -n\r"], [b"route -n\r"]),
        (["s", "s", " -ti\r"], [b"ss -ti\r"]),
        (["sar\x7f\x7fs\r"], [b"ss\r"]),
        (["rubbish\x15", "h1 pwd\r"], [b"h1 pwd\r"]),
        (["rubbish\x03", "h1 pwd\r"], [b"h1 pwd\r"]),
        (["\x03"], [b"\x03"]),
        (["\x7f\r"], [b"\x7f", b"\r"]),
        (["h1 p\t"], [b"h1 p\t"]),
        (["\x1b[A", "\r"], [b"\x1b[A", b"\r"]),
        (["h1 pwd\rclock resume\rh2 pwd\r"], [b"h1 pwd\r", ["resume"], b"h2 pwd\r"]),
        (["né\r"], ["né\r".encode()]),
        (["né\x7fo\r"], [b"no\r"]),
        (["€\x7f", "clock\r"], [["status"]]),
        (["\x1b[Aclock resume\r"], [b"\x1b[A", ["resume"]]),
        (["h1 p\x1b[Dx\r"], [b"h1 p\x1b[D", b"x\r"]),
        (["\x1b", "[A", "clock\r"], [b"\x1b", b"[A", ["status"]]),
        (["\x1b[", "1;5", "Dclock\r"], [b"\x1b[", b"1;5", b"D", ["status"]]),
        (["\x1bO", "A", "s\r"], [b"\x1bO", b"A", ["step", "10ms"]]),
        (["\x1b[200~clock\r\x1b[201~"], [b"\x1b[200~", ["status"], b"\x1b[201~"]),
        (["\x1b", "clock\r"], [b"\x1b", ["status"]]),
        (["\x1b[", "\r"], [b"\x1b[", b"\r"]),
        (["\x1bb", "\x1bé", "r\r"], [b"\x1bb", "\x1bé".encode(), ["resume"]]),
        (["\x1b\x1b[A\r"], [b"\x1b", b"\x1b[A", b"\r"]),
    ],
)
def test_enter_says_whose_a_line_is(typed, is_for):
    """A line of `clock` is the clock's, r and s too; everything else waits for the network as it was typed."""
    line = PausedLine()
    assert [what for keys in typed for what in line.feed(keys.encode())] == is_for
    assert line.text == b""


def test_an_arrow_in_two_reads_is_no_text():
    """Regression: its rest was shown after paused>."""
    line = PausedLine()
    assert list(line.feed(b"h1 p\x1b")) == [b"h1 p\x1b"]
    assert list(line.feed(b"[Ar")) == [b"[A"]
    assert line.text == b"r"
    assert line.may_be_keys


def test_backspace_takes_a_whole_character():
    """Regression: it took one byte of its two."""
    line = PausedLine()
    assert list(line.feed("h1 é".encode() + b"\x7f")) == []
    assert line.text == b"h1 "


def test_keys_act_by_themselves_only():
    """Regression: `clock resume` took effect at its r."""
    line = PausedLine()
    assert list(line.feed(b"r")) == []
    assert line.may_be_keys
    assert line.alone() == [["resume"]]
    assert line.text == b""
    assert list(line.feed(b"ss")) == []
    assert line.alone() == [["step", "10ms"]] * 2
    assert list(line.feed(b"clock r")) == []
    assert not line.may_be_keys
    assert line.alone() == []
    assert line.take() == b"clock r"


class Connection:
    """The network's side."""

    def __init__(self):
        self.stream, self.sent = None, []

    def send(self, message):
        """Note it, input as its bytes and orders to the clock as their words."""
        self.sent.append(message["words"] if message["op"] == "clock" else base64.b64decode(message["data"]))


@pytest.fixture
def screen(monkeypatch):
    """A terminal that is open, on a pty whose other end the test reads."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "rb+", buffering=0) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        monkeypatch.setattr("sys.stdout", terminal)
        screen = Screen(Connection(), "mininet")

        def shown():
            text = ""
            while select.select([master], [], [], 0.1)[0]:
                text += os.read(master, 65536).decode()
            return text

        screen.opened, screen.shown = True, shown
        yield screen
    os.close(master)


def clock(*, paused):
    """An event of the clock."""
    return {"event": "clock", "paused": paused, "on_way": False, "text": f"network time 3.0 s, {paused=}"}


def test_a_line_is_shown_while_time_stands_still(screen):
    """And what the network shows meanwhile comes after it; what is typed when time goes on again is the network's."""
    screen._message(clock(paused=True))
    assert "r resumes" in screen.shown()
    screen._keys(b"h1 p")
    assert screen.shown().endswith("h1 p")
    screen._message({"event": "data", "data": base64.b64encode(b"late").decode()})
    screen._keys(b"wd")
    shown = screen.shown()
    assert shown.endswith("h1 pwd")
    assert "late" not in shown
    screen._message(clock(paused=False))
    assert "late" in screen.shown()
    assert screen.connection.sent == [b"h1 pwd"]
    screen._keys(b"r")
    assert screen.connection.sent == [b"h1 pwd", b"r"]


def test_pauses_and_steps_elsewhere_do_not_flood_a_terminal(screen):
    """Regression: each step in the editor's window wrote two lines to every terminal."""
    for _ in range(5):
        screen._message(clock(paused=True))
        screen._message(clock(paused=False))
    assert screen.shown().count("network time") == 1
    screen._keys(b"x")
    screen._message(clock(paused=True))
    assert screen.shown().count("r resumes") == 1
    screen._keys(b"\x1dresume\r")
    screen._message(clock(paused=False))
    assert screen.shown().count("network time") == 1


def test_r_waits_for_what_follows(screen):
    """Within that time it may be a word; after it, it resumes."""
    screen._message(clock(paused=True))
    screen._keys(b"r")
    assert 0 < screen._wait_s() <= 0.5
    screen._keys(b"oute")
    assert screen._wait_s() is None
    screen._keys(b"\x15r")
    assert screen.connection.sent == []
    screen._alone()
    assert screen.connection.sent == [["resume"]]
    assert screen._wait_s() is None


def test_the_clock_prompt_drops_the_line(screen):
    """Ctrl+] opens on an empty line, and afterwards there is none left over."""
    screen._message(clock(paused=True))
    screen._keys(b"r\x1d")
    assert screen._wait_s() is None
    screen._keys(b"resume\r")
    screen._message(clock(paused=False))
    assert screen.connection.sent == [["resume"]]


def test_what_the_network_shows_at_its_end_is_not_lost_by_a_line(screen):
    """A line that has been begun ends with the terminal."""
    screen._message(clock(paused=True))
    screen._keys(b"h1 p")
    screen._message({"event": "data", "data": base64.b64encode(b"last words").decode()})
    screen._message({"event": "closed", "status": 0})
    assert "last words" in screen.shown()


class Network:
    """A clock that can be stopped."""

    on_reached = None

    def pause(self):
        """Stop."""
        return {"now_s": 3.25, "speed": 1.0, "paused": True, "behind_s": 0.0}


def test_the_answer_to_pause_is_true_when_it_is_read():
    """Regression: a program inside printed it when time went on, and it said that the clock was paused."""
    told = []
    assert ClockWords(Network(), told.append).obey(["pause"]) == ("time was stopped at 3.250 s", 0)
    assert told[0]["paused"]
