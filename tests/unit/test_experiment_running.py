# SPDX-License-Identifier: BSD-3-Clause
"""A test on a network that runs: what the network says of itself becomes a place, and the place a plan."""

import json
from pathlib import Path

import pytest

from linklab.data import open_file
from linklab.errors import EngineError, InputError
from linklab.experiment.model import Trial, TrialCommand, When
from linklab.experiment.place import PathPort
from linklab.experiment.running import RunningChoice, free_slot, ground_of, place_on, prepare_on, run_on
from linklab.experiment.trial_commands import MOST_OUTPUT, told

SAID = {
    "format": 1,
    "source": "h1",
    "targets": [
        {
            "node": "h3",
            "address": "10.0.5.2",
            "egress": "h1-eth0",
            "up": [["h1", "h1-eth0"], ["r1", "r1-eth1"]],
            "down": [["r1", "r1-eth0"], ["h3", "h3-eth1"]],
        },
        {
            "node": "h2",
            "address": "fd00::2",
            "egress": "h1-eth0",
            "up": [["h1", "h1-eth0"], ["r1", "r1-eth2"]],
            "down": [["r1", "r1-eth0"], ["h2", "h2-eth0"]],
        },
    ],
    "addresses": {"h1": ["10.0.1.2", "fd00::1"], "h3": ["10.0.3.2", "10.0.5.2"], "h2": ["10.0.2.2", "fd00::2"]},
    "interfaces": {"lo": [], "h1-eth0": ["10.0.1.2", "fd00::1"]},
    "hosts": ["h1", "h2", "h3"],
    "taken": {"tcp": [], "udp": []},
    "recent": 0,
}


class Painted:
    """A door behind which a script stands: what it says of the path, and the runner that ends as it is told."""

    name, inside = "this network", "/tmp/x"

    def __init__(self, folder: Path, said: object = SAID, *, runs: bool = True) -> None:
        self.folder, self.said, self.runs = folder, said, runs
        self.facts = {"engine": "pocket", "clock": "virtual", "kernel": "7.3"}
        self.asked: list[list[str]] = []

    def ask(self, argv, what, node=""):
        """What is said, or the status of a command of the trial's own."""
        self.asked.append([node, *argv])
        if argv[0] == "sh":
            return (1, "no such device") if "fails" in argv[2] else (0, "")
        return 0, f"a warning\n{json.dumps(self.said)}\n"

    def run(self, argv, said):
        """The runner, which measures nothing."""
        self.asked.append(["run", *argv])
        if not self.runs:
            said("trial: no room\n")
            return
        said('{"t": 1.0, "length_s": 2}\n')
        out = self.folder / "out"
        out.mkdir()
        (out / "facts.json").write_text("[]")
        programs = {"icmp-1": {"started_s": 0.0, "ended_s": 1.0, "status": 1, "why": "exit status 1: no"}}
        programs["monitor-1"] = {"started_s": 0.0, "ended_s": 1.0, "status": 7, "why": "exit status 7", "stopped": []}
        (out / "monitor-1.err").write_text("not found\n")
        outcome = {"t0_date_ns": 1_700_000_000_500_000_000, "ended": "whole", "ended_s": 1.0, "programs": programs}
        (out / "outcome.json").write_text(json.dumps(outcome))


def test_a_place_takes_the_addresses_that_were_named(tmp_path):
    """Of a node with several; ports of all ways count once, those up first, and targets take turns."""
    ground = ground_of(Painted(tmp_path), "h1", ["10.0.5.2", "h2"])
    place = place_on(ground, 3, "this network")
    assert (place.source, place.targets, place.egress) == ("h1", ("h3", "h2", "h3"), "h1-eth0")
    assert place.address("h3", None) == "10.0.5.2"
    assert place.address("h2", 6) == "fd00::2"
    assert place.ports == tuple(
        PathPort(*name.split(":"))
        for name in (
            "h1:h1-eth0",
            "r1:r1-eth1",
            "r1:r1-eth2",
            "r1:r1-eth0",
            "h3:h3-eth1",
            "h2:h2-eth0",
        )
    )


