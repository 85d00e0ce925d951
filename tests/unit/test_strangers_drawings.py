# SPDX-License-Identifier: BSD-3-Clause
"""Drawings as strangers write them (tests/strangers/drawings): each opens, and runs as it is or once it is mended.

Old versions of MiniEdit, hand-written, generated, of Mininet-WiFi, with options that few use.
"""

import json
import math
import time
from pathlib import Path

import pytest

from linklab.editor import files
from linklab.editor.export import script
from linklab.errors import TopologyError
from linklab.topology import Host, Link, Switch, Topology
from linklab.topology.arrange import arranged
from linklab.topology.mending import mend
from linklab.topology.parts import position
from linklab.topology.plan import plan

DRAWINGS = Path(__file__).parents[1] / "strangers" / "drawings"

RUN = {
    "copied-host": 'host h2: has the address 192.168.1.10 ("ip") that host h1 has too; only one of them answers',
    "counted-from-zero": 'host h0: "nodeNum" 0 gives no address; the "ip" is what counts',
    "delay-without-unit": 'link h1-s1: "delay" "5000" has no unit, and tc counts in microseconds: taken as "5000us"',
    "dpid-as-a-number": 'switch s1: "dpid" 1 should be text: taken as "0000000000000001"',
    "exotic-options": 'application: "dpctl" 6634 should be text: taken as "6634"',
    "generated-on-one-line": None,
    "generated-without-places": None,
    "miniedit-first-version": None,
    "miniedit-without-legacy": None,
    "nulls-for-nothing": 'host h1: "cpu" null is treated as not set',
    "numbers-as-text": 'link h1-s1: "bw" "10" should be a number: taken as 10 Mbit/s',
    "other-switches": 'controller c0: "controllerType" "ryu" is unknown to MiniEdit, which then builds the '
    'reference controller: taken as "ref"',
}
"""By file: the first warning of what runs as it is; None where there is nothing to say."""

MENDED = {
    "blanks-in-names": ["PC 1 is now PC_1", "Web Server is now Web_Server", "Switch A is now Switch_A"],
    "controller-drawn-as-link": ["s1 uses the controller c0 instead of a link to it"],
    "half-deleted-by-hand": [
        "a second h1 is now h3, and the links to h3 lead to it",
        "the link s1-s1 led nowhere and is removed",
        "s2 no longer uses c0, which does not exist",
        "link h2-s1: port 4 of s1 is taken, so the link has the next free one",
        "h3 now has the address 10.0.0.3/8, which no other host has",
        "h3: moved aside, because it lay exactly on h1",
    ],
    "mininet-wifi": [
        "sta1 is wired now: a host in place of a station, without channel, mode, ssid, wlans",
        "sta2 is wired now: a host in place of a station, without channel, mode, ssid, wlans",
        "sta3 is wired now: a host in place of a station, without channel, mode, ssid, wlans",
        "ap1 is wired now: a legacy switch in place of an access point, "
        "without channel, controllers, mode, ssid, wlans",
        "ap2 is wired now: a legacy switch in place of an access point, "
        "without channel, controllers, mode, ssid, wlans",
        "sta1 is linked to ap1, the nearest of the former access points",
        "sta2 is linked to ap2, the nearest of the former access points",
        "sta3 is linked to ap2, the nearest of the former access points",
    ],
    "names-of-other-alphabets": [
        "Büro-Rechner is now Buro-Rechn",
        "主机 is now h2",
        "Universitätsbibliothek is now Universita",
        "коммутатор1 is now s1",
    ],
    "windows-by-hand": [
        'host h1: "cpu" "fast" is removed, since it must be a number above 0, the share of one processor',
        'host h2: "ip" "10.0.0.300" is removed, since it must be an IPv4 address such as "10.0.0.1" or "10.0.0.1/8"',
        'link h1-s1: "bw" 0 is removed, since it must be above 0 Mbit/s',
        'link h2-s1: "delay" "5x" is removed, since it must be a time: time "5x" has no unit I know; use us, ms or s',
        'link h2-s1: "loss" 150 is removed, since it must be a number of percent from 0 to 100',
    ],
}
"""By file: what mending says it does."""


