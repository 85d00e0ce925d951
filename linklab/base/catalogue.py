# SPDX-License-Identifier: BSD-3-Clause
"""Translation catalogues in gettext's format (.po): what a text is in another language.

Reads what translators edit, without msgfmt and .mo files, so that a clone needs no build step. The format: GNU gettext
manual, "The Format of PO Files"; plural forms and contexts are not used here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from typing import TypeAlias

from linklab.errors import InputError

Say: TypeAlias = Callable[[str], str]
"""Gives a text in the reader's language, or as it is."""

_LINE = re.compile(r'(?:(msgid|msgstr)\s+)?"((?:[^"\\]|\\.)*)"')
_ORDER = (("", "msgid"), ("msgid", "msgstr"))
"""Which part of an entry may follow which."""
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def unchanged(text: str) -> str:
    """The text itself: the language that it is written in."""
    return text


@dataclass(frozen=True)
class Catalogue:
    """Texts with their translations; those marked as fuzzy, which are old, and empty ones are left out."""

    path: Path
    texts: Mapping[str, str] = field(default_factory=dict)

    def say(self, text: str) -> str:
        """The translation of a text, or the text itself."""
        return self.texts.get(text, text)


def read_catalogue(path: Path) -> Catalogue:
    """Read a .po file; one that is not there is an empty catalogue.

    Raises:
        InputError: "FILE:LINE: …" for a line that does not belong in a catalogue, or for a file that cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Catalogue(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    found: dict[str, str] = {}
    for entry in _entries(text):
        _read_entry(entry, path, found)
    found.pop("", None)  # the header
    return Catalogue(path, found)


def misused(text: str, translation: str) -> str:
    """What keeps a translation from being filled with the values of its original, as in "{count} lines"; "" if nothing.

    For the program's own words only: a manual's text is not filled, and may have braces of its own.
    """
    try:
        wanted = _fields(text)
    except ValueError:
        return ""  # it is not filled
    try:
        given = _fields(translation)
    except ValueError as error:
        return f"has a brace out of place ({error})"
    if missing := wanted - given:
        return f"is translated without {sorted(missing)[0]}"
    if unknown := given - wanted:
        return f"is translated with {sorted(unknown)[0]}, which is not in the original"
    return ""


def _fields(text: str) -> set[str]:
    return {
        f"{{{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}}}"
        for _, name, form, conversion in Formatter().parse(text)
        if name is not None
    }


def _entries(text: str) -> Iterator[list[tuple[int, str]]]:
    """The numbered lines of each entry; the comment or msgid after a msgstr begins the next, an empty line does not."""
    entry: list[tuple[int, str]] = []
    complete = False
    for number, line in enumerate(text.splitlines(), 1):
        if complete and line.lstrip().startswith(("#", "msgid")):
            yield entry
            entry, complete = [], False
        complete = complete or line.lstrip().startswith("msgstr")
        entry.append((number, line))
    yield entry


def _read_entry(entry: Sequence[tuple[int, str]], path: Path, found: dict[str, str]) -> None:
    parts = {"msgid": "", "msgstr": ""}
    part, fuzzy, number = "", False, 0
    for number, line in entry:
        if line.startswith("#") or not line.strip():
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        read = _LINE.fullmatch(line.strip())
        if not read or not (read[1] or part):
            wanted = 'expected msgid "…" or msgstr "…"'
            raise InputError(f"{path}:{number}: this line does not belong in a catalogue; {wanted}")
        if read[1] and (part, read[1]) not in _ORDER:
            wanted = 'msgstr "…"' if read[1] == "msgid" else 'msgid "…"'
            raise InputError(f"{path}:{number}: {read[1]} is here twice or too early; expected {wanted} before it")
        part = read[1] or part
        parts[part] += re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[0]), read[2])
    if part == "msgid":
        raise InputError(f'{path}:{number}: the entry ends without a translation; expected msgstr "…" after msgid')
    if parts["msgstr"] and not fuzzy:
        found[parts["msgid"]] = parts["msgstr"]
