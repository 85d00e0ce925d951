"""Checks: facts, metrics and answers become points and a story."""

from dataclasses import replace
from pathlib import Path

import pytest

from linklab.exercise.answers import read_answers
from linklab.exercise.evidence import Evidence, changes
from linklab.exercise.judge import describe, judge, worth_doing
from linklab.exercise.model import Answer, Band, Check, Exercise, Experiment, PlantedFault, SteadyCase, Transfer
from linklab.exercise.observed import TypedLine
from linklab.judge.quantity import parse_value

KNOWN = {"rate": parse_value("1 Gbps"), "rtt": parse_value("20 ms")}
GO = Experiment("go", "submitted", {"s1-eth2.loss": "0 %"}, (Transfer("h1", "h2"),), 20, 10, None, "", "W")
EXERCISE = Exercise(
    Path(), "exercise", 9, "T", 1, 1, "", "", (), {}, (), (), (GO,), (Answer("bdp", "size", "The BDP."),), ()
)
HEALTHY = {"s1-eth2.rate": 1e9, "s1-eth2.delay": 0.02, "s1-eth2.queue": 2.5e6, "h1.cc": "cubic", "h1-eth0.mac": "02:00"}
EVIDENCE = Evidence(
    EXERCISE,
    KNOWN.__getitem__,
    "small-queue",
    HEALTHY,
    {"healthy": HEALTHY},
    {"go": {"throughput": (0.9e9, 0.1e9, 0.95e9)}},
    read_answers('bdp = "2.5 MB"', EXERCISE),
)
FILLED = Check(
    "filled", "The link is filled", "measure", 10, "go.throughput", (Band("0.9 * goodput(rate)"),), (), False, "W.", ()
)
QUEUE = replace(FILLED, id="queue", kind="state", subject="s1-eth2.queue", bands=(Band("0.9 * bdp(rate, rtt)"),))
SAME = replace(FILLED, id="same", kind="unchanged", subject="", bands=(), reference="healthy", excepted=("h?.cc",))


def one(check, evidence=EVIDENCE, *before):
    """What came of one check, after others."""
    return judge(evidence, [*before, check])[-1]


def outcome(*args):
    """Outcome and points."""
    found = one(*args)
    return found.outcome.value, found.score


def test_a_measured_check_takes_the_median_of_the_runs():
    """One unlucky seed decides nothing."""
    found = one(FILLED)
    assert (found.outcome.value, found.score) == ("pass", 10)
    assert found.samples == (0.9e9, 0.1e9, 0.95e9)
    assert found.story == (
        "pass filled: expected at least 861 Mbps (W), saw 900 Mbps (h1 → h2 for 20 s on your network with "
        "s1-eth2.loss = 0 %, median of 3 runs)."
    )
    assert found.experiments == ("go",)


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ({"h1>h2.delay": 0.02}, "pass far: expected 19.8 ms to 20.2 ms (W), saw 20 ms."),
        ({"h1>h2.delay": 0.003}, "fail far: expected 19.8 ms to 20.2 ms (W), saw 3 ms."),
        ({}, "fail far: expected 19.8 ms to 20.2 ms (W), but h1>h2 has no delay."),
    ],
)
def test_a_check_may_ask_for_what_happens_between_two_nodes(ways, told):
    """Whichever interface and backend does it."""
    check = replace(QUEUE, id="far", subject="h1>h2.delay", bands=(Band("0.99 * rtt", "1.01 * rtt"),))
    found = one(check, replace(EVIDENCE, ways=ways.get))
    assert found.story == told
    again = replace(check, kind="holds", subject='fact("h1>h2.delay") > 10 ms', bands=(), why="W.")
    assert (outcome(again, replace(EVIDENCE, ways=ways.get))[0] == "pass") == (ways.get("h1>h2.delay", 0) > 0.01)


def test_a_partial_band_earns_its_share():
    """Half the points between half the rate and the full band."""
    check = replace(FILLED, bands=(Band("0.99 * rate"), Band("0.5 * rate", share=0.5)))
    assert outcome(check) == ("partial", 5)


def test_a_fact_that_is_absent_fails_and_is_no_zero():
    """The queue was removed."""
    facts = {key: value for key, value in HEALTHY.items() if key != "s1-eth2.queue"}
    found = one(QUEUE, replace(EVIDENCE, facts=facts))
    assert (found.outcome.value, found.seen, found.absent) == ("fail", "none", True)
    assert "s1-eth2 has no queue" in found.story


