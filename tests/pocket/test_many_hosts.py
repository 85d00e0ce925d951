# SPDX-License-Identifier: BSD-3-Clause
"""Networks of so many nodes that they are built without a program for each step."""

import json

import pytest
from pockets import needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.linux.rtnetlink import NamespaceLinks
from linklab.state.model import READ_STATE
from linklab.topology import Topology

pytestmark = needs_pocket
HOSTS, SWITCHES = 57, 3


def drawing() -> Topology:
    """57 hosts at three bridges in a row, and a router between the last and a host of another network."""
    named = [{"number": str(n), "opts": {"hostname": f"h{n}", "nodeNum": n}, "x": "1", "y": "1"} for n in range(1, 59)]
    named[0]["opts"]["defaultRoute"] = "10.0.0.99"
    named[2]["opts"]["privateDirectory"] = ["/var/mine"]
    kinds = [(f"s{n}", "legacySwitch") for n in (1, 2, 3)] + [("r4", "legacyRouter")]
    switches = [
        {"number": str(n), "opts": {"hostname": name, "nodeNum": n, "switchType": kind}, "x": "1", "y": "1"}
        for n, (name, kind) in enumerate(kinds, 1)
    ]
    links = [{"src": f"h{n}", "dest": f"s{n % SWITCHES + 1}", "opts": {}} for n in range(1, HOSTS + 1)]
    links += [{"src": "s1", "dest": "s2", "opts": {}}, {"src": "s3", "dest": "s2", "opts": {}}]
    links += [{"src": "s3", "dest": "r4", "opts": {}}, {"src": "h58", "dest": "r4", "opts": {"bw": 10, "delay": "5ms"}}]
    whole = {"hosts": named, "switches": switches, "links": links, "controllers": [], "version": "2"}
    return Topology.loads(json.dumps(whole), "many")


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The drawing, running."""
    with PocketEngine().start(drawing(), workdir=tmp_path_factory.mktemp("many")) as running:
        yield running


def test_the_farthest_hosts_reach_each_other_at_once(network):
    """Over all three bridges; regression: a link's first end could send only some twenty seconds later."""
    assert "0% packet loss" in type_(network, "ping -c 1 -W 1 10.0.0.57", "h2").output


def test_a_host_has_what_mininet_would_have_given_it(network):
    """Address, names of its interfaces, route, the curriculum's baseline, and a shell in the working folder."""
    assert type_(network, "ls /sys/class/net | grep eth0; pwd", "h1").output == "h1-eth0\n/lab\n"
    assert "inet 10.0.0.1/8 brd 10.255.255.255" in type_(network, "ip -o -4 addr show dev h1-eth0", "h1").output
    assert type_(network, "ip route show default", "h1").output.startswith("default via 10.0.0.99 dev h1-eth0")
    assert type_(network, "sysctl -n net.ipv4.tcp_wmem", "h40").output.split() == ["10240", "87380", "16777216"]
    assert type_(network, "sysctl -n net.ipv4.tcp_congestion_control", "h40").output == "cubic\n"


def test_every_node_is_found_before_anything_was_typed_there(network):
    """Regression: a drawing of 50 nodes was graded as if it had no hosts: no settings were read, and `h1 …` unknown."""
    state = json.loads(type_(network, READ_STATE, "client").output)
    assert sorted(state["nodes"]) == sorted(["client", "r4", *(f"h{n}" for n in range(1, 59))])
    assert [*state["nodes"]["h41"]["interfaces"]] == ["h41-eth0", "lo"]
    assert {f"s{n}-eth1" for n in (1, 2, 3)} <= {*state["nodes"]["client"]["interfaces"]}
    in_h42 = 'mnexec -a $(pgrep -o -f "mininet:h42$") ip -o -4 addr show dev h42-eth0'
    assert "inet 10.0.0.42/8" in type_(network, in_h42, "client").output


def test_what_asks_for_more_is_built_by_mininet_itself(network):
    """A private folder, a router that forwards, a link with options of Mininet's."""
    assert "tmpfs" in type_(network, "findmnt -n /var/mine", "h3").output
    assert type_(network, "sysctl -n net.ipv4.ip_forward", "r4").output == "1\n"
    shown = type_(network, "tc qdisc show dev h58-eth0", "h58").output
    assert "qdisc htb 5: root" in shown
    assert "delay 5ms" in shown


def test_the_mininet_prompt_starts_the_shells_it_needs(network):
    """A command of a node that nobody has typed into before."""
    shown = type_(network, "h10 ping -c 1 h11", "mininet").output
    assert "1 packets transmitted, 1 received" in shown
    assert "pid=" in type_(network, "py h12", "mininet").output


def test_what_the_kernel_refuses_is_told_with_what_was_asked():
    """As OSError, with the kernel's own reason: an interface's name has at most 15 characters."""
    kernel = NamespaceLinks()
    kernel.add_bridge("s" * 16)
    with pytest.raises(OSError, match=f"adding the bridge {'s' * 16}: "):
        kernel.flush()
    kernel.close()


@pytest.mark.long
def test_a_trial_finds_hosts_whose_shells_have_not_started(tmp_path):
    """Its programs run on them, its samplers read them; none of their shells had to start for that."""
    plan = {
        "format": 1,
        "length_s": 3.0,
        "programs": [
            {"id": "server", "node": "h9", "argv": ["iperf3", "-s", "-1"], "role": "server", "ready": {"tcp": 5201}},
            {"id": "lost", "node": "h99", "argv": ["iperf3", "-s"], "role": "server", "ready": {"tcp": 5201}},
            {"id": "tcp", "node": "h8", "argv": ["iperf3", "-c", "10.0.0.9", "-t", "1"], "start_s": 1.0},
        ],
        "samplers": {
            "sockets": ["h8", "h9"],
            "netstat": ["h8"],
            "qdiscs": [{"node": "s1", "interface": "s1-eth1"}, {"node": "h8", "interface": "h8-eth0"}],
        },
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with PocketEngine().start(drawing(), workdir=tmp_path) as network:
        done = type_(network, "python3 /opt/linklab/linklab/agent/trial.py plan.json out")
        way = type_(network, "python3 /opt/linklab/linklab/agent/trial_way.py h8 h9")
        shells = type_(network, "pgrep -fc '^bash .*mininet:h[89]$'").output
    outcome = json.loads((tmp_path / "out/outcome.json").read_text())
    assert outcome["programs"]["tcp"]["why"] == "" and outcome["lacks"] == [], done.output
    assert outcome["programs"]["lost"]["why"].startswith(
        "there is no node h99 in this network; there are: client, h1, "
    )
    assert done.exit_status == 1 and shells == "0\n"
    _, *lines = map(json.loads, (tmp_path / "out/sockets.jsonl").read_text().splitlines())
    assert {line["node"] for line in lines if len(line["sockets"]) == 2} == {"h8", "h9"}
    _, *lines = map(json.loads, (tmp_path / "out/netstat.jsonl").read_text().splitlines())
    assert lines[-1]["netstat"]["Tcp"]["ActiveOpens"] == 2
    assert way.exit_status == 0 and "10.0.0.9" in way.output
