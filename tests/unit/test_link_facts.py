# SPDX-License-Identifier: BSD-3-Clause
"""Links by departure time in a state: strict reading, facts, the way between two nodes, and lines that restore them."""

import json
from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from socket import inet_aton

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError, StateError
from linklab.exercise.evidence import Change, Evidence
from linklab.exercise.restore import restore_lines, unlike, with_missing_sysctls
from linklab.exercise.wanted import with_facts
from linklab.state import ways
from linklab.state.facts import facts
from linklab.state.model import State
from linklab.state.node import Node, Route
from linklab.state.ways import StateWays
from linklab.tc import EdtLink, Qdisc
from linklab.topology import Topology

CAPTURE = Path(__file__).parents[1] / "captures" / "node_state-7.3.4-links.json"
LAB_8 = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"
STATE = State.loads(CAPTURE.read_text())
TOPOLOGY = Topology.load(LAB_8)


def with_links(interface: str, *links: EdtLink, state: State = STATE, unread: str = "", qdiscs=()) -> State:
    """The capture with other links at one interface."""
    owner, before = state.interfaces()[interface]
    after = replace(before, links=links, unread=unread, qdiscs=qdiscs)
    node = replace(state.nodes[owner], interfaces={**state.nodes[owner].interfaces, interface: after})
    return replace(state, nodes={**state.nodes, owner: node})


def bare() -> State:
    """The capture without links; the kernel's own default stands in their place."""
    default = (Qdisc("noqueue", "0:", "root"),)
    return with_links("h1-eth0", state=with_links("s1-eth2", qdiscs=default), qdiscs=default)


def test_a_state_with_links_is_canonical():
    """What the agent wrote gives the same state again, by the text that is handed in."""
    assert State.loads(STATE.dumps()) == STATE
    assert State.loads(STATE.dumps()).dumps() == STATE.dumps()


def test_links_have_the_facts_of_netem_and_shapers():
    """The one of all under the interface's name, those of pairs under their ends'."""
    found = {name: value for name, value in facts(STATE, TOPOLOGY).items() if name.startswith(("s1-eth2.", "h1-eth0."))}
    assert found["s1-eth2.discipline"] == "edt"
    expected = {"rate": 1e7, "delay": 0.02, "loss": 0.01, "queue": 64000}
    assert {name: found[f"s1-eth2.{name}"] for name in expected} == expected
    pair = {"rate": 1e8, "delay": 0.005, "jitter": 0.001, "loss": round(0.01 / 0.26, 12), "queue": 25e6}
    assert {name: found[f"s1-eth2.h1>h2.{name}"] for name in pair} == pair
    assert found["s1-eth2.h1>h2.options"] == "distribution normal ecn 5ms"
    assert found["h1-eth0.any>10.9.9.9.delay"] == 0.001
    assert found["h1-eth0.any>10.9.9.9.options"] == "orphan off"
    assert "h1-eth0.delay" not in found


def test_the_way_between_two_nodes_takes_the_link_of_its_pair():
    """Else that of the target, else that of all; each direction by itself."""
    found = StateWays(STATE, TOPOLOGY)
    assert found.ports("h1", "h2") == ["h1-eth0", "s1-eth2", "s2-eth1"]
    assert found.ports("h2", "h1") == ["h2-eth0", "s2-eth2", "s1-eth1"]
    assert (found.fact("h1>h2.delay"), found.fact("h1>h2.rate")) == (0.005, 1e8)
    target = EdtLink.read([("any", "10.0.0.2")], "delay 7ms")
    every = EdtLink.read([("any", "any")], "delay 9ms loss 50%")
    assert StateWays(with_links("s1-eth2", every, target), TOPOLOGY).fact("h1>h2.delay") == 0.007
    assert StateWays(with_links("s1-eth2", every), TOPOLOGY).fact("h1>h2.delay") == 0.009
    assert found.fact("h2>h1.delay") is None


def test_what_several_interfaces_do_is_put_together():
    """Delays add up, of losses what at least one takes, the lowest rate with its queue; whichever backend."""
    state = with_links("s2-eth1", EdtLink.read([("any", "any")], "rate 20mbit delay 2ms loss 50% queue 30kb"))
    netem = Qdisc("netem", "1:", "root", {"limit": 1000, "delay_ns": 1_000_000, "loss": 0.5})
    state = with_links("h1-eth0", state=state, qdiscs=(netem,))
    found = StateWays(state, TOPOLOGY)
    assert found.fact("h1>h2.delay") == 0.008
    assert found.fact("h1>h2.loss") == pytest.approx(1 - 0.5 * 0.5 * (1 - 0.01 / 0.26))
    assert (found.fact("h1>h2.rate"), found.fact("h1>h2.queue")) == (2e7, 30000)


