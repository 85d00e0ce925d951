# SPDX-License-Identifier: BSD-3-Clause
"""The guide of a running lab: marks in terminals, the file of the progress, and `linklab step`."""

import json
from pathlib import Path

import pytest

from linklab.agent import guided
from linklab.cli import main
from linklab.errors import InputError
from linklab.guide.collect import looks_only
from linklab.guide.evidence import EditorEvidence, FileEvidence, PredictionEvidence, StateEvidence, TypedEvidence
from linklab.guide.marks import MarkedTerminal, plain
from linklab.guide.progress import FILE, FOLDER, LabProgress
from linklab.guide.session import GuideSession, read_steps
from linklab.lab.model import find_lab, load_lab
from linklab.state.model import State
from linklab.state.node import Interface, Node

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lab():
    """Lab 3."""
    return load_lab(find_lab("3", ROOT))


def marked(*pieces):
    """What a terminal that shows these pieces yields."""
    terminal = MarkedTerminal()
    return [line for piece in pieces for line in terminal.read(piece.encode())]


BEGIN = "\x1b]133;C;linklab;h1;1500000;ping -c 1 10.0.0.2 # 100%25%0Aor more\x07"
END = "\x1b]133;D;linklab;h1;2500000;0\x07"


def test_a_line_is_told_when_it_begins_and_when_it_has_ended():
    """Echo and prompt do not count; colours go; the command is as it was typed."""
    shown = f"root@h1:/lab# ping\r\n{BEGIN}PING\r\n\x1b[1;31m64 bytes\x1b[0m\r\n{END}root@h1:/lab# "
    begun, ended = marked(shown)
    assert begun == TypedEvidence("h1", "ping -c 1 10.0.0.2 # 100%\nor more", 1.5)
    assert (ended.key, ended.end_s, ended.status, ended.output) == (begun.key, 2.5, 0, "PING\n64 bytes\n")


def test_marks_may_come_in_pieces():
    """The agent passes on whatever a read gives."""
    shown = f"{BEGIN}out\r\n{END}"
    assert marked(*shown) == marked(shown)


def test_what_was_written_over_is_not_read():
    """A carriage return begins a line anew; one at its end belongs to the line's end."""
    assert plain("10 %\r20 %\r100 %\r\ndone\r\n\x1b[1mbold\x1b[0m\r") == "100 %\ndone\nbold"


def test_a_long_line_is_read_in_one_go():
    """Regression: a line of 300 kB took minutes, in the thread on which all terminals wait; this one took hours."""
    assert plain("a" * 3_000_000) == "a" * 3_000_000


def test_the_agents_mark_is_read_back():
    """The Mininet CLI makes the same marks as the shells."""
    environment = {guided.ZERO: "0"}
    text = "h1 ping 'a%b'\t\x1b"
    (line,) = marked(guided.mark(environment, "mininet", "C", text))
    assert (line.terminal, line.text) == ("mininet", text)


def test_lines_inside_mininets_own_command_line_are_told_too():
    """Lab 1 types `sudo mn` and then works at its prompt."""
    begin = "\x1b]133;C;linklab;client;1000000;sudo mn\x07"
    end = "\x1b]133;D;linklab;client;9000000;0\x07"
    found = marked(begin, "*** Starting CLI:\r\nmininet> ", "nodes\r\n", "h1 h2\r\nmininet> exit\r\ndone\r\n", end)
    told = [(one.text, one.ended, one.output) for one in found]
    assert told == [
        ("sudo mn", False, ""),
        ("nodes", False, ""),
        ("nodes", True, "h1 h2\n"),
        ("exit", False, ""),
        ("exit", True, "done\n"),
        ("sudo mn", True, "*** Starting CLI:\nmininet> nodes\nh1 h2\nmininet> exit\ndone\n"),
    ]


def test_the_examples_that_mininets_help_prints_were_not_typed():
    """Regression: `help` of Mininet shows its own prompt in the midst of lines, and the guide took that for work."""
    begin = "\x1b]133;C;linklab;client;1000000;sudo mn\x07"
    found = marked(begin, "mininet> ", "help\r\n", "For example:\r\n  mininet> h1 ifconfig\r\nmininet> ")
    assert [(one.text, one.ended) for one in found] == [("sudo mn", False), ("help", False), ("help", True)]


