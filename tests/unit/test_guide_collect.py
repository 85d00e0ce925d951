# SPDX-License-Identifier: BSD-3-Clause
"""What the collector makes of a network: lines with what they measured, files, and the kernel's state."""

import base64
import gzip
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import ScriptedNetwork

from linklab.guide import claims, collect
from linklab.guide.claims import SLOW_S, LineFiles, MostMeasured
from linklab.guide.collect import Collector
from linklab.guide.evidence import EditorEvidence, FileEvidence, StateEvidence, TypedEvidence
from linklab.guide.folders import ShellFolders
from linklab.run.replay import measure_output
from linklab.run.workfolder import WorkFolder
from linklab.state.model import State
from linklab.state.node import Node
from linklab.terminal import attach_server
from linklab.terminal.attach_server import AttachServer

EMPTY = State({"client": Node({})})
PING = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=100 ms

--- 10.0.0.2 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 100.000/100.000/100.000/0.000 ms
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A network that shows what it is told, and all that its collector says."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    work = tmp_path / "work"
    work.mkdir()
    network, seen = ScriptedNetwork({}, work, ["h1", "h2"]), []
    with (
        AttachServer(network.link, network.nodes, "Lab", None, work) as attach,
        Collector(network, attach, work, seen.append, wanted=["start.toml"]) as collector,
    ):
        yield network, seen, work, collector


def shows(network, text, terminal="t1"):
    """A terminal shows a text."""
    network.link.say("data", terminal=terminal, data=base64.b64encode(text.encode()).decode())


def command(network, text, output="", *, status=0, at=1, terminal="t1"):
    """A line is typed and ends."""
    shows(network, f"\x1b]133;C;linklab;h1;{at}000000;{text}\x07", terminal)
    shows(network, f"{output}\x1b]133;D;linklab;h1;{at}500000;{status}\x07", terminal)


def wait(seen, test):
    """The first evidence that passes a test."""
    end_s = time.monotonic() + 10
    while time.monotonic() < end_s:
        for each in seen:
            if test(each):
                return each
        time.sleep(0.02)
    raise AssertionError(seen)


def has_ended(text):
    """Whether evidence is that of a line that has ended."""
    return lambda each: isinstance(each, TypedEvidence) and each.text == text and each.ended


def answered(network, number):
    """The program that asks the kernel has begun; it tells of an empty network and ends, so the collector goes on."""
    asked(network, number)
    shows(network, EMPTY.dumps(), f"t{number}")
    network.link.say("closed", terminal=f"t{number}", status=0)


def terminals_of(network, node):
    """The names of the terminals that have been opened there."""
    orders = enumerate(network.link.asked, 1)
    return [f"t{place}" for place, (op, fields) in orders if op == "open" and fields.get("node") == node]


def asked(network, number):
    """The network has been asked for so many terminals and the like."""
    end_s = time.monotonic() + 10
    while len(network.link.asked) < number:
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_a_terminal_that_somebody_opens_is_evidence(desk):
    """Also one that was open before; a program that runs in one of its own is no terminal of somebody's."""
    network, seen, _, collector = desk
    answered(network, 1)
    shell, plot = collector.attach.connect(), collector.attach.connect()
    size = {"rows": 24, "columns": 80, "term": "xterm"}
    plot.send({"op": "open", "node": "h2", "argv": ["plot_q.sh"], **size})
    shell.send({"op": "open", "node": "h1", **size})
    wait(seen, lambda each: each == EditorEvidence(("opened", "h1")))
    assert collector.attach.open_shells() == ["h1"]
    later = []
    with Collector(network, collector.attach, collector.folder, later.append):
        answered(network, 5)  # after the first one, its end, and both terminals
        wait(later, lambda each: each == EditorEvidence(("opened", "h1")))
    assert EditorEvidence(("opened", "h2")) not in [*seen, *later]
    for connection in (shell, plot):
        connection.end()


def test_a_terminal_that_ends_is_evidence(desk):
    """By `exit`, or closed with its window; the last one of a node is told."""
    network, seen, _, collector = desk
    answered(network, 1)
    size = {"rows": 24, "columns": 80, "term": "xterm"}
    names = []
    first, second = collector.attach.connect(), collector.attach.connect()
    for connection in (first, second):
        connection.send({"op": "open", "node": "h1", **size})
        end_s = time.monotonic() + 10
        while not (new := set(terminals_of(network, "h1")).difference(names)):  # others are asked for meanwhile
            assert time.monotonic() < end_s
            time.sleep(0.01)
        names += new
    wait(seen, lambda each: each == EditorEvidence(("opened", "h1")))
    end_s = time.monotonic() + 10
    while sum(each == EditorEvidence(("opened", "h1")) for each in seen) < 2:
        assert time.monotonic() < end_s
        time.sleep(0.01)
    network.link.say("closed", terminal=names[0], status=0)
    time.sleep(0.1)
    assert EditorEvidence(("closed", "h1")) not in seen
    second.end()
    wait(seen, lambda each: each == EditorEvidence(("closed", "h1")))
    assert collector.attach.open_shells() == []
    first.end()


