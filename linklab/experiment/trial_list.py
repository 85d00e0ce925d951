# SPDX-License-Identifier: BSD-3-Clause
"""A list of trials: what batches and sweeps become, and what the runner does.

Each entry has the name of the file that comes of it, so that two lists are the same if and only if they give the same
folder. Nothing in a list depends on the time or on the machine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

from linklab.base.text import excerpt
from linklab.data.suffixes import SUFFIX
from linklab.errors import InputError
from linklab.experiment.model import Trial

JOURNAL = "trials.json"
"""Beside the data files: what the list is and how far it has come."""
LONGEST_NAME = 200
"""Bytes of a file's name without its suffix; a file system allows 255."""
MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class ListedTrial:
    """One trial of a list.

    name: of its data file in the folder of the list, with "/" and without the suffix.
    label: what sets it apart from the others, for people.
    pause_s: rest after it on the wall clock; the virtual clock has nothing that could settle.
    keep_log: what its process printed is kept even where all went well.
    network_s: how long it is, as far as that is known before it runs.
    cost_s: how long it takes on the wall clock, about; 0 where that is not known.
    """

    name: str
    label: str
    trial: Trial
    pause_s: float = 0.0
    keep_log: bool = False
    network_s: float = 0.0
    cost_s: float = 0.0

    @property
    def file(self) -> str:
        """Its data file, in the folder of the list."""
        return f"{self.name}{SUFFIX}"


def check_names(entries: Sequence[ListedTrial], cure: str) -> None:
    """Refuse a list in which two trials would write the same file, before anything runs.

    Args:
        entries: the list.
        cure: what to do about it.

    Raises:
        InputError: it names both trials.
    """
    first: dict[str, ListedTrial] = {}
    for entry in entries:
        name = entry.name.casefold()  # also for a file system that knows no case
        if name in first:
            raise InputError(
                f'the trials "{excerpt(first[name].label)}" and "{excerpt(entry.label)}" would both be written to '
                f"{excerpt(entry.file)}; {cure}"
            )
        first[name] = entry


def as_name(text: str, more: str = "") -> str:
    """A text as part of a file's name: what is neither a letter, a digit, "-", "_", nor one of `more` becomes "_"."""
    name = re.sub(rf"[^\w{re.escape(more)}-]", "_", text).encode()[:LONGEST_NAME]
    return name.decode(errors="ignore")


def as_folder(text: str) -> PurePosixPath:
    """A folder below that of the list.

    Raises:
        InputError: it leads out of it, or into a hidden one.
    """
    folder = PurePosixPath(text)
    parts = [part for part in folder.parts if part != "."]
    if folder.is_absolute() or any(part.startswith(".") or not part.isprintable() for part in parts):
        raise InputError(f'"{excerpt(text)}" must be a folder below that of the results, without ".."')
    if any(len(part.encode()) > LONGEST_NAME for part in parts):
        raise InputError(f'"{excerpt(text)}" is longer than a name can be')
    return PurePosixPath(*parts)


def plain(value: Any) -> Any:
    """A trial, or what is in it, as JSON holds it."""
    match value:
        case Trial():
            return plain({name: getattr(value, name) for name in Trial.__dataclass_fields__})
        case Enum():
            return value.value
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _ if hasattr(value, "__dataclass_fields__"):
            return plain(asdict(value))
        case _:
            return value


def named_files(trial: Trial) -> dict[str, str]:
    """The files that a trial names, by the field that names them."""
    named = {"topology": trial.topology, "test": trial.test if trial.test.endswith(".toml") else ""}
    return {key: name for key, name in named.items() if name}


def digest(entries: Sequence[ListedTrial]) -> str:
    """What two lists have in common only if they are the same: the same trials, whatever their order.

    Of a file that a trial names, name and content count, and not the folder: the same files elsewhere give the same.
    """
    contents: dict[str, str | None] = {}
    described = sorted(json.dumps([entry.name, _identity(entry.trial, contents)], sort_keys=True) for entry in entries)
    return hashlib.sha256("\n".join(described).encode("utf-8", "backslashreplace")).hexdigest()


def _identity(trial: Trial, contents: dict[str, str | None]) -> Any:
    """All that decides what comes of a trial; `contents` keeps what was read."""
    found = plain(trial)
    for key, name in named_files(trial).items():
        if name not in contents:
            try:
                contents[name] = hashlib.sha256(Path(name).read_bytes()).hexdigest()
            except OSError:  # its trial will fail, and say so
                contents[name] = None
        found |= {key: Path(name).name, f"{key}_sha256": contents[name]}
    return found
