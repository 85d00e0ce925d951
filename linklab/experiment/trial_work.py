# SPDX-License-Identifier: BSD-3-Clause
"""The work of one process: one trial of a list, with the commands around it that this machine runs.

Here as on a worker of a cluster; what is done with the file is up to whoever started the process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from linklab.base.text import excerpt
from linklab.base.worker import Tell
from linklab.data import Dataset, open_file
from linklab.errors import EngineError, InputError
from linklab.experiment.host_commands import HostCommands
from linklab.experiment.model import Trial
from linklab.experiment.trial_commands import failed_commands
from linklab.experiment.trial_list import ListedTrial, named_files, plain

LONGEST_WHY = 300
"""Letters of what went wrong in a trial, in the journal."""
Run: TypeAlias = Callable[[Trial, Path, Tell], Path]
"""Does one trial: the trial, the data file that is to be written, and a function that is told how far it is."""
Look: TypeAlias = Callable[[Dataset], Mapping[str, float | None]]


@dataclass(frozen=True)
class Made:
    """What a trial made.

    file: its data file.
    gaps: which of its programs failed, in words; "" for none.
    warning: which of its commands failed, in words; "" for none.
    values: what was looked for in its data, by name; None where it is not there.
    """

    file: Path
    gaps: str = ""
    warning: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialOrder:
    """A trial with the files that it names, so that it can be done in any folder of any machine.

    files: contents by name; the trial names them without a folder, so that its data do not hold one either.
    """

    entry: ListedTrial
    files: Mapping[str, bytes] = field(default_factory=dict)


def bundled(entry: ListedTrial) -> TrialOrder:
    """A trial with its files.

    Raises:
        InputError: one cannot be read.
    """
    files = {}
    named = named_files(entry.trial)
    for name in named.values():
        try:
            files[Path(name).name] = Path(name).read_bytes()
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}") from error
    within = {key: Path(name).name for key, name in named.items()}
    return TrialOrder(replace(entry, trial=replace(entry.trial, **within)), files)  # type: ignore[arg-type]


@dataclass(frozen=True)
class TrialSettings:
    """How trials are done.

    run: does one.
    host_commands: whether commands of it that are for this machine are run.
    look: reads numbers in its data set; what it gives is kept in the journal.
    """

    run: Run
    host_commands: bool = False
    look: Look | None = None


def work(bundle: TrialOrder, place: Path, how: TrialSettings, tell: Tell) -> Made:
    """Do one trial in a folder of its own, in which this process works.

    Args:
        bundle: the trial.
        place: the folder, which gets the data file.
        how: see there.
        tell: told how far it is.

    Raises:
        LinklabError: it gave no data.
    """
    for name, content in bundle.files.items():
        (place / name).write_bytes(content)
    entry = bundle.entry
    on_host = [command for command in entry.trial.commands if command.on_host] if how.host_commands else []
    inside = tuple(command for command in entry.trial.commands if not command.on_host)
    with HostCommands(on_host) as commands:
        file = how.run(replace(entry.trial, commands=inside), place / Path(entry.file).name, tell)
        data = open_file(file)
        if data.metadata.get("ended") == "early":  # by Ctrl+C or SIGUSR1
            commands.hurried = True
            raise EngineError("the test was ended early, so it does not count")
        if entry.pause_s and entry.trial.clock != "virtual":
            time.sleep(entry.pause_s)
        commands.whole = True
    if entry.keep_log:
        os.write(1, _told(entry, data).encode("utf-8", "replace"))  # the log
    warning = "; ".join([*failed_commands(data), *commands.failed])
    return Made(file, failed_programs(data), excerpt(warning, LONGEST_WHY), how.look(data) if how.look else {})


def _told(entry: ListedTrial, data: Dataset) -> str:
    """What a log says of a trial beside what its process printed: what it was, and what its commands said."""
    lines = [
        f"{key} = {value}" for key, value in plain(entry.trial).items() if value and key not in ("commands", "extra")
    ]
    ran = data.metadata.get("trial_commands")
    for one in ran if isinstance(ran, list) else []:
        lines.append(f"{one['when']} on {one['node']}: {one['command']} (status {one['status']})")
        lines += [f"    {line}" for line in str(one["output"]).splitlines()]
    return "".join(f"{line}\n" for line in lines)


def failed_programs(data: Dataset) -> str:
    """Which programs of a trial failed, in words; "" for none."""
    if not data.flent.get("FAILED_RUNNERS"):
        return ""
    failed = data.metadata.get("failed")
    if not isinstance(failed, dict) or not failed:
        return "a program of it failed"
    return excerpt("; ".join(f"{name}: {why}" for name, why in failed.items()), LONGEST_WHY)
