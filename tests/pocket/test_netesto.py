# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns in the pocket: what is measured is right, and a folder has the same bytes however it is run."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pockets import needs_pocket

from linklab.cli import main
from linklab.data import open_file
from linklab.experiment.collect import IPERF_HEAD_BYTES
from linklab.experiment.rpc import HEAD_BYTES
from linklab.experiment.trial_folder import read_journal
from linklab.netesto import names
from linklab.netesto.csv_file import finished

pytestmark = needs_pocket

ROOT = Path(__file__).resolve().parents[2]
PATH = "20mbit 20ms 100p"
FLOWS = """
SET_SYSCTL host=h1 net.ipv4.tcp_ecn=1
DO_SERVER exp=COUNTER host=h3 order=0 expName=both start=1
SET_SYSCTL host=h2 net.ipv4.tcp_wmem=10000,262144,20971520
DO_TCPDUMP exp=PREV host=h2 server=h3 packets=20
DO_CLIENT exp=PREV host=h1 server=h3 ca=bbr dur=4 instances=2 test=TCP_STREAM stats=1
RAND_WAIT 0.1
DO_CLIENT exp=PREV host=h2 server=h3 ca=reno dur=4 instances=2 test=TCP_RR req=10K reply=100 stats=1
WAIT 2
SET_QDISC host=r1 qdisc=tbf rate=10mbit burst=3000 limit=100000 action=replace
WAIT 5
PROCESS_EXP
"""
SMALL = """
FOR ca IN cubic,reno,bbr DO
DO_SERVER exp=COUNTER host=h2 order=0 expName=$ca start=1
RAND_WAIT 0.5
DO_CLIENT exp=PREV host=h1 server=h2 ca=$ca dur=2 req=10K stats=1
WAIT 2
PROCESS_EXP
DONE
"""


def campaign(folder: Path, text: str, *options: str, path: str = PATH, ends: int = 0) -> Path:
    """Run a script, which ends with this exit code; the folder of the campaign."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "script"
    script.write_text(text)
    out = folder / "out"
    where = () if "--topology" in options else ("--path", path)
    assert main(["netesto", "run", str(script), "-q", "-o", str(out), *where, *options]) == ends
    return out


def outcome(out: Path, exp: int = 1) -> dict:
    """What the runner inside said."""
    return json.loads((out / str(exp) / names.RAW / "outcome.json").read_text())


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Path:
    """A campaign of one experiment with a bulk group, a group of requests, and settings."""
    return campaign(tmp_path_factory.mktemp("both"), FLOWS)


def test_bulk_flows_and_requests_share_the_bottleneck(both):
    """What the flows moved in the first two seconds is what the shaper lets pass, less headers."""
    data = open_file(both / "1" / names.data_file(1))
    assert not data.metadata["failed"]
    flows = [names.stream(1, 1), names.stream(1, 2), names.answer_rate(2, 1), names.answer_rate(2, 2)]
    moved = []
    for flow in flows:
        series = data.series[flow]
        moved.append(series.value[(series.time_s > 1.0) & (series.time_s <= 2.0)].mean())
        assert data.series[names.socket(flow, "tcp_data_segs_out")].value[-1] > 0
    assert sum(moved) == pytest.approx(20 * 1448 / 1514, rel=0.03)


def test_percentiles_are_those_of_all_answers(both):
    """The data set has each answer that a client noted, at its time, and the table of a group their percentiles."""
    data = open_file(both / "1" / names.data_file(1))
    t0_ns = outcome(both)["t0_ns"]
    noted: dict[int, list[tuple[int, int]]] = {1: [], 2: []}
    for line in (both / "1" / names.RAW / "rpc-1.out").read_text().splitlines():
        if not line.startswith("{"):
            number, when_ns, took_ns = map(int, line.split())
            noted[number].append((when_ns, took_ns))
    for number, found in noted.items():
        series = data.series[names.answers(2, number)]
        np.testing.assert_allclose(series.value, [took_ns / 1e6 for _, took_ns in found])
        np.testing.assert_allclose(series.time_s, [(when_ns - t0_ns) / 1e9 for when_ns, _ in found])
        assert data.scalars[f"{names.answer_rate(2, number)} transactions"].value == len(found) > 30
        # answers follow each other: the next is asked for when one is there
        assert sum(took_ns for _, took_ns in found) == pytest.approx(4e9, rel=0.1)
    took = sorted(took_ns for found in noted.values() for _, took_ns in found)
    (row,) = [one for one in csv.DictReader((both / "exp.csv").open()) if one["exp"] == "1.2"]
    for column, share in (("p50Latency", 0.5), ("p90Latency", 0.9), ("p99Latency", 0.99)):
        below = took[max(0, int(share * len(took)) - 2)], took[min(len(took) - 1, int(share * len(took)) + 2)]
        assert below[0] / 1e3 * 0.999 <= float(row[column]) <= below[1] / 1e3 * 1.001


def test_final_numbers_are_those_of_the_end(both):
    """They are no smaller than those of the last sample, and both ends agree on what was acknowledged and received."""
    data = open_file(both / "1" / names.data_file(1))
    for flow, head in ((names.stream(1, 1), IPERF_HEAD_BYTES), (names.answer_rate(2, 1), HEAD_BYTES)):
        final = {name: data.scalars[f"{flow} {name}"].value for name in ("data_segs_out", "retransmits", "bytes_acked")}
        for name, series in (("data_segs_out", "tcp_data_segs_out"), ("retransmits", "tcp_retransmits")):
            assert final[name] >= data.series[names.socket(flow, series)].value[-1]
        received = data.scalars[f"{flow} remote bytes_received"].value
        answered = data.scalars[f"{flow} bytes_received"].value
        assert data.scalars[f"{flow} {names.BYTES}"].value == received + answered - head
        # the handshake counts as one acknowledged byte; what was under way at the end has not been acknowledged
        assert final["bytes_acked"] <= received + 1
        assert final["bytes_acked"] == pytest.approx(received, rel=0.05)


def test_settings_hold_when_and_where_they_are_set(both):
    """Values on their host alone, before the flows; the router's shaper towards the server from its time on."""
    about = json.loads((both / "1" / names.EXPERIMENT).read_text())
    told = outcome(both)["settings"]
    assert [(one["what"].split(" root")[0], one["why"]) for one in told] == [
        ("net.ipv4.tcp_ecn", ""),
        ("net.ipv4.tcp_wmem", ""),
        ("tc qdisc del dev r1-eth1", ""),
        ("tc qdisc add dev r1-eth1", ""),
    ]
    assert [one["at_s"] for one in told] == [None, None, 2.096003, 2.096003]
    assert about["settings"][-1]["interfaces"] == ["r1-eth1"]

    def value(host: str, name: str) -> str:
        lines = (both / "1" / names.BEFORE / host / "sysctl").read_text().splitlines()
        return next(line.partition(" = ")[2] for line in lines if line.startswith(name))

    assert [value(host, "net.ipv4.tcp_ecn ") for host in ("h1", "h2")] == ["1", "2"]
    after = (both / "1" / names.AFTER / "h2" / "sysctl").read_text()
    assert "net.ipv4.tcp_wmem = 10000\t262144\t20971520\n" in after
    data = open_file(both / "1" / names.data_file(1))
    flows = [names.stream(1, 1), names.stream(1, 2), names.answer_rate(2, 1), names.answer_rate(2, 2)]
    # until 3.2 s receivers are given at once what had waited for what the change dropped
    last = [
        data.series[flow].value[(data.series[flow].time_s > 3.2) & (data.series[flow].time_s <= 4)] for flow in flows
    ]
    assert sum(one.mean() for one in last) == pytest.approx(10 * 1448 / 1514, rel=0.05)


