# SPDX-License-Identifier: BSD-3-Clause
"""The form of an experiment: a measurement for each seed, and a judgement of all of them together.

`measure` runs in a process of its own and returns what JSON can hold; it is kept, so `judge` can be called again later
without a network. `judge` yields a row for each statement.
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

    expected: with the formula; source: where that comes from.
    ok: None for a number that is shown and not judged.
    """

    what: str
    expected: str
    source: str
    found: str
    ok: bool | None


@dataclass(frozen=True)
class Experiment:
    """What is measured, for which seeds, and what is said of it.

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
    """How many of the seeds gave an outcome of their own."""
    return f"{distinct(runs.values())} of {len(runs)}"


def perform(experiment: Experiment, seed: int, tell: object) -> Data:
    """Measure one seed, in a process of its own; what comes back is what JSON keeps."""
    try:
        return dict(json.loads(json.dumps(experiment.measure(seed))))
    except Exception:
        traceback.print_exc()
        raise
