"""What a student writes on a lab's page, the files that a step writes, and fast-forward."""

import json
import re
import socket
import subprocess
import threading

import pytest
from labpages import served

from linklab.documents.handbook import chapter
from linklab.errors import InputError
from linklab.guide.plan import runs_at_once
from linklab.lab.model import find_lab, lab_folders, load_lab
from linklab.manual.html import render_body
from linklab.manual.model import WriteFile
from linklab.page import terminals
from linklab.page.files import write_file
from linklab.page.lab_report import LabWork, lab_report, questions_in
from linklab.page.notes import StudentNotes
from linklab.page.page_terminal import PageTerminal
from linklab.page.predicted import WrittenPrediction
from linklab.page.step_facts import _typed, facts_of_steps, step_facts
from linklab.page.terminals import fast_forward
from linklab.terminal.attach import Connection


def test_a_prediction_is_kept_in_the_working_folder(tmp_path):
    """And is there again when the page is opened the next day."""
    with served(tmp_path) as page:
        given = {"number": "40", "unit": "ms", "words": "", "why": "both ways"}
        assert page.own("POST", "predictions/one-round-trip", given)[0] == 200
    kept = StudentNotes.load(tmp_path, "14-router-bufferbloat")
    assert kept.predictions == {"one-round-trip": WrittenPrediction("40", "ms", "both ways")}
    with served(tmp_path) as page:
        seen = []
        page.context.events.watch(seen.append)
        notes = next(event for event in seen if event["kind"] == "notes")
        assert notes["predictions"] == {"one-round-trip": given}
        assert page.own("POST", "predictions/one-round-trip", {**given, "number": "x", "why": ""})[0] == 400
        empty = {**given, "number": "", "why": ""}
        told = [json.loads(page.own("POST", "predictions/one-round-trip", empty)[2])["text"] for _ in range(2)]
        nothing = "Nothing is kept yet: write down what you expect, then press the button again."
        assert told == ["Your prediction is withdrawn.", nothing]
    assert StudentNotes.load(tmp_path, "14-router-bufferbloat").predictions == {}


@pytest.mark.parametrize(
    ("number", "unit", "asks", "value"),
    [
        ("2,5", "ms", ("time",), (0.0025, "s")),
        ("1 234", "mbit/s", ("rate",), (1234e6, "bit/s")),
        ("0.04", "S", ("rate", "time", "words"), (0.04, "s")),
        ("9,56", "Gbps", ("rate",), (9.56e9, "bit/s")),
        ("25", "MB", ("size",), (25e6, "bytes")),
        ("2", "%", ("share", "words"), (0.02, "1")),
        ("2", "percent", ("number",), (0.02, "1")),
        ("1.000.000", "", ("number",), (1e6, "1")),
        ("3", "packets", ("number", "time"), (3.0, "1")),
        ("2e3", "", ("number",), (2000.0, "1")),
        ("", "ms", ("rate",), None),
    ],
)
def test_a_prediction_is_read_as_every_number_that_a_person_types(number, unit, asks, value):
    """In its own unit, of one of the kinds that the question asks for; the value is in base units."""
    assert WrittenPrediction(number, unit).quantity(asks) == pytest.approx(value)


