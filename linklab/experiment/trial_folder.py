# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a list of trials: a data file for each that is done, and the journal that says which are.

A data file appears whole, under its own name, and the journal follows; so a run that was killed at any moment goes on
where it was, and ends with the same bytes as one that was not. Neither names nor contents hold a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from linklab.base.files import write_json
from linklab.base.toml import read_text
from linklab.data.suffixes import SUFFIX
from linklab.errors import InputError
from linklab.experiment.trial_list import JOURNAL, ListedTrial, digest
from linklab.experiment.trial_work import Made

FORMAT = 1
SCRATCH = ".work"
"""Where trials work; it is not there when nothing runs."""
LOCK_S = 25.0
"""A run that was killed lets go of the folder once its processes have ended, wall-clock seconds."""
Folder = TypeVar("Folder", bound="TrialFolder")
DONE = ("done", "gaps")
"""States of a trial whose data file is there; with gaps, a program of it failed."""


class TrialFolder:
    """The folder while one process works on it.

    Args:
        path: the folder, which is there.
        about: what stands at the head of the journal: what the list is, and the seed of its order.
    """

    noun = "list"
    """What it is a folder of, in a message."""

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path, self.about = path, dict(about)
        self.known: dict[str, dict[str, Any]] = {}
        self.records: dict[str, dict[str, Any]] = {}

    @property
    def scratch(self) -> Path:
        """Where trials may work."""
        return self.path / SCRATCH

    def begin(self) -> None:
        """Read what the journal says, and remove what a killed run left.

        Raises:
            InputError: the journal cannot be read, or is that of another list.
        """
        shutil.rmtree(self.scratch, ignore_errors=True)
        for left in self.path.glob(".*.part"):
            left.unlink()
        if (self.path / JOURNAL).exists():
            found = read_journal(self.path)
            if {key: found.get(key) for key in self.about} != self.about:
                raise InputError(
                    f"{self.path / JOURNAL}: this folder holds another {self.noun}; give another one with --out"
                )
            self.known = {record["file"]: record for record in found["trials"]}

    def add(self, entries: Sequence[ListedTrial]) -> list[ListedTrial]:
        """Take trials into the journal; those of them that are still to be done.

        Raises:
            InputError: what is there under the name of one is of another trial.
        """
        due = []
        for entry in entries:
            known = self.known.pop(entry.file, None)
            record = {"file": entry.file, "label": entry.label, "trial": digest([entry]), "state": "waiting"}
            if known is not None and known["trial"] != record["trial"]:
                raise InputError(
                    f"{self.path / JOURNAL}: {entry.file} is of another trial than the one that is asked for; "
                    f"give another folder with --out"
                )
            if known is not None and known["state"] in DONE and self._is_whole(known):
                record = known
            else:
                due.append(entry)
            self.records[entry.file] = record
        self.write()
        return due

    def state(self, entry: ListedTrial) -> tuple[str, str, Mapping[str, float | None]]:
        """What the journal says of a trial, what went wrong, and its values."""
        record = self.records[entry.file]
        return record["state"], record.get("why", ""), record.get("values", {})

    def take(self, entry: ListedTrial, made: Made, state: str, why: str) -> None:
        """A trial is done, and `why` says what went wrong all the same: put its file in its place, from `scratch`."""
        file = self.path / entry.file
        file.parent.mkdir(parents=True, exist_ok=True)
        sha256 = hashlib.sha256(made.file.read_bytes()).hexdigest()
        self.place(made.file, file)
        self._note(entry, state, why, sha256=sha256, **({"values": dict(made.values)} if made.values else {}))

    def place(self, made: Path, file: Path) -> None:
        """Put a data file where it belongs."""
        made.replace(file)

    def keep_values(self, entry: ListedTrial, values: Mapping[str, float | None]) -> None:
        """What was read in the data of a trial that is done already."""
        self.records[entry.file]["values"] = dict(values)
        self.write()

    def fail(self, entry: ListedTrial, why: str) -> None:
        """A trial gave no data."""
        self._note(entry, "failed", why)

    def keep_log(self, entry: ListedTrial, log: Path, *, needed: bool) -> None:
        """Put what a trial's process printed beside its data file, where it is needed; an older one goes."""
        kept = self.path / f"{entry.name}.log"
        if needed and log.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            log.replace(kept)
        else:
            kept.unlink(missing_ok=True)

    def write(self) -> None:
        """Write the journal, in the order of the list."""
        write_json(self.path / JOURNAL, {"format": FORMAT, **self.about, "trials": list(self.records.values())})

    def end(self) -> None:
        """Leave nothing but results."""
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _note(self, entry: ListedTrial, state: str, why: str, **more: Any) -> None:
        record = self.records[entry.file]
        for key in ("why", "sha256", "values"):
            record.pop(key, None)
        record |= {"state": state, **({"why": why} if why else {}), **more}
        self.write()

    def _is_whole(self, record: Mapping[str, Any]) -> bool:
        """Whether the file of a trial that is done is there as it was written."""
        try:
            content = (self.path / record["file"]).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(content).hexdigest() == record.get("sha256")


def opened(path: Path, about: Mapping[str, Any]) -> contextlib.AbstractContextManager[TrialFolder]:
    """Work on a folder that is there, alone; what is only needed meanwhile goes at the end.

    Raises:
        InputError: another run works on it, or it holds another list.
    """
    return opened_as(path, about, TrialFolder)


@contextlib.contextmanager
def opened_as(
    path: Path, about: Mapping[str, Any], kind: Callable[[Path, Mapping[str, Any]], Folder]
) -> Iterator[Folder]:
    """As `opened`, with a folder of another kind."""
    with _locked(path):
        folder = kind(path, about)
        folder.begin()
        try:
            yield folder
        finally:
            folder.end()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A lock on the folder itself leaves no file; the processes of trials hold it too, as long as they live."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + LOCK_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise InputError(
                        f"{path}: another run works on this folder; wait for it, or give another"
                    ) from None
                time.sleep(0.1)
        yield
    finally:
        os.close(handle)


def read_journal(path: Path) -> dict[str, Any]:
    """The journal of a folder.

    Raises:
        InputError: there is none, or it is not one.
    """
    file = path / JOURNAL
    if not file.exists():
        raise InputError(f"{path}: there is no {JOURNAL} here, so no batch or sweep has begun in this folder")
    try:
        found = json.loads(read_text(file))
        fine = found["format"] == FORMAT and all(
            isinstance(each[key], str) for each in found["trials"] for key in ("file", "trial", "state")
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        fine = False
    if not fine or not all(each["file"].endswith(SUFFIX) for each in found["trials"]):
        raise InputError(f"{file}: this is not a journal of trials; give another folder")
    return dict(found)
