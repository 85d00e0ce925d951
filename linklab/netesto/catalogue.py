# SPDX-License-Identifier: BSD-3-Clause
"""Macros of a script as people look for them: what each does, and which arguments it needs or takes.

The line on what it does is the first of the comment above it. Its arguments are found in its body: a variable that the
body uses before it sets it is needed; one that only a condition asks for, or that the script's top sets, may be left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from linklab.netesto.lines import Word
from linklab.netesto.script import parse
from linklab.netesto.sources import LIBRARY, library_names, read
from linklab.netesto.statements import ForLoop, Macro, ScriptCommand, Statement
from linklab.netesto.variables import VARIABLE


@dataclass(frozen=True)
class MacroEntry:
    """A macro: what it does in a line, the arguments that it needs, and those that may be left out."""

    name: str
    does: str
    needs: tuple[str, ...]
    takes: tuple[str, ...]


def macros_in(path: Path) -> list[MacroEntry]:
    """The macros of a script, in its order."""
    statements = parse(read(path, str(path)), str(path)).statements
    defaults = {name for statement in statements if isinstance(statement, ScriptCommand) for name in _set(statement)}
    return [_entry(statement, defaults) for statement in statements if isinstance(statement, Macro)]


def holder(macro: str) -> str:
    """The script of the library that defines a macro; "" if none does."""
    return next((name for name in library_names() if macro in _library_macros(name)), "")


@lru_cache
def _library_macros(name: str) -> frozenset[str]:
    return frozenset(macro.name for macro in macros_in(LIBRARY / name))


def first_line(text: str) -> str:
    """The first line of a script's comment that says something."""
    told = (line.lstrip("#").strip() for line in text.splitlines() if line.startswith("#"))
    return next(filter(None, told), "")


def _entry(macro: Macro, defaults: set[str]) -> MacroEntry:
    uses = _Uses()
    uses.walk(macro.body)
    takes = [name for name in uses.asked if name not in uses.needed]
    takes += [name for name in uses.needed if name in defaults]
    needs = [name for name in uses.needed if name not in defaults]
    does = next(filter(None, macro.comment), "").removeprefix(f"{macro.name}:").strip()
    return MacroEntry(macro.name, does, tuple(needs), tuple(takes))


def _set(command: ScriptCommand) -> Iterator[str]:
    """The variable that a command sets."""
    if command.words[0].text in ("SET", "SET_EXP") and len(command.words) > 1:
        yield command.words[1].text.partition("=")[0]


def _names(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        yield from VARIABLE.findall(word.text)


@dataclass
class _Uses:
    """Variables of a body: those it uses, those only conditions ask for, and those it has set so far."""

    needed: dict[str, None] = field(default_factory=dict)
    asked: dict[str, None] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    def walk(self, statements: Iterable[Statement]) -> None:
        """Go through statements in order."""
        for statement in statements:
            if isinstance(statement, Macro):
                continue
            asked = {name for guard in statement.guards for name in _names([guard.condition])} - self.made
            self.asked.update(dict.fromkeys(sorted(asked)))
            words = [statement.values] if isinstance(statement, ForLoop) else statement.words
            self.needed.update(dict.fromkeys(n for n in _names(words) if n not in self.made and n not in self.asked))
            if isinstance(statement, ForLoop):
                self.made.add(statement.variable)
                self.walk(statement.body)
            else:
                self.made.update(_set(statement))
