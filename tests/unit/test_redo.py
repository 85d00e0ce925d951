# SPDX-License-Identifier: BSD-3-Clause
"""How a progress is done once more: in which order, in which terminals, and what ends what."""

import contextlib
import math
import time
from pathlib import Path

import pytest

from linklab.engine.api import Background, Completed, Shows, StopAfter
from linklab.errors import AgentError, BootError, DeadlineError, ShortageError
from linklab.guide import redo
from linklab.guide.claims import MostMeasured
from linklab.guide.evidence import EditorEvidence, FileEvidence, StateEvidence, TypedEvidence
from linklab.guide.redo import BESIDE_S, Redoing
from linklab.lab.model import find_lab, load_lab
from linklab.state.model import State
from linklab.state.node import Interface, Node

ROOT = Path(__file__).resolve().parents[2]
STATE = State({"client": Node({}), "h1": Node({"h1-eth0": Interface(up=True, mtu=1500)})})
BEGUN, CONTINUED = ("begun", None), ("continued", None)


class Remembered:
    """A network, and the engine that starts it, that remember what was typed; time goes on by what is waited for."""

    nodes = ("h1", "h2")

    def __init__(self, hangs=(), ends_shell=()):
        self.said, self.time_s, self.hangs, self.environment = [], 0.0, hangs, {"kernel": "1"}
        self.ends_shell, self.living = ends_shell, 1

    @contextlib.contextmanager
    def start(self, topology, **_):
        """Begin."""
        self.said.append("start")
        yield self
        self.said.append("close")

    def holds_many_files(self):
        """It has none."""
        return False

    def now_s(self):
        """Network time."""
        return self.time_s

    def run(self, actions, *, deadline_s):
        """Type one line."""
        (typed,) = actions
        if "node_state" in typed.text:
            return [Completed(typed.terminal, typed.text, STATE.dumps(), 0, self.time_s, self.time_s)]
        if typed.text == "echo /proc/[0-9]*":
            self.living += 1
            output = " ".join(f"/proc/{number}" for number in range(1, self.living + 1))
            return [Completed(typed.terminal, typed.text, f"{output}\n", 0, self.time_s, self.time_s)]
        begin_s = self.time_s
        match typed.finish:
            case Background():
                self.said.append(f"{typed.terminal}& {typed.text}")
            case StopAfter(seconds=seconds, pattern=pattern):
                self.said.append(f"{typed.terminal}({seconds:g}{'?' * bool(pattern)}) {typed.text}")
                self.time_s += 1.0
            case Shows():
                self.said.append(f"{typed.terminal}? {typed.text}")
            case _:
                self.said.append(f"{typed.terminal} {typed.text}")
                if typed.text.startswith("sleep "):
                    self.time_s += float(typed.text.removeprefix("sleep "))
        if typed.text in self.hangs:
            raise DeadlineError("late")
        if typed.text in self.ends_shell:
            raise AgentError("its shell ended")
        return [Completed(typed.terminal, typed.text, f"out of {typed.text}\n", 0, begin_s, self.time_s)]

    def stop(self, terminal, *, deadline_s, suspend=False):
        """Ctrl+C, or Ctrl+Z."""
        self.said.append(f"{terminal} {'^Z' if suspend else '^C'}")
        return Completed(terminal, "", "stopped\n", 148 if suspend else 130, 0.0, self.time_s)

    def finished(self, terminal, *, deadline_s, within_s):
        """Wait."""
        more = f" and {within_s - BESIDE_S:g}" if within_s != BESIDE_S else ""
        self.said.append(f"{terminal} wait{more}")
        return Completed(terminal, "", "finished\n", 0, 0.0, self.time_s)


@pytest.fixture(scope="module")
def lab():
    """Lab 3, whose network is drawn."""
    return load_lab(find_lab("3", ROOT))


def begins(text, start_s, node="h1"):
    """A line begins."""
    return ("typed", TypedEvidence(node, text, start_s))


def ends(text, start_s, end_s, node="h1", output=""):
    """A line has ended."""
    return ("typed", TypedEvidence(node, text, start_s, end_s, output, 0))