def test_counters_and_captures_lie_beside_the_data(both):
    """Counters of hosts with stats, before and after; the first packets between the pair, cut at 128 bytes."""
    for host in ("h1", "h2", "h3"):
        for when in (names.BEFORE, names.AFTER):
            found = {path.name for path in (both / "1" / when / host).iterdir()}
            assert {"snmp", "netstat", "sysctl", "interfaces.json", "qdiscs.json", "offloads"} <= found
    sent = [
        json.loads((both / "1" / when / "h1" / "interfaces.json").read_text())[1]["stats64"]["tx"]["bytes"]
        for when in (names.BEFORE, names.AFTER)
    ]
    assert sent[1] - sent[0] > 1_000_000
    capture = (both / "1" / names.capture("h2", "h3")).read_bytes()
    assert capture[:4] == b"\xd4\xc3\xb2\xa1"
    lengths, at = [], 24
    while at < len(capture):
        lengths.append(int.from_bytes(capture[at + 8 : at + 12], "little"))
        at += 16 + lengths[-1]
    assert len(lengths) == 20
    assert max(lengths) == 128


def test_a_campaign_over_ipv6(tmp_path):
    """The drawn network has IPv6, and the flows use it."""
    text = SMALL.replace("cubic,reno,bbr", "cubic") + SMALL.replace("cubic,reno,bbr", "cubic").replace(
        "req=10K", "req=S"
    )
    out = campaign(tmp_path, text, "-6")
    for exp in (1, 2):
        programs = json.loads((out / str(exp) / names.RAW / "plan.json").read_text())["programs"]
        assert [each for each in programs if any(word.startswith("fd00:") for word in each["argv"])]
        data = open_file(out / str(exp) / names.data_file(exp))
        assert not data.metadata["failed"]
        assert "Ping (ms) h1 to h2" in data.series
    assert open_file(out / "2" / "2.flent.gz").series["STREAM 1::1"].value.max() > 15


