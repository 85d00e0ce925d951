# SPDX-License-Identifier: BSD-3-Clause
"""The guide while somebody tries, mends, and takes back: a mistake is told where it was made, and not twice."""

from dataclasses import replace

import pytest
from test_guide import DIFFERENTLY, DONE, OPEN, WRONG, Student

from linklab.guide.evidence import EditorEvidence, StateEvidence, TypedEvidence
from linklab.guide.shell import commands_in
from linklab.state.model import State
from linklab.state.node import Interface, Node
from linklab.tc import Qdisc


def untouched(number):
    """Somebody in a network whose kernel was asked before anything was typed: each port has its default discipline."""
    student = Student(number)
    student.does("step-1", "step-2")
    noqueue = Interface(up=True, mtu=1500, qdiscs=(Qdisc("noqueue", "0:", "root", {}),))
    nodes = {}
    for device, node in student.guide.plan.devices.items():
        nodes.setdefault(node, {})[device] = noqueue
    student.guide.see(StateEvidence(State({node: Node(ports) for node, ports in nodes.items()}), 1.0))
    return student


def test_the_default_discipline_of_a_port_is_not_in_the_way():
    """Regression: once the kernel had been asked, every `add` was taken for refused until it was asked again."""
    student = untouched("14")
    student.types("client", "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms")
    assert student.status("delay") is DONE


def test_the_wrong_port_is_named_in_a_running_network():
    """Regression: that s1-eth1 was taken for s1-eth2 was told only where the kernel had never been asked."""
    student = untouched("14")
    student.types("client", "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms")
    assert student.state("delay").story == "netem delay 20ms is set on s1-eth1; it belongs on s1-eth2"


@pytest.mark.parametrize("verb", ["change dev s1-eth2 root netem delay 20ms", "del dev s1-eth2 root"])
def test_the_default_discipline_is_neither_changed_nor_removed(verb):
    """The kernel says that there is none (tc_modify_qdisc, tc_get_qdisc in net/sched/sch_api.c)."""
    student = untouched("14")
    (command,) = commands_in("client", f"tc qdisc {verb}", student.guide.plan.nodes)
    assert student.guide.network.after(command).network is None


def test_taking_back_a_mistake_is_no_mistake():
    """Regression: the delay set on `lo` and removed there was called a wrong try at the step that removes h1's."""
    student = untouched("3")
    student.types("h1", "sudo tc qdisc add dev lo root netem delay 100ms")
    assert student.status("delay-h1") is WRONG
    student.types("h1", "sudo tc qdisc del dev lo root")
    assert student.status("del-h1") is OPEN
    student.types("h1", "sudo tc qdisc add dev h1-eth0 root netem delay 100ms")
    assert student.status("delay-h1") is DONE


def test_removing_something_early_is_not_told_as_something_else():
    """Regression: "set something else; wanted is no netem on h2-eth0", of a line that had just removed it."""
    student = Student("3")
    student.until("change-h1")
    student.types("h2", "tc qdisc del dev h2-eth0 root")
    assert student.status("del-h2") is OPEN
    assert student.status("delay-h2") is DONE


def test_a_step_that_a_slip_undid_is_done_again_when_the_slip_is_mended():
    """Regression: a wrong number at the next step left the one before open for good, as "undone"."""
    student = Student("3")
    student.until("change-h1", leave_out=["show"])
    student.types("h1", "tc qdisc change dev h1-eth0 root netem delay 500ms")
    assert student.state("delay-h1").story.startswith("undone: h1-eth0 has netem delay 500ms")
    student.types("h1", "tc qdisc change dev h1-eth0 root netem delay 50ms")
    assert (student.status("change-h1"), student.status("delay-h1")) == (DONE, DONE)


def test_what_is_removed_and_stays_so_stays_undone():
    """A later value does not stand for an earlier one that was removed for nothing, as it is not the next."""
    student = Student("3")
    student.until("show")
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    student.types("h2", "tc qdisc add dev h2-eth0 root netem delay 100ms")
    assert student.status("delay-h1") is OPEN


