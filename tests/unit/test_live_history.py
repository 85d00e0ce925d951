# SPDX-License-Identifier: BSD-3-Clause
"""Readings become tracks: rates from counters, flows by the names of their ends, gaps where nothing is known."""

import json
import math

import numpy as np
import pytest

from linklab.agent.live_space import SOCKET_FIELDS
from linklab.live.history import LEAST_BYTES, MOST_TRACKS, LiveHistory
from linklab.live.readings import parse
from linklab.topology import Topology

FLOW = "h1 10.0.0.1:40000 10.0.0.2:5201"
TBF = {
    "kind": "tbf",
    "handle": "1:",
    "parent": "root",
    "options": {"rate_bit": 10_000_000, "burst": 10_000, "limit": 30_000},
}


def row_of(**told):
    """A socket's row; what is not said is null."""
    return [told.get(name) for name in SOCKET_FIELDS]


def history_of(*lines, topology=None):
    """The history of these lines."""
    history = LiveHistory(topology)
    for line in lines:
        history.see(parse(json.dumps(line)))
    return history


def shown(history, key):
    """Points of a track, NaN as None."""
    times, values = history.tracks[key].arrays
    return [(round(t, 6), None if math.isnan(v) else v) for t, v in zip(times.tolist(), values.tolist(), strict=True)]


def test_a_ports_rate_is_what_leaves_it():
    """Bits between two readings over the time between them."""
    history = history_of(
        {"t": 1.0, "p": {"s1-eth1": [0, 1000, 0, 10, 2]}},
        {"t": 1.1, "p": {"s1-eth1": [0, 126_000, 0, 100, 2]}},
        {"t": 1.2},
    )
    assert shown(history, "rate s1-eth1") == [(1.0, 0.0), (1.1, pytest.approx(10e6)), (1.2, 0.0)]


def test_a_rate_after_untold_readings_is_that_of_the_last_period():
    """Regression: readings at rest are not told, and a rate must not be spread over the silence."""
    history = history_of(
        {"t": 1.0, "p": {"s1-eth1": [0, 0, 0, 0, 2]}},
        {"t": 1.4, "b": 1.3, "p": {"s1-eth1": [0, 125_000, 0, 90, 2]}},
    )
    assert shown(history, "rate s1-eth1") == [(1.3, 0.0), (1.4, pytest.approx(10e6))]


def test_what_is_hardly_used_has_no_track():
    """Neighbour discovery at every port would fill the legend."""
    history = history_of(
        {"t": 1.0, "p": {"s1-eth1": [0, 0, 0, 0, 2]}}, {"t": 1.1, "p": {"s1-eth1": [0, LEAST_BYTES - 1, 0, 9, 2]}}
    )
    assert history.tracks == {}


def test_a_counter_that_began_anew_gives_no_rate():
    """The port was removed and made again."""
    history = history_of(
        {"t": 1.0, "p": {"s1-eth1": [0, 10**6, 0, 0, 2]}},
        {"t": 1.1, "p": {"s1-eth1": [0, 2 * 10**6, 0, 0, 2]}},
        {"t": 1.2, "p": {"s1-eth1": [0, 10, 0, 0, 2]}},
    )
    assert [value for _, value in shown(history, "rate s1-eth1")] == [0.0, pytest.approx(80e6), 0.0]


def test_a_flow_has_a_rate_a_window_a_round_trip_and_a_name():
    """Its label names the nodes that have the addresses; ssthresh is a gap before the first loss."""
    told = {"cwnd": 10, "rtt_ms": 40.0, "pacing_bps": 3e6, "state": "ESTAB", "mss": 1448, "min_rtt_ms": 40.0}
    history = history_of(
        {"t": 1.0, "a": {"h1": ["10.0.0.1"], "h2": ["10.0.0.2"]}},
        {"t": 1.1, "s": {FLOW: row_of(**told, bytes_sent=14_480, bytes_acked=0)}},
        {"t": 1.2, "s": {FLOW: row_of(**told | {"cwnd": 20}, bytes_sent=43_440, bytes_acked=12_500, ssthresh=15)}},
        {"t": 1.3, "e": [FLOW]},
    )
    assert shown(history, f"rate {FLOW}")[:3] == [(1.0, 0.0), (1.1, 0.0), (1.2, pytest.approx(1e6))]
    assert shown(history, f"cwnd {FLOW}") == [(1.1, 10.0), (1.2, 20.0), (1.3, None)]
    assert shown(history, f"ssthresh {FLOW}")[:2] == [(1.1, None), (1.2, 15.0)]
    assert shown(history, f"rtt {FLOW}")[0] == (1.1, 0.04)
    assert shown(history, f"pacing {FLOW}")[0] == (1.1, 3e6)
    assert history.tracks[f"rate {FLOW}"].series.label == "h1 → h2:5201"


