# SPDX-License-Identifier: BSD-3-Clause
"""Somebody's progress in a lab as a file: `.linklab/progress.jsonl` in the lab's working folder.

One JSON object a line, each with its "kind": first "lab", which says of which lab and in which form, then the evidence
in its order, and notes of views (hints that were asked for, predictions). Lines are only ever added, so the page and a
terminal inside may write at the same time. What the lines say is judged anew whenever they are read.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linklab.errors import InputError
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.lab.model import Lab
from linklab.lab.reference import replayed
from linklab.state.model import FORMAT as STATE_FORMAT
from linklab.state.model import State

FORMAT = 1
FOLDER = ".linklab"
FILE = "progress.jsonl"
"""Both as `linklab.agent.guided` has them, which looks for the file."""
MOST_KEPT = 200_000
"""Letters of one line's output that are kept in the file, half of them from each end."""
_KEYS = ("terminal", "text", "start_s", "end_s", "output", "status", "scalars", "broken", "files")


@dataclass
class LabProgress:
    """The progress of one lab in one folder; lab, slug: which."""

    folder: Path
    lab: int
    slug: str
    _nodes: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / FOLDER / FILE

    @classmethod
    def begin(cls, folder: Path, lab: Lab) -> LabProgress:
        """The progress of a lab in a folder; a new one where there is none.

        Raises:
            InputError: the folder has that of another lab, or the file cannot be read or written.
        """
        found = cls.load(folder)
        if found is not None:
            if found.lab != lab.number:
                raise InputError(
                    f"{found.path}: this is the progress of Lab {found.lab}; do Lab {lab.number} in a folder of its "
                    f"own, or remove {found.path.parent} to begin anew"
                )
            found._mend()
            return found
        new = cls(folder, lab.number, lab.slug)
        try:
            new.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{new.path.parent}: cannot be made: {error.strerror}") from error
        new.note("lab", format=FORMAT, lab=lab.number, slug=lab.slug, replayed=replayed(lab))
        return new

    def _mend(self) -> None:
        """Drop a last line that was cut off, so that the next one does not continue it."""
        with contextlib.suppress(OSError), self.path.open("rb+") as file:
            data = file.read()
            file.truncate(data.rfind(b"\n") + 1)

    @classmethod
    def load(cls, folder: Path) -> LabProgress | None:
        """The progress in a folder; None if there is none.

        Raises:
            InputError: it cannot be read, or is of another form.
        """
        path = folder / FOLDER / FILE
        if not path.is_file():
            return None
        first = next(_lines(path), {})
        known = first.get("kind") == "lab" and first.get("format") == FORMAT
        if not known or not isinstance(first.get("lab"), int) or not isinstance(first.get("slug"), str):
            raise InputError(f"{path}: this is no progress of a lab in form {FORMAT}; remove it to begin anew")
        return cls(folder, first["lab"], first["slug"])

    def add(self, evidence: GuideEvidence) -> None:
        """Put evidence at the end; InputError if it cannot be written."""
        match evidence:
            case TypedEvidence():
                data = {key: value for key, value in asdict(evidence).items() if value not in ("", None, {}, ())}
                if len(evidence.output) > MOST_KEPT:
                    half = MOST_KEPT // 2
                    data["output"] = f"{evidence.output[:half]}\n[…]\n{evidence.output[-half:]}"
                self.note("typed", **data)
            case StateEvidence(state=state, at_s=at_s):
                nodes = json.loads(state.dumps())["nodes"]
                changed = {name: node for name, node in nodes.items() if self._nodes.get(name) != node}
                if changed or not self._nodes:
                    self._nodes = nodes
                    self.note("state", at_s=at_s, nodes=changed)
            case FileEvidence(path=path, text=text):
                self.note("file", path=path, text=text)
            case EditorEvidence(words=words):
                self.note("editor", words=list(words))

    def note(self, kind: str, **data: Any) -> None:
        """Put a line of a view's own at the end; InputError if it cannot be written."""
        line = json.dumps({"kind": kind, **data}, ensure_ascii=False, sort_keys=True)
        try:
            with self.path.open("ab") as file:
                file.write(line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written: {os.strerror(error.errno or 0)}") from error

    def notes(self, kind: str) -> list[dict[str, Any]]:
        """The lines of a kind."""
        return [line for line in _lines(self.path) if line.get("kind") == kind]

    def evidence(self) -> Iterator[GuideEvidence]:
        """All evidence, in its order; InputError as `entries`."""
        return (found for _, found in self.entries() if found is not None)

    def entries(self) -> Iterator[tuple[str, GuideEvidence | None]]:
        """The kind of each line, in their order, and the evidence that it holds; None for a note.

        Raises:
            InputError: a line is not as this module writes it; it names the line.
        """
        nodes: dict[str, Any] = {}
        for number, line in enumerate(_lines(self.path), 1):
            try:
                if line.get("kind") == "state":
                    nodes |= line["nodes"]
                found = _evidence(line, nodes)
            except (KeyError, TypeError, ValueError, InputError) as error:
                raise InputError(f"{self.path}:{number}: this line cannot be read: {error}") from error
            yield str(line.get("kind")), found
        self._nodes = nodes


def _evidence(line: dict[str, Any], nodes: dict[str, Any]) -> GuideEvidence | None:
    match line.get("kind"):
        case "typed":
            given = {key: line[key] for key in _KEYS if key in line}
            given["files"] = tuple(given.get("files", ()))
            scalars = line.get("scalars", {})
            given["scalars"] = {name: (float(value), str(unit)) for name, (value, unit) in scalars.items()}
            return TypedEvidence(**given)
        case "state":
            return StateEvidence(State.loads(json.dumps({"format": STATE_FORMAT, "nodes": nodes})), float(line["at_s"]))
        case "file":
            return FileEvidence(str(line["path"]), str(line["text"]))
        case "editor":
            return EditorEvidence(tuple(map(str, line["words"])))
    return None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file; a last one that is not whole, as after the end of a machine, is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            if number >= len(lines):
                return
            raise InputError(f"{path}:{number}: this is no line of JSON: {error}") from error
        if isinstance(data, dict):
            yield data
