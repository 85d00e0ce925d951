# SPDX-License-Identifier: BSD-3-Clause
"""The guide: what evidence of somebody's work says of each step of a lab."""

from dataclasses import replace
from pathlib import Path

import pytest

from linklab.guide.evidence import EditorEvidence, FileEvidence, StateEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import EditorWant
from linklab.guide.recorded import RecordedWork
from linklab.guide.status import GuideStatus
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.state.model import SetEnv, State
from linklab.state.node import Interface, Node
from linklab.tc import EdtLink, Qdisc

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "tests/captures"
DONE, DIFFERENTLY, WRONG, OPEN = GuideStatus.DONE, GuideStatus.DIFFERENTLY, GuideStatus.WRONG, GuideStatus.OPEN


CLOSED = (EditorWant(("close", "h1")), EditorWant(("close", "h2")))


class Student:
    """Somebody who does a lab with the recording's outputs, step by step, or types what they like."""

    def __init__(self, number: str) -> None:
        self.lab = load_lab(find_lab(number, ROOT))
        self.guide = Guide(self.lab)
        reference = load_reference(self.lab)
        assert reference is not None
        self.recorded = reference.recorded
        self.work = RecordedWork(self.guide.plan, reference.recorded)
        self.now_s = 1000.0

    def does(self, *ids, **changed):
        """Does steps as printed; changed: id, with "_" for "-" → what is typed in its place."""
        typed = {name.replace("_", "-"): text for name, text in changed.items()}
        for name in (*ids, *typed):
            step = self.lab.manual.step(name)
            if name in typed:
                step = replace(step, action=replace(step.action, lines=(typed[name],)))
            for _, evidence in self.work.of([step]):
                self.guide.see_all(evidence)

    def until(self, last, leave_out=()):
        """Does all steps before one, some left out."""
        for step in self.lab.manual.steps:
            if step.id == last:
                return
            if step.id not in leave_out and not step.optional:
                self.does(step.id)

    def types(self, terminal, text, output="", status=0, scalars=None):
        """Types a line that ends; what it sets is set in the network of the work, too."""
        self.now_s += 2
        self.guide.see(TypedEvidence(terminal, text, self.now_s, self.now_s + 1, output, status, scalars or {}))

    def state(self, name):
        """The state of a step."""
        return next(one for one in self.guide.steps() if one.id == name)

    def status(self, name):
        """Its status."""
        return self.state(name).status


@pytest.mark.parametrize("number", ["1", "3", "8", "14", "20", "22"])
def test_a_lab_done_as_printed_is_done_at_every_step(number):
    """What the recording holds, typed in the manual's order, leaves no step open, wrong or done differently."""
    student = Student(number)
    student.does(*(step.id for step in student.lab.manual.steps if not step.optional))
    states = [one for one in student.guide.steps() if not one.optional]
    assert {one.id: one.status for one in states if one.status is not DONE} == {}
    assert student.guide.next_step() is None


def test_nothing_is_done_before_anything_is_seen():
    """A network that has no netem yet has not done the step that removes one."""
    student = Student("3")
    assert {one.status for one in student.guide.steps()} == {OPEN}
    assert student.guide.next_step().id == "step-1"


def test_the_first_ping_once_more_is_not_the_one_after_the_last_deletion():
    """Nothing is set at either; but who has set nothing has nothing deleted."""
    student = Student("3")
    student.until("delay-h1")
    ping = {"ping.sent": (3.0, ""), "ping.received": (3.0, ""), "ping.rtt.max": (2e-5, "s")}
    student.types("h1", "ping -c 3 10.0.0.2", scalars=ping)
    student.types("h1", "ping 10.0.0.2", status=130, scalars=ping)
    assert student.status("deleted") is OPEN
    assert [one.id for one in student.guide.steps() if one.left_out] == []
    student.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms")
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    student.types("h1", "ping 10.0.0.2", status=130, scalars=ping)
    assert student.status("deleted") is OPEN, "what was set and taken back is not what the manual deletes there"


