# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel and Open vSwitch say of a spanning tree, and the wait until it has formed."""

from types import SimpleNamespace

import pytest
from scripted import ScriptedNetwork

from linklab.agent import ovs_tables, spanning_tree
from linklab.agent.meter import Tree, reading
from linklab.engine.agent_network import AgentNetwork
from linklab.engine.api import refuse_failed_commands
from linklab.errors import AgentError, Fault

ROOT, OTHER = "8000.4a1f00000001", "8000.4a1f00000002"
PORTS = (
    '{"data":[["s1",["map",[]]],["s1-eth1",["map",[["stp_port_id","8001"],["stp_role","designated"],'
    '["stp_sec_in_state","12"],["stp_state","forwarding"]]]],["s2-eth2",["map",[["stp_port_id","8002"],'
    '["stp_role","alternate"],["stp_sec_in_state","12"],["stp_state","blocking"]]]]],"headings":["name","status"]}'
)


@pytest.fixture
def interfaces(tmp_path, monkeypatch):
    """A folder like /sys/class/net with one bridge and its ports; a function that sets a port's state."""
    monkeypatch.setattr(spanning_tree, "INTERFACES", tmp_path)
    monkeypatch.setattr(spanning_tree.time, "sleep", lambda _: None)
    monkeypatch.setattr(ovs_tables, "OVS_SOCKET", tmp_path / "no socket")

    def put(port, state):
        folder = tmp_path / port / "brport"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "state").write_text(f"{state}\n")

    return put


def bridge(folder, name, stp, root):
    """A bridge as the kernel shows it."""
    (folder / name / "bridge").mkdir(parents=True)
    for key, value in (("stp_state", stp), ("root_id", root), ("bridge_id", ROOT)):
        (folder / name / "bridge" / key).write_text(f"{value}\n")


def test_the_kernel_says_in_which_state_a_port_is(interfaces):
    """By the words of IEEE 802.1D."""
    for number, port in enumerate(("a", "b", "c", "d", "e")):
        interfaces(port, number)
    assert spanning_tree.bridge_ports() == {
        "a": "disabled",
        "b": "listening",
        "c": "learning",
        "d": "forwarding",
        "e": "blocking",
    }


def test_the_root_is_the_bridge_that_names_itself(interfaces, tmp_path):
    """Not one that speaks no STP, which names itself as well."""
    bridge(tmp_path, "s1", 1, ROOT)
    bridge(tmp_path, "s2", 1, OTHER)
    bridge(tmp_path, "s3", 0, ROOT)
    assert spanning_tree.bridge_roots() == ["s1"]


def test_open_vswitch_says_in_which_state_a_port_is(monkeypatch):
    """Of each port that speaks STP."""
    monkeypatch.setattr(ovs_tables, "table", lambda *_: ovs_tables.rows(PORTS))
    assert spanning_tree.ovs_ports() == {"s1-eth1": "forwarding", "s2-eth2": "blocking"}


@pytest.fixture
def ovs(tmp_path, monkeypatch):
    """Open vSwitch as far as it is asked; a function that sets what ovs-vsctl prints, and its exit status."""
    (tmp_path / "db.sock").touch()
    monkeypatch.setattr(ovs_tables, "OVS_SOCKET", tmp_path / "db.sock")

    def answers(shown, error="", status=0):
        done = SimpleNamespace(stdout=shown, stderr=error, returncode=status)
        monkeypatch.setattr(ovs_tables.subprocess, "run", lambda *_, **__: done)

    return answers


