"""Known wrong answers as their marks.toml says, and the table of what they earn."""

from dataclasses import replace

import pytest

from linklab.errors import InputError
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.grade.known import known_answers, marks_table

EXERCISES = [load_exercise(folder) for folder in exercise_folders()]
TEMPLATE = load_exercise(EXERCISES[0].folder.parent / "template")
PROBLEM = next(each for each in EXERCISES if each.id == "problem1")


def read(tmp_path, text, exercise=TEMPLATE):
    """The known wrong answer of a marks.toml."""
    folder = tmp_path / "wrong/too-much"
    folder.mkdir(parents=True)
    (folder / "marks.toml").write_text(text)
    (known,) = known_answers(replace(exercise, folder=tmp_path))
    return known


def test_what_fails_says_what_is_earned(tmp_path):
    """All but the points of those checks, and a share of those that are met in part."""
    first, second, *_ = TEMPLATE.checks
    text = f'says = "M."\nfails = ["{first.id}"]\npartial = {{ {second.id} = 0.5 }}\n'
    known = read(tmp_path, text)
    points = 100 - first.weight - second.weight / 2
    assert (known.says, known.earns, known.points) == ("M.", (points, points), f"{points:g}")
    assert known.shares == {first.id: 0, second.id: 0.5}


def test_a_range_is_earned_by_whatever_checks(tmp_path):
    """With a fault of its own, and called by its folder where nothing is said."""
    known = read(tmp_path, 'earns = [20, 40.5]\nfault = "packet-loss"\n', PROBLEM)
    assert (known.says, known.shares, known.points, known.fault) == ("too much", None, "20 to 40.5", "packet-loss")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'give either "fails", the checks that earn nothing, or "earns", the least and the most points'),
        (
            "fails = []\nearns = [0, 1]",
            'give either "fails", the checks that earn nothing, or "earns", the least and the most points',
        ),
        ('fails = ["no-such"]', 'there is no check "no-such"'),
        ("earns = [40, 20]", '"earns" is the least and the most points, such as [40, 60], within 0 to 100'),
        ("earns = [0, 101]", '"earns" is the least and the most points, such as [40, 60], within 0 to 100'),
        ('earns = [0, 1]\nfault = "rain"', '"fault" is "rain", which exercise99 does not plant'),
        (
            "earns = [0, 1]\nmark = 3",
            'unknown key "mark"; the keys here are says, fault, fails, partial, earns, '
            "steps, work, then, blank, answers",
        ),
    ],
)
def test_a_wrong_marks_file_says_what_is_wanted(tmp_path, text, said):
    """With the file's name."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path}/wrong/too-much/marks.toml: {said}"


def test_the_table_of_the_docs_is_that_of_the_exercises():
    """docs/marks.md ends with what `linklab exercise verify all --table` prints."""
    text = (EXERCISES[0].folder.parents[1] / "docs/marks.md").read_text()
    assert text.endswith(marks_table(EXERCISES))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_every_mistake_is_said_in_a_sentence(exercise):
    """Each once."""
    said = [known.says for known in known_answers(exercise)]
    assert len(set(said)) == len(said)
    assert all(text.count(" ") > 2 and not text.endswith(".") for text in said)