def test_who_begins_by_set_env_behind_a_deletion_measures_what_is_there():
    """Nothing was set and nothing deleted by hand, and the script has led there."""
    student = Student("3")
    student.types("client", "sudo ./set_env.sh 5", "Section 5 can begin.\n")
    student.types("h1", "sudo ./set_env.sh 4", "Section 4 can begin.\n")
    for host in ("h1", "h2"):
        student.types(host, f"tc qdisc add dev {host}-eth0 root netem delay 50ms")
        student.types(host, f"sudo tc qdisc del dev {host}-eth0 root")
    student.types("h1", "ping -c 3 10.0.0.2", scalars={"ping.rtt.max": (2e-5, "s"), "ping.received": (3.0, "")})
    assert student.status("deleted") is not OPEN


def test_a_wrong_number_is_wrong_at_its_step_until_it_is_mended():
    """A delay of 10 ms where 100 ms are wanted, changed afterwards."""
    student = Student("3")
    student.until("delay-h1")
    student.does(delay_h1="sudo tc qdisc add dev h1-eth0 root netem delay 10ms")
    assert student.status("delay-h1") is WRONG
    assert student.state("delay-h1").story == "h1-eth0 has netem delay 10ms; wanted is netem delay 100ms"
    student.types("h1", "tc qdisc change dev h1-eth0 root netem delay 0.1s")
    assert student.status("delay-h1") is DONE


def test_each_wrong_line_is_a_try_of_its_own():
    """Regression: the same mistake once more changed nothing that a view shows, so nobody was told of it."""
    student = Student("3")
    student.until("delay-h1")
    wrong = "sudo tc qdisc add dev h1-eth0 root netem delay 10ms"
    assert student.state("delay-h1").tries == 0
    student.does(delay_h1=wrong)  # seen at its beginning, by what the kernel says is set, and at its end
    assert student.state("delay-h1").tries == 1
    student.types("h1", wrong.replace("add", "replace"))
    assert student.state("delay-h1").tries == 2
    student.types("h1", "tc qdisc change dev h1-eth0 root netem delay 0.1s")
    assert (student.status("delay-h1"), student.state("delay-h1").tries) == (DONE, 2)


@pytest.mark.parametrize(
    "typed",
    [
        "tc qdisc replace dev h1-eth0 root netem delay 100000us",
        "sudo tc qdisc add dev h1-eth0 root handle 5: netem latency 100ms limit 1000",
        "tc q a dev h1-eth0 root netem delay .1s",
    ],
)
def test_another_line_with_the_same_effect_does_a_step(typed):
    """Other verbs, units, abbreviations and handles."""
    student = Student("3")
    student.until("delay-h1")
    student.does(delay_h1=typed)
    assert student.status("delay-h1") is DONE


def test_the_same_effect_by_other_means_is_done_differently():
    """A link by departure time instead of netem."""
    student = Student("3")
    student.until("delay-h1")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    link = EdtLink.read([("any", "any")], "delay 100ms")
    student.guide.see(StateEvidence(state_of({}, links=(link,)), 2.0))
    assert student.status("delay-h1") is DIFFERENTLY
    assert student.state("delay-h1").story == "the same effect by other means"


def test_the_wrong_interface_is_named_with_the_right_one():
    """The delay of h1 set on the loopback interface."""
    student = Student("3")
    student.until("delay-h1")
    student.does(delay_h1="sudo tc qdisc add dev lo root netem delay 100ms")
    assert student.status("delay-h1") is WRONG
    assert student.state("delay-h1").story == "netem delay 100ms is set on lo; it belongs on h1-eth0"


def test_a_command_that_is_refused_is_wrong_where_it_belongs():
    """tc on a host that does not have the interface."""
    student = Student("3")
    student.until("delay-h1")
    line = student.lab.manual.step("delay-h1").typed
    student.types("h2", line, 'Cannot find device "h1-eth0"\n', 1)
    assert student.status("delay-h1") is WRONG
    assert 'Cannot find device "h1-eth0"' in student.state("delay-h1").story


