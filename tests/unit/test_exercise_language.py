"""Expressions and placeholders of exercises, and the answers that are typed by them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.exercise.expression import NoValueError, evaluate, holds, names, number
from linklab.exercise.fill import fill, placeholders
from linklab.exercise.quantity import Value, parse_value
from linklab.units import parse_rate_mbit

KNOWN = {name: parse_value(text) for name, text in {"rate": "1 Gbps", "rtt": "20 ms", "loss": "0.2 %", "n": 8}.items()}
KNOWN |= {"tuned.throughput": parse_value("900 Mbps"), "tuned.jain": None, "cc": parse_value("bbr")}


def lookup(name):
    """Value of a name in these tests."""
    return KNOWN[name]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("bdp(rate, rtt)", 2_500_000, "bytes"),
        ("2 * bdp(rate, rtt)", 5_000_000, "bytes"),
        ("goodput(rate)", 1e9 * 1448 / 1514, "bit/s"),
        ("goodput(rate, 9000)", 1e9 * 8948 / 9014, "bit/s"),
        ('rtt + "5 ms"', 0.025, "s"),
        ("tuned.throughput / rate", 0.9, "1"),
        ("jain(rate, 3 * rate)", 0.8, "1"),
        ("abs(rtt - 2 * rtt)", 0.02, "s"),
        ("mathis(rtt, loss)", 8 * 1448 / 0.02 * math.sqrt(1.5 / 0.002), "bit/s"),
        ("min(rate, tuned.throughput)", 9e8, "bit/s"),
        ("ceil(7 / 2)", 4, "1"),
        ("-n + 1", -7, "1"),
    ],
)
def test_an_expression_gives_a_value_in_base_units(text, value, unit):
    """Formulas of the labs, with the units of their arguments."""
    found = number(text, lookup)
    assert found.number == pytest.approx(value)
    assert found.unit == unit


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("tuned.throughput >= 0.9 * rate", True),
        ('rtt < "20 ms"', False),
        ("cc == 'bbr' and n > 3", True),
        ("not cc == 'bbr' or n != 8", False),
        ('"1 ms" < rtt < "1 s"', True),
    ],
)
def test_a_comparison_is_a_yes_or_no(text, answer):
    """Numbers and words compare."""
    assert holds(text, lookup) is answer


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rate + rtt", "adds or subtracts bit/s and s"),
        ("rate < rtt", "compares bit/s and s"),
        ("nothing * 2", 'there is no "nothing"'),
        ("bdp(rtt, rate)", r"there is no bdp\(s, bit/s\)"),
        ("__import__('os')", "there is no __import__"),
        ("rate.__class__", 'there is no "rate.__class__"'),
        ("[1, 2]", "I cannot read"),
        ("rate +", "invalid syntax"),
        ("2 ** 8", r"only \+ - \* / are understood"),
        ('"10 mbps" * 2', "mbps means bytes to tc"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_reason(text, why):
    """Mixed units, unknown names and everything that is no arithmetic."""
    with pytest.raises(InputError, match=why):
        evaluate(text, lookup)


def test_a_name_without_a_value_is_no_zero():
    """What was not measured is told by its name."""
    with pytest.raises(NoValueError, match=r"tuned\.jain"):
        evaluate("tuned.jain > 0.9", lookup)
    with pytest.raises(NoValueError, match="index of no throughputs"):
        evaluate("jain(0 * rate, 0 * rate)", lookup)


def test_a_students_value_outside_of_a_function_is_no_broken_check():
    """The square root of a negative answer has no value; that of a constant is the author's mistake."""

    def answered(name):
        return Value(-0.01, "1") if name == "answer.loss" else lookup(name)

    with pytest.raises(NoValueError, match="math domain error"):
        evaluate("sqrt(answer.loss)", answered)
    with pytest.raises(NoValueError, match=r"loss must be in \(0, 1\], got -0.01"):
        evaluate("mathis(rtt, answer.loss)", answered)
    with pytest.raises(InputError, match="sqrt"):
        evaluate("sqrt(0 - 1)", answered)


def test_names_are_told_whole_and_functions_left_out():
    """What an expression speaks of."""
    assert names("0.9 * goodput(rate) < tuned.throughput and cc == 'bbr'") == {"rate", "tuned.throughput", "cc"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{rate} and {rate:tc}", "1 Gbps and 1gbit"),
        ("netem delay {= rtt / 2 : tc} loss {loss:tc}", "netem delay 10ms loss 0.2%"),
        ("limit {= 10 * bdp(rate, rtt) : bytes}", "limit 25000000"),
        ("{= tuned.throughput / rate : .2f} of {n}", "0.90 of 8"),
        ("${{PATH}} {cc}", "${PATH} bbr"),
        ("{= 2 * loss : percent}", "0.4 %"),
    ],
)
def test_placeholders_are_replaced_in_the_form_asked_for(text, filled):
    """For people, for tc, in bytes, or by a format."""
    assert fill(text, lookup) == filled


@pytest.mark.parametrize("text", ["{Rate}", "{rate:zz}", "{cc:tc}", "{rate tc}", "{= rate + rtt}"])
def test_a_placeholder_that_cannot_be_read_is_named(text):
    """The message holds the placeholder."""
    with pytest.raises(InputError, match="placeholder"):
        fill(text, lookup)


@given(st.text())
def test_text_without_braces_stays_as_it_is(text):
    """Only braces mean anything."""
    plain = text.replace("{", "").replace("}", "")
    assert fill(plain, lookup) == plain
    assert placeholders(plain) == []


@given(st.integers(1, 10**6))
def test_a_rate_in_kbit_comes_back_from_tc_spelling(kbit):
    """{rate:tc} keeps every digit."""
    shown = fill("{r:tc}", {"r": parse_value(f"{kbit} kbit/s")}.__getitem__)
    assert parse_rate_mbit(shown) * 1000 == pytest.approx(kbit)
