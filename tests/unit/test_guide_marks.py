# SPDX-License-Identifier: BSD-3-Clause
"""What the guide keeps of a terminal that prints without end."""

from linklab.guide import marks
from linklab.guide.marks import LastShown, MarkedTerminal

BEGIN = "\x1b]133;C;linklab;h1;1500000;yes\x07"
END = "\x1b]133;D;linklab;h1;2500000;130\x07"
PIECE = ("all work and no play makes a dull network\r\n" * 100)[:4096]


def test_a_flood_is_kept_in_pieces():
    """Regression: each piece copied the 4 MB before it, in the thread for which the network's time stands still."""
    terminal = MarkedTerminal()
    assert len(list(terminal.read(BEGIN.encode()))) == 1
    data = PIECE.encode()
    for _ in range(2_000):
        assert list(terminal.read(data)) == []
    assert len(terminal._shown._pieces) > 1000  # as they came: none was put together with the others
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


def test_what_runs_in_a_terminal_is_known():
    """A line from its beginning to its end; in Mininet's command line those typed there, and nothing at its prompt."""
    terminal = MarkedTerminal()

    def after(text):
        list(terminal.read(text.encode()))
        return terminal.running

    assert after("root@h1:~# half a li") == ""
    assert after(BEGIN) == "yes"
    assert after("y\r\ny\r\nroot@h1:~# ") == "yes"
    assert after(END) == ""
    assert after(BEGIN.replace("h1", "client").replace("yes", "sudo mn")) == "sudo mn"
    assert after("*** Creating network\r\nmininet> ") == ""
    assert after("h1 ping h2") == ""
    assert after("\r\nPING 10.0.0.2\r\n") == "h1 ping h2"
    assert after("mininet> ") == ""
    assert after(END.replace("h1", "client")) == ""
