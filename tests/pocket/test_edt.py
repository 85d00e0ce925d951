# SPDX-License-Identifier: BSD-3-Clause
"""Links by departure time in a pocket: each figure against the formula that it should have."""

import json
import re
import statistics
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.exercise.instance import encode_environment
from linklab.linux import edt_maps
from linklab.topology import Topology

pytestmark = needs_pocket
PACKAGE = "/opt/linklab"
GOODPUT = 1448 / 1514
"""Payload of a full frame with timestamps (RFC 7323), as a share of what the shaper counts."""
ROUTED = {
    "hosts": [
        {"number": "1", "x": "1", "y": "1", "opts": {"hostname": "h1", "nodeNum": 1, "defaultRoute": "10.0.0.254"}},
        {"number": "2", "x": "1", "y": "1", "opts": {"hostname": "h2", "nodeNum": 2, "defaultRoute": "10.0.1.254"}},
    ],
    "switches": [
        {"number": "1", "x": "1", "y": "1", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}},
        {"number": "3", "x": "1", "y": "1", "opts": {"hostname": "r3", "nodeNum": 3, "switchType": "legacyRouter"}},
    ],
    "links": [
        {"src": "h1", "dest": "s1", "opts": {}},
        {"src": "s1", "dest": "r3", "opts": {}},
        {"src": "h2", "dest": "r3", "opts": {}},
    ],
    "controllers": [],
    "version": "2",
}
"""h1 - s1 - r3 - h2: a switch, and a router behind it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working folder of the network."""
    return tmp_path_factory.mktemp("edt")


@pytest.fixture(scope="module")
def network(folder):
    """The routed network, with addresses of both versions."""
    with PocketEngine().start(Topology.loads(json.dumps(ROUTED), "routed"), workdir=folder, profile="ideal") as running:
        for text, node in (
            ("ip addr add 10.0.0.1/24 dev h1-eth0; ip addr del 10.0.0.1/8 dev h1-eth0", "h1"),
            ("ip addr add 10.0.1.2/24 dev h2-eth0; ip addr del 10.0.0.2/8 dev h2-eth0", "h2"),
            ("ip addr add 10.0.0.254/24 dev r3-eth0; ip addr add 10.0.1.254/24 dev r3-eth1", "r3"),
            ("ip -6 addr add 2001:db8:1::fe/64 dev r3-eth0 nodad", "r3"),
            ("ip -6 addr add 2001:db8:2::fe/64 dev r3-eth1 nodad", "r3"),
            ("sysctl -qw net.ipv6.conf.all.forwarding=1", "r3"),
            ("ip -6 addr add 2001:db8:1::1/64 dev h1-eth0 nodad; ip -6 route add default via 2001:db8:1::fe", "h1"),
            ("ip -6 addr add 2001:db8:2::2/64 dev h2-eth0 nodad; ip -6 route add default via 2001:db8:2::fe", "h2"),
            ("ip route replace default via 10.0.0.254", "h1"),
            ("ip route replace default via 10.0.1.254", "h2"),
            ("iperf3 -s -D", "h2"),
            ("ping -c 1 10.0.1.2; ping -c 1 2001:db8:2::2", "h1"),
        ):
            assert type_(running, text, node).exit_status == 0, text
        yield running


@pytest.fixture(autouse=True)
def cleared(network):
    """No link is left for the next test."""
    yield
    type_(network, "linklab link clear")
    assert "ed7:" not in type_(network, "tc qdisc show", "r3").output
    assert type_(network, "tc filter show dev r3-eth1 egress", "r3").output == ""


def link(network, words: str, node: str = "h1") -> str:
    """What `linklab link …` prints; it must succeed."""
    done = type_(network, f"linklab link {words}", node, deadline_s=300)
    assert done.exit_status == 0, done.output
    return done.output


def stats(network) -> dict:
    """Counters of the one link from h1 to h2."""
    (found,) = json.loads(link(network, "stats h1 h2 --json"))
    return found


