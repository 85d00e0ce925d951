# SPDX-License-Identifier: BSD-3-Clause
"""The commands of a line: on which node each runs, what feeds it, where its output goes."""

import pytest

from linklab.guide.shell import LONGEST, ShellCommand, commands_in

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


def test_of_a_line_without_end_the_beginning_is_read():
    """Regression: 200,000 letters of "a;" took the guide a minute and a half."""
    found = commands_in("h1", "a;" * 200_000)
    assert found == [ShellCommand("h1", ("a",))] * (LONGEST // 2)