def test_flows_with_the_same_ends_are_told_apart_by_their_ports():
    """As four parallel streams of iperf3."""
    other = FLOW.replace("40000", "40002")
    row = row_of(bytes_sent=10**6, bytes_acked=0)
    history = history_of({"t": 1.0}, {"t": 1.1, "s": {FLOW: row, other: row}})
    labels = {track.series.label for track in history.tracks.values() if track.series.panel == "rate"}
    assert labels == {"h1 → 10.0.0.2:5201", "h1:40002 → 10.0.0.2:5201"}


def test_a_receiver_is_no_flow():
    """The other end of a connection sends its acknowledgements and little else."""
    history = history_of({"t": 1.0}, {"t": 1.1, "s": {FLOW: row_of(bytes_sent=100, bytes_received=10**9)}})
    assert history.tracks == {}


def test_a_queue_is_shown_with_what_it_dropped_and_marked():
    """Bytes, packets, drops; marks as soon as there are some."""
    history = history_of(
        {"t": 1.0, "d": {"s1-eth1": {"qdiscs": [TBF], "classes": []}}, "q": {"s1-eth1": [0, 0, 0, 0]}},
        {"t": 1.1, "q": {"s1-eth1": [15_140, 10, 2, 0]}},
        {"t": 1.2, "q": {"s1-eth1": [0, 0, 2, 3]}},
    )
    assert shown(history, "queue s1-eth1") == [(1.0, 0.0), (1.1, 15_140.0), (1.2, 0.0)]
    assert shown(history, "packets s1-eth1")[1] == (1.1, 10.0)
    assert shown(history, "drops s1-eth1") == [(1.0, 0.0), (1.1, 2.0), (1.2, 2.0)]
    assert shown(history, "marks s1-eth1") == [(1.2, 3.0)]
    assert {(level.panel, level.label, level.value) for level in history.levels()} == {
        ("rate", "rate of s1-eth1", 1e7),
        ("queue", "limit of s1-eth1", 30_000.0),
    }


def test_a_port_that_has_gone_ends():
    """Its tracks have a gap, and its levels are no more."""
    history = history_of(
        {"t": 1.0, "d": {"s1-eth1": {"qdiscs": [TBF], "classes": []}}, "q": {"s1-eth1": [0, 0, 0, 0]}},
        {"t": 1.1, "d": {"s1-eth1": None}},
    )
    assert shown(history, "queue s1-eth1")[-1] == (1.1, None)
    assert history.levels() == []


def test_pings_are_points_when_their_replies_came():
    """A reply that never came is a gap."""
    history = history_of(
        {"t": 1.0, "a": {"h2": ["10.0.0.2"]}},
        {"t": 1.1, "r": [[1.041, "h1", "10.0.0.2", 40.5]]},
        {"t": 12.0, "r": [[12.0, "h1", "10.0.0.2", None]]},
    )
    assert shown(history, "ping h1 → h2 10.0.0.2") == [(1.041, 0.0405), (12.0, None)]


def test_after_a_cut_everything_begins_anew():
    """Nobody looked for a minute: a gap, and no rate over that minute."""
    lines = [
        {"t": 1.0, "p": {"s1-eth1": [0, 0, 0, 0, 2]}},
        {"t": 1.1, "p": {"s1-eth1": [0, 125_000, 0, 90, 2]}},
    ]
    history = history_of(*lines)
    history.cut()
    for line in (
        {"t": 61.0, "p": {"s1-eth1": [0, 10**9, 0, 90, 2]}},
        {"t": 61.1, "p": {"s1-eth1": [0, 10**9 + 12_500, 0, 99, 2]}},
    ):
        history.see(parse(json.dumps(line)))
    values = [value for _, value in shown(history, "rate s1-eth1")]
    assert values[:2] == [0.0, pytest.approx(10e6)]
    assert values[2] is None
    assert values[-1] == pytest.approx(1e6)
    assert max(value for value in values if value is not None) == pytest.approx(10e6)


def test_after_a_cut_levels_stay():
    """Regression: when the network had ended, a saved figure had no limits."""
    history = history_of(
        {"t": 1.0, "d": {"s1-eth1": {"qdiscs": [TBF], "classes": []}}, "q": {"s1-eth1": [0, 0, 0, 0]}},
    )
    history.cut()
    assert [level.label for level in history.levels()] == ["rate of s1-eth1", "limit of s1-eth1"]


def test_readings_that_come_twice_change_nothing():
    """Time that does not go on is no reading."""
    history = history_of({"t": 1.0, "p": {"s1-eth1": [0, 0, 0, 0, 2]}})
    version = history.version
    history.see(parse('{"t":1.0}'))
    assert history.version == version


def test_tracks_are_bounded():
    """A thousand short connections: the first that ended are forgotten, and what goes on stays."""
    history = history_of({"t": 0.0})
    row = row_of(bytes_sent=10**6, bytes_acked=0, cwnd=10)
    history.see(parse(json.dumps({"t": 0.5, "s": {FLOW: row}})))
    for number in range(1000):
        key = f"h1 10.0.0.1:{number + 1} 10.0.0.9:80"
        history.see(parse(json.dumps({"t": 1 + number, "s": {key: row}})))
        history.see(parse(json.dumps({"t": 1.5 + number, "e": [key]})))
    assert len(history.tracks) <= MOST_TRACKS
    assert f"rate {FLOW}" in history.tracks
    assert "rate h1 10.0.0.1:1000 10.0.0.9:80" in history.tracks


