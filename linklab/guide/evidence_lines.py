# SPDX-License-Identifier: BSD-3-Clause
"""Evidence ⇄ the JSON objects of a progress, for `linklab.guide.progress`; pure.

A line may come from a damaged file or from a stranger's hand, so each value is checked, and what is wrong is a
ValueError that says what. A state holds only the nodes that have changed since the state that it names by its digest.
So if a line is lost, the states that rest on it are refused, and no state comes out mixed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from linklab.errors import LinklabError
from linklab.guide.evidence import (
    EditorEvidence,
    FileEvidence,
    GuideEvidence,
    MeasuredBeforeEvidence,
    PredictionEvidence,
    StateEvidence,
    TypedEvidence,
)
from linklab.state.model import FORMAT as STATE_FORMAT
from linklab.state.model import State

_OF_NODES = ("opened", "closed", "terminal", "close")
"""Verbs of an editor that a node's name follows."""
_TERMINAL = re.compile(r"[^#\s]{1,64}(#\d{1,3})?", re.ASCII)
"""Not those that Linklab looks at a network in, such as "client#look"."""
MOST_KEPT = 200_000
"""Letters of one line's output that are kept in the file, half of them from each end."""
STATE = "state"
_OTHERS = tuple(f'"kind": "{kind}"'.encode() for kind in ("typed", "file", "editor", "begun", "continued", "hint"))
_OF_STATE = (b'"nodes"', b'"state"')

Nodes = dict[str, Any]
"""The nodes of a state as JSON holds them."""


@dataclass
class EvidenceWriter:
    """Turns evidence into lines; nodes: of the state that was written last, {} if the next is to be written whole."""

    nodes: Nodes = field(default_factory=dict)

    def line(self, evidence: GuideEvidence) -> dict[str, Any] | None:
        """The line; None if it would say nothing new. Call `written` once it is in the file."""
        match evidence:
            case TypedEvidence():
                data = {key: value for key, value in asdict(evidence).items() if value not in ("", None, {}, ())}
                if len(evidence.output) > MOST_KEPT:
                    half = MOST_KEPT // 2
                    data["output"] = f"{evidence.output[:half]}\n[…]\n{evidence.output[-half:]}"
                return {**data, "kind": "typed"}
            case StateEvidence(state=state, at_s=at_s):
                return self._of_state(_nodes(state), at_s)
            case FileEvidence():
                return {"kind": "file", **asdict(evidence)}
            case EditorEvidence(words=words):
                return {"kind": "editor", "words": list(words)}
            case PredictionEvidence():
                return {"kind": "prediction", **asdict(evidence)}
            case MeasuredBeforeEvidence(predictions=names):
                return {"kind": "measured", "predictions": list(names)}

    def written(self, evidence: GuideEvidence) -> None:
        """The line of this evidence is in the file."""
        if isinstance(evidence, StateEvidence):
            self.nodes = _nodes(evidence.state)

    def _of_state(self, nodes: Nodes, at_s: float) -> dict[str, Any] | None:
        changed = {name: node for name, node in nodes.items() if self.nodes.get(name) != node}
        gone = sorted(set(self.nodes) - set(nodes))
        if self.nodes and not changed and not gone:
            return None
        line = {"kind": STATE, "at_s": at_s, "nodes": changed, "whole": digest(nodes)}
        return {**line, "after": digest(self.nodes), "gone": gone} if self.nodes else line


