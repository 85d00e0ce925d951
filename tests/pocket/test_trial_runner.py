# SPDX-License-Identifier: BSD-3-Clause
"""The runner of a trial in a pocket: one instant for all, the price of a terminal, ss's own numbers, the same bytes."""

import hashlib
import json
import re

import pytest
from pockets import needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket

TRIAL = "python3 /opt/linklab/linklab/agent/trial.py"
SHAPED = (
    "tc qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 20000 limit 100000; "
    "tc qdisc add dev s1-eth2 parent 1: handle 2: fq_codel; "
    "tc qdisc add dev s1-eth1 root netem delay 20ms"
)
MANY = 16
START_A_PROGRAM_S = 250e-6 + 60e-6
"""What the profile desktop asks for a fork and an exec."""


def node(number, kind, **options):
    """A node of a drawing."""
    return {
        "number": str(number),
        "opts": {"hostname": f"{kind}{number}", "nodeNum": number, **options},
        "x": "1",
        "y": "1",
    }


LINE = Topology.loads(
    json.dumps(
        {
            "hosts": [node(1, "h"), node(2, "h")],
            "switches": [node(1, "s", switchType="legacySwitch")],
            "links": [{"src": "h1", "dest": "s1", "opts": {}}, {"src": "s1", "dest": "h2", "opts": {}}],
            "controllers": [],
            "version": "2",
        }
    ),
    "line",
)


def server(number):
    """An iperf3 server on h2."""
    argv = ["iperf3", "-s", "-1", "-p", str(5200 + number), "-J"]
    return {"id": f"server-{number}", "node": "h2", "argv": argv, "role": "server", "ready": {"tcp": 5200 + number}}


def client(number, *options, **more):
    """Its client on h1."""
    argv = ["iperf3", "-c", "10.0.0.2", "-p", str(5200 + number), "-t", "3", "-J", *options]
    return {"id": f"tcp-{number}", "node": "h1", "argv": argv, "start_s": 1.0, **more}


def on(where, name, *argv, **more):
    """Another program."""
    return {"id": name, "node": where, "argv": list(argv), **more}


PLAN = {
    "format": 1,
    "length_s": 5.0,
    "programs": [
        *(server(number) for number in range(1, MANY + 1)),
        on("h2", "irtt-server", "irtt", "server", role="server", ready={"udp": 2112}),
        *(client(number, *(["-C", "bbr"] if number == 1 else [])) for number in range(1, MANY + 1)),
        on("h1", "ping", "fping", "-D", "-p", "200", "-l", "10.0.0.2", stop_s=4.0),
        on("h1", "irtt", "irtt", "client", "--tstamp=midpoint", "-i", "200ms", "-d", "4s", "-o", "-", "-Q", "10.0.0.2"),
        on("h1", "free", "cat", "/sys/module/pocket/parameters/free"),
        on("h1", "costs", "bash", "-c", "for i in {1..100}; do /bin/true; done", start_s=0.5),
        on("h1", "where", "sh", "-c", "hostname -I; pwd; ls -d /sys/class/net/h1-eth0"),
    ],
    "samplers": {
        "period_s": 0.2,
        "qdiscs": [{"node": "s1", "interface": "s1-eth2"}],
        "sockets": ["h1", "h2"],
        "cpu": True,
        "netstat": ["h1"],
    },
    "facts": [{"node": "s1", "name": "qdisc", "argv": ["tc", "-s", "-j", "qdisc", "show", "dev", "s1-eth2"]}],
}
TAKE = """
import socket, time
with socket.create_server(("", 5301), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")  # or DCTCP at h1 would be refused ECN
    kept = [server.accept()[0] for _ in range(3)]
    for connection in kept:
        connection.recv(400000, socket.MSG_WAITALL)
    time.sleep(60)
"""
GIVE = """
import socket, time
given = []
for algorithm in (b"bbr", b"cubic", b"dctcp"):
    given.append(socket.socket())
    given[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm)
    given[-1].connect(("10.0.0.2", 5301))
for connection in given:
    connection.sendall(bytes(400000))
time.sleep(60)
"""
COMPARED = {
    "format": 1,
    "length_s": 4.0,
    "programs": [
        on("h2", "take", "python3", "-c", TAKE, role="server", ready={"tcp": 5301}),
        on("h1", "give", "python3", "-c", GIVE, stop_s=4.0),
        *(on(host, f"ss-{host}", "ss", "-tinHO", start_s=3.0) for host in ("h1", "h2")),
    ],
    "samplers": {"period_s": 0.5, "sockets": ["h1", "h2"], "ports": [5301]},
}
"""Connections that have carried something and are quiet at 3 s, so that ss finds what was read, though later."""