def ping_ms(network, options: str) -> list[float]:
    """Round trips from h1 to h2."""
    shown = type_(network, f"ping {options}", "h1", deadline_s=300).output
    return [float(found) for found in re.findall(r"time=([\d.]+) ms", shown)]


def udp(network, folder: Path, options: str) -> dict:
    """End of an iperf3 test by UDP."""
    type_(network, f"iperf3 -c 10.0.1.2 -u {options} -J > udp.json", "h1", deadline_s=300)
    return json.loads((folder / "udp.json").read_text())["end"]


def tcp(network, folder: Path, options: str) -> dict:
    """The same by TCP."""
    done = type_(network, f"iperf3 -c 10.0.1.2 {options} -J > tcp.json", "h1", deadline_s=300)
    assert done.exit_status == 0, done.output
    return json.loads((folder / "tcp.json").read_text())


def test_a_delay_is_what_was_asked_for(network):
    """20 ms within 0.1 ms, in one direction: at the first router, for IPv4 and for IPv6 alike."""
    bare4, bare6 = (statistics.mean(ping_ms(network, f"-c 20 -i 0.1 {to}")) for to in ("10.0.1.2", "2001:db8:2::2"))
    assert link(network, "set h1 h2 delay 20ms") == "h1 → h2 at r3:r3-eth1: delay 20ms\n"
    assert statistics.mean(ping_ms(network, "-c 50 -i 0.1 10.0.1.2")) == pytest.approx(20 + bare4, abs=0.1)
    assert statistics.mean(ping_ms(network, "-c 50 -i 0.1 2001:db8:2::2")) == pytest.approx(20 + bare6, abs=0.1)
    assert stats(network)["packets"] == 100
    assert "h1 → h2 at r3:r3-eth1: removed" in link(network, "del h1 h2")
    assert statistics.mean(ping_ms(network, "-c 5 -i 0.1 10.0.1.2")) < 1


@pytest.mark.parametrize(("rate", "bits", "seconds"), [("100mbit", 1e8, 10), ("1gbit", 1e9, 2)])
def test_a_rate_is_filled_and_not_exceeded(network, folder, rate, bits, seconds):
    """At least 95 % of what the shaper allows a full frame's payload, and not more."""
    link(network, f"set h1 h2 rate {rate} queue 50ms")
    goodput = tcp(network, folder, f"-t {seconds}")["end"]["sum_received"]["bits_per_second"]
    assert 0.95 * bits * GOODPUT <= goodput <= bits * GOODPUT
    found = stats(network)
    assert found["longest_queue_ns"] <= 50_000_000
    assert found["dropped"]["queue"] > 0


def test_one_direction_alone_is_shaped(network, folder):
    """The way back has no link."""
    link(network, "set h1 h2 rate 10mbit queue 50ms")
    assert tcp(network, folder, "-t 1 -R")["end"]["sum_received"]["bits_per_second"] > 1e9


def test_tcp_retransmits_nothing_with_the_default_queue(network, folder):
    """100 Mbps and 5 ms for 20 s; the paper's program lost 1,675 packets a minute to fq's own limit."""
    link(network, "set h1 h2 rate 100mbit delay 5ms")
    assert tcp(network, folder, "-t 20")["end"]["sum_sent"]["retransmits"] == 0
    assert stats(network)["dropped"] == {"queue": 0, "loss": 0}
    shown = type_(network, "tc -s qdisc show dev r3-eth1", "r3").output
    assert re.search(r"qdisc fq ed7: .*\n Sent \d+ bytes \d+ pkt \(dropped 0, overlimits 0", shown)


def test_a_loss_is_that_of_the_binomial(network, folder):
    """1 % of 20,000 datagrams: 200 ± 36 at 99 % (2.576 standard deviations of 14.07), counted by both sides."""
    link(network, "set h1 h2 loss 1%")
    end = udp(network, folder, "-b 16M -l 1000 -t 10 --get-server-output")
    assert end["sum"]["packets"] == pytest.approx(20_000, rel=0.01)
    assert 164 <= end["sum"]["lost_packets"] <= 236
    assert stats(network)["dropped"]["loss"] == end["sum"]["lost_packets"]


