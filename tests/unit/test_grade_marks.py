"""The mark: points of the checks, less what lateness costs, and what the instructor gives by hand."""

import datetime as dt
import json
import math
from dataclasses import replace

import pytest
from graded import check, report, ungradable

from linklab.errors import InputError
from linklab.exercise.course import Cost, Course, Rules
from linklab.exercise.report import Adjustment, parse_report
from linklab.grade.class_lists import PointsGiven, Times, read_points, read_times
from linklab.grade.classfiles import canvas_csv, grades_csv
from linklab.grade.cohort import Entry
from linklab.grade.html import report_page
from linklab.grade.marking import Marking
from linklab.grade.marks import lateness, mark
from linklab.grade.results import results, results_text
from linklab.judge.verdict import Outcome

UTC = dt.timezone.utc
DUE = dt.datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
RULES = Rules(deadline=DUE, grace_s=900, per_day=Cost(share=0.1), cap=Cost(share=0.3))
COURSE = Course("Networks", b"x" * 32, {"exercise3": RULES})


def late(when, rules=RULES, **changes):
    """What a report of 4 of 12 points loses, handed in at a time."""
    return [each.points for each in lateness(report(handed_in=when, **changes), rules)]


@pytest.mark.parametrize(
    ("when", "taken"),
    [
        ("2026-11-20T23:00:00+00:00", []),
        ("2026-11-20T23:15:00+00:00", []),  # the end of the grace
        ("2026-11-20T23:15:01+00:00", [-1.2]),
        ("2026-11-21T23:15:00+00:00", [-1.2]),
        ("2026-11-22T00:15:00+01:00", [-1.2]),  # the same instant
        ("2026-11-21T23:15:01+00:00", [-2.4]),
        ("2027-01-01T00:00:00+00:00", [-3.6]),  # the cap: 30% of 12
        ("", []),  # nothing says when
    ],
)
def test_each_day_that_begins_after_the_grace_costs_its_share_up_to_the_cap(when, taken):
    """Of the full points, 12; a time that is not known costs nothing."""
    assert late(when) == taken


def test_lateness_takes_no_more_than_the_checks_earned():
    """Nobody goes below zero by it."""
    assert late("2026-11-22T12:00:00+00:00", score=2.0) == [-2.0]
    assert late("2026-11-22T12:00:00+00:00", replace(RULES, per_day=Cost(points=1.5), cap=Cost(share=1))) == [-3.0]


def test_an_extension_is_that_students_deadline():
    """The reason, which the student reads, says so."""
    rules = replace(RULES, extensions={"s2": dt.datetime(2026, 11, 22, 23, 0, tzinfo=UTC)})
    when = "2026-11-23T02:05:00+00:00"
    (mine,) = lateness(report("s2", handed_in=when), rules)
    assert mine == Adjustment(
        "late",
        -1.2,
        "handed in 3 h 5 min late (your deadline was 2026-11-22 23:00+00:00): 1 × 10% of the full points, at most 30%",
    )
    assert late(when, rules) == [-3.6]


def test_points_by_hand_come_on_top_of_what_lateness_leaves():
    """A mark may exceed the full one by them, and is never below 0."""
    given = (Adjustment("late", -3.0, "late"), Adjustment("by hand", 2.5, "a good drawing"))
    assert mark(report(adjustments=given)) == 3.5
    assert mark(report(adjustments=(Adjustment("by hand", -9, "copied"),))) == 0.0
    assert mark(report(adjustments=(Adjustment("by hand", 9, "an extra task"),))) == 13.0


def test_what_was_not_graded_has_a_mark_only_by_hand():
    """The instructor has decided then; else the cell stays empty."""
    broke = report(checks=(check("a", Outcome.ERROR, 0, 4), check("b", Outcome.PASS, 2, 2)), score=2.0)
    by_hand = (Adjustment("by hand", 3, "looked at in person"),)
    assert (mark(broke), mark(replace(broke, adjustments=by_hand))) == (None, 5.0)
    assert (mark(ungradable()), mark(ungradable(adjustments=by_hand))) == (None, 3.0)
    assert "score" not in results(broke)
    assert results(replace(broke, adjustments=by_hand))["score"] == 5.0


def test_the_mark_is_what_every_file_says():
    """The CSV files, Gradescope's score, and the page, with each reason."""
    given = (Adjustment("late", -1.2, "handed in late"), Adjustment("by hand", 2, "a good <drawing>"))
    made = report(adjustments=given, handed_in="2026-11-21T12:00:00+00:00")
    entry = Entry("s1", "s1.zip", made)
    assert results(made)["score"] == 4.8
    told = "−1.2 points: handed in late.\n+2 points: a good <drawing>.\nMark: 4.8 of 12 points.\n"
    assert told in results(made)["output"]
    assert ",4.8," in grades_csv([entry]).splitlines()[1]
    assert canvas_csv([entry]).splitlines()[2].endswith(",4.8")
    page = report_page(made, {})
    for part in ("<strong>4.8</strong> of 12 points", "a good &lt;drawing&gt;", ">−1.2</td>", "2026-11-21T12:00"):
        assert part in page