def redone(lab, folder, *entries, until_s=math.inf, most_s=math.inf, **network):
    """What was typed, and what was seen."""
    remembered = Remembered(**network)
    redoing = Redoing(lab, remembered, folder, min(until_s, time.monotonic() + 60), most_s)
    seen = list(redoing.evidence(entries))
    return remembered.said, seen, redoing


def test_lines_alone_are_typed_one_after_the_other(lab, tmp_path):
    """Pauses of people are left out; after a line that may set something the kernel is asked."""
    said, seen, redoing = redone(
        lab,
        tmp_path,
        BEGUN,
        ("editor", EditorEvidence(("run",))),
        ("state", StateEvidence(State({"client": Node({})}), 0.0)),
        begins("ping -c 1 10.0.0.2", 100.0),
        ends("ping -c 1 10.0.0.2", 100.0, 104.0, output="forged"),
        begins("tc qdisc del dev h1-eth0 root", 900.0),
        ends("tc qdisc del dev h1-eth0 root", 900.0, 900.0),
    )
    lines = [one for one in said if "sleep" not in one]
    assert lines == ["start", "h1(42) ping -c 1 10.0.0.2", "h1(30) tc qdisc del dev h1-eth0 root", "close"]
    assert all(float(one.rpartition(" ")[2]) <= 1.0 for one in said if "sleep" in one)
    typed = [each for each in seen if isinstance(each, TypedEvidence)]
    assert [(each.text[:4], each.ended, each.output) for each in typed[:2]] == [
        ("ping", False, ""),
        ("ping", True, "out of ping -c 1 10.0.0.2\n"),
    ]
    assert [each.state for each in seen if isinstance(each, StateEvidence)] == [STATE, STATE]
    assert (redoing.stopped, redoing.environment) == ("", {"kernel": "1"})


def test_lines_that_overlap_overlap_again(lab, tmp_path):
    """In as many terminals as are needed, at their distance in time; Ctrl+C ends what it ended."""
    said, _, _ = redone(
        lab,
        tmp_path,
        BEGUN,
        begins("iperf3 -s", 10.0, "h2"),
        begins("ping 10.0.0.2", 11.0),
        begins("iperf3 -c 10.0.0.2", 13.0),
        ends("iperf3 -c 10.0.0.2", 13.0, 23.0),
        ends("ping 10.0.0.2", 11.0, 30.0, output="^C"),
        CONTINUED,
        begins("ls", 5.0, "h2"),
        ends("ls", 5.0, 5.0, "h2"),
    )
    assert [one for one in said if "#pause" not in one] == [
        "start",
        "h2& iperf3 -s",
        "h1& ping 10.0.0.2",
        "h1#2(60) iperf3 -c 10.0.0.2",
        "h1 ^C",
        "h2 ^C",
        "client#look kill -9 3 2>/dev/null; sleep 0.1",
        "h2#21(30) ls",
        "close",
    ]
    waits = [float(one.rpartition(" ")[2]) for one in said if "#pause" in one]
    assert waits[1:4] == pytest.approx([1.0, 2.0, 16.0])


def test_a_long_line_gets_the_time_of_a_pause_that_is_left_out(lab, tmp_path):
    """Regression: a test of two minutes got Ctrl+C after one where a line was typed beside it, as did long sweeps."""
    said, _, _ = redone(
        lab,
        tmp_path,
        BEGUN,
        begins("linklab sweep a.toml", 10.0),
        begins("ls", 11.0, "h2"),
        ends("ls", 11.0, 11.0, "h2"),
        ends("linklab sweep a.toml", 10.0, 2011.0),
    )
    assert said[-2:] == ["h1 wait and 1399", "close"]  # the other line took a second here


