# SPDX-License-Identifier: BSD-3-Clause
"""A student's folder, its handout and the commands around it, without a network."""

import base64
import csv
import json
import re
import shutil
import stat
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_exercise import use_clone

from linklab import cli
from linklab.agent import exercise_env
from linklab.agent.exercise_env import Line, SettingError
from linklab.commands import grade as grade_command
from linklab.commands import student
from linklab.editor import files as editor_files
from linklab.errors import InputError
from linklab.exercise.bundle import Bundle, read_bundle, write_bundle
from linklab.exercise.folder import collect, repeated
from linklab.exercise.handout import book_chapters
from linklab.exercise.instance import environment, parse_instance, practice_instance
from linklab.exercise.load import exercise_folders, find_exercise, load_exercise
from linklab.exercise.textfile import read_text
from linklab.grade.rebuild import Rebuilt
from linklab.manual.paper import paper_html


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """The small exercises, no display, and a folder to be in."""
    use_clone(tmp_path / "clone", monkeypatch)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "clone"


def start(*words):
    """`linklab exercise start`; its exit code."""
    return cli.main(["exercise", "start", *words])


# --- start


def test_a_started_folder_holds_what_a_student_needs(tmp_path, capsys):
    """Topology under the series' name, the script, the handout with the values, a template of the answers."""
    assert start("3") == 0
    folder = tmp_path / "home/exercise-3"
    names = {path.name for path in folder.iterdir()}
    assert names == {"Exercise 3.mn", "set_env.sh", "instance.json", "handout.html", "answers.toml"}
    assert stat.S_IMODE((folder / "set_env.sh").stat().st_mode) == 0o755
    assert "The link carries 100 Mbps, and a BDP is 250000 bytes" in (folder / "handout.html").read_text()
    assert "# How fast is it with 100 Mbps?" in (folder / "answers.toml").read_text()
    said = capsys.readouterr().out
    assert 'cd exercise-3\n         linklab shell "Exercise 3.mn"' in said
    assert "sh ./set_env.sh" in said
    assert "there is no display here, so that no editor opens" in said
    assert "then   cd exercise-3    and linklab check, in another terminal; linklab submit at the end" in said


def test_started_twice_nothing_is_overwritten(tmp_path, capsys):
    """The same instance goes on; another one, or a folder in use, is refused."""
    assert start("3") == 0
    answers = tmp_path / "home/exercise-3/answers.toml"
    answers.write_text("mine")
    assert start("3") == 0
    assert "goes on in exercise-3" in capsys.readouterr().out
    assert answers.read_text() == "mine"
    assert start("3", "--variant", "1") == 2
    assert "exercise3 of practice was started here; give another folder with --folder" in capsys.readouterr().err
    (tmp_path / "home/full").mkdir()
    (tmp_path / "home/full/thesis.tex").write_text("x")
    assert start("3", "--folder", "full") == 2
    assert "there is something in it already" in capsys.readouterr().err


