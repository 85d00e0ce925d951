# SPDX-License-Identifier: BSD-3-Clause
"""What the guide tells somebody whose work is not as printed: the right step, the right reason, and what helps."""

import pytest
from test_guide import DIFFERENTLY, DONE, OPEN, WRONG, Student

from linklab.guide.listing import listing

NSTAT = "nstat -z TcpExtTCPTimeouts TcpExtTCPLostRetransmit"
JUMBO = "iperf3 -c 10.0.0.2 -M 9000"


def counted(timeouts, lost=90.0):
    """What nstat shows."""
    return {"nstat.TcpExtTCPTimeouts": (timeouts, ""), "nstat.TcpExtTCPLostRetransmit": (lost, "")}


def received(gbps):
    """What iperf3 shows."""
    return {"iperf3.throughput.receiver": (gbps * 1e9, "bit/s"), "iperf3.retransmits": (1400.0, "")}


def test_what_is_typed_after_a_test_belongs_to_that_test():
    """Regression: once tcpdump had been ended early, nstat was the last such step's, and the one before it was wrong.

    Both steps have the same line; the one is meant that follows on what ran there last.
    """
    student = Student("13")
    student.until("nstat-jumbo")
    student.types("client", "kill %1")
    student.does("step-31")
    student.types("h2", "iperf3 -s -D")
    student.types("h1", "nstat -n")
    student.types("h1", JUMBO, scalars=received(9.33))
    for terminal, between in (
        ("h1", "ifconfig"),
        ("h1", "ping -c 1 10.0.0.2"),
        ("h1#2", "ping -M do -s 8972 10.0.0.2"),
    ):
        student.types(terminal, between, status=130, scalars={"ping.received": (3.0, "packets")})
    student.types("h1", NSTAT, scalars=counted(3.0))
    assert [student.status(one) for one in ("timeouts-jumbo", "timeouts-small")] == [DONE, OPEN]
    student.types("h1", "iperf3 -c 10.0.0.2 -M 1460", scalars=received(7.0))
    student.types("h1", NSTAT, scalars=counted(13.0, 603.0))
    assert [student.status(one) for one in ("jumbo", "timeouts-jumbo", "timeouts-small")] == [DONE, DONE, DONE]


def test_what_follows_on_a_joined_line_belongs_to_its_test():
    """The same where the test was typed behind &&, as the guide advises."""
    student = Student("13")
    student.until("nstat-jumbo")
    student.types("client", "kill %1")
    student.does("step-31")
    student.types("h2", "iperf3 -s -D")
    student.types("h1", f"nstat -n && {JUMBO}", scalars=received(9.33))
    student.types("h1", NSTAT, scalars=counted(3.0))
    assert [student.status(one) for one in ("jumbo", "timeouts-jumbo", "timeouts-small")] == [DIFFERENTLY, DONE, OPEN]


def test_lines_at_mininets_prompt_work_on_their_nodes():
    """Regression: who works there was told to open terminals on them."""
    student = Student("3")
    student.does("step-1")
    student.types("mininet", "h1 ping -c 3 10.0.0.2", status=None)
    assert student.status("step-2") is OPEN
    student.types("mininet", "h2 ifconfig", status=None)
    assert student.status("step-2") is DONE


def test_a_line_that_measures_twice_is_told_so_at_once():
    """Regression: with “;” it was told to put && between, and with && that it measures twice."""
    student = Student("13")
    student.until("nstat-jumbo")
    student.types("h2", "iperf3 -s -D")
    student.types("h1", f"nstat -n; {JUMBO}; {NSTAT}", scalars=received(9.3) | counted(4.0))
    assert student.state("nstat-jumbo").story.endswith(
        "tell whether this command succeeded: type it on a line of its own"
    )
    for one in ("jumbo", "timeouts-jumbo"):
        assert student.state(one).story.endswith(
            "measures twice, which cannot be told apart: type each on a line of its own"
        )


@pytest.mark.parametrize("typed", ["ip link", "ip -br l", "ip link show"])
def test_ip_link_shows_the_mtu(typed):
    """Where interfaces are listed for that; for their addresses it is no other way."""
    student = Student("13")
    student.until("mtu-client")
    student.types("client", typed)
    assert student.status("mtu-client") is DIFFERENTLY
    first = Student("1")
    first.until("hand-h1")
    first.types("h1", typed)
    assert first.status("hand-h1") is OPEN


def test_output_that_went_into_a_file_is_told_of():
    """Regression: tcpdump that had just begun had “not as expected” beside it, and the answer to a prediction."""
    student = Student("13")
    student.until("syn")
    student.types("client", "tcpdump -n -i s1-eth2 'tcp[tcpflags] & tcp-syn != 0' > syn.txt &")
    syn = student.state("syn")
    assert (syn.status, syn.why) == (WRONG, "")
    assert syn.story == (
        "The output went into syn.txt. This step looks at the terminal, so type the command without “>”."
    )