@pytest.mark.parametrize(
    ("number", "unit", "asks", "words"),
    [
        (
            "1,234",
            "Mbps",
            ("rate",),
            '"1,234" can mean two numbers: write 1234 if the comma',
        ),
        ("40", "ms", ("rate", "words"), '"ms" is a unit of time, and a rate is asked for: write one such as Mbps'),
        (
            "40",
            "Mbps",
            ("time", "size"),
            '"Mbps" is a unit of rate, and a time or a size is asked for: write one such as ms',
        ),
        ("40", "ms", ("number",), '"ms" is a unit of time, and a number is asked for: leave the unit out'),
        ("40", "parsec", ("time",), '"parsec" is no unit, and a time is asked for: write one such as ms'),
        ("40", " ", ("time",), "40 needs its unit: write one such as ms"),
        ("40", "MB/s", ("rate",), '"MB/s" counts bytes per second: write the rate in bits per second, such as Mbps'),
        ("40", "", ("words",), "this question asks for words, not for a number; write them into their field"),
        ("forty", "ms", ("time",), '"forty" is not a number'),
        ("40 ms", "s", ("time",), '"40 ms" has a unit already, and "s" stands in the field beside it: leave one'),
        ("40 or 50 ms", "", ("time",), '"40 or 50 ms" is not a number'),
        ("40 ms", "", ("rate",), '"ms" is a unit of time, and a rate is asked for: write one such as Mbps'),
        ("4,0,0", "ms", ("time",), '"4,0,0" is not a number'),
        ("1e999", "", ("number",), "1e999: the number is too large"),
        ("nan", "", ("number",), '"nan" is not a number'),
    ],
)
def test_what_cannot_answer_the_question_is_refused(number, unit, asks, words):
    """Regression: 1,234 was taken for 1.234, and any unit for any question; the sentence says what to write."""
    with pytest.raises(InputError) as refused:
        WrittenPrediction(number, unit).set_apart().check(asks)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize(
    ("number", "unit", "apart"),
    [
        ("40 ms", "", ("40", "ms")),
        ("40ms", "MS", ("40", "MS")),
        ("1 234,5 Mbit/s", "", ("1 234,5", "Mbit/s")),
        ("2e3 packets", "", ("2e3", "packets")),
        ("50%", " ", ("50", "%")),
        ("40", " ms", ("40", " ms")),
        ("", "ms", ("", "ms")),
        ("forty ms", "", ("forty ms", "")),
    ],
)
def test_a_unit_that_is_typed_behind_the_number_moves_to_its_own_field(number, unit, apart):
    """Regression: "40 ms" in the number's field was refused as no number."""
    moved = WrittenPrediction(number, unit, "both ways").set_apart()
    assert moved == WrittenPrediction(*apart, "both ways")


def test_the_page_keeps_the_number_and_its_unit_apart(tmp_path):
    """And answers what it keeps, for the fields."""
    with served(tmp_path) as page:
        given = {"number": "40 ms", "unit": "", "words": "", "why": "both ways"}
        status, _, text = page.own("POST", "predictions/one-round-trip", given)
        assert status == 200
        assert json.loads(text)["kept"] == {**given, "number": "40", "unit": "ms"}
    kept = StudentNotes.load(tmp_path, "14-router-bufferbloat")
    assert kept.predictions == {"one-round-trip": WrittenPrediction("40", "ms", "both ways")}


@pytest.mark.parametrize(
    ("number", "unit", "asks", "told"),
    [
        ("0.04", "s", ("time",), "0.04 s = 40 ms"),
        ("10000", "Mbit/s", ("rate",), "10000 Mbit/s = 10 Gbps"),
        ("40", "ms", ("time",), "40 ms"),
        ("5", "us", ("time",), "5 us"),
        ("100", "mbps", ("rate",), "100 mbps"),
        ("2", "%", ("share",), "2 %"),
        ("12", "parsec", ("rate",), "12 parsec"),
    ],
)
def test_a_prediction_is_told_in_the_unit_of_measurements(number, unit, asks, told):
    """As it was typed, and converted where its prefix is another one; what an older Linklab took stays as it is."""
    assert WrittenPrediction(number, unit).told(asks) == told


def test_the_page_refuses_a_unit_of_another_quantity(tmp_path):
    """And keeps nothing; words are kept where the manual asks for words."""
    with served(tmp_path) as page:
        given = {"number": "40", "unit": "Mbps", "words": "", "why": "both ways"}
        status, _, text = page.own("POST", "predictions/one-round-trip", given)
        assert status == 400
        assert json.loads(text)["error"].startswith('"Mbps" is a unit of rate, and a time is asked for')
        given = {"number": "", "unit": "", "words": "not at all", "why": "loss decides"}
        assert page.own("POST", "predictions/paced-sender", given)[0] == 200
        assert "not at all<br>loss decides" in page.own("GET", "report")[2]
    kept = StudentNotes.load(tmp_path, "14-router-bufferbloat")
    assert kept.predictions == {"paced-sender": WrittenPrediction(words="not at all", why="loss decides")}


