# SPDX-License-Identifier: BSD-3-Clause
"""What became of a trial's own commands, before, beside, and after the test: for its data set, and for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linklab.base.text import excerpt, one_line
from linklab.data import Dataset
from linklab.experiment.model import TrialCommand, When

MOST_OUTPUT = 100_000
"""Letters of what a command printed that the data set keeps; the end of more."""


def told(command: TrialCommand, status: int | None, output: str) -> dict[str, Any]:
    """What the data set keeps of a command that was run."""
    return {
        "name": command.name,
        "when": command.when.value,
        "node": command.node or "client",
        "command": command.line,
        "status": status,
        "output": output[-MOST_OUTPUT:],
    }


def beside(commands: Sequence[TrialCommand]) -> list[tuple[str, TrialCommand]]:
    """The commands beside the test that run in the network, with their ids in the plan."""
    found = [command for command in commands if command.when is When.MONITOR and not command.on_host]
    return [(f"monitor-{number}", command) for number, command in enumerate(found, 1)]


def told_beside(commands: Sequence[TrialCommand], outcome: Mapping[str, Any], out: Path) -> Iterator[dict[str, Any]]:
    """What the data set keeps of the commands beside the test; one that the test ended has the status 0.

    Args:
        commands: of the trial.
        outcome: what the runner left (`linklab.agent.trial`).
        out: the folder of the outputs.
    """
    for name, command in beside(commands):
        ran = outcome.get("programs", {}).get(name)
        if ran is None:  # the test was ended before
            continue
        status = 0 if ran.get("stopped") and (command.kill or outcome.get("ended") == "early") else ran.get("status")
        texts = [(out / f"{name}.{end}") for end in ("out", "err")]
        output = "".join(text.read_text("utf-8", "replace") for text in texts if text.is_file())
        yield told(command, status, output or str(ran.get("why") or ""))


def failed_commands(data: Dataset) -> list[str]:
    """A sentence for each command of a trial that failed, with the end of what it printed."""
    ran = data.metadata.get("trial_commands")
    return [
        f"the command {one['name']} on {one['node']} ended with status {one['status']}: {_printed(one)}"
        for one in (ran if isinstance(ran, list) else [])
        if one["status"] != 0
    ]


def _printed(one: Mapping[str, Any]) -> str:
    return excerpt(one_line(str(one["output"])).strip(), 120) or "it printed nothing"