def test_an_instance_that_was_sent_is_started_as_it_is(tmp_path):
    """Byte for byte, since the signature is over it; variants are for practice alone."""
    (tmp_path / "home/class.csv").write_text("id,name\ns1,Ada Lovelace\ns2,Alan Turing\n")
    assert cli.main(["exercise", "issue", "problem1", "--roster", "class.csv", "--course", "c.toml"]) == 0
    sent = tmp_path / "home/problem1-instances/problem1-s1.json"
    assert start(str(sent)) == 0
    folder = tmp_path / "home/problem-1"
    assert (folder / "instance.json").read_bytes() == sent.read_bytes()
    page = (folder / "handout.html").read_text()
    assert "For Ada Lovelace (s1), c. Other students have other values." in page
    assert start(str(sent), "--variant", "1") == 2
    assert not (folder / "answers.toml").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no instance of an exercise"),
        ("[]", "no instance of an exercise"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_no_instance_is_named(tmp_path, capsys, text, says):
    """One line, exit 2."""
    if text is not None:
        (tmp_path / "home/x.json").write_text(text)
    assert start("x.json") == 2
    assert says in capsys.readouterr().err


def test_an_instance_of_another_version_is_refused(tmp_path, capsys, clone):
    """The exercise was changed since it was issued."""
    assert start("3") == 0
    toml = clone / "exercises/3-small/exercise.toml"
    toml.write_text(toml.read_text().replace("version = 1", "version = 2"))
    assert start("exercise-3/instance.json", "--folder", "again") == 2
    assert "is of version 1 of exercise3; this Linklab has version 2" in capsys.readouterr().err


def test_neither_file_of_a_problem_shows_the_fault_at_a_glance(tmp_path, capsys):
    """The planted lines are in none of the folder's files as they are typed."""
    assert start("p1") == 0
    shown = capsys.readouterr().out + "".join(
        path.read_text() for path in (tmp_path / "home/problem-1").iterdir() if path.suffix != ".mn"
    )
    assert "tcp_rmem" not in shown
    assert "65536" not in shown
    assert "window" not in re.sub(r"<style.*?</style>", "", shown, flags=re.DOTALL)


# --- issue, list, handout


def test_issue_makes_a_course_once_and_the_same_instances_again(tmp_path, capsys):
    """The secret is in the course file alone, for its owner's eyes; the key tells the instructor who has what."""
    (tmp_path / "home/class.csv").write_text("s1\ns2\ns3\n")
    command = ["exercise", "issue", "p1", "--roster", "class.csv", "--course", "net.toml", "--name", "Networks"]
    (tmp_path / "home/key.csv").write_text("an old one that everybody could read")
    (tmp_path / "home/key.csv").chmod(0o644)
    assert cli.main([*command, "--key", "key.csv"]) == 0
    assert "made, with a new secret" in capsys.readouterr().out
    folder = tmp_path / "home/problem1-instances"
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(first) == ["problem1-s1.json", "problem1-s2.json", "problem1-s3.json"]
    assert cli.main(command) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first
    course = tmp_path / "home/net.toml"
    assert stat.S_IMODE(course.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home/key.csv").stat().st_mode) == 0o600
    capsys.readouterr()
    course.chmod(0o640)
    assert cli.main(command) == 0
    assert "net.toml: others on this machine can read the secret in it" in capsys.readouterr().err
    secret = re.search(r'secret = "([0-9a-f]{64})"', course.read_text())[1]
    assert not any(secret.encode() in content for content in first.values())
    rows = list(csv.DictReader((tmp_path / "home/key.csv").open()))
    assert [row["student"] for row in rows] == ["s1", "s2", "s3"]
    assert {row["fault"] for row in rows} == {"window"}
    assert rows[0]["rate"] == json.loads(first["problem1-s1.json"])["parameters"]["rate"]
    assert cli.main([*command[:-1], "Other"]) == 2
    assert 'is the course "Networks", not "Other"' in capsys.readouterr().err


def test_a_class_gets_a_folder_without_the_instructors_part(clone, capsys, monkeypatch):
    """The students' part and the instances; a student's machine that has no more starts from it, and cannot grade."""
    Path("class.csv").write_text("s1\ns2\n")
    roster = ["--roster", "class.csv", "--course", "net.toml"]
    (clone / "exercises/3-small/solution").mkdir()
    (clone / "exercises/3-small/solution/work.sh").write_text("true\n")
    (clone / "exercises/3-small/key.md").write_text("The key.\n")
    assert cli.main(["exercise", "issue", "3", *roster, "--name", "Networks"]) == 0
    assert cli.main(["exercise", "handout", "3", "--class", "week5", *roster]) == 0
    written = {path.relative_to("week5").as_posix() for path in Path("week5").rglob("*") if path.is_file()}
    small = [f"exercises/3-small/{name}" for name in ("Exercise 3.mn", "exercise.toml", "handout.md")]
    assert written == {"README.md", *small, "instances/exercise3-s1.json", "instances/exercise3-s2.json"}
    assert (
        Path("week5/instances/exercise3-s1.json").read_bytes()
        == Path("exercise3-instances/exercise3-s1.json").read_bytes()
    )
    assert "Nothing of the reader's business" not in Path("week5/exercises/3-small/exercise.toml").read_text()
    assert cli.main(["exercise", "handout", "3", "--class", "week5"]) == 2
    assert "week5: there is something in it already" in capsys.readouterr().err

    shutil.rmtree(clone / "exercises/3-small")
    shutil.copytree("week5/exercises/3-small", clone / "exercises/3-small")
    assert start("week5/instances/exercise3-s1.json") == 0
    assert "one hidden check, judged when you hand in" in Path("exercise-3/handout.html").read_text()
    capsys.readouterr()
    for command in (["issue", "3", *roster], ["verify", "3"], ["handout", "3", "--class", "again"]):
        assert cli.main(["exercise", *command]) == 4
        said = capsys.readouterr().err
        assert "this is the students' part of Exercise 3: A small exercise, without solution" in said
        assert "install the instructor's package linklab (make deb) in place of linklab-student" in said
    bundle = Bundle("exercise3", "s1", {"instance.json": Path("exercise-3/instance.json").read_bytes()})
    write_bundle(Path("s1.zip"), bundle)
    assert cli.main(["grade", "s1.zip", "--course", "net.toml"]) == 4
    assert "so Linklab cannot grade it" in capsys.readouterr().err
    assert not Path("grades").exists()
    # regression: one submission that said it was of such an exercise kept a whole class from being graded
    monkeypatch.setattr(grade_command, "grading_engine", lambda **_: SimpleNamespace(check=lambda: None))
    for other in ("s2.zip", "s3.zip"):
        Path(other).write_bytes(b"damaged")
    assert cli.main(["grade", "s1.zip", "s2.zip", "s3.zip", "--course", "net.toml"]) == 1
    said = capsys.readouterr().out
    assert "1 of 3 submissions (s1.zip) cannot be graded; the others are graded.\n" in said
    assert "this is the students' part of Exercise 3: A small exercise" in said
    assert [len(list(Path("grades", name).iterdir())) for name in ("s2", "s3")] == [3, 3]
    assert cli.main(["grade", "s1.zip", "--course", "net.toml", "--out", "again"]) == 4
    for copy in ("s4.zip", "s5.zip"):
        shutil.copy("s1.zip", copy)
    assert cli.main(["grade", "s1.zip", "s3.zip", "s4.zip", "s5.zip", "--course", "net.toml", "--out", "again"]) == 4
    says = "3 of 4 submissions (s1.zip, s4.zip, s5.zip) cannot be graded, so nothing was graded; "
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["3", "--course", "net.toml", "--roster", "class.csv"], "--course and --roster go with --class DIR"),
        (["3", "--class", "out", "--course", "net.toml"], "--course and --roster go together"),
        (["3", "--class", "out", "--pdf"], "--class writes a folder"),
        (["mine.json", "--class", "out"], "mine.json: --class takes an exercise"),
    ],
)
def test_what_does_not_fit_a_class_folder_is_said(words, why, capsys):
    """And nothing is written."""
    assert cli.main(["exercise", "handout", *words]) == 2
    assert why in capsys.readouterr().err
    assert not Path("out").exists()


