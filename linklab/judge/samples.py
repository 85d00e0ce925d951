# SPDX-License-Identifier: BSD-3-Clause
"""One number from several runs: what a metric that was measured with several seeds is judged by.

The median stands for all of them, so one unlucky draw decides nothing; whether the runs agree is asked separately.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Metrics = Mapping[str, Mapping[str, Sequence[float]]]
"""Step or experiment → metric → a value for each run, in the order of the seeds; NaN where a run gave none."""

T = TypeVar("T")


def median(samples: Sequence[float]) -> float | None:
    """The median of the runs that gave a value; None if none did."""
    known = [value for value in samples if not math.isnan(value)]
    return statistics.median(known) if known else None


def in_words(samples: Sequence[float]) -> str:
    """How many runs a median is of: "median of 3 runs", "median of 2 of 3 runs"; nothing for one run."""
    known = sum(not math.isnan(value) for value in samples)
    if len(samples) < 2:
        return ""
    return f"median of {len(samples)} runs" if known == len(samples) else f"median of {known} of {len(samples)} runs"


def each_alone(metrics: Metrics) -> list[Metrics]:
    """The metrics of each run by itself; what was measured in fewer runs has its last value in the others."""
    count = max((len(values) for found in metrics.values() for values in found.values()), default=0)
    return [
        {
            part: {name: [values[min(run, len(values) - 1)]] for name, values in found.items() if values}
            for part, found in metrics.items()
        }
        for run in range(count)
    ]


def agree(together: T, alone: Iterable[T], judged: Callable[[T], Hashable]) -> bool:
    """Whether each run, judged by itself, comes to the same as all of them together.

    Two runs on either side of a band do not, and neither do two whose median lies in a band that both miss.
    """
    return len({judged(each) for each in (together, *alone)}) == 1
