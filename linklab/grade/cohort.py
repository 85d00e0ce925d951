# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a class side by side → findings for the instructor's eyes: the same work, another's parameters.

Pure. A finding says what was found and what may be behind it; it never takes points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from linklab.exercise.instance import Student, is_practice
from linklab.exercise.report import Report, Status, called
from linklab.grade.lent import Parameters, plain, taken

MOST_MISSING = 30
"""Students who handed in nothing that are named one by one."""
LEAST_WORDS = 40
"""Free-text answers of at least this many characters that are identical are unlikely to be a coincidence."""

_MOODLE = re.compile(r"(?:^|/)([^/]+?)_(\d+)_assignsubmission_")
_OURS = re.compile(r"(?:^|[/_])((?:exercise|problem)\d{1,4})-([^/]+)\.zip$", re.IGNORECASE)
_CANVAS = re.compile(r"(?:^|/)([^\W_]+)_(?:LATE_)?\d+_\d+_[^/]*$")
"""The name in small letters without blanks and signs, of any alphabet (Canvas's lib/content_zipper.rb)."""


@dataclass(frozen=True)
class Entry:
    """A graded submission of a class.

    name: of its folder among the results; label: the submitted file as it was given.
    """

    name: str
    label: str
    report: Report

    @property
    def practice(self) -> bool:
        """Whether it is of the public practice instance, which belongs to nobody."""
        return is_practice(self.report.student)

    @property
    def student(self) -> str:
        """The student's id, "" where the submission names none."""
        return "" if self.practice else self.report.student

    @property
    def person(self) -> str:
        """What to call the student: the roster's name, the id, the name a platform put into the label, or the label.

        A practice instance is nobody's, and marked.
        """
        if self.practice:
            return f"{handed_in_by(self.label)} (practice)"
        return self.report.name or self.report.student or handed_in_by(self.label)


@dataclass(frozen=True)
class Finding:
    """Something to look at.

    kind: "same work", "same settings", "same answers", "same words", "another's values", "instance", "practice",
    "unproven", "forged", "impossible", "stopped", "missing".
    """

    kind: str
    entries: tuple[Entry, ...]
    says: str


def handed_in_by(label: str) -> str:
    """Who handed a file in, from the name that Moodle or Canvas gave it on download; else the label."""
    found = _MOODLE.search(label) or _CANVAS.search(label)
    return found[1] if found else label


def findings(entries: Sequence[Entry]) -> list[Finding]:
    """Everything worth a look, what is surest first; the order of `entries` decides all else."""
    graded = [entry for entry in entries if entry.report.status is Status.GRADED]
    found = [*_forged(entries), *_stopped(entries), *_unproven(entries), *_instances(entries), *_practice(entries)]
    found += _lent(graded)
    seen: list[set[str]] = []
    for kind, key, says in (
        ("same work", _whole, "settings, work.sh and answers are identical"),
        ("same settings", _settings, "settings and answers are the same, though the files differ"),
        ("same answers", _answers, "the answers are the same"),
        ("same words", _words, "the answers in words are the same, letter by letter"),
    ):
        for group in sorted(_groups(graded, key), key=_equal_parameters):
            names = {entry.name for entry in group}
            if kind == "same answers" and _equal_parameters(group):
                continue  # what follows from the same parameters is the same
            if _several(group) and not any(names <= known for known in seen):
                seen.append(names)
                found.append(Finding(kind, tuple(group), f"{says}{_chance(group) if kind != 'same words' else '.'}"))
    return found


def _parameters(group: Sequence[Entry]) -> set[Parameters]:
    """Those that are there."""
    return {_of(entry) for entry in group}


def _equal_parameters(group: Sequence[Entry]) -> bool:
    """Whether all have the same: equal work may then be chance."""
    return len(_parameters(group)) == 1


def _chance(group: Sequence[Entry]) -> str:
    if _equal_parameters(group):
        return ". Their parameters are the same too, so it may be chance."
    distinct = _parameters(group)
    return f", though {'each has its own' if len(distinct) == len(group) else 'not all have the same'} parameters."


def _several(group: Sequence[Entry]) -> bool:
    """Whether more than one student is in it: handing the same in twice is no finding of this kind."""
    return len({entry.student or entry.label for entry in group}) > 1


def _groups(entries: Iterable[Entry], key: Callable[[Report], Hashable]) -> list[list[Entry]]:
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        if (value := key(entry.report)) is not None:
            groups.setdefault((entry.report.exercise, value), []).append(entry)
    return [group for group in groups.values() if len(group) > 1]


def _idle(report: Report) -> bool:
    """Whether nothing was done; empty submissions are all alike."""
    return not report.changes and not report.score


def _whole(report: Report) -> Hashable:
    return None if _idle(report) or not report.fingerprint else report.fingerprint


def _settings(report: Report) -> Hashable:
    answers = [check for check in report.checks if check.kind == "answer" and check.seen]
    if not report.changes or all(check.absent for check in answers):
        return None
    answered = tuple((check.id, check.seen, check.absent) for check in answers)
    return tuple((fact, after) for fact, _, after in report.changes), answered


def _answers(report: Report) -> Hashable:
    """The answers with a number, where there are two or more."""
    numbers = tuple((name, text) for name, text in sorted(report.answers.items()) if re.match(r"[\d.]", text))
    return numbers if len(numbers) > 1 else None


