# SPDX-License-Identifier: BSD-3-Clause
"""The editor's pure part: edits, undo, names, ports that stay, files; no window."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linklab.editor import edits, files
from linklab.editor.document import Document, everyone
from linklab.editor.settings import EditorSettings, from_data, load_settings, save_settings
from linklab.errors import InputError, TopologyError
from linklab.topology import Topology, mending

ROOT = Path(__file__).parents[2]
MINIEDIT = ROOT / "tests/captures/miniedit-2.2.0.1-all-kinds.mn"


def star(hosts=3):
    """Hosts on one legacy switch."""
    topology, _ = edits.add_node(Topology(), "legacySwitch", 300, 200)
    for i in range(hosts):
        topology, name = edits.add_node(topology, "host", 100, 100 * i)
        topology = edits.add_link(topology, name, "s1")
    return topology


def ports(topology):
    """What is wired to s1, by port."""
    return {a: b for a, b in topology.port_names().items() if a.startswith("s1-")}


def test_a_new_node_takes_the_lowest_free_number():
    """After h1 and h3 the next host is h2, then h4: never a second h3."""
    topology = edits.delete(star(3), {"h2"})
    for name in ("h2", "h4"):
        topology, new = edits.add_node(topology, "host", 0, 0)
        assert new == name
    topology, new = edits.add_node(topology, "legacyRouter", 0, 0)
    assert new == "r2"  # s1 has number 1: hosts apart, switches and routers count together as in MiniEdit
    assert edits.add_node(topology, "controller", 0, 0)[1] == "c0"


def test_a_number_that_only_a_name_has_is_not_taken():
    """A host renamed to h7 keeps another from becoming a second h7."""
    topology = edits.set_opts(star(1), "h1", {"hostname": "h2"})
    assert edits.add_node(topology, "host", 0, 0)[1] == "h3"


def test_deleting_keeps_the_port_numbers_of_the_others():
    """s1-eth2 stays s1-eth2; the next link takes the free number; undo and the file keep it."""
    document = Document(star(3))
    document.apply("Delete", edits.delete(document.topology, {0}))
    assert ports(document.topology) == {"s1-eth2": "h2-eth0", "s1-eth3": "h3-eth0"}
    again = Topology.loads(document.topology.dumps())
    assert ports(again) == ports(document.topology)
    document.apply("Link", edits.add_link(document.topology, "h1", "s1"))
    assert ports(document.topology)["s1-eth1"] == "h1-eth0"
    document.undo()
    document.undo()
    assert document.topology == star(3)
    assert "linklab" not in json.loads(document.topology.dumps())


def test_deleting_the_last_link_says_nothing():
    """Where counting gives the right numbers the file stays as MiniEdit writes it."""
    assert "linklab" not in json.loads(edits.delete(star(3), {2}).dumps())


def test_external_interfaces_do_not_move_ports():
    """Giving a switch an external interface leaves the links that had ports above it where they were."""
    topology = edits.set_opts(star(3), "s1", {"externalInterfaces": ["eth9"]})
    assert {p: topology.port_names()[p] for p in ("s1-eth2", "s1-eth3")} == {"s1-eth2": "h2-eth0", "s1-eth3": "h3-eth0"}
    assert topology.problems() == []


def test_renaming_is_followed_everywhere():
    """Links and controllers of switches follow a new name; a name that is taken is refused."""
    topology = Topology.load(MINIEDIT)
    topology = edits.set_opts(topology, "s1", {"hostname": "core"})
    topology = edits.set_opts(topology, "c0", {"hostname": "boss"})
    assert [(k.src, k.dest) for k in topology.links][:2] == [("h1", "core"), ("core", "s2")]
    assert edits.named(topology)["core"].opts["controllers"] == ["boss"]
    with pytest.raises(InputError, match="there is a h2 already"):
        edits.set_opts(topology, "h1", {"hostname": "h2"})
    with pytest.raises(InputError, match="a name holds"):
        edits.set_opts(topology, "h1", {"hostname": "my host"})


def test_links_that_cannot_be():
    """To itself; a controller to a host or a legacy switch; the same controller twice."""
    topology = Topology.load(MINIEDIT)
    for pair, why in (
        (("h1", "h1"), "itself"),
        (("c0", "h1"), "OpenFlow switch"),
        (("c0", "s2"), "OpenFlow switch"),
        (("s1", "c0"), "already"),
    ):
        with pytest.raises(InputError, match=why):
            edits.add_link(topology, *pair)


def test_what_goes_with_a_node():
    """Its links and, for a controller, its place in the switches."""
    topology = edits.delete(Topology.load(MINIEDIT), {"s2", "c0"})
    assert [k.name for k in topology.links] == ["h1-s1"]
    assert edits.named(topology)["s1"].opts["controllers"] == []
    assert edits.delete(Topology.load(MINIEDIT), {"s1>c0"}).switches[0].opts["controllers"] == []


def test_a_copy_has_its_own_name_number_and_address():
    """A pasted part has the same links and settings, and nothing that must be there once only."""
    topology = edits.set_opts(star(2), "h1", {"ip": "10.0.0.1/8", "cores": "0"})
    topology = edits.set_link(topology, 0, {"bw": 10}, {})
    after, names = edits.paste(topology, edits.part(topology, ["h1", "h2", "s1"]), (40, 40))
    assert names == ["h3", "h4", "s2"]
    h3 = edits.named(after)["h3"]
    assert h3.opts == {"hostname": "h3", "nodeNum": 3, "sched": "host", "cores": "0"}
    assert [(k.src, k.dest, dict(k.opts)) for k in after.links[2:]] == [("h3", "s2", {"bw": 10}), ("h4", "s2", {})]
    assert [p.where for p in after.problems()] == ["host h1", "host h3"]  # their cores have no effect


def test_aligning_and_spreading():
    """Left takes the least x; spreading across makes equal gaps."""
    topology = edits.move(star(3), {"h1": (10, 0), "h2": (40, 50), "h3": (110, 90)})
    left = edits.align(topology, ["h1", "h2", "h3"], "left")
    assert [edits.position(h)[0] for h in left.hosts] == [10, 10, 10]
    spread = edits.align(topology, ["h1", "h2", "h3"], "across")
    assert [edits.position(h)[0] for h in spread.hosts] == [10, 60, 110]


def test_undo_names_steps_and_joins_nudges():
    """Arrow keys held down are one step; a selection in between ends it."""
    document = Document(star(1))
    for x in (1, 2, 3):
        document.apply("Move", edits.move(document.topology, {"h1": (x, 0)}), joins="nudge")
    assert document.undo_label == "Move"
    document.select({"h1"})
    document.apply("Move", edits.move(document.topology, {"h1": (9, 0)}), joins="nudge")
    assert document.undo() == "Move"
    assert edits.position(document.topology.hosts[0])[0] == 3
    assert document.undo() == "Move"
    assert document.topology == star(1)
    assert document.undo() is None
    assert document.redo() == "Move"


def test_the_pure_part_knows_no_window():
    """What is tested here, and what runs the network, needs no tkinter."""
    pure = (
        "document",
        "edits",
        "name_checks",
        "link_fields",
        "preference_fields",
        "labels",
        "export",
        "files",
        "settings",
    )
    addressed = ("address_edits", "address_table", "address_fields", "network_state")
    shared = [f"windows/{name}" for name in ("fields", "actions", "words", "palette")]
    for name in [*(f"editor/{name}" for name in (*pure, *addressed, "meter", "running", "actions")), *shared]:
        text = (ROOT / f"linklab/{name}.py").read_text()
        assert "import tkinter" not in text and "from tkinter" not in text and "PIL" not in text, name


# --- random edits


def _step(draw, topology):  # noqa: PLR0911 - one return an edit
    """One random edit."""
    names = [node.name for node in everyone(topology)]
    kind = draw(st.sampled_from(["add", "link", "delete", "move", "set", "rename", "paste", "own", "external"]))
    if kind == "add" or not names:
        return edits.add_node(topology, draw(st.sampled_from(edits.KINDS)), draw(st.integers(0, 900)), 50)[0]
    name = draw(st.sampled_from(names))
    node = edits.named(topology)[name]
    if kind == "link":
        other = draw(st.sampled_from(names))
        return topology if edits.why_no_link(topology, name, other) else edits.add_link(topology, name, other)
    if kind == "delete":
        link = draw(st.integers(0, max(0, len(topology.links) - 1)))
        return edits.delete(topology, {name} if draw(st.booleans()) else {link})
    if kind == "move":
        return edits.move(topology, {name: (draw(st.integers(-500, 500)), draw(st.integers(-500, 500)))})
    if kind == "set":
        return edits.set_opts(topology, name, {"startCommand": draw(st.text(max_size=5))})
    if kind == "rename":
        new = draw(st.sampled_from(["core", "x1", "x2"]))
        return topology if new in names else edits.set_opts(topology, name, {"hostname": new})
    if kind == "paste":
        return edits.paste(topology, edits.part(topology, names[:4]), (30, 30))[0]
    if kind == "external" and edits.kind_of(node) != "controller":
        return edits.set_opts(topology, name, {"externalInterfaces": ["eth9"]})
    if topology.links:
        return edits.set_link(
            topology, 0, {"bw": draw(st.integers(1, 1000))}, {**topology.links[0].own, "forward": {"delay": "1ms"}}
        )
    return topology


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_edits_undo_to_the_start_and_survive_the_file(data):
    """Undo all gives the start, redo all the end; a saved and loaded drawing has the same text and the same ports."""
    start = star(2)
    document = Document(start)
    for _ in range(data.draw(st.integers(1, 12))):
        before = document.topology
        after = _step(data.draw, before)
        document.apply("step", after)
    end = document.topology
    assert not [p for p in end.problems() if p.severity == "error" and "ip" not in p.message]
    loaded = Topology.loads(end.dumps(), check=False)
    assert loaded.dumps() == end.dumps()
    assert loaded.link_ends() == end.link_ends()
    while document.undo():
        pass
    assert document.topology == start
    assert not document.is_changed
    while document.redo():
        pass
    assert document.topology == end


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=6))
def test_no_deletion_moves_a_port_that_stays(places):
    """Whatever links are deleted one after the other, each that stays keeps both its port names."""
    topology = star(5)
    topology, _ = edits.add_node(topology, "legacySwitch", 0, 0)
    topology = edits.add_link(edits.add_link(topology, "s1", "s2"), "s2", "h3")
    for place in places:
        wired = topology.port_names()
        topology = edits.delete(topology, {place})
        assert topology.port_names().items() <= wired.items()


# --- files


def test_every_file_that_miniedit_wrote_opens_and_saves_unchanged(tmp_path):
    """The bytes are the same."""
    document = Document(files.open_file(MINIEDIT), MINIEDIT)
    files.save_file(document.topology, tmp_path / "copy.mn")
    assert (tmp_path / "copy.mn").read_bytes() == MINIEDIT.read_bytes()


def test_a_switch_whose_controllers_are_no_list_is_copied():
    """Regression: pasting it ended in a TypeError."""
    topology = edits.set_opts(star(1), "s1", {"controllers": None})
    after, names = edits.paste(topology, edits.part(topology, ["s1"]), (40, 40))
    assert [after.switches[-1].name, list(after.switches[-1].controllers)] == [names[0], []]


def test_a_faulty_file_opens_to_be_mended(tmp_path):
    """A dangling link and a name twice are shown, not refused; what is no topology at all is."""
    data = json.loads(MINIEDIT.read_text())
    data["links"][0]["dest"] = "s9"
    data["hosts"][1]["opts"]["hostname"] = "h1"
    (tmp_path / "bad.mn").write_text(json.dumps(data))
    topology = files.open_file(tmp_path / "bad.mn")
    assert [str(p) for p in topology.problems()] == [
        'host h1: 2 nodes have the "hostname" "h1"',
        'link h1-s9: "dest" names s9, and there is no such node',
        'link h2-s2: "src" names h2, and there is no such node',
    ]
    mended, said = mending.mend(topology)
    assert said == [
        "a second h1 is now h2, and the links to h2 lead to it",
        "the link h1-s9 led nowhere and is removed",
    ]
    assert [p for p in mended.problems() if p.severity == "error"] == []
    (tmp_path / "no.mn").write_text("{")
    with pytest.raises(TopologyError, match="line 1"):
        files.open_file(tmp_path / "no.mn")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    """The sentence says where, why, and that the drawing is still there."""
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="The drawing is unchanged"):
        files.save_file(star(), tmp_path / "x.mn")


def test_a_place_that_is_no_folder(tmp_path):
    """As above, also for root."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"x\.mn could not be saved: .*The drawing is unchanged"):
        files.save_file(star(), tmp_path / "file" / "x.mn")


