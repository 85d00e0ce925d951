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
"""The beginning of a line of every script of a lab, and of no exercise's."""

_MOST_BYTES = 2**20
"""Of a file that may be such a script."""


def leave(topology: Path | None, workdir: Path, root: Path | None = None) -> Path | None:
    """Copy the script of the lab whose topology this is into the working folder; None if it is not there afterwards.

    The script of another lab is replaced where it is as it was generated.  Any other file stays: it is an exercise's,
    or the person's own or edited one.
    """
    scripts = (root or installation.ROOT) / "labs"
    there = workdir / NAME
    try:
        script = _script(topology, scripts)
        if script is None:
            return None
        text = script.read_text(encoding="utf-8")
        found = _text(there)
        if found is not None and found not in _generated(scripts):
            return None
        if found != text:
            write(there, text)
            there.chmod(0o755)
    except (OSError, InputError):  # a folder that cannot be read or written; the network runs all the same
        return None
    return there


def is_edited(topology: Path | None, workdir: Path, root: Path | None = None) -> bool:
    """Whether the working folder has a lab's script that `leave` did not replace: an edited one, or an older one."""
    scripts = (root or installation.ROOT) / "labs"
    try:
        script, found = _script(topology, scripts), _text(workdir / NAME)
        return script is not None and found is not None and OURS in found and found not in _generated(scripts)
    except OSError:
        return False


def is_known(topology: Path | None, root: Path | None = None) -> bool:
    """Whether there is a lab with this topology, and so a script to leave."""
    return _script(topology, (root or installation.ROOT) / "labs") is not None


def _generated(scripts: Path) -> set[str | None]:
    """The scripts of all labs as they were generated."""
    return {_text(script) for script in scripts.glob(f"*/{NAME}")}


def _script(topology: Path | None, scripts: Path) -> Path | None:
    """The script of the lab whose topology this is."""
    lab = re.fullmatch(r"Lab (\d+)", topology.stem) if topology is not None else None
    return next(iter(sorted(scripts.glob(f"{int(lab[1]):02d}-*/{NAME}"))), None) if lab else None


def _text(file: Path) -> str | None:
    """Return the text of a file, "" of one that is larger than any lab's script, or None if the file does not exist."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            return ""
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