def test_a_network_of_ones_own_is_left_at_its_prompt(tmp_path):
    """Lab 1 types `sudo mn`, works at its prompt, and leaves it.

    Regression: a ping there, which Ctrl+C ended for the student, went on until all time was up: 1 of 15 points.
    """
    said, seen, _ = redone(
        load_lab(find_lab("1", ROOT)),
        tmp_path,
        BEGUN,
        begins("sudo mn", 1.0, "client"),
        begins("nodes", 2.0, "client"),
        ends("nodes", 2.0, 3.0, "client"),
        begins("h1 ping 10.0.0.2", 1.000003, "client"),  # no marks there tell when
        ends("h1 ping 10.0.0.2", 1.000003, 1.000004, "client", output="^C"),
        begins("exit", 7.0, "client"),
        ends("exit", 7.0, 8.0, "client"),
        ends("sudo mn", 1.0, 8.0, "client"),
    )
    assert [one for one in said if "#pause" not in one] == [
        "start",
        "client? sudo mn",
        "client(7200?) nodes",
        "client(5?) h1 ping 10.0.0.2",
        "client(7200) exit",
        "close",
    ]
    assert [(each.text, each.ended) for each in seen if isinstance(each, TypedEvidence)][-1] == ("sudo mn", True)


def test_a_prompt_that_was_left_by_a_key_is_left_by_a_word(tmp_path):
    """Regression: Ctrl+D is no line, so `sudo mn` went on, and what was typed next never ended."""
    said, _, _ = redone(
        load_lab(find_lab("1", ROOT)),
        tmp_path,
        BEGUN,
        begins("sudo mn", 1.0, "client"),
        ends("sudo mn", 1.0, 5.0, "client"),
        begins("sudo mn -c", 6.0, "client"),
        ends("sudo mn -c", 6.0, 8.0, "client"),
    )
    assert [one for one in said if "#pause" not in one] == [
        "start",
        "client? sudo mn",
        "client(7200) exit",
        "client(36) sudo mn -c",
        "close",
    ]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("sudo mn -c && linklab step", "sudo mn -c"),
        ("linklab step --hint ; ls", "ls"),
        ("ls; linklab step show ", "ls"),
        ("echo 'a; linklab step b'", "echo 'a; linklab step b'"),
        ("ls && linklab step > a", "ls && linklab step > a"),
        ("linklab link h1 s1 down && ls", "linklab link h1 s1 down && ls"),
    ],
)
def test_what_asks_the_guide_is_not_typed_again(lab, tmp_path, text, typed):
    """Regression: there is no guide to ask, so its failure was taken for that of the line."""
    said, seen, _ = redone(lab, tmp_path, BEGUN, begins(text, 1.0), ends(text, 1.0, 2.0))
    assert [one for one in said if "#pause" not in one] == ["start", f"h1(33) {typed}", "close"]
    assert {each.text for each in seen if isinstance(each, TypedEvidence)} == {text}


SET = "sudo tc qdisc add dev h1-eth0 root netem delay 100ms"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        (f"{SET}; nano notes.txt", SET),
        (f"nano notes.txt; {SET}", SET),
        (f"man tc && {SET}", SET),
        (f"ls && nano a.sh; {SET}", f"ls; {SET}"),
        (f"ls; nano a.sh && {SET}", f"ls; {SET}"),
        (f"ls && nano a.sh && {SET}", f"ls && {SET}"),
        (f"{SET} && exit", SET),
        ("bash; ls", "ls"),
        ("ls; bash", "ls"),
        ("ls; exit", "ls"),
        ("iperf3 -s & nano x", "iperf3 -s &"),
        ("iperf3 -s & nano x; ls", "iperf3 -s & ls"),
        ("time nano x; ls", "ls"),
        ("nano x; ls # it's", "ls # it's"),
        (
            "nano x; tc qdisc add dev h1-eth0 root netem delay $(cat d)ms",
            "tc qdisc add dev h1-eth0 root netem delay $(cat d)ms",
        ),
        ("tc qdisc show | less -S > f", "tc qdisc show | less -S > f"),
        ("tc qdisc show | less", "tc qdisc show"),
        ("ifconfig 2>&1 |& more; ls", "ifconfig 2>&1; ls"),
        ("echo 'a; b | less' && vi x", "echo 'a; b | less'"),
        ("echo ${A:-;} \\; x; vi y", "echo ${A:-;} \\; x"),
    ],
)
def test_what_stands_beside_an_editor_is_typed(lab, tmp_path, text, typed):
    """Regression: the whole line was left out, and what it set was missing from then on."""
    said, seen, _ = redone(lab, tmp_path, BEGUN, begins(text, 1.0), ends(text, 1.0, 2.0))
    assert [one for one in said if "#pause" not in one] == ["start", f"h1(33) {typed}", "close"]
    assert {each.text for each in seen if isinstance(each, TypedEvidence)} == {text}


