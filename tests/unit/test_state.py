# SPDX-License-Identifier: BSD-3-Clause
"""A network's state: strict reading, canonical text, facts, changed facts."""

import contextlib
import copy
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from extremes import EXTREMES, kinds_of_places, places
from hypothesis import given
from hypothesis import strategies as st

from linklab.agent import namespace_state, node_state
from linklab.errors import InputError, StateError
from linklab.exercise.restore import restore_lines, settings_alone, unlike
from linklab.exercise.wanted import with_facts
from linklab.state.facts import facts
from linklab.state.model import SetEnv, State
from linklab.state.node import SYSCTLS
from linklab.state.ways import StateWays
from linklab.tc import QDISCS, mean_loss
from linklab.topology import Topology

CAPTURE = Path(__file__).parents[1] / "captures" / "node_state-6.1.0-tuned.json"
LAB_8 = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"
DATA = json.loads(CAPTURE.read_text())
TUNED = State.loads(CAPTURE.read_text())


def changed(change):
    """The capture with one thing changed in its data."""
    data = copy.deepcopy(DATA)
    change(data["nodes"])
    return json.dumps(data)


def bare(interface="s1-eth1", **options):
    """The capture with one interface without disciplines, or with one of `kind`."""

    def change(nodes):
        node = nodes["client" if interface.startswith("s") else interface.partition("-")[0]]["interfaces"][interface]
        node["classes"], node["filters"] = [], []
        kind = options.pop("kind", "noqueue")
        handle = "0:" if kind == "noqueue" else "1:"
        node["qdiscs"] = [{"kind": kind, "handle": handle, "parent": "root", "options": options}]

    return State.loads(changed(change))


def test_agent_and_reader_watch_the_same():
    """The list of sysctls stands in both, since the agent imports nothing of ours."""
    assert frozenset(namespace_state.SYSCTLS) == SYSCTLS


def test_text_is_canonical():
    """Reading what was written gives the same state and the same bytes."""
    text = TUNED.dumps()
    assert State.loads(text) == TUNED
    assert State.loads(text).dumps() == text


def test_a_drawing_that_cannot_be_run_has_no_peers():
    """Stations have no ports that could be counted."""
    text = json.dumps(
        {
            "hosts": [],
            "switches": [{"number": "1", "x": "1", "y": "1", "opts": {"switchType": "legacySwitch"}}],
            "links": [{"src": "sta1", "dest": "s1", "opts": {}}],
            "stations": [{"number": "1", "x": "1", "y": "1", "opts": {"hostname": "sta1"}}],
            "version": "2",
        }
    )
    found = facts(TUNED, Topology.loads(text, check=False))
    assert found["topology.links"] == "s1-sta1"
    assert not any(name.endswith(".peer") for name in found)


@pytest.mark.parametrize(
    ("opts", "plain"),
    [
        ({}, "yes"),
        ({"bw": 3000}, "no"),
        ({"delay": "0"}, "yes"),
        ({"delay": "1us"}, "no"),
        ({"loss": 0}, "yes"),
        ({"loss": 1}, "no"),
        ({"max_queue_size": 9}, "no"),
        ({"speedup": 10}, "yes"),  # which Mininet takes no notice of where there is no bw
        ({"delay": "5 parsecs"}, None),  # a drawing that cannot be built
    ],
)
def test_whether_links_are_plain_is_a_fact_of_a_drawing_that_can_be_built(opts, plain):
    """What is not known is no "yes"."""
    drawn = json.loads(LAB_8.read_text())
    drawn["links"][0]["opts"] = opts
    found = facts(TUNED, Topology.loads(json.dumps(drawn), check=False))
    assert found.get("topology.plain_links") == plain


def test_facts_of_a_tuned_network():
    """Every fact of the capture has the value that was typed into it."""
    found = facts(TUNED, Topology.load(LAB_8))
    expected = {
        "topology.nodes": "h1 h2 s1 s2",
        "topology.links": "h1-s1 h2-s2 s1-s2",
        "topology.start_cli": "no",
        "s1-eth2.peer": "s2-eth2",
        "h1.cc": "bbr",
        "h1.rmem": 52428800.0,
        "h1.wmem": 16777216.0,
        "h1.routes": "10.0.0.0/8 dev h1-eth0",
        "h1.sysctl.net.ipv4.tcp_window_scaling": "1",
        "h1-eth0.address": "10.0.0.1/8",
        "h1-eth0.discipline": "fq",
        "h1-eth0.pacing": 25e6,
        "h1-eth0.tso": "off",
        "h1-eth0.gso": "on",
        "h2-eth0.mtu": 1400.0,
        "h2-eth0.up": "yes",
        "h2-eth0.queue": 1000 * 1514.0,
        "h2.routes": "default via 10.0.0.9 dev h2-eth0; 10.0.0.0/8 dev h2-eth0",
        "s1-eth1.discipline": "netem tbf",
        "s1-eth1.delay": 0.02,
        "s1-eth1.loss": 0.001,
        "s1-eth1.rate": 1e9,
        "s1-eth1.burst": 500000.0,
        "s1-eth1.queue": 2500000.0,
        "s1-eth2.discipline": "tbf red",
        "s1-eth2.queue": 2621440.0,
        "s2-eth1.discipline": "none",
        "s2-eth2.discipline": "htb fq_codel",
        "s2-eth2.rate": 1e9,
        "h2-eth0.loss_model": "gemodel 0.028,0.25,1.0,0.0",
        "s1-eth2.options": "red adaptive cell_log 14 max 655360 min 218453 plog 25 wlog 4",
    }
    assert {name: found.get(name) for name in expected} == expected
    assert found["h2-eth0.loss"] == pytest.approx(0.028 / (0.028 + 0.25))
    assert "filter u32 at 1: pref 1 classid 1:10" in found["s2-eth2.options"]
    assert "class 1:10 in 1:1 burst 1600" in found["s2-eth2.options"]
    assert (
        not {"s1-eth1.options", "s2-eth1.rate", "s1-eth2.delay", "s2-eth1.queue", "client.rmem", "lo.mtu", "h1.lo"}
        & found.keys()
    )


