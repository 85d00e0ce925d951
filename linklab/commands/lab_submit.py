# SPDX-License-Identifier: BSD-3-Clause
"""`linklab submit` in the folder of a lab: its progress, predictions, answers, results, and report, as one .zip."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import __version__
from linklab.base.text import one_line, visible
from linklab.errors import InputError
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.exercise.folder import collect
from linklab.guide.evidence import TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.progress import FOLDER, LabProgress
from linklab.guide.retyped import begins_shell
from linklab.guide.status import StepState
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import replayed

if TYPE_CHECKING:
    from linklab.page.notes import StudentNotes

MOST_NAMED = 5
"""Steps that are named where more are not done."""


def is_lab(folder: Path) -> bool:
    """Whether a lab was begun in this folder, and no exercise."""
    return not (folder / "instance.json").is_file() and LabProgress.load(folder) is not None


def submit_lab(args: argparse.Namespace) -> int:
    """Pack the lab of a folder; 0 if it was written.

    Raises:
        InputError: nobody is named, or the progress cannot be read or packed.
    """
    from linklab.page.notes import NOTES_FILE, StudentNotes
    from linklab.page.reporting import report_of_folder

    if args.work or args.repeat_recorded or args.answers_only:
        raise InputError("--work, --repeat-recorded, and --answers-only are for exercises; leave them out for a lab")
    folder: Path = args.folder
    progress = LabProgress.load(folder)
    assert progress is not None
    lab = load_lab(find_lab(str(progress.lab)))
    notes = StudentNotes.load(folder, lab.slug)
    name = one_line(args.name) or notes.name
    student = one_line(args.student)
    if not (student or name):
        raise InputError(
            "whose work is this? Give --student with the name by which your course knows you, and --name with yours"
        )
    said: dict[str, object] = {
        "lab": lab.number,
        "slug": lab.slug,
        "replayed": replayed(lab),
        "student": student,
        "name": name,
    }
    out = args.out or folder / f"lab{lab.number}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', student or name)}.zip"
    found = collect(folder, skip=[out], ours=["set_env.sh"])
    said |= {"executable": found.executable, "places": found.places}
    files = {
        "lab.json": (json.dumps({**said, "linklab": __version__}, ensure_ascii=False, indent=2) + "\n").encode(),
        "progress.jsonl": progress.path.read_bytes(),
        **found.results,
        "results/report.html": report_of_folder(lab, folder, name).encode(),
    }
    if (written := folder / FOLDER / NOTES_FILE).is_file():
        files["notes.json"] = written.read_bytes()
    try:
        write_bundle(out, Bundle(f"lab{lab.number}", student or name, files))
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from error
    for sentence in [*found.notes, *([f"{trouble}."] if (trouble := progress.trouble()) else [])]:
        print(visible(sentence))
    guide = Guide(lab)
    guide.see_all(progress.evidence())
    states = guide.steps()
    for sentence in _done(guide, states, notes):
        print(sentence)
    if given := [visible(f"“{state.task or state.id}”") for state in states if state.given]:
        print(f"These steps earn no point, because set_env.sh made their settings: {'; '.join(given)}.")
        print("To earn them, continue the lab and type them yourself.")
    if inside := _inside_shells(progress):
        print(f"What you typed inside {', '.join(inside)} is not in your progress, so a grader does not do it again.")
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    print(f"{out}: {len(files) + 1} files, {out.stat().st_size / 1000:.1f} kB, SHA-256 {digest[:16]}…")
    print(f"Hand in this file. It is the work of {visible(name or student)} on {lab.heading}, and is signed by nobody:")
    print("your course's grader types again what you typed, and counts what that shows.")
    return 0


def _done(guide: Guide, states: Sequence[StepState], notes: StudentNotes) -> Iterator[str]:
    """How far the lab is, and which steps are not as they should be."""
    counted = [state for state in states if guide.plan.step(state.id).earns]
    asked = guide.lab.manual.predictions
    made = sum(one.id in notes.predictions or guide.prediction(one.id) is not None for one in asked)
    answered = sum(bool(text.strip()) for text in notes.answers.values())
    done = sum(state.status.good for state in counted)
    steps = f"Steps done: {done} of {len(counted)}."
    yield f"{steps} Predictions made: {made} of {len(asked)}. Questions answered: {answered}."
    rest = sorted((state for state in counted if not state.status.good), key=lambda state: not state.flagged)
    if rest:
        named = "; ".join(visible(f"“{state.task or state.id}”") for state in rest[:MOST_NAMED])
        more = f", and {len(rest) - MOST_NAMED} more" if len(rest) > MOST_NAMED else ""
        yield f"Not done, or not as expected: {named}{more}. linklab step --all lists every step."


def _inside_shells(progress: LabProgress) -> list[str]:
    """The lines that began a shell or an interpreter, which then waited for others."""
    lines = (each for each in progress.evidence() if isinstance(each, TypedEvidence) and each.ended)
    return [visible(f"“{text}”") for text in dict.fromkeys(line.text for line in lines if begins_shell(line))]
