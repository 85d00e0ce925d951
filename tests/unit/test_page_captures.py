# SPDX-License-Identifier: BSD-3-Clause
"""Captures on a lab's page: the shelf of packets, flights over links, rates, and what a browser may ask."""

import http.client
import json
import time
from pathlib import Path

import pytest
from labpages import served
from test_decode import PING

from linklab.capture.decode import decode
from linklab.linux import pcapng
from linklab.page import packets
from linklab.page.flights import FlightFinder, port_delays
from linklab.page.packets import PacketShelf
from linklab.page.port_watch import LinkWatch, meter_nodes
from linklab.topology import Topology

ENDS = [("h1:h1-eth0", "s1:s1-eth1"), ("s1:s1-eth2", "h2:h2-eth0")]
MS = 1_000_000


def until(true, seconds=10.0):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def seen(time_ms: float, direction: int, data: bytes = PING) -> pcapng.CapturedPacket:
    """A packet at some interface."""
    return pcapng.CapturedPacket(0, round(time_ms * MS), data, len(data), direction)


def fly(finder: FlightFinder, *events):
    """The flights that these (place, packet) give."""
    found = [
        finder.add(place, number, packet, decode(packet.data, packet.length).same)
        for number, (place, packet) in enumerate(events, start=1)
    ]
    return [flight for flight in found if flight]


def test_a_packet_flies_over_each_link_of_its_way():
    """At the host it entered as long ago as netem delays; at the switch when it came in there."""
    finder = FlightFinder(ENDS)
    finder.delays = {"h1:h1-eth0": 20 * MS}
    first, second = fly(
        finder,
        ("h1:h1-eth0", seen(120, pcapng.OUTBOUND)),
        ("s1:s1-eth1", seen(120, pcapng.INBOUND)),
        ("s1:s1-eth2", seen(125, pcapng.OUTBOUND)),
        ("h2:h2-eth0", seen(125.5, pcapng.INBOUND)),
    )
    assert (first.link, first.forward, first.from_ns, first.to_ns, first.delay_ns, first.number, first.known) == (
        (0, True, 100 * MS, 120 * MS, 20 * MS, 1, False)
    )
    assert (second.link, second.forward, second.from_ns, second.to_ns, second.number, second.known) == (
        (1, True, 120 * MS, 125.5 * MS, 3, True)
    )


def test_a_reply_flies_back_and_lost_packets_never_land():
    """Each direction of a link by itself; of two that left, only the second came in."""
    lost, kept = PING[:-1] + b"1", PING[:-1] + b"2"
    (flight,) = fly(
        FlightFinder(ENDS),
        ("h2:h2-eth0", seen(1, pcapng.OUTBOUND, lost)),
        ("h2:h2-eth0", seen(2, pcapng.OUTBOUND, kept)),
        ("s1:s1-eth2", seen(2.5, pcapng.INBOUND, kept)),
    )
    assert (flight.link, flight.forward, flight.number, flight.to_ns) == (1, False, 2, 2.5 * MS)


def test_what_came_in_before_the_capture_or_elsewhere_is_no_flight():
    """Only pairs of both ends are drawn."""
    assert fly(FlightFinder(ENDS), ("s1:s1-eth1", seen(1, pcapng.INBOUND)), ("s1:s1", seen(1, pcapng.OUTBOUND))) == []


def test_delays_are_those_of_netem():
    """A switch's ports are in the root namespace, and are called after it."""
    netem = {"qdiscs": [{"kind": "netem", "options": {"delay_ns": 5}}, {"kind": "tbf", "options": {}}]}
    state = {"nodes": {"client": {"interfaces": {"s1-eth2": netem, "s1": {"qdiscs": []}}}, "h1": {"interfaces": {}}}}
    assert port_delays(state) == {"s1:s1-eth2": 5}


def blocks(*times_ms: float) -> list[tuple[int, bytes]]:
    """Blocks as a session gives them."""
    data = pcapng.interface("h1:h1-eth0", link_type=1, snaplen=1000)
    data += b"".join(pcapng.packet(0, round(each * MS), PING, len(PING), 2) for each in times_ms)
    return pcapng.BlockReader().feed(data)


def test_the_shelf_keeps_the_last_packets_and_their_numbers(monkeypatch):
    """What is older is forgotten; the file holds what is left."""
    monkeypatch.setattr(packets, "MOST_PACKETS", 3)
    shelf, places = PacketShelf(), []
    shelf._take(blocks(1, 2, 3, 4, 5), places)
    assert [each.number for each in shelf.after(0, 100)] == [3, 4, 5]
    assert [each.number for each in shelf.after(4, 100)] == [5]
    assert shelf.find(2) is None
    assert shelf.find(4).row() == [
        4,
        4 * MS,
        "h1:h1-eth0",
        "out",
        "ICMP",
        "10.0.0.1",
        "10.0.0.2",
        98,
        "echo request, id 5, seq 2",
    ]
    assert (shelf.state()["first"], shelf.state()["last"]) == (3, 5)
    read = pcapng.BlockReader().feed(shelf.as_file())
    assert [pcapng.read_packet(block).time_ns for kind, block in read if kind == pcapng.PACKET] == [
        3 * MS,
        4 * MS,
        5 * MS,
    ]
    shelf.clear()
    assert shelf.after(0, 100) == []
    shelf._take(blocks(6)[1:], places)
    assert [each.number for each in shelf.after(0, 100)] == [6]


