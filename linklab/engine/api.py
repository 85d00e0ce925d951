# SPDX-License-Identifier: BSD-3-Clause
"""The interface of an engine: everything that a caller may ask of a running network.

An `Engine` starts a `Network` from a topology; commands are typed into the network's terminals. What only some
networks have is a protocol of its own that a caller asks for: `Paced`, a clock that can be set.
Callers never learn which kernel is below. Times named `*_s` are seconds on the network's own clock since it was ready,
unless they say wall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from linklab.base.finish import Background, Finish, Prompt, Shows, StopAfter
from linklab.errors import AgentError, Fault
from linklab.topology import Topology

__all__ = [
    "VIRTUAL_START_NS",
    "Background",
    "Channel",
    "Clock",
    "Completed",
    "Engine",
    "FailedCommand",
    "Finish",
    "Handler",
    "Network",
    "OnStage",
    "Paced",
    "Prompt",
    "Shows",
    "StopAfter",
    "Typed",
    "refuse_failed_commands",
]

VIRTUAL_START_NS = 1_704_067_200_000_000_000
"""What the virtual clock calls the moment of boot: 2024-01-01 00:00:00 UTC, the same in every run."""

Handler: TypeAlias = Callable[[dict[str, Any]], None]
"""Takes an event of the agent; called in the thread that reads the channel."""


class Clock(Enum):
    """Which clock the network lives on (docs/architecture.md, Clocks)."""

    VIRTUAL = "virtual"
    PACED = "paced"
    WALL = "wall"


@dataclass(frozen=True)
class Typed:
    """Text typed into a terminal, with its Enter, and when that counts as finished.

    terminal: a node's name, "client" (the root namespace) or "mininet" (the Mininet CLI); "h1#2" is a second
    terminal of h1.
    kill_s: network time after Ctrl+C at which what still runs in the foreground there is killed; None for never.
    """

    terminal: str
    text: str
    finish: Finish = field(default_factory=Prompt)
    kill_s: float | None = None


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
class Computed:
    """A program that computed so long without letting time pass that network time followed the processor's.

    from_s: network time when that first happened.
    lasted_s: how much network time passed in this way, seconds.
    """

    program: str
    from_s: float
    lasted_s: float


@dataclass(frozen=True)
class FailedCommand:
    """A start command of a node that failed while the network was built, which goes on without.

    status: exit status; None where its shell ended with it. output: what it printed.
    """

    node: str
    command: str
    status: int | None
    output: str

    def __str__(self) -> str:
        said = f": {' '.join(self.output.split())}" if self.output else ""
        return f"{self.node}: {self.command}{said} (status {'unknown' if self.status is None else self.status})"


def refuse_failed_commands(network: Network) -> None:
    """For who measures or grades: a network whose start commands failed is not the one that was asked for.

    Raises:
        AgentError: one failed, or something else is amiss; the first of them.
    """
    if network.failed_commands:
        raise AgentError(str(network.failed_commands[0]), fault=Fault.TOPOLOGY)
    if network.warnings:
        raise AgentError(network.warnings[0], fault=Fault.NETWORK)


class Channel(Protocol):
    """Orders to the agent inside, and what it says by itself; words and fields are in `linklab.agent.protocol`."""

    @property
    def ended(self) -> str | None:
        """Why nothing more will come; None while the agent is there."""
        ...

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` for every event of that name; "end" comes once, when the agent has gone."""
        ...

    def request(self, op: str, *, deadline_s: float, what: str, **fields: Any) -> dict[str, Any]:
        """Ask and wait for the answer.

        Raises:
            AgentError: the agent says that it cannot; its words.
            DeadlineError: no answer within `deadline_s` wall seconds; names `what`.
            EngineError: the agent has gone.
        """
        ...

    def send(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Ask without waiting, not even for an agent that does not listen; the answer is {"ok": …} or {"error": …}.

        Raises:
            EngineError: the agent has gone.
        """
        ...


class Paced(Protocol):
    """A clock that people can set; every order gives its new state.

    The state: now_s (network time), speed (network seconds per wall second, inf for as fast as it goes), paused,
    behind_s (wall seconds it has slowed down), until_ns (a time it is on the way to, or None).
    """

    on_reached: Callable[[], None] | None
    """Called, in the thread that reads answers, when the time of `until` or the end of `step` is reached."""

    def clock_status(self) -> dict[str, Any]:
        """Its state."""
        ...

    def set_speed(self, speed: float) -> dict[str, Any]:
        """Network seconds per wall second, 0.001 to 1000; inf is as fast as it goes. InputError for another."""
        ...

    def pause(self) -> dict[str, Any]:
        """Stop."""
        ...

    def resume(self) -> dict[str, Any]:
        """Go on."""
        ...

    def step(self, seconds: float) -> dict[str, Any]:
        """Go this far, then stop."""
        ...

    def until(self, time_s: float) -> dict[str, Any]:
        """Go to this network time as fast as it goes, then on as before."""
        ...


class Network(Protocol):
    """A running network; every call raises EngineError (or a subclass) when it cannot be done."""

    environment: dict[str, Any]
    """Versions and settings that go into every result: kernel, clock, seed, profile, tools."""

    @property
    def failed_commands(self) -> Sequence[FailedCommand]:
        """The start commands that failed."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What else is not as it should be in a network that runs all the same, such as an unfinished spanning tree."""
        ...

    @property
    def link(self) -> Channel:
        """The way to the agent, for terminals that people use and for what programs inside ask."""
        ...

    @property
    def nodes(self) -> Sequence[str]:
        """Names of the nodes, each of which has terminals."""
        ...

    @property
    def paced(self) -> Paced | None:
        """The clock, where it can be set; None on every other clock."""
        ...

    def run(
        self,
        actions: Sequence[Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
        at_once: bool = False,
    ) -> list[Completed]:
        """Type all actions and wait for each to finish.

        Several actions begin within a tenth of a second, as if people typed them, each at a moment drawn from the seed,
        unless the cost profile has no chance or the engine is the host's.

        at_once: all begin at the same instant.
        deadline_s: wall-clock seconds, then DeadlineError naming the action.
        on_output: called with (terminal, text) as output arrives.
        """
        ...

    def stop(self, terminal: str, *, deadline_s: float = 60, suspend: bool = False) -> Completed:
        """Ctrl+C to what `Background` left running there; its whole output. AgentError if nothing runs there.

        suspend: Ctrl+Z in its place, after which the shell there takes `bg` and `fg`.
        """
        ...

    def finished(self, terminal: str, *, deadline_s: float = 600, within_s: float | None = None) -> Completed:
        """Wait for what `Background` left running there to finish by itself; its whole output.

        Args:
            terminal: where.
            deadline_s: on the wall clock; on the virtual one, a network that waits answers nothing else meanwhile.
            within_s: network time after which Ctrl+C is typed; None for never.
        """
        ...

    def holds_many_files(self) -> bool:
        """Whether its kernel is to forget names of files, since it may soon have no more open ones."""
        ...

    def now_s(self) -> float:
        """Network time."""
        ...

    def computed(self) -> Sequence[Computed]:
        """The programs for which network time followed the processor's; from the first on, a run cannot be repeated."""
        ...

    def state_text(self) -> str:
        """What every node is set to, as JSON (`linklab.agent.node_state`): the agent's word, and no program starts."""
        ...

    def close(self) -> None:
        """End the network, from any thread and in any state; idempotent."""
        ...


OnStage: TypeAlias = Callable[[str, Network], None]
"""Told what is being done while a network starts, and of the network, which another thread may close meanwhile."""


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
        display: bool = False,
        on_stage: OnStage = lambda stage, network: None,
    ) -> AbstractContextManager[Network]:
        """Build a network, and end it on every way out.

        Args:
            topology: the network; None for the root namespace alone.
            workdir: host folder that the terminals start in and the only one whose changes stay.
            clock: which clock; a paced one begins at the speed of wall time.
            seed: of all chance, where the engine can seed it.
            profile: what computing costs, where the engine can price it.
            display: whether programs inside may ask for windows on the host.
            on_stage: told what is being done.

        Raises:
            InputError: the engine has no such clock, seed or profile.
            MissingError: something that it needs is not on this machine.
            BootError: the network did not come up.
            AgentError: Mininet could not build it.
        """
        ...