def test_what_runs_in_a_terminal_that_is_closed_has_ended(desk, monkeypatch):
    """Regression: after a student closed the terminal of a server, the step to stop it could not be done any more."""
    network, seen, _, _ = desk
    monkeypatch.setattr(network, "now_s", lambda: 7.5)
    answered(network, 1)
    shows(network, "\x1b]133;C;linklab;h2;2000000;iperf3 -s\x07Server listening on 5201\n", "t9")
    network.link.say("closed", terminal="t9", status=-1)
    line = wait(seen, has_ended("iperf3 -s"))
    assert line == TypedEvidence("h2", "iperf3 -s", 2.0, 7.5, "Server listening on 5201\n", 129)


def test_what_ends_with_its_network_is_still_running_for_the_guide(desk):
    """It is offered when the lab is continued."""
    network, seen, _, _ = desk
    answered(network, 1)
    shows(network, "\x1b]133;C;linklab;h2;2000000;iperf3 -s\x07", "t9")
    wait(seen, lambda each: isinstance(each, TypedEvidence))
    network.link.end("the network has ended")
    network.link.say("closed", terminal="t9", status=-1)
    time.sleep(0.1)
    assert [each.ended for each in seen if isinstance(each, TypedEvidence)] == [False]


def test_whoever_goes_while_a_terminal_is_opened_has_it_closed(desk, monkeypatch):
    """Regression: it was told as opened, by a client that had gone, and never as closed."""
    network, seen, _, collector = desk
    answered(network, 1)
    connection, tell = collector.attach.connect(), attach_server._Client.tell

    def goes_meanwhile(client, message):
        tell(client, message)
        if message["event"] == "opened":
            connection.end()
            while collector.attach.is_open("h1"):
                time.sleep(0.01)

    monkeypatch.setattr(attach_server._Client, "tell", goes_meanwhile)
    connection.send({"op": "open", "node": "h1", "rows": 24, "columns": 80, "term": "xterm"})
    wait(seen, lambda each: each == EditorEvidence(("closed", "h1")))
    assert [each.words for each in seen if isinstance(each, EditorEvidence)] == [("opened", "h1"), ("closed", "h1")]


def test_a_network_that_ends_closes_no_terminal_of_the_guides(desk, monkeypatch):
    """Regression: a view that was quick to let its terminal go had a step done that asks to close it."""
    network, seen, _, collector = desk
    answered(network, 1)
    connection, tell = collector.attach.connect(), attach_server._Client.tell
    connection.send({"op": "open", "node": "h1", "rows": 24, "columns": 80, "term": "xterm"})
    wait(seen, lambda each: each == EditorEvidence(("opened", "h1")))

    def goes_at_once(client, message):
        tell(client, message)
        if message["event"] == "error":
            connection.end()
            while collector.attach.is_open("h1"):
                time.sleep(0.01)

    monkeypatch.setattr(attach_server._Client, "tell", goes_at_once)
    network.link.end("the kernel has ended")
    collector._work.put(EditorEvidence(("opened", "h2")))  # behind whatever was told
    wait(seen, lambda each: each == EditorEvidence(("opened", "h2")))
    assert EditorEvidence(("closed", "h1")) not in seen


def test_a_line_is_measured_by_its_output_and_its_files(desk):
    """A ping, and a file of one that another line has written."""
    network, seen, work, _ = desk
    answered(network, 1)
    command(network, "ping -c 1 10.0.0.2", PING)
    line = wait(seen, has_ended("ping -c 1 10.0.0.2"))
    assert line.scalars["ping.rtt.mean"] == (0.1, "s")
    (work / "out.txt").write_text(PING.replace("100.000", "200.000"))
    command(network, "ping -c 1 10.0.0.2 > out.txt", at=3)
    line = wait(seen, has_ended("ping -c 1 10.0.0.2 > out.txt"))
    assert (line.files, line.scalars["ping.rtt.mean"]) == (("out.txt",), (0.2, "s"))


