# SPDX-License-Identifier: BSD-3-Clause
"""Output of nstat → the kernel's network counters that it printed, by the kernel's names.

nstat(8) prints what was added since its last call, or with -a since the start; which of the two a listing is does not
show in it.
"""

from __future__ import annotations

import re

from linklab.measure.reading import decimal
from linklab.measure.series import Measurements, Quantity

_LISTING = re.compile(r"^#kernel\n(?:[A-Z]\w+ +\d+ +\d+\.\d+ *(?:\n|\Z))+", re.MULTILINE | re.ASCII)
_COUNTER = re.compile(r"^([A-Z]\w+) +(\d+) +\d+\.\d+ *$", re.MULTILINE | re.ASCII)


def read_nstat(text: str, source: str = "") -> list[Measurements]:
    """One result for each listing in the text: nstat.NAME for each counter, without unit.

    Raises:
        DataError: a counter is larger than any of the kernel's.
    """
    return [
        Measurements(
            {f"nstat.{name}": Quantity(decimal(count, source), "") for name, count in _COUNTER.findall(listing[0])},
            {},
            "nstat",
            source,
        )
        for listing in _LISTING.finditer(text)
    ]
