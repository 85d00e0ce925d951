# SPDX-License-Identifier: BSD-3-Clause
"""What a trial does in its network, whichever way leads into it: its commands around the runner, and what that leaves.

`linklab.experiment.trial` starts a network for it, `linklab.experiment.running` takes one that runs already.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linklab.base.text import one_line
from linklab.errors import EngineError
from linklab.experiment.collect import TrialOutcome, collect
from linklab.experiment.model import TrialCommand, When
from linklab.experiment.prepared import Prepared
from linklab.experiment.trial_commands import told, told_beside

Do = Callable[[TrialCommand], tuple[int | None, str]]
"""Runs a command of a trial in the network; its exit status and what it printed."""


@dataclass(frozen=True)
class TrialProgress:
    """How far a trial is.

    stage: what is being done, in words.
    done_s, length_s: of the test, network time; 0 where it has not begun.
    """

    stage: str
    done_s: float = 0.0
    length_s: float = 0.0


Tell = Callable[[TrialProgress], None]


def quiet(progress: TrialProgress) -> None:
    """Tell nobody."""


def tell_progress(text: str, tell: Tell) -> None:
    """Tell what lines of the runner say of how far it is."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict) and "t" in found:
                done_s, length_s = float(found["t"]), float(found.get("length_s", 0.0))
                late = done_s > length_s > 0  # a flow that has filled its path ends later than it was asked to
                stage = "waiting for the last programs to end" if late else "measuring"
                tell(TrialProgress(stage, length_s if late else done_s, length_s))


def between_commands(
    commands: Sequence[TrialCommand], do: Do, measure: Callable[[], str], tell: Tell
) -> tuple[str, list[dict[str, Any]]]:
    """Measure, after the trial's own commands before the test; those after it are run whatever happens.

    Returns:
        What `measure` gave, and what became of the commands, for the data set.

    Raises:
        EngineError: a command failed without which there is to be no test.
    """
    inside = [command for command in commands if not command.on_host]
    ran: list[dict[str, Any]] = []

    def run(command: TrialCommand) -> None:
        tell(TrialProgress(command.name))
        status, text = do(command)
        ran.append(told(command, status, text))
        if command.essential and command.when is When.PRE and status:
            raise EngineError(f"{command.name}: {command.line} ended with status {status}: {one_line(text)}")

    try:
        for command in inside:
            if command.when is When.PRE:
                run(command)
        said = measure()
    finally:
        for command in inside:
            if command.when is When.POST:
                run(command)
    return said, ran


def outcome_of(prepared: Prepared, out: Path, said: str, ran: Sequence[dict[str, Any]], tell: Tell) -> TrialOutcome:
    """What the runner left in a folder, with the trial's own commands.

    Args:
        prepared: the test.
        out: the folder of the outputs.
        said: what the runner said.
        ran: what became of the commands around the test.
        tell: told how far it is.

    Raises:
        EngineError: the runner left nothing.
    """
    if not (out / "outcome.json").is_file():
        raise EngineError(f"the test did not begin: {said.strip() or 'its runner said nothing'}")
    tell(TrialProgress("reading the results"))
    found = collect(prepared.plan, out)
    return replace(found, commands=[*ran, *told_beside(prepared.trial.commands, found.outcome, out)])
