# SPDX-License-Identifier: BSD-3-Clause
"""How far apart readings are: ten a second of wall time, whatever the clock of the network does."""

import pytest

from linklab.agent.live_readings import next_reading_s, ordered_period_s, port_of_node, port_of_switch
from linklab.agent.live_space import LiveSpace
from linklab.live.pace import LONGEST_S, SHORTEST_S, STEP_S, WAY_S, LivePace


@pytest.mark.parametrize(("speed", "period_s"), [(8.0, 0.8), (0.1, 0.01), (0.001, SHORTEST_S), (1000.0, LONGEST_S)])
def test_an_order_to_the_clock_changes_the_period_at_once(speed, period_s):
    """Within bounds: readings have a price in wall time."""
    pace = LivePace()
    assert pace.clock(paused=False, on_way=False, speed=speed)
    assert pace.period_s == pytest.approx(period_s)


def test_while_time_is_paused_the_next_step_is_read_finely():
    """A step of 10 ms has ten readings; on resuming it is as before."""
    pace = LivePace()
    assert pace.clock(paused=True, on_way=False, speed=1.0)
    assert pace.period_s == STEP_S
    assert not pace.clock(paused=True, on_way=True, speed=None)
    assert pace.clock(paused=False, on_way=False, speed=1.0)
    assert pace.period_s == 0.1


def test_as_fast_as_it_goes_is_measured():
    """40 s of network time in a second of wall time: readings 4 s apart."""
    pace = LivePace()
    assert not pace.clock(paused=False, on_way=False, speed=None)
    assert not pace.reading(10.0, 100.0)
    assert not pace.reading(30.0, 100.5)
    assert pace.reading(50.0, 101.0)
    assert pace.period_s == pytest.approx(4.0)


def test_on_the_way_to_a_time_readings_stay_near():
    """What passes at once is to be looked at afterwards."""
    pace = LivePace()
    pace.clock(paused=False, on_way=True, speed=None)
    pace.reading(0.0, 0.0)
    pace.reading(100.0, 1.0)
    assert pace.period_s == WAY_S


def test_a_clock_that_keeps_its_speed_changes_nothing():
    """Small differences are no reason."""
    pace = LivePace()
    pace.reading(0.0, 0.0)
    assert not pace.reading(1.2, 1.05)
    assert pace.period_s == 0.1


@pytest.mark.parametrize(
    ("text", "period_s"),
    [
        (b"period 0.5\n", 0.5),
        (b"period 1\nperiod 2\n", 2.0),
        (b"period 1e9\n", 60.0),
        (b"period 0\n", 1e-4),
        (b"period nan\n", None),
        (b"period 1..2\n", None),
        (b"x\n", None),
    ],
)
def test_inside_the_period_is_ordered_by_a_line(text, period_s):
    """The last whole line counts; what cannot be read changes nothing."""
    assert ordered_period_s(text) == period_s


@pytest.mark.parametrize(("now_s", "wanted_s"), [(0.07, 0.1613), (0.04, 0.0613), (0.1613, 0.2613), (7.27, 7.3613)])
def test_readings_are_not_at_round_times(now_s, wanted_s):
    """Always later than now, and where no program of a lab waits for."""
    assert next_reading_s(now_s, 0.1) == pytest.approx(wanted_s)


def test_ports_have_the_names_that_the_drawing_gives_them():
    """In the root namespace only a switch's; a node's other interfaces get its name."""
    assert port_of_switch("s1-eth2") == "s1-eth2"
    assert port_of_switch("s1") is None
    assert port_of_node("h1", "h1-eth0") == "h1-eth0"
    assert port_of_node("h1", "tun0") == "h1:tun0"


class Space(LiveSpace):
    """A namespace of which only the ends of its links are known."""

    def __init__(self, ends, *, moved=False, waits=False):
        self._ends, self.moved, self._waits = ends, moved, waits


@pytest.mark.parametrize(
    ("space", "root", "still"),
    [
        (Space({2: 7}), Space({7: 2, 9: 2}), True),
        (Space({2: 7}), Space({7: 2}, moved=True), False),  # something moved at some switch
        (Space({2: 7}, waits=True), Space({7: 2}), False),  # a queue that drains at a host
        (Space({2: 7, 3: 2}), Space({7: 2}), False),  # a link to another router
        (Space({2: 7}), Space({7: 3}), False),  # the same number in another namespace
    ],
)
def test_a_namespace_is_left_out_where_no_packet_can_have_reached_it(space, root, still):
    """Its links all end at switches, and there nothing has moved."""
    assert space.is_still(root) is still