def test_what_was_overwritten_in_a_line_does_not_count():
    """A progress bar shows its last state."""
    assert plain("10 %\r20 %\r\n\x1b]0;title\x07done\x07\r\n") == "20 %\ndone\n"


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("ping -c 5 10.0.0.2 | tee out", False),
        ("ping -c 5 10.0.0.2 > out", True),
        ("tc -s qdisc show dev s1-eth1", True),
        ("sudo tc qdisc del dev s1-eth1 root", False),
        ("sysctl net.ipv4.tcp_rmem", True),
        ("sysctl -p", False),
        ("./set_env.sh 4", False),
    ],
)
def test_the_kernel_is_asked_after_lines_that_may_have_set_something(text, looks):
    """A program that is not known to look only may have."""
    assert looks_only(TypedEvidence("client", text, 1.0), ["h1"]) is looks


def test_progress_is_read_back_as_it_was_written(lab, tmp_path):
    """Every kind of evidence; of a state only the nodes that changed are written again."""
    h1 = Node({"h1-eth0": Interface(up=True, mtu=1500)})
    client = Node({"s1-eth1": Interface(up=True, mtu=1500)})
    before, after = State({"h1": h1, "client": client}), State({"h1": h1, "client": Node({})})
    seen = [
        EditorEvidence(("open", "Lab 3.mn")),
        StateEvidence(before, 0.5),
        TypedEvidence("h1", "ping", 1.0),
        TypedEvidence("h1", "ping", 1.0, 2.0, "out\n", 1, {"ping.rtt.mean": (0.1, "s")}, "why", ("a.txt",)),
        FileEvidence("a.txt", "ü\n"),
        StateEvidence(after, 3.0),
    ]
    progress = LabProgress.begin(tmp_path, lab)
    for evidence in seen:
        progress.add(evidence)
    assert list(LabProgress.begin(tmp_path, lab).evidence()) == seen
    states = [line for line in progress.notes("state") if "h1" in line["nodes"]]
    assert len(states) == 1


def test_progress_of_another_lab_is_not_overwritten(lab, tmp_path):
    """The message says what to do."""
    LabProgress.begin(tmp_path, lab)
    with pytest.raises(InputError, match="this is the progress of Lab 3; do Lab 8 in a folder of its own"):
        LabProgress.begin(tmp_path, load_lab(find_lab("8", ROOT)))