def test_list_names_all_and_what_is_broken(capsys, clone):
    """One that cannot be read does not hide the others."""
    (clone / "problems/1-small/exercise.toml").write_text("format = 7")
    assert cli.main(["exercise", "list"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"exercise3 .* A small exercise .* 20 min .* Lab 5 .* 9 .* 5, 1 hidden", said)
    assert "problem1" in said
    assert "format" in said


def test_a_handout_has_the_texts_the_questions_and_the_checks(tmp_path, capsys):
    """Placeholders and braces, the picture, what exercise.toml knows; of hidden checks only how many."""
    assert cli.main(["exercise", "handout", "3", "--out", "h.html"]) == 0
    page = (tmp_path / "home/h.html").read_text()
    text = re.sub(r"<[^>]+>", " ", page)
    assert "for n in 1 2; do echo ${n}; done" in text
    assert "With the values of the practice instance" in text
    assert 'class="topology"' in page
    assert re.search(r"throughput\s+How fast is it with 100 Mbps\?\s+such as: 412 Mbps", text)
    assert re.search(r"The switch's buffer holds a BDP\s+2", text.replace("&#x27;", "'").replace("&#39;", "'"))
    assert re.search(r"one hidden check, judged when you hand in\s+2", text)
    assert "Nothing of the reader" not in text
    assert "BDP keeps the link" not in text
    assert cli.main(["exercise", "handout", "3", "--out", "h.pdf"]) == 0
    assert (tmp_path / "home/h.pdf").read_bytes().startswith(b"%PDF-")


def test_the_handbook_says_once_how_one_works(clone):
    """A chapter before the handouts, which leave it out; ids of chapters do not meet."""
    exercises = [load_exercise(folder) for folder in exercise_folders()]
    chapters = book_chapters(exercises)
    assert [one.heading for one in chapters] == [
        "Working on exercises and problems",
        "Exercise 3: A small exercise",
        "Problem 1: A small problem",
    ]
    page = paper_html(chapters, title="T", book=True)
    assert page.count("your values; leave it as it is") == 1
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert 'id="labE3-your-answers"' in page


def test_a_handout_that_names_nothing_known_says_where(capsys, clone):
    """File and placeholder."""
    (clone / "exercises/3-small/handout.md").write_text("## A\n\nIt is {speed}.\n")
    assert cli.main(["exercise", "handout", "3"]) == 2
    assert 'handout.md: placeholder "{speed}"' in capsys.readouterr().err


# --- what set_env.sh reads


def encoded(data):
    """As instance.json has it."""
    return base64.b64encode(zlib.compress(json.dumps(data).encode())).decode()


def test_the_environment_is_what_was_written(tmp_path):
    """What the exercise gives is what is typed, in order, the planted lines with nothing to say."""
    assert start("p1") == 0
    exercise = load_exercise(find_exercise("p1"))
    heading, lines = exercise_env.read(tmp_path / "home/problem-1")
    assert heading == "Problem 1"
    assert [tuple(line) for line in lines] == environment(exercise, practice_instance(exercise))
    assert [line.says for line in lines] == ["Rate of s1-eth2: 100 Mbps", ""]
    assert exercise_env.shaped(lines) == [("client", "s1-eth2")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%%%",
        "AAAA",
        encoded({"a": 1}),
        encoded([["client", "true"]]),
        encoded([["client", 1, ""]]),
        encoded(["x" * 2_000_000]),
    ],
)
def test_a_damaged_environment_is_told(text):
    """Cut off, no list, too long: one sentence."""
    with pytest.raises(SettingError, match="is damaged"):
        exercise_env.decode(text)


