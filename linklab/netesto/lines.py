# SPDX-License-Identifier: BSD-3-Clause
"""Text of a script → its lines, each whole: comments gone, continued lines joined, every character's place known.

A comment begins at `#` and may follow a command; a line that ends with a backslash goes on in the next one; what stands
between BEGIN_COMMENT and END_COMMENT is skipped. docs/netesto.md describes the language.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from linklab.errors import InputError

MOST_PROBLEMS = 100
"""Of one script; a reader mends these first."""

LIBRARY_FILES = "library/"
"""What messages put before the name of a file of the library."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, order=True)
class Where:
    """A place in a script; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class GivenHere(NamedTuple):
    """An argument of a RUN as it is written: its name, its place, and its value with its variables."""

    name: str
    where: Where
    written: str


class MacroRun(NamedTuple):
    """A macro that is running: its name, and the RUN that runs it with its arguments."""

    name: str
    where: Where
    given: tuple[GivenHere, ...] = ()


@dataclass(frozen=True)
class CommandPlace:
    """Where a command stands: its place, which macros are running (outermost first), and whose argument it is about.

    origin: the argument of a RUN that the value at this place comes from, if it comes from one.
    """

    where: Where
    running: tuple[MacroRun, ...] = ()
    origin: Where | None = None

    @property
    def macros(self) -> tuple[str, ...]:
        """Their names, outermost first."""
        return tuple(run.name for run in self.running)


@dataclass(frozen=True)
class ScriptProblem:
    """What is wrong (or odd) at a place, and what to do; running, origin: as in `CommandPlace`."""

    where: Where
    what: str
    running: tuple[MacroRun, ...] = ()
    origin: Where | None = None

    @property
    def first(self) -> Where:
        """The place that a person can mend: of their argument, or of their own RUN of a macro of the library."""
        if self.origin is not None and not _is_library(self.origin):
            return self.origin
        if not _is_library(self.where):
            return self.where
        return next((run.where for run in reversed(self.running) if not _is_library(run.where)), self.where)

    def __str__(self) -> str:
        inner = self.running
        if self.first == self.where:
            return f"{self.where}: {self.what}" + "".join(f"; {_runs(run)}" for run in reversed(inner))
        behind = [f"{self.where} in {inner[-1].name}" if inner else str(self.where)]
        mine = (self.first.file, self.first.line)
        behind += [_runs(run) for run in reversed(inner) if (run.where.file, run.where.line) != mine]
        return f"{self.first}: {self.what} ({'; '.join(behind)})"


def problem_at(place: CommandPlace, what: str) -> ScriptProblem:
    """The problem of a command."""
    return ScriptProblem(place.where, what, place.running, place.origin)


def in_order(problems: Iterable[ScriptProblem]) -> list[ScriptProblem]:
    """By place; files in the order in which they were found to have a problem."""
    found = list(problems)
    files = {problem.first.file: number for number, problem in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda problem: (files[problem.first.file], problem.first, problem.where))


def _is_library(where: Where) -> bool:
    return where.file.startswith(LIBRARY_FILES)


def _runs(run: MacroRun) -> str:
    return f"{run.name} runs from {run.where}"


class ScriptError(InputError):
    """A script cannot be used; `problems` holds everything that is wrong with it.

    algorithms: the congestion controls that its flows ask for, as far as they are known.
    """

    def __init__(self, problems: Sequence[ScriptProblem], algorithms: Mapping[str, CommandPlace] | None = None) -> None:
        self.problems = tuple(problems)
        self.algorithms = algorithms or {}
        first, *others = self.problems
        more = f" (and {len(others)} more; linklab netesto check lists them)" if others else ""
        super().__init__(f"{first}{more}")


@dataclass(frozen=True)
class Word:
    """A word of a line, and the offset at which it begins."""

    text: str
    offset: int


@dataclass(frozen=True)
class ScriptLine:
    """A whole line, or a part of one.

    text: what it says, without comments.
    file: the script that it stands in.
    starts: (offset in `text`, line, column) of each piece that it was joined from, by offset.
    comment: the comment lines right above it, without their `#`.
    """

    text: str
    file: str
    starts: tuple[tuple[int, int, int], ...]
    comment: tuple[str, ...] = ()

    def where(self, offset: int = 0) -> Where:
        """The place of a character."""
        begin, line, column = self.starts[max(bisect_right(self.starts, (offset, 1 << 60)) - 1, 0)]
        return Where(self.file, line, column + offset - begin)

    def word_at(self, offset: int) -> str:
        """The word that begins at an offset."""
        found = _WORD.match(self.text, offset)
        return found[0] if found else ""

    def words(self, start: int = 0) -> list[Word]:
        """Its words from an offset on."""
        return [Word(found[0], found.start()) for found in _WORD.finditer(self.text, start)]

    def until(self, end: int) -> ScriptLine:
        """Its beginning, up to an offset."""
        return ScriptLine(self.text[:end].rstrip(), self.file, self.starts, self.comment)

    def joined(self, after: ScriptLine) -> ScriptLine:
        """Both as one line."""
        begin = len(self.text) + 1
        starts = tuple((offset + begin, line, column) for offset, line, column in after.starts)
        return ScriptLine(f"{self.text} {after.text}", self.file, self.starts + starts, self.comment)


def read_lines(text: str, file: str) -> tuple[list[ScriptLine], list[ScriptProblem]]:
    """The whole lines of a script, and what is wrong with how they are written."""
    reader = _Reader(file)
    for number, raw in enumerate(text.split("\n"), 1):
        reader.take(raw.removesuffix("\r"), number)
    reader.end()
    return reader.lines, reader.problems


class _Reader:
    """Joins lines; `pieces` are those of a line that is not yet whole."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: list[ScriptLine] = []
        self.problems: list[ScriptProblem] = []
        self.pieces: list[tuple[str, int, int]] = []
        self.comment: list[str] = []
        self.skipping: Where | None = None

    def take(self, raw: str, number: int) -> None:
        stripped = raw.strip()
        column = len(raw) - len(raw.lstrip()) + 1
        if self.skipping is not None:
            if not stripped.startswith("#") and stripped.split(maxsplit=1)[:1] == ["END_COMMENT"]:
                self.skipping = None
            return
        if stripped.startswith("#") and not self.pieces:
            self.comment.append(stripped.lstrip("#").strip())
            return
        told = stripped.partition("#")[0].rstrip()
        goes_on = told.endswith("\\")
        self.pieces.append((told.removesuffix("\\"), number, column))
        if not goes_on:
            self._close()

    def _close(self) -> None:
        starts, text = [], ""
        for piece, number, column in self.pieces:
            text += " " if text else ""
            starts.append((len(text), number, column))
            text += piece
        self.pieces = []
        comment, self.comment = tuple(self.comment), []
        if not text.strip():
            return
        line = ScriptLine(text.rstrip(), self.file, tuple(starts), comment)
        word = line.words()[0]
        if word.text == "BEGIN_COMMENT":
            self.skipping = line.where(word.offset)
        elif word.text == "END_COMMENT":
            self.problems.append(
                ScriptProblem(line.where(word.offset), "END_COMMENT has no BEGIN_COMMENT before it; remove it")
            )
        else:
            self.lines.append(line)

    def end(self) -> None:
        if self.pieces:
            self._close()
        if self.skipping is not None:
            self.problems.append(
                ScriptProblem(self.skipping, "BEGIN_COMMENT has no END_COMMENT; add a line END_COMMENT")
            )
