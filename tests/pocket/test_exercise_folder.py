# SPDX-License-Identifier: BSD-3-Clause
"""A student's folder in real networks: set_env.sh, and what its terminals keep."""

import base64
import json
import shutil
import time

from pockets import TOPOLOGY, needs_pocket, type_

from linklab.base import installation
from linklab.engine.api import Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.exercise.instance import encode_environment
from linklab.exercise.terminals import last_network, work_script
from linklab.terminal import attach
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords
from linklab.topology import Topology

pytestmark = needs_pocket

LINES = [
    ("client", "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms", "Delay on s1-eth1: 20 ms"),
    ("client", "tc qdisc add dev s1-eth2 root handle 1: netem loss 1%", "Loss on s1-eth2: 1 %"),
    ("client", "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2500000", ""),
    ("h1", "sysctl -w net.ipv4.tcp_congestion_control=reno", "Congestion control of h1: reno"),
    ("h2", "sysctl -w net.ipv4.tcp_rmem='4096 16384 65536'", ""),
    ("h2", "ip link set dev h2-eth0 mtu 1300", ""),
    ("h2", "ip route add 192.168.7.0/24 via 10.0.0.1", ""),
]


def make_folder(path, lines=LINES):
    """A folder as `linklab exercise start` leaves it."""
    path.mkdir(exist_ok=True)
    instance = {"exercise": "problem1", "environment": encode_environment(lines)}
    (path / "instance.json").write_text(json.dumps(instance))
    shutil.copy(installation.ROOT / "linklab/exercise/set_env.sh", path / "set_env.sh")
    return path


def seen(network):
    """What the lines are about, as the kernel has it."""
    looks = [
        ("client", "tc qdisc show dev s1-eth1; tc qdisc show dev s1-eth2"),
        ("h1", "sysctl -n net.ipv4.tcp_congestion_control"),
        ("h2", "sysctl -n net.ipv4.tcp_rmem; cat /sys/class/net/h2-eth0/mtu; ip route"),
    ]
    return [type_(network, text, terminal).output for terminal, text in looks]


def test_set_env_sets_says_and_can_be_run_again(tmp_path):
    """Everything is set, what was planted is not named; run again after changes, the network is as it was."""
    folder = make_folder(tmp_path / "work")
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=folder) as network:
        done = type_(network, "sudo ./set_env.sh")
        first = seen(network)
        type_(network, "tc qdisc change dev s1-eth2 root handle 1: netem loss 0%")
        type_(network, "tc qdisc replace dev s1-eth1 root pfifo limit 3")
        type_(network, "sysctl -w net.ipv4.tcp_congestion_control=bbr", "h1")
        type_(network, "mkdir -p elsewhere && cd elsewhere")
        again = type_(network, "sudo ../set_env.sh")
        second = seen(network)
    assert done.output == (
        "Problem 1: setting the environment\n"
        "  Delay on s1-eth1: 20 ms\n  Loss on s1-eth2: 1 %\n  Congestion control of h1: reno\n"
        "The environment is set.\n"
    )
    assert again.output == done.output
    assert (done.exit_status, again.exit_status) == (0, 0)
    assert "tbf 2: parent 1: rate 1Gbit" in first[0]
    assert "netem 1: root refcnt" in first[0]
    assert first[1] == "reno\n"
    assert first[2].startswith("4096\t16384\t65536\n1300\n")
    assert "192.168.7.0/24" in first[2]
    assert second == first


def test_set_env_in_another_network_says_so(tmp_path):
    """A node or an interface that is missing, a planted line that fails: a sentence, and the plant stays unnamed."""
    folder = make_folder(tmp_path / "work")
    answers = []
    wrong = [
        [("h9", "true", "")],
        [("client", "tc qdisc add dev s7-eth1 root netem delay 1ms", "Delay on s7-eth1: 1 ms")],
        [("h1", "sysctl -w net.ipv4.tcp_no_such_thing=1", "")],
        [("client", "tc qdisc add dev s1-eth1 root netem delay nonsense", "Delay on s1-eth1: nonsense")],
    ]
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=folder) as network:
        for lines in wrong:
            make_folder(folder, lines)
            answers.append(type_(network, "sudo ./set_env.sh"))
    assert {answer.exit_status for answer in answers} == {1}
    assert "set_env.sh: node h9 is not running here: run the exercise's topology" in answers[0].output
    assert "set_env.sh: there is no interface s7-eth1 here" in answers[1].output
    assert "a part of the environment could not be set" in answers[2].output
    assert "client: tc qdisc add dev s1-eth1 root netem delay nonsense: Illegal" in answers[3].output


