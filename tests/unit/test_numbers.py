# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read and write them, tolerances, and relations between numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.numbers import format_number, parse_number
from linklab.errors import InputError
from linklab.relation import parse_relation
from linklab.tolerance import chance_range, parse_tolerance


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9.2 Gbps", (9.2e9, "bit/s")),
        ("10mbit", (1e7, "bit/s")),
        ("40 ms", (0.04, "s")),
        ("2 min", (120.0, "s")),
        ("0.5 %", (0.005, "1")),
        ("2.5 MB", (2.5e6, "bytes")),
        ("2.5 MiB", (2621440.0, "bytes")),
        ("2621440 bytes", (2621440.0, "bytes")),
        (582, (582.0, "1")),
        (0.914, (0.914, "1")),
    ],
)
def test_numbers_are_read_with_their_unit(text, number):
    """Values come in base units."""
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["fast", "", "12 parsec", "40", True])
def test_a_number_without_a_known_unit_is_refused(text):
    """Text that is no number with a unit is named."""
    with pytest.raises(InputError, match="is no number"):
        parse_number(text)


@pytest.mark.parametrize(
    ("value", "unit", "as_unit", "decimals", "text"),
    [
        (954.3e6, "bit/s", None, None, "954 Mbps"),
        (9.4412e9, "bit/s", "Gbit/s", 2, "9.44 Gbit/s"),
        (0.032669, "s", None, None, "32.7 ms"),
        (0.02008, "s", "ms", 2, "20.08 ms"),
        (2621440, "bytes", None, None, "2.62 MB"),
        (2621440, "bytes", "MiB", 1, "2.5 MiB"),
        (582, "segments", None, None, "582"),
        (0.00999, "", "%", 1, "1.0 %"),
        (0.0, "s", None, None, "0 µs"),
        (math.nan, "s", None, None, "none"),
        (3.0, "1/s", None, None, "3 1/s"),
    ],
)
def test_numbers_are_written_for_readers(value, unit, as_unit, decimals, text):
    """The unit fits the size, unless the manual names one."""
    assert format_number(value, unit, as_unit, decimals) == text


def test_a_unit_of_another_quantity_is_refused():
    """A time cannot be written in Mbps."""
    with pytest.raises(ValueError, match=r'a value in s cannot be written in "Mbps"'):
        format_number(1.0, "s", "Mbps")


@given(st.integers(1, 10**9), st.sampled_from(["s", "bit/s", "bytes"]))
def test_what_is_written_can_be_read(value, unit):
    """Reading what was written in the base unit gives the number back."""
    assert parse_number(format_number(value, unit, unit, 0)) == (pytest.approx(value, rel=1e-12), unit)


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


def test_relations_compare_measured_numbers():
    """Products bind before sums, and numbers may have units."""
    numbers = {("bbr", "iperf3.throughput.receiver"): 900e6, ("reno-2", "ping.rtt.mean"): 0.03}

    def lookup(step, metric):
        return numbers[step, metric]

    assert parse_relation("bbr.iperf3.throughput.receiver > 5 * 100 Mbps + 1 * 2").evaluate(lookup) == (
        True,
        9e8,
        5e8 + 2,
    )
    assert parse_relation("reno-2.ping.rtt.mean - 10 ms <= (20 ms)").evaluate(lookup)[0] is True
    assert parse_relation("reno-2.ping.rtt.mean / 2 >= 1 s").evaluate(lookup) == (False, 0.015, 1.0)
    names = parse_relation("a.x.y > 2 * a.x.y - b.z").names()
    assert [(name.step, name.metric) for name in names] == [("a", "x.y"), ("b", "z")]


UNITS = {
    "rate": "bit/s",
    "rtt": "s",
    "size": "bytes",
    "lost": "packets",
    "again": "segments",
    "index": "",
    "pps": "1/s",
}


@pytest.mark.parametrize(
    "text",
    [
        "a.rate > 5 * b.rate - 1 Mbps",
        "a.rtt - 10 ms <= 2 * (b.rtt + 5 us)",
        "a.lost / b.again > 0.5 * a.index",
        "a.again < 0.02 * a.size / 1448 bytes",
        "a.rate * b.rtt / a.rate < 1 min",
        "a.pps * 2 s > a.lost",
    ],
)
def test_relations_of_one_unit_each(text):
    """Counts of whatever kind are plain numbers; products and quotients have units of their own."""
    parse_relation(text).check_units(lambda step, metric: UNITS[metric])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a.rate > b.rtt", '">" between bit/s and s'),
        ("a.rate > 5 * b.rtt", '">" between bit/s and s'),
        ("a.rtt < 40", '"<" between s and a number without unit'),
        ("a.rate + b.size > 1 Mbps", '"+" between bit/s and bytes'),
        ("a.rate > 1 Mbps - 2 ms", '"-" between bit/s and s'),
        ("a.size / b.rtt > a.rate", '">" between bytes × (s)^-1 and bit/s'),
        ("a.size > 1448 * a.lost", '">" between bytes and a number without unit'),
    ],
)
def test_relations_that_mix_units_are_refused(text, says):
    """Regression: they held or not by chance."""
    with pytest.raises(InputError) as caught:
        parse_relation(text).check_units(lambda step, metric: UNITS[metric])
    assert str(caught.value) == f'relation "{text}": {says}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a.b", "expected <, <=, > or >=, found the end"),
        ("a.b > ", "expected a number, STEP.METRIC or (, found the end"),
        ("a.b > (1", "expected ), found the end"),
        ("a.b > 1 2", "expected the end, found 2"),
        ("__import__('os') > 1", "I cannot read"),
        ("a.b == 1", "I cannot read"),
    ],
)
def test_a_relation_that_is_none_is_refused(text, says):
    """The grammar is small on purpose, and nothing outside it is evaluated."""
    with pytest.raises(InputError) as caught:
        parse_relation(text)
    assert says in str(caught.value)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 1000))
def test_arithmetic_is_that_of_numbers(a, b, c):
    """Left to right, products first."""
    _, left, _ = parse_relation(f"{a} - {b} * {c} / {c} > 0").evaluate(lambda step, metric: 0.0)
    assert left == a - b * c / c
