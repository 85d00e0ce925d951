# SPDX-License-Identifier: BSD-3-Clause
"""What can be ordered of a network's clock has bounds: where it is typed, and again in the keeper."""

import contextlib
import json
import math
import socket
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linklab.engine.keeper import FASTEST, FREE_UNTIL, FURTHEST_S, MESSAGE, RUN, SLOWEST, Keeper, PacedClock, refusal
from linklab.errors import InputError
from linklab.terminal.clock import ClockWords, parse_speed

NUMBERS = st.one_of(st.floats(), st.integers(), st.sampled_from([1e-8, 1e308, 5e-324, 2.0**63, SLOWEST, FASTEST]))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ORDERS = JSON | st.fixed_dictionaries(
    {"do": st.sampled_from(["set", "until", "step", "status", "leap"]) | JSON},
    optional={"speed": JSON | NUMBERS, "paused": JSON, "target_ns": JSON | NUMBERS, "step_ns": JSON | NUMBERS},
)


class Network:
    """A clock that notes what reaches it."""

    def __init__(self):
        self.ordered = []
        self.on_reached = None

    def clock_status(self):
        """At 5 s."""
        return {"now_s": 5.0, "speed": 1.0, "paused": False, "behind_s": 0.0, "until_ns": None}

    def set_speed(self, speed):
        """Note it."""
        self.ordered.append(speed)
        return self.clock_status()

    def step(self, seconds):
        """Note it."""
        self.ordered.append(seconds)
        return self.clock_status()

    def until(self, time_s):
        """Note it."""
        self.ordered.append(time_s)
        return self.clock_status()


@given(st.floats() | st.floats(SLOWEST, FASTEST))
def test_a_speed_is_taken_within_its_bounds_alone(speed):
    """Any float, as a person may type it."""
    if SLOWEST <= speed <= FASTEST:
        assert parse_speed(repr(speed)) == speed
        return
    with pytest.raises(InputError) as refused:
        parse_speed(repr(speed))
    assert str(refused.value) == (f'clock speed "{speed!r}": use a number from 0.001 to 1000 such as 8 or 0.5, or max')


@pytest.mark.parametrize("text", ["1e-8", "1e308", "nan", "inf", "-1", "0", "0.0009", "1000.1", "1e-8x", "9" * 400])
def test_speeds_beyond_the_bounds_are_refused(text):
    """Regression: 1e-8 and 1e308 ended the keeper, and the network with it."""
    with pytest.raises(InputError, match=r"use a number from 0\.001 to 1000 such as 8 or 0\.5, or max$"):
        parse_speed(text)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("until 1e30s", "clock until 1e30s: use a time at most 1,000,000 s away; it is 5.000 s now"),
        ("until 1e300s", 'time "1e300s…" is too large to be one; use us, ms or s'),
        ("until 1000006s", "clock until 1000006s: use a time at most 1,000,000 s away; it is 5.000 s now"),
        ("until 5s", "clock until 5s: it is 5.000 s already; time does not go back"),
        ("step 1e30s", "clock step 1e30s: use at most 1,000,000 s, as in 10ms"),
        ("step 1e-999s", "clock step 1e-999s: nothing happens in no time; use at least 1us, as in 10ms"),
        ("step 999ns", "clock step 999ns: nothing happens in no time; use at least 1us, as in 10ms"),
        ("step 0s", "clock step 0s: nothing happens in no time; use at least 1us, as in 10ms"),
    ],
)
def test_times_beyond_the_bounds_are_refused(words, says):
    """Regression: `until 1e300s` ended the keeper, and the network with it."""
    network = Network()
    assert ClockWords(network, lambda _: None).obey(words.split()) == (says, 2)
    assert network.ordered == []


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False), st.sampled_from(["step", "until"]))
def test_a_time_reaches_the_clock_within_its_bounds_alone(seconds, verb):
    """Any float, as a person may type it."""
    network = Network()
    _, status = ClockWords(network, lambda _: None).obey([verb, f"{seconds!r}s"])
    fits = 1e-6 <= seconds <= FURTHEST_S if verb == "step" else seconds > 5 and seconds - 5 <= FURTHEST_S
    assert (network.ordered, status) == ([seconds] if fits else [], 0 if fits else 2)


