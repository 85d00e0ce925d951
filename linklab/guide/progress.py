# SPDX-License-Identifier: BSD-3-Clause
"""Somebody's progress in a lab as a file: `.linklab/progress.jsonl` in the lab's working folder.

One JSON object a line, each with its "kind": first "lab", which says of which lab and in which form, then the evidence
in its order (`linklab.guide.evidence_lines`), and notes of views, such as hints that were asked for. Lines are only
added (`linklab.guide.progress_lines`); one that cannot be read stays in the file, and every view tells of it. Programs
inside the network must not add lines: they leave them in a folder beside the file, for the next program outside.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab.base.files import write
from linklab.errors import InputError
from linklab.guide.evidence import GuideEvidence
from linklab.guide.evidence_lines import EvidenceReader, EvidenceWriter
from linklab.guide.progress_lines import LineWriter, ProgressLine, read_lines
from linklab.lab.model import Lab
from linklab.lab.reference import replayed

FORMAT = 1
FOLDER = ".linklab"
FILE = "progress.jsonl"
"""Both as `linklab.agent.guided` has them, which looks for the file."""
INSIDE = "inside"
"""Folder beside the file for the lines of programs inside the network, a file each."""
BEGUN, CONTINUED = "begun", "continued"
"""Kinds of the lines that say that a network began, as the lab wants it or as it was left, with its environment."""
MOST_NAMED = 5


@dataclass(frozen=True)
class ReadProgress:
    """What a file of progress holds.

    lines: those that can be read, with the evidence in them, None for a note.
    damaged: the others; total: how many lines there are.
    """

    lines: Sequence[tuple[dict[str, Any], GuideEvidence | None]]
    damaged: Sequence[ProgressLine]
    total: int


@dataclass
class LabProgress:
    """The progress of one lab in one folder; lab, slug: which."""

    folder: Path
    lab: int
    slug: str
    replayed: str = ""
    _evidence: EvidenceWriter = field(default_factory=EvidenceWriter)

    def __post_init__(self) -> None:
        head = {"format": FORMAT, "lab": self.lab, "slug": self.slug, "replayed": self.replayed}
        self._writer = LineWriter(self.path, _line("lab", head) + b"\n")

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / FOLDER / FILE

    @classmethod
    def begin(cls, folder: Path, lab: Lab) -> LabProgress:
        """The progress of a lab in a folder; a new one where there is none.

        Where the lines that say which lab it is are damaged, the caller knows, and the file says so again.

        Raises:
            InputError: the folder has that of another lab, or the file cannot be read or written.
        """
        new = cls(folder, lab.number, lab.slug, replayed(lab))
        path = new.path
        lines = _lines(path)
        found = cls._of(folder, lines)
        if found is not None:
            if found.lab != lab.number:
                raise InputError(
                    f"{path}: this is the progress of Lab {found.lab}; do Lab {lab.number} in a folder of its own: "
                    f"mkdir ../lab{lab.number}; cd ../lab{lab.number}; linklab lab {lab.number}"
                )
            new.take_in()
            return new
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path.parent}: cannot be made: {error.strerror}") from error
        if lines:
            new.note("lab", format=FORMAT, lab=lab.number, slug=lab.slug, replayed=new.replayed)
            return new
        try:
            new._writer.begin()
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error
        return new

    @classmethod
    def load(cls, folder: Path) -> LabProgress | None:
        """The progress in a folder; None if there is none.

        Raises:
            InputError: it cannot be read, is of another form, or does not say of which lab it is.
        """
        path = folder / FOLDER / FILE
        lines = _lines(path)
        found = cls._of(folder, lines)
        if found is None and lines:
            raise InputError(
                f"{path}: this is no progress of a known lab, because the line that says which lab it is cannot be "
                "read; to go on with the rest, start the lab once in this folder with `linklab lab LAB`, or add "
                "--anew to begin anew, which keeps this file under another name"
            )
        return found

    @classmethod
    def _of(cls, folder: Path, lines: Sequence[ProgressLine]) -> LabProgress | None:
        """The lab that the first line tells that can be read; None if none of them does."""
        path = folder / FOLDER / FILE
        for line in lines:
            data = line.data or {}
            if data.get("kind") == "lab" and data.get("format") != FORMAT:
                raise InputError(f"{path}: this is no progress of a lab in form {FORMAT}; {_AWAY}")
            lab, slug = data.get("lab"), data.get("slug")
            if data.get("kind") in ("lab", BEGUN, CONTINUED) and isinstance(lab, int) and isinstance(slug, str):
                return cls(folder, lab, slug, str(data.get("replayed", "")))
        if lines and all(line.data is None for line in lines):
            raise InputError(f"{path}: this is no progress of a lab: none of its lines can be read; {_AWAY}")
        return None

    def add(self, evidence: GuideEvidence) -> None:
        """Put evidence at the end; InputError if it cannot be written."""
        line = self._evidence.line(evidence)
        if line is not None:
            self.note(**line)
            self._evidence.written(evidence)

    def note(self, kind: str, **data: Any) -> None:
        """Put a line of a view's own at the end; InputError if it cannot be written."""
        line = _line(kind, data)
        try:
            if os.environ.get("LINKLAB_INSIDE"):
                _leave(self.path.parent / INSIDE, line)
            else:
                self._writer.append(line)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def take_in(self) -> None:
        """Add the lines that programs inside the network have left; InputError if one cannot be written."""
        if os.environ.get("LINKLAB_INSIDE"):
            return
        for path in _left(self.path.parent / INSIDE):
            for line in _lines(path):
                if line.data is not None:
                    self.note(**line.data)
            path.unlink(missing_ok=True)

    def read(self, most_of_states: int | None = None) -> ReadProgress:
        """Everything in the file; InputError if it cannot be read.

        most_of_states: as in `EvidenceReader`.
        """
        lines = _lines(self.path)
        reader = EvidenceReader(most_of_states=most_of_states)
        good: list[tuple[dict[str, Any], GuideEvidence | None]] = []
        damaged: list[ProgressLine] = []
        for line in lines:
            try:
                if line.data is None:
                    raise ValueError(line.why)
                good.append((line.data, reader.read(line.data)))
            except ValueError as error:
                reader.missed(line.raw)
                damaged.append(ProgressLine(line.number, line.raw, why=str(error)))
        self._evidence.nodes = {} if damaged else reader.nodes
        return ReadProgress(good, damaged, len(lines))

    def trouble(self) -> str:
        """A sentence on the lines that cannot be read, "" if all can; InputError as `read`."""
        return damage_told(str(self.path), self.read())

    def notes(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind, with those that programs inside have left; InputError as `read`."""
        left = [line for path in _left(self.path.parent / INSIDE) for line in _lines(path)]
        return [line.data for line in [*_lines(self.path), *left] if line.data and line.data["kind"] == kind]

    def evidence(self) -> Iterator[GuideEvidence]:
        """All evidence that can be read, in its order; InputError as `read`."""
        return (found for _, found in self.entries() if found is not None)

    def entries(self) -> Iterator[tuple[str, GuideEvidence | None]]:
        """The kind of each line that can be read, and the evidence in it; None for a note. InputError as `read`."""
        return ((data["kind"], found) for data, found in self.read().lines)


_AWAY = "move it away, or begin anew with `linklab lab LAB --anew`, which keeps it under another name"


def damage_told(where: str, read: ReadProgress) -> str:
    """What to say of the lines that cannot be read; "" if all can."""
    numbers = [str(line.number) for line in read.damaged]
    if not numbers:
        return ""
    first = read.damaged[0]
    if len(numbers) == 1:
        which = f"line {first.number} of {read.total} cannot be read and is left out ({first.why})"
    else:
        more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
        named = ", ".join(numbers[:MOST_NAMED]) + more
        which = (
            f"{len(numbers)} of {read.total} lines cannot be read and are left out: {named} "
            f"(line {first.number}: {first.why})"
        )
    return f"{where}: {which}; the file is kept as it is, and you can do again any step that is open because of it"


def _line(kind: str, data: dict[str, Any]) -> bytes:
    text = json.dumps({"kind": kind, **data}, ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "backslashreplace")


def _lines(path: Path) -> list[ProgressLine]:
    try:
        return read_lines(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _leave(folder: Path, line: bytes) -> None:
    """Leave a line for a program outside, as a file that is there whole or not at all."""
    folder.mkdir(exist_ok=True)
    write(folder / f"{secrets.token_hex(8)}.jsonl", line + b"\n")


def _left(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))
