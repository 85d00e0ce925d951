# SPDX-License-Identifier: BSD-3-Clause
"""Folders that belong to one process at a time: of several that want the same one, exactly one gets it.

What decides is a file that only one process can make (open(2), O_EXCL). It is also the note that says who is at it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from linklab.errors import InputError

RUNNING = "running.json"
"""Note in a folder of several results while they are made: {"pid": N}."""


def take(folder: Path, note: str, data: Mapping[str, Any]) -> bool:
    """Take a folder that is new or empty, and leave the note in it; whether it is ours now.

    Raises:
        InputError: the folder, or a file in it, cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            return False
        try:
            _note(folder / note, data)
        except FileExistsError:
            return False
        if any(path.name != note for path in folder.iterdir()):  # it came between looking and making the note
            (folder / note).unlink()
            return False
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    return True


def _note(path: Path, data: Mapping[str, Any]) -> None:
    """Make a note that was not there.

    Raises:
        FileExistsError: it was there.
        OSError: it cannot be written.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(data).encode() + b"\n")
    except OSError:
        path.unlink(missing_ok=True)  # a note without contents would hold the folder for good
        raise


def in_use(folder: Path) -> InputError:
    """The error, to be raised, where a folder that was asked for cannot be taken."""
    return InputError(f"{folder}: this folder is in use; give another with --out")


def make_new(folder: Path) -> Path:
    """Make a folder of that name, or of the next free one (`NAME-2` and so on), which nobody else has made.

    Raises:
        InputError: none can be made there.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder.parent}: cannot be made: {error.strerror}") from error
    for path in chain([folder], (folder.with_name(f"{folder.name}-{number}") for number in count(2))):
        try:
            path.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise InputError(f"{path}: cannot be made: {error.strerror}") from error
        return path
    raise AssertionError("there is always a next number")


@contextlib.contextmanager
def held(folders: Sequence[Path]) -> Iterator[Path]:
    """Within the block, the first of these folders that is new or empty is ours; its RUNNING note goes at the end.

    Raises:
        InputError: all are in use, or one cannot be made.
    """
    folder = next((path for path in folders if take(path, RUNNING, {"pid": os.getpid()})), None)
    if folder is None:
        raise in_use(folders[0])
    try:
        yield folder
    finally:
        (folder / RUNNING).unlink(missing_ok=True)


@contextlib.contextmanager
def held_again(folder: Path) -> Iterator[Path]:
    """Within the block, a folder that has contents is ours; its RUNNING note goes at the end.

    Raises:
        InputError: it is not there or cannot be written to, or another process is at it.
    """
    note = folder / RUNNING
    try:
        _note(note, {"pid": os.getpid()})
    except FileExistsError:
        raise InputError(f"{folder}: another process is at it; if that was killed, remove {note}") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to: {error.strerror}") from error
    try:
        yield folder
    finally:
        note.unlink(missing_ok=True)
