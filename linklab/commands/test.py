# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test VERB`: named tests of a network, and what came of them.

A verb is a module with `add_arguments(parser) -> None` and `run(args) -> int`, listed in VERBS and imported only when
it is the one asked for.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linklab.commands import Subparsers

VERBS = {
    "run": ("linklab.commands.test_run", "run a test on a path or a topology, and write its data file"),
    "selftest": ("linklab.commands.test_selftest", "run every test for a few seconds and name what gives no data"),
    "list": ("linklab.commands.test_list", "the tests by family"),
    "show": ("linklab.commands.test_show", "what a test shows, its parameters, flows and plots"),
    "check": ("linklab.commands.test_check", "whether a file describes a test, and what is wrong with it"),
    "new": ("linklab.commands.test_new", "write a commented file to start a test of your own from"),
    "summary": ("linklab.commands.test_summary", "mean, median, and 99th percentile; over repetitions with intervals"),
    "stats": ("linklab.commands.test_stats", "every usual statistic of each series"),
    "plot": ("linklab.commands.test_plot", "a test's plots of one or several data files"),
    "csv": ("linklab.commands.test_csv", "the series at common times, or their samples, for other programs"),
}
"""Verb → its module, and its line in the list."""

_EPILOG = """examples:
  linklab test run tcp_1up --path "10mbit 50ms fq_codel"
  linklab test list                    every test, by family
  linklab test show rrul               what it shows and what can be chosen
  linklab test new mine.toml           a file to start from
  linklab test check mine.toml
  linklab test summary rrul.flent.gz   what was measured, in numbers

docs/tests.md describes all of it.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `test VERB`; a verb's arguments are added when it is the one that is used."""
    parser = subparsers.add_parser(
        "test",
        help=summary,
        description="Named tests of a network, after those of Flent: what there is, and what each needs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (module, line) in VERBS.items():
        verb = verbs.add_parser(
            name,
            help=line,
            description=f"{line[0].upper()}{line[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.later = _adder(module)
        verb.set_defaults(verb_module=module)
    return parser


def _adder(module: str) -> Callable[[argparse.ArgumentParser], None]:
    """What adds the arguments of a verb, and imports its module only then."""

    def add(parser: argparse.ArgumentParser) -> None:
        importlib.import_module(module).add_arguments(parser)

    return add


def run(args: argparse.Namespace) -> int:
    """Do what the verb says."""
    code: int = importlib.import_module(args.verb_module).run(args)
    return code