def test_a_share_is_told_in_percent():
    """What is expected has the unit of what is seen."""
    check = replace(QUEUE, subject="s1-eth2.loss", bands=(Band("0.00594", "0.00606"),))
    found = one(check, replace(EVIDENCE, facts={"s1-eth2.loss": 0.01}))
    assert (found.expected, found.seen) == ("0.594 % to 0.606 %", "1 %")


def test_an_answer_is_judged_by_theory():
    """2.5 MB for 1 Gbps and 20 ms; and what could not be read says why."""
    check = replace(
        QUEUE, id="bdp", kind="answer", subject="bdp", bands=(Band("0.98 * bdp(rate, rtt)", "1.02 * bdp(rate, rtt)"),)
    )
    assert outcome(check) == ("pass", 10)
    wrong = one(check, replace(EVIDENCE, answers=read_answers('bdp = "2.5"', EXERCISE)))
    assert wrong.outcome.value == "fail"
    assert '"2.5" has no unit: write it with one, such as "2.5 MB"' in wrong.story


def test_removing_the_bottleneck_is_told_in_words():
    """The cure that is none."""
    facts = {
        "s1-eth2.delay": 0.02,
        "s1-eth2.queue": 2.5e6,
        "h1.cc": "bbr",
        "h1-eth0.mac": "02:99",
        "h2-eth0.loss": 0.01,
    }
    found = one(SAME, replace(EVIDENCE, facts=facts))
    assert found.score == 0
    assert found.seen == "h2-eth0 has got loss 1 %; the rate limit of s1-eth2 (1 Gbps) has been removed"


def test_what_may_be_tuned_is_no_change():
    """Congestion control is excepted, and MAC addresses differ in every network."""
    assert outcome(SAME, replace(EVIDENCE, facts={**HEALTHY, "h1.cc": "bbr", "h1-eth0.mac": "02:99"})) == ("pass", 10)


def test_along_a_way_what_happens_counts_and_no_name_of_a_discipline():
    """An idle netem and an htb for a tbf are no change; a loss is, wherever it is, and a setting of a host."""
    by_way = replace(SAME, along=("h1>h2",))
    ways = {"h1>h2.rate": 1e9, "h1>h2.delay": 0.02}
    other = {**HEALTHY, "s1-eth2.discipline": "netem htb", "s2-eth2.discipline": "netem", "s2-eth2.queue": 1e8}
    evidence = replace(EVIDENCE, facts=other, ways=ways.get, reference_ways={"healthy": ways.get})
    assert outcome(SAME, evidence) == ("fail", 0)
    assert outcome(by_way, evidence) == ("pass", 10)
    lossy = one(by_way, replace(evidence, ways={**ways, "h1>h2.loss": 0.01}.get))
    assert (lossy.outcome.value, lossy.seen) == ("fail", "h1 → h2 has got loss 1 %")
    slower = one(by_way, replace(evidence, ways={"h1>h2.rate": 1e9}.get))
    assert slower.seen == "the delay of h1 → h2 (20 ms) has been removed"
    assert outcome(by_way, replace(evidence, facts={**other, "h2-eth0.mtu": 576.0})) == ("fail", 0)


def test_nothing_that_an_impossible_state_says_counts():
    """Neither a fact of it nor that nothing was changed; what was answered does."""
    evidence = replace(EVIDENCE, impossible="h1: mtu 0")
    holds = replace(FILLED, id="h", kind="holds", subject='fact("s1-eth2.queue") > 1 MB', bands=())
    full = replace(QUEUE, bands=(Band("0.9 * bdp(rate, rtt)"),))
    assert [outcome(check) for check in (full, SAME, holds)] == [("pass", 10)] * 3
    assert [outcome(check, evidence) for check in (full, SAME, holds)] == [("fail", 0)] * 3
    assert one(full, evidence).story == (
        "fail queue: the state that was handed in cannot be set up, so what it says does not count: h1: mtu 0"
    )
    answer = replace(QUEUE, id="bdp", kind="answer", subject="bdp", bands=(Band("2 MB", "3 MB"),))
    assert outcome(answer, evidence) == ("pass", 10)


def test_the_kernels_rounding_is_no_change():
    """1 Gbps may come back as 999,999,984 bit/s."""
    assert changes(HEALTHY, {**HEALTHY, "s1-eth2.rate": 999999984.0}) == []
    assert [str(change) for change in changes(HEALTHY, {**HEALTHY, "s1-eth2.rate": 9e8})] == [
        "rate of s1-eth2 was 1 Gbps and is 900 Mbps"
    ]


