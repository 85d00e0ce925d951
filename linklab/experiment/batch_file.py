# SPDX-License-Identifier: BSD-3-Clause
"""Batch files in Flent's INI form → their sections, resolved: what a batch, a command and an argument set say.

    [Batch::rrul]           a test to be run, on every combination of the loops that it has
    [Command::set_qdisc]    what is run before, after or beside it
    [Arg::fq_codel]         values that one pass of a loop lays over those of the batch

Of sections of the same name in several files the last one counts, whole. A value may hold `${name}`; keys are lower
case. The form is that of Python's configparser without interpolation; Flent's manual page describes the sections.
Nothing is run here. `linklab.experiment.batch` makes trials of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from linklab.base.text import excerpt
from linklab.base.toml import read_text
from linklab.errors import InputError

KINDS = ("Batch", "Command", "Arg")
MOST_EXPANSIONS = 1000
"""Replacements of variables in one value; more are a circle."""
DEEPEST = 100
"""Sections that inherit from each other in a row."""
MOST_CHARACTERS = 100_000
"""Of one value, expanded: a few doublings of a stranger's would fill the memory."""
_VARIABLE = re.compile(r"\$\{([^${}]+)\}")
_NO = ("no", "false", "0", "off")
_YES = ("yes", "true", "1", "on")


@dataclass(frozen=True)
class BatchPlace:
    """Where something is written; its text begins a message. Line 0 is the command line."""

    file: str
    line: int
    section: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: [{excerpt(self.section)}]" if self.section else where

    def wrong(self, why: str) -> InputError:
        """The error that says what is wrong here."""
        return InputError(f"{self}: {why}")


@dataclass(frozen=True)
class BatchSection:
    """One section: its values by key, and where each is written, which for an inherited one is another section."""

    kind: str
    name: str
    place: BatchPlace
    values: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, BatchPlace] = field(default_factory=dict)

    def at(self, key: str) -> BatchPlace:
        """Where a key is written."""
        return self.places.get(key, self.place)

    def over(self, values: Mapping[str, str], places: Mapping[str, BatchPlace]) -> BatchSection:
        """The section with other values laid over its own."""
        return BatchSection(self.kind, self.name, self.place, {**self.values, **values}, {**self.places, **places})

    def truth(self, key: str, default: bool) -> bool:
        """A yes or a no."""
        if key not in self.values:
            return default
        return truth(self.values[key], self.at(key), key)

    @property
    def off(self) -> str:
        """Why it is not to be run: "disabled" or "abstract"; "" where it is."""
        if self.truth("disabled", False) or not self.truth("enabled", True):
            return "disabled"
        return "abstract" if self.truth("abstract", False) else ""


@dataclass(frozen=True)
class BatchFile:
    """The sections of the files that were read, with what they inherit, by name in the order of the files."""

    batches: Mapping[str, BatchSection]
    commands: Mapping[str, BatchSection]
    args: Mapping[str, BatchSection]

    def args_like(self, patterns: Sequence[str], place: BatchPlace) -> list[str]:
        """The names of argument sets that a loop lists, in its order; a pattern gives those that match in the file's.

        Raises:
            InputError: one matches nothing, or a set comes twice, which would run the same trial twice.
        """
        found: list[str] = []
        for pattern in patterns:
            matches = [name for name in self.args if fnmatchcase(name, pattern)]
            if not matches:
                known = ", ".join(self.args) or "none"
                raise place.wrong(f'no [Arg::…] is called "{excerpt(pattern)}"; there are: {excerpt(known)}')
            for name in matches:
                if name in found:
                    raise place.wrong(f'the loop takes "{excerpt(name)}" twice; name it once')
                found.append(name)
        return found


def read_batch_files(paths: Sequence[Path]) -> BatchFile:
    """Read batch files; a section of a later one takes the place of the section of that name.

    Raises:
        InputError: a file cannot be read, or a line of it is wrong; the message names file, line and section.
    """
    found: dict[str, dict[str, BatchSection]] = {kind: {} for kind in KINDS}
    for path in paths:
        for section in parse(read_text(path), str(path)):
            found[section.kind][section.name] = section
    return BatchFile(*(resolved(found[kind]) for kind in KINDS))


# --- the form


def parse(text: str, file: str) -> list[BatchSection]:
    """The sections of one file's text, in its order."""
    reader = _Reader(file)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        reader.line(number, line)
    return list(reader.found.values())