def play(folder, seed):
    """Run PLAN and COMPARED; the results stand in folder/out and folder/quiet."""
    (folder / "plan.json").write_text(json.dumps(PLAN))
    (folder / "compared.json").write_text(json.dumps(COMPARED))
    with PocketEngine().start(LINE, workdir=folder, seed=seed) as network:
        assert type_(network, SHAPED).exit_status == 0
        shown = type_(network, f"{TRIAL} plan.json out", deadline_s=300)
        (folder / "shown.txt").write_text(shown.output)
        left = type_(network, "ps -eo args | grep -cE '[i]perf3|[i]rtt|[f]ping|[t]rial.py'").output
        assert (shown.exit_status, left) == (0, "0\n"), shown.output + (folder / "out/outcome.json").read_text()
        assert type_(network, f"{TRIAL} compared.json quiet", deadline_s=300).exit_status == 0


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """What a run with seed 1 left."""
    folder = tmp_path_factory.mktemp("one")
    play(folder, 1)
    return folder


def read(folder, name):
    """A JSON file, or the lines of one."""
    text = (folder / name).read_text()
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


def test_all_programs_of_a_start_begin_at_the_same_nanosecond(played):
    """At the planned time of the network's clock, though each takes 300 µs to load."""
    programs = read(played, "out/outcome.json")["programs"]
    assert {programs[f"tcp-{number}"]["started_s"] for number in range(1, MANY + 1)} == {1.0}
    assert {programs[name]["started_s"] for name in ("ping", "irtt", "free", "where")} == {0.0}
    assert all(one["why"] == "" for one in programs.values())
    assert programs["ping"]["stopped"] == ["SIGINT"] and 4.0 <= programs["ping"]["ended_s"] < 4.1


def test_what_a_trial_starts_costs_what_it_costs_in_a_terminal(played):
    """The runner is free, its programs are not."""
    programs = read(played, "out/outcome.json")["programs"]
    assert (played / "out/free.out").read_text() == "0\n"
    took_s = programs["costs"]["ended_s"] - programs["costs"]["started_s"]
    assert 100 * START_A_PROGRAM_S < took_s < 200 * START_A_PROGRAM_S


def test_a_program_is_where_its_node_is(played):
    """Its addresses, its /sys, and the folder in which the runner was started."""
    assert (played / "out/where.out").read_text() == "10.0.0.1 \n/lab\n/sys/class/net/h1-eth0\n"


def test_readings_are_at_whole_periods_without_gaps(played):
    """To the microsecond, from the beginning to the end."""
    wanted = [round(0.2 * number, 6) for number in range(25)]
    for name in ("qdiscs", "cpu", "netstat"):
        _, *lines = read(played, f"out/{name}.jsonl")
        assert [line["t"] for line in lines][:25] == wanted
    _, *lines = read(played, "out/sockets.jsonl")
    assert [(line["t"], line["node"]) for line in lines][:50] == [(t, node) for t in wanted for node in ("h1", "h2")]


def test_readings_follow_the_traffic(played):
    """The queue fills and drops, h1 sends what h2 has got, netstat counts what the sockets count."""
    _, *lines = read(played, "out/qdiscs.jsonl")
    queue = [next(one for one in line["qdiscs"] if one["kind"] == "fq_codel") for line in lines]
    assert queue[0]["backlog"] == 0 and max(one["backlog"] for one in queue) > 10_000
    assert queue[-1]["drops"] > 0 and queue[-1]["bytes"] > 3e6
    (fact,) = read(played, "out/facts.json")
    assert json.loads(fact["before"]["text"])[1]["bytes"] < queue[-1]["bytes"]
    head, *lines = read(played, "out/sockets.jsonl")
    rows = {
        line["node"]: {tuple(row[:2]): dict(zip(head["fields"], row, strict=True)) for row in line["sockets"]}
        for line in lines
        if line["t"] == 3.0
    }
    assert len(rows["h1"]) == len(rows["h2"]) == 2 * MANY  # each iperf3 has a connection for its own talk
    for sent in rows["h1"].values():
        got = rows["h2"][sent["peer"], sent["local"]]
        assert got["bytes_received"] <= sent["bytes_sent"]
    data = [row for row in rows["h1"].values() if row["bytes_sent"] > 10_000]
    assert len(data) == MANY
    assert [row["algorithm"] for row in data if row["own"]] == ["bbr"]
    retransmits = sum(row["retransmits"] for row in rows["h1"].values())
    _, *lines = read(played, "out/netstat.jsonl")
    (tcp,) = (line["netstat"]["Tcp"] for line in lines if line["t"] == 3.0)
    assert tcp["RetransSegs"] == retransmits > 0


