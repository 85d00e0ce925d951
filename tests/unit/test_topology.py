# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: E501 - a row of the tables of messages stands on one line
"""`.mn` files: nothing is lost, ports and addresses are Mininet's, and each fault is named.

`captures/miniedit-2.2.0.1-all-kinds.mn` was written by MiniEdit's own saveTopology (Mininet 2.3.0).
"""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab import units
from linklab.errors import TopologyError
from linklab.topology import Link, Topology
from linklab.topology.plan import plan

ROOT = Path(__file__).parents[2]
MINIEDIT = ROOT / "tests/captures/miniedit-2.2.0.1-all-kinds.mn"


def host(number, **opts):
    """Entry of "hosts" as MiniEdit makes it."""
    given = {"hostname": f"h{number}", "nodeNum": number, "sched": "host", **opts}
    return {"number": str(number), "x": "10.0", "y": "20.0", "opts": given}


def switch(number, **opts):
    """Entry of "switches"."""
    given = {
        "hostname": f"s{number}",
        "nodeNum": number,
        "switchType": "legacySwitch",
        "controllers": [],
        **opts,
    }
    return {"number": str(number), "x": "10.0", "y": "20.0", "opts": given}


def link(src, dest, **opts):
    """Entry of "links"."""
    return {"src": src, "dest": dest, "opts": opts}


def small(**changed):
    """Data of h1 - s1 - h2, with top-level keys changed."""
    data = {
        "version": "2",
        "application": {"ipBase": "10.0.0.0/8"},
        "controllers": [],
        "hosts": [host(1), host(2)],
        "switches": [switch(1)],
        "links": [link("h1", "s1"), link("h2", "s1")],
    }
    return {**data, **changed}


def load(data, **options):
    """Topology from JSON data."""
    return Topology.loads(json.dumps(data), "lab.mn", **options)


# --- the labs


def test_lab_8_has_the_ports_the_manual_names():
    """h1 - s1 - s2 - h2, where both switches meet on their second port."""
    topology = Topology.load(ROOT / "topologies/Lab 8.mn")
    assert topology.port_names() == {
        "s1-eth1": "h1-eth0",
        "s1-eth2": "s2-eth2",
        "s2-eth1": "h2-eth0",
        "h1-eth0": "s1-eth1",
        "s2-eth2": "s1-eth2",
        "h2-eth0": "s2-eth1",
    }


def test_lab_14_has_the_ports_the_manual_names():
    """The router's bottleneck towards h3 is s1-eth2, between the ports of h1 and h2."""
    topology = Topology.load(ROOT / "topologies/Lab 14.mn")
    assert topology.interfaces() == {
        "h1": ("h1-eth0",),
        "h2": ("h2-eth0",),
        "h3": ("h3-eth0",),
        "s1": ("s1-eth1", "s1-eth2", "s1-eth3"),
    }
    assert [topology.port_names()[f"s1-eth{port}"] for port in (1, 2, 3)] == ["h1-eth0", "h3-eth0", "h2-eth0"]


SWITCHED = [path for path in sorted((ROOT / "topologies").glob("Lab *.mn")) if path.stem != "Lab 23"]
"""Lab 23 has a router: tests/unit/test_lab_topologies.py."""


@pytest.mark.parametrize("path", SWITCHED, ids=lambda path: path.stem)
def test_every_topology_of_a_lab_is_a_clean_miniedit_file(path):
    """No error, no warning, hosts hN = 10.0.0.N/8, legacy switches, and bytes as MiniEdit would write them."""
    topology = Topology.load(path)
    assert topology.problems() == []
    assert topology.dumps() == path.read_text(encoding="utf-8")
    assert {host.name: topology.address(host) for host in topology.hosts} == {
        f"h{host.number}": f"10.0.0.{host.number}/8" for host in topology.hosts
    }
    assert {switch.type for switch in topology.switches} == {"legacySwitch"}


# --- without loss


def test_a_file_of_miniedit_comes_back_byte_for_byte():
    """Sorted keys, indent 4, no newline at the end, é escaped: as MiniEdit's json.dumps wrote it."""
    text = MINIEDIT.read_text(encoding="utf-8")
    assert Topology.loads(text).dumps() == text


def test_unknown_keys_are_kept_at_every_level():
    """A newer editor's keys, mininet-wifi's nodes and our own object survive."""
    data = small(
        hosts=[{**host(1, newer=[1, {"a": None}]), "colour": "red"}, host(2)],
        switches=[{**switch(1, stp=True), "colour": "blue"}],
        links=[{**link("h1", "s1", use_tbf=True), "label": "up"}, link("h2", "s1")],
        controllers=[{"x": "1", "y": "2", "opts": {"hostname": "c0", "new": 1}, "colour": "red"}],
        application={"ipBase": "10.0.0.0/8", "theme": {"dark": "1"}},
        stations=[{"number": "1", "opts": {"hostname": "sta1"}}],
        aps=[],
        linklab={"links": [{"src→dst": {"rate": "10mbit"}}]},
        later={"deep": [1.5, -0.0, 1e300, "ü"]},
    )
    assert json.loads(load(data).dumps()) == data


