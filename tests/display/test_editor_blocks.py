# SPDX-License-Identifier: BSD-3-Clause
"""The manuals' `editor` blocks in the real editor make the same networks as their replay without a window."""

import shutil
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from robot import needs_display
from typist import Typist
from verbs import Person

from linklab import pocket_kernel
from linklab.base.installation import ROOT
from linklab.lab.model import load_lab
from linklab.manual.editing import EMPTY, edited
from linklab.manual.model import Commands, EditorActions, EditorVerb
from linklab.run.stage import RunSettings, Stage
from linklab.topology import Topology

pytestmark = needs_display
needs_kernel = pytest.mark.skipif(pocket_kernel.find() is None, reason="the pocket kernel is not built (make kernel)")
FOLDERS = sorted(path.parent for path in ROOT.glob("labs/*/manual.md"))
DONE_HERE = (1, 10)
"""Labs whose blocks are done by hand: between them they use every verb that any lab uses."""


class Watcher:
    """An engine that only notes the topology of each network."""

    def __init__(self):
        self.started = []

    @contextmanager
    def start(self, topology, **_):
        """Note it."""
        self.started.append(topology)
        yield SimpleNamespace(environment={}, now_s=lambda: 0.0, computed=list, failed_commands=[], warnings=[])


def lab(number):
    """The lab of that number."""
    return next(load_lab(folder) for folder in FOLDERS if folder.name.startswith(f"{number:02d}-"))


def editor_steps(lab):
    """Its editor blocks that are replayed."""
    return [step for step in lab.manual.steps if isinstance(step.action, EditorActions) and not step.optional]


def verbs(lab):
    """The lines of its editor blocks."""
    return [verb for step in editor_steps(lab) for verb in step.action.verbs]


def replayed(lab, folder):
    """The topologies that the replay runs, in order; what it saves is in `folder`."""
    engine = Watcher()
    with Stage(lab, engine, RunSettings(), folder) as stage:
        for step in editor_steps(lab):
            stage.perform([step])
    return engine.started


def network(topology):
    """What makes a network one and not another; of its preferences what the verbs can change."""
    places = {node.name: (node.x, node.y, node.number) for node in topology.nodes}
    options = {node.name: node.opts for node in topology.nodes}
    links = [(link.src, link.dest, link.opts) for link in topology.links]
    addresses = {host.name: topology.address(host) for host in topology.hosts}
    preferences = (topology.preferences.ip_base, topology.preferences.start_cli)
    return places, options, links, topology.link_ends(), addresses, preferences


def is_look(step):
    """Whether a step is one short look at the network."""
    return isinstance(step.action, Commands) and step.typed.startswith(("ping ", "ifconfig")) and "\n" not in step.typed


def assert_looks_right(person, step, lab, folder):
    """Type the step into the terminal that the manual names: it shows what lab.toml expects, and no ping is lost."""
    ping, seen = step.typed.startswith("ping "), folder / f"{step.id}.txt"
    person.type(step.terminal, f"{step.typed}{' -c 2' if ping else ''} > {seen.name}\n")
    end = "packet loss" if ping else "lo: "
    person.hand.until(lambda: seen.exists() and end in seen.read_text(), 30, f"{step.typed} of {step.id}")
    shown = seen.read_text()
    assert not ping or " 0% packet loss" in shown
    for expectation in lab.expectations:
        if expectation.step == step.id and expectation.shows:
            assert expectation.shows.search(shown), f"{expectation.where}: {shown}"


@needs_kernel
@pytest.mark.parametrize("number", DONE_HERE)
def test_the_blocks_of_a_lab_by_hand(hand, tmp_path, number):
    """Each network that a lab runs or saves is the replay's, has the addresses the manual says, and pings work."""
    told, folder = lab(number), tmp_path
    for path in (ROOT / "topologies").glob("Lab *.mn"):
        shutil.copy(path, folder)
    expected = replayed(told, tmp_path / "replayed")
    person, ran, tried = Person(hand, folder), [], []
    for step in told.manual.steps:
        if step in editor_steps(told):
            for verb in step.action.verbs:
                person.do(verb)
                if verb.words[0] == "run":
                    ran.append(hand.editor.networking.running_topology)
        elif step.terminal in person.terminals and is_look(step):
            tried.append(step.id)
            assert_looks_right(person, step, told, folder)
    assert [network(topology) for topology in ran] == [network(topology) for topology in expected]
    assert tried
    for path in (tmp_path / "replayed").glob("*.mn"):
        assert network(Topology.load(folder / path.name)) == network(Topology.load(path))
    assert hand.editor.networking.runner.state == "stopped"


