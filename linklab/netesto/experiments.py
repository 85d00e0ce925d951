# SPDX-License-Identifier: BSD-3-Clause
"""The commands of a script → its experiments, each with all that decides what comes of it.

An experiment begins with the first DO_SERVER, DO_CLIENT or DO_TCPDUMP of its number and ends with its PROCESS_EXP, or
where the script ends. What was set before it, in the whole script, holds when it begins; its own times count from
there. Pure data; names of machines are the script's, and `linklab.netesto.network_plan` finds their nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from linklab.netesto.campaign_experiment import (
    CampaignExperiment,
    FlowGroup,
    NetworkSetting,
    ScriptCapture,
    group_of,
    settings_of,
)
from linklab.netesto.command_table import ANY_HOST, SETTINGS
from linklab.netesto.expansion import Expansion, TimedCommand
from linklab.netesto.limits import MOST_HELD, MOST_OPEN
from linklab.netesto.lines import MOST_PROBLEMS, ScriptError, ScriptProblem, problem_at

BEGINS = frozenset({"DO_SERVER", "DO_CLIENT", "DO_TCPDUMP"})
TO_HOSTS = ("host", "server")


def experiments(expansion: Expansion) -> tuple[CampaignExperiment, ...]:
    """The experiments of a script that have flows, by number.

    Raises:
        ScriptError: two experiments have one number, or the script makes more than the limits allow.
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
    """Takes the commands of a script in their order.

    Many experiments may be open at once. What is set meanwhile is kept once, in `log`; an open experiment remembers
    where it began in it.
    """

    def __init__(self) -> None:
        self.desc = ""
        self.other: dict[str, str] = {}
        self.settings: dict[tuple[str, ...], NetworkSetting] = {}
        """All so far; a setting that another has made void is left out, so that they do not grow without end."""
        self.before: tuple[NetworkSetting, ...] | None = None
        """The same as a tuple; None once it has changed."""
        self.log: list[TimedCommand] = []
        self.open: dict[int, _Open] = {}
        self.done: dict[int, CampaignExperiment] = {}
        self.held = 0
        self.problems: list[ScriptProblem] = []

    def take(self, command: TimedCommand) -> None:
        given = command.arguments
        if command.word == "DESC":
            self.desc = given["text"]
        elif command.word == "OTHER":
            self.other = {**self.other, **given}
        elif command.word in SETTINGS:
            self._set(command)
        elif command.word in BEGINS:
            self._opened(int(given["exp"]), command).take(command, len(self.log))
        elif command.word == "PROCESS_EXP":
            self._process(int(given["exp"]))

    def _set(self, command: TimedCommand) -> None:
        for setting in settings_of(command):
            self.settings.pop(setting.key, None)
            self.settings[setting.key] = setting
        self.before = None
        if self.open:
            self.log.append(command)

    def _opened(self, number: int, command: TimedCommand) -> _Open:
        """The open experiment of this number, which begins here unless it has."""
        if number not in self.open:
            if self.before is None:
                self.before = tuple(self.settings.values())
            if len(self.open) == MOST_OPEN:
                what = f"more than {MOST_OPEN:,} experiments are under way; end each with PROCESS_EXP"
                raise ScriptError([*self.problems, problem_at(command.place, what)])
            self.open[number] = _Open(number, command, self.before, len(self.log))
        return self.open[number]

    def _process(self, number: int) -> None:
        if number not in self.open:
            return
        ended = self.open.pop(number)
        if not ended.groups:
            return
        self.held += ended.holds + len(self.log) - ended.logged
        if self.held > MOST_HELD:
            what = f"the experiments up to this one have more than {MOST_HELD:,} settings and commands; make fewer"
            raise ScriptError([*self.problems, problem_at(ended.begin.place, what)])
        if number in self.done:
            what = f"experiment {number} is begun twice; give the second one exp=COUNTER"
            self.problems.append(problem_at(ended.begin.place, what))
        self.done[number] = ended.done(self.log[ended.logged :], self.desc, self.other)

    def end(self) -> tuple[CampaignExperiment, ...]:
        for number in list(self.open):
            self._process(number)
        if self.problems:
            raise ScriptError(self.problems[:MOST_PROBLEMS])
        return tuple(self.done[number] for number in sorted(self.done))


class _Open:
    """An experiment that has begun.

    before: what was set before it.
    logged: how many settings were logged then.
    """

    def __init__(self, number: int, begin: TimedCommand, before: tuple[NetworkSetting, ...], logged: int) -> None:
        self.number, self.begin, self.before, self.logged = number, begin, before, logged
        self.name = ""
        self.groups: list[FlowGroup] = []
        self.taken: set[int] = set()
        self.after: dict[int, int] = {}
        """Number of a group that a script gave more than once → where to look for a free one."""
        self.captures: list[ScriptCapture] = []
        self.servers: dict[str, None] = {}
        self.counted: dict[str, None] = {}
        self.commands: list[tuple[int, TimedCommand]] = []
        """Its own, each with how many settings were logged before it."""

    @property
    def holds(self) -> int:
        """How many settings and commands it has, less those that were logged since it began."""
        return len(self.before) + len(self.commands)

    def _free(self, wanted: int) -> int:
        """The number of a group, or the next that is free, since a script may give one twice."""
        number = self.after.get(wanted, wanted)
        while number in self.taken:
            number += 1
        self.after[wanted] = number + 1
        self.taken.add(number)
        return number

    def at_s(self, command: TimedCommand) -> float:
        """The time of a command since the begin."""
        return round(command.at_s - self.begin.at_s, 6)

    def take(self, command: TimedCommand, logged: int) -> None:
        """Take one of its own commands; logged: how many settings were logged before it."""
        at_s, given = self.at_s(command), command.arguments
        self.commands.append((logged, command))
        if "expName" in given:
            self.name = self.name or given["expName"]
        if command.word == "DO_SERVER":
            self.counted.setdefault(given["host"])
            if given["start"] == "1":
                self.servers.setdefault(given["host"])
        elif command.word == "DO_CLIENT":
            group = group_of(command, at_s, self._free(int(given["group"])))
            self.groups.append(group)
            self.servers.setdefault(group.server)
            if group.stats:
                self.counted.setdefault(group.host)
        else:
            self.captures.append(ScriptCapture(given["host"], given["server"], int(given["packets"]), at_s))

    def _all(self, log: Sequence[TimedCommand]) -> Iterator[TimedCommand]:
        """Its own commands and those that were logged, in the order of the script."""
        own = ((logged, 1, command) for logged, command in self.commands)
        others = ((logged, 0, command) for logged, command in enumerate(log, self.logged + 1))
        return (command for _, _, command in heapq.merge(others, own, key=lambda each: each[:2]))

    def done(self, log: Sequence[TimedCommand], desc: str, other: Mapping[str, str]) -> CampaignExperiment:
        """It as a whole; log: the SET commands since it began."""
        during = [replace(each, at_s=self.at_s(command)) for command in log for each in settings_of(command)]
        return CampaignExperiment(
            self.number,
            self.name,
            desc,
            dict(other),
            tuple(self.groups),
            (*self.before, *during),
            tuple(self.captures),
            tuple(self.servers),
            tuple(self.counted),
            tuple(replace(command, at_s=self.at_s(command)) for command in self._all(log)),
        )