def test_a_version_1_file_keeps_its_form():
    """Its controllers are an object, and its switches all belong to c0."""
    data = small(version="1", controllers={"c0": {"controllerType": "remote", "remoteIP": "1.2.3.4", "remotePort": 1}})
    data["switches"] = [switch(1, switchType="default")]
    topology = load(data)
    assert json.loads(topology.dumps()) == data
    assert topology.all_controllers[0].name == "c0"
    assert plan(topology)["nodes"][2]["controllers"] == ["c0"]


def test_what_miniedit_forgives_is_forgiven_and_stays_absent():
    """Missing preferences, controllers, hostname, nodeNum and switchType get MiniEdit's defaults, not new keys."""
    data = {
        "version": "2",
        "hosts": [{"number": "7", "x": "1.0", "y": "2.0", "opts": {}}],
        "switches": [{"number": "3", "x": "1.0", "y": "2.0", "opts": {}}],
        "links": [link("h7", "s3")],
    }
    topology = load(data)
    assert json.loads(topology.dumps()) == data
    built = plan(topology)
    assert built["nodes"][0]["name"] == "h7"
    assert built["nodes"][0]["address"] == "10.0.0.7/8"
    assert (built["nodes"][1]["name"], built["nodes"][1]["kind"]) == ("s3", "ovs")
    assert built["nodes"][1]["protocols"] == "OpenFlow10"
    assert built["preferences"] == {
        "start_cli": False,
        "terminal": "xterm",
        "dpctl_port": None,
        "netflow": None,
        "sflow": None,
    }


def test_save_replaces_the_file_whole_and_leaves_no_other(tmp_path):
    """What is loaded after a save equals what was saved, and no temporary file stays."""
    path = tmp_path / "a lab.mn"
    path.write_text("old")
    topology = load(small())
    topology.save(path)
    assert Topology.load(path) == topology
    assert Topology.load(path).name == "a lab"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    """A full disk must not cost a student the topology."""
    path = tmp_path / "lab.mn"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        load(small()).save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
unknown = st.dictionaries(st.text(min_size=1, max_size=6).map("x-".__add__), json_values, max_size=2)


@st.composite
def networks(draw):
    """JSON data of hosts on a chain of switches, links shuffled, unknown keys anywhere."""
    hosts = [{**host(i, **draw(unknown)), **draw(unknown)} for i in range(1, draw(st.integers(1, 5)) + 1)]
    switches = [{**switch(i, **draw(unknown)), **draw(unknown)} for i in range(1, draw(st.integers(1, 3)) + 1)]
    links = [link(h["opts"]["hostname"], f"s{draw(st.integers(1, len(switches)))}") for h in hosts]
    links += [link(f"s{i}", f"s{i + 1}", bw=draw(st.integers(1, 1000)), delay="5ms") for i in range(1, len(switches))]
    return small(hosts=hosts, switches=switches, links=draw(st.permutations(links)), **draw(unknown))


@given(networks())
def test_load_and_dump_are_inverse(data):
    """JSON data, topology and text all survive the round trip."""
    topology = load(data)
    assert json.loads(topology.dumps()) == data
    assert Topology.loads(topology.dumps()) == topology


@given(networks())
def test_ports_count_up_in_the_order_of_the_links(data):
    """Each node numbers its links without gaps, hosts from 0 and switches from 1; wiring is symmetric."""
    topology = load(data)
    for name, interfaces in topology.interfaces().items():
        first = 0 if name.startswith("h") else 1
        assert interfaces == tuple(f"{name}-eth{first + i}" for i in range(len(interfaces)))
    wired = topology.port_names()
    assert all(wired[wired[end]] == end for end in wired)
    assert len(wired) == 2 * len(topology.links)


# --- what follows from a file


