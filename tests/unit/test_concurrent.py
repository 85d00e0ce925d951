# SPDX-License-Identifier: BSD-3-Clause
"""Tests that begin together: the words of the CLI's `concurrent`, its scripts, and what is made of its results."""

import os
import re
import socket

import pytest

from linklab.agent import concurrent
from linklab.agent.concurrent import ConcurrentError, ConcurrentFlow, parse
from linklab.base.installation import ROOT
from linklab.data import Dataset
from linklab.measure import make_series, measure
from linklab.measure.series import Measurements
from linklab.plots import catalogue
from linklab.run.workfolder import WorkFolder

NODES = {"h1", "h2", "h3", "h4", "s1", "s2"}


def test_words_of_the_command():
    """Time, flows with and without an algorithm, and options that go to iperf3 as they are."""
    plan = parse("-t 20 h1:h2:reno h3:h4 -- --fq-rate 2gbit -O 5", NODES)
    assert plan.flows == (ConcurrentFlow("h1", "h2", "reno"), ConcurrentFlow("h3", "h4"))
    assert plan.seconds == 20.0 and plan.options == ("--fq-rate", "2gbit", "-O", "5")
    assert [flow.file for flow in plan.flows] == ["h1-reno.json", "h3.json"]
    assert concurrent.describe(plan) == "2 flows of 20 s, started together: h1 to h2 (reno), h3 to h4"


def test_parallel_streams_are_of_the_flow_before_them():
    """Each has a file of its own; what all flows have stands behind --, and a flow's own word counts."""
    plan = parse("h1:h2:reno -P 4 h1:h2:reno h3:h4 -P 1 -t 5 -- -O 1 -P 2", NODES)
    assert [flow.streams for flow in plan.flows] == [4, None, 1]
    assert [flow.file for flow in plan.flows] == ["h1-reno-P4.json", "h1-reno.json", "h3.json"]
    assert plan.seconds == 5.0
    assert concurrent.describe(plan) == (
        "3 flows of 5 s, started together: h1 to h2 (reno, 4 streams), h1 to h2 (reno), h3 to h4"
    )
    assert [plan.options_of(flow) for flow in plan.flows] == [
        ["-O", "1", "-P", "2", "-P", "4"],
        ["-O", "1", "-P", "2"],
        ["-O", "1", "-P", "2", "-P", "1"],
    ]


def test_results_of_an_earlier_call_are_kept(tmp_path):
    """They move to a folder of their own, that of the call before last stays; an empty folder is no result."""
    folder = tmp_path / "concurrent"
    assert concurrent.keep_earlier(folder) is None
    folder.mkdir()
    assert concurrent.keep_earlier(folder) is None
    for number in (1, 2):
        folder.mkdir(exist_ok=True)
        (folder / "h1.json").write_text(str(number))
        assert concurrent.keep_earlier(folder) == tmp_path / f"concurrent.earlier-{number}"
        assert not folder.exists()
    assert [(tmp_path / f"concurrent.earlier-{number}/h1.json").read_text() for number in (1, 2)] == ["1", "2"]


