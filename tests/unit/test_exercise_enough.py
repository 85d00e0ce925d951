"""When the grader's runs are enough."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.exercise.answers import read_answers
from linklab.exercise.enough import enough, misled, reach
from linklab.exercise.evidence import Evidence
from linklab.exercise.model import Answer, Band, Check, Exercise, Experiment, SteadyCase, Transfer
from linklab.grade.verify import Proof, first_run
from linklab.judge.quantity import parse_value

SPREAD = {"throughput": "10 %", "jain": "0.09"}
GO = Experiment("go", "submitted", {}, (Transfer("h1", "h2"),), 20, 10, None, "", "W", spread=SPREAD)
EXERCISE = Exercise(Path(), "exercise", 9, "T", 1, 1, "", "", (), {}, (), (), (GO,), (Answer("ix", "index", "J"),), ())
EVIDENCE = Evidence(EXERCISE, {"rate": parse_value("1 Gbps")}.__getitem__, "", {}, {}, {}, read_answers("", EXERCISE))
FILLED = Check("filled", "Filled", "measure", 10, "go.throughput", (Band("0.8 * rate"),), (), False, "W.", ())
FAIR = replace(FILLED, id="fair", subject="go.jain", bands=(Band("0.9"), Band("0.75", share=0.6)))
INDEX = replace(FILLED, id="index", kind="answer", subject="ix", bands=(Band("go.jain - 0.1", "go.jain + 0.1"),))


def runs(experiment=GO, answers="", **metrics):
    """Evidence of some runs."""
    exercise = replace(EXERCISE, experiments=(experiment,))
    return replace(EVIDENCE, exercise=exercise, metrics={"go": metrics}, answers=read_answers(answers, exercise))


def test_a_third_run_is_needed_where_two_earn_different_marks():
    """Two runs within the band, or both below it, decide; one on each side does not."""
    assert enough(runs(throughput=(0.9e9, 0.95e9)), [FILLED])
    assert enough(runs(throughput=(0.1e9, 0.2e9)), [FILLED])
    assert not enough(runs(throughput=(0.9e9, 0.1e9)), [FILLED])
    between = replace(FILLED, bands=(Band("0.8 * rate", "1.1 * rate"),))
    assert not enough(runs(throughput=(0.4e9, 1.5e9)), [between])  # their mean is within, and neither of them


@pytest.mark.parametrize(
    ("jain", "decided"),
    [(1.0, True), (0.991, True), (0.989, False), (0.85, False), (0.839, False), (0.67, False), (0.65, True)],
)
def test_a_first_run_decides_where_another_could_not_earn_anything_else(jain, decided):
    """0.09 either way: full marks from 0.99, and nothing below 0.66; no index is far enough from both other bands."""
    assert enough(runs(jain=(jain,)), [FAIR]) is decided


def test_all_that_checks_speak_of_has_to_be_clear():
    """Also what an answer is compared with; what no check speaks of may be as it likes."""
    assert enough(runs(jain=(1.0,), throughput=(0.9e9,)), [FAIR, FILLED])
    assert not enough(runs(jain=(1.0,), throughput=(0.85e9,)), [FAIR, FILLED])
    assert enough(runs(jain=(1.0,), throughput=(0.85e9,), retransmits=(3.0,)), [FAIR])
    assert enough(runs(answers="ix = 0.95", jain=(1.0,)), [INDEX])
    assert not enough(runs(answers="ix = 0.92", jain=(0.9,)), [INDEX])
    assert enough(runs(answers="ix = 0.7", jain=(1.0,)), [INDEX])


def test_where_less_is_left_to_chance_a_first_run_decides_more():
    """With a queue for each flow the spread is narrower, and only where the state says that it has them."""
    where = {"s1-eth2.queues": "several", "s1-eth2.discipline": "* fq_codel"}
    experiment = replace(GO, steady=(SteadyCase(where, 30, 10, {"jain": "0.01"}, "Each flow has a queue."),))
    one = runs(experiment, jain=(0.95,), throughput=(0.95e9,))
    facts = {"s1-eth2.discipline": "netem tbf fq_codel"}
    several = replace(one, facts=facts, ways={"s1-eth2.queues": "several"}.get)
    assert not enough(one, [FAIR])
    assert enough(several, [FAIR]) and enough(several, [FAIR, FILLED])
    assert not enough(replace(several, metrics={"go": {"jain": (0.905,)}}), [FAIR])
    assert not enough(replace(several, ways={"s1-eth2.queues": "one"}.get), [FAIR])
    assert not enough(replace(several, facts={"s1-eth2.discipline": "netem tbf prio"}), [FAIR])
    assert not enough(replace(several, impossible="no such queue"), [FAIR])


def test_two_metrics_that_meet_in_one_check_vary_against_each_other():
    """Each by itself leaves the order as it is."""
    experiment = replace(GO, spread={"throughput.h1": "10 %", "throughput.h2": "10 %"})
    more = replace(FILLED, kind="holds", subject="go.throughput.h1 > go.throughput.h2", bands=())
    near, far = ({"throughput.h1": (high,), "throughput.h2": (1e9,)} for high in (1.2e9, 1.3e9))
    assert not enough(runs(experiment, **near), [more])
    assert enough(runs(experiment, **far), [more])


def test_a_first_run_decides_nothing_where_its_spread_is_not_known():
    """Nothing is said of the metric, or there is no value of it, as of a ping that nobody answered."""
    assert not enough(runs(replace(GO, spread={}), jain=(1.0,)), [FAIR])
    assert not enough(runs(jain=(math.nan,)), [FAIR])
    assert not enough(runs(throughput=(0.9e9,)), [FAIR])


def test_what_is_measured_once_or_not_at_all_asks_for_no_further_run():
    """Nothing in such an experiment is drawn by chance, or the network does not let it be."""
    assert enough(runs(replace(GO, runs=1, spread={}), jain=(0.9,)), [FAIR])
    assert enough(replace(runs(), metrics={}, broken={"go": "h1 has no route"}), [FAIR])


def test_a_first_run_that_misleads_is_named():
    """By the check and the points of both; one that is not clear would not be believed, so it misleads nobody."""
    assert misled(runs(jain=(1.0, 0.8, 0.85)), [FAIR]) == ["fair 10, 6 by all"]
    assert misled(runs(jain=(0.8, 0.85, 1.0)), [FAIR]) == ["fair 10, 6 by all"], "whichever seed comes first"
    assert misled(runs(jain=(1.0, 0.8, 0.95)), [FAIR]) == []
    assert misled(runs(jain=(0.95, 0.8, 0.85)), [FAIR]) == []
    assert misled(runs(jain=(1.0,)), [FAIR]) == []
    assert misled(replace(runs(), metrics={}), [FAIR]) == []


def test_a_proof_fails_where_a_first_run_misleads():
    """Also where an experiment with a spread was not measured in every run."""
    evidence = runs(jain=(1.0, 0.8, 0.85))
    evidence = replace(evidence, exercise=replace(evidence.exercise, checks=(FAIR,)))
    proof = Proof("ada", "model", holds=True, said="6 of 10 points")
    found = first_run(proof, evidence)
    assert (found.holds, found.said) == (False, "6 of 10 points; a first run seems clear, but earns fair 10, 6 by all")
    broke = first_run(proof, replace(evidence, metrics={}, errors={"go": "no iperf3"}))
    assert (broke.holds, broke.said) == (False, "6 of 10 points; not every run of go was measured")
    assert first_run(proof, replace(evidence, metrics={"go": {"jain": (1.0, 1.0, 0.95)}})) is proof


@pytest.mark.parametrize(
    ("metric", "value", "spread", "ends"),
    [
        ("throughput", 200.0, "5 %", (190, 210)),
        ("ping.mean", 0.04, "5 ms", (0.035, 0.045)),
        ("jain", 0.95, "0.09", (0.86, 1)),
        ("ping.loss", 0.01, "0.02", (0, 0.03)),
    ],
)
def test_the_median_lies_within_the_spread_and_what_can_be(metric, value, spread, ends):
    """A share of the value or a distance; no index is above 1, and nothing below 0."""
    assert reach(metric, value, spread) == pytest.approx(ends)