class Terminal:
    """Somebody at a live terminal of a network."""

    def __init__(self, number, node):
        self.connection = attach.connect(number)
        self.connection.send({"op": "open", "node": node, "rows": 30, "columns": 200, "term": "dumb"})
        self.shown, self.prompt = "", "mininet> " if node == "mininet" else f"root@{node}:~# "
        self.until(self.prompt)

    def until(self, text):
        """Read until it shows."""
        deadline = time.monotonic() + 20
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            for message in self.connection.receive(1):
                if message["event"] == "data":
                    self.shown += attach.data_of(message).decode()

    def enters(self, text):
        """Keys."""
        self.connection.send({"op": "input", "data": base64.b64encode(text.encode()).decode()})

    def types(self, *lines):
        """Lines, each when the one before has ended."""
        for line in lines:
            self.shown = ""
            self.enters(f"{line}\n")
            self.until(self.prompt)


def test_terminals_of_an_exercise_keep_what_is_typed(tmp_path, monkeypatch):
    """Commands with network time and status on nodes, client and CLI; their configuring part repeats as work.sh."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    folder = make_folder(tmp_path / "work")
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=folder, clock=Clock.PACED) as network:
        clock = lambda on_change: ClockWords(network, on_change)  # noqa: E731 - short
        with AttachServer(network.link, network.nodes, "Problem 1", clock, folder) as server:
            h1, cli = Terminal(server.id, "h1"), Terminal(server.id, "mininet")
            h1.types("sysctl -w net.ipv4.tcp_congestion_control=bbr", "tc qdisc show", "tc qdisc add dev nope root")
            h1.types("printf 'one\ntwo\n'")
            cli.types("h2 ifconfig h2-eth0 mtu 9000", "h2 echo three")
            Terminal(server.id, "client").types("sudo tc qdisc add dev s1-eth2 root netem delay 5ms")
            now_s = network.clock_status()["now_s"]
            time.sleep(0.2)
    logs = {path.stem: path.read_text() for path in (folder / "terminals").iterdir()}
    typed = last_network(logs)
    mine = [(one.text, one.status) for one in typed if one.node == "h1"]
    assert mine == [
        ("sysctl -w net.ipv4.tcp_congestion_control=bbr", 0),
        ("tc qdisc show", 0),
        ("tc qdisc add dev nope root", 1),
        ("printf 'one\ntwo\n'", 0),
    ]
    assert [one.text for one in typed if one.node == "mininet"] == ["h2 ifconfig h2-eth0 mtu 9000", "h2 echo three"]
    times = [one.time_s for one in typed]
    assert times == sorted(times)
    assert 0 < times[0] < times[-1] < now_s + 1
    script, notes = work_script(typed, ["h1", "h2"])
    assert notes == []
    assert script.splitlines()[2:] == [
        "h1 sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "h2 ifconfig h2-eth0 mtu 9000",
        "tc qdisc add dev s1-eth2 root netem delay 5ms",
    ]


def test_terminals_elsewhere_keep_nothing(tmp_path, monkeypatch):
    """A lab's folder stays as it was."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "work").mkdir()
    with PocketEngine().start(None, workdir=tmp_path / "work", clock=Clock.PACED) as network:
        with AttachServer(network.link, network.nodes, "no network", workdir=tmp_path / "work") as server:
            Terminal(server.id, "client").types("true")
        (done,) = network.run([Typed("client", "echo ${PS0-none}")])
    assert done.output == "none\n"
    assert list((tmp_path / "work").iterdir()) == []
