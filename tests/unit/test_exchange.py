# SPDX-License-Identifier: BSD-3-Clause
"""Networks of containerlab, Kathará and mn --custom ↔ drawings: what is carried over, and that the rest is named.

The networks in tests/strangers/networks are written as strangers write them.
"""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from linklab.cli import main
from linklab.errors import InputError
from linklab.exchange import containerlab, kathara, read
from linklab.topology import Host, Link, Switch, Topology, addressing, switching
from linklab.topology.plan import plan
from linklab.topology.templates import made

CONF = "lab.conf"
NETWORKS = Path(__file__).parents[1] / "strangers" / "networks"


def wired(topology):
    """Which node is joined to which, however the link is written."""
    return sorted(sorted((link.src, link.dest)) for link in topology.links)


def addresses(topology):
    """Of each host, with its default route."""
    return {host.name: (topology.address(host), host.opts.get("defaultRoute")) for host in topology.hosts}


def ports(topology, name):
    """The addresses of a node's ports, and its routes."""
    node = next(node for node in topology.nodes if node.name == name)
    given = {port.interface: port.addresses for port in addressing.ports(topology) if port.node == name}
    return given, [str(route) for route in addressing.routes(node)]


def commands(topology, name):
    """The start command of a node, line by line."""
    return next(node for node in topology.nodes if node.name == name).opts.get("startCommand", "").split("; ")


# --- containerlab


def test_a_network_of_containerlab():
    """Hosts, a router by its forwarding, a bridge, inherited settings, both forms of links."""
    found = read.read(NETWORKS / "campus.clab.yml").topology
    assert addresses(found) == {
        "web-server": ("10.1.0.10/24", "10.1.0.1"),
        "client1": ("10.2.0.11/24", "10.2.0.1"),
        "client2": ("10.2.0.12/24", None),
    }
    assert {switch.name: switch.type for switch in found.switches} == {
        "gateway": "legacyRouter",
        "access": "legacySwitch",
        "core": "legacyRouter",
    }
    assert wired(found) == [
        ["access", "client1"],
        ["access", "client2"],
        ["access", "core"],
        ["access", "gateway"],
        ["gateway", "web-server"],
    ]
    assert ports(found, "gateway") == ({"gateway-eth0": ("10.1.0.1/24",), "gateway-eth1": ("10.2.0.1/24",)}, [])
    assert commands(found, "gateway") == ["tc qdisc add dev gateway-eth1 root netem delay 10ms"]
    assert commands(found, "web-server") == ['nginx -g "daemon off;"']
    assert plan(found)["format"] == 1


def test_what_a_drawing_has_no_place_for_is_named():
    """The kind that is not run, keys, links to the outside, the network of management."""
    assert list(read.read(NETWORKS / "campus.clab.yml").notes) == [
        "core: nokia_srlinux is not run; a plain router takes its place",
        "not carried over of the nodes: ports, startup-config",
        'link of client2:eth1 and access:acc3: "mtu" is not carried over',
        "the link of core:e1-2 and host:uplink leads out of the network and is not carried over",
        'not carried over: "mgmt"',
        "client1: not carried over, because eth0 is the management interface: ping -c1 -I eth0 172.100.100.1",
        "images are not carried over, so programs are those of this machine: "
        "ghcr.io/example/multitool:latest, ghcr.io/nokia/srlinux:24.10",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "not valid YAML"),
        ("- 1", 'not a containerlab topology: "topology" has no "nodes"'),
        ("topology: {nodes: [a]}", 'not a containerlab topology: "topology" has no "nodes"'),
        ("topology:\n  nodes:\n    a: {kind: linux}\n    a: {kind: bridge}", 'the key "a" appears twice'),
        ("!!python/object:os.system {}", "not valid YAML"),
        ("[" * 3000, "not valid YAML"),
    ],
)
def test_what_is_no_file_of_containerlab(text, why):
    """Refused with a sentence, and never run."""
    with pytest.raises(InputError, match=why):
        containerlab.load(text, "x")


@pytest.mark.parametrize("name", ["dumbbell:3", "parking-lot", "tree:2,2", "star:5"])
def test_a_drawing_comes_back_from_containerlab(name):
    """The same nodes, links, kinds and addresses."""
    before = made(name)
    written = containerlab.dump(before, "Back again")
    (text,) = written.files.values()
    after = containerlab.load(text, "back-again").topology
    assert wired(after) == wired(before)
    assert addresses(after) == addresses(before)
    assert {each.name: each.type for each in after.switches} == {each.name: each.type for each in before.switches}
    assert yaml.safe_load(text)["name"] == "back-again"