@pytest.mark.parametrize(
    "taken",
    [
        lambda nodes: nodes["h1"]["interfaces"]["lo"]["addresses"].append("10.0.0.2/32"),
        lambda nodes: nodes["h1"]["interfaces"]["lo"]["addresses"].append("10.0.0.3/31"),  # of which 10.0.0.2 is one
        lambda nodes: nodes["h1"]["interfaces"]["h1-eth0"]["addresses"].append("10.0.0.2/32"),
    ],
)
def test_who_answers_for_the_target_itself_has_no_way_to_it(taken):
    """Regression: a host that had taken the other's address was measured as if its packets went there."""
    topology = Topology.load(LAB_8)
    assert StateWays(TUNED, topology).fact("h1>h2.way") == "h1-eth0 s1-eth2 s2-eth1"
    assert StateWays(State.loads(changed(taken)), topology).fact("h1>h2.way") is None


def test_a_bridge_that_the_state_calls_none_is_refused():
    """Regression: ways went by the state's word, so a host was plugged past the bottleneck unseen."""
    bridged = State.loads(changed(lambda nodes: nodes["client"]["interfaces"]["s1"].update(kind="bridge")))
    plain = State.loads(changed(lambda nodes: nodes["client"]["interfaces"]["s1"].pop("kind", None)))
    with pytest.raises(StateError, match="s1 is a bridge here, but the state says the opposite"):
        restore_lines(bridged, plain)


def test_a_loopback_interface_that_was_changed_is_told():
    """Regression: h2 took h3's address and a delay for it, was measured so, and nothing seemed to be changed."""
    data = copy.deepcopy(DATA)
    lo = data["nodes"]["h2"]["interfaces"]["lo"]
    lo["addresses"] = ["127.0.0.1/8", "10.0.0.3/32"]
    lo["qdiscs"] = [
        {"kind": "netem", "handle": "8001:", "parent": "root", "options": {"limit": 9, "delay_ns": 150_000_000}}
    ]
    found = facts(State.loads(json.dumps(data)))
    assert found["h2.lo"] == "address 10.0.0.3/32, discipline netem, queue 13626, delay 0.15"
    lo["mtu"], lo["up"], lo["addresses"], lo["qdiscs"] = 1500, False, ["127.0.0.1/8", "127.0.0.2/2"], []
    assert facts(State.loads(json.dumps(data)))["h2.lo"] == "address 127.0.0.2/2, mtu 1500, up no"


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("netem", {"delay_ns": 20_000_000, "limit": 1000}, None),
        ("netem", {"delay_ns": 20_000_000, "limit": 1000, "delay_correlation": 0.25}, "netem delay_correlation 0.25"),
        ("netem", {"rate_bit": 10**9, "rate_overhead": -200, "limit": 1000}, "netem rate_overhead -200"),
        ("tbf", {"rate_bit": 10**9, "burst": 9000, "limit": 9000, "mpu": 64}, "tbf mpu 64"),
        ("codel", {"limit": 1000, "target_us": 5000, "ecn": False}, "codel target_us 5000"),
    ],
)
def test_an_option_that_changes_what_passes_is_a_fact(kind, options, told):
    """What has a fact of its own is not told twice, and what is off is not told."""
    assert facts(bare(kind=kind, **options)).get("s1-eth1.options") == told


def test_nodes_are_the_oldest_shells_that_mininet_keeps(tmp_path):
    """The first process of a name; an editor's file of that name is none."""
    processes = ((30, "bash\0-is\0mininet:h1\0", 9), (20, "bash\0mininet:h1\0", 7), (40, "vim\0about mininet:h9\0", 1))
    for pid, words, started in processes:
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cmdline").write_bytes(words.encode())
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a b) S {'0 ' * 18}{started} 0")
    (tmp_path / "99").mkdir()
    assert node_state.nodes(tmp_path) == {"h1": 20}


@pytest.mark.parametrize(
    ("netem", "loss"),
    [
        ({"loss": 0.02}, 0.02),
        ({"loss_gemodel": [0.028, 0.25, 1, 0]}, 0.028 / 0.278),
        ({"loss_gemodel": [0.1, 0.3, 0.5, 0.01]}, 0.25 * 0.5 + 0.75 * 0.01),
        ({"loss_state": [0.02, 0.98, 0, 1, 0]}, 0.02 / 1.0 / (0.02 + 0.98)),
        ({"loss_state": [0, 1, 0, 1, 0.1]}, 0.1 / 1.1),
        ({"loss_state": [0.1, 0, 0, 1, 0]}, 1),
    ],
)
def test_loss_of_a_model_is_its_mean(netem, loss):
    """The share lost in the long run, from the chain's stationary distribution."""
    assert mean_loss(netem) == pytest.approx(loss)


FIFO = {"kind": "pfifo", "handle": "1:", "parent": "root", "options": {"limit": 9}}


def twice(entries):
    """The first of a list a second time."""
    entries.append(entries[0])


def place(*path):
    """A change of one value somewhere in the data."""
    *where, value = path

    def change(nodes):
        for step in where[:-1]:
            nodes = nodes[step]
        nodes[where[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (place("h1; reboot", {}), "h1; reboot"),
        (place("h1", "sysctls", "kernel.core_pattern", "|/bin/sh"), "kernel.core_pattern"),
        (place("h1", "sysctls", "net.ipv4.tcp_congestion_control", "bbr'; reboot '"), "what the kernel says"),
        (place("h1", "interfaces", "h1-eth0;id", {}), "h1-eth0;id"),
        (place("h1", "interfaces", "h1-eth0", "mtu", "1500; id"), "mtu"),
        (place("h1", "interfaces", "h1-eth0", "mtu", True), "mtu"),
        (place("h1", "interfaces", "h1-eth0", "mtu", 1500.5), "mtu"),
        (place("h1", "interfaces", "h1-eth0", "addresses", ["10.0.0.1/8\n"]), "addresses"),
        (place("h1", "interfaces", "h1-eth0", "addresses", ["10.0.0.999/8"]), "addresses"),
        (place("h1", "interfaces", "h1-eth0", "addresses", ["10.0.0.01/8"]), "addresses"),  # no address for ipaddress
        (place("h2", "routes", 0, "to", "10.0.00.0/24"), "must be to"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", [FIFO, FIFO]), "h1-eth0: has the handle 1: twice"),
        (lambda nodes: twice(nodes["client"]["interfaces"]["s2-eth2"]["classes"]), "s2-eth2: has the class 1:"),
        (place("h1", "interfaces", "h1-eth0", "features", {"tx on; id": True}), "tx on; id"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "handle", "1: root; id"), "handle"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "kind", "fq;id"), "fq;id"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", "limit", -1), "limit"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", "limit", "1 $(id)"), "limit"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", "quantum", [1]), "quantum"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", "weights", 1), "weights"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", ["limit"]), "object"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, "options", "unread", ["$(id)"]), "unread"),
        (place("h2", "interfaces", "h2-eth0", "qdiscs", 0, "options", "loss_gemodel", [0.1, 2, 0, 0]), "loss_gemodel"),
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, {"kind": "plug", "handle": "1:", "parent": "root"}), "plug"),
        (place("client", "interfaces", "s2-eth2", "classes", 0, "options", "burst", 1e300), "burst"),
        (place("client", "interfaces", "s2-eth2", "filters", 0, "options", "match", ["0/0@0; id"]), "match"),
        (place("client", "interfaces", "s2-eth2", "filters", 0, "protocol", "ip; id"), "protocol"),
        (place("client", "interfaces", "h1-eth0", {"up": True, "mtu": 1500}), "both at"),
        (place("h2", "routes", 0, "via", "10.0.0.9`id`"), "via"),
        (place("h2", "routes", 0, "options", {"congctl": "bbr;id"}), "congestion control"),
        (place("h2", "routes", 0, "options", {"initcwnd": "9;id"}), "number"),
        (place("h2", "routes", [{}] * 5000), "found 5,000"),
    ],
)
def test_what_the_agent_would_never_say_is_refused(change, words):
    """A hostile state ends as a sentence that names the place."""
    with pytest.raises(InputError, match=r"^state\.json: ") as caught:
        State.loads(changed(change), "state.json")
    assert words in str(caught.value)


