# SPDX-License-Identifier: BSD-3-Clause
"""Batches and sweeps in the pocket: the same bytes however they are run, and the commands of a batch inside."""

import csv
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import mean

import pytest
from pockets import needs_pocket

from linklab.cli import main
from linklab.data import open_file
from linklab.experiment.trial_folder import read_journal

pytestmark = needs_pocket

ROOT = Path(__file__).resolve().parents[2]
BATCH = """
[Batch::b]
test_name = tcp_1up
path = 10mbit 50ms ${q}
length = 2
for_q = q_*
repetitions = 2
commands = limit, mark, say
output_path = ${q}
[Arg::q_1]
q = pfifo
[Arg::q_2]
q = codel
[Command::limit]
type = pre
node = h1
essential = yes
exec = sysctl -w net.ipv4.tcp_congestion_control=reno
[Command::mark]
type = monitor
exec = while sleep 1; do echo tick; done
kill = yes
[Command::say]
type = post
exec = ip -br link | wc -l
"""


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A batch file, and the folder of a run of it with one trial at a time."""
    path = tmp_path_factory.mktemp("batch") / "lab.batch"
    path.write_text(BATCH)
    assert main(["batch", str(path), "-j1", "-q", "--out", str(path.parent / "one")]) == 0
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_at_a_time_give_the_same_bytes(batch):
    """And the commands were run where they should be."""
    assert main(["batch", str(batch), "-j2", "-q", "--out", str(batch.parent / "two")]) == 0
    found = contents(batch.parent / "one")
    assert contents(batch.parent / "two") == found
    assert len(found) == 5
    data = open_file(batch.parent / "one/codel/b-q_2-02.flent.gz")
    ran = {one["name"]: one for one in data.metadata["trial_commands"]}
    assert (ran["limit"]["node"], ran["limit"]["status"], ran["say"]["status"]) == ("h1", 0, 0)
    assert data.series["TCP upload"].meta["CONG_CONTROL"] == "reno"
    assert data.flent["BATCH_NAME"] == "b"


@pytest.mark.long
def test_killed_and_gone_on_with_the_bytes_are_the_same(batch):
    """A run that is killed in the middle of a trial."""
    out = batch.parent / "killed"
    command = [sys.executable, "-m", "linklab", "batch", str(batch), "-j2", "-q", "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    until = time.monotonic() + 300
    while time.monotonic() < until and process.poll() is None:
        if (out / "trials.json").exists() and any(each["state"] == "done" for each in read_journal(out)["trials"]):
            break
        time.sleep(0.2)
    process.kill()
    process.wait()
    assert main(["batch", str(batch), "-j2", "-q", "--resume", str(out)]) == 0
    assert contents(out) == contents(batch.parent / "one")


@pytest.mark.long
def test_on_a_cluster_of_two_workers_the_bytes_are_the_same(batch, monkeypatch):
    """Which share no folder with us."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, host="127.0.0.1"
    ) as made:
        out = batch.parent / "cluster"
        assert main(["batch", str(batch), "--cluster", made.scheduler_address, "-q", "--out", str(out)]) == 0
    assert contents(out) == contents(batch.parent / "one")


def test_without_its_essential_command_there_is_no_test_and_the_others_go_on(tmp_path):
    """The command after the test is run in any case."""
    path = tmp_path / "x.batch"
    path.write_text(
        "[Batch::b]\ntest_name = ping\npath = 10mbit 50ms\nlength = 1\ncommands = c, d\nfor_x = *\nc = true\n"
        "[Arg::good]\n[Arg::bad]\nc = ls nothing\n[Command::c]\ntype = pre\nexec = ${c}\nessential = yes\n"
        "[Command::d]\ntype = post\nexec = true\n"
    )
    assert main(["batch", str(path), "-q", "--no-shuffle", "--out", str(tmp_path / "out")]) == 1
    good, bad = read_journal(tmp_path / "out")["trials"]
    assert (good["state"], bad["state"]) == ("done", "failed")
    assert "ls nothing ended with status 2" in bad["why"]


def test_a_sweep_over_the_buffer(tmp_path):
    """A queue of 80 packets adds more delay than one of 20, and that is what matters."""
    path = tmp_path / "buffer.toml"
    path.write_text(
        'test = "tcp_1up"\npath = "10mbit 20ms {buffer} fifo"\nlength = "6s"\nrepetitions = 2\n'
        '[factors]\nbuffer = ["20p", "80p"]\n'
        '[measures.latency]\nseries = "Ping (ms) ICMP"\nreduce = "mean_span"\nfrom = "7s"\nto = "11s"\n'
    )
    assert main(["sweep", str(path), "-q", "--out", str(tmp_path / "out")]) == 0
    small, large = csv.DictReader((tmp_path / "out/table.csv").read_text().splitlines())
    assert float(small["latency mean"]) < float(large["latency mean"])
    latency = [float(row["latency"]) for row in csv.DictReader((tmp_path / "out/trials.csv").read_text().splitlines())]
    within = sum((value - mean(pair)) ** 2 for pair in (latency[:2], latency[2:]) for value in pair)
    chance = within / sum((value - mean(latency)) ** 2 for value in latency)
    assert chance < 0.02
    said = (
        f"latency: buffer explains {100 - 100 * chance:.3g} % of the variance"
        f" (differences between repetitions {100 * chance:.3g} %)"
    )
    assert (tmp_path / "out/findings.txt").read_text()[: len(said)] == said
