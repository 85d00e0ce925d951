# SPDX-License-Identifier: BSD-3-Clause
"""What a running network does, in words: nodes, links, controllers; and routes kept over a link's going down."""

import json
from dataclasses import replace

import pytest
from routed import addressed, drawn

from linklab.editor import edits, runnable
from linklab.editor.network_state import LinkFlow, NetworkState, Watch, meter_arguments, tree_words
from linklab.linux import routes_kept
from linklab.topology import Topology, addressing, switching


def sample(t, down=(), no_carrier=(), **counted):
    """A sample of the ports that are seen from the root namespace and from r2."""
    ports = ("s1-eth1", "s1-eth2", "s1-eth3", "r2-eth0", "r2-eth1", "h3-eth0")
    found = {}
    for name in ports:
        octets_in, octets_out, packets_in, packets_out = counted.get(name.replace("-", "_"), (0, 0, 0, 0))
        state = 0 if name in down else 1 if name in no_carrier else 2
        found[name] = [octets_in, octets_out, 0, 0, packets_in, packets_out, state]
    return {"t": t, "i": found}


def watch(topology=None):
    """A watch over the drawing with two routers."""
    topology = topology or drawn()
    return Watch(topology, topology.link_ends())


def test_both_directions_of_a_link_are_counted_at_the_end_that_is_seen():
    """Bits and packets by the second, src to dest and back; what is not seen at one end came in at the other."""
    seen = watch()
    assert seen.add(sample(1.0)).links[0].words == "link h1-s1: up"
    state = seen.add(sample(1.5, s1_eth1=(625_000, 5_000, 500, 50), r2_eth1=(0, 1_250, 0, 10)))
    assert state.links[0].flows == (LinkFlow("h1", "s1", 10e6, 1000.0), LinkFlow("s1", "h1", 80e3, 100.0))
    assert state.links[0].words == "link h1-s1: up; h1→s1: 10.0 Mb/s, 1000 packets/s; s1→h1: 80.0 kb/s, 100 packets/s"
    assert state.links[3].flows[0] == LinkFlow("r2", "r3", 20e3, 20.0)
    assert state.down == frozenset()
    assert set(state.node_words.values()) == {"running"}


def test_a_link_that_is_down_says_which_end():
    """Taken down where we see it, or at the other end, as `link h1 s1 down` in the CLI does it."""
    seen = watch()
    state = seen.add(sample(1.0, down=["s1-eth3"], no_carrier=["s1-eth1", "r2-eth0"]))
    assert state.down == {0, 2}
    assert state.links[0].words == "link h1-s1: down (h1-eth0 is down or gone)"
    assert state.links[2].words == "link r2-s1: down (s1-eth3 taken down)"
    assert state.nodes["s1"].words == "s1: running, but s1-eth3 is down; s1-eth1 has no link"
    assert state.nodes["h1"].words == "h1: running, but h1-eth0 has no link"
    assert state.nodes["r3"].words == "r3: running"
    assert state.node_words["h1"] == "attention"
    assert state.text.split("\n")[0] == "h1: running, but h1-eth0 has no link"
    assert "" in state.text.split("\n")


def with_controller(kind="remote"):
    """Two OpenFlow switches and a controller."""
    topology = Topology()
    for each in ("switch", "switch", "controller"):
        topology, _ = edits.add_node(topology, each, 0, 0)
    for pair in (("s1", "s2"), ("c0", "s1"), ("c0", "s2")):
        topology = edits.add_link(topology, *pair)
    return edits.set_opts(topology, "c0", {"controllerType": kind})


def test_a_controller_is_not_green_before_it_is_connected():
    """Regression: c0 was shown running whatever it did."""
    seen = watch(with_controller())
    assert seen.state.node_words["c0"] == "building"
    ports = {name: [0, 0, 0, 0, 0, 0, 2] for name in ("s1-eth1", "s2-eth1")}
    none = {"s1": {"tcp:127.0.0.1:6633": False}, "s2": {"tcp:127.0.0.1:6633": False}}
    state = seen.add({"t": 1, "i": ports, "c": none})
    assert state.nodes["c0"].words == (
        "c0: not connected to s1, s2; start it in the Root Terminal, listening on port 6633"
    )
    assert state.nodes["s1"].words == "s1: running, but controller c0 is not connected"
    state = seen.add({"t": 2, "i": ports, "c": {**none, "s2": {"tcp:127.0.0.1:6633": True}}})
    assert state.nodes["c0"].what.startswith("connected to s2, not connected to s1")
    state = seen.add({"t": 3, "i": ports, "c": {name: {"tcp:127.0.0.1:6633": True} for name in none}})
    assert state.nodes["c0"].words == "c0: connected to s1, s2"
    assert state.nodes["s2"].words == "s2: running, controller c0 connected"
    assert seen.add({"t": 4, "i": ports}).node_words == {"s1": "running", "s2": "running", "c0": "running"}


