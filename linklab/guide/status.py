# SPDX-License-Identifier: BSD-3-Clause
"""What the guide says of a step, and how it keeps what it knows of each thing that a step wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from linklab.guide.missed import expected_of, seen_of
from linklab.guide.plan import GuideStep
from linklab.judge.expectation import ExpectationVerdict
from linklab.judge.verdict import Outcome

BY_SCRIPT = "by set_env.sh"
"""The story of what the lab's own script has done."""


class GuideStatus(Enum):
    """How far a step is."""

    OPEN = "open"
    DONE = "done"
    DIFFERENTLY = "done differently"
    WRONG = "wrong"

    @property
    def good(self) -> bool:
        """Whether there is nothing left to do."""
        return self in (GuideStatus.DONE, GuideStatus.DIFFERENTLY)


@dataclass
class WantStatus:
    """Of one thing that a step wants.

    story: how it was done differently, or what is wrong; advice: Markdown on the message of a command that was refused.
    tries: how often it was tried and found wrong, by different lines or files.
    own: whether it was done once by anything but the lab's set_env.sh.
    """

    status: GuideStatus = GuideStatus.OPEN
    story: str = ""
    verdicts: list[ExpectationVerdict] = field(default_factory=list)
    advice: str = ""
    tries: int = 0
    own: bool = False
    _marked: bool = False
    """Whether it was found wrong since `count_try` was called last."""
    _last_try: object = None

    @property
    def good(self) -> bool:
        """Whether it is done."""
        return self.status.good

    @property
    def undone(self) -> bool:
        """Whether it was done, and no longer is."""
        return self.status is GuideStatus.OPEN and bool(self.story)

    @property
    def given(self) -> bool:
        """Whether the lab's set_env.sh has done it, and nobody else."""
        return self.good and not self.own

    def mark_given(self) -> None:
        """The lab's set_env.sh has done it; what the reader had done before stays the reader's own."""
        if not self.good:
            self.status, self.story, self.verdicts, self.advice = GuideStatus.DIFFERENTLY, BY_SCRIPT, [], ""

    def mark_done(self, differently: str = "") -> None:
        """It is done; differently: how, "" as printed."""
        self.own = True
        if self.status is GuideStatus.DONE:
            return
        self.status = GuideStatus.DIFFERENTLY if differently else GuideStatus.DONE
        self.story, self.verdicts, self.advice = differently, [], ""

    def mark_wrong(self, story: str, verdicts: Sequence[ExpectationVerdict] = (), advice: str = "") -> None:
        """It was tried, and is not as it should be."""
        self.status, self.story, self.verdicts, self.advice = GuideStatus.WRONG, story, list(verdicts), advice
        self._marked = True

    def count_try(self, by: object) -> None:
        """Count what was found wrong just now; a line is seen at its beginning, at its end, and by what it set."""
        if self._marked and by != self._last_try:
            self.tries += 1
            self._last_try = by
        self._marked = False

    def reopen(self, story: str) -> None:
        """It was done and has been undone."""
        self.status, self.story, self.verdicts, self.advice = GuideStatus.OPEN, story, [], ""


@dataclass(frozen=True)
class StepState:
    """What a view shows of a step.

    section: number and title; task: the sentence of its "Step." paragraph, with its number.
    terminal, typed: where it is done and what is printed there.
    story: what was found and what is wanted, "" where there is nothing to say; expected, seen, why: of the first
    expectation that is missed.
    advice: what docs/when-tc-complains.md says of the message of a command that was refused, as Markdown.
    undone: it was done, and another command has undone it, which `story` tells.
    left_out: a later step is done, this one is not; hints: in stages.
    counts: whether it is one of the steps of which all are to be done: neither optional nor one that nothing follows.
    tries: how often it was tried and found wrong; a view tells by it that the same mistake was made again.
    given: whether the lab's set_env.sh has done something of it in the reader's place.
    """

    id: str
    section: str
    subgoal: str
    task_number: int | None
    task: str
    terminal: str
    typed: str
    status: GuideStatus
    story: str
    expected: str
    seen: str
    why: str
    advice: str
    optional: bool
    undone: bool
    left_out: bool
    counts: bool
    tries: int
    given: bool
    hints: tuple[str, ...]

    @classmethod
    def of(
        cls,
        step: GuideStep,
        status: GuideStatus,
        story: str,
        *,
        undone: bool,
        left_out: bool,
        counts: bool,
        tries: int,
        given: bool,
        advice: str,
        verdicts: Sequence[ExpectationVerdict],
        hints: Sequence[str],
        titles: Mapping[str, str],
    ) -> StepState:
        """The state of a step of a plan; titles: what people call each step of the manual."""
        first = verdicts[0] if verdicts else None
        section = step.section
        heading = " ".join(filter(None, (section.number, section.title))) if section else ""
        return cls(
            id=step.id,
            section=heading,
            subgoal=step.subgoal,
            task_number=step.step.number,
            task=step.step.title,
            terminal=step.step.terminal,
            typed=step.step.typed,
            status=status,
            story=story,
            expected=expected_of(first, titles) if first else "",
            seen=seen_of(first) if first else "",
            why=first.expectation.why if first and first.outcome is Outcome.FAIL else "",
            advice=advice,
            optional=step.step.optional,
            undone=undone,
            left_out=left_out,
            counts=counts,
            tries=tries,
            given=given,
            hints=tuple(hints),
        )

    @property
    def flagged(self) -> bool:
        """Whether something is the matter with it: done wrongly, or left out."""
        return self.status is GuideStatus.WRONG or self.left_out

    def as_json(self) -> dict[str, Any]:
        """For pages and programs; hints are told one by one, so only their number is here."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("status", "hints")}
        return {**found, "status": self.status.value, "hints": len(self.hints)}
