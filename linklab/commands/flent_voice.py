# SPDX-License-Identifier: BSD-3-Clause
"""What `flent` says: sentences, what is wrong, how far it is, and all of it in a log file where one is wanted."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import visible

if TYPE_CHECKING:
    from linklab.experiment.trial_inside import TrialProgress


class Voice:
    """What is said to the person, and kept for a log file."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose
        self.said: list[str] = []
        self.log: Path | None = None
        self.line = ""

    def say(self, text: str) -> None:
        """A sentence."""
        self._clear()
        self.said.append(text)
        if not self.quiet:
            print(visible(text), flush=True)

    def detail(self, text: str) -> None:
        """What -v and the log file show."""
        if self.verbose:
            self.say(text)
        else:
            self.said.append(text)

    def complain(self, text: str) -> None:
        """What is wrong; said in any case."""
        self._clear()
        self.said.append(text)
        with contextlib.suppress(OSError):
            print(visible(text), file=sys.stderr, flush=True)

    def progress(self, told: TrialProgress) -> None:
        """A line that the next one overwrites, on a terminal where a person sits."""
        if self.quiet or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
            return
        done = f" {told.done_s:.0f} of {told.length_s:.0f} s" if told.length_s else ""
        self._clear()
        self.line = f"{told.stage}{done}"
        with contextlib.suppress(OSError):
            print(self.line, end="", file=sys.stderr, flush=True)

    def _clear(self) -> None:
        if self.line:
            self.line = ""
            with contextlib.suppress(OSError):
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def keep(self) -> None:
        """Write the log file, where one was asked for."""
        self._clear()
        if self.log is not None:
            self.log.write_text("".join(f"{visible(line)}\n" for line in self.said), encoding="utf-8")
