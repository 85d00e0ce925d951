# SPDX-License-Identifier: BSD-3-Clause
"""Fields, links' lines, export, meter and labels: everything of the editor that is text or numbers."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from linklab.editor import edits, export, link_fields, node_fields, preference_fields, runnable
from linklab.editor.actions import MENUS, keys_text
from linklab.editor.meter import Meter, short_bytes, short_rate
from linklab.errors import FieldError, InputError
from linklab.tc import DISCIPLINES
from linklab.topology import Controller, Link, Topology
from linklab.topology.plan import ORDER
from linklab.windows import fields

ROOT = Path(__file__).parents[2]
MINIEDIT = ROOT / "tests/captures/miniedit-2.2.0.1-all-kinds.mn"


def pages_of(topology, name):
    """The pages of a node's dialog."""
    return {
        "host": lambda: node_fields.host_pages(topology),
        "switch": node_fields.switch_pages,
        "legacySwitch": lambda: node_fields.legacy_pages(router=False),
        "legacyRouter": lambda: node_fields.legacy_pages(router=True),
        "controller": node_fields.controller_pages,
    }[edits.kind_of(edits.named(topology)[name])]()


@pytest.mark.parametrize("name", ["h1", "h2", "s1", "s2", "r3", "c0"])
def test_ok_without_a_change_changes_nothing(name):
    """A dialog opened on a file of MiniEdit and confirmed gives back the very same object."""
    topology = Topology.load(MINIEDIT)
    pages, opts = pages_of(topology, name), edits.named(topology)[name].opts
    assert fields.read(pages, fields.texts(pages, opts), opts) == (dict(opts), {})


def test_preferences_confirmed_change_nothing():
    """The same for the object "application"; ours appears only where it differs."""
    application = Topology.load(MINIEDIT).preferences.data
    pages = preference_fields.pages(("pocket",))
    flat = preference_fields.flatten(application, {})
    data, wrong = fields.read(pages, fields.texts(pages, flat), flat)
    assert wrong == {}
    assert preference_fields.unflatten(data, application) == (dict(application), {"run": None})
    data, _ = fields.read(pages, {**fields.texts(pages, flat), "speed": "max", "clock": "paced"}, flat)
    assert preference_fields.unflatten(data, application)[1] == {"run": {"speed": "max"}}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("bw", "0.5", 0.5),
        ("bw", "10", 10),
        ("bw", "1gbit", 1000),
        ("loss", "0.01", 0.01),
        ("loss", "1%", 1),
        ("delay", "5ms", "5ms"),
        ("max_queue_size", "100", 100),
    ],
)
def test_what_a_link_takes(key, text, value):
    """Decimals, and units where they are natural; whole numbers stay whole as MiniEdit writes them."""
    values = {**fields.texts([node_fields.LINK_PAGE], {}), key: text}
    data, wrong = fields.read([node_fields.LINK_PAGE], values, {})
    assert (data, wrong) == ({key: value}, {})
    assert type(data[key]) is type(value)


def test_a_null_of_the_file_is_an_empty_field():
    """It was shown as "None", which no field takes, and a list of None was a TypeError."""
    pages = node_fields.host_pages(Topology())
    nulls = {"hostname": "h1", "ip": None, "cpu": None, "vlanInterfaces": None, "privateDirectory": None}
    assert fields.texts(pages, nulls) == fields.texts(pages, {"hostname": "h1"})
    assert fields.read(pages, fields.texts(pages, nulls), nulls) == ({"hostname": "h1"}, {})


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("bw", "fast", 'rate "fast" is not a number with a unit; use kbit, mbit or gbit'),
        ("bw", "0", "a rate above 0"),
        ("bw", "1e999", "a rate above 0"),
        ("delay", "5", "add a unit: 5ms, or 5us, which is what tc takes 5 for"),
        ("loss", "101", "a number of percent from 0 to 100, found 101"),
        ("max_queue_size", "1.5", "a whole number of packets above 0"),
    ],
)
def test_what_a_link_refuses(key, text, message):
    """The sentence stands at its field; nothing else is lost."""
    values = {**fields.texts([node_fields.LINK_PAGE], {}), key: text}
    assert fields.read([node_fields.LINK_PAGE], values, {})[1] == {key: message}