def test_results_that_were_kept_are_no_files_of_the_step_that_runs(tmp_path):
    """Regression to be: a lab's second test would have counted the flows of the first."""
    folder = WorkFolder(tmp_path)
    (tmp_path / "concurrent/results").mkdir(parents=True)
    for name in ("h1.json", "results/throughput.pdf"):
        (tmp_path / "concurrent" / name).write_text("1")
    assert folder.changed() == ["concurrent/h1.json", "concurrent/results/throughput.pdf"]
    kept = concurrent.keep_earlier(tmp_path / "concurrent")
    (tmp_path / "concurrent").mkdir()
    (tmp_path / "concurrent/h1.json").write_text("22")
    assert folder.changed() == ["concurrent/h1.json"]
    assert (kept / "h1.json").is_file()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "usage: concurrent"),
        ("-P 4 h1:h2", '"-P 4" stands before the first flow; write it behind the flow that it is for'),
        ("h1:h2 -P many", '"-P many" is not a number of parallel streams from 1 to 128'),
        ("h1:h2 -P 0", '"-P 0" is not a number of parallel streams from 1 to 128'),
        ("h1:h2 -P 129", '"-P 129" is not'),
        ("h1:h2 -P", '"-P " is not'),
        ("h1:h2 -P 2 -P 3", '"-P 3" is the second for h1 to h2 (2 streams)'),
        ("h1", '"h1" is no flow'),
        ("h1:", '"h1:" is no flow'),
        ("h1:h2:reno:x", "is no flow"),
        ("h1:h9", "h9 is not in the network"),
        ("-t soon h1:h2", '"-t soon" is no number'),
        ("-t 0 h1:h2", '"-t 0" is no number'),
        ("h1:h2 -t", '"-t " is no number'),
        ("h1:h2:reno h1:h4:reno", "h1 to h4 (reno) would write h1-reno.json, as h1 to h2 (reno) does"),
    ],
)
def test_wrong_words_are_named(line, says):
    """A message says which word is wrong and how the command is used."""
    with pytest.raises(ConcurrentError, match=re.escape(says)):
        parse(line, NODES)


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("concurrent_*")), ids=lambda path: path.name)
def test_scripts_hold_one_command_that_parses(script):
    """A script for `source` is comments and one `concurrent` with flows of at least two hosts."""
    lines = [line.partition("#")[0].strip() for line in script.read_text(encoding="utf-8").splitlines()]
    commands = [line for line in lines if line]
    assert len(commands) == 1 and commands[0].startswith("concurrent ")
    plan = parse(commands[0].removeprefix("concurrent "), {f"h{number}" for number in range(1, 9)})
    assert len(plan.flows) >= 2


def test_a_listening_port_is_seen():
    """The servers are waited for by looking at the kernel's table of sockets."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not concurrent.listens(os.getpid(), port)
        server.listen()
        assert concurrent.listens(os.getpid(), port)


def test_printed_indices_are_measured():
    """What fairness.sh printed is a measurement; a second index has its number."""
    text = "fairness index: 0.91395\n(Jain's index ...)\nfairness index: 1.00000\n"
    found = measure(text, source="x")
    assert found.scalars["fairness.index"].value == 0.91395
    assert found.scalars["fairness.2.index"].value == 1.0
    assert "fairness.variation.mean" not in found.scalars


def test_printed_variations_are_measured():
    """One number a flow, and their mean; a flow of which it is unknown has none."""
    text = "fairness index: 0.91395\ncoefficient of variation: 0.2000, unknown, 0.1000\n(CV: ...)\n"
    found = measure(text, source="x").scalars
    assert {name: quantity.value for name, quantity in found.items() if "variation" in name} == pytest.approx(
        {"fairness.variation.1": 0.2, "fairness.variation.3": 0.1, "fairness.variation.mean": 0.15}
    )


def test_flows_of_several_tests_are_drawn_by_file():
    """The figure `flows` has a line a stream, named by the file where there are several."""
    series = {
        f"{tool}.stream.1.throughput": make_series(
            f"{tool}.stream.1.throughput", "bit/s", [1, 2], [1e9, 2e9], source=f"x/{file}.json", meta={"stream": 1}
        )
        for tool, file in (("iperf3", "h1-reno"), ("iperf3.2", "h3-bbr"))
    }
    found = Measurements({}, series, "iperf3", "x")
    assert [label for label, _ in catalogue.flows_of(Dataset.of(found, {}))] == ["h1-reno", "h3-bbr"]
    assert catalogue.available(Dataset.of(found, {})) == ["flows"]
    assert catalogue.draw([catalogue.Part("both", "mininet", Dataset.of(found, {}))], ["flows"]).startswith(b"<?xml")


def test_streams_of_one_test_are_numbered():
    """Parallel streams are told apart by their numbers."""
    series = {
        f"iperf3.stream.{n}.throughput": make_series(
            f"iperf3.stream.{n}.throughput", "bit/s", [1, 2], [1e9, 2e9], source="out.json", meta={"stream": n}
        )
        for n in (1, 2)
    }
    found = Measurements({}, series, "iperf3", "x")
    assert [label for label, _ in catalogue.flows_of(Dataset.of(found, {}))] == ["stream 1", "stream 2"]
