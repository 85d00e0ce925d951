# SPDX-License-Identifier: BSD-3-Clause
"""`linklab kernel build|path|info`: build the pocket kernel, or say where it is and what it was made from."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import pocket_kernel

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab kernel build                                from the distribution's linux-source package
  linklab kernel build --source linux-7.3.tar.xz      from an archive of your own
  linklab kernel info
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab kernel`."""
    parser = subparsers.add_parser(
        "kernel",
        help=summary,
        description="Build the pocket kernel (once; about ten minutes on two processors), or say where it is. "
        "An installation brings one, which serves all users; one that is built goes to the user's cache.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("build", "path", "info"))
    parser.add_argument("--source", type=Path, metavar="FILE", help="build from this linux-X.Y.tar.xz")
    return parser


def run(args: argparse.Namespace) -> int:
    """Do it."""
    if args.what == "build":
        _build(args.source)
    elif args.what == "path":
        print(pocket_kernel.require().path)
    else:
        found = pocket_kernel.require()
        print(json.dumps({"path": str(found.path), **found.info}, indent=2))
    return 0


def _build(source: Path | None) -> None:
    found = pocket_kernel.find()
    if found is not None and source is None:
        print(f"pocket kernel {found.version} is built already: {found.path}", file=sys.stderr)
        return
    progress = _BuildProgress()
    from linklab.pocket_kernel.build import build

    built = build(progress.report, source)
    progress.end(f"pocket kernel {built.version} ({built.info['bytes'] / 1e6:.1f} MB) in {built.path.parent}")


class _BuildProgress:
    """One line that is rewritten on a terminal; a line a step and every tenth elsewhere."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.last = ""
        self.live = sys.stderr.isatty()

    def report(self, what: str, share: float | None) -> None:
        """Show what is being done."""
        step = "" if share is None else f" {int(share * 100):3d} %" if self.live else f" {int(share * 10) * 10} %"
        line = f"kernel: {what}{step}"
        if line == self.last:
            return
        self.last = line
        clock = f"[{time.monotonic() - self.started:4.0f} s] "
        print(
            f"\r\x1b[K{clock}{line}" if self.live else clock + line,
            end="" if self.live else "\n",
            file=sys.stderr,
            flush=True,
        )

    def end(self, line: str) -> None:
        """Close the line."""
        print(f"\r\x1b[K{line}" if self.live else line, file=sys.stderr, flush=True)
