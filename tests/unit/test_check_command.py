# SPDX-License-Identifier: BSD-3-Clause
"""What `linklab check` prints of a report."""

from dataclasses import replace

import pytest
from small_exercise import make_clone

from linklab.commands.check import looked_at, tell
from linklab.exercise.answers import read_answers
from linklab.exercise.discreet import discreet
from linklab.exercise.load import load_exercise
from linklab.exercise.report import CheckResult, Report, Status
from linklab.judge.verdict import Outcome

HINTS = ("Look at s1-eth2.", "Its limit is small.", "tc qdisc change dev s1-eth2 … limit 250000")


def result(name, outcome, score, story="", hints=HINTS):
    """A check worth 2."""
    return CheckResult(name, f"Title of {name}", "state", score, 2.0, False, hints=hints, outcome=outcome, story=story)


@pytest.fixture
def exercise(tmp_path):
    """The small one, with one hidden check."""
    return load_exercise(make_clone(tmp_path) / "exercises/3-small")


def shown(capsys, exercise, *checks, hint=1, notes=()):
    """What is printed, lines joined."""
    score = sum(check.score for check in checks)
    report = Report(
        exercise.id, exercise.heading, "practice", "", "", "", Status.GRADED, score, 2.0 * len(checks), checks, notes
    )
    tell(report, exercise, "Looked.", hint=hint)
    return capsys.readouterr().out


def test_what_is_met_is_one_line_and_what_is_not_has_its_story(capsys, exercise):
    """House rule 22: expected and from what, seen, a hint; the sum, and how many are hidden."""
    text = shown(
        capsys,
        exercise,
        result("a", Outcome.PASS, 2.0, "pass a: all is well"),
        result("b", Outcome.FAIL, 0.0, "fail b: expected 40 ms (2 × 20 ms), saw 20 ms."),
        result("c", Outcome.PARTIAL, 1.0, "c: expected 3, saw 2."),
    )
    assert "pass    Title of a  2/2\n" in text
    assert "all is well" not in text
    assert "fail    Title of b  0/2\n        b: expected 40 ms (2 × 20 ms), saw 20 ms.\n" in text
    assert text.count("→ where: Look at s1-eth2.") == 2
    assert "what:" not in text
    assert "1 of 3 visible checks are met: 3 of 6 points." in text
    assert "One more, worth 2, is hidden: judged when you hand in." in text
    assert "`linklab check --hint 2` says what is wrong there." in text


def test_hints_come_step_by_step(capsys, exercise):
    """The third with the two before it, and then no more is offered."""
    text = shown(capsys, exercise, result("b", Outcome.FAIL, 0.0), hint=3)
    assert [line.strip().partition(":")[0] for line in text.splitlines() if "→" in line] == [
        "→ where",
        "→ what",
        "→ how",
    ]
    assert "--hint" not in text


def test_what_is_no_doing_of_the_student_gets_no_hint(capsys, exercise):
    """Not judged, or our tool broke: the story says so."""
    text = shown(
        capsys,
        exercise,
        result("a", Outcome.SKIPPED, 0.0, "skipped: it needs “rate” first"),
        result("b", Outcome.ERROR, 0.0, "error: the kernel did not come up"),
        notes=("work.sh ran longer than 60 s and was stopped.",),
    )
    assert "→" not in text
    assert "it needs “rate” first" in text
    assert "Note: work.sh ran longer than 60 s and was stopped." in text
    assert "submit" not in text


def test_when_all_is_met_the_next_step_is_named(capsys, exercise):
    """And several hidden checks are counted."""
    more = replace(exercise, checks=(*exercise.checks, replace(exercise.checks[-1], id="other", weight=3.0)))
    text = shown(capsys, more, result("a", Outcome.PASS, 2.0))
    assert "2 more checks, worth 5, are hidden: judged when you hand in." in text
    assert "`linklab submit` packs what you hand in." in text


def test_a_check_of_an_answer_does_not_give_it_away(exercise):
    """What was expected of an answer is for the grader's report; what is wrong with its form is told."""
    expected = "winner: expected reno (There is only one.), saw bbr."
    checks = (
        result("rate", Outcome.FAIL, 0.0, "rate: expected 100 Mbps, saw 50 Mbps."),
        replace(result("winner", Outcome.FAIL, 0.0, expected), expected="reno", seen="bbr", why="There is only one."),
    )
    report = Report("exercise3", "", "", "", "", "", Status.GRADED, 0.0, 4.0, checks)
    told = {}
    for text in ('winner = "bbr"', 'winner = "cubic"', ""):
        state, answer = discreet(report, exercise, read_answers(text, exercise)).checks
        assert state == replace(checks[0], hints=checks[0].hints[:1])
        assert "reno" not in (answer.expected + answer.why)
        told[text] = answer.story
    assert list(told.values()) == [
        "winner: your answer is bbr, and that does not fit.",
        'winner: "cubic" is none of reno, bbr.',
        "winner: there is no answer.",
    ]
    passed = replace(report, checks=(replace(checks[1], outcome=Outcome.PASS),))
    (fits,) = discreet(passed, exercise, read_answers('winner = "reno"', exercise)).checks
    assert fits.story == "winner: reno fits."