def _words(report: Report) -> Hashable:
    written = " ".join(" ".join(report.words[name].casefold().split()) for name in sorted(report.words))
    return written if len(written) >= LEAST_WORDS else None


def _stopped(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions whose commands attacked their network, or never ended: what they were to show was not graded."""
    return [Finding("stopped", (entry,), f"{entry.report.stopped}.") for entry in entries if entry.report.stopped]


# --- whose values


def _lent(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions whose work.sh has numbers that follow from another's parameters: of whom most do."""
    found = []
    known = [(entry, _of(entry), plain(entry.report.work)) for entry in entries if not entry.practice]
    for entry, own, work in known:
        if not work:
            continue
        others = [each for each in known if each[0].report.exercise == entry.report.exercise]
        numbers = taken(entry.report, {parameters for _, parameters, _ in others} - {own})
        lenders = [
            (text == work, len(numbers[parameters]), -place)
            for place, (_, parameters, text) in enumerate(others)
            if len(numbers.get(parameters, ())) > (0 if text == work else 1)
        ]
        if lenders:
            same, _, place = max(lenders)
            lender, parameters, _ = others[-place]
            says = _from(entry, lender, numbers[parameters], same=same)
            found.append(Finding("another's values", (entry, lender), says))
    return found


def _from(entry: Entry, lender: Entry, numbers: Sequence[str], *, same: bool) -> str:
    shown = f"{', '.join(numbers[:4])}{' …' if len(numbers) > 4 else ''}"
    return (
        f"work.sh{' is the same and' if same else ''} has {shown}, which "
        f"{'follow' if len(numbers) > 1 else 'follows'} from the parameters of {_called(lender)}, "
        f"not from those of {_called(entry)}."
    )


def _of(entry: Entry) -> Parameters:
    return tuple(sorted(entry.report.parameters.items()))


# --- what cannot be so


def _forged(entries: Sequence[Entry]) -> list[Finding]:
    """Instances that say something else than what was issued, and states that no network can have."""
    found = []
    for entry in entries:
        if told := "; ".join(entry.report.forged):
            says = f"instance.json was changed after it was issued ({told}); what was issued was graded."
            found.append(Finding("forged", (entry,), says))
        if told := entry.report.impossible:
            says = f"The state that was handed in is none that a network can be set to ({told}); nothing of it counted."
            found.append(Finding("impossible", (entry,), says))
    return found


# --- whose instance


def placed(report: Report, label: str, roster: Sequence[Student]) -> Report:
    """The report of an unproven submission as that of the student of a roster whom the file's name speaks of.

    Where Moodle or Canvas named the file or its folder on download, that part alone counts, because the rest is the
    student's own. What the submission says of itself never counts.
    """
    if not report.unproven or report.student:
        return report
    given = handed_in_by(label)
    ours = _OURS.search(given)
    exact = {_simple(given), _simple(ours[2]) if ours else ""}
    found = [each for each in roster if _speaks_of(given, each.id, each.name) or _simple(each.id) in exact]
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


def _unproven(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions that nothing but their own word ties to a student: in one finding, and those whose word is another's.

    A lab's submission is never proven, so those that name the student of their file are named together.
    """
    found = []
    plain: list[Entry] = []
    for entry in entries:
        report = entry.report
        if not report.unproven or not report.claims:
            continue
        where = f"the student {_called(entry)}" if entry.student else "the name of its file"
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


def _instances(entries: Sequence[Entry]) -> list[Finding]:
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
                f"{len(group)} files carry the instance of {_called(group[0])}: it was handed in more than once, "
                "or somebody worked with another's parameters."
            )
            if any(entry.report.unproven for entry in group):
                says = f"{len(group)} files are named for {_called(group[0])}, and not all are proven to be theirs."
            found.append(Finding("instance", tuple(group), says))
    for entry in entries:
        if not entry.student or entry.report.unproven or _speaks_of(entry.label, entry.student, entry.report.name):
            continue
        others = [student for student, name in known.items() if _speaks_of(entry.label, student, name)]
        if others and others != [entry.student]:
            other = f"{known[others[0]]} ({others[0]})" if known[others[0]] else others[0]
            says = f"the file's name speaks of {other}, its parameters are those of {_called(entry)}."
            found.append(Finding("instance", (entry,), says))
        elif says := _misnamed(entry):
            found.append(Finding("instance", (entry,), says))
    for entry in entries:
        if entry.report.packed_for:
            other = entry.report.packed_for
            whose = called(other, known.get(other, ""))
            own = _called(entry) or "the practice instance"
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
        return f'the file is named "{exercise}-{rest}", and holds {report.exercise} of {_called(entry)}.'
    inside = report.student.casefold()
    if re.match(rf"{re.escape(inside)}(?![a-z0-9])", rest.casefold()):
        return ""
    return f'the file is named for "{rest}", its parameters are those of {_called(entry)}.'


def _practice(entries: Sequence[Entry]) -> list[Finding]:
    public = tuple(entry for entry in entries if entry.practice)
    if not public or all(entry.practice or not entry.student for entry in entries):
        return []
    return [Finding("practice", public, "graded on the public practice instance, not on parameters of their own.")]


def _called(entry: Entry) -> str:
    return called(entry.student, entry.report.name)


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
