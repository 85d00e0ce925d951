# SPDX-License-Identifier: BSD-3-Clause
"""Whose a submission is: proven, or as the names of files and a roster say, and who of a roster is missing.

Pure; what cannot be told, or speaks against itself, is a finding.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from linklab.exercise.instance import Student
from linklab.exercise.report import Report, called
from linklab.grade.cohort import Entry, Finding
from linklab.grade.downloaded import handed_in_by

MOST_MISSING = 30
"""Students who handed in nothing that are named one by one."""

_OURS = re.compile(r"(?:^|[/_])((?:exercise|problem)\d{1,4})-([^/]+)\.zip$", re.IGNORECASE)


def placed(report: Report, label: str, roster: Sequence[Student]) -> Report:
    """The report of an unproven submission as that of the student of a roster whom the file's name speaks of.

    Where Moodle or Canvas named the file or its folder on download, that part alone counts, because the rest is the
    student's own. It is a person's name, of which an id without a digit may be a part, so such an id counts there as
    the whole. What the submission says of itself never counts.
    """
    if not report.unproven or report.student:
        return report
    given = handed_in_by(label)
    ours = _OURS.search(given)
    exact = {_simple(given), _simple(ours[2]) if ours else ""}
    if given == label:
        found = [each for each in roster if _speaks_of(given, each.id, each.name) or _simple(each.id) in exact]
    else:
        sure = [each for each in roster if any(map(str.isdecimal, each.id)) and _speaks_of(given, each.id, "")]
        found = [each for each in roster if each in sure or _speaks_of(given, "", each.name)]
        found = found or [each for each in roster if _simple(each.id) in exact]
    return replace(report, student=found[0].id, name=found[0].name) if len(found) == 1 else report


def absent(entries: Sequence[Entry], roster: Sequence[Student]) -> list[Finding]:
    """Who of a roster handed in nothing of their own, by exercise; nothing is found where there is no roster."""
    found = []
    headings = {entry.report.exercise: entry.report.heading for entry in entries if entry.report.heading}
    for exercise, heading in sorted(headings.items()):
        mine = [entry for entry in entries if entry.report.exercise == exercise]
        there = {entry.student for entry in mine}
        missing = [each for each in roster if each.id not in there]
        if missing:
            more = f", and {len(missing) - MOST_MISSING} more" if len(missing) > MOST_MISSING else ""
            named = ", ".join(called(each.id, each.name) for each in missing[:MOST_MISSING])
            says = f"nothing here is from {len(missing)} of {len(roster)} students: {named}{more}."
            told = [
                f"{called(each.id, each.name)}: {entry.name}"
                for each in missing
                for entry in mine
                if _speaks_of(entry.label, each.id, each.name)
            ]
            if told:
                says += f" But there are files named for students of these: {', '.join(told[:MOST_MISSING])}."
            found.append(Finding("missing", (), f"{heading.partition(':')[0]}: {says}"))
    return found


def nowhere(entries: Sequence[Entry], roster: Sequence[Student]) -> list[Student]:
    """Who of a roster has no submission, nor one that is named for them alone but not proven to be theirs."""
    there = {entry.student for entry in entries}
    for entry in entries:
        named = [each.id for each in roster if _speaks_of(entry.label, each.id, each.name)]
        if len(named) == 1:
            there.update(named)
    return [each for each in roster if each.id not in there]


def unproven(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions that nothing but their own word ties to a student: in one finding, and those whose word is another's.

    A lab's submission is never proven, so those that name the student of their file are named together.
    """
    found = []
    plain: list[Entry] = []
    for entry in entries:
        report = entry.report
        if not report.unproven or not report.claims:
            continue
        where = f"the student {entry.called}" if entry.student else "the name of its file"
        if report.exercise.startswith("lab") and _claims_itself(entry):
            plain.append(entry)
        else:
            says = f'it says that it is of "{report.claims}", which nothing proves; it is listed under {where}.'
            found.append(Finding("unproven", (entry,), says))
    unlisted = tuple(entry for entry in plain if not entry.student)
    if unlisted:
        says = (
            "nothing proves whose a lab's submission is, so it is listed under the name of its file; --roster gives "
            "the student whom that name speaks of."
        )
        found.append(Finding("unproven", unlisted, says))
    return found


