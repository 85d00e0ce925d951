# SPDX-License-Identifier: BSD-3-Clause
"""A lab's set_env.sh reaches the state of a section from whatever state a network is in, in the real network."""

import json
import random
import re
import shutil

import pytest
from pockets import needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.lab.model import find_lab, load_lab
from linklab.manual.model import Commands
from linklab.state.model import READ_STATE, SetEnv, State

pytestmark = needs_pocket

SHOWN = (
    "tc qdisc show; for i in $(ls /sys/class/net); do tc class show dev $i; tc filter show dev $i; done; "
    "sysctl -a 2>/dev/null | grep -E '^net[.](core|ipv4[.]tcp_)[^ ]*'; "
    "ip -d -j link show | jq -c '.[] | [.ifname, .mtu, .txqlen, .gso_max_size, .gso_max_segs]'; "
    "for i in $(ls /sys/class/net | grep eth); do ethtool -k $i; done; "
    "grep . /sys/module/tcp_cubic/parameters/* /sys/module/pocket/parameters/*_ps"
)
GIVEN_BY_ITSELF = re.compile(r"\b8[0-9a-f]{3}:")
"""A handle that the kernel gives a discipline which asks for none; it counts over all that were ever made."""
OF_CHANCE = re.compile(r"^net\.core\.netdev_rss_key.*|^net\.ipv4\.tcp_fastopen_key.*", re.MULTILINE)
AWRY = {  # what somebody who lost the thread may have typed
    "client": ["tc qdisc add dev s1-eth1 root netem loss 5%", "tc qdisc add dev s1-eth2 ingress", "cpu_profile ideal"],
    "h1": [
        "tc qdisc add dev h1-eth0 root netem delay 7ms",
        "sysctl -w net.ipv4.tcp_congestion_control=reno",
        "sysctl -w net.ipv4.tcp_sack=0",
        "ethtool -K h1-eth0 tso off gso off",
        "ip link set dev h1-eth0 mtu 1400",
        "ip link set dev h1-eth0 gso_max_segs 1",
        "ip link set dev h1-eth0 gso_max_size 19000",
    ],
}


def started(folder, number):
    """The network of a lab, with the lab's script in its working folder."""
    lab = load_lab(find_lab(str(number)))
    folder.mkdir()
    shutil.copy(lab.folder / "set_env.sh", folder)
    return PocketEngine().start(lab.load_topology(), workdir=folder)


def state(network):
    """What every namespace shows, by the name of its terminal; but for what chance or the kernel's counting gives."""
    terminals = ["client", *(node for node in network.nodes if node.startswith("h"))]
    shown = {terminal: type_(network, SHOWN, terminal).output for terminal in terminals}
    return {name: OF_CHANCE.sub("", GIVEN_BY_ITSELF.sub("auto:", text)) for name, text in shown.items()}


def typed(number):
    """(terminal, line) of every command of a lab's manual that sets something, in no order."""
    found = [
        (step.terminal.partition("#")[0], line)
        for step in load_lab(find_lab(str(number))).manual.steps
        if isinstance(step.action, Commands) and not step.terminal.startswith("mininet")
        for line in step.action.lines
        if re.match(
            r"(sudo )?(tc \w+ (add|change|del|replace)|sysctl .*=|ethtool -K|ip link set|ifconfig .* mtu)", line
        )
    ]
    return found + awry()


def awry():
    """(terminal, line) of those that no manual has."""
    return [(on, line) for on, lines in AWRY.items() for line in lines]


@pytest.mark.parametrize(
    ("number", "sections"),
    [
        (5, ["3.3", "6.2"]),
        pytest.param(14, ["2", "4.1"], marks=pytest.mark.long),
        (16, ["6"]),
        pytest.param(20, ["3.3", "end"], marks=pytest.mark.long),
    ],
)
def test_the_state_of_a_section_is_reached_from_any_other(tmp_path, number, sections):
    """Lines of the manual typed twice, left out, or in another order, and others that no manual has."""
    chance = random.Random(number)  # noqa: S311 - which lines, not a secret
    with started(tmp_path / "mixed", number) as network:
        for on, line in awry():
            assert type_(network, line, on).exit_status == 0, line
        for section in sections:
            lines = chance.choices(typed(number), k=12)
            for terminal, line in lines:
                type_(network, line, terminal)
            done = type_(network, f"sudo ./set_env.sh {section}", chance.choice(["client", "h1"]))
            assert "could not be undone" not in done.output
            assert done.exit_status == 0, done.output
            reached = state(network)
            with started(tmp_path / section, number) as fresh:
                assert type_(fresh, f"./set_env.sh {section}").exit_status == 0
                assert reached == state(fresh), f"Section {section} after {json.dumps(lines)}"


def test_a_port_that_is_gone_ends_the_script(tmp_path):
    """Regression: "Section 2 can begin." with status 0, although h1 had no port any more."""
    with started(tmp_path / "gone", 5) as network:
        type_(network, "ip link del h1-eth0", "h1")
        done = type_(network, "./set_env.sh 2")
        assert done.exit_status == 1
        assert done.output.splitlines() == [
            "set_env.sh: s1-eth1 is gone: end the network and start it again",
            "set_env.sh: h1-eth0 is gone: end the network and start it again",
            "set_env.sh: not everything could be undone, see above; the settings were not made",
        ]


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("cat set_env.sh", 0),
        ("sudo ./set_env.sh 2.2", 1),
        ("cat set_*.sh | sudo bash -s end", 1),
        ("LINKLAB_INSIDE= bash set_env.sh end", 1),
        ("(sleep 1; ./set_env.sh end) >/dev/null 2>&1 & sleep 9", 1),
        ("./set_env.sh 9.9; cp set_env.sh mine.sh; bash mine.sh end; bash mine.sh end", 2),
    ],
)
def test_the_script_tells_the_network_that_it_has_run(tmp_path, line, begun):
    """In whatever way it was started, under whichever name; not where it only says that there is no such section."""
    with started(tmp_path / "lab", 8) as network:
        type_(network, line)
        type_(network, "sleep 1")
        told = State.loads(network.state_text()).set_env
        assert told == SetEnv(begun)
        assert State.loads(type_(network, READ_STATE).output).set_env == told


def test_the_state_says_so_while_the_script_runs(tmp_path):
    """Stopped in the middle, it may go on at any time."""
    with started(tmp_path / "lab", 8) as network:
        type_(network, "sed -i 's/^undo$/sleep 5; undo/' set_env.sh; bash set_env.sh end >/dev/null & sleep 1")
        assert State.loads(network.state_text()).set_env == SetEnv(1, running=True)
        type_(network, "sleep 9")
        assert State.loads(network.state_text()).set_env == SetEnv(1)
