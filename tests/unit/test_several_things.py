# SPDX-License-Identifier: BSD-3-Clause
"""Properties of several things at once: what is set becomes the same for all of a kind, the rest stays as it is."""

from pathlib import Path

from linklab.editor import edits, several
from linklab.topology import Link, Topology

ROOT = Path(__file__).parents[2]
MINIEDIT = ROOT / "tests/captures/miniedit-2.2.0.1-all-kinds.mn"


def drawn():
    """Three hosts, two of them with a default route, a switch, three links with two rates."""
    topology = Topology()
    for kind in ("host", "host", "host", "switch"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for name in ("h1", "h2", "h3"):
        topology = edits.add_link(topology, name, "s1")
    for name, route in (("h1", "10.0.0.254"), ("h2", "10.0.0.253")):
        topology = edits.set_opts(topology, name, {"defaultRoute": route, "unknown": name})
    topology = edits.set_link(topology, 0, {"bw": 10, "delay": "5ms"}, {})
    return edits.set_link(topology, 1, {"bw": 20}, {"forward": {"rate": "1mbit"}})


def group_of(topology, kind, keys=None):
    """The group of that kind among these keys, or among everything."""
    found = several.groups(topology, several.all_keys(topology) if keys is None else keys)
    return next(group for group in found if group.kind == kind)


def test_groups_are_by_kind():
    """Each with its things and a title; a switch's line to its controller has no properties."""
    topology = drawn()
    found = several.groups(topology, [*several.all_keys(topology), "s1>c0"])
    assert [(group.title, group.keys) for group in found] == [
        ("3 hosts", ("h1", "h2", "h3")),
        ("1 switch", ("s1",)),
        ("3 links", (0, 1, 2)),
    ]


def test_what_is_of_one_thing_alone_cannot_be_set_for_several():
    """Names, addresses and datapath numbers."""
    topology = Topology.load(MINIEDIT)
    keys = {field.key for group in several.groups(topology, several.all_keys(topology)) for field in group.page.fields}
    assert not keys & {"hostname", "ip", "dpid", "switchIP", "dpctl"}
    assert keys >= {"defaultRoute", "cpu", "startCommand", "sflow", "switchType", "controllerType", "bw", "delay"}


def test_what_they_have_is_shown():
    """One text where all have it; else nothing, and in words what each has."""
    topology = drawn()
    hosts = several.shown(topology, group_of(topology, "host"))
    assert hosts["defaultRoute"] == ("", "now 10.0.0.254, 10.0.0.253, nothing")
    assert hosts["sched"] == ("host", "")
    links = several.shown(topology, group_of(topology, "link"))
    assert links["bw"] == ("", "now 10, 20, nothing")
    assert several.shown(topology, group_of(topology, "link", [0]))["delay"] == ("5ms", "")


def test_what_is_ticked_is_set_and_the_rest_stays():
    """Also where the text is empty, which takes the key away; keys nobody knows live on, ports too."""
    topology = drawn()
    chosen = several.groups(topology, several.all_keys(topology))
    ticked = {"host": {"defaultRoute": "", "startCommand": "date"}, "link": {"bw": "100"}}
    after, wrong = several.changed(topology, chosen, ticked)
    assert wrong == {}
    assert [host.opts.get("defaultRoute") for host in after.hosts] == [None, None, None]
    assert [host.opts["startCommand"] for host in after.hosts] == ["date"] * 3
    assert [host.opts.get("unknown") for host in after.hosts] == ["h1", "h2", None]
    assert [dict(link.opts) for link in after.links] == [{"bw": 100, "delay": "5ms"}, {"bw": 100}, {"bw": 100}]
    assert [link.own for link in after.links] == [link.own for link in topology.links]
    assert after.ports() == topology.ports()
    assert [link.identity for link in after.links] == [link.identity for link in topology.links]


def test_a_wrong_value_changes_nothing():
    """It is told of its kind and field."""
    topology = drawn()
    chosen = several.groups(topology, several.all_keys(topology))
    after, wrong = several.changed(topology, chosen, {"host": {"startCommand": "date"}, "link": {"bw": "fast"}})
    assert after is topology
    assert list(wrong) == [("link", "bw")]


def test_nothing_ticked_gives_the_very_same_file():
    """For every kind that MiniEdit has."""
    topology = Topology.load(MINIEDIT)
    chosen = several.groups(topology, several.all_keys(topology))
    assert several.changed(topology, chosen, {})[0].dumps() == MINIEDIT.read_text()


def test_links_with_directions_of_their_own_are_named():
    """What is set for both directions has no effect where a direction has its own."""
    topology = drawn()
    assert several.own_directions(topology, group_of(topology, "link")) == ["h2-s1"]
    assert several.own_directions(topology, group_of(topology, "host")) == []


def test_a_node_is_linked_to_the_one_switch():
    """`link_all` joins in order, to a router too; two switches are one too many."""
    topology = Topology()
    for kind in ("host", "legacyRouter", "host"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    after, hub = edits.link_all(topology, ["h1", "h2", "r1"])
    assert hub == "r1"
    assert after.links == (Link("h1", "r1"), Link("h2", "r1"))
