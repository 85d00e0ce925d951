# SPDX-License-Identifier: BSD-3-Clause
"""What a step leaves running, such as a server, until another step ends it.  Pure.

Sections of a lab start the same server anew. Which of them a start belongs to, and which ends are done once it has
ended, is decided here, from what the steps between its start and its end have seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from linklab.guide.chains import At
from linklab.guide.plan import EndWant, LabPlan, RunWant
from linklab.guide.programs import compared
from linklab.guide.status import WantStatus

RUNS_AGAIN = "it runs again"
RAN_ON = "by the one that still ran"


class Servers:
    """Follows the programs that steps leave running."""

    def __init__(self, plan: LabPlan, wants: dict[At, WantStatus]) -> None:
        self.plan, self.wants = plan, wants
        self._taken: dict[str, list[str]] = {}
        """Step whose program runs → later steps that were done with it."""
        self._ends = {
            want.of: (step.number, place)
            for step in plan.steps
            for place, want in enumerate(step.wants)
            if isinstance(want, EndWant)
        }

    def is_left(self, at: At) -> bool:
        """Whether the step leaves its program running, and another step ends it."""
        want = self.plan.steps[at[0]].wants[at[1]]
        return isinstance(want, RunWant) and want.stays and self.plan.steps[at[0]].id in self._ends

    def again(self, fitting: Iterable[At]) -> At | None:
        """Of steps that started this, the last whose program something between its start and its end still needs."""
        return next((at for at in reversed(list(fitting)) if self.is_needed(at)), None)

    def is_needed(self, at: At) -> bool:
        """Whether a step has started it, and a step before its end has not been done yet."""
        if not self.is_left(at) or not self.wants[at].good:
            return False
        between = self.plan.steps[at[0] + 1 : self._ends[self.plan.steps[at[0]].id][0]]
        return any(
            isinstance(want, RunWant) and not step.step.optional and not self.wants[step.number, place].good
            for step in between
            for place, want in enumerate(step.wants)
        )

    def began_again(self, at: At) -> None:
        """The program of a step that was done runs once more: its end is to come."""
        end = self.wants[self._ends[self.plan.steps[at[0]].id]]
        if end.good:
            end.reopen(RUNS_AGAIN)

    def served(self, client: At, running: Iterable[At]) -> None:
        """A step was done with what ran: the start of it that the manual has before that step was not needed.

        Args:
            client: what was done.
            running: what ran meanwhile.
        """
        for step in self.plan.steps[: client[0]]:
            for place, want in enumerate(step.wants):
                at = step.number, place
                if not self.is_left(at) or self.wants[at].good or self._ends[step.id][0] < client[0]:
                    continue
                assert isinstance(want, RunWant)
                for other in running:
                    same = self.plan.steps[other[0]].wants[other[1]]
                    if isinstance(same, RunWant) and not compared(want.run, same.run):
                        self.wants[at].mark_done(differently=RAN_ON)
                        self._taken.setdefault(self.plan.steps[other[0]].id, []).append(step.id)

    def ended(self, of: str) -> None:
        """The program of a step has ended."""
        for one in (of, *self._taken.pop(of, ())):
            if one in self._ends:
                self.wants[self._ends[one]].mark_done()