def test_the_plan_of_a_file_with_everything():
    """Every default is filled in and every name resolved; the agent needs nothing else."""
    built = plan(Topology.load(MINIEDIT))
    assert json.loads(json.dumps(built)) == built
    assert built["format"] == 1
    assert built["ip_base"] == "10.0.0.0/8"
    assert built["controllers"] == [{"name": "c0", "type": "ref", "protocol": "tcp", "ip": "127.0.0.1", "port": 6633}]
    h1, h2, s1, s2, r3 = built["nodes"]
    assert h1 == {
        "name": "h1",
        "kind": "host",
        "address": "10.0.0.1/24",
        "default_route": "via 10.0.0.254",
        "cpu": 0.5,
        "sched": "host",
        "cores": "0,1",
        "vlan_interfaces": [{"name": "h1-eth1.100", "parent": "h1-eth1", "id": 100, "address": "10.0.0.9/8"}],
        "private_dirs": ["/var/run", ["/etc/x", "/tmp/x"]],
        "start_command": 'echo "é"',
        "stop_command": None,
        "external_interfaces": ["eth9"],
    }
    assert (h2["address"], h2["default_route"], h2["cpu"]) == ("10.0.0.2/8", None, None)
    assert s1 == {
        "name": "s1",
        "kind": "ovs",
        "dpid": "000000000000000a",
        "fail_mode": "secure",
        "protocols": "OpenFlow10",
        "controllers": ["c0"],
        "dpctl_port": 6634,
        "ip": None,
        "netflow": False,
        "sflow": True,
        "start_command": None,
        "stop_command": None,
        "external_interfaces": [],
    }
    assert (s2["kind"], s2["fail_mode"], s2["dpid"]) == ("legacySwitch", "standalone", "0000000000000002")
    assert r3 == {
        "name": "r3",
        "kind": "legacyRouter",
        "start_command": None,
        "stop_command": None,
        "external_interfaces": [],
    }
    assert built["links"] == [
        {
            "src": {"node": "h1", "interface": "h1-eth1", "port": 1},  # eth9 was attached before and has port 0
            "dest": {"node": "s1", "interface": "s1-eth1", "port": 1},
            "opts": {},
        },
        {
            "src": {"node": "s1", "interface": "s1-eth2", "port": 2},
            "dest": {"node": "s2", "interface": "s2-eth1", "port": 1},
            "opts": {
                "bw": 10.0,
                "delay": "5ms",
                "jitter": "1ms",
                "loss": 1.0,
                "max_queue_size": 100,
                "speedup": 0.0,
            },
        },
        {
            "src": {"node": "h2", "interface": "h2-eth0", "port": 0},
            "dest": {"node": "s2", "interface": "s2-eth2", "port": 2},
            "opts": {},
        },
        {
            "src": {"node": "s2", "interface": "s2-eth3", "port": 3},
            "dest": {"node": "r3", "interface": "r3-eth0", "port": 0},  # a router counts as a host does
            "opts": {},
        },
    ]


def test_preferences_reach_the_plan():
    """Set preferences arrive as numbers and truths, and decide what a default switch is."""
    application = {
        "ipBase": "15.0.0.0/8",
        "startCLI": "1",
        "terminalType": "gterm",
        "switchType": "user",
        "dpctl": "6700",
        "netflow": {"nflowTarget": "10.0.0.9:2055", "nflowTimeout": "60", "nflowAddId": "1"},
        "sflow": {"sflowTarget": "10.0.0.9:6343"},
        "openFlowVersions": {"ovsOf13": "1"},
    }
    built = plan(load(small(application=application, switches=[switch(1, switchType="default")])))
    assert built["preferences"] == {
        "start_cli": True,
        "terminal": "gterm",
        "dpctl_port": 6700,
        "netflow": {"target": "10.0.0.9:2055", "timeout_s": 60, "add_id": True},
        "sflow": {"target": "10.0.0.9:6343", "sampling": 400, "header_bytes": 128, "polling_s": 30},
    }
    assert [node.get("address") for node in built["nodes"]] == ["15.0.0.1/8", "15.0.0.2/8", None]
    assert (built["nodes"][2]["kind"], built["nodes"][2]["protocols"]) == ("user", "OpenFlow13")


@pytest.mark.parametrize(
    ("ip_base", "opts", "address"),
    [
        ("10.0.0.0/8", {}, "10.0.0.1/8"),
        ("15.0.0.0/8", {}, "15.0.0.1/8"),
        ("192.168.5.0/24", {}, "192.168.5.1/24"),
        ("10.0.0.0/8", {"ip": ""}, "10.0.0.1/8"),
        ("10.0.0.0/8", {"nodeNum": 300}, "10.0.1.44/8"),
        ("10.0.0.0/8", {"ip": "10.9.9.9"}, "10.9.9.9/8"),
        ("10.0.0.0/8", {"ip": "10.9.9.9/24"}, "10.9.9.9/24"),
        ("10.0.0.0/24", {"ip": "172.16.0.1"}, "172.16.0.1/8"),
    ],
)
def test_addresses_are_mininets(ip_base, opts, address):
    """Without an address a host gets the nodeNum-th of ipBase; without a prefix length that of ipBase, or 8."""
    topology = load(small(application={"ipBase": ip_base}, hosts=[host(1, **opts), host(2)]))
    assert topology.address(topology.hosts[0]) == address


@pytest.mark.parametrize(
    ("opts", "planned"),
    [
        ({"bw": "10mbit"}, {"bw": 10.0}),
        ({"bw": 0.5}, {"bw": 0.5}),
        ({"delay": "20 ms", "jitter": "100µs"}, {"delay": "20ms", "jitter": "100us"}),
        ({"loss": 0.01}, {"loss": 0.01}),
        ({"unknown": 1}, {}),
    ],
)
def test_link_options_reach_the_plan_as_tc_takes_them(opts, planned):
    """Rates are numbers of Mbit/s, times have tc's spelling, unknown options stay in the file."""
    topology = load(small(links=[link("h1", "s1", **opts), link("h2", "s1")]))
    assert plan(topology)["links"][0]["opts"] == planned


