# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of ports and static routes: kept in the file, checked with a cure, planned, and exported."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from routed import addressed, drawn

from linklab.editor import edits, export
from linklab.errors import TopologyError
from linklab.topology import Topology, addressing
from linklab.topology.plan import plan


def test_they_are_kept_in_the_file_where_miniedit_does_not_look():
    """Under the key "linklab"; what MiniEdit knows stays where it has it."""
    data = json.loads(addressed().dumps())
    assert data["linklab"]["nodes"] == {
        "r2": {"routes": [{"to": "10.0.3.0/24", "via": "10.0.2.2"}]},
        "r3": {"routes": [{"to": "default", "via": "10.0.2.1"}]},
    }
    assert data["linklab"]["links"][1] == {
        "src": "r2",
        "dest": "r3",
        "addresses": [["10.0.2.1/24"], ["10.0.2.2/24"]],
    }
    assert data["hosts"][2]["opts"]["ip"] == "10.0.3.1/24"
    assert "addresses" not in json.dumps([data["hosts"], data["switches"], data["links"]])


def test_what_was_saved_is_opened_again():
    """Text to topology to text."""
    text = addressed().dumps()
    assert Topology.loads(text).dumps() == text
    assert Topology.loads(text).nodes == addressed().nodes
    assert Topology.loads(text).links == addressed().links


@given(
    st.dictionaries(
        st.sampled_from(["r2", "h1", "gone", ""]),
        st.dictionaries(st.text(max_size=3), st.integers() | st.lists(st.text(max_size=2)), max_size=2),
    )
)
def test_what_others_keep_of_nodes_lives_on(nodes):
    """Unknown keys, and nodes that are not there: the same bytes again."""
    data = json.loads(drawn().dumps()) | {"linklab": {"nodes": nodes, "other": 1}}
    text = json.dumps(data, sort_keys=True, indent=4, separators=(",", ": "))
    assert Topology.loads(text, check=False).dumps() == text


@pytest.mark.parametrize("nodes", [None, [], "r1", {"r2": None}, {"r2": []}])
def test_a_file_whose_nodes_are_none_is_refused(nodes):
    """As for links: our key does not hold what it should."""
    data = json.loads(drawn().dumps()) | {"linklab": {"nodes": nodes}}
    with pytest.raises(TopologyError, match="must be a JSON object"):
        Topology.loads(json.dumps(data), check=False)


def test_names_and_numbers_follow_their_nodes_and_links():
    """Renaming a router and deleting another link leave its addresses and routes as they were."""
    topology = edits.delete(edits.set_opts(addressed(), "r2", {"hostname": "edge"}), {"h2"})
    found = {port.interface: port.addresses for port in addressing.ports(topology) if port.node == "edge"}
    assert found == {"edge-eth0": ("10.0.1.254/24",), "edge-eth1": ("10.0.2.1/24",)}
    assert [str(route) for route in addressing.routes(edits.named(topology)["edge"])] == ["10.0.3.0/24 via 10.0.2.2"]


@pytest.mark.parametrize(
    ("changes", "zone"),
    [
        ({"r3_eth1": ["fe80::1%a;id;/64"]}, "%a;id;"),
        ({"r3": [{"to": "default", "via": "2001:db8::2%$(id)"}]}, "%$(id)"),
        ({"r3": [{"to": "2001:db8::%;id/64", "via": "2001:db8::2"}]}, "%;id"),
    ],
)
def test_an_address_with_a_zone_is_refused(changes, zone):
    """Regression: Python takes any letters for a zone, and these were typed in a shell of the node."""
    with pytest.raises(TopologyError, match=rf"an address of a drawing has no zone; leave out {re.escape(zone)}"):
        plan(addressed(**changes))


def test_a_copy_has_no_addresses_of_the_original():
    """Two nodes with one address are no network."""
    topology = addressed()
    names = [node.name for node in topology.nodes]
    after, new = edits.paste(topology, edits.part(topology, names), (40, 40))
    copied = {port.interface: port.addresses for port in addressing.ports(after) if port.node in new}
    assert [len(found) for found in copied.values()] == [1, 1, 1, 0, 0, 0, 0]  # what hosts have by their number
    assert not [problem for problem in after.problems() if "has the address" in str(problem)]


