# SPDX-License-Identifier: BSD-3-Clause
"""The table of all addresses as texts, and addresses given to a whole drawing."""

from ipaddress import IPv4Network, ip_interface

import pytest
from routed import addressed, drawn

from linklab.editor import address_edits, address_table, edits
from linklab.editor.address_edits import AddressPlan
from linklab.editor.address_table import findings, ordered, pasted, rows, to_text
from linklab.errors import InputError
from linklab.topology import Topology, addressing

TSV = """Node	Port	Linked to	IPv4	IPv6	Default Gateway	Routes
h1	h1-eth0	s1-eth1	10.0.1.1/24		10.0.1.254	
h2	h2-eth0	s1-eth2	10.0.1.2/24		10.0.1.254	
h3	h3-eth0	r3-eth1	10.0.3.1/24		10.0.3.254	
r2	r2-eth0	s1-eth3	10.0.1.254/24			10.0.3.0/24 via 10.0.2.2
r2	r2-eth1	r3-eth0	10.0.2.1/24			
r3	r3-eth0	r2-eth1	10.0.2.2/24		10.0.2.1	
r3	r3-eth1	h3-eth0	10.0.3.254/24	2001:db8:3::1/64		
"""  # noqa: W291 - empty cells at the end of a line


def take(topology, changes):
    """The topology after changes that are all right."""
    after, wrong = address_table.changed(topology, changes)
    assert wrong == {}
    return after


def test_the_table_as_a_spreadsheet_has_it():
    """A row for each port; what belongs to a node stands in its first."""
    assert to_text(rows(addressed())) == TSV


def test_a_spreadsheet_fills_an_empty_drawing():
    """What was copied from one and pasted into the other, in whatever order, gives the same addresses."""
    head, *lines = TSV.split("\n")[:-1]
    text = "\r\n".join([head, *reversed(lines)]) + "\r\n"
    changes, said = pasted(rows(drawn()), ("h1-eth0", "ipv4"), text)
    assert said == []
    assert take(drawn(), changes) == addressed()
    assert pasted(rows(addressed()), ("h1-eth0", "ipv4"), text) == ({}, [])


def test_a_column_is_pasted_downwards_as_the_table_is_sorted():
    """Cells go where the eye expects them; what has no place is named."""
    table = ordered(rows(drawn()), "port", descending=True)
    changes, said = pasted(table, ("r2-eth1", "ipv4"), "10.1.0.1/24\n10.2.0.1/24\t\t10.2.0.2\tnet\tmore\n10.3.0.1/24")
    assert changes == {
        ("r2-eth1", "ipv4"): "10.1.0.1/24",
        ("r2-eth0", "ipv4"): "10.2.0.1/24",
        ("r2-eth0", "gateway"): "10.2.0.2",
        ("r2-eth0", "routes"): "net",
        ("h3-eth0", "ipv4"): "10.3.0.1/24",
    }
    assert said == ["line 2 of the text has more cells than the table; the rest was left out"]
    last = table[-1].port
    assert pasted(table, (last, "ipv4"), "1.1.1.1/8\n2.2.2.2/8\n")[1] == [
        "1 lines of the text are below the table's end and were left out"
    ]


def test_names_cannot_be_pasted():
    """Nor ports that are not there."""
    text = "Port\tNode\tIPv4\nh1-eth0\tx9\t10.0.0.9/8\nh9-eth0\th9\t10.0.0.9/8\n"
    changes, said = pasted(rows(drawn()), ("h1-eth0", "ipv4"), text)
    assert changes == {("h1-eth0", "ipv4"): "10.0.0.9/8"}
    assert said == [
        "h1-eth0, Node: 'x9' was left out; names of nodes and ports cannot be changed here",
        "line 3 of the text names the port 'h9-eth0', which is not here",
    ]


def test_sorted_as_people_count():
    """Addresses by number, names by their digits, empty cells last in both directions."""
    topology = drawn()
    for _ in range(8):
        topology, name = edits.add_node(topology, "host", 0, 0)
        topology = edits.add_link(topology, name, "s1")
    table = rows(take(topology, {("h1-eth0", "ipv4"): "10.0.0.99/8", ("h2-eth0", "ipv4"): "9.255.0.1/8"}))
    assert [row.port for row in ordered(table, "port")][1:3] == ["h2-eth0", "h3-eth0"]
    assert [row.port for row in ordered(table, "ipv4")][:2] == ["h2-eth0", "h3-eth0"]
    assert next(row.port for row in ordered(table, "ipv4", descending=True)) == "h1-eth0"
    assert ordered(table, "ipv4", descending=True)[-1].texts["ipv4"] == ""


