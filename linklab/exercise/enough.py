# SPDX-License-Identifier: BSD-3-Clause
"""When the grader's runs are enough: two or more that earn the same, or a first one that leaves no doubt.

Pure. What an experiment measures is drawn by chance, so it is measured with several seeds, and their median counts. An
exercise may say how far from a first run that median may lie (`spread`): where the first value and both ends of that
distance earn the same, no other run is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from linklab.exercise.evidence import SHARES, Evidence
from linklab.exercise.judge import judge, spoken_of, steady_case
from linklab.exercise.model import Check, Experiment
from linklab.judge import samples
from linklab.judge.quantity import parse_value
from linklab.judge.samples import Metrics

MOST = 1.0
"""The largest value of Jain's index and of a share."""


def enough(evidence: Evidence, checks: Sequence[Check]) -> bool:
    """Whether the marks stand, so that no further run is needed."""
    judged = partial(_earned, evidence, checks)
    alone = samples.each_alone(evidence.metrics)
    if len(alone) > 1:
        return samples.agree(evidence.metrics, alone, judged)
    ends = _ends(evidence, checks)
    return ends is not None and samples.agree(evidence.metrics, _moved(evidence.metrics, ends), judged)


def misled(evidence: Evidence, checks: Sequence[Check]) -> list[str]:
    """What a run, were it the first and enough, would earn otherwise than all do: check, points by each."""
    found = []
    for metrics in samples.each_alone(evidence.metrics):
        first = replace(evidence, metrics=metrics)
        if enough(first, checks):
            pairs = zip(judge(first, checks), judge(evidence, checks), strict=True)
            found += [
                f"{one.id} {one.score:g}, {all_.score:g} by all" for one, all_ in pairs if one.score != all_.score
            ]
    return found


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
    spoken = {name.partition(".")[::2] for check in checks for name in spoken_of(check)}
    found = {}
    for experiment in evidence.exercise.experiments:
        if experiment.runs == 1 or experiment.id not in evidence.metrics:
            continue
        spread = _spread(experiment, evidence)
        for metric in sorted(metric for name, metric in spoken if name == experiment.id):
            values = evidence.metrics[experiment.id].get(metric, ())
            if metric not in spread or not values or any(map(math.isnan, values)):
                return None
            found[experiment.id, metric] = reach(metric, values[0], spread[metric])
    return found


def _spread(experiment: Experiment, evidence: Evidence) -> dict[str, str]:
    """The spread of an experiment's metrics, by the facts of what was submitted."""
    case = steady_case(experiment, evidence)
    return {**experiment.spread, **(case.spread if case is not None else {})}


def _moved(metrics: Metrics, ends: dict[tuple[str, str], tuple[float, float]]) -> Iterator[Metrics]:
    """The metrics with each of some at either of its ends, in all combinations."""
    for chosen in itertools.product(*ends.values()):
        moved = {experiment: dict(found) for experiment, found in metrics.items()}
        for (experiment, metric), value in zip(ends, chosen, strict=True):
            moved[experiment][metric] = [value]
        yield moved
