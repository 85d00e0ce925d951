# SPDX-License-Identifier: BSD-3-Clause
"""Recorded terminals: logs as bash and the agent write them, and the work.sh that comes of them."""

import subprocess
import time

import pytest

from linklab.agent import recording
from linklab.exercise.terminals import RecordedLine, last_network, parse_log, work_script

LOG = """\
# network 1000.000000 t1
1.000000 t1 $ tc qdisc add dev h1-eth0 root netem delay 10ms
1.100000 t1 = 0
2.000000 t1 $ for n in a b; do
	echo $n
	done
# network 1000.000000 t4
2.500000 t4 $ iperf3 -s
3.000000 t1 = 7
"""


def commands(*texts, node="client", status=0):
    """Typed one after the other."""
    return [RecordedLine(node, "t1", float(number), text, status) for number, text in enumerate(texts)]


def lines(typed, shaped=()):
    """The commands of the script."""
    script, _ = work_script(typed, ["h1", "h2", "s1"], shaped)
    assert script.startswith("# What configured the network")
    return script.splitlines()[2:]


def test_a_log_gives_commands_with_time_and_status():
    """Several lines of one command, one that still runs, two terminals in one file."""
    (network,) = parse_log("h1", LOG).values()
    assert [(one.terminal, one.time_s, one.status) for one in network] == [
        ("t1", 1.0, 0),
        ("t1", 2.0, None),
        ("t4", 2.5, None),
    ]
    assert network[1].text == "for n in a b; do\necho $n\ndone"


def test_a_status_belongs_to_its_terminal():
    """Also where another terminal opened meanwhile."""
    log = "# network 5.0 t1\n1.0 t1 $ tc x\n1.1 t2 = 3\n1.2 t1 = 4\n1.3 t1 = 5\n"
    (network,) = parse_log("h1", log).values()
    assert [one.status for one in network] == [4]


def test_the_network_that_ran_last_counts():
    """In order of network time over all nodes; what an earlier network saw is not repeated."""
    old = "# network 900.0 t1\n50.0 t1 $ tc old\n"
    logs = {
        "h1": f"{old}# network 1000.0 t1\n2.0 t1 $ second\n",
        "client": "# network 1000.4 t2\n1.0 t2 $ first\n3.0 t2 $ third\n",
        "h2": old,
    }
    assert [one.text for one in last_network(logs)] == ["first", "second", "third"]
    assert last_network({}) == []
    assert last_network({"h1": "nonsense\n\tmore\n1.0 t1 = 0\n"}) == []


def test_a_log_of_thousands_of_networks_and_lines_is_read_in_no_time():
    """Regression: 20,000 networks took 84 s, and a command of 200,000 lines 7 s, by the square of their number."""
    heads = "".join(f"# network {number}.0 t1\n1.0 t1 $ ls\n" for number in range(20_000))
    begun_s = time.process_time()
    assert len(parse_log("h1", heads)) == 20_000
    ((command,),) = parse_log("h1", "# network 1.0 t1\n1.0 t1 $ cat\n" + "\tx\n" * 200_000).values()
    assert len(command.text) == 3 + 2 * 200_000
    assert time.process_time() - begun_s < 10


def test_networks_less_than_a_second_apart_are_one():
    """Also where the second between them begins."""
    log = "# network 5.9 t1\n1.0 t1 $ a\n# network 6.4 t2\n2.0 t2 $ b\n# network 6.95 t3\n3.0 t3 $ c\n"
    assert {zero_s: len(typed) for zero_s, typed in parse_log("h1", log).items()} == {5.9: 2, 6.95: 1}


def test_a_status_that_is_no_number_of_bash_is_none():
    """Regression: of more digits than Python takes, it broke the grader."""
    (network,) = parse_log("h1", f"# network 5.0 t1\n1.0 t1 $ a\n1.1 t1 = {'9' * 5000}\n").values()
    assert [one.status for one in network] == [None]


@pytest.mark.parametrize(
    "text",
    [
        "tc qdisc add dev s1-eth2 root netem loss 1%",
        "tc class change dev s1-eth2 classid 1:1 htb rate 1gbit",
        "sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "sysctl net.ipv4.tcp_rmem='10240 87380 52428800'",
        "ip link set h1-eth0 mtu 9000",
        "ifconfig h1-eth0 mtu 9000 up",
        "ethtool -K h1-eth0 tso off",
        "echo bbr > /proc/sys/net/ipv4/tcp_congestion_control",
        "echo bbr | tee /proc/sys/net/ipv4/tcp_congestion_control",
    ],
)
def test_what_configures_is_repeated(text):
    """In the Client's terminal as it was typed, with or without sudo."""
    assert lines(commands(text)) == [text]
    assert lines(commands(f"sudo {text}")) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "tc -s qdisc show dev s1-eth2",
        "sysctl net.ipv4.tcp_congestion_control",
        "ip addr",
        "ip route show",
        "ifconfig",
        "ifconfig h1-eth0",
        "ethtool -k h1-eth0",
        "ping 10.0.0.2",
        "iperf3 -c 10.0.0.2 -t 20",
        "cat /proc/sys/net/ipv4/tcp_rmem",
    ],
)
def test_what_only_looks_is_not(text):
    """Measurements and questions leave no trace."""
    assert lines(commands(text)) == []