@pytest.mark.parametrize(
    ("cell", "text", "says"),
    [
        (("r2-eth0", "ipv4"), "10.0.1.1", '"10.0.1.1": the prefix length is missing, such as /24'),
        (("r2-eth0", "ipv4"), "10.0.1.300/24", '"10.0.1.300/24": 300 is greater than 255'),
        (("r2-eth0", "ipv4"), "10.0.1/24", "an IPv4 address has 4 numbers, and here are 3"),
        (("r2-eth0", "ipv4"), "10..1.1/24", "a number is missing beside a dot"),
        (("r2-eth0", "ipv4"), "10.0.1.01/24", "01 begins with a 0; write 1"),
        (("r2-eth0", "ipv4"), "10.0.1.1/33", "a prefix length is at most 32"),
        (("r2-eth0", "ipv4"), "router", "is not an address with its prefix length, such as 10.0.1.1/24"),
        (("r2-eth0", "ipv6"), "fd00::1", "the prefix length is missing, such as /64"),
        (("r2-eth0", "ipv6"), "fd00::1/129", "a prefix length is at most 128"),
        (("r2-eth0", "gateway"), "10.0.1.254/24", "there must be no prefix length; leave out /24"),
        (("r2-eth0", "ipv4"), "10.0.1.1/24 10.0.1.1/24", "10.0.1.1/24 stands there twice"),
        (("r2-eth0", "ipv4"), "fd00::1/64", "fd00::1/64 is an IPv6 address, which has a column of its own"),
        (("r2-eth0", "ipv6"), "10.0.0.1/8", "10.0.0.1/8 is an IPv4 address, which has a column of its own"),
        (("r2-eth0", "gateway"), "10.0.1.0/24 via 10.0.0.1", "one address, such as 10.0.1.254"),
        (("r2-eth0", "gateway"), "fd00::1", "write an IPv6 gateway to Routes: default via fd00::1"),
        (("r2-eth0", "routes"), "10.0.3.0/24", "must be a network and its next router: 10.0.3.0/24 via 10.0.2.2"),
        (("r2-eth0", "routes"), "10.0.3.9/24 via 10.0.2.2", "the network is 10.0.3.0/24"),
        (("r2-eth1", "gateway"), "10.0.0.1", "r2 has one default gateway cell, in the row of its first port"),
        (("r9-eth1", "ipv4"), "10.0.0.1/8", "there is no port r9-eth1 here"),
    ],
)
def test_a_wrong_cell_is_told_of_and_the_others_are_taken(cell, text, says):
    """Each by itself."""
    after, wrong = address_table.changed(drawn(), {cell: text, ("h1-eth0", "ipv4"): "10.0.1.1/24"})
    assert list(wrong) == [cell]
    assert says in wrong[cell]
    assert after == edits.set_opts(drawn(), "h1", {"ip": "10.0.1.1/24"})


def test_an_automatic_address_stays_automatic():
    """Pasted back as it was shown, and given back by an empty cell; what is not edited is not rewritten."""
    assert rows(drawn())[0].automatic
    assert take(drawn(), {("h1-eth0", "ipv4"): "10.0.0.1/8", ("h1-eth0", "gateway"): ""}) == drawn()
    fixed = edits.set_opts(drawn(), "h1", {"ip": "10.0.0.9"})
    assert take(fixed, {("h1-eth0", "ipv4"): ""}) == drawn()
    assert take(fixed, {("h1-eth0", "routes"): "10.9.0.0/16 via 10.0.0.7"}).hosts[0].opts["ip"] == "10.0.0.9"


def test_what_the_checks_say_stands_at_its_cell():
    """The port's address, the node's gateway or its routes."""
    topology = addressed(r2_eth1=["10.0.1.253/24"])
    topology = edits.set_opts(topology, "h1", {"defaultRoute": "10.9.9.9"})
    found = findings(rows(topology), topology.problems())
    assert {cell: problem.severity for cell, problem in found.items()} == {
        ("h1-eth0", "gateway"): "error",
        ("r2-eth1", "ipv4"): "warning",
        ("r2-eth0", "routes"): "error",
        ("r3-eth0", "gateway"): "warning",
        ("r3-eth0", "ipv4"): "warning",
    }


def test_an_address_that_two_hosts_have_is_said_at_its_cell():
    """Regression: in a drawing without a router the table said "nothing wrong"."""
    topology = edits.set_opts(drawn(), "h1", {"ip": "10.0.0.2/8"})
    found = findings(rows(topology), topology.problems())
    assert found["h2-eth0", "ipv4"].message.startswith("has the address 10.0.0.2 ")