def test_a_step_that_was_left_out_is_told_once_a_later_one_is_done():
    """The delay of h2 forgotten: the pings that need it miss what they should show, and say why."""
    student = Student("3")
    student.until("both-sides", leave_out=["delay-h2"])
    assert not student.state("delay-h2").left_out
    student.types("h1", "ping 10.0.0.2", scalars={"ping.rtt.mean": (0.1, "s")})
    student.does("change-h1")
    assert student.status("delay-h2") is OPEN
    assert student.state("delay-h2").left_out


def test_what_is_undone_before_it_was_used_is_open_again():
    """The delay removed before it was measured; set again, the step is done."""
    student = Student("3")
    student.until("one-side")
    assert student.status("delay-h1") is DONE
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    assert student.status("delay-h1") is OPEN
    assert student.state("delay-h1").undone
    assert student.state("delay-h1").story == (
        "undone: h1-eth0 has no netem delay 100ms, since “tc qdisc del dev h1-eth0 root” in h1"
    )
    assert student.guide.next_step().id == "delay-h1"
    student.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms")
    assert student.status("delay-h1") is DONE


def test_what_the_manual_removes_stays_done():
    """After the lab's last step every setting is gone, and all are done."""
    student = Student("3")
    student.until("jitter")
    assert [one.id for one in student.guide.steps() if one.section.startswith("2") and not one.status.good] == []


def test_the_order_of_settings_does_not_matter_where_nothing_is_measured_between():
    """Buffers of both hosts in the other order, both values of a host by one command."""
    student = Student("8")
    student.until("rmem-h1")
    for host in ("h2", "h1"):
        student.types(
            host,
            "sysctl -w net.ipv4.tcp_wmem='10240 87380 52428800' net.ipv4.tcp_rmem='10240 87380 52428800'",
        )
    assert {student.status(f"{name}-{host}") for name in ("rmem", "wmem") for host in ("h1", "h2")} == {DONE}


def test_the_same_ping_belongs_to_the_step_whose_settings_are_made():
    """`ping 10.0.0.2` stands six times in Lab 3; repeated without a change it is the same step once more."""
    student = Student("3")
    student.until("delay-h2")
    assert student.status("one-side") is DONE
    student.does("one-side")
    assert student.status("both-sides") is OPEN


def test_a_measurement_that_misses_says_what_why_and_which_setting():
    """The round trip of one side where both should be delayed."""
    student = Student("3")
    student.until("both-sides", leave_out=["delay-h2"])
    student.does("one-side")  # the repeated ping shows the old step again
    student.types("h2", "tc qdisc add dev h2-eth0 root netem delay 100us")
    assert student.status("delay-h2") is WRONG
    student.types("h1", "ping -c 5 10.0.0.2", scalars={"ping.rtt.mean": (0.1, "s"), "ping.loss.fraction": (0.0, "")})
    state = student.state("both-sides")
    assert state.status is WRONG
    assert state.expected == "200 ms – 202 ms"
    assert "netem delay 100ms on h2-eth0 (“On h2 set the same delay”) is not set" in state.story
    assert state.why.startswith("100 ms for the request")


def test_a_setting_that_should_be_gone_is_said_to_be_still_there():
    """Regression: "no netem on h1-eth0 is not set"."""
    student = Student("3")
    student.until("deleted", leave_out=["del-h1"])
    student.types("h1", "ping -c 5 10.0.0.2", scalars={"ping.rtt.mean": (0.1, "s"), "ping.loss.fraction": (0.0, "")})
    said = "netem delay 50ms on h1-eth0 is still to be removed (“On h1 remove the discipline”)."
    assert student.state("deleted").story.endswith(said)


def test_other_options_of_a_measurement_are_named():
    """Ten seconds where ninety are wanted, on another host, with other words for the same."""
    student = Student("14")
    student.until("bdp")
    step = student.lab.manual.step("bdp")
    student.does(bdp=step.typed.replace("-t 90", "-t 9"))
    assert student.state("bdp").story == "the time -t is 9; wanted is 90"
    student.does(bdp="iperf3 --json --client=10.0.0.3 --time 90 > out.json")
    assert student.status("bdp") is DONE