def test_the_planted_fault_is_not_named(exercise):
    """`linklab check --json` printed it."""
    report = Report("problem1", "", "", "", "", "", Status.GRADED, 0.0, 0.0, fault="receiver-window")
    assert "receiver-window" not in discreet(report, exercise, read_answers("", exercise)).dumps()


def test_a_fault_that_is_still_there_is_not_told_by_what_differs(exercise):
    """A network that was made fast past the fault was told which setting of which host had been planted."""
    planted = ("h2.sysctl.net.ipv4.tcp_window_scaling", "sysctl.net.ipv4.tcp_window_scaling of h2 was 1 and is 0")
    own = ("h1-eth0.mtu", "mtu of h1-eth0 was 1500 and is 9000")
    kept = replace(
        result("kept", Outcome.FAIL, 0.0, f"fail kept: expected nothing else to be changed (W), but {planted[1]}."),
        kind="unchanged", why="W.", seen=f"{own[1]}; {planted[1]}", differs=(own, planted),
    )  # fmt: skip
    report = Report("problem1", "", "", "", "", "", Status.GRADED, 0.0, 2.0, (kept,), untouched=(planted[0],))
    told = discreet(report, exercise, read_answers("", exercise))
    assert "window_scaling" not in told.dumps()
    assert told.checks[0].story == (
        "fail kept: expected nothing else to be changed (W), but what was planted is still there; "
        "mtu of h1-eth0 was 1500 and is 9000."
    )
    mended = replace(report, untouched=())
    assert discreet(mended, exercise, read_answers("", exercise), 3).checks == report.checks


def test_what_was_expected_of_the_network_is_told_with_the_last_hint_alone(exercise):
    """Of a queue that was too short the first thing said was the band, from which the BDP could be read."""
    queue = replace(
        result("queue", Outcome.FAIL, 0.0, "fail queue: expected 7.9 MB to 52 MB (R.), saw 437 kB."),
        expected="7.9 MB to 52 MB", seen="437 kB", saw="saw 437 kB", why="R.", hints=("Where.", "What.", "7.9 MB."),
    )  # fmt: skip
    report = Report("exercise3", "", "", "", "", "", Status.GRADED, 0.0, 2.0, (queue,))
    told = [discreet(report, exercise, read_answers("", exercise), hint) for hint in (1, 2, 3)]
    assert [each.checks[0].story for each in told] == [
        "fail queue: saw 437 kB, which does not fit.",
        "fail queue: saw 437 kB, which does not fit. What is wanted: R.",
        "fail queue: expected 7.9 MB to 52 MB (R.), saw 437 kB.",
    ]
    assert ["7.9 MB" in each.dumps() for each in told] == [False, False, True]
    near = replace(report, checks=(replace(queue, outcome=Outcome.PARTIAL),))
    (partial,) = discreet(near, exercise, read_answers("", exercise)).checks
    assert partial.story == "partial queue: saw 437 kB, which is near, but not near enough for all points."


def test_a_question_without_an_answer_is_told_so_by_the_hint(capsys, exercise):
    """It said "it is not what was set" of an answer that was not there."""
    check = replace(
        result("cause", Outcome.FAIL, 0.0), kind="answer", absent=True, hints=("Your answer.", "Wrong.", "Do.")
    )
    assert "→ what: There is no answer that can be used." in shown(capsys, exercise, check, hint=2)
    assert "→ what: Wrong." in shown(capsys, exercise, replace(check, seen="bbr", absent=False), hint=2)


def test_names_of_interfaces_are_not_broken(capsys, exercise):
    """A line ends before s1-eth2, not within it."""
    story = "fail b: " + "the queue of s1-eth2 and of s2-eth1, " * 12
    text = shown(capsys, exercise, result("b", Outcome.FAIL, 0.0, story))
    assert not [line for line in text.splitlines() if line.rstrip().endswith("-")]


def test_what_was_looked_at_is_said(tmp_path):
    """A network, work.sh, or neither."""
    assert "Network 2 (Exercise 3), as it is set now" in looked_at(tmp_path, {"id": 2, "name": "Exercise 3"})
    assert "No network runs in this folder and there is no work.sh" in looked_at(tmp_path, None)
    (tmp_path / "work.sh").touch()
    assert "What work.sh leads to" in looked_at(tmp_path, None)
