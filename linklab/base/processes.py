# SPDX-License-Identifier: BSD-3-Clause
"""How many processes work side by side on this machine."""

from __future__ import annotations

import os


def processors() -> int:
    """How many pockets run at once without getting in each other's way."""
    return len(os.sched_getaffinity(0))
