# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from linklab.engine.choice import ENGINES
from linklab.engine.profiles import PROFILES


def seed(text: str) -> int:
    """A seed as it is typed: a whole number from 0 to 2^64 - 1."""
    if not text.isascii() or not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed; use a whole number from 0 to 2^64 - 1")
    return int(text)


def add_exercises_option(parser: argparse.ArgumentParser) -> None:
    """Where exercises of one's own are; `linklab.exercise.places.searching` takes it."""
    parser.add_argument(
        "--exercises",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="a folder with exercises of your own, looked into first (also: the variable LINKLAB_EXERCISES)",
    )


def add_network_options(parser: argparse.ArgumentParser) -> None:
    """The options of whatever starts a network, but for its clock."""
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of all chance (default: 1)")
    add_engine_options(parser)


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Where a network runs, and what computing costs there."""
    parser.add_argument("--engine", choices=ENGINES, default="pocket", help="default: pocket")
    parser.add_argument(
        "--cpu",
        choices=list(PROFILES),
        default="desktop",
        help="what computing costs on the virtual and paced clocks (default: desktop)",
    )
