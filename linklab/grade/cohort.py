# SPDX-License-Identifier: BSD-3-Clause
"""What a graded class consists of: its submissions, and findings for the instructor, which never take points.

Findings are made by `linklab.grade.findings` and `linklab.grade.whose`.
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.exercise.instance import is_practice
from linklab.exercise.report import Report, called
from linklab.grade.downloaded import handed_in_by


@dataclass(frozen=True)
class Entry:
    """A graded submission of a class.

    name: of its folder among the results; label: the submitted file as it was given.
    path: of that file, from the results' folder on; "" where an older version did not note it.
    """

    name: str
    label: str
    report: Report
    path: str = ""

    @property
    def practice(self) -> bool:
        """Whether it is of the public practice instance, which belongs to nobody."""
        return is_practice(self.report.student)

    @property
    def student(self) -> str:
        """The student's id, "" where the submission names none."""
        return "" if self.practice else self.report.student

    @property
    def proven(self) -> str:
        """The student's id where an instance proves it, else ""."""
        return "" if self.report.unproven else self.student

    @property
    def sender(self) -> str:
        """Who handed it in, to be compared: the student's id, or what no id is where the submission names none."""
        return self.student or f"/{self.name}"

    @property
    def person(self) -> str:
        """What to call the student: the roster's name, the id, the name a platform put into the label, or the label.

        A practice instance is nobody's, and marked.
        """
        if self.practice:
            return f"{handed_in_by(self.label)} (practice)"
        return self.report.name or self.report.student or handed_in_by(self.label)

    @property
    def called(self) -> str:
        """The student's name and id, as far as they are proven or a roster has them."""
        return called(self.student, self.report.name)


@dataclass(frozen=True)
class Finding:
    """Something to look at.

    kind: "same work", "same settings", "same answers", "same words", "another's values", "too many numbers",
    "instance", "practice", "unproven", "same name", "other exercise", "forged", "impossible", "stopped", "broke",
    "missing".
    """

    kind: str
    entries: tuple[Entry, ...]
    says: str