def test_interfaces_are_found_in_what_shapes_them():
    """Each once, those that are only changed not at all."""
    typed = [
        "tc qdisc add dev s1-eth1 root netem",
        "sudo tc qdisc add dev s1-eth1 parent 1: tbf",
        "tc qdisc change dev s1-eth3 root netem",
        "sysctl -w a=1",
    ]
    assert exercise_env.shaped([Line("client", text, "") for text in typed]) == [("client", "s1-eth1")]


def test_places_of_links_are_found_in_what_sets_them():
    """Each once, as `linklab link` calls it; one that is not named is none."""
    typed = [
        "linklab link set any any delay 5ms at s1:s1-eth2",
        "sudo linklab link load mesh.csv at s1:s1-eth2 entries 100",
        "linklab link set any h2 rate 1mbit at h1-eth0",
        "linklab link set h1 h2 delay 2ms",
        "linklab link show h1 h2",
    ]
    found = exercise_env.linked([Line("client", text, "") for text in typed])
    assert found == {"s1:s1-eth2": "s1-eth2", "h1-eth0": "h1-eth0"}


def test_set_env_outside_of_a_network_says_so(tmp_path, capsys):
    """Nothing is set, exit 1."""
    assert start("3") == 0
    capsys.readouterr()
    assert exercise_env.main(["", str(tmp_path / "home/exercise-3")]) == 1
    assert "there is no interface s1-eth2 here: run the exercise's own topology" in capsys.readouterr().err
    assert exercise_env.main(["", str(tmp_path)]) == 1
    assert "instance.json is not there" in capsys.readouterr().err


# --- submit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A started exercise with a work.sh."""
    monkeypatch.setattr(
        student, "rebuild", lambda *_, **__: Rebuilt("{}", "")
    )  # work.sh runs, and no network is needed
    assert start("3") == 0
    (tmp_path / "home/exercise-3/work.sh").write_text("true\n")
    return tmp_path / "home/exercise-3"