def test_a_switch_without_a_digit_in_its_name_gets_a_dpid():
    """Mininet would refuse to start it."""
    data = small(switches=[switch(4, hostname="core")], links=[link("h1", "core"), link("h2", "core")])
    assert plan(load(data))["nodes"][2]["dpid"] == "0000000000000004"


# --- bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lab.mn: line 1, column 1: not valid JSON: Expecting value"),
        ('{"version": "2",\n x}', "lab.mn: line 2, column 2: not valid JSON: Expecting property name"),
        ("[]", "lab.mn: the file must be a JSON object, found []"),
        ("{}", 'lab.mn: the file: the key "hosts" is missing'),
        ('{"version": "3"}', 'lab.mn: "version" is "3"; I know "1" and "2"'),
        ('{"version": 2}', 'lab.mn: the file: the key "hosts" is missing'),
        ('{"version": "2"}', 'lab.mn: the file: the key "hosts" is missing'),
        ('{"version": "2", "version": "2"}', 'lab.mn: the key "version" stands twice in one object'),
        ('{"version": NaN}', "lab.mn: NaN is not a JSON number"),
        ('{"version": 1e999}', "lab.mn: 1e999 is too large a number"),
        ("[" * 100_000, "lab.mn: "),
    ],
)
def test_a_file_that_is_no_topology_is_refused(text, message):
    """The sentence says which file and where in it."""
    with pytest.raises(TopologyError) as caught:
        Topology.loads(text, "lab.mn")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"hosts": {}}, 'the file: "hosts" must be a list, found {}'),
        ({"hosts": ["h1"]}, 'hosts[0] must be a JSON object, found "h1"'),
        ({"hosts": [{"opts": {"hostname": "pc"}}]}, 'hosts[0]: the key "number" is missing'),
        ({"hosts": [{**host(1), "number": [1]}]}, 'hosts[0]: "number" must be a string, found [1]'),
        ({"hosts": [{**host(1), "x": [1]}]}, 'host h1: "x" must be a string, found [1]'),
        (
            {"hosts": [{"number": "a", "x": "1", "y": "1", "opts": {}}]},
            'host ha: "number" must be at most 15 digits, found "a"',
        ),
        (
            {"hosts": [{"number": "9" * 5000, "x": "1", "y": "1", "opts": {"hostname": "h1"}}]},
            f'host h1: "number" must be at most 15 digits, found "{"9" * 60}…"',
        ),
        ({"controllers": {}}, 'the file: "controllers" must be a list, found {}'),
        ({"controllers": [{"x": "1", "y": "1", "opts": {}}]}, 'controllers[0] "opts": the key "hostname" is missing'),
        ({"links": [{"src": "h1"}]}, 'links[0]: the key "dest" is missing'),
        ({"links": [{"src": "h1", "dest": "s1", "opts": 5}]}, 'link h1-s1: "opts" must be an object, found 5'),
        ({"application": []}, 'the file: "application" must be an object, found []'),
        ({"linklab": []}, '"linklab" must be a JSON object, found []'),
    ],
)
def test_a_broken_structure_is_refused_even_unchecked(changed, message):
    """There would be nothing to hold it in."""
    with pytest.raises(TopologyError) as caught:
        load(small(**changed), check=False)
    assert str(caught.value) == f"lab.mn: {message}"


def with_link(**opts):
    """Change of `small` that gives its first link options."""
    return {"links": [link("h1", "s1", **opts), link("h2", "s1")]}


@pytest.mark.parametrize(
    ("opts", "built"),
    [
        ({"delay": "5"}, {"delay": "5us"}),
        ({"delay": 2500, "jitter": "100"}, {"delay": "2500us", "jitter": "100us"}),
        ({"bw": "10", "loss": "1%", "max_queue_size": "50"}, {"bw": 10.0, "loss": 1.0, "max_queue_size": 50}),
        ({"bw": None, "delay": ""}, {}),
    ],
)
def test_a_link_as_strangers_write_it_is_built_as_mininet_builds_it(opts, built):
    """A bare number is microseconds to tc(8), to which Mininet passes it."""
    # the delay that tc shows may be in another unit
    found = plan(load(small(**with_link(**opts))))["links"][0]["opts"]
    assert {
        key: value if key not in ("delay", "jitter") else units.parse_time_s(value) for key, value in found.items()
    } == {key: value if key not in ("delay", "jitter") else units.parse_time_s(value) for key, value in built.items()}