def test_rates_and_delays_stand_in_the_head_of_the_file():
    """containerlab has no place for them; both ends, as Mininet sets them."""
    written = containerlab.dump(made("dumbbell:1"), "x")
    (text,) = written.files.values()
    assert "#   tc qdisc add dev s1-eth2 root netem delay 10ms rate 10mbit\n" in text
    assert "#   tc qdisc add dev s2-eth2 root netem delay 10ms rate 10mbit\n" in text
    assert "#   ip link add s1 type bridge && ip link set s1 up\n" in text
    assert "set rates, delays, and losses after deploying, with the commands at the head" in written.notes


# --- Kathará


def test_a_scenario_of_kathara():
    """Hosts, routers by their two addresses, a domain of three as a switch; ports by the interfaces' numbers."""
    found = read.read(NETWORKS / "ospf-lab").topology
    assert found == read.read(NETWORKS / "ospf-lab" / "lab.conf").topology
    assert addresses(found) == {
        "pc1": ("10.0.1.10/24", "10.0.1.1"),
        "pc2": ("10.0.1.11/24", None),
        "pc3": ("10.0.2.10/24", "10.0.2.1"),
        "lonely": ("10.0.0.4/8", None),
    }
    assert {switch.name: switch.type for switch in found.switches} == {
        "r1": "legacyRouter",
        "r2": "legacyRouter",
        "A": "legacySwitch",
    }
    assert ports(found, "r1") == (
        {"r1-eth0": ("10.0.1.1/24",), "r1-eth1": ("10.0.9.1/30",)},
        ["10.0.2.0/24 via 10.0.9.2"],
    )
    assert commands(found, "r1") == [""]
    ends = found.port_names()
    assert {port: ends[port].partition("-")[0] for port in ("r1-eth0", "r1-eth1", "pc3-eth0")} == {
        "r1-eth0": "A",
        "r1-eth1": "r2",
        "pc3-eth0": "r2",
    }


def test_what_kathara_has_beyond_a_drawing_is_named():
    """A line that cannot be read with its number, options, an interface alone on its domain."""
    assert list(read.read(NETWORKS / "ospf-lab").notes) == [
        "lab.conf, line 15 could not be read: lonely[0] is a line that nobody wrote well",
        "not carried over of the devices: MAC addresses, mem",
        "the collision domain A of 3 interfaces is the switch A here",
        "lonely: eth0 is alone on Z and is not carried over",
        "images are not carried over, so programs are those of this machine: kathara/base, kathara/frr",
    ]


@pytest.mark.parametrize("name", ["dumbbell:3", "parking-lot", "tree:2,2", "star:5"])
def test_a_drawing_comes_back_from_kathara(name):
    """The same nodes, links, kinds, addresses; a switch is a device that makes a bridge."""
    before = made(name)
    after = kathara.load(kathara.dump(before, "x").files, "x").topology
    assert wired(after) == wired(before)
    assert addresses(after) == addresses(before)
    assert {each.name: each.type for each in after.switches} == {each.name: each.type for each in before.switches}


ROUTED = {
    CONF: """a[0]=X
r[0]=X
r[1]=Y
b[0]=Y
b[1]=Z
c[0]=Z""",
    "a.startup": """ip address add 10.0.1.2/24 dev eth0
ip -6 address add 2001:db8:1::2/64 dev eth0
ip route add default via 10.0.1.1
ip -6 route add default via 2001:db8:1::1""",
    "r.startup": """sysctl -w net.ipv4.ip_forward=1
ifconfig eth0 10.0.1.1 netmask 255.255.255.0
ip -6 a add 2001:db8:1::1/64 dev eth0
ip a add 10.0.2.1/24 dev eth1
route add -net 10.0.3.0/24 gw 10.0.2.2
ip route add default via 10.0.2.2 dev eth1
ip route add 10.0.9.0/24 via 10.0.2.2 metric 7""",
    "b.startup": """ip addr add 10.0.2.2/24 dev eth0
ip addr add 10.0.3.1/24 dev eth1
ip route replace 10.0.1.0/24 via 10.0.2.1""",
    "c.startup": "ip addr add 10.0.3.2/24 dev eth0; ip route add default via 10.0.3.1",
}