def test_what_the_student_made_is_packed_once(folder, tmp_path):
    """Files of the folder below results/, logs below terminals/; not ours, nor hidden ones, links, archives."""
    (folder / "results").mkdir()
    (folder / "results/a.json").write_text("1")
    (folder / "a.json").write_text("2")
    (folder / "deep/er").mkdir(parents=True)
    (folder / "deep/er/x.txt").write_text("3")
    (folder / ".hidden").write_text("4")
    (folder / "old.zip").write_text("5")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "terminals").mkdir()
    (folder / "terminals/h1.log").write_text("# network 1.0 t1\n")
    found = collect(folder)
    assert {name: data.decode() for name, data in found.results.items()} == {
        "results/a.json": "2",
        "results/other/results/a.json": "1",
        "results/deep/er/x.txt": "3",
    }
    assert list(found.terminals) == ["terminals/h1.log"]
    assert found.notes == []


def test_what_has_no_room_is_named(folder, monkeypatch):
    """The bundle stays within its limits, and the student knows what is not in it."""
    monkeypatch.setattr("linklab.exercise.folder.MOST_BYTES", 100)
    (folder / "big.bin").write_bytes(b"x" * 200)
    (folder / "small.txt").write_bytes(b"x")
    found = collect(folder)
    assert list(found.results) == ["results/small.txt"]
    assert found.notes == ["left out, since there is no room for them: big.bin (0.0 MB)"]


