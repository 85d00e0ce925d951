# SPDX-License-Identifier: BSD-3-Clause
"""What people call measurements, and what the guide says of an expectation that is missed."""

import pytest
from test_guide import Student

from linklab.guide.listing import listing
from linklab.guide.missed import relation_in_words
from linklab.judge.expectation import Expectation
from linklab.judge.language import names
from linklab.judge.metric_words import metric_in_words
from linklab.judge.parser import parse
from linklab.lab.model import lab_folders, load_lab


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("ping.rtt.max", "longest round-trip time of ping"),
        ("ping.rtt.mdev", "standard deviation of the round-trip time of ping"),
        ("ping.loss.fraction", "share of pings without a reply"),
        ("iperf3.throughput.receiver", "throughput at the receiver"),
        ("iperf3.2.throughput.receiver", "throughput at the receiver in result 2"),
        ("queue.backlog.max", "largest queue in bytes"),
        ("tc.s1-eth2.1.dropped", "number of dropped packets of the queue discipline s1-eth2 1:"),
        ("tc.1.backlog.bytes", "queue in bytes of the queue discipline 1:"),
        ("tc.2.s1-eth2.1.dropped", "number of dropped packets of the queue discipline s1-eth2 1: in result 2"),
        ("tc.s1-eth2.10.8003.dropped", "number of dropped packets of the queue discipline s1-eth2.10 8003:"),
        ("tc.dropped", "measurement “tc.dropped”"),
        ("nstat.TcpExtTCPTimeouts", "kernel counter TcpExtTCPTimeouts"),
        ("flent.3.ping-icmp.median", "median of the series “ping-icmp” in result 3"),
        ("sweep.flows-4.ping.high", "upper end of the 95 % interval of “ping” in the combination “flows-4”"),
        ("netesto.late-cubic.group-2.rate.n", "number of values of “rate” in the experiments “late-cubic”, group 2"),
        ("new.thing", "measurement “new.thing”"),
        ("ping", "measurement “ping”"),
    ],
)
def test_a_measurement_has_a_name_that_people_say(metric, words):
    """One that is not known is quoted."""
    assert metric_in_words(metric) == words


def test_every_measurement_of_a_lab_has_words():
    """Also those in relations."""
    expected = [each for folder in lab_folders() for each in load_lab(folder).expectations]
    metrics = {each.what for each in expected if each.what}
    metrics |= {name.partition(".")[2] for each in expected if each.relation for name in names(parse(each.relation))}
    assert [metric for metric in sorted(metrics) if "measurement" in metric_in_words(metric)] == []


def pings(student, **rtt_s):
    """h1 pings h2 at the step "one-side", with these round-trip times; the state of the step."""
    scalars = {f"ping.rtt.{name}": (value, "s") for name, value in rtt_s.items()}
    student.types("h1", student.lab.manual.step("one-side").typed, scalars=scalars)
    return student.state("one-side")


def test_a_missed_expectation_is_told_in_words():
    """Regression: the sentence began with "one-side ping.rtt.min:", and said twice what was expected and seen."""
    student = Student("3")
    student.until("one-side")
    state = pings(student, min=0.2, mean=0.11, max=0.12)
    assert state.story == (
        "The shortest round-trip time of ping is not as expected. "
        "Is the delay set on h1-eth0, and only there? tc qdisc show tells."
    )
    assert (state.expected, state.seen) == ("100 ms – 101 ms", "200 ms")
    told = list(listing([state.as_json()], [state.as_json()], None))
    assert [line.strip() for line in told[-3:]] == [
        "Expected: 100 ms – 101 ms",
        "Seen: 200 ms",
        "Why: the request is held for 100 ms, the reply is not",
    ]


def test_what_was_not_measured_is_told_in_words():
    """As after a ping that showed no summary."""
    student = Student("3")
    student.until("one-side")
    state = pings(student, max=0.12)
    assert state.story == "The shortest round-trip time of ping could not be measured."


def test_a_relation_is_told_with_the_names_of_its_measurements_and_steps():
    """In brackets, and of several steps with what people call them."""
    student = Student("3")
    (verdict,) = [
        each
        for each in student.lab.expectations
        if each.relation.startswith("both-sides.ping.rtt.mean - one-side.ping.rtt.min")
    ]
    titles = {"both-sides": "Ping h2 again", "one-side": "Ping h2"}
    assert relation_in_words(verdict, titles) == (
        "[mean round-trip time of ping at “Ping h2 again”] - [shortest round-trip time of ping at “Ping h2”] > 99 ms"
    )


def test_what_a_steps_title_says_stays_as_it_is():
    """Also where it looks like another measurement of the relation, or like a product."""
    relation = "a.ping.rtt.mean > 2 * b.ping.rtt.max"
    expectation = Expectation("", "", None, None, relation, why="the queue", series="", hint="", where="lab.toml:1")
    assert relation_in_words(expectation, {"a": "2 * b.ping.rtt.max", "b": "Ping h2"}) == (
        "[mean round-trip time of ping at “2 * b.ping.rtt.max”] > 2 × [longest round-trip time of ping at “Ping h2”]"
    )