def test_commands_of_hosts_get_their_name():
    """As one word each where the shell has nothing to do, else through bash."""
    typed = [
        *commands("sudo sysctl -w net.ipv4.tcp_congestion_control=bbr", node="h1"),
        *commands("sysctl -w net.ipv4.tcp_rmem='10240 87380 1000'", node="h2"),
        *commands("echo reno > /proc/sys/net/ipv4/tcp_congestion_control", node="h2"),
        *commands("h2 ifconfig h2-eth0 mtu 9000", "sh tc qdisc del dev s1-eth1 root", "py 1", node="mininet"),
    ]
    assert lines(typed) == [
        "h1 sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "h2 sysctl -w net.ipv4.tcp_rmem='10240 87380 1000'",
        "h2 bash -c 'echo reno > /proc/sys/net/ipv4/tcp_congestion_control'",
        "h2 ifconfig h2-eth0 mtu 9000",
        "tc qdisc del dev s1-eth1 root",
    ]


def test_what_failed_is_left_out():
    """What never worked must not stop the script; what is not known to have ended is kept."""
    assert lines(commands("tc qdisc add dev nope root netem", status=2)) == []
    assert lines(commands("tc qdisc add dev h1-eth0 root netem", status=None)) == [
        "tc qdisc add dev h1-eth0 root netem"
    ]


def test_what_set_env_undid_is_left_out():
    """Disciplines of the interfaces it shapes; other settings stay."""
    typed = commands(
        "tc qdisc change dev s1-eth2 root netem loss 0",
        "tc qdisc add dev s2-eth1 root netem loss 1%",
        "sysctl -w net.core.rmem_max=1",
        "sudo ./set_env.sh",
        "tc qdisc change dev s1-eth2 root netem loss 2%",
    )
    assert lines(typed, [("client", "s1-eth2")]) == [
        "tc qdisc add dev s2-eth1 root netem loss 1%",
        "sysctl -w net.core.rmem_max=1",
        "tc qdisc change dev s1-eth2 root netem loss 2%",
    ]


def test_a_variable_of_the_shell_is_told_of():
    """The script would not know its value; one that the command sets itself is known."""
    typed = commands(
        "tc qdisc add dev s1-eth2 root tbf rate $RATE burst 1mb limit 1mb",
        "for i in 1 2; do ip link set s$i-eth1 mtu 9000; done",
    )
    _, notes = work_script(typed, ["h1"])
    assert len(notes) == 1
    assert "uses $RATE, which work.sh does not know" in notes[0]


def test_bash_and_the_agent_write_the_same_form(tmp_path, monkeypatch):
    """A shell with the recording's rc on this machine, and a note as Mininet's CLI writes it, are read alike."""
    monkeypatch.setattr(recording, "RC_FILE", tmp_path / "rc")
    kept = recording.begin(tmp_path, "h1", "t1", 3.5)
    env = {"PATH": "/usr/bin:/bin", "LINKLAB_NODE": "h1", "HOME": str(tmp_path), "TERM": "dumb", **kept}
    typed = "tc qdisc add dev x root\nprintf 'a\nb'\nfalse\n"
    shell = ["bash", "--noprofile", "--rcfile", str(tmp_path / "rc"), "-i"]
    subprocess.run(shell, input=typed, env=env, capture_output=True, text=True, check=False, timeout=30)
    recording.note(kept, "$", "h1 true")
    ((_, network),) = parse_log("h1", (tmp_path / "terminals/h1.log").read_text()).items()
    assert [one.text for one in network] == ["tc qdisc add dev x root", "printf 'a\nb'", "false", "h1 true"]
    assert network[2].status == 1
    assert 3.5 <= network[0].time_s < network[3].time_s < 40


def test_a_folder_that_cannot_be_written_keeps_no_terminal_from_opening(tmp_path):
    """No log, no fault."""
    (tmp_path / "terminals").write_text("a file where the folder would be")
    assert recording.begin(tmp_path, "h1", "t1", 0.0) == {}