def test_addresses_may_be_shown_by_another_program():
    """`ip addr` for ifconfig: the output that lab.toml describes is ifconfig's, so it is not compared."""
    student = Student("3")
    student.until("ifconfig-h1")
    student.types("h1", "ip addr", "2: h1-eth0 …\n")
    assert student.status("ifconfig-h1") is DIFFERENTLY


@pytest.mark.parametrize("ending", [130, 129])
def test_a_server_is_done_when_it_runs_and_its_end_when_it_has_ended(ending):
    """`iperf3 -s` in the background, ended by Ctrl+C or with its terminal."""
    student = Student("2")
    student.until("server-default")
    line = TypedEvidence("h2", "iperf3 -s", 1.0)
    student.guide.see(line)
    assert student.status("server-default") is DONE
    student.does("default", "time")
    stop = next(step for step in student.lab.manual.steps if getattr(step.action, "of", "") == "server-default")
    assert student.status(stop.id) is OPEN
    student.guide.see(replace(line, end_s=20.0, status=ending))
    assert student.status(stop.id) is DONE


def test_a_file_is_judged_by_what_it_says():
    """Comments and spaces do not matter; a wrong line is shown."""
    student = Student("22")
    student.until("start-file")
    action = student.lab.manual.step("start-file").action
    student.guide.see(FileEvidence(f"/lab/{action.path}", action.text.replace("=", "= 1", 1)))
    assert student.status("start-file") is WRONG
    student.guide.see(FileEvidence(action.path, "# mine\n" + action.text.replace("\n", "  \n")))
    assert student.status("start-file") is DONE


def test_the_kernel_has_the_last_word():
    """A script set the delay, so no line tells it; the state read back does, with all that the kernel fills in."""
    student = Student("3")
    student.until("delay-h1")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.types("h1", "sh ./mine.sh")
    assert student.status("delay-h1") is OPEN
    student.guide.see(StateEvidence(state_of({"delay_ns": 10_000_000}), 2.0))
    assert student.status("delay-h1") is WRONG
    student.guide.see(StateEvidence(state_of({"delay_ns": 100_000_000, "jitter_ns": 0}), 3.0))
    assert student.status("delay-h1") is DONE


def state_of(options, links=()):
    """A network whose h1-eth0 has a netem of these options, none for {}."""
    netem = (Qdisc("netem", "8001:", "root", {"limit": 1000, **options}),) if options else ()
    noqueue = (Qdisc("noqueue", "0:", "root", {}),)
    ends = {name: Interface(up=True, mtu=1500, qdiscs=noqueue) for name in ("h2-eth0", "s1-eth1", "s1-eth2")}
    return State(
        {
            "h1": Node({"h1-eth0": Interface(up=True, mtu=1500, qdiscs=netem or noqueue, links=links)}),
            "h2": Node({"h2-eth0": ends["h2-eth0"]}),
            "client": Node({"s1-eth1": ends["s1-eth1"], "s1-eth2": ends["s1-eth2"]}),
        }
    )


def test_a_line_that_sets_what_only_the_kernel_knows_does_its_step():
    """The filters of tc -batch are in no line of Lab 23, but in the kernel's state; deleting them stayed open then."""
    student = Student("23")
    student.until("filters-1-ping")
    student.guide.see(StateEvidence(State.loads((CAPTURES / "node_state-7.3.4-one-filter.json").read_text()), 2000.0))
    student.does("filters-1-ping", "filters-1", "filters-500-set")
    assert student.status("filters-500-set") is DONE


def test_what_is_drawn_counts_wherever_it_is_placed():
    """Hosts at other places, a link from the other end."""
    student = Student("1")
    student.until("step-9")
    for words in ["new", "host h1 at 1 2", "host h2 at 3 4", "switch s1 at 5 6", "link s1 h1", "link h2 s1"]:
        student.guide.see(EditorEvidence(tuple(words.split())))
    assert student.status("step-9") is DONE


