# SPDX-License-Identifier: BSD-3-Clause
"""Named tests in the pocket, from the command line to the data file."""

import json
import math
import os
import re
import signal
import threading
import time

import pytest
from pockets import needs_pocket

from linklab.cli import main
from linklab.data import open_file
from linklab.experiment.model import Trial
from linklab.experiment.trial import run_trial

pytestmark = needs_pocket


@pytest.fixture(scope="module")
def upload(tmp_path_factory):
    """A short tcp_1up over a FIFO, and what the command printed."""
    out = tmp_path_factory.mktemp("tcp_1up") / "first.flent.gz"
    words = ["test", "run", "tcp_1up", "--path", "10mbit 50ms 100p", "-l", "10", "-o", str(out)]
    assert main(words) == 0
    return out


def test_an_upload_fills_its_path(upload):
    """CUBIC takes the whole rate, less headers: 10 Mbit/s x 1448/1514; the queue of 100 packets adds up to 121 ms."""
    data = open_file(upload)
    throughput, ping = data.series["TCP upload"], data.series["Ping (ms) ICMP"]
    assert throughput.unit == "Mbits/s"
    assert throughput.between(7, 15).known.mean() == pytest.approx(9.56, rel=0.01)
    assert ping.between(0, 5).known.max() == pytest.approx(50, abs=0.1)
    assert 100 < ping.between(8, 15).known.mean() < 172
    assert data.metadata["failed"] == {}
    assert data.flent["FAILED_RUNNERS"] == 0
    assert throughput.meta["MEAN_VALUE"] == pytest.approx(throughput.known.mean(), rel=0.05)
    assert throughput.meta["CONG_CONTROL"] == "cubic"


def test_the_state_of_the_connection_has_no_gaps(upload):
    """A congestion window at each sample of the throughput, of the sender; and the discipline's own series."""
    data = open_file(upload)
    cwnd, throughput = data.series["TCP upload::tcp_cwnd"], data.series["TCP upload"]
    assert list(cwnd.time_s) == list(throughput.time_s)
    assert cwnd.known.size == throughput.known.size > 45
    assert cwnd.known.max() > 100
    queue = data.series["qdisc_stats_r1-eth0::backlog_pkts"]
    assert 90 <= queue.known.max() <= 100
    assert data.series["qdisc_stats_r1-eth0::dropped"].known.sum() > 0


def test_flows_of_both_directions_carry_their_marks(tmp_path):
    """CAKE sorts them into its tins: a quarter of rrul's four flows each is background, and voice."""
    data = open_file(run_trial(Trial("rrul", path="10mbit 20ms cake", length_s=3.0), tmp_path / "marks.flent.gz"))
    for interface in ("r1-eth0", "r2-eth0"):
        sent = {tin: data.series[f"qdisc cake {tin} {interface}::sent_pkts"].known.sum() for tin in ("Bulk", "Voice")}
        assert sent["Bulk"] > 100
        assert sent["Voice"] > 300
    assert data.series["TCP download BK"].known.mean() < 0.7 * data.series["TCP download BE"].known.mean()


def test_what_is_known_of_the_setup(upload):
    """Disciplines before and after, settings, the commands; and no address of this machine."""
    data = open_file(upload)
    router = data.flent["REMOTE_METADATA"]["r1"]["EGRESS_INFO"]
    assert router["iface"] == "r1-eth0"
    assert [one["name"] for one in router["qdiscs"]] == ["tbf", "pfifo"]
    assert router["qdiscs"][1]["params"] == {"limit": "100p"}
    sent = [int(re.search(r"Sent (\d+) bytes", router[f"tc_stats_{when}"][1])[1]) for when in ("pre", "post")]
    assert sent[0] < 5000  # the words of the setup
    assert sent[1] > 1_000_000
    assert data.flent["SYSCTLS"]["net.ipv4.tcp_congestion_control"] == "cubic"
    assert data.flent["EGRESS_INFO"]["offloads"]["tcp-segmentation-offload"] is True
    assert data.series["TCP upload"].meta["COMMAND"].startswith("iperf3 -c 10.0.2.1")
    assert data.metadata["path"] == "10mbit 50ms 100p pfifo"


def test_the_same_seed_gives_the_same_bytes(upload, tmp_path):
    """And another seed others."""
    for seed, same in ((1, True), (2, False)):
        again = tmp_path / f"{seed}" / "first.flent.gz"
        again.parent.mkdir()
        words = ["test", "run", "tcp_1up", "--path", "10mbit 50ms 100p", "-l", "10", "-o", str(again)]
        assert main([*words, "--seed", str(seed)]) == 0
        assert (again.read_bytes() == upload.read_bytes()) is same


UDP_TOO_LARGE = """
title = "A flood whose packets are too large"
family = "udp"
text = "One program fails, and the other goes on."
default_plot = "all"
[[flow]]
series = "UDP upload"
traffic = "udp"
direction = "up"
rate = "1M"
size = "70000"
[[flow]]
series = "Ping (ms) ICMP"
traffic = "icmp"
[[plot]]
name = "all"
kind = "timeseries"
lines = [{ series = "UDP*" }]
"""


def test_a_series_that_is_missing_is_named(tmp_path, capsys):
    """With the words of the program that failed; what the others measured is there."""
    file, out = tmp_path / "flood.toml", tmp_path / "x.flent.gz"
    file.write_text(UDP_TOO_LARGE)
    assert main(["test", "run", str(file), "--path", "10mbit 50ms", "-l", "2", "-o", str(out)]) == 1
    data = open_file(out)
    assert "UDP upload" not in data.series
    assert "block size" in data.metadata["failed"]["UDP upload"]
    assert data.flent["FAILED_RUNNERS"] == 1
    assert data.series["Ping (ms) ICMP"].known.size > 20
    assert "missing: UDP upload" in capsys.readouterr().out