def numbers(line):
    """What `ss -tinHO` prints of a connection, as our reading of it."""
    words = dict(re.findall(r"(?:^|[\s(])([a-z_]+):([\d.]+)(?=[\s,)]|/|$|bps)", line))
    rates = {name: int(value) for name, value in re.findall(r"(pacing_rate|delivery_rate) (\d+)bps", line)}
    rtt, rttvar = re.search(r"\srtt:([\d.]+)/([\d.]+)", line).groups()
    found = {
        "cwnd": int(words["cwnd"]),
        "rtt_ms": float(rtt),
        "rttvar_ms": float(rttvar),
        "mss": int(words["mss"]),
        "pmtu": int(words["pmtu"]),
        "min_rtt_ms": float(words["minrtt"]),
        **{f"{name.removesuffix('_rate')}_bps": value for name, value in rates.items()},
    }
    for name in ("ssthresh", "bytes_sent", "bytes_acked", "bytes_received", "bytes_retrans", "segs_out", "segs_in"):
        if name in words:
            found[name] = int(words[name])
    if retransmits := re.search(r"\sretrans:\d+/(\d+)", line):
        found["retransmits"] = int(retransmits[1])
    if dctcp := re.search(r"dctcp:\(ce_state:(\d+),alpha:(\d+),ab_ecn:(\d+),ab_tot:(\d+)\)", line):
        state, alpha, marked, total = map(int, dctcp.groups())
        found["own"] = {
            "enabled": 1,
            "ce_state": state,
            "alpha": round(alpha / 1024, 6),
            "ab_ecn": marked,
            "ab_tot": total,
        }
    if bbr := re.search(r"bbr:\(bw:(\d+)bps,mrtt:([\d.]+),pacing_gain:([\d.]+),cwnd_gain:([\d.]+)", line):
        bandwidth, rtt, pacing, cwnd = bbr.groups()
        gains = {"pacing_gain": float(pacing), "cwnd_gain": float(cwnd)}
        found["own"] = {"bw_bps": int(bandwidth), "min_rtt_ms": float(rtt), **gains}
    return found


@pytest.mark.parametrize("host", ["h1", "h2"])
def test_a_reading_is_what_ss_prints(played, host):
    """Both ends of every connection, number by number."""
    head, *lines = read(played, "quiet/sockets.jsonl")
    (rows,) = (line["sockets"] for line in lines if (line["t"], line["node"]) == (3.0, host))
    ours = {tuple(row[:2]): dict(zip(head["fields"], row, strict=True)) for row in rows}
    compared = 0
    for line in (played / f"quiet/ss-{host}.out").read_text().splitlines():
        state, received, sent, *ends = line.split()[:5]
        row = ours[tuple(end.replace("[::ffff:", "").replace("]", "") for end in ends)]
        assert (row["state"], row["recv_q"], row["send_q"]) == (state, int(received), int(sent))
        theirs = numbers(line)
        rounded = {name: row[name] for name in theirs}
        if "own" in theirs:
            rounded["own"] = {
                name: float(f"{value:g}") if "gain" in name else value for name, value in row["own"].items()
            }
        assert rounded == theirs, line
        compared += len(theirs)
    assert len(ours) == 3 and compared >= 30
    if host == "h1":
        assert {row["algorithm"]: set(row["own"] or ()) for row in ours.values()} == {
            "bbr": {"bw_bps", "min_rtt_ms", "pacing_gain", "cwnd_gain"},
            "cubic": set(),
            "dctcp": {"enabled", "ce_state", "alpha", "ab_ecn", "ab_tot"},
        }


def digests(folder):
    """Of all that a run left."""
    files = [file for name in ("out", "quiet") for file in sorted((folder / name).iterdir())]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_same_seed_leaves_the_same_bytes(played, tmp_path):
    """Every file; so does what was said meanwhile."""
    play(tmp_path, 1)
    assert digests(tmp_path) == digests(played)
    assert (tmp_path / "shown.txt").read_text() == (played / "shown.txt").read_text()


def test_another_seed_leaves_others(played, tmp_path):
    """Which flow sends first, and what follows from it."""
    play(tmp_path, 2)
    assert digests(tmp_path)["out/sockets.jsonl"] != digests(played)["out/sockets.jsonl"]