def test_an_interface_may_have_thousands_of_links_and_no_thousands_of_addresses():
    """Lab 23's classes and filters were refused as no list, when a step was judged."""
    data = json.loads(changed(lambda data: None))
    interface = data["nodes"]["client"]["interfaces"]["s2-eth2"]
    interface["filters"] *= 10_000
    assert len(State.loads(json.dumps(data)).nodes["client"].interfaces["s2-eth2"].filters) >= 10_000
    interface["addresses"] = ["10.0.0.1/8"] * 4097
    with pytest.raises(InputError, match=r"client: s2-eth2: may have 4,096 entries of a kind at most, found 4,097"):
        State.loads(json.dumps(data), "state.json")


def inside_each_other(count):
    """Disciplines, each in the one before; and all in the first."""
    chain = [{**FIFO, "handle": f"{number + 1:x}:", "parent": f"{number:x}:"} for number in range(1, count)]
    return [[FIFO, *chain], [FIFO, *({**each, "parent": "1:"} for each in chain)]]


def test_ten_thousands_of_disciplines_take_no_minutes():
    """Regression: what is inside a discipline was searched anew for each; 1,000 took over 20 s.

    Ten times as many take some ten times as long, and not a hundred times.
    """
    took_s = []
    for count in (2_000, 20_000):
        began_s = time.process_time()
        for qdiscs in inside_each_other(count):
            state = State.loads(changed(place("h1", "interfaces", "h1-eth0", "qdiscs", qdiscs)))
            assert facts(state)["h1-eth0.queue"] == 9 * 1514
            assert len(restore_lines(TUNED, state)) > count
            with_facts(state, {"h1-eth0.loss": 0.1, "h1-eth0.queue": 1e5})
        took_s.append(time.process_time() - began_s)
    assert took_s[1] < 40 * took_s[0]


def netem(handle, parent, **options):
    """A netem of a state."""
    return {"kind": "netem", "handle": handle, "parent": parent, "options": {"limit": 1000, **options}}


@pytest.mark.parametrize(
    ("default", "more", "filters", "delay", "loss"),
    [
        (1, [netem("9:", "1:2", delay_ns=30_000_000, loss=0.01)], {}, 0.021, 0.0),  # each way has one
        (1, [], {}, 0.021, 0.0),  # the second class has none, and no packet enters it
        (1, [], {"classid": "1:1"}, 0.001, 0.0),  # with filters, none is known to be empty
        (2, [netem("9:", "1:2", delay_ns=30_000_000, loss=0.5)], {"classid": "1:1"}, 0.021, 0.0),
        (0, [netem("9:", "1:2", delay_ns=30_000_000)], {}, 0.001, 0.0),  # without a default class some pass at once
        (7, [netem("9:", "1:2", delay_ns=30_000_000)], {}, 0.001, 0.0),  # as where it is not there
        (1, [netem("9:", "1:2", delay_ns=30_000_000)], {"classid": "1:"}, 0.001, 0.0),  # or a filter leads past all
        (1, [netem("9:", "1:2", delay_ns=30_000_000), netem("a:", "8:", loss=0.1)], {}, 0.021, 0.1),
        (1, [netem("9:", "1:2", delay_ns=1, loss=0.2), netem("a:", "8:", loss=0.1)], {}, 0.021, 0.1),
    ],
)
def test_delay_and_loss_are_those_that_no_packet_is_spared(default, more, filters, delay, loss):
    """Regression: a netem in a class that no packet entered stood for the delay of the path."""
    options = {"rate_bit": 8000, "ceil_bit": 8000, "burst": 1600, "cburst": 1600}

    def change(nodes):
        interface = nodes["h1"]["interfaces"]["h1-eth0"]
        htb = {"kind": "htb", "handle": "1:", "parent": "7:", "options": {"default": default}}
        inner = netem("8:", "1:1", delay_ns=20_000_000)
        interface["qdiscs"] = [netem("7:", "root", delay_ns=1_000_000), htb, inner, *more]
        interface["classes"] = [
            {"kind": "htb", "classid": f"1:{number}", "parent": "1:", "options": options} for number in (1, 2)
        ]
        match = {"match": ["0a000002/ffffffff@16"]}
        led = {"kind": "u32", "parent": "1:", "pref": 1, "protocol": "ip", "options": match | filters}
        interface["filters"] = [led] if filters else []

    found = facts(State.loads(changed(change)))
    assert (found["h1-eth0.delay"], found.get("h1-eth0.loss", 0.0)) == (delay, loss)


@pytest.mark.parametrize(
    ("bands", "filled", "delay"),
    [(2, ["7:1", "7:2"], 0.02), (3, ["7:3"], None), (3, ["7:1"], None), (3, ["7:2"], 0.02), (1, ["7:1"], 0.02)],
)
def test_a_netem_delays_if_it_stands_in_the_band_of_prio_that_packets_enter(bands, filled, delay):
    """Regression: one in a band that no packet entered stood for the delay; later one that all entered did not."""

    def change(nodes):
        prio = {
            "kind": "prio",
            "handle": "7:",
            "parent": "root",
            "options": {"bands": bands, "priomap": [min(1, bands - 1)] * 16},
        }
        inner = [netem(f"{number + 8:x}:", band, delay_ns=20_000_000) for number, band in enumerate(filled)]
        nodes["h1"]["interfaces"]["h1-eth0"]["qdiscs"] = [prio, *inner]

    assert facts(State.loads(changed(change))).get("h1-eth0.delay") == delay


