# SPDX-License-Identifier: BSD-3-Clause
"""What a student meets at the terminals: set_env.sh in the folder, undoing, sudo, a name with a space, the clock."""

import argparse
import json
import re
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from linklab import cli
from linklab.agent import fresh, live_rc
from linklab.agent.live_rc import RC
from linklab.base import lab_script
from linklab.commands import plot, shell
from linklab.manual.hints import begin_hint, clock_hint, folder_hint
from linklab.manual.parse import parse_manual
from linklab.measure.qdisc import QueueSamples, measure_samples
from linklab.terminal.clock import ClockWords

SHIMS = Path(fresh.__file__).parent / "shims"


# --- the script in the folder


@pytest.fixture
def root(tmp_path):
    """An installation with two labs."""
    for number, name in ((4, "netem"), (5, "token-bucket-filter")):
        folder = tmp_path / f"root/labs/{number:02d}-{name}"
        folder.mkdir(parents=True)
        (folder / "set_env.sh").write_text(f"#!/bin/sh\n{lab_script.OURS}\necho {number}\n")
    return tmp_path / "root"


def test_the_script_of_a_lab_is_left_in_the_working_folder(root, tmp_path):
    """By the name of the topology, executable, and in the place of another lab's script."""
    (tmp_path / "set_env.sh").write_text(f"#!/bin/sh\n{lab_script.OURS}\necho 4\n")
    assert lab_script.leave(Path("/x/Lab 5.mn"), tmp_path, root) == tmp_path / "set_env.sh"
    assert (tmp_path / "set_env.sh").read_text().endswith("echo 5\n")
    assert (tmp_path / "set_env.sh").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["mine.mn", "Lab 6.mn", "Lab 5 mine.mn"])
def test_another_topology_leaves_no_script(root, tmp_path, name):
    """One that no lab is known by."""
    assert lab_script.leave(Path(name), tmp_path, root) is None
    assert lab_script.leave(None, tmp_path, root) is None
    assert not (tmp_path / "set_env.sh").exists()


@pytest.mark.parametrize(
    ("text", "edited"), [("mine\n", False), (f"#!/bin/sh\n{lab_script.OURS}\necho 5\necho mine\n", True)]
)
def test_a_script_of_the_person_stays(root, tmp_path, text, edited):
    """Of an exercise, or edited; regression: an edited script was overwritten."""
    (tmp_path / "set_env.sh").write_text(text)
    assert lab_script.leave(Path("Lab 5.mn"), tmp_path, root) is None
    assert (tmp_path / "set_env.sh").read_text() == text
    assert lab_script.is_edited(Path("Lab 5.mn"), tmp_path, root) is edited


def test_a_file_that_is_too_large_for_a_script_is_not_read(root, tmp_path):
    """In a folder that a stranger wrote it may have gigabytes; it stays."""
    (tmp_path / "set_env.sh").open("wb").truncate(2**33)
    assert lab_script.leave(Path("Lab 5.mn"), tmp_path, root) is None
    assert (tmp_path / "set_env.sh").stat().st_size == 2**33


def test_an_edited_script_is_said_when_the_network_opens(tmp_path, monkeypatch):
    """So that nobody waits for what a newer one would do."""
    monkeypatch.chdir(tmp_path)
    args = argparse.Namespace(file=Path("Lab 5.mn"), guide=False)
    script = lab_script.leave(args.file, tmp_path)
    assert "set_env.sh was edited" not in shell._welcome(args, shell.Clock.PACED, "1", script)
    with (tmp_path / "set_env.sh").open("a") as file:
        file.write("echo mine\n")
    said = shell._welcome(args, shell.Clock.PACED, "1", lab_script.leave(args.file, tmp_path))
    assert "set_env.sh was edited, or is of another version, so it stays; delete it to get a new one next time." in said


