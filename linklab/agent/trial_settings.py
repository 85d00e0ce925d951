# SPDX-License-Identifier: BSD-3-Clause
"""What a trial sets in its network, before it begins or in its midst: values of the kernel, and commands such as tc's.

A value is written by the runner itself, at its very instant, and read back, but only if a script may set it
(`linklab.linux.allowed_settings`). One that all nodes share is put back when the test has ended, because the kernel may
be that of the machine. A command is a program like any other (`linklab.agent.trial_programs`). What could not be set is
told in a sentence and does not end the trial.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from linklab.agent.trial_loop import NS, Loop
from linklab.agent.trial_nodes import NodeError, Nodes, NodeSpace
from linklab.agent.trial_plan import CLIENT, PlannedProgram, PlannedSetting
from linklab.agent.trial_programs import Child, Programs
from linklab.linux.allowed_settings import (
    ALGORITHMS,
    SYSCTL,
    is_network_wide,
    setting_file,
    setting_name,
    why_not_allowed,
)

NODE, NETWORK = "node", "network"
"""What a value holds for: one node, or all of them, which share one kernel."""
_SAME = {"Y": "1", "N": "0"}
"""How a parameter of a module shows a truth value that was written as a number."""


class Settings:
    """The settings of a plan, in its order, and what became of each."""

    def __init__(self, planned: Sequence[PlannedSetting], nodes: Nodes, command_s: float) -> None:
        self.nodes = nodes
        self.command_s = command_s
        self.planned = planned
        self.told: dict[int, dict[str, Any]] = {}
        self.kept: dict[str, tuple[PlannedSetting, str]] = {}
        """File of a value that all nodes share → a setting of it, and what it was before it was first written."""

    def before(self, programs: Programs, loop: Loop) -> None:
        """Set what stands before the test, one after the other."""
        for number, setting in enumerate(self.planned):
            if setting.at_s is not None:
                continue
            if not setting.argv:
                self.write(number)
                continue
            child = programs.start(self.program(number))
            loop.run(lambda child=child: child.over, self.deadline_ns())  # type: ignore[misc]
            if child.runs:
                programs.ask_to_end(child, signal.SIGKILL)
            self.ended(number, child)

    def deadline_ns(self) -> int:
        """Until when a command that begins now has to end."""
        return time.monotonic_ns() + round(self.command_s * NS)

    def program(self, number: int) -> PlannedProgram:
        """The program that a setting with a command is; number: in the plan, from 0."""
        setting = self.planned[number]
        return PlannedProgram(f"setting-{number + 1}", setting.node, setting.argv, "flow", setting.at_s or 0.0)

    def ended(self, number: int, child: Child) -> None:
        """A command has ended, or was killed because it did not."""
        killed = signal.SIGKILL in child.asked or not child.over
        self._tell(number, f"it did not end within {self.command_s:g} s and was killed" if killed else child.why)

    def cut_off(self, number: int) -> None:
        """The test has ended before a command that was due."""
        if number not in self.told:
            self._tell(number, "it had not ended when the test ended")

    def write(self, number: int) -> None:
        """Write a value and read it back: on its node, or where a kernel has one value for all of its nodes, there."""
        setting = self.planned[number]
        if wrong := why_not_allowed(setting.word, setting.name, setting.value):
            self._tell(number, wrong)
            return
        try:
            node = self.nodes[setting.node]
        except NodeError as error:
            self._tell(number, str(error))
            return
        if setting.word == SYSCTL:
            why, is_there = _written(node, setting)
            if is_there or not is_network_wide(setting.word, setting.name):
                self._tell(number, why)
                return
        everywhere = self.nodes[CLIENT]
        if str(_file(setting)) not in self.kept:
            with suppress(OSError):  # then it cannot be written either
                self.kept[str(_file(setting))] = setting, _read(everywhere, setting)
        self._tell(number, _written(everywhere, setting)[0], NETWORK)

    def restore(self) -> list[str]:
        """Put back the values that all nodes share; what could not be, a sentence each."""
        lost = []
        for setting, before in self.kept.values():
            try:
                _write(self.nodes[CLIENT], setting, before)
                after = _read(self.nodes[CLIENT], setting)
            except OSError as error:
                lost.append(f'{setting.name} was "{before}" before the test and cannot be put back: {error.strerror}')
                continue
            if after != before:
                lost.append(f'{setting.name} was "{before}" before the test and is "{after}" now')
        self.kept.clear()
        return lost

    def _tell(self, number: int, why: str, of: str = NODE) -> None:
        setting = self.planned[number]
        self.told[number] = {"node": setting.node, "what": setting.name, "at_s": setting.at_s, "of": of, "why": why}

    def as_json(self) -> list[dict[str, Any]]:
        """What became of each that was due, in the order of the plan."""
        return [self.told[number] for number in sorted(self.told)]


def _file(setting: PlannedSetting) -> Path:
    return Path(setting_file(setting.word, setting.name))


def _read(space: NodeSpace, setting: PlannedSetting) -> str:
    return space.inside(lambda: _file(setting).read_text(encoding="ascii")).strip()


def _write(space: NodeSpace, setting: PlannedSetting, text: str) -> None:
    space.inside(lambda: _file(setting).write_text(f"{text}\n", encoding="ascii"))


def _written(space: NodeSpace, setting: PlannedSetting) -> tuple[str, bool]:
    """Write a value there: why it is not what was asked for, "" if it is; and whether it can be written there at all.

    A namespace has no file of what it shares with all others, or since Linux 5.13 one that is only to be read.
    """
    wanted = setting.value.replace(",", " ")
    try:
        with space.inside(lambda: _file(setting).open("w", encoding="ascii")) as file:
            try:
                file.write(wanted)
                file.flush()
            except OSError as error:
                return f'this kernel refuses {setting.name} = "{wanted}": {error.strerror}', True
    except FileNotFoundError:
        return f"this kernel has no {setting.name}", False
    except PermissionError as error:
        return f"{setting.name} cannot be set here: {error.strerror}", False
    except OSError as error:
        return f"{setting.name} cannot be set here: {error.strerror}", True
    try:
        found = _read(space, setting)
    except OSError as error:
        return f"{setting.name} cannot be read back: {error.strerror}", True
    order: Callable[[list[str]], list[str]] = sorted if setting_name(setting.name) == ALGORITHMS else list
    same = order(_plain(found)) == order(_plain(wanted))
    return "" if same else f'{setting.name} is "{found}" after it was set to "{wanted}"', True


def _plain(text: str) -> list[str]:
    return [_SAME.get(word, word) for word in text.split()]
