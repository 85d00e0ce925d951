# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share: which engine, which seed. Imports no engine and no lab."""

from __future__ import annotations

import argparse
import importlib
from typing import cast

from linklab.engine.api import Engine
from linklab.errors import MissingError

ENGINES = {"pocket": ("linklab.engine.pocket", "PocketEngine")}


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
