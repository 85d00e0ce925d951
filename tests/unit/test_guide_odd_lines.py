# SPDX-License-Identifier: BSD-3-Clause
"""Lines and outputs that nobody expects: the guide goes on, and so does the network."""

import shutil
import threading

import pytest
from test_guide_collect import answered, command, desk, has_ended, shows, wait

from linklab.guide import marks
from linklab.guide.evidence import EditorEvidence, StateEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.marks import MarkedTerminal
from linklab.lab.model import find_lab, load_lab
from linklab.run.workfolder import WorkFolder

__all__ = ["desk"]


@pytest.mark.parametrize(
    "line",
    [
        "ip link set dev",
        "ip link set",
        'ifconfig h1-eth0 "" up',
        "ip addr add dev",
        "tc qdisc add dev",
        "sysctl -w",
        "tc",
    ],
)
def test_half_a_command_is_no_fault(line):
    """Regression: two of them ended the guide for the rest of the lab."""
    guide = Guide(load_lab(find_lab("3")))
    guide.see(TypedEvidence("h1", line, 1.0, 1.1, "", 0))
    guide.see(TypedEvidence("h1", line, 2.0, 2.1, "refused", 1))
    assert guide.not_followed == []


def test_what_a_reader_of_ours_does_not_expect_is_told_and_left_out(monkeypatch):
    """The guide goes on with the next line."""
    guide = Guide(load_lab(find_lab("3")))

    def broken(line):
        raise IndexError(line)

    monkeypatch.setattr(guide, "_typed", broken)
    guide.see(TypedEvidence("h1", "odd", 1.0, 1.1, "", 0))
    (told,) = guide.not_followed
    assert told.startswith("“odd” could not be judged, which is a fault of Linklab’s guide")
    monkeypatch.undo()
    guide.see(TypedEvidence("h1", "ping -c 1 10.0.0.2", 2.0))


def test_the_collector_outlives_a_line_that_breaks_it(desk, monkeypatch):
    """Regression: its thread ended without a word, and nothing was judged any more."""
    network, seen, _, collector = desk
    told = []
    monkeypatch.setattr(collector, "on_trouble", told.append)
    answered(network, 1)
    good = collector.on_evidence

    def breaks(evidence):
        if isinstance(evidence, TypedEvidence) and evidence.text == "odd":
            raise IndexError("list index out of range")
        good(evidence)

    monkeypatch.setattr(collector, "on_evidence", breaks)
    command(network, "odd")
    command(network, "pwd", at=3)
    wait(seen, has_ended("pwd"))
    assert set(told) == {"odd: Linklab's guide could not follow this (IndexError('list index out of range'))"}


def test_the_collector_outlives_a_reading_that_breaks_it(desk, monkeypatch):
    """Regression: it ended where the fault was met in what was read first, was read again, or came from a window."""
    network, seen, _, collector = desk
    told = []
    monkeypatch.setattr(collector, "on_trouble", told.append)
    good = collector.on_evidence

    def breaks(evidence):
        if isinstance(evidence, StateEvidence | EditorEvidence):
            raise IndexError("list index out of range")
        good(evidence)

    monkeypatch.setattr(collector, "on_evidence", breaks)
    answered(network, 1)
    collector._opened("h1")
    command(network, "pwd", terminal="of h1")
    wait(seen, has_ended("pwd"))
    fault = "Linklab's guide could not follow this (IndexError('list index out of range'))"
    assert told == [f"The state of the network: {fault}", f"opened h1: {fault}"]


@pytest.mark.parametrize(("moment", "status"), [("9" * 400, "0"), ("9" * 5000, "0"), ("1500000", "9" * 5000)])
def test_no_printed_text_ends_the_network(desk, moment, status):
    """Regression: a file with a mark of many digits raised in the thread that reads the network's channel."""
    network, seen, _, _ = desk
    answered(network, 1)
    shows(network, "\x1b]133;C;linklab;h1;1000000;cat odd\x07")
    shows(network, f"\x1b]133;D;linklab;h1;{moment};{status}\x07")
    command(network, "pwd", at=3, terminal="t2")
    wait(seen, has_ended("pwd"))


def test_folders_that_go_meanwhile_are_passed_over(tmp_path):
    """Regression: one that was removed between two looks ended the guide's thread."""
    over = threading.Event()

    def comes_and_goes():
        while not over.is_set():
            (tmp_path / "a/b").mkdir(parents=True, exist_ok=True)
            shutil.rmtree(tmp_path / "a", ignore_errors=True)

    busy = threading.Thread(target=comes_and_goes)
    busy.start()
    try:
        (tmp_path / "kept.txt").write_text("x")
        folder = WorkFolder(tmp_path)
        assert folder.changed() == ["kept.txt"]
        for _ in range(2000):
            assert folder.changed() == []
    finally:
        over.set()
        busy.join()


def test_a_flood_inside_mininet_is_kept_in_pieces():
    """Regression: each piece copied the four megabytes before it; and its line still ends at the prompt."""
    terminal = MarkedTerminal()
    list(terminal.read(b"\x1b]133;C;linklab;client;1000000;sudo mn\x07"))
    (begun,) = terminal.read(b"mininet> h1 yes\r\n")
    assert begun.text == "h1 yes"
    piece = b"y\r\n" * 1365
    for _ in range(1100):
        assert list(terminal.read(piece)) == []
    assert len(terminal._inside._pieces) > 1000
    (ended,) = terminal.read(b"\r\nmininet> ")
    assert ended.ended and len(ended.output) > marks.MOST_OUTPUT // 2
    assert terminal._inside._length < 100


def test_a_terminal_that_has_closed_is_forgotten(desk):
    """Regression: each look at the kernel and each terminal stayed in memory, with up to 4 MB of a flood."""
    network, seen, _, collector = desk
    answered(network, 1)
    command(network, "pwd", terminal="t7")
    wait(seen, has_ended("pwd"))
    assert "t7" in collector._terminals
    network.link.say("closed", terminal="t7", status=0)
    assert "t7" not in collector._terminals
