# SPDX-License-Identifier: BSD-3-Clause
"""How a lab was left, from its evidence, and what is said of what cannot be brought back."""

from dataclasses import replace

import pytest

from linklab.engine.api import Completed
from linklab.guide.continuing import bring_back, left_off, only_sets
from linklab.guide.evidence import EditorEvidence, FileEvidence, StateEvidence, TypedEvidence
from linklab.state.model import State
from linklab.state.node import Interface, Node

RUN = EditorEvidence(("run",))


def state(**mtu):
    """A network of the Client and h1, whose interfaces have these MTUs."""
    ports = {name: Interface(up=True, mtu=size) for name, size in mtu.items()}
    return State({"client": Node({}), "h1": Node(ports)})


def typed(text, start_s, end_s=None, terminal="h1", status=0):
    """A line that was typed."""
    return TypedEvidence(terminal, text, start_s, end_s, status=None if end_s is None else status)


class Told:
    """A network that shows these states, one after the other, and takes every line but the ones that fail."""

    paced = None

    def __init__(self, *states, fails=()):
        self.states, self.fails, self.lines = list(states), fails, []

    def holds_many_files(self):
        """It has none."""
        return False

    def now_s(self):
        """As a network that has just been built."""
        return 1.0

    def run(self, actions, *, deadline_s):
        """Answer one line."""
        (typed_in,) = actions
        if "node_state" in typed_in.text:
            return [Completed(typed_in.terminal, typed_in.text, self.states.pop(0).dumps(), 0, 0.0, 0.0)]
        self.lines.append((typed_in.terminal, typed_in.text))
        status = 2 if any(word in typed_in.text for word in self.fails) else 0
        return [Completed(typed_in.terminal, typed_in.text, "no such thing\n" if status else "", status, 0.0, 0.0)]


def test_only_the_last_network_counts():
    """What an earlier network was set to, and what ran in it, was gone before the lab was left."""
    first, last = state(**{"h1-eth0": 1500}), state(**{"h1-eth0": 1400})
    evidence = [
        RUN,
        StateEvidence(first, 0.0),
        typed("iperf3 -s", 1.0),
        RUN,
        StateEvidence(last, 0.0),
        typed("ip link set h1-eth0 mtu 1400", 2.0),
        typed("ip link set h1-eth0 mtu 1400", 2.0, 2.1),
        typed("ping 10.0.0.2", 3.0),
        FileEvidence("mine.sh", "in the folder"),
        FileEvidence("/etc/resolv.conf", "outside"),
    ]
    left = left_off([*evidence, FileEvidence("/etc/cron.d/x", "of a stranger")], wanted=["/etc/resolv.conf"])
    assert left.state == last
    assert [line.text for line in left.typed] == ["ip link set h1-eth0 mtu 1400"]
    assert [line.text for line in left.running] == ["ping 10.0.0.2"]
    assert left.files == {"/etc/resolv.conf": "outside"}


def test_time_that_goes_back_is_another_network():
    """A lab without a drawing has no Run that would say so."""
    left = left_off([typed("sleep 1", 50.0), typed("ping 10.0.0.2", 49.5), typed("sudo mn", 2.0, terminal="client")])
    assert [line.text for line in left.running] == ["sudo mn"]


def test_lines_at_the_prompt_of_mn_are_not_started_again():
    """They ended with it."""
    left = left_off([typed("sudo mn", 2.0, terminal="client"), typed("h1 ping h2", 3.0, terminal="client")])
    assert [line.text for line in left.running] == ["sudo mn"]


def test_settings_are_made_again_and_looked_at():
    """The guide gets both states, so that it knows what was set and what a new network has."""
    fresh, wanted = state(**{"h1-eth0": 1500}), state(**{"h1-eth0": 1400})
    network = Told(fresh, wanted)
    found = bring_back(network, left_off([RUN, StateEvidence(wanted, 3.0), typed("ping 10.0.0.2", 4.0)]))
    assert network.lines == [("h1#back", "ip link set dev h1-eth0 mtu 1400")]
    assert [each.state for each in found.evidence] == [fresh, wanted]
    assert found.done == ["The settings on h1 are made again, as the kernel had them last."]
    assert (found.missing, found.again) == ([], [("h1", "ping 10.0.0.2")])


