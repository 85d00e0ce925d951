# SPDX-License-Identifier: BSD-3-Clause
"""A course's rules and the lists of a class → the adjustments of each report, and what could not be applied.  Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from linklab.exercise.course import Course, Rules
from linklab.exercise.report import Adjustment, Report
from linklab.grade.class_lists import PointsGiven, Times
from linklab.grade.cohort import Entry, Finding
from linklab.grade.marks import BY_HAND, LATE, lateness, mark
from linklab.grade.results import points

NO_TIME = "no time"


@dataclass(frozen=True)
class Marking:
    """What a mark follows from beside the checks.

    course: its rules; given: points by hand; times: when was handed in what.  None leaves what a report says already.
    """

    course: Course | None = None
    given: tuple[PointsGiven, ...] | None = None
    times: Times | None = None

    def applied(self, report: Report, label: str, before: Report | None = None) -> Report:
        """The report with its adjustments.

        Args:
            report: as it was graded, and placed.
            label: the submitted file as it was given.
            before: an earlier report of the same file, whose time and adjustments stand where nothing new is said.
        """
        old = before or report
        whose = Entry("", label, report).student
        when = old.handed_in if self.times is None else self.times.of(label, whose, report.exercise)
        made = replace(report, handed_in=when)
        late, by_hand = (tuple(each for each in old.adjustments if each.kind == kind) for kind in (LATE, BY_HAND))
        if self.course is not None:
            late = lateness(made, self.course.rules.get(report.exercise, Rules()))
        if self.given is not None:
            by_hand = tuple(Adjustment(BY_HAND, each.points, each.reason) for each in self._mine(whose, report))
        return replace(made, adjustments=(*late, *by_hand))

    def _mine(self, student: str, report: Report) -> list[PointsGiven]:
        return [each for each in self.given or () if student and each.is_of(student, report.exercise)]

    def _is_due(self, entry: Entry, undated: Container[str]) -> bool:
        if entry.practice:  # it is nobody's, so no platform gets its mark
            return False
        if self.course is None:
            return entry.name in undated
        return self.course.rules.get(entry.report.exercise, Rules()).due(entry.student) is not None

    def doubts(self, entries: Sequence[Entry], undated: Container[str] = ()) -> list[Finding]:
        """What is to be looked at: submissions of no known time, points without a file, marks above the full points.

        Args:
            entries: of the class.
            undated: names of those whose time was wanted when the course's rules were known; counts without them.
        """
        found = []
        unknown = tuple(entry for entry in entries if not entry.report.handed_in and self._is_due(entry, undated))
        if unknown:
            says = "there is a deadline, but nothing says when this was handed in (--times), so lateness costs nothing."
            found.append(Finding(NO_TIME, unknown, says))
        exercises = {entry.report.exercise for entry in entries}
        there = {(entry.student, entry.report.exercise) for entry in entries}
        for each in self.given or ():
            if each.exercise in exercises and (each.student, each.exercise) not in there:
                what = f"{points(each.points)} points for {each.student} in {each.exercise}"
                says = f"{each.where}: {what} are not counted: no submission here is that student's."
                found.append(Finding("points", (), says))
        above = tuple(each for each in entries if (mark(each.report) or 0) > each.report.max_score > 0)
        if above:
            says = (
                "the mark is above the full points; Moodle refuses the whole file of grades for it, unless the maximum "
                "of its grade item is as high."
            )
            found.append(Finding("points", above, says))
        return found
