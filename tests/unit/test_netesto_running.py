# SPDX-License-Identifier: BSD-3-Clause
"""What the runner inside said of an experiment → its folder and data set: settings that failed, counters, ends."""

import json

import pytest

from linklab.agent import trial_counters
from linklab.data import Dataset
from linklab.experiment.collect import TrialOutcome
from linklab.experiment.connections import FlowEnd
from linklab.netesto import names, running
from linklab.netesto.path_values import path_settings
from linklab.netesto.recorded import RecordedSetting

NETEM = {"word": "SET_NETEM", "host": "h1", "arguments": {"netem_delay": "40"}, "at_s": None}
OTHERS = {**NETEM, "host": "h2", "arguments": {"netem_delay": "10"}}
QDISC = {"word": "SET_QDISC", "host": "r1", "arguments": {"qdisc": "tbf", "rate": "10mbit", "limit": "9"}, "at_s": 2.0}
VALUE = {"word": "SET_SYSCTL", "host": "h1", "arguments": {"net.ipv4.tcp_ecn": "1"}, "at_s": None}


def marked(folder, *not_set):
    """(settings that are said to have failed, what is missing) after these could not be made."""
    about = {"format": 1, "settings": [NETEM, OTHERS, QDISC, VALUE]}
    found = TrialOutcome(outcome={"settings": list(not_set)})
    running._mark_settings(found, about, folder)
    file = folder / names.EXPERIMENT
    told = json.loads(file.read_text())["settings"] if file.exists() else []
    assert "failed" not in json.dumps(about)
    return [one["host"] + " " + one["word"] for one in told if one.get("failed")], found


def test_a_setting_that_failed_is_a_gap(tmp_path):
    """Regression: it was a note alone, the experiment counted as whole, and exp.csv had what was asked for."""
    what = {"node": "h1", "what": "tc qdisc add dev h1-eth0 root", "at_s": None, "of": "node", "why": "exit status 2"}
    failed, found = marked(tmp_path, {**what, "node": "h2", "why": ""}, what)
    assert failed == ["h1 SET_NETEM"]
    assert found.failed == {"not set on h1: tc qdisc add dev h1-eth0 root": "exit status 2"}
    assert found.notes == ["not set on h1: tc qdisc add dev h1-eth0 root: exit status 2"]


@pytest.mark.parametrize(
    ("node", "what", "failed"),
    [
        ("r1", "tc qdisc del dev r1-eth1 root", ["r1 SET_QDISC"]),
        ("h1", "net.ipv4.tcp_ecn", ["h1 SET_SYSCTL"]),
        ("h1", "ip tcp_metrics flush all", []),
    ],
)
def test_the_setting_that_failed_is_the_one_that_is_marked(tmp_path, node, what, failed):
    """By its host, and its name or kind."""
    one = {"node": node, "what": what, "at_s": 2.0, "of": "node", "why": "no"}
    assert marked(tmp_path, one)[0] == failed
    assert marked(tmp_path, one)[1].failed == {f"not set on {node} at 2 s: {what}": "no"}


def test_nothing_is_rewritten_where_all_was_set(tmp_path):
    """experiment.json stays as it was written before the experiment."""
    assert marked(tmp_path, {"node": "h1", "what": "x", "at_s": None, "of": "node", "why": ""})[0] == []
    assert not list(tmp_path.iterdir())


def test_what_failed_is_not_known_to_the_table():
    """The columns of its kind are blank, and the others are not."""
    netem = [
        RecordedSetting("SET_NETEM", "h1", {"netem_delay": "40"}),
        RecordedSetting("SET_NETEM", "h2", {"netem_delay": "10"}, True),
    ]
    qdisc = RecordedSetting("SET_QDISC", "r1", QDISC["arguments"])
    assert path_settings([*netem, qdisc]) == {"netem": None, "qdisc": "tbf", "bw": "10mbit", "buffers": "9"}
    unknown = RecordedSetting("SET_QDISC", "r1", QDISC["arguments"], True)
    assert path_settings([netem[0], unknown]) == {"netem": "40", "qdisc": None, "bw": None, "buffers": None}


@pytest.mark.parametrize("text", ["[1, 2]", "7", '"text"', "{", "[" * 100_000, ""])
def test_counters_that_are_none_are_noted(tmp_path, text):
    """Regression: a list was a traceback."""
    fact = {"before": {"text": text}, "after": None}
    found = TrialOutcome(facts={("h1", running.COUNTERS): fact})
    running._write_counters(found, tmp_path)
    assert not list(tmp_path.iterdir())
    assert [note.startswith("the counters of h1 ") for note in found.notes] == [True, True]
    assert not found.facts


def test_counters_stay_in_their_folder(tmp_path):
    """Regression: the names of files were the guest's, and could lead out of the folder."""
    folder = tmp_path / "a/b/c"
    folder.mkdir(parents=True)
    texts = {"../../../../out": "x", "/etc/x": "x", "unknown": "x", "snmp": "Tcp: 1\n", "netstat": ["no"]}
    fact = {"before": {"text": json.dumps(texts)}, "after": {"text": json.dumps({"sysctl": "a = 1\n"})}}
    found = TrialOutcome(facts={("h1", running.COUNTERS): fact})
    running._write_counters(found, folder)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {f"a/b/c/{names.BEFORE}/h1/snmp", f"a/b/c/{names.AFTER}/h1/sysctl"}
    assert len(found.notes) == 4


def test_counters_have_the_names_that_are_accepted():
    """The agent's list and ours, which cannot import it."""
    theirs = {*trial_counters.FILES, "sysctl", *trial_counters.TOOLS, *trial_counters.OF_EACH}
    assert theirs == names.COUNTED


def test_a_tool_that_does_not_end_is_left_out(monkeypatch):
    """Regression: it held up the experiment until the fact's own time was over, and all counters were lost."""
    monkeypatch.setattr(trial_counters, "TOOL_S", 0.1)
    assert trial_counters.printed(("sleep", "5")) == ""
    assert trial_counters.printed(("echo", "x")) == "x\n"


def test_the_ends_of_a_flow_without_series_are_kept():
    """Regression: one that ended before its first sample lost its final numbers."""
    end = FlowEnd(1000, 2000, 0.0, 0.1, {"data_segs_out": 3, "bytes_received": 0}, {"bytes_received": 4000})
    data = running._with_ends(Dataset({}), TrialOutcome(ends={"STREAM 1::1": end}))
    assert data.scalars["STREAM 1::1 data_segs_out"].value == 3.0
    assert data.scalars[f"STREAM 1::1 {names.BYTES}"].value == 4000
