# SPDX-License-Identifier: BSD-3-Clause
"""A lab that was handed in → its report: what was typed is typed again, and the guide judges what that shows.

Nothing that the student's own machine measured is believed; where it said something else, a note says so. A step is a
point. Predictions and answers are passed on to be read. Nothing ties the work to a person, so the report names nobody.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.base.bounded import Bounded
from linklab.base.processor_time import own_s
from linklab.base.text import excerpt, one_line, quoted
from linklab.engine.api import Engine
from linklab.errors import DataError, Fault, InputError, LinklabError, blame
from linklab.exercise.bundle import LAB, MAX_NAME, NOTES, PROGRESS, Bundle
from linklab.exercise.report import CheckResult, Report, Status, called
from linklab.grade.limits import HANG_S
from linklab.grade.results import MOST_WORK
from linklab.grade.sandbox import SandboxEngine
from linklab.grade.scratch import working_folder
from linklab.guide.evidence import GuideEvidence, TypedEvidence
from linklab.guide.folders import ShellFolders
from linklab.guide.guide import Guide
from linklab.guide.missed import expected_of, seen_of
from linklab.guide.plan import GuideStep
from linklab.guide.predictions import PredictionTime
from linklab.guide.progress import BEGUN, CONTINUED, FILE, FOLDER, LabProgress, damage_told
from linklab.guide.redo import MOST_FOLDERS, Redoing
from linklab.guide.redo_lines import ProgressEntry
from linklab.guide.retyped import is_aside, typed_again
from linklab.guide.status import BY_SCRIPT, GuideStatus, StepState
from linklab.guide.words import file_name, written_by
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.reference import replayed

AFTER, UNKNOWN = "written after the measurement", "not known whether it was written before the measurement"
MOST_NAMED = 8
_NO_LAB = 1000
"""A number that is too large for a lab's."""
MOST_LINES, MOST_TYPED, MOST_OF_STATES = 10_000, 2**20, 64 * 2**20
"""Of a progress that is graded: lines, characters that were typed, and of all its states (`EvidenceReader`).

The longest lab has some 200 lines, 4,000 characters typed, and 200,000 of states.
The guide looks at every step for each line, for up to 2 ms.
"""
_ANEW = "`linklab lab LAB --anew` begins a new one: hand that in"
_MOST_S = 150.0
"""Processor time that this process may spend on reading a lab and on doing it again.

Labs 3, 10, and 18 took 0.4 to 3 s.
"""
_MOST_JUDGING_S, _MOST_JUDGED_S, _MOST_MEMORY = 10.0, 60.0, 3 * 2**30
"""Processor time and memory of this process for the guide to judge one line, and time for all; one takes 2 ms."""
MOST_FILE = 2**18
_SCRIPTS = (".sh", ".py", ".toml")
"""Ends of names of files that somebody writes, and no measurement does."""
MOST_WORDS = 4000
_LONGEST_NOTE = 300
_MOST_NOTES = 100
"""Of the predictions, and of the answers; a lab asks a dozen."""


@dataclass(frozen=True)
class HandedInLab:
    """What lab.json says, and what the student wrote.

    predictions: id → text; answers: number → text; more: notes on those that are not among them.
    executable: names in the archive of files that are programs; places: name there → name in the lab's folder, where
    that is another than the one without `results/`.
    """

    lab: Lab
    student: str
    name: str
    same: bool
    predictions: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    executable: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)


def grade_lab(bundle: Bundle, source: str, engine: Engine) -> Report:
    """Grade the submission of a lab.

    Raises:
        InputError: of the fault SUBMISSION where it cannot be graded.
        EngineError, MissingError: our tools failed.
    """
    begun_s = own_s()
    with blame(Fault.SUBMISSION):
        handed_in = _read(bundle)
        entries, trouble = _entries(bundle, handed_in.lab)
    claimed = Guide(handed_in.lab)
    _see_all(claimed, (each for _, each in entries if each is not None))
    guide = Guide(handed_in.lab)
    with working_folder("linklab-lab-") as folder:
        _own_files(bundle, folder, entries, handed_in)
        spent_s = own_s() - begun_s
        redoing = Redoing(handed_in.lab, _for_a_lab(engine), folder, time.monotonic() + HANG_S, _MOST_S, spent_s)
        _see_all(guide, redoing.evidence(entries))
    shown = _shown(guide)
    checks = tuple(
        _check(state, guide.plan.step(state.id), shown.get(state.id))
        for state in guide.steps()
        if guide.plan.step(state.id).earns
    )
    notes = [*bundle.notes, *trouble, *_notes(handed_in, claimed, guide, redoing, entries)]
    environment = {name: value for name, value in redoing.environment.items() if name != "seed"}
    return Report(
        exercise=f"lab{handed_in.lab.number}",
        heading=handed_in.lab.heading,
        student="",
        name="",
        course="",
        source=source,
        status=Status.GRADED,
        score=sum(check.score for check in checks),
        max_score=float(len(checks)),
        checks=checks,
        notes=tuple(notes),
        answers=_told_predictions(handed_in, claimed),
        words={f"question {number}": text for number, text in handed_in.answers.items()},
        environment={**environment, "linklab": __version__, "seeds": [redoing.seed]},
        unproven=True,
        claims=called(handed_in.student, handed_in.name),
        typed=_typed(entries),
        stopped=next(iter(_unlike(redoing)), ""),
    )