def test_rows_and_lines_of_a_host():
    """VLANs, private directories and external interfaces as MiniEdit writes them; a faulty row is told of."""
    pages = node_fields.host_pages(Topology())
    values = fields.texts(pages, {"hostname": "h1"})
    values |= {"vlanInterfaces": [("10.0.0.9", "100"), ("", "")], "externalInterfaces": ["eth1", ""]}
    values |= {"privateDirectory": [("/var/run", ""), ("/etc/x", "/tmp/x")]}
    data, wrong = fields.read(pages, values, {"hostname": "h1"})
    assert wrong == {}
    assert data["vlanInterfaces"] == [["10.0.0.9", "100"]]
    assert data["privateDirectory"] == ["/var/run", ["/etc/x", "/tmp/x"]]
    assert data["externalInterfaces"] == ["eth1"]
    _, wrong = fields.read(pages, {**values, "vlanInterfaces": [("10.0.0.9", "5000")]}, {})
    assert wrong == {"vlanInterfaces": "VLAN ID '5000': a number from 1 to 4094"}


def test_a_direction_from_its_fields():
    """What is typed becomes the object of `linklab.tc.Impairment`, and shows as the same again."""
    typed = {"rate": "1gbit", "delay": "20ms", "held": "5000", "kind": "red"}
    typed |= {"discipline.limit": "1mb", "discipline.min": "64kb", "discipline.max": "256kb", "discipline.ecn": "1"}
    data = link_fields.collect(typed)
    options = {"kind": "red", "limit": "1mb", "min": "64kb", "max": "256kb", "avpkt": "1000", "ecn": "1"}
    assert data == {"rate": "1gbit", "delay": "20ms", "held": "5000p", "discipline": options}
    shown = link_fields.shown(data)
    assert {key: shown[key] for key in ("rate", "kind", "discipline.ecn")} == {
        "rate": "1gbit",
        "kind": "red",
        "discipline.ecn": "1",
    }


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ({"kind": "codel", "discipline.target": "5"}, "discipline.target"),
        ({"kind": "tbf", "burst": "many"}, "burst"),
        ({"jitter": "1ms"}, "jitter"),
        ({"kind": "tbf"}, "rate"),
        ({"rate": "fast"}, "rate"),
    ],
)
def test_what_is_wrong_is_shown_at_its_field(typed, key):
    """The error says which field it is about; a word in quotes in its sentence may be another's name."""
    with pytest.raises(FieldError) as raised:
        link_fields.collect(typed)
    assert raised.value.key == key


def test_every_parameter_has_a_field():
    """Each discipline's dialog can be drawn."""
    for kind, parameters in DISCIPLINES.items():
        for parameter in parameters:
            assert link_fields.discipline_field(kind, parameter.name).help


def test_the_commands_of_a_link():
    """Mininet's own lines where a direction has nothing of its own, ours where it has."""
    link = Link("s1", "h1", {"bw": 10, "delay": "5ms"}, own={"backward": {"rate": "2mbit"}})
    assert link_fields.lines_of(link, ("s1-eth1", "h1-eth0")) == [
        "# s1 → h1, on s1-eth1",
        "tc qdisc add dev s1-eth1 root handle 5:0 htb default 1",
        "tc class add dev s1-eth1 parent 5:0 classid 5:1 htb rate 10.000000Mbit burst 15k",
        "tc qdisc add dev s1-eth1 parent 5:1 handle 10: netem delay 5ms",
        "# h1 → s1, on h1-eth0",
        "tc qdisc add dev h1-eth0 root handle 2: tbf rate 2mbit burst 3028 limit 1514000",
    ]


def test_changing_a_running_link():
    """Only the end that changed is touched; the same kinds are changed in place."""
    plain, ends = Link("s1", "h1"), ("s1-eth1", "h1-eth0")
    slow = replace(plain, own={"forward": {"rate": "2mbit"}})
    faster = replace(plain, own={"forward": {"rate": "4mbit"}})
    shaped = " root handle 2: tbf rate 2mbit burst 3028 limit 1514000"
    assert link_fields.live_lines(plain, slow, ends) == [(0, "tc qdisc add dev s1-eth1" + shaped)]
    assert link_fields.live_lines(slow, faster, ends)[0][1].startswith("tc qdisc change dev s1-eth1")
    assert link_fields.live_lines(slow, plain, ends) == [(0, "tc qdisc del dev s1-eth1 root")]
    assert link_fields.live_lines(slow, slow, ends) == []


