# SPDX-License-Identifier: BSD-3-Clause
"""Every test of the library, run for a few seconds of network time: which gives no data, and why.

Each has a process of its own (`linklab.base.supervise`). A test fails if a series of its flows has no value, if a
program of it failed, or if one of its derived series is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from linklab.base import owned
from linklab.base.supervise import Ended, Job, supervised
from linklab.base.worker import Tell
from linklab.data import open_file
from linklab.experiment.algorithms import lacking
from linklab.experiment.expand import expand
from linklab.experiment.model import Traffic, Trial
from linklab.experiment.prepared import prepare
from linklab.experiment.test_file import load_test, test_names
from linklab.experiment.trial import run_trial

PATH = "10mbit 20ms fq_codel"
LENGTH_S = 3.0
DEADLINE_S = 300.0
PARAMETERS: Mapping[str, Mapping[str, str]] = {"command-output": {"command": "cut -d' ' -f1 /proc/loadavg"}}
"""What a test cannot do without, as a person would give it."""


@dataclass(frozen=True)
class Tried:
    """What came of a test: why it failed, or "" where all is there.

    impossible: why it cannot be had, so it was not tried.
    """

    test: str
    failed: str = ""
    impossible: str = ""
    wall_s: float = 0.0


def selftest(names: Sequence[str] = (), *, at_once: int = 2, path: str = PATH, seed: int = 1) -> Iterator[Tried]:
    """Try the tests of these names, or all; each as it ends.

    Raises:
        InputError: there is no test of a name.
    """
    tests = []
    for name in names or test_names():
        test = load_test(name)
        why = test.impossible or lacking(expand(test, PARAMETERS.get(name, {})))
        if why:
            yield Tried(test.name, impossible=why)
        else:
            tests.append(test)
    with owned.temporary("linklab-selftest-") as folder:
        trials = [
            Trial(test.name, path=path, length_s=LENGTH_S, seed=seed, parameters=PARAMETERS.get(test.name, {}))
            for test in tests
        ]
        jobs = (
            Job(number, partial(_try, trial, folder), deadline_s=DEADLINE_S, fresh=True)
            for number, trial in enumerate(trials)
        )
        with supervised(jobs, at_once=at_once) as events:
            for event in events:
                if isinstance(event, Ended):
                    failed = str(event.error) if event.error is not None else str(event.value)
                    yield Tried(trials[event.key].test, failed=failed, wall_s=event.wall_s)


def _try(trial: Trial, folder: Path, tell: Tell) -> str:
    """Run a test; what is missing, in words."""
    file = run_trial(trial, folder / f"{trial.test}.flent.gz")
    data = open_file(file)
    failed: dict[str, Any] = dict(data.metadata["failed"])
    if failed:
        return "; ".join(f"{name}: {why}" for name, why in failed.items())
    expanded = prepare(trial).expanded
    wanted = [flow.series for flow in expanded.flows if flow.traffic is not Traffic.BURSTS]
    wanted += [derived.series for derived in expanded.derived]
    # netstat's numbers are further ones, and its own value is none
    empty = [
        name
        for name in wanted
        if not any(one.known.size for key, one in data.series.items() if key == name or key.startswith(f"{name}::"))
    ]
    file.unlink()
    return f"no value of {', '.join(empty)}" if empty else ""