def test_where_little_is_left_to_chance_a_shorter_test_is_made_and_told():
    """By the state, before anything is measured; with a fault that shows itself soon, by that."""
    case = SteadyCase({"h1.cc": "cubic"}, 8, 3, {}, "Nothing varies.")
    steady = replace(EVIDENCE, exercise=replace(EXERCISE, experiments=(replace(GO, steady=(case,)),)))
    assert worth_doing(steady, [FILLED]) == [replace(GO, steady=(case,), seconds=8, omit_s=3)]
    assert "(h1 → h2 for 8 s on your network" in one(FILLED, steady).story
    other = replace(steady, facts={**HEALTHY, "h1.cc": "bbr"})
    assert [(each.seconds, each.omit_s) for each in worth_doing(other, [FILLED])] == [(GO.seconds, GO.omit_s)]
    planted = PlantedFault(EVIDENCE.fault, (), "", "", seconds={GO.id: 6})
    soon = replace(EVIDENCE, exercise=replace(EXERCISE, experiments=(GO,), faults=(planted,)))
    assert worth_doing(soon, [FILLED]) == [replace(GO, seconds=6)]
    assert worth_doing(replace(soon, fault="another"), [FILLED]) == [GO]
    told = {describe(each, KNOWN.__getitem__, soon.exercise) for each in (GO, replace(GO, seconds=6))}
    assert told == {"h1 → h2 on your network with s1-eth2.loss = 0 %"}, "how long it took would tell what is planted"


def test_a_check_whose_need_failed_is_not_judged():
    """It neither earns nor says anything wrong."""
    small = replace(EVIDENCE, facts={**HEALTHY, "s1-eth2.queue": 1000.0})
    assert outcome(replace(FILLED, needs=("queue",)), small, QUEUE) == ("skipped", 0)
    assert outcome(replace(FILLED, needs=("queue",)), EVIDENCE, QUEUE) == ("pass", 10)


def test_one_of_several_needs_may_be_enough():
    """Where three of four hosts are paced, what four flows do together is judged."""
    small, other = replace(QUEUE, id="small"), replace(QUEUE, id="other", subject="s2-eth2.queue")
    either = replace(FILLED, needs_any=("small", "other"))
    assert outcome(either, EVIDENCE, small, other) == ("pass", 10)
    none = replace(EVIDENCE, facts={})
    assert outcome(either, none, small, other) == ("skipped", 0)
    assert worth_doing(none, [small, other, either]) == []
    assert worth_doing(EVIDENCE, [small, other, either]) == [GO]


@pytest.mark.parametrize(("least", "found"), [(1, ("pass", 10)), (2, ("pass", 10)), (3, ("skipped", 0))])
def test_several_of_several_needs_may_be_wanted(least, found):
    """Regression: one of four senders that is paced was enough for an index that chance gives, too."""
    facts = {**HEALTHY, "s1-eth2.queue": 1000.0}
    others = [replace(QUEUE, id=f"other{number}", subject="s2-eth2.queue") for number in range(2)]
    some = replace(FILLED, needs_any=("queue", "other0", "other1"), needs_least=least)
    seen = replace(EVIDENCE, facts={**facts, "s2-eth2.queue": HEALTHY["s1-eth2.queue"]})
    assert outcome(some, seen, QUEUE, *others) == found
    assert worth_doing(seen, [QUEUE, *others, some]) == ([GO] if found[1] else [])


@pytest.mark.parametrize(
    ("kind", "result"),
    [("broken", ("fail", 0)), ("errors", ("error", 0))],
)
def test_our_tools_failure_is_an_error_and_never_a_fail(kind, result):
    """What the network did not give is the student's, what we could not measure is ours."""
    evidence = replace(EVIDENCE, metrics={}, **{kind: {"go": "iperf3: connection refused"}})
    found = one(FILLED, evidence)
    assert (found.outcome.value, found.score) == result
    assert "connection refused" in found.story
    ratio = replace(FILLED, kind="holds", subject="go.throughput > 0.5 * rate", bands=())
    assert outcome(ratio, evidence) == result


def test_the_planted_fault_is_a_word_to_compare_with():
    """An answer of kind choice."""
    named = replace(EXERCISE, answers=(Answer("cause", "choice", "What?", ("loss", "small-queue")),))
    check = replace(QUEUE, kind="answer", subject="cause", bands=(Band(exactly="{fault}"),))
    for said, wanted in (("small-queue", "pass"), ("loss", "fail")):
        evidence = replace(EVIDENCE, exercise=named, answers=read_answers(f'cause = "{said}"', named))
        assert one(check, evidence).outcome.value == wanted
        unknown = one(check, replace(evidence, fault=""))
        assert unknown.outcome.value == "error"  # it used to pass with any answer
        assert unknown.story.endswith('this check is broken: "{fault}" is nothing here')


