# SPDX-License-Identifier: BSD-3-Clause
"""Lists of trials for `linklab batch` and `linklab sweep`: options, checks before anything runs, folder, run."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from linklab.base import claims
from linklab.base.processes import processors
from linklab.commands.console import plain
from linklab.commands.trials_view import TrialsView, duration
from linklab.engine.choice import load_engine
from linklab.errors import InputError, MissingError
from linklab.experiment.model import Trial, When
from linklab.experiment.out_file import refuse_folder
from linklab.experiment.runner import Deal, ListProgress, TrialTask, at_once, here, run_entries
from linklab.experiment.trial_folder import DONE, TrialFolder, opened, read_journal
from linklab.experiment.trial_list import JOURNAL, ListedTrial
from linklab.experiment.trial_work import Look, TrialSettings

RUNS = Path("runs")
"""Where new folders go, in the working folder."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where and how the trials are run."""
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--out", metavar="FOLDER", type=Path, help="new folder for the results (default: in runs/)")
    place.add_argument("--resume", metavar="FOLDER", type=Path, help="go on in the folder of a run that broke off")
    order = parser.add_mutually_exclusive_group()
    order.add_argument("--shuffle-seed", type=int, default=1, metavar="N", help="of the order of trials (default: 1)")
    order.add_argument("--no-shuffle", action="store_true", help="keep the order of the file")
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="trials at once (default and most: one a processor)"
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="run the trials on a Dask cluster, by its scheduler")
    parser.add_argument(
        "--host-commands",
        action="store_true",
        help='let the file use this machine: commands with "where = host", as you, and "engine = host", as root',
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def shuffle_seed(args: argparse.Namespace) -> int | None:
    """The seed of the order: that of the folder where a run goes on; None for the order of the file.

    Raises:
        InputError: no run has begun in that folder.
    """
    if args.resume is not None:
        found: Any = read_journal(args.resume).get("shuffle_seed")
        return found if isinstance(found, int) else None
    return None if args.no_shuffle else int(args.shuffle_seed)


def checked(entries: Sequence[ListedTrial]) -> list[ListedTrial]:
    """The entries, once it is sure that each can be run, with how long each is and takes.

    Raises:
        InputError: a test, a parameter, a path or a topology cannot be; the message names the trial.
        MissingError: an engine that is needed cannot run here.
    """
    from linklab.experiment.cost import wall_s
    from linklab.experiment.prepared import prepare

    known: dict[str, tuple[float, float]] = {}
    found = []
    for entry in entries:
        # what decides whether it can be, and how long it is: not the seed nor the title
        key = repr(replace(entry.trial, seed=0, title="", note="", extra={}, commands=()))
        if key not in known:
            try:
                prepared = prepare(entry.trial)
            except (InputError, MissingError) as error:
                raise type(error)(f"{entry.label}: {error}") from error
            known[key] = prepared.expanded.total_s, wall_s(prepared)
        network_s, cost_s = known[key]
        found.append(replace(entry, network_s=network_s, cost_s=cost_s))
    return found


@contextlib.contextmanager
def before_trials() -> Iterator[None]:
    """Within the block, where what is to be run is looked at, Ctrl+C says that nothing has begun."""
    try:
        yield
    except KeyboardInterrupt:
        print("linklab: stopped with Ctrl+C before a trial had begun", file=sys.stderr)
        raise


def check_machine(args: argparse.Namespace, trials: Sequence[Trial]) -> None:
    """Refuse what cannot run here, before a folder is made.

    Raises:
        InputError: an option is wrong, or a file chooses the host engine, and nobody has allowed it.
        MissingError: an engine lacks something; on a cluster its workers are asked.
    """
    if not args.host_commands and any(trial.engine == "host" for trial in trials):
        raise InputError(
            'with "engine = host", commands of the file, its tests, and its topologies run as root on the kernel of '
            "this machine; allow it with --host-commands, or leave the engine out"
        )
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}; at least one trial runs at a time")
    if args.cluster is None:
        for name in sorted({trial.engine for trial in trials}):
            load_engine(name).check()


