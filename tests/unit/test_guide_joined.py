# SPDX-License-Identifier: BSD-3-Clause
"""Lines that students join by `&&` or `;` where the manual has several: each command does its step."""

from dataclasses import replace

import pytest
from test_guide import DIFFERENTLY, DONE, OPEN, WRONG, Student

from linklab.guide.evidence import TypedEvidence
from linklab.guide.shell import CONSOLE
from linklab.manual.model import Commands


def steps_of_lines(number):
    """The steps of a lab that have several lines which can be joined."""
    student = Student(number)
    return student, [
        step
        for step in student.guide.plan.steps
        if isinstance(step.step.action, Commands)
        and len(step.step.action.lines) > 1
        and not step.step.optional
        and step.step.terminal != CONSOLE
        and step.id not in NOT_JOINED
    ]


NOT_JOINED = frozenset(("mesh", "filters-500-set", "filters-5000-set"))
"""A loop, which is read as one command, and lines on filters of `tc -batch`, which `RecordedWork` does not know."""
LABS = ["4", "5", "6", "12", "15", "17", "18", "21", "22", "23", "24"]


@pytest.mark.parametrize("number", LABS)
def test_the_lines_of_a_step_may_be_joined(number):
    """Regression: the commands of such a line did no step, and the step was said to be left out."""
    student, several = steps_of_lines(number)
    names = {step.id for step in several}
    assert names
    for step in student.lab.manual.steps:
        if step.id in names:
            student.does(**{step.id.replace("-", "_"): " && ".join(step.action.lines)})
        elif not step.optional:
            student.does(step.id)
    assert {name: student.state(name).story for name in names if not student.status(name).good} == {}


def test_a_line_may_do_several_steps():
    """A test into a file, and its plot."""
    student = Student("2")
    student.until("json")
    measured = {"iperf3.throughput.receiver": (51e9, "bps")}
    joined = "iperf3 -c 10.0.0.2 -t 5 -J > test_results.json && plot_iperf.sh test_results.json"
    student.types("h1", joined, scalars=measured)
    plot = next(step.id for step in student.lab.manual.steps if step.typed == "plot_iperf.sh test_results.json")
    assert [student.state(name).story for name in ("json", plot)] == [f"by {joined}"] * 2
    assert [student.status(name) for name in ("json", plot)] == [DIFFERENTLY, DIFFERENTLY]


def test_a_joined_line_that_failed_does_no_step():
    """Nobody knows which of its commands ran."""
    student = Student("12")
    plot = next(
        step.id for step in student.lab.manual.steps if step.typed.startswith("plot_iperf.sh parallel_streams.")
    )
    student.until(plot)
    student.types("h1", "plot_iperf.sh parallel_streams.json && cd results", "No such file", status=1)
    assert student.status(plot) is OPEN


def test_one_wrong_command_in_a_joined_line_is_said_to_be_wrong():
    """The setting counts, the test of another length does not."""
    student = Student("6")
    student.until("htcp-frames")
    student.does(htcp_frames="sysctl -w net.ipv4.tcp_congestion_control=htcp && iperf3 -c 10.0.0.2 -t 6 -O 1 -i 1")
    assert student.status("htcp-frames") is WRONG
    differing = ["the time -t is 6; wanted is 60", "the seconds left out, -O is 1; wanted is 10"]
    assert student.state("htcp-frames").story == "; ".join([*differing, "the interval -i is 1; wanted is 10"])


def test_what_stands_before_a_setting_is_judged_by_what_was_set_then():
    """A ping, and the delay that the manual sets after it."""
    student = Student("3")
    student.until("unshaped")
    ping = student.lab.manual.step("unshaped").typed
    student.types("h1", f"{ping} && sudo tc qdisc add dev h1-eth0 root netem delay 100ms", *shown(student, "unshaped"))
    assert [student.status(name).good for name in ("unshaped", "delay-h1")] == [True, True]
    assert student.status("one-side") is OPEN


def test_a_command_before_a_semicolon_is_not_known_to_have_succeeded():
    """The shell tells the status of the last one alone."""
    student = Student("12")
    index = next(step for step in student.lab.manual.steps if step.typed == "fairness.sh parallel_streams.json")
    student.until(index.id)
    student.types("h1", "fairness.sh parallel_streams.json ; ls", "No such file\n")
    said = "“fairness.sh parallel_streams.json ; ls” does not tell whether this command succeeded: "
    assert student.state(index.id).story == f"{said}type it on a line of its own, or put && after it"


def test_a_server_at_the_end_of_a_line_runs_until_it_is_stopped():
    """As one that is typed alone."""
    student = Student("6")
    server = next(step for step in student.lab.manual.steps if step.typed == "iperf3 -s")
    student.until("buffers-h2")
    line = TypedEvidence("h2", f"{' && '.join(student.lab.manual.step('buffers-h2').action.lines)} && iperf3 -s", 900.0)
    student.guide.see(line)
    assert student.status(server.id) is DONE
    student.guide.see(replace(line, end_s=960.0, status=130))
    assert [student.status(name).good for name in ("buffers-h2", server.id)] == [True, True]


def test_a_server_to_which_its_line_did_not_come_is_not_running():
    """The command before it failed."""
    student = Student("6")
    server = next(step for step in student.lab.manual.steps if step.typed == "iperf3 -s")
    student.until(server.id)
    line = TypedEvidence("h2", "false && iperf3 -s", 900.0)
    student.guide.see(line)
    student.guide.see(replace(line, end_s=901.0, status=1))
    assert student.state(server.id).story == "“false && iperf3 -s” failed (status 1)"


def test_two_measurements_in_one_line_are_not_told_apart():
    """Both would be judged by what both have shown."""
    student = Student("2")
    student.until("default")
    student.types("h1", "iperf3 -c 10.0.0.2 && iperf3 -c 10.0.0.2 -t 5", *shown(student, "default"))
    said = "“iperf3 -c 10.0.0.2 && iperf3 -c 10.0.0.2 -t 5” measures twice, which cannot be told apart: "
    assert student.state("default").story == f"{said}type each on a line of its own"


def test_a_joined_line_of_a_node_at_mininets_prompt_runs_on_that_node():
    """Mininet hands all that stands behind the node's name to its shell."""
    student = Student("1")
    student.until("ifconfig")
    student.types("client", "h1 true && ifconfig", *shown(student, "ifconfig"))
    assert student.status("ifconfig").good
    student.types("client", "h1 cd / && ping -c 4 10.0.0.2", *shown(student, "ping"))
    assert student.status("ping").good


def shown(student, step):
    """What a step showed and measured in its recording, as `Student.types` takes it."""
    return student.recorded.outputs.get(step, ""), 0, student.recorded.scalars.get(step, {})