@pytest.mark.parametrize(("rate", "queue"), [(20_000_000, 30_000), (19_100_000, 30_000), (19_000_000, 90_000)])
def test_a_shaper_as_slow_as_the_bottleneck_does_not_hide_its_queue(rate, queue):
    """Regression: a sender held to the rate of the link had the queue of the way, and the short one was not seen."""
    state = with_links("s2-eth1", EdtLink.read([("any", "any")], "rate 20mbit queue 30kb"))
    tbf = Qdisc("tbf", "1:", "root", {"rate_bit": rate, "burst": 9000, "limit": 90_000})
    found = StateWays(with_links("h1-eth0", state=state, qdiscs=(tbf,)), TOPOLOGY)
    assert (found.fact("h1>h2.rate"), found.fact("h1>h2.queue")) == (rate, queue)


@pytest.mark.parametrize(
    "name", ["h1>h9.delay", "h1>client.delay", "h1.delay", "h1>h2.mtu", "h1>h2", "s1-eth2.x>y.rate"]
)
def test_there_is_no_such_fact_of_a_way(name):
    """Nodes that are not there, the root namespace, other facts."""
    assert StateWays(STATE, TOPOLOGY).fact(name) is None


def test_a_way_that_is_cut_has_no_facts():
    """A port that is down."""
    owner, before = STATE.interfaces()["s2-eth1"]
    node = replace(
        STATE.nodes[owner], interfaces={**STATE.nodes[owner].interfaces, "s2-eth1": replace(before, up=False)}
    )
    assert StateWays(replace(STATE, nodes={**STATE.nodes, owner: node}), TOPOLOGY).fact("h1>h2.delay") is None


def replace_in(state: State, name: str, **more) -> State:
    """The state with an interface that is set otherwise."""
    owner, before = state.interfaces()[name]
    node = replace(state.nodes[owner], interfaces={**state.nodes[owner].interfaces, name: replace(before, **more)})
    return replace(state, nodes={**state.nodes, owner: node})


def test_a_way_has_the_interfaces_by_which_packets_leave():
    """None where they do not come by the switches of the drawing: regression, it was then taken for the same path."""
    assert StateWays(STATE, TOPOLOGY).fact("h1>h2.way") == "h1-eth0 s1-eth2 s2-eth1"
    assert StateWays(replace_in(STATE, "s2-eth1", up=False), TOPOLOGY).fact("h1>h2.way") is None
    elsewhere = StateWays(replace_in(STATE, "s1", addresses=("10.0.0.2/8",)), TOPOLOGY)
    assert elsewhere.fact("h1>h2.way") is None  # the Client answers first
    assert elsewhere.fact("h2>h1.way") == "h2-eth0 s2-eth2 s1-eth1"


def test_a_route_for_another_type_of_service_is_on_no_way():
    """Regression: it hid the route by the Client that the packets took (ip-route(8), tos)."""
    host = STATE.nodes["h1"]
    taken = Route("10.0.0.2/32", via="10.9.1.1", dev="h1-eth0")
    routes = (Route("10.0.0.2/32", dev="h1-eth0", tos=8), taken, *host.routes)
    state = replace(STATE, nodes={**STATE.nodes, "h1": replace(host, routes=routes)})
    assert StateWays(state, TOPOLOGY).fact("h1>h2.way") is None
    assert ("h1", "ip route replace 10.0.0.2/32 tos 0x8 metric 0 dev h1-eth0 scope global proto boot") in restore_lines(
        STATE, state
    )


def test_how_packets_are_lost_on_a_way_is_told_of_every_backend():
    """A netem and a link by departure time in words of tc-netem(8), one after the other."""
    netem = Qdisc("netem", "9:", "root", {"limit": 1000, "loss": 0.1, "loss_correlation": 0.99})
    state = replace_in(STATE, "s2-eth1", qdiscs=(netem,))
    assert StateWays(STATE, TOPOLOGY).fact("h1>h2.loss_model") == "gemodel 0.01,0.25,1.0,0.0"
    assert StateWays(state, TOPOLOGY).fact("h1>h2.loss_model") == "gemodel 0.01,0.25,1.0,0.0; correlation 0.99"
    assert StateWays(STATE, TOPOLOGY).fact("h2>h1.loss_model") is None


