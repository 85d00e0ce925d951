# SPDX-License-Identifier: BSD-3-Clause
"""Slow motion on a lab's page: where packets are at a moment, and which comes next; the page's own module, in node."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[2] / "linklab" / "page" / "static" / "motion.js"
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
MS = 1_000_000
WAITS = [0, True, 0, 30 * MS, 20 * MS, 1, True, "TCP", "data"]
"""A flight that waits 10 ms and flies 20 ms."""
BACK = [0, False, 5 * MS, 25 * MS, 0, 2, True, "ICMPv6", "echo"]


def ask(script: str, *flights) -> object:
    """What a script gives that has these flights in `flights`."""
    program = f"""
        import {{ Flights, kindOf, progress }} from {json.dumps(MODULE.as_uri())};
        const flights = new Flights();
        flights.add({json.dumps(flights)});
        const answer = (() => {{ {script} }})();
        console.log(JSON.stringify(answer ?? null));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", program], capture_output=True, text=True, check=True, timeout=30
    )
    return json.loads(done.stdout)


def test_a_packet_waits_first_and_then_flies_its_delay():
    """At its sender for 10 ms, half way after 20 ms, there after 30 ms."""
    script = "return [0.005, 0.01, 0.02, 0.03].map((at) => progress(flights.all[0], at));"
    assert ask(script, WAITS) == pytest.approx([0, 0, 0.5, 1])


def test_a_packet_without_a_delay_travels_all_the_time():
    """From its entry to its arrival."""
    assert ask("return progress(flights.all[0], 0.015);", BACK) == pytest.approx(0.5)


def test_flights_come_in_the_order_of_their_ends():
    """The next after a moment is the one that arrives first; its kind has a shape."""
    script = (
        "return [flights.next(0.01).number, flights.next(0.025).number, flights.next(0.03) ?? 0, flights.all[0].kind];"
    )
    assert ask(script, WAITS, BACK) == [2, 1, 0, "ICMP"]


def test_the_picture_follows_and_jumps_where_it_is_far_behind():
    """Not beyond the end that is known; ten seconds behind it does not try to show all that."""
    script = """
        flights.advance(0.01, 0.02, 0.01); const a = flights.at;
        flights.advance(0.05, 0.02, 0.01); const b = flights.at;
        flights.advance(0.01, 10, 0.01);
        return [a, b, flights.at];
    """
    assert ask(script, WAITS) == pytest.approx([0.01, 0.02, 10 - 0.03 + 0.01])


def test_a_short_flight_is_shown_long_enough_to_be_seen():
    """As long as is asked for, though it took no time."""
    at_once = [0, True, 10 * MS, 10 * MS, 0, 3, True, "ARP", "who has"]
    script = "return [0.0099, 0.012, 0.014].map((at) => flights.underway(at, 0.003).length);"
    assert ask(script, at_once) == [0, 1, 0]
