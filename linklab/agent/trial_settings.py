# SPDX-License-Identifier: BSD-3-Clause
"""What a trial sets in its network, before it begins or in its midst: values of the kernel, and commands such as tc's.

A value is written by the runner itself, at its very instant, and read back. A command is a program like any other
(`linklab.agent.trial_programs`). What could not be set is told in a sentence and does not end the trial.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linklab.agent.trial_loop import NS, Loop
from linklab.agent.trial_nodes import NodeError, Nodes, NodeSpace
from linklab.agent.trial_plan import CLIENT, PlannedProgram, PlannedSetting
from linklab.agent.trial_programs import Child, Programs

SYSCTLS = "/proc/sys/"
COMMAND_NS = 20 * NS
"""What one command may take."""
NODE, NETWORK = "node", "network"
"""What a value holds for: one node, or all of them, which share one kernel."""
_SAME = {"Y": "1", "N": "0"}
"""How a parameter of a module shows a truth value that was written as a number."""


class Settings:
    """The settings of a plan, in its order, and what became of each."""

    def __init__(self, planned: Sequence[PlannedSetting], nodes: Nodes) -> None:
        self.nodes = nodes
        self.told: dict[PlannedSetting, dict[str, Any]] = {}
        self.planned = planned

    def before(self, programs: Programs, loop: Loop) -> None:
        """Set what stands before the test, one after the other."""
        for setting in self.planned:
            if setting.at_s is None:
                if setting.argv:
                    child = programs.start(self.program(setting))
                    loop.run(lambda child=child: child.over, time.monotonic_ns() + COMMAND_NS)  # type: ignore[misc]
                    if child.runs:
                        programs.ask_to_end(child, signal.SIGKILL)
                    self.ended(setting, child)
                else:
                    self.write(setting)

    def program(self, setting: PlannedSetting) -> PlannedProgram:
        """The program that a setting with a command is."""
        number = self.planned.index(setting) + 1
        return PlannedProgram(f"setting-{number}", setting.node, setting.argv, "flow", setting.at_s or 0.0)

    def ended(self, setting: PlannedSetting, child: Child) -> None:
        """A command has ended."""
        self._tell(setting, child.why or ("" if child.over else "it did not end"))

    def write(self, setting: PlannedSetting) -> None:
        """Write a value and read it back: on its node, or where a kernel has one value for all of its nodes, there."""
        try:
            node = self.nodes[setting.node]
        except NodeError as error:
            self._tell(setting, str(error))
            return
        everywhere = self.nodes[CLIENT]
        spaces = [(node, NODE)] if setting.path.startswith(SYSCTLS) else []
        spaces.append((everywhere, NETWORK))
        for space, of in spaces:
            why = _written(space, setting)
            self._tell(setting, why, of)
            if not why:
                return

    def _tell(self, setting: PlannedSetting, why: str, of: str = NODE) -> None:
        self.told[setting] = {"node": setting.node, "what": setting.name, "at_s": setting.at_s, "of": of, "why": why}

    def as_json(self) -> list[dict[str, Any]]:
        """What became of each that was due, in the order of the plan."""
        return [self.told[setting] for setting in self.planned if setting in self.told]


def _written(space: NodeSpace, setting: PlannedSetting) -> str:
    """Write a value there; why it is not what was asked for, "" if it is."""
    path, wanted = Path(setting.path), setting.value
    try:
        with space.inside(lambda: path.open("w", encoding="ascii")) as file:
            try:
                file.write(wanted)
                file.flush()
            except OSError as error:
                return f'this kernel refuses {setting.name} = "{wanted}": {error.strerror}'
    except FileNotFoundError:
        return f"this kernel has no {setting.name}"
    except OSError as error:
        return f"{setting.name} cannot be set here: {error.strerror}"
    found = space.inside(lambda: path.read_text(encoding="ascii")).strip()
    same = sorted(_plain(found)) == sorted(_plain(wanted))
    return "" if same else f'{setting.name} is "{found}" after it was set to "{wanted}"'


def _plain(text: str) -> list[str]:
    return [_SAME.get(word, word) for word in text.split()]