def test_addresses_and_routes_of_a_scenario_are_those_of_the_ports():
    """Of both versions, however they are typed; what no field has stays a start command."""
    found = kathara.load(ROUTED, "x").topology
    assert ports(found, "a") == (
        {"a-eth0": ("10.0.1.2/24", "2001:db8:1::2/64")},
        ["default via 10.0.1.1", "default via 2001:db8:1::1"],
    )
    assert ports(found, "r") == (
        {"r-eth0": ("10.0.1.1/24", "2001:db8:1::1/64"), "r-eth1": ("10.0.2.1/24",)},
        ["10.0.3.0/24 via 10.0.2.2", "default via 10.0.2.2"],
    )
    assert commands(found, "r") == ["ip route add 10.0.9.0/24 via 10.0.2.2 metric 7"]
    assert ports(found, "b") == (
        {"b-eth0": ("10.0.2.2/24",), "b-eth1": ("10.0.3.1/24",)},
        ["10.0.1.0/24 via 10.0.2.1"],
    )
    assert found.problems() == []


@pytest.mark.parametrize("way", ["kathara", "containerlab"])
def test_addresses_and_routes_go_there_and_come_back(way):
    """Every port's address and every route, of both versions."""
    before = kathara.load(ROUTED, "x").topology
    if way == "kathara":
        after = kathara.load(kathara.dump(before, "x").files, "x").topology
    else:
        after = containerlab.load(next(iter(containerlab.dump(before, "x").files.values())), "x").topology
    for name in ("a", "r", "b", "c"):
        assert ports(after, name) == ports(before, name)


def test_a_route_that_leads_nowhere_is_named_and_left_out():
    """The kernel would refuse it."""
    found = kathara.load({CONF: "a[0]=X\nb[0]=X", "a.startup": "ip route add 10.9.0.0/24 via 172.16.0.1"}, "x")
    why = "because no port shares a subnet with 172.16.0.1"
    assert f"host a: the route 10.9.0.0/24 via 172.16.0.1 is removed, {why}" in found.notes
    assert plan(found.topology)["format"] == 1


def test_addresses_of_a_bridge_are_named():
    """A switch of ours has none."""
    files = {
        CONF: "a[0]=X\nb[0]=X\nb[1]=Y\nc[0]=Y",
        "b.startup": "ip link add br0 type bridge\nip link set eth0 master br0\nip addr add 10.0.0.7/8 dev eth0",
    }
    found = kathara.load(files, "x")
    assert "b: not carried over, because a switch has no addresses or routes: 10.0.0.7/8" in found.notes
    assert plan(found.topology)["format"] == 1


def test_a_node_without_a_link_is_named():
    """lab.conf names a device by its interfaces, so the node vanished without a word."""
    drawn = made("star:2")
    found = kathara.dump(replace(drawn, hosts=(*drawn.hosts, Host("9", "1", "1", {"nodeNum": 9}))), "x")
    assert "not carried over, because they have no link: h9" in found.notes
    assert "h9.startup" not in found.files


def test_delays_are_set_by_the_startup_files_of_kathara():
    """At both ends of the link."""
    files = kathara.dump(made("dumbbell:1"), "x").files
    assert files["s1.startup"].endswith("tc qdisc add dev eth1 root netem delay 10ms rate 10mbit\n")
    assert files["h1.startup"] == "ip addr add 10.0.0.1/8 dev eth0\n"
    assert 'h1[0]="L1"' in files["lab.conf"]


def test_a_folder_that_is_no_scenario_is_not_written_into(tmp_path):
    """What lies there stays."""
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds thesis\.txt and is not a Kathará scenario"):
        read.save(made("star"), tmp_path)
    read.save(made("star"), tmp_path / "net")
    read.save(made("star"), tmp_path / "net")
    assert read.read(tmp_path / "net").topology.name == "net"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text(max_size=200))
def test_whatever_stands_in_lab_conf_and_startup_files(conf, startup):
    """A drawing that can be planned, or a sentence."""
    try:
        found = kathara.load({"lab.conf": f"a[0]=X\nb[0]=X\n{conf}", "a.startup": startup}, "x")
    except InputError:
        return
    plan(found.topology)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kind", "exec", "endpoints", "a", "b", "links", "nodes"]) | st.text(max_size=5),
                each,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_stands_in_a_file_of_containerlab(data):
    """As above."""
    text = yaml.safe_dump({"topology": {"nodes": {"a": {}, "b": {}, "c": data}, "links": [{"endpoints": data}, data]}})
    try:
        found = containerlab.load(text, "x")
    except InputError:
        return
    plan(found.topology)


