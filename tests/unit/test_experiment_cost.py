# SPDX-License-Identifier: BSD-3-Clause
"""What a trial costs before it has run: more for more, and nothing of it depends on names."""

import pytest

from linklab.experiment.cost import FRAME_BITS, rates_mbit, sent, wall_s
from linklab.experiment.model import Trial
from linklab.experiment.prepared import prepare


def prepared(test="tcp_1up", path="10mbit 50ms", length_s=60.0, **more):
    """A trial before it runs."""
    return prepare(Trial(test, path=path, length_s=length_s, **more))


def test_longer_faster_more_costs_more():
    """In the order in which a person would put them."""
    cases = [
        prepared("ping"),
        prepared(),
        prepared(length_s=120.0),
        prepared("rrul", length_s=120.0),
        prepared("rrul", "100mbit 50ms", 120.0),
    ]
    found = [wall_s(one) for one in cases]
    assert found == sorted(set(found))
    many = prepared("tcp_nup", parameters={"upload_streams": "20"})
    assert wall_s(many) > wall_s(prepared("tcp_nup", parameters={"upload_streams": "2"})) + 2


def test_frames_are_those_of_the_rate():
    """In each direction that is filled; above 100 Mbit/s they go in bundles; UDP sends what it is told to."""
    assert sent(prepared("ping")) == 0
    assert sent(prepared(length_s=30.0)) == pytest.approx(30 * 10e6 / FRAME_BITS)
    assert sent(prepared("rrul", "20mbit/5mbit 50ms", 30.0)) == pytest.approx(30 * 25e6 / FRAME_BITS)
    assert sent(prepared(path="1gbit 50ms")) < sent(prepared(path="100mbit 50ms"))
    flood = prepared("udp_flood", parameters={"udp_bandwidth": "50M"}, length_s=10.0)
    assert sent(flood) >= 10 * 50e6 / FRAME_BITS


def test_the_rate_of_a_drawing_is_that_of_its_slowest_shaper():
    """On the way between the hosts; without one, what a sender reaches."""
    assert rates_mbit(prepare(Trial("tcp_1up", topology="Dumbbell.mn", source="h1", targets=("h3",)))) == (10.0, 10.0)
    assert rates_mbit(prepare(Trial("tcp_1up", topology="Dumbbell.mn", source="h1", targets=("h2",))))[0] > 1000


def test_on_a_clock_of_the_wall_a_trial_takes_its_time():
    """However little it sends."""
    assert wall_s(prepared("ping", clock="paced")) > 60