@contextlib.contextmanager
def keeping():
    """A keeper with a paced clock, the other end of its control socket, and that of its pocket."""
    ours, keepers = socket.socketpair()
    keeper = Keeper(keepers, -1)
    with tempfile.TemporaryDirectory() as folder:
        clock = keeper.clock = PacedClock(Path(folder) / "clock")
    clock.guest, guest = socket.socketpair()
    ours.settimeout(5)
    guest.setblocking(False)
    yield keeper, ours, guest
    for end in (ours, keepers, guest, clock.guest, clock.listener):
        end.close()


@settings(max_examples=300)
@given(orders=st.lists(ORDERS, min_size=1, max_size=4), requested=st.integers(0, 2**64 - 1))
def test_the_keeper_survives_any_order(orders, requested):
    """It says where the clock is, refuses what it cannot do, and sleeps no longer than it is able to."""
    with keeping() as (keeper, control, guest):
        clock = keeper.clock
        for order in orders:
            refused = refusal(json.loads(json.dumps(order)), clock.position_ns())
            keeper._obey(json.loads(json.dumps(order)))
            answer = json.loads(control.recv(65536))
            assert (answer["event"], answer["refused"]) == ("clock", refused)
            assert clock.speed == math.inf or SLOWEST <= clock.speed <= FASTEST
        clock.requested, clock.waiting = requested, True
        sleeps_s = clock.timeout_s()
        assert sleeps_s is None or 0 <= sleeps_s <= 3600
        clock.grant_if_due()
        if not clock.waiting:
            (allowed, _, until), (run, _, now) = MESSAGE.iter_unpack(guest.recv(65536))
            assert (allowed, run, now) == (FREE_UNTIL, RUN, requested)
            assert until >= now


@pytest.mark.parametrize("line", [b"{", b"\xff", b"[" * 100_000, b'{"do": "set", "speed": 1e999', b"NaN", b"0" * 5000])
def test_a_line_that_is_no_order_is_refused(line):
    """It is said, and the next is obeyed; regression: a traceback ended the network."""
    with keeping() as (keeper, control, _):
        control.sendall(line + b"\n" + b'{"do": "set", "speed": 8}\n')
        while b"\n" not in keeper.buffer and keeper.clock.speed != 8:
            assert keeper._order()
        refused, obeyed = map(json.loads, control.recv(65536).splitlines())
        assert refused["refused"] == "the clock's order is not one: it takes status, set, until or step"
        assert (obeyed["refused"], obeyed["clock"]["speed"]) == (None, 8)


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({"do": "set", "speed": 1e-8}, "the clock's speed must be a number from 0.001 to 1000, or max, not 1e-08"),
        ({"do": "set", "speed": True}, "the clock's speed must be a number from 0.001 to 1000, or max, not True"),
        ({"do": "set", "paused": 1}, "whether the clock is paused must be true or false, not 1"),
        (
            {"do": "until", "target_ns": 10**300},
            "the clock goes at most 1,000,000 s ahead with one order, and not back",
        ),
        ({"do": "step", "step_ns": 0}, "the clock goes at most 1,000,000 s ahead with one order, and not back"),
        ({"do": "step"}, "the clock goes at most 1,000,000 s ahead with one order, and not back"),
        ({"do": "until", "target_ns": 10**15 + 5 * 10**9}, None),
        ({"do": "step", "step_ns": 10**15, "speed": None}, None),
        ({"do": "set", "speed": math.inf, "paused": False}, None),
    ],
)
def test_what_the_keeper_refuses(order, says):
    """At 5 s; with the bounds named."""
    assert refusal(order, 5 * 10**9) == says
