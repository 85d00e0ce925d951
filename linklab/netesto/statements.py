# SPDX-License-Identifier: BSD-3-Clause
"""What a script is made of: commands, loops, and macros, each with the conditions before it. `script.py` finds them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from linklab.netesto.lines import GivenHere, ScriptLine, ScriptProblem, Where, Word


@dataclass(frozen=True)
class Guard:
    """IF or IF_DEF before a command."""

    word: str
    condition: Word


@dataclass(frozen=True)
class ScriptCommand:
    """A command: its words in the line, the first of which names it."""

    line: ScriptLine
    words: tuple[Word, ...]
    guards: tuple[Guard, ...] = ()

    @property
    def where(self) -> Where:
        """The place of its first word."""
        return self.line.where(self.words[0].offset)

    @cached_property
    def given(self) -> tuple[GivenHere, ...]:
        """Its arguments as they are written."""
        parts = ((word, word.text.partition("=")) for word in self.words)
        return tuple(
            GivenHere(name, self.line.where(word.offset), value) for word, (name, sign, value) in parts if sign
        )


@dataclass(frozen=True)
class ForLoop:
    """FOR … DONE."""

    line: ScriptLine
    variable: str
    values: Word
    where: Where
    body: tuple[Statement, ...]
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True)
class Macro:
    """BEGIN … END; comment: the lines right above it."""

    name: str
    where: Where
    body: tuple[Statement, ...]
    comment: tuple[str, ...] = ()


Statement: TypeAlias = ScriptCommand | ForLoop | Macro


@dataclass(frozen=True)
class Script:
    """A file's statements, and what is wrong with it."""

    statements: tuple[Statement, ...]
    problems: tuple[ScriptProblem, ...]
