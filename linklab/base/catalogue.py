# SPDX-License-Identifier: BSD-3-Clause
"""Translation catalogues in gettext's format (.po): what a text is in another language.

Reads what translators edit, without msgfmt and .mo files, so that a clone needs no build step. The format: GNU gettext
manual, "The Format of PO Files"; plural forms and contexts are not used here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from linklab.errors import InputError

Say: TypeAlias = Callable[[str], str]
"""Gives a text in the reader's language, or as it is."""

_LINE = re.compile(r'(?:(msgid|msgstr)\s+)?"((?:[^"\\]|\\.)*)"')
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
        InputError: "FILE:LINE: …" for a line that is none of a catalogue's; or it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Catalogue(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    found: dict[str, str] = {}
    first = 1
    for entry in re.split(r"\n[ \t]*\n", text):
        _read_entry(entry, path, first, found)
        first += entry.count("\n") + 2
    found.pop("", None)  # the header
    return Catalogue(path, found)


def _read_entry(entry: str, path: Path, first: int, found: dict[str, str]) -> None:
    parts = {"msgid": "", "msgstr": ""}
    part, fuzzy = "", False
    for number, line in enumerate(entry.splitlines(), first):
        if line.startswith("#") or not line.strip():
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        read = _LINE.fullmatch(line.strip())
        part = (read[1] or part) if read else ""
        if not read or not part:
            raise InputError(f'{path}:{number}: this is no line of a catalogue; write msgid "…" or msgstr "…"')
        parts[part] += re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[0]), read[2])
    if parts["msgstr"] and not fuzzy:
        found[parts["msgid"]] = parts["msgstr"]