def test_the_script_of_a_lab_that_runs_here_stays(tmp_path, monkeypatch, capsys):
    """Regression: a second `linklab shell` in one folder gave the first network the second lab's settings."""
    monkeypatch.chdir(tmp_path)
    first = lab_script.leave(Path("Lab 5.mn"), tmp_path)
    text = first.read_text()
    monkeypatch.setattr(shell, "running_in", lambda folder: {"name": "Lab 5"} if folder == tmp_path else None)
    assert shell._leave_script(Path("Lab 14.mn")) is None
    assert first.read_text() == text
    assert "Lab 5 runs in this folder, so set_env.sh here stays that lab's" in capsys.readouterr().err
    assert not lab_script.is_edited(Path("Lab 14.mn"), tmp_path)
    assert shell._leave_script(Path("Lab 5.mn")) == first
    assert shell._leave_script(Path("mine.mn")) is None
    assert capsys.readouterr().err == ""


def test_a_folder_of_that_name_stays(root, tmp_path):
    """Regression: `linklab shell 5` ended with IsADirectoryError."""
    (tmp_path / "set_env.sh").mkdir()
    assert lab_script.leave(Path("Lab 5.mn"), tmp_path, root) is None
    assert not lab_script.is_edited(Path("Lab 5.mn"), tmp_path, root)


def test_the_script_as_generated_is_not_edited(root, tmp_path):
    """It was left by us."""
    lab_script.leave(Path("Lab 5.mn"), tmp_path, root)
    assert not lab_script.is_edited(Path("Lab 5.mn"), tmp_path, root)


# --- undoing

PLAIN = {"kind": "noqueue", "handle": "0:", "parent": "root", "options": {}}
NETEM = {"kind": "netem", "handle": "8001:", "parent": "root", "options": {"delay": 1}}
INGRESS = {"kind": "ingress", "handle": "ffff:", "parent": "ffff:fff1", "options": {}}
PORT = {
    "qdiscs": [PLAIN],
    "classes": [],
    "filters": [],
    "mtu": 1500,
    "txqlen": 1000,
    "gso_max_size": 65536,
    "gso_max_segs": 65535,
    "up": True,
    "features": {"a": True},
}


def network(port, sysctls=None, parameters=None):
    """A network of one host with one port."""
    return {
        "nodes": {"h1": {"interfaces": {"h1-eth0": port}, "sysctls": sysctls or {}}},
        "parameters": parameters or {},
    }


@pytest.mark.parametrize(
    ("now", "argv"),
    [
        ({"qdiscs": [NETEM]}, ["tc qdisc del dev h1-eth0 root"]),
        ({"qdiscs": [PLAIN, INGRESS]}, ["tc qdisc del dev h1-eth0 ingress"]),
        ({"qdiscs": [NETEM, INGRESS]}, ["tc qdisc del dev h1-eth0 ingress", "tc qdisc del dev h1-eth0 root"]),
        ({"qdiscs": [PLAIN, {**INGRESS, "kind": "clsact"}]}, ["tc qdisc del dev h1-eth0 clsact"]),
        ({"mtu": 9000}, ["ip link set dev h1-eth0 mtu 1500"]),
        ({"txqlen": 1}, ["ip link set dev h1-eth0 txqueuelen 1000"]),
        ({"gso_max_size": 19000}, ["ip link set dev h1-eth0 gso_max_size 65536"]),
        ({"gso_max_segs": 1}, ["ip link set dev h1-eth0 gso_max_segs 65535"]),
        ({"up": False}, ["ip link set dev h1-eth0 up"]),
        ({"features": {"a": False}}, ["ethtool -K h1-eth0 a on"]),
        ({}, []),
    ],
)
def test_each_change_of_a_port_is_undone(now, argv):
    """By the command that a person would type."""
    found, left = fresh.changes(network(PORT), network({**PORT, **now}))
    assert ([" ".join(change.argv) for change in found], left) == (argv, [])


def test_sysctls_and_parameters_are_undone():
    """Those that differ, and no others."""
    was = network(PORT, {"net.ipv4.tcp_rmem": "1 2 3", "net.ipv4.tcp_sack": "1"}, {"/sys/module/m/parameters/p": "4"})
    now = network(PORT, {"net.ipv4.tcp_rmem": "4 5 6", "net.ipv4.tcp_sack": "1"}, {"/sys/module/m/parameters/p": "5"})
    found, _ = fresh.changes(was, now)
    assert [change.argv[-2:] for change in found] == [
        ["-qw", "net.ipv4.tcp_rmem=1 2 3"],
        ["4", "/sys/module/m/parameters/p"],
    ]


