# SPDX-License-Identifier: BSD-3-Clause
"""What a script comes to: its commands with their times, as plain data that can be printed and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linklab.netesto.lines import CommandPlace, ScriptProblem, Where


@dataclass(frozen=True)
class TimedCommand:
    """A command that is due, with every variable filled in and every argument there.

    at_s: seconds of network time from the script's begin; whole microseconds.
    word: such as DO_CLIENT; DESC, OTHER and HOST_SUFFIX too, which hold until the next of their kind.
    arguments: name → value as text, spelt as in docs/netesto.md; DESC and HOST_SUFFIX have one, `text`. `exp` is a
        number; `group` of DO_CLIENT is its number within the experiment, from 1.
    place: the line that says it, and the macros it stands in.
    """

    at_s: float
    word: str
    arguments: Mapping[str, str]
    place: CommandPlace

    @property
    def where(self) -> Where:
        """The line that says it."""
        return self.place.where

    @property
    def within(self) -> tuple[str, ...]:
        """The macros it stands in, outermost first."""
        return self.place.macros

    def __str__(self) -> str:
        """The command as a script would write it, without arguments that are empty."""
        if self.word == "OTHER":
            return f"OTHER {','.join(f'{name}={value}' for name, value in self.arguments.items())}"
        if set(self.arguments) == {"text"}:
            return f"{self.word} {self.arguments['text']}"
        return " ".join([self.word, *(f"{name}={value}" for name, value in self.arguments.items() if value)])


@dataclass(frozen=True)
class Expansion:
    """What a script does.

    commands: in order, by time.
    said: what ECHO says, a line each.
    end_s: when the script ends.
    counter: the number of the last experiment.
    notes: what is odd and yet does not stop the script, such as an argument that the command does not know.
    algorithms: each congestion control that flows ask for, with its first place.
    unserved: each server of a flow that no DO_SERVER begins, with its first place.
    """

    commands: tuple[TimedCommand, ...]
    said: tuple[str, ...]
    end_s: float
    counter: int
    notes: tuple[ScriptProblem, ...] = ()
    algorithms: Mapping[str, CommandPlace] = field(default_factory=dict)
    unserved: Mapping[str, CommandPlace] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "commands": [
                {
                    "at_s": command.at_s,
                    "command": command.word,
                    "arguments": dict(command.arguments),
                    "file": command.where.file,
                    "line": command.where.line,
                    "within": list(command.within),
                }
                for command in self.commands
            ],
            "said": list(self.said),
            "notes": [str(note) for note in self.notes],
            "end_s": self.end_s,
            "counter": self.counter,
        }
