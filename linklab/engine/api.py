# SPDX-License-Identifier: BSD-3-Clause
"""The interface of an engine: what everything above may ask of a running network.

An `Engine` starts a `Network` from a topology; the network runs commands in terminals and samples queues.
The callers (lab runner, editor, grader, shell) never learn which kernel is below.
Implemented by `linklab.engine.pocket`; the host engine implements the same.
Times named `*_s` are seconds on the network's own clock since it was ready, unless they say wall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from linklab import pocket_kernel
from linklab.errors import InputError
from linklab.topology import Topology


class Clock(Enum):
    """Which clock the network lives on (docs/architecture.md, Clocks)."""

    VIRTUAL = "virtual"
    PACED = "paced"
    WALL = "wall"


def require_wall(clock: Clock) -> None:
    """InputError if it is another than the wall clock, the only one of the host engine."""
    if clock is not Clock.WALL:
        raise InputError(
            f"the host engine has no {clock.value} clock, since the machine's own time cannot be set: use --clock "
            f"wall{', or the pocket (--engine pocket)' if pocket_kernel.runs_here() else ''}"
        )


@dataclass(frozen=True)
class Prompt:
    """Finished when the terminal's shell shows its prompt again."""


@dataclass(frozen=True)
class Background:
    """Not waited for: left running in its terminal until `Network.stop` or a later command finds it finished."""


@dataclass(frozen=True)
class StopAfter:
    """Ctrl+C is typed after `seconds` of network time; finished when the prompt is back.

    pattern: what shows that instead, as in `Shows`, where a program with a prompt of its own runs.
    """

    seconds: float
    pattern: str = ""


@dataclass(frozen=True)
class Shows:
    """Finished when the output matches `pattern` (a regular expression), e.g. the prompt of `sudo mn`."""

    pattern: str


Finish: TypeAlias = Prompt | Background | StopAfter | Shows


@dataclass(frozen=True)
class Typed:
    """Text typed into a terminal, with its Enter, and when that counts as finished.

    terminal: a node's name, "client" (the root namespace) or "mininet" (the Mininet CLI); "h1#2" is a second
    terminal of h1.
    """

    terminal: str
    text: str
    finish: Finish = field(default_factory=Prompt)


@dataclass(frozen=True)
class Completed:
    r"""What one `Typed` gave.

    output: terminal output without the echo of the command and without prompts, newlines as "\n".
    exit_status: the shell's `$?`; None where there is none (background, Mininet CLI).
    start_s, end_s: network time.
    """

    terminal: str
    text: str
    output: str
    exit_status: int | None
    start_s: float
    end_s: float


@dataclass(frozen=True)
class QueueSample:
    """One reading of the queueing disciplines of an interface.

    time_s: network time; qdiscs: as `tc -s -j qdisc show dev IFACE` lists them, same field names.
    """

    time_s: float
    qdiscs: list[dict[str, Any]]


class Network(Protocol):
    """A running network; every call raises EngineError (or a subclass) when it cannot be done."""

    environment: dict[str, Any]
    """Versions and settings that go into every result: kernel, clock, seed, profile, tools."""

    def run(
        self,
        actions: Sequence[Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
    ) -> list[Completed]:
        """Type all actions at the same instant and wait for each to finish.

        deadline_s: wall-clock seconds, then DeadlineError naming the action.
        on_output: called with (terminal, text) as output arrives.
        """
        ...

    def stop(self, terminal: str, *, deadline_s: float = 60) -> Completed:
        """Ctrl+C to what `Background` left running there; its whole output. AgentError if nothing runs there."""
        ...

    def finished(self, terminal: str, *, deadline_s: float = 600) -> Completed:
        """Wait for what `Background` left running there to finish by itself; its whole output."""
        ...

    def now_s(self) -> float:
        """Network time."""
        ...

    def close(self) -> None:
        """End the network; idempotent."""
        ...


class Engine(Protocol):
    """Something that can run a network."""

    side_by_side: bool
    """Whether networks that run at once do not disturb each other's measurements."""

    def check(self) -> None:
        """MissingError, with the cure, if it cannot start one here: no kernel, no place for memory, no tool."""
        ...

    def start(
        self,
        topology: Topology | None,
        *,
        workdir: Path,
        clock: Clock = Clock.VIRTUAL,
        seed: int = 1,
        profile: str = "desktop",
    ) -> AbstractContextManager[Network]:
        """Build `topology` (None for the root namespace alone).

        workdir: host folder that the terminals start in and the only one whose changes stay.
        """
        ...