def test_loss_in_bursts_is_that_of_gilbert_and_elliott(network, folder):
    """p 1 %, r 25 %: p/(p+r) = 3.85 % lost in bursts of 1/r = 4; within 25 % over 20,000 datagrams."""
    link(network, "set h1 h2 loss gemodel 1% 25%")
    end = udp(network, folder, "-b 16M -l 1000 -t 10")
    assert end["sum"]["lost_packets"] / end["sum"]["packets"] == pytest.approx(0.0385, rel=0.25)


@pytest.mark.parametrize("distribution", ["uniform", "normal"])
def test_a_jitter_has_its_moments(network, distribution):
    """Mean 20 ms; standard deviation of the jitter, or of a uniform one over ± jitter: its 1/√3.  2,000 samples."""
    link(network, f"set h1 h2 delay 20ms jitter 2ms distribution {distribution}")
    found = ping_ms(network, "-c 2000 -i 0.1 10.0.1.2")
    assert len(found) == 2000
    deviation = 2 / 3**0.5 if distribution == "uniform" else 2.0
    assert statistics.mean(found) == pytest.approx(20, abs=4 * deviation / 2000**0.5 + 0.03)
    assert statistics.stdev(found) == pytest.approx(deviation, rel=0.07)
    if distribution == "uniform":
        assert 18 <= min(found) <= max(found) <= 22.1


def test_shares_of_packets_are_doubled_turned_and_overtake(network):
    """Of 400 each: within the binomial's 99 % interval, by the link's own count and by ping's."""
    link(network, "set h1 h2 delay 5ms duplicate 20% reorder 10% corrupt 5%")
    shown = type_(network, "ping -c 400 -i 0.02 10.0.1.2", "h1").output
    found = stats(network)
    assert found["packets"] == 400
    assert 59 <= found["duplicated"] <= 101
    assert 24 <= found["reordered"] <= 56
    assert 8 <= found["corrupted"] <= 32
    answered = shown.count("(DUP!)")
    assert abs(answered - found["duplicated"]) <= found["corrupted"]
    fast = [float(ms) for ms in re.findall(r"time=([\d.]+) ms(?! \(DUP)", shown) if float(ms) < 1]
    assert abs(len(fast) - found["reordered"]) <= found["corrupted"]


def test_a_long_queue_marks_what_can_be_marked(network, folder):
    """CE on packets of an ECN flow that waited 5 ms; nothing is dropped, and the others are untouched."""
    for node in ("h1", "h2"):
        type_(network, "sysctl -w net.ipv4.tcp_ecn=1", node)
    link(network, "set h1 h2 rate 20mbit delay 2ms ecn 5ms queue 500ms")
    result = tcp(network, folder, "-t 5")
    found = stats(network)
    assert found["marked"] > 5
    assert found["dropped"] == {"queue": 0, "loss": 0}
    assert result["end"]["sum_sent"]["retransmits"] == 0
    for node in ("h1", "h2"):
        type_(network, "sysctl -w net.ipv4.tcp_ecn=0", node)
    link(network, "set h1 h2 rate 20mbit delay 2ms ecn 5ms queue 500ms")
    tcp(network, folder, "-t 2")
    assert stats(network)["marked"] == found["marked"]