def test_ports_are_listed_with_their_addresses_and_segments():
    """A host's own address first; routers separate."""
    found = addressing.ports(addressed())
    assert [(port.interface, port.peer, port.addresses) for port in found] == [
        ("h1-eth0", "s1-eth1", ("10.0.1.1/24",)),
        ("h2-eth0", "s1-eth2", ("10.0.1.2/24",)),
        ("h3-eth0", "r3-eth1", ("10.0.3.1/24",)),
        ("r2-eth0", "s1-eth3", ("10.0.1.254/24",)),
        ("r2-eth1", "r3-eth0", ("10.0.2.1/24",)),
        ("r3-eth0", "r2-eth1", ("10.0.2.2/24",)),
        ("r3-eth1", "h3-eth0", ("10.0.3.254/24", "2001:db8:3::1/64")),
    ]
    assert [[p.interface for p in segment.ports] for segment in addressing.segments(addressed())] == [
        ["h1-eth0", "h2-eth0", "r2-eth0"],
        ["r2-eth1", "r3-eth0"],
        ["h3-eth0", "r3-eth1"],
    ]


def test_a_network_that_is_right_has_no_problems():
    """Nothing is said of it."""
    assert addressed().problems() == []


ASSIGN = "Edit > Assign Addresses gives each link its subnet"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"r2_eth1": ["10.0.2.2/24"]},
            "warning router r3: r3-eth0 has the address 10.0.2.2 that r2-eth1 has too; change one",
        ),
        (
            {"r2_eth0": ["10.0.1.0/24"]},
            "warning router r2: r2-eth0 has 10.0.1.0/24, which is the address of the network 10.0.1.0/24 itself; give "
            "it an address from 10.0.1.1 to 10.0.1.254",
        ),
        (
            {"r2_eth0": ["10.0.1.255/24"]},
            "warning router r2: r2-eth0 has 10.0.1.255/24, which is the broadcast address of 10.0.1.0/24; give it an "
            "address from 10.0.1.1 to 10.0.1.254",
        ),
        (
            {"r2_eth0": ["10.0.9.254/24"]},
            "warning router r2: r2-eth0 has 10.0.9.254/24, but no router stands between it and h1-eth0",
        ),
        (
            {"r3_eth0": ["10.0.2.2/30"]},
            "warning router r3: r3-eth0 has 10.0.2.2/30, and r2-eth1 on the same link has the prefix length 24; "
            "they must be the same",
        ),
        (
            {"r2_eth1": ["10.0.1.253/24"]},
            "warning router r2: r2-eth0 (10.0.1.254/24) and r2-eth1 (10.0.1.253/24) are in the same subnet; each port "
            f"of a router needs its own. {ASSIGN}",
        ),
        (
            {"r2": [{"to": "10.0.3.0/24", "via": "10.0.7.1"}]},
            "error router r2: the next router of 10.0.3.0/24, 10.0.7.1 is in none of its subnets (10.0.1.0/24, "
            "10.0.2.0/24); choose an address there, or correct the address or prefix length of its port",
        ),
        (
            {"r2": [{"to": "2001:db8:3::/64", "via": "2001:db8:2::2"}]},
            "error router r2: the next router of 2001:db8:3::/64, 2001:db8:2::2 cannot be reached: r2 has no IPv6 "
            "address; give its port one",
        ),
        (
            {"r2": [{"to": "10.0.3.0/24", "via": "10.0.2.7"}]},
            "warning router r2: no port has the address 10.0.2.7 of the next router of 10.0.3.0/24; correct it, or "
            "give it to the router",
        ),
        (
            {"r2": [{"to": "10.0.3.0/24", "via": "10.0.2.1"}]},
            "warning router r2: the next router of 10.0.3.0/24, 10.0.2.1 is r2 itself; name the router that comes next",
        ),
        (
            {"r3_eth1": []},
            f"warning router r3: r3-eth1 has no address, so it routes nothing there. {ASSIGN}",
        ),
        (
            {"s1_eth1": ["10.0.1.9/24"]},
            "error link h1-s1: s1 is a switch, whose ports take no addresses (10.0.1.9/24); remove them",
        ),
        (
            {"r2_eth0": ["10.0.1.254"]},
            'error link r2-s1: "linklab": "10.0.1.254": the prefix length is missing, such as /24',
        ),
        (
            {"r2": [{"to": "10.0.3.1/24", "via": "10.0.2.2"}]},
            'error switch r2: "linklab": 10.0.3.1/24 has bits beyond its prefix length; the network is 10.0.3.0/24',
        ),
        ({"r2": [{"to": "10.0.3.0/24"}]}, 'error switch r2: "linklab": a route must be an object with "to" and "via"'),
        ({"r2": [{"to": "::/0", "via": "10.0.2.2"}]}, "::/0 via 10.0.2.2: one is IPv6, the other IPv4"),
    ],
)
def test_a_fault_is_told_of_with_its_cure(changes, said):
    """Where it is, what was found, what to do."""
    found = [f"{problem.severity} {problem}" for problem in addressed(**changes).problems()]
    assert any(said in each for each in found), found