def test_buffers_limit_a_stream(tmp_path):
    """With a receive buffer of 16 KiB at the server, no more than its window is under way in each round trip."""
    text = SMALL.replace("cubic,reno,bbr", "cubic").replace("req=10K", "test=TCP_STREAM remoteBuffer=16K")
    data = open_file(campaign(tmp_path, text) / "1" / "1.flent.gz")
    rate = data.series["STREAM 1::1"].value[2:]
    assert 0 < rate.mean() < 2 * 16 * 1024 * 8 / 0.02 / 1e6


def test_a_sender_that_still_repeats_at_the_end_is_counted(tmp_path):
    """Regression: BBR's flows in a small buffer outlived their servers; of 24, 15 had no retransmissions."""
    flows = SMALL.replace("cubic,reno,bbr", "bbr").replace("req=10K", "test=TCP_STREAM instances=24")
    out = campaign(tmp_path, flows.replace("dur=2", "dur=5").replace("WAIT 2", "WAIT 5"), path="1mbit 50ms 3p")
    data = open_file(out / "1" / "1.flent.gz")
    finals = [data.scalars.get(names.final(names.stream(1, flow), "retransmits")) for flow in range(1, 25)]
    assert None not in finals
    (row,) = csv.DictReader((out / "exp.csv").open())
    assert float(row["localRetrans"]) == sum(one.value for one in finals) > 100
    assert 20 < float(row["retransPkts%"]) < 50


def test_what_the_kernel_lacks_is_a_gap(tmp_path):
    """The experiment is measured all the same, but it is not whole; regression: it counted as done."""
    text = "SET_SYSCTL host=h1 net.ipv4.tcp_cong_dscp_mask=3\n" + SMALL.replace("cubic,reno,bbr", "cubic")
    out = campaign(tmp_path, text, ends=1)
    why = "this kernel has no net.ipv4.tcp_cong_dscp_mask"
    data = open_file(out / "1" / "1.flent.gz")
    assert data.metadata["failed"] == {"not set on h1: net.ipv4.tcp_cong_dscp_mask": why}
    assert f"not set on h1: net.ipv4.tcp_cong_dscp_mask: {why}" in data.notes
    (setting,) = json.loads((out / "1" / names.EXPERIMENT).read_text())["settings"]
    assert setting["failed"]
    assert [one["state"] for one in read_journal(out)["trials"]] == ["gaps"]


def test_a_sysctl_that_is_not_allowed_is_refused_before_anything_runs(tmp_path, capsys):
    """The message has its line, and no folder is made."""
    script = tmp_path / "evil"
    script.write_text("SET_SYSCTL host=h1 kernel.core_pattern=|/bin/sh\n" + SMALL)
    out = tmp_path / "out"
    assert main(["netesto", "run", str(script), "-o", str(out)]) == 2
    assert "evil:1:" in (said := capsys.readouterr().err)
    assert "kernel.core_pattern" in said
    assert not out.exists()


def contents(out: Path) -> dict[str, bytes]:
    """The data sets without their packing, and exp.csv."""
    found = {str(path.relative_to(out)): gzip.decompress(path.read_bytes()) for path in out.rglob("*.flent.gz")}
    return {**found, "exp.csv": (out / "exp.csv").read_bytes()}


@pytest.mark.long
def test_same_bytes_alone_or_together(tmp_path):
    """One experiment at a time or two, and another folder: the same data sets and table; another seed, others."""
    first = contents(campaign(tmp_path / "a", SMALL, "--jobs", "1"))
    assert len(first) == 4
    assert contents(campaign(tmp_path / "b", SMALL, "--jobs", "2")) == first
    other = contents(campaign(tmp_path / "c", SMALL, "--seed", "2"))
    assert all(other[name] != content for name, content in first.items())


@pytest.mark.long
def test_a_campaign_that_was_killed_goes_on(tmp_path):
    """What was done stays, the rest follows, and all is as if nothing had happened."""
    whole = contents(campaign(tmp_path / "whole", SMALL))
    script, out = tmp_path / "script", tmp_path / "out"
    script.write_text(SMALL)
    words = ["netesto", "run", str(script), "-q", "-o", str(out), "--path", PATH, "--jobs", "1"]
    command = [sys.executable, "-m", "linklab", *words]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        deadline = time.monotonic() + 240
        while not finished(out / "1"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = (out / "1" / "1.flent.gz").stat().st_mtime_ns
    assert main(words) == 0
    assert (out / "1" / "1.flent.gz").stat().st_mtime_ns == kept
    assert contents(out) == whole
    assert [one["state"] for one in read_journal(out)["trials"]] == ["done"] * 3
    script.write_text(SMALL.replace("dur=2", "dur=3"))
    assert main(words) == 2
