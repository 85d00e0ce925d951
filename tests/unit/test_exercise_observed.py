# SPDX-License-Identifier: BSD-3-Clause
"""Whether what was typed shows a setting before it was changed."""

import time

import pytest

from linklab.exercise.observed import TypedLine, looked_at, recorded, scripted

NODES = ("h1", "h2", "s1", "s2")
HOSTS = frozenset({"h1", "h2"})


def looked(fact, work):
    """Whether a work.sh shows it."""
    return looked_at(fact, [scripted(work, NODES)], HOSTS)


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        ("s2-eth2.loss", "tc -s qdisc show dev s2-eth2"),
        ("s2-eth2.loss", "sudo tc qdisc"),
        ("s2-eth2.discipline", "for i in s1-eth2 s2-eth2; do tc -s qdisc show dev $i; done"),
        ("s2-eth2.rate", "s2 tc class show dev s2-eth2"),
        ("h1-eth0.pacing", "h1 tc qdisc show"),
        ("h1-eth0.mtu", "h1 ip link show h1-eth0"),
        ("h2.rmem", "h2 sysctl net.ipv4.tcp_rmem"),
        ("h2.rmem", "h2 sysctl -a | grep tcp_"),
        ("h2.rmem", "$host sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem"),
        ("h2.rmem", "h2 cat /proc/sys/net/ipv4/tcp_rmem"),
        ("h2.rmem", "h2 ss -tim"),
        ("h2.sysctl.net.ipv4.tcp_window_scaling", "h1 tcpdump -i h1-eth0 -v"),
        ("h2.cc", "h2 sysctl net.ipv4.tcp_congestion_control"),
        ("h2.routes", "h2 ip route"),
        ("h2.routes", "h2 ip -4 r show"),
        ("s2-eth3.loss", "tc -s q show dev s2-eth3"),
        ("s2-eth3.loss", "tc -s qd"),
        ("s2-eth3.loss", "tc  -s  qdisc show   # before I change it"),
        ("h2.rmem", "h2 sysctl net.ipv4.tcp_{r,w}mem"),
        ("h2.cc", "for h in h1 h2; do $h sysctl net.ipv4.tcp_congestion_control net.ipv4.tcp_rmem; done"),
        ("h2.rmem", "for h in h1 h2; do echo $h; $h sysctl net.ipv4.tcp_rmem; done"),
        ("h2.cc", "echo h2; h2 sysctl net.ipv4.tcp_congestion_control"),
        ("h2.cc", "sudo h2 sysctl net.ipv4.tcp_congestion_control"),
        ("h2.cc", "h2 sysctl net.ipv4 | grep congestion"),
        ("h2.cc", "if true; then h2 sysctl net.ipv4; fi"),
        ("h2.cc", "show() { $1 sysctl net.ipv4.tcp_congestion_control; }; show h2"),
        ("h2.cc", "echo $(h2 cat /proc/sys/net/ipv4/tcp_congestion_control)"),
    ],
)
def test_a_command_that_shows_a_setting_is_a_look_at_it(fact, line):
    """As people write it, in work.sh or a loop of it."""
    assert looked(fact, line)
    assert not looked(fact, f"# {line}")


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        ("s2-eth2.loss", "tc -s qdisc show dev s1-eth2"),
        ("s2-eth2.loss", "h1 tc qdisc show"),
        ("s2-eth2.loss", "tc qdisc del dev s2-eth2 root"),
        ("s2-eth2.loss", "iperf3 -c 10.0.0.2"),
        ("h1-eth0.pacing", "tc qdisc show"),
        ("h2.rmem", "h1 sysctl net.ipv4.tcp_rmem"),
        ("h2.rmem", "h2 sysctl net.ipv4.tcp_wmem"),
        ("h2.rmem", "h2 sysctl -w net.ipv4.tcp_rmem='4096 87380 16777216'"),
        ("h2.rmem", "h2 ss -t"),
        ("h2.routes", "h2 ip route change 10.0.0.0/8 dev h2-eth0"),
        ("h2.routes", "h1 ip route"),
        ("h2.rmem", "for h in h1 h2; do $h sysctl -w net.ipv4.tcp_rmem='4096 87380 16777216'; done"),
        ("h2.rmem", "true # h2 sysctl net.ipv4.tcp_rmem"),
        ("h2.cc", "h2 sysctl net.ipv4.tcp_{r,w}mem"),
        ("h2.rmem", "echo h2; h1 sysctl net.ipv4.tcp_rmem"),
        ("h2.rmem", "echo 'x; h2 sysctl net.ipv4.tcp_rmem'"),
        ("h2.cc", "h2 sysctl net.ipv4 | grep rmem"),
        ("h2.cc", "h2 sysctl net.core"),
    ],
)
def test_a_command_that_does_not_show_it_is_none(fact, line):
    """Another place, another setting, or one that sets."""
    assert not looked(fact, line)