def test_a_ping_from_the_wrong_host_is_told_at_the_step_that_it_was_for():
    """Regression: h2's first ping in Lab 14 was judged as a later one of h2's, behind a delay that nobody had set."""
    student = untouched("14")
    student.types("h2", "ping -c 4 10.0.0.3", scalars={"ping.rtt.min": (4e-6, "s"), "ping.loss.fraction": (0.0, "")})
    assert student.state("ping-unshaped").story == "it ran on h2; it belongs on h1"
    assert student.status("ping-h2") is OPEN


def test_a_setting_may_be_read_from_its_file():
    """/proc/sys is what sysctl reads."""
    student = Student("8")
    student.until("rmem-before")
    student.types("h1", "cat /proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t16777216\n")
    assert student.status("rmem-before") is DIFFERENTLY


def test_a_listing_may_say_more_than_is_asked():
    """`tc -s` shows what `tc` shows; without `-s`, where counters are wanted, they are missing."""
    student = Student("14")
    student.until("show-small")
    shown = student.recorded.outputs["show-small"]
    student.types("client", "tc -s qdisc show dev s1-eth2", shown)
    assert student.status("show-small") is DONE
    student.does("server-small", "small")
    student.types("client", "tc qdisc show dev s1-eth2", shown)
    assert student.status("small-drops") is not DONE


def test_codel_with_another_target_is_not_fq_codel():
    """Regression: a target of 5 µs was taken for the FQ-CoDel of the lab's last section, "by other means"."""
    student = Student("18")
    student.until("codel")
    line = student.lab.manual.step("codel").typed
    student.types("client", line.replace("5ms", "5us"))
    assert student.status("fq") is OPEN
    assert student.state("codel").story == (
        "s2-eth2 has codel limit 17476 target 5us interval 100ms; wanted is codel limit 17476 target 5ms interval 100ms"
    )


@pytest.mark.parametrize(
    ("typed", "ending"), [("iperf3 -s -D", "pkill iperf3"), ("iperf3 -s &", "kill %1"), ("iperf3 -s &", "fg")]
)
def test_a_server_in_the_background_has_not_ended_with_its_line(typed, ending):
    """Regression: the step that stops it was done at once, and every step before that one was told as left out."""
    student = Student("2")
    student.until("server-default")
    stop = next(step for step in student.lab.manual.steps if getattr(step.action, "of", "") == "server-default")
    line = TypedEvidence("h2", typed, 1.0)
    student.guide.see_all([line, replace(line, end_s=1.1, status=0)])
    assert student.status("server-default") is DONE
    assert student.status(stop.id) is OPEN
    student.types("h1", ending)
    assert student.status(stop.id) is OPEN
    student.types("h2", ending)
    assert student.status(stop.id) is DONE


def ending(student, of):
    """The step that ends what a step has left running."""
    return next(step.id for step in student.lab.manual.steps if getattr(step.action, "of", "") == of)


def test_a_server_that_was_stopped_too_early_is_started_again_for_its_own_client():
    """Regression: the second start was taken for the server of the next section, and its end for that one's."""
    student = Student("2")
    student.until("server-default")
    first = TypedEvidence("h2", "iperf3 -s", 1.0)
    student.guide.see_all([first, replace(first, end_s=2.0, status=1)])
    assert student.status(ending(student, "server-default")) is DONE
    again = replace(first, start_s=3.0)
    student.guide.see(again)
    state = student.state(ending(student, "server-default"))
    assert (state.status, state.story) == (OPEN, "it runs again")
    assert student.status("server-time") is OPEN
    student.does("default")
    student.guide.see(replace(again, end_s=9.0, status=1))
    assert student.status(ending(student, "server-default")) is DONE
    assert student.guide.next_step().id == "server-time"