def test_a_file_that_lacks_what_can_be_told_loads():
    """The version, places, numbers and options that are not there; a file is written as it was read."""
    data = {
        "hosts": [{"opts": {"hostname": "pc7"}}, {"number": 2}],
        "switches": [{"number": "1", "x": 5}],
        "links": [{"src": "pc7", "dest": "s1"}, {"src": "h2", "dest": "s1"}],
    }
    topology = load(data)
    assert [(node.name, node.node_num) for node in topology.nodes] == [("pc7", 7), ("h2", 2), ("s1", 1)]
    assert json.loads(topology.dumps())["hosts"][1] == {"number": 2, "opts": {}}
    assert Topology.loads(topology.dumps()) == topology
    assert [node["address"] for node in plan(topology)["nodes"][:2]] == ["10.0.0.7/8", "10.0.0.2/8"]


def test_half_a_surrogate_pair_is_refused():
    """Regression: no window can show it, and the editor ended with a UnicodeEncodeError; a whole pair is a letter."""
    text = json.dumps(small(hosts=[host(1, hostname="h\ud800"), host(2)], links=[]))
    with pytest.raises(TopologyError, match="half of a surrogate pair"):
        Topology.loads(text, check=False)
    assert Topology.loads(text.replace("\\ud800", "\\ud83d\\ude00"), check=False).hosts[0].name == "h😀"


def test_a_file_with_a_byte_order_mark_loads(tmp_path):
    """As some editors of Windows write it."""
    (tmp_path / "bom.mn").write_bytes(b"\xef\xbb\xbf" + json.dumps(small()).encode())
    assert Topology.load(tmp_path / "bom.mn") == load(small())


ERRORS = [
    ({"hosts": [host(1, nodeNum=0), host(2)]}, 'host h1: "nodeNum" 0 gives the address of the network 10.0.0.0/8 itself; give another number, or an "ip"'),
    ({"hosts": [host(1, nodeNum=10**15), host(2)]}, f'host h1: "nodeNum" must be a whole number from 0, found {10**15}'),
    (with_link(speedup=10**400), f'link h1-s1: "speedup" must be a number of Mbit/s, or 0 for none, found 1{"0" * 59}…'),
    (with_link(bw=10**400), f'link h1-s1: "bw" must be a number of Mbit/s or a string such as "10mbit", found 1{"0" * 59}…'),
    ({"hosts": [host(1, cores=[-1]), host(2)]}, 'host h1: "cores" must be processor numbers such as "0,1", found [-1]'),
    ({"hosts": [host(1, ip=5), host(2)]}, 'host h1: "ip" must be an IPv4 address such as "10.0.0.1" or "10.0.0.1/8", found 5'),
    ({"hosts": [host(1, ip="10.0.0"), host(2)]}, 'host h1: "ip" must be an IPv4 address such as "10.0.0.1" or "10.0.0.1/8", found "10.0.0"'),
    ({"hosts": [host(1, defaultRoute="h2"), host(2)]}, 'host h1: "defaultRoute" must be an IPv4 address such as "10.0.0.254", found "h2"'),
    ({"hosts": [host(1, cpu="half"), host(2)]}, 'host h1: "cpu" must be a number above 0, the share of one processor, found "half"'),
    ({"hosts": [host(1, sched="fast"), host(2)]}, 'host h1: "sched" must be one of "host", "cfs", "rt", found "fast"'),
    ({"hosts": [host(1, startCommand=1), host(2)]}, 'host h1: "startCommand" must be a string, found 1'),
    ({"hosts": [host(1, vlanInterfaces=[["10.0.0.9", "5000"]]), host(2)]}, 'host h1: "vlanInterfaces" must be a list of pairs such as ["10.0.0.9", "100"], found [["10.0.0.9", "5000"]]'),
    ({"hosts": [host(1, vlanInterfaces=[["10.0.0.9", "9" * 5000]]), host(2)]}, f'host h1: "vlanInterfaces" must be a list of pairs such as ["10.0.0.9", "100"], found [["10.0.0.9", "{"9" * 45}…'),
    ({"hosts": [host(1, privateDirectory=[1]), host(2)]}, 'host h1: "privateDirectory" must be a list of folders or of pairs such as ["/etc/x", "/tmp/x"], found [1]'),
    ({"hosts": [host(1, externalInterfaces="eth1"), host(2)]}, 'host h1: "externalInterfaces" must be a list of strings, found "eth1"'),
    ({"switches": [switch(1, dpid="xyz")]}, 'switch s1: "dpid" must be at most 16 hexadecimal digits, found "xyz"'),
    ({"switches": [switch(1, dpctl="a")]}, 'switch s1: "dpctl" must be at most 15 digits in a string, found "a"'),
    ({"switches": [switch(1, controllers=["c7"])]}, 'switch s1: "controllers" names c7, and there is none'),
    ({"application": {"ipBase": "10.0.0.0"}}, 'application: "ipBase" must be a network such as "10.0.0.0/8", found "10.0.0.0"'),
    ({"application": {"sflow": {"sflowTarget": 'a b"'}}}, 'application sflow: "sflowTarget" must be an address and a port of letters, digits, and . : [ ] % -, such as "10.0.0.1:6343", found "a b\\""'),
    ({"application": {"sflow": 5}}, 'application: "sflow" must be an object, found 5'),
    (with_link(delay="275s"), 'link h1-s1: "delay" must be below 274 s, the most that tc takes, found "275s"'),
    (with_link(jitter="1000000s"), 'link h1-s1: "jitter" must be below 274 s, the most that tc takes, found "1000000s"'),
    (with_link(bw="10mb"), 'link h1-s1: "bw" must be a rate: rate "10mb" has no unit I know; use kbit, mbit or gbit, found "10mb"'),
    (with_link(bw=True), 'link h1-s1: "bw" must be a number of Mbit/s or a string such as "10mbit", found true'),
    (with_link(bw=0), 'link h1-s1: "bw" must be above 0 Mbit/s, found 0'),
    (with_link(jitter="1x"), 'link h1-s1: "jitter" must be a time: time "1x" has no unit I know; use us, ms or s, found "1x"'),
    (with_link(loss=101), 'link h1-s1: "loss" must be a number of percent from 0 to 100, found 101'),
    (with_link(max_queue_size=1.5), 'link h1-s1: "max_queue_size" must be a whole number from 1 to 4,294,967,295, found 1.5'),
    ({"links": [link("h1", "s9")]}, 'link h1-s9: "dest" names s9, and there is no such node'),
    ({"links": [link("h9", "s1")]}, 'link h9-s1: "src" names h9, and there is no such node'),
    ({"links": [link("s1", "s1")]}, "link s1-s1: joins s1 to itself"),
    ({"hosts": [host(1), host(2, hostname="h1")], "links": []}, 'host h1: 2 nodes have the "hostname" "h1"'),
    ({"hosts": [host(1), host(2, hostname="s1")], "links": []}, 'host and switch s1: 2 nodes have the "hostname" "s1"'),
    ({"hosts": [host(1, hostname="h 1")], "links": []}, 'host h 1: "hostname" may hold letters, digits, _ . and -, and starts with a letter, a digit or _; found "h 1"'),
    ({"hosts": [host(1, hostname="-h")], "links": []}, 'host -h: "hostname" may hold letters, digits, _ . and -, and starts with a letter, a digit or _; found "-h"'),
    ({"hosts": [host(1, hostname="workstation")], "links": [link("workstation", "s1")]}, 'host workstation: "hostname" makes the interface name workstation-eth0; Linux allows 15 characters'),
    ({"application": {"ipBase": "10.0.0.0/30"}, "hosts": [host(1), host(9)], "links": []}, 'host h9: "nodeNum" 9 is more than the addresses of ipBase 10.0.0.0/30'),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "message"), ERRORS)