def test_ifconfig_without_a_netmask_takes_the_class_of_the_address():
    """It became a /32, from which nothing is reached."""
    found = kathara.load({CONF: "a[0]=X\nb[0]=X", "a.startup": "ifconfig eth0 192.168.7.1 up"}, "x").topology
    assert addresses(found)["a"] == ("192.168.7.1/24", None)


@pytest.mark.parametrize(
    "line",
    [
        "ip link set eth0 mtu 1400 up",
        "ip link set eth0.5 up",
        "sysctl -w net.ipv4.ip_forward=1 net.ipv4.tcp_ecn=1",
        "sysctl -p",
        "route add -net 10.9.0.0 gw 10.0.0.2",
        "test -e /x && touch /y",
        "for i in 1 2; do echo $i; done",
    ],
)
def test_a_line_that_no_field_holds_whole_stays_in_the_start_command(line):
    """A part of it was dropped without a word, or a condition was lost."""
    files = {CONF: "a[0]=X\nb[0]=X", "a.startup": f"ip addr add 10.0.0.1/8 dev eth0\n{line}\necho end"}
    found = kathara.load(files, "x").topology
    assert commands(found, "a") == [*line.replace("eth0", "a-eth0").split("; "), "echo end"]


def test_the_lines_of_a_startup_file_make_one_line_that_a_shell_reads():
    """A comment does not swallow what follows, "&" and "do" have no semicolon, a backslash joins two lines."""
    startup = "a & # in the background\nfor i in 1 2\ndo\n  echo $i\ndone\nb \\\n -x\nip link set eth0 up # last"
    found = kathara.load({CONF: "a[0]=X\nb[0]=X", "a.startup": startup}, "x").topology
    assert found.hosts[0].opts["startCommand"] == "a & for i in 1 2; do echo $i; done; b   -x"


def test_ports_are_in_the_order_of_the_interfaces():
    """They were in that of the links, so that b's eth0 with its address became b-eth1."""
    conf = "a[0]=X\nb[1]=X\nc[1]=Y\nb[0]=Y\nc[0]=Z\nd[0]=Z"
    found = kathara.load({CONF: conf, "b.startup": "ip addr add 10.0.0.1/24 dev eth0\nping -I eth1 x"}, "x").topology
    wired_to = found.port_names()
    assert {port: wired_to[port] for port in ("b-eth0", "b-eth1", "c-eth0")} == {
        "b-eth0": "c-eth1",
        "b-eth1": "a-eth0",
        "c-eth0": "d-eth0",
    }
    assert addresses(found)["b"] == ("10.0.0.1/24", None)
    assert commands(found, "b") == ["ping -I b-eth1 x"]


def test_an_address_that_the_drawing_adds_is_named_and_takes_none_that_is_given():
    """A host here always has one; b kept its own only if it came first."""
    found = kathara.load({CONF: "a[0]=X\nb[0]=X", "b.startup": "ip addr add 10.0.0.1/8 dev eth0"}, "x")
    assert addresses(found.topology) == {"a": ("10.0.0.3/8", None), "b": ("10.0.0.1/8", None)}
    assert found.notes[-1] == "a host always has an IPv4 address here, so these got one: a (10.0.0.3/8)"


def test_other_files_of_a_scenario_are_named(tmp_path):
    """Such as a router's own configuration, and what runs at the end."""
    read.save(made("star:2"), tmp_path / "net")
    (tmp_path / "net" / "r1").mkdir()
    (tmp_path / "net" / "r1.shutdown").write_text("")
    assert "not carried over of the folder: r1.shutdown, r1/" in read.read(tmp_path / "net").notes


def test_aliases_of_yaml_do_not_grow_without_end():
    """A text of 300 bytes can stand for one of terabytes."""
    doubled = "\n".join(f"x{i}: &x{i} [*x{i - 1}, *x{i - 1}]" for i in range(1, 60))
    text = f"x0: &x0 [a]\n{doubled}\ntopology: {{nodes: {{a: {{exec: [*x59], kind: *x59}}}}, links: [*x59]}}"
    found = containerlab.load(text, "x")
    assert 'a: a part of "exec" is not a line and is not carried over' in found.notes


# --- both exports


@pytest.mark.parametrize("way", ["kathara", "containerlab"])
def test_a_router_with_an_ipv6_address_forwards_ipv6_there_too(way):
    """As it does here; one without does not ask for it."""
    text = "\n".join(written(way, kathara.load(ROUTED, "x").topology).values())
    assert text.count("sysctl -w net.ipv4.ip_forward=1") == 2
    assert text.count("sysctl -w net.ipv6.conf.all.forwarding=1") == 1


