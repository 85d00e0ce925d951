# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of a kernel build, with their output in a log and their failure as one sentence."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from linklab.errors import MissingError

Report = Callable[[str, float | None], None]
"""Called with what is being done and how much of it, 0..1, None where that is not known."""


class Tools:
    """Runs the programs of a build; their output goes to the log."""

    def __init__(self, scratch: Path, output: TextIO, log: Path) -> None:
        self.scratch, self.output, self.log = scratch, output, log
        self.env = {
            **os.environ,
            "LC_ALL": "C",
            # the same source gives the same program (Documentation/kbuild/reproducible-builds.rst)
            "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
            "KBUILD_BUILD_USER": "linklab",
            "KBUILD_BUILD_HOST": "pocket",
            "KBUILD_BUILD_VERSION": "1",
        }

    def run(self, argv: Sequence[str], cwd: Path, what: str) -> None:
        """Run a program; MissingError naming `what` and the log if it fails."""
        done = subprocess.run(
            argv,
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        self._check(done.returncode, what)

    def read(self, argv: Sequence[str], cwd: Path, what: str) -> str:
        """Return the output of a program, stripped; MissingError naming `what` and the log if it fails."""
        done = subprocess.run(
            argv, cwd=cwd, env=self.env, stdout=subprocess.PIPE, stderr=self.output, text=True, check=False
        )
        self._check(done.returncode, what)
        return done.stdout.strip()

    def _check(self, status: int, what: str) -> None:
        if status:
            raise MissingError(f"the kernel build could not {what} (exit {status}); see {self.log}")
