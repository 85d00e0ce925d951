# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl+C at a run that takes long: answered at once, by what happens now and what is left."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from linklab.base import installation


def says_what_is_left(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Within the block Ctrl+C says that the run is ended and what stays of it; then it unwinds as ever."""
    return answered(lambda: f"ending the network; {left(folder)}")


@contextlib.contextmanager
def answered(what: Callable[[], str]) -> Iterator[None]:
    """Within the block Ctrl+C says what happens; then it unwinds as ever."""

    def interrupted(number: int, frame: object) -> None:
        print(f"linklab: stopped with Ctrl+C, {what()}", file=sys.stderr, flush=True)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def left(folder: Path) -> str:
    """What stays of a run that is stopped now, and how it is removed."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return "nothing is left"
    folder_of_runs = installation.runs_folder().resolve()
    ours = folder_of_runs in folder.resolve().parents
    runs = "" if folder_of_runs == Path("runs").resolve() else f" {folder_of_runs}"
    removal = f"; `linklab clean --runs{runs}` removes it" if ours else ""
    return f"what it has done so far stays in {folder}{removal}"
