# SPDX-License-Identifier: BSD-3-Clause
"""What of a student's drawing is left out of the networks that are measured, and which drawings are not gradable."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.grade import drawing
from linklab.grade.drawing import UnbuildableError, need_gradable, tame
from linklab.topology import Topology
from linklab.topology.switching import with_spanning_tree

LAB_8 = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"


def test_measured_switches_report_to_no_collectors():
    """NetFlow and sFlow of the student's drawing would be traffic beside the grader's own; nothing else changes."""
    plain = Topology.loads(json.dumps(json.loads(LAB_8.read_text())), "Lab 8.mn")
    watched = tuple(replace(switch, opts={**switch.opts, "netflow": "1", "sflow": "1"}) for switch in plain.switches)
    found = tame(replace(plain, switches=watched))
    assert [{"netflow", "sflow"} & set(switch.opts) for switch in found.switches] == [set()] * len(plain.switches)
    assert [switch.name for switch in found.switches] == [switch.name for switch in plain.switches]


@pytest.mark.parametrize(
    ("key", "each", "more", "said"),
    [
        (
            "hosts",
            {"opts": {"hostname": "h{n}", "nodeNum": 1}},
            197,
            "201 nodes and controllers, and the grader builds",
        ),
        ("controllers", {"opts": {"hostname": "c{n}"}}, 197, "201 nodes and controllers, and the grader builds"),
        (
            "links",
            {"src": "h1", "dest": "s2", "opts": {}},
            998,
            "1,001 links, and the grader builds at most 1,000: draw",
        ),
    ],
)
def test_a_drawing_that_takes_longer_than_the_limits_is_not_built(key, each, more, said):
    """Regression: with 4,500 hosts grading broke off as an error of ours, after minutes of processor time."""
    data = json.loads(LAB_8.read_text())
    plain = Topology.loads(json.dumps(data), "Lab 8.mn")
    assert (len(plain.nodes) + len(plain.controllers), len(plain.links)) == (4, 3)
    added = [json.loads(json.dumps(each).replace("{n}", str(number))) for number in range(100, 100 + more)]
    data[key] += added[:-1]
    need_gradable(Topology.loads(json.dumps(data), "Lab 8.mn", check=False))
    data[key].append(added[-1])
    large = Topology.loads(json.dumps(data), "Lab 8.mn", check=False)
    with pytest.raises(UnbuildableError, match=said):
        need_gradable(large)
    need_gradable(large, plain)  # the exercise itself hands out a drawing, so it is the rest that counts


def test_lists_of_a_drawing_count_however_they_are_nested():
    """As VLANs are pairs in a list, and a file may nest lists nearly a thousand deep."""
    nested = []
    for _ in range(900):
        nested = [nested]
    plain = Topology.load(LAB_8)
    for lists, fits in (([["10.0.0.9", "1"]] * 666, True), ([["10.0.0.9", "1"]] * 700, False), (nested, True)):
        first, *others = plain.hosts
        hosts = (replace(first, opts={**first.opts, "vlanInterfaces": lists}), *others)
        if fits:
            need_gradable(replace(plain, hosts=hosts))
        else:
            with pytest.raises(UnbuildableError, match=r"2,10. entries of lists, and the grader builds at most 2,000"):
                need_gradable(replace(plain, hosts=hosts))


def test_a_node_has_no_name_of_an_interface():
    """Regression: the state of such a network cannot be read, which was an error of ours."""
    plain = Topology.load(LAB_8)
    renamed = json.loads(LAB_8.read_text().replace('"s1"', '"h1-eth0"'))
    need_gradable(plain)
    with pytest.raises(UnbuildableError, match=r"a node h1-eth0, which an interface of h1 is called too$"):
        need_gradable(Topology.loads(json.dumps(renamed), "Lab 8.mn"))


@pytest.mark.parametrize("kind", ["stations", "aps"])
def test_a_drawing_with_wireless_nodes_is_not_gradable(kind):
    """Regression: Mininet-WiFi's nodes cannot be built here, which was an error of ours."""
    data = json.loads(LAB_8.read_text())
    data[kind] = [{"number": "1", "opts": {"hostname": "w1"}, "x": "1", "y": "1"}]
    with pytest.raises(UnbuildableError, match=r"^the topology cannot be built: w1 is wireless, .* take it out$"):
        need_gradable(Topology.loads(json.dumps(data), "Lab 8.mn"))


def test_loops_of_a_drawing_that_is_too_large_are_not_looked_for(monkeypatch):
    """Regression: those of 9,000 switches took the 300 s of the process that grades, which was an error of ours."""
    monkeypatch.setattr(drawing, "loop_words", lambda _: pytest.fail("it was looked for"))
    data = json.loads(LAB_8.read_text())
    data["links"] += [{"src": "s2", "dest": "s1", "opts": {}}] * 1001
    with pytest.raises(UnbuildableError, match=r"^the topology has 1,\d+ links, and the grader builds at most 1,000:"):
        need_gradable(Topology.loads(json.dumps(data), "Lab 8.mn"))


def test_a_loop_of_switches_needs_a_spanning_tree():
    """Regression: broadcasts circled while it was built, until two minutes were over, which was an error of ours."""
    data = json.loads(LAB_8.read_text())
    data["links"].append({"src": "s2", "dest": "s1", "opts": {}})
    looped = Topology.loads(json.dumps(data), "Lab 8.mn")
    with pytest.raises(
        UnbuildableError, match=r"^the topology cannot be measured: s2 – s1 – s2 is a loop of switches,"
    ):
        need_gradable(looped)
    need_gradable(with_spanning_tree(looped))
    need_gradable(looped, looped)  # the exercise's own may have one, whatever it is for