@pytest.mark.parametrize("text", ["nano x || ls", "(nano x; ls) && nano y", "nano 'x", "nano x `ls`"])
def test_a_line_that_is_no_plain_list_is_left_out_whole(lab, tmp_path, text):
    """Which of its commands ran, nobody knows."""
    said, _, _ = redone(lab, tmp_path, BEGUN, begins(text, 1.0), ends(text, 1.0, 2.0))
    assert [one for one in said if "#pause" not in one] == ["start", "close"]


@pytest.mark.parametrize(
    ("between", "terminal"),
    [
        (("editor", EditorEvidence(("closed", "h1"))), "h1#21"),
        (("editor", EditorEvidence(("closed", "h2"))), "h1"),
        (CONTINUED, "h1#21"),
    ],
)
def test_a_terminal_that_was_closed_is_a_new_one(lab, tmp_path, between, terminal):
    """Regression: its folder and its aliases outlived it, so a script beside the lab was not found."""
    entries = [begins("cd x", 1.0), ends("cd x", 1.0, 1.0), between, begins("ls", 5.0), ends("ls", 5.0, 6.0)]
    said, _, _ = redone(lab, tmp_path, BEGUN, *entries)
    assert [one for one in said if "#" not in one or "h1" in one] == [
        "start",
        "h1(30) cd x",
        f"{terminal}(33) ls",
        "close",
    ]


def test_a_file_of_the_networks_own_is_written_inside(tmp_path):
    """Regression: /etc/sysctl.conf, which Lab 6 edits, was not there when its lines were typed again.

    No other: in /proc/sys it would set what nobody has typed.
    """
    lab = load_lab(find_lab("6", ROOT))
    conf = ("file", FileEvidence("/etc/sysctl.conf", "net.ipv4.ip_forward=1\n"))
    other = ("file", FileEvidence("/proc/sys/net/ipv4/ip_forward", "1\n"))
    said, _, redoing = redone(lab, tmp_path, BEGUN, conf, other, begins("sysctl -p", 1.0), ends("sysctl -p", 1.0, 1.0))
    assert [one for one in said if "#pause" not in one] == [
        "start",
        "client#look echo bmV0LmlwdjQuaXBfZm9yd2FyZD0xCg== | base64 -d > /etc/sysctl.conf",
        "h1(30) sysctl -p",
        "close",
    ]
    assert redoing.otherwise == ['the file "/proc/sys/net/ipv4/ip_forward", which was not written']


@pytest.mark.parametrize(("lasted_s", "limit_s"), [(59.0, 207.0), (60.0, 630.0), (410.0, 4130.0), (1000.0, 7200.0)])
def test_a_long_line_may_take_ten_times_as_long(lab, tmp_path, lasted_s, limit_s):
    """Regression: a sweep of Lab 22 makes 5 to 40 runs, until it is sure, and was stopped after three times as many."""
    entries = [begins("linklab sweep a.toml", 0.0), ends("linklab sweep a.toml", 0.0, lasted_s)]
    said, _, _ = redone(lab, tmp_path, BEGUN, *entries)
    assert f"h1({limit_s:g}) linklab sweep a.toml" in said


