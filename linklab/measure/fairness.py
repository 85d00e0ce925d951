# SPDX-License-Identifier: BSD-3-Clause
"""Output of `linklab fairness` (fairness.sh, the concurrent_* scripts) → the indices and variations it printed.

The lines are those of linklab.commands.fairness; it must not compute an index itself.
"""

from __future__ import annotations

import math
import re

from linklab.measure.reading import decimal
from linklab.measure.series import Measurements, Quantity

_INDEX = re.compile(
    r"^fairness index: (?P<index>[01]\.[0-9]{5})$(?:\ncoefficient of variation: (?P<variations>[0-9a-z., ]+)$)?",
    re.MULTILINE,
)


def read_fairness(text: str, source: str = "") -> list[Measurements]:
    """One result for each index in the text, in the order of printing.

    Scalars: fairness.index, 0 to 1; fairness.variation.N of the flow in row N of the table, fairness.variation.mean of
    those that are known.

    Raises:
        DataError: a variation is no number.
    """
    return [_result(found, source) for found in _INDEX.finditer(text)]


def _result(found: re.Match[str], source: str) -> Measurements:
    scalars = {"fairness.index": Quantity(decimal(found["index"], f"{source}: fairness index"), "")}
    words = (found["variations"] or "").split(", ")
    known = {
        number: decimal(word, f"{source}: coefficient of variation")
        for number, word in enumerate(words, 1)
        if word not in ("", "unknown")
    }
    scalars |= {f"fairness.variation.{number}": Quantity(value, "") for number, value in known.items()}
    if known:
        scalars["fairness.variation.mean"] = Quantity(math.fsum(known.values()) / len(known), "")
    return Measurements(scalars, {}, "fairness", source)