def test_a_band_that_no_packet_enters_has_no_part_in_rate_queue_and_losses():
    """Regression: a netem there with the lowest rate had the queue, and how it loses stood for all."""

    def change(filters):
        def changed_nodes(nodes):
            port = nodes["h1"]["interfaces"]["h1-eth0"]
            prio = {"bands": 3, "priomap": [1] * 16}
            idle = netem("9:", "7:3", rate_bit=9 * 10**8, loss=0.1, loss_correlation=0.5, jitter_ns=1000, delay_ns=2000)
            tbf = {"rate_bit": 10**9, "burst": 9000, "limit": 30_000}
            port["qdiscs"] = [
                {"kind": "prio", "handle": "7:", "parent": "root", "options": prio},
                {"kind": "tbf", "handle": "8:", "parent": "7:2", "options": tbf},
                idle,
            ]
            port["filters"] = filters

        found = facts(State.loads(changed(changed_nodes)))
        names = ("rate", "queue", "loss_model", "jitter")
        return {name: found[f"h1-eth0.{name}"] for name in names if f"h1-eth0.{name}" in found}

    assert change([]) == {"rate": 1e9, "queue": 30_000}
    leads = {"kind": "matchall", "parent": "7:", "pref": 1, "protocol": "ip", "options": {"classid": "7:3"}}
    assert change([leads]) == {"rate": 9e8, "queue": 1514 * 1000, "loss_model": "correlation 0.5", "jitter": 1e-6}


SOME, ALL = {"match": ["09090909/ffffffff@16"]}, {"match": ["00000000/00000000@0"]}
TBF = ("tbf", {"rate_bit": 10**6, "burst": 9000, "limit": 30_000})


@pytest.mark.parametrize(
    ("discipline", "inner", "filters", "rate"),
    [
        (("htb", {"default": 1}), {}, {}, 10**9),
        (("htb", {"default": 1}), {"1:1": TBF}, {}, 10**6),
        (("htb", {"default": 2}), {"1:1": TBF}, {}, 2 * 10**9),  # no packet enters the first class
        (("htb", {"default": 0}), {}, {}, None),  # nor any of them
        (("htb", {"default": 3}), {}, {}, None),  # a class in which others are takes none by itself
        (("htb", {"default": 0}), {}, {"classid": "1:1", **SOME}, 35 * 10**8),  # as Lab 20 does it
        (("htb", {"default": 5}), {}, {}, 10**6),  # the topmost has nobody to borrow from
        (("htb", {"default": 0x32}), {}, {}, 10**10),  # what is its own rate it asks nobody for
        (("htb", {"default": 0}), {}, {"classid": "1:1", **ALL}, 10**9),
        (("htb", {"default": 1}), {}, {"classid": "1:31", **SOME}, 10**9 + 2 * 10**9 + 5 * 10**8),
        (("htb", {"default": 0x31}), {}, {}, 5 * 10**8),  # its parent's ceiling is lower
        (("prio", {"bands": 2, "priomap": [0] * 16}), {"1:1": TBF}, {}, 10**6),
        (("prio", {"bands": 2, "priomap": [1] * 16}), {"1:1": TBF}, {}, None),
        (("prio", {"bands": 2, "priomap": [0] * 16}), {"1:1": TBF}, {"classid": "1:2", **SOME}, None),
        (("prio", {"bands": 2, "priomap": [0] * 16}), {"1:1": TBF, "1:2": TBF}, {"classid": "1:2", **SOME}, 2 * 10**6),
        (("prio", {"bands": 2, "priomap": [0] * 16}), {"1:1": TBF}, {"classid": "1:2", **ALL}, None),
        (("prio", {"bands": 2, "priomap": [1] * 16}), {"1:1": TBF}, {"classid": "1:1", **ALL}, 10**6),
        (("netem", {"limit": 9, "rate_bit": 10**7, "rate_overhead": 4}), {"1:": TBF}, {}, 10**6),
        (("netem", {"limit": 9, "rate_bit": 10**7, "rate_overhead": -1500}), {}, {}, None),
        (("netem", {"limit": 9, "rate_bit": 10**7, "cell_size": 48, "cell_overhead": -48}), {"1:": TBF}, {}, 10**6),
        (("tbf", {"rate_bit": 10**6, "burst": 125_000, "limit": 9}), {}, {}, 10**6),
        (("tbf", {"rate_bit": 10**6, "burst": 125_001, "limit": 9}), {}, {}, None),  # what is in it passes at once
        (("tbf", {"rate_bit": 8000, "burst": 65_536, "limit": 9}), {}, {}, 8000),  # a large packet has to
        (("tbf", {"rate_bit": 10**6, "burst": 2 * 10**9, "limit": 9, "peakrate_bit": 10**7}), {}, {}, 10**7),
        (
            (
                "tbf",
                {"rate_bit": 10**6, "burst": 2 * 10**9, "limit": 9, "peakrate_bit": 10**7, "peak_burst": 2 * 10**9},
            ),
            {},
            {},
            None,
        ),
        (("htb", {"default": 4}), {}, {}, None),
    ],
)
def test_the_rate_is_what_passes_on_all_ways_that_packets_may_go(discipline, inner, filters, rate):
    """Regression: an htb without a default class, and a filter past a tbf, kept a bottleneck that was not there."""

    def change(nodes):
        port = nodes["h1"]["interfaces"]["h1-eth0"]
        kind, options = discipline
        port["qdiscs"] = [{"kind": kind, "handle": "1:", "parent": "root", "options": options}]
        port["qdiscs"] += [
            {"kind": kind, "handle": f"{number:x}:", "parent": parent, "options": options}
            for number, (parent, (kind, options)) in enumerate(inner.items(), 8)
        ]
        special = {4: ("1:", 10**6, 10**6, 125_001), 5: ("1:", 10**6, 2 * 10**6, 0), 0x32: ("1:3", 10**10, 10**10, 0)}
        number = options.get("default", 0)
        classes = {1: ("1:", 10**9, 10**9, 0), 2: ("1:", 2 * 10**9, 2 * 10**9, 0), 3: ("1:", 5 * 10**8, 5 * 10**8, 0)}
        classes |= {0x31: ("1:3", 8000, 10**9, 0)} | ({number: special[number]} if number in special else {})
        port["classes"] = [
            {
                "kind": "htb",
                "classid": f"1:{number:x}",
                "parent": parent,
                "options": {"rate_bit": rate, "ceil_bit": ceiling, "burst": burst, "cburst": burst},
            }
            for number, (parent, rate, ceiling, burst) in (classes if kind == "htb" else {}).items()
        ]
        port["filters"] = [{"kind": "u32", "parent": "1:", "pref": 1, "protocol": "ip", "options": filters}]
        port["filters"] *= bool(filters)

    assert facts(State.loads(changed(change))).get("h1-eth0.rate") == rate


