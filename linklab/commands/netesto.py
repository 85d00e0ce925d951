# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto VERB`: campaigns in the script language of Netesto.

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
    "run": ("linklab.commands.netesto_run", "run the experiments of a script, or print what it would do"),
    "check": ("linklab.commands.netesto_check", "everything that is wrong with a script, each with its place"),
    "macros": ("linklab.commands.netesto_macros", "the macros of the library or of a script, with their arguments"),
    "library": ("linklab.commands.netesto_library", "the scripts that SOURCE finds everywhere, or one of them"),
    "csv": ("linklab.commands.netesto_csv", "exp.csv of a campaign, made anew from the folders of its experiments"),
    "page": ("linklab.commands.netesto_page", "the pages of experiments, made anew from their folders"),
    "counters": ("linklab.commands.netesto_counters", "which counters of the hosts grew during an experiment"),
    "table": ("linklab.commands.netesto_table", "tables and plots of a campaign, by a table script, as a page"),
}
"""Verb → its module, and its line in the list."""

_EPILOG = """examples:
  linklab netesto library script.basic > mine      a script to start from
  linklab netesto check mine
  linklab netesto run -n mine                      every command with its time; nothing runs
  linklab netesto macros                           what there is to RUN
  linklab netesto table demo.exp                   the tables and plots of a table script, as demo.html

docs/netesto.md describes the language and all that comes of it.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `netesto VERB`; a verb's arguments are added when it is the one that is used."""
    parser = subparsers.add_parser(
        "netesto",
        help=summary,
        description="Campaigns of experiments in the script language of Netesto.",
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
