# SPDX-License-Identifier: BSD-3-Clause
"""Leaves a lab's set_env.sh where its network is opened, so that the reader of the manual can type `./set_env.sh 4`.

Knows a lab by the name of its topology file and copies what lies in its folder; `linklab.manual.set_env` makes it.
"""

from __future__ import annotations

import re
from pathlib import Path

from linklab.base import installation
from linklab.base.files import write
from linklab.errors import InputError

NAME = "set_env.sh"
OURS = "# Derived from manual.md by `linklab set-env`"
"""A line of every script of a lab, and of no exercise's."""


def leave(topology: Path | None, workdir: Path, root: Path | None = None) -> Path | None:
    """Copy the script of the lab whose topology this is into the working folder; None if there is nothing to copy.

    A script of another lab is replaced.  A file that is not a lab's script stays: it is an exercise's or the person's.
    """
    lab = re.fullmatch(r"Lab (\d+)", topology.stem) if topology is not None else None
    if lab is None:
        return None
    folders = ((root or installation.ROOT) / "labs").glob(f"{int(lab[1]):02d}-*/{NAME}")
    script, there = next(iter(sorted(folders)), None), workdir / NAME
    if script is None or (there.exists() and OURS not in there.read_text(encoding="utf-8", errors="replace")):
        return None
    text = script.read_text(encoding="utf-8")
    if not there.exists() or there.read_text(encoding="utf-8", errors="replace") != text:
        try:
            write(there, text)
            there.chmod(0o755)
        except (OSError, InputError):  # a folder that cannot be written; the network runs all the same
            return None
    return there