def fq(handle, parent, **options):
    """An fq of a state, which paces each flow at 8 Mbit/s."""
    return {
        "kind": "fq",
        "handle": handle,
        "parent": parent,
        "options": {"limit": 9, "maxrate_bit": 8_000_000, **options},
    }


@pytest.mark.parametrize(
    ("bands", "filled", "pacing"),
    [(2, ["7:1", "7:2"], 8e6), (3, ["7:3"], None), (3, ["7:1"], None), (3, ["7:2"], 8e6), (1, ["7:1"], 8e6)],
)
def test_an_fq_paces_if_it_stands_in_the_band_of_prio_that_packets_enter(bands, filled, pacing):
    """Regression: an fq in a band that no packet entered stood for the pacing of a sender."""

    def change(nodes):
        prio = {
            "kind": "prio",
            "handle": "7:",
            "parent": "root",
            "options": {"bands": bands, "priomap": [min(1, bands - 1)] * 16},
        }
        inner = [fq(f"{number + 8:x}:", band) for number, band in enumerate(filled)]
        nodes["h1"]["interfaces"]["h1-eth0"]["qdiscs"] = [prio, *inner]

    assert facts(State.loads(changed(change))).get("h1-eth0.pacing") == pacing


def test_an_fq_that_is_told_not_to_pace_does_not():
    """Regression: `fq maxrate … nopacing` stood for the pacing of a sender (tc-fq(8): maxrate needs pacing)."""

    def change(nodes):
        nodes["h1"]["interfaces"]["h1-eth0"]["qdiscs"] = [fq("1:", "root", pacing=False)]

    assert "h1-eth0.pacing" not in facts(State.loads(changed(change)))


