# SPDX-License-Identifier: BSD-3-Clause
"""How many processes this program may run side by side."""

from __future__ import annotations

import os


def processors() -> int:
    """Return how many processors this process may use: so many pockets or compilers do not slow each other down."""
    return len(os.sched_getaffinity(0))