def test_each_error_names_the_file_the_node_and_the_key(changed, message):
    """Loading raises it; loading unchecked gives it as the only error in the list."""
    with pytest.raises(TopologyError) as caught:
        load(small(**changed))
    assert str(caught.value) == f"lab.mn: {message}"
    errors = [str(problem) for problem in load(small(**changed), check=False).problems() if problem.severity == "error"]
    assert errors == [message]


def test_a_link_to_a_controller_says_where_control_links_are_kept():
    """MiniEdit draws such links but does not save them as links."""
    controller = {"x": "1", "y": "1", "opts": {"hostname": "c0"}}
    with pytest.raises(TopologyError, match=r'link s1-c0: "dest" is the controller c0; a switch names its controllers'):
        load(small(controllers=[controller], links=[link("s1", "c0")]))


def test_several_errors_are_counted():
    """One line on the terminal, the rest in the editor's list."""
    with pytest.raises(TopologyError, match=r"lab\.mn: link h1-s1: .* \(and 1 more\)$"):
        load(small(links=[link("h1", "s1", bw="10mb"), link("h2", "s1", delay="5x")]))


WARNINGS = [
    ({"hosts": [host(1, cpu="0.5"), host(2)]}, 'host h1: "cpu" "0.5" should be a number: taken as 0.5 of a processor'),
    ({"hosts": [host(1, nodeNum="1"), host(2)]}, 'host h1: "nodeNum" "1" should be a number: taken as 1'),
    ({"hosts": [host(1, nodeNum=0, ip="10.0.0.9"), host(2)]}, 'host h1: "nodeNum" 0 gives no address; the "ip" is what counts'),
    ({"hosts": [host(1, ip=" 10.0.0.9"), host(2)]}, 'host h1: "ip" " 10.0.0.9" has spaces around it: taken as "10.0.0.9"'),
    ({"hosts": [host(1, ip=None), host(2)]}, 'host h1: "ip" null is treated as not set'),
    ({"hosts": [{**host(1), "x": "left"}, host(2)]}, 'host h1: "x" must be a number, found "left"; Lay Out finds a place'),
    ({"hosts": [{**host(1), "x": "inf"}, host(2)]}, 'host h1: "x" must be a number, found "inf"; Lay Out finds a place'),
    ({"switches": [switch(1, controllers=None)]}, 'switch s1: "controllers" null is treated as not set'),
    ({"switches": [switch(1, switchType="hub")]}, 'switch s1: "switchType" "hub" is unknown to MiniEdit, which then builds Open vSwitch: taken as "ovs"'),
    ({"switches": [switch(1, dpid=10)]}, 'switch s1: "dpid" 10 should be text: taken as "000000000000000a"'),
    ({"switches": [switch(1, dpid="0x1F")]}, 'switch s1: "dpid" "0x1F" begins with 0x: taken as "1F"'),
    ({"switches": [switch(1, sflow=False)]}, 'switch s1: "sflow" false should be text: taken as "0"'),
    ({"application": {"ipBase": "10.0.0.0/255.0.0.0"}}, 'application: "ipBase" "10.0.0.0/255.0.0.0" should have a prefix length: taken as "10.0.0.0/8"'),
    ({"application": {"startCLI": 1}}, 'application: "startCLI" 1 should be text: taken as "1"'),
    ({"application": {"sflow": {"sflowHeader": 128}}}, 'application sflow: "sflowHeader" 128 should be text: taken as "128"'),
    ({"controllers": [{"x": "1", "y": "1", "opts": {"hostname": "c0", "remotePort": "6633"}}]}, 'controller c0: "remotePort" "6633" should be a number: taken as 6633'),
    ({"controllers": [{"x": "1", "y": "1", "opts": {"hostname": "c0", "controllerType": "nox"}}]}, 'controller c0: "controllerType" "nox" is unknown to MiniEdit, which then builds the reference controller: taken as "ref"'),
    (with_link(bw="10"), 'link h1-s1: "bw" "10" should be a number: taken as 10 Mbit/s'),
    (with_link(bw=""), 'link h1-s1: "bw" "" is empty and is treated as not set'),
    (with_link(delay="5"), 'link h1-s1: "delay" "5" has no unit, and tc counts in microseconds: taken as "5us"'),
    (with_link(delay=5), 'link h1-s1: "delay" 5 has no unit, and tc counts in microseconds: taken as "5us"'),
    (with_link(delay="5ms", jitter=0.5), 'link h1-s1: "jitter" 0.5 has no unit, and tc counts in microseconds: taken as "0.5us"'),
    (with_link(loss="1%"), 'link h1-s1: "loss" "1%" should be a number: taken as 1 %'),
    (with_link(max_queue_size=100.0), 'link h1-s1: "max_queue_size" 100.0 should be a whole number: taken as 100'),
    ({"hosts": [host(1, ip="10.0.0.2"), host(2)]}, 'host h2: has the address 10.0.0.2 (no "ip", so by its "nodeNum") that host h1 has too; only one of them answers'),
    ({"hosts": [host(1, ip="10.0.0.9/8"), host(2, ip="10.0.0.9/8")]}, 'host h2: has the address 10.0.0.9 ("ip") that host h1 has too; only one of them answers'),
    ({"links": [link("h1", "h2")]}, "link h1-h2: joins two hosts, which runs but which MiniEdit cannot draw"),
    ({"hosts": [host(1, ip="172.16.0.1/16"), host(2)]}, 'host h1: "ip" 172.16.0.1 is outside the ipBase 10.0.0.0/8'),
    ({"hosts": [host(1, cpu=0.5, sched="rt"), host(2)]}, 'host h1: "sched" rt is kept in the file, but a pocket shares its processor out by cfs'),
    ({"hosts": [host(1, cores="0,1"), host(2)]}, 'host h1: "cores" 0,1 is kept in the file but has no effect in a pocket, which has one processor'),
    (with_link(bw=10000), 'link h1-s1: "bw" 10000 Mbit/s is above 1000, from where stock Mininet leaves a link unlimited'),
    ({"hosts": [host(1, hostname="client")], "links": []}, 'host client: a terminal called "client" is Linklab\'s own; rename the node'),
    ({"switches": [switch(1), switch(2)], "links": [link("s1", "s2"), link("s2", "s1")]}, "link s2-s1: closes a loop of switches; without a spanning tree broadcasts circle in it for ever. Preferences > Switches > Spanning tree breaks the loop"),
    ({"switches": [switch(1), switch(2), switch(3)], "links": [link("s1", "s2"), link("s2", "s3"), link("s3", "s1")]}, "link s3-s1: closes a loop of switches; without a spanning tree broadcasts circle in it for ever. Preferences > Switches > Spanning tree breaks the loop"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "message"), WARNINGS)