def test_disciplines_and_choices_are_compared_in_their_order_and_nodes_in_any():
    """A tbf around a netem is another network, "h1 to h2" another choice than "h2 to h1"; both used to pass."""
    facts = {"s1-eth2.discipline": "netem tbf", "topology.nodes": "h1 h2 s1"}
    for subject, said, wanted in (
        ("s1-eth2.discipline", "netem  TBF", "pass"),
        ("s1-eth2.discipline", "tbf netem", "fail"),
        ("topology.nodes", "s1 h2 h1", "pass"),
    ):
        check = replace(QUEUE, subject=subject, bands=(Band(exactly=said),))
        assert one(check, replace(EVIDENCE, facts=facts)).outcome.value == wanted
    choices = ("from h1 to h2", "from h2 to h1")
    for kind, wanted in (("choice", "fail"), ("words", "pass")):
        asked = replace(EXERCISE, answers=(Answer("way", kind, "Which?", choices if kind == "choice" else ()),))
        check = replace(QUEUE, kind="answer", subject="way", bands=(Band(exactly=choices[0]),))
        evidence = replace(EVIDENCE, exercise=asked, answers=read_answers(f'way = "{choices[1]}"', asked))
        assert one(check, evidence).outcome.value == wanted


def test_an_experiment_is_done_only_where_a_check_may_still_pass_by_it():
    """A gate of weight 0 that holds lets it be done, one that fails does not."""
    gate = replace(QUEUE, weight=0)
    needy = replace(FILLED, needs=("queue",))
    assert worth_doing(EVIDENCE, [gate, needy]) == [GO]
    small = replace(EVIDENCE, facts={**HEALTHY, "s1-eth2.queue": 1000.0})
    assert worth_doing(small, [gate, needy]) == []
    assert worth_doing(small, [gate, needy, FILLED]) == [GO]
    asked = replace(FILLED, kind="answer", subject="bdp", bands=(Band("0.9 * go.throughput"),))
    assert worth_doing(EVIDENCE, [asked]) == [GO]
    assert worth_doing(replace(EVIDENCE, answers=read_answers("", EXERCISE)), [asked]) == []


def test_an_answer_that_is_missing_is_told_before_what_could_not_be_measured():
    """Regression: the report named the metric, "start.jain", by its internal name instead."""
    check = replace(FILLED, id="index", kind="answer", subject="bdp", bands=(Band("0.9 * go.throughput"),), why="W.")
    unanswered = replace(EVIDENCE, metrics={}, answers=read_answers("", EXERCISE))
    (found,) = judge(unanswered, [check])
    assert found.story == "fail index: expected what follows: W; but bdp: there is no answer."


def test_a_title_stands_within_a_sentence():
    """It began with a capital there, or titles began small in every table."""
    holds = replace(FILLED, kind="holds", subject="1 > 2", bands=(), title="The answers agree", why="W.")
    assert one(holds).story == "fail filled: expected that the answers agree: W."
    assert one(replace(holds, title="BBR wins")).story == "fail filled: expected that BBR wins: W."


WRONG = HEALTHY | {"s1-eth2.queue": 3e4, "h2.rmem": 65536.0}
LOOK = replace(FILLED, id="look", kind="observed", subject="", bands=(), why="Look first.")


@pytest.mark.parametrize(
    ("typed", "story"),
    [
        ((), "but no line was recorded."),
        (("iperf3 -c 10.0.0.2",), "but none of the 1 lines in your terminals and work.sh does."),
        (("tc qdisc del dev s1-eth2 root", "tc qdisc show"), "but none of the 2 lines in your terminals"),
        (("tc -s qdisc show dev s1-eth2", "tc qdisc del dev s1-eth2 root"), "looked at before it was changed."),
    ],
)
def test_what_was_planted_has_to_be_looked_at_before_it_is_changed(typed, story):
    """Whatever was planted, the story does not say which setting that is."""
    seen = replace(
        EVIDENCE,
        references={"healthy": HEALTHY, "start": WRONG},
        typed=[[TypedLine("client", line) for line in typed]],
        hosts=frozenset({"h1", "h2"}),
    )
    found = one(LOOK, seen)
    assert (found.outcome.value == "pass") == ("show dev" in "".join(typed))
    assert story in found.story
    assert "s1-eth2" not in found.story and "rmem" not in found.story


def test_a_look_is_not_judged_without_what_it_is_compared_with():
    """An error of ours, and no fail of the student's."""
    assert outcome(LOOK)[0] == "error"