def test_what_the_manual_does_not_ask_is_not_kept(tmp_path):
    """No file for it either."""
    with served(tmp_path) as page:
        assert page.own("POST", "predictions/other", {"number": "1", "unit": "", "words": "", "why": ""})[0] == 404
    assert [path.name for path in tmp_path.iterdir()] == [".linklab"]


@pytest.mark.parametrize("text", ["{", "[]", '{"notes_of": "3-x", "version": 1}', '{"notes_of": "14", "version": 9}'])
def test_notes_that_are_none_are_refused_and_stay(tmp_path, text):
    """Nothing of a student's is overwritten."""
    path = tmp_path / ".linklab/notes.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InputError, match="move the file away"):
        StudentNotes.load(tmp_path, "14")
    assert path.read_text() == text


def test_a_step_s_file_is_written_as_the_manual_has_it(tmp_path):
    """In the working folder; one that is added to keeps what it has."""
    with served(tmp_path, lab="24") as page:
        assert page.own("POST", "steps/first-file/write")[0] == 200
        wanted = page.context.manual.step("first-file").action.text
        assert page.own("POST", "steps/first-check/write")[0] == 404
    assert (tmp_path / "first").read_text() == wanted
    write_file(tmp_path, WriteFile("first", "more\n", append=True))
    assert (tmp_path / "first").read_text() == wanted + "more\n"


def test_a_file_of_the_student_is_replaced_only_if_they_say_so(tmp_path):
    """Regression: Alt+Enter on a step wrote over what the student had changed; it is kept beside, too."""
    with served(tmp_path, lab="24") as page:
        (tmp_path / "first").write_bytes(b"my own \xff work\n")
        status, _, text = page.own("POST", "steps/first-file/write", {"replace": False})
        assert status == 409
        assert json.loads(text)["error"] == "first is there already, with another text than the manual’s."
        assert (tmp_path / "first").read_bytes() == b"my own \xff work\n"
        assert page.own("POST", "steps/first-file/write", {"replace": True})[0] == 200
        assert page.own("POST", "steps/first-file/write", {"replace": False})[0] == 200
        assert (tmp_path / "first").read_text() == page.context.manual.step("first-file").action.text
    assert (tmp_path / "first~").read_bytes() == b"my own \xff work\n"


def test_what_is_to_be_at_the_end_of_a_file_is_there_once(tmp_path):
    """However often the button is pressed."""
    (tmp_path / "x").write_bytes(b"\xff mine\n")
    for _ in range(2):
        write_file(tmp_path, WriteFile("x", "more\n", append=True))
    assert (tmp_path / "x").read_bytes() == b"\xff mine\nmore\n"


def test_a_file_that_is_there_already_is_not_said_to_be_written(tmp_path):
    """Regression: "is written" was said of lines that were there, and of a file with the manual's text."""
    x, more, whole = tmp_path / "x", WriteFile("x", "more\n", append=True), WriteFile("y", "all\n", append=False)
    assert [write_file(tmp_path, more) for _ in range(2)] == [(x, True), (x, False)]
    assert [write_file(tmp_path, whole) for _ in range(2)] == [(tmp_path / "y", True), (tmp_path / "y", False)]
    with served(tmp_path, lab="24") as page:
        said = [json.loads(page.own("POST", "steps/first-file/write")[2])["text"] for _ in range(2)]
    assert said == [
        f"first is written in {tmp_path}.",
        f"first in {tmp_path} has this text already; it is left as it is.",
    ]


