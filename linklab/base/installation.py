# SPDX-License-Identifier: BSD-3-Clause
"""Where our data is: what lies beside the package in a clone and in an installation (`make install`, the .deb).

Both have the same layout: ROOT holds what DATA names.  A wheel holds none of them.
One's own clone takes what is made (runs/, build/); an installation, or a clone of somebody else's, is only read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from linklab.errors import InputError, MissingError

ROOT = Path(__file__).resolve().parents[2]
DATA = ("class-server", "docs", "exercises", "kernel", "labs", "po", "problems", "scripts", "topologies")
"""Folders of ROOT; what `tools/install.py` installs beside the package."""


def _root(given: Path | None) -> Path:
    return ROOT if given is None else given


def need(folder: Path) -> Path:
    """The folder itself; MissingError where it is not there, since this Linklab was installed without it."""
    if not folder.is_dir():
        raise MissingError(
            f"this is not a clone: {folder} is missing, and no wheel holds labs, topologies, scripts and the "
            "kernel's patches; clone the repository and use its .venv/bin/linklab (`make lab`), or install the .deb"
        )
    return folder


def command(*words: str) -> list[str]:
    """The command that starts this Linklab with these words, in any folder.

    The folder may hold files of a stranger's, so its modules must not stand for Python's own: -P leaves it off the
    path, from Python 3.11 on (python(1)).
    """
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return [sys.executable, *safe, "-m", "linklab", *words]


def installed(root: Path | None = None) -> bool:
    """Whether this Linklab is no clone, so that nothing may be written beside it."""
    return not (_root(root) / "pyproject.toml").is_file()


def _takes_files(root: Path | None) -> bool:
    """Whether what is made goes into ROOT: a clone that this person may write to."""
    return not installed(root) and os.access(_root(root), os.W_OK | os.X_OK)


def runs_folder(root: Path | None = None) -> Path:
    """Where folders of runs go that are given no other place: `runs/` of one's own clone, else the current folder's."""
    return _root(root) / "runs" if _takes_files(root) else Path("runs")


def manuals_folder(root: Path | None = None) -> Path:
    """Where documents go that are given no other place: `build/manuals/` of one's own clone, else `manuals/` here."""
    return _root(root) / "build" / "manuals" if _takes_files(root) else Path("manuals")


def work_folder(file: Path | None, root: Path | None = None) -> Path:
    """The folder to work in with a file: its own, or the current one where that is read-only or an installation's."""
    if file is None:
        return Path.cwd()
    folder = file.resolve().parent
    ours = installed(root) and _root(root) in (folder, *folder.parents)
    return Path.cwd() if ours or not os.access(folder, os.W_OK | os.X_OK) else folder


def topology_file(named: Path, root: Path | None = None) -> Path:
    """The file that is meant by a topology's name: itself, else the lab's one of that name.

    So `topologies/Lab 8.mn`, `Lab 8.mn` and `8` are found from everywhere; a name that nothing has comes back as it is.
    """
    if str(named).isdecimal() and not named.exists():
        named = Path(f"Lab {named}.mn")
    if named.is_absolute() or named.exists() or named.parent not in (Path(), Path("topologies")):
        return named
    ours = _root(root) / "topologies" / named.name
    return ours if ours.is_file() else named


def refuse_installed(what: str, root: Path | None = None) -> None:
    """InputError where `what` would change the files of an installation."""
    if installed(root):
        raise InputError(
            f"{what} changes files of Linklab itself, and those in {_root(root)} stay as they were installed: "
            "do it in a clone of the repository"
        )
