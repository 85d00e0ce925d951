# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a class → files for other programs: CSV for Moodle and for Canvas, JUnit XML, feedback for Moodle.

Pure: text and bytes out, the same for the same reports. Sources: Moodle's "Grade import" page,
grade/import/csv/classes/load_data.php, and mod/assign/feedback/file/importziplib.php; Canvas's
lib/gradebook_importer.rb; JUnit's XML as Jenkins and GitLab read it.
"""

from __future__ import annotations

import csv
import io
import itertools
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from xml.etree import ElementTree

from linklab.base.text import csv_cell, visible
from linklab.exercise.instance import Student
from linklab.exercise.report import CheckResult, Report, Status
from linklab.grade.cohort import Entry
from linklab.grade.downloaded import moodle_folder
from linklab.grade.marks import mark, tool_broke
from linklab.grade.results import adjusted, points, story, student_view
from linklab.judge.verdict import Outcome

STATUS = {Status.GRADED: "graded", Status.UNGRADABLE: "not gradable", Status.ERROR: "our tool broke"}
MOST_NAMED = 12
"""Checks that the feedback names as not met; the report has them all."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
NOTHING = "nothing handed in"
_NO_GRADE = "-"
"""What Moodle's import takes for no grade; older versions made an empty cell of a new grade item a zero."""


# --- CSV


def grades_csv(entries: Sequence[Entry], missing: Sequence[Student] = ()) -> str:
    """One line a student, for people: also who has no id, who handed in nothing, and what was not graded.

    Columns: "ID number", "Full name", "File", "Status", and for each exercise its points under its heading, a feedback
    and a status.  What was not graded wholly and got no points by hand has an empty cell.
    """
    headings = _headings(entries)
    head = ["ID number", "Full name", "File", "Status"]
    for heading in headings.values():
        head += [heading, f"{heading} (feedback)", f"{heading} (status)"]
    lines = []
    for student, mine in _students(entries):
        states = dict.fromkeys(status(entry.report) + (", practice" if entry.practice else "") for entry in mine)
        line = [student, mine[0].person, "; ".join(entry.label for entry in mine), "; ".join(states)]
        for exercise in headings:
            best = _best(mine, exercise)
            line += ["", "", ""] if best is None else [_points(best), feedback(best.report), status(best.report)]
        lines.append(line)
    lines += [[each.id, each.name, "", NOTHING, *[""] * (len(head) - 4)] for each in missing]
    return _csv([head, *lines])


def moodle_csv(entries: Sequence[Entry]) -> str:
    """One line a student who has an id, as Moodle's grade import takes it.

    Columns: "ID number", "Full name", and for each exercise its points under its heading, and a feedback.  Where there
    are no points, "-" is no grade.  For a line without an id Moodle refuses the whole file; older versions gave its
    grade to the student of the line above.
    """
    headings = _marked(entries)
    head = ["ID number", "Full name"]
    for heading in headings.values():
        head += [heading, f"{heading} (feedback)"]
    lines = []
    for student, mine in _students(entries):
        if student:
            found = [_best(mine, exercise) for exercise in headings]
            cells = [(_points(best) or _NO_GRADE, feedback(best.report)) if best else (_NO_GRADE, "") for best in found]
            lines.append([student, mine[0].person, *chain.from_iterable(cells)])
    return _csv([head, *lines])


def canvas_csv(entries: Sequence[Entry]) -> str:
    """One line a student who has an id and points, as Canvas's gradebook imports it: found by SIS id, else login.

    Others would be students that Canvas does not know, of whom it asks who they are.
    """
    headings = _marked(entries)
    best = {
        exercise: max(e.report.max_score for e in entries if e.report.exercise == exercise) for exercise in headings
    }
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *headings.values()]
    lines = [["    Points Possible", "", "", "", "", *(points(best[exercise]) for exercise in headings)]]
    for student, mine in _students(entries):
        cells = [_points(found) if (found := _best(mine, exercise)) else "" for exercise in headings]
        if student and any(cells):
            lines.append([mine[0].person, "", student, student, "", *cells])
    return _csv([head, *lines])


def feedback(report: Report) -> str:
    """A line for the student; what is hidden stays so."""
    if tool_broke(report):
        return " ".join(adjusted(report))
    if report.status is not Status.GRADED:
        sentences = [note if note.endswith(".") else f"{note}." for note in report.notes]
        return " ".join([*sentences, *adjusted(report)])
    shown = student_view(report)
    names = [
        f"{check.title}{' (in part)' if check.outcome is Outcome.PARTIAL else ''}"
        for check in shown.checks
        if check.outcome in (Outcome.FAIL, Outcome.PARTIAL)
    ]
    told = [f"{points(report.score)} of {points(report.max_score)} points."]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    told += [f"Not met: {'; '.join([*names[:MOST_NAMED], *more])}."] if names else []
    return " ".join([*told, *adjusted(report)])


