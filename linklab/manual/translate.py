# SPDX-License-Identifier: BSD-3-Clause
"""The Markdown of a manual in another language, paragraph by paragraph, from a catalogue that po4a keeps.

A text is divided as po4a's text module does (`-o markdown -o neverwrap`), so that each paragraph, heading, item of a
list, and body of a block is found in the catalogue. What the machine reads is never translated, and a translation that
lost a part of it is not used. How catalogues are made: po/README.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.base.catalogue import Catalogue
from linklab.manual.dialect import STEP_MARK, SUBGOAL_MARK

PROSE_BLOCKS = frozenset({"predict", "formula"})
"""Fenced blocks whose bodies are translated; what is in all others is typed or was printed."""

_FENCE = re.compile(r"(`{3,})([^`]*)$")
_HEADING = re.compile(r"(#+ +)(.*)$")
_ITEM = re.compile(r"((?:[-*]|\d+\.) +)(.*)$")
_KEPT = re.compile(r"\{\{[^}]*\}\}|`[^`]*`|\]\([^\s)]*|\{-\}|\{#[^}]*\}")
"""Quotes, code, targets of images and links, and the marks of headings."""
_NUMBER = re.compile(r"\d(?:[\d.,\u202f\u00a0]*\d)?")


@dataclass(frozen=True)
class Passage:
    """A piece of a text: `prefix` and `indent` stand before its first and its later lines; `kept` is not translated."""

    line: int
    text: str
    prefix: str = ""
    indent: str = ""
    kept: bool = False


@dataclass(frozen=True)
class Left:
    """A passage that stays in the language it was written in, and why; `at` is its line in the translated text."""

    line: int
    reason: str
    at: int = 0


def passages(text: str) -> Iterator[Passage]:
    """The pieces of a Markdown text in order; put together with their prefixes they are the text."""
    lines = text.splitlines(keepends=True)
    at = 0
    while at < len(lines):
        line = lines[at].rstrip("\n")
        if not line.strip():
            yield Passage(at + 1, lines[at], kept=True)
            at += 1
        elif fence := _FENCE.match(line):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == fence[1]), len(lines))
            yield Passage(at + 1, lines[at], kept=True)
            kind = next(iter(fence[2].split()), "")
            yield Passage(at + 2, "".join(lines[at + 1 : end]), kept=kind not in PROSE_BLOCKS)
            yield Passage(end + 1, "".join(lines[end : end + 1]), kept=True)
            at = end + 1
        elif heading := _HEADING.match(line):
            yield Passage(at + 1, heading[2], prefix=heading[1])
            yield Passage(at + 1, "\n", kept=True)
            at += 1
        else:
            end = at + 1
            while end < len(lines) and not _begins(lines[end]):
                end += 1
            yield _paragraph(at + 1, "".join(lines[at:end]))
            at = end


def translated(text: str, catalogue: Catalogue) -> tuple[str, list[Left]]:
    """A text in the catalogue's language, and which of its pieces stay as they are."""
    parts: list[str] = []
    left: list[Left] = []
    at = 1
    for passage in passages(text):
        said = passage.text
        if not passage.kept and _says_something(passage.text):
            found = catalogue.texts.get(passage.text)
            reason = "no current translation" if found is None else lost(passage.text, found)
            if reason:
                left.append(Left(passage.line, reason, at))
            else:
                said = found or said
        parts.append(_indented(passage, said))
        at += parts[-1].count("\n")
    return "".join(parts), left


def lost(text: str, translation: str) -> str:
    """What a translation lost or added of what must stay as it is; "" if nothing."""
    before, after = _machine_read(text), _machine_read(translation)
    if gone := before - after:
        return f"is translated without {next(iter(gone))}"
    if new := after - before:
        return f"is translated with {next(iter(new))}, which is not in the original"
    if text.endswith("\n") != translation.endswith("\n"):
        return "is translated with another end of line"
    if [passage.prefix for passage in passages(text)] != [passage.prefix for passage in passages(translation)]:
        return "is translated with other headings, items, or blocks"
    return ""


def _machine_read(text: str) -> Counter[str]:
    """What a translation must keep: quotes, code, targets, marks, and numbers without what separates their digits."""
    rest, kept = _KEPT.sub(" ", text), Counter(_KEPT.findall(text))
    kept.update(mark for mark in (STEP_MARK, SUBGOAL_MARK) if text.startswith(mark))
    kept.update(re.sub(r"\D", "", number) for number in _NUMBER.findall(rest))
    return kept


def _says_something(text: str) -> bool:
    return any(letter.isalpha() for letter in _KEPT.sub(" ", text))


def _begins(line: str) -> bool:
    """Whether a paragraph or item cannot go on in this line."""
    return not line.strip() or any(form.match(line) for form in (_FENCE, _HEADING, _ITEM))


def _paragraph(line: int, text: str) -> Passage:
    item = _ITEM.match(text.split("\n", 1)[0])
    if not item:
        return Passage(line, text)
    inside = text.removeprefix(item[1])
    indent = " " * len(item[1])
    return Passage(line, re.sub(rf"(?m)^{indent}", "", inside), prefix=item[1], indent=indent)


def _indented(passage: Passage, said: str) -> str:
    return passage.prefix + re.sub(r"\n(?=[^\n])", f"\n{passage.indent}", said)
