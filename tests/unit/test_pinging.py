# SPDX-License-Identifier: BSD-3-Clause
"""What a click on Ping asks and what its answer means; the tables that a node's menu offers."""

import json
from dataclasses import replace
from ipaddress import ip_interface

import pytest
from routed import addressed

from linklab.editor import edits, pinging
from linklab.editor.lookups import lookups
from linklab.errors import EngineError
from linklab.topology import Preferences, Topology

NONE = "4 packets transmitted, 0 received, 100% packet loss, time 3080ms"


def told(*addresses):
    """What `ip -j address` shows of addresses."""
    info = [dict(zip(("local", "prefixlen", "scope"), each, strict=True)) for each in addresses]
    return json.dumps([{"ifname": "lo", "addr_info": []}, {"addr_info": info}, {}])


def test_the_addresses_of_a_node_are_its_own_to_say():
    """Without those of the loopback and of the link; it may have none."""
    shown = told(
        ("127.0.0.1", 8, "host"), ("10.0.0.1", 8, "global"), ("fe80::1", 64, "link"), ("2001:db8::1", 64, "global")
    )
    assert list(map(str, pinging.read_addresses("h1", shown))) == ["10.0.0.1/8", "2001:db8::1/64"]
    assert pinging.read_addresses("h1", told()) == []


@pytest.mark.parametrize("shown", ["ip: command not found", "", "[1]", '[{"addr_info": [{"scope": "global"}]}]'])
def test_an_answer_that_is_no_list_of_addresses_is_an_error(shown):
    """Regression: the node was said to have no address."""
    with pytest.raises(EngineError, match="h2: the output of `ip -j address show` could not be read"):
        pinging.read_addresses("h2", shown)


@pytest.mark.parametrize(
    ("own", "others", "address"),
    [
        (["10.0.1.1/24"], ["10.0.2.254/24", "10.0.1.254/24"], "10.0.1.254"),
        (["10.0.1.1/24"], ["10.0.2.254/24", "10.0.3.254/24"], "10.0.2.254"),
        (["2001:db8::1/64"], ["2001:db8::2/64", "10.0.0.1/8"], "2001:db8::2"),
        ([], ["2001:db8::2/64", "10.0.0.1/8"], "10.0.0.1"),
        (["10.0.1.1/24"], [], ""),
    ],
)
def test_the_address_to_ping_is_the_near_one(own, others, address):
    """Of a router with several, the one in the sender's subnet."""
    assert pinging.target_address(list(map(ip_interface, own)), list(map(ip_interface, others))) == address


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (
            "4 packets transmitted, 4 received, 0% packet loss, time 3004ms\n"
            "rtt min/avg/max/mdev = 40.046/40.152/40.291/0.091 ms",
            "h2 answers: 4 of 4 replies, round-trip time 40.152 ms on average.",
        ),
        (
            "4 packets transmitted, 3 received, 25% packet loss, time 3004ms\nrtt min/avg/max/mdev = 1/2.5/3/0.1 ms",
            "h2 answers only in part: 3 of 4 replies, round-trip time 2.5 ms on average.",
        ),
        (NONE, "h2 does not answer: 0 of 4 replies."),
        (
            "ping: connect: Network is unreachable",
            "h1 has no route to h2: set its default gateway, or a route.",
        ),
        (
            f"From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n{NONE.replace('100%', '+4 errors, 100%')}",
            "h2 does not answer: 10.0.0.1 got no ARP reply from the next hop.",
        ),
        (
            f"From 10.0.1.254 icmp_seq=1 Destination Net Unreachable\n{NONE}",
            "h2 does not answer: 10.0.1.254 says: Destination Net Unreachable.",
        ),
        (
            f"From 10.0.9.1 icmp_seq=1 Time to live exceeded\n{NONE}",
            "h2 does not answer: packets loop between routers (10.0.9.1 says: Time to live exceeded).",
        ),
        ("ping: connect: Invalid argument", "ping could not run: connect: Invalid argument"),
        (
            "ping: Do you want to ping broadcast? Then -b. If not, check your local firewall rules",
            "ping could not run: Do you want to ping broadcast? Then -b. If not, check your local firewall rules",
        ),
        ("", "ping could not run: it printed nothing"),
        ("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.", "ping was stopped before it finished."),
    ],
)
def test_an_answer_is_a_sentence(shown, said):
    """With the likely reason where none came.

    Regression: a ping that had ended without sending anything "has not finished".
    """
    assert pinging.verdict("h1", "h2", f"h1# ping -c 4 -W 2 10.0.0.2\n{shown}") == said


