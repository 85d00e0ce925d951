# SPDX-License-Identifier: BSD-3-Clause
"""The queue sampler against tc itself, in a pocket, for every discipline of the labs."""

import json
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
}


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
            run("iperf3 -c 10.9.0.2 -t 2")
            run(f"/usr/bin/python3 {SAMPLER} qa --out s.jsonl --seconds 0.001; tc -s -j qdisc show dev qa > tc.json")
            lines = (work / "s.jsonl").read_text().splitlines()
            found[kind] = (json.loads(lines[1])["qdiscs"], json.loads((work / "tc.json").read_text()))
            run("tc qdisc del dev qa root")
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


def test_traffic_has_passed_through_what_was_read(readings):
    """Otherwise equal numbers would be equal zeros."""
    for sampled, _ in readings.values():
        assert all(one["packets"] > 1000 for one in sampled)