def reading(t: float, sent: int, received: int, state: int = 2) -> dict:
    """What the meter says of a host's link at its switch's end."""
    return {"t": t, "i": {"s1-eth1": [received, sent, 500, 0, 0, 0, state]}}


def test_a_link_has_a_rate_each_way_and_is_down_where_an_end_is():
    """Seen from the one end in the root namespace; from the second reading on."""
    watch = LinkWatch([("h1-eth0", "s1-eth1")])
    assert watch.add(reading(1.0, 0, 0)) == [{"up": True, "rates": [None, None], "queues": [None, 500]}]
    (link,) = watch.add(reading(1.5, 1000, 5000))
    assert link["rates"] == [80_000.0, 16_000.0]
    assert not watch.add(reading(2.0, 1000, 5000, state=1))[0]["up"]


def test_the_meter_looks_into_nodes_whose_links_reach_no_switch():
    """Two routers, for one."""
    drawn = Topology.load(Path(__file__).parents[2] / "topologies" / "Lab 14.mn")
    at_root = {switch.name for switch in drawn.switches if switch.type != "legacyRouter"}
    for link in drawn.links:
        assert {link.src, link.dest} & (at_root | set(meter_nodes(drawn)))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One page for all tests that change nothing."""
    with served(tmp_path_factory.mktemp("lab")) as one:
        yield one


def test_the_drawing_has_every_node_and_link_with_its_ports(page):
    """Where the manual's picture has them."""
    status, _, text = page.own("GET", "drawing")
    assert status == 200
    drawn = json.loads(text)
    assert {node["name"] for node in drawn["nodes"]} >= {"h1", "h2", "h3", "s1"}
    assert all(len(link["ports"]) == 2 and link["a"] for link in drawn["links"])


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 400),
        ({"do": "start", "places": [1], "filter": ""}, 400),
        ({"do": "start", "places": ["h1"] * 1000, "filter": ""}, 400),
        ({"do": "explode", "places": [], "filter": ""}, 400),
        ({"do": "start", "places": ["h1"], "filter": "tcp prt 1"}, 400),
        ({"do": "clear", "places": [], "filter": ""}, 200),
        ({"do": "stop", "places": [], "filter": ""}, 200),
    ],
)
def test_a_wrong_order_is_answered_with_a_sentence(page, fields, status):
    """And changes nothing."""
    found, _, text = page.own("POST", "capture", fields)
    assert found == status, text
    if status == 400:
        assert "error" in text


def test_a_packet_that_is_not_kept_is_not_found(page):
    """As after a reload."""
    assert page.own("GET", "packets/7")[0] == 404


def test_a_stranger_gets_no_packets(page):
    """Without the cookie nothing is said."""
    for path in ("drawing", "packets/file", "packets/1", "packets/interfaces"):
        assert page.ask("GET", page.context.prefix + path, Host=page.host)[0] == 403


def test_a_slow_tshark_stops_neither_the_clock_nor_the_packet_that_is_looked_at(page, tmp_path, monkeypatch):
    """Of forty packets that were passed by, tshark begins only with those it had threads for."""
    may_end, begun = tmp_path / "may-end", tmp_path / "begun"
    tshark = tmp_path / "tshark"
    tshark.write_text(f"#!/bin/sh\necho >> {begun}\nwhile [ ! -e {may_end} ]; do sleep 0.02; done\nexit 1\n")
    tshark.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    packet = packets.ShelvedPacket(1, "h1:h1-eth0", pcapng.ETHERNET, seen(1, 2))
    monkeypatch.setattr(PacketShelf, "find", lambda *_: packet)
    given = {"Host": page.host, "Cookie": page.cookie}
    asked = []
    for number in range(40):
        asked.append(http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=10))
        asked[-1].request("GET", f"{page.context.prefix}packets/{number}", headers=given)
    until(lambda: begun.exists() and len(begun.read_text()) == 2)
    assert page.own("POST", "clock", {"words": []})[0] == 200
    assert page.own("GET", "drawing")[0] == 200
    for one in asked:
        one.close()
    assert page.own("GET", "drawing")[0] == 200  # the server has seen that they are closed
    may_end.touch()
    status, _, text = page.own("GET", "packets/41")
    assert (status, json.loads(text)["by"]) == (200, "Linklab")
    assert len(begun.read_text()) == 3
