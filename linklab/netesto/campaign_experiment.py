# SPDX-License-Identifier: BSD-3-Clause
"""One experiment of a campaign as plain data: its flows, settings, and captures, with times since its begin.

`experiments.py` finds them among the commands of a script, and `network_plan.py` their nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from linklab.errors import InputError
from linklab.netesto.command_table import STREAM_SIZES, size_bytes
from linklab.netesto.expansion import TimedCommand
from linklab.netesto.lines import CommandPlace, ScriptError, Where, problem_at
from linklab.netesto.names import STREAM

NOWHERE = CommandPlace(Where("", 0, 0))
"""Of what no script says."""


@dataclass(frozen=True)
class FlowGroup:
    """What one DO_CLIENT starts; times in s since the experiment's begin, sizes in bytes.

    place: of the DO_CLIENT.
    start_s: of its flows, after its delay. local_buffer, remote_buffer: of the sockets; None for the system's own.
    req, reply: as the script writes them.
    """

    number: int
    host: str
    server: str
    test: str
    ca: str
    dur_s: float
    delay_s: float
    start_s: float
    instances: int
    req: str
    reply: str
    req_bytes: int
    reply_bytes: int
    local_buffer: int | None
    remote_buffer: int | None
    stats: bool
    place: CommandPlace = NOWHERE


@dataclass(frozen=True)
class NetworkSetting:
    """A SET command; at_s: since the experiment's begin, None for what was set before it.

    arguments: without the host; place: of the command.
    """

    word: str
    host: str
    arguments: Mapping[str, str]
    at_s: float | None = None
    place: CommandPlace = NOWHERE

    @property
    def key(self) -> tuple[str, ...]:
        """What a later setting of the same key makes void."""
        if self.word == "SET_QDISC":
            return (self.word, self.host, *(f"{name}={value}" for name, value in self.arguments.items()))
        if self.word == "SET_NETEM":
            return (self.word, self.host)
        return (self.word, self.host, *sorted(self.arguments))


@dataclass(frozen=True)
class ScriptCapture:
    """A DO_TCPDUMP: packets between a host and a server, or ANY_HOST."""

    host: str
    server: str
    packets: int
    at_s: float


@dataclass(frozen=True)
class CampaignExperiment:
    """One experiment.

    number, name: `exp` and `expName`.
    desc, other: what DESC and OTHER said last.
    settings: first those that hold when it begins, then its own with their times.
    counted: hosts whose counters are read before and after.
    commands: its own, with times since its begin, for people.
    """

    number: int
    name: str
    desc: str = ""
    other: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[FlowGroup, ...] = ()
    settings: tuple[NetworkSetting, ...] = ()
    captures: tuple[ScriptCapture, ...] = ()
    servers: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    commands: tuple[TimedCommand, ...] = ()

    @property
    def length_s(self) -> float:
        """Until its last flow ends."""
        return max((group.start_s + group.dur_s for group in self.groups), default=0.0)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The machines that its flows run between, clients first."""
        return tuple(dict.fromkeys([group.host for group in self.groups] + [group.server for group in self.groups]))


def refusal(place: CommandPlace, what: str) -> InputError:
    """The error for what is wrong at a place of a script."""
    return InputError(what) if place == NOWHERE else ScriptError([problem_at(place, what)])


def group_of(command: TimedCommand, at_s: float, number: int) -> FlowGroup:
    """The flows of a DO_CLIENT, as the group of this number."""
    given = command.arguments
    test = STREAM if given["req"] in STREAM_SIZES else given["test"]
    delay_s = float(given["delay"])
    local, remote = (
        size_bytes(given[name]) if given[name] != "0" else None for name in ("localBuffer", "remoteBuffer")
    )
    return FlowGroup(
        number,
        given["host"],
        given["server"],
        test,
        given["ca"],
        float(given["dur"]),
        delay_s,
        round(at_s + delay_s, 6),
        int(given["instances"]),
        given["req"],
        given["reply"],
        0 if test == STREAM else size_bytes(given["req"]),
        0 if test == STREAM else size_bytes(given["reply"]),
        local,
        remote,
        given["stats"] == "1",
        command.place,
    )


def settings_of(command: TimedCommand) -> list[NetworkSetting]:
    """A SET command as settings: a SET_SYSCTL or SET_MODULE_PARAMS of several values as one of each."""
    given = dict(command.arguments)
    host = given.pop("host")
    each = [given]
    if command.word == "SET_SYSCTL":
        each = [{name: value} for name, value in given.items()]
    if command.word == "SET_MODULE_PARAMS":
        module = given.pop("module")
        each = [{f"{module}.{name}": value} for name, value in given.items()]
    return [NetworkSetting(command.word, host, values, place=command.place) for values in each]