def test_a_server_that_was_not_stopped_serves_the_next_section():
    """Its start there was left out, and had to be made up for; stopping it does both ends."""
    student = Student("2")
    student.until("server-default")
    line = TypedEvidence("h2", "iperf3 -s", 1.0)
    student.guide.see(line)
    student.does("default", "time")
    state = student.state("server-time")
    assert (state.status, state.story) == (DIFFERENTLY, "by the one that still ran")
    student.guide.see(replace(line, end_s=20.0, status=1))
    assert student.status(ending(student, "server-default")) is DONE
    assert student.status(ending(student, "server-time")) is DONE
    assert student.guide.next_step().id == "server-interval"


def test_what_ran_when_the_lab_was_left_has_ended_with_its_network():
    """Regression: after the lab was continued, the step that stops the server could not be done any more."""
    student = Student("2")
    student.until("default")
    student.guide.see(EditorEvidence(("run",)))
    assert student.status(ending(student, "server-default")) is DONE
    again = TypedEvidence("h2", "iperf3 -s", 1.0)
    student.guide.see(again)
    assert student.status(ending(student, "server-default")) is OPEN
    student.does("default")
    student.guide.see(replace(again, end_s=20.0, status=1))
    assert student.guide.next_step().id == "server-time"


@pytest.mark.parametrize(
    ("before", "typed", "status", "wrong"),
    [
        ("2 ping", "pnig 10.0.0.2", 127, {"ping": ("pnig", "ping")}),
        ("2 server-default", "iperf -s", None, {"server-default": ("iperf", "iperf3")}),
        ("3 delay-h1", "sduo tc qdisc add dev h1-eth0 root netem delay 100ms", 127, {"delay-h1": ("sduo", "sudo")}),
        ("3 ifconfig-h1", "ipconfig", 127, {"ifconfig-h1": ("ipconfig", "ifconfig")}),
        ("2 step-38", "cd..", 127, {"step-40": ("cd..", "cd")}),
        ("2 ping", "pwd", 0, {}),
        ("2 ping", "ls", 0, {}),
    ],
)
def test_a_program_that_is_spelt_wrong_is_named(before, typed, status, wrong):
    """Regression: nothing was said of it, and of `iperf`, which runs and is another program, not even by the shell."""
    number, _, step = before.partition(" ")
    student = Student(number)
    student.until(step)
    node = student.guide.next_step().terminal
    student.guide.see(TypedEvidence(node, typed, 1.0, None if status is None else 1.5, "", status))
    told = {step: f"“{found}” was typed where “{wanted}” is wanted" for step, (found, wanted) in wrong.items()}
    assert {one.id: one.story for one in student.guide.steps() if one.status is WRONG} == told


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("sudo tc qdisc add dev h2-eth0 root netem delay 100ms", 'Cannot find device "h2-eth0"'),
        ("sudo tc qdisk add dev h1-eth0 root netem delay 100ms", 'Object "qdisk" is unknown, try "tc help".'),
        ("sudo tc qdisc ad dev h1-eth0 root netem delay 100ms", 'Command "ad" is unknown, try "tc qdisc help".'),
    ],
)
def test_a_refused_line_is_told_at_the_step_of_its_terminal(typed, said):
    """Regression: one was told at the step of h2, which came later, and the others nowhere."""
    student = Student("3")
    student.until("delay-h1")
    student.types("h1", typed, said, 1)
    wrong = [(one.id, one.story) for one in student.guide.steps() if one.status is WRONG]
    assert wrong == [("delay-h1", f"“{typed}” in h1 was refused: {said}")]


def test_a_command_that_is_no_try_at_anything_is_not_told():
    """It failed, but the lab wants nothing like it."""
    student = Student("3")
    student.until("delay-h1")
    student.types("h1", "ls results", "ls: cannot access 'results': No such file or directory", 2)
    assert [one.id for one in student.guide.steps() if one.status is WRONG] == []


