# SPDX-License-Identifier: BSD-3-Clause
"""What a manual's pages are made from: the manual itself, what was recorded, and what its lab or exercise knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from linklab.base.catalogue import Say, unchanged
from linklab.manual.model import Manual, PredictionAnswer


@dataclass(frozen=True)
class Recorded:
    """What a run of the manual left.

    outputs: step id → terminal output.
    scalars: step id → metric → (value, unit).
    figures: "STEP/NAME" → the bytes of an SVG or PNG image.
    """

    outputs: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, Mapping[str, tuple[float, str]]] = field(default_factory=dict)
    figures: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class English:
    """Which pieces of a translated chapter are in English, so that a screen reader speaks them so.

    lines: file → lines of its translated text at which such a piece begins.
    objectives: those that are.
    """

    lines: Mapping[Path, Set[int]] = field(default_factory=dict)
    objectives: Set[str] = frozenset()

    def begins(self, path: Path, line: int) -> bool:
        """Whether a piece in English begins at this line of a file."""
        return line in self.lines.get(path, ())


@dataclass(frozen=True)
class Chapter:
    """A manual with all that its pages need.

    manual: files that its images name are read from beside it.
    heading: its title, such as "Lab 14: Router's bufferbloat".
    objectives: what `{{lab.objectives}}` lists.
    fields: what `{{lab.title}}` and `{{lab.number}}` stand for.
    recorded: outputs, numbers and plots of the reference run.
    picture: the topology as an `<svg>` element.
    minutes: a student needs; 0 where nobody knows.
    note: a line under the title; "" for none.
    answers: to the manual's predictions, by their ids.
    language: of its text, as HTML names it.
    say: gives the words that the page itself adds in that language.
    english: what of the text is in English all the same.
    """

    manual: Manual
    heading: str
    objectives: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    recorded: Recorded = Recorded()
    picture: str = ""
    minutes: int = 0
    note: str = ""
    answers: Mapping[str, PredictionAnswer] = field(default_factory=dict)
    language: str = "en"
    say: Say = unchanged
    english: English = English()

    @property
    def english_sections(self) -> Set[str]:
        """The slugs of the sections whose titles are in English, of a chapter in another language."""
        manual = self.manual
        return {section.slug for section in manual.sections if self.english.begins(manual.path, section.line)}
