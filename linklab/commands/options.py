# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share: which engine, which seed. Imports no engine and no lab."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Mapping
from typing import cast

from linklab.engine.api import Clock, Engine, require_wall
from linklab.errors import MissingError

ENGINES = {"pocket": ("linklab.engine.pocket", "PocketEngine"), "host": ("linklab.engine.host", "HostEngine")}


REPLAY_CLOCK = {"pocket": Clock.VIRTUAL, "host": Clock.WALL}
"""The clock on which an engine replays what a manual says, unless another is asked for."""

TYPING_CLOCK = {"pocket": Clock.PACED, "host": Clock.WALL}
"""The clock on which people type."""


def clock_of(name: str | None, engine: str, defaults: Mapping[str, Clock]) -> Clock:
    """The clock that was asked for, or the engine's own; InputError if the host engine has none such."""
    clock = defaults[engine] if name is None else Clock(name)
    if engine == "host":
        require_wall(clock)
    return clock


def load_engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        MissingError: this version has none.
    """
    module, factory = ENGINES[name]
    try:
        return cast(Engine, getattr(importlib.import_module(module), factory)())
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingError(f"the {name} engine is not part of this version of Linklab") from error


def seed(text: str) -> int:
    """A seed as it is typed: a whole number from 0 to 2^64 - 1."""
    if not text.isascii() or not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed; use a whole number from 0 to 2^64 - 1")
    return int(text)
