"""What a known wrong answer changes in the solution."""

from dataclasses import replace

import pytest

from linklab.errors import InputError
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.grade.attempt import solution
from linklab.grade.known import known_answers

EXERCISE = load_exercise(exercise_folders()[0].parent / "3-tcp-and-switch-buffers")
FIRST, SECOND = "bdp", "throughput_first"
WORK = "h1 one {bdp}\n\nfor host in h1 h2; do\n  $host two\ndone\n\nh2 three {bdp}\n"


@pytest.fixture
def made(tmp_path):
    """What a wrong answer makes that changes the solution so, or has these files of its own."""

    def read(changes, **files):
        for name, text in {
            "solution/work.sh": WORK,
            "solution/answers.toml": f'{FIRST} = "1 MB"\n{SECOND} = "{{found.throughput}}"\n',
            "wrong/slip/marks.toml": f"fails = []\n{changes}",
            **{f"wrong/slip/{name.replace('_', '.')}": text for name, text in files.items()},
        }.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        (known,) = known_answers(replace(EXERCISE, folder=tmp_path))
        return known.made

    return read


def test_without_a_change_it_is_the_solution(made, tmp_path):
    """Its steps are the paragraphs of work.sh."""
    found = made("")
    assert (found.work, found.answers) == (WORK, {FIRST: "1 MB", SECOND: "{found.throughput}"})
    assert found.steps == ["h1 one {bdp}\n", "for host in h1 h2; do\n  $host two\ndone\n", "h2 three {bdp}\n"]
    assert replace(found, folder=tmp_path / "solution") == solution(replace(EXERCISE, folder=tmp_path))


def test_text_is_changed_wherever_it_stands(made):
    """Of the steps that are done; what is typed besides comes last."""
    found = made('steps = [3, 1]\nthen = "h1 four"\n[work]\n"{bdp}" = "{= 8 * bdp}"\n')
    assert found.work.split("\n") == ["h1 one {= 8 * bdp}", "", "h2 three {= 8 * bdp}", "", "h1 four", ""]


def test_no_step_and_no_answer_may_be_left(made):
    """An empty work.sh, and blanks by pattern; what is answered instead stands."""
    found = made(f'steps = []\nblank = ["*"]\n[answers]\n{SECOND} = "5 Mbps"\n')
    assert (found.work, found.answers) == ("", {SECOND: "5 Mbps"})


def test_a_whole_file_stands_for_the_solutions(made):
    """Answers are those of the solution, changed."""
    found = made(f'blank = ["{FIRST}"]\n', work_sh="h1 five\n")
    assert (found.work, found.answers) == ("h1 five\n", {SECOND: "{found.throughput}"})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ("steps = [0]", '"steps" are numbers of the paragraphs of the solution\'s work.sh, 1 to 3'),
        ("steps = [4]", '"steps" are numbers of the paragraphs of the solution\'s work.sh, 1 to 3'),
        (
            'steps = [1]\n[work]\n"two" = "2"',
            '[work] changes text of the solution\'s work.sh, and "two" is not there',
        ),
        ('[work]\n"two" = 2', '[work] changes "two" into 2, which is no text'),
        ("steps = [true]", '"steps" are numbers of the paragraphs of the solution\'s work.sh, 1 to 3'),
        ('[answers]\nnone = "2"', '[answers] has "none", which is no question of exercise3'),
        (f'blank = ["{FIRST}", "none*"]', '"blank" has "none*", which is no question that the solution answers'),
    ],
)
def test_a_change_that_cannot_be_made_says_why(made, tmp_path, changes, said):
    """With the file's name."""
    with pytest.raises(InputError) as caught:
        made(changes)
    assert str(caught.value) == f"{tmp_path}/wrong/slip/marks.toml: {said}"


def test_a_file_and_a_change_of_it_contradict(made, tmp_path):
    """It is not decided which counts."""
    with pytest.raises(InputError) as caught:
        made("steps = []\n", work_sh="h1 five\n")
    why = "there is a work.sh beside it; give either that file or what is changed in the solution"
    assert str(caught.value) == f"{tmp_path}/wrong/slip/marks.toml: {why}"
