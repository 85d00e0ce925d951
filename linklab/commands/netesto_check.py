# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto check FILE…`: everything that is wrong with a script, where, and what to do; nothing runs."""

from __future__ import annotations

import argparse

from linklab.base.text import counted, visible
from linklab.commands.netesto_script import add_script_options, expanded, other_kind, script_file
from linklab.errors import LinklabError
from linklab.netesto.expand import Expansion, ScriptError
from linklab.netesto.experiments import experiments
from linklab.netesto.lines import in_order
from linklab.netesto.sound import lacking_algorithms, refuse_unsound

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE… [-D NAME=VALUE]… [--search FOLDER]… [--seed N]`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a script, or the name of one of the library")
    add_script_options(parser)
    parser.epilog = "examples:\n  linklab netesto check mine\n  linklab netesto check mine -D dur=10 --search ../lib\n"


def run(args: argparse.Namespace) -> int:
    """Check each; 2 if one is wrong."""
    code = 0
    for name in args.files:
        try:
            found = expanded(name, args)
            summary = _summary(found)
        except ScriptError as error:
            for problem in in_order([*error.problems, *lacking_algorithms(error.algorithms)]):
                print(visible(str(problem)))
            if hint := other_kind(script_file(name)):
                print(visible(f"{name}: {hint}"))
            code = error.exit_code
        except LinklabError as error:
            print(visible(str(error)))
            code = error.exit_code
        else:
            for note in found.notes:
                print(visible(f"note: {note}"))
            print(visible(f"{name}: {summary}"))
            if not any(command.word == "DO_CLIENT" for command in found.commands):
                print(visible(f"note: {name}: no DO_CLIENT is reached, so the script starts no flows"))
    return code


def _summary(found: Expansion) -> str:
    """How much there is, in a line.

    Raises:
        ScriptError: the commands make no experiments.
    """
    all_of_them = experiments(found)
    refuse_unsound(found)
    flows = sum(group.instances for each in all_of_them for group in each.groups)
    length_s = sum(each.length_s for each in all_of_them)
    return f"{counted(len(all_of_them), 'experiment')}, {counted(flows, 'flow')}, {_time(length_s)} of network time"


def _time(seconds: float) -> str:
    for unit, name in ((_DAY_S, "days"), (_HOUR_S, "hours"), (_MINUTE_S, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.3g} second{'' if seconds == 1 else 's'}"