def test_two_programs_in_one_folder_keep_each_others_answers(tmp_path):
    """Regression: each wrote its own copy of the whole file."""
    with served(tmp_path) as one, served(tmp_path) as two:
        assert one.own("POST", "answers/1", {"text": "first"})[0] == 200
        assert two.own("POST", "answers/2", {"text": "second"})[0] == 200
        assert one.own("POST", "answers/3", {"text": "third"})[0] == 200
    kept = StudentNotes.load(tmp_path, "14-router-bufferbloat")
    assert kept.answers == {"1": "first", "2": "second", "3": "third"}


@pytest.mark.parametrize("path", ["/etc/sysctl.conf", "../x", "a/../../x", "/lab/../x"])
def test_a_file_elsewhere_is_left_to_the_terminal(tmp_path, path):
    """The page writes in the working folder alone, also where a link leads out of it."""
    with pytest.raises(InputError, match="write it in a terminal"):
        write_file(tmp_path, WriteFile(path, "x", append=False))
    (tmp_path / "out").symlink_to("/")
    with pytest.raises(InputError, match="write it in a terminal"):
        write_file(tmp_path, WriteFile("out/x", "x", append=False))


def test_a_file_of_the_network_s_folder_is_the_working_folder_s(tmp_path):
    """/lab inside is the folder outside."""
    assert write_file(tmp_path, WriteFile("/lab/x", "y", append=False)) == (tmp_path / "x", True)


def test_a_step_of_the_editor_says_how_the_page_does_it():
    """Regression: a box told beginners to right-click in the editor, which is not there, or to run what was running."""
    steps = {facts["id"]: facts for facts in facts_of_steps(load_lab(find_lab("2")).manual)}
    assert steps["step-1"]["note"] == "This page has started the network already."
    assert steps["step-2"]["note"] == "On this page, the button below opens what is named here, without the editor."
    drawn = [facts["note"] for facts in facts_of_steps(load_lab(find_lab("1")).manual) if facts["nodes"]]
    assert all("linklab edit" in note for note in drawn)


def test_a_file_of_the_network_s_own_is_written_by_a_line_in_its_terminal():
    """Regression: Lab 6 offered to write /etc/sysctl.conf into the folder, and then refused to."""
    steps = {facts["id"]: facts for facts in facts_of_steps(load_lab(find_lab("6")).manual)}
    facts = steps["edit-conf"]
    assert (facts["kind"], facts["terminal"]) == ("commands", "client")
    assert facts["lines"] == ["echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf"]
    assert facts["note"].startswith("This file lies in the network and not in your folder")


@pytest.mark.parametrize("text", ["a b\n", "-n\n", "it's $HOME\n", "one\ntwo\n", "no line end", "back\\slash %s\n", ""])
def test_the_line_that_writes_a_file_writes_its_text(tmp_path, text):
    """Regression: echo took a text such as "-n" for its options."""
    path = tmp_path / "a file"
    subprocess.run(["bash", "-c", _typed(WriteFile(str(path), text, append=False))], check=True)
    subprocess.run(["bash", "-c", _typed(WriteFile(str(path), text, append=True))], check=True)
    assert path.read_text() == text * 2


@pytest.mark.parametrize(
    ("shown", "waits"),
    [
        (b"root@h1:~# ", True),
        (b"64 bytes\r\nroot@client:/lab# ", True),
        (b"\x1b[?2004hroot@h1:/lab/x y# ", True),
        (b"root@h1:~# echo # ", False),
        (b"\x1b[?2004hroot@h1:/lab# ", True),
        (b"a line\r\nmininet> ", True),
        (b"root@h1:~# ping", False),
        (b"root@h1:~# ping 10.0.0.3\r\nPING", False),
        (b"> ", False),
        (b"", False),
    ],
)
def test_a_terminal_waits_for_a_command_or_does_not(shown, waits):
    """Told by its prompt, behind which nothing stands."""
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None)
    terminal._show(shown)
    assert terminal.at_prompt() is waits