@pytest.mark.parametrize(("switches", "way"), [("bridge", None), ("openvswitch", "h1-eth0 s1-eth2 s2-eth1")])
def test_a_port_that_was_moved_to_another_bridge_is_on_no_way(switches, way):
    """Regression: h1's packets came out of s2 at once.  Other kinds of switches do not say whose a port is."""
    state = STATE
    for name, (_, interface) in STATE.interfaces().items():
        if interface.kind and name in ("s1", "s2"):
            state = replace_in(state, name, kind=switches)
        elif name.startswith("s"):
            state = replace_in(state, name, master=name.partition("-")[0])
    assert StateWays(state, TOPOLOGY).fact("h1>h2.way") == "h1-eth0 s1-eth2 s2-eth1"
    assert StateWays(replace_in(state, "s1-eth1", master="s2"), TOPOLOGY).fact("h1>h2.way") == way


def test_an_exercise_can_ask_for_what_happens_between_two_nodes():
    """With its unit, as of any fact."""
    nothing = {}
    evidence = Evidence(
        None, lambda name: None, "", facts(STATE, TOPOLOGY), {}, nothing, None, ways=StateWays(STATE, TOPOLOGY).fact
    )
    assert str(evidence.fact("h1>h2.delay").shown) == "5 ms"
    assert evidence.fact("h1>h2.loss").shown == "3.85 %"
    assert evidence.fact("s1-eth2.h1>h2.rate").shown == "100 Mbps"
    assert evidence.fact("h2>h1.loss") is None
    assert str(Change("s1-eth2.h1>h2.delay", 0.005, None)) == "the delay of s1-eth2.h1>h2 (5 ms) has been removed"


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ({"pairs": [], "does": ""}, "each pair of addresses once, and at least one"),
        ({"pairs": [["any", "any"], ["any", "any"]], "does": ""}, "each pair of addresses once"),
        ({"pairs": [["any", "any", "any"]], "does": ""}, "must have pairs of addresses"),
        ({"pairs": [["10.0.0.1", "any"]], "does": ""}, "are not the ends of a link"),
        ({"pairs": [["any", "$(reboot)"]], "does": ""}, "are not the ends of a link"),
        ({"pairs": [["any", "fe80::1%eth0"]], "does": ""}, "are not the ends of a link"),
        ({"pairs": [["any", "any"]], "does": "delay 20ms; reboot"}, '"20ms;"'),
        ({"pairs": [["any", "any"]], "does": "delay 0.02s"}, "is not how `linklab link show` says it"),
        ({"pairs": [["any", "any"]], "does": 7}, "must have words, found 7"),
        ({"pairs": [["any", "any"]], "does": "", "more": 1}, "may have does, pairs"),
    ],
)
def test_a_link_of_a_hostile_state_is_refused(link, says):
    """The sentence names the place."""
    data = json.loads(CAPTURE.read_text())
    data["nodes"]["client"]["interfaces"]["s1-eth2"]["links"] = [link]
    with pytest.raises(InputError, match="client: s1-eth2") as refused:
        State.loads(json.dumps(data))
    assert says in str(refused.value)


def test_a_sysctl_that_a_state_leaves_out_is_as_at_the_start():
    """What it says stays, and a node that the start lacks too."""
    h1, h2 = STATE.nodes["h1"], STATE.nodes["h2"]
    start = replace(STATE, nodes={"h1": replace(h1, sysctls={"net.ipv4.tcp_sack": "1", "net.ipv4.tcp_ecn": "2"})})
    said = replace(STATE, nodes={"h1": replace(h1, sysctls={"net.ipv4.tcp_sack": "0"}), "h2": h2})
    whole = with_missing_sysctls(said, start)
    assert whole.nodes == {
        "h1": replace(h1, sysctls={"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_ecn": "2"}),
        "h2": h2,
    }


def test_links_are_restored_by_one_load_for_an_interface():
    """Cleared where they were, loaded where they are wanted, from the Client, after all addresses are set."""
    lines = restore_lines(bare(), STATE)
    assert lines == [
        (
            "client",
            "printf '%s\\n' 'from,to,rate,delay,loss,queue,jitter,distribution,ecn' "
            "'any,any,10mbit,20ms,1%,64kb,,,' "
            "'10.0.0.1,10.0.0.2,100mbit,5ms,gemodel 1% 25% 100% 0%,,1ms,normal,5ms' "
            "| linklab link load - at s1-eth2 >/dev/null",
        ),
        (
            "client",
            "printf '%s\\n' 'from,to,delay,orphan' 'any,10.9.9.9,1ms,off' "
            "| linklab link load - at h1:h1-eth0 >/dev/null",
        ),
    ]
    assert restore_lines(STATE, bare()) == [
        ("client", "linklab link clear at s1-eth2 >/dev/null"),
        ("h1", "linklab link clear at h1:h1-eth0 >/dev/null"),
    ]
    assert restore_lines(STATE, STATE) == []


