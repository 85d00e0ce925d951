# SPDX-License-Identifier: BSD-3-Clause
"""What is known of somebody's work on a lab: lines typed with what they showed, state read back, files, editor verbs.

Plain data, in the order in which it happened; `linklab.guide.progress` files it, `linklab.guide.guide` judges it.
Times are network time since the network was ready.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from linklab.state.model import State


@dataclass(frozen=True)
class TypedEvidence:
    """A line typed into a terminal: told once when it begins (end_s None), and once more when it has ended.

    terminal: as manuals name it: "h1", "h1#2", "client", "mininet".
    status: exit status; None while it runs, and where there is none.
    scalars: what its output and the files that it wrote measured; broken: why they could not be measured.
    files: paths below the working folder that it wrote.
    """

    terminal: str
    text: str
    start_s: float
    end_s: float | None = None
    output: str = ""
    status: int | None = None
    scalars: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    broken: str = ""
    files: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether all that it showed is here."""
        return self.end_s is not None

    @property
    def key(self) -> tuple[str, str, float]:
        """What its beginning and its end have in common."""
        return self.terminal, self.text, self.start_s


@dataclass(frozen=True)
class StateEvidence:
    """What the kernel said of every node after something had been set."""

    state: State
    at_s: float


@dataclass(frozen=True)
class FileEvidence:
    """A file that was written; path: below the working folder, or absolute."""

    path: str
    text: str


@dataclass(frozen=True)
class EditorEvidence:
    """Something done to the drawing or with it, in the words of a manual's editor block: ("open", "Lab 3.mn").

    Whoever starts a lab's network without the editor says so in the same words: ("open", …), ("run",). Of a terminal
    that is open, wherever that is, every view says ("opened", "h1"), and ("closed", "h1") of the last one there.
    """

    words: tuple[str, ...]


@dataclass(frozen=True)
class PredictionEvidence:
    """What the student predicted, as it was typed; all "" where the prediction was withdrawn.

    name: of the manual's `predict` block; number and unit: "" where the question asks for none, and so with words.
    """

    name: str
    number: str = ""
    unit: str = ""
    why: str = ""
    words: str = ""

    @property
    def empty(self) -> bool:
        """Whether it predicts nothing."""
        return not any(text.strip() for text in (self.number, self.words, self.why))

    @property
    def text(self) -> str:
        """All of it in one line: the number with its unit, the words, and the reason."""
        return " ".join(filter(None, (self.number, self.unit, self.words, self.why)))


@dataclass(frozen=True)
class MeasuredBeforeEvidence:
    """What decides these predictions was measured in an earlier attempt at the lab in this folder."""

    predictions: tuple[str, ...]


GuideEvidence: TypeAlias = (
    TypedEvidence | StateEvidence | FileEvidence | EditorEvidence | PredictionEvidence | MeasuredBeforeEvidence
)
