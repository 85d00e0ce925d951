# SPDX-License-Identifier: BSD-3-Clause
"""A CSV of links → rows."""

import pytest

from linklab.agent.edt_csv import CsvLink, Specs, rows


def read(text: str, *, timed: bool = False) -> list[CsvLink]:
    """All rows of a file with that text."""
    return list(rows(text.splitlines(), timed=timed))


def test_columns_are_named_by_the_first_line_in_any_order():
    """An empty cell says nothing of its property, an empty line nothing at all."""
    found = read("to,rate,from,delay\nh2,10mbit,h1,20ms\n\nh3,,h1,5ms\n")
    assert found == [
        CsvLink(2, 0, "h1", "h2", ("rate", "10mbit", "delay", "20ms")),
        CsvLink(4, 0, "h1", "h3", ("delay", "5ms")),
    ]


def test_times_are_seconds_unless_they_have_a_unit():
    """Exact, as nanoseconds."""
    found = read("time,from,to,delay\n0,h1,h2,5ms\n1.5,h1,h2,6ms\n250ms,h1,h2,7ms\n", timed=True)
    assert [row.time_ns for row in found] == [0, 1_500_000_000, 250_000_000]


def test_a_cell_may_hold_several_words():
    """As `loss gemodel 1% 25%` needs."""
    assert read("from,to,loss\na,b,gemodel 1% 25%\n")[0].words == ("loss", "gemodel", "1%", "25%")


@pytest.mark.parametrize(
    ("text", "timed", "says"),
    [
        ("", False, "line 1: there is no column from; .* such as from,to,rate,delay"),
        ("from,to,rate\n", True, "line 1: there is no column time; .* such as time,from,to,rate,delay"),
        ("from,to,bandwidth\n", False, 'line 1: "bandwidth" is no column of links; there are from, to, rate'),
        ("time,from,to\n", False, 'line 1: "time" is no column of links'),
        ("from,to,rate\nh1,h2\n", False, "line 2: 2 cells where line 1 names 3 columns"),
        ("time,from,to\nsoon,h1,h2\n", True, "line 2: a time must be a number with its unit"),
    ],
)
def test_a_file_that_is_wrong_says_where(text, timed, says):
    """With the line's number."""
    with pytest.raises(ValueError, match=says):
        read(text, timed=timed)


def test_words_of_a_row_that_are_wrong_name_its_line():
    """The same words are read once."""
    specs = Specs()
    first, second = read("from,to,rate\na,b,1mbit\nc,d,1mbit\n")
    assert specs.read(first) is specs.read(second)
    with pytest.raises(ValueError, match=r'line 2: a rate must be .* not "fast"'):
        specs.read(read("from,to,rate\na,b,fast\n")[0])
