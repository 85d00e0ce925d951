# SPDX-License-Identifier: BSD-3-Clause
"""The file of a student's progress: several writers, a damaged file, and who tells of it."""

import fcntl
import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linklab.cli import main
from linklab.errors import InputError
from linklab.guide import progress_lines
from linklab.guide.continuing import left_off
from linklab.guide.evidence import EditorEvidence, StateEvidence, TypedEvidence
from linklab.guide.evidence_lines import digest
from linklab.guide.guide import Guide
from linklab.guide.plan import plan_of
from linklab.guide.progress import FOLDER, INSIDE, LabProgress
from linklab.guide.recorded import RecordedWork
from linklab.guide.session import GuideSession, next_hint, read_steps
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.state.model import State
from linklab.state.node import Interface, Node

ROOT = Path(__file__).resolve().parents[2]
RUN, STOP = EditorEvidence(("run",)), EditorEvidence(("stop",))
LONG = 100_000
"""Letters of a long line: more than a pipe takes at once."""


@pytest.fixture(scope="module")
def lab():
    """Lab 3."""
    return load_lab(find_lab("3", ROOT))


def state(**mtus):
    """A network of which these nodes have an interface with such an MTU."""
    nodes = {name: Node({f"{name}-eth0": Interface(up=True, mtu=mtu)}) for name, mtu in mtus.items()}
    return State({"client": Node({}), **nodes})


