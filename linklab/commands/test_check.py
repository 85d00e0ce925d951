# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test check FILE…`: whether each describes a test; else what is wrong, where, and what to do."""

from __future__ import annotations

import argparse

from linklab.base.text import visible
from linklab.commands.test_show import given
from linklab.errors import LinklabError
from linklab.experiment.expand import expand
from linklab.experiment.test_file import SeveralError, load_test


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE… [-P KEY=VALUE]…`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="TOML file of a test, or a test's name")
    parser.add_argument(
        "-P",
        "--test-parameter",
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="check it with this parameter; may be given again",
    )
    parser.epilog = "examples:\n  linklab test check mine.toml\n  linklab test check mine.toml -P upload_streams=100\n"


def run(args: argparse.Namespace) -> int:
    """Check each; 2 if one is wrong."""
    parameters = given(args.parameters)
    code = 0
    for name in args.files:
        try:
            test = load_test(name)
            if test.impossible:
                print(visible(f"{name}: cannot be run: {test.impossible}"))
                continue
            found = expand(test, parameters)
        except LinklabError as error:
            for fault in error.each if isinstance(error, SeveralError) else [str(error)]:
                print(visible(fault))
            code = error.exit_code
        else:
            print(visible(f"{name}: {len(found.flows)} flows, {len(found.derived)} derived, {len(found.plots)} plots"))
    return code
