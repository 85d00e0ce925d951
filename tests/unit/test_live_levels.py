# SPDX-License-Identifier: BSD-3-Clause
"""What lines are read against: limits and thresholds of each discipline, targets as bytes, the BDP in segments."""

import math

import pytest

from linklab.live.levels import capacity_of, leaf_of, levels_of_flow, levels_of_port, rate_of
from linklab.live.readings import PortDisciplines
from linklab.tc import Class, Qdisc

NETEM = Qdisc("netem", "1:", "root", {"delay_ns": 20_000_000, "limit": 1000})
TBF = Qdisc("tbf", "2:", "1:", {"rate_bit": 10_000_000, "burst": 10_000, "limit": 30_000})
RED = Qdisc("red", "3:", "2:", {"limit": 400_000, "min": 30_000, "max": 90_000})


def texts(*qdiscs, classes=()):
    """Panel, label and value of each level."""
    port = PortDisciplines(qdiscs, classes)
    return {(level.panel, level.label): level.value for level in levels_of_port("s1-eth2", port)}


def test_behind_netem_a_shapers_rate_and_limit():
    """netem's own limit is of what is in flight."""
    assert texts(NETEM, TBF) == {("rate", "rate of s1-eth2"): 10e6, ("queue", "limit of s1-eth2"): 30_000}


def test_red_has_its_thresholds_and_not_the_shapers_limit():
    """What is in the shaper is RED's to hold."""
    assert texts(NETEM, TBF, RED) == {
        ("rate", "rate of s1-eth2"): 10e6,
        ("queue", "limit of s1-eth2"): 400_000,
        ("queue", "RED min of s1-eth2"): 30_000,
        ("queue", "RED max of s1-eth2"): 90_000,
    }


@pytest.mark.parametrize(
    ("kind", "name", "target_us", "held"),
    [("codel", "CoDel", 5000, 6250), ("fq_codel", "FQ-CoDel", 5000, 6250), ("pie", "PIE", 15_000, 18_750)],
)
def test_a_target_is_what_the_port_sends_in_that_time(kind, name, target_us, held):
    """5 ms at 10 Mbit/s are 6250 bytes; a limit in packets counts as full frames where bytes are shown."""
    leaf = Qdisc(kind, "3:", "2:", {"limit": 100, "target_us": target_us})
    found = texts(NETEM, TBF, leaf)
    assert found["queue", f"{name} target of s1-eth2, {target_us / 1000:g} ms"] == held
    assert found["packets", "limit of s1-eth2"] == 100
    assert found["queue", "limit of s1-eth2"] == 151_400


def test_without_a_rate_a_target_is_no_number_of_bytes():
    """The kernel does not say how fast an interface is that nothing limits."""
    assert not any("target" in label for _, label in texts(Qdisc("codel", "1:", "root", {"limit": 9, "target_us": 5})))


def test_an_htb_class_limits_its_leaf_and_the_class_above_too():
    """The lowest ceiling counts."""
    classes = (
        Class("htb", "1:10", "1:1", {"rate_bit": 4_000_000, "ceil_bit": 8_000_000}),
        Class("htb", "1:1", "1:", {"rate_bit": 10_000_000, "ceil_bit": 10_000_000}),
    )
    port = PortDisciplines((Qdisc("htb", "1:", "root", {}), Qdisc("pfifo", "20:", "1:10", {"limit": 50})), classes)
    assert rate_of(port) == 8_000_000
    assert capacity_of(port) == 50 * 1514


def test_of_several_queues_no_limit_is_told():
    """The sum that is drawn has no one limit."""
    port = PortDisciplines(
        (
            Qdisc("prio", "1:", "root", {}),
            Qdisc("pfifo", "10:", "1:1", {"limit": 50}),
            Qdisc("pfifo", "20:", "1:2", {"limit": 5}),
        )
    )
    assert leaf_of(port) is None
    assert levels_of_port("s1-eth2", port) == []


def test_a_port_without_a_queue_or_of_an_unknown_kind_has_no_levels():
    """Also where the kernel's limit is the interface's own."""
    assert texts() == {}
    assert texts(Qdisc("noqueue", "0:", "root", {})) == {}
    assert texts(Qdisc("strange", "1:", "root", {"unread": ["everything"]})) == {}
    assert texts(Qdisc("pfifo_fast", "0:", "root", {})) == {}


def test_the_bdp_is_in_full_segments():
    """10 Mbit/s and 40 ms: 50,000 bytes are 33 frames of 1514; the buffer of the slowest port comes on top."""
    fast = PortDisciplines((Qdisc("tbf", "1:", "root", {"rate_bit": 10**9, "burst": 1, "limit": 1}),))
    slow = PortDisciplines((NETEM, TBF))
    found = levels_of_flow("k", "h1 → h2", [fast, slow], 0.04, 1448)
    assert [(level.label, level.value) for level in found] == [
        ("BDP of h1 → h2", pytest.approx(50_000 / 1514)),
        ("BDP + buffer of h1 → h2", pytest.approx(80_000 / 1514)),
    ]


@pytest.mark.parametrize(("rtt_s", "mss"), [(math.nan, 1448), (0.04, math.nan), (0.0, 1448), (math.inf, 1448)])
def test_where_nothing_is_known_there_is_no_bdp(rtt_s, mss):
    """Before the first sample of the round-trip time, for example."""
    assert levels_of_flow("k", "h1 → h2", [PortDisciplines((TBF,))], rtt_s, mss) == []