def test_a_file_belongs_to_the_running_line_that_names_it(desk):
    """iperf3 writes its file while another terminal's line ends."""
    network, seen, work, _ = desk
    answered(network, 1)
    shows(network, "\x1b]133;C;linklab;h1;1000000;iperf3 -c 10.0.0.2 -J > out.json\x07", "t7")
    wait(seen, lambda each: isinstance(each, TypedEvidence) and not each.ended)
    (work / "out.json").write_text("{}")
    command(network, "ls", "out.json\n", at=2, terminal="t8")
    assert wait(seen, has_ended("ls")).files == ()
    shows(network, "\x1b]133;D;linklab;h1;5000000;0\x07", "t7")
    assert wait(seen, has_ended("iperf3 -c 10.0.0.2 -J > out.json")).files == ("out.json",)


def test_the_text_of_a_file_that_the_manual_wants_is_evidence(desk):
    """Whatever program wrote it."""
    network, seen, work, _ = desk
    answered(network, 1)
    (work / "start.toml").write_text("a = 1\n")
    command(network, "cat start.toml")
    assert wait(seen, lambda each: isinstance(each, FileEvidence)) == FileEvidence("start.toml", "a = 1\n")


def test_in_a_folder_with_many_files_only_those_that_a_line_names_are_looked_at(desk):
    """A person may work in the home folder."""
    network, seen, work, collector = desk
    answered(network, 1)
    command(network, "ls")
    wait(seen, has_ended("ls"))
    collector._files.is_small = False
    (work / "one.txt").write_text(PING)
    (work / "two.txt").write_text(PING)
    command(network, "ping -c 1 10.0.0.2 >one.txt", at=5)
    assert wait(seen, has_ended("ping -c 1 10.0.0.2 >one.txt")).files == ("one.txt",)


def told(said, test):
    """What is said last, once it passes a test."""
    end_s = time.monotonic() + 10
    while not (said and test(said[-1])):
        assert time.monotonic() < end_s, said
        time.sleep(0.02)
    return said[-1]


def test_a_state_that_cannot_be_read_is_told_until_it_can(desk, monkeypatch):
    """Regression: the error was swallowed, and a step that was done stayed open without a word."""
    monkeypatch.setattr(collect, "AGAIN_S", 0.05)
    network, seen, _, collector = desk
    said = []
    collector.on_unread = said.append
    asked(network, 1)
    shows(network, "Segmentation fault\n", "t1")
    network.link.say("closed", terminal="t1", status=139)
    sentence = told(said, bool)
    assert sentence.startswith("The state of the network could not be read (")
    assert sentence.endswith("; if this stays, end the lab with Ctrl+C and continue it")
    assert not any(isinstance(each, StateEvidence) for each in seen)
    answered(network, 3)  # after the end of the first one
    assert told(said, lambda last: not last) == ""
    assert wait(seen, lambda each: isinstance(each, StateEvidence)) == StateEvidence(EMPTY, 0.0)
    assert said == [sentence, ""]


def test_a_program_that_never_answers_is_told(desk, monkeypatch):
    """Regression: the guide waited for it without end, and judged nothing more."""
    monkeypatch.setattr(collect, "READ_S", 0.2)
    _, _, _, collector = desk
    said = []
    collector.on_unread = said.append
    assert "The state of the network could not be read (no answer within 0.2 s)" in told(said, bool)


def test_a_file_that_cannot_be_read_is_told_until_it_can(desk, monkeypatch):
    """One that the manual wants; one that is not there is no trouble."""
    monkeypatch.setattr(collect, "AGAIN_S", 0.05)
    network, seen, work, collector = desk
    said = []
    collector.on_unread = said.append
    answered(network, 1)
    (work / "start.toml").mkdir()
    collector._read(str(work / "start.toml"), lambda: collector._tell_file("start.toml"))
    assert told(said, bool).startswith(f"{work / 'start.toml'} could not be read (Is a directory)")
    collector._work.put(EditorEvidence(("opened", "h1")))  # its own thread goes on, and tries again
    (work / "start.toml").rmdir()
    (work / "start.toml").write_text("a = 1\n")
    assert told(said, lambda last: not last) == ""
    assert wait(seen, lambda each: isinstance(each, FileEvidence)) == FileEvidence("start.toml", "a = 1\n")
    collector._tell_file("gone.toml")


def test_a_line_that_names_a_file_elsewhere_has_not_written_it(tmp_path):
    """Regression: in a folder with very many files, "../x.json" in a line had the grader read a file of the machine."""
    (tmp_path / "x.json").write_text('{"secret": "of the machine"}')
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "link.json").symlink_to("../x.json")
    (folder / "a.txt").write_text("nothing measured\n")
    files = LineFiles(folder)
    files.begin()
    files.is_small = False
    line = TypedEvidence("h1", f"cat a.txt ../x.json link.json {tmp_path}/x.json x/../../x.json", 1.0, 2.0, "", 0)
    files.begins(replace(line, end_s=None))
    assert files.ended(line).files == ("a.txt",)


