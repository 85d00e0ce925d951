# SPDX-License-Identifier: BSD-3-Clause
"""What a drawing says takes effect when it is run, and its exported script builds the same network."""

import json
import re

import pytest
from pockets import needs_pocket, type_

from linklab.editor import edits, export, runnable
from linklab.engine.api import Shows, Typed
from linklab.engine.pocket import PocketEngine
from linklab.errors import AgentError, TopologyError
from linklab.tc import DISCIPLINES, Impairment, Qdisc, change_lines, lines, objects
from linklab.topology import Topology

pytestmark = needs_pocket
START_OVS = "python3 -c 'from linklab.agent.open_vswitch import start_ovs; start_ovs()'"
PROMPT = Shows("mininet> ")


def mixed():
    """Every kind of node, a port that was deleted and given again, VLANs, folders, commands, impairments."""
    topology = Topology()
    for kind in ("controller", "switch", "switch", "host", "host", "legacyRouter"):
        topology, _ = edits.add_node(topology, kind, 0, 0)
    for pair in (("c0", "s1"), ("c0", "s2"), ("h1", "s1"), ("s1", "s2"), ("h2", "s2"), ("r3", "s2")):
        topology = edits.add_link(topology, *pair)
    topology = edits.add_link(edits.delete(topology, {0}), "h1", "s1")
    opts = {
        "vlanInterfaces": [["10.0.1.1/24", "100"]],
        "privateDirectory": ["/var/log", ["/srv", "/tmp/kept"]],
        "startCommand": "echo begun > begun.txt",
        "stopCommand": "echo ended > ended.txt",
    }
    topology = edits.set_opts(topology, "h1", opts)
    topology = edits.set_opts(topology, "s1", {"switchIP": "10.0.0.77", "dpctl": "6634"})
    both = {"rate": "100mbit", "delay": "5ms", "discipline": {"kind": "fq_codel", "target": "5ms"}}
    return edits.set_link(topology, 3, {"bw": 10}, {**topology.links[3].own, "backward": both})


def seen(text):
    """What Mininet's CLI said, without what differs from run to run."""
    without = re.sub(r"\s*pid=\d+|mininet> |fe80::\S+|@if\d+|(Test|OVS)?Controller", "", text)
    return "\n".join(line.rstrip() for line in without.strip().split("\n"))


def test_a_drawing_runs_and_its_script_builds_the_same(tmp_path):
    """Names, ports, addresses, VLANs, folders and disciplines are the same; commands are run at start and end."""
    topology = mixed()
    assert topology.port_names()["s1-eth1"] == "h1-eth0"
    words = ("net", "dump", "h1 ip -br addr", "h1 df --output=target /var/log /srv", "s1 tc qdisc show dev s1-eth1")
    with PocketEngine().start(runnable.runnable(topology, runnable.Choice()), workdir=tmp_path) as network:
        ours = [seen(type_(network, word, "mininet").output) for word in words]
        assert "10.0.0.77" in type_(network, "ip addr show dev s1").output
        assert 'Controller "ptcp:6634"' in type_(network, "ovs-vsctl show").output
    assert (tmp_path / "begun.txt").read_text() == "begun\n"
    assert (tmp_path / "ended.txt").read_text() == "ended\n"
    assert "h1-eth0.100@h1-eth0" in ours[2]
    assert ours[3].split() == ["Mounted", "on", "/var/log", "/srv"]
    assert "fq_codel 3: parent 2: limit 10240p" in ours[4]
    (tmp_path / "net.py").write_text(export.script(topology, "mixed"))
    with PocketEngine().start(None, workdir=tmp_path) as network:
        type_(network, START_OVS)
        network.run([Typed("client", "python3 net.py", PROMPT)])
        theirs = [seen(network.run([Typed("client", word, PROMPT)])[0].output.replace(word, "", 1)) for word in words]
    assert theirs == ours