def test_what_runs_but_deserves_a_look_is_a_warning(changed, message):
    """The file loads and runs; the editor shows the sentence."""
    topology = load(small(**changed))
    assert [(problem.severity, str(problem)) for problem in topology.problems()] == [("warning", message)]
    assert plan(topology)["format"] == 1


def test_a_ring_through_a_router_is_no_loop():
    """Routers do not forward broadcasts."""
    switches = [switch(1), switch(2), switch(3, switchType="legacyRouter")]
    links = [link("s1", "s2"), link("s2", "s3"), link("s3", "s1")]
    found = load(small(switches=switches, links=links)).problems()
    assert [str(each) for each in found] == [
        "router s3: s3-eth0, s3-eth1 have no addresses, so it routes nothing there. "
        "Edit > Assign Addresses gives each link its subnet"
    ]


def test_wireless_nodes_are_kept_and_not_run():
    """A file of mininet-wifi opens with a warning and says why it cannot run."""
    data = small(stations=[{"number": "1", "opts": {"hostname": "sta1"}}], links=[link("sta1", "s1")])
    topology = load(data)
    assert [str(problem) for problem in topology.problems()] == [
        "the file: wireless nodes are kept but cannot be run: sta1"
    ]
    with pytest.raises(TopologyError, match=r"^lab: cannot be run: wireless nodes \(sta1\)$"):
        plan(topology)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """Absent, a folder, or no text at all."""
    with pytest.raises(TopologyError, match=r"absent\.mn: cannot be read: No such file or directory"):
        Topology.load(tmp_path / "absent.mn")
    (tmp_path / "bytes.mn").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(TopologyError, match=r"bytes\.mn: not a topology: byte 7 is not valid UTF-8"):
        Topology.load(tmp_path / "bytes.mn")


