# SPDX-License-Identifier: BSD-3-Clause
"""A prediction as a student wrote it: whether it answers its question, and how it is shown beside a measurement.  Pure.

What a question asks for is in the manual (`Prediction.asks`); how numbers are typed, in `linklab.base.typed_numbers`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from linklab.base.numbers import format_number, parse_number
from linklab.base.typed_numbers import plain_of_kinds, set_apart
from linklab.errors import InputError
from linklab.guide.evidence import PredictionEvidence
from linklab.manual.predict import WORDS

FIELDS = ("number", "unit", "why", "words")
LONGEST_WHY = 4000
LONGEST_UNIT = 20


@dataclass(frozen=True)
class WrittenPrediction:
    """A prediction as it was typed; number, unit, words: "" where the question asks for none."""

    number: str = ""
    unit: str = ""
    why: str = ""
    words: str = ""

    @classmethod
    def of(cls, evidence: PredictionEvidence) -> WrittenPrediction:
        """As the progress has it."""
        return cls(**{key: getattr(evidence, key) for key in FIELDS})

    def evidence(self, name: str) -> PredictionEvidence:
        """For the progress; name: of the manual's `predict` block."""
        return PredictionEvidence(name, **asdict(self))

    @property
    def empty(self) -> bool:
        """Whether nothing was written."""
        return self.evidence("").empty

    def set_apart(self) -> WrittenPrediction:
        """The same, with a unit typed behind the number moved to its own field; InputError if another one is there."""
        number, unit = set_apart(self.number, self.unit)
        return replace(self, number=number, unit=unit)

    def check(self, asks: Sequence[str]) -> None:
        """Refuse what cannot answer a question.

        Args:
            asks: as `Prediction.asks`.

        Raises:
            InputError: it is too long, or as in `quantity`.
        """
        if len(self.unit) > LONGEST_UNIT or max(len(self.why), len(self.words)) > LONGEST_WHY:
            raise InputError(
                f"a unit has at most {LONGEST_UNIT} characters; words and a reason have at most {LONGEST_WHY:,} each"
            )
        self.quantity(asks)

    def quantity(self, asks: Sequence[str]) -> tuple[float, str] | None:
        """The number in base units, as `parse_number` gives it; None if there is none.

        Raises:
            InputError: it is no number, can mean two, or its unit is missing or of a kind that is not asked for.
        """
        if not (plain := self._plain(asks)):
            return None
        found = parse_number(plain if " " in plain else float(plain))
        if not math.isfinite(found[0]):
            raise InputError(f"{self.number.strip()}: the number is too large")
        return found

    def told(self, asks: Sequence[str]) -> str:
        """The number as it was typed, and in the unit of measurements where that is another one: "0.04 s = 40 ms"."""
        typed = f"{self.number} {self.unit}".strip()
        with contextlib.suppress(InputError):  # of a Linklab that took any unit, or changed by hand
            quantity = self.quantity(asks)
            if quantity is not None and quantity[1] != "1":
                shown = format_number(*quantity)
                unit = self._plain(asks).partition(" ")[2].replace("us", "µs")
                return typed if shown.endswith(f" {unit}") else f"{typed} = {shown}"
        return typed

    def _plain(self, asks: Sequence[str]) -> str:
        if not self.number.strip():
            return ""
        if not (kinds := [kind for kind in asks if kind != WORDS]):
            raise InputError("this question asks for words, not for a number; write them into their field")
        return plain_of_kinds(self.number, self.unit, kinds)