def test_what_a_bundle_would_refuse_is_left_out(folder, capsys):
    """An endless log, a name with a line break, a very long one: the rest is packed, and they are named."""
    (folder / "terminals").mkdir()
    (folder / "terminals/h1.log").write_bytes(b"x" * (2**21 + 1))
    (folder / "two\nlines.txt").write_text("x")
    (folder / ("deep/" * 50)).mkdir(parents=True)
    (folder / ("deep/" * 50) / "x.txt").write_text("x")
    assert cli.main(["submit", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "left out, since there is no room for them" in said
    assert "terminals/h1.log (2.1 MB)" in said
    assert "two\\nlines.txt" in said
    assert not read_bundle(folder / "exercise3-practice.zip").folder("terminals")


def test_a_drawing_that_cannot_be_graded_is_told_before_it_is_too_late(folder, capsys):
    """Regression: a host called client ran and was packed; `check` and the grader refused it."""
    (path,) = folder.glob("*.mn")
    path.write_text(path.read_text().replace('"h1"', '"client"'))
    assert cli.main(["submit", str(folder)]) == 2
    assert "the topology has a node client, which is a name of Linklab's own" in capsys.readouterr().err
    assert list(folder.glob("*.zip")) == []


def test_an_answer_that_cannot_be_used_is_told_before_it_is_too_late(folder, capsys):
    """With its name and what is wanted; nothing is packed."""
    (folder / "answers.toml").write_text('throughput = "94"\nwinner = "cubic"\n')
    assert cli.main(["submit", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "throughput" in said
    assert "412 Mbps" in said
    assert '"cubic" is none of reno, bbr' in said
    assert list(folder.glob("*.zip")) == []


def test_files_of_other_systems_are_read_as_the_grader_reads_them(folder, capsys):
    """UTF-16 and Windows line ends; `check` and `submit` ended with a traceback."""
    text = 'throughput = "94 Mbps"\nwinner = "reno"\n'
    for content in (text.encode("utf-16"), text.replace("\n", "\r\n").encode("utf-8-sig")):
        (folder / "answers.toml").write_bytes(content)
        (folder / "work.sh").write_bytes("h1 true\n".encode("utf-16"))
        assert read_text(folder / "answers.toml") == text
        assert cli.main(["submit", str(folder)]) == 0
        assert "Not answered: words." in capsys.readouterr().out
        bundle = read_bundle(folder / "exercise3-practice.zip")
        assert (bundle.text("answers.toml"), bundle.text("work.sh")) == (text, "h1 true\n")
    (folder / "answers.toml").write_bytes(b'winner = "reno"\nwords = "\xfcber"\n')
    for command in ("check", "submit"):
        assert cli.main([command, str(folder)]) == 2
        assert (
            "answers.toml:2: is neither UTF-8 nor UTF-16 text (byte 0xfc); save it as UTF-8" in capsys.readouterr().err
        )


def test_answers_that_are_no_toml_are_told_once(folder, capsys):
    """The same sentence stood there for each question."""
    (folder / "answers.toml").write_text("winner = reno\n")
    assert cli.main(["submit", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.count("cannot be read: Invalid value") == 1
    wanted = "answers.toml: cannot be read: Invalid value (at line 1, column 10); write each answer between quotation"
    assert wanted in said


def test_what_is_not_answered_is_named_and_packed_all_the_same(folder, capsys):
    """An empty answer costs its points alone."""
    (folder / "answers.toml").write_text('winner = "reno"\n')
    assert cli.main(["submit", str(folder)]) == 0
    assert "Not answered: throughput, words." in capsys.readouterr().out
    assert read_bundle(folder / "exercise3-practice.zip").text("answers.toml") == 'winner = "reno"\n'


def test_a_submission_is_the_same_bytes_again(folder):
    """Packing twice, with the first archive in the folder."""
    assert cli.main(["submit", str(folder)]) == 0
    first = (folder / "exercise3-practice.zip").read_bytes()
    assert cli.main(["submit", str(folder)]) == 0
    assert (folder / "exercise3-practice.zip").read_bytes() == first


def test_without_anything_that_was_set_a_submission_is_refused(folder, capsys):
    """Unless the answers alone are meant."""
    (folder / "work.sh").unlink()
    assert cli.main(["submit", str(folder)]) == 2
    assert "and there is no work.sh, so nothing that you set would be handed in" in capsys.readouterr().err
    assert cli.main(["submit", str(folder), "--repeat-recorded"]) == 2
    assert "no command was recorded there that configures a network" in capsys.readouterr().err
    assert cli.main(["submit", str(folder), "--answers-only"]) == 0


def test_a_broken_topology_is_told(folder, capsys):
    """Before the grader does."""
    (folder / "Exercise 3.mn").write_text("{")
    assert cli.main(["submit", str(folder)]) == 2
    assert "Exercise 3.mn" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("check", "(no instance.json): linklab exercise start makes a folder to work in"),
        ("submit", "holds nothing to hand in: neither an exercise (instance.json) nor the progress of a lab"),
    ],
)
def test_a_folder_of_no_work_is_told(tmp_path, capsys, command, said):
    """And how one is made."""
    assert cli.main([command, str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "submit"])
def test_inside_a_network_the_commands_say_where_they_work(folder, capsys, monkeypatch, command):
    """A student types them into the first terminal at hand."""
    monkeypatch.setenv("LINKLAB_INSIDE", "1")
    assert cli.main([command, str(folder)]) == 2
    assert f"type `linklab {command}` in another terminal of your machine" in capsys.readouterr().err


def test_recorded_terminals_that_are_no_text_do_no_harm(folder):
    """Bytes of any kind, links: left out."""
    (folder / "terminals").mkdir()
    (folder / "terminals/h1.log").write_bytes(b"# network 1.0 t1\n1.0 t1 $ tc qdisc add dev h1-eth0 \xff root\n")
    (folder / "terminals/h2.log").symlink_to("/etc/passwd")
    script, _ = repeated(folder, ["h1", "h2"], [])
    assert "h1 bash -c" in script or "h1 tc qdisc add dev h1-eth0" in script
    (folder / "terminals/h1.log").unlink()
    with pytest.raises(InputError, match="no command was recorded"):
        repeated(folder, ["h1"], [])


# --- the editor


def test_the_editor_knows_the_folder_of_an_exercise(folder, tmp_path):
    """By the script and the instance; its handout is F1."""
    assert editor_files.sets_environment(folder / "Exercise 3.mn")
    assert editor_files.handout(folder / "Exercise 3.mn") == folder / "handout.html"
    assert not editor_files.sets_environment(tmp_path / "x.mn")
    assert not editor_files.sets_environment(None)
    assert editor_files.handout(None) is None


def test_the_instance_is_read_back(folder):
    """As the grader reads it."""
    instance = parse_instance((folder / "instance.json").read_text(), "instance.json")
    assert (instance.exercise, instance.student) == ("exercise3", "practice")
