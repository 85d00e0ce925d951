# SPDX-License-Identifier: BSD-3-Clause
"""Which engines there are, by name, and the clock on which each does what.

An engine is imported when it is loaded, so that a command which starts none begins at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from linklab.engine.api import Clock, Engine
from linklab.engine.wall import require_wall

ENGINES = ("host", "pocket")

REPLAY_CLOCK = {"pocket": Clock.VIRTUAL, "host": Clock.WALL}
"""The clock on which an engine replays what a manual says, unless another is asked for."""

TYPING_CLOCK = {"pocket": Clock.PACED, "host": Clock.WALL}
"""The clock on which people type."""


def clock_of(name: str | None, engine: str, defaults: Mapping[str, Clock]) -> Clock:
    """The clock that was asked for, or the engine's own; InputError if the host engine does not have it."""
    clock = defaults[engine] if name is None else Clock(name)
    if engine == "host":
        require_wall(clock)
    return clock


def load_engine(name: str) -> Engine:
    """The engine of that name, one of ENGINES."""
    if name == "host":
        from linklab.engine.host import HostEngine

        return HostEngine()
    from linklab.engine.pocket import PocketEngine

    return PocketEngine()
