# SPDX-License-Identifier: BSD-3-Clause
"""`linklab record`: replay a lab and make the run its reference, or take an earlier run; says what changed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation
from linklab.commands.run import add_run_options, replay
from linklab.commands.several import chosen, run_several
from linklab.errors import InputError
from linklab.lab.fidelity import write_fidelity
from linklab.lab.model import find_lab, load_lab
from linklab.lab.saved import SavedRun, load_run
from linklab.run.record import record
from linklab.terminal.screen import ends_orderly

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab record 14
  linklab record 14 --seed 2
  linklab record all
  linklab record runs/lab14-20260131-142530-seed1    an earlier run, also of another machine

Writes labs/NN-slug/reference/, from which the manual takes its outputs, numbers and plots,
and renews docs/fidelity.md.  A run that does not meet its expectations is never recorded, nor one of other steps than
the manual has now.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `record LAB`."""
    parser = subparsers.add_parser(
        "record",
        help=summary,
        description="Replay a lab and make what it showed the reference that its manual quotes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_run_options(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Replay, record, print the changes.

    LabError if the run of the one lab is not good enough; 1 if that of one of several is not.
    """
    with ends_orderly():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    if args.engine != "pocket":
        raise InputError("a reference must come out the same for everybody, so only the pocket makes one")
    if (Path(args.lab) / "run.json").is_file():
        return _record_saved(load_run(Path(args.lab)))
    several = chosen(args.lab)
    folders = [find_lab(args.lab)] if several is None else several
    ours = _are_ours(folders)
    if several is None:
        good = True
        _print(record(load_lab(folders[0]), replay(args, None)))
    else:
        tasks, _ = run_several(args, folders, recording=True)
        good = all(task.changes is not None for task in tasks)
        for task in tasks:
            if task.changes is not None:
                print(f"{task.lab.heading}:")
                _print(task.changes)
    if ours:
        write_fidelity()
    return 0 if good else 1


def _record_saved(run: SavedRun) -> int:
    folder = find_lab(run.slug)
    ours = _are_ours([folder])
    _print(record(load_lab(folder), run))
    if ours:
        write_fidelity()
    return 0


def _are_ours(folders: Sequence[Path]) -> bool:
    """Whether references of the clone are to be written; refused where there is no clone."""
    ours = any(folder.resolve().parent == installation.ROOT / "labs" for folder in folders)
    if ours:
        installation.refuse_installed("recording")
    return ours


def _print(changes: Sequence[str]) -> None:
    print("\n".join(changes) if changes else "nothing changed noticeably")
