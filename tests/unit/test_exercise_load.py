# SPDX-License-Identifier: BSD-3-Clause
"""exercise.toml: what does not hold together is refused by a sentence."""

import pytest
from small_exercise import make_clone

from linklab.errors import InputError
from linklab.exercise.load import load_exercise


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('needs = ["rate"]', 'needs = ["secret"]', 'check throughput: it needs "secret", which is no check before it'),
        ('needs = ["rate"]', "needs_least = 2", "check throughput: needs_least is 2, and needs_any names 0"),
        (
            'needs = ["rate"]',
            'needs_any = ["rate"]\nneeds_least = 0',
            "check throughput: needs_least is 0, and needs_any names 1",
        ),
        # its title would stand in the story of the visible one
        (
            'hints = ["Look at s1-eth2.", "Its rate',
            'hidden = true\nhints = ["Look at s1-eth2.", "Its rate',
            'check throughput: it needs "rate", which is hidden: its title would be told to students',
        ),
        ('low = "0.9 * bdp"', 'low = "0.9 * bpd"', 'check buffer: "0.9 * bpd" speaks of bpd, which is not there'),
        (
            'low = "0.9 * bdp"',
            'low = "0.9 * rate"',
            'check buffer: "s1-eth2.queue" is in bytes, and what it is compared with is in bit/s',
        ),
        (
            'low = "0.8 * goodput(rate)"',
            'low = "0.8"',
            'check throughput: "tuned.throughput" is in bit/s, and what it is compared with is a plain number',
        ),
        (
            'low = "0.8 * goodput(rate)"',
            'low = "goodput(rtt)"',
            'check throughput: expression "goodput(rtt)": there is no goodput(s)',
        ),
        ('bdp = "bdp(rate, rtt)"', 'bdp = "rate * 2 > rate"', 'derived bdp: "rate * 2 > rate" is a yes or no'),
        (
            'bdp = "bdp(rate, rtt)"',
            'bdp = "rate + rtt"',
            'derived bdp: expression "rate + rtt": "rate" is in bit/s and',
        ),
        (
            'bdp = "bdp(rate, rtt)"',
            'bdp = "rate / (rtt - rtt)"',
            "derived bdp: rate / (rtt - rtt) (a division by 0) has no",
        ),
        ('within = "1 %"', 'within = "much"', 'check rate: within "much" is neither a share such as "5 %"'),
        ('within = "1 %"', 'within = "2 ms"', 'check rate: expression "rate - 2 ms": "rate" is in bit/s and "2 ms" is'),
        ('kind = "rate"', 'beside = ["about"]\nkind = "rate"', "answer throughput: beside goes with kind words"),
        ("minutes = 20", "minutes = true", '"minutes" must be a whole number, not True'),
        ("minutes = 20", "colour = 20\nminutes = 20", 'unknown key "colour"; the keys here are format, kind, number'),
        ('kind = "state"', 'kind = "fact"', 'check rate: kind "fact"; use state, measure'),
        (
            'kind = "state"\nfact = "s1-eth2.rate"\nvalue = "rate"\nwithin = "1 %"',
            'kind = "observed"',
            "check rate: kind observed asks for a look at what was planted, and there are no faults",
        ),
        (
            'kind = "state"\nfact = "s1-eth2.rate"\nvalue = "rate"\nwithin = "1 %"',
            'kind = "unchanged"\nreference = "start"\nalong = ["h1-h2"]',
            'check rate: along "h1-h2" must be a way from node to node, such as "h1>h2"',
        ),
        (
            'kind = "rate"',
            'kind = "rate"\ndefault = "5 ms"',
            "answer throughput: default: ",
        ),
        (
            "seconds = ",
            'spread = { jain = "much" }\nseconds = ',
            'experiment tuned: spread: jain = "much" must be a share',
        ),
        ("seconds = ", "spread = { jain = 0 }\nseconds = ", 'experiment tuned: spread: jain = "0" must be a share'),
        (
            "seconds = ",
            'spread = { jain = "5 ms" }\nseconds = ',
            "experiment tuned: spread: jain is a plain number, and",
        ),
        (
            "seconds = ",
            'spread = { index = "5 %" }\nseconds = ',
            'experiment tuned: spread: there is no metric "index"',
        ),
        (
            "seconds = ",
            'spread = { retransmits = "5 %" }\nseconds = ',
            "experiment tuned: spread: retransmits may be 0, and so is a share of that",
        ),
        (
            "seconds = ",
            'steady = [{ where = { "s1-eth2.queues" = "several" }, spread = { jain = "0.01" }, why = "" }]\nseconds = ',
            "experiment tuned: steady: its spread speaks of jain, of which the experiment's says nothing",
        ),
        (
            "seconds = ",
            'steady = [{ where = {}, spread = {}, why = "" }]\nseconds = ',
            "experiment tuned: steady: it needs where, with facts",
        ),
        (
            "seconds = ",
            'steady = [{ where = { "s1-eth2.queues" = "one" }, spread = {}, seconds = 99, why = "" }]\nseconds = ',
            "experiment tuned: steady: seconds = 99 must be at most the experiment's 3",
        ),
        (
            "seconds = ",
            'runs = 1\nspread = { jain = "0.05" }\nseconds = ',
            "experiment tuned: spread: runs = 1 makes one run, which a spread cannot describe",
        ),
        (
            "seconds = ",
            "spread = { " + ", ".join(f'"throughput.h{n}" = "5 %"' for n in range(7)) + " }\nseconds = ",
            "experiment tuned: spread: of 7 metrics; 6 at most",
        ),
    ],
)
def test_what_does_not_hold_together_is_named(tmp_path, old, new, why):
    """The file, the check, what it has and what is wanted."""
    path = make_clone(tmp_path) / "exercises/3-small/exercise.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_exercise(path.parent)
    assert str(caught.value).startswith(f"{path}: {why}")