def written(way, topology):
    """Files of an export."""
    return (kathara if way == "kathara" else containerlab).dump(topology, "x").files


@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("kathara", "ip link add br0 type bridge stp_state 1"),
        ("containerlab", "ip link add s1 type bridge stp_state 1 && ip link set s1 up"),
    ],
)
def test_a_spanning_tree_is_exported(way, line):
    """Without it the first broadcast would circle for ever."""
    assert line in "\n".join(written(way, made("ring:3")).values())
    assert "stp_state" not in "\n".join(written(way, made("star:3")).values())


def test_a_spanning_tree_comes_back_from_kathara():
    """A bridge with stp_state 1, or by brctl."""
    back = kathara.load(kathara.dump(made("ring:3"), "x").files, "x")
    assert switching.has_spanning_tree(back.topology)
    assert back.topology.problems() == []
    files = {CONF: "a[0]=X\nb[0]=X", "b.startup": "brctl addbr br0; brctl addif br0 eth0; brctl stp br0 on"}
    assert switching.has_spanning_tree(kathara.load(files, "x").topology)
    assert not switching.has_spanning_tree(kathara.load(kathara.dump(made("star"), "x").files, "x").topology)


def test_ports_keep_their_order_in_kathara():
    """The first host of `reversed` is on the last port."""
    before = made("reversed:3")
    assert kathara.load(kathara.dump(before, "x").files, "x").topology.port_names() == before.port_names()


@pytest.mark.parametrize("way", ["kathara", "containerlab"])
def test_an_export_names_what_it_leaves_out(way):
    """Of switches as well as of hosts, and what is only drawn."""
    opts = {
        "switchType": "ovs",
        "controllers": [],
        "dpid": "ff",
        "startCommand": "true",
        "externalInterfaces": ["eth9"],
    }
    topology = Topology(
        hosts=(Host("1", "1", "1", {"stopCommand": "true", "cpu": 0.5}),),
        switches=(Switch("1", "1", "1", opts),),
        links=(Link("h1", "s1", {"speedup": 100, "jitter": "3ms"}),),
        extra={"linklab": {"notes": [{"number": 1, "x": 1, "y": 1, "text": "x"}]}},
    )
    notes = (kathara if way == "kathara" else containerlab).dump(topology, "x").notes
    assert {
        "h1: not carried over: share of a processor, stop command",
        "s1: not carried over: external interfaces, dpid, start command",
        "not carried over of the drawing: notes",
        'link h1-s1: "speedup" is not carried over',
        'link h1-s1: "jitter" is not carried over, because netem needs a delay for it',
    } <= set(notes)


@pytest.mark.parametrize("way", ["kathara", "containerlab"])
def test_wireless_nodes_are_not_exported(way):
    """A sentence in place of a KeyError."""
    topology = Topology.load(NETWORKS.parent / "drawings" / "mininet-wifi.mn", check=False)
    with pytest.raises(InputError, match=r"has wireless nodes .*; Mend turns them into wired ones"):
        written(way, topology)


# --- mn --custom


def test_a_file_for_mn_custom():
    """Hosts with addresses, a router by its class, ports as Mininet numbered them, link options."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    found = read.read(NETWORKS / "two_sites.py", "sites,3")
    topology = found.topology
    assert addresses(topology)["h3"] == ("192.168.1.103/24", "192.168.1.1")
    assert len(topology.hosts) == 6
    assert ports(topology, "r0")[0] == {"r0-eth1": ("192.168.1.1/24",), "r0-eth2": ("172.16.0.1/12",)}
    assert topology.port_names()["s2-eth7"] == "g3-eth0"
    assert topology.links[1].opts == {"bw": 10, "delay": "5ms"}
    assert "r0: LinuxRouter is not run; a plain router takes its place" in found.notes
    assert "link s2-r0: not carried over: use_htb" in found.notes


@pytest.mark.parametrize(
    ("topo", "why"),
    [
        ("", "this file has several topologies; name one: sites, small"),
        ("other", "there is no other in this file: sites, small"),
        ("sites,1,2,3", "TypeError"),
    ],
)
def test_which_topo_is_said(topo, why):
    """The sentence names those that there are."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    with pytest.raises(InputError, match=why):
        read.read(NETWORKS / "two_sites.py", topo)