def test_a_host_with_the_broadcast_address_is_told_of_without_routers_too():
    """MiniEdit's own "ip", and the prefix length of IP Base; the table shows it at the cell."""
    topology = edits.set_opts(edits.delete(drawn(), {"r2", "r3"}), "h1", {"ip": "10.255.255.255"})
    (problem,) = topology.problems()
    assert (problem.severity, problem.where, problem.at) == ("warning", "host h1", "h1-eth0")
    assert problem.message == (
        "h1-eth0 has 10.255.255.255/8, which is the broadcast address of 10.0.0.0/8; give it an address from 10.0.0.1 "
        "to 10.255.255.254"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [("10.0.2.0/31", "10.0.2.1/31"), ("2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff/64"), ("10.0.2.0/32", "")],
)
def test_subnets_without_a_broadcast_address_are_left_alone(one, other):
    """RFC 3021, and IPv6, which has no broadcast."""
    topology = addressed(r2_eth1=[one], r3_eth0=[other] if other else [])
    assert [str(problem) for problem in topology.problems() if "which is the" in str(problem)] == []


def test_a_host_beside_a_router_is_asked_for_its_gateway():
    """It would reach its own subnet alone."""
    topology = edits.set_opts(addressed(), "h1", {}, ["defaultRoute"])
    (problem,) = topology.problems()
    assert str(problem) == ("host h1: has no default gateway, so it reaches its own subnet alone; 10.0.1.254 is r2's")


def test_a_default_gateway_out_of_reach_is_an_error_without_routers_too():
    """The kernel refuses it when the network is built."""
    topology = edits.set_opts(edits.delete(drawn(), {"r2", "r3"}), "h1", {"defaultRoute": "192.168.7.1"})
    (problem,) = topology.problems()
    assert problem.severity == "error"
    assert "192.168.7.1 is in none of its subnets (10.0.0.0/8)" in problem.message
    vlan = edits.set_opts(topology, "h1", {"vlanInterfaces": [["192.168.7.9/24", "7"]]})
    assert vlan.problems() == []


def test_the_plan_has_them_and_one_without_has_no_new_key():
    """The agent builds what has none as it always did."""
    nodes = {node["name"]: node for node in plan(addressed())["nodes"]}
    assert nodes["r3"]["ports"] == [
        {"interface": "r3-eth0", "added": False, "addresses": ["10.0.2.2/24"]},
        {"interface": "r3-eth1", "added": False, "addresses": ["10.0.3.254/24", "2001:db8:3::1/64"]},
    ]
    assert nodes["r3"]["routes"] == [{"to": "default", "via": "10.0.2.1"}]
    assert nodes["h1"]["address"] == "10.0.1.1/24"
    assert not {"ports", "routes"} & set(nodes["h1"])
    assert not any({"ports", "routes"} & set(node) for node in plan(drawn())["nodes"])


def test_the_exported_script_sets_them():
    """By Mininet's own call where it has one, so that its commands know the addresses."""
    text = export.script(addressed(h3_eth0=["10.0.3.9/24"]), "routed")
    for line in (
        "r2.setIP('10.0.1.254/24', intf='r2-eth0')",
        "r3.setIP('10.0.3.254/24', intf='r3-eth1')",
        "command(r3, 'ip addr replace 2001:db8:3::1/64 dev r3-eth1 nodad')",
        "command(h3, 'ip addr replace 10.0.3.9/24 broadcast + dev h3-eth0')",
        "command(h3, 'ip route replace default via 10.0.3.254')",
        "command(r2, 'ip -4 route replace 10.0.3.0/24 via 10.0.2.2')",
        "command(r3, 'ip -4 route replace default via 10.0.2.1')",
    ):
        assert f"    {line}\n" in text
    compile(text, "routed.py", "exec")
