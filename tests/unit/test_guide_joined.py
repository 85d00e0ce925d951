# SPDX-License-Identifier: BSD-3-Clause
"""Lines that students join by `&&` or `;` where the manual has several: each command does its step."""

import pytest
from test_guide import DONE, OPEN, WRONG, Student

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
@pytest.mark.parametrize("by", [" && ", " ; "])
def test_the_lines_of_a_step_may_be_joined(number, by):
    """Regression: the commands of such a line did no step, and the step was said to be left out."""
    student, several = steps_of_lines(number)
    names = {step.id for step in several}
    for step in student.lab.manual.steps:
        if step.id in names:
            student.does(**{step.id.replace("-", "_"): by.join(step.action.lines)})
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
    assert [student.status(name) for name in ("json", plot)] == [DONE, DONE]


def test_a_joined_line_that_failed_does_no_step():
    """Nobody knows which of its commands ran."""
    student = Student("12")
    plot = next(
        step.id for step in student.lab.manual.steps if step.typed.startswith("plot_iperf.sh parallel_streams.")
    )
    student.until(plot)
    student.types("h1", "plot_iperf.sh parallel_streams.json && cd results", "No such file", status=1)
    assert student.status(plot) in (OPEN, WRONG)


def test_one_wrong_command_in_a_joined_line_is_said_to_be_wrong():
    """The setting counts, the test of another length does not."""
    student = Student("6")
    student.until("htcp-frames")
    student.does(htcp_frames="sysctl -w net.ipv4.tcp_congestion_control=htcp && iperf3 -c 10.0.0.2 -t 6 -O 1 -i 1")
    assert student.status("htcp-frames") is WRONG
    differing = ["the time -t is 6; wanted is 60", "the seconds left out, -O is 1; wanted is 10"]
    assert student.state("htcp-frames").story == "; ".join([*differing, "the interval -i is 1; wanted is 10"])