def _claims_itself(entry: Entry) -> bool:
    """Whether whom a submission names is whom its file's name, or the roster, names."""
    claims, given = _simple(entry.report.claims), handed_in_by(entry.label)
    if entry.student:
        return _speaks_of(claims, entry.student, entry.report.name) or claims == _simple(entry.student)
    name, _, student = entry.report.claims.rstrip(")").rpartition(" (")
    return _speaks_of(given, student, name or student)


def instances(entries: Sequence[Entry]) -> list[Finding]:
    """Instances that came from two files, and files whose name speaks of another student than their instance."""
    found = []
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if entry.student:
            groups.setdefault((entry.report.exercise, entry.student), []).append(entry)
    known = {entry.student: entry.report.name for entry in entries if entry.student}
    for group in groups.values():
        if len(group) > 1:
            says = (
                f"{len(group)} files carry the instance of {group[0].called}: it was handed in more than once, "
                "or somebody worked with another's parameters."
            )
            if any(entry.report.unproven for entry in group):
                says = f"{len(group)} files are named for {group[0].called}, and not all are proven to be theirs."
            found.append(Finding("instance", tuple(group), says))
    for entry in entries:
        if not entry.student or entry.report.unproven or _speaks_of(entry.label, entry.student, entry.report.name):
            continue
        others = [student for student, name in known.items() if _speaks_of(entry.label, student, name)]
        if others and others != [entry.student]:
            other = f"{known[others[0]]} ({others[0]})" if known[others[0]] else others[0]
            says = f"the file's name speaks of {other}, its parameters are those of {entry.called}."
            found.append(Finding("instance", (entry,), says))
        elif says := _misnamed(entry):
            found.append(Finding("instance", (entry,), says))
    for entry in entries:
        if entry.report.packed_for:
            other = entry.report.packed_for
            whose = called(other, known.get(other, ""))
            own = entry.called or "the practice instance"
            says = f"manifest.json says that it was packed for {whose}, its parameters are those of {own}."
            found.append(Finding("instance", (entry,), says))
    return found


def _misnamed(entry: Entry) -> str:
    """A sentence where `linklab submit` named the file for another exercise or student than the one inside."""
    named = _OURS.search(entry.label)
    if named is None:
        return ""
    exercise, rest = named[1].casefold(), named[2]
    report = entry.report
    if report.exercise and exercise != report.exercise:
        return f'the file is named "{exercise}-{rest}", and holds {report.exercise} of {entry.called}.'
    inside = report.student.casefold()
    if re.match(rf"{re.escape(inside)}(?![a-z0-9])", rest.casefold()):
        return ""
    return f'the file is named for "{rest}", its parameters are those of {entry.called}.'


def practice(entries: Sequence[Entry]) -> list[Finding]:
    """Those of the public practice instance, where others have one of their own."""
    public = tuple(entry for entry in entries if entry.practice)
    if not public or all(entry.practice or not entry.student for entry in entries):
        return []
    return [Finding("practice", public, "graded on the public practice instance, not on parameters of their own.")]


def _speaks_of(label: str, student: str, name: str) -> bool:
    """Whether a label has the id as a word, or all words of the name, in any order or run together."""
    label = _simple(label)
    if len(student) > 2 and re.search(rf"(?<![a-z0-9]){re.escape(_simple(student))}(?![a-z0-9])", label):
        return True
    words = [word for word in re.split(r"[\W_]+", _simple(name)) if word]
    if len(words) < 2:
        return False
    parts = set(re.split(r"[\W_]+", label))
    # Canvas puts the last name first, and leaves out what is no letter; which words are the last name it does not say
    run_together = {"".join([*words[at:], *words[:at]]) for at in range(len(words))}
    return set(words) <= parts or not run_together.isdisjoint(parts)


def _simple(text: str) -> str:
    """Small letters without accents."""
    return "".join(each for each in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(each))