def test_a_ping_without_its_summary_says_what_is_missing():
    """Regression: “could not be measured” alone, with the explanation that answers a prediction below it."""
    student = Student("13")
    student.until("ping-hole")
    cut = "PING 10.0.0.2 (10.0.0.2) 8972(9000) bytes of data.\n"
    student.types("h1", "timeout 4 ping -M do -s 8972 10.0.0.2", cut, status=124)
    hole = student.state("ping-hole")
    assert (hole.status, hole.why) == (WRONG, "")
    assert hole.story == (
        "The share of pings without a reply could not be measured: ping was ended before it printed its summary, "
        "which it prints after Ctrl+C, or after -c COUNT pings."
    )


def test_the_last_hint_is_a_line_that_the_kernel_takes():
    """Regression: where 10 ms were set, it said to add 100 ms, which tc refuses beside a discipline that is there."""
    student = Student("3")
    student.until("delay-h1")
    student.types("h1", "sudo tc qdisc add dev h1-eth0 root netem delay 10ms")
    assert student.state("delay-h1").hints[-1] == (
        "In the terminal of h1: sudo tc qdisc replace dev h1-eth0 root netem delay 100ms\n"
        "(The manual says add, which the kernel refuses while a discipline is there; replace removes that one.)"
    )
    student.types("h1", "sudo tc qdisc replace dev h1-eth0 root netem delay 100ms")
    assert student.status("delay-h1") is DONE
    assert student.state("delay-h2").hints[-1].endswith("sudo tc qdisc add dev h2-eth0 root netem delay 100ms")
    student.types("h1", "sudo tc qdisc change dev h1-eth0 root netem delay 70ms")
    assert student.state("delay-h1").undone
    assert "sudo tc qdisc replace dev h1-eth0 root netem delay 100ms\n" in student.state("delay-h1").hints[-1]


def test_another_kind_goes_first_where_replace_would_be_refused():
    """With a handle of its own the kernel says "Invalid qdisc name: must match existing qdisc"."""
    student = Student("6")
    student.until("loss")
    student.types("client", "sudo tc qdisc add dev s1-eth2 root handle 1: pfifo limit 100")
    assert student.state("loss").hints[-1] == (
        "In the Client's terminal: sudo tc qdisc del dev s1-eth2 root\n"
        "sudo tc qdisc add dev s1-eth2 root handle 1: netem loss 0.01%"
    )


def test_a_measurement_in_a_script_is_told_of():
    """Of a script what it sets counts, and not what it measures; that was said nowhere."""
    student = Student("3")
    student.until("jitter")
    student.types("h1", "bash jitter.sh", scalars={"ping.rtt.mdev": (5e-3, "s")})
    student.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms 10ms")
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    assert student.state("jitter-five").left_out
    told = "What a script measures, such as “bash jitter.sh”, does not count: type this command into the terminal."
    assert student.state("jitter-five").story.endswith(f"has no netem delay 100ms 10ms. {told}")


@pytest.mark.parametrize("typed", ["cat many.txt", "for i in 1 2; do ping -c 2 10.0.0.2; done", "grep rtt many.txt"])
def test_what_is_no_script_is_called_none(typed):
    """Regression: a file that was looked at hid why a measurement no longer counts."""
    student = Student("3")
    student.until("jitter")
    student.types("h1", typed, scalars={"ping.rtt.mdev": (5e-3, "s")})
    student.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms 10ms")
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    assert "script" not in student.state("jitter-five").story


def test_set_env_is_advised_only_where_it_helps():
    """Regression: set_env.sh 3.3 was to make a setting that is made in 3.3."""
    student = Student("3")
    student.until("delay-h1")
    student.does("delay-h2")
    show = student.state("show")
    assert show.left_out and "is not set: h1-eth0 has no netem" in show.story
    assert "set_env.sh" not in show.story


def test_a_list_of_interfaces_left_out_can_be_looked_at_any_time():
    """Regression: for ifconfig on h2 the delay on h1 was to be undone first."""
    student = Student("3")
    student.until("ifconfig-h2")
    student.does("delay-h1")
    assert (student.state("ifconfig-h2").left_out, student.state("ifconfig-h2").story) == (True, "")


def test_the_same_reason_is_told_once():
    """A screen full of one sentence hides the others."""
    steps = [
        {"id": name, "section": "1", "subgoal": "", "task": "", "terminal": "h1", "status": "open", "left_out": True}
        | {"story": story, "counts": True}
        for name, story in (("a", "left out: x"), ("b", "left out: x"), ("c", "left out: y"), ("d", ""))
    ]
    wrong = {**steps[0], "id": "w", "status": "wrong", "left_out": False}
    lines = [line.strip() for line in listing([wrong, steps[0]], [wrong, steps[0]], None) if line.startswith("      ")]
    assert lines == ["left out: x", "left out: x"], "what is wrong is no reason to have left out something"
    lines = [line.strip() for line in listing(steps, steps, None) if line.startswith("      ")]
    assert lines == [
        "left out: x",
        "left out for the same reason",
        "left out: y",
        "left out: a later step is done, and this one is not",
    ]
