# SPDX-License-Identifier: BSD-3-Clause
"""fields.txt and its operators: the columns of exp.csv."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.netesto.fields import (
    OPERATORS,
    CsvField,
    combined,
    fields_of,
    number_of,
    parse_fields,
    read_fields,
    shipped_fields,
)


def join(operator, *values, name="x", durations=None):
    """The cell that an operator makes of values."""
    return combined(CsvField(name, operator), values, durations or ["10"] * len(values))


def test_the_shipped_columns_are_netestos():
    """58 of them, in its order, of which `rate` is weighted by duration."""
    fields = shipped_fields()
    assert len(fields) == 58
    assert [field.name for field in fields[:8]] == [
        *("exp", "expName", "group", "test", "testType", "testNote", "desc", "kernel"),
    ]
    assert fields[-1] == CsvField("client-rx-packet-len", "avg")
    assert CsvField("rate", "sumRateDur") in fields
    assert CsvField("retransPkts%", "avg") in fields
    assert CsvField("ca", "all") in fields


@pytest.mark.parametrize(
    ("operator", "values", "cell"),
    [
        ("one", ["h1", "h1"], "h1"),
        ("one", ["h1", "h2", "h2"], "h1+..."),
        ("one", ["", "h2"], "h2"),
        ("one", ["60", "60"], "60"),
        ("one", ["6.10"], "6.10"),
        ("all", ["6.10", "6.9"], "6.10/6.9"),
        ("sum", ["1", ""], ""),  # Netesto took the known part for the whole
        ("one", ["1", "2"], "1+..."),
        ("all", ["cubic", "bbr", "cubic"], "cubic/bbr"),
        ("all", ["nbbr", "bbr"], "nbbr/bbr"),  # Netesto searched for text and took the one for the other
        ("avg", ["1", "", "2"], "1.500"),
        ("sum", ["1K", "2M", "1G", "5"], "1002001005.0"),
        ("min", ["2K", "1M"], "2000.0"),  # Netesto compared the text of suffixes and crashed
        ("max", ["2K", "1M"], "1000000.0"),
        ("sum", ["", ""], ""),
        ("avg", [""], ""),
        ("sumRateDur", ["", ""], ""),
    ],
)
def test_an_operator_joins_values_as_netesto_does(operator, values, cell):
    """Blanks are left out, K, M and G are decimal, and a cell without a known value stays blank."""
    assert join(operator, *values) == cell


def test_a_short_flow_does_not_inflate_the_sum_of_rates():
    """60 s at 10 and 20 s at 9 carry as much as 13 for 60 s."""
    assert join("sumRateDur", "10", "9", name="rate", durations=["60", "20"]) == "13.000"
    assert join("sumRateDur", "10", "", name="rate", durations=["60", "120"]) == ""


def test_words_stay_words():
    """A kernel 6.10 is not 6.1, and the share of retransmissions has three decimals."""
    assert join("one", "6.10", name="kernel") == "6.10"
    assert join("one", "123", name="expName") == "123"
    assert join("max", "0.0004", "1.23456", name="retransPkts%") == "1.235"


def test_an_operator_of_numbers_refuses_words():
    """The message names the column and what to do."""
    with pytest.raises(
        InputError, match=r'desc:avg needs numbers, but a value is "foo"; give this column .* one or all'
    ):
        join("avg", "1", "foo", name="desc")


numbers = st.floats(0, 1e9).map(lambda value: f"{value:.3f}")


@given(st.lists(numbers | st.just(""), min_size=1))
def test_blanks_make_sums_blank_and_change_nothing_else(values):
    """Any other operator gives with blanks what it gives without them."""
    known = [value for value in values if value]
    for operator in OPERATORS:
        whole = known == values or operator not in ("sum", "sumRateDur")
        assert join(operator, *values) == (join(operator, *known) if known and whole else "")


@given(st.lists(numbers, min_size=1), st.randoms())
def test_operators_of_numbers_do_not_know_an_order(values, random):
    """Groups that end in another order give the same row."""
    shuffled = random.sample(values, len(values))
    for operator in ("avg", "sum", "min", "max"):
        assert join(operator, *values) == join(operator, *shuffled)


@given(st.lists(st.tuples(numbers, st.floats(0.1, 1e4)), min_size=1))
def test_the_weighted_sum_lies_between_the_largest_part_and_the_sum(pairs):
    """It is the sum if all last equally long, and never more."""
    values, lengths = [value for value, _ in pairs], [length for _, length in pairs]
    found = float(join("sumRateDur", *values, durations=[repr(length) for length in lengths]))
    total = sum(map(float, values))
    longest = max(range(len(pairs)), key=lengths.__getitem__)
    assert float(values[longest]) * (1 - 1e-9) - 1e-3 <= found <= total * (1 + 1e-9) + 1e-3


@pytest.mark.parametrize(
    ("text", "number"), [("1", 1), ("1.5K", 1500), (" 2M ", 2e6), ("-3", -3), ("1e3", 1000), ("K", None), ("1k", None)]
)
def test_numbers_have_netestos_suffixes(text, number):
    """K, M and G, in capitals."""
    assert number_of(text) == number


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e400", "9" * 401, "1_0", "٣", "0x10", "+...", "1 2"])
def test_what_is_no_number(text):
    """What Python would read as a float is not one here."""
    assert number_of(text) is None


def test_every_mistake_of_a_file_is_named_with_its_line(tmp_path):
    """All at once, in the order of the lines."""
    path = tmp_path / "fields.txt"
    path.write_text("# mine\nexp:one\nrate\n\nrate:Sum\nexp:all\nx:mean\na,b:one\n:one\n")
    with pytest.raises(InputError) as caught:
        read_fields(path)
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(f"{path}:").partition(":")[0] for line in lines] == ["3", "5", "6", "7", "8", "9"]
    assert 'there is no operator "Sum"; write sum' in lines[1]
    assert "there is already a column exp" in lines[2]


def test_a_file_without_columns_is_refused():
    """It would give an empty exp.csv."""
    with pytest.raises(InputError, match=r"mine: there is no column; write a line such as rate:sumRateDur for each"):
        parse_fields("# nothing\n", "mine")


def test_a_campaign_may_have_columns_of_its_own(tmp_path):
    """A fields.txt beside exp.csv counts; without one, the shipped columns."""
    assert fields_of(tmp_path) == shipped_fields()
    (tmp_path / "fields.txt").write_text("exp:one\nburst : max\n")
    assert fields_of(tmp_path) == (CsvField("exp", "one"), CsvField("burst", "max"))


@given(st.text())
def test_no_text_breaks_the_reader(text):
    """It gives columns, or an error that names a line or the file."""
    try:
        assert parse_fields(text, "f")
    except InputError as error:
        assert all(line.startswith("f:") for line in str(error).split("\n"))