def _see_all(guide: Guide, evidence: Iterable[GuideEvidence]) -> None:
    """Have the guide judge all of it, none for longer than `_MOST_JUDGING_S`, and as much as `_MOST_JUDGED_S` allow."""
    left_s = _MOST_JUDGED_S
    for each in evidence:
        if left_s <= 0:
            break
        begun_s = own_s()
        try:
            with Bounded(_MOST_JUDGING_S, _MOST_MEMORY, "judging it"):
                guide.see(each)
        except DataError as error:
            what = quoted(each.text) if isinstance(each, TypedEvidence) else "A state or a file"
            guide.not_followed.append(f"{what} could not be judged, and what follows may lack it: {error}")
        left_s -= own_s() - begun_s
    if left_s <= 0:
        guide.not_followed.append(f"What came after {_MOST_JUDGED_S:g} s of judging was not judged.")


def claimed_in(bundle: Bundle) -> tuple[str, str]:
    """The lab that a submission says it is of, such as "lab3", and whom it names by its own word; "" for neither.

    The manifest's word for the lab does not count: it may be any text, and this becomes part of the names of files.
    """
    with contextlib.suppress(InputError):
        data = _object(bundle, LAB)
        number = _number(data)
        return f"lab{number}" if number else "", called(_label(data.get("student")), _label(data.get("name")))
    return "", ""


def _number(data: Mapping[str, Any]) -> int | None:
    number = data.get("lab")
    return number if type(number) is int and 0 < number < _NO_LAB else None


def _read(bundle: Bundle) -> HandedInLab:
    data = _object(bundle, LAB)
    number = _number(data)
    if number is None:
        raise InputError(f"{LAB}: it does not say which lab this is; make it again with `linklab submit`")
    lab = load_lab(find_lab(str(number)))
    notes = _object(bundle, NOTES) if NOTES in bundle.files else {}
    predictions = {
        name: _words(" ".join(str(given.get(key, "")) for key in ("number", "unit", "words", "why")))
        for name, given in _mapping(notes.get("predictions")).items()
        if isinstance(given, dict)
    }
    answers = {number: _words(text) for number, text in _mapping(notes.get("answers")).items()}
    same = data.get("replayed") == replayed(lab)
    about = _label(data.get("student")), _label(data.get("name"))
    given = data.get("executable")
    programs = frozenset(each for each in given if isinstance(each, str)) if isinstance(given, list) else frozenset()
    moved = data.get("places")
    places = {
        name: each
        for name, each in (moved.items() if isinstance(moved, dict) else ())
        if isinstance(each, str) and each.isprintable() and len(each) <= MAX_NAME
    }
    return HandedInLab(lab, *about, same, predictions, answers, _too_many(notes), programs, places)


def _object(bundle: Bundle, name: str) -> Mapping[str, Any]:
    try:
        data = json.loads(bundle.text(name) or "")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: this is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{name}: this is no JSON object")
    return data


def _mapping(value: object) -> Mapping[str, Any]:
    """The first entries of an object, {} for anything else; `_too_many` tells of the others."""
    return {_label(name): each for name, each in islice(value.items(), _MOST_NOTES)} if isinstance(value, dict) else {}


def _too_many(notes: Mapping[str, Any]) -> tuple[str, ...]:
    """A note for each kind of which more were handed in than are passed on."""
    counts = {kind: len(each) for kind, each in notes.items() if isinstance(each, dict)}
    return tuple(
        f"Of {counts[kind]:,} {kind} the first {_MOST_NOTES} are told."
        for kind in ("predictions", "answers")
        if counts.get(kind, 0) > _MOST_NOTES
    )


def _words(value: object) -> str:
    return excerpt(str(value).strip(), MOST_WORDS)


def _label(value: object) -> str:
    return excerpt(one_line(str(value or "")), 100)


