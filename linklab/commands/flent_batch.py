# SPDX-License-Identifier: BSD-3-Clause
"""`flent -B FILE [-b NAME]…` in a terminal of a network: the batches of a file, each test on the network that runs.

One test after the other, in this process; lists, names and the journal are those of `linklab batch`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab.base.text import one_line
from linklab.commands.console import make_console
from linklab.commands.flent import INTERRUPTED
from linklab.commands.flent_options import batch_overrides
from linklab.commands.trials import show
from linklab.errors import InputError, LinklabError, MissingError
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.batch import BatchChoice, BatchList, batch_list
from linklab.experiment.batch_file import read_batch_files
from linklab.experiment.expand import expand
from linklab.experiment.inside import Inside, run_whole
from linklab.experiment.model import Trial
from linklab.experiment.runner import Deal, Happened, ListProgress, TrialTask, run_entries
from linklab.experiment.running import HERE
from linklab.experiment.test_file import load_test
from linklab.experiment.trial_folder import opened
from linklab.experiment.trial_list import ListedTrial, as_name
from linklab.experiment.trial_work import Look, TrialSettings, bundled, work

if TYPE_CHECKING:
    from linklab.commands.flent import Words
    from linklab.commands.flent_voice import Voice


def run(args: argparse.Namespace, words: Words, voice: Voice) -> int:
    """Make the list and show it or run it."""
    if not args.batch_files:
        raise InputError("-b: in which batch file? Give it with -B")
    if words.test or words.files:
        raise InputError("give either a batch or a test, not both")
    found = listed(args)
    for sentence in found.unused:
        voice.complain(f"flent: {sentence}")
    refuse_wrong(found.entries)
    if args.batch_dry_run:
        show(make_console(), found.entries, verbose=args.batch_verbose)
        return 0
    folder = args.batch_resume or args.data_dir / f"{_name(found)}-{time.strftime('%Y-%m-%dT%H%M%S')}"
    if args.batch_resume is not None and not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder, so nothing can be resumed")
    folder.mkdir(parents=True, exist_ok=True)
    with Inside() as door:
        source = next(iter(args.local_bind), door.node)

    def one(trial: Trial, file: Path, tell: Any) -> Path:
        here = replace(trial, source=trial.source or source, targets=trial.targets or tuple(words.hosts))
        with Inside() as door:
            return run_whole(here, file, door, tell)

    progress = ListProgress()
    about = {"batches": sorted({entry.trial.extra["BATCH_NAME"] for entry in found.entries})}
    try:
        with opened(folder, about) as kept:
            tasks = run_entries(found.entries, kept, one_by_one(one, voice), progress, lambda task: _say(task, voice))
    except KeyboardInterrupt:
        voice.complain(f"flent: stopped; the same command with --batch-resume {folder} goes on")
        return INTERRUPTED
    voice.say(f"{sum(task.state in ('done', 'gaps') for task in tasks)} of {len(tasks)} data files are in {folder}")
    return 0 if all(task.state == "done" for task in tasks) else 1


def listed(args: argparse.Namespace) -> BatchList:
    """The trials, each on the network that runs.

    Raises:
        InputError: a batch is wrong, or wants another network.
    """
    order = None if args.batch_no_shuffle else 1
    found = batch_list(
        read_batch_files(args.batch_files), BatchChoice(tuple(args.batches), batch_overrides(args), HERE, order)
    )
    for entry in found.entries:
        where = entry.trial.topology or (entry.trial.path if entry.trial.path != HERE else "")
        if where:
            raise InputError(
                f"{entry.label}: it is to run on {where}, and here is only the network that runs: "
                "leave path and topology out, or use linklab batch on your machine"
            )
        if any(command.on_host for command in entry.trial.commands):
            raise InputError(
                f"{entry.label}: a command of it is for the machine outside, which cannot be reached from here; "
                "use linklab batch there, or write where = network"
            )
    return found


def refuse_wrong(entries: Sequence[ListedTrial]) -> None:
    """Refuse a test or a parameter that cannot be, before anything runs.

    Raises:
        InputError: the message names the trial.
        MissingError: the pocket kernel lacks a congestion control.
    """
    known = set()
    for entry in entries:
        trial = entry.trial
        key = repr((trial.test, trial.parameters, trial.length_s, trial.step_s))
        if key in known:
            continue
        known.add(key)
        try:
            test = load_test(trial.test)
            expanded = expand(test, trial.parameters, length_s=trial.length_s, step_s=trial.step_s)
            if os.environ.get("LINKLAB_ENGINE") != "host":
                refuse_missing(expanded, "pocket")
        except (InputError, MissingError) as error:
            raise type(error)(f"{entry.label}: {error}") from error


def _name(found: BatchList) -> str:
    names = dict.fromkeys(str(entry.trial.extra["BATCH_NAME"]) for entry in found.entries)
    return as_name("-".join(names))[:100]


def one_by_one(run_one: Callable[[Trial, Path, Any], Path], voice: Voice, look: Look | None = None) -> Deal:
    """Has trials done one after the other in this process; `look` reads numbers in the data of each."""

    def deal(entries: Sequence[tuple[int, ListedTrial]], scratch: Path) -> Iterator[Happened]:
        folder = scratch.resolve()
        for number, entry in entries:
            yield "began", number, None
            began = time.perf_counter()
            place = folder / str(number)
            place.mkdir()
            try:
                bundle = bundled(entry)  # its files are named from the folder in which the person is
                with _in(place):
                    came: Any = work(bundle, place, TrialSettings(run_one, look=look), voice.progress)
            except LinklabError as error:
                came = error
            yield "ended", number, (came, time.perf_counter() - began)

    return deal


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    """Work in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _say(task: TrialTask | None, voice: Voice) -> None:
    if task is not None and task.state not in ("waiting", "running"):
        voice.say(f"{task.entry.label}: {task.state}{f', {one_line(task.why)}' if task.why else ''}")