def test_a_link_is_changed_under_traffic_without_a_loss(network, folder):
    """200 changes while 2,000 datagrams a second pass; its count goes on."""
    link(network, "set h1 h2 rate 100mbit delay 20ms")
    rows = [f"{0.01 * number:.2f},h1,h2,{90 + number % 20}mbit,{15 + number % 10}ms" for number in range(1, 201)]
    (folder / "moves.csv").write_text("time,from,to,rate,delay\n" + "\n".join(rows) + "\n")
    type_(network, "linklab link play moves.csv > played.txt &", "h1")
    end = udp(network, folder, "-b 16M -l 1000 -t 3")
    assert (folder / "played.txt").read_text().splitlines()[-1] == "2.000 s: 1 link changed"
    assert end["sum"]["lost_packets"] == 0
    assert stats(network)["packets"] >= end["sum"]["packets"]
    assert stats(network)["words"] == ["rate", "90mbit", "delay", "15ms"]


def test_a_file_sets_its_links_by_one_call(network, folder):
    """Names and addresses, both versions; a map that is full grows."""
    text = "from,to,rate,delay\nh1,h2,10mbit,20ms\nany,10.9.9.9,,1ms\n2001:db8::7,2001:db8::8,1gbit,\n"
    (folder / "mesh.csv").write_text(text)
    assert link(network, "load mesh.csv at r3-eth1") == "r3:r3-eth1: 3 links set\n"
    assert link(network, "show") == (
        "h1 → h2 at r3:r3-eth1: rate 10mbit delay 20ms\n"
        "any → 10.9.9.9 at r3:r3-eth1: delay 1ms\n"
        "2001:db8::7 → 2001:db8::8 at r3:r3-eth1: rate 1gbit\n"
    )
    link(network, "clear")
    assert link(network, "load mesh.csv at r3-eth1 entries 3") == "r3:r3-eth1: 3 links set\n"  # h1 → h2 has two keys
    assert link(network, "show").count("\n") == 3


@pytest.mark.long
def test_a_full_map_grows_under_traffic_without_a_loss(network, folder):
    """From 2 keys to 30,003 in three steps while 2,000 datagrams a second pass; counters and the line go on."""
    (folder / "one.csv").write_text("from,to,rate,delay\n10.0.0.1,10.0.1.2,100mbit,20ms\n10.0.1.2,10.0.0.1,,1ms\n")
    link(network, "load one.csv at r3-eth1 entries 2")
    for number, size in enumerate((1, 2000, 28_000)):
        rows = [f"any,10.{100 + number}.{n // 250}.{n % 250},{n % 9 + 1}ms" for n in range(size)]
        (folder / f"more{number}.csv").write_text("from,to,delay\n" + "\n".join(rows) + "\n")
    loads = "; ".join(f"sleep 0.7; linklab link load more{number}.csv at r3-eth1" for number in range(3))
    type_(network, f"({loads}) > grown.txt 2>&1 &", "h1")
    end = udp(network, folder, "-b 16M -l 1000 -t 4")
    assert (folder / "grown.txt").read_text() == (
        "r3:r3-eth1: 1 link set\nr3:r3-eth1: 2000 links set\nr3:r3-eth1: 28000 links set\n"
    )
    assert end["sum"]["lost_packets"] == 0
    (found,) = json.loads(link(network, "stats 10.0.0.1 10.0.1.2 --json"))
    assert found["packets"] >= end["sum"]["packets"]
    assert found["words"] == ["rate", "100mbit", "delay", "20ms"]
    assert link(network, "show").count("\n") == 30_003
    link(network, "clear")
    done = type_(network, "linklab link load one.csv at r3-eth1 entries 100000000", "h1")
    assert (done.exit_status, "can have 1048576 links at most" in done.output) == (3, True)


def test_the_program_for_older_kernels_does_the_same(network, folder):
    """Before Linux 5.18 a stamp has no clock: delay, rate and TCP at a router, where packets have been received."""
    (folder / "older.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {PACKAGE!r})\n"
        "from linklab.linux import edt_object, edt_stage\n"
        "older = edt_object.find('5.10.0')\n"
        "assert older.name.endswith('-before-5.18.o')\n"
        "edt_object.find = lambda: older\n"
        "with edt_stage.EdtStage('r3-eth1') as stage:\n"
        "    stage.put()\n"
    )
    assert type_(network, "python3 older.py", "r3").exit_status == 0
    link(network, "set h1 h2 rate 100mbit delay 20ms queue 50ms loss 0.01%")
    assert statistics.mean(ping_ms(network, "-c 50 -i 0.1 10.0.1.2")) == pytest.approx(20, abs=0.1)
    link(network, "change h1 h2 loss none")
    goodput = tcp(network, folder, "-t 5")["end"]["sum_received"]["bits_per_second"]
    assert 0.9 * 1e8 * GOODPUT <= goodput <= 1e8 * GOODPUT


