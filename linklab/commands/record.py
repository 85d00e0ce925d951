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
from linklab.lab.fidelity import PATH as FIDELITY
from linklab.lab.fidelity import write_fidelity
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.reference import folder_of
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

Writes labs/NN-slug/reference/, from which the manual takes its outputs, numbers and plots, and renews docs/fidelity.md.
A run is recorded only if it meets all expectations of its lab and did the steps that the manual has now.

The options say how a lab is replayed. They do not apply to an earlier RUN, which is recorded as it is.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `record LAB|RUN`."""
    parser = subparsers.add_parser(
        "record",
        help=summary,
        description="Replay a lab, or take the folder of an earlier RUN, and make what it showed the reference that "
        "the manual of the lab quotes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_run_options(
        parser,
        metavar="LAB|RUN",
        words='number, folder name or path of a lab; several: "5-7,10", "all"; or the folder of an earlier run',
    )
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
    if not args.lab:
        raise InputError("the name of the lab is empty text; give the number of a lab, or the folder of a run")
    if "/" in args.lab and not Path(args.lab).exists():
        raise InputError(f"{args.lab}: there is no such folder; give the number of a lab, or the folder of a run")
    if _is_run(args.lab):
        return _record_saved(load_run(args.lab))
    several = chosen(args.lab)
    folders = [find_lab(args.lab)] if several is None else several
    ours = _are_ours(folders)
    recorded: list[Lab] = []
    if several is None:
        good = True
        lab = load_lab(folders[0])
        _print(record(lab, replay(args, None)[0]))
        recorded.append(lab)
    else:
        tasks, _ = run_several(args, folders, recording=True)
        good = all(task.changes is not None for task in tasks)
        for task in tasks:
            if task.changes is not None:
                print(f"{task.lab.heading}:")
                _print(task.changes)
                recorded.append(task.lab)
    _finish(recorded, ours=ours)
    return 0 if good else 1


def _is_run(name: str) -> bool:
    """Whether the argument is the folder of a run, whole or not."""
    return any((Path(name) / file).is_file() for file in ("run.json", "incomplete.json"))


def _record_saved(run: SavedRun) -> int:
    folder = find_lab(run.slug)
    ours = _are_ours([folder])
    lab = load_lab(folder)
    _print(record(lab, run))
    _finish([lab], ours=ours)
    return 0


def _finish(recorded: Sequence[Lab], *, ours: bool) -> None:
    """Renew docs/fidelity.md where the labs are those of the clone, and say what was recorded."""
    if ours:
        write_fidelity()
    for lab in recorded:
        written = [folder_of(lab), *([FIDELITY] if ours else [])]
        print(f"recorded as the reference of Lab {lab.number}: {', '.join(map(_short, written))}")


def _short(path: Path) -> str:
    """The path from the working directory where it lies below that, else whole."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _are_ours(folders: Sequence[Path]) -> bool:
    """Whether references of the clone are to be written; refused where there is no clone."""
    ours = any(folder.resolve().parent == installation.ROOT / "labs" for folder in folders)
    if ours:
        installation.refuse_installed("recording")
    return ours


def _print(changes: Sequence[str]) -> None:
    print("\n".join(changes) if changes else "nothing changed noticeably")