@dataclass
class EvidenceReader:
    """Reads the lines of one file in their order.

    most_of_states: characters of JSON of all states together, each whole, beyond which no state is read; None is no
        limit.
    A line of a hundred characters may rest on a state of millions.
    """

    nodes: Nodes = field(default_factory=dict)
    most_of_states: int | None = None
    _of_states: int = 0
    _known: dict[str, Nodes] = field(default_factory=dict)
    _lost: bool = False

    def read(self, line: Mapping[str, Any]) -> GuideEvidence | None:
        """The evidence that a line holds; None for a line that holds none.

        Raises:
            ValueError: a value is missing or of another kind, or a state rests on one that is not there.
        """
        kind = line.get("kind")
        if kind == STATE:
            return self._state(line)
        read = _READERS.get(kind) if isinstance(kind, str) else None
        return read(line) if read else None

    def missed(self, raw: bytes) -> None:
        """A line could not be read: unless it shows what else it was, states without a digest may rest on it."""
        known = any(kind in raw for kind in _OTHERS) and not any(mark in raw for mark in _OF_STATE)
        self._lost = self._lost or not known

    def _state(self, line: Mapping[str, Any]) -> StateEvidence:
        nodes, at_s = line.get("nodes"), _time(line, "at_s")
        if not isinstance(nodes, dict):
            raise ValueError('"nodes" is missing or not an object')
        if self.most_of_states is not None and self._of_states > self.most_of_states:
            raise ValueError(
                f"the states before it have more than {self.most_of_states:,} characters, each taken whole"
            )
        if "whole" in line:
            nodes = self._merged(line, nodes)
        elif self._known or self._lost:  # written before states had digests, and perhaps not all of them are here
            raise ValueError("it tells what has changed since a line that cannot be read")
        else:
            nodes = {**self.nodes, **nodes}
            self._of_states += len(_canonical(nodes))
        try:
            state = State.loads(json.dumps({"format": STATE_FORMAT, "nodes": nodes}))
        except (LinklabError, ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"it holds no state of a network: {error}") from error
        self.nodes = nodes
        if "whole" in line:
            self._known[line["whole"]] = nodes
        return StateEvidence(state, at_s)

    def _merged(self, line: Mapping[str, Any], changed: Nodes) -> Nodes:
        base: Nodes | None = {}
        if "after" in line:
            base = self._known.get(str(line["after"]))
            if base is None and not self._known:  # the last state that was written before states had digests
                text = _canonical(self.nodes)
                self._of_states += len(text)
                base = self.nodes if _name_of(text) == line["after"] else None
        if base is None:
            raise ValueError("it tells what has changed since a line that cannot be read")
        gone = line.get("gone", ())
        left_out = {name for name in gone if isinstance(name, str)} if isinstance(gone, list) else set()
        nodes = {name: node for name, node in base.items() if name not in left_out} | changed
        text = _canonical(nodes)
        self._of_states += len(text)
        if _name_of(text) != line["whole"]:
            raise ValueError("its nodes are not those that were written")
        return nodes


def _editor(line: Mapping[str, Any]) -> EditorEvidence:
    words = _words(line, "words")
    if not words or (words[0] in _OF_NODES and len(words) < 2):
        raise ValueError('"words" is not something done in an editor')
    return EditorEvidence(words)


_READERS: Mapping[str, Callable[[Mapping[str, Any]], GuideEvidence]] = {
    "typed": lambda line: _typed(line),  # noqa: PLW0108 - it stands below
    "file": lambda line: FileEvidence(_text(line, "path"), _text(line, "text")),
    "editor": _editor,
    "prediction": lambda line: _prediction(line),  # noqa: PLW0108 - as above
    "measured": lambda line: MeasuredBeforeEvidence(_words(line, "predictions")),
}


def _prediction(line: Mapping[str, Any]) -> PredictionEvidence:
    """The words are missing in a line of before there was a field for them."""
    given = {"words": "", **line}
    return PredictionEvidence(**{key: _text(given, key) for key in ("name", "number", "unit", "why", "words")})


def digest(nodes: Nodes) -> str:
    """A name for a state: the same for the same nodes."""
    return _name_of(_canonical(nodes))


def _canonical(nodes: Nodes) -> str:
    return json.dumps(nodes, sort_keys=True)


def _name_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _nodes(state: State) -> Nodes:
    nodes: Nodes = json.loads(state.dumps())["nodes"]
    return nodes


def _typed(line: Mapping[str, Any]) -> TypedEvidence:
    status, scalars, files = line.get("status"), line.get("scalars", {}), line.get("files", [])
    if status is not None and not (isinstance(status, int) and -(2**31) <= status < 2**31):
        raise ValueError('"status" is not an exit status')
    if not _TERMINAL.fullmatch(_text(line, "terminal")):
        raise ValueError('"terminal" is not the name of a terminal')
    if not isinstance(scalars, dict):
        raise ValueError('"scalars" is not an object')
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        raise ValueError('"files" is not a list of names')
    return TypedEvidence(
        terminal=_text(line, "terminal"),
        text=_text(line, "text"),
        start_s=_time(line, "start_s"),
        end_s=_time(line, "end_s") if line.get("end_s") is not None else None,
        output=_text(line, "output", ""),
        status=status,
        scalars={name: _scalar(name, value) for name, value in scalars.items()},
        broken=_text(line, "broken", ""),
        files=tuple(files),
    )


def _scalar(name: str, value: object) -> tuple[float, str]:
    match value:
        case [int() | float() as number, str(unit)]:
            return _float(number, name), unit
    raise ValueError(f'"{name}" in "scalars" is not a number with its unit')


def _text(line: Mapping[str, Any], key: str, missing: str | None = None) -> str:
    value = line.get(key, missing)
    if not isinstance(value, str):
        raise ValueError(f'"{key}" is missing or not a text')
    return value


def _time(line: Mapping[str, Any], key: str) -> float:
    """Network time, s."""
    value = line.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(_float(value, key)):
        raise ValueError(f'"{key}" is missing or not a time')
    return float(value)


def _float(value: float, key: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(f'"{key}" is too large a number') from error


def _words(line: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = line.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(word, (str, int)) for word in value):
        raise ValueError(f'"{key}" is missing or not a list of words')
    return tuple(map(str, value))