def test_hints_grow_plainer_and_end_with_the_manuals_own_line():
    """From where to look, over what should come out, to the line itself."""
    student = Student("3")
    told = next(state.hints for state in student.guide.steps() if state.id == "one-side")
    assert told[0].startswith("Ping h2 from h1")
    assert "Is the delay set on h1-eth0" in told[1]
    assert told[-1] == "In the terminal of h1: ping 10.0.0.2"


def test_a_command_that_came_to_no_result_gets_no_hint_about_its_result():
    """Regression: without a server, the hint of a client asked for a qdisc; the next one repeated its message."""
    student = Student("2")
    student.until("server-default")
    student.types("h1", "iperf3 -c 10.0.0.2", "iperf3: error - unable to connect to server: Connection refused", 1)
    assert student.state("default").hints == (
        "Start the client on h1, with the address of the server. This is done in the terminal of h1.",
        "In the terminal of h1: iperf3 -c 10.0.0.2",
    )


def test_what_was_not_measured_gets_no_hint_about_another_value():
    """Regression: a ping of Lab 1 that showed nothing was said to want a program that was installed."""
    student = Student("1")
    student.until("ping")
    student.types("client", "h1 ping 10.0.0.2")
    assert student.state("ping").story == "The share of pings without a reply could not be measured."
    assert not any("openvswitch-testcontroller" in hint for hint in student.state("ping").hints)


def test_the_last_hint_for_ctrl_c_says_which_keys():
    """Not what one who has never met it might type letter by letter."""
    student = Student("2")
    assert student.state("step-6").hints[-1] == "Click into the terminal of h2, hold the key Ctrl, and press C."


@pytest.mark.parametrize(
    ("view", "how"),
    [
        ("page", "press “Open h1, h2” at this step, or choose the node above the terminals and press New"),
        ("editor", "right-click the node in the drawing while the network runs, and choose Terminal"),
        ("terminal", "type “linklab attach h1” in another terminal of your machine, and so for each node"),
    ],
)
def test_a_hint_says_what_to_do_where_the_lab_is_done(view, how):
    """Regression: on the page, the hint for opening terminals spoke of the editor."""
    guide = Guide(load_lab(find_lab("3", ROOT)), view=view)
    opening = next(state for state in guide.steps() if state.id == "step-2")
    assert opening.hints == ("Open a terminal on h1 and on h2.", f"To open a terminal on h1 and h2, {how}.")
    drawn = next(state for state in Guide(load_lab(find_lab("1", ROOT)), view=view).steps() if state.id == "step-9")
    assert ("“linklab edit”" in drawn.hints[0]) is (view != "editor")


def test_an_open_terminal_counts_before_anything_is_typed_there():
    """Regression: its step stayed open until a command was typed; a new network has none of its terminals."""
    student = Student("3")
    student.does("step-1")
    student.guide.see(EditorEvidence(("opened", "h1")))
    assert student.status("step-2") is OPEN
    student.guide.see(EditorEvidence(("opened", "h2")))
    assert student.status("step-2") is DONE
    again = Student("1")
    for node in ("h1", "h2"):
        again.guide.see(EditorEvidence(("opened", node)))
    again.until("hand-h1", leave_out=["step-12"])
    assert again.status("step-12") is OPEN
    counted = [step.counts for step in Student("1").guide.steps()]
    told = Student("1")
    told.guide.see(EditorEvidence(("opened", "client")))
    assert [step.counts for step in told.guide.steps()] == counted, "an open terminal is no sign of an editor"


def test_terminals_that_no_step_asks_for_cost_nothing():
    """Regression: each line looked at every terminal that was ever open, so a thousand in a progress took 40 s."""
    student = Student("3")
    asked = set(student.guide._open)
    for number in range(1000):
        student.guide.see(EditorEvidence(("opened", f"n{number}")))
        student.guide.see(TypedEvidence(f"m{number}", "true", 1.0))
    assert student.guide._open == asked