def _marked(entries: Sequence[Entry]) -> dict[str, str]:
    """The headings of exercises in which at least one student with an id has a mark.

    A column without marks would only take away grades that the platform already holds.
    """
    marked = {each.report.exercise for each in entries if each.student and mark(each.report) is not None}
    return {exercise: heading for exercise, heading in _headings(entries).items() if exercise in marked}


def _headings(entries: Sequence[Entry]) -> dict[str, str]:
    """Exercise → heading, of all that were recognised, in order."""
    known = {entry.report.exercise: entry.report.heading for entry in entries if entry.report.heading}
    return {exercise: known[exercise] for exercise in sorted(known)}


def _students(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """(id, submissions) of each student; a submission that names nobody stands alone, with the id ""."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.sender, []).append(entry)
    return [("" if key.startswith("/") else key, found) for key, found in groups.items()]


def _best(entries: Sequence[Entry], exercise: str) -> Entry | None:
    """Of several submissions of an exercise the one with the highest mark."""
    mine = [(mark(entry.report), entry) for entry in entries if entry.report.exercise == exercise]
    best = max(mine, key=lambda each: -1 if each[0] is None else each[0], default=None)
    return best[1] if best else None


def _points(entry: Entry) -> str:
    final = mark(entry.report)
    return "" if final is None else points(final)


def status(report: Report) -> str:
    """What became of a submission, in words."""
    return "a check broke" if report.status is Status.GRADED and tool_broke(report) else STATUS[report.status]


def _csv(lines: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([[cell if cell == _NO_GRADE else csv_cell(cell) for cell in line] for line in lines])
    return text.getvalue()


# --- JUnit


def junit_xml(entries: Sequence[Entry]) -> str:
    """A suite a submission, a case a check; what is in part counts as failed, with its points in the message."""
    root = ElementTree.Element("testsuites", name="linklab grade")
    sums = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for entry in entries:
        counts = _suite(_element(root, "testsuite", name=entry.person), entry)
        sums = {name: sums[name] + counts[name] for name in sums}
    root.attrib.update({name: str(count) for name, count in sums.items()})
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(suite: ElementTree.Element, entry: Entry) -> Mapping[str, int]:
    report = entry.report
    classname = f"{report.exercise or 'submission'}.{entry.name}"
    outcomes = [check.outcome for check in report.checks]
    if report.status is not Status.GRADED:
        case = _element(suite, "testcase", name="graded", classname=classname)
        kind = "failure" if report.status is Status.UNGRADABLE else "error"
        _element(case, kind, "\n".join(report.notes), message=STATUS[report.status])
        outcomes.append(Outcome.FAIL if kind == "failure" else Outcome.ERROR)
    for check in report.checks:
        _case(_element(suite, "testcase", name=check.title, classname=classname), check)
    counts = {
        "tests": len(outcomes),
        "failures": sum(outcome in (Outcome.FAIL, Outcome.PARTIAL) for outcome in outcomes),
        "errors": outcomes.count(Outcome.ERROR),
        "skipped": outcomes.count(Outcome.SKIPPED),
    }
    suite.attrib.update({name: str(count) for name, count in counts.items()})
    return counts


def _case(case: ElementTree.Element, check: CheckResult) -> None:
    kind = {
        Outcome.FAIL: "failure",
        Outcome.PARTIAL: "failure",
        Outcome.ERROR: "error",
        Outcome.SKIPPED: "skipped",
    }.get(check.outcome)
    if kind is None:
        _element(case, "system-out", story(check))
        return
    earned = f"{points(check.score)} of {points(check.max_score)} points"
    _element(case, kind, story(check), message=f"{check.outcome.value}: {earned}")


def _element(parent: ElementTree.Element, tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    """A new element in which all text is such as XML can hold."""
    shown = {name: visible(value) for name, value in attributes.items()}
    element = ElementTree.SubElement(parent, tag, shown)
    element.text = None if text is None else visible(text)
    return element


# --- feedback


def moodle_feedback(entries: Sequence[Entry], pages: Mapping[str, str]) -> bytes | None:
    """A .zip for Moodle's "Upload multiple feedback files in a zip", or None where nothing came out of Moodle.

    Args:
        entries: those whose label is in a folder that Moodle named on download.
        pages: entry's name → its student's page.
    """
    mine = [(folder, entry) for entry in entries if (folder := moodle_folder(entry.label))]
    if not mine:
        return None
    names = [f"{folder}/{entry.report.exercise or entry.name}-report" for folder, entry in mine]
    counts, taken = Counter(name.casefold() for name in names), set[str]()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for (folder, entry), name in zip(mine, names, strict=True):
            own = name if counts[name.casefold()] == 1 else f"{folder}/{entry.name}-report"
            numbered = (f"{own}-{number}" for number in itertools.count(2))
            own = next(each for each in (own, *itertools.islice(numbered, len(mine))) if each.casefold() not in taken)
            taken.add(own.casefold())
            info = zipfile.ZipInfo(f"{own}.html", _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, pages[entry.name])
    return content.getvalue()