def test_export_is_python_and_quotes_everything():
    """The script compiles, and no text of the file becomes code."""
    topology = Topology.load(MINIEDIT)
    topology = edits.set_opts(topology, "h1", {"startCommand": "echo '\"); import os #'"})
    text = export.script(topology, 'x"""\\.mn')
    compile(text, "script", "exec")
    assert "command(h1, 'echo \\'\"); import os #\\'')" in text
    for line in (
        "c0 = net.addController('c0', controller=DefaultController, protocol='tcp', port=6633)",
        "net.addLink(s1, s2, cls=TCLink, port1=2, port2=1, bw=10.0, delay='5ms', jitter='1ms', loss=1.0, "
        "speedup=0.0, max_queue_size=100)",
        "Intf('eth9', node=h1)",
        "r3 = net.addHost('r3', cls=Router, ip=None)",
        "s1.start([c0])",
    ):
        assert line in text, line


def test_the_agent_and_an_exported_script_know_every_stage_of_a_plan():
    """In the plan's order; the script's lines follow it."""
    network = pytest.importorskip("linklab.agent.network", reason="needs Mininet")
    assert set(ORDER) == set(network.STAGES) == set(export.STAGES)
    made = Topology.load(MINIEDIT)
    text = export.script(edits.set_opts(made, "h1", {"startCommand": "echo begun"}), "order")
    marks = ("net.addController", "net.addHost", "net.addLink", "net.build()", "tcp_rmem", "controller.start()")
    marks += (".start([", "echo begun")
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)


def test_export_keeps_names_apart_that_python_cannot_have():
    """Variables of my.host and my-host differ, and a host may be called for."""
    topology = Topology()
    for name in ("my.host", "my-host", "for"):
        topology, made = edits.add_node(topology, "host", 0, 0)
        topology = edits.set_opts(topology, made, {"hostname": name})
    compile(export.script(topology, "names"), "script", "exec")


def test_what_an_engine_cannot_heed_is_named():
    """Kept in the file, named at Run, left out of what is built, with the same ports."""
    topology = Topology.load(MINIEDIT)
    named = runnable.unheeded(topology, runnable.Choice())
    assert [text.split(":")[0] for text in named] == ["h1"]
    built = runnable.runnable(topology, runnable.Choice())
    assert built.link_ends() == topology.link_ends()
    assert not built.hosts[0].external_interfaces
    assert built.hosts[0].opts["cpu"] == topology.hosts[0].opts["cpu"]
    assert built.problems() == [] or all(problem.severity == "warning" for problem in built.problems())
    indigo = edits.set_opts(topology, "s1", {"switchType": "ivs"})
    (why,) = runnable.refused(indigo)
    assert "s1: Indigo Virtual Switch is not supported" in why


def test_how_to_run_comes_from_the_file():
    """Defaults, and what Preferences keep under our own key."""
    data = {"run": {"clock": "wall", "speed": "0.5", "seed": "7"}}
    assert runnable.Choice.of(Topology()) == runnable.Choice()
    assert runnable.Choice.of(Topology(extra={"linklab": data})) == runnable.Choice(
        "pocket", "wall", "0.5", "desktop", 7
    )


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (5, "Preferences, Running must be a table"),
        ({"engine": "cloud"}, '"engine" must be one of host, pocket, not cloud'),
        ({"clock": "sundial"}, '"clock" must be one of virtual, paced, wall, not sundial'),
        ({"clock": ["wall"]}, '"clock" must be text'),
        ({"seed": "x"}, '"seed" must be a whole number, not x'),
        ({"seed": "9" * 5000}, '"seed" must be a whole number, not 9'),
    ],
)
def test_what_a_file_cannot_ask_of_a_run_is_one_sentence(run, says):
    """Regression: each was shown as a fault of the editor; Preferences open all the same, to set it right."""
    with pytest.raises(InputError, match=re.escape(says)):
        runnable.Choice.of(Topology(extra={"linklab": {"run": run}}))
    preference_fields.flatten({}, {"run": run})