@pytest.mark.parametrize(
    ("qdiscs", "classes", "told"),
    [
        ([FIFO], 0, "one"),
        ([netem("1:", "root"), {**FIFO, "handle": "2:", "parent": "1:"}], 0, "one"),
        ([fq("1:", "root")], 0, "several"),
        (
            [netem("1:", "root"), {"kind": "fq_codel", "handle": "2:", "parent": "1:", "options": {"limit": 9}}],
            0,
            "several",
        ),
        ([{"kind": "fq_codel", "handle": "2:", "parent": "root", "options": {"limit": 9, "flows": 1}}], 0, "one"),
        (
            [{"kind": "prio", "handle": "1:", "parent": "root", "options": {"bands": 2, "priomap": [1] * 16}}],
            0,
            "several",
        ),
        ([{"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 1}}], 1, "one"),
        ([{"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 1}}], 2, "several"),
        (
            [{"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 9}}],
            1,
            "several",
        ),  # some pass at once
    ],
)
def test_whether_all_packets_wait_in_one_queue(qdiscs, classes, told):
    """Regression: a queue for each flow at the switch was taken for what pacing does."""

    def change(nodes):
        options = {"rate_bit": 8000, "ceil_bit": 8000, "burst": 1600, "cburst": 1600}
        interface = nodes["h1"]["interfaces"]["h1-eth0"]
        interface["qdiscs"] = qdiscs
        interface["classes"] = [
            {"kind": "htb", "classid": f"1:{number + 1}", "parent": "1:", "options": options}
            for number in range(classes)
        ]

    state = State.loads(changed(change))
    assert StateWays(state, Topology.load(LAB_8)).fact("h1-eth0.queues") == told
    assert "h1-eth0.queues" not in facts(state)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss": 0.001}, None),
        ({"loss_correlation": 0.5, "ecn": True}, None),  # of no loss
        ({"loss": 0.001, "loss_correlation": 0.99}, "correlation 0.99"),
        ({"loss": 0.001, "ecn": True}, "ecn"),
        ({"loss_gemodel": [1e-9, 1e-6, 1.0, 0.0]}, "gemodel 1e-09,1e-06,1.0,0.0"),
        ({"loss_state": [0.2, 0.8, 0.0, 1.0, 0.0], "ecn": True}, "state 0.2,0.8,0.0,1.0,0.0 ecn"),
    ],
)
def test_how_a_netem_loses_is_a_fact_unless_it_is_each_packet_by_chance(options, told):
    """Regression: correlated losses that never came were the same loss of a path."""

    def change(nodes):
        nodes["h1"]["interfaces"]["h1-eth0"]["qdiscs"] = [netem("7:", "root", **options)]

    found = facts(State.loads(changed(change)))
    assert found.get("h1-eth0.loss_model") == told
    assert "h1-eth0.options" not in found or not told


def test_classes_in_classes_are_made_from_the_top_in_linear_time():
    """Whatever their order; one whose parent is nowhere is named."""
    options = {"rate_bit": 8000, "ceil_bit": 8000, "burst": 1600, "cburst": 1600}
    classes = [
        {"kind": "htb", "classid": f"1:{number:x}", "parent": f"1:{number - 1:x}" if number > 1 else "1:"}
        for number in range(1, 10_001)
    ]
    htb = {"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 1}}

    def change(nodes, classes):
        interface = nodes["h1"]["interfaces"]["h1-eth0"]
        interface["qdiscs"], interface["filters"] = [htb], []
        interface["classes"] = [{**each, "options": options} for each in reversed(classes)]

    began_s = time.process_time()
    state = State.loads(changed(lambda nodes: change(nodes, classes)))
    made = [line.split()[8] for _, line in restore_lines(TUNED, state) if line.startswith("tc class")]
    assert made[:2] == ["1:1", "1:2"]
    assert made[-1] == "1:2710"
    assert time.process_time() - began_s < 10
    lost = State.loads(changed(lambda nodes: change(nodes, [*classes[:5], *classes[6:8]])))
    with pytest.raises(StateError, match=r"class 1:8 is in 1:7|class 1:7 is in 1:6, which is not there"):
        restore_lines(TUNED, lost)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '{"format": 2, "nodes": {}}',
        '{"format": 1, "nodes": {}}',
        '{"format": 1, "nodes": {"client": 1}}',
        '{"format": 1, "format": 1, "nodes": {}}',
        "[" * 100_000,
        '{"format": 1, "nodes": {"client": {"interfaces": {}, "sysctls": {"net.ipv4.tcp_ecn": NaN}}}}',
        " " * (9 << 20),
    ],
)
def test_what_is_no_state_is_refused(text):
    """Nothing but a state is taken, and however deep or long it is, the reader ends with a sentence."""
    with pytest.raises(InputError, match=r"^state\.json: "):
        State.loads(text, "state.json")


@pytest.mark.parametrize("name", ["1", "0h", "_x", "h.1-a_b"])
def test_a_node_has_any_name_that_a_drawing_may_give(name):
    """Regression: a host that was called 1 was an error of the grader's."""
    interface = {"up": True, "mtu": 1500}
    nodes = {"client": {"interfaces": {}}, name: {"interfaces": {f"{name}-eth0": interface}}}
    state = State.loads(json.dumps({"format": 1, "nodes": nodes}))
    assert list(state.interfaces()) == [f"{name}-eth0"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1:", "ip", "root"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["limit", "kind", "x"]), inner, max_size=3)
    ),
    max_leaves=4,
)


PLACES = list(places(DATA["nodes"]))[1:]


@pytest.mark.parametrize(
    "path", kinds_of_places(DATA["nodes"], alike=(0, 2)), ids=lambda path: "/".join(map(str, path))
)
def test_a_state_with_an_extreme_anywhere_is_refused_or_safe(path):
    """Regression: a loss of 10^400, which no float holds, ended grading as an error of ours."""
    for value in EXTREMES:
        refused_or_safe(path, value)


@given(st.sampled_from(PLACES), JSON)
def test_a_state_with_anything_anywhere_is_refused_or_safe(path, value):
    """What is taken is written and read alike, and lines made of it hold nothing that means something to a shell."""
    refused_or_safe(path, value)


def refused_or_safe(path, value):
    """A state with a value in one place."""
    try:
        state = State.loads(changed(place(*path, value)))
    except InputError:
        return
    assert State.loads(state.dumps()) == state
    facts(state)
    unlike(TUNED, state)
    for fact in ("s2-eth2.rate", "s2-eth2.queue", "s1-eth1.loss", "s1-eth1.delay", "h1-eth0.pacing", "h1.rmem"):
        with contextlib.suppress(StateError):
            with_facts(state, {fact: 0.5 if fact.endswith("loss") else 70_000.0})
    try:
        lines = restore_lines(TUNED, state)
    except StateError:
        return
    for _, line in lines:
        said = line.removesuffix(" 2>/dev/null || true").removesuffix(" >/dev/null")
        assert re.fullmatch(r"(?:[A-Za-z0-9 .:/@%+_-]|='[a-z0-9 _-]*')+", said), line


# --- changed facts

SHARES = st.integers(0, 10_000).map(lambda n: n / 10_000)


@given(SHARES, st.integers(0, 1_000_000), st.integers(8_000, 10**11), st.integers(1514, 10**9))
def test_a_changed_fact_is_the_fact(loss, delay_us, rate, queue):
    """Whatever is set on a shaped interface is read back as its fact; only a bucket that would not limit shrinks."""
    wanted = {"s1-eth1.loss": loss, "s1-eth1.delay": delay_us / 1e6, "s1-eth1.rate": float(rate)}
    wanted |= {"s1-eth1.queue": float(queue), "s1-eth1.burst": float(min(500_000, max(65_536, rate // 8)))}
    before, after = (
        facts(TUNED),
        facts(with_facts(TUNED, {name: wanted[name] for name in wanted if name != "s1-eth1.burst"})),
    )
    for name, value in wanted.items():
        assert after.get(name, 0.0) == pytest.approx(value)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} <= wanted.keys()


@pytest.mark.parametrize("fact", ["h1.cc", "h1.rmem", "h2.wmem", "h1.sysctl.net.ipv4.tcp_window_scaling"])
def test_settings_of_hosts_are_changed(fact):
    """Congestion control, buffers and sysctls are those of the one host."""
    value = {"cc": "reno", "rmem": 5e6, "wmem": 70_000.0}.get(fact.partition(".")[2], "0")
    state = with_facts(TUNED, {fact: value})
    assert facts(state)[fact] == value
    assert len(list(restore_lines(TUNED, state))) == 1


def test_a_smaller_buffer_lowers_what_it_starts_with():
    """The default of tcp_rmem never exceeds its largest value."""
    state = with_facts(TUNED, {"h1.rmem": 65536.0})
    assert state.nodes["h1"].sysctls["net.ipv4.tcp_rmem"] == "10240 65536 65536"


def test_a_host_sends_with_what_is_set_whatever_its_routes_name():
    """Regression: with congctl bbr in h1's route, a test with CUBIC was one with BBR (Problem 1, 80 points)."""

    def change(nodes):
        nodes["h1"]["routes"] = [{"to": "10.0.0.0/8", "dev": "h1-eth0", "options": {"congctl": "bbr", "window": 9}}]

    state = State.loads(changed(change))
    set_, sends = (with_facts(state, {f"h1.{fact}": "cubic"}) for fact in ("cc", "sends"))
    assert facts(set_)["h1.routes"] == "10.0.0.0/8 dev h1-eth0 congctl bbr window 9"
    assert facts(sends)["h1.routes"] == "10.0.0.0/8 dev h1-eth0 window 9"
    assert facts(set_)["h1.cc"] == facts(sends)["h1.cc"] == "cubic"


def test_loss_goes_above_what_is_there():
    """Where no netem is, one comes to the root and what was there into it."""
    state = with_facts(TUNED, {"s1-eth2.loss": 0.01})
    assert facts(state)["s1-eth2.discipline"] == "netem tbf red"
    assert facts(state)["s1-eth2.rate"] == facts(TUNED)["s1-eth2.rate"]
    lines = [line for _, line in restore_lines(TUNED, state)]
    assert lines[:3] == [
        "tc qdisc del dev s1-eth2 root",
        "tc qdisc add dev s1-eth2 root handle 3: netem limit 100000 loss 1%",
        "tc qdisc add dev s1-eth2 parent 3: handle 1: tbf rate 100000000bit burst 50000 limit 2621440",
    ]


@pytest.mark.parametrize("apart", ["htb", "prio"])
@pytest.mark.parametrize(("fact", "value"), [("loss", 0.002), ("delay", 0.03)])
def test_what_is_set_is_met_by_packets_of_every_class(apart, fact, value):
    """Regression: an experiment's loss came into the first netem, which may be in a class that no packet enters."""
    options = {"rate_bit": 8000, "ceil_bit": 8000, "burst": 1600, "cburst": 1600}

    def change(nodes):
        interface = nodes["h1"]["interfaces"]["h1-eth0"]
        leads = {"default": 2} if apart == "htb" else {"bands": 2, "priomap": [1] * 16}
        top = {"kind": apart, "handle": "1:", "parent": "root", "options": leads}
        ways = [netem(f"{n + 7}:", f"1:{n}", delay_ns=20_000_000, loss=0.001) for n in (1, 2)]
        interface["qdiscs"] = [top, *ways]
        classes = [{"kind": "htb", "classid": f"1:{n}", "parent": "1:", "options": options} for n in (1, 2)]
        interface["classes"] = classes if apart == "htb" else []

    state = State.loads(changed(change))
    assert (facts(state)["h1-eth0.loss"], facts(state)["h1-eth0.delay"]) == (0.001, 0.02)
    assert facts(with_facts(state, {f"h1-eth0.{fact}": value}))[f"h1-eth0.{fact}"] == pytest.approx(value)
    none = facts(with_facts(state, {f"h1-eth0.{fact}": 0.0}))
    assert f"h1-eth0.{fact}" not in none


def test_no_loss_needs_no_netem():
    """Asking for no loss where none is changes nothing, also with no discipline at all."""
    assert with_facts(TUNED, {"s1-eth2.loss": 0.0, "s2-eth1.delay": 0.0, "s2-eth1.pacing": 0.0}) == TUNED


def test_a_model_of_loss_is_replaced():
    """A loss asked for is random loss, whatever model was there; 0 removes the model."""
    state = with_facts(TUNED, {"h2-eth0.loss": 0.003})
    assert facts(state)["h2-eth0.loss"] == pytest.approx(0.003)
    assert "h2-eth0.loss" not in facts(with_facts(TUNED, {"h2-eth0.loss": 0.0}))


@pytest.mark.parametrize("kind", [kind for kind, known in QDISCS.items() if "limit" in known.by_name])
def test_the_queue_of_every_discipline_can_be_set(kind):
    """Packets count 1514 bytes each."""
    needed = {"rate_bit": 10**9, "burst": 5 * 10**5, "min": 1000, "max": 3000, "wlog": 1, "plog": 15, "cell_log": 10}
    options = {name: value for name, value in needed.items() if name in QDISCS[kind].needs} | {"limit": 1000}
    state = with_facts(bare(kind=kind, **options), {"s1-eth1.queue": 3028000.0})
    assert facts(state)["s1-eth1.queue"] == 3028000.0


def test_htb_is_set_as_a_whole():
    """The class at the top has the rate, those in it their shares of it, and every leaf the queue."""
    state = with_facts(TUNED, {"s2-eth2.rate": 5e8, "s2-eth2.queue": 1e6})
    assert facts(state)["s2-eth2.rate"] == 5e8
    assert facts(state)["s2-eth2.queue"] == pytest.approx(1e6, rel=0.001)
    options = {each.classid: each.options for each in state.nodes["client"].interfaces["s2-eth2"].classes}
    assert [options["1:20"][word] for word in ("rate_bit", "ceil_bit")] == [150_000_000, 500_000_000]
    assert "tc qdisc add dev s2-eth2 parent 1:20 handle 2: bfifo limit 1000000" in dict.fromkeys(
        line for _, line in restore_lines(TUNED, state)
    )


@pytest.mark.parametrize(
    ("fact", "value", "words"),
    [
        ("s9-eth1.loss", 0.1, "no interface s9-eth1"),
        ("s1-eth1.mac", 1.0, "no fact that an experiment can set"),
        ("h9.cc", "reno", "no fact that an experiment can set"),
        ("h1.cc", "reno; id", "cannot be set to"),
        ("h1.sysctl.kernel.hostname", "x", "cannot be set to"),
        ("h1.rmem", -5.0, "cannot be set to"),
        ("h1.rmem", float("nan"), "cannot be set to"),
        ("s1-eth1.loss", "much", "cannot be"),
        ("s1-eth1.loss", 1.5, "more than all"),
        ("s1-eth1.delay", float("inf"), "cannot be"),
        ("s2-eth1.rate", 1e9, "nothing that limits its rate"),
        ("s2-eth1.queue", 1e9, "no queue"),
        ("s1-eth1.pacing", 1e9, "no fq"),
    ],
)
def test_what_cannot_be_changed_is_said(fact, value, words):
    """The sentence names the fact and why."""
    with pytest.raises(StateError) as caught:
        with_facts(TUNED, {fact: value})
    assert words in str(caught.value)
    assert fact.partition(".")[0] in str(caught.value)


# --- restoring


def test_equal_states_need_no_line():
    """Nothing is typed where nothing differs, and a MAC address is no difference."""
    other = State.loads(changed(place("h1", "interfaces", "h1-eth0", "mac", "02:00:00:00:00:09")))
    assert restore_lines(TUNED, other) == []
    assert unlike(TUNED, other) == []


def test_only_what_differs_is_set():
    """One interface's disciplines are made anew; all others stay."""
    assert restore_lines(bare(), TUNED) == [
        ("client", "tc qdisc add dev s1-eth1 root handle 1: netem limit 1000 delay 20000us loss 0.1%"),
        ("client", "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 1000000000bit burst 500000 limit 2500000"),
    ]
    assert unlike(bare(), TUNED) == ["s1-eth1: qdiscs are noqueue 0:, not tbf 2:, netem 1:"]


def test_differences_are_told():
    """Each sentence names the place and both values."""
    data = copy.deepcopy(DATA)
    data["nodes"]["h1"]["sysctls"]["net.ipv4.tcp_ecn"] = "1"
    data["nodes"]["h1"]["interfaces"]["h1-eth0"]["mtu"] = 9000
    data["nodes"]["h1"]["interfaces"]["h1-eth0"]["features"]["rx-gro"] = True
    data["nodes"]["h1"]["interfaces"]["h1-eth0"]["qdiscs"][0]["options"]["maxrate_bit"] = 5
    data["nodes"]["h2"]["routes"].pop(0)
    assert unlike(TUNED, State.loads(json.dumps(data))) == [
        "h1: net.ipv4.tcp_ecn is 2, not 1",
        "h1-eth0: mtu is 1500, not 9000",
        "h1-eth0: rx-gro is off, not as it should be",
        "h1-eth0: fq 8001: has maxrate_bit 25000000, not 5",
        "h2: the routes are default via 10.0.0.9 dev h2-eth0; 10.0.0.0/8 dev h2-eth0, not 10.0.0.0/8 dev h2-eth0",
    ]


UNREAD = {"kind": "hfsc", "handle": "1:", "parent": "root", "options": {"unread": ["everything"]}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (place("h1", "interfaces", "h1-eth0", "qdiscs", 0, UNREAD), "h1: h1-eth0: hfsc 1: cannot be repeated"),
        (place("client", "interfaces", "s1-eth1", "qdiscs", 1, "options", "unread", ["linklayer"]), "with linklayer"),
        (place("client", "interfaces", "s1-eth1", "qdiscs", 1, "parent", "7:"), "tbf 2: hangs at 7:"),
        (place("client", "interfaces", "s2-eth2", "classes", 0, "parent", "1:77"), "is in 1:77"),
        (place("client", "interfaces", "s2-eth2", "filters", 0, "options", {"unread": ["attribute 7"]}), "u32 filter"),
        (place("client", "interfaces", "s2-eth2", "filters", 0, "parent", "ffff:"), "packets that come in"),
        (place("client", "interfaces", "s1-eth1", "master", "s9"), "another switch"),
        (place("h1", "interfaces", "ifb0", {"up": True, "mtu": 1500}), "h1 has the interface ifb0"),
        (place("h1", "interfaces", {}), "h1 has no interface h1-eth0"),
        (place("h9", {"interfaces": {}}), "the node h9"),
        (place("h1", "interfaces", "h1-eth0", "features", {"warp": True}), "cannot change warp"),
        (place("h2", "routes", 0, "unread", "several next hops"), "several next hops"),
        (place("client", "interfaces", "s2-eth1", "qdiscs", 0, "kind", "pfifo_fast"), "default"),
    ],
)
def test_what_cannot_be_repeated_is_named(change, words):
    """No setting is dropped silently."""
    with pytest.raises(StateError) as caught:
        restore_lines(TUNED, State.loads(changed(change)))
    assert words in str(caught.value)


def test_of_a_state_that_cannot_be_repeated_the_settings_that_stand_alone_are_tried():
    """Nodes, interfaces, routes, and disciplines that no line makes are left; regression: nothing was tried then."""
    data = json.loads(TUNED.dumps())
    data["nodes"]["h9"] = {"interfaces": {}}
    first = data["nodes"]["h1"]["interfaces"]["h1-eth0"]
    first |= {
        "mtu": 0,
        "addresses": ["10.0.0.77/8"],
        "qdiscs": [{"kind": "dualpi2", "handle": "1:", "parent": "root", "options": {"unread": ["everything"]}}],
    }
    data["nodes"]["h1"]["sysctls"]["net.ipv4.tcp_sack"] = "0"
    data["nodes"]["h1"]["routes"] = []
    wanted = State.loads(json.dumps(data))
    with pytest.raises(StateError):
        restore_lines(TUNED, wanted)
    assert restore_lines(TUNED, settings_alone(TUNED, wanted)) == [
        ("h1", "sysctl -q -w net.ipv4.tcp_sack='0'"),
        ("h1", "ip link set dev h1-eth0 mtu 0"),
    ]


def test_a_class_with_nothing_in_it_holds_what_the_length_was_when_it_was_made():
    """Regression: the queue was told by today's txqueuelen, which the kernel's own queue does not follow."""
    data = json.loads(TUNED.dumps())
    classes = [{"kind": "htb", "classid": "1:1", "parent": "1:", "options": {"rate_bit": 10**9, "ceil_bit": 10**9}}]
    port = data["nodes"]["client"]["interfaces"]["s1-eth2"]
    port |= {"txqlen": 11889, "classes": classes, "filters": []}
    port["qdiscs"] = [{"kind": "htb", "handle": "1:", "parent": "root", "options": {"default": 1}}]
    state = State.loads(json.dumps(data))
    assert facts(state)["s1-eth2.queue"] == 11889 * 1514
    classes[0]["options"]["leaf_limit"] = 1000
    older = State.loads(json.dumps(data))
    assert facts(older)["s1-eth2.queue"] == 1000 * 1514
    assert unlike(state, older) == ["s1-eth2: htb 1:1 has leaf_limit nowhere, not 1000"]
    made = [line for _, line in restore_lines(TUNED, older) if "tc class" in line]
    assert made == [
        "ip link set dev s1-eth2 txqueuelen 1000; "
        "tc class add dev s1-eth2 parent 1: classid 1:1 htb rate 1000000000bit ceil 1000000000bit quantum 1514; "
        "ip link set dev s1-eth2 txqueuelen 11889"
    ]
    wanted = with_facts(older, {"s1-eth2.queue": 5000.0})
    assert facts(wanted)["s1-eth2.queue"] == 5000
    assert "leaf_limit" not in wanted.interfaces()["s1-eth2"][1].classes[0].options


def told(began, place):
    """What is said of the scripts that have begun here: (process, when it started) of each."""
    place.write_text("".join(f"{pid} {started}\n" for pid, started in began))
    return node_state.scripts(place)


def test_a_state_says_how_many_set_env_have_begun_and_whether_one_runs(tmp_path):
    """By the process and the time of its start, since numbers come again; what wrote no such line has ended."""
    ours = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    pid = Path("/proc/self").resolve().name
    assert node_state.scripts(tmp_path / "none") == {}
    assert told([(pid, ours)], tmp_path / "a") == {"set_env": {"begun": 1, "running": True}}
    assert told([(pid, int(ours) + 1)], tmp_path / "a") == {"set_env": {"begun": 1, "running": False}}
    assert told([("x", ""), ("a\0b", "1"), ("4194305", "7")], tmp_path / "a") == {
        "set_env": {"begun": 3, "running": False}
    }


def test_what_set_env_had_to_do_with_a_state_is_kept_and_checked():
    """It is left out where no script has begun, as from every other network."""
    began = replace(TUNED, set_env=SetEnv(2, running=True))
    assert State.loads(began.dumps()) == began
    assert '"set_env"' not in TUNED.dumps()
    data = json.loads(began.dumps())
    for wrong in ({"begun": -1}, {"begun": True}, {"running": 1}, {"begun": None}, {"more": 1}, {"begun": 10**7}):
        with pytest.raises(InputError, match="set_env"):
            State.loads(json.dumps({**data, "set_env": {**data["set_env"], **wrong}}))
    with pytest.raises(InputError, match="set_env"):
        State.loads(json.dumps({**data, "set_env": []}))