def test_what_is_looked_at_after_it_was_changed_shows_nothing_of_the_fault():
    """Unless set_env.sh has planted it anew."""
    change, show = "tc qdisc del dev s2-eth2 root", "tc qdisc show dev s2-eth2"
    assert looked("s2-eth2.loss", f"{show}\n{change}")
    assert not looked("s2-eth2.loss", f"{change}\n{show}")
    assert looked("s2-eth2.loss", f"{change}\n./set_env.sh\n{show}")
    assert looked("s2-eth2.loss", f"tc qdisc del dev s1-eth2 root\n{show}")
    assert looked("h2.rmem", "h2 sysctl -w net.ipv4.tcp_sack=1\nh2 sysctl net.ipv4.tcp_rmem")
    change, show = "h2 sysctl -w net.ipv4.tcp_rmem='1 2 3'", "h2 sysctl net.ipv4.tcp_rmem"
    assert looked("h2.rmem", f"{show}; {change}")
    assert not looked("h2.rmem", f"{change}; {show}")
    assert not looked("h2.rmem", f"for h in h1 h2; do $h sysctl -w net.ipv4.tcp_rmem='1 2 3'; done\n{show}")


def test_recorded_terminals_of_several_nodes_are_one_session_a_network():
    """In order of time; what Mininet's prompt runs on a host is the host's, its own words are nobody's."""
    logs = {
        "client": "# network 100.5 t1\n3.0 t1 $ tc qdisc del dev s2-eth2 root\n",
        "mininet": "# network 100.5 m\n2.0 m $ h2 sysctl net.ipv4.tcp_rmem\n2.5 m $ pingall\n",
        "h1": "# network 900.0 t1\n1.0 t1 $ tc qdisc show\n",
    }
    assert recorded(logs, NODES) == [
        [TypedLine("h2", "sysctl net.ipv4.tcp_rmem"), TypedLine("client", "tc qdisc del dev s2-eth2 root")],
        [TypedLine("h1", "tc qdisc show")],
    ]


def test_a_line_of_a_terminal_is_read_as_one_of_a_script():
    """Several commands, spaces, a comment."""
    logs = {"client": "# network 1.0 t1\n2.0 t1 $ echo a;  tc  -s  qdisc show # change it\n"}
    assert recorded(logs, NODES) == [[TypedLine("client", "echo a"), TypedLine("client", "tc -s qdisc show")]]


def test_what_is_made_to_be_slow_takes_no_time():
    """Regression: one line of 256 KiB kept the grader busy for an hour; what is beyond a line's limit is not read."""
    slow = "tc " * 80_000
    logs = {"client": f"# network 1.0 t\n1.0 t $ {slow}\n1.5 t $ tc qdisc\n"}
    sessions = [*recorded(logs, NODES), scripted(f"{slow}\ntc qdisc", NODES)]
    assert [[len(line.text) for line in lines] for lines in sessions] == [[1000, 8], [1000, 8]]
    begun_s = time.process_time()
    assert looked_at("s2-eth2.loss", sessions, HOSTS)
    assert time.process_time() - begun_s < 5


def test_of_endless_terminals_the_beginning_is_read():
    """2¹⁸ letters, which is more than a student types; regression: lines without letters had no end."""
    logs = {"client": "# network 1.0 t\n" + "1.0 t $ 0123456789abcdef\n" * 20_000}
    (lines,) = recorded(logs, NODES)
    assert len(lines) == 2**18 // 17
    logs = dict.fromkeys(("client", "h1", "h2"), "# network 1.0 t\n" + "1.0 t $ \n1.0 t $ x\n" * 2**17)
    found = [line for lines in recorded(logs, NODES) for line in lines]
    assert len(found) == (2**20 - len("# network 1.0 t\n")) // len("1.0 t $ \n1.0 t $ x\n")


@pytest.mark.parametrize(
    ("between", "counts"),
    [("sudo ./set_env.sh", True), ("bash -x set_env.sh", True), (": set_env.sh", False), ("echo set_env.sh", False)],
)
def test_only_set_env_itself_plants_the_fault_anew(between, counts):
    """Regression: a look after mending counted behind a line that only names it."""
    work = f"tc qdisc del dev s2-eth2 root\n{between}\ntc qdisc show dev s2-eth2\n"
    assert looked("s2-eth2.loss", work) is counts


def test_braces_of_a_stranger_take_no_time_by_the_square():
    """Regression: 10 kB made the grading process compute for 85 s."""
    work = f"h2 sysctl {'a' * 500}{{{'a' * 499}\n" * 260
    begun_s = time.process_time()
    looked("h2.rmem", work)
    assert time.process_time() - begun_s < 1.0