def whole_lab(lab):
    """The evidence of somebody who does the whole lab, with what the kernel said."""
    plan = plan_of(lab)
    done = [
        each for _, found in RecordedWork(plan, load_reference(lab).recorded).of(lab.manual.steps) for each in found
    ]
    told = []
    for number, each in enumerate(done):
        told.append(each)
        if number % 4 == 0:
            told.append(StateEvidence(state(h1=1500 + number, h2=1500, s1=1500 + number // 8), float(number)))
    return told


# --- several writers


def write_many(folder, lab, name, count):
    """A program that adds lines, every third a long one, and opens the progress again and again."""
    for number in range(count):
        progress = LabProgress.begin(folder, lab)
        progress.note("try", name=name, number=number, filler="x" * (LONG if number % 3 == 0 else 1))


def test_no_line_of_several_writers_is_lost_or_mixed(lab, tmp_path):
    """Regression: opening the progress beside a writer cut the file, and 193 of 201 lines were left."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write_many, args=(tmp_path, lab, name, 60)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    progress = LabProgress.load(tmp_path)
    assert progress.trouble() == ""
    found = [(note["name"], note["number"]) for note in progress.notes("try")]
    assert sorted(found) == [(name, number) for name in "abc" for number in range(60)]
    assert len(progress.notes("lab")) == 1


def test_a_last_line_without_its_end_is_kept(lab, tmp_path):
    """Regression: a whole line was deleted because its line end was missing."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.add(RUN)
    progress.path.write_bytes(progress.path.read_bytes().removesuffix(b"\n"))
    LabProgress.begin(tmp_path, lab).add(STOP)
    assert list(progress.evidence()) == [RUN, STOP]
    assert progress.trouble() == ""


def test_a_line_that_was_cut_off_stays_and_the_next_one_begins_anew(lab, tmp_path):
    """The machine may stop while a line is written; nothing is ever removed."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.add(RUN)
    cut = progress.path.read_bytes() + b'{"kind": "edi'
    progress.path.write_bytes(cut)
    again = LabProgress.begin(tmp_path, lab)
    again.add(STOP)
    assert progress.path.read_bytes().startswith(cut + b"\n")
    assert list(again.evidence()) == [RUN, STOP]
    assert "line 3 of 4 cannot be read and is left out" in again.trouble()


def test_a_lock_that_is_never_given_back_costs_no_line(lab, tmp_path, monkeypatch):
    """A program that was stopped in the midst of a line holds the lock: the lab goes on, and no line is glued to it."""
    monkeypatch.setattr(progress_lines, "LOCK_S", 0.2)
    progress = LabProgress.begin(tmp_path, lab)
    holder = (
        "import fcntl, os, sys, time\n"
        "file = os.open(sys.argv[1], os.O_RDWR | os.O_APPEND)\n"
        "fcntl.flock(file, fcntl.LOCK_EX)\n"
        'os.write(file, b\'{"kind": "ed\')\n'
        "print('holds', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", holder, progress.path], stdout=subprocess.PIPE, text=True) as held:
        try:
            assert held.stdout.readline() == "holds\n"
            held.send_signal(signal.SIGSTOP)
            began_s = time.monotonic()
            for _ in range(20):
                progress.add(RUN)
            assert time.monotonic() - began_s < 2.0
            assert list(progress.evidence()) == [RUN] * 20
            assert "line 2 of 22 cannot be read" in progress.trouble()
        finally:
            held.kill()


def test_a_line_goes_to_the_file_that_has_the_name_now(lab, tmp_path):
    """Somebody begins anew while a line waits for the lock: it belongs to the new progress, which begins as all do."""
    progress = LabProgress.begin(tmp_path, lab)
    old = progress.path.with_name("progress-1.jsonl")
    with progress.path.open("rb") as holding:
        fcntl.flock(holding, fcntl.LOCK_EX)
        waiting = multiprocessing.get_context("fork").Process(target=progress.add, args=(RUN,))
        waiting.start()
        time.sleep(0.3)
        progress.path.rename(old)
    waiting.join(20)
    assert list(LabProgress.load(tmp_path).evidence()) == [RUN]
    assert old.read_text().count("\n") == 1


def test_a_program_inside_the_network_leaves_its_line_beside_the_file(lab, tmp_path, monkeypatch):
    """The folder's locks do not reach inside, and a line added there can overwrite one that is added here."""
    session = GuideSession(lab, tmp_path)
    hints = ("a", "b", "c")
    before = session.progress.path.read_bytes()
    monkeypatch.setenv("LINKLAB_INSIDE", "1")
    inside = LabProgress.load(tmp_path)
    assert [next_hint(inside, "unshaped", hints) for _ in range(2)] == ["a", "b"]
    assert session.progress.path.read_bytes() == before
    monkeypatch.delenv("LINKLAB_INSIDE")
    assert next_hint(session.progress, "unshaped", hints) == "c"
    session.see(RUN)
    assert [note["number"] for note in session.progress.notes("hint")].count(3) == 1
    assert sorted(note["number"] for note in session.progress.notes("hint")) == [1, 2, 3]
    assert list((tmp_path / FOLDER / INSIDE).iterdir()) == []


# --- damage


def damaged(lab, folder, change):
    """A progress whose lines were changed by a function."""
    progress = LabProgress.begin(folder, lab)
    for each in (RUN, TypedEvidence("h1", "ping", 1.0), TypedEvidence("h1", "ping", 1.0, 2.0, "ü\n", 0), STOP):
        progress.add(each)
    lines = change(progress.path.read_bytes().split(b"\n"))
    progress.path.write_bytes(b"\n".join(lines))
    return progress


@pytest.mark.parametrize(
    "case",
    [
        (4, b'"output"', b'"scalars": [1], "output"', '"scalars" is not an object'),
        (4, "ü".encode(), b"\xc3", "is not UTF-8"),
        (4, b'"status": 0', b'"status": {}', '"status" is not an exit status'),
        (4, b"2.0", b"1e999", '"end_s" is missing or not a time'),
        (4, b"2.0", b"9" * 5000, "it is not JSON"),
        (4, b'"h1"', b'"client#look"', '"terminal" is not the name of a terminal'),  # where the grader reads the state
        (2, b'["run"]', b"[]", '"words" is missing or not a list of words'),
        (2, b'["run"]', b"[" * 100_000, "it is not JSON"),
        (2, b'"kind"', b'"king"', "it does not say what kind of line it is"),
        (3, b"{", b"[{", "it is not JSON"),
    ],
)
@pytest.mark.parametrize("blank", [0, 2])
def test_a_damaged_line_is_left_out_and_told_with_its_number(lab, tmp_path, case, blank):
    """Regression: an AttributeError; a number that left blank lines out; a whole file that was refused."""
    number, old, new, why = case

    def change(lines):
        lines[number - 1] = lines[number - 1].replace(old, new)
        return [lines[0], *[b""] * blank, *lines[1:]]

    progress = damaged(lab, tmp_path, change)
    kept = progress.path.read_bytes()
    told = progress.trouble()
    assert told.startswith(f"{progress.path}: line {number + blank} of 5 cannot be read and is left out (")
    assert why in told
    assert len(list(progress.evidence())) == 3
    assert progress.path.read_bytes() == kept


def test_many_damaged_lines_are_one_sentence(lab, tmp_path):
    """The first five by their numbers."""
    progress = damaged(lab, tmp_path, lambda lines: [*lines[:-1], *[b"nonsense"] * 9, b""])
    assert (
        "9 of 14 lines cannot be read and are left out: 6, 7, 8, 9, 10 and 4 more (line 6: it is not"
        in progress.trouble()
    )


def test_a_state_that_rests_on_a_lost_line_is_left_out(lab, tmp_path):
    """Of a state only the nodes that changed are written: it must not come out mixed with an older one."""
    progress = LabProgress.begin(tmp_path, lab)
    seen = [state(h1=1, h2=1), state(h1=2, h2=1), state(h1=2, h2=2)]
    for each in seen:
        progress.add(StateEvidence(each, 1.0))
    lines = progress.path.read_bytes().split(b"\n")
    progress.path.write_bytes(b"\n".join([*lines[:2], *lines[3:]]))
    assert list(progress.evidence()) == [StateEvidence(seen[0], 1.0)]
    assert "line 3 of 3 cannot be read" in progress.trouble()
    again = LabProgress.begin(tmp_path, lab)
    list(again.evidence())
    again.add(StateEvidence(seen[2], 2.0))
    assert list(again.evidence())[-1] == StateEvidence(seen[2], 2.0), "the next one is written whole"


def test_a_node_that_is_gone_is_gone(lab, tmp_path):
    """Regression: a state without a node that an earlier one had was read back with that node."""
    progress = LabProgress.begin(tmp_path, lab)
    seen = [StateEvidence(state(h1=1, h2=1), 1.0), StateEvidence(state(h1=1), 2.0)]
    for each in seen:
        progress.add(each)
    assert list(progress.evidence()) == seen


def test_states_of_an_earlier_linklab_are_read(lab, tmp_path):
    """Without digests; what comes after them rests on them."""
    progress = LabProgress.begin(tmp_path, lab)
    seen = [StateEvidence(state(h1=mtu, h2=1), float(mtu)) for mtu in (1, 2, 3)]
    for each in seen[:2]:
        progress.add(each)
    lines = [json.loads(line) for line in progress.path.read_text().splitlines()]
    for line in lines:
        for key in ("whole", "after", "gone"):
            line.pop(key, None)
    progress.path.write_text("".join(f"{json.dumps(line, sort_keys=True)}\n" for line in lines))
    again = LabProgress.begin(tmp_path, lab)
    assert list(again.evidence()) == seen[:2]
    again.add(seen[2])
    assert list(LabProgress.load(tmp_path).evidence()) == seen


def test_states_that_rest_on_each_other_are_read_up_to_a_limit(lab, tmp_path):
    """Each counts whole, also one that is refused: a line of a hundred letters may rest on a state of millions."""
    progress = LabProgress.begin(tmp_path, lab)
    nodes = {"client": {"interfaces": {}}, **{f"n{number}": {"interfaces": {}} for number in range(1000)}}
    first = digest(nodes)
    progress.note("state", at_s=1.0, nodes=nodes, whole=first)
    for number in range(10):
        progress.note("state", at_s=2.0, nodes={}, after=first, gone=[[], f"n{number}"], whole="0" * 16)
    assert len(json.dumps(nodes)) == 27_920
    read = progress.read(most_of_states=100_000)
    assert sum(isinstance(found, StateEvidence) for _, found in read.lines) == 1
    why = ["its nodes are not those that were written"] * 3
    why += ["the states before it have more than 100,000 characters, each taken whole"] * 7
    assert [line.why for line in read.damaged] == why
    assert {line.why for line in progress.read().damaged} == {why[0]}


def test_the_line_that_says_which_lab_it_is_may_be_lost(lab, tmp_path):
    """Other lines say it too; where none does, whoever starts the lab does, and --anew keeps the file."""
    session = GuideSession(lab, tmp_path)
    session.progress.note("begun", lab=3, slug=lab.slug, environment={})
    session.see(RUN)
    lines = session.progress.path.read_bytes().split(b"\n")
    session.progress.path.write_bytes(b"\n".join([b"\xff", *lines[1:]]))
    assert LabProgress.load(tmp_path).lab == 3
    with pytest.raises(InputError, match="this is the progress of Lab 3"):
        LabProgress.begin(tmp_path, load_lab(find_lab("8", ROOT)))
    session.progress.path.write_bytes(b"\n".join([b"\xff", *lines[2:]]))
    with pytest.raises(InputError, match="start the lab once in this folder with `linklab lab LAB`"):
        LabProgress.load(tmp_path)
    LabProgress.begin(tmp_path, lab)
    assert list(LabProgress.load(tmp_path).evidence()) == [RUN]


@pytest.mark.parametrize("content", [b"\x00" * 5000, b"hello\n", b'{"kind": "lab", "format": 7, "lab": 3}\n'])
def test_what_is_no_progress_is_refused_and_stays(lab, tmp_path, content):
    """The sentence has a cure that loses nothing."""
    path = tmp_path / FOLDER / "progress.jsonl"
    path.parent.mkdir()
    path.write_bytes(content)
    for read in (LabProgress.load, lambda folder: LabProgress.begin(folder, lab)):
        with pytest.raises(InputError, match=r"progress.jsonl: this is no progress of a lab.*--anew"):
            read(tmp_path)
    assert path.read_bytes() == content


def damages(chance, data):
    """The bytes with one to four things done to them: flipped, cut out, put in, a line dropped, the end cut off."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        match chance.randrange(5):
            case 0:
                data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + chance.choice((1, 7, 3000)) :]
            case 2:
                data = data[:at] + chance.choice((b"\n", b"\x00", b'"', b"}", b"[1]", b"\xff\n\xff")) + data[at:]
            case 3:
                lines = data.split(b"\n")
                lines.pop(chance.randrange(len(lines)))
                data = b"\n".join(lines)
            case 4:
                data = data[: max(at, len(data) // 2)]
        if not data:
            break
    return data


@pytest.mark.parametrize("seed", range(25))
def test_damage_is_told_and_changes_no_other_line(lab, tmp_path, seed):
    """Whatever happens to a real progress: no foreign exception, and each line that is as it was says what it said.

    A state may also be left out, because it rests on one that is damaged; it never comes out as another one.
    """
    progress = LabProgress.begin(tmp_path, lab)
    for each in whole_lab(lab):
        progress.add(each)
    data = progress.path.read_bytes()
    lines = [line for line in data.split(b"\n") if line]
    said = dict(zip(lines, (found for _, found in progress.read().lines), strict=True))
    chance = random.Random(seed)  # noqa: S311 - chance of a test
    for number in range(8):
        progress.path.write_bytes(damages(chance, data))
        try:
            read = LabProgress.begin(tmp_path, lab).read()
        except InputError as error:
            assert "progress of" in str(error)
            continue
        found = {id(line): evidence for line, evidence in read.lines}
        bad = {line.raw for line in read.damaged}
        good = iter(read.lines)
        for line in (line for line in progress.path.read_bytes().split(b"\n") if line.strip()):
            if line in bad:
                assert line not in said or isinstance(said[line], StateEvidence)
                continue
            _, evidence = next(good)
            if line in said:
                assert evidence == said[line]
        assert next(good, None) is None and len(found) + len(read.damaged) == read.total
        if number == 0:
            evidence = [each for _, each in read.lines if each is not None]
            guide = Guide(lab)
            guide.see_all(evidence)
            assert len(guide.steps()) == len(lab.manual.steps)
            left_off(evidence)


# --- who tells of it


@pytest.fixture
def torn(lab, tmp_path, monkeypatch):
    """A folder whose progress has a damaged line in the midst; it is the working folder."""
    session = GuideSession(lab, tmp_path)
    session.see(RUN)
    session.see(TypedEvidence("h1", "ping -c 5 10.0.0.2", 1.0))
    session.progress.path.write_bytes(session.progress.path.read_bytes().replace(b'["run"]', b'["ru\xff"]'))
    GuideSession(lab, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    return session.progress.path


TOLD = "progress.jsonl: line 2 of 3 cannot be read and is left out"


def test_step_tells_of_damage(torn, capsys):
    """What the session that opened the progress found."""
    assert main(["step"]) == 0
    assert TOLD in " ".join(capsys.readouterr().out.split())
    assert TOLD in read_steps(Path())["trouble"]


def test_the_report_tells_of_damage(torn):
    """In its head, for whoever reads it."""
    assert main(["lab", "3", "--report", "report.html"]) == 0
    assert TOLD in Path("report.html").read_text(encoding="utf-8")


def test_submitting_tells_of_damage(torn, capsys):
    """The file goes in as it is."""
    assert main(["submit", "--student", "s1"]) == 0
    assert TOLD in capsys.readouterr().out


@pytest.mark.parametrize("words", [["lab", "3", "--report", "r.html"], ["submit", "--student", "s1"]])
def test_a_progress_of_which_nothing_can_be_read_is_one_sentence(torn, capsys, words):
    """No traceback, and a cure."""
    torn.write_bytes(b"\xff\xfe")
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "none of its lines can be read" in said and "--anew" in said and "Traceback" not in said


@pytest.mark.parametrize("text", ["[]", "{", '{"format": 1}', '{"format": 1, "steps": 3}', "\xff"])
def test_steps_that_cannot_be_read_are_one_sentence(torn, capsys, text):
    """They are written anew by the next session."""
    torn.with_name("steps.json").write_bytes(text.encode("latin-1"))
    assert main(["step"]) == 2
    assert "steps.json: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "editor", "words": ["opened"]}',
        '{"kind": "editor", "words": []}',
        f'{{"kind": "typed", "terminal": "{"h" * 65}", "text": "ls", "start_s": 1.0}}',
    ],
)
def test_what_no_editor_and_no_terminal_is_cannot_be_read(tmp_path, line):
    """Regression: the first was told as a fault of the guide, and a name of 7 MB stood in the grader's overview."""
    progress = LabProgress.begin(tmp_path, load_lab(find_lab("3", ROOT)))
    with progress.path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    assert len(progress.read().damaged) == 1