FAILURES = [
    ("", "ovs-vsctl: fatal signal 14 (Alarm clock)\n", 142),
    (PORTS, "no such column", 1),
    ("{", "", 0),
    ("", "", 0),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_an_open_vswitch_that_does_not_answer_has_not_no_rows(ovs, failure):
    """Regression: a program that failed or timed out gave no rows, as one does where there are no ports."""
    ovs(*failure)
    with pytest.raises(ovs_tables.UnreadableError, match="ovs-vsctl could not list Port"):
        spanning_tree.ovs_ports()


def test_an_open_vswitch_that_does_not_run_has_no_rows(ovs, tmp_path):
    """There is nothing to ask."""
    ovs(*FAILURES[0])
    (tmp_path / "db.sock").unlink()
    assert spanning_tree.ovs_ports() == {}


def test_a_tree_that_cannot_be_read_has_not_formed(interfaces, ovs, monkeypatch, tmp_path):
    """Regression: the wait ended at once, as for a tree that has formed, and a measurement went on."""
    monkeypatch.setattr(ovs_tables, "OVS_SOCKET", tmp_path / "db.sock")
    seconds = iter(range(0, 1000, 10))
    monkeypatch.setattr(spanning_tree.time, "monotonic", lambda: next(seconds))
    ovs("", "ovs-vsctl: fatal signal 14 (Alarm clock)\n", 142)
    assert spanning_tree.wait() == (
        "after 60 s the state of the spanning tree could not be read: "
        "ovs-vsctl could not list Port: ovs-vsctl: fatal signal 14 (Alarm clock)"
    )


def test_the_wait_outlasts_an_answer_that_fails_once(interfaces, monkeypatch):
    """Open vSwitch is only busy."""
    answers = iter([ovs_tables.UnreadableError("busy"), {"s1-eth1": "learning"}, {"s1-eth1": "forwarding"}])

    def ports():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(spanning_tree, "ovs_ports", ports)
    assert spanning_tree.wait() == ""
    assert next(answers, None) is None


def test_the_meter_keeps_what_it_knew_of_open_vswitch(interfaces, monkeypatch):
    """Regression: while it did not answer, no port was blocked."""

    def unreadable():
        raise ovs_tables.UnreadableError("busy")

    tree = Tree()
    monkeypatch.setattr(spanning_tree, "ovs_ports", lambda: {"s2-eth2": "blocking"})
    monkeypatch.setattr(spanning_tree, "ovs_roots", lambda: ["s1"])
    known = {"ports": {"s2-eth2": "blocking"}, "roots": ["s1"]}
    assert tree.read(ask_ovs=True) == known
    monkeypatch.setattr(spanning_tree, "ovs_roots", unreadable)
    monkeypatch.setattr(spanning_tree, "ovs_ports", dict)
    assert tree.read(ask_ovs=True) == known
    monkeypatch.setattr(spanning_tree, "ovs_ports", unreadable)
    assert tree.read(ask_ovs=True) == known


def test_the_meter_says_nothing_of_controllers_that_it_cannot_read(interfaces, ovs):
    """The editor keeps what it was told last; regression: it was told that there are none."""
    ovs(*FAILURES[0])
    assert reading([], Tree(), ask_ovs=True, ask_controllers=True, ask_tree=False).keys() == {"t", "i"}
    ovs('{"data":[],"headings":[]}')
    assert reading([], Tree(), ask_ovs=True, ask_controllers=True, ask_tree=False)["c"] == {}


def test_the_wait_ends_when_every_port_has_settled(interfaces):
    """Forwarding or blocking."""
    interfaces("s1-eth1", 3)
    interfaces("s2-eth1", 4)
    assert spanning_tree.wait() == ""


def test_a_tree_that_does_not_form_is_said(interfaces, monkeypatch):
    """Regression: the deadline passed in silence."""
    interfaces("s1-eth1", 3)
    interfaces("s1-eth2", 1)
    seconds = iter(range(0, 1000, 10))
    monkeypatch.setattr(spanning_tree.time, "monotonic", lambda: next(seconds))
    assert spanning_tree.wait() == (
        "the spanning tree has not formed: after 60 s s1-eth2 still listens or learns, so frames are lost there"
    )
    interfaces("s2-eth1", 2)
    assert "s1-eth2, s2-eth1 still listen or learn" in spanning_tree.wait()


def test_who_measures_refuses_a_network_whose_tree_has_not_formed(tmp_path):
    """Frames are lost there, so no number that is measured would be right."""
    network = ScriptedNetwork({}, tmp_path)
    refuse_failed_commands(network)
    network.warnings = ["the spanning tree has not formed: after 60 s s1-eth2 still listens or learns"]
    with pytest.raises(AgentError, match="the spanning tree has not formed") as refused:
        refuse_failed_commands(network)
    assert refused.value.fault is Fault.NETWORK


def test_the_sentence_comes_with_the_answer_of_who_builds():
    """From the agent, with the nodes; without one there is nothing to say."""
    answer = {"nodes": ["s1"], "environment": {}, "ready_clock_s": 11.0}
    for given in ({}, {"warnings": ["the spanning tree has not formed"]}):
        network = AgentNetwork()
        network.link = SimpleNamespace(request=lambda *_, given=given, **__: {**answer, **given})
        network._build(None, {}, display=False)
        assert network.warnings == given.get("warnings", [])
