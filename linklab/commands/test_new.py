# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test new FILE`: a commented test to start from, which `linklab test check` passes as it is."""

from __future__ import annotations

import argparse
from pathlib import Path

from linklab.errors import InputError
from linklab.experiment.template import TEMPLATE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE`."""
    parser.add_argument("file", metavar="FILE", type=Path, help="to write; it ends in .toml")
    parser.epilog = "examples:\n  linklab test new mine.toml && linklab test check mine.toml\n"


def run(args: argparse.Namespace) -> int:
    """Write it, where there is no such file."""
    if args.file.suffix != ".toml":
        raise InputError(f"{args.file}: the file of a test ends in .toml")
    try:
        with args.file.open("x", encoding="utf-8") as out:
            out.write(TEMPLATE)
    except FileExistsError:
        raise InputError(f"{args.file}: it is there already; choose another name") from None
    except OSError as error:
        raise InputError(f"{args.file}: {error.strerror}") from error
    print(f"{args.file}: edit it, then: linklab test check {args.file}")
    return 0
