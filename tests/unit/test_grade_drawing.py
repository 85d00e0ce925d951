# SPDX-License-Identifier: BSD-3-Clause
"""What of a student's drawing is left out of the networks that are measured, and which drawings are not gradable."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from routed import addressed

from linklab.errors import LinklabError
from linklab.grade import drawing
from linklab.grade.drawing import UnbuildableError, need_gradable, tame
from linklab.topology import Topology
from linklab.topology.plan import plan
from linklab.topology.switching import with_spanning_tree

LAB_8 = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"


def test_measured_switches_report_to_no_collectors():
    """NetFlow and sFlow of the student's drawing would be traffic beside the grader's own; nothing else changes."""
    plain = Topology.loads(json.dumps(json.loads(LAB_8.read_text())), "Lab 8.mn")
    watched = tuple(replace(switch, opts={**switch.opts, "netflow": "1", "sflow": "1"}) for switch in plain.switches)
    found = tame(replace(plain, switches=watched))
    assert [{"netflow", "sflow"} & set(switch.opts) for switch in found.switches] == [set()] * len(plain.switches)
    assert [switch.name for switch in found.switches] == [switch.name for switch in plain.switches]


SHELL = (";WORDS;", "%;WORDS;", "$(WORDS)", "\nWORDS\n", " WORDS ", "'WORDS'")


def _texts(data, place=()):
    """Place and text of each value that is no list and no object, numbers too."""
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _texts(value, (*place, key))
    else:
        yield place, str(data)


def _changed(text):
    """The text with each of `SHELL` before, behind, before a slash, and behind an IPv6 address."""
    for words in SHELL:
        yield from {text + words, words + text, text.replace("/", f"{words}/"), f"2001:db8::1{words}/64"}


def test_no_text_of_a_drawing_is_typed_in_a_network_that_is_measured():
    """Whatever a student writes where a name, address, rate, or number belongs is refused, or is not in the plan."""
    rich = json.loads(addressed().dumps())
    rich["hosts"][0]["opts"] |= {"vlanInterfaces": [["10.9.0.1/24", "5"]], "sched": "cfs", "startCommand": "true"}
    rich["hosts"][0]["opts"] |= {"privateDirectory": ["/srv", ["/var/a", "/var/b"]], "cores": "0"}
    switch = next(each for each in rich["switches"] if each["opts"]["switchType"] == "legacySwitch")
    switch["opts"] |= {"switchIP": "10.0.0.200", "dpid": "0000000000000005", "dpctl": "6654", "netflow": "1"}
    rich["links"][0]["opts"] |= {"bw": 10, "delay": "5ms", "jitter": "1ms", "loss": 1, "max_queue_size": 100}
    plan(tame(Topology.loads(json.dumps(rich), "rich.mn")))
    tried = typed = 0
    for place, text in _texts(rich):
        for changed in _changed(text):
            data = json.loads(json.dumps(rich))
            part = data
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = changed
            tried += 1
            try:
                made = plan(tame(Topology.loads(json.dumps(data), "rich.mn")))
            except LinklabError:
                continue
            if "WORDS" in json.dumps([made[key] for key in ("ip_base", "controllers", "nodes", "links")]):
                typed += 1
    assert (typed, tried > 1000) == (0, True)


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


@pytest.mark.parametrize("name", ["client", "mininet"])
def test_a_drawing_with_a_node_named_as_a_terminal_of_ours_is_refused(name):
    """Regression: a host called client stood in the state in place of the root namespace, where the switches are."""
    renamed = LAB_8.read_text().replace('"h1"', f'"{name}"')
    with pytest.raises(UnbuildableError, match=rf"a node {name}, which is a name of Linklab's own: rename the node$"):
        need_gradable(Topology.loads(renamed, "Lab 8.mn"))


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