def test_a_line_that_cannot_be_read_is_left_out_and_named(lab, tmp_path):
    """The machine may stop while the last line is written, and a file may be changed by hand."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.add(EditorEvidence(("run",)))
    whole = progress.path.read_text()
    progress.path.write_text(whole + '{"kind": "edi')
    assert list(progress.evidence()) == [EditorEvidence(("run",))]
    again = LabProgress.begin(tmp_path, lab)
    again.add(EditorEvidence(("stop",)))
    assert list(again.evidence()) == [EditorEvidence(("run",)), EditorEvidence(("stop",))]
    progress.path.write_text(whole.replace('"run"', "17, 1"))
    assert next(iter(progress.evidence())).words == ("17", "1")
    progress.path.write_text(whole.replace('"words"', '"word"'))
    assert list(progress.evidence()) == []
    assert f'{FILE}: line 2 of 2 cannot be read and is left out ("words" is missing' in progress.trouble()


def test_the_agent_looks_for_the_file_that_is_written(lab, tmp_path):
    """Two packages have its name, since the agent may import nothing of ours."""
    assert not guided.is_guided(tmp_path)
    LabProgress.begin(tmp_path, lab)
    assert guided.is_guided(tmp_path)
    assert (guided.FOLDER, guided.FILE) == (FOLDER, FILE)


def test_step_tells_what_comes_next_and_gives_hints(lab, tmp_path, monkeypatch, capsys):
    """In a folder below the lab's, too; the exit status of --check."""
    session = GuideSession(lab, tmp_path)
    for words in (("open", "Lab 3.mn"), ("run",), ("terminal", "h1"), ("terminal", "h2")):
        session.see(EditorEvidence(words))
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path / "results")
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    assert main(["step"]) == 0
    shown = capsys.readouterr().out
    assert "2 of 31 steps done" in shown
    assert "unshaped   ← next" in shown
    assert main(["step", "--hint"]) == 0
    first = capsys.readouterr().out
    assert main(["step", "--hint"]) == 0
    assert capsys.readouterr().out != first
    assert main(["step", "--check"]) == 0
    assert main(["step", "unshaped", "--check"]) == 1
    session.see(TypedEvidence("h1", "sudo tc qdisc add dev h1-eth0 root netem delay 10ms", 1.0, 2.0, "", 0))
    capsys.readouterr()
    assert main(["step", "--check", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in data["steps"] if one["status"] == "wrong"] == ["delay-h1"]
    assert main(["step", "99"]) == 2
    assert "1 to 31" in capsys.readouterr().err


def test_step_says_what_to_do_where_no_lab_runs(tmp_path, monkeypatch, capsys):
    """Neither here nor in a network."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    assert main(["step"]) == 2
    assert "start one with `linklab lab LAB`" in capsys.readouterr().err


def test_a_session_goes_on_where_the_last_one_ended(lab, tmp_path):
    """Progress and hints are those of the folder."""
    session = GuideSession(lab, tmp_path)
    session.see(EditorEvidence(("open", "Lab 3.mn")))
    session.see(EditorEvidence(("run",)))
    first = session.hint("unshaped")
    again = GuideSession(lab, tmp_path)
    assert [one.status for one in again.steps()] == [one.status for one in session.steps()]
    assert again.hint("unshaped") != first
    assert read_steps(tmp_path)["next"] == again.guide.next_step().id


def test_what_cannot_be_kept_is_told_and_kept_later(lab, tmp_path, monkeypatch):
    """Regression: on a full disk what was done was left out of the progress without a word."""
    session = GuideSession(lab, tmp_path)
    real = session.progress.add

    def full(evidence):
        raise InputError(f"{session.progress.path}: cannot be written: No space left on device")

    monkeypatch.setattr(session.progress, "add", full)
    first, second = TypedEvidence("h1", "pwd", 1.0, 2.0, "", 0), TypedEvidence("h1", "ls", 3.0, 4.0, "", 0)
    session.see(first)
    assert session.trouble == (
        f"{session.progress.path}: cannot be written: No space left on device; "
        "what you do counts, and is kept once the file can be written again"
    )
    assert list(session.progress.evidence()) == []
    monkeypatch.setattr(session.progress, "add", real)
    session.see(second)
    assert session.trouble == ""
    assert [each.text for each in session.progress.evidence()] == ["pwd", "ls"]


def test_a_prediction_is_kept_behind_what_waits(lab, tmp_path, monkeypatch):
    """Regression: written after its measurement, which a full disk kept waiting, it came before it in the progress."""
    session = GuideSession(lab, tmp_path)
    with monkeypatch.context() as disk:

        def full(evidence):
            raise InputError("No space left on device")

        disk.setattr(session.progress, "add", full)
        session.see(TypedEvidence("h1", "pwd", 1.0, 2.0, "", 0))
        prediction = PredictionEvidence(lab.manual.predictions[0].id, "1 s")
        with pytest.raises(InputError, match="No space left on device"):
            session.predict(prediction)
    session.predict(prediction)
    assert [type(each) for each in session.progress.evidence()] == [TypedEvidence, PredictionEvidence]


def test_what_cannot_be_read_now_is_told_by_every_view(lab, tmp_path):
    """And no longer once it can be."""
    changes = []
    session = GuideSession(lab, tmp_path, on_change=lambda: changes.append(1))
    session._note_unread("The state of the network could not be read (no answer)")
    assert read_steps(tmp_path)["trouble"] == "The state of the network could not be read (no answer)"
    session._note_unread("")
    assert read_steps(tmp_path)["trouble"] == session.trouble == ""
    assert len(changes) == 2