def test_a_controller_without_a_switch_says_so():
    """Regression: its connections were "not known yet" for ever, because nothing asks about them."""
    topology, _ = edits.add_node(Topology(), "controller", 0, 0)
    seen = watch(topology)
    assert seen.state.nodes["c0"].words == "c0: no switch is linked to it"
    assert seen.add({"t": 1, "i": {}}).nodes["c0"].words == "c0: no switch is linked to it"
    assert watch(with_controller()).state.nodes["c0"].words == "c0: its connections are not known yet"
    assert watch().state != NetworkState()


def test_the_meter_looks_where_the_root_namespace_cannot():
    """Into one end of each link between hosts and routers; at controllers where there are some."""
    assert meter_arguments(drawn()) == ["--nodes", "r2,h3"]
    assert meter_arguments(with_controller()) == ["--controllers"]
    assert meter_arguments(edits.delete(drawn(), {"r2", "r3"})) == []


# --- the spanning tree


def looped(kind="legacySwitch"):
    """Two switches with two links between them, and a host."""
    topology = Topology()
    for each in (kind, kind, "host"):
        topology, _ = edits.add_node(topology, each, 0, 0)
    for pair in (("s1", "s2"), ("s1", "s2"), ("h1", "s1")):
        topology = edits.add_link(topology, *pair)
    return topology


def tree(t, ports, roots=("s1",), down=()):
    """A sample with what the spanning tree does."""
    names = ("s1-eth1", "s1-eth2", "s1-eth3", "s2-eth1", "s2-eth2")
    counted = {name: [0, 0, 0, 0, 0, 0, 0 if name in down else 2] for name in names}
    return {"t": t, "i": counted, "stp": {"ports": ports, "roots": list(roots)}}


def test_what_the_spanning_tree_blocks_is_said():
    """Regression: nothing in the window showed it. A blocked port is as it should be, so its switch stays green."""
    seen = watch(looped())
    state = seen.add(tree(1.0, {"s2-eth2": "blocking", "elsewhere": "blocking"}))
    assert state.waiting == {"s2-eth2": "blocking"}
    assert state.links[1].waiting == ("", "blocking")
    assert state.links[1].words == "link s1-s2: up; s2-eth2 is blocked by the spanning tree"
    assert state.nodes["s1"].words == "s1: running; root of the spanning tree"
    assert state.nodes["s2"].words == "s2: running; s2-eth2 is blocked by the spanning tree"
    assert set(state.node_words.values()) == {"running"}
    assert tree_words({}, state.waiting) == "s2-eth2 is blocked by the spanning tree"


def test_a_tree_that_forms_anew_is_followed():
    """A link goes down, its neighbour listens, learns, and forwards; what is down is said as that."""
    seen = watch(looped())
    first = seen.add(tree(1.0, {"s2-eth2": "blocking"})).waiting
    listening = seen.add(tree(2.0, {"s2-eth2": "listening"}, down=["s1-eth1"])).waiting
    assert tree_words(first, listening) == "s2-eth2 is listening while the spanning tree forms"
    forwards = seen.add(tree(3.0, {}, down=["s1-eth1"])).waiting
    assert tree_words(listening, forwards) == "s2-eth2 forwards now"
    assert tree_words(forwards, forwards) == ""
    state = seen.add(tree(4.0, {"s2-eth2": "blocking"}, down=["s2-eth2"]))
    assert state.waiting == {}
    assert state.links[1].words == "link s1-s2: down (s2-eth2 taken down)"