def test_a_program_that_the_verifier_refuses_leaves_nothing(network, folder):
    """The last words of the verifier, in one sentence."""
    (folder / "refused.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {PACKAGE!r})\n"
        "import dataclasses\n"
        "from linklab.linux import edt_program, edt_stage, elf\n"
        "whole = elf.read(edt_program.edt_object.find().read_bytes())\n"
        "class Refused(edt_stage.EdtStage):\n"
        "    def _object(self):\n"
        "        return dataclasses.replace(whole, instructions=whole.instructions[:-8])\n"
        "with Refused('r3-eth1') as stage:\n"
        "    try:\n"
        "        stage.put()\n"
        "    except edt_stage.StageError as error:\n"
        "        print(error)\n"
    )
    shown = type_(network, "python3 refused.py", "r3").output
    assert shown == "r3-eth1: the kernel's verifier refuses the program: last insn is not an exit or jmp\n"
    assert "fq" not in type_(network, "tc qdisc show dev r3-eth1", "r3").output


def test_what_cannot_be_set_says_why(network):
    """Unknown nodes, a discipline of somebody's own, a place that no packet passes, a link that is set elsewhere."""
    for words, says in (
        ("set h1 h9 delay 2ms", "h9 is neither a node of this network nor an address; hosts are h1, h2"),
        ("set h1 h2 delay 2ms at r3:eth7", "there is no interface r3:eth7; write it as NODE:INTERFACE"),
        ("set any h2 delay 2ms", "from any node there is no one way to h2: say where with at NODE:INTERFACE"),
        ("del h1 h2", "h1 → h2 is not set, nor is any link"),
        ("change h1 h2 delay 2ms", "h1 → h2 is not set, nor is any link"),
        ("load none.csv", "none.csv: No such file or directory"),
    ):
        done = type_(network, f"linklab link {words}", "h2")
        assert (done.exit_status, says in done.output) == (2, True), done.output
    type_(network, "tc qdisc add dev r3-eth1 root tbf rate 1mbit burst 3kb latency 50ms", "r3")
    done = type_(network, "linklab link set h1 h2 delay 2ms", "h1")
    assert "r3-eth1 has tbf as its root discipline, where edt needs fq; remove it" in done.output
    type_(network, "tc qdisc del dev r3-eth1 root", "r3")
    link(network, "set h1 h2 delay 2ms")
    done = type_(network, "linklab link set h1 h2 delay 2ms at r3:r3-eth0", "h1")
    assert "h1 → h2 is at r3:r3-eth1 already; linklab link del h1 h2 first" in done.output


def test_the_trap_of_small_queues_is_told_where_it_is_one(network, folder):
    """At the sender itself always; at a switch port before the router only if links do not orphan."""
    told = "note: at {} packets still belong to h1's socket, so each is sent on as a copy that belongs to none"
    assert told.format("h1:h1-eth0") in link(network, "set h1 h2 delay 2ms at h1:h1-eth0")
    shown = link(network, "set h1 h2 delay 2ms orphan off at h1:h1-eth0")
    assert "at h1:h1-eth0 packets still belong to h1's socket, so with orphan off TCP counts what is held" in shown
    assert "a copy" not in shown
    link(network, "del h1 h2")
    assert link(network, "set h1 h2 delay 2ms at s1:s1-eth2") == "h1 → h2 at s1:s1-eth2: delay 2ms\n"
    (folder / "off.csv").write_text("from,to,delay,orphan\nh1,h2,2ms,off\n")
    link(network, "del h1 h2")
    shown = link(network, "load off.csv at h1:h1-eth0")
    assert "so with orphan off TCP counts what is held" in shown
    assert "a copy" not in shown
    link(network, "clear at h1:h1-eth0")
    link(network, "set h1 h2 delay 2ms at s1:s1-eth2")
    type_(network, "echo 0 > /sys/module/pocket/parameters/orphan")
    link(network, "del h1 h2")
    shown = link(network, "set h1 h2 delay 2ms at s1:s1-eth2")
    type_(network, "echo 1 > /sys/module/pocket/parameters/orphan")
    assert told.format("s1:s1-eth2") in shown


