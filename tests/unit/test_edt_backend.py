# SPDX-License-Identifier: BSD-3-Clause
"""A direction of a drawing's link by departure time."""

import json

import pytest

from linklab.editor import export
from linklab.errors import FieldError, TopologyError
from linklab.tc import Impairment, change_lines, lines, objects
from linklab.tc.needs import BY_TIME, of_text
from linklab.topology import Topology
from linklab.topology.needs import of_topology
from linklab.topology.plan import plan

NETWORK = {
    "hosts": [{"number": str(n), "x": "1", "y": "1", "opts": {"hostname": f"h{n}", "nodeNum": n}} for n in (1, 2)],
    "switches": [],
    "controllers": [],
    "links": [{"src": "h1", "dest": "h2", "opts": {}}],
    "linklab": {
        "links": [{"src": "h1", "dest": "h2", "forward": {"backend": "edt", "rate": "10mbit", "delay": "20ms"}}]
    },
    "version": "2",
}


def direction(**data) -> Impairment:
    """Of the object in a file."""
    return Impairment.from_data({"backend": "edt", **data})


def test_words_of_a_direction_are_those_of_the_command():
    """For all packets that leave the interface; fq stands there."""
    found = direction(
        rate="10mbit",
        queue="64000",
        delay="20ms",
        jitter="2ms",
        distribution="normal",
        loss="1%",
        ecn="5ms",
        corrupt="1%",
    )
    assert lines("s1-eth2", found) == [
        "linklab link set any any rate 10mbit delay 20ms jitter 2ms distribution normal loss 1% corrupt 1% "
        "queue 64kb ecn 5ms at s1-eth2"
    ]
    assert [(each.kind, each.handle, each.parent) for each in objects(found)] == [("fq", "ed7:", "root")]
    assert (lines("s1-eth2", direction()), objects(direction()), direction().is_empty) == ([], [], True)


@pytest.mark.parametrize(
    ("data", "key", "says"),
    [
        ({"rate": "1mbit", "burst": "5000"}, "burst", '"burst": is nothing that a link by departure time has'),
        ({"delay": "5ms", "correlation": "25%", "jitter": "1ms"}, "correlation", '"correlation": is nothing'),
        ({"rate": "1mbit", "queue": "100p"}, "queue", '"queue": counts packets'),
        ({"rate": "1mbit", "discipline": {"kind": "codel"}}, "kind", '"discipline": is nothing'),
        ({"queue": "64000"}, "rate", "without a rate there is no queue"),
    ],
)
def test_what_only_netem_has_is_refused(data, key, says):
    """With the field that is wrong."""
    with pytest.raises(FieldError, match=says) as error:
        direction(**data)
    assert error.value.key == key


def test_the_backend_is_a_known_one():
    """And a mark from a wait is none of netem's."""
    with pytest.raises(FieldError, match='"backend" must be one of netem, edt'):
        Impairment.from_data({"backend": "tbf"})
    with pytest.raises(FieldError, match='"ecn" is of the backend edt'):
        Impairment.from_data({"rate": "1mbit", "ecn": "5ms"})
    assert Impairment.from_data({"backend": "netem", "delay": "5ms"}) == Impairment.from_data({"delay": "5ms"})


def test_a_running_interface_is_led_from_one_backend_to_the_other():
    """What stands there is removed first; within edt nothing is."""
    netem, edt = Impairment.from_data({"delay": "5ms"}), direction(delay="5ms")
    set_it = "linklab link set any any delay 5ms at h1-eth0"
    assert change_lines("h1-eth0", netem, edt) == ["tc qdisc del dev h1-eth0 root", set_it]
    assert change_lines("h1-eth0", None, edt) == ["tc qdisc del dev h1-eth0 root", set_it]
    assert change_lines("h1-eth0", Impairment(), edt) == [set_it]
    assert change_lines("h1-eth0", direction(delay="9ms"), edt) == [set_it]
    assert change_lines("h1-eth0", edt, direction()) == ["linklab link clear at h1-eth0"]
    assert change_lines("h1-eth0", edt, netem) == [
        "linklab link clear at h1-eth0",
        "tc qdisc add dev h1-eth0 root handle 1: netem limit 100000 delay 5ms",
    ]


def test_a_drawing_says_it_and_keeps_it():
    """The plan has the line and fq's place, the kernel needs the program's parts, and the file stays as it is."""
    drawn = Topology.loads(json.dumps(NETWORK), "edt")
    end = plan(drawn)["links"][0]["src"]["tc"]
    assert end["lines"] == ["linklab link set any any rate 10mbit delay 20ms at h1-eth0"]
    assert [(qdisc["kind"], qdisc["handle"], qdisc["parent"]) for qdisc in end["qdiscs"]] == [("fq", "ed7:", "root")]
    needs = of_topology(drawn)
    assert {"fq", "clsact"} <= needs.qdiscs
    assert needs.filters == {"bpf"}
    assert json.loads(drawn.dumps())["linklab"]["links"][0]["forward"]["backend"] == "edt"


def test_stock_mininet_has_no_such_links():
    """An export says so instead of leaving the link plain."""
    with pytest.raises(TopologyError, match="link h1-h2: the backend edt is Linklab's own"):
        export.script(Topology.loads(json.dumps(NETWORK), "edt"), "edt")


def test_typed_links_need_the_same_of_a_kernel():
    """So that the doctor, and a run on the host engine, name what is missing before anything begins."""
    assert of_text("linklab link set h1 h2 delay 20ms") == BY_TIME
    assert not of_text("linklab link show; ip link show")
