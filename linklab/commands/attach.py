# SPDX-License-Identifier: BSD-3-Clause
"""`linklab attach`: a terminal of a running network in this terminal."""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import one_line
from linklab.errors import InputError
from linklab.terminal import attach
from linklab.terminal.screen import Screen, ends_orderly

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab attach h1                 a shell on h1 of the running network
  linklab attach                    a shell in the root namespace, the same as `linklab attach client`
  linklab attach --list             which networks run
  linklab attach r1 --network 2

Of several networks, that of the folder you are in is taken. Without a terminal (linklab attach h1 < commands) the lines
are typed, and the shell ends when they do.

The shell ends with exit or Ctrl+D; its exit status becomes this command's. Ctrl+] opens the clock's prompt, also while
time is paused (help there says what it understands). Exits with 2 where there is no such network or node.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab attach`."""
    parser = subparsers.add_parser(
        "attach",
        help=summary,
        description="Open a shell of a network that `linklab shell` runs in another terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "node", metavar="NODE", nargs="?", default="client", help="a node, client (default) or mininet (the CLI)"
    )
    parser.add_argument(
        "--network", metavar="ID", help="which network (default: the one of this folder, or the only one)"
    )
    parser.add_argument("--list", action="store_true", help="list the running networks")
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """List, or open the terminal; the exit status of its shell.

    Raises:
        InputError: no such network or node, or this is a terminal inside one.
    """
    if os.environ.get("LINKLAB_INSIDE"):  # networks are listed by sockets on the host, which are not seen here
        what = "--list" if args.list else args.node
        here = f" ({os.environ['LINKLAB_NODE']})" if "LINKLAB_NODE" in os.environ else ""
        raise InputError(
            f"this terminal{here} is inside a network already; "
            f"type `linklab attach {what}` in another terminal of your machine"
        )
    if args.list:
        _list(as_json=args.json)
        return 0
    connection = attach.connect(args.network, Path.cwd())
    try:
        with ends_orderly():
            return Screen(connection, args.node).show()
    finally:
        connection.close()


def _list(*, as_json: bool) -> None:
    there = [{key: value for key, value in entry.items() if key != "event"} for entry in attach.networks()]
    if as_json:
        print(json.dumps(there, indent=2))
        return
    if not there:
        print("no network is running")
    for entry in there:
        since = time.strftime("%H:%M:%S", time.localtime(entry["started"]))
        print(f"{entry['id']}  {one_line(entry['name'])}  since {since}, process {entry['pid']}")
        print(f"   terminals: client {' '.join(entry['nodes'])}")
        if "clock" in entry:
            print(f"   {entry['clock']}")