def test_every_drawing_has_its_row():
    """A file that is added here is tried."""
    assert {path.stem for path in DRAWINGS.glob("*.mn")} == {*RUN, *MENDED}


@pytest.mark.parametrize("name", sorted(RUN))
def test_what_miniedit_runs_is_run_with_a_warning(name):
    """It opens, it can be planned, and its first warning names the value."""
    topology = Topology.load(DRAWINGS / f"{name}.mn")
    problems = topology.problems()
    assert {problem.severity for problem in problems} <= {"warning"}
    assert (str(problems[0]) if problems else None) == RUN[name]
    assert len(plan(topology)["nodes"]) == len(topology.nodes)
    compile(script(topology, name), name, "exec")


@pytest.mark.parametrize("name", sorted(MENDED))
def test_what_cannot_run_is_mended_in_one_step(name):
    """Opened with its faults, mended, and then without one."""
    path = DRAWINGS / f"{name}.mn"
    with pytest.raises(TopologyError):
        plan(Topology.load(path))
    mended, said = mend(files.open_file(path))
    assert said == MENDED[name]
    assert mended.problems() == []
    assert len(plan(mended)["links"]) == len(mended.links) > 0


@pytest.mark.parametrize("name", sorted({*RUN, *MENDED}))
def test_mending_leaves_what_miniedit_writes(name):
    """Nothing is left that would be read otherwise than it is written; only cores have no effect in a pocket."""
    mended, _ = mend(files.open_file(DRAWINGS / f"{name}.mn"))
    assert [str(problem) for problem in mended.problems() if "cores" not in problem.message] == []
    assert mend(mended) == (mended, [])
    assert Topology.loads(mended.dumps()) == mended


@pytest.mark.parametrize("name", sorted({*RUN, *MENDED} - {"windows-by-hand"}))
def test_a_stranger_s_file_is_written_as_it_was_read(name):
    """Nothing is lost of it; only a version that is missing or a number is written as MiniEdit's text."""
    text = (DRAWINGS / f"{name}.mn").read_text()
    data = json.loads(text)
    assert json.loads(Topology.loads(text, check=False).dumps()) == {
        **{key: [{"opts": {}, **link} for link in value] if key == "links" else value for key, value in data.items()},
        "version": str(data.get("version", "2")),
    }


def test_a_delay_without_a_unit_is_what_tc_takes_it_for():
    """Microseconds, for the plan and for the script."""
    topology = Topology.load(DRAWINGS / "delay-without-unit.mn")
    assert [link["opts"] for link in plan(topology)["links"]] == [
        {"bw": 10.0, "delay": "5ms"},
        {"delay": "10us", "jitter": "2us"},
    ]


def test_the_dpid_that_is_a_number_is_that_number():
    """255 is ff, not 0x255."""
    topology = Topology.load(DRAWINGS / "dpid-as-a-number.mn")
    assert [node["dpid"][-3:] for node in plan(topology)["nodes"] if node["kind"] == "ovs"] == ["001", "0ff"]


def test_what_says_no_places_is_laid_out():
    """No two nodes on one place."""
    topology = Topology.load(DRAWINGS / "generated-without-places.mn")
    assert len({position(node) for node in topology.nodes}) == 1
    mended, _ = mend(topology)
    assert len({position(node) for node in mended.nodes}) == len(mended.nodes)


def test_a_mended_network_keeps_what_was_right():
    """Names, addresses, ports and options that nothing was wrong with."""
    before = files.open_file(DRAWINGS / "copied-host.mn")
    after, _ = mend(before)
    assert after.hosts[0] == before.hosts[0]
    assert after.hosts[2] == before.hosts[2]
    assert after.links == before.links