def test_what_is_not_as_it_was_is_said():
    """A line that fails, and what the kernel says afterwards."""
    fresh, wanted = state(**{"h1-eth0": 1500}), state(**{"h1-eth0": 1400})
    found = bring_back(Told(fresh, fresh, fails=["1400"]), left_off([RUN, StateEvidence(wanted, 3.0)]))
    assert found.done == []
    assert found.missing == [
        "On h1, ip link set dev h1-eth0 mtu 1400 failed: no such thing.",
        "Not as it was: h1-eth0: mtu is 1500, not 1400.",
    ]


def test_what_cannot_be_restored_is_typed_again():
    """A new interface is in no drawing; the lines that made it are in the progress, and only those are typed."""
    fresh = state(**{"h1-eth0": 1500})
    wanted = state(**{"h1-eth0": 1500, "dummy0": 1500})
    evidence = [
        RUN,
        StateEvidence(wanted, 3.0),
        typed("ip link add dummy0 type dummy", 4.0, 4.1),
        typed("ip link add dummy0 type nonsense", 4.5, 4.6, status=2),
        typed("ping -c 1 10.0.0.2", 5.0, 6.0),
    ]
    network = Told(fresh, wanted)
    found = bring_back(network, left_off(evidence))
    assert network.lines == [("h1#back", "ip link add dummy0 type dummy")]
    assert "by typing again what you had typed, since" in found.done[0]
    assert "dummy0" in found.done[0]


def test_a_network_of_ones_own_is_the_persons_to_start():
    """Lab 1 types `sudo mn`: its nodes are not there, and nothing is typed."""
    fresh = State({"client": Node({})})
    network = Told(fresh)
    evidence = [typed("sudo mn", 1.0, terminal="client"), StateEvidence(state(**{"h1-eth0": 1500}), 3.0)]
    found = bring_back(network, left_off(evidence))
    assert network.lines == []
    assert found.missing == ["The network that you had started yourself is not there (h1)."]
    assert found.again == [("client", "sudo mn")]


@pytest.mark.parametrize("status", [0, 1])
def test_files_outside_the_folder_are_written_again(status):
    """They lie in the network's own file system, which ends with it."""
    fresh = state(**{"h1-eth0": 1500})
    network = Told(fresh, fails=["base64"] if status else [])
    found = bring_back(network, replace(left_off([]), files={"/etc/x y": "text"}))
    ((terminal, line),) = network.lines
    assert terminal == "client#back" and line == "echo dGV4dA== | base64 -d > '/etc/x y'"
    assert (found.missing if status else found.done) == [
        "/etc/x y cannot be written again." if status else "/etc/x y is written again."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "sudo tc qdisc add dev h1-eth0 root netem delay 10ms",
        "tc qdisc del dev h1-eth0 root; tc qdisc add dev h1-eth0 root pfifo limit 5 && ip link set h1-eth0 mtu 1400",
        "sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'",
        "sysctl -p",
        "echo 1 | sudo tee /proc/sys/net/ipv4/ip_forward",
        "echo 1 > /proc/sys/net/ipv4/ip_forward",
        "linklab link set h1 h2 delay 20ms",
        "ethtool -K h1-eth0 tso off",
    ],
)
def test_a_line_that_sets_something_is_typed_again(text):
    """What the labs print."""
    assert only_sets(typed(text, 1.0, 1.1))


@pytest.mark.parametrize(
    "text",
    [
        "tc qdisc add dev h1-eth0 root pfifo; mount -t hostfs none /mnt",
        "tc qdisc add dev h1-eth0 root pfifo limit $(touch /lab/x)",
        "ip link set `touch /lab/x` up",
        "ip netns exec a sh -c 'touch /lab/x'",
        "tc -b /lab/lines",
        "ip -batch /lab/lines",
        "sysctl -w net.ipv4.ip_forward=1 > /mnt/home/u/.bashrc",
        "echo hi > /lab/.bashrc",
        "echo 1 | tee /proc/sys/../../lab/x",
        "cat /lab/x | tee /proc/sys/net/ipv4/ip_forward",
        "for i in 1 2; do tc qdisc show; done",
        "linklab clean",
        "(tc qdisc show; touch /lab/x)",
    ],
)
def test_a_line_that_could_run_a_program_is_not_typed_again(text):
    """Regression: whoever continued another person's progress typed that person's lines with their own rights."""
    assert not only_sets(typed(text, 1.0, 1.1))
