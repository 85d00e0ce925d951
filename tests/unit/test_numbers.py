# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read and write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.numbers import format_number, parse_number
from linklab.errors import InputError


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
        ("11.68 MiB", (11.68 * 2**20, "bytes")),
        ("1.2e3 kB", (1.2e6, "bytes")),
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
        (-math.inf, "s", "ms", None, "-inf ms"),
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