@pytest.mark.long
@needs_kernel
def test_lab_1_by_keys_alone(hand, tmp_path, monkeypatch):
    """The whole of Lab 1 without a mouse: drawn, set, run, saved and opened, and every command in its terminals."""

    def no_mouse(*_):
        raise AssertionError("no mouse here")

    for name in ("move", "press", "release"):
        monkeypatch.setattr(hand.robot, name, no_mouse)
    told = lab(1)
    expected = replayed(told, tmp_path / "replayed")
    person, ran, typed = Typist(hand, tmp_path), [], []
    for step in told.manual.steps:
        if step in editor_steps(told):
            for verb in step.action.verbs:
                person.do(verb)
                if verb.words[0] == "run":
                    ran.append(hand.editor.networking.running_topology)
        elif step.terminal in person.terminals:
            typed.append(step.id)
            type_as_told(person, step, told, tmp_path)
    assert [network(topology) for topology in ran] == [network(topology) for topology in expected]
    in_terminals = [step.id for step in told.manual.steps if step.terminal in ("h1", "h2")]
    assert typed == in_terminals
    saved = list((tmp_path / "replayed").glob("*.mn"))
    assert saved
    for path in saved:
        assert network(Topology.load(tmp_path / path.name)) == network(Topology.load(path))
    assert hand.editor.networking.runner.state == "stopped"


def type_as_told(person, step, lab, folder):
    """Type a step into its terminal; a ping is ended by Ctrl+C after three replies, as the manual says."""
    seen = folder / f"{step.id}.txt"
    person.type(step.terminal, f"{step.typed} > {seen.name}\n")
    ping = step.typed.startswith("ping ")
    awaited = "icmp_seq=3" if ping else "lo: "
    person.hand.until(lambda: seen.exists() and awaited in seen.read_text(), 30, f"{step.typed} of {step.id}")
    if ping:
        person.interrupt(step.terminal)
        person.hand.until(lambda: "packet loss" in seen.read_text(), 10, "the end of the ping")
        assert " 0% packet loss" in seen.read_text()
    for expectation in lab.expectations:
        if expectation.step == step.id and expectation.shows:
            assert expectation.shows.search(seen.read_text()), f"{expectation.where}: {seen.read_text()}"


def test_every_verb_of_every_lab_is_done_here():
    """A verb that a lab uses and no lab done by hand uses would be replayed without anybody having seen it."""
    used = {verb.words[0] for folder in FOLDERS for verb in verbs(load_lab(folder))}
    assert used == {verb.words[0] for number in DONE_HERE for verb in verbs(lab(number))}


def test_verbs_that_no_lab_uses_yet(hand, tmp_path):
    """Deleting, Start CLI, and New with unsaved changes: by hand and in the replay."""
    lines = [
        *("host h1 at 150 150", "host h2 at 150 400", "host h3 at 600 400", "switch s1 at 400 250"),
        *("link h1 s1", "link h2 s1", "link h3 s1", "delete h2 s1"),
        *("preferences start-cli on", "set h3 ip 10.0.0.7/8"),
    ]
    person, topology = Person(hand, tmp_path), EMPTY
    for number, line in enumerate(lines, 1):
        person.do(EditorVerb(tuple(line.split()), number))
        topology = edited(topology, line.split())
    assert network(hand.editor.document.topology) == network(topology)
    assert hand.editor.document.topology.port_names()["s1-eth3"] == "h3-eth0"
    person.do(EditorVerb(("delete", "h1"), 11))
    assert network(hand.editor.document.topology) == network(edited(topology, ["delete", "h1"]))
    person.do(EditorVerb(("new",), 12))
    assert hand.editor.document.topology == Topology()