@pytest.mark.parametrize(
    ("shown", "running", "free"),
    [
        (b"root@h1:~# ", None, True),
        (b"root@h1:~# printf done\r\ndoneroot@h1:~# ", "", True),
        (b"root@h1:~# printf done\r\ndoneroot@h1:~# ls", "", False),
        (b"root@h1:~# cat notes\r\nhe saw root@h1:~# ", "cat notes", False),
        (b"root@h1:~# ping", "", False),
    ],
)
def test_a_prompt_behind_output_that_has_no_end_of_line_is_a_prompt(shown, running, free):
    """Regression: after `iperf -s` was stopped, the page said that a line stood in the terminal."""
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None, lambda _: running)
    terminal._show(shown)
    assert terminal.is_free() is free


def test_every_step_has_a_name_that_people_say():
    """Regression: a screen reader read "Step step-12"; each step of a lab has a name of its own."""
    for folder in lab_folders():
        manual = load_lab(folder).manual
        names = [facts["name"] for facts in facts_of_steps(manual)]
        assert len(set(names)) == len(manual.steps)
        assert not set(names) & {step.id for step in manual.steps}
    names = {facts["id"]: facts["name"] for facts in facts_of_steps(load_lab(find_lab("14")).manual)}
    assert names["delay"] == "In the Client's terminal give the port s1-eth2 a delay of 20 ms"


def test_the_steps_of_every_lab_have_facts():
    """Whatever a manual has, the page knows what its buttons do; Lab 1 alone begins without a network."""
    labs = [load_lab(folder) for folder in lab_folders()]
    kinds = {step_facts(step)["kind"] for lab in labs for step in lab.manual.steps}
    assert kinds == {"commands", "interrupt", "file", "editor", "await"}
    assert [lab.number for lab in labs if not runs_at_once(lab.manual)] == [1]
    assert all(step_facts(step)["nodes"] for step in labs[13].manual.steps[1:2])


def test_an_event_is_told_to_those_who_come_later(tmp_path):
    """From any thread."""
    with served(tmp_path) as page:
        thread = threading.Thread(target=page.context.events.publish, args=("try",), kwargs={"text": "x"})
        thread.start()
        thread.join()
        seen = []
        page.context.events.watch(seen.append)
        assert {"kind": "try", "text": "x"} in seen
        page.context.events.leave(seen.append)


class FakeAttach:
    """The clock of a network, which notes its orders."""

    def __init__(self, terminal: PageTerminal, speed: float = 0.5, paused: bool = True) -> None:
        self.clock, self.orders, self.terminal = self, [], terminal
        self.before = {"speed": speed, "paused": paused}

    def state(self):
        """As before all orders."""
        return self.before

    def obey_clock(self, words):
        """At full speed the command ends."""
        self.orders.append(words)
        if words == ["resume"]:
            threading.Timer(0.05, self.terminal._show, [b"done\r\nroot@h1:~# "]).start()
        return "", 0


def test_fast_forward_goes_on_as_before_once_the_command_has_ended():
    """At full speed until the prompt is back, also from a pause, then at the speed that was set."""
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None)
    terminal.state = "open"
    terminal._show(b"root@h1:~# sleep 9\r\n")
    attach = FakeAttach(terminal)
    fast_forward(attach, terminal)
    assert attach.orders == [["speed", "max"], ["resume"], ["speed", "0.5"]]
    with pytest.raises(InputError, match="nothing runs in h1"):
        fast_forward(attach, terminal)


@pytest.mark.parametrize(
    ("shown", "running", "refusal"),
    [
        (b"root@h1:~# sleep 9", "", "the line there is not ended; press Enter there first"),
        (b"root@h1:~# sleep 9", None, "the line there is not ended; press Enter there first"),
        (b"root@h1:~# ", "", "start a command there first"),
        (b"root@h1:~# \r\nServer listening on 5201\r\n", "", "start a command there first"),
        (b"mininet> h1 pi", "", "the line there is not ended"),
    ],
)
def test_fast_forward_needs_a_command_that_runs(monkeypatch, shown, running, refusal):
    """Regression: a half-typed line was taken for one, and time ran as fast as it goes for five minutes."""
    monkeypatch.setattr(terminals, "BEGIN_S", 0.05)
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None, lambda _: running)
    terminal.state = "open"
    terminal._show(shown)
    attach = FakeAttach(terminal)
    with pytest.raises(InputError, match=refusal):
        fast_forward(attach, terminal)
    assert attach.orders == []
    assert not terminal.at_work()