def test_the_meter_is_asked_about_the_tree_where_there_may_be_one():
    """A loop is enough, since somebody may begin STP in a terminal; the protocol alone is, too."""
    assert meter_arguments(looped()) == ["--tree"]
    assert meter_arguments(edits.delete(looped(), {1})) == []
    assert meter_arguments(switching.with_spanning_tree(edits.delete(looped(), {1}))) == ["--tree"]


# --- what is said before and at Run


@pytest.mark.parametrize(
    ("kind", "address", "is_said"),
    [
        ("remote", "127.0.0.1", False),
        ("remote", "10.0.0.1", False),
        ("inband", "10.0.0.1", False),
        ("remote", "192.0.2.7", True),
        ("remote", "no address", True),
        ("ref", "192.0.2.7", False),
    ],
)
def test_only_a_controller_outside_cannot_be_reached(kind, address, is_said):
    """Regression: one at 127.0.0.1 was called unreachable, though one started in the Root Terminal works."""
    topology = edits.set_opts(with_controller(kind), "c0", {"remoteIP": address})
    topology, host = edits.add_node(topology, "host", 0, 0)
    topology = edits.add_link(topology, host, "s1")
    said = [each for each in runnable.unheeded(topology, runnable.Choice()) if each.startswith("c0")]
    assert bool(said) is is_said
    if said:
        assert "127.0.0.1" in said[0]


def test_a_switch_without_a_controller_is_told_of():
    """What it does here, what it would do in MiniEdit, and where that is chosen."""
    topology = edits.delete(with_controller(), {"s1>c0"})
    assert runnable.notes(topology) == [
        "s1 has no controller and forwards like a legacy switch; "
        "in MiniEdit nothing would pass (Preferences, Switches)",
        "c0 is yours to start: in the Root Terminal, listening on port 6633",
    ]
    dropping = replace(topology, extra={"linklab": {"run": {"alone": "drop"}}})
    assert runnable.notes(dropping)[0] == "s1 has no controller, so nothing is forwarded there, as in MiniEdit"
    assert runnable.notes(drawn()) == []


# --- routes over down and up


def test_routes_and_ipv6_addresses_come_back_and_what_the_kernel_makes_does_not():
    """From what `ip -j` shows before an interface goes down."""
    ipv4 = [
        {"dst": "default", "gateway": "10.0.0.254", "flags": []},
        {"dst": "10.0.0.0/8", "protocol": "kernel", "scope": "link", "prefsrc": "10.0.0.1", "flags": []},
        {"dst": "192.0.2.0/24", "scope": "link", "metric": 7, "prefsrc": "10.0.0.1", "flags": []},
    ]
    ipv6 = [
        {"dst": "fe80::/64", "protocol": "kernel", "metric": 256, "flags": [], "pref": "medium"},
        {"dst": "default", "gateway": "2001:db8::1", "metric": 1024, "flags": [], "pref": "medium"},
    ]
    addresses = [{}, {"addr_info": [{"family": "inet6", "local": "2001:db8::5", "prefixlen": 64, "scope": "global"}]}]
    answers = dict(zip(routes_kept.ASKS, map(json.dumps, (ipv4, ipv6, addresses)), strict=True))
    asked = {line.format("h1-eth0"): answer for line, answer in answers.items()}
    assert routes_kept.kept(asked.__getitem__, "h1-eth0") == [
        "ip addr replace 2001:db8::5/64 dev h1-eth0 nodad",
        "ip -4 route replace 192.0.2.0/24 dev h1-eth0 src 10.0.0.1 metric 7",
        "ip -4 route replace default via 10.0.0.254 dev h1-eth0",
        "ip -6 route replace default via 2001:db8::1 dev h1-eth0 metric 1024",
    ]
    assert routes_kept.restoring(["", "no JSON [", "[]"], "h1-eth0") == []


def test_what_was_planned_is_known_by_its_interface():
    """For a link that somebody else took down."""
    assert addressing.routes_by(addressed(), "r2", "r2-eth1") == ("ip -4 route replace 10.0.3.0/24 via 10.0.2.2",)
    assert addressing.routes_by(addressed(), "h1", "h1-eth0") == ("ip -4 route replace default via 10.0.1.254",)
    assert addressing.routes_by(addressed(), "r2", "r2-eth0") == ()
    assert addressing.routes_by(addressed(), "s1", "s1-eth1") == ()
