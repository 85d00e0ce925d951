# SPDX-License-Identifier: BSD-3-Clause
"""Impairments as data: the exact tc lines, what is refused, and nothing lost between text and value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab import units
from linklab.errors import InputError
from linklab.tc import DISCIPLINES, Impairment, Qdisc, change_lines, lines, objects


def typed(**data):
    """Lines for s1-eth2 of the JSON object."""
    return lines("s1-eth2", Impairment.from_data(data))


def kinds(impairment):
    """Kinds of the disciplines that stand at the interface, root first."""
    return [each.kind for each in objects(impairment) if isinstance(each, Qdisc)]


def test_lab_8():
    """Delay line and shaper as the curriculum sets them, with room for what is in flight."""
    assert typed(delay="20ms", rate="10gbit", burst="5000000", queue="25000000") == [
        "tc qdisc add dev s1-eth2 root handle 1: netem limit 33026 delay 20ms",
        "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 25000000",
    ]


def test_lab_18():
    """A discipline stands below the shaper."""
    assert typed(rate="1gbit", queue="26214400", discipline={"kind": "codel", "limit": "17476p", "target": "5ms"}) == [
        "tc qdisc add dev s1-eth2 root handle 2: tbf rate 1gbit burst 500000 limit 26214400",
        "tc qdisc add dev s1-eth2 parent 2: handle 3: codel limit 17476 target 5ms",
    ]


def test_everything_netem_does():
    """Words in the order in which tc prints them."""
    assert typed(
        delay="10ms",
        jitter="1ms",
        correlation="25%",
        distribution="normal",
        loss="10%",
        duplicate="1%",
        corrupt="0.01%",
        reorder="25%",
        held="50p",
    ) == [
        "tc qdisc add dev s1-eth2 root handle 1: netem limit 50 delay 10ms 1ms 25% distribution normal"
        " loss 10% duplicate 1% reorder 25% corrupt 0.01%"
    ]


def test_a_class_for_htb():
    """htb shapes in a class; a queue given is the leaf below it."""
    assert typed(rate="10mbit", queue="100p", discipline={"kind": "htb", "ceil": "20mbit"}) == [
        "tc qdisc add dev s1-eth2 root handle 2: htb default 10",
        "tc class add dev s1-eth2 parent 2: classid 2:10 htb rate 10mbit ceil 20mbit burst 5000",
        "tc qdisc add dev s1-eth2 parent 2:10 handle 3: pfifo limit 100",
    ]


def test_cake_shapes_itself():
    """No tbf above cake."""
    assert typed(rate="10mbit", discipline={"kind": "cake", "rtt": "50ms"}) == [
        "tc qdisc add dev s1-eth2 root handle 2: cake bandwidth 10mbit rtt 50ms"
    ]


def test_a_queue_alone():
    """Packets make a pfifo, bytes a bfifo."""
    assert typed(queue="100p") == ["tc qdisc add dev s1-eth2 root handle 2: pfifo limit 100"]
    assert typed(queue="64kb") == ["tc qdisc add dev s1-eth2 root handle 2: bfifo limit 65536"]


def test_change_in_place_keeps_what_waits():
    """The same kinds are changed; others are set anew."""
    old, new = Impairment.from_data({"rate": "10mbit"}), Impairment.from_data({"rate": "20mbit"})
    assert change_lines("x", old, new) == [
        "tc qdisc change dev x root handle 2: tbf rate 20mbit burst 10000 limit 1514000"
    ]
    delayed = Impairment.from_data({"delay": "20ms"})
    assert change_lines("x", old, delayed)[0] == "tc qdisc del dev x root"
    assert change_lines("x", Impairment(), delayed) == lines("x", delayed)
    assert change_lines("x", delayed, Impairment()) == ["tc qdisc del dev x root"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"rate": "10"}, '"rate": rate "10" has no unit'),
        ({"jitter": "1ms"}, '"jitter" needs a "delay"'),
        ({"reorder": "10%"}, '"reorder" needs a "delay"'),
        ({"speed": "10mbit"}, '"speed" is nothing I know'),
        ({"loss": "120%"}, '"loss": percentage "120%" must lie between'),
        ({"discipline": {"kind": "tbf"}}, 'tbf needs a "rate"'),
        ({"discipline": {"kind": "wfq"}}, '"discipline" must be an object with a "kind" of tbf'),
        ({"discipline": {"kind": ["red"]}}, '"discipline" must be an object with a "kind" of tbf'),
        ({"discipline": {"kind": "red", "limit": "1mb"}}, 'red needs "min"'),
        ({"discipline": {"kind": "pie", "target": "5"}}, '"target": time "5" has no unit'),
        ({"discipline": {"kind": "pie", "gamma": "5"}}, 'pie has no "gamma"'),
        ({"discipline": {"kind": "codel", "ecn": "yes"}}, '"ecn": must be on (1) or off (0)'),
        ({"delay": 20}, '"delay" must be a string with a unit'),
    ],
)
def test_what_is_refused(data, message):
    """Each fault is named by its key."""
    with pytest.raises(InputError) as raised:
        Impairment.from_data(data)
    assert message in str(raised.value)


def test_every_discipline_has_its_place():
    """Each kind gives lines, with a delay above and a rate."""
    needed = {"red": {"limit": "1mb", "min": "64kb", "max": "256kb"}, "bfifo": {"limit": "100kb"}}
    for kind in DISCIPLINES:
        data = {"rate": "10mbit", "delay": "5ms", "discipline": {"kind": kind, **needed.get(kind, {})}}
        assert kinds(Impairment.from_data(data))[0] == "netem"
        assert kind in kinds(Impairment.from_data(data))


fracs = st.decimals(0, 1, places=4).map(float)


@given(
    rate=st.floats(0.001, 1e5), delay=st.integers(1, 10**6), loss=fracs, duplicate=fracs, queue=st.integers(0, 10**9)
)
def test_what_a_drawing_says_is_what_is_kept(rate, delay, loss, duplicate, queue):
    """Nothing is lost between a text and its value."""
    texts = {
        "rate": units.format_rate(rate),
        "delay": units.format_time(delay / 1e6),
        "loss": units.format_percent(loss),
        "duplicate": units.format_percent(duplicate),
        "queue": f"{queue}b",
    }
    assert Impairment.from_data(texts) == Impairment(
        rate_mbit=rate, delay_s=delay / 1e6, loss_frac=loss, duplicate_frac=duplicate, queue_bytes=queue
    )