@pytest.mark.long
def test_the_sender_itself_is_not_starved(network, folder):
    """100 Mbps and 20 ms at its own interface are filled; with orphan off TCP's small queue lets 2 Mbps pass."""
    link(network, "set h1 h2 rate 100mbit delay 20ms at h1:h1-eth0")
    assert tcp(network, folder, "-t 3 -O 1")["end"]["sum_received"]["bits_per_second"] > 0.95 * 1e8 * GOODPUT
    link(network, "change h1 h2 orphan off")
    assert tcp(network, folder, "-t 3")["end"]["sum_received"]["bits_per_second"] < 5e6


def test_all_that_leaves_an_interface_may_be_one_link(network):
    """Any to any takes what belongs to no other link."""
    link(network, "set any any delay 30ms at r3:r3-eth1")
    link(network, "set h1 h2 delay 10ms at r3:r3-eth1")
    assert statistics.mean(ping_ms(network, "-c 5 -i 0.1 10.0.1.2")) == pytest.approx(10, abs=0.1)
    link(network, "del h1 h2")
    assert statistics.mean(ping_ms(network, "-c 5 -i 0.1 10.0.1.2")) == pytest.approx(30, abs=0.1)
    assert "any → any at r3:r3-eth1: delay 30ms" in link(network, "show")


def test_what_is_not_ours_passes_untouched(network):
    """ARP, and neighbour discovery between addresses that a link has; other addresses are counted as such."""
    link(network, "set h1 h2 delay 2ms loss 100%")
    type_(network, "ip neigh flush dev r3-eth1", "r3")
    assert type_(network, "ping -c 1 10.0.1.2", "r3").exit_status == 0
    assert type_(network, "ping -c 1 2001:db8:2::2", "r3").exit_status == 0
    assert re.search(r"r3:r3-eth1: [1-9]\d* packets belonged to no link", link(network, "stats"))
    assert type_(network, "ping -c 1 -W 1 10.0.1.2", "h1").exit_status == 1


def test_a_tagged_packet_is_found_behind_its_tag(network):
    """A VLAN on the link between r3 and h2: the tag is in the frame's header when the program sees it."""
    for node, number in (("r3", 254), ("h2", 2)):
        port = "r3-eth1" if node == "r3" else "h2-eth0"
        type_(network, f"ip link add link {port} name {node}.5 type vlan id 5", node)
        type_(network, f"ip addr add 10.5.0.{number}/24 dev {node}.5; ip link set {node}.5 up", node)
    link(network, "set 10.5.0.254 10.5.0.2 delay 30ms at r3:r3-eth1")
    shown = type_(network, "ping -c 3 -i 0.2 10.5.0.2", "r3").output
    assert statistics.mean(map(float, re.findall(r"time=([\d.]+) ms", shown))) == pytest.approx(30, abs=0.1)
    type_(network, "ip link del r3.5", "r3")
    type_(network, "ip link del h2.5", "h2")


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    """Loss, jitter and duplicates of a link are of the run's seed alone."""
    shown = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with PocketEngine().start(Topology.load(Path("topologies/Lab 8.mn")), workdir=folder, seed=seed) as running:
            link(running, "set h1 h2 delay 10ms jitter 3ms distribution pareto loss 10% duplicate 10%")
            shown.append(type_(running, "ping -c 100 -i 0.05 10.0.0.2", "h1").output + link(running, "stats --json"))
    assert shown[0] == shown[1]
    assert shown[0] != shown[2]


