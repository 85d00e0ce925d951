# SPDX-License-Identifier: BSD-3-Clause
"""The expressions that labs and exercises are judged by: what they mean, and what is no expression."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.judge import language
from linklab.judge.check import check
from linklab.judge.dimension import canonical, product, quotient
from linklab.judge.evaluation import NoValueError, evaluate, holds, names, number
from linklab.judge.language import Arithmetic, Call, Comparison, Junction, Literal, Name, Negative, Not
from linklab.judge.parser import MOST_DEEP, MOST_WORDS, parse
from linklab.judge.quantity import Value, parse_value

KNOWN = {name: parse_value(text) for name, text in {"rate": "1 Gbps", "rtt": "20 ms", "loss": "0.2 %", "n": 8}.items()}
KNOWN |= {"tuned.throughput": parse_value("900 Mbps"), "tuned.jain": None, "cc": parse_value("bbr")}
KNOWN |= {"bloat-ping.ping.rtt.mean": parse_value("0.2 s"), "tail.tc.s1-eth2.1.dropped": parse_value(40)}
MEASURED = {
    "rate": "bit/s",
    "rtt": "s",
    "size": "bytes",
    "lost": "packets",
    "again": "segments",
    "index": "",
    "pps": "1/s",
}


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
        ("rate + rtt", '"rate" is in bit/s and "rtt" is in s, so "." makes no sense; use quantities of one unit'),
        ("rate < rtt", '"rate" is in bit/s and "rtt" is in s, so "<" makes no sense; use quantities of one unit'),
        ("nothing * 2", 'there is no "nothing"'),
        ("bdp(rtt, rate)", r"there is no bdp\(s, bit/s\)"),
        ("__import__('os')", "there is no function __import__; use bdp"),
        ("rate.__class__", 'there is no "rate.__class__"'),
        ("[1, 2]", "I cannot read"),
        ("rate +", r"expected a number, a name or \(, found the end"),
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
    ("text", "value", "unit"),
    [
        ("40 ms", 0.04, "s"),
        ("9.56 Gbps * (0.96 - 0.02 * n)", 9.56e9 * 0.8, "bit/s"),
        ("15000 bytes * n", 120_000, "bytes"),
        ("2.5 MB / 1448 bytes", 2.5e6 / 1448, "1"),
        ("0.1 %", 0.001, "1"),
        ("10 Mbit/s", 1e7, "bit/s"),
        ("10 Mbits/sec", 1e7, "bit/s"),
        ("1 s / 4 s", 0.25, "1"),
        ("1 s/s", None, None),
        ("bloat-ping.ping.rtt.mean - rtt", 0.18, "s"),
        ("tail.tc.s1-eth2.1.dropped", 40, "1"),
        ("8 - n - 1", -1, "1"),
        ("8 - (n - 1)", 1, "1"),
        ("100 / n / 2", 6.25, "1"),
        ("- -n", 8, "1"),
    ],
)
def test_quantities_and_measured_numbers_need_no_quotes(text, value, unit):
    """A unit follows its number, and a hyphen within a name belongs to the name."""
    if unit is None:
        with pytest.raises(InputError, match='there is no "s"'):
            number(text, lookup)
        return
    found = number(text, lookup)
    assert (found.number, found.unit) == (pytest.approx(value), unit)


def test_names_of_labs_and_exercises_are_told_apart_from_a_minus():
    """A minus between names has blanks; without them the message says so."""
    assert names("a-b.x - c.tc.s1-eth2.2.sent-x > 2-flows.rtt") == {"a-b.x", "c.tc.s1-eth2.2.sent-x", "2-flows.rtt"}
    with pytest.raises(InputError, match='there is no "rate-rtt"; a minus between names has a blank on each side'):
        number("rate-rtt", lookup)


@pytest.mark.parametrize(
    "text",
    [
        "a.rate > 5 * b.rate - 1 Mbps",
        "a.rtt - 10 ms <= 2 * (b.rtt + 5 us)",
        "a.lost / b.again > 0.5 * a.index",
        "a.again < 0.02 * a.size / 1448 bytes",
        "a.rate * b.rtt / a.rate < 1 min",
        "a.pps * 2 s > a.lost",
        "min(a.rate, b.rate) > goodput(a.rate, 9000 bytes) or not a.index > 1",
        "sqrt(a.lost) < abs(a.index - 1)",
    ],
)
def test_what_is_compared_is_of_one_unit(text):
    """Counts of whatever kind are plain numbers; products and quotients have units of their own."""
    assert check(text, lambda name: MEASURED[name.rpartition(".")[2]]) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "a.rate > b.rtt",
            '"a.rate" is in bit/s and "b.rtt" is in s, so ">" makes no sense; use quantities of one unit',
        ),
        ("a.rate > 5 * b.rtt", '"a.rate" is in bit/s and "5 * b.rtt" is in s'),
        ("a.rtt < 40", '"40" is a plain number, so "<" makes no sense; give the number its unit, such as "40 ms"'),
        ("a.rate + b.size > 1 Mbps", '"a.rate" is in bit/s and "b.size" is in bytes, so "+" makes no sense'),
        ("a.rate > 1 Mbps - 2 ms", '"1 Mbps" is in bit/s and "2 ms" is in s, so "-" makes no sense'),
        ("a.size / b.rtt > a.rate", '"a.size / b.rtt" is in bytes/s and "a.rate" is in bit/s'),
        ("a.size > 1448 * a.lost", '"a.size" is in bytes and "1448 * a.lost" is a plain number'),
        ("a.lost > 1 or a.rtt < 1 Mbps", '"a.rtt" is in s and "1 Mbps" is in bit/s'),
        ("a.rtt + 'bbr' > 1 s", 'the word "bbr" is no number'),
        ("a.rtt < 'bbr'", 'words are only equal or not, in "a.rtt < "bbr""'),
        ("a.rtt", None),
        ("a.rtt and a.lost > 1", '"a.rtt" is a value, where a yes or no is wanted'),
        ("(a.rtt > 1 s) + 1 > 0", '"a.rtt > 1 s" is a yes or no, where a value is wanted'),
        ("max() > 1", "there is no max()"),
        ("abs(1, 2) > 1", "there is no abs(1, 1)"),
    ],
)
def test_mixed_units_are_refused_with_their_place_and_a_cure(text, says):
    """Regression: they held or not by chance, and one that "or" did not come to was never looked at."""
    if says is None:
        assert check(text, lambda name: "s") == "s"
        return
    with pytest.raises(InputError) as caught:
        check(text, lambda name: MEASURED[name.rpartition(".")[2]])
    assert str(caught.value).startswith(f'expression "{text}": ')
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a number, a name or (, found the end"),
        ("a.b > ", "expected a number, a name or (, found the end"),
        ("a.b > (1", "expected ), found the end"),
        ("a.b > 1 2", 'expected an operator or the end, found "2"'),
        ("a.b > 12 parsec", "12 parsec"),
        ("a.b > 12parsec", '"12parsec" is no number with a unit, such as 40 ms'),
        ("a.b = 1", 'I cannot read "= 1"'),
        ('a.b == "x', "I cannot read"),
        ("lambda: 1", "I cannot read"),
        ("a.b > 1; b", "I cannot read"),
        ("not", "expected a number, a name or (, found the end"),
        ("a or", "expected a number, a name or (, found the end"),
        ("f(1,)", 'expected a number, a name or (, found ")"'),
        ("1e999 > 0", '"1e999" is too large for a number'),
    ],
)
def test_what_is_no_expression_is_refused(text, says):
    """The grammar is small on purpose, and nothing outside of it is evaluated."""
    with pytest.raises(InputError) as caught:
        parse(text)
    assert says in str(caught.value)


def test_an_expression_has_an_end():
    """Length and depth are bounded, so that text from anybody is answered with a sentence."""
    with pytest.raises(InputError, match=f"nested more than {MOST_DEEP} deep"):
        parse("(" * 100)
    with pytest.raises(InputError, match=f"nested more than {MOST_DEEP} deep"):
        parse("-" * 300 + "1")
    with pytest.raises(InputError, match=f"more than {MOST_WORDS} words"):
        parse("1" + " + 1" * 500)
    with pytest.raises(InputError, match="more than 4000 characters; write it in parts") as caught:
        parse("x" * 10_000)
    assert len(str(caught.value)) < 400
    longest = "1" + " + 1" * (MOST_WORDS // 2 - 1)
    assert number(longest, lookup).number == MOST_WORDS // 2
    assert str(parse(longest)) == longest


@pytest.mark.parametrize(
    ("unit", "form"),
    [
        ("Mbps", "bit/s"),
        ("packets", "1"),
        ("", "1"),
        ("1/s", "1/s"),
        ("bytes/s", "bytes/s"),
        ("s·bytes", "bytes·s"),
        ("bit/s/s", "bit/s/s"),
        ("parsec", "parsec"),
    ],
)
def test_a_unit_has_one_form(unit, form):
    """So that two of the same quantity are equal as texts."""
    assert canonical(unit) == form


@given(*[st.lists(st.sampled_from(["bit/s", "s", "bytes", "parsec"]), max_size=4)] * 2)
def test_units_multiply_and_cancel(above, below):
    """A quotient by itself is a plain number, and dividing undoes multiplying."""
    one = "1"
    for unit in above:
        one = product(one, unit)
    other = "1"
    for unit in below:
        other = product(other, unit)
    assert quotient(one, one) == "1"
    assert quotient(product(one, other), other) == one
    assert quotient(quotient(one, other), one) == quotient("1", other)


def _is_literal(text):
    try:
        parse_value(text)
    except InputError:
        return False
    return True


LETTERS = st.text(string.ascii_lowercase, min_size=1, max_size=5).filter(lambda word: word not in language.KEYWORDS)
DOTTED = st.lists(st.lists(LETTERS, min_size=1, max_size=2).map("-".join), min_size=1, max_size=3).map(".".join)
QUANTITIES = st.builds(
    lambda number, unit: f"{number}{unit}",
    st.integers(1, 10**6) | st.floats(1e-6, 1e6).map(repr),
    st.sampled_from(["", " ms", "Mbps", " kbit", " bytes"]),
).filter(_is_literal)
WORDS = st.text(st.characters(exclude_characters='"\n\r', exclude_categories=["C", "Z"]), max_size=6)


def _values(inner):
    return st.one_of(
        st.builds(Negative, inner),
        st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        st.builds(Call, LETTERS, st.lists(inner, max_size=3).map(tuple)),
    )


VALUES = st.recursive(
    st.one_of(
        QUANTITIES.map(parse_value).map(Literal),
        WORDS.filter(_is_literal).map(parse_value).map(Literal),
        DOTTED.map(Name),
    ),
    _values,
    max_leaves=6,
)
COMPARED = st.builds(
    Comparison,
    VALUES,
    st.lists(st.tuples(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), VALUES), min_size=1, max_size=3).map(tuple),
)
ANSWERS = st.recursive(
    COMPARED,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(Junction, st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3).map(tuple))
    ),
    max_leaves=5,
)


@given(VALUES | ANSWERS)
def test_what_is_written_reads_back_equal(expression):
    """`parse(str(e)) == e` for every expression."""
    assert parse(str(expression)) == expression


NUMBERS = st.recursive(
    st.sampled_from(["a.x", "b.y", "c.z", "2", "0"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("max({}, {})".format, inner, inner)
        | inner.map("-{}".format)
    ),
    max_leaves=8,
)


@given(NUMBERS, st.sampled_from([None, Value(math.nan, "1")]))
def test_no_number_comes_of_one_that_is_missing(text, gap):
    """Unknown is not zero, whatever is done to it: a missing metric, and a gap (NaN), make the whole unknown."""
    measured = {"a.x": Value(3.0, "1"), "b.y": gap, "c.z": Value(0.0, "1")}
    if "b.y" in names(text):
        with pytest.raises(NoValueError) as caught:
            evaluate(text, measured.__getitem__)
        assert (caught.value.name, caught.value.missing) == ("b.y", True)
    else:
        assert math.isfinite(number(text, measured.__getitem__).number)


@given(NUMBERS)
def test_arithmetic_is_that_of_numbers(text):
    """Left to right, products first: what Python gives for the same text."""
    measured = {"a.x": 3.0, "b.y": 5.0, "c.z": 0.0}
    plain = text
    for name, value in measured.items():
        plain = plain.replace(name, repr(value))
    found = number(text, lambda name: Value(measured[name], "1"))
    assert found.number == eval(plain, {"max": max})  # noqa: S307 - digits, signs and max alone


@given(st.text(max_size=40) | st.text("a.-1 <=>+*/()\"'%sm,not", max_size=40))
def test_any_text_is_an_expression_or_a_sentence(text):
    """No other exception comes of any text."""
    try:
        found = parse(text)
    except InputError as error:
        assert "\n" not in str(error) or "\n" in text
    else:
        assert parse(str(found)) == found


def test_values_too_large_for_a_number_are_no_values():
    """An author must not write them; a student may answer so."""
    with pytest.raises(InputError, match="too large for a number"):
        number("1e300 * 1e300", lookup)
    with pytest.raises(NoValueError, match="too large for a number"):
        number("answer.n * 1e300", lambda name: Value(1e300, "1"))
    assert [parse_value(text).is_word for text in ("nan", "inf", "infinity")] == [True, True, True]
    with pytest.raises(InputError, match='"1e999" is too large'):
        parse_value("1e999")
