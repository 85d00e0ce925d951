# SPDX-License-Identifier: BSD-3-Clause
"""What the expansion of a script keeps while it works: variables, clock, numbers of experiments, caps, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from linklab.netesto.expansion import Expansion, TimedCommand
from linklab.netesto.limits import (
    MOST_COMMANDS,
    MOST_FLOWS,
    MOST_FLOWS_IN_ALL,
    MOST_LOOPS,
    MOST_NESTED_IN_ALL,
    MOST_SECONDS,
    MOST_STEPS,
    MOST_TEXT,
)
from linklab.netesto.lines import MOST_PROBLEMS, CommandPlace, ScriptError, ScriptProblem, Where, in_order, problem_at
from linklab.netesto.statements import Macro, Script

MICRO = 1_000_000


class EndError(Exception):
    """END was reached: the script is over."""


class StopError(Exception):
    """A cap is reached: the reason is among the problems."""


@dataclass
class ExpansionState:
    """The state of an expansion; times in whole microseconds, so that sums are exact."""

    seed: int
    counter: int
    variables: dict[str, str]
    given: frozenset[str]
    macros: dict[str, Macro] = field(default_factory=dict)
    scripts: list[Script] = field(default_factory=list)
    reached: set[int] = field(default_factory=set)
    """`id` of each command that was executed, which `scripts` keeps alive."""
    sourced: set[Path] = field(default_factory=set)
    commands: list[TimedCommand] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    problems: dict[tuple[Where, str], ScriptProblem] = field(default_factory=dict)
    notes: dict[tuple[Where, str], ScriptProblem] = field(default_factory=dict)
    now_us: int = 0
    host: str = ""
    suffix: str = ""
    """Of machines whose name has no dot."""
    exp: str = ""
    exp_name: str = ""
    group: int = 1
    done: set[tuple[str, str, str, str]] = field(default_factory=set)
    passed: set[tuple[str, str, str]] = field(default_factory=set)
    draws: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    depth: int = 0
    text: int = 0
    turns: int = 0
    flows: Counter[str] = field(default_factory=Counter)
    """By the number of their experiment."""
    flows_in_all: int = 0
    ends_us: dict[str, int] = field(default_factory=dict)
    """When the last flow so far of an experiment ends."""
    algorithms: dict[str, CommandPlace] = field(default_factory=dict)
    """Of flows, each with its first place."""
    servers: dict[str, CommandPlace] = field(default_factory=dict)
    """Of flows, each with its first place."""
    served: set[str] = field(default_factory=set)
    """Hosts of DO_SERVER."""

    def assign(self, place: CommandPlace, name: str, value: str) -> None:
        """SET a variable, unless the command line gave it."""
        if name not in self.given:
            self.keep(place, len(value))
            self.variables[name] = value

    def say(self, place: CommandPlace, text: str) -> None:
        """Add a line that ECHO says."""
        self.keep(place, len(text))
        self.said.append(text)

    def keep(self, place: CommandPlace, characters: int) -> None:
        """Count text that is kept."""
        self.text += characters
        if self.text > MOST_TEXT:
            self.stop(place, f"the script makes more than {MOST_TEXT:,} characters of text; make its loops smaller")

    def complain(self, place: CommandPlace, what: str) -> None:
        """Add a problem; the same one at the same place counts once."""
        problem = problem_at(place, what)
        self.problems.setdefault((problem.first, what), problem)
        if len(self.problems) >= MOST_PROBLEMS:
            raise StopError

    def note(self, place: CommandPlace, what: str) -> None:
        """Add what is odd and yet does not stop the script."""
        if len(self.notes) < MOST_PROBLEMS:
            note = problem_at(place, what)
            self.notes.setdefault((note.first, what), note)

    def stop(self, place: CommandPlace, what: str) -> None:
        """Add a problem, and work no further."""
        self.complain(place, what)
        raise StopError

    def step(self, place: CommandPlace, characters: int) -> None:
        """Count a line that is executed; a long one counts for several."""
        self.steps += 1 + characters // 500
        if self.steps > MOST_STEPS:
            self.stop(place, f"the script executes more than {MOST_STEPS:,} lines; make its loops smaller")

    @contextmanager
    def deeper(self, place: CommandPlace) -> Iterator[None]:
        """Count a loop, macro or file as long as it is executed."""
        if self.depth >= MOST_NESTED_IN_ALL:
            self.stop(place, f"more than {MOST_NESTED_IN_ALL} loops, macros and files are nested; use fewer")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def turn(self, place: CommandPlace) -> None:
        """Count a turn of a loop, or one run of a macro."""
        self.turns += 1
        if self.turns > MOST_LOOPS:
            self.stop(place, f"loops and repetitions run more than {MOST_LOOPS:,} times in total; use fewer")

    def wait(self, place: CommandPlace, seconds: float) -> None:
        """Move the clock."""
        self.now_us += round(seconds * MICRO)
        if self.now_us > MOST_SECONDS * MICRO:
            self.stop(place, f"the script lasts longer than {MOST_SECONDS // 86_400} days of network time; shorten it")

    def draw(self, least: float, most: float) -> float:
        """A time from least (included) to most (excluded): uniform, whole microseconds."""
        number = self.draws.get(self.exp, 0)
        self.draws[self.exp] = number + 1
        random = Random(f"netesto {self.seed} {self.exp} {number}")  # noqa: S311 - repeatable on purpose
        first_us = round(least * MICRO)
        return (first_us + int(random.random() * (round(most * MICRO) - first_us))) / MICRO

    def emit(self, place: CommandPlace, word: str, arguments: dict[str, str]) -> None:
        """Add a command that is due now."""
        if len(self.commands) >= MOST_COMMANDS:
            self.stop(place, f"the script has more than {MOST_COMMANDS:,} commands; make its loops smaller")
        self.keep(place, sum(map(len, arguments.values())))
        self.commands.append(TimedCommand(self.now_us / MICRO, word, arguments, place))

    def start(self, place: CommandPlace, exp: str, flows: int) -> None:
        """Count the flows that a command starts."""
        self.flows[exp] += flows
        self.flows_in_all += flows
        if self.flows[exp] > MOST_FLOWS:
            self.stop(
                place, f"experiment {exp} has more than {MOST_FLOWS:,} flows; start fewer, or in several experiments"
            )
        if self.flows_in_all > MOST_FLOWS_IN_ALL:
            self.stop(place, f"the script starts more than {MOST_FLOWS_IN_ALL:,} flows in all; make it several scripts")

    def lasts(self, exp: str, seconds: float) -> None:
        """Remember that a flow of an experiment lasts so long from now on."""
        self.ends_us[exp] = max(self.ends_us.get(exp, 0), self.now_us + round(seconds * MICRO))

    def next_ten(self) -> None:
        """Move the counter on to the next ten, as NEXT_COUNTER and END do; before the first experiment it stays."""
        if self.counter:
            self.counter += 11 if self.counter % 10 == 9 else 10 - self.counter % 10

    def result(self) -> Expansion:
        """What came of it.

        Raises:
            ScriptError: there are problems.
        """
        if self.problems:
            raise ScriptError(in_order(self.problems.values()), self.algorithms)
        notes = tuple(in_order(self.notes.values()))
        unserved = {name: place for name, place in self.servers.items() if name not in self.served}
        return Expansion(
            tuple(self.commands),
            tuple(self.said),
            self.now_us / MICRO,
            self.counter,
            notes,
            self.algorithms,
            unserved,
        )