def test_a_terminal_that_was_closed_is_open_no_more():
    """Regression: after `exit` its step stayed done; once something is done after it, the step stays as it is."""
    student = Student("3")
    student.does("step-1")
    for node in ("h1", "h2"):
        student.guide.see(EditorEvidence(("opened", node)))
    student.guide.see(EditorEvidence(("closed", "h2")))
    state = student.state("step-2")
    assert (state.status, state.story, state.undone) == (OPEN, "the terminal on h2 was closed", True)
    student.guide.see(EditorEvidence(("opened", "h2")))
    assert student.status("step-2") is DONE
    student.until("one-side")
    student.guide.see(EditorEvidence(("closed", "h2")))
    assert student.status("step-2") is DONE


def test_closing_a_terminal_does_the_step_that_asks_for_it():
    """Regression: Lab 10 has h1 and h2 closed, which was told of an editor only."""
    student = Student("10")
    closing = next(step.id for step in student.guide.plan.steps if step.wants == CLOSED)
    student.until(closing)
    assert student.status(closing) is OPEN
    for node in ("h1", "h2"):
        student.guide.see(EditorEvidence(("closed", node)))
    assert student.status(closing) is DONE


def test_states_are_json():
    """What pages get."""
    data = Student("3").guide.steps()[0].as_json()
    assert (data["id"], data["status"], data["hints"] > 0) == ("step-1", "open", True)


def test_whoever_sets_the_lab_up_to_a_section_goes_on_from_there():
    """set_env.sh makes the settings before it; what was to be measured before is open and not left out."""
    student = Student("3")
    student.does("step-1", "step-2", "unshaped")
    student.types("client", "sudo ./set_env.sh 5", "Section 5 can begin.\n")
    assert student.state("delay-h1").story == "by set_env.sh"
    assert student.guide.next_step().id == "jitter"
    student.does("jitter", "jitter-five")
    assert [one.id for one in student.guide.steps() if one.left_out] == []
    assert student.status("both-sides") is OPEN


def test_what_set_env_did_is_given_and_what_was_done_before_or_after_is_own():
    """Regression: a progress of this one line had 13 of the 28 points of Lab 3."""
    student = Student("3")
    student.does("step-1", "step-2", "unshaped", "delay-h1")
    student.types("client", "sudo ./set_env.sh 4", "Section 4 can begin.\n")
    given = {one.id for one in student.guide.steps() if one.given}
    assert given == {"delay-h2", "change-h1", "change-h2"}
    assert {student.state(name).story for name in given} == {"by set_env.sh"}
    student.types("h1", "tc qdisc replace dev h1-eth0 root netem delay 50ms")
    assert not student.state("change-h1").given
    assert student.state("change-h2").given


@pytest.mark.parametrize(
    "joined",
    ["sudo ~/set_env.sh 3.3 && {}", "cd; sudo bash ~/set_env.sh 3.3 >log 2>&1; {}", "./set_env.sh 3.3 &>log; {}"],
)
def test_what_is_typed_behind_set_env_in_its_line_is_own(joined):
    """Regression: it earned nothing, and what was measured there was not seen at all."""
    student = Student("3")
    student.does("step-1", "step-2", "unshaped")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.types("h1", joined.format("sudo tc qdisc add dev h1-eth0 root netem delay 100ms"))
    student.guide.see(StateEvidence(state_of({"delay_ns": 100_000_000}), 2.0))
    assert (student.status("delay-h1").good, student.state("delay-h1").given) == (True, False)


@pytest.mark.parametrize(
    "line", ["sudo ~/set_env.sh 3.4 # ; {}", "sudo ~/set_env.sh 3.4 # set_env.sh; {}", "sudo ~/set_env.sh 3.4 'a; {}'"]
)
def test_what_stands_in_a_comment_behind_set_env_is_not_typed(line):
    """Regression: it counted as typed, and what the script had set earned the points."""
    student = Student("3")
    student.does("step-1", "step-2", "unshaped")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.types("h1", line.format("sudo tc qdisc add dev h1-eth0 root netem delay 100ms"))
    set_now = replace(state_of({"delay_ns": 100_000_000}), set_env=SetEnv(1))
    student.guide.see(StateEvidence(set_now, 2.0))
    assert (student.status("delay-h1").good, student.state("delay-h1").given) == (True, True)


