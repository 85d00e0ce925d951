# SPDX-License-Identifier: BSD-3-Clause
"""What an exercise says, as plain data: parameters, settings, faults, experiments, answers and checks.

Built by `linklab.exercise.load`; read by everything that issues, sets up, measures or judges.
Expressions are kept as text and evaluated by `linklab.judge.evaluation`; placeholders by `linklab.exercise.fill`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass(frozen=True)
class Parameter:
    """A quantity that is drawn for each student from `values`; `series` is the practice instance's."""

    name: str
    values: tuple[str, ...]
    series: str


@dataclass(frozen=True)
class Setting:
    """Lines that set_env.sh types at `on` (a node or "client"); `says` is what it prints, "" for nothing."""

    on: str
    lines: tuple[str, ...]
    says: str = ""


@dataclass(frozen=True)
class PlantedFault:
    """One kind of trouble that a problem may plant; `seen` is an expression that shows it (see `Experiment`).

    derived: expressions in place of those of derived quantities, while it is planted.
    seconds: experiment → how long its flows send then, in place of its own.
    In a student's part `key` and `seen` are "".
    """

    id: str
    settings: tuple[Setting, ...]
    key: str
    seen: str
    derived: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Transfer:
    """An iperf3 client at `source` towards a server at `target`; streams is a number or an expression."""

    source: str
    target: str
    streams: str = "1"
    args: str = ""


@dataclass(frozen=True)
class Ping:
    """Echo requests beside the flows, every `interval_s` seconds."""

    source: str
    target: str
    interval_s: float = 0.2


@dataclass(frozen=True)
class SteadyCase:
    """A case in which an experiment varies less, so that a shorter test and a narrower spread are enough.

    where: fact of the submitted state → its word, with `*` and `?` as in fnmatch.
    seconds, omit_s, spread: as of `Experiment`, in place of its own; the spread, of metrics that this has one of.
    """

    where: Mapping[str, str]
    seconds: float
    omit_s: float
    spread: Mapping[str, str]
    why: str


@dataclass(frozen=True)
class Experiment:
    """Traffic of the grader's on a state: `base` is "submitted", "start" or "healthy"; `changes` maps fact → value.

    seconds: that the flows send, with `omit_s` of them before what counts; queue: interface whose backlog is sampled.
    runs: with how many seeds at most; one is enough where nothing is drawn by chance.
    spread: metric → how far from a first run the median of all may lie, a share ("5 %") or a distance ("0.09",
    "5 ms"); see `linklab.exercise.enough`.
    steady: the first case whose facts match is used.
    apart: in a network of its own, which all students with the same parameters share; only of "start" or "healthy".
    """

    id: str
    base: str
    changes: Mapping[str, str]
    flows: tuple[Transfer, ...]
    seconds: float
    omit_s: float
    ping: Ping | None
    queue: str
    why: str
    runs: int = 3
    spread: Mapping[str, str] = field(default_factory=dict)
    steady: tuple[SteadyCase, ...] = ()
    apart: bool = False

    def lasting(self, seconds: float, omit_s: float | None = None) -> Experiment:
        """The same over another time; with what it omits where nothing else is given."""
        return replace(self, seconds=seconds, omit_s=self.omit_s if omit_s is None else omit_s)


@dataclass(frozen=True)
class Answer:
    """A question of answers.toml; `kind` as in `linklab.exercise.answers`.

    default: what an answer that is left blank stands for, "" for nothing.
    beside: of kind words, those that may stand beside the answer and say nothing, in small letters.
    """

    name: str
    kind: str
    asks: str
    choices: tuple[str, ...] = ()
    default: str = ""
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """Ends are expressions, "" where open; or `exactly`, a word or an expression's value as text."""

    low: str = ""
    high: str = ""
    exactly: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Check:
    """One thing that earns `weight` points.

    subject: the fact, metric or answer, or the expression of `holds`.
    bands: the first that contains the value earns its share; the first is the full one.
    needs, needs_any: ids of checks before it, all of which, or `needs_least` of which, must pass at least in part.
    along: ways such as "h1>h2", along which a check that nothing was changed compares what happens to packets, instead
    of comparing the disciplines of every interface.
    """

    id: str
    title: str
    kind: str
    weight: float
    subject: str
    bands: tuple[Band, ...]
    needs: tuple[str, ...]
    hidden: bool
    why: str
    hints: tuple[str, ...]
    reference: str = ""
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = ()
    along: tuple[str, ...] = ()
    needs_any: tuple[str, ...] = ()
    needs_least: int = 1


@dataclass(frozen=True)
class HiddenChecks:
    """What a student is told of hidden checks: how many there are, and their points."""

    count: int
    points: float


@dataclass(frozen=True)
class Exercise:
    """An exercise or a problem as its folder describes it.

    withheld: the hidden checks that a student's part leaves out; None where the instructor's part is here.
    """

    folder: Path
    kind: str
    number: int
    title: str
    version: int
    minutes: int
    after: str
    topology: str
    parameters: tuple[Parameter, ...]
    derived: Mapping[str, str]
    settings: tuple[Setting, ...]
    faults: tuple[PlantedFault, ...]
    experiments: tuple[Experiment, ...]
    answers: tuple[Answer, ...]
    checks: tuple[Check, ...]
    withheld: HiddenChecks | None = None

    @property
    def id(self) -> str:
        """Its short name: "exercise3", "problem1"."""
        return f"{self.kind}{self.number}"

    @property
    def heading(self) -> str:
        """Its full name: "Exercise 3: Tuning TCP and the switch's buffer"."""
        return f"{self.kind.title()} {self.number}: {self.title}"

    @property
    def weight(self) -> float:
        """Points of a full mark, hidden checks included."""
        return sum(check.weight for check in self.checks) + (self.withheld.points if self.withheld else 0)

    @property
    def hidden(self) -> HiddenChecks:
        """The hidden checks, whether they are here or left out."""
        here = [check.weight for check in self.checks if check.hidden]
        return self.withheld or HiddenChecks(len(here), sum(here))


@dataclass(frozen=True)
class Instance:
    """An exercise as one student has it.

    parameters: name → value as text; fault: id of the planted one, "" for none.
    signature: hexadecimal; "practice" where nobody issued it.
    """

    exercise: str
    version: int
    course: str
    student: str
    name: str
    parameters: Mapping[str, str]
    fault: str
    signature: str
