"""Numbers as students of several countries type them, and how the ambiguous ones are refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.typed_numbers import plain_number, plain_quantity
from linklab.errors import InputError

KINDS = ("rate", "time", "size", "share", "number")


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("12.25", "12.25"),
        ("12,25", "12.25"),
        ("0,125", "0.125"),
        ("-0,5", "-0.5"),
        ("\N{MINUS SIGN}3", "-3"),
        ("1,2345", "1.2345"),
        ("12345,678", "12345.678"),
        (",5", ".5"),
        ("1,234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1.234", "1.234"),
        ("628 000 000", "628000000"),
        ("628\N{NO-BREAK SPACE}000\N{NARROW NO-BREAK SPACE}000", "628000000"),
        ("1'234", "1234"),
        ("1\N{RIGHT SINGLE QUOTATION MARK}234,5", "1234.5"),
        ("1_000", "1000"),
        ("6.28e8", "6.28e8"),
        ("6,28E+08", "6.28e+08"),
        ("\N{NO-BREAK SPACE}40 ", "40"),
    ],
)
def test_a_number_is_understood_as_it_is_written_in_several_countries(typed, plain):
    """Decimal comma or point, and thousands set apart by a space, an apostrophe or the other mark."""
    assert plain_number(typed) == plain


@pytest.mark.parametrize("typed", ["1,234", "12,000", "-999,999", "1,234e3"])
def test_one_comma_before_three_digits_can_mean_two_things_and_is_refused(typed):
    """A factor of a thousand lies between the two, so nothing is guessed, and both ways to write it are given."""
    with pytest.raises(InputError) as refused:
        plain_number(typed)
    thousands, fraction = typed.replace(",", ""), typed.replace(",", ".")
    assert str(refused.value) == (
        f'"{typed}" can mean two numbers: write {thousands} if the comma sets thousands apart, {fraction} if it is a '
        "decimal comma"
    )


@pytest.mark.parametrize(
    "typed", ["", "fast", "1.2.3", "1,2,3", "1,23.456,7", "12 34", "1 2345", "1''234", "1e", "1e9999", "٣", "½", "~40"]
)
def test_what_is_no_number_is_refused(typed):
    """Also digits of other scripts, groups of other than three digits, and an exponent without end."""
    with pytest.raises(InputError, match=r"is not a number: write digits with a decimal point, such as 40 or 12\.25"):
        plain_number(typed)


@pytest.mark.parametrize(
    ("typed", "kind", "plain"),
    [
        ("12,25 MB", "size", "12.25 MB"),
        ("12,25mb", "size", "12.25 MB"),
        ("625 KB", "size", "625 kB"),
        ("11.68 MiB", "size", "11.68 MiB"),
        ("11,68\N{NO-BREAK SPACE}mib", "size", "11.68 MiB"),
        ("12 250 000 Bytes", "size", "12250000 bytes"),
        ("6.28e8 bps", "rate", "6.28e8 bit/s"),
        ("628 mbps", "rate", "628 Mbps"),
        ("628 MBit/s", "rate", "628 Mbps"),
        ("628 Mbits/sec", "rate", "628 Mbps"),
        ("628 Mb/s", "rate", "628 Mbps"),
        ("0,628 Gbit", "rate", "0.628 Gbps"),
        ("64 kbps", "rate", "64 kbit/s"),
        ("40,5 MS", "time", "40.5 ms"),
        ("40.5 msec", "time", "40.5 ms"),
        ("40500 \N{MICRO SIGN}s", "time", "40500 us"),
        ("40500 \N{GREEK SMALL LETTER MU}s", "time", "40500 us"),
        ("2 seconds", "time", "2 s"),
        ("0,2%", "share", "0.2 %"),
        ("0.2 percent", "share", "0.2 %"),
        ("0,97", "number", "0.97"),
    ],
)
def test_units_are_understood_without_regard_to_case(typed, kind, plain):
    """As iperf3, ping, and people write them; kB, MB and GB are powers of 1000, whatever their case."""
    assert plain_quantity(typed, kind) == plain


@pytest.mark.parametrize(
    ("typed", "kind", "said"),
    [
        ("51 MB/s", "rate", '"51 MB/s" is in bytes per second: write it in bits per second, such as "412 Mbps"'),
        ("51 MBps", "rate", '"51 MBps" is in bytes per second: write it in bits per second, such as "412 Mbps"'),
        ("412", "rate", '"412" has no unit: write it with one, such as "412 Mbps"'),
        ("12 parsec", "time", '"12 parsec" has no unit of a time: write it with one, such as "40.5 ms"'),
        ("12 MB", "time", '"12 MB" has no unit of a time: write it with one, such as "40.5 ms"'),
        ("98 Mbit", "size", '"98 Mbit" has no unit of a size: write it with one, such as "2.5 MB"'),
        ("3 h1", "number", '"3 h1" has a unit that a number does not have: write the number alone, such as 3'),
    ],
)
def test_a_unit_that_does_not_fit_is_refused_with_the_way_to_write_it(typed, kind, said):
    """One sentence says what is wrong and how it is written."""
    with pytest.raises(InputError) as refused:
        plain_quantity(typed, kind)
    assert str(refused.value) == said


UNITS = {"rate": ["Mbps"], "time": ["ms"], "size": ["MB", "MiB"], "share": ["%"], "number": ["%", ""]}


def spellings(number, fraction):
    """The same number in the ways of several countries; those that can mean two numbers left out."""
    grouped = f"{number:,}"
    for mark in (".", ","):
        tail = f"{mark}{fraction}" if fraction else ""
        apart = [" ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "'", *(("," if mark == "." else "."),)]
        for separator in apart:
            if number > 999 and (fraction or separator not in ",."):
                yield grouped.replace(",", separator) + tail
        if mark == "." or len(fraction) != 3 or number == 0 or number > 999:
            yield f"{number}{tail}"


@given(st.integers(0, 10**12), st.text("0123456789", max_size=6), st.sampled_from(KINDS), st.data())
def test_no_spelling_of_a_number_is_another_number(number, fraction, kind, data):
    """Property: whichever way a number is written, it is the same number with the same unit."""
    unit = data.draw(st.sampled_from(UNITS[kind]))
    wanted = f"{number}.{fraction}" if fraction else f"{number}"
    for written in spellings(number, fraction):
        assert plain_quantity(f"{written} {unit}", kind) == f"{wanted} {unit}".strip()


@given(st.text(st.sampled_from("0123456789.,eE+-% \N{NO-BREAK SPACE}'_kKmMgGiBbpst/\0µ²٣½n"), max_size=12))
def test_any_text_is_a_number_or_refused(text):
    """Property: nothing but an InputError of one line comes out, and what is read is a plain number."""
    for kind in KINDS:
        try:
            plain = plain_quantity(text, kind)
        except InputError as error:
            assert "\n" not in str(error) and str(error).isprintable()
        else:
            assert re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?( [A-Za-z/%]+)?", plain, re.ASCII)


@pytest.mark.parametrize("typed", ["9" * 5000, "9" * 5000 + " MB", "1." + "0" * 5000, " " * 5000 + "x"])
def test_a_number_beyond_everything_is_refused_at_its_length(typed):
    """The sentence quotes the beginning."""
    with pytest.raises(InputError) as refused:
        plain_quantity(typed, "size")
    assert len(str(refused.value)) < 200
