# SPDX-License-Identifier: BSD-3-Clause
"""A plain CSV of links, read by columns, is the same as read row by row."""

import itertools

import pytest

from linklab.agent import edt_columns
from linklab.agent.edt_columns import columns
from linklab.agent.edt_csv import Specs, rows
from linklab.linux import edt_maps
from linklab.linux.edt_rows import EdtRows

NODES = {"h1": ["10.0.0.1"], "h2": ["10.0.0.2"], "both": ["10.0.0.3", "2001:db8::3"]}


def side(word: str) -> list[tuple[bytes, int]]:
    """Addresses with their versions, as `edt_many.Keys.side` gives them."""
    texts = NODES.get(word, [word])
    return [(edt_maps.address(text), 0 if text == "any" else 6 if ":" in text else 4) for text in texts]


def one_by_one(text: str) -> EdtRows:
    """The same file, read row by row."""
    specs = Specs()
    found = []
    for row in rows(text.splitlines(), timed=False):
        keys = [
            a + b for (a, one), (b, two) in itertools.product(side(row.source), side(row.target)) if one in (0, two)
        ]
        found.append((keys, specs.read(row)))
    return EdtRows.of(found)


@pytest.mark.parametrize(
    "text",
    [
        "from,to,rate,delay\nh1,h2,10mbit,20ms\nany,10.9.9.9,,1ms\n10.0.0.1,10.0.0.7,1gbit,\n",
        " to , delay,from\nh2, 5ms ,h1\n\n\n10.0.0.9,7us, h2 \n",
        "from,to,loss,orphan,duplicate,corrupt\na,10.0.0.1,gemodel 1% 25%,off,1%,\nany,10.0.0.2,none,,,0.1%\n".replace(
            "a,", "h1,", 1
        ),
        "from,to,delay\n2001:db8::1,2001:db8::2,3ms\nany,2001:db8::2,4ms\n",
        "from,to\nh1,h2\n",
        "from,to,rate,delay\n"
        + "".join(f"10.1.{n // 250}.{n % 250},10.2.0.1,{n + 7}kbit,{n}.5us\n" for n in range(9000)),
    ],
)
def test_columns_give_what_rows_give(text):
    """Key by key, value by value, and what fq has to hold; 9,000 rows are more than are taken apart at once."""
    found, wanted = columns(text.splitlines(), side), one_by_one(text)
    assert found is not None
    assert (found.keys, found.values) == (wanted.keys, wanted.values)
    assert (found.counts, found.held) == (wanted.counts, wanted.held)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "from,delay\nh1,2ms\n",
        "from,to,bandwidth\nh1,h2,1\n",
        "from,to,delay,delay\nh1,h2,1ms,1ms\n",
        "from,to,delay,jitter\nh1,h2,20ms,2ms\n",
        'from,to,delay\n"h1",h2,2ms\n',
        "from,to,delay\nh1,h2\n",
        "from,to,delay\nh1,h2,2ms,\nh2,h1\n",
        "from,to,delay\nh1,h2,soon\n",
        "from,to,rate\nh1,h2,1kbit\n",
        "from,to,delay\nh1,nobody,2ms\n",
        "from,to,delay\nh1,both,2ms\n",
        "from,to,delay\nh1,h2,2ms\nh1,h2,3ms\n",
        "from,to,delay\nany,any,2ms\nany,h2,2ms\n",
        "from,to,delay\nh1,h2,2ms\nh1,2001:db8::1,2ms\n",
    ],
)
def test_what_is_not_plain_or_wrong_is_left_to_the_reader_of_rows(text):
    """That one knows the line of a fault, several addresses of an end, and words that hang together."""
    assert columns(text.splitlines(), side) is None


def test_lines_are_taken_apart_in_pieces_that_may_be_empty(monkeypatch):
    """A piece of empty lines has no cells."""
    monkeypatch.setattr(edt_columns, "CHUNK", 2)
    text = "from,to,delay\n\n\nh1,h2,2ms\n\nh2,h1,3ms\n"
    found = columns(text.splitlines(), side)
    assert found is not None
    assert (found.keys, found.values) == (one_by_one(text).keys, one_by_one(text).values)
