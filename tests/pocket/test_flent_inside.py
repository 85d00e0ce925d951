# SPDX-License-Identifier: BSD-3-Clause
"""`flent` in terminals of a network, and `test` at the Mininet prompt: from the words typed to the data file."""

import gzip
import json

import pytest
from pockets import needs_pocket, type_

from linklab.base.finish import StopAfter
from linklab.engine.api import Clock, Typed
from linklab.engine.choice import load_engine
from linklab.experiment.path import parse_path
from linklab.experiment.ready import draw

pytestmark = needs_pocket


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Two hosts behind two routers, 10 Mbit/s and 20 ms, IPv4 and IPv6."""
    topology = draw(parse_path("10mbit 20ms fq_codel"), targets=1, version6=True)
    folder = tmp_path_factory.mktemp("flent")
    with load_engine("pocket").start(topology, workdir=folder, clock=Clock.VIRTUAL, seed=1) as running:
        running.folder = folder
        yield running


def loaded(folder, pattern):
    """The one data file of this name, as it lies there."""
    (file,) = folder.glob(pattern)
    return json.loads(gzip.decompress(file.read_bytes()))


def test_the_line_of_the_tutorials_measures_and_draws(network):
    """From the terminal's own node to the node that owns the address; what it says before takes no network time."""
    listed = type_(network, "flent --list-plots rrul", "h1")
    assert listed.exit_status == 0
    assert "  all_scaled  " in listed.output
    assert listed.end_s - listed.start_s < 0.001
    line = "flent rrul -p all_scaled -l 3 -H 10.0.2.1 -t text-to-be-included-in-plot -o file.png"
    done = type_(network, line, "h1", deadline_s=300)
    assert done.exit_status == 0, done.output
    assert done.output.startswith("rrul from h1 to h2, 13 s of network time\nData file written to rrul-2024-")
    assert (network.folder / "file.png").read_bytes().startswith(b"\x89PNG")
    data = loaded(network.folder, "rrul-*.text-to-be-included-in-plot.flent.gz")
    assert data["metadata"]["LOCAL_HOST"] == "h1"
    assert data["metadata"]["HOSTS"] == ["h2"]
    assert {port["iface"] for node in data["metadata"]["REMOTE_METADATA"].values() for port in node["PORTS"]} == {
        "r1-eth0",
        "r1-eth1",
        "r2-eth0",
        "r2-eth1",
        "h2-eth0",
    }
    down = [one["val"] for one in data["raw_values"]["TCP download BE"] if one["val"] is not None]
    assert 0.5 < sum(down) / len(down) < 6
    assert min(one["val"] for one in data["raw_values"]["Ping (ms) ICMP"]) == pytest.approx(20, abs=0.5)


def test_ctrl_c_keeps_what_was_measured(network):
    """The exit code is that of an interrupted program, and nothing of the test runs on."""
    done = network.run([Typed("h1", "flent tcp_1up -l 60 -t stopped -H h2", StopAfter(12.0))], deadline_s=120)[0]
    assert done.exit_status == 130, done.output
    assert "Note: ended early, after " in done.output
    assert "TCP upload" in done.output
    times = [one["t"] for one in loaded(network.folder, "tcp_1up-*.stopped.flent.gz")["raw_values"]["Ping (ms) ICMP"]]
    assert 5 < max(times) - min(times) < 13
    # of the host's own folder, which shows through, the dates are later
    left = "pgrep -x iperf3; pgrep -x fping; find /tmp -maxdepth 1 -name 'linklab-test-*' ! -newermt 2025-01-01"
    assert type_(network, left).output == ""


def test_at_the_mininet_prompt_and_over_ipv6(network):
    """`test NAME SOURCE TARGET` from the root namespace, and `-6` for the version of IP."""
    done = type_(network, "test ping h2 h1 -l 2 -6 -t six -f null", "mininet", deadline_s=120)
    assert "ping from h2 to h1, 2 s of network time" in done.output
    data = loaded(network.folder, "ping-*.six.flent.gz")
    assert "fd00:0:0:1::1" in data["metadata"]["SERIES_META"]["Ping (ms) ICMP"]["COMMAND"]
    assert "usage: test TEST SOURCE TARGET" in type_(network, "test ping h1", "mininet").output


def test_what_cannot_be_is_said_before_anything_runs(network):
    """An address that no node has, and a plot that the test does not have."""
    done = type_(network, "flent rrul -H 10.0.0.2", "h1")
    assert done.exit_status == 2
    assert "10.0.0.2 is neither a node of this network nor an address of one; there are h1 (10.0.1.1, " in done.output
    done = type_(network, "flent ping -p no_such -H h2", "h1")
    assert (done.exit_status, "-p no_such: there is no such plot; there are " in done.output) == (2, True)
    assert done.end_s - done.start_s < 0.1  # a test of seconds has not run


