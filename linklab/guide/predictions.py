# SPDX-License-Identifier: BSD-3-Clause
"""Which of a student's predictions were written before their measurement.  Pure; part of the guide.

The order of the evidence decides: of each prediction the one counts that was written last before the measurement that
decides it began, because a terminal shows a measurement while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

from linklab.errors import InputError
from linklab.guide.evidence import GuideEvidence, MeasuredBeforeEvidence, PredictionEvidence, TypedEvidence
from linklab.manual.model import Prediction


class PredictionTime(Enum):
    """When a prediction was written."""

    BEFORE = "before"
    AFTER = "after"
    UNKNOWN = "unknown"

    @property
    def sentence(self) -> str:
        """What pages and reports say of it; "" where it is as it should be."""
        return {
            "after": "Written after the measurement, so it does not count as a prediction.",
            "unknown": "It is not known whether this was written before the measurement.",
        }.get(self.value, "")


@dataclass
class PredictionOrder:
    """Follows predictions and measurements; asked: the predictions of the manual."""

    asked: Sequence[Prediction]
    _written: dict[str, list[tuple[int, PredictionEvidence]]] = field(default_factory=dict)
    _measured: dict[str, int] = field(default_factory=dict)
    _begun: dict[tuple[str, str, float], int] = field(default_factory=dict)
    _place: int = 0

    def see(self, evidence: GuideEvidence, is_done: Callable[[str], bool]) -> None:
        """Take one piece of evidence into account, after the guide has; is_done: whether a step is done now."""
        self._place += 1
        at = self._place
        match evidence:
            case PredictionEvidence(name=name):
                self._written.setdefault(name, []).append((at, evidence))
                return
            case MeasuredBeforeEvidence(predictions=names):
                for name in names:
                    self._measured.setdefault(name, at)
                return
            case TypedEvidence() if evidence.ended:
                at = self._begun.pop(evidence.key, at)
            case TypedEvidence():
                self._begun[evidence.key] = at
        for asked in self.asked:
            if asked.id not in self._measured and all(map(is_done, asked.settled)):
                self._measured[asked.id] = at

    @property
    def measured(self) -> list[str]:
        """The predictions whose measurement was seen, in the order of the manual."""
        return [asked.id for asked in self.asked if asked.id in self._measured]

    def counted(self, name: str) -> PredictionEvidence | None:
        """The prediction that counts: the last one before the measurement; None if there is none."""
        until = self._measured.get(name, self._place + 1)
        before = [written for at, written in self._written.get(name, ()) if at < until]
        return before[-1] if before and not before[-1].empty else None

    def standing(self, name: str) -> tuple[PredictionEvidence, PredictionTime] | None:
        """What is shown as the student's prediction, and when it was written; None if there is none."""
        if (counted := self.counted(name)) is not None:
            return counted, PredictionTime.BEFORE
        written = self._written.get(name)
        return (written[-1][1], PredictionTime.AFTER) if written and not written[-1][1].empty else None

    def carried(self) -> list[GuideEvidence]:
        """What another attempt at the lab begins with, so that what was measured once stays measured."""
        found: list[GuideEvidence] = []
        for asked in self.asked:
            if (counted := self.counted(asked.id)) is not None:
                found.append(counted)
            if asked.id in self._measured:
                found.append(MeasuredBeforeEvidence((asked.id,)))
            if (standing := self.standing(asked.id)) is not None and standing[1] is PredictionTime.AFTER:
                found.append(standing[0])
        return found

    def is_known(self, name: str) -> bool:
        """Whether it is known when this prediction was written."""
        return name in self._written

    def check(self, new: PredictionEvidence, running: Collection[str], is_done: Callable[[str], bool]) -> None:
        """Whether a prediction may be written now.

        Args:
            new: the prediction.
            running: the steps whose commands run now.
            is_done: whether a step is done.

        Raises:
            InputError: there is one already, and its measurement has begun.
        """
        counted = self.counted(new.name)
        asked = next((each for each in self.asked if each.id == new.name), None)
        if counted is None or asked is None or counted == new:
            return
        if new.name in self._measured:
            raise InputError(
                f"prediction {asked.number}: its measurement is done, so the prediction that you made before it stays "
                "as it is; if you think otherwise now, say so in your answers to the questions"
            )
        if set(asked.settled) & set(running) and all(step in running or is_done(step) for step in asked.settled):
            raise InputError(
                f"prediction {asked.number}: its measurement is running, so the prediction that you made before it "
                "stays as it is; stop the command first if you want to predict anew"
            )
