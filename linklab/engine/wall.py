# SPDX-License-Identifier: BSD-3-Clause
"""The wall clock as the only one of the host engine."""

from __future__ import annotations

from linklab import pocket_kernel
from linklab.engine.api import Clock
from linklab.errors import InputError


def require_wall(clock: Clock) -> None:
    """InputError for every other clock; it names the pocket as the way out where that runs."""
    if clock is not Clock.WALL:
        raise InputError(
            f"the host engine has no {clock.value} clock, since the machine's own time cannot be set: use --clock "
            f"wall{', or the pocket (--engine pocket)' if pocket_kernel.runs_here() else ''}"
        )
