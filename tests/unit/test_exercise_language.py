"""Placeholders in the texts of exercises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.exercise.fill import fill, placeholders
from linklab.judge.quantity import parse_value
from linklab.units import parse_rate_mbit

KNOWN = {name: parse_value(text) for name, text in {"rate": "1 Gbps", "rtt": "20 ms", "loss": "0.2 %", "n": 8}.items()}
KNOWN |= {"tuned.throughput": parse_value("900 Mbps"), "tuned.jain": None, "cc": parse_value("bbr")}


def lookup(name):
    """Value of a name in these tests."""
    return KNOWN[name]


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
