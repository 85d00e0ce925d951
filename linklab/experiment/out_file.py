# SPDX-License-Identifier: BSD-3-Clause
"""The data file of a test: its name, whether it can be written, and how it is written without losing another one.

What cannot be written is refused before a test begins, because a test takes long and its data would be lost.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from linklab import data
from linklab.data import Dataset
from linklab.data.suffixes import SUFFIX, SUFFIXES
from linklab.errors import InputError
from linklab.experiment.model import Expanded, Trial

FILES = (*SUFFIXES, ".gz", ".bz2")
"""Endings of what people mean by a file: those of data files, and of whatever is packed."""
OTHERS = (".png", ".svg", ".pdf", ".csv", ".txt", ".html", ".org")
"""Endings of what people may take this file for."""
LONGEST = 180
"""Bytes of a name before the title; a file system allows 255."""
MOST_TITLE = 60
"""Bytes of a title in a name."""
_NAMED = re.compile(r"[^\w.+-]+")


def is_file(out: Path) -> bool:
    """Whether `out` names the data file itself; otherwise it is a folder for it."""
    if not out.name.endswith(FILES):
        return False
    with contextlib.suppress(OSError):  # a name that is too long
        return not out.is_dir()
    return True


def refuse_unwritable(out: Path, raw: Path | None = None, *, near: bool = False) -> None:
    """Refuse a data file and a folder of raw outputs that could not be written after the test.

    Args:
        out: the data file, or a folder for it.
        raw: a folder that gets the outputs of all programs; None for none.
        near: of the folders, only the one that is asked for itself may be new, so that a mistyped name makes none.

    Raises:
        InputError: it says what is in the way.
    """
    if not is_file(out) and out.suffix.lower() in OTHERS and not out.is_dir():
        raise InputError(
            f"{out}: the name of a data file ends in {SUFFIX}; give such a name, or a folder without a dot"
        )
    _refuse(out, folder=not is_file(out))
    for path in [out, *([raw] if raw is not None else [])] if near else []:
        refuse_new_parent(path)
    if raw is not None:
        _refuse(raw, folder=True)
        if raw.is_dir() and any(raw.iterdir()):
            raise InputError(
                f"{raw}: this folder is not empty, and outputs of two tests would be mixed; give a new one"
            )


def refuse_new_parent(path: Path) -> None:
    """InputError if more than the last part of a path would be new: a mistyped name makes no folders."""
    if not path.is_dir() and not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def refuse_folder(folder: Path) -> None:
    """InputError if files cannot be written in a folder, which is made where it is missing."""
    _refuse(folder, folder=True)


def refuse_file(path: Path) -> None:
    """InputError if a file cannot be written, in a folder that is there."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(f"{path}: cannot be written: it is a folder")
    _refuse(path, folder=False)


def _refuse(path: Path, *, folder: bool) -> None:
    """InputError if a file, or files in a folder that is made where it is missing, cannot be written."""
    there = path if folder else path.parent
    try:
        if not folder and path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        path.exists()  # a name that is too long is an error
        while not there.exists():
            there = there.parent
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        where = "" if there in (path, path.parent) else f" ({there})"
        raise InputError(f"{path}: cannot be written{where}: {error.strerror}") from error


def file_name(trial: Trial, expanded: Expanded) -> str:
    """The name of a data file: what sets the trial apart from others of its test, then its title."""
    where = Path(trial.topology).stem if trial.topology else trial.path
    ends = [trial.source, *trial.targets]
    usual = Trial(trial.test)
    words = [expanded.name, where, "-".join(filter(None, ends))]
    words += [f"{trial.length_s:g}s"] if trial.length_s is not None else []
    words += [f"step{trial.step_s:g}s"] if trial.step_s is not None else []
    words += [str(getattr(trial, key)) for key in ("clock", "engine", "profile") if _differs(trial, usual, key)]
    words += [f"seed{trial.seed}"]
    # as the test has them: "num_cpus" is another number on another machine
    words += [f"{key}={expanded.parameters.get(key, value)}" for key, value in sorted(trial.parameters.items())]
    name = "-".join(_NAMED.sub("-", word).strip("-") for word in words if word)
    if len(name.encode()) > LONGEST:
        name = f"{_cut(name, LONGEST - 9)}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    title = title_in_name(trial.title)
    return f"{name}{'.' + title if title else ''}{SUFFIX}"


def title_in_name(title: str) -> str:
    """A title as part of a file's name: letters of any language stay, all else becomes "-"."""
    return _cut(_NAMED.sub("-", unicodedata.normalize("NFC", title)).strip("-."), MOST_TITLE)


def _cut(text: str, most: int) -> str:
    return text.encode(errors="replace")[:most].decode(errors="ignore")


def _differs(trial: Trial, usual: Trial, key: str) -> bool:
    return bool(getattr(trial, key) != getattr(usual, key))


def keep(made: Dataset, path: Path, *, named: bool) -> Path:
    """Write a data set; the file.

    Args:
        made: the data set, which says the name of its file.
        path: where to.
        named: a person gave the name, so what is there is replaced. Otherwise a file with other data stays, and this
            one gets the next free name (`NAME-2`); the same data are the same file.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made: {error.strerror}") from error
    for candidate in [path] if named else _numbered(path):
        one = replace(made, flent={**made.flent, "DATA_FILENAME": candidate.name})
        if named or not candidate.exists():
            data.save(one, candidate)
            return candidate
        if _holds(candidate, one):
            return candidate
    raise AssertionError("there is always a next number")


def _holds(path: Path, made: Dataset) -> bool:
    """Whether a file is there with just these data."""
    with tempfile.TemporaryDirectory(prefix="linklab-data-") as folder:
        data.save(made, Path(folder) / path.name)
        try:
            return path.read_bytes() == (Path(folder) / path.name).read_bytes()
        except OSError:  # a folder of that name, or what is not ours to read
            return False


def _numbered(path: Path) -> Iterator[Path]:
    yield path
    stem = path.name.removesuffix(SUFFIX)
    yield from (path.with_name(f"{stem}-{number}{SUFFIX}") for number in count(2))
