# SPDX-License-Identifier: BSD-3-Clause
"""Output of `linklab fairness` (fairness.sh, the concurrent_* scripts) → the indices it printed.

Called by `measure`. The line is that of linklab.commands.fairness; it must not compute an index itself.
"""

from __future__ import annotations

import re

from linklab.measure.series import Measurements, Quantity

_INDEX = re.compile(r"^fairness index: ([01]\.\d{5})$", re.MULTILINE)


def read_fairness(text: str, source: str = "") -> list[Measurements]:
    """One result for each index in the text, in the order of printing: `fairness.index`, 0 to 1."""
    return [
        Measurements({"fairness.index": Quantity(float(found[1]), "")}, {}, "fairness", source)
        for found in _INDEX.finditer(text)
    ]