def test_batches_of_a_file_run_on_this_network(network):
    """One trial after the other, with a command before each, and the journal of `linklab batch` beside them."""
    (network.folder / "two.batch").write_text(
        "[Command::count]\ntype = pre\nexec = echo once >>/lab/count\n"
        "[Batch::both]\ntest_name = ping\nhosts = h2\nlength = 1\nrepetitions = 2\ncommands = count\n"
    )
    done = type_(network, "flent -B two.batch -b both -D results", "h1", deadline_s=120)
    assert done.exit_status == 0, done.output
    assert done.output.rpartition("\n2 of 2 data files are in results/both-2024-")[1]
    (folder,) = (network.folder / "results").iterdir()
    assert sorted(file.name for file in folder.iterdir()) == [
        "both-01.flent.gz",
        "both-02.flent.gz",
        "trials.json",
    ]
    assert (network.folder / "count").read_text() == "once\nonce\n"


def test_ctrl_c_ends_a_batch_and_it_can_go_on(network):
    """The test under way does not count, the next one does not begin, and the person reads how to go on."""
    (network.folder / "long.batch").write_text(
        "[Batch::long]\ntest_name = ping\nhosts = h2\nlength = 20\nrepetitions = 2\n"
    )
    line = "flent -B long.batch -b long --batch-no-shuffle -D stopped"
    done = network.run([Typed("h1", line, StopAfter(30.0))], deadline_s=120)[0]
    assert done.exit_status == 130, done.output
    (folder,) = (network.folder / "stopped").iterdir()
    again = f"--batch-resume stopped/{folder.name}"
    assert done.output.endswith(f"flent: stopped; the same command with {again} goes on\n"), done.output
    assert [each["state"] for each in json.loads((folder / "trials.json").read_text())["trials"]] == ["done", "waiting"]
    done = type_(network, f"{line} {again}", "h1", deadline_s=120)
    assert (done.exit_status, "\n2 of 2 data files are in stopped/" in f"\n{done.output}") == (0, True), done.output


def test_two_tests_at_once_in_one_network(network):
    """And an iperf3 server of the student's own: each test has servers of its own, and neither ends the other's."""
    assert type_(network, "iperf3 -s -D -p 5201", "h2").exit_status == 0
    line = "flent rrul -l 3 -H 10.0.2.1 -t first & flent rrul -l 2 -H 10.0.2.1 -t second; wait"
    done = type_(network, line, "h1", deadline_s=300)
    assert done.exit_status == 0, done.output
    both = [loaded(network.folder, f"rrul-*.{title}.flent.gz") for title in ("first", "second")]
    for data in both:
        assert data["metadata"]["FAILED_RUNNERS"] == 0, done.output
    commands = [data["metadata"]["SERIES_META"]["TCP upload BE"]["COMMAND"] for data in both]
    assert len({"5201", *(words.split()[words.split().index("-p") + 1] for words in commands)}) == 3


@pytest.mark.long
def test_a_sweep_of_a_file_runs_on_this_network(network):
    """Each test after the commands of its combination, with a test file of one's own beside the sweep."""
    (network.folder / "mine.toml").write_text(
        'title = "A ping"\n[[flow]]\nseries = "Ping"\ntraffic = "icmp"\nlength = "length"\n'
        '[[plot]]\nname = "p"\nkind = "timeseries"\nlines = [{ series = "Ping" }]\n'
    )
    (network.folder / "delays.toml").write_text(
        'test = "mine.toml"\nto = ["h2"]\nlength = "1s"\nrepetitions = 2\n'
        'before = ["echo {delay} {repetition} >>/lab/delays",'
        ' "mnexec -a $(pgrep -of mininet:r2) tc qdisc replace dev r2-eth1 root netem delay {delay}"]\n'
        '[factors]\ndelay = ["30ms", "50ms"]\n[measures.rtt]\nseries = "Ping"\nreduce = "min"\n'
    )
    checked = type_(network, "linklab sweep --check delays.toml", "h1", deadline_s=120)
    assert checked.output.splitlines()[:2] == [
        "2 delay, 2 repetitions each",
        "4 trials, one after the other: 44 s of network time.",
    ], checked.output
    assert not (network.folder / "delays").exists()
    done = type_(network, "linklab sweep delays.toml", "h1", deadline_s=120)
    assert done.exit_status == 0, done.output
    assert "rtt: delay explains 100 % of the variance" in done.output
    assert (
        sorted((network.folder / "delays").read_text().split()) == ["01"] * 2 + ["02"] * 2 + ["30ms"] * 2 + ["50ms"] * 2
    )
    rows = (network.folder / "sweep-delays" / "table.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["delay", "30ms", "50ms"]
    first, second = (float(row.split(",")[2]) for row in rows[1:])
    assert second - first == pytest.approx(20, abs=0.5)
    refused = type_(network, "linklab sweep delays.toml --jobs 2", "h1", deadline_s=60)
    assert (refused.exit_status, "one test at a time" in refused.output) == (2, True)