OWN_NAMES = """
import os
from mininet.topo import Topo

class Own(Topo):
    def build(self):
        os.system("echo said by a program of the file")
        r, s = self.addNode("r0", cls=Topo), self.addSwitch("s1")
        self.addLink(r, s, intfName1="r0-eth3", addr1="00:00:00:00:00:01", params1={"ip": "10.0.0.9/24", "bw": 3})
        self.addLink(r, s, intfName1="lan")
"""


def test_names_of_interfaces_and_what_links_cannot_hold(tmp_path):
    """The number in a name is the port's; other names, MAC addresses and settings of one end are named."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    (tmp_path / "own.py").write_text(OWN_NAMES)
    found = read.read(tmp_path / "own.py")
    assert found.topology.port_names() == {
        "r0-eth3": "s1-eth1",
        "s1-eth1": "r0-eth3",
        "r0-eth1": "s1-eth2",
        "s1-eth2": "r0-eth1",
    }
    assert ports(found.topology, "r0")[0] == {"r0-eth1": (), "r0-eth3": ("10.0.0.9/24",)}
    assert "link r0-s1: not carried over: addr1, params1 bw" in found.notes
    assert "r0: the interface lan is called r0-eth1 here" in found.notes


def test_a_file_that_ends_the_program_is_an_error_of_the_file(tmp_path):
    """It was a traceback."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(InputError, match=r"ends\.py: ended by itself before its networks could be read"):
        read.read(tmp_path / "ends.py")


def test_a_file_that_fails_says_why(tmp_path):
    """The last line of what Python said."""
    pytest.importorskip("mininet.topo", reason="Mininet is not installed")
    (tmp_path / "bad.py").write_text("import nowhere_at_all\n")
    with pytest.raises(InputError, match="ModuleNotFoundError: No module named 'nowhere_at_all'"):
        read.read(tmp_path / "bad.py")
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="there is no Topo in this file"):
        read.read(tmp_path / "empty.py")


# --- the command


def test_convert_there_and_back(tmp_path, capsys):
    """By the names of the files; what is left out goes to standard error."""
    assert main(["convert", str(NETWORKS / "campus.clab.yml"), str(tmp_path / "a.mn")]) == 0
    said = capsys.readouterr()
    assert said.out == f"{tmp_path / 'a.mn'}: 6 nodes, 5 links\n"
    assert "nokia_srlinux is not run" in said.err
    assert main(["convert", str(tmp_path / "a.mn"), str(tmp_path / "b")]) == 0
    assert (tmp_path / "b" / "lab.conf").is_file()
    assert wired(read.read(tmp_path / "b").topology) == [
        sorted(each.replace("-", "_") for each in pair) for pair in wired(Topology.load(tmp_path / "a.mn"))
    ]


def test_convert_writes_over_nothing_unless_told(tmp_path, capsys):
    """--force does."""
    target = tmp_path / "a.mn"
    assert main(["convert", "--template", "dumbbell:3", str(target)]) == 0
    assert main(["convert", "--template", "star", str(target)]) == 2
    assert "--force writes over it" in capsys.readouterr().err
    assert main(["convert", "--template", "star", str(target), "--force"]) == 0
    assert len(Topology.load(target).hosts) == 4
    folder = tmp_path / "net"
    assert main(["convert", str(target), str(folder)]) == 0
    assert main(["convert", str(target), str(folder)]) == 2
    assert main(["convert", str(target), str(folder), "--force"]) == 0


def test_convert_mends(tmp_path, capsys):
    """A stranger's drawing as MiniEdit would write it."""
    source = NETWORKS.parent / "drawings" / "blanks-in-names.mn"
    assert main(["convert", str(source), str(tmp_path / "a.mn"), "--mend"]) == 0
    assert "Web Server is now Web_Server" in capsys.readouterr().err
    assert Topology.load(tmp_path / "a.mn").problems() == []


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["a.mn"], "give FROM and TO"),
        (["--template", "star"], "give --template NAME and TO"),
        (["a.txt", "b.mn"], "not a network that Linklab can read"),
        (["gone.yml", "b.mn"], "cannot be read: No such file"),
    ],
)
def test_convert_says_what_it_wants(arguments, why, capsys, tmp_path, monkeypatch):
    """In one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("")
    assert main(["convert", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_the_templates_are_listed(capsys):
    """With their numbers, to copy."""
    assert main(["convert", "--templates"]) == 0
    assert "dumbbell:pairs=2,rate=10,delay=10,openflow=0" in capsys.readouterr().out