class _Reader:
    """Takes lines one by one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: dict[tuple[str, str], BatchSection] = {}
        self.values: dict[str, str] = {}
        self.places: dict[str, BatchPlace] = {}
        self.section: BatchSection | None = None
        self.key = ""  # that a deeper line goes on with
        self.depth = 0

    def line(self, number: int, line: str) -> None:
        """Take a line in."""
        text = line.strip()
        place = BatchPlace(self.file, number, self._title())
        if text.startswith(("#", ";")):
            return
        depth = len(line) - len(line.lstrip())
        if self.key and depth > self.depth and text:
            self.values[self.key] = f"{self.values[self.key]}\n{text}".strip()
            return
        if not text:
            return
        self.depth = depth
        if text.startswith("["):
            self._begin(text, place)
        else:
            self._value(text, place)

    def _title(self) -> str:
        return f"{self.section.kind}::{self.section.name}" if self.section else ""

    def _begin(self, text: str, place: BatchPlace) -> None:
        title, closed, _ = text[1:].rpartition("]")
        kind, colons, name = title.partition("::")
        place = BatchPlace(self.file, place.line)
        if not closed or not colons or kind not in KINDS or not name:
            forms = ", ".join(f"[{each}::NAME]" for each in KINDS)
            raise place.wrong(f'"{excerpt(text)}" begins no section that I know; use {forms}')
        if before := self.found.get((kind, name)):
            raise place.wrong(f"[{title}] is there already, at line {before.place.line}; give one of them another name")
        self.values, self.places, self.key = {}, {}, ""
        self.section = BatchSection(kind, name, BatchPlace(self.file, place.line, title), self.values, self.places)
        self.found[kind, name] = self.section

    def _value(self, text: str, place: BatchPlace) -> None:
        cut = re.search(r"[=:]", text)
        if self.section is None or cut is None or cut.start() == 0:
            what = "stands before the first section" if self.section is None else "is not KEY = VALUE"
            raise place.wrong(f'"{excerpt(text)}" {what}')
        key = text[: cut.start()].strip().lower()
        if key in self.values:
            raise place.wrong(f'"{excerpt(key)}" is there already, at line {self.places[key].line}; leave one')
        self.key = key
        self.values[key] = text[cut.end() :].strip()
        self.places[key] = place


# --- what is inherited


def resolved(sections: Mapping[str, BatchSection]) -> dict[str, BatchSection]:
    """Sections of one kind with the values that they inherit: a later parent wins, and a section's own over all.

    Raises:
        InputError: a parent is missing, or a section inherits from itself.
    """
    done: dict[str, BatchSection] = {}
    for name in sections:
        _resolve(name, sections, done, ())
    return done


def _resolve(
    name: str, sections: Mapping[str, BatchSection], done: dict[str, BatchSection], below: tuple[str, ...]
) -> BatchSection:
    if name in done:  # also so that a diamond of sections is not walked once for each way through it
        return done[name]
    own = sections[name]
    place = own.at("inherits")
    if name in below:
        raise place.wrong(f"it inherits from itself: {excerpt(' → '.join((*below, name)))}")
    if len(below) > DEEPEST:
        raise place.wrong(f"it is inherited over more than {DEEPEST} sections")
    found = BatchSection(own.kind, own.name, own.place)
    for parent in items(own.values.get("inherits", "")):
        if parent not in sections:
            raise place.wrong(f"there is no [{own.kind}::{excerpt(parent)}] to inherit from")
        from_parent = _resolve(parent, sections, done, (*below, name))
        passed_on = {key: value for key, value in from_parent.values.items() if key != "abstract"}
        found = found.over(passed_on, from_parent.places)
    found = found.over({key: value for key, value in own.values.items() if key != "inherits"}, own.places)
    done[name] = found
    return found


def items(text: str) -> list[str]:
    """The names of a list with commas."""
    return [item for part in text.split(",") if (item := part.strip())]


# --- values


def truth(text: str, place: BatchPlace, key: str) -> bool:
    """A yes or a no, as people write it."""
    if text.lower() in _YES:
        return True
    if text.lower() in _NO:
        return False
    raise place.wrong(f'"{excerpt(key)}" must be yes or no, not "{excerpt(text)}"')


def expand(text: str, variables: Mapping[str, str], place: BatchPlace, *, lenient: bool = False) -> str:
    """A text with its variables replaced, and those in their values; `$$` becomes `$`.

    Args:
        text: with `${name}`.
        variables: by name, lower case.
        place: for messages.
        lenient: a name that is not known stays, as in a command, where it is the shell's.

    Raises:
        InputError: a name is not known, or values refer to each other in a circle.
    """
    count, start = 0, 0
    while match := _VARIABLE.search(text, start):
        name = match[1]
        if name not in variables:
            if not lenient:
                lower = f"; keys are lower case: ${{{name.lower()}}}" if name.lower() in variables else ""
                raise place.wrong(f"there is no value for ${{{excerpt(name)}}}{lower}")
            start = match.end()
            continue
        count += 1
        text = f"{text[: match.start()]}{variables[name]}{text[match.end() :]}"
        start = match.start()
        if count > MOST_EXPANSIONS or len(text) > MOST_CHARACTERS:
            raise place.wrong(f"the values of ${{{excerpt(name)}}} and others refer to each other in a circle")
    return text.replace("$$", "$")


def used_in(text: str) -> set[str]:
    """The names that a text refers to."""
    return set(_VARIABLE.findall(text))
