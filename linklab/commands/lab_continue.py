# SPDX-License-Identifier: BSD-3-Clause
"""A lab that was begun in a folder before: asks whether to go on, and says what is there again and what is not."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from linklab.base.text import visible
from linklab.engine.api import Network
from linklab.errors import InputError
from linklab.guide.continuing import BroughtBack, LeftLab, bring_back, left_off
from linklab.guide.evidence import EditorEvidence, GuideEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import FileWant, plan_of
from linklab.guide.progress import FILE, FOLDER, LabProgress, damage_told
from linklab.guide.session import STEPS_FILE
from linklab.lab.model import Lab


def add_options(parser: argparse.ArgumentParser) -> None:
    """--continue and --anew; without either a person is asked."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--continue", dest="goes_on", action="store_true", help="go on where you were in this folder; do not ask"
    )
    what.add_argument(
        "--anew", action="store_true", help="begin the lab anew; the progress so far is kept under another name"
    )


def left_here(lab: Lab, folder: Path, args: argparse.Namespace) -> LeftLab | None:
    """How the lab was left in this folder, if it was begun there and the person wants to go on.

    Raises:
        InputError: the folder has the progress of another lab, or one that cannot be read.
    """
    path = folder / FOLDER / FILE
    try:
        if LabProgress.load(folder) is None:
            return None
    except InputError:
        if args.anew:
            _set_aside(path)
            return None
    progress = LabProgress.begin(folder, lab)  # refuses another lab's, and what cannot be read at all
    read = progress.read()
    if told := damage_told(str(path), read):
        print(f"linklab: {told}.", flush=True)
    evidence = [found for _, found in read.lines if found is not None]
    if all(_is_of_start(each) for each in evidence) and not (args.anew and read.damaged):
        return None
    if args.anew or not _goes_on(lab, evidence, args.goes_on):
        _set_aside(path)
        _carry_predictions(lab, folder, evidence)
        return None
    wanted = [want.path for step in plan_of(lab).steps for want in step.wants if isinstance(want, FileWant)]
    return left_off(evidence, wanted)


def _set_aside(path: Path) -> None:
    """Give the progress a name that the guide does not read, and say which. InputError if it cannot be renamed."""
    folder = path.parent
    number = next(n for n in range(1, 10**6) if not (folder / f"progress-{n}.jsonl").exists())
    kept = folder / f"progress-{number}.jsonl"
    try:
        path.rename(kept)
        (folder / STEPS_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be renamed: {error.strerror}") from error
    print(f"Beginning anew. The progress so far is kept as {kept.name} in {folder}.")


def _carry_predictions(lab: Lab, folder: Path, evidence: Sequence[GuideEvidence]) -> None:
    """Begin the new progress with what is known of predictions: whoever has measured once cannot predict again."""
    guide = Guide(lab)
    guide.see_all(evidence)
    carried = guide.predictions.carried()
    if carried:
        progress = LabProgress.begin(folder, lab)
        for each in carried:
            progress.add(each)


def bring_network_back(network: Network, left: LeftLab) -> BroughtBack:
    """Set the network as it was left, and tell the person; raises as `bring_back`."""
    began_s = time.monotonic()
    found = bring_back(network, left)
    print(f"The network was set as you left it, in {time.monotonic() - began_s:.1f} s:")
    _list(found.done or ["Nothing had been set in it."])
    missing = [*found.missing, *(f"{text} ran in a terminal of {node}; it does not now." for node, text in found.again)]
    if missing:
        print("What is not as it was:")
        _list(missing)
    return found


def _is_of_start(evidence: GuideEvidence) -> bool:
    """Whether somebody who has only started the lab leaves this."""
    return isinstance(evidence, EditorEvidence) or not hasattr(evidence, "text")


def _goes_on(lab: Lab, evidence: Sequence[GuideEvidence], decided: bool) -> bool:
    guide = Guide(lab)
    guide.see_all(evidence)
    steps = [step for step in guide.steps() if step.counts]
    done = sum(step.status.good for step in steps)
    following = guide.next_step()
    where = f"; the next is “{following.task.rstrip('.')}”, in {following.section}" if following else ""
    print(f"{lab.heading} was begun in this folder: {done} of {len(steps)} steps are done{where}.", flush=True)
    if decided or not sys.stdin.isatty():
        return True
    try:
        return not input("Go on there? [Y/n] ").strip().casefold().startswith("n")
    except EOFError:
        return True


def _list(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        print(f"  - {visible(sentence)}", flush=True)