def test_of_several_submissions_the_one_with_the_highest_mark_counts():
    """A late one with more points may be worth less."""
    late_one = report(score=8.0, adjustments=(Adjustment("late", -6.0, "late"),))
    entries = [Entry("a", "a.zip", report()), Entry("b", "b.zip", late_one)]
    assert ",4," in grades_csv(entries).splitlines()[1]


def test_a_report_is_read_back_as_it_was_written():
    """Without its curves; a run that gave no value is one again."""
    made = report(
        adjustments=(Adjustment("late", -1, "late"),), handed_in="2026-11-21T12:00:00+00:00", traces=(),
        metrics={"tuned": {"throughput": (4e8, 5e8)}, "a": {}},
    )  # fmt: skip
    back = parse_report(json.loads(results_text(made))["extra_data"])
    assert back == made
    assert [*back.metrics] == ["tuned", "a"]
    gap = report(metrics={"tuned": {"rtt": (0.1, math.nan)}}, traces=())
    assert math.isnan(parse_report(json.loads(gap.dumps())).metrics["tuned"]["rtt"][1])


# --- the lists of a class


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """A function that writes a list and gives its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "l.csv").write_text(text)
        return (tmp_path / "l.csv").relative_to(tmp_path)

    return write


def test_points_are_read_with_their_place(listed):
    """An exercise as it is typed anywhere; a decimal comma where cells end with a semicolon."""
    path = listed("id;exercise;points;reason\ns1;3;1,5;drawing\n\ns2;p1;-2;late, by mail\ns3;Lab 05;+1;kind\n")
    assert read_points(path) == (
        PointsGiven("s1", "exercise3", 1.5, "drawing", "l.csv:2"),
        PointsGiven("s2", "problem1", -2.0, "late, by mail", "l.csv:4"),
        PointsGiven("s3", "lab5", 1.0, "kind", "l.csv:5"),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,exercise,points\n", 'l.csv: there is no column "reason"; the first line must name id, exercise, points'),
        ("id,exercise,points,reason\ns1,3,many,x\n", 'l.csv:2: points must be a number such as 2, -1.5, or 0.25, not'),
        ("id,exercise,points,reason\ns1,3,nan,x\n", 'l.csv:2: points must be a number such as 2, -1.5, or 0.25, not'),
        ("id,exercise,points,reason\ns1,quiz,1,x\n", 'l.csv:2: "quiz" is no exercise; write one such as exercise3'),
        ("id,exercise,points,reason\ns1,3,1,\n", "l.csv:2: there is no reason; the student reads it beside the points"),
        ("id,exercise,points,reason\n,3,1,x\n", "l.csv:2: there is no student's id in this line"),
        ("", 'l.csv: there is no column "id"'),
    ],
)  # fmt: skip
def test_a_line_of_points_that_is_none_is_named(listed, text, says):
    """With what to write."""
    with pytest.raises(InputError) as caught:
        read_points(listed(text))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("head", "cell", "time"),
    [
        ("id,time", "2026-11-20 23:59:00+01:00", "2026-11-20T23:59:00+01:00"),
        ("id,time", "2026-11-20T22:59", "2026-11-20T22:59:00+00:00"),
        ("SID,Submission Time", "2026-11-20 14:59:00 -0800", "2026-11-20T14:59:00-08:00"),
        ("roster_identifier,submission_timestamp", "2026-11-20 22:59:00 UTC", "2026-11-20T22:59:00+00:00"),
        ("ID number,Last modified (submission)", '"Friday, 20 November 2026, 11:59 PM"', "2026-11-20T23:59:00+00:00"),
    ],
)
def test_times_are_read_as_platforms_write_them(listed, head, cell, time):
    """One's own, Gradescope's, GitHub Classroom's, and Moodle's worksheet in English."""
    times = read_times(listed(f"{head}\ns1,{cell}\ns2,-\ns3,\n"), UTC)
    assert times.of("x.zip", "s1", "exercise3") == time
    assert times.of("x.zip", "s2", "exercise3") == times.of("x.zip", "s3", "exercise3") == ""


def test_the_time_that_speaks_most_exactly_of_a_submission_counts():
    """Its file, then the student's exercise, then the student."""
    known = {("in/a.zip", "", ""): "1", ("b.zip", "", ""): "2", ("", "s1", "exercise3"): "3", ("", "s1", ""): "4"}
    times = Times(known)
    asked = [
        ("in/a.zip", "s1", "exercise3"),
        ("b.zip", "", ""),
        ("c.zip", "s1", "exercise3"),
        ("c.zip", "s1", "lab1"),
    ]
    assert [times.of(*each) for each in asked] == ["1", "2", "3", "4"]
    assert times.of("c.zip", "", "exercise3") == ""