def test_a_link_of_several_addresses_is_set_by_the_names_of_its_nodes():
    """So that they share its line; where they are not those of two nodes, it cannot be repeated."""
    owner, before = STATE.interfaces()["h1-eth0"]
    own = replace(before, addresses=("10.0.0.1/8", "10.1.0.1/8"))
    node = replace(STATE.nodes[owner], interfaces={**STATE.nodes[owner].interfaces, "h1-eth0": own})
    state = replace(STATE, nodes={**STATE.nodes, owner: node})
    both = EdtLink.read([("10.0.0.1", "10.0.0.2"), ("10.1.0.1", "10.0.0.2")], "delay 2ms")
    (line,) = restore_lines(state, with_links("s1-eth2", both, state=state))[1:]
    assert "'h1,h2,2ms'" in line[1]
    strange = EdtLink.read([("10.0.0.1", "10.0.0.2"), ("10.7.0.1", "10.0.0.2")], "delay 2ms")
    with pytest.raises(StateError, match="has several ends, which cannot be repeated"):
        restore_lines(state, with_links("s1-eth2", strange, state=state))


def test_links_that_differ_are_told():
    """What each has that the other has not."""
    other = with_links("s1-eth2", EdtLink.read([("any", "any")], "delay 9ms"))
    assert unlike(STATE, STATE) == []
    (told,) = unlike(STATE, other)
    assert told.startswith("s1-eth2: links are 10.0.0.1>10.0.0.2 rate 100mbit delay 5ms")
    assert told.endswith("not any>any delay 9ms")
    (told,) = unlike(STATE, with_links("s1-eth2", unread="3000 links by departure time"))
    assert told.endswith("not 3000 links by departure time")


def test_experiments_change_every_link_at_an_interface():
    """A loss or delay also that of all, which there is afterwards; rates and queues where there are some."""
    found = facts(with_facts(STATE, {"s1-eth2.loss": 0.25, "s1-eth2.rate": 5e6, "h1-eth0.delay": 0.3}))
    assert (found["s1-eth2.loss"], found["s1-eth2.h1>h2.loss"]) == (0.25, 0.25)
    assert (found["s1-eth2.rate"], found["s1-eth2.h1>h2.rate"]) == (5e6, 5e6)
    assert (found["h1-eth0.delay"], found["h1-eth0.any>10.9.9.9.delay"]) == (0.3, 0.3)
    gone = facts(with_facts(STATE, {"s1-eth2.delay": 0.0, "s1-eth2.loss": 0.0}))
    assert not [name for name in gone if name.startswith("s1-eth2.") and name.endswith(("delay", "jitter", "loss"))]
    assert "s1-eth2.queue" in facts(with_facts(STATE, {"s1-eth2.queue": 1e5}))


def test_an_experiment_can_take_away_every_loss():
    """Whichever interfaces have one, also of a single link; the others are left as they are."""
    lossy = with_facts(STATE, {"s1-eth2.loss": 0.25, "h1-eth0.loss": 0.5})
    found = facts(with_facts(lossy, {"*.loss": 0.0, "s1-eth2.loss": 0.1}))
    assert {name: value for name, value in found.items() if name.endswith(".loss")} == {
        "s1-eth2.loss": 0.1,
        "s1-eth2.h1>h2.loss": 0.1,
    }
    assert with_facts(with_facts(lossy, {"*.loss": 0.0}), {"*.loss": 0.5}) == with_facts(lossy, {"*.loss": 0.0})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"h1-eth0.rate": 1e6}, "has nothing that limits its rate"),
        ({"h1-eth0.pacing": 1e6}, "has no fq to pace with"),
        ({"h1-eth0.queue": 1e4}, "has no queue"),
        ({"s1-eth2.queue": 100.0}, "the queue must hold a frame of 1514 bytes"),
        ({"s1-eth2.rate": 10.0}, "has a link that cannot be so"),
    ],
)
def test_what_a_link_cannot_be_changed_to(change, says):
    """One sentence."""
    with pytest.raises(StateError, match=says):
        with_facts(STATE, change)