def test_what_the_network_refuses_is_a_sentence(tmp_path):
    """Its own where it has one, else what it printed."""
    with pytest.raises(InputError, match=r"^h9 is no node"):
        ground_of(Painted(tmp_path, {"error": "h9 is no node"}), "h1", ["h9"])
    door = Painted(tmp_path)
    door.ask = lambda *_: (1, "bash: python3: not found")
    with pytest.raises(EngineError, match="bash: python3: not found"):
        ground_of(door, "h1", [])


def test_tests_at_once_share_no_port(tmp_path):
    """Nor does one with what a student has started; the usual ports come first."""
    assert free_slot({"tcp": [22], "udp": [68]}, 0) == 0
    assert [free_slot({"tcp": [port], "udp": []}, 0) for port in (5201, 5400, 80, 7001)] == [1, 1, 1, 1]
    assert [free_slot({"tcp": [], "udp": [port]}, 0) for port in (2112, 5201, 80)] == [1, 1, 0]
    assert free_slot({"tcp": [], "udp": []}, 2) == 2  # two have asked and do not listen yet
    assert free_slot({"tcp": [5201, 5601], "udp": [2112, 2114]}, 1) == 3
    with pytest.raises(EngineError, match="no ports for another test: 40 of 40 sets are in use, and 0 tests"):
        free_slot({"tcp": list(range(80, 20_000)), "udp": []}, 0)

    def argvs(**said):
        ground = ground_of(Painted(tmp_path, {**SAID, **said}), "h1", ["10.0.5.2"])
        ready = prepare_on(
            Trial("rrul", parameters={"include_http": "1"}), ground, "this network", RunningChoice(version=4)
        )
        return [one["argv"] for one in ready.plan.data["programs"]], ready.plan.data["samplers"]["ports"]

    (usual, ports), (second, others) = argvs(), argvs(taken={"tcp": [5201], "udp": []})
    assert (ports[0], others[0]) == (5201, 5401)
    assert not set(ports) & set(others)
    assert "http://10.0.5.2/10k" in next(argv for argv in usual if "http://10.0.5.2/10k" in argv)
    words = [word for argv in second for word in argv]
    assert {"http://10.0.5.2:8081/10k", "10.0.5.2:2113", ":2113", "8081", "5401"} <= set(words)
    assert not {"10.0.5.2:2112", "5201", "http://10.0.5.2/10k"} & set(words)


def test_options_of_flent_change_the_flows(tmp_path):
    """The version of each target's address, the direction, the size of writes, the rate of probes."""
    ground = ground_of(Painted(tmp_path), "h1", ["10.0.5.2", "h2"])
    choice = RunningChoice(swap=True, send_bytes=(1000, 2000), probe_s=0.01, delay_s=1.0)
    ready = prepare_on(Trial("rtt_fair", length_s=3), ground, "this network", choice)
    flows = {flow.series: flow for flow in ready.expanded.flows}
    assert {flow.version for flow in flows.values() if flow.target == 0} == {None}
    assert {flow.version for flow in flows.values() if flow.target == 1} == {6}
    tcp = [flow for flow in flows.values() if flow.traffic.value == "tcp"]
    assert {("upload" in flow.series, flow.direction) for flow in tcp} == {(True, "down"), (False, "up")}
    assert [flow.size_bytes for flow in tcp[:4]] == [1000, 2000, 1000, 2000]
    assert ready.expanded.total_s == 5.0


