# SPDX-License-Identifier: BSD-3-Clause
"""What a network is set to is read back, restored and found the same, through the real tc, ip, ethtool and sysctl."""

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.errors import StateError
from linklab.exercise.restore import restore_lines, unlike
from linklab.exercise.wanted import with_facts
from linklab.state.facts import facts
from linklab.state.model import State
from linklab.state.ways import StateWays
from linklab.topology import Topology

pytestmark = needs_pocket
AT, IN, IN_TWO = "dev s1-eth2 root", "dev s1-eth2 parent 1: handle 2:", "dev s1-eth2 parent 2: handle 3:"
TBF = f"tc qdisc add {AT} handle 1: tbf rate 1gbit burst 500000 limit 26214400"
DISCIPLINES = {
    "netem delay": [f"tc qdisc add {AT} handle 1: netem delay 20ms"],
    "netem of microseconds": [f"tc qdisc add {AT} netem delay 90us"],
    "netem jitter": [f"tc qdisc add {AT} netem delay 100ms 10ms 25%"],
    "netem correlated": [f"tc qdisc add {AT} netem delay 100ms 10ms 99.99%"],
    "netem loss": [f"tc qdisc add {AT} netem loss 0.01% delay 30ms limit 100000"],
    "netem correlated loss": [f"tc qdisc add {AT} netem loss 50% 50%"],
    "netem gemodel": [f"tc qdisc add {AT} netem loss gemodel 2.8% 25%"],
    "netem gemodel of four": [f"tc qdisc add {AT} netem loss gemodel 2.8% 25% 90% 1%"],
    "netem states": [f"tc qdisc add {AT} netem loss state 2% 25% 10% 3% 4%"],
    "netem ecn": [f"tc qdisc add {AT} netem loss 2% ecn"],
    "netem duplicate": [f"tc qdisc add {AT} netem duplicate 50%"],
    "netem corrupt": [f"tc qdisc add {AT} netem corrupt 0.01%"],
    "netem reorder": [f"tc qdisc add {AT} netem delay 10ms reorder 25% 50%"],
    "netem gap": [f"tc qdisc add {AT} netem delay 10ms reorder 25% gap 5"],
    "netem rate": [f"tc qdisc add {AT} netem rate 10mbit 10 20 -5"],
    "netem fast": [f"tc qdisc add {AT} netem rate 40gbit"],
    "netem slot": [f"tc qdisc add {AT} netem slot 1ms 2ms packets 5 bytes 5000"],
    "netem changed": [f"tc qdisc add {AT} netem delay 10ms reorder 25% 50%", f"tc qdisc change {AT} netem loss 1%"],
    "tbf": [f"tc qdisc add {AT} tbf rate 10gbit burst 5000000 limit 15000000"],
    "tbf peak": [f"tc qdisc add {AT} tbf rate 777mbit burst 50001 latency 50ms peakrate 1gbit mtu 2000 overhead 10"],
    "tbf slow": [f"tc qdisc add {AT} tbf rate 64kbit burst 1999 limit 12345"],
    "netem tbf": [
        f"tc qdisc add {AT} handle 1: netem delay 20ms",
        f"tc qdisc add {IN} tbf rate 1gbit burst 500000 limit 1",
    ],
    "netem tbf red": [
        f"tc qdisc add {AT} handle 1: netem delay 20ms",
        f"tc qdisc add {IN} tbf rate 1gbit burst 500000 limit 2621440",
        f"tc qdisc add {IN_TWO} red limit 2621440 min 655360 max 1966080 avpkt 1500 burst 728 bandwidth 1gbit"
        " probability 0.02",
    ],
    "tbf red": [
        TBF,
        f"tc qdisc add {IN} red limit 26214400 max 6553600 min 2184533 burst 54 avpkt 68000 bandwidth 1gbit adaptive",
    ],
    "red": [f"tc qdisc add {AT} red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10mbit ecn nodrop"],
    "tbf fq_codel": [TBF, f"tc qdisc add {IN} fq_codel limit 17476 target 5ms interval 100ms flows 2"],
    "fq_codel": [f"tc qdisc add {AT} fq_codel ce_threshold 1ms noecn memory_limit 1000000 quantum 300 drop_batch 7"],
    "tbf codel": [TBF, f"tc qdisc add {IN} codel limit 17476 target 5ms interval 100ms"],
    "codel": [f"tc qdisc add {AT} codel target 999us interval 77777us ecn ce_threshold 3333us"],
    "tbf pie": [TBF, f"tc qdisc add {IN} pie limit 17476 target 22ms tupdate 5ms alpha 2 beta 25 dq_rate_estimator"],
    "pie": [f"tc qdisc add {AT} pie target 12345us tupdate 15ms ecn bytemode"],
    "fq_pie": [f"tc qdisc add {AT} fq_pie flows 64 target 22ms quantum 3000 memory_limit 2000000 ecn_prob 20 ecn"],
    "sfq": [TBF, f"tc qdisc add {IN} sfq perturb 10 divisor 2"],
    "sfq depth": [f"tc qdisc add {AT} sfq limit 100 quantum 3000 depth 50 headdrop"],
    "fq": [f"tc qdisc add {AT} fq maxrate 25mbit"],
    "fq of all": [
        f"tc qdisc add {AT} fq limit 500 flow_limit 50 buckets 512 orphan_mask 511 quantum 3000 initial_quantum 15000"
        " low_rate_threshold 1mbit refill_delay 20ms timer_slack 20us horizon 5s horizon_cap nopacing ce_threshold 2ms"
    ],
    "pie of a microsecond": [f"tc qdisc add {AT} pie target 1us tupdate 1ms"],
    "htb with a queue of an earlier length": [
        f"tc qdisc add {AT} handle 1: htb default 1",
        "tc class add dev s1-eth2 parent 1: classid 1:1 htb rate 10mbit",
        "ip link set dev s1-eth2 txqueuelen 20",
        "tc class add dev s1-eth2 parent 1: classid 1:2 htb rate 10mbit",
        "ip link set dev s1-eth2 txqueuelen 30",
    ],
    "pfifo": [f"tc qdisc add {AT} pfifo limit 100"],
    "bfifo": [f"tc qdisc add {AT} bfifo limit 100000"],
    "pfifo_head_drop": [f"tc qdisc add {AT} pfifo_head_drop limit 10"],
    "pfifo_fast": [f"tc qdisc add {AT} pfifo_fast"],
    "prio": [
        f"tc qdisc add {AT} handle 1: prio bands 4 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 3",
        "tc qdisc add dev s1-eth2 parent 1:2 handle 20: tbf rate 10mbit burst 5000 limit 50000",
    ],
    "cake": [f"tc qdisc add {AT} cake bandwidth 100mbit"],
    "cake of all": [
        f"tc qdisc add {AT} cake bandwidth 100mbit diffserv4 dual-srchost nat wash ack-filter rtt 50ms overhead 18"
        " mpu 64 ptm memlimit 1000000 no-split-gso fwmark 0xff"
    ],
    "htb": [
        f"tc qdisc add {AT} handle 1: htb default 20 r2q 1000",
        "tc class add dev s1-eth2 parent 1:0 classid 1:1 htb rate 1gbit ceil 1gbit quantum 1514",
        "tc class add dev s1-eth2 parent 1:1 classid 1:10 htb rate 700mbit ceil 1gbit prio 1 quantum 3000",
        "tc class add dev s1-eth2 parent 1:1 classid 1:20 htb rate 12345kbit ceil 1gbit burst 9k overhead 4",
        "tc qdisc add dev s1-eth2 parent 1:10 handle 10: fq_codel",
        "tc filter add dev s1-eth2 protocol ip parent 1:0 prio 1 u32 match ip src 10.0.0.1 flowid 1:10",
        "tc filter add dev s1-eth2 protocol ip parent 1:0 prio 1 u32 match ip dport 80 0xffff match ip protocol 6 0xff"
        " flowid 1:20",
        "tc filter add dev s1-eth2 protocol ip parent 1:0 prio 2 flower src_ip 10.0.0.3 dst_ip 10.0.0.0/24 ip_proto tcp"
        " dst_port 5201 classid 1:20",
        "tc filter add dev s1-eth2 protocol ip parent 1:0 prio 3 handle 6/0xff fw classid 1:10",
        "tc filter add dev s1-eth2 protocol all parent 1:0 prio 4 matchall classid 1:20",
    ],
    "hooks": ["tc qdisc add dev s1-eth2 clsact", f"tc qdisc add {AT} fq"],
}
SWITCH_PORTS = ("s1-eth1", "s1-eth2", "s2-eth1", "s2-eth2")
BATCHES = [list(DISCIPLINES)[i :: -(-len(DISCIPLINES) // 4)] for i in range(-(-len(DISCIPLINES) // 4))]
LINKS = {
    "all": [("client", "linklab link set any any rate 10mbit delay 20ms loss 1% queue 64kb at s1-eth2 >/dev/null")],
    "pairs": [
        ("client", "linklab link set any any delay 3ms at s1:s1-eth2 >/dev/null"),
        ("client", "linklab link set h1 h2 rate 100mbit delay 5ms jitter 1ms distribution normal ecn 5ms >/dev/null"),
        ("client", "linklab link set any 10.9.9.9 loss gemodel 1% 25% 90% 0.1% at s1-eth2 >/dev/null"),
    ],
    "hosts": [("h1", "linklab link set any h2 rate 1gbit queue 10ms orphan off at h1-eth0 >/dev/null")],
    "beside a hook": [
        ("client", "tc qdisc add dev s1-eth2 clsact"),
        ("client", "tc filter add dev s1-eth2 ingress matchall action pass"),
        ("client", "linklab link set any any delay 3ms at s1:s1-eth2 >/dev/null"),
    ],
    "after netem": [
        ("client", "tc qdisc add dev s1-eth1 root netem delay 2ms"),
        ("client", "tc qdisc del dev s1-eth1 root"),
        ("client", "linklab link set any any delay 3ms duplicate 30% at s1-eth1 >/dev/null"),
    ],
    "many": [
        (
            "client",
            "(echo from,to,delay; seq 700 | awk '{printf \"any,10.5.%d.%d,%dus\\n\", $1 / 250, $1 % 250, $1}') | "
            "linklab link load - at s1-eth2 >/dev/null",
        )
    ],
}
HOSTS = {
    "sysctls": [
        ("h1", "sysctl -q -w net.ipv4.tcp_congestion_control=bbr net.ipv4.tcp_rmem='10240 87380 52428800'"),
        ("h2", "echo 0 > /proc/sys/net/ipv4/tcp_window_scaling"),
        ("client", "sysctl -q -w net.core.default_qdisc=fq net.core.rmem_max=99999999"),
    ],
    "links": [("h1", "ip link set dev h1-eth0 mtu 900"), ("client", "ip link set dev s1-eth1 txqueuelen 50 down")],
    "offloads": [("h1", "ethtool -K h1-eth0 tso off gso off gro on"), ("h2", "ethtool -K h2-eth0 sg off >/dev/null")],
    "addresses": [
        ("h1", "ifconfig h1-eth0 10.0.5.1 netmask 255.255.0.0"),
        ("h2", "ip addr add 10.1.0.2/24 dev h2-eth0"),
    ],
    "routes": [
        ("h1", "ip route add default via 10.0.0.9"),
        ("h1", "ip route add 10.5.0.0/16 via 10.0.0.8 metric 50 initcwnd 30 rto_min 50ms congctl bbr"),
        ("h1", "ip route change 10.0.0.0/8 dev h1-eth0 initcwnd 20 quickack 1 src 10.0.0.1"),
        ("h2", "ip route del 10.0.0.0/8"),
    ],
    "queues": [
        ("h1", "tc qdisc add dev h1-eth0 root fq maxrate 25mbit"),
        ("h2", "tc qdisc add dev lo root netem delay 1ms"),
    ],
}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """One network for all tests here; each leaves it as it was at `start`."""
    folder = tmp_path_factory.mktemp("state")
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=folder) as running:
        running.folder = folder
        running.first = after(running, [])
        yield running
        assert unlike(after(running, []), running.first) == []


def after(network, lines):
    """The state after the lines; all must work and say nothing."""
    at: dict[str, list[str]] = {}
    for terminal, line in lines:
        at.setdefault(terminal, []).append(line)
    typed = [(terminal, " && ".join(f"{{ {line}; }}" for line in lines)) for terminal, lines in at.items()]
    for terminal, line in [*typed, ("client", "python3 -m linklab.agent.node_state > /lab/state.json")]:
        (network.folder / "lines.sh").write_text(f"{line}\n")  # some are longer than what can be typed
        done = type_(network, ". /lab/lines.sh", terminal)
        assert (done.exit_status, done.output.strip()) == (0, ""), line
    return State.loads((network.folder / "state.json").read_text())


def there_and_back(network, lines):
    """The state after the lines, and after undoing them and restoring it, which does not use the lines."""
    made = after(network, lines)
    assert unlike(made, network.first) != []
    undone = after(network, restore_lines(made, network.first))
    assert unlike(undone, network.first) == []
    again = after(network, restore_lines(undone, made))
    after(network, restore_lines(again, network.first))
    return made, again


@pytest.mark.parametrize("names", BATCHES, ids=", ".join)
def test_every_discipline_of_the_labs_is_restored(network, names):
    """Read, deleted, set by our lines and read again, it is the same to the last option."""
    lines = []
    for interface, name in zip(SWITCH_PORTS, names, strict=False):
        lines += [("client", line.replace("s1-eth2", interface)) for line in DISCIPLINES[name]]
    made, again = there_and_back(network, lines)
    assert again.nodes["client"].interfaces == made.nodes["client"].interfaces


@pytest.mark.parametrize("name", HOSTS)
def test_settings_of_hosts_are_restored(network, name):
    """Sysctls, links, offloads, addresses, routes and queues of hosts come back as they were read."""
    made, again = there_and_back(network, HOSTS[name])
    assert again == made


@pytest.mark.parametrize("name", [name for name in LINKS if name != "beside a hook"])
def test_links_by_departure_time_are_restored(network, name):
    """Read from the kernel's maps, taken away, set by our lines and read again, they are the same."""
    made, again = there_and_back(network, LINKS[name])
    assert again == made
    assert sum(len(interface.links) for _, interface in made.interfaces().values()) == {"many": 700, "pairs": 3}.get(
        name, 1
    )


def test_a_filter_beside_links_is_told_of(network):
    """One for what comes in cannot be repeated, so neither is what stands beside it."""
    made = after(network, LINKS["beside a hook"])
    assert [each.kind for each in made.nodes["client"].interfaces["s1-eth2"].filters] == ["matchall"]
    assert [each.kind for each in made.nodes["client"].interfaces["s1-eth2"].qdiscs] == ["clsact"]
    with pytest.raises(StateError, match="packets that come in"):
        restore_lines(network.first, made)
    after(network, [("client", "linklab link clear >/dev/null; tc qdisc del dev s1-eth2 clsact")])


def test_a_link_has_the_facts_of_netem_that_does_the_same(network):
    """Both by all that leaves an interface, and by what happens from h1 to h2."""
    told = {}
    topology = Topology.load(TOPOLOGY)
    typed = {
        "netem": [
            "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms 2ms loss 1% duplicate 30% corrupt 0.1%",
            "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10mbit burst 5000 limit 64000",
        ],
        "edt": [
            "linklab link set any any rate 10mbit delay 20ms jitter 2ms loss 1% duplicate 30% corrupt 0.1% queue 64kb "
            "at s1-eth2 >/dev/null"
        ],
        "pair": [
            "linklab link set h1 h2 rate 10mbit delay 20ms jitter 2ms loss 1% duplicate 30% corrupt 0.1% queue 64kb "
            "at s1-eth2 >/dev/null"
        ],
    }
    names = ("delay", "jitter", "loss", "duplicate", "corrupt", "rate", "queue")
    for backend, lines in typed.items():
        made = after(network, [("client", line) for line in lines])
        ways = StateWays(made, topology)
        where = "s1-eth2.h1>h2" if backend == "pair" else "s1-eth2"
        told[backend] = [facts(made, topology)[f"{where}.{name}"] for name in names]
        assert [ways.fact(f"h1>h2.{name}") for name in names] == told[backend]
        assert [ways.fact(f"h2>h1.{name}") for name in names] == [None] * len(names)
        after(network, restore_lines(made, network.first))
    assert told["netem"] == [0.02, 0.002, 0.01, 0.3, 0.001, 1e7, 64000]
    assert told["netem"] == told["edt"] == told["pair"]


def test_experiments_change_links_as_they_change_netem(network):
    """Loss and delay of all that leaves, rate and queue of those that have one."""
    lines = ["set any h2 rate 10mbit delay 20ms at s1-eth2", "set any any delay 1ms loss 1% at s1-eth1"]
    now = after(network, [("client", f"linklab link {line} >/dev/null") for line in lines])
    wanted = {"s1-eth2.delay": 0.03, "s1-eth2.loss": 0.02, "s1-eth2.rate": 2e7, "s1-eth2.queue": 1e5, "s1-eth1.loss": 0}
    asked = with_facts(now, wanted)
    seen = after(network, restore_lines(now, asked))
    assert unlike(seen, asked) == []
    found = facts(seen)
    assert (found["s1-eth2.delay"], found["s1-eth2.loss"]) == (0.03, 0.02)
    assert (found["s1-eth2.any>h2.rate"], found["s1-eth2.any>h2.queue"]) == (2e7, 1e5)
    assert found["s1-eth1.delay"] == 0.001
    assert "s1-eth1.loss" not in found
    after(network, restore_lines(seen, network.first))


def test_more_links_than_a_state_holds_are_counted(network):
    """1,001 at an interface."""
    load = LINKS["many"][0][1].replace("seq 700", "seq 1001")
    made = after(network, [("client", load)])
    assert made.nodes["client"].interfaces["s1-eth2"].unread == "1001 links by departure time"
    with pytest.raises(StateError, match="1001 links by departure time cannot be repeated, at most 1000"):
        restore_lines(network.first, made)
    assert unlike(after(network, restore_lines(made, network.first)), network.first) == []


def test_facts_are_what_was_typed(network):
    """Values come back in base units, not as the kernel rounds them."""
    lines = [
        f"tc qdisc add {AT} handle 1: netem delay 15ms 1ms loss 0.01%",
        f"tc qdisc add {IN} tbf rate 10gbit burst 5000000 limit 15000000",
    ]
    made, _ = there_and_back(network, [("client", line) for line in lines])
    found = facts(made)
    expected = {"delay": 0.015, "jitter": 0.001, "loss": 0.0001, "rate": 1e10, "burst": 5e6, "queue": 1.5e7}
    assert {name: found[f"s1-eth2.{name}"] for name in expected} == expected
    assert found["s1-eth2.discipline"] == "netem tbf"


def test_changed_facts_hold_in_the_network(network):
    """Every fact that an experiment can set is what is read back after restoring."""
    now = after(network, [("client", TBF), ("h2", "tc qdisc add dev h2-eth0 root netem loss gemodel 1% 10%")])
    wanted = {
        "h1.cc": "reno",
        "h1.rmem": 5e6,
        "h2.wmem": 65536.0,
        "h1.sysctl.net.ipv4.tcp_sack": "0",
        "s1-eth2.loss": 0.002,
        "s1-eth2.delay": 0.0345,
        "s1-eth2.rate": 7e8,
        "s1-eth2.queue": 1234567.0,
        "h1-eth0.pacing": 4e7,
        "h2-eth0.loss": 0.03,
        "s2-eth1.delay": 0.002,
    }
    asked = with_facts(now, wanted)
    seen = after(network, restore_lines(now, asked))
    assert unlike(seen, asked) == []
    assert {name: facts(seen)[name] for name in wanted} == pytest.approx(wanted)
    assert unlike(after(network, restore_lines(seen, network.first)), network.first) == []


@pytest.mark.parametrize(
    ("line", "undo", "words"),
    [
        (f"tc qdisc add {AT} handle 1: hfsc default 1", f"tc qdisc del {AT}", "hfsc 1:"),
        (f"tc qdisc add {AT} sfq redflowlimit 100000 min 8000 max 60000", f"tc qdisc del {AT}", "redflowlimit"),
        (
            "tc qdisc add dev s1-eth2 ingress; tc filter add dev s1-eth2 ingress protocol ip matchall action drop",
            "tc qdisc del dev s1-eth2 ingress",
            "packets that come in",
        ),
        (
            f"tc qdisc add {AT} handle 1: prio; tc filter add dev s1-eth2 parent 1: pref 9 matchall action drop",
            f"tc qdisc del {AT}",
            "matchall filter of priority 9",
        ),
        ("ip link add s1-eth9 type ifb", "ip link del s1-eth9", "client has the interface s1-eth9"),
    ],
)
def test_what_cannot_be_repeated_is_read_and_named(network, line, undo, words):
    """No setting of a student is dropped silently."""
    made = after(network, [("client", line)])
    after(network, [("client", undo)])
    with pytest.raises(StateError, match=words):
        restore_lines(network.first, made)


def test_a_node_is_its_oldest_process(network):
    """A program that only says it is a node is none."""
    type_(network, "python3 -c 'import time; time.sleep(9)' mininet:h2 &", "h1")
    assert facts(after(network, []))["h2-eth0.address"] == "10.0.0.2/8"


def test_a_shaper_without_a_queue_inside_is_told_of(network):
    """It lets no packet through; regression: the state was that of a sound one, which was measured in its place."""
    inside = "dev s1-eth2 parent 1:1"
    made = after(network, [("client", TBF), ("client", f"tc qdisc add {inside} bfifo limit 9000")])
    assert [each.kind for each in made.interfaces()["s1-eth2"][1].qdiscs] == ["tbf", "bfifo"]
    made = after(network, [("client", f"tc qdisc del {inside}")])
    (tbf,) = made.interfaces()["s1-eth2"][1].qdiscs
    assert tbf.options["unread"] == ["no queue inside"]
    with pytest.raises(StateError, match="s1-eth2: tbf 1: with no queue inside cannot be repeated"):
        restore_lines(network.first, made)
    after(network, [("client", "tc qdisc del dev s1-eth2 root")])


HTB = "tc qdisc add dev s1-eth2 root handle 1: htb default 1"
CLASS = "tc class add dev s1-eth2 parent {} classid 1:{} htb rate 10mbit"
LENGTH = "ip link set dev s1-eth2 txqueuelen {}"


@pytest.mark.parametrize(
    "lines",
    [
        [CLASS.format("1:", 1), "tc qdisc add dev s1-eth2 parent 1:1 pfifo", "tc qdisc del dev s1-eth2 parent 1:1"],
        [CLASS.format("1:", 1), CLASS.format("1:1", 2), "tc class del dev s1-eth2 classid 1:2"],
    ],
    ids=["a discipline", "the last class below"],
)
def test_a_queue_that_came_back_when_something_was_deleted_has_an_unknown_length(network, lines):
    """Regression: the kernel shows such a queue to nobody, and today's txqueuelen was taken for its length."""
    typed = [LENGTH.format(20), HTB, *lines, LENGTH.format(999)]
    made = after(network, [("client", line) for line in typed])
    (inside,) = made.interfaces()["s1-eth2"][1].classes
    assert inside.options["unread"] == ["a queue of unknown length"]
    with pytest.raises(StateError, match="with a queue of unknown length cannot be repeated"):
        restore_lines(network.first, made)
    usual = after(network, [("client", LENGTH.format(1000))])
    assert "unread" not in usual.interfaces()["s1-eth2"][1].classes[0].options
    after(network, [("client", "tc qdisc del dev s1-eth2 root")])
