# SPDX-License-Identifier: BSD-3-Clause
"""Which data files are open, which of them are shown and in which order, and flipping between them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linklab.data import Dataset
from linklab.data.suffixes import SUFFIX, stem_of
from linklab.experiment.trial_folder import SCRATCH


@dataclass(eq=False)
class Run:
    """A data file in the window.

    name: what it is called here; unlike those of the others.
    data: what it holds, once it is read. why: a sentence why it cannot be read, "" otherwise.
    """

    path: Path
    name: str = ""
    data: Dataset | None = None
    why: str = ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is still to be read."""
        return self.data is None and not self.why


@dataclass
class Runs:
    """The open files, in the order in which they were opened.

    shown: those of the plot, the one that was chosen last at the end.
    """

    every: list[Run] = field(default_factory=list)
    shown: list[Run] = field(default_factory=list)
    _before: list[Run] = field(default_factory=list)

    @property
    def current(self) -> Run | None:
        """The run whose plots and metadata are seen; None if none is shown."""
        return self.shown[-1] if self.shown else None

    def add(self, paths: Iterable[Path]) -> tuple[list[Run], list[Run]]:
        """Open files: those that are new, and all that were named; one that is open is read again if it failed."""
        known = {_real(run.path): run for run in self.every}
        new, named = [], []
        for path in paths:
            run = known.get(_real(path))
            if run is None:
                run = known[_real(path)] = Run(path)
                self.every.append(run)
                new.append(run)
            elif run.why:
                run.why = ""
                new.append(run)
            if run not in named:
                named.append(run)
        names = names_of([run.path for run in self.every])
        for run, name in zip(self.every, names, strict=True):
            run.name = name
        return new, named

    def show(self, run: Run) -> None:
        """Show it and no other."""
        self._show([run])

    def show_all(self, runs: Sequence[Run]) -> None:
        """Show these; the last of them is the current one."""
        self._show(list(runs))

    def toggle(self, run: Run) -> None:
        """Lay it over the others, or take it away; the last one stays."""
        if run not in self.shown:
            self._show([*self.shown, run])
        elif len(self.shown) > 1:
            self._show([each for each in self.shown if each is not run])

    def flip(self) -> None:
        """Show what was shown before, so that twice is as it was."""
        before = [run for run in self._before if run in self.every]
        if before:
            self._show(before)

    def next_to(self, order: Sequence[Run], step: int) -> Run | None:
        """The readable run `step` places further in `order`, which begins anew at its end; None without another."""
        usable = [run for run in order if not run.why]
        if not usable:
            return None
        if self.current not in usable:
            return usable[0 if step > 0 else -1]
        found = usable[(usable.index(self.current) + step) % len(usable)]
        return found if [found] != self.shown else None

    def close(self, run: Run, order: Sequence[Run]) -> None:
        """Take it out of the window; its neighbour in `order` is shown if it was the only one."""
        rest = [each for each in order if each is not run]
        if self.shown == [run]:
            at = min(order.index(run), len(rest) - 1)
            readable = [each for each in (*rest[at:], *reversed(rest[:at])) if not each.why] if rest else []
            self.shown = readable[:1]
        self.every.remove(run)
        self.shown = [each for each in self.shown if each is not run]
        self._before = [each for each in self._before if each is not run]

    def failed(self, run: Run, why: str) -> None:
        """It cannot be read: it stays in the list, and is not shown."""
        run.why = why
        self.shown = [each for each in self.shown if each is not run]
        self._before = [each for each in self._before if each is not run]

    def _show(self, runs: list[Run]) -> None:
        if runs != self.shown:
            self._before, self.shown = self.shown, runs


def _real(path: Path) -> str:
    return str(path.absolute().resolve())


def results_in(folder: Path) -> list[Path]:
    """The data files of a list of trials that are whole, also those in folders below it (`output_path` of a batch)."""
    found = folder.rglob(f"*{SUFFIX}")
    return sorted(each for each in found if SCRATCH not in each.relative_to(folder).parts)


def names_of(paths: Sequence[Path]) -> list[str]:
    """Names that tell the files apart: the file's own, with as many of its folders before it as are needed."""
    parts = [(*path.absolute().parts[1:-1], stem_of(path.name)) for path in paths]
    depths = [1] * len(parts)
    while True:
        names = ["/".join(part[-depth:]) for part, depth in zip(parts, depths, strict=True)]
        counted = Counter(names)
        longer = [
            depth + 1 if counted[name] > 1 and depth < len(part) else depth
            for name, part, depth in zip(names, parts, depths, strict=True)
        ]
        if longer == depths:
            break
        depths = longer
    # two files of one folder that differ only in how they are packed
    return [path.name if counted[name] > 1 else name for path, name in zip(paths, names, strict=True)]
