# SPDX-License-Identifier: BSD-3-Clause
"""When the grader's runs are enough: two or more that earn the same, or a first one that leaves no doubt.

Pure. What an experiment measures is drawn by chance, so it is measured with several seeds, and their median counts. An
exercise may say how far from a first run that median may lie (`spread`): where every value that near earns the same,
no other run is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from linklab.exercise.evidence import SHARES, Evidence
from linklab.exercise.judge import judge, spoken_of
from linklab.exercise.model import Check
from linklab.judge import samples
from linklab.judge.quantity import parse_value
from linklab.judge.samples import Metrics

MOST = 1.0
"""Of Jain's index, and of shares."""


def enough(evidence: Evidence, checks: Sequence[Check]) -> bool:
    """Whether the marks stand, so that no further run is needed."""
    judged = partial(_earned, evidence, checks)
    alone = samples.each_alone(evidence.metrics)
    if len(alone) > 1:
        return samples.agree(evidence.metrics, alone, judged)
    ends = _ends(evidence, checks)
    return ends is not None and samples.agree(evidence.metrics, _moved(evidence.metrics, ends), judged)


def misled(evidence: Evidence, checks: Sequence[Check]) -> list[str]:
    """What the first of several runs, were it enough, would earn otherwise than all do: check, points by each."""
    first = replace(evidence, metrics=samples.each_alone(evidence.metrics)[0]) if evidence.metrics else evidence
    if not enough(first, checks):
        return []
    pairs = zip(judge(first, checks), judge(evidence, checks), strict=True)
    return [f"{one.id} {one.score:g}, {every.score:g} by all" for one, every in pairs if one.score != every.score]


def _earned(evidence: Evidence, checks: Sequence[Check], metrics: Metrics) -> tuple[float, ...]:
    return tuple(result.score for result in judge(replace(evidence, metrics=metrics), checks))


def reach(metric: str, value: float, spread: str) -> tuple[float, float]:
    """From where to where the median of all runs may lie.

    Args:
        metric: its name.
        value: of the first run, in base units.
        spread: a share of it ("5 %") or a distance ("0.09", "5 ms").

    Returns:
        The ends, ≥ 0; of Jain's index and of shares ≤ 1.
    """
    far = parse_value(spread).number * (value if spread.strip().endswith("%") else 1)
    most = MOST if metric.rpartition(".")[2] in ("jain", *SHARES) else math.inf
    return max(value - far, 0), min(value + far, most)


def _ends(evidence: Evidence, checks: Sequence[Check]) -> dict[tuple[str, str], tuple[float, float]] | None:
    """By experiment and metric, for those that checks speak of; None where nothing is said of one, or it has no value.

    What is measured once does not vary, nor does what broke: it is not tried again.
    """
    spoken = {name for check in checks for name in spoken_of(check)}
    found = {}
    for experiment in evidence.exercise.experiments:
        for metric, values in evidence.metrics.get(experiment.id, {}).items() if experiment.runs > 1 else ():
            if f"{experiment.id}.{metric}" not in spoken:
                continue
            if metric not in experiment.spread or any(map(math.isnan, values)):
                return None
            found[experiment.id, metric] = reach(metric, values[0], experiment.spread[metric])
    return found


def _moved(metrics: Metrics, ends: dict[tuple[str, str], tuple[float, float]]) -> Iterator[Metrics]:
    """The metrics with each of some at either of its ends, in all combinations."""
    for chosen in itertools.product(*ends.values()):
        moved = {experiment: dict(found) for experiment, found in metrics.items()}
        for (experiment, metric), value in zip(ends, chosen, strict=True):
            moved[experiment][metric] = [value]
        yield moved
