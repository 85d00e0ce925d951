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
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab.base.text import one_line
from linklab.commands.console import make_console
from linklab.commands.flent import INTERRUPTED, choice_of, parameters_of, with_source
from linklab.commands.flent_options import batch_overrides
from linklab.commands.trials import show
from linklab.errors import InputError, LinklabError, MissingError
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.batch import BatchChoice, BatchList, batch_list
from linklab.experiment.batch_file import BatchFile, read_batch_files
from linklab.experiment.expand import expand
from linklab.experiment.inside import Inside, run_whole
from linklab.experiment.model import Trial
from linklab.experiment.out_file import refuse_new_parent
from linklab.experiment.runner import Deal, Happened, ListProgress, TrialTask, run_entries
from linklab.experiment.running import HERE
from linklab.experiment.test_file import load_test
from linklab.experiment.trial_folder import opened, read_journal
from linklab.experiment.trial_list import ListedTrial, as_name
from linklab.experiment.trial_work import Look, TrialSettings, bundled, work

if TYPE_CHECKING:
    from linklab.commands.flent import Words
    from linklab.commands.flent_voice import Voice

_OF_A_NETWORK = {"seed", "clock", "engine", "cpu"}
_OWN = "the network that runs has its own; leave the key out, or use linklab batch on your machine"


def run(args: argparse.Namespace, words: Words, voice: Voice) -> int:
    """Make the list and show it or run it."""
    if not args.batch_files:
        raise InputError("-b: in which batch file? Give it with -B")
    if words.test or words.files:
        raise InputError("give either a batch or a test, not both")
    choice = choice_of(args)
    order = _order(args)
    found = listed(args, words, order)
    for sentence in found.unused:
        voice.complain(f"flent: {sentence}")
    refuse_wrong(found.entries)
    if args.batch_dry_run:
        show(make_console(), found.entries, verbose=args.batch_verbose)
        return 0
    folder = args.batch_resume or args.data_dir / f"{_name(found)}-{time.strftime('%Y-%m-%dT%H%M%S')}"
    if args.batch_resume is not None and not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder, so nothing can be resumed")
    refuse_new_parent(args.data_dir)
    folder.mkdir(parents=True, exist_ok=True)
    if args.log_file is not None:
        voice.log = Path(args.log_file or f"{folder.name}.log")

    def one(trial: Trial, file: Path, tell: Any) -> Path:
        with Inside() as door:
            return run_whole(with_source(trial, (trial.source or door.node,), door), file, door, tell, choice)

    progress = ListProgress()
    about = {
        "batches": sorted({entry.trial.extra["BATCH_NAME"] for entry in found.entries}),
        "shuffle_seed": order,
        "options": {name: str(value) for name, value in asdict(choice).items()},
    }
    try:
        with opened(folder, about) as kept:
            tasks = run_entries(found.entries, kept, one_by_one(one, voice), progress, lambda task: _say(task, voice))
    except KeyboardInterrupt:
        voice.complain(f"flent: stopped; the same command with --batch-resume {folder} goes on")
        return INTERRUPTED
    voice.say(f"{sum(task.state in ('done', 'gaps') for task in tasks)} of {len(tasks)} data files are in {folder}")
    return 0 if all(task.state == "done" for task in tasks) else 1


def _order(args: argparse.Namespace) -> int | None:
    """The seed of the order; of a list that goes on, its own."""
    if args.batch_resume is None:
        return None if args.batch_no_shuffle else 1
    found = read_journal(args.batch_resume).get("shuffle_seed")
    return found if isinstance(found, int) else None


def listed(args: argparse.Namespace, words: Words, order: int | None) -> BatchList:
    """The trials, each on the network that runs, with the options of the command line.

    Raises:
        InputError: a batch is wrong, or wants another network, or an option is not for batches.
    """
    _refuse_options(args)
    file = read_batch_files(args.batch_files)
    found = batch_list(file, BatchChoice(tuple(args.batches), batch_overrides(args), HERE, order))
    found = replace(found, entries=tuple(_with_options(entry, args, words) for entry in found.entries))
    for entry in found.entries:
        _refuse_keys(file, entry)
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


def _refuse_options(args: argparse.Namespace) -> None:
    """Refuse what a batch would leave undone without a word."""
    for option, value in (("-p", args.plot), ("-f", args.format), ("-o", args.output.removeprefix("-"))):
        if value:
            raise InputError(f"{option}: a batch only measures; give it afterwards: flent {option} {value} FILE…")
    if args.remote_metadata:
        raise InputError("--remote-metadata: the nodes on the path are in every data file anyway; leave the option out")
    if len(set(args.local_bind)) > 1:
        raise InputError(f"--local-bind: one node sends here, not {len(set(args.local_bind))}; give one")
    for key in sorted(_OF_A_NETWORK & batch_overrides(args).keys()):
        raise InputError(f"--batch-override {key}=…: {_OWN}")


def _with_options(entry: ListedTrial, args: argparse.Namespace, words: Words) -> ListedTrial:
    """The trial with parameters that were given laid over it; nodes that were given are for batches that name none."""
    trial = entry.trial
    return replace(
        entry,
        trial=replace(
            trial,
            source=trial.source or next(iter(args.local_bind), ""),
            targets=trial.targets or tuple(words.hosts),
            parameters={**trial.parameters, **parameters_of(args)},
        ),
    )


def _refuse_keys(file: BatchFile, entry: ListedTrial) -> None:
    """Refuse what the file says of a network that is to be started."""
    extra = entry.trial.extra
    for section in (file.batches[extra["BATCH_NAME"]], *(file.args[name] for name in extra["batch"]["arguments"])):
        for key in sorted(_OF_A_NETWORK & section.values.keys()):
            raise section.at(key).wrong(f'"{key}": {_OWN}')


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
