# SPDX-License-Identifier: BSD-3-Clause
"""`linklab sweep FILE` in a terminal of a network: the same sweep, each test on the network that runs.

A network has one seed, so repetitions follow each other in it and have none of their own. What sets the network up for
a combination stands in the file as `before`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linklab.base import claims
from linklab.commands.flent_batch import one_by_one
from linklab.commands.flent_voice import Voice
from linklab.commands.sweep import about_sweep, do_rounds, report, with_lengths
from linklab.commands.trials import TrialsSession, folder_for, shuffle_seed
from linklab.commands.trials_view import duration
from linklab.errors import InputError
from linklab.experiment import sweep
from linklab.experiment.inside import Inside, run_whole
from linklab.experiment.model import Expanded, Trial
from linklab.experiment.runner import ListProgress, TrialTask
from linklab.experiment.running import HERE, Ground, RunningChoice, ground_of, prepare_on
from linklab.experiment.sweep import Looked, Rounds, unknown
from linklab.experiment.sweep_file import load_sweep
from linklab.experiment.trial_folder import opened
from linklab.experiment.trial_list import ListedTrial, as_name


class SaidView:
    """Says a line for each trial that has ended, with nothing that depends on the machine."""

    def __init__(self, progress: ListProgress, voice: Voice) -> None:
        self.progress, self.voice = progress, voice

    def changed(self, task: TrialTask | None) -> None:
        """As `TrialsWatcher.changed`."""
        if task is not None and task.state not in ("waiting", "running"):
            ended = len(self.progress.tasks) - self.progress.count("waiting", "running")
            why = f": {task.why}" if task.why else ""
            self.voice.say(f"{ended}/{len(self.progress.tasks)} {task.entry.label}: {task.state}{why}")

    def end(self, wall_s: float) -> None:
        """As `TrialsWatcher.end`: the findings say the rest."""


def run(args: argparse.Namespace) -> int:
    """Do the sweep on the network that runs."""
    if args.cluster is not None or args.jobs not in (None, 1):
        raise InputError("one test at a time runs on a network; leave --jobs and --cluster out")
    voice = Voice(quiet=args.quiet)
    found = load_sweep(args.file, here=True)
    with Inside() as door:
        node = door.node
        entries = sweep.checked(found)
        first = _expanded(entries, door, node)
    firsts = {
        tuple(cell.values()): replace(entry, network_s=each.total_s)
        for cell, entry, each in zip(found.cells(), entries, first, strict=True)
    }
    sweep.check_windows(found, list(firsts.values()))
    for sentence in (*unknown(found, first[0]), *sweep.doubtful(found)):
        voice.complain(f"linklab: {sentence}")
    seed = shuffle_seed(args)
    rounds = Rounds(found, seed)
    due = with_lengths(rounds.next(), firsts)
    dry = args.check or args.dry_run
    for line in about_sweep(found, _takes(due), dry=dry):
        voice.say(line)
    if args.dry_run:
        for entry in due:
            voice.say(f"would run {entry.label} → {entry.file}")
    if dry:
        return 0
    factors = {name: list(levels) for name, levels in found.factors.items()}
    about = {"what": "sweep", "factors": factors, "shuffle_seed": seed}
    return _do(rounds, firsts, _At(_folder(args), about, node), voice)


@dataclass(frozen=True)
class _At:
    """Where a sweep is done: its folder, what the folder's journal says of it, the node whose terminal this is."""

    folder: Path
    about: Mapping[str, Any]
    node: str


def _do(rounds: Rounds, firsts: dict[tuple[str, ...], ListedTrial], at: _At, voice: Voice) -> int:
    """Run it, write its report, and say what was found."""

    def one(trial: Trial, file: Path, tell: Any) -> Path:
        with Inside() as door:
            return run_whole(replace(trial, source=trial.source or at.node), file, door, tell)

    progress = ListProgress()
    try:
        with opened(at.folder, at.about) as kept:
            deal = one_by_one(one, voice, Looked(rounds.sweep.measures))
            doing = TrialsSession(kept, deal, progress, SaidView(progress, voice))
            do_rounds(rounds, doing, firsts)
    except KeyboardInterrupt:
        voice.complain(f"linklab: stopped; go on with --resume {at.folder}")
        raise
    for line in report(rounds, at.folder):
        voice.say(line)
    return 0 if doing.all_well and not rounds.lacking() else 1


def _expanded(entries: Sequence[ListedTrial], door: Inside, node: str) -> list[Expanded]:
    """What each combination's test is on this network.

    Raises:
        InputError: one of them cannot be; the message names it.
    """
    grounds: dict[tuple[str, ...], Ground] = {}
    made = []
    for entry in entries:
        ends = (entry.trial.source or node, *entry.trial.targets)
        try:
            if ends not in grounds:
                grounds[ends] = ground_of(door, ends[0], ends[1:])
            made.append(prepare_on(entry.trial, grounds[ends], HERE, RunningChoice()).expanded)
        except InputError as error:
            raise InputError(f"{entry.label}: {error}") from error
    return made


def _takes(entries: Sequence[ListedTrial]) -> str:
    trials = "1 trial" if len(entries) == 1 else f"{len(entries)} trials"
    return f"{trials}, one after the other: {duration(sum(entry.network_s for entry in entries))} of network time."


def _folder(args: argparse.Namespace) -> Path:
    """Where the results go: in the working folder, as long as nothing else is asked for."""
    if args.resume is None and args.out is None:
        return claims.make_new(Path(f"sweep-{as_name(args.file.stem)}"))
    return folder_for(args, "")