def test_a_command_that_shows_nothing_like_a_prompt_runs_until_its_shell_says_so():
    """Output that looks like a half-typed line, and a server's words behind the prompt, do not decide."""
    ours, _ = socket.socketpair()
    known = ["cat notes"]
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None, lambda _: known[0])
    terminal.state = "open"
    terminal._show(b"root@h1:~# cat notes\r\nroot@h1:~# as I typed it")
    assert terminal.command_runs()
    known[0] = ""
    assert not terminal.command_runs()
    assert terminal.wait_for_end(0.0)


def test_two_fast_forwards_at_once_leave_the_speed_as_it_was():
    """Regression: the second took full speed for what to go back to."""
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None)
    terminal.state = "open"
    terminal._show(b"root@h1:~# sleep 9\r\n")
    attach = FakeAttach(terminal)
    refused = []
    resume = attach.obey_clock

    def meanwhile(words):
        if words == ["resume"]:
            with pytest.raises(InputError, match="fast-forwarded already"):
                fast_forward(attach, terminal)
            refused.append(words)
        return resume(words)

    attach.obey_clock = meanwhile
    fast_forward(attach, terminal)
    assert refused
    assert attach.orders == [["speed", "max"], ["resume"], ["speed", "0.5"]]


def test_fast_forward_of_what_never_ends_gives_up(monkeypatch):
    """And leaves the speed as it was, with a sentence that says what to do."""
    monkeypatch.setattr(terminals, "FORWARD_S", 0.1)
    ours, _ = socket.socketpair()
    terminal = PageTerminal(Connection(ours), 1, "h1", lambda: None)
    terminal.state = "open"
    attach = FakeAttach(terminal, speed=float("inf"), paused=False)
    with pytest.raises(InputError, match=r"press Ctrl\+C there"):
        fast_forward(attach, terminal)
    assert attach.orders == [["speed", "max"], ["speed", "max"]]


# --- the report


@pytest.fixture(scope="module")
def chapter_14():
    """Lab 14 as a chapter."""
    return chapter(load_lab(find_lab("14")))


STATE = {"id": "delay", "task": "Give it a delay.", "status": "done", "story": "", "expected": "", "seen": "",
         "left_out": False, "optional": False, "counts": True}  # fmt: skip


def test_the_report_has_what_was_written_and_what_was_found(chapter_14, tmp_path):
    """Predictions beside theory once their steps are done, answers, and the states of the steps."""
    notes = StudentNotes(tmp_path / "x", "14-router-bufferbloat", "Ada <b>Lovelace", answers={"2": "line\nline <i>"})
    notes.predictions["one-round-trip"] = WrittenPrediction("40", "ms", "both ways")
    wrong = {**STATE, "id": "bdp", "status": "wrong", "story": "too slow", "expected": "940 Mbps", "seen": "9 Mbps"}
    work = LabWork([STATE, wrong], {"one-round-trip": ["ping-h1: 20.1 ms"]}, {"kernel": "7.3"})
    html = lab_report(chapter_14, notes, work, "2026-11-23")
    assert "Ada &lt;b&gt;Lovelace" in html and "1 of 2 steps done" in html
    assert "line<br>line &lt;i&gt;" in html
    assert "expected 940 Mbps<br>saw 9 Mbps" in html
    first, second = html.split('id="prediction-')[1:3]
    assert "40 ms<br>both ways" in first and "ping-h1: 20.1 ms" in first
    assert "what leaves its interface, and the replies leave the switch" in first
    assert "shown when the steps are done" in second and "After the loss" not in second
    assert "will <code>ping</code> from h1 to h3 then show 20 ms or 40 ms" in html.replace("Will", "will").replace(
        "\n", " "
    )