def test_addresses_are_read_once_however_many_ways_are_asked_for(monkeypatch):
    """Regression: each hop read all again, and a state of 100,000 addresses with a loop took minutes to judge."""
    read = []
    monkeypatch.setattr(ways, "inet_aton", lambda address: read.append(address) or inet_aton(address))
    host = STATE.nodes["h1"]
    many = tuple(f"10.7.{high}.{low}/32" for high in range(10) for low in range(100))
    onwards = Route("default", via="10.0.0.9", dev="h1-eth0")  # which nobody has
    lo = replace(host.interfaces["lo"], addresses=many)
    node = replace(host, interfaces={**host.interfaces, "lo": lo}, routes=(onwards, *host.routes))
    found = StateWays(replace(STATE, nodes={**STATE.nodes, "h1": node}), TOPOLOGY)
    before = len(read)
    assert 2000 <= before < 2100
    assert {found.fact(f"{a}>{b}.delay") for a, b in (("h1", "h3"), ("h2", "h1"), ("h1", "h2"))} == {None, 0.005}
    assert len(read) - before < 10


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(29, 32), st.integers(0, 2), st.sampled_from((0, 8))), max_size=8),
    st.integers(0, 7),
)
def test_the_route_is_that_of_the_longest_prefix_then_of_the_least_metric(drawn, last):
    """As ipaddress, which reads every prefix by itself, finds it; of two alike the first."""
    routes = tuple(
        Route(f"10.0.0.{host}/{length}", dev=f"e{number}", metric=metric, tos=tos)
        for number, (host, length, metric, tos) in enumerate(drawn)
    )
    address = ip_address(f"10.0.0.{last}")
    fitting = [
        (-network.prefixlen, route.metric, number)
        for number, route in enumerate(routes)
        if address in (network := ip_network(route.to, strict=False)) and not route.tos
    ]
    expected = routes[min(fitting)[2]] if fitting else None
    assert ways._Addressed(Node({}, routes)).route(int(address)) == expected


def test_a_link_of_another_address_of_the_sender_takes_nothing():
    """Regression: any address of the sender counted, also one that it does not send from."""
    second = replace_in(STATE, "h1-eth0", addresses=(*STATE.interfaces()["h1-eth0"][1].addresses, "10.0.0.99/8"))
    link = EdtLink.read([("10.0.0.99", "10.0.0.2")], "loss 0.01%")
    assert StateWays(with_links("s1-eth2", link, state=second), TOPOLOGY).fact("h1>h2.loss") is None
    own = EdtLink.read([("10.0.0.1", "10.0.0.2")], "loss 0.01%")
    assert StateWays(with_links("s1-eth2", own, state=second), TOPOLOGY).fact("h1>h2.loss") == 0.0001
    route = Route("10.0.0.2/32", dev="h1-eth0", src="10.0.0.99")
    host = second.nodes["h1"]
    sent = replace(second, nodes={**second.nodes, "h1": replace(host, routes=(route, *host.routes))})
    assert StateWays(with_links("s1-eth2", link, state=sent), TOPOLOGY).fact("h1>h2.loss") == 0.0001


def test_who_has_no_gateway_sends_from_the_first_address():
    """Regression: an address in the target's own network was taken, as it would be in the gateway's."""
    (address,) = STATE.interfaces()["h1-eth0"][1].addresses
    first = replace_in(STATE, "h1-eth0", addresses=("172.16.0.1/16", address))
    host = first.nodes["h1"]
    links = {sender: EdtLink.read([(sender, "10.0.0.2")], "loss 0.01%") for sender in ("172.16.0.1", "10.0.0.1")}

    def losses(route):
        sent = replace(first, nodes={**first.nodes, "h1": replace(host, routes=(route,))})
        found = {each: with_links("s1-eth2", link, state=sent) for each, link in links.items()}
        return {each: StateWays(state, TOPOLOGY).fact("h1>h2.loss") for each, state in found.items()}

    on_link = Route("10.0.0.2/32", dev="h1-eth0", scope="link")
    assert losses(on_link) == {"172.16.0.1": 0.0001, "10.0.0.1": None}
    by_gateway = Route("10.0.0.2/32", dev="h1-eth0", via="10.0.0.2")
    assert losses(by_gateway) == {"172.16.0.1": None, "10.0.0.1": 0.0001}