def test_two_that_write_files_of_one_name_in_their_own_folders_have_their_own(tmp_path):
    """Regression: in Labs 17 and 18 the first of two tests to end had the other's file too, which was still empty."""
    files = LineFiles(tmp_path)
    files.begin()

    def ends(terminal, text, at_s):
        line = TypedEvidence(terminal, text, at_s)
        files.begins(line)
        return files.ended(replace(line, end_s=at_s, status=0))

    for host in ("h1", "h2"):
        (tmp_path / f"{host}_FIFO").mkdir()
        ends(host, f"mkdir {host}_FIFO && cd {host}_FIFO", 1.0)
    ends("h2", "cd ~ && cd nowhere/.. && cd /lab/h2_FIFO", 2.0)
    tests = [TypedEvidence(host, "iperf3 -c 10.0.0.3 -J > out.json", 3.0) for host in ("h1", "h2")]
    for test in tests:
        files.begins(test)
    (tmp_path / "h1_FIFO/out.json").write_text("{}")
    (tmp_path / "h2_FIFO/out.json").write_text("")
    assert files.ended(replace(tests[0], end_s=9.0, status=0)).files == ("h1_FIFO/out.json",)
    assert files.ended(replace(tests[1], end_s=9.1, status=0)).files == ("h2_FIFO/out.json",)


def test_a_machine_that_is_busy_does_not_decide_whose_a_file_is(tmp_path, monkeypatch):
    """Regression: where a look took long by the clock, a line had only the files that it names, so a step was lost."""
    look = WorkFolder.changed

    def slowly(self):
        time.sleep(2 * SLOW_S)
        return look(self)

    monkeypatch.setattr(WorkFolder, "changed", slowly)
    files = LineFiles(tmp_path)
    files.begin()
    line = TypedEvidence("mininet", "concurrent h1:h2", 1.0)
    files.begins(line)
    (tmp_path / "a.txt").write_text("x")
    assert files.ended(replace(line, end_s=2.0, status=0)).files == ("a.txt",)


def test_a_copy_is_of_the_line_that_makes_it(tmp_path):
    """And not of the next test, which would be judged by the old numbers."""
    files = LineFiles(tmp_path)
    (tmp_path / "backup").mkdir()
    (tmp_path / "out.json").write_text("{}")
    files.begin()
    copy = TypedEvidence("h1", "cp out.json backup/", 1.0)
    files.begins(copy)
    (tmp_path / "backup/out.json").write_text("{}")
    assert files.ended(replace(copy, end_s=1.0, status=0)).files == ("backup/out.json",)


def test_a_word_that_no_file_can_have_for_a_name_is_no_error(tmp_path):
    """As in a program that is typed."""
    files = LineFiles(tmp_path)
    files.begin()
    line = TypedEvidence("h1", f"echo {'a' * 300} b > c", 1.0)
    files.begins(line)
    (tmp_path / "c").write_text("b")
    assert files.ended(replace(line, end_s=1.0, status=0)).files == ("c",)


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (["cd a"], "a/x.json"),
        (["cd a && false"], "x.json"),
        (["mkdir -p a/b && cd a/b", "cd .."], "a/x.json"),
        (["cd /lab/a"], "a/x.json"),
        (["cd ~/a"], "a/x.json"),
        (["cd a", "cd"], "x.json"),
        (["cd /labs"], None),
        (["cd .."], None),
        (["cd /tmp", "cd /lab"], "x.json"),
        (["cd -"], None),
        ([f"cd {'a' * 250}/bc"], None),
    ],
)
def test_the_folder_of_a_shell_is_where_its_lines_led(typed, named):
    """Of a place outside of the working folder nothing is known."""
    folders = ShellFolders()
    for text in typed:
        folders.ended(TypedEvidence("h1", text, 1.0, 2.0, "", int(text.endswith("false"))))
    found = folders.named(TypedEvidence("h1", "iperf3 -J > x.json", 3.0))
    assert [path for path in found if path.endswith("x.json")] == ([named] if named else [])
    folders.closed("h1")
    assert "x.json" in folders.named(TypedEvidence("h1", "cat x.json", 3.0))


