# SPDX-License-Identifier: BSD-3-Clause
"""The functions of the language: which units they take and give, and their value.

Formulas are those of `linklab.analysis`; docs/writing-an-exercise.md lists the functions ("Expressions").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from linklab.analysis import formulas
from linklab.judge.dimension import PLAIN

SEGMENT_BYTES = 1448
"""Payload of a full segment with time stamps: 1500 - 40 - 12 (RFC 9293 §3.7.1, RFC 7323 §3)."""

Numbers = Sequence[float]


@dataclass(frozen=True)
class Function:
    """What a function takes and gives.

    takes: the units of its arguments, one tuple for each way to call it; None: one or more of any one unit.
    gives: unit of the value; None: that of the arguments.
    most: the largest number of arguments where `takes` is None.
    value: of the arguments in base units; ValueError or OverflowError outside of where it is defined.
    """

    value: Callable[[Numbers], float]
    takes: tuple[tuple[str, ...], ...] | None = None
    gives: str | None = None
    most: int | None = None

    def unit(self, units: Sequence[str]) -> str | None:
        """The unit of the value for arguments in these units; None if it does not take them."""
        if self.takes is not None:
            return self.gives if tuple(units) in self.takes else None
        if not units or len(set(units)) > 1 or (self.most is not None and len(units) > self.most):
            return None
        return self.gives or units[0]


def _goodput(numbers: Numbers) -> float:
    mtu_bytes = round(numbers[1]) if len(numbers) > 1 else 1500
    return formulas.goodput_limit(numbers[0], mtu_bytes=mtu_bytes)


FUNCTIONS: Mapping[str, Function] = {
    "bdp": Function(lambda x: formulas.bdp_bytes(x[0], x[1]), (("bit/s", "s"),), "bytes"),
    "goodput": Function(_goodput, (("bit/s",), ("bit/s", PLAIN), ("bit/s", "bytes")), "bit/s"),
    "mathis": Function(lambda x: formulas.mathis_bps(SEGMENT_BYTES, x[0], x[1]), (("s", PLAIN),), "bit/s"),
    "jain": Function(formulas.jain_index, gives=PLAIN),
    "sqrt": Function(lambda x: math.sqrt(x[0]), ((PLAIN,),), PLAIN),
    "round": Function(lambda x: float(round(x[0])), most=1),
    "ceil": Function(lambda x: float(math.ceil(x[0])), most=1),
    "abs": Function(lambda x: abs(x[0]), most=1),
    "min": Function(min),
    "max": Function(max),
}