def _entries(bundle: Bundle, lab: Lab) -> tuple[list[ProgressEntry], list[str]]:
    """The progress, read as the guide reads it, and a note where some of its lines cannot be read."""
    count = sum(map(bool, map(bytes.strip, bundle.files.get(PROGRESS, b"").split(b"\n"))))
    if count > MOST_LINES:
        raise InputError(f"{PROGRESS} has {count:,} lines, and the grader reads at most {MOST_LINES:,}; {_ANEW}")
    with working_folder("linklab-lab-") as folder:
        path = folder / FOLDER / FILE
        path.parent.mkdir()
        path.write_bytes(bundle.files.get(PROGRESS, b""))
        try:
            progress = LabProgress.load(folder)
            read = progress.read(MOST_OF_STATES) if progress else None
        except LinklabError as error:
            raise InputError(str(error).replace(str(path), PROGRESS)) from error
    if progress is None or read is None:
        raise InputError(f"{PROGRESS}: this is no progress of a lab: it is missing or empty")
    if progress.lab != lab.number:
        raise InputError(f"{PROGRESS}: this is the progress of Lab {progress.lab}, and lab.json says {lab.heading}")
    if read.damaged and not any(found for _, found in read.lines):
        first = read.damaged[0]
        raise InputError(f"{PROGRESS}:{first.number}: this line cannot be read ({first.why}), and no other holds work")
    lines = [found for _, found in read.lines if isinstance(found, TypedEvidence)]
    typed = max(sum(len(line.text) for line in lines if line.ended is ended) for ended in (False, True))
    if typed > MOST_TYPED:
        raise InputError(f"{PROGRESS} types {typed:,} characters, and the grader types at most {MOST_TYPED:,}; {_ANEW}")
    told = damage_told(PROGRESS, read)
    return [(data["kind"], found) for data, found in read.lines], [f"{told}."] if told else []


def _own_files(bundle: Bundle, folder: Path, entries: list[ProgressEntry], handed_in: HandedInLab) -> None:
    """Put what no line of the progress wrote into the working folder, such as scripts.

    The progress says that a line wrote what an editor saved before that line ended, so scripts are brought in unless a
    line says itself that it writes them.  What is a program there is one, unless a line of the progress makes it so.

    Raises:
        InputError: of the fault SUBMISSION where no folder can hold a file of that name.
    """
    lines = [each for _, each in entries if isinstance(each, TypedEvidence) and each.ended]
    written = {name for line in lines if line.files and typed_again(line) == line.text for name in line.files}
    made = {file_name(name) for line in lines for name in written_by(line.terminal, line.text)}
    changed = _named_by(lines, "chmod")
    for packed, content in bundle.folder("results").items():
        name = handed_in.places.get(f"results/{packed}", packed)
        path = folder / name
        is_program = f"results/{packed}" in handed_in.executable
        is_script = is_program or content.startswith(b"#!") or name.endswith(_SCRIPTS)
        if (
            (name in written and not (is_script and file_name(name) not in made))
            or len(content) > MOST_FILE
            or folder not in path.resolve().parents
        ):
            continue
        if name.count("/") > MOST_FOLDERS:
            why = f"{quoted(f'results/{packed}')} lies in more than {MOST_FOLDERS} folders; leave it out"
            raise InputError(why, fault=Fault.SUBMISSION)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if is_program and name not in changed:
                path.chmod(0o755)
        except OSError as error:  # a name that is too long, or that is a file's and a folder's
            why = f"{quoted(f'results/{packed}')} cannot be written: {error.strerror}; leave it out, or rename it"
            raise InputError(why, fault=Fault.SUBMISSION) from error


def _named_by(lines: Iterable[TypedEvidence], program: str) -> set[str]:
    """The files that lines with a program name."""
    folders, found = ShellFolders(), set[str]()
    for line in lines:
        found |= folders.named(line) if program in line.text else set()
        folders.ended(line)
    return found


def _for_a_lab(engine: Engine) -> Engine:
    return engine.for_a_lab() if isinstance(engine, SandboxEngine) else engine


def _shown(guide: Guide) -> dict[str, tuple[str, str]]:
    """Of each step what was expected of it and what was seen, as far as it is a measurement that was as expected."""
    found: dict[str, tuple[str, str]] = {}
    for verdict in guide.verdicts():
        if verdict.outcome is Outcome.PASS and not verdict.expectation.relation and (seen := seen_of(verdict)):
            found.setdefault(verdict.expectation.steps[-1], (expected_of(verdict, {}), seen))
    return found


def _typed(entries: Sequence[ProgressEntry]) -> str:
    """What the student typed, in order, a line each, with network time, terminal, and how it ended."""
    ends = {each.key: each for _, each in entries if isinstance(each, TypedEvidence) and each.ended}
    found = []
    for kind, each in entries:
        if kind in (BEGUN, CONTINUED):
            found.append("" if kind == BEGUN else "(the network goes on)")
        if isinstance(each, TypedEvidence) and not is_aside(each) and (not each.ended or each.key not in ends):
            end = ends.get(each.key)
            how = "  (did not end)" if end is None else f"  (status {end.status})" if end.status else ""
            found.append(f"{each.start_s:9.1f}  {each.terminal:8} {excerpt(one_line(each.text), _LONGEST_NOTE)}{how}")
    kept = list(accumulate(found, lambda room, line: room - len(line) - 1, initial=MOST_WORK - 100))
    told = [line for line, room in zip(found, kept[1:], strict=True) if room > 0]
    more = [f"… and {len(found) - len(told)} more lines"] if len(told) < len(found) else []
    return "\n".join([*told, *more]).strip("\n")