def test_what_ctrl_z_suspended_goes_on_in_its_terminal(lab, tmp_path):
    """Regression: it was ended by Ctrl+C, `bg` found no job, and all clients of the server failed."""
    suspended = ("typed", TypedEvidence("h2", "iperf3 -s", 1.0, 3.0, "^Z", 148))
    entries = [begins("sleep 9", 0.0, "h2"), begins("iperf3 -s", 1.0, "h2"), suspended, begins("bg", 4.0, "h2")]
    more = [ends("bg", 4.0, 4.0, "h2"), ends("sleep 9", 0.0, 9.0, "h2"), begins("kill %1", 10.0, "h2")]
    said, seen, _ = redone(lab, tmp_path, BEGUN, *entries, *more, ends("kill %1", 10.0, 10.0, "h2"))
    assert [one for one in said if "#pause" not in one] == [
        "start",
        "h2& sleep 9",
        "h2#2& iperf3 -s",
        "h2#2 ^Z",
        "h2#2(30) bg",
        "h2 wait",
        "h2#2(30) kill %1",
        "close",
    ]
    assert next(each.status for each in seen if isinstance(each, TypedEvidence) and each.ended) == 148


def test_a_line_that_ends_its_shell_does_not_end_the_lab(lab, tmp_path):
    """What it set counts by what the kernel says; regression: all that came after counted as not done."""
    text = "exec sudo tc qdisc add dev h1-eth0 root netem delay 100ms"
    entries = [begins(text, 1.0), ends(text, 1.0, 1.0), begins("ls", 2.0), ends("ls", 2.0, 2.0)]
    said, seen, redoing = redone(lab, tmp_path, BEGUN, *entries, ends_shell=[text])
    assert [one for one in said if "#pause" not in one] == ["start", f"h1(30) {text}", "h1(30) ls", "close"]
    assert redoing.stopped == ""
    kinds = [type(each).__name__ for each in seen]
    assert kinds == ["StateEvidence", "TypedEvidence", "StateEvidence", "TypedEvidence", "TypedEvidence"]


def test_lines_that_are_left_out_write_no_files_meanwhile(lab, tmp_path, monkeypatch):
    """Regression: 1,000 of them wrote 7,900 files each, so grading ended as an error of ours."""
    written = []
    monkeypatch.setattr(Redoing, "_write", lambda _, file: written.append(file.path) or file)
    editors = [begins(f"nano {number}", 1.0) for number in range(9)]
    files = [("file", FileEvidence(str(number), "x")) for number in range(9)]
    redone(lab, tmp_path, BEGUN, *editors, *files, *(ends(f"nano {number}", 1.0, 2.0) for number in range(9)))
    assert written == [str(number) for number in range(9)]


def test_what_files_hold_that_are_written_is_bounded(lab, tmp_path, monkeypatch):
    """Regression: 228 kB of archive had the grader write 26 GB to its disk."""
    monkeypatch.setattr(redo, "_MOST_WRITTEN", 2**20)
    files = [("file", FileEvidence("a", "x" * 2**19))] * 3
    _, _, redoing = redone(lab, tmp_path, BEGUN, *files)
    assert redoing.stopped == "the progress writes more than 1 MiB into files"


def test_the_time_of_the_grader_is_asked_at_each_entry(lab, tmp_path, monkeypatch):
    """Also where nothing is typed."""
    spent = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: spent[0])
    monkeypatch.setattr(Redoing, "_write", lambda *_: spent.__setitem__(0, spent[0] + 1.0))
    files = [("file", FileEvidence("a", "x"))] * 9
    _, _, redoing = redone(lab, tmp_path, BEGUN, *files, most_s=3.0)
    assert redoing.stopped == "reading it and doing it again took the grader more than 3 s of processor time"
    assert spent[0] == 4.0


def test_a_line_that_ends_with_another_status_is_told(lab, tmp_path):
    """But not one that Ctrl+C ended, of which the status says when."""
    stopped = ("typed", TypedEvidence("h1", "ping h2", 3.0, 9.0, "^C", 1))
    _, _, redoing = redone(
        lab,
        tmp_path,
        BEGUN,
        begins("sh mine.sh", 1.0),
        ("typed", TypedEvidence("h1", "sh mine.sh", 1.0, 2.0, "", 3)),
        begins("ping h2", 3.0),
        stopped,
        begins("ls", 10.0),
        ends("ls", 10.0, 10.0),
    )
    assert redoing.otherwise == ['"sh mine.sh" on h1 (status 0, the student\'s 3)']


