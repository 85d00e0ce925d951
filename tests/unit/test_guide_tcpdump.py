# SPDX-License-Identifier: BSD-3-Clause
"""tcpdump in the guide: which of its words matter, and what is said of one that is wrong."""

import pytest

from linklab.guide.programs import compared, run_of
from linklab.guide.shell import commands_in
from linklab.guide.words import of_run

PRINTED = "sudo tcpdump -i h1-eth0 -s 96 -c 1000 -w window.pcap 'tcp and dst port 5201'"


def said_of(typed, wanted=PRINTED):
    """What the guide says of a line where another one is wanted; "" for one that counts as the same."""
    (want,), (found,) = (commands_in("h1", text, ["h1"]) for text in (wanted, typed))
    return of_run(run_of(want), compared(run_of(want), run_of(found)))


@pytest.mark.parametrize(
    "typed",
    [
        "tcpdump -i h1-eth0 -s 96 -c 1000 -w window.pcap tcp and dst port 5201",
        "sudo tcpdump -c1000 -s96 -ih1-eth0 -w window.pcap tcp dst port 5201",
        "sudo tcpdump -nn -vi h1-eth0 -c 1000 -w window.pcap 'dst port 5201 and tcp'",
        "sudo tcpdump --interface=h1-eth0 -c 1000 -w window.pcap 'tcp && dst port 5201'",
        "sudo tcpdump -i h1-eth0 -s 96 -c 1000 -w ./window.pcap 'tcp&&dst port 5201'",
        "sudo tcpdump --time-stamp-precision nano -i h1-eth0 -c 1000 -w window.pcap 'tcp and dst port 5201'",
        "sudo tcpdump -U -Z root -i h1-eth0 --snapshot-length=96 -c 1000 -w window.pcap 'tcp and dst port 5201'",
    ],
)
def test_the_same_packets_are_captured_by_other_words(typed):
    """Regression: a filter without quotes, and options that change nothing of what is captured, lost the point."""
    assert said_of(typed) == ""


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (PRINTED.replace("h1-eth0", "h1-eth1"), "the interface -i is h1-eth1; wanted is h1-eth0"),
        (PRINTED.replace("1000", "100"), "the number of packets -c is 100; wanted is 1000"),
        (PRINTED.replace("5201", "5202"), "the filter is tcp and dst port 5202; wanted is tcp and dst port 5201"),
        (PRINTED.replace("dst ", ""), "the filter is tcp and port 5201; wanted is tcp and dst port 5201"),
        (PRINTED.replace("and", "or"), "the filter is tcp or dst port 5201; wanted is tcp and dst port 5201"),
        (PRINTED[: PRINTED.index("'")], "the filter is missing; wanted is tcp and dst port 5201"),
        (PRINTED.replace("-w window", "-w windows"), "the file -w is windows.pcap; wanted is window.pcap"),
        (PRINTED.replace("-w window.pcap ", ""), "the file -w is missing; wanted is window.pcap"),
        (f"{PRINTED} -r old.pcap", "a file to read, -r, was given (old.pcap) and is not wanted"),
        (PRINTED.replace("-s 96", "-d"), "showing the compiled filter, -d, was given and is not wanted"),
        (PRINTED.replace("-c", "-Q in -c"), "the direction -Q was given (in) and is not wanted"),
    ],
)
def test_what_is_captured_otherwise_is_said_option_by_option(typed, said):
    """Regression: the words of a line came in order of the alphabet, and named options that were as wanted."""
    assert said_of(typed) == said


def test_a_filter_with_alternatives_is_compared_as_it_stands():
    """What is in brackets, or negated, is one condition: spaces do not matter, the order does."""
    wanted = "tcpdump -n -i s1-eth2 'tcp[tcpflags] & tcp-syn != 0'"
    assert said_of("sudo tcpdump -i s1-eth2 'tcp[tcpflags]&tcp-syn!=0'", wanted) == ""
    assert said_of("sudo tcpdump -c 1 -i s1-eth2 'tcp[tcpflags] & tcp-syn != 0'", wanted).startswith("the number of ")
    assert said_of("sudo tcpdump -i s1-eth2 'tcp[tcpflags] & tcp-fin != 0'", wanted).startswith("the filter is tcp[")
    assert said_of("tcpdump -i s1-eth2", wanted) == "the filter is missing; wanted is tcp[tcpflags] & tcp-syn != 0"