def test_the_tables_of_netem_are_there():
    """Of the same iproute2 that the network's tc is of."""
    assert len(edt_maps.table("normal")) == 2 * edt_maps.TABLE_SIZE


def test_an_exercise_sets_links_and_sets_them_again(network, folder):
    """set_env.sh reads back what it sets, and clears what a student has put in its place; a wrong line is told."""
    lines = [
        ["client", "linklab link set h1 h2 rate 10mbit delay 20ms at r3:r3-eth1", "Link h1 → h2: 10 Mbps, 20 ms"],
        ["h1", "linklab link set any any loss 5% at h1-eth0", ""],
        ["r3", "tc qdisc add dev r3-eth0 root netem delay 3ms", "Delay at r3-eth0: 3 ms"],
    ]
    shown = "h1 → h2 at r3:r3-eth1: rate 10mbit delay 20ms\n"
    own = folder / "exercise"
    own.mkdir()

    def set_env(lines):
        data = {"exercise": "exercise 9", "environment": encode_environment(lines)}
        (own / "instance.json").write_text(json.dumps(data))
        return type_(network, "PYTHONSAFEPATH=1 python3 -m linklab.agent.exercise_env exercise")

    said = "Exercise 9: setting the environment\n  Link h1 → h2: 10 Mbps, 20 ms\n  Delay at r3-eth0: 3 ms\n"
    for changed in ("true", "change h1 h2 delay 1ms", "set any h2 delay 9ms at r3:r3-eth0", "clear at r3:r3-eth1"):
        done = set_env(lines)
        assert (done.exit_status, done.output) == (0, f"{said}The environment is set.\n")
        assert link(network, "show") == f"any → any at h1:h1-eth0: loss 5%\n{shown}"
        assert "netem" in type_(network, "tc qdisc show dev r3-eth0", "r3").output
        if changed.endswith("r3-eth0"):
            type_(network, "tc qdisc del dev r3-eth0 root", "r3")
        if changed != "true":
            link(network, changed)
    done = set_env([["client", "linklab link set h1 h2 delay soon at r3:r3-eth1", "A delay"]])
    assert done.exit_status == 1
    assert "client: linklab link set h1 h2 delay soon at r3:r3-eth1: linklab: a delay must be a number" in done.output
    type_(network, "tc qdisc del dev r3-eth0 root", "r3")


def test_a_drawing_with_links_by_departure_time_is_built(tmp_path):
    """Both directions of h1 - h2 of 20 ms each, and fq where the plan looks for it."""
    directions = {key: {"backend": "edt", "delay": "20ms"} for key in ("forward", "backward")}
    drawn = {
        **{key: value for key, value in ROUTED.items() if key in ("controllers", "version")},
        "hosts": [{**host, "opts": {**host["opts"], "defaultRoute": ""}} for host in ROUTED["hosts"]],
        "switches": [],
        "links": [{"src": "h1", "dest": "h2", "opts": {}}],
        "linklab": {"links": [{"src": "h1", "dest": "h2", **directions}]},
    }
    with PocketEngine().start(Topology.loads(json.dumps(drawn), "drawn"), workdir=tmp_path) as running:
        shown = type_(running, "ping -c 5 -i 0.2 10.0.0.2", "h1").output
        assert float(re.search(r"rtt min/avg/max/mdev = [\d.]+/([\d.]+)", shown)[1]) == pytest.approx(40, abs=0.1)
        assert "any → any at h2:h2-eth0: delay 20ms" in link(running, "show")
        assert "say which with at" in type_(running, "linklab link del any any", "h1").output
        assert "any → any at h1:h1-eth0: removed" in link(running, "del any any at h1-eth0")