def test_what_waits_for_keys_is_not_typed(lab, tmp_path):
    """An editor would wait for ever; what it wrote is there when it is used."""
    said, seen, _ = redone(
        lab,
        tmp_path,
        BEGUN,
        begins("nano mine.sh", 1.0),
        ends("nano mine.sh", 1.0, 60.0),
        begins("sh mine.sh", 61.0),
        ("file", FileEvidence("mine.sh", "echo\n")),
        ends("sh mine.sh", 61.0, 62.0),
    )
    assert [one for one in said if "#pause" not in one] == ["start", "h1(33) sh mine.sh", "close"]
    assert (tmp_path / "mine.sh").read_text(encoding="utf-8") == "echo\n"
    assert FileEvidence("mine.sh", "echo\n") in seen


@pytest.mark.parametrize(
    "text",
    [
        *("bash", "sudo -i", "sudo bash", "sudo su -", "su", "sh -i", "python3", "/bin/bash -l", "sudo -u root -i"),
        *("exec bash", "env A=1 bash", "bash --norc", "python3 -q", "python3 -i x.py"),
        *("gnuplot", "cat > mine.sh", "cat", "timeout 600 bash", "mnexec -a 7 bash", "script log.txt"),
        *("sudo editor x", "sudoedit x", "vim.tiny x", "/usr/bin/vim.basic x", "nice -n 5 view x"),
    ],
)
def test_a_shell_that_waits_for_lines_is_left_out(lab, tmp_path, text):
    """Regression: no Ctrl+C ends it, so the network waited for it, and what was typed after it was not done."""
    said, _, _ = redone(
        lab, tmp_path, BEGUN, begins(text, 1.0), ends(text, 1.0, 60.0), begins("ls", 61.0), ends("ls", 61.0, 62.0)
    )
    assert [one for one in said if "#pause" not in one] == ["start", "h1(33) ls", "close"]


@pytest.mark.parametrize(
    "text",
    [
        "bash mine.sh",
        "echo 1 | bc",
        "sudo ls",
        "bash < mine.sh",
        "python3 -c 1",
        "sudo",
        "bash --version",
        "cat x",
        "ls | cat",
    ],
)
def test_a_shell_that_has_something_to_do_is_typed(lab, tmp_path, text):
    """What it is to do is here."""
    said, _, _ = redone(lab, tmp_path, BEGUN, begins(text, 1.0), ends(text, 1.0, 2.0))
    assert [one for one in said if "#pause" not in one] == ["start", f"h1(33) {text}", "close"]


def test_a_line_that_hangs_does_not_end_the_rest(lab, tmp_path):
    """It stays where it is, and the next one is typed beside it."""
    said, seen, redoing = redone(
        lab,
        tmp_path,
        BEGUN,
        begins("cat", 1.0),
        ends("cat", 1.0, 2.0),
        begins("ls", 3.0),
        ends("ls", 3.0, 3.0),
        hangs=["cat"],
    )
    assert "h1(30) ls" in said
    assert [each.text for each in seen if isinstance(each, TypedEvidence) and each.ended][-1] == "ls"
    assert redoing.stopped == ""


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside", "a/../../outside"])
def test_no_file_is_written_outside_the_folder(lab, tmp_path, path):
    """The progress is a stranger's."""
    folder = tmp_path / "work"
    folder.mkdir()
    redone(lab, folder, BEGUN, ("file", FileEvidence(path, "harm")))
    assert [each.name for each in tmp_path.rglob("*")] == ["work", "set_env.sh"]


def test_files_without_end_are_not_written(lab, tmp_path):
    """Regression: 60 lines of a progress made 36,000 folders on the grader's disk."""
    named = [("file", FileEvidence(f"{number}/{'a/' * 7}x", "")) for number in range(600)]
    _, _, redoing = redone(lab, tmp_path, BEGUN, *named)
    assert redoing.stopped == "the progress names more than 500 files"
    assert len(list(tmp_path.rglob("*"))) == 1 + 500 * 9


