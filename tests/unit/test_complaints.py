# SPDX-License-Identifier: BSD-3-Clause
"""What the guide quotes of docs/when-tc-complains.md for a command that was refused, and where that is seen."""

import re

import pytest

from linklab.guide.complaints import PAGE, complaint_of
from linklab.guide.evidence import TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.listing import listing
from linklab.lab.model import find_lab, load_lab

TYPED = re.compile(r"(client|h1)\$ (.*)")


def refused(text, output, terminal="client"):
    """A line that ended with status 2."""
    return TypedEvidence(terminal, text, 1.0, 2.0, output, 2)


def first_line(complaint):
    """The first line of what is quoted."""
    return complaint.text.splitlines()[0] if complaint else ""


@pytest.mark.parametrize(
    ("text", "output", "message", "quoted"),
    [
        (
            "sudo tc qdisc add dev s7-eth3 root netem delay 5ms",
            "Error: Exclusivity flag on, cannot modify.\n",
            "Error: Exclusivity flag on, cannot modify.",
            "`add` needs an empty place, and a discipline is already set here.",
        ),
        (
            "tc qdisc add dev x9 root fq",
            'Cannot find device "x9"\n',
            'Cannot find device "x9"',
            "There is no such interface",
        ),
        ("ip link set x9 up", 'Cannot find device "x9"\n', 'Cannot find device "x9"', "There is no such interface"),
        (
            "sudo tc qdisc add dev s1-eth2 root tbf burst 5 limit 25",
            'tbf: the "rate" parameter is mandatory.\nUsage: ... tbf limit BYTES\n\t[ mtu BYTES ]\n',
            'tbf: the "rate" parameter is mandatory.',
            "`tbf` needs `rate`, `burst`, and `limit`",
        ),
        (
            "sudo tc qdisc add dev s1-eth2 root red limit 26 min 2 avpkt 10 burst 7",
            "RED: WARNING. Burst 7 seems to be too large.\nRTNETLINK answers: Invalid argument\n",
            "RED: WARNING. Burst 7 seems to be too large.",
            "From `burst`, in packets",
        ),
        (
            "sudo tc qdisc add dev s1-eth2 root netem delay 20ms 5ms distribution norml",
            "No distribution data for norml (/usr/lib/tc//norml.dist: No such file or directory)\n",
            "No distribution data for norml (/usr/lib/tc//norml.dist: No such file or directory)",
            "`tc` looks for a file with the name of the distribution",
        ),
        (
            "sudo tc qdisc add dev s1-eth2 root sfq divisor 5",
            "RTNETLINK answers: Invalid argument",
            "RTNETLINK answers: Invalid argument",
            "The command is well formed",
        ),
        (
            "sudo tc class add dev s1-eth2 parent 1: classid 1:7 htb rate 1mbit",
            "RTNETLINK answers: File exists",
            "RTNETLINK answers: File exists",
            "A class with this number exists already.",
        ),
        (
            "ip route add 10.0.0.0/8 dev h2-eth0",
            "RTNETLINK answers: File exists",
            "RTNETLINK answers: File exists",
            "There is a route to this network already",
        ),
        (
            "sysctl -w net.ipv4.tcp_congestion_control=bbrr",
            'sysctl: setting key "net.ipv4.tcp_congestion_control": No such file or directory',
            'sysctl: setting key "net.ipv4.tcp_congestion_control": No such file or directory',
            "The kernel has no congestion control of this name",
        ),
        (
            "tc qdisc add dev s1-eth2 root netem loss much",
            "Unknown loss parameter: much",
            "Unknown loss parameter: much",
            "After `loss` comes a share",
        ),
    ],
)
def test_a_refused_command_is_explained(text, output, message, quoted):
    """By the entry of its message, whatever names and numbers it has, and of its own program."""
    found = complaint_of(refused(text, output))
    assert found is not None
    assert found.message == message
    assert found.text.startswith(quoted)


def entries():
    """Heading → what its own examples printed below which command, without what stands for other lines."""
    for part in re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        printed, command = [], ""
        for line in "\n".join(re.findall(r"^```text\n(.*?)\n```", part, re.M | re.S)).splitlines():
            if typed := TYPED.fullmatch(line):
                command = typed[2]
            elif line != "…":
                printed.append((command, line))
        yield part.partition("\n")[0], part, printed


@pytest.mark.parametrize(("heading", "part", "printed"), [each for each in entries() if each[0].startswith("`")])
def test_every_entry_is_found_by_its_own_message(heading, part, printed):
    """And no other entry takes it away."""
    command = next(command for command, line in printed if f"`{line}`" == heading)
    found = complaint_of(refused(command, heading.strip("`")))
    assert found is not None
    assert found.text in part


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("tc qdisc add dev s1-eth2 root fq", "Something that nobody has written about"),
        ("cp x y", "Error: Exclusivity flag on, cannot modify."),
        ("", ""),
    ],
)
def test_what_the_page_does_not_explain_is_not_guessed(text, output):
    """Nor is the message of a program taken for another's."""
    assert complaint_of(refused(text, output)) is None


def test_without_the_page_nothing_is_quoted(tmp_path):
    """As in a wheel, which has no docs/."""
    line = refused("tc qdisc add dev x root fq", 'Cannot find device "x"')
    assert complaint_of(line, page=tmp_path / "no.md") is None


def test_the_step_says_what_the_message_means():
    """In its state, for the page; in the listing of `linklab step` and of the editor, below what was refused."""
    lab = load_lab(find_lab("14"))
    guide = Guide(lab)
    usage = 'tbf: the "rate" parameter is mandatory.\nUsage: ... tbf limit BYTES\n\t[ overhead BYTES ]\n'
    guide.see(TypedEvidence("client", "sudo tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms", 1, 2, "", 0))
    guide.see(TypedEvidence("client", "sudo tc qdisc add dev s1-eth2 parent 1: handle 2: tbf limit 2", 3, 4, usage, 1))
    wrong = next(state for state in guide.steps() if state.status.value == "wrong")
    assert wrong.story.endswith('was refused: tbf: the "rate" parameter is mandatory.')
    assert wrong.advice.startswith("`tbf` needs `rate`, `burst`, and `limit` in one command")
    told = "\n".join(listing([wrong.as_json()], [wrong.as_json()], None))
    assert "      What it means: `tbf` needs `rate`, `burst`, and `limit` in one command" in told
    guide.see(TypedEvidence("client", lab.manual.step(wrong.id).typed, 5, 6, "", 0))
    assert next(state for state in guide.steps() if state.id == wrong.id).advice == ""


def test_a_message_is_found_at_the_end_of_a_long_output():
    """Regression: a line of some million quotes was compared with each message in quadratic time."""
    said = 'Cannot find device "x9"'
    noise = 'either "' + '" or "' * 100_000 + "\n"
    output = "more\n" * 5000 + noise + said + "\n"
    found = complaint_of(refused("tc qdisc add dev x9 root fq", output))
    assert found is not None
    assert found.message == said
    assert complaint_of(refused("tc qdisc add dev x9 root fq", noise)) is None