def folder_for(args: argparse.Namespace, name: str) -> Path:
    """The folder that was asked for, or a new one in runs/ of the working folder.

    Raises:
        InputError: one that is asked for is in use, or has nothing to go on with.
    """
    check_folder(args)
    if args.resume is not None:
        return Path(args.resume)
    if args.out is None:
        return claims.make_new(RUNS / name)
    folder = Path(args.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    return folder


def check_folder(args: argparse.Namespace) -> None:
    """Refuse a folder in which no trials can be done, and make none.

    Raises:
        InputError: it is in use, has nothing to go on with, or cannot be written to.
    """
    if args.resume is not None:
        read_journal(args.resume)
    folder = Path(args.resume or args.out or RUNS)
    refuse_folder(folder)
    if args.out is not None and (folder / JOURNAL).exists():
        raise InputError(f"{folder}: trials have been run here; go on with --resume {folder}, or give another folder")
    if args.out is not None and folder.is_dir() and any(folder.iterdir()):
        raise claims.in_use(folder)


def show(console: Console, entries: Sequence[ListedTrial], *, verbose: bool = False) -> None:
    """Say what would be run, in the order in which it would start: of each trial what decides its outcome."""
    for entry in entries:
        console.print(plain(f"would run {entry.label} → {entry.file}"), soft_wrap=True)
        for line in (_words(entry.trial), *(_more(entry.trial) if verbose else ())):
            console.print(plain(f"    {line}"), soft_wrap=True)


def _words(trial: Trial) -> str:
    """A trial in a line."""
    where = trial.path or trial.topology or "this network"
    ends = [f"from {trial.source}"] if trial.source else []
    ends += [f"to {', '.join(trial.targets)}"] if trial.targets else []
    words = [f"{trial.test} on {' '.join([where, *ends])}"]
    words += [f"{trial.length_s:g} s"] if trial.length_s is not None else []
    words += [f"step {trial.step_s:g} s"] if trial.step_s is not None else []
    words += [f"seed {trial.seed}"]
    words += [value for value, usual in ((trial.clock, "virtual"), (trial.engine, "pocket")) if value != usual]
    words += [f"{key} = {value}" for key, value in trial.parameters.items()]
    return ", ".join(words)


def _more(trial: Trial) -> Iterator[str]:
    """Its words for people, and its commands."""
    for key, value in (("title", trial.title), ("note", trial.note)):
        if value:
            yield f"{key} {value}"
    for when in (When.PRE, When.MONITOR, When.POST):
        for command in trial.commands:
            if command.when is when:
                where = "this machine" if command.on_host else command.node or "the network"
                yield f"{when.value}, on {where}{', essential' * command.essential}: {command.line}"


class TrialsWatcher(Protocol):
    """Who is told how far trials are."""

    def changed(self, task: TrialTask | None) -> None:
        """A task's state changed, or time went on."""
        ...

    def end(self, wall_s: float) -> None:
        """All is done."""
        ...


class TrialsSession:
    """Trials that are done together: a folder, a way to have them done, a display."""

    def __init__(self, folder: TrialFolder, deal: Deal, progress: ListProgress, view: TrialsWatcher) -> None:
        self.folder, self.deal, self.progress, self.view = folder, deal, progress, view

    def do(self, entries: Sequence[ListedTrial]) -> list[TrialTask]:
        """Do these trials; what came of each."""
        return run_entries(entries, self.folder, self.deal, self.progress, self.view.changed)

    @property
    def all_well(self) -> bool:
        """Whether every trial gave all its data."""
        return self.progress.count("done") == len(self.progress.tasks)


@contextlib.contextmanager
def session(
    args: argparse.Namespace,
    folder: Path,
    about: Mapping[str, Any],
    trials: Sequence[Trial],
    *,
    host_commands: bool = False,
    look: Look | None = None,
) -> Iterator[TrialsSession]:
    """Do trials in a folder; on every way out no process is left, and what is done is kept."""
    from linklab.experiment.trial import run_trial

    jobs = at_once(trials, args.jobs, processors())
    how = TrialSettings(run_trial, host_commands, look)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_says_how_to_go_on(folder))
        if args.cluster is not None:
            from linklab.experiment.trial_cluster import cluster

            deal, jobs = stack.enter_context(cluster(args.cluster, how))
        else:
            deal = here(how, jobs)
        kept = stack.enter_context(opened(folder, about))
        progress = ListProgress(jobs=jobs)
        yield TrialsSession(kept, deal, progress, stack.enter_context(TrialsView(progress, folder, quiet=args.quiet)))


def estimate(entries: Sequence[ListedTrial], jobs: int) -> str:
    """How long a list takes, in a sentence, before anything has been measured."""
    progress = ListProgress([TrialTask(entry) for entry in entries], jobs=jobs)
    network_s = sum(entry.network_s for entry in entries)
    trials = "1 trial" if len(entries) == 1 else f"{len(entries)} trials"
    at_a_time = f", {jobs} at a time" if jobs > 1 else ""
    return f"{trials}, {duration(network_s)} of network time: about {duration(progress.left_s)}{at_a_time}, at a guess."


def due(args: argparse.Namespace, entries: Sequence[ListedTrial]) -> list[ListedTrial]:
    """The trials that are not done yet in the folder where a run goes on."""
    if args.resume is None:
        return list(entries)
    done = {record["file"] for record in read_journal(args.resume)["trials"] if record["state"] in DONE}
    return [entry for entry in entries if entry.file not in done]


def jobs_of(args: argparse.Namespace, trials: Sequence[Trial]) -> int:
    """How many trials would run at once on this machine."""
    return at_once(trials, args.jobs, processors())


@contextlib.contextmanager
def _says_how_to_go_on(folder: Path) -> Iterator[None]:
    """Within the block Ctrl+C says what is kept and how to go on; then it unwinds as ever."""

    def interrupted(number: int, frame: object) -> None:
        said = f"linklab: stopped with Ctrl+C, ending the trials under way; go on with --resume {folder}"
        print(said, file=sys.stderr, flush=True)
        raise KeyboardInterrupt

    before: Any = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