def test_what_the_drawing_shaped_is_left_and_said():
    """It was made with the network, and no command is known that makes it again."""
    found, left = fresh.changes(network({**PORT, "qdiscs": [NETEM]}), network(PORT))
    assert found == []
    assert left == [
        "h1-eth0 had queueing disciplines when the network was started, and they were changed since: "
        "end the network and start it again to have them back"
    ]


@pytest.mark.parametrize(
    ("nodes", "gone"),
    [({}, "node h1"), ({"h1": {"interfaces": {}, "sysctls": {}}}, "h1-eth0")],
)
def test_what_is_gone_is_said(nodes, gone):
    """Regression: after `ip link del h1-eth0` the script said that the section can begin."""
    found, left = fresh.changes(network(PORT), {"nodes": nodes, "parameters": {}})
    assert (found, left) == ([], [f"{gone} is gone: end the network and start it again"])


@pytest.fixture
def undoing(tmp_path, monkeypatch):
    """`fresh.main` after that record of a network whose h1-eth0 has an MTU of 9000 now, and the commands it ran."""
    ran = []
    monkeypatch.setenv("LINKLAB_RC", str(tmp_path / "bashrc"))
    monkeypatch.setattr(fresh, "nodes", lambda: {"h1": 42})
    monkeypatch.setattr(fresh, "_now", lambda: {"nodes": network({**PORT, "mtu": 9000})["nodes"]})
    monkeypatch.setattr(fresh, "_parameters", dict)

    def main(record, status=0):
        def run(argv, **_):
            ran.append(" ".join(argv))
            return subprocess.CompletedProcess(argv, status, "", "not\n now\n")

        monkeypatch.setattr(fresh.subprocess, "run", run)
        if record is not None:
            (tmp_path / fresh.NAME).write_text(record)
        return fresh.main(), ran

    return main


def test_undoing_says_what_was_undone_where(undoing, capsys):
    """In the node's namespace."""
    assert undoing(json.dumps(network(PORT))) == (0, ["mnexec -a 42 ip link set dev h1-eth0 mtu 1500"])
    assert capsys.readouterr() == ("h1: undone: mtu of h1-eth0\n", "")


def test_undoing_that_fails_is_named(undoing, capsys):
    """With what the command said, on one line."""
    assert undoing(json.dumps(network(PORT)), status=2)[0] == 1
    assert capsys.readouterr() == ("", "set_env.sh: h1: mtu of h1-eth0 could not be undone: not now\n")


@pytest.mark.parametrize("record", ["{", "{}", "[]", '{"nodes": {"h1": 1}, "parameters": {}}'])
def test_a_broken_record_is_said_and_is_no_missing_one(undoing, capsys, record):
    """Regression: a traceback, after which the script went on as if all were undone."""
    assert undoing(record) == (1, [])
    assert re.fullmatch(
        r"set_env\.sh: \S+/fresh\.json, what the network was like when it was started, cannot be read: "
        r".+; end the network and start it again\n",
        capsys.readouterr().err,
    )


def test_without_a_record_nothing_is_undone(undoing):
    """The script has commands of its own for that."""
    assert undoing(None) == (fresh.NO_RECORD, [])


# --- sudo, mkdir, a name with a space


def sudo(*words, typed=""):
    """What the shim does outside of a pocket; `typed` is what a shell reads."""
    return subprocess.run([str(SHIMS / "sudo"), *words], input=typed, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("words", [["-h"], ["--help"]])
def test_sudo_tells_its_options(words):
    """Regression: -h was taken for -h HOST, and sudo then ran a shell."""
    assert sudo(*words).stdout.startswith("usage: sudo [-u USER] [-s | -i]")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["-s", "echo", "a  b"], "a  b\n"),
        (["-E", "echo", "-s"], "-s\n"),
        (["-h", "host", "echo", "1"], "1\n"),
        (["X=1", "sh", "-c", "echo $X"], "1\n"),
    ],
)
def test_sudo_runs_commands(words, output):
    """Its own options come before the command; those of the command are the command's."""
    assert sudo(*words).stdout == output


