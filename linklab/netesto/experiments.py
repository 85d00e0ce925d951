# SPDX-License-Identifier: BSD-3-Clause
"""The commands of a script → its experiments, each with all that decides what comes of it.

An experiment begins with the first DO_SERVER, DO_CLIENT or DO_TCPDUMP of its number and ends with its PROCESS_EXP, or
where the script ends. What was set before it, in the whole script, holds when it begins; its own times count from
there. Pure data; names of machines are the script's, and `linklab.netesto.network_plan` finds their nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from linklab.errors import InputError
from linklab.netesto.command_table import SETTINGS, STREAM_SIZES, size_bytes
from linklab.netesto.expansion import Expansion, TimedCommand
from linklab.netesto.names import STREAM

BEGINS = frozenset({"DO_SERVER", "DO_CLIENT", "DO_TCPDUMP"})
ANY_HOST = "X"
"""As `server` of DO_TCPDUMP: packets to and from any host."""
TO_HOSTS = ("host", "server")


@dataclass(frozen=True)
class FlowGroup:
    """What one DO_CLIENT starts; times in s since the experiment's begin, sizes in bytes.

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


@dataclass(frozen=True)
class NetworkSetting:
    """A SET command; at_s: since the experiment's begin, None for what was set before it.

    arguments: without the host.
    """

    word: str
    host: str
    arguments: Mapping[str, str]
    at_s: float | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What a later setting of the same key makes void."""
        if self.word == "SET_QDISC":
            return (self.word, self.host, *(f"{name}={value}" for name, value in self.arguments.items()))
        if self.word == "SET_NETEM":
            return (self.word, self.host)
        return (self.word, self.host, *sorted(self.arguments))


@dataclass(frozen=True)
class Capture:
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
    captures: tuple[Capture, ...] = ()
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


def experiments(expansion: Expansion) -> tuple[CampaignExperiment, ...]:
    """The experiments of a script that have flows, by number.

    Raises:
        InputError: two experiments have one number.
    """
    found = _Experiments()
    for command in expansion.commands:
        found.take(command)
    return found.end()


def machines(commands: Iterable[TimedCommand]) -> tuple[str, ...]:
    """All names of machines in a script, in their order."""
    names: dict[str, None] = {}
    for command in commands:
        for argument in TO_HOSTS:
            name = command.arguments.get(argument, "")
            if name and not (command.word == "DO_TCPDUMP" and name == ANY_HOST):
                names.setdefault(name)
    return tuple(names)


class _Experiments:
    """Takes the commands of a script in their order."""

    def __init__(self) -> None:
        self.desc = ""
        self.other: dict[str, str] = {}
        self.settings: dict[tuple[str, ...], NetworkSetting] = {}
        """All so far; a setting that another has made void is left out, so that they do not grow without end."""
        self.open: dict[int, _Open] = {}
        self.done: list[CampaignExperiment] = []

    def take(self, command: TimedCommand) -> None:
        given = command.arguments
        if command.word == "DESC":
            self.desc = given["text"]
        elif command.word == "OTHER":
            self.other = {**self.other, **given}
        elif command.word in SETTINGS:
            self._set(command)
        elif command.word in BEGINS:
            number = int(given["exp"])
            if number not in self.open:
                self.open[number] = _Open(number, command.at_s, tuple(self.settings.values()))
            self.open[number].take(command)
        elif command.word == "PROCESS_EXP":
            self._process(int(given["exp"]))

    def _set(self, command: TimedCommand) -> None:
        for setting in settings_of(command):
            self.settings.pop(setting.key, None)
            self.settings[setting.key] = setting
            for each in self.open.values():
                each.settings.append(replace(setting, at_s=round(command.at_s - each.begin_s, 6)))
        for each in self.open.values():
            each.note(command)

    def _process(self, number: int) -> None:
        if number in self.open:
            if any(each.number == number for each in self.done):
                raise InputError(f"experiment {number} is begun twice; give the second one exp=COUNTER")
            found = self.open.pop(number).done(self.desc, self.other)
            if found.groups:
                self.done.append(found)

    def end(self) -> tuple[CampaignExperiment, ...]:
        for number in list(self.open):
            self._process(number)
        return tuple(sorted(self.done, key=lambda each: each.number))


class _Open:
    """An experiment that has begun."""

    def __init__(self, number: int, begin_s: float, before: Sequence[NetworkSetting]) -> None:
        self.number, self.begin_s = number, begin_s
        self.name = ""
        self.settings = list(before)
        self.groups: list[FlowGroup] = []
        self.captures: list[Capture] = []
        self.servers: dict[str, None] = {}
        self.counted: dict[str, None] = {}
        self.commands: list[TimedCommand] = []

    def note(self, command: TimedCommand) -> float:
        """Keep a command with its time since the begin, which is given."""
        at_s = round(command.at_s - self.begin_s, 6)
        self.commands.append(replace(command, at_s=at_s))
        return at_s

    def take(self, command: TimedCommand) -> None:
        at_s, given = self.note(command), command.arguments
        if "expName" in given:
            self.name = self.name or given["expName"]
        if command.word == "DO_SERVER":
            self.counted.setdefault(given["host"])
            if given["start"] == "1":
                self.servers.setdefault(given["host"])
        elif command.word == "DO_CLIENT":
            group = group_of(given, at_s, {group.number for group in self.groups})
            self.groups.append(group)
            self.servers.setdefault(group.server)
            if group.stats:
                self.counted.setdefault(group.host)
        else:
            self.captures.append(Capture(given["host"], given["server"], int(given["packets"]), at_s))

    def done(self, desc: str, other: Mapping[str, str]) -> CampaignExperiment:
        return CampaignExperiment(
            self.number,
            self.name,
            desc,
            dict(other),
            tuple(self.groups),
            tuple(self.settings),
            tuple(self.captures),
            tuple(self.servers),
            tuple(self.counted),
            tuple(self.commands),
        )


def group_of(given: Mapping[str, str], at_s: float, taken: set[int]) -> FlowGroup:
    """The flows of a DO_CLIENT; taken: numbers of groups that are in use, since a script may give one twice."""
    number = int(given["group"])
    while number in taken:
        number += 1
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
    )


def settings_of(command: TimedCommand) -> list[NetworkSetting]:
    """A SET command as settings: a SET_SYSCTL or SET_MODULE_PARAMS of several values as one of each."""
    given = dict(command.arguments)
    host = given.pop("host")
    if command.word == "SET_SYSCTL":
        return [NetworkSetting(command.word, host, {name: value}) for name, value in given.items()]
    if command.word == "SET_MODULE_PARAMS":
        module = given.pop("module")
        return [NetworkSetting(command.word, host, {f"{module}.{name}": value}) for name, value in given.items()]
    return [NetworkSetting(command.word, host, given)]
