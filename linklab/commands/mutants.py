# SPDX-License-Identifier: BSD-3-Clause
"""`linklab labs --mutants`: replay the known wrong ways of labs, show how it goes, and say which are not caught."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from rich.live import Live
from rich.table import Table

from linklab.base.processes import processors
from linklab.commands.console import make_console, plain
from linklab.commands.several import chosen
from linklab.engine.choice import load_engine
from linklab.errors import InputError, LabError
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.mutants import FILE, Mutant, load_mutants
from linklab.run.mutants import MutantTrial, run_trials, trials_of
from linklab.terminal.screen import ends_orderly

AT_ONCE = 2
"""Replays at once where `--jobs` does not say."""
_STYLES = {"waiting": "dim", "running": "", "caught": "green", "late": "yellow", "holds": "dim", "wrong": "red bold"}


def run(args: argparse.Namespace) -> int:
    """Replay the mutants; 0 if each was caught as its file says, else 1."""
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}; at least one replay runs at a time")
    folders = chosen(args.mutants)
    labs = [load_lab(folder) for folder in (folders if folders is not None else [find_lab(args.mutants)])]
    mutants = [(lab, load_mutants(lab)) for lab in labs]
    trials = [trial for lab, several in mutants for trial in trials_of(lab, _only(args.only, several))]
    if not trials:
        what = f'no mutant is called "{args.only}"' if args.only else f"none has a {FILE}"
        raise LabError(f"labs {args.mutants}: {what}")
    load_engine("pocket").check()
    view = _TrialsView(trials)
    started = time.perf_counter()
    with ends_orderly(), view:
        run_trials(trials, lambda: load_engine("pocket"), min(args.jobs or AT_ONCE, processors()), view.changed)
    view.end(time.perf_counter() - started, [lab for lab, several in mutants if not several])
    return 0 if all(trial.good for trial in trials) else 1


def _only(name: str, mutants: list[Mutant]) -> list[Mutant]:
    return [mutant for mutant in mutants if not name or mutant.name == name]


class _TrialsView:
    """What is under way, redrawn a few times a second; and a line for each trial that ends."""

    def __init__(self, trials: Sequence[MutantTrial]) -> None:
        self.trials = trials
        self.ended = 0
        self.console = make_console()
        # Redrawn by us: a thread that draws must not be there while processes are forked.
        self.live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> _TrialsView:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.live.stop()

    def changed(self, trial: MutantTrial | None) -> None:
        if trial is not None and trial.state not in ("waiting", "running"):
            self.ended += 1
            words = f"[{self.ended}/{len(self.trials)}] Lab {trial.lab.number} {trial.name}: {trial.state}"
            self.console.print(plain(f"{words} in {trial.wall_s:.1f} s", _STYLES[trial.state]), soft_wrap=True)
        if self.console.is_terminal:
            running = [one for one in self.trials if one.state == "running"]
            lines = [f"Lab {one.lab.number} {one.name}: {one.doing} ({one.done}/{len(one.steps)})" for one in running]
            self.live.update(plain("\n".join(lines)), refresh=True)

    def end(self, wall_s: float, without: Sequence[Lab]) -> None:
        """The table, what is wrong, the sum."""
        table = Table(header_style="bold")
        for name in ("Lab", "Mutant", "Step", "Fails at", "State", "Took"):
            table.add_column(name, overflow="fold", justify="right" if name in ("Lab", "Took") else "left")
        for trial in self.trials:
            if trial.mutant or not trial.good:
                step = trial.mutant.step if trial.mutant else ""
                took = f"{trial.wall_s:.0f} s"
                cells = (str(trial.lab.number), trial.name, step, trial.at, trial.state, took)
                table.add_row(*(plain(cell, _STYLES[trial.state]) for cell in cells))
        self.console.print(table)
        for trial in self.trials:
            if not trial.good:
                where = f"{trial.mutant.where}: {trial.name}" if trial.mutant else f"{trial.lab.folder}"
                self.console.print(plain(f"{where}: {trial.why}", "red bold"), soft_wrap=True)
        if without:
            self.console.print(f"No {FILE}: {', '.join(f'Lab {lab.number}' for lab in without)}.", soft_wrap=True)
        mutants = [trial for trial in self.trials if trial.mutant]
        caught = sum(trial.good for trial in mutants)
        late = sum(trial.state == "late" for trial in mutants)
        words = f"{caught} of {len(mutants)} mutants were caught" + (f", {late} of them late" if late else "")
        self.console.print(f"{words}; {wall_s:.0f} s.", soft_wrap=True)