def test_the_bdp_of_a_flow_is_of_the_slowest_port_on_its_way():
    """Lab 8's network: h1 to s1 to s2 to h2, 10 Mbit/s behind s1, and a round trip of 20 ms."""
    topology = Topology.load("topologies/Lab 8.mn")
    ports = dict(zip([(link.src, link.dest) for link in topology.links], topology.link_ends(), strict=True))
    middle = next(pair for pair in ports if set(pair) == {"s1", "s2"})
    port = ports[middle][middle.index("s1")]
    row = row_of(bytes_sent=10**6, bytes_acked=0, cwnd=10, min_rtt_ms=20.0, mss=1448)
    history = history_of(
        {"t": 1.0, "a": {"h1": ["10.0.0.1"], "h2": ["10.0.0.2"]}},
        {"t": 1.1, "d": {port: {"qdiscs": [TBF], "classes": []}}},
        {"t": 1.2, "s": {"h1 10.0.0.1:40000 10.0.0.2:5201": row}},
        topology=topology,
    )
    levels = {level.label: level.value for level in history.levels() if level.panel == "cwnd"}
    bdp = 10e6 * 0.02 / 8 / 1514
    assert levels == {
        "BDP of h1 → h2:5201": pytest.approx(bdp),
        "BDP + buffer of h1 → h2:5201": pytest.approx(bdp + 30_000 / 1514),
    }


@pytest.mark.parametrize(
    "line",
    [
        *("", "Traceback (most recent call last):", "[]", "1", "{}", '{"t":"x"}', '{"t":NaN}', '{"t":1,"p":[]}'),
        *('{"t":1,"p":{"a":[1]}}', '{"t":1,"q":{"a":[-1,0,0,0]}}', '{"t":1,"s":{"a":[]}}', '{"t":1,"d":{"a":{}}}'),
    ],
)
def test_what_is_no_reading_is_refused(line):
    """A program inside may have printed anything."""
    with pytest.raises(ValueError, match=r"^.+$"):
        parse(line)


def test_lines_are_not_read_beyond_a_size():
    """Four MiB is more than any network's reading."""
    with pytest.raises(ValueError, match="too long"):
        parse("1" * (5 * 2**20))


def test_values_are_plain_numbers():
    """Arrays of float64, for whoever draws them."""
    history = history_of({"t": 1.0, "r": [[0.5, "h1", "10.0.0.2", 1.0]]})
    (track,) = history.tracks.values()
    assert track.arrays[0].dtype == np.float64


def test_a_flow_that_has_ended_keeps_its_bdp():
    """What was seen of it can still be looked at."""
    topology = Topology.load("topologies/Lab 8.mn")
    row = row_of(bytes_sent=10**6, bytes_acked=0, cwnd=10, min_rtt_ms=20.0, mss=1448)
    history = history_of(
        {"t": 1.0, "a": {"h1": ["10.0.0.1"], "h2": ["10.0.0.2"]}},
        {"t": 1.1, "d": {"s1-eth2": {"qdiscs": [TBF], "classes": []}}},
        {"t": 1.2, "s": {FLOW: row}},
        {"t": 1.3, "e": [FLOW]},
        topology=topology,
    )
    assert [level.label for level in history.levels() if level.panel == "cwnd"] == [
        "BDP of h1 → h2:5201",
        "BDP + buffer of h1 → h2:5201",
    ]


def test_beside_flows_the_rates_of_ports_are_minor_unless_they_are_limited():
    """Every port that a flow passes shows the same; where there is no flow, ports are all there is."""
    ports = [
        {"t": 1.0, "p": {"s1-eth1": [0, 0, 0, 0, 2], "s1-eth2": [0, 0, 0, 0, 2]}},
        {"t": 1.1, "p": {"s1-eth1": [0, 10**6, 0, 9, 2], "s1-eth2": [0, 10**6, 0, 9, 2]}},
    ]
    limited = {"t": 1.2, "d": {"s1-eth2": {"qdiscs": [TBF], "classes": []}}}
    flow = {"t": 1.3, "s": {FLOW: row_of(bytes_sent=10**6, bytes_acked=0)}}

    def minor(history):
        return {track.series.label for track in history.tracks.values() if history.is_minor(track.series)}

    assert minor(history_of(*ports, limited)) == set()
    history = history_of(*ports, limited, flow)
    assert minor(history) == {"s1-eth1 sends"}
    history.cut()
    assert minor(history) == {"s1-eth1 sends"}


@pytest.mark.parametrize(
    "line",
    ['{"t": 1.0, "b": 1.0}', '{"t": 1.0, "b": 2.0}', '{"t": 1e999}', '{"t": 1.0, "p": {"x": [1e999, 1, 1, 1, 1]}}'],
)
def test_a_reading_that_cannot_be_is_refused(line):
    """Regression: each ended the thread of the live plots, which stood still without a word."""
    with pytest.raises(ValueError, match="not a line of readings"):
        parse(line)