@pytest.mark.parametrize(
    ("before", "line", "said"),
    [
        ("del-h2", "del-h1", "Error: Invalid qdisc name: must match existing qdisc."),
        ("show", "delay-h1", "Error: Exclusivity flag on, cannot modify."),
    ],
)
def test_a_step_that_is_done_twice_is_no_mistake_in_the_next_one(before, line, said):
    """Regression: a button that was pressed twice made a later step wrong that nobody had tried."""
    student = Student("3")
    student.until(before)
    student.types("h1", student.lab.manual.step(line).typed, said, 2)
    assert [one.id for one in student.guide.steps() if one.status is WRONG] == []
    assert student.status(line) is DONE


REFUSED = "iperf3: error - unable to connect to server: Connection refused"


@pytest.mark.parametrize(
    ("at", "typed", "output", "status", "story"),
    [
        ("udp", "iperf3 -c 10.0.0.2 -U", "iperf3: unrecognized option", 1, "UDP, -u is missing"),
        ("port", "iperf3 -c 10.0.0.2 -t 1", REFUSED, 1, "the port -p is 5201; wanted is 3250"),
        ("json", "iperf3 -c 10.0.0.2 -t 5 > test_results.json", "", 0, "JSON, -J is missing"),
        ("cat", "cat result.json", "No such file", 1, "“cat result.json” failed (status 1): No such file"),
        ("step-38", "cd result", "No such folder", 1, "“cd result” failed (status 1): No such folder"),
    ],
)
def test_a_line_that_fails_is_told_at_the_step_that_comes_next(at, typed, output, status, story):
    """Regression: it was told nowhere, or at a later step of which it would have been the line."""
    student = Student("2")
    student.until(at)
    student.types("h1", typed, output, status)
    assert [(one.id, one.story) for one in student.guide.steps() if one.status is WRONG] == [(at, story)]
    assert student.guide.next_step().id == at


def test_a_step_that_is_repeated_and_fails_is_not_told_at_the_next_one():
    """Whoever runs the first test once more and stops it has not tried the second."""
    student = Student("2")
    student.until("udp")
    student.types("h1", "iperf3 -c 10.0.0.2", "iperf3: interrupt - the client has terminated", 1)
    assert [one.id for one in student.guide.steps() if one.status is WRONG] == []