def test_a_line_full_of_set_env_is_read_once():
    """However often it names the script, and however it is written."""
    student = Student("3")
    student.types("client", "sudo ./set_env.sh 3.4; " * 2000 + "true")
    student.types("client", 'sudo ./set_env".sh" 3.4; ' * 2000)
    student.types("client", "./set_env.sh " + "set_env.sh " * 8000)
    assert not student.guide.not_followed


@pytest.mark.parametrize(
    "script",
    [
        *("sudo ./set_env.sh 3.4", "sh /tmp/set_env.sh", "time ./set_env.sh 3.4", "bash -x set_env.sh 3.4"),
        *("./set_env.sh 3.4 | tee log", "sudo env LC_ALL=C ./set_env.sh 3.4", "cd .. && ~/set_env.sh 3.4"),
    ],
)
def test_what_the_kernel_says_after_set_env_is_not_own(script):
    """Nor is it of another script of that name; what another line sets then is."""
    student = Student("3")
    student.does("step-1", "step-2", "unshaped")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.types("client", script)
    student.guide.see(StateEvidence(state_of({"delay_ns": 100_000_000}), 2.0))
    assert (student.status("delay-h1").good, student.state("delay-h1").given) == (True, True)
    student.types("h1", "sh mine.sh")
    student.guide.see(StateEvidence(state_of({"delay_ns": 50_000_000}), 3.0))
    assert (student.status("change-h1").good, student.state("change-h1").given) == (True, False)


@pytest.mark.parametrize(
    "line", ["sudo ./set_*.sh end", "cat set_*.sh | sudo bash", "s end", "perl -e 'sleep 20'", "sudo bash mine.sh end"]
)
def test_what_the_script_sets_is_not_own_in_whatever_way_it_runs(line):
    """By a pattern, a pipe, a function, a copy, or in the background: the script tells of itself, not the line."""
    student = Student("3")
    student.until("delay-h1")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.types("client", line)
    set_now = state_of({"delay_ns": 100_000_000})
    student.guide.see(StateEvidence(replace(set_now, set_env=SetEnv(1)), 3.0))
    assert (student.status("delay-h1").good, student.state("delay-h1").given) == (True, True)
    student.types("h1", "for i in 1; do tc qdisc change dev h1-eth0 root netem delay 50ms; done")
    student.guide.see(StateEvidence(replace(state_of({"delay_ns": 50_000_000}), set_env=SetEnv(1)), 4.0))
    assert (student.status("change-h1").good, student.state("change-h1").given) == (True, False)


def test_while_the_script_runs_nothing_that_the_kernel_alone_tells_of_is_own():
    """Regression: it was stopped in the middle, and what it set later was put down to the line that was seen last."""
    student = Student("3")
    student.until("delay-h1")
    student.guide.see(StateEvidence(replace(state_of({}), set_env=SetEnv(1, running=True)), 1.0))
    student.types("h1", "perl -e 'sleep 20'")
    set_now = replace(state_of({"delay_ns": 100_000_000}), set_env=SetEnv(1, running=True))
    student.guide.see(StateEvidence(set_now, 2.0))
    assert student.state("delay-h1").given
    ended = replace(state_of({"delay_ns": 50_000_000}), set_env=SetEnv(1))
    student.guide.see(StateEvidence(ended, 3.0))
    assert student.state("change-h1").given


def test_looking_at_the_script_is_not_running_it():
    """Regression: after `nano ~/set_env.sh` nothing was the student's own that only the kernel tells of."""
    student = Student("3")
    student.until("delay-h1")
    student.guide.see(StateEvidence(state_of({}), 1.0))
    student.guide.see(TypedEvidence("client", "nano ~/set_env.sh", 2.0))
    student.types("h1", "for i in 1; do tc qdisc add dev h1-eth0 root netem delay 100ms; done")
    student.guide.see(StateEvidence(state_of({"delay_ns": 100_000_000}), 3.0))
    assert (student.status("delay-h1").good, student.state("delay-h1").given) == (True, False)