def test_every_discipline_is_taken_by_the_kernel_and_changed(tmp_path):
    """Set, read back, and changed in place or anew, with and without a delay before it."""
    options = {
        "red": {"limit": "1mb", "min": "64kb", "max": "256kb", "adaptive": "1"},
        "cake": {"rtt": "50ms", "priority": "besteffort", "isolation": "flows"},
        "pie": {"target": "22ms", "alpha": "2", "beta": "25"},
        "fq": {"maxrate": "5mbit"},
        "htb": {"ceil": "20mbit"},
        "bfifo": {"limit": "100kb"},
    }
    topology, _ = edits.add_node(Topology(), "legacySwitch", 0, 0)
    topology, _ = edits.add_node(topology, "host", 0, 0)
    topology = edits.add_link(topology, "h1", "s1")
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        for kind in DISCIPLINES:
            for delay in ({}, {"delay": "5ms", "jitter": "1ms", "loss": "1%"}):
                data = {"rate": "10mbit", **delay, "discipline": {"kind": kind, **options.get(kind, {})}}
                set_one = Impairment.from_data(data)
                other = Impairment.from_data({**data, "rate": "20mbit"})
                for line in [*lines("s1-eth1", set_one), *change_lines("s1-eth1", set_one, other)]:
                    done = type_(network, line)
                    assert done.exit_status == 0, f"{line}: {done.output}"
                shown = json.loads(type_(network, "tc -j qdisc show dev s1-eth1").output)
                wanted = [each.kind for each in objects(other) if isinstance(each, Qdisc)]
                assert [qdisc["kind"] for qdisc in shown][: len(wanted)] == wanted
                type_(network, "tc qdisc del dev s1-eth1 root")


@pytest.mark.parametrize("data", [{"delay": "20ms"}, {"delay": "10ms", "rate": "1gbit"}])
def test_a_delay_of_one_direction_is_measured(tmp_path, data):
    """One way only: ping sees it once."""
    topology, _ = edits.add_node(Topology(), "legacySwitch", 0, 0)
    for _ in range(2):
        topology, name = edits.add_node(topology, "host", 0, 0)
        topology = edits.add_link(topology, name, "s1")
    topology = edits.set_link(topology, 1, {}, {"backward": data})
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        output = type_(network, "ping -c 3 -i 0.2 10.0.0.2", "h1").output
    times_ms = [float(each) for each in re.findall(r"time=([\d.]+) ms", output)]
    wanted_ms = float(data["delay"].removesuffix("ms"))
    assert times_ms[1:] == pytest.approx([wanted_ms] * 2, abs=0.2)


def test_cores_say_that_they_do_nothing_and_do_not_keep_the_network_from_running(tmp_path):
    """A pocket has one processor; the start command may end in & or a comment, and run to several lines."""
    command = "sleep 60 &\necho two > two.txt # done"
    topology = edits.set_opts(pair_of_hosts(), "h1", {"cores": "0", "startCommand": command})
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        assert type_(network, "ping -c 1 10.0.0.2", "h1").exit_status == 0
    assert (tmp_path / "two.txt").read_text() == "two\n"


@pytest.mark.parametrize(
    ("opts", "says"),
    [
        (
            {"vlanInterfaces": [["10.1.0.1/24", "100"], ["10.2.0.1/24", "100"]]},
            "h1: ip link add link h1-eth0 name h1-eth0.100 type vlan id 100: RTNETLINK answers: File exists",
        ),
        ({"defaultRoute": "192.168.77.1"}, r"h1: the default gateway 192.168.77.1 is in none of its subnets \(10"),
    ],
)
def test_what_cannot_be_set_up_is_named_with_node_and_command(tmp_path, opts, says):
    """Regression: the network was built without it."""
    topology = edits.set_opts(pair_of_hosts(), "h1", opts)
    with pytest.raises((AgentError, TopologyError), match=says), PocketEngine().start(topology, workdir=tmp_path):
        pass


def pair_of_hosts():
    """Two hosts and a link."""
    topology = Topology()
    for _ in range(2):
        topology, _ = edits.add_node(topology, "host", 0, 0)
    return edits.add_link(topology, "h1", "h2")
