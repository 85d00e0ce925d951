# SPDX-License-Identifier: BSD-3-Clause
"""The editor's words in the person's language: which languages there are, and what a text is in one of them.

Modules write English. What draws a text — menus, dialogs, fields, the status line — asks `Look.say` for it, so nothing
else needs to know the language. The English text is the key in `po/editor.LANGUAGE.po`; a text that is not there stays
as it is. How catalogues are made: po/README.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from linklab.base import installation
from linklab.base.catalogue import Catalogue, Say, read_catalogue, unchanged

FOLDER = installation.ROOT / "po"
ENGLISH = "en"


class Phrase(str):
    """A sentence with values in it: in English a plain text, in which `in_words_of` still finds what was put together.

    A value that is a phrase itself is translated as well; any other, such as the name of a node, is not.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Phrase:
        """Fill a template, `Phrase("{count} nodes copied", count=2)`; without values, a text to be put into another."""
        if isinstance(template, Phrase) and not values:
            return template
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, values
        return made


def languages(folder: Path = FOLDER) -> dict[str, str]:
    """What a language is called by those who speak it, by code: English, and each that has a catalogue."""
    found = {path.name.split(".")[1]: path for path in sorted(folder.glob("editor.*.po"))}
    return {ENGLISH: "English"} | {code: read_catalogue(path).say("English") for code, path in found.items()}


def language_of(environment: Mapping[str, str], folder: Path = FOLDER) -> str:
    """The language of the system's messages, as locale(7) finds it; English if the editor does not have it."""
    chosen = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    code = chosen.partition(".")[0].partition("_")[0]
    return code if (folder / f"editor.{code}.po").is_file() else ENGLISH


def in_language(code: str, environment: Mapping[str, str], folder: Path = FOLDER) -> Say:
    """What gives texts in a language; "" stands for the system's.

    Raises:
        InputError: the catalogue cannot be read.
    """
    code = code or language_of(environment, folder)
    return in_words_of(read_catalogue(folder / f"editor.{code}.po")) if code in languages(folder) else unchanged


def in_words_of(catalogue: Catalogue) -> Say:
    """What gives texts in the catalogue's language, and phrases with their values."""

    def say(text: str) -> str:
        if not isinstance(text, Phrase):
            return catalogue.say(text)
        values = {name: say(value) if isinstance(value, Phrase) else value for name, value in text.values.items()}
        template = catalogue.say(text.template)
        try:
            return template.format(**values) if values else template
        except (KeyError, IndexError, ValueError):  # a slip in the catalogue, which the tests name
            return str(text)

    return say


def of_number(count: int, one: str, many: str, /, **values: object) -> Phrase:
    """The one template or the other, filled with `count` and the values: "{count} node", "{count} nodes"."""
    return Phrase(one if count == 1 else many, count=count, **values)


def joined(between: str, parts: Sequence[str]) -> Phrase:
    """Several sentences or names in one, each to be translated by itself."""
    values = {f"part{at}": part for at, part in enumerate(parts)}
    return Phrase(between.join(f"{{{name}}}" for name in values), **values)


def told_by(error: Exception) -> str:
    """What an exception says, still a phrase where it was raised with one."""
    what = getattr(error, "what", "")
    return what if isinstance(what, Phrase) and what == str(error) else str(error)