@pytest.mark.long
def test_a_thousand_flows_give_a_thousand_series(tmp_path):
    """They share the path, and none of their iperf3 fails."""
    data = open_file(run_trial(Trial("tcp_upload_1000", path="100mbit 20ms", length_s=2), tmp_path))
    assert data.metadata["failed"] == {}
    flows = [data.series[f"TCP upload BE::{number}"] for number in range(1, 1001)]
    assert all(flow.known.size for flow in flows)
    assert 85 < data.series["TCP upload sum"].meta["MEAN_VALUE"] < 95.7  # 100 Mbit/s x 1448/1514


def test_raw_outputs_are_kept_where_they_are_asked_for(tmp_path):
    """The plan and everything that the programs printed."""
    words = ["test", "run", "tcp_1up", "--path", "10mbit 50ms", "-l", "2"]
    assert main([*words, "-o", str(tmp_path / "x.flent.gz"), "--raw", str(tmp_path / "raw")]) == 0
    assert json.loads((tmp_path / "raw/plan.json").read_text())["format"] == 1
    assert (tmp_path / "raw/out/tcp-1.out").stat().st_size > 1000


def test_sigusr1_ends_a_test_early_and_keeps_its_data(tmp_path):
    """On the virtual clock, where nothing that comes from outside is noticed in time but a file."""
    ended = []

    def tell(progress):
        if progress.stage == "measuring" and progress.done_s > 8 and not ended:
            ended.append(progress.done_s)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()

    begun = time.monotonic()
    file = run_trial(Trial("voip-1up", path="10mbit 50ms", length_s=100_000 / 2), tmp_path, tell)
    data = open_file(file)
    assert data.metadata["ended"] == "early"
    assert data.metadata["ended_s"] < 20_000
    assert any("ended early, after" in note for note in data.notes)
    assert data.metadata["failed"] == {}
    assert data.series["TCP upload"].known.size > 10
    call = data.series["VoIP"]  # of a client that was interrupted, whose last packets were still on their way
    assert call.known.size > 300
    assert not math.isnan(call.value[-1])
    assert time.monotonic() - begun < 300


def test_probes_over_a_queue_of_many_seconds_keep_their_series(tmp_path):
    """1 Mbit/s and 1000 packets: an answer takes 6 s, and irtt waits for the last ones three times as long."""
    data = open_file(run_trial(Trial("rrul", path="1mbit 20ms 1000p pfifo", length_s=10), tmp_path))
    assert data.metadata["failed"] == {}
    assert data.series["Ping (ms) UDP BE"].known.max() > 5000


def test_every_kind_of_traffic_gives_its_series(tmp_path, capsys):
    """Calls, pages, requests, SCTP, bursts, commands, load of processors; each from the test that has it."""
    names = ["voip", "http", "sctp_vs_tcp", "bursts", "command-output", "cpu_stress", "qdisc-stats", "udp_flood"]
    assert main(["test", "selftest", *names]) == 0
    assert "8 tests gave all their data, 0 did not" in capsys.readouterr().out


SEEDS = """
[Batch::seeds]
test_name = tcp_2up
path = 10mbit 50ms 50p
length = 2
repetitions = 10
filename_extra = ${repetition}
"""


def test_seeds_are_repetitions(tmp_path, capsys):
    """Of ten of two uploads at least nine give different outcomes, and the summary says how many; the flows share."""
    (tmp_path / "seeds.batch").write_text(SEEDS)
    words = ["batch", str(tmp_path / "seeds.batch"), "--jobs", "2", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    files = sorted(tmp_path.glob("out/**/*.flent.gz"))
    assert len(files) == 10
    capsys.readouterr()
    assert main(["test", "summary", *map(str, files), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["seeds"], found["runs"]) == (list(range(1, 11)), 10)
    assert found["distinct_outcomes"] >= 9
    rows = {row["series"]: row for row in found["series"]}
    assert rows["TCP upload::1"]["distinct"] >= 9
    assert main(["test", "summary", *map(str, files)]) == 0
    assert f"10 runs (seeds 1 to 10), {found['distinct_outcomes']} distinct outcomes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("congestion", "throughput_mbit", "induced_ms"),
    [("cubic", 9.55, pytest.approx(1000, rel=0.15)), ("bbr", 9.35, pytest.approx(8, abs=6))],
)
def test_the_bottleneck_of_the_flent_paper(congestion, throughput_mbit, induced_ms, tmp_path):
    """10 Mbit/s, 50 ms, 1000 packets: what CUBIC and BBR get within 1 %, and how long the queue makes others wait.

    Source: Høiland-Jørgensen et al., Flent: The FLExible Network Tester, VALUETOOLS 2017.
    """
    trial = Trial("tcp_1up", path="10mbit 50ms 1000p pfifo", parameters={"tcp_cong_control": congestion})
    data = open_file(run_trial(trial, tmp_path))
    upload, ping = data.series["TCP upload"], data.series["Ping (ms) ICMP"]
    assert upload.meta["MEAN_VALUE"] == pytest.approx(throughput_mbit, rel=0.01)
    assert upload.between(10, 65).known.mean() == pytest.approx(throughput_mbit, rel=0.01)
    assert ping.between(10, 65).known.mean() - 50 == induced_ms