def test_the_time_of_a_file_is_found_by_its_name_in_the_grades(listed):
    """Regression: grades.csv writes "=e3.zip" as "'=e3.zip", so that a late file had no time, and lost nothing."""
    times = read_times(listed("file,time\n'=e3.zip,2026-11-20T22:59\n"), UTC)
    assert times.of("=e3.zip", "s1", "exercise3") == "2026-11-20T22:59:00+00:00"
    assert times.of("e3.zip", "s1", "exercise3") == ""


@pytest.mark.parametrize("label", ["Bob_2_assignsubmission_file_/b.zip", "x/b.zip"])
def test_a_file_named_as_anothers_has_not_the_others_time(label):
    """Regression: in a folder of its own, such a file was handed in when the other was."""
    assert Times({("b.zip", "", ""): "2", ("", "s2", ""): "3"}).of(label, "s2", "exercise3") == "3"
    assert Times({("b.zip", "", ""): "2"}).of(label, "s2", "exercise3") == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("id,time\ns1,soon\n", 'l.csv:2: "soon" is no time'),
        ("id,time\ns1,2026-11-20 23:59\n", "it has no offset, and the course file names no timezone"),
        ("id,time\ns1,2026-11-20 22:00Z\ns1,2026-11-20 23:00Z\n", "l.csv:3: when this was handed in is said twice"),
        ("id,file,time\n,,2026-11-20 22:00Z\n", "l.csv:2: neither an id nor a file says whose time this is"),
        ("id\n", 'l.csv: there is no column "time"'),
    ],
)
def test_a_time_that_is_none_is_named(listed, text, says):
    """Nothing is guessed, since it costs points."""
    with pytest.raises(InputError) as caught:
        read_times(listed(text), None)
    assert says in str(caught.value)


# --- applied


def test_what_is_not_said_anew_stands():
    """Points merged later leave the lateness, and the other way round; a list that lost a line takes it back."""
    times = Times({("", "s1", ""): "2026-11-21T12:00:00+00:00"})
    given = [
        PointsGiven("s1", "exercise3", 2.0, "drawing", "p.csv:2"),
        PointsGiven("s1", "exercise4", 9.0, "other", "p.csv:3"),
    ]
    first = Marking(COURSE, None, times).applied(report(), "s1.zip")
    assert [(each.kind, each.points) for each in first.adjustments] == [("late", -1.2)]
    second = Marking(None, given).applied(first, "s1.zip")
    assert [(each.kind, each.points) for each in second.adjustments] == [("late", -1.2), ("by hand", 2.0)]
    again = Marking(COURSE).applied(report(), "s1.zip", before=second)
    assert (again.adjustments, again.handed_in) == (second.adjustments, second.handed_in)
    assert Marking(None, []).applied(second, "s1.zip").adjustments == first.adjustments


def test_a_practice_instance_gets_nobodys_points():
    """Its student is not one."""
    given = [PointsGiven("practice", "exercise3", 2.0, "x", "p.csv:2")]
    assert Marking(None, given).applied(report("practice"), "s1.zip").adjustments == ()


def test_what_could_not_be_applied_is_to_be_looked_at():
    """Times that are not known where there is a deadline; points of students who are not there."""
    entries = [Entry("a", "a.zip", report()), Entry("b", "b.zip", report("s2", handed_in="2026-11-20T12:00:00+00:00"))]
    given = [PointsGiven("s9", "exercise3", 2.0, "x", "p.csv:2"), PointsGiven("s9", "exercise4", 2.0, "x", "p.csv:3")]
    found = Marking(COURSE, given).doubts(entries)
    assert [(each.kind, [entry.name for entry in each.entries]) for each in found] == [
        ("no time", ["a"]),
        ("points", []),
    ]
    assert found[1].says.startswith("p.csv:2: 2 points for s9 in exercise3 are not counted")


def test_of_a_practice_instance_no_time_is_wanted():
    """Its mark is nobody's."""
    assert Marking(COURSE).doubts([Entry("p", "p.zip", report("practice"))]) == []


def test_a_mark_above_the_full_points_is_to_be_looked_at():
    """Moodle refuses the whole file of grades for one."""
    given = [PointsGiven("s1", "exercise3", 8.5, "x", "p.csv:2"), PointsGiven("s2", "exercise3", 8.0, "x", "p.csv:3")]
    marking = Marking(None, given)
    entries = [Entry(who, f"{who}.zip", marking.applied(report(who), f"{who}.zip")) for who in ("s1", "s2")]
    (found,) = marking.doubts(entries)
    assert (found.kind, [entry.name for entry in found.entries]) == ("points", ["s1"])
    assert found.says.startswith("the mark is above the full points; Moodle refuses the whole file of grades for it")
