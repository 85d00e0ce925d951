# SPDX-License-Identifier: BSD-3-Clause
"""Labs in other languages: the chapter of a lab, with what its catalogue translates and the rest in English.

Catalogues are `po/SLUG.LANGUAGE.po` for a lab and `po/linklab.LANGUAGE.po` for the words that Linklab itself adds to
a page; po/README.md says how they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from linklab.base import installation
from linklab.base.catalogue import Catalogue, misused, read_catalogue
from linklab.base.text import excerpt
from linklab.documents.handbook import chapter
from linklab.errors import InputError, ManualError
from linklab.lab.model import Lab
from linklab.manual.chapter import Chapter, English
from linklab.manual.model import Action, Manual
from linklab.manual.parse import parse_manual
from linklab.manual.predict import parse_answers
from linklab.manual.translate import Left, lost, translated

FOLDER = installation.ROOT / "po"
ENGLISH = "en"


def languages(folder: Path = FOLDER) -> list[str]:
    """The languages that pages can be written in, as in `es`."""
    return sorted([ENGLISH, *(path.name.split(".")[1] for path in folder.glob("linklab.*.po"))])


def languages_of(lab: Lab, folder: Path = FOLDER) -> list[str]:
    """The languages other than English for which the lab has a catalogue."""
    return [language for language in languages(folder) if (folder / f"{lab.slug}.{language}.po").is_file()]


def translated_chapter(lab: Lab, language: str, folder: Path = FOLDER) -> tuple[Chapter, list[str]]:
    """A lab's chapter in a language, and a line for each piece of it that is in English, "FILE:LINE: …".

    Raises:
        InputError: there are no pages in that language, or a catalogue cannot be read.
        ManualError, LabError: as `chapter`.
    """
    if language not in languages(folder):
        raise InputError(f'"{language}": there are no pages in this language; there are {", ".join(languages(folder))}')
    english = chapter(lab)
    if language == ENGLISH:
        return english, []
    own = read_catalogue(folder / f"linklab.{language}.po")
    unusable = _faulty(own, misused)
    say = replace(own, texts={text: said for text, said in own.texts.items() if text not in unusable}).say
    catalogue = read_catalogue(folder / f"{lab.slug}.{language}.po")
    text, left = translated(lab.manual.text, catalogue)
    problems = [*_of_texts(own, unusable), *_told(lab.manual.path, left)]
    lines = {lab.manual.path: {each.at for each in left}}
    answers = english.answers
    if answers:
        words, left = translated(lab.answers_path.read_text(encoding="utf-8"), catalogue)
        answers = parse_answers(words, lab.answers_path)
        lines[lab.answers_path] = {each.at for each in left}
        asked = [range(answer.line, answer.line + answer.text.count("\n") + 1) for answer in answers.values()]
        problems += _told(lab.answers_path, [each for each in left if any(each.line in lines for lines in asked)])
    title, *objectives = _said_of(lab, catalogue, problems)
    heading = say("Lab {number}: {title}").format(number=lab.number, title=title)
    note = say("{count} parts of this page are in English, because their translation is missing or old.")
    return replace(
        english,
        manual=same_anchors(lab.manual, parse_manual(text, lab.manual.path)),
        heading=heading,
        objectives=objectives,
        fields={**english.fields, "title": title},
        answers=answers,
        note=note.format(count=len(problems)) if problems else "",
        language=language,
        say=say,
        english=English(lines, {text for text in objectives if text in lab.objectives}),
    ), problems


def _said_of(lab: Lab, catalogue: Catalogue, problems: list[str]) -> list[str]:
    """Title and objectives of a lab in the catalogue's language; those that stay in English are added to `problems`."""
    path = lab.folder / "lab.toml"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    said: list[str] = []
    for text in (lab.title, *lab.objectives):
        translation, left = translated(f"{text}\n", catalogue)
        line = next((number for number, written in enumerate(lines, 1) if text in written), 1)
        problems += _told(path, [replace(each, line=line) for each in left[:1]])
        said.append(translation.strip())
    return said


def catalogue_problems(lab: Lab, folder: Path = FOLDER) -> list[str]:
    """Translations of a lab that lost what the machine reads, "FILE: …" each; missing and old ones are no problem.

    Raises:
        InputError: a catalogue cannot be read.
    """
    return [
        problem for path in sorted(folder.glob(f"{lab.slug}.*.po")) for problem in _to_mend(read_catalogue(path), lost)
    ]


def program_problems(folder: Path = FOLDER) -> list[str]:
    """Translations of Linklab's own words that cannot be filled with their values; a catalogue that cannot be read.

    The words are those of pages and of the editor's window.
    """
    found: list[str] = []
    for path in sorted(path for name in ("editor", "linklab") for path in folder.glob(f"{name}.*.po")):
        try:
            catalogue = read_catalogue(path)
        except InputError as error:
            found.append(str(error))
        else:
            found += [
                f"{problem}; mend the translation" for problem in _of_texts(catalogue, _faulty(catalogue, misused))
            ]
    return found


def same_anchors(english: Manual, other: Manual) -> Manual:
    """A translated manual with the anchors of the original, which its links name.

    Raises:
        ManualError: the two differ in their sections or in what is done.
    """
    if _outline(english) != _outline(other):
        raise ManualError(f"{english.path}: its translation has other sections; mend the catalogue")
    if _done(english) != _done(other):
        raise ManualError(f"{english.path}: its translation has other steps; mend the catalogue")
    pairs = zip(other.sections, english.sections, strict=True)
    return replace(other, sections=tuple(replace(section, slug=original.slug) for section, original in pairs))


def _to_mend(catalogue: Catalogue, fault: Callable[[str, str], str]) -> list[str]:
    return [f"{problem}; mend the translation" for problem in _of_texts(catalogue, _faulty(catalogue, fault))]


def _faulty(catalogue: Catalogue, fault: Callable[[str, str], str]) -> dict[str, str]:
    """Texts of a catalogue whose translation has a fault, with the fault."""
    found = {text: fault(text, said) for text, said in catalogue.texts.items()}
    return {text: problem for text, problem in found.items() if problem}


def _of_texts(catalogue: Catalogue, faults: Mapping[str, str]) -> list[str]:
    return [f'{catalogue.path}: "{excerpt(text)}" {problem}' for text, problem in faults.items()]


def _outline(manual: Manual) -> list[tuple[str, int]]:
    return [(section.number, section.level) for section in manual.sections]


def _done(manual: Manual) -> list[tuple[str, str, type[Action], str]]:
    return [(step.id, step.terminal, type(step.action), step.typed) for step in manual.steps]


def _told(path: Path, left: Sequence[Left]) -> list[str]:
    return [f"{path}:{each.line}: {each.reason}" for each in left]
