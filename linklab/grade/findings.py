# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a class side by side → findings for the instructor's eyes: the same work, another's parameters.

Pure. A finding says what was found and what may be behind it; it never takes points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence

from linklab.exercise.report import Report, Status
from linklab.grade.cohort import Entry, Finding
from linklab.grade.lent import Parameters, not_compared, plain, taken
from linklab.grade.marks import tool_broke
from linklab.grade.whose import instances, practice, unproven

LEAST_WORDS = 40
"""Free-text answers of at least this many characters that are identical are unlikely to be a coincidence."""
_TIMES_MORE = 10
"""An exercise of which another has this many times more submissions is probably not the one the class was asked for."""


def findings(entries: Sequence[Entry]) -> list[Finding]:
    """Everything worth a look, what is surest first; the order of `entries` decides all else."""
    graded = [entry for entry in entries if entry.report.status is Status.GRADED]
    found = [
        *_forged(entries),
        *_stopped(entries),
        *_broke(entries),
        *unproven(entries),
        *instances(entries),
        *practice(entries),
    ]
    found += _called_alike(entries)
    found += _strayed(entries)
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
    return len({entry.sender for entry in group}) > 1


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


def _broke(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions at which a tool of ours broke, if others were graded without that: their commands may have done it.

    What broke beside others has been graded once more by itself.
    """
    if not any(entry.report.status is Status.GRADED and not tool_broke(entry.report) for entry in entries):
        return []
    says = (
        "a tool of ours broke at this submission, and not at all of the others: it may be our fault, or its commands "
        "meant it to; see its log, then its work.sh."
    )
    return [Finding("broke", (entry,), says) for entry in entries if tool_broke(entry.report)]


def _called_alike(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions whose path ends as that of another, of whom it is not known that they are the same student's."""
    labels = {entry.label: entry for entry in entries}
    found = []
    for entry in entries:
        folders = entry.label.split("/")
        for first in range(1, len(folders) - 1):
            other = labels.get("/".join(folders[first:]))
            if other is None or other.sender == entry.sender:
                continue
            says = (
                f"{entry.label} and {other.label} end alike but are two files, and nothing proves that both are one "
                f"student's. If they are, copy {entry.label} over {other.label} and grade that again; if not, look at "
                "who made the folder."
            )
            found.append(Finding("same name", (other, entry), says))
    return found


def _strayed(entries: Sequence[Entry]) -> list[Finding]:
    """Submissions of an exercise that hardly anybody handed in, perhaps another week's file."""
    of: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.report.exercise:
            of.setdefault(entry.report.exercise, []).append(entry)
    usual = max(of.values(), key=len, default=[])
    return [
        Finding(
            "other exercise",
            tuple(mine),
            f"{_short(mine)}, but {len(usual)} submissions are of {_short(usual)}: perhaps another week's file. "
            "Files for platforms have a column for each exercise in which somebody has marks.",
        )
        for mine in of.values()
        if len(mine) * _TIMES_MORE <= len(usual)
    ]


def _short(entries: Sequence[Entry]) -> str:
    """The exercise of some submissions, "Exercise 4", or its id where no report has a heading."""
    return next((e.report.heading.partition(":")[0] for e in entries if e.report.heading), entries[0].report.exercise)


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
        if says := not_compared(entry.report):
            found.append(Finding("too many numbers", (entry,), says))
    return found


def _from(entry: Entry, lender: Entry, numbers: Sequence[str], *, same: bool) -> str:
    shown = f"{', '.join(numbers[:4])}{' …' if len(numbers) > 4 else ''}"
    return (
        f"work.sh{' is the same and' if same else ''} has {shown}, which "
        f"{'follow' if len(numbers) > 1 else 'follows'} from the parameters of {lender.called}, "
        f"not from those of {entry.called}."
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
            says = f"No network can be set to the state that was handed in ({told}), so nothing of it counted."
            found.append(Finding("impossible", (entry,), says))
    return found