@pytest.mark.parametrize("words", [["-s"], ["-Hs"], ["-sE"], ["-EHs"], ["-Hsuroot"], ["-nsu", "root"], ["--shell"]])
def test_sudo_opens_a_shell(words):
    """Regression: of -Hs, or any cluster with an s, it printed its usage."""
    assert sudo(*words, typed="echo $((1 + 1)) $BASH\n").stdout == "2 /bin/bash\n"


@pytest.mark.parametrize("words", [["-v"], ["-v", "-n"], ["-nv"], ["-k"], ["-K"], ["-n", "--validate"]])
def test_sudo_without_a_command_may_be_about_passwords(words):
    """Regression: -v -n was answered with the usage; there are no passwords, so nothing is to be done."""
    done = sudo(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["-g", "users", "echo", "1"], "1\n"),
        (["-gusers", "echo", "1"], "1\n"),
        (["-Eg", "users", "echo", "1"], "1\n"),
        (["--group", "users", "echo", "1"], "1\n"),
        (["--prompt=x", "-n", "echo", "1"], "1\n"),
        (["-k", "echo", "1"], "1\n"),
        (["-uroot", "--", "echo", "-n"], ""),
        (["-Hnl"], "root may run the following commands: (ALL : ALL) ALL\n"),
    ],
)
def test_sudo_reads_its_options_letter_by_letter(words, output):
    """An argument is the rest of the word, or the next one."""
    done = sudo(*words)
    assert (done.returncode, done.stdout) == (0, output)


def test_sudo_without_a_command_says_how_it_is_used():
    """As the real one; an option without its argument is named."""
    assert (sudo().returncode, sudo().stderr.startswith("usage: sudo")) == (1, True)
    assert sudo("-u").stderr == "sudo: option -u needs an argument; sudo -h lists the options\n"
    assert sudo("-Hg").stderr == "sudo: option -g needs an argument; sudo -h lists the options\n"


