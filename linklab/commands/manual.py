# SPDX-License-Identifier: BSD-3-Clause
"""`linklab manual`: a lab's manual as HTML or PDF, or the documents of all labs and exercises with the handbook."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.base.files import write_asked
from linklab.commands.options import add_exercises_option
from linklab.documents import handbook
from linklab.documents.translation import ENGLISH, languages_of, translated_chapter
from linklab.errors import InputError, LinklabError
from linklab.exercise.handout import general
from linklab.exercise.load import all_exercise_folders, load_exercise
from linklab.exercise.model import Exercise
from linklab.exercise.places import searching
from linklab.lab.model import Lab, find_lab, lab_folders, load_lab
from linklab.manual.chapter import Chapter

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab manual 14                 14-router-bufferbloat.html in build/manuals/, or manuals/ here if that is read-only
  linklab manual 14 --open          … and show it in the browser
  linklab manual 14 --pdf           the same as PDF
  linklab manual 8 --out lab8.pdf   the ending says which
  linklab manual 1 --language es    in Spanish, as far as po/ has a current translation
  linklab manual --all              every lab and exercise as HTML and PDF, and handbook.pdf of all

The handout of an exercise: linklab exercise handout 3
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `manual LAB|--all [--pdf] [--open] [--out FILE]`."""
    parser = subparsers.add_parser(
        "manual",
        help=summary,
        description="Write the manual of a lab as one file that works offline, or those of all labs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("lab", metavar="LAB", nargs="?", help="number, folder name or path of the lab")
    which.add_argument("--all", action="store_true", help="every lab and exercise as HTML and PDF, and the handbook")
    parser.add_argument("--pdf", action="store_true", help="PDF instead of HTML")
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="file, or folder of --all (default: NN-slug.html in build/manuals/, or manuals/ here if read-only)",
    )
    parser.add_argument(
        "--language", metavar="CODE", default=ENGLISH, help="such as es; what has no translation stays English"
    )
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    add_exercises_option(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the files and print their names; 2 if a lab or exercise is left out because it is broken."""
    left_out = 0
    if args.all and args.language != ENGLISH:
        raise InputError("--all writes the English documents; name one lab for another language")
    if args.exercises and not args.all:
        raise InputError("--exercises goes with --all; the handout of one exercise: linklab exercise handout N")
    if args.all:
        with searching(args.exercises):
            path, left_out = _write_all(args.out or installation.manuals_folder())
    else:
        path = _write_one(load_lab(find_lab(args.lab)), args.out, args.language, pdf=args.pdf)
        print(path)
    if args.open:
        webbrowser.open(path.resolve().as_uri())
    return InputError.exit_code if left_out else 0


def _write_one(lab: Lab, out: Path | None, language: str, *, pdf: bool) -> Path:
    if out is not None and out.suffix.lower() not in ("", ".pdf" if pdf else out.suffix.lower()):
        raise InputError(f"{out}: --pdf writes a .pdf file")
    pdf = pdf or (out is not None and out.suffix.lower() == ".pdf")
    name = lab.slug if language == ENGLISH else f"{lab.slug}.{language}"
    path = out or installation.manuals_folder() / f"{name}.{'pdf' if pdf else 'html'}"
    chapter, english = translated_chapter(lab, language)
    _tell(english)
    if pdf:
        return write_asked(path, handbook.chapter_pdf(chapter))
    return write_asked(path, handbook.chapter_html(chapter, messages=_write_messages(path)))


def _write_messages(manual: Path) -> bool:
    """Write the page that a manual links beside it, and say so; whether it is there.

    Raises:
        InputError: the manual itself has its name; or it cannot be written.
    """
    path = manual.with_name(f"{handbook.MESSAGES_NAME}.html")
    if path.resolve() == manual.resolve():
        raise InputError(f"{manual}: the page of messages, to which the manual links, has this name; name another file")
    if manual.exists() and not manual.is_file():  # such as /dev/stdout
        return False
    page = handbook.messages_html()
    try:
        there = path.read_text(encoding="utf-8") if path.exists() else handbook.PAGE_MARK
    except (OSError, UnicodeDecodeError):
        there = ""
    if there == page:
        return True
    if handbook.PAGE_MARK in there:
        write_asked(path, page)
        print(f"linklab: also wrote {path}, to which the manual links", file=sys.stderr)
        return True
    kept = "not written by Linklab, so it stays as it is; the manual does not link to the page of messages"
    print(f"linklab: {path}: {kept}, which belongs there (docs/when-tc-complains.md)", file=sys.stderr)
    return False


def _write_all(folder: Path) -> tuple[Path, int]:
    """The page that lists them, and how many were left out."""
    labs: list[Lab] = []
    exercises: list[Exercise] = []
    left_out = 0
    for lab_folder in lab_folders():
        try:
            lab = load_lab(lab_folder)
            _write_chapter(folder / lab.slug, handbook.chapter(lab))
            for language in languages_of(lab):
                translated, english = translated_chapter(lab, language)
                _tell(english)
                _write_chapter(folder / f"{lab.slug}.{language}", translated)
        except InputError as error:
            left_out += _left_out(error)
        else:
            labs.append(lab)
    for exercise_folder in all_exercise_folders():
        try:
            exercise = load_exercise(exercise_folder)
            _write_chapter(folder / handbook.handout_slug(exercise), general(exercise))
        except InputError as error:
            left_out += _left_out(error)
        else:
            exercises.append(exercise)
    if not labs:
        raise LinklabError("there is no lab to write")
    messages = folder / handbook.MESSAGES_NAME
    print(write_asked(messages.with_suffix(".html"), handbook.messages_html()), flush=True)
    print(write_asked(messages.with_suffix(".pdf"), handbook.messages_pdf()), flush=True)
    print(write_asked(folder / "handbook.pdf", handbook.handbook_pdf(labs, exercises)), flush=True)
    index = write_asked(
        folder / "index.html", handbook.index_html(labs, exercises, {lab.slug: languages_of(lab) for lab in labs})
    )
    print(index)
    return index, left_out


def _write_chapter(path: Path, chapter: Chapter) -> None:
    """Both documents of a chapter, and their names; `path` without an ending."""
    print(write_asked(path.with_name(f"{path.name}.html"), handbook.chapter_html(chapter)), flush=True)
    print(write_asked(path.with_name(f"{path.name}.pdf"), handbook.chapter_pdf(chapter)), flush=True)


def _tell(english: list[str]) -> None:
    for problem in english:
        print(f"linklab: {problem}; shown in English", file=sys.stderr)


def _left_out(error: InputError) -> int:
    print(f"linklab: {error}; left out", file=sys.stderr)
    return 1