@pytest.mark.parametrize("text", ["0.001", "1", "1000", "max"])
def test_preferences_take_every_speed_of_the_clock(text):
    """Regression: 5000 was taken and then refused at Run."""
    assert preference_fields.speed(text) == text
    with pytest.raises(InputError, match=r"0\.001 to 1000"):
        preference_fields.speed("5000")


def test_a_node_without_a_place_in_the_drawing_can_be_shown():
    """Regression: at infinity it could not be moved, and everything else was out of sight."""
    for x in ("left", "nan", "inf", 10**400, None):
        assert edits.position(Controller(opts={"hostname": "c0"}, x=x, y=5)) == (60.0, 5.0)


def test_the_meter_counts_bits_and_keeps_the_queue():
    """Rate from two readings, the busier way; a clock that stood still gives nothing."""
    meter = Meter()
    ends = [("h1-eth0", "s1-eth1"), ("h2-eth0", "s1-eth2")]
    meter.add({"t": 1.0, "i": {"s1-eth1": [0, 0, 0, 0], "s1-eth2": [0, 0, 0, 0]}}, ends)
    meter.add({"t": 1.0, "i": {"s1-eth1": [9, 9, 0, 0], "s1-eth2": [0, 0, 0, 0]}}, ends)
    meter.add({"t": 1.5, "i": {"s1-eth1": [625009, 9, 1514, 0], "s1-eth2": [0, 0, 0, 0]}}, ends)
    (reading,) = meter.readings[0]
    assert (reading.rate_bps, reading.queue_bytes) == (10e6, 1514)
    assert list(meter.busy()) == [0]
    assert [short_rate(x) for x in (10e6, 9.44e9, 955e6, 12)] == ["10.0 Mb/s", "9.4 Gb/s", "955 Mb/s", "12 b/s"]
    assert [short_bytes(x) for x in (0, 1514, 2_621_440)] == ["0 B", "1.5 kB", "2.6 MB"]


def test_keys_are_given_once():
    """No key does two things; the help lists them all."""
    events = [event for menu in MENUS.values() for action in menu if action for event in action.events]
    assert len(events) == len(set(events))
    assert "Ctrl+S" in keys_text()


def test_export_of_every_lab_compiles():
    """Each lab's topology can be given to somebody with Mininet alone."""
    for path in (ROOT / "topologies").glob("*.mn"):
        compile(export.script(Topology.load(path), path.name), path.name, "exec")
        assert json.loads(path.read_text())["version"] == "2"


def test_the_host_engine_runs_on_the_wall_clock_whatever_the_file_says():
    """The file keeps what is meant for the pocket; what only the pocket's clock knows is greyed in Preferences."""
    run = {"engine": "host", "clock": "paced", "seed": 7}
    topology = replace(Topology.load(ROOT / "topologies/Lab 8.mn"), extra={"linklab": {"run": run}})
    choice = runnable.Choice.of(topology)
    assert (choice.engine, choice.clock, choice.seed) == ("host", "wall", 7)
    (page,) = (page for page in preference_fields.pages(("host", "pocket")) if page.title == "Running")
    greyed = [field.key for field in page.fields if field.only == ("engine", "pocket")]
    assert greyed == ["clock", "speed", "profile", "seed"]


def test_what_the_host_engine_cannot_do_is_named_and_left_out():
    """As of a pocket: a network of its own reaches no interface of the machine."""
    topology = Topology.load(ROOT / "topologies/Lab 8.mn")
    first = replace(topology.hosts[0], opts={**topology.hosts[0].opts, "cpu": 0.5, "externalInterfaces": ["eth0"]})
    topology = replace(topology, hosts=(first, *topology.hosts[1:]))
    choice = runnable.Choice(engine="host", clock="wall")
    assert runnable.unheeded(topology, choice) == [
        "h1: a network of the host engine has no interface eth0 of this machine; left out, ports counted with it",
        "h1: no share of a processor on the host engine; all hosts share the machine's",
    ]
    assert set(runnable.runnable(topology, choice).hosts[0].opts) == set(topology.hosts[0].opts) - {
        "cpu",
        "externalInterfaces",
    }