def test_the_report_calls_steps_by_the_numbers_of_the_manual(chapter_14, tmp_path):
    """Regression: it numbered them from 1 to 47, and a prediction said "see the steps below" and named none."""
    notes = StudentNotes(tmp_path / "x", "14-router-bufferbloat")
    states = [{**STATE, "id": step.id} for step in chapter_14.manual.steps]
    html = lab_report(chapter_14, notes, LabWork(states, {"one-round-trip": []}), "2026-11-23")
    rows = re.findall(r'<tr id="step-([\w-]+)">\n<td>(.*?)</td>', html)
    assert dict(rows)["ping-h1"] == "2.1, step 2"
    measured = re.search(r'id="prediction-one-round-trip".*?<th scope="row">Measured</th><td>(.*?)</td>', html, re.S)[1]
    assert measured == 'see <a href="#step-ping-h1">2.1, step 2: Ping h3 from h1 again</a>'
    assert "see the steps below" not in html


def test_the_report_tells_the_environment_in_words_and_names_each_table(chapter_14, tmp_path):
    """Regression: "kernel_digest" and "memory_mib" stood in it, "30 us" beside "8 µs", and tables had no names."""
    found = {"kernel": "7.3", "kernel_digest": "ab12", "memory_mib": 2048, "tools": {"iperf3": "iperf 3.16"}}
    html = lab_report(
        chapter_14, StudentNotes(tmp_path / "x", "14-router-bufferbloat"), LabWork([STATE], {}, found), ""
    )
    said = {"kernel": "7.3", "digest of the kernel": "ab12", "memory": "2048 MiB", "version of iperf3": "iperf 3.16"}
    for name, value in said.items():
        assert f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' in html
    tables = re.findall(r"<table[^>]*>\n(.*)", html)
    assert len(tables) == len(chapter_14.manual.predictions) + 2
    assert all(re.fullmatch(r"<caption>.+</caption>", first) for first in tables)


def test_every_lab_has_its_questions(chapter_14):
    """As many as the manual numbers, each as HTML."""
    questions = questions_in(render_body(chapter_14))
    assert len(questions) == 6
    assert questions[0].startswith("The port is given 100 Mbps instead of 1 Gbps")
    for folder in lab_folders():
        lab = load_lab(folder)
        text = lab.manual.text.partition("## Questions")[2].partition("\n## ")[0]
        assert len(questions_in(render_body(chapter(lab)))) == len(re.findall(r"^\d+\. ", text, re.M)) > 0


def test_a_name_is_kept_for_the_report(tmp_path):
    """It is written on the page; one that was given with the command stands."""
    with served(tmp_path) as page:
        assert "No name was given: write it on the lab’s page" in page.own("GET", "report")[2]
        assert page.own("POST", "name", {"text": " Ada\nLovelace "})[0] == 200
        assert page.own("POST", "name", {"text": "x" * 201})[0] == 400
        assert "Ada Lovelace" in page.own("GET", "report")[2].replace("\\n", " ")
    with served(tmp_path) as page:
        seen = []
        page.context.events.watch(seen.append)
        notes = next(event for event in seen if event["kind"] == "notes")
        assert (" ".join(notes["name"].split()), notes["fixed"]) == ("Ada Lovelace", False)
        page.context.name = "Grace Hopper"
        status, _, text = page.own("POST", "name", {"text": "Ada"})
        assert (status, "linklab lab --name 'Grace Hopper'" in json.loads(text)["error"]) == (400, True)


def test_answers_are_kept_by_number(tmp_path):
    """And told to every page."""
    with served(tmp_path) as page:
        assert page.own("POST", "answers/2", {"text": "because\nof it"})[0] == 200
        assert page.own("POST", "answers/0", {"text": "x"})[0] == 404
        assert page.own("POST", "answers/3", {"text": "x" * 20_001})[0] == 400
    assert StudentNotes.load(tmp_path, "14-router-bufferbloat").answers == {"2": "because\nof it"}