def test_what_a_crash_leaves_is_found_once_its_program_has_gone(tmp_path):
    """A drawing kept by a live editor is not offered; one of a dead editor is, with its file's name."""
    keeper = files.Autosave(tmp_path)
    keeper.keep(star(2), tmp_path / "mine.mn")
    assert keeper.lost() == []
    data = json.loads(keeper.file.read_text())
    keeper.file.write_text(json.dumps({**data, "pid": 2**22 + 1}))
    (tmp_path / "broken.json").write_text("{")
    (lost,) = files.Autosave(tmp_path).lost()
    assert (lost.topology, lost.path) == (star(2), tmp_path / "mine.mn")
    keeper.done()
    assert files.Autosave(tmp_path).lost() == []


def test_settings_survive_and_faults_in_their_file_do_not_matter(tmp_path):
    """Saved and loaded the same; nonsense gives defaults."""
    chosen = EditorSettings(theme="dark", scale=2.0, ports=False, recent=["/a"])
    save_settings(chosen, tmp_path / "s.json")
    assert load_settings(tmp_path / "s.json") == chosen
    assert from_data({"theme": 3, "scale": 2, "recent": ["/a", 1], "more": 1}) == EditorSettings(
        scale=2.0, recent=["/a"]
    )
    (tmp_path / "s.json").write_text("[")
    assert load_settings(tmp_path / "s.json") == EditorSettings()
    chosen.opened(tmp_path / "b")
    chosen.opened(Path("/a"))
    assert chosen.recent == ["/a", str(tmp_path / "b")]
