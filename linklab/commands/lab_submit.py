# SPDX-License-Identifier: BSD-3-Clause
"""`linklab submit` in the folder of a lab: its progress, predictions, answers, results, and report, as one .zip."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path

from linklab import __version__
from linklab.base.text import one_line, visible
from linklab.errors import InputError
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.exercise.folder import collect
from linklab.guide.evidence import TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.progress import FOLDER, LabProgress
from linklab.guide.retyped import begins_shell
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.reference import replayed


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
    name = one_line(args.name) or StudentNotes.load(folder, lab.slug).name
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
    if (notes := folder / FOLDER / NOTES_FILE).is_file():
        files["notes.json"] = notes.read_bytes()
    try:
        write_bundle(out, Bundle(f"lab{lab.number}", student or name, files))
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from error
    for sentence in [*found.notes, *([f"{trouble}."] if (trouble := progress.trouble()) else [])]:
        print(visible(sentence))
    if given := _given(lab, progress):
        print(f"These steps earn no point, because set_env.sh made their settings: {'; '.join(given)}.")
        print("To earn them, continue the lab and type them yourself.")
    if inside := _inside_shells(progress):
        print(f"What you typed inside {', '.join(inside)} is not in your progress, so a grader does not do it again.")
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    print(f"{out}: {len(files) + 1} files, {out.stat().st_size / 1000:.1f} kB, SHA-256 {digest[:16]}…")
    print(f"Hand in this file. It is the work of {visible(name or student)} on {lab.heading}, and is signed by nobody:")
    print("your course's grader types again what you typed, and counts what that shows.")
    return 0


def _given(lab: Lab, progress: LabProgress) -> list[str]:
    """The steps whose settings the lab's set_env.sh has made, as people call them."""
    guide = Guide(lab)
    guide.see_all(progress.evidence())
    return [visible(f"“{state.task or state.id}”") for state in guide.steps() if state.given]


def _inside_shells(progress: LabProgress) -> list[str]:
    """The lines that began a shell or an interpreter, which then waited for others."""
    lines = (each for each in progress.evidence() if isinstance(each, TypedEvidence) and each.ended)
    return [visible(f"“{text}”") for text in dict.fromkeys(line.text for line in lines if begins_shell(line))]