def test_parts_are_plain_data():
    """Equal content is equal, whatever file it came from, and a load does not change what it was given."""
    data = small()
    before = copy.deepcopy(data)
    assert load(data) == Topology.loads(json.dumps(data, indent=1), "elsewhere/other.mn")
    assert data == before
    assert Link("h1", "s1") != Link("s1", "h1")


def test_a_port_number_of_the_file_stays_and_others_pass_it_over():
    """The editor keeps s1-eth2 when the link of s1-eth1 is deleted; a new link takes the free number."""
    ours = {"links": [{"src": "h2", "dest": "s1", "ports": [None, 2]}]}
    topology = load(small(links=[link("h2", "s1")], linklab=ours))
    assert topology.link_ends() == [("h2-eth0", "s1-eth2")]
    topology = load(small(links=[link("h2", "s1"), link("h1", "s1")], linklab=ours))
    assert topology.link_ends() == [("h2-eth0", "s1-eth2"), ("h1-eth0", "s1-eth1")]
    assert json.loads(topology.dumps())["linklab"] == ours
    assert topology.interfaces()["s1"] == ("s1-eth1", "s1-eth2")


def test_the_nth_entry_is_the_nth_link_of_a_pair():
    """Parallel links keep their own data apart; entries of no link are kept."""
    entries = [
        {"src": "s1", "dest": "s2"},
        {"src": "s1", "dest": "s2", "forward": {"delay": "20ms"}},
        {"src": "x", "dest": "y", "colour": "red"},
    ]
    data = small(
        switches=[switch(1), switch(2)], links=[link("s1", "s2"), link("s1", "s2")], linklab={"links": entries}
    )
    topology = load(data)
    assert [each.own for each in topology.links] == [{}, {"forward": {"delay": "20ms"}}]
    assert json.loads(topology.dumps()) == data
    tc = plan(topology)["links"][1]["src"]["tc"]
    assert tc == {
        "lines": ["tc qdisc add dev s1-eth2 root handle 1: netem limit 100000 delay 20ms"],
        "qdiscs": [
            {"kind": "netem", "handle": "1:", "parent": "root", "options": {"limit": 100000, "delay_ns": 20000000}}
        ],
    }


def test_our_own_data_is_checked():
    """A port twice, and an impairment that tc would refuse, are errors that name the link."""
    twice = {
        "links": [{"src": "h1", "dest": "s1", "ports": [None, 2]}, {"src": "h2", "dest": "s1", "ports": [None, 2]}]
    }
    with pytest.raises(TopologyError, match="link h2-s1: port 2 of s1 is that of link h1-s1 too"):
        load(small(linklab=twice))
    wrong = {"links": [{"src": "h1", "dest": "s1", "forward": {"delay": "20"}}]}
    with pytest.raises(TopologyError, match='link h1-s1: "linklab": "delay": time "20" has no unit'):
        load(small(linklab=wrong))


@pytest.mark.parametrize(
    ("opts", "own", "impaired"),
    [
        ({}, {}, False),
        ({"delay": "0ms", "loss": 0, "speedup": 0}, {"ports": [None, 2]}, False),
        ({}, {"forward": {}}, False),
        ({"delay": "0", "jitter": "0.0"}, {}, False),  # regression: a time without a unit was an error of ours
        ({"delay": "5"}, {}, True),
        ({"delay": "100us"}, {}, True),
        ({"bw": 5000}, {}, True),
        ({}, {"backward": {"rate": "3gbit"}}, True),  # regression: Exercise 1 took such links for plain ones
    ],
)
def test_a_link_is_impaired_if_a_rate_a_delay_or_a_loss_is_drawn(opts, own, impaired):
    """In one direction is enough; zeros are none."""
    assert Link("h1", "s1", opts=opts, own=own).impaired is impaired
