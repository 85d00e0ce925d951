# SPDX-License-Identifier: BSD-3-Clause
"""Tolerances, several runs of one lab, and the labs' relations as they were judged before."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.toml import Table
from linklab.errors import InputError
from linklab.judge import samples
from linklab.judge.expectation import Observed, read_expectation, verdicts_on
from linklab.judge.quantity import Value, parse_value
from linklab.judge.tolerance import around, between, chance_range, parse_tolerance
from linklab.judge.verdict import Outcome
from linklab.lab.model import find_lab, load_lab

CAPTURES = Path(__file__).parents[1] / "captures"
BEFORE = json.loads((CAPTURES / "relations-of-the-labs.json").read_text(encoding="utf-8"))
MARKS = {Outcome.PASS: "p", Outcome.FAIL: "f", Outcome.ERROR: "e"}


def expectation(**keys):
    """An `[[expect]]` with these keys."""
    return read_expectation(Table({"why": "w", **keys}, "lab.toml:4"))


def run(outputs=("a", "b"), broken=None, **metrics):
    """One run: step → metric → a quantity as text."""
    scalars = {
        step: {name: (parse_value(text).number, parse_value(text).unit) for name, text in found.items()}
        for step, found in metrics.items()
    }
    return Observed(scalars, dict.fromkeys(outputs, ""), broken or {})


def told(expect, *runs):
    """Outcome, what was seen, and the story."""
    (verdict,) = verdicts_on([expect], runs)
    return verdict.outcome.value, verdict.seen, verdict.story


@pytest.mark.parametrize(
    ("table", "low", "high", "shown"),
    [
        ({"range": ["9.2 Gbps", "9.6 Gbps"]}, 9.2e9, 9.6e9, "9.2 Gbps – 9.6 Gbps"),
        ({"value": "40 ms", "within": "5 %"}, 0.038, 0.042, "40 ms ± 5 %"),
        ({"value": "40 ms", "within": "2 ms"}, 0.038, 0.042, "40 ms ± 2 ms"),
        ({"value": 0}, 0, 0, "0"),
        ({"at_least": "900 Mbps"}, 9e8, math.inf, "at least 900 Mbps"),
        ({"at_most": "1 %"}, -math.inf, 0.01, "at most 1 %"),
        ({"chance": "1 %", "trials": 1000}, 0.004, 0.017, "0.4 – 1.7 %"),
    ],
)
def test_a_tolerance_has_a_shape(table, low, high, shown):
    """Ranges, shares of a value, bounds and chance all become one interval."""
    tolerance = parse_tolerance(table, "because")
    assert (tolerance.low, tolerance.high) == pytest.approx((low, high))
    assert str(tolerance) == shown


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "exactly one of range, value, at_least, at_most, chance; found none"),
        ({"at_most": 1, "at_least": 0}, "found at_least, at_most"),
        ({"range": ["1 s"]}, "range is a pair"),
        ({"range": ["1 s", "1 Mbps"]}, "range mixes s and bit/s"),
        ({"range": [2, 1]}, "the low end 2 is above the high end 1"),
        ({"chance": "1 %"}, "chance goes with trials"),
        ({"chance": 3, "trials": 10}, "chance is a share"),
        ({"chance": "10 ms", "trials": 10}, "chance is a share"),
    ],
)
def test_a_tolerance_that_makes_no_sense_is_refused(table, says):
    """What is missing or contradicts itself is said."""
    with pytest.raises(InputError, match=says):
        parse_tolerance(table, "because")


@given(st.floats(0.001, 0.999), st.integers(1, 2000))
def test_chance_holds_the_mean(probability, trials):
    """The interval of a random share contains the share that is expected, up to one trial."""
    low, high = chance_range(probability, trials)
    assert low - 1 / trials <= probability <= high + 1 / trials


def test_a_tolerance_may_be_a_formula():
    """The ends of lab.toml are in the language of the exercises, without names."""
    tolerance = parse_tolerance({"value": "bdp(1 Gbps, 20 ms)", "within": "10 %"}, "because")
    assert (tolerance.low, tolerance.high, tolerance.unit) == (2.25e6, 2.75e6, "bytes")
    assert str(tolerance) == "bdp(1 Gbps, 20 ms) ± 10 %"
    with pytest.raises(InputError, match='there is no "rate"'):
        parse_tolerance({"at_least": "0.9 * rate"}, "because")


def test_a_tolerance_is_shown_in_the_spelling_of_measured_numbers():
    """Regression: "30 us" stood beside "8 µs"; the ends stay as they are written."""
    assert str(parse_tolerance({"at_most": "30 us"}, "because")) == "at most 30 µs"
    assert str(parse_tolerance({"range": ["103us", "106 µs"]}, "because")) == "103 µs – 106 µs"
    assert str(parse_tolerance({"at_most": "3 ms"}, "because")) == "at most 3 ms"


def test_what_lies_around_a_value_is_written_as_expressions():
    """A share counts from the value, a quantity is added and taken away; the value keeps its parentheses."""
    assert around("rtt", "5 %") == ("rtt - rtt * 0.05", "rtt + rtt * 0.05")
    assert around("2 * rtt + 1 ms", "3 ms") == ("2 * rtt + 1 ms - 3 ms", "2 * rtt + 1 ms + 3 ms")
    assert around("a - b", "1 %") == ("a - b - (a - b) * 0.01", "a - b + (a - b) * 0.01")
    with pytest.raises(InputError, match='within "much" is neither a share'):
        around("rtt", "much")


def test_a_tolerance_between_values_says_so_and_keeps_its_unit():
    """Ends may be open, and are of one unit; what is judged by them too."""
    both = between(parse_value("20 ms"), parse_value("40 ms"), "because")
    assert (both.low, both.high, str(both)) == (0.02, 0.04, "20 ms to 40 ms")
    assert [both.accepts(Value(each, "s")) for each in (0.019, 0.02, 0.04, 0.041, math.nan)] == [
        False, True, True, False, False
    ]  # fmt: skip
    assert str(between(None, parse_value("1 %"), "because")) == "at most 1 %"
    assert str(between(parse_value("1 Gbps"), None, "because")) == "at least 1 Gbps"
    with pytest.raises(InputError, match="what was measured is in bit/s, and the expected range in s"):
        both.accepts(Value(1e9, "bit/s"))
    with pytest.raises(InputError, match="a range from 20 ms to 1 Gbps mixes units; give both ends in one"):
        between(parse_value("20 ms"), parse_value("1 Gbps"), "because")
    with pytest.raises(InputError, match="a range needs quantities, not words such as long"):
        between(None, parse_value("long"), "because")


def test_the_median_is_of_what_was_measured():
    """A run that gave nothing is a gap and no 0; if none gave anything, there is no median."""
    assert samples.median([3.0, 1.0, 2.0]) == 2.0
    assert samples.median([3.0, math.nan]) == 3.0
    assert samples.median([math.nan]) is None
    assert [samples.in_words(runs) for runs in ([1.0], [1.0, 2.0], [1.0, math.nan, 2.0])] == [
        "",
        "median of 2 runs",
        "median of 2 of 3 runs",
    ]


def test_runs_agree_if_each_alone_comes_to_the_same_as_all():
    """Runs on either side of a bound disagree, and so do runs that a band lies between."""
    metrics = {"go": {"rate": [1.0, 9.0], "once": [5.0]}}
    assert samples.each_alone(metrics) == [
        {"go": {"rate": [1.0], "once": [5.0]}},
        {"go": {"rate": [9.0], "once": [5.0]}},
    ]

    def within(low, high):
        return lambda found: low <= samples.median(found["go"]["rate"]) <= high

    alone = samples.each_alone(metrics)
    assert samples.agree(metrics, alone, within(0, 10))
    assert samples.agree(metrics, alone, within(20, 30))
    assert not samples.agree(metrics, alone, within(0, 6))
    assert not samples.agree(metrics, alone, within(4, 6))


def test_several_runs_are_judged_by_their_median():
    """Of three seeds one unlucky draw decides nothing, and the story says how many there were."""
    expect = expectation(step="a", what="rate", range=["9 Gbps", "9.6 Gbps"])
    runs = [run(a={"rate": rate}) for rate in ("9.3 Gbps", "2 Gbps", "9.4 Gbps")]
    (verdict,) = verdicts_on([expect], runs)
    assert (verdict.outcome, verdict.seen) == (Outcome.PASS, "9.30 Gbps")
    assert (verdict.samples, verdict.unit) == ((9.3e9, 2e9, 9.4e9), "bit/s")
    runs = [run(a={"rate": rate}) for rate in ("1 Gbps", "2 Gbps", "9.4 Gbps")]
    assert told(expect, *runs)[2] == ("a rate: expected 9 Gbps – 9.6 Gbps (w), saw 2 Gbps (median of 3 runs).")
    (verdict,) = verdicts_on([expect], [run(a={"rate": "9.3 Gbps"}), run()])
    assert (verdict.outcome, verdict.seen) == (Outcome.PASS, "9.30 Gbps")
    assert math.isnan(verdict.samples[1])
    relation = expectation(relation="a.rate > 2 * b.rate")
    runs = [run(a={"rate": rate}, b={"rate": "2 Gbps"}) for rate in ("9 Gbps", "1 Gbps", "3 Gbps")]
    assert told(relation, *runs) == (
        "fail",
        "3 Gbps not > 4 Gbps",
        "a.rate > 2 * b.rate: expected holds (w), saw 3 Gbps not > 4 Gbps (median of 3 runs).",
    )
    assert told(relation, *runs[1:], run(a={"rate": "2 Gbps"}))[2].endswith("(median of 2 of 3 runs).")


def test_output_must_be_shown_in_every_run():
    """An output has no median."""
    expect = expectation(step="a", shows="up$")
    assert told(expect, Observed({}, {"a": "is up"}), Observed({}, {"a": "is up"}))[:2] == ("pass", "up")
    assert told(expect, Observed({}, {"a": "is up"}), Observed({}, {"a": "is down"}))[0] == "fail"


def test_a_step_that_one_run_lacks_is_skipped_and_units_must_agree():
    """Nothing is judged by half of the evidence, nor by milliseconds beside bits."""
    expect = expectation(step="a", what="rate", at_least="1 Gbps")
    assert told(expect, run(a={"rate": "2 Gbps"}), run(outputs=("b",)))[::2] == ("skipped", "skipped (needs a)")
    assert told(expect)[0] == "skipped"
    assert told(expect, run(a={"rate": "2 Gbps"}), run(a={"rate": "2 ms"}))[::2] == (
        "error",
        "lab.toml:4: the runs measured a.rate in different units: bit/s, s",
    )


@pytest.mark.parametrize(
    "relation",
    ["a.rate > 0 * b.rate", "a.rate > 1 Mbps and b.rate > 1 Mbps", "not b.rate > 1 Mbps", "b.rate != 1 Mbps"],
)
def test_a_relation_with_a_number_that_is_missing_is_an_error(relation):
    """Unknown is not zero, whatever it is multiplied by."""
    found = told(expectation(relation=relation), run(a={"rate": "1 Gbps"}, broken={"b": "out.json: cut off"}))
    assert found == ("error", "", "lab.toml:4: step b gave no rate: out.json: cut off")


@pytest.mark.parametrize(
    ("before", "after", "outcome"), [(4000, 10_000, "pass"), (10_000, 4000, "pass"), (5000, 5000, "fail")]
)
def test_an_output_is_looked_through_at_its_ends(before, after, outcome):
    """Regression: a lab of a kilobyte said that a command had shown much, and its pattern took more than 300 s."""
    output = "x" * before + "\nup\n" + "y" * after
    assert told(expectation(step="a", shows="^up$"), Observed({}, {"a": output}))[0] == outcome
    cut = f"{'x' * 4093}\nuptime{'y' * 10_000}"
    assert told(expectation(step="a", shows="^up$"), Observed({}, {"a": cut}))[0] == "fail"


def test_a_relation_shows_each_comparison_that_was_made():
    """Where one of two bands is enough, both are shown, and a number that is not known is called so."""
    expect = expectation(relation="a.rate / b.rate < 0.25 or a.rate / b.rate > 0.9")
    assert told(expect, run(a={"rate": "1 Gbps"}, b={"rate": "5 Gbps"}))[:2] == ("pass", "0.2 < 0.25 or 0.2 not > 0.9")
    assert told(expect, run(a={"rate": "1 Gbps"}, b={"rate": "2 Gbps"}))[:2] == (
        "fail",
        "0.5 not < 0.25 or 0.5 not > 0.9",
    )
    chain = expectation(relation="1 ms < a.rtt <= b.rtt")
    assert told(chain, run(a={"rtt": "5 ms"}, b={"rtt": "4 ms"}))[:2] == ("fail", "1 ms < 5 ms not <= 4 ms")
    either = expectation(relation="a.rtt < 9 ms or b.rtt < 9 ms")
    assert told(either, run(a={"rtt": "5 ms"}))[:2] == ("pass", "5 ms < 9 ms or unknown")
    assert told(expectation(relation="a.rtt / b.rtt > 0"), run(a={"rtt": "5 ms"}, b={"rtt": "0 ms"}))[2] == (
        "lab.toml:4: a.rtt / b.rtt > 0 (a division by 0) has no value"
    )


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"relation": "a.rtt"}, 'lab.toml:4: relation "a.rtt" is a value; compare it with another'),
        ({"relation": "rtt > 4 ms"}, 'lab.toml:4: relation "rtt > 4 ms": "rtt" is no measurement; write STEP.METRIC'),
        ({"relation": "a.rtt > 4 ms + 1 Mbps"}, '"4 ms" is in s and "1 Mbps" is in bit/s, so "+" makes no sense'),
        ({"relation": 'fact("h1.cc") == "bbr"'}, "there is no state here for a fact"),
        ({"relation": "a.rtt > half(b.rtt)"}, "there is no function half; use bdp, goodput"),
        ({"step": "a", "what": "x", "at_least": "fast"}, 'there is no "fast"'),
        ({"step": "a", "what": "x", "at_least": "'fast'"}, "is no number with a unit"),
        ({"step": "a", "what": "x", "at_least": [1]}, "[1] is neither a number nor a quantity in quotes"),
        ({"step": "a", "what": "x", "at_least": "5 / 0"}, "lab.toml:4: 5 / 0 (a division by 0) has no value"),
        ({"step": 3}, 'lab.toml:4: "step" must be text, not 3'),
        ({"step": "a", "colour": 3}, 'lab.toml:4: unknown key "colour"; the keys here are step, what, why'),
    ],
)
def test_an_expectation_that_cannot_be_judged_is_refused_where_it_stands(keys, says):
    """Before anything is run."""
    with pytest.raises(InputError) as caught:
        expectation(**keys)
    assert says in str(caught.value)


@pytest.mark.parametrize("case", BEFORE["relations"], ids=lambda case: f"{case['lab']} {case['relation'][:40]}")
def test_every_relation_of_the_labs_is_judged_as_before(case):
    """The same verdict and the same words, for the numbers of the reference and for others around them."""
    expect = expectation(relation=case["relation"])

    def judged(measured):
        scalars = {}
        for name, quantity in measured.items():
            step, _, metric = name.partition(".")
            scalars.setdefault(step, {})[metric] = tuple(quantity)
        return verdicts_on([expect], [Observed(scalars, dict.fromkeys(expect.steps, ""))])[0]

    found = judged(case["measured"])
    assert (found.outcome.value, found.seen) == (case["verdict"], case["seen"])
    for name, marks in case["moved"].items():
        value, unit = case["measured"][name]
        moved = [judged({**case["measured"], name: [value * factor, unit]}) for factor in BEFORE["factors"]]
        assert "".join(MARKS[each.outcome] for each in moved) == marks, name


def test_lab_18_says_in_words_what_it_said_by_a_product():
    """The ratio of the flows lies below 1 to 4 or near 1: positive (r - 0.25) * (r - 0.9), but readable."""
    lab = load_lab(find_lab("18"))
    (now,) = [each for each in lab.expectations if " or " in each.relation]
    (case,) = [each for each in BEFORE["relations"] if each["relation"].startswith("(two-h1")]
    before = expectation(relation=case["relation"])
    for ratio in (0.0, 0.067, 0.2499, 0.25, 0.26, 0.5, 0.89, 0.9, 0.901, 1.0, 3.0):
        rates = {"two-h1": ratio * 4e8, "two-h2": 4e8}
        scalars = {step: {"iperf3.throughput.receiver": (rate, "bit/s")} for step, rate in rates.items()}
        runs = [Observed(scalars, dict.fromkeys(rates, ""))]
        old, new = verdicts_on([before, now], runs)
        assert (new.outcome, new.outcome is Outcome.PASS) == (old.outcome, ratio < 0.25 or ratio > 0.9), ratio