def test_a_folder_that_is_there_has_an_answer(tmp_path):
    """`mkdir X && cd X` of a section that is done again."""
    (tmp_path / "X").mkdir()
    done = subprocess.run(
        ["bash", "-c", f"{RC}\nmkdir X && cd X\nmkdir Y && cd Y && pwd\nmkdir"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        "X already exists, perhaps from an earlier try: use it with cd X, or delete it with rm -r X.\n" in done.stderr
    )
    assert done.stdout == f"{tmp_path}/Y\n"


def test_a_terminal_opens_without_its_file(tmp_path, monkeypatch):
    """Regression: where /run/linklab was full or read-only, no terminal opened."""
    monkeypatch.setattr(live_rc, "FOLDER", tmp_path / "folder")
    assert live_rc.options() == ["--rcfile", live_rc.seen_by_nodes(tmp_path / "folder/live.bashrc")]
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(live_rc, "FOLDER", tmp_path / "file")
    assert live_rc.options() == []


def test_a_path_that_the_shell_split_at_its_space_is_named(tmp_path, monkeypatch, capsys):
    """Regression: `linklab shell topologies/Lab 5.mn` said "unrecognized arguments: 5.mn"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my net.mn").write_text("{}")
    assert cli.main(["shell", "--speed", "2", "my", "net.mn"]) == 2
    assert (
        capsys.readouterr().err
        == 'linklab: "my net.mn" has a space in it, so write it in quotes: linklab shell "my net.mn"\n'
    )


# --- the clock


class Clock:
    """A clock on its way to 20 s, which it reaches, or on which it is paused before."""

    def __init__(self, *states):
        self.states = list(states)
        self.on_reached = None

    def clock_status(self):
        """The next state; the last stays."""
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def until(self, time_s):
        """Under way."""
        return self.clock_status()


def at(now_s, until=None, *, paused=False):
    """A state of the clock."""
    return {"now_s": now_s, "speed": 1.0, "paused": paused, "behind_s": 0.0, "until_ns": until}


def test_clock_until_tells_the_time_that_was_reached(monkeypatch):
    """Once it is there; regression: it said that it was on the way, and nothing later."""
    monkeypatch.setattr("linklab.terminal.clock.LOOK_S", 0.001)
    words = ClockWords(Clock(at(5), at(5, 1), at(9, 1), at(20.004)), lambda _: None)
    assert words.obey(["until", "20s"], wait=True) == ("20s is reached: network time 20.004 s, 1x", 0)
    words = ClockWords(Clock(at(5), at(5, 1), at(9, paused=True)), lambda _: None)
    assert words.obey(["until", "20s"], wait=True) == ("stopped before 20s: network time 9.000 s, paused", 0)


def test_a_prompt_that_must_go_on_does_not_wait():
    """The one of Ctrl+], whose thread also takes what is typed."""
    words = ClockWords(Clock(at(5), at(5, 1)), lambda _: None)
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(words.obey(["until", "20s"])[0]), daemon=True)
    thread.start()
    thread.join(5)
    assert said == ["network time 5.000 s, on the way to a time asked for"]


# --- the average of a queue


def test_the_average_says_how_much_of_it_is_idle():
    """A queue that was empty half of the time."""
    samples = QueueSamples("q")
    samples.header = {"interface": "s1-eth2", "node": "", "tc": []}
    samples.time_s = list(np.arange(4.0))
    samples.qdiscs = [[{"kind": "tbf", "handle": "1:", "backlog": backlog}] for backlog in (0, 100, 300, 0)]
    assert plot._idle(measure_samples(samples)) == (
        "the average counts the readings with an empty queue, 50% of all; without them the average is 200"
    )
    samples.qdiscs = [[{"kind": "tbf", "handle": "1:", "backlog": 7}]] * 4
    assert plot._idle(measure_samples(samples)) == ""


# --- what the manuals say of it

MANUAL = """\
## First
```client setup
sudo tc qdisc add dev s1-eth1 root netem delay 20ms
```
## Second
### Part
```h1 id=folder
mkdir A && cd A
```
```h1 id=one together=x
iperf3 -c 10.0.0.2 -t 60
```
```h2 id=two together=x
iperf3 -c 10.0.0.2 -t 60
```
## Third
Words.
"""


def manual(text=MANUAL):
    """Parsed."""
    return parse_manual(text, Path("manual.md"))


def test_the_clock_is_introduced_where_it_is_first_needed():
    """At steps that are typed together, or that take long, with the words for that alone."""
    html, where = clock_hint(manual())
    assert (where, "clock pause" in html, "clock speed 8" in html) == ("one", True, True)
    html, where = clock_hint(manual(MANUAL.replace(" together=x", "")))
    assert (where, "clock pause" in html, "clock speed 8" in html) == ("one", False, True)
    html, where = clock_hint(manual(MANUAL.replace("-t 60", "-t 10")))
    assert (where, "clock pause" in html, "clock speed 8" in html) == ("one", True, False)
    assert clock_hint(manual(MANUAL.replace("-t 60", "-t 10").replace(" together=x", ""))) == ("", "")
    named = "## A\n\n```h1 id=test\nflent tcp_nup -H 10.0.0.2 -l 60 -t fifo\n```\n"
    assert clock_hint(manual(named))[1] == "test"
    assert clock_hint(manual(named.replace("-l 60", "-l 6"))) == ("", "")


def test_a_section_says_how_to_begin_there():
    """Each main section with steps but the first; also before anything is set, since one may come back from later."""
    fresh = manual(MANUAL.replace("## First", "## Zeroth\n\n```h1\nls\n```\n\n## First", 1))
    assert "<code>sudo ~/set_env.sh 2</code>" in begin_hint(fresh, fresh.sections[1]), "nothing is set before it"
    assert begin_hint(fresh, fresh.sections[0]) == ""
    bare = manual(MANUAL.replace(" setup", ""))
    assert begin_hint(bare, bare.sections[1]) == "", "this lab sets nothing"
    first, second, part, third = manual().sections
    assert "<code>sudo ~/set_env.sh 2</code> in any terminal of the network." in begin_hint(manual(), second)
    assert "It undoes your changes to queues, offloads, MTU, and sysctls, and" in begin_hint(manual(), second)
    assert "Where the lab is graded, a setting that it makes for you earns no point." in begin_hint(manual(), second)
    assert [begin_hint(manual(), section) for section in (first, part, third)] == ["", "", ""]


def test_the_first_folder_that_is_made_says_what_to_do_when_it_is_there():
    """Once in a manual."""
    steps = manual().steps
    assert ["cd A" in folder_hint(steps, step) for step in steps] == [False, True, False, False]