def _check(state: StepState, step: GuideStep, shown: tuple[str, str] | None) -> CheckResult:
    """shown: what was expected and seen, of a measurement that was as expected."""
    good = state.status.good and not state.given
    expected, seen = shown if shown and good else (state.expected, state.seen)
    section = step.section.number if step.section else ""
    return CheckResult(
        id=state.id,
        title=f"{section} {state.task or state.id} ({state.terminal})".strip(),
        kind="step",
        score=float(good),
        max_score=1.0,
        hidden=False,
        why=state.why,
        hints=state.hints[:1] if state.status is GuideStatus.WRONG else (),
        outcome=Outcome.PASS if good else Outcome.FAIL,
        story=state.story,
        expected=expected or "done",
        seen=seen or ("left out" if state.left_out else BY_SCRIPT if state.given else state.status.value),
    )


def _notes(
    handed_in: HandedInLab, claimed: Guide, guide: Guide, redoing: Redoing, entries: Sequence[ProgressEntry]
) -> list[str]:
    found = ["What was typed was typed again; what counts is what that showed, not what the student's machine said."]
    if not any(isinstance(each, TypedEvidence) for _, each in entries):
        found = ["Nothing was typed in this progress."]
    if not handed_in.same:
        found.append("The lab was done with another version of its manual than the one here.")
    found += [*handed_in.more, *_unlike(redoing)]
    if redoing.otherwise:
        named = one_line(_named(redoing.otherwise))
        found.append(f"Not as it was for the student: {named}.")
    found += [excerpt(one_line(sentence), _LONGEST_NOTE) for sentence in guide.not_followed[:MOST_NAMED]]
    before, after = ({one.id: one for one in each.steps()} for each in (claimed, guide))
    lost = [name for name, one in after.items() if before[name].status.good and not one.status.good]
    won = [name for name, one in after.items() if one.status.good and not before[name].status.good]
    if lost:
        found.append(f"Done by the student's progress, but not when it was done again: {_named(lost)}.")
    if won:
        found.append(f"Done when it was done again, but not by the student's progress: {_named(won)}.")
    predicted, numbers = _predictions(handed_in, claimed), _numbers(handed_in.lab)
    late = [name for name in predicted if (one := claimed.prediction(name)) and one[1] is PredictionTime.AFTER]
    if late:
        named = _named([numbers.get(name, name) for name in late])
        found.append(f"Written after the measurement, by the student's progress: {named}.")
    missing = [number for name, number in numbers.items() if name not in predicted]
    if missing:
        found.append(f"Not written: {_named(missing)}.")
    if not any(text for text in handed_in.answers.values()):
        found.append("No question was answered.")
    return found


def _numbers(lab: Lab) -> dict[str, str]:
    """What the manual calls its predictions, by their ids."""
    return {asked.id: f"Prediction {asked.number}" for asked in lab.manual.predictions}


def _told_predictions(handed_in: HandedInLab, claimed: Guide) -> dict[str, str]:
    """What was predicted, by what the manual calls it; one that it does not ask for by its own name."""
    numbers = _numbers(handed_in.lab)
    return {
        f"{numbers[name]}: {name}" if name in numbers else f"prediction {name}": text
        for name, text in _predictions(handed_in, claimed).items()
    }


def _unlike(redoing: Redoing) -> list[str]:
    """How doing it again went another way than the student's work, perhaps by what ran beside it."""
    early = [f"Doing it again ended early: {one_line(redoing.stopped)}"] if redoing.stopped else []
    in_vain = [f"Waited for in vain: {one_line(_named(redoing.in_vain))}"] if redoing.in_vain else []
    return [*early, *in_vain]


def _predictions(handed_in: HandedInLab, claimed: Guide) -> dict[str, str]:
    """What was predicted, by name: as the progress has it in its order, else as the notes have it."""
    predictions = dict(handed_in.predictions)
    for asked in handed_in.lab.manual.predictions:
        standing = claimed.prediction(asked.id)
        if standing is not None:
            written, when = standing
            text = _words(written.text)
            predictions[asked.id] = f"{text} ({AFTER})" if when is PredictionTime.AFTER else text
        elif asked.id in claimed.predictions.measured and asked.id in predictions:
            predictions[asked.id] += f" ({UNKNOWN})"
    return predictions


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
