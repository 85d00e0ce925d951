# SPDX-License-Identifier: BSD-3-Clause
"""The commands of a line: on which node each runs, what feeds it, where its output goes."""

import pytest

from linklab.guide.evidence import TypedEvidence
from linklab.guide.retyped import is_aside
from linklab.guide.shell import LONGEST, ShellCommand, commands_in, unwrapped

NODES = ("h1", "h2", "s1")


@pytest.mark.parametrize(
    ("terminal", "text", "commands"),
    [
        ("h1#2", "sudo -u nobody A=1 /sbin/tc qdisc", [ShellCommand("h1", ("tc", "qdisc"))]),
        ("mininet", "h2 ping -c 1 10.0.0.1", [ShellCommand("h2", ("ping", "-c", "1", "10.0.0.1"))]),
        ("mininet", "sh h1 true", [ShellCommand("client", ("h1", "true"))]),
        ("client", "h1 sh", [ShellCommand("h1", ("sh",))]),
        ("h1", "h2 true", [ShellCommand("h1", ("h2", "true"))]),
        (
            "h1",
            "iperf3 -J -c h2 2>errors >out && jq . out | wc -l",
            [
                ShellCommand("h1", ("iperf3", "-J", "-c", "h2"), to=("out",)),
                ShellCommand("h1", ("wc", "-l"), fed=(("jq", ".", "out"),)),
            ],
        ),
        (
            "h1",
            "for i in 1 2; do true; done",
            [ShellCommand("h1", ("for", "i", "in", "1", "2", ";", "do", "true", ";", "done"))],
        ),
        ("h1", "echo 'open", [ShellCommand("h1", ("echo", "'open"))]),
        ("h1", "true # false; true", [ShellCommand("h1", ("true",))]),
        ("h1", " ;; & |", []),
    ],
)
def test_a_line_is_its_commands(terminal, text, commands):
    """As the shell would run them, without the words of a substitution."""
    assert commands_in(terminal, text, NODES) == commands


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("ping h2 || iperf3 -s", ["ping"]),
        ("true || ping h2 && iperf3 -s; tc qdisc", ["true", "tc"]),
        ("mkdir reno && cd reno", ["mkdir", "cd"]),
        ("false && ping h2; true", ["false", "true"]),
        ("false && iperf3 -s &", ["false"]),
        ("cd reno && iperf3 -s;", ["cd", "iperf3"]),
        ("iperf3 -s &", ["iperf3"]),
        ("false || true | tee a; ping h2", ["false", "ping"]),
        ("false && ./set_env.sh || true", ["false"]),
        ("true || { :; ./set_env.sh; }", []),
        ("true; if false; then :; ./set_env.sh; fi", ["true"]),
        ("f() { :; ./set_env.sh; }", []),
        ("ss -tin | awk '{print $1}' >new && jq '(.a)' new", ["awk", "jq"]),
    ],
)
def test_what_a_line_may_have_left_out_is_not_surely_run(text, programs):
    """Regression: "true || ./set_env.sh" did a third of Lab 3."""
    assert [each.program for each in commands_in("h1", text, surely_run=True)] == programs


def test_of_a_line_without_end_the_beginning_is_read():
    """Regression: 200,000 letters of "a;" took the guide a minute and a half."""
    found = commands_in("h1", "a;" * 200_000)
    assert found == [ShellCommand("h1", ("a",))] * (LONGEST // 2)


def test_behind_many_programs_that_run_another_nobody_looks():
    """Regression: each costs a copy of the line, so that one of 16,384 letters took 0.6 s."""
    assert unwrapped(["env"] * 16 + ["ls"]) == ("ls",)
    assert unwrapped(["env"] * 20 + ["ls"]) == ("env", "env", "env", "env", "ls")


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("clear", True),
        ("linklab step 3", True),
        ("clear && tc qdisc del dev h1-eth0 root", False),
        ("reset ; ls", False),
    ],
)
def test_only_a_line_that_does_nothing_else_is_an_aside(text, aside):
    """Regression: what stood behind "clear" was not shown to the instructor."""
    assert is_aside(TypedEvidence("h1", text, 1.0, 2.0, "", 0)) is aside
