# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto counters FOLDER`: which counters of the hosts grew during an experiment, and what they mean."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

_EPILOG = """examples:
  linklab netesto counters mine/7              of all hosts: connections, losses, and errors
  linklab netesto counters mine/7 --host h1    of one host
  linklab netesto counters mine/7 --all        everything that changed

The counters are those of /proc/net (snmp, snmp6, netstat), of the interfaces and of the queueing disciplines, read
before and after the experiment on its servers and on clients with stats=1.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FOLDER [--host NAME] [--all]`."""
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="of an experiment")
    parser.add_argument("--host", metavar="NAME", action="append", default=[], help="this host; may be given again")
    parser.add_argument("--all", action="store_true", help="every counter that changed")
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Print what changed."""
    from linklab.netesto.counters import table_text

    sys.stdout.write(table_text(args.folder, args.host, everything=args.all))
    return 0
