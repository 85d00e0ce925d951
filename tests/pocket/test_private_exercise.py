"""An exercise of an instructor's own, in a folder outside the clone: from its issue to the mark of a student."""

import csv
import json
import shutil
from pathlib import Path

from pockets import needs_pocket

from linklab import cli
from linklab.base import installation
from linklab.exercise.fill import fill
from linklab.exercise.instance import parse_instance, quantities
from linklab.exercise.load import load_exercise
from linklab.exercise.places import VARIABLE

pytestmark = needs_pocket


def test_a_private_exercise_is_issued_done_handed_in_and_graded(tmp_path, monkeypatch, capsys):
    """No command but the first names its folder: the course file, the class folder, and the started folder do."""
    monkeypatch.delenv(VARIABLE, raising=False)
    instructor, student = tmp_path / "instructor", tmp_path / "student"
    instructor.mkdir()
    student.mkdir()
    mine = instructor / "my/9-filling"
    shutil.copytree(installation.ROOT / "exercises/template", mine)
    text = (mine / "exercise.toml").read_text()
    (mine / "exercise.toml").write_text(text.replace("= 99", "= 9").replace("Exercise 99", "Exercise 9"))
    (mine / "Exercise 99.mn").rename(mine / "Exercise 9.mn")

    monkeypatch.chdir(instructor)
    Path("class.csv").write_text("id,name\nada,Ada Lovelace\n")
    of_class = ["--roster", "class.csv", "--course", "networks.toml"]
    assert cli.main(["exercise", "issue", "./my/9-filling", *of_class]) == 0
    assert cli.main(["exercise", "handout", "9", "--class", "week5", *of_class]) == 0

    shutil.copytree("week5", student / "week5")
    monkeypatch.chdir(student)
    assert cli.main(["exercise", "start", "week5/instances/exercise9-ada.json", "--no-editor"]) == 0
    monkeypatch.chdir(student / "exercise-9")
    instance = parse_instance(Path("instance.json").read_text(), "instance.json")
    exercise = load_exercise(mine)
    Path("work.sh").write_text(fill((mine / "solution/work.sh").read_text(), quantities(exercise, instance)))
    mbps = 0.9565 * float(instance.parameters["rate"].removesuffix(" Mbps"))
    Path("answers.toml").write_text(f'throughput = "{mbps:.1f} Mbps"\n'.replace(".", ","))
    assert cli.main(["check"]) == 0
    assert cli.main(["submit"]) == 0

    monkeypatch.chdir(instructor)
    capsys.readouterr()
    handed_in = str(student / "exercise-9/exercise9-ada.zip")
    assert cli.main(["grade", handed_in, "--course", "networks.toml", "--out", "grades", "--seeds", "1", "--json"]) == 0
    (graded,) = json.loads(capsys.readouterr().out)["submissions"]
    assert (graded["student"], graded["status"], graded["score"], graded["max_score"]) == ("ada", "graded", 100, 100)
    row = next(csv.DictReader(Path("grades/grades.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert (row["ID number"], row["Exercise 9: Filling a link"]) == ("ada", "100")