def test_what_is_undone_before_where_set_env_led_comes_next():
    """Regression: the next step was one behind it, which the kernel then refused, and nothing said why."""
    student = Student("3")
    student.types("client", "sudo ./set_env.sh 3.5", "Section 3.5 can begin.\n")
    for host in ("h1", "h2"):
        student.types(host, f"tc qdisc add dev {host}-eth0 root netem delay 100ms")
    assert student.guide.next_step().id == "change-h1"
    student.types("h1", "tc qdisc del dev h1-eth0 root")
    following = student.guide.next_step()
    assert (following.id, following.undone, following.left_out) == ("delay-h1", True, False)
    assert following.story.endswith("since “tc qdisc del dev h1-eth0 root” in h1")
    student.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms")
    assert student.guide.next_step().id == "change-h1"


def test_a_measurement_left_out_says_what_it_needs_first():
    """Regression: it was the next step, but its ping no longer counted, since a later step's command had been typed."""
    student = Student("3")
    student.until("both-sides")
    student.does("change-h1")
    following = student.guide.next_step()
    assert (following.id, following.left_out) == ("both-sides", True)
    assert following.story == (
        "left out, and it would show something else now: netem delay 100ms on h1-eth0 (“On h1 delay everything that "
        "leaves by 100 ms”) is not set: h1-eth0 has netem delay 50ms; wanted is netem delay 100ms. "
        "“sudo ~/set_env.sh 3.4” undoes your settings and makes those that the lab has before section 3.4, "
        "which earn no point then where the lab is graded."
    )
    student.types("h1", "tc qdisc change dev h1-eth0 root netem delay 100ms")
    assert student.guide.next_step().story == ""
    student.does("both-sides")
    assert student.status("both-sides") is DONE
    assert student.guide.next_step().id == "change-h1"


def test_asking_the_guide_is_no_step():
    """`linklab step` is typed in the terminals that are followed."""
    student = Student("12")
    student.until("spacing")
    student.types("h1", "linklab step --check", status=1)
    assert student.status("spacing") is OPEN


def test_mininets_own_network_is_there_once_it_begins():
    """`sudo mn` ends with the network; its step is done when the reader goes on at its prompt."""
    guide = Guide(load_lab(find_lab("1")))
    guide.see(TypedEvidence("client", "sudo mn", 1.0))
    assert {state.id: state.status for state in guide.steps()}["mn"] is GuideStatus.DONE


def test_a_ping_that_is_stopped_by_hand_may_be_longer():
    """Regression: five replies where the manual's own run had four were called wrong."""
    guide = Guide(load_lab(find_lab("1")))
    guide.see(TypedEvidence("client", "sudo mn", 1.0))
    scalars = {"ping.sent": (5.0, "1"), "ping.received": (5.0, "1"), "ping.loss.fraction": (0.0, "1")}
    scalars |= {"ping.rtt.min": (4e-6, "s"), "ping.rtt.mean": (6e-4, "s"), "ping.rtt.max": (3e-3, "s")}
    guide.see(TypedEvidence("client", "h1 ping 10.0.0.2", 2.0, 7.0, "5 packets transmitted", 130, scalars))
    state = next(state for state in guide.steps() if state.id == "ping")
    assert (state.status, state.story) == (GuideStatus.DONE, "")


def test_what_the_kernel_has_always_had_moves_no_step():
    """Regression: CUBIC, told after a first line had been typed, passed over the steps that choose Reno and BBR."""
    student = Student("11")
    steps = [step.id for step in student.lab.manual.steps]
    student.does(*steps[: steps.index("reno-small-set")])
    node = Node({}, (), {"net.ipv4.tcp_congestion_control": "cubic"})
    student.guide.see(StateEvidence(State({"h1": node, "client": Node({})}), 1.0))
    student.does("reno-small-set")
    assert student.status("reno-small-set") is DONE
