# SPDX-License-Identifier: BSD-3-Clause
"""The queue sampler against tc itself, in a pocket, for every discipline of the labs."""

import json
import re
from pathlib import Path

import pytest

import linklab
from linklab import pocket_kernel
from linklab.engine.api import Background, Typed
from linklab.engine.pocket import PocketEngine

pytestmark = [
    pytest.mark.pocket,
    pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)"),
]

SAMPLER = Path(linklab.__file__).parent / "agent/sampler.py"
LINK = (
    "ip link add qa type veth peer name qb; ip netns add n; ip link set qb netns n; ip addr add 10.9.0.1/24 dev qa; "
    "ip link set qa up; ip -n n addr add 10.9.0.2/24 dev qb; ip -n n link set qb up"
)
DISCIPLINES = {
    "red": ("limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 10mbit", {"early", "pdrop", "marked"}),
    "codel": ("limit 1000", {"count", "lastcount", "ldelay", "drop_next", "maxpacket"}),
    "fq_codel": ("", {"new_flow_count", "drop_overlimit", "old_flows_len"}),
    "pie": ("", {"prob", "delay", "pkts_in", "dropped"}),
    "sfq": ("perturb 10", set()),
    "fq": ("", {"gc", "highprio", "flows", "inactive"}),
    "cake": ("bandwidth 8mbit besteffort", {"memory_used", "capacity_estimate", "tins"}),
    "fq_pie": ("", {"pkts_in", "dropped", "overlimit", "memory_used", "new_flow_count"}),
    "choke": ("limit 100 min 10 max 40 avpkt 1000 bandwidth 10mbit", {"early", "pdrop", "marked", "matched"}),
    "hhf": ("", {"drop_overlimit", "tot_hh", "cur_hh"}),
}
RED_IN_SFQ = "limit 100 redflowlimit 40000 min 4000 max 20000 probability 0.2"


CLASSES = (
    "tc class add dev qa parent 1: classid 1:1 htb rate 10mbit; "
    "tc class add dev qa parent 1:1 classid 1:10 htb rate 4mbit ceil 8mbit; "
    f"tc qdisc add dev qa parent 1:10 handle 20: sfq {RED_IN_SFQ}"
)
READ_ALL = (
    'import json; from linklab.agent.sampler import *; reader = QdiscReader("qa", all_counters=True); '
    "print(json.dumps([reader.read(), reader.classes()]))"
)


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    """For each discipline behind a 10 Mbps tbf, after two seconds of TCP: (what the sampler read, what tc prints)."""
    work = tmp_path_factory.mktemp("work")
    found = {}
    with PocketEngine().start(None, workdir=work) as net:

        def run(text):
            (done,) = net.run([Typed("client", text)], deadline_s=60)
            assert done.exit_status == 0, done.output

        run(LINK)
        for kind, (options, _) in DISCIPLINES.items():
            run("tc qdisc add dev qa root handle 1: tbf rate 10mbit burst 20000 limit 100000")
            run(f"tc qdisc add dev qa parent 1: handle 2: {kind} {options}")
            net.run([Typed("client#2", "ip netns exec n iperf3 -s -1", Background())])
            run("iperf3 -c 10.9.0.2 -t 2; sleep 2")  # what waits in the queue is sent
            run(f"/usr/bin/python3 {SAMPLER} qa --out s.jsonl --seconds 0.001; tc -s -j qdisc show dev qa > tc.json")
            lines = (work / "s.jsonl").read_text().splitlines()
            found[kind] = (json.loads(lines[1])["qdiscs"], json.loads((work / "tc.json").read_text()))
            run("tc qdisc del dev qa root")
        run(f"tc qdisc add dev qa root handle 1: htb default 10; tc qdisc add dev qa ingress; {CLASSES}")
        net.run([Typed("client#2", "ip netns exec n iperf3 -s -1", Background())])
        run("iperf3 -c 10.9.0.2 -t 2; sleep 2")  # what waits in the queue is sent
        run(f"/usr/bin/python3 {SAMPLER} qa --out s.jsonl --seconds 0.001; tc -s -j qdisc show dev qa > tc.json")
        run(f"PYTHONPATH={SAMPLER.parents[2]} python3 -c '{READ_ALL}' > ours.json")
        run("tc -s class show dev qa > classes.txt")
        qdiscs, classes = json.loads((work / "ours.json").read_text())
        found["recorded"] = json.loads((work / "s.jsonl").read_text().splitlines()[1])["qdiscs"]
        found["htb"] = (qdiscs, json.loads((work / "tc.json").read_text()))
        found["classes"] = (classes, (work / "classes.txt").read_text())
    return found


@pytest.mark.parametrize("kind", DISCIPLINES)
def test_every_statistic_that_tc_prints_is_read_the_same(readings, kind):
    """Names and values of the sampler are those of `tc -s -j qdisc`."""
    sampled, printed = readings[kind]
    assert [one["kind"] for one in sampled] == ["tbf", kind]
    for ours, theirs in zip(sampled, printed, strict=True):
        shared = set(ours) & set(theirs)
        assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
        assert set(theirs) - shared <= {"options", "refcnt"}
    assert DISCIPLINES[kind][1] <= set(sampled[1]) & set(printed[1])


def test_what_a_discipline_counts_among_its_options_is_read(readings):
    """SFQ's drops by RED, and the packets that HTB found no class for; the discipline of what comes in has counters."""
    htb, *rest = readings["htb"][0]
    printed = {one["kind"]: one for one in readings["htb"][1]}
    sfq = next(one for one in rest if one["kind"] == "sfq")
    theirs = printed["sfq"]["options"]
    names = ("prob_drop", "forced_drop", "prob_mark", "forced_mark", "prob_mark_head", "forced_mark_head")
    assert {name: sfq[name] for name in names} == {name: theirs[name] for name in names}
    assert sfq["prob_drop"] + sfq["forced_drop"] > 0
    assert htb["direct_packets"] == printed["htb"]["options"]["direct_packets_stat"]
    ingress = next(one for one in rest if one["kind"] == "ingress")
    assert not any({"direct_packets", *names} & set(one) for one in readings["recorded"])  # labs were recorded without
    assert ingress["bytes"] == printed["ingress"]["bytes"]


def test_classes_are_read_as_tc_prints_them(readings):
    """Counters, who lent and borrowed, and tokens of HTB's classes."""
    ours, printed = readings["classes"]
    blocks = {block.split()[2]: block for block in printed.strip().split("\n\n")}
    assert {one["handle"] for one in ours} == set(blocks) == {"1:1", "1:10"}
    for one in ours:
        block = blocks[one["handle"]]
        said = dict(re.findall(r"(lended|borrowed|giants|tokens|ctokens|dropped|overlimits|requeues):? (-?\d+)", block))
        sent, packets = re.search(r"Sent (\d+) bytes (\d+) pkt", block).groups()
        assert (one["bytes"], one["packets"], one["drops"]) == (int(sent), int(packets), int(said.pop("dropped")))
        assert {name: one[name] for name in said} == {name: int(value) for name, value in said.items()}
    leaf = next(one for one in ours if one["handle"] == "1:10")
    assert (leaf["parent"], leaf["leaf"]) == ("1:1", "20:") and leaf["packets"] > 500 and leaf["borrowed"] > 0


def test_traffic_has_passed_through_what_was_read(readings):
    """Otherwise equal numbers would be equal zeros."""
    for kind in DISCIPLINES:
        assert all(one["packets"] > 1000 for one in readings[kind][0])
