# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from __future__ import annotations

import argparse
import shlex
import stat
import sys
from pathlib import Path

from linklab.base.text import visible
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


def add_id_column_option(parser: argparse.ArgumentParser) -> None:
    """Which column of a roster holds the ids; `linklab.exercise.roster.read_roster` takes it."""
    parser.add_argument(
        "--id-column",
        metavar="NAME|N",
        default="",
        help="the roster's column of ids, by its heading or its number from 1 (default: the first known heading)",
    )


def warn_of_readers(course: Path) -> None:
    """Say on standard error that others can read the secret in a course file, if they can."""
    if course.is_file() and course.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        name = shlex.quote(visible(str(course), keep=""))
        words = f"others on this machine can read the secret in it; chmod 600 {name} makes it yours alone"
        print(f"linklab: {visible(str(course), keep='')}: {words}", file=sys.stderr)


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
