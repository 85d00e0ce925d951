# SPDX-License-Identifier: BSD-3-Clause
"""What an experiment is: a measurement for each seed, and a judgement of all seeds together.

`measure` runs in a process of its own and returns data that JSON can hold. The data are kept, so `judge` can be called
again later without a network; it yields a row for each statement.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Data: TypeAlias = dict[str, Any]
Runs: TypeAlias = Mapping[int, Data]
"""What `measure` returned, by seed."""


@dataclass(frozen=True)
class Row:
    """A line of docs/validation.md.

    expected: the range that is judged, with its formula; source: where the formula comes from.
    ok: None for a number that is shown but not judged.
    """

    what: str
    expected: str
    source: str
    found: str
    ok: bool | None


@dataclass(frozen=True)
class Experiment:
    """A measurement, the seeds it is taken for, and its judgement.

    deadline_s: wall-clock seconds for one seed.
    """

    name: str
    what: str
    seeds: Sequence[int]
    measure: Callable[[int], Data]
    judge: Callable[[Runs], Iterable[Row]]
    deadline_s: float = 900


def distinct(values: Iterable[object]) -> int:
    """How many of the values differ."""
    return len({json.dumps(value, sort_keys=True) for value in values})


def of_seeds(runs: Runs) -> str:
    """How many different outcomes the seeds gave, "19 of 20"."""
    return f"{distinct(runs.values())} of {len(runs)}"


def perform(experiment: Experiment, seed: int, tell: object) -> Data:
    """Measure one seed, in a process of its own; return the data as they look after JSON."""
    try:
        return dict(json.loads(json.dumps(experiment.measure(seed))))
    except Exception:
        traceback.print_exc()  # the supervisor hands on the message alone
        raise
