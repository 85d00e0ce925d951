# SPDX-License-Identifier: BSD-3-Clause
"""What a live plot of a queue leaves: enough to draw it, and not 13 MB."""

import io
import json
from itertools import pairwise

import pytest

from linklab.agent import sampler


class Clock:
    """A clock that sleeping moves on, in place of time's."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        """The time."""
        return self.now

    def sleep(self, seconds):
        """Let it pass."""
        self.now += seconds + 1e-7


class Queue:
    """A queue whose length is a function of time, as three disciplines show it."""

    def __init__(self, clock, backlog):
        self.clock, self.backlog = clock, backlog

    def read(self):
        """Its disciplines."""
        held = self.backlog(self.clock.now - 100)
        numbers = {"bytes": 123456789, "packets": 987654, "drops": 0, "requeues": 0, "overlimits": 12345}
        kinds = (("netem", "1:"), ("tbf", "2:"), ("pfifo", "3:"))
        return [
            {"kind": kind, "handle": handle, **numbers, "qlen": held // 1500, "backlog": held} for kind, handle in kinds
        ]


@pytest.fixture
def sampled(monkeypatch):
    """Samples a queue for some seconds; the readings and how many bytes they take."""

    def run(backlog, seconds, *, thin):
        clock, out = Clock(), io.StringIO()
        monkeypatch.setattr(sampler, "time", clock)
        sampler.sample(Queue(clock, backlog), out, 0.01, seconds, lambda: False, thin=thin)
        text = out.getvalue()
        return [json.loads(line) for line in text.splitlines()], len(text)

    return run


def busy(t):
    """A sawtooth that never stands."""
    return int(t * 100_000) % 300_000


def test_a_live_plot_of_five_minutes_leaves_less_than_three_megabytes(sampled):
    """It left 13.6 MB; a measurement, which is not thinned, still leaves every reading."""
    thinned, size = sampled(busy, 300, thin=True)
    full, full_size = sampled(busy, 300, thin=False)
    assert full_size > 12_900_000
    assert size < 3_000_000
    assert (len(full), full[0]["t"], thinned[0]["t"]) == (30_000, 1e-7, 1e-7)
    assert thinned[-1] == full[-1]
    assert [line for line in thinned if line["t"] < 10] == [line for line in full if line["t"] < 10]
    assert all(line in full for line in thinned[::500])


def test_an_hour_leaves_a_few_megabytes(sampled):
    """What is left grows with the logarithm of time."""
    thinned, size = sampled(busy, 3600, thin=True)
    assert size < 6_000_000
    times = [line["t"] for line in thinned]
    assert max(b - a for a, b in pairwise(times)) < 3600 / sampler.READINGS + 0.02


def test_what_stands_still_is_written_once_a_second(sampled):
    """And a step is as steep as it was: the last reading before it is kept."""
    thinned, _ = sampled(lambda t: 0 if t < 5.005 else 15_000, 20, thin=True)
    assert len(thinned) < 30
    times = [line["t"] for line in thinned]
    rise = next(i for i, line in enumerate(thinned) if line["qdiscs"][2]["backlog"])
    assert times[rise] - times[rise - 1] <= 0.0101