def test_time_that_is_up_is_said(lab, tmp_path):
    """What was not done is not done."""
    _, seen, redoing = redone(lab, tmp_path, BEGUN, begins("ls", 1.0), ends("ls", 1.0, 1.0), until_s=0.0)
    assert redoing.stopped == "the time for it was up"
    assert not any(isinstance(each, TypedEvidence) for each in seen)


def test_lines_that_do_not_end_are_waited_for_three_times_in_all_networks(lab, tmp_path):
    """Regression: a line in each network stopped the agent, and each was waited for anew, for half an hour in all."""
    lines = [part for at in range(4) for part in (BEGUN, begins("x", at), ends("x", at, at + 0.5))]
    said, _, redoing = redone(lab, tmp_path, *lines, hangs=("x",))
    assert redoing.stopped == '3 lines ended for the student but not here; the last is "x" on h1'
    assert said.count("start") == 3
    assert redoing.in_vain == ['"x" on h1'] * 3


def test_a_line_for_which_there_is_no_room_is_not_measured(lab, tmp_path, monkeypatch):
    """What was done is seen all the same."""
    monkeypatch.setattr(redo, "_MOST_MEASURED", MostMeasured(5, 60.0, 90.0, 3 * 2**30))
    _, seen, redoing = redone(lab, tmp_path, BEGUN, begins("ls", 1.0), ends("ls", 1.0, 1.0))
    (line,) = (each for each in seen if isinstance(each, TypedEvidence) and each.ended)
    assert line.broken == "not measured: with it, what lines showed and wrote would have more than 0 MiB"
    assert (line.status, redoing.stopped) == (0, "")


def test_a_progress_that_takes_us_too_long_ends_where_it_is(lab, tmp_path):
    """Regression: 4,000 lines that touch 490 files each took all time of the grading process, and so got no mark."""
    _, seen, redoing = redone(lab, tmp_path, BEGUN, begins("ls", 1.0), ends("ls", 1.0, 1.0), most_s=0.0)
    assert redoing.stopped == "reading it and doing it again took the grader more than 0 s of processor time"
    assert not any(isinstance(each, TypedEvidence) for each in seen)


def test_a_progress_without_a_network_is_not_done(lab, tmp_path):
    """As one that was written by hand."""
    said, _, redoing = redone(lab, tmp_path, begins("ls", 1.0), ends("ls", 1.0, 1.0))
    assert (said, redoing.stopped) == ([], "the progress does not say that a network began")


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("a/b", "", '"a/b" of the progress cannot be written: File exists'),
        ("b/" * 9 + "x", "", "of the progress lies in more than 8 folders"),
        ("x" * 300, "", "cannot be written: File name too long"),
        ("a\0b", "", "cannot be written: embedded null byte"),
        ("c", "\ud800", "cannot be written: 'utf-8' codec can't encode character"),
    ],
    ids=["a file's and a folder's", "too deep", "too long", "NUL", "half a character"],
)
def test_a_file_that_nobody_can_write_ends_it(lab, tmp_path, path, text, why):
    """Regression: a progress that names one was an error of the grader's."""
    entries = BEGUN, ("file", FileEvidence("a", "1")), ("file", FileEvidence(path, text)), begins("true", 1.0)
    said, _, redoing = redone(lab, tmp_path, *entries)
    assert why in redoing.stopped
    assert (tmp_path / "a").read_text() == "1"
    assert not any("true" in one for one in said)


@pytest.mark.parametrize("error", [BootError("no kernel"), ShortageError("no memory")])
@pytest.mark.parametrize("when", [1, 2])
def test_a_machine_that_has_no_room_for_a_network_is_no_end_of_the_work(lab, tmp_path, when, error):
    """Regression: where the second network did not start, what had been done until then was graded."""

    class Fails(Remembered):
        def start(self, topology, **options):
            if self.said.count("start") + 1 == when:
                raise error
            return super().start(topology, **options)

    redoing = Redoing(lab, Fails(), tmp_path, time.monotonic() + 60)
    with pytest.raises(type(error)):
        [*redoing.evidence([BEGUN, BEGUN])]
    assert redoing.stopped == ""
