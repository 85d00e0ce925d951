# SPDX-License-Identifier: BSD-3-Clause
"""Right work in other words than the manual's: it must not be called wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.guide.evidence import TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import line_run, plan_of
from linklab.guide.programs import compared, same_word
from linklab.guide.shell import commands_in
from linklab.lab.model import find_lab, load_lab

NODES = ("h1", "h2", "s1")


def differs(wanted, typed):
    """What the guide finds different in what was typed; nothing where it is the same work."""
    one, other = (line_run(commands_in("h1", line, NODES)) for line in (wanted, typed))
    return [(each.what, each.wanted, each.found) for each in compared(one, other)]


@pytest.mark.parametrize(
    ("wanted", "typed"),
    [
        ("ping -c 200 10.0.0.2", "ping -qc 200 10.0.0.2"),
        ("ping -c 200 10.0.0.2", "ping -qnc200 10.0.0.2"),
        ("ping -c 200 -i 0.2 10.0.0.2", "ping -i .2 -c 200 10.0.0.2"),
        ("ping -c 5 10.0.0.2", "timeout 60 ping -c 5 10.0.0.2"),
        ("ping -c 5 10.0.0.2", "timeout -k 5 60 ping -c 5 10.0.0.2"),
        ("ping -c 5 10.0.0.2", "time ping -c 5 10.0.0.2"),
        ("iperf3 -u -c 10.0.0.2", "iperf3 -uc 10.0.0.2"),
        ("iperf3 -c 10.0.0.2 -w 9M", "iperf3 -c 10.0.0.2 -w 9437184"),
        ("iperf3 -c 10.0.0.2 -n 16G", "nice -n 5 iperf3 -c 10.0.0.2 -n 17179869184"),
        ("iperf3 -c 10.0.0.2 -b 1G", "iperf3 -c 10.0.0.2 -b 1000M"),
        ("tc qdisc show dev h1-eth0", "tc qdisc show dev h1-eth0 | less -S"),
        ("sysctl net.ipv4.tcp_rmem", "sysctl net.ipv4.tcp_rmem | more"),
    ],
)
def test_the_same_work_in_other_words_is_the_same(wanted, typed):
    """Options as getopt(3) and the programs themselves read them."""
    assert differs(wanted, typed) == []


@pytest.mark.parametrize(
    ("wanted", "typed", "found"),
    [
        ("iperf3 -c 10.0.0.2 -w 9M", "iperf3 -c 10.0.0.2 -w 9000000", [("window", "9M", "9000000")]),
        ("iperf3 -c 10.0.0.2 -b 1G", "iperf3 -c 10.0.0.2 -b 1024M", [("bitrate", "1G", "1024M")]),
        ("ping -c 200 10.0.0.2", "ping -qc 20 10.0.0.2", [("count", "200", "20")]),
        ("ping -c 5 10.0.0.2", "timeout 60 ping -c 5 10.0.0.3", [("target", "10.0.0.2", "10.0.0.3")]),
        ("ls results", "ls results | head -1", [("words", "", "head -1")]),
    ],
)
def test_other_work_is_still_other(wanted, typed, found):
    """A mistake is named, whatever the words."""
    assert differs(wanted, typed) == found


@given(st.integers(1, 2**20), st.sampled_from(["K", "M", "G"]))
def test_sizes_are_the_same_in_all_units(count, unit):
    """As iperf3 counts bytes."""
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}[unit]
    assert same_word(f"{count}{unit}", str(count * factor), binary=True)
    assert not same_word(f"{count}{unit}", str(count * factor + factor), binary=True)


@pytest.mark.parametrize("text", ["ping h2", "ping -c 3 h2"])
def test_a_node_may_be_called_by_its_name(text):
    """/etc/hosts inside knows it. Regression: the target was called wrong."""
    lab = load_lab(find_lab("3"))
    assert plan_of(lab).addresses == {"h1": "10.0.0.1", "h2": "10.0.0.2"}
    guide = Guide(lab)
    guide.see(TypedEvidence("h1", text, 1.0))
    assert "target" not in " ".join(state.story for state in guide.steps())
    guide.see(TypedEvidence("h1", "ping 10.0.0.9", 5.0))
    assert "the target is 10.0.0.9; wanted is 10.0.0.2" in " ".join(state.story for state in guide.steps())
