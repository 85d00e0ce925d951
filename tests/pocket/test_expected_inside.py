# SPDX-License-Identifier: BSD-3-Clause
"""What programs that do not know Linklab expect of a machine: names, folders for daemons, modules, a hangup."""

import base64
import re
import subprocess

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab import pocket_kernel
from linklab.engine.api import Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
MODULES = pocket_kernel.find().path.parent / "modules/modules.builtin.bin" if pocket_kernel.find() else None
needs_modules = pytest.mark.skipif(
    MODULES is None or not MODULES.exists(), reason="the kernel was built without its list of modules (make kernel)"
)


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Lab 8's network."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path_factory.mktemp("lab")) as running:
        yield running


def test_names_are_known_and_unknown_ones_cost_no_time(network):
    """Any node knows the names and addresses of the pocket and all nodes; regression: an unknown name took 6 s."""
    assert type_(network, "getent hosts linklab h1 h2", "h1").output.split() == [
        *("127.0.1.1", "linklab"),
        *("10.0.0.1", "h1", "10.0.0.2", "h2"),
    ]
    fqdn = "python3 -c 'import socket; print(socket.getfqdn(), socket.gethostbyaddr(\"10.0.0.2\")[0])'"
    assert type_(network, fqdn).output == "linklab h2\n"
    before = network.now_s()
    assert type_(network, "getent hosts no-such-name; getent hosts 10.9.9.9", "h1").output == ""
    assert network.now_s() - before < 0.3


def test_a_script_of_mininet_gives_its_nodes_names(tmp_path):
    """A network that a script builds can be looked up by name, like one that Linklab builds."""
    (tmp_path / "x.py").write_text(
        "from mininet.net import Mininet\nnet = Mininet(controller=None)\n"
        "a, b = net.addHost('alpha'), net.addHost('beta')\nnet.addLink(a, b)\nnet.start()\n"
        "print(a.cmd('ping -c 1 beta'))\nnet.stop()\n"
    )
    with PocketEngine().start(None, workdir=tmp_path) as network:
        assert "64 bytes from beta (10.0.0.2)" in type_(network, "sudo /usr/bin/python3 x.py").output


def test_run_has_what_daemons_expect(network):
    """There are folders for sshd and others, but none of systemd; a new file has the usual mode."""
    found = type_(network, "stat -c '%a %n' /run/sshd /run/lock /run/dbus /run/user/0 /run/utmp /run/systemd 2>&1")
    assert found.output.splitlines() == [
        "755 /run/sshd",
        "1777 /run/lock",
        "755 /run/dbus",
        "700 /run/user/0",
        "664 /run/utmp",
        "stat: cannot statx '/run/systemd': No such file or directory",
    ]
    assert type_(network, "umask; touch /lab/new; stat -c %a /lab/new /etc/hosts").output == "0022\n644\n644\n"
    assert type_(network, "cat /proc/sys/net/ipv4/ping_group_range").output.split() == ["0", "2147483647"]


@needs_modules
def test_kmod_knows_what_is_built_in(network):
    """modprobe, modinfo, and lsmod work as with built-in modules; an unknown module is refused."""
    assert type_(network, "modprobe tcp_htcp && modprobe -a sch_netem veth && echo fine").output == "fine\n"
    assert type_(network, "modprobe no_such_module").exit_status == 1
    assert type_(network, "modprobe -r tcp_htcp").output == "modprobe: FATAL: Module tcp_htcp is builtin.\n"
    shown = type_(network, "modinfo tcp_bbr").output
    assert re.search(r"filename: +\(builtin\)", shown)
    assert "TCP BBR (Bottleneck Bandwidth and RTT)" in shown
    assert type_(network, "lsmod | grep -w tcp_bbr").output.split() == ["tcp_bbr", "0", "0"]


@pytest.mark.parametrize("clock", [Clock.VIRTUAL, Clock.PACED])
def test_closing_a_terminal_hangs_up_what_ran_in_it(tmp_path, clock):
    """Foreground programs and jobs end, and what nohup started stays; other terminals are not affected."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, clock=clock) as network:

        def open_(node, keys):
            opened = network.link.request("open", deadline_s=60, what="open", node=node, rows=24, columns=80)
            data = base64.b64encode(keys.encode()).decode()
            network.link.request("input", deadline_s=60, what="type", terminal=opened["terminal"], data=data)
            return opened["terminal"]

        def running():
            network.run([Typed("client", "sleep 2")])
            found = type_(network, "pgrep -a '^(sleep|ping)$' | cut -d' ' -f2-").output.splitlines()
            return sorted(found)

        first = open_("h1", "sleep 111 &\nnohup sleep 222 >/dev/null 2>&1 &\nsleep 333\n")
        second = open_("h2", "sleep 444\n")
        cli = open_("mininet", "h2 ping 10.0.0.1\n")
        assert running() == ["ping 10.0.0.1", "sleep 111", "sleep 222", "sleep 333", "sleep 444"]
        network.link.request("hangup", deadline_s=60, what="close", terminal=first)
        assert running() == ["ping 10.0.0.1", "sleep 222", "sleep 444"]
        network.link.request("hangup", deadline_s=60, what="close", terminal=second)
        network.link.request("hangup", deadline_s=60, what="close", terminal=cli)
        assert running() == ["sleep 222"]


def test_the_machines_own_names_are_left_alone(network):
    """The pocket's files are written to its temporary layer."""
    assert type_(network, "grep -c 10.0.0.2 /etc/hosts").output == "1\n"
    assert (
        subprocess.run(["grep", "-c", "h2$", "/etc/hosts"], capture_output=True, text=True, check=False).stdout == "0\n"
    )
