# SPDX-License-Identifier: BSD-3-Clause
"""Trials without a network: a data set that depends on the trial alone, and trials that fail.

Run as a program it does a list of trials in a folder, to be killed: trials.py FOLDER JOBS NUMBER.
"""

import os
import random
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from linklab.data import Dataset, save
from linklab.errors import InputError
from linklab.experiment.model import Trial
from linklab.experiment.runner import ListProgress, here, run_entries
from linklab.experiment.trial_commands import told
from linklab.experiment.trial_folder import opened
from linklab.experiment.trial_list import ListedTrial
from linklab.experiment.trial_work import TrialSettings
from linklab.measure import make_series


@dataclass(frozen=True)
class Stage:
    """How far a trial is, as `linklab.experiment.trial` tells it."""

    stage: str
    done_s: float = 0.0
    length_s: float = 0.0


def fake(trial: Trial, out: Path, tell) -> Path:
    """Write a data file that depends on the trial alone; its note says what goes wrong, and how long it takes."""
    tell(Stage("measuring", 1.0, 2.0))
    word, _, rest = trial.note.partition(" ")
    if word == "sleep":
        time.sleep(float(rest))
    elif word == "raise":
        raise InputError(rest)
    elif word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif word == "break":
        raise ZeroDivisionError
    elif word == "print":
        os.write(1, f"{rest}\n".encode())
    elif word == "once" and not Path(rest).exists():
        Path(rest).touch()
        raise InputError("the first time it does not work")
    data = measured(trial)
    if word == "early":
        data = replace(data, metadata={**data.metadata, "ended": "early"})
    if trial.commands:  # those in the network: tc fails
        bad = "RTNETLINK answers: No such file\n"
        ran = [told(one, 2 if one.name == "tc" else 0, bad * (one.name == "tc")) for one in trial.commands]
        data = replace(data, metadata={**data.metadata, "trial_commands": ran})
    if word == "gaps":
        data = Dataset({"failed": {"Ping (ms) ICMP": "no reply"}}, series=data.series, flent={"FAILED_RUNNERS": 1})
    save(data, out)
    return out


def measured(trial: Trial) -> Dataset:
    """Throughput that depends on the words of the path, delay on the seed, and a little chance on both."""
    rng = random.Random(f"{trial.path} {trial.seed} {sorted(trial.parameters.items())}")  # noqa: S311
    times = np.arange(50) * 0.2
    rate = 10.0 - 0.5 * len(trial.path.split()) + rng.gauss(0, 0.01)
    base = 50.0 + (20.0 if "fifo" in trial.path else 0.0) + rng.gauss(0, 1.0)
    values = {
        "TCP upload": (rate + 0.1 * np.sin(times), "Mbits/s"),
        "Ping (ms) ICMP": (base + np.linspace(0, 10 + trial.seed, 50), "ms"),
    }
    series = {name: make_series(name, unit, times, found, source="fake") for name, (found, unit) in values.items()}
    metadata = {"seed": trial.seed, "path": trial.path, "test": trial.test, "topology": trial.topology}
    return Dataset(metadata, series=series, flent={"NAME": trial.test, "TITLE": trial.title or None})


def entries(count: int, note: str = "", **more) -> list[ListedTrial]:
    """Trials that differ in their seeds."""
    return [
        ListedTrial(
            f"a/t-{seed:02}", f"seed {seed}", Trial("tcp_1up", path="10mbit 50ms", seed=seed, note=note, **more)
        )
        for seed in range(1, count + 1)
    ]


def do(
    found: list[ListedTrial], folder: Path, jobs: int = 2, *, fresh: bool = False, host_commands: bool = False
) -> ListProgress:
    """Do a list in a folder; its tasks."""
    folder.mkdir(exist_ok=True)
    progress = ListProgress(jobs=jobs)
    with opened(folder, {"what": "test", "shuffle_seed": 1}) as kept:
        deal = here(TrialSettings(fake, host_commands), jobs, fresh=fresh)
        run_entries(found, kept, deal, progress, lambda task: None)
    return progress


if __name__ == "__main__":
    os.write(1, b"begin\n")
    do(entries(int(sys.argv[3]), "sleep 0.05"), Path(sys.argv[1]), int(sys.argv[2]))
