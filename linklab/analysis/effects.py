# SPDX-License-Identifier: BSD-3-Clause
"""Which factor of an experiment matters most: the share of the variance that each explains.

The method is the analysis of variance with sums of squares of type II: what a factor explains beyond all the others.
Where every combination was repeated equally often that is the textbook's table, whose shares and the rest add up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linklab.analysis.distributions import f_tail
from linklab.measure.series import FloatArray

ROUNDING = 1e-9
"""Outcomes that differ by less, as a share of the largest, are the same: sums in another order differ in their last
digits, and what is measured does not have so many."""
METHOD = "share of variance (η², analysis of variance, sums of squares of type II)"


@dataclass(frozen=True)
class Effect:
    """What one factor does.

    share: of the variance of all outcomes, 0 to 1.
    p: the probability of so large an effect by chance alone; NaN without repetitions to tell chance by.
    means: of the outcomes at each level, in the order in which the levels first came.
    """

    factor: str
    share: float
    p: float
    means: Mapping[str, float]


@dataclass(frozen=True)
class Effects:
    """What all factors do.

    factors: the one that matters most first.
    interactions: the share that combinations explain beyond the factors one by one; NaN where no combination that can
        tell was tried.
    chance: the share that repetitions of the same combination differ by; NaN without repetitions.
    balanced: whether every combination was tried equally often; if not, the shares need not add up to 1.
    n: outcomes that counted.
    """

    factors: tuple[Effect, ...]
    interactions: float
    chance: float
    balanced: bool
    n: int

    @property
    def most(self) -> str:
        """The factor that matters most; "" where none does."""
        return self.factors[0].factor if self.factors and self.factors[0].share > 0 else ""


def effects(levels: Mapping[str, Sequence[object]], outcomes: Sequence[float]) -> Effects:
    """What each factor explains of the outcomes.

    Args:
        levels: by factor, its level in each trial; numbers count as names, so that no line is supposed.
        outcomes: one a trial, in the same order; NaN is a trial that gave none, and is left out.

    Returns:
        METHOD. A factor of one level, or that always changes together with others, explains nothing of its own. Of
        outcomes that are all the same every share is NaN.

    Raises:
        ValueError: a factor has more or fewer levels than there are outcomes.

    Source: Montgomery, Design and Analysis of Experiments, 5.3 and 15.2; Jain, The Art of Computer Systems Performance
    Analysis, 22; Langsrud, Statistics and Computing 13 (2003), for type II.
    """
    for factor, named in levels.items():
        if len(named) != len(outcomes):
            raise ValueError(f"factor {factor}: {len(named)} levels for {len(outcomes)} outcomes")
    found = np.asarray(outcomes, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(found))
    y = found[kept]
    if y.size and np.ptp(y) <= ROUNDING * np.abs(y).max():
        y = np.full(y.size, y[0])
    names = {factor: [str(named[number]) for number in kept] for factor, named in levels.items()}
    cells = list(zip(*names.values(), strict=True)) if names else [()] * y.size
    total, _ = _rest([], y)
    main, main_rank = _rest(list(names.values()), y)
    within, cell_rank = _rest([[repr(cell) for cell in cells]], y)
    # rounding leaves a little of what is explained entirely
    within = 0.0 if within < 1e-12 * max(total, main) else within
    repeated, combined = y.size - cell_rank, cell_rank - main_rank
    error, freedom = (within, repeated) if repeated else (main, y.size - main_rank)
    each = [_effect(factor, names, y, (total, main, main_rank), (error, freedom)) for factor in names]
    known = total > 0 and y.size > 1
    return Effects(
        tuple(sorted(each, key=lambda effect: -effect.share if known else 0.0)),
        max(0.0, main - within) / total if known and combined else math.nan,
        within / total if known and repeated else math.nan,
        _is_balanced(names, cells),
        int(y.size),
    )


def _effect(
    factor: str,
    names: Mapping[str, list[str]],
    y: FloatArray,
    whole: tuple[float, float, int],
    chance: tuple[float, int],
) -> Effect:
    total, main, main_rank = whole
    error, freedom = chance
    without, rank = _rest([named for other, named in names.items() if other != factor], y)
    own, own_freedom = max(0.0, without - main), main_rank - rank
    own = 0.0 if own < 1e-12 * total else own  # rounding, where another factor explains all
    p = math.nan
    if own_freedom and freedom > 0 and total > 0:
        per_chance = error / freedom
        p = f_tail(own / own_freedom / per_chance if per_chance > 0 else math.inf, own_freedom, freedom)
    share = math.nan if total == 0 else own / total if own_freedom else 0.0
    order = list(dict.fromkeys(names[factor]))
    means = {level: float(y[[name == level for name in names[factor]]].mean()) for level in order}
    return Effect(factor, share, p, means)


def _rest(factors: Sequence[Sequence[str]], y: FloatArray) -> tuple[float, int]:
    """The sum of squares that a model of these factors, one by one, leaves over; and how many numbers it fits."""
    if not y.size:
        return 0.0, 0
    columns = [np.ones(y.size)]
    for named in factors:
        columns += [
            np.array([name == level for name in named], dtype=float) for level in list(dict.fromkeys(named))[1:]
        ]
    design = np.stack(columns, axis=1)
    centred = y - y.mean()  # keeps small differences of large outcomes
    solution, _, rank, _ = np.linalg.lstsq(design, centred, rcond=1e-10)
    left = centred - design @ solution
    return float(left @ left), int(rank)


def _is_balanced(names: Mapping[str, list[str]], cells: Sequence[tuple[str, ...]]) -> bool:
    possible = math.prod(len(set(named)) for named in names.values())
    counts = {cells.count(cell) for cell in set(cells)}
    return len(set(cells)) == possible and len(counts) == 1