def test_why_a_file_cannot_be_read_names_no_folder_of_the_machine(tmp_path):
    """Regression: the report of a lab named a folder of the grader's, another one in each grading."""
    files = LineFiles(tmp_path)
    files.begin()
    line = TypedEvidence("h1", "iperf3 -c 10.0.0.2 -J > a.json", 1.0)
    files.begins(line)
    (tmp_path / "a.json").write_text('{"start": {}, "intervals": [{}], "end": {}}')
    seen = files.ended(replace(line, end_s=2.0, status=0))
    assert (seen.files, seen.broken) == (("a.json",), "a.json: iperf3's JSON holds no interval and no result")


def test_what_takes_too_long_to_read_is_not_measured_and_the_next_line_is(tmp_path, monkeypatch):
    """Regression: one file of a lab could take all time and memory of its grading, which then had no points at all."""

    def slowly(output, *args, **options):
        while "rows" in output:
            pass
        return measure_output(output, *args, **options)

    monkeypatch.setattr(claims, "measure_output", slowly)
    files = LineFiles(tmp_path, MostMeasured(2**24, 1.0, 90.0, 3 * 2**30))
    seen = []
    for number, output in enumerate(("rows", PING)):
        line = TypedEvidence("h1", "cat rows", number)
        files.begins(line)
        seen.append(files.ended(replace(line, end_s=number + 0.5, output=output, status=0)))
    why = "measuring what it showed and wrote takes more than 1 s of processor time"
    assert [each.broken for each in seen] == [why, ""]
    assert "ping.rtt.mean" in seen[1].scalars


def test_what_all_lines_take_to_read_is_bounded(tmp_path, monkeypatch):
    """A file to which each line adds is read each time."""

    def slowly(output, *args, **options):
        until_s = time.process_time() + 1.0 * ("rows" in output)
        while time.process_time() < until_s:
            pass
        return measure_output(output, *args, **options)

    monkeypatch.setattr(claims, "measure_output", slowly)
    files = LineFiles(tmp_path, MostMeasured(2**24, 60.0, 0.5, 3 * 2**30))
    seen = []
    for number, output in enumerate((PING, f"rows\n{PING}", PING)):
        line = TypedEvidence("h1", "cat rows", number)
        files.begins(line)
        seen.append(files.ended(replace(line, end_s=number + 0.5, output=output, status=0)))
    assert [each.broken for each in seen] == [
        "",
        "",
        "not measured: what lines showed and wrote took more than 0.5 s to read",
    ]


def test_what_takes_too_much_memory_to_read_is_not_measured_and_the_next_line_is(tmp_path):
    """Regression: a data file of 50 kB has a table of 600 million values, of 8 bytes each."""
    data_kib = int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1])
    files = LineFiles(tmp_path, MostMeasured(2**24, 60.0, 90.0, data_kib * 1024 + 2**28))
    names = [f"a{number}" for number in range(2000)]
    meta = {"STEP_SIZE": 1e-5, "SERIES_META": {name: {"UNITS": "ms"} for name in names}}
    values = {name: [{"t": 0, "val": 1}, {"t": 1, "val": 2}] for name in names}
    data = {"version": 4, "metadata": meta, "x_values": [], "results": {}, "raw_values": values}
    seen = []
    for number in range(2):
        line = TypedEvidence("h1", "sh make.sh", number)
        files.begins(line)
        if number == 0:
            (tmp_path / "large.flent.gz").write_bytes(gzip.compress(json.dumps(data).encode()))
        seen.append(files.ended(replace(line, end_s=number + 0.5, output=PING, status=0)))
    assert re.fullmatch(r"measuring what it showed and wrote takes more than [\d.]+ GiB of memory", seen[0].broken)
    assert "ping.rtt.mean" in seen[1].scalars


def test_what_has_no_room_is_not_measured_and_the_next_line_is(tmp_path):
    """Regression: a lab whose lines left eight files of 60 MiB took the grading process nearly all of its time."""
    files = LineFiles(tmp_path, MostMeasured(2**20, 60.0, 90.0, 3 * 2**30))
    seen = []
    sizes = {"big.bin": 2**21, "a.txt": 2**20 - 2000, "b.txt": 1000, "c.txt": 100}
    for number, (name, size) in enumerate(sizes.items()):
        files.begin()  # another network has no limit of its own
        line = TypedEvidence("h1", f"ping -c 1 10.0.0.2; cp x {name}", number)
        files.begins(line)
        (tmp_path / name).write_text(PING + " " * size)
        seen.append(files.ended(replace(line, end_s=number + 0.5, output=PING, status=0)))
    why = "not measured: with it, what lines showed and wrote would have more than 1 MiB"
    assert [each.broken for each in seen] == ["", "", why, ""]
    assert [each.files for each in seen] == [(name,) for name in sizes]
    assert ["ping.rtt.mean" in each.scalars for each in seen] == [True, True, False, True]
