# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that use Mininet, in a pocket without a network and beside one that Linklab built."""

import json
import re

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
IPERF = """
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.topo import SingleSwitchTopo
from functools import partial
net = Mininet(SingleSwitchTopo(2), link=partial(TCLink, bw=20), waitConnected=True)
net.start()
print("dropped", net.pingAll())
print("rates", net.iperf(seconds=2))
print("shell", net.hosts[0].popen("echo $0 $LOGNAME", shell=True).communicate()[0])
net.stop()
"""
CONTROLLER_AND_NAT = """
import subprocess
from mininet.net import Mininet
from mininet.node import Controller
from mininet.topo import SingleSwitchTopo
net = Mininet(SingleSwitchTopo(2), controller=Controller, waitConnected=True)
net.addNAT().configDefault()
net.start()
subprocess.run("ip link add outside type dummy && ip addr add 198.51.100.7/24 dev outside", shell=True, check=True)
print(net.hosts[0].cmd("ping -c 1 198.51.100.7"))
net.stop()
"""
LIMITED = """
from mininet.net import Mininet
from mininet.node import CPULimitedHost
from mininet.topo import SingleSwitchTopo
net = Mininet(SingleSwitchTopo(2), host=CPULimitedHost, waitConnected=True)
net.start()
h1 = net.hosts[0]
h1.setCPUs(0)
h1.setCPUFrac(0.3)
print("quota", h1.cgroupGet("cfs_quota_us"), "set", h1.cgroupGet("cpus", "cpuset"), "dropped", net.pingAll())
net.stop()
"""


def run_script(network, workdir, text, python="python3"):
    """Run a script with `sudo python3 FILE` and return its output."""
    (workdir / "script.py").write_text(text)
    return type_(network, f"sudo {python} script.py", deadline_s=300).output


def test_a_script_finds_open_vswitch_and_an_iperf_that_ends(tmp_path):
    """The script does not know Linklab, and nothing was started; regressions: no db.sock, an iperf that never ended."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        shown = run_script(network, tmp_path, IPERF)
    assert "dropped 0.0" in shown, shown
    rates = re.search(r"rates \['([\d.]+) Mbits/sec', '([\d.]+) Mbits/sec'\]", shown)
    assert rates, shown
    assert 18 < float(rates[1]) < 20, shown
    assert "shell b'/bin/bash root\\n'" in shown, shown


def test_a_script_has_mininets_controller_and_nat(tmp_path):
    """Controller works although Debian lacks its program; NAT reaches an address outside the network."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        shown = run_script(network, tmp_path, CONTROLLER_AND_NAT)
    assert "1 packets transmitted, 1 received, 0% packet loss" in shown, shown


def test_hosts_have_a_share_of_the_processor_and_a_cpuset(tmp_path):
    """Three tenths of 100 ms are 30 ms; a cpuset may name the only processor, and another one is refused."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        shown = run_script(network, tmp_path, LIMITED)
        assert "quota 30000 set 0 dropped 0.0" in shown, shown
        refused = type_(network, "cgcreate -g cpuset:/one && cgset -r cpuset.cpus=1 /one")
    assert refused.exit_status == 1
    assert "cpuset.cpus=1: a pocket has one processor" in refused.output, refused.output


@pytest.mark.parametrize("scheduler", ["host", "cfs", "rt"])
def test_a_drawing_can_give_a_host_a_share_of_the_processor(tmp_path, scheduler):
    """The share applies to commands typed on the host, because its terminals are in the control group.

    Regression: with "rt", for which the kernel has no groups, Mininet ended the agent.
    """
    drawing = json.loads(TOPOLOGY.read_text())
    drawing["hosts"][0]["opts"].update(cpu=0.3, sched=scheduler)
    with PocketEngine().start(Topology.loads(json.dumps(drawing), "share"), workdir=tmp_path) as network:
        name = drawing["hosts"][0]["opts"]["hostname"]
        quota = type_(network, f"cat /sys/fs/cgroup/cpu/{name}/cpu.cfs_quota_us").output
        groups = type_(network, "cat /proc/self/cgroup", name).output
    assert quota == "30000\n"
    assert f":cpu:/{name}\n" in groups, groups


@pytest.mark.long
def test_open_vswitch_started_by_hand_loses_nothing(tmp_path):
    """Both its service and Debian's script start it; regression: started too soon after boot, it lost every packet."""
    for start in ("service openvswitch-switch start", "/etc/init.d/openvswitch-switch start"):
        with PocketEngine().start(None, workdir=tmp_path) as network:
            started = type_(network, start)
            assert started.exit_status == 0, started.output
            shown = type_(network, "sudo mn --test pingall", deadline_s=300).output
        assert "0% dropped (2/2 received)" in shown, shown


def test_mn_beside_a_network_is_refused_and_the_network_lives(tmp_path):
    """`mn`, `mn -c`, and a script's clean-up say why they are refused and what to do."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path) as network:
        for command in ("sudo mn", "sudo mn -c", "sudo python3 -c 'from mininet.clean import cleanup; cleanup()'"):
            refused = type_(network, command)
            assert refused.exit_status == 1, refused.output
            assert "a network that Linklab built is running here (" in refused.output, refused.output
            assert "linklab attach mininet" in refused.output, refused.output
        assert " 0% packet loss" in type_(network, "ping -c 1 10.0.0.2", "h1").output
