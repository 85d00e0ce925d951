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

NODES = {"h1", "h2", "h3", "h4", "s1", "s2"}


def test_words_of_the_command():
    """Time, flows with and without an algorithm, and options that go to iperf3 as they are."""
    plan = parse("-t 20 h1:h2:reno h3:h4 -- --fq-rate 2gbit -O 5", NODES)
    assert plan.flows == (ConcurrentFlow("h1", "h2", "reno"), ConcurrentFlow("h3", "h4"))
    assert plan.seconds == 20.0 and plan.options == ("--fq-rate", "2gbit", "-O", "5")
    assert [flow.file for flow in plan.flows] == ["h1-reno.json", "h3.json"]
    assert concurrent.describe(plan) == "2 flows of 20 s, started together: h1 to h2 (reno), h3 to h4"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "usage: concurrent"),
        ("h1", '"h1" is no flow'),
        ("h1:", '"h1:" is no flow'),
        ("h1:h2:reno:x", "is no flow"),
        ("h1:h9", "h9 is not in the network"),
        ("-t soon h1:h2", '"-t soon" is no number'),
        ("-t 0 h1:h2", '"-t 0" is no number'),
        ("h1:h2 -t", '"-t " is no number'),
        ("h1:h2:reno h1:h4:reno", "h1 to h4 (reno) is there twice"),
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