def test_any_node_may_be_named_for_its_counters(tmp_path):
    """Also one off the path; without an interface, those of the path are sampled, and no other."""
    said = {**SAID, "addresses": {**SAID["addresses"], "s9": []}}
    ground = ground_of(Painted(tmp_path, said), "h1", ["10.0.5.2"])
    alone = prepare_on(Trial("qdisc-stats", length_s=1), ground, "this network", RunningChoice())
    along = [(port.node, port.interface) for port in alone.place.ports]
    assert [(one["node"], one["interface"]) for one in alone.plan.data["samplers"]["qdiscs"]] == along
    more = {"qdisc_stats_hosts": "s9", "qdisc_stats_interfaces": "s9-eth3", "netstat_hosts": "h2"}
    ready = prepare_on(Trial("tcp_1up", parameters=more), ground, "this network", RunningChoice())
    assert ready.plan.data["samplers"]["qdiscs"][-1] == {"node": "s9", "interface": "s9-eth3"}
    assert ready.plan.data["samplers"]["netstat"] == ["h2"]
    assert ready.place.known("10.0.2.2") == "h2"
    with pytest.raises(InputError, match="there is no node s8; there are h1, h3, h2, s9"):
        prepare_on(
            Trial("tcp_1up", parameters={**more, "qdisc_stats_hosts": "s8"}), ground, "this network", RunningChoice()
        )


def test_of_a_command_that_prints_without_end_the_end_is_kept():
    """Regression: only of those beside the test; one before it could make a data set of any size."""
    kept = told(TrialCommand("flood", "yes", When.PRE), 0, "y" * MOST_OUTPUT + "end")["output"]
    assert len(kept) == MOST_OUTPUT
    assert kept.endswith("yend")


def test_a_failed_program_leaves_a_file_that_says_why(tmp_path):
    """The file is named after the network's clock; the trial's own commands run around the test."""
    (tmp_path / "door").mkdir()
    door = Painted(tmp_path / "door")
    commands = (
        TrialCommand("before", "echo 1", When.PRE, node="h3"),
        TrialCommand("after", "fails 2", When.POST),
        TrialCommand("beside", "echo 4", When.MONITOR),
        TrialCommand("outside", "echo 3", When.PRE, on_host=True),
    )
    told = []
    file = run_on(Trial("ping", length_s=1, title="a b/c", commands=commands), tmp_path / "out", door, told.append)
    assert file == tmp_path / "out" / "ping-2023-11-14T221320.500000.a-b-c.flent.gz"
    assert [line[:4] for line in door.asked[1:]] == [
        ["h3", "sh", "-c", "echo 1"],
        ["run", "env", "PYTHONSAFEPATH=1", "python3"],
        ["", "sh", "-c", "fails 2"],
    ]
    assert [one.done_s for one in told if one.length_s] == [1.0]
    data = open_file(file)
    assert data.metadata["failed"]["Ping (ms) ICMP"] == "exit status 1: no"
    ran = {one["name"]: one for one in data.metadata["trial_commands"]}
    assert {name: one["status"] for name, one in ran.items()} == {"before": 0, "after": 1, "beside": 7}
    assert "the command after on client ended with status 1: no such device" in data.notes
    assert "the command beside on client ended with status 7: not found" in data.notes
    assert (data.metadata["clock"], data.metadata["seed"], data.flent["T0"]) == (
        "virtual",
        None,
        "2023-11-14T22:13:20.500000Z",
    )


def test_an_essential_command_that_fails_ends_it_and_those_afterwards_run(tmp_path):
    """Nothing is measured then."""
    commands = (
        TrialCommand("before", "fails", When.PRE, essential=True),
        TrialCommand("after", "echo 2", When.POST),
    )
    door = Painted(tmp_path)
    with pytest.raises(EngineError, match="before: fails ended with status 1: no such device"):
        run_on(Trial("ping", commands=commands), tmp_path, door)
    assert door.asked[-1] == ["", "sh", "-c", "echo 2"]
    with pytest.raises(EngineError, match="the test did not begin: trial: no room"):
        run_on(Trial("ping"), tmp_path, Painted(tmp_path, runs=False))
