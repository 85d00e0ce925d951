# SPDX-License-Identifier: BSD-3-Clause
"""A handful of strangers' drawings in a pocket: they run as they are, or mended, and do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.editor import export
from linklab.engine.pocket import PocketEngine
from linklab.exchange import read
from linklab.topology import Topology
from linklab.topology.mending import mend
from linklab.topology.templates import made

pytestmark = needs_pocket
STRANGERS = Path(__file__).parents[1] / "strangers"
DRAWINGS = STRANGERS / "drawings"


def rtt_ms(output):
    """The least round trip of what ping printed."""
    return float(re.search(r"= ([\d.]+)/", output)[1])


def test_a_delay_without_a_unit_is_microseconds(tmp_path):
    """5000 and 10 at both ends of the links: 2 × (5000 + 10) µs and what the disciplines themselves take."""
    with PocketEngine().start(Topology.load(DRAWINGS / "delay-without-unit.mn"), workdir=tmp_path) as network:
        shown = type_(network, "tc qdisc show dev s1-eth1", "client").output
        output = type_(network, "ping -c 5 -i 0.2 10.0.0.2", "h1").output
    assert "delay 5ms" in shown
    assert 10.0 <= rtt_ms(output) < 11.0


def test_an_address_twice_runs(tmp_path):
    """MiniEdit runs it, and so do we; the third host reaches one of the two."""
    with PocketEngine().start(Topology.load(DRAWINGS / "copied-host.mn"), workdir=tmp_path) as network:
        assert "2 received" in type_(network, "ping -c 2 192.168.1.10", "h3").output


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("blanks-in-names", ("PC_1", "ping -c 2 10.0.0.2")),
        ("mininet-wifi", ("sta1", "ping -c 2 10.0.0.3")),
        ("half-deleted-by-hand", ("h1", "ping -c 2 10.0.0.2")),
    ],
)
def test_what_is_mended_carries_packets(tmp_path, name, line):
    """After one step."""
    mended, _ = mend(Topology.load(DRAWINGS / f"{name}.mn", check=False))
    if name == "mininet-wifi":  # its switch asks the reference controller, which has to come first
        mended = Topology.loads(mended.dumps().replace('"switchType": "default"', '"switchType": "legacySwitch"'))
    with PocketEngine().start(mended, workdir=tmp_path) as network:
        assert "2 received" in type_(network, *reversed(line)).output


@pytest.mark.parametrize(
    ("name", "topo", "line"),
    [
        ("campus.clab.yml", "", ("client1", "ping -c 2 10.1.0.10")),
        ("ospf-lab", "", ("pc1", "ping -c 2 10.0.2.10")),
        ("two_sites.py", "sites,2", ("h1", "ping -c 2 192.168.1.1")),
    ],
)
def test_what_is_imported_routes(tmp_path, name, topo, line):
    """Addresses, routes and forwarding are carried over; programs that are not here are left out."""
    topology = read.read(STRANGERS / "networks" / name, topo).topology
    hosts = []
    for host in topology.hosts:
        command = host.opts.get("startCommand", "")
        kept = {key: value for key, value in host.opts.items() if "nginx" not in command or key != "startCommand"}
        kept = {key: value for key, value in kept.items() if "apache2" not in command or key != "startCommand"}
        hosts.append(type(host)(host.number, host.x, host.y, kept))
    topology = type(topology)(
        tuple(hosts),
        topology.switches,
        topology.links,
        topology.controllers,
        topology.application,
        extra=topology.extra,
    )
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        assert "2 received" in type_(network, *reversed(line)).output


def test_an_exported_script_with_open_vswitch_runs_in_the_shell(tmp_path):
    """`linklab shell` without a topology: Open vSwitch starts when the script asks for it."""
    (tmp_path / "ovs.py").write_text(export.script(made("star:2,openflow=1"), "ovs"))
    lines = "sudo python3 ovs.py < /dev/null\nexit\n"
    done = subprocess.run(
        [sys.executable, "-m", "linklab", "shell", "--speed", "max"],
        cwd=tmp_path,
        input=lines,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "*** Stopping 1 switches\r\ns1" in done.stdout or "*** Stopping 1 switches\ns1" in done.stdout
    assert "database connection failed" not in done.stdout