@pytest.mark.parametrize("columns", [1, 2, 4, 8])
def test_a_listing_is_right_in_a_terminal_of_any_width(columns):
    """Regression: `ls` goes down its columns, and in the two rows of a page's terminal the names have another order."""
    student = Student("2")
    student.until("ls-results")
    files = ["1.dat", "MTU.pdf", "RTT.pdf", "RTT_Var.pdf", "bytes.pdf", "cwnd.pdf", "retransmits.pdf", "throughput.pdf"]
    rows = -(-len(files) // columns)
    student.types("h1", "ls results", "".join("  ".join(files[row::rows]) + "\n" for row in range(rows)))
    assert student.status("ls-results") is DONE


def test_a_listing_that_lacks_a_file_is_wrong():
    """Of the eight."""
    student = Student("2")
    student.until("ls-results")
    student.types("h1", "ls results", "1.dat RTT_Var.pdf bytes.pdf cwnd.pdf MTU.pdf throughput.pdf retransmits.pdf\n")
    assert student.status("ls-results") is WRONG


@pytest.mark.parametrize(
    "typed",
    ["ls", "ls -la", "ls -1 --color", "ls test_results.json", "ls -lh test_results.json", "ls *.json", "ls .", "ls ~/"],
)
def test_a_file_is_looked_for_with_any_listing_that_shows_it(typed):
    """Regression: of a listing with an option, or of that file alone, the guide said that it was not wanted."""
    student = Student("2")
    student.until("ls")
    student.types("h1", typed, "set_env.sh  test_results.json\n")
    assert (student.status("ls"), student.state("ls").story) == (DONE, "")


def test_a_listing_of_another_file_or_of_other_things_is_wrong():
    """A name that no step wrote, and an option by which the folder itself is listed."""
    for typed, what in (("ls other.json", "other.json"), ("ls -ld", "-d")):
        student = Student("2")
        student.until("ls")
        student.types("h1", typed, "")
        assert (student.status("ls"), student.state("ls").story) == (WRONG, f"“{what}” was typed and is not wanted")


SPREAD = '[\n  "end",\n  "intervals",\n  "start"\n]\n'


@pytest.mark.parametrize(
    ("typed", "output", "status"),
    [
        ("jq keys test_results.json", SPREAD, DONE),
        ("jq -M --indent 4 keys test_results.json", SPREAD, DONE),
        ("jq --compact-output keys test_results.json", '["end","intervals","start"]\n', DONE),
        ("cat test_results.json | jq keys", SPREAD, DIFFERENTLY),
        ("jq -r keys test_results.json", SPREAD, WRONG),
        ("jq keys test_results.json", '[\n  "error"\n]\n', WRONG),
    ],
)
def test_a_result_of_jq_counts_however_it_is_laid_out(typed, output, status):
    """Regression: without -c, by which it is in one line, it counted as wrong."""
    student = Student("2")
    student.until("jq-keys")
    student.types("h1", typed, output)
    assert student.status("jq-keys") is status


def test_a_table_of_jq_needs_its_raw_strings():
    """-r is not layout: with quotation marks around each line it is no table."""
    student = Student("2")
    student.until("jq-table")
    line = student.lab.manual.step("jq-table").typed
    student.types("h1", line.replace("-r ", ""), '"0\\t38.2"\n')
    assert (student.status("jq-table"), student.state("jq-table").story) == (WRONG, "“-r” is missing")


@pytest.mark.parametrize("prompt", ["$", "#", "root@h2:~#", "h2$", "root@h2:/lab/results#"])
def test_a_command_that_was_copied_with_its_prompt_is_told(prompt):
    """Regression: the shell alone complained that it has no command "$"; after "#" it says nothing."""
    student = Student("2")
    student.until("server-default")
    student.types("h2", f"{prompt} iperf3 -s", status=0 if prompt == "#" else 127)
    told = f"“{prompt}” is the prompt, which the terminal prints itself: type only “iperf3 -s”"
    assert (student.status("server-default"), student.state("server-default").story) == (WRONG, told)
    student.types("h2", f"{prompt} uptime", status=127)
    assert [one.id for one in student.guide.steps() if one.status is WRONG] == ["server-default"]
    student.does("server-default")
    assert student.status("server-default") is DONE


def test_a_server_on_the_wrong_host_that_is_stopped_later_is_no_try_at_a_later_step():
    """Regression: the end of the first server was told as a mistake at the next step that starts one."""
    student = Student("2")
    student.until("server-default")
    student.guide.see(TypedEvidence("h1", "iperf3 -s", 1.0, None, "", None))
    assert student.state("server-default").story == "it ran on h1; it belongs on h2"
    student.guide.see(TypedEvidence("h2", "iperf3 -s", 2.0, None, "", None))
    student.guide.see(TypedEvidence("h1", "iperf3 -s", 1.0, 3.0, "", 1))
    assert student.status("server-default") is DONE
    assert [one.id for one in student.guide.steps() if one.status is WRONG] == []


def test_a_result_in_a_file_of_another_name_is_told_at_once():
    """Regression: it counted, and the steps that read the file failed without a word of why."""
    student = Student("2")
    student.until("json")
    scalars = student.recorded.scalars["json"]
    student.types("h1", "iperf3 -c 10.0.0.2 -t 5 -J > test_result.json", scalars=scalars)
    told = "the output went into test_result.json; wanted is test_results.json"
    assert (student.status("json"), student.state("json").story) == (WRONG, told)
    student.types("h1", "iperf3 -c 10.0.0.2 -t 5 -J > /lab/test_results.json", scalars=scalars)
    assert student.status("json") is not WRONG and student.status("json").good
    student.types("h1", "iperf3 -c 10.0.0.2 -t 5 -J > other.json", scalars=scalars)
    assert student.status("json").good
