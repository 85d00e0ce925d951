# SPDX-License-Identifier: BSD-3-Clause
"""From the states of a lab's steps to the few facts that a student may show to the instructor.

Pure: takes what the guide says (the event `guide` of a page) and the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

GOOD = frozenset({"done", "done differently"})


class ProgressWatch:
    """Follows one lab.

    Args:
        number, heading: of the lab.
        now_s: on any clock that goes on.
    """

    def __init__(self, number: int, heading: str, now_s: float) -> None:
        self.number, self.heading = number, heading
        self._good: frozenset[str] = frozenset()
        self._wrong: dict[str, str] = {}
        self._tries = 0
        self._since_s = now_s
        self._next: Mapping[str, Any] = {}
        self._steps = 0

    def take(self, steps: Iterable[Mapping[str, Any]], following: str | None, now_s: float) -> None:
        """What the guide says now: the states of all steps, and the id of the next one."""
        needed = [step for step in steps if step.get("counts", True)]
        good = frozenset(str(step["id"]) for step in needed if step["status"] in GOOD)
        wrong = {str(step["id"]): str(step.get("story", "")) for step in needed if step["status"] == "wrong"}
        if good - self._good:  # something new is done: not stuck
            self._since_s, self._tries = now_s, 0
        self._tries += sum(self._wrong.get(name) != story for name, story in wrong.items())
        self._good, self._wrong, self._steps = good, wrong, len(needed)
        self._next = next((step for step in needed if step["id"] == following), {})

    def report(self, now_s: float) -> dict[str, Any]:
        """What the instructor's page takes: lab, heading, step, done, steps, wrong, here_s.

        step: what the next one asks for, "" where all is done or nothing is known; wrong: tries that were not right
        since something was last done; here_s: seconds since then.
        """
        return {
            "lab": self.number,
            "heading": self.heading,
            "step": str(self._next.get("task") or self._next.get("id") or ""),
            "done": len(self._good),
            "steps": self._steps,
            "wrong": self._tries,
            "here_s": round(now_s - self._since_s, 1),
        }