def test_what_the_checks_say_of_an_ipv6_address_stands_in_the_ipv6_column():
    """At a port that has both versions, where the IPv4 address is right."""
    topology = addressed(r2_eth1=["10.0.2.2/24", "fd00:0:0:2::1/64"], r3_eth0=["10.0.2.3/24", "fd00:0:0:3::1/64"])
    found = findings(rows(topology), topology.problems())
    assert "fd00:0:0:3::1/64" in found["r3-eth0", "ipv6"].message
    assert ("r3-eth0", "ipv4") not in found


def test_addresses_are_assigned_and_everything_is_reached():
    """A subnet for each link, gateways, routes: no problem is left."""
    topology = address_edits.assign(drawn(), AddressPlan(IPv4Network("10.0.0.0/8"), ipv6=True))
    assert topology.problems() == []
    assert [row.texts["ipv4"] for row in rows(topology)] == [
        "10.0.1.1/24", "10.0.1.2/24", "10.0.3.1/24", "10.0.1.254/24", "10.0.2.254/24", "10.0.2.253/24", "10.0.3.254/24",
    ]  # fmt: skip
    assert rows(topology)[0].texts["ipv6"] == "2001:db8:1::1/64"
    assert [row.texts["routes"] for row in rows(topology)][3] == (
        "10.0.3.0/24 via 10.0.2.253, 2001:db8:3::/64 via 2001:db8:2::fffd"
    )
    assert [row.texts["gateway"] for row in rows(topology)][:3] == ["10.0.1.254", "10.0.1.254", "10.0.3.254"]
    assert address_edits.assign(topology, AddressPlan(IPv4Network("10.0.0.0/8"), ipv6=True)) == topology


def reached(topology, source, target):
    """Whether a packet finds its way by the routes alone, and back; node by node as Linux looks them up."""
    nodes = {node.name: node for node in topology.nodes}
    ports = addressing.ports(topology)
    owner = {str(i.ip): port.node for port in ports for i in port.interfaces}
    at = source
    for _ in range(40):
        if owner[target] == at:
            return True
        mine = [i for port in ports if port.node == at for i in port.interfaces]
        if any(ip_interface(target).ip in i.network for i in mine):
            at = owner[target]
            continue
        via = [
            (-1 if route.is_default else int(route.to.partition("/")[2]), route.via)
            for route in addressing.routes(nodes[at])
            if route.is_default or ip_interface(target).ip in IPv4Network(route.to)
        ]
        if not via:
            return False
        at = owner[max(via)[1]]
    return False


@pytest.mark.parametrize("extra", [0, 1, 3])
def test_every_host_of_a_mesh_finds_every_other(extra):
    """Routers in a ring with chords: shortest paths, no circles."""
    topology = Topology()
    for _ in range(6):
        topology, router = edits.add_node(topology, "legacyRouter", 0, 0)
        topology, host = edits.add_node(topology, "host", 0, 0)
        topology = edits.add_link(topology, host, router)
    for i in range(6):
        topology = edits.add_link(topology, f"r{i + 1}", f"r{(i + 1) % 6 + 1}")
    for i in range(extra):
        topology = edits.add_link(topology, f"r{i + 1}", f"r{i + 4}")
    topology = address_edits.assign(topology, AddressPlan(IPv4Network("172.16.0.0/16"), 28))
    assert topology.problems() == []
    targets = {host.name: host.opts["ip"].partition("/")[0] for host in topology.hosts}
    assert all(reached(topology, a, targets[b]) for a in targets for b in targets)


def test_without_gateways_and_routes_these_are_left_to_the_student():
    """Addresses alone; what stood there of routes is gone, since its subnets are."""
    topology = address_edits.assign(addressed(), AddressPlan(IPv4Network("10.0.0.0/8"), gateways=False, routes=False))
    assert not any(addressing.routes(node) for node in topology.nodes)
    assert rows(topology)[6].texts["ipv6"] == "2001:db8:3::1/64"


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (AddressPlan(IPv4Network("10.0.0.0/24"), 25), "10.0.0.0/24 has 2 subnets of /25, and 3 are needed"),
        (AddressPlan(IPv4Network("10.0.0.0/24"), 8), "subnets of /8 are larger than 10.0.0.0/24"),
        (
            AddressPlan(IPv4Network("10.0.0.0/8"), 31),
            "ports share a subnet (h1-eth0, h2-eth0, r2-eth0, …), and /31 has 0",
        ),
    ],
)
def test_a_plan_that_has_no_room_is_refused(plan, says):
    """With what would have."""
    with pytest.raises(InputError, match="choose") as refused:
        address_edits.assign(drawn(), plan)
    assert says in str(refused.value)
