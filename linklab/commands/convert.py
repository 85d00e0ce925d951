# SPDX-License-Identifier: BSD-3-Clause
"""`linklab convert`: networks of containerlab, Kathará and Mininet's Python ↔ .mn, and networks by template."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import InputError

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab convert campus.clab.yml campus.mn          from containerlab
  linklab convert two-networks/ two-networks.mn      from a Kathará folder, which has a lab.conf
  linklab convert mytopo.py net.mn --topo mytopo,3   from a file for mn --custom; runs it, so trust it
  linklab convert net.mn net.clab.yml                to containerlab
  linklab convert net.mn net-kathara                 to a folder for Kathará
  linklab convert old.mn new.mn --mend               a drawing as MiniEdit and Linklab would write it
  linklab convert --template dumbbell:3 net.mn       a network by template; --templates lists them

The name of a file decides its format. Whatever cannot be carried over is listed on standard error.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab convert`."""
    parser = subparsers.add_parser(
        "convert",
        help=summary,
        description="Convert a network from or to the format of another program, or draw one from a template.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="FROM", nargs="?", type=Path, help="what to read; not with --template")
    parser.add_argument("target", metavar="TO", nargs="?", type=Path, help="what to write")
    parser.add_argument("--topo", metavar="NAME[,N…]", default="", help="which topology of a .py, as for mn --topo")
    parser.add_argument("--template", metavar="NAME[:N…]", help="a network by template, such as fat-tree:4")
    parser.add_argument("--templates", action="store_true", help="list the templates and their numbers")
    parser.add_argument("--mend", action="store_true", help="mend the faults of the drawing, as Edit > Mend does")
    parser.add_argument("--force", action="store_true", help="write over a file that exists")
    return parser


def run(args: argparse.Namespace) -> int:
    """Convert, and list what was not carried over."""
    from linklab.exchange import kathara, read
    from linklab.exchange.carried import Carried
    from linklab.topology import templates
    from linklab.topology.mending import mend

    if args.templates:
        for one in templates.TEMPLATES:
            numbers = ",".join(f"{number.name}={number.default}" for number in templates.numbers_of(one))
            print(f"{f'{one.name}:{numbers}':<58} {one.help}")
        return 0
    paths = [path for path in (args.source, args.target) if path is not None]
    if len(paths) != (1 if args.template else 2):
        given = "--template NAME and TO" if args.template else "FROM and TO"
        raise InputError(f"give {given}; linklab convert --help has examples")
    target = paths[-1]
    if (target.is_file() or (target / kathara.CONF).is_file()) and not args.force:
        raise InputError(f"{target} exists; --force writes over it")
    found = Carried(templates.made(args.template), ()) if args.template else read.read(args.source, args.topo)
    topology, notes = found.topology, [*found.notes]
    if args.mend:
        topology, said = mend(topology)
        notes += said
    notes += read.save(topology, target)
    for note in notes:
        print(note, file=sys.stderr)
    print(f"{target}: {len(topology.nodes)} nodes, {len(topology.links)} links")
    return 0
