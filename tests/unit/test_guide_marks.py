# SPDX-License-Identifier: BSD-3-Clause
"""What the guide keeps of a terminal that prints without end."""

import time

from linklab.guide import marks
from linklab.guide.marks import LastShown, MarkedTerminal

BEGIN = "\x1b]133;C;linklab;h1;1500000;yes\x07"
END = "\x1b]133;D;linklab;h1;2500000;130\x07"
PIECE = ("all work and no play makes a dull network\r\n" * 100)[:4096]


def test_a_flood_is_read_as_fast_as_it_comes():
    """Regression: each piece copied the 4 MB before it, in the thread for which the network's time stands still."""
    terminal = MarkedTerminal()
    assert len(list(terminal.read(BEGIN.encode()))) == 1
    data = PIECE.encode()
    used_s = time.process_time()
    for _ in range(20_000):  # 80 MB, of which the copies took 13 s
        assert list(terminal.read(data)) == []
    assert time.process_time() - used_s < 4
    (ended,) = terminal.read(END.encode())
    assert marks.MOST_OUTPUT * 0.9 < len(ended.output) <= marks.MOST_OUTPUT


def test_the_last_letters_are_kept_and_no_more():
    """Whole pieces are forgotten once enough has come behind them; what is asked for is cut to the letter."""
    last = LastShown(10)
    for text in ("abcd", "efgh", "ijkl", "mn"):
        last.add(text)
    assert last.text() == "efghijklmn"
    last.add("o" * 25)
    assert last.text() == "o" * 10
    last.clear()
    assert last.text() == ""
