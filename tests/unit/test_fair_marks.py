"""More right work never earns less: the arithmetic of checks that need others, for rubrics that are drawn."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from linklab.exercise.answers import Answers
from linklab.exercise.evidence import Evidence
from linklab.exercise.judge import judge, worth_doing
from linklab.exercise.model import Answer, Band, Check, Exercise, Experiment, Transfer
from linklab.judge.quantity import Value
from linklab.judge.verdict import Outcome

MOST = 7


@st.composite
def rubrics(draw):
    """An exercise of checks that need others before them; each looks at a setting, a measurement, or an answer."""
    checks = []
    for number in range(draw(st.integers(1, MOST))):
        before = st.lists(st.sampled_from([each.id for each in checks]), unique=True) if checks else st.just([])
        kind = draw(st.sampled_from(["state", "measure", "answer"]))
        subject = {"state": f"s1-eth{number}.rate", "measure": f"go{number}.throughput", "answer": f"a{number}"}[kind]
        band = Band("8 Mbps", "10 Mbps")
        part = [replace(band, low="4 Mbps", share=0.5)] if draw(st.booleans()) else []
        bands, weight = (band, *part), draw(st.integers(0, 9))
        check = Check(f"c{number}", "T", kind, weight, subject, bands, tuple(draw(before)), False, "W.", ())
        some = tuple(draw(before))
        checks.append(replace(check, needs_any=some, needs_least=draw(st.integers(1, max(1, len(some))))))
    experiments = tuple(
        Experiment(f"go{n}", "submitted", {}, (Transfer("h1", "h2"),), 20, 10, None, "", "W") for n in range(MOST)
    )
    questions = tuple(Answer(f"a{n}", "rate", "A") for n in range(MOST))
    nothing = ((), {}, (), ())
    return Exercise(Path(), "exercise", 9, "T", 1, 1, "", "", *nothing, experiments, questions, tuple(checks))


def evidence(rubric, levels):
    """What is known of a submission whose checks are met not at all (0), in part (1), or wholly (2)."""
    numbers = {number: {0: 1.0, 1: 5.0, 2: 9.0}[level] for number, level in enumerate(levels)}
    return Evidence(
        rubric,
        {}.__getitem__,
        "",
        {f"s1-eth{number}.rate": value * 1e6 for number, value in numbers.items()},
        {},
        {f"go{number}": {"throughput": (value * 1e6,)} for number, value in numbers.items()},
        Answers({f"a{number}": Value(value * 1e6, "bit/s") for number, value in numbers.items()}),
    )


def earned(rubric, levels):
    """The points of each check."""
    return [result.score for result in judge(evidence(rubric, levels))]


levels = st.lists(st.integers(0, 2), min_size=MOST, max_size=MOST)


@given(rubrics(), levels, levels)
def test_more_right_work_never_earns_less(rubric, first, second):
    """Check by check: where everything is met at least as well, no check earns less."""
    more = [max(pair) for pair in zip(first, second, strict=True)]
    assert all(a <= b for a, b in zip(earned(rubric, first), earned(rubric, more), strict=True))


@given(rubrics())
def test_all_right_earns_all_and_nothing_right_nothing(rubric):
    """Whatever needs what."""
    assert sum(earned(rubric, [2] * MOST)) == rubric.weight
    assert sum(earned(rubric, [0] * MOST)) == 0


@given(rubrics(), levels)
def test_what_is_not_measured_would_have_earned_nothing(rubric, levels):
    """An experiment is left out only where every check that rests on it is lost without it."""
    known = evidence(rubric, levels)
    done = {each.id for each in worth_doing(replace(known, metrics={}), rubric.checks)}
    seen = {name: found for name, found in known.metrics.items() if name in done}
    all_done, some_done = judge(known), judge(replace(known, metrics=seen))
    assert [result.score for result in some_done] == [result.score for result in all_done]
    assert not any(result.outcome is Outcome.ERROR for result in some_done)