def test_everyone_to_everyone_is_a_table():
    """A dot for what is not known yet."""
    names, answers = ["h1", "h2", "host10"], {("h1", "h2"): True, ("h2", "h1"): False}
    assert pinging.matrix(names, answers).split("\n") == [
        "from     h1   h2  host10",
        "h1        -  yes       .",
        "h2       NO    -       .",
        "host10    .    .       -",
    ]
    assert pinging.everyone_verdict(names, answers) == "2 of 6 pings done, 1 answered …"
    full = {(a, b): (a, b) != ("h1", "h2") for a in names for b in names if a != b}
    assert pinging.everyone_verdict(names, full) == "5 of 6 pings were answered. No answer: h1 → h2."
    assert pinging.everyone_verdict(names, dict.fromkeys(full, True)) == "All 6 pings were answered."
    assert pinging.everyone_verdict(names, dict.fromkeys(full, False), most=2).endswith("h1 → host10, and 4 more.")


def test_what_has_no_address_is_not_pinged():
    """Regression: it was booked as a ping without an answer, though nothing was sent."""
    names, answers = ["h1", "h2", "h3"], {("h1", "h2"): None, ("h3", "h2"): None, ("h1", "h3"): True}
    assert pinging.matrix(names, answers).split("\n") == [
        "from   h1          h2   h3",
        "h1      -  no address  yes",
        "h2      .           -    .",
        "h3      .  no address    -",
    ]
    assert pinging.everyone_verdict(names, answers) == "1 of 4 pings done, 1 answered … Without an address: h2."
    answers |= {("h2", "h1"): False, ("h2", "h3"): False, ("h3", "h1"): True}
    assert pinging.everyone_verdict(names, answers) == (
        "2 of 4 pings were answered. No answer: h2 → h1, h2 → h3. Without an address: h2."
    )
    answers |= {("h2", "h1"): True, ("h2", "h3"): True}
    assert pinging.everyone_verdict(names, answers) == "All 4 pings were answered. Without an address: h2."
    nowhere = {(a, b): None for a in names for b in names if a != b}
    assert pinging.everyone_verdict(names, nowhere) == "No ping was sent. Without an address: h1, h2, h3."


def test_a_node_offers_its_tables():
    """Of a host those of Linux, of a switch those of what it is."""
    topology = addressed(h1_eth0=["2001:db8:1::1/64"])
    assert [(each.label, each.lines) for each in lookups(topology, "h1")] == [
        ("Addresses", ("ip address",)),
        ("Routes", ("ip route", "ip -6 route")),
        ("Neighbours (ARP)", ("ip neighbour",)),
    ]
    assert lookups(topology, "h1")[1].title == "Routes of h1"
    assert {each.terminal for each in lookups(topology, "r2")} == {"r2"}
    topology, name = edits.add_node(topology, "switch", 0, 0)
    assert [each.lines[0] for each in lookups(topology, name)] == [
        f"ovs-appctl fdb/show {name}",
        f"ovs-ofctl dump-flows {name}",
        f"ovs-appctl stp/show {name}",
    ]
    newer = replace(topology, application=Preferences({"openFlowVersions": {"ovsOf10": "0", "ovsOf13": "1"}}))
    assert lookups(newer, name)[1].lines == (f"ovs-ofctl -O OpenFlow13 dump-flows {name}",)
    topology, name = edits.add_node(Topology(), "legacySwitch", 0, 0)
    assert [each.lines for each in lookups(topology, name)] == [
        ("bridge fdb show br s1 dynamic",),
        ("brctl showstp s1",),
    ]
    assert lookups(topology, "c0") == []