def test_a_wired_station_keeps_what_a_host_has_and_the_rest_is_named():
    """Its share of a processor and an unreadable address went without a word, as did an entry that is no station."""
    opts = {"hostname": "sta1", "ip": "300.1.1.1", "mode": "g", "cpu": 0.5, "startCommand": "true"}
    mended, said = mend(Topology(extra={"stations": [{"number": "1", "opts": opts}, {"number": "2"}]}))
    assert mended.hosts[0].opts == {"hostname": "sta1", "nodeNum": 1, "cpu": 0.5, "startCommand": "true"}
    assert said[:2] == [
        "sta1 is wired now: a host in place of a station, without ip, mode",
        'an entry of "stations" is removed, since it has no "opts": {"number": "2"}',
    ]


@pytest.mark.parametrize("stations", [5, {"a": 1}, "sta1"])
def test_stations_that_are_no_list_break_nothing(stations):
    """Whatever JSON holds there."""
    topology = Topology(extra={"stations": stations})
    assert topology.problems() == []
    assert mend(topology) == (topology, [])


def test_an_address_of_the_file_stays_where_a_counted_one_is_the_same():
    """The host that comes first kept its counted address, and the other lost the one that the file gives it."""
    counted, given = Host("1", "1", "1", {"nodeNum": 1}), Host("2", "1", "1", {"nodeNum": 2, "ip": "10.0.0.1"})
    mended, said = mend(Topology((counted, given)))
    assert [mended.address(host) for host in mended.hosts] == ["10.0.0.3/8", "10.0.0.1/8"]
    assert said == [
        "h1 now has the address 10.0.0.3/8, which no other host has",
        "h2: moved aside, because it lay exactly on h1",
    ]


def test_nodes_that_lie_on_one_another_are_moved_apart():
    """Regression: only the last one could be seen and clicked. The first stays, the others come as near as can be."""
    hosts = tuple(Host(str(i), "300", "220", {"nodeNum": i, "hostname": f"h{i}"}) for i in (1, 2, 3))
    switch = Switch("1", "400", "220", {"switchType": "legacySwitch", "hostname": "s1", "nodeNum": 1})
    before = Topology(hosts, (switch,))
    mended, said = mend(before)
    places = [(float(node.x), float(node.y)) for node in mended.nodes]
    assert places[0] == (300, 220)
    assert places[3] == (400, 220)
    assert len(set(places)) == 4
    assert max(math.dist(place, places[0]) for place in places) <= 350
    assert said == ["h2, h3: moved aside, because they lay exactly on h1"]
    assert mend(mended) == (mended, [])
    together = Topology((*hosts, Host("4", "300", "220", {"nodeNum": 4, "hostname": "h4"})))
    mended, said = mend(together)
    assert len({(host.x, host.y) for host in mended.hosts}) == 4
    assert said == ["h1, h2, h3, h4: placed in the drawing"]


def faulty(count):
    """As many hosts, each with every fault, on one switch for a hundred."""
    hosts = tuple(Host("1", None, None, {"hostname": "h 1", "ip": "10.0.0.1", "cpu": "x"}) for _ in range(count))
    named = tuple(Host(str(i), "1", "1", {"hostname": f"h{i}", "nodeNum": i}) for i in range(1, count + 1))
    switches = tuple(Switch(str(i), "1", "1", {"switchType": "legacySwitch"}) for i in range(1, count // 100 + 2))
    links = tuple(Link(f"h{i}", f"s{(i - 1) // 100 + 1}", {"delay": "5"}) for i in range(1, count + 1))
    return Topology(hosts + named, switches, links)


def test_mending_and_exporting_take_time_that_grows_with_the_file_alone():
    """Four times the hosts take some four times as long; with the square it was sixteen times."""

    def cost(count):
        topology = faulty(count)
        begun = time.process_time()
        mended, _ = mend(topology)
        script(mended, "large")
        arranged(mended)
        return time.process_time() - begun

    cost(100)
    assert min(cost(4000), cost(4000)) < 9 * max(cost(1000), cost(1000))


def test_names_of_other_alphabets_are_shown_as_they_are():
    r"""Regression: as "B\u00fcro-Rechner"."""
    problems = files.open_file(DRAWINGS / "names-of-other-alphabets.mn").problems()
    assert any('found "Büro-Rechner"' in problem.message for problem in problems)
    assert not any("\\u" in str(problem) for problem in problems)
