# SPDX-License-Identifier: BSD-3-Clause
"""Who of a class is at which step, and who is stuck: what students' servers report, and the table of it.

Pure. A report comes from a student's server, so each field is checked. Nothing is written to a disk.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from linklab.base.text import one_line
from linklab.errors import InputError

LONGEST = 300
"""Letters of a heading or a step."""
GONE_S = 120.0
"""Without a report for so long, the student's server has ended: it reports every 30 s."""
FORGET_S = 12 * 3600.0
MANY_TRIES = 3
NUMBERS = {"lab": 10_000, "done": 10_000, "steps": 10_000, "wrong": 10**6, "here_s": 10**7}
"""Field → the largest number that makes sense."""


@dataclass(frozen=True)
class RosterRow:
    """A line of the table.

    here_min: minutes since something was last done; stuck: why the student may need help, "" if not; gone: no report
    has come for a while.
    """

    name: str
    lab: int
    heading: str
    step: str
    done: int
    steps: int
    here_min: int
    wrong: int
    stuck: str
    gone: bool

    @property
    def order(self) -> tuple[bool, bool, str]:
        """Who needs help comes first, who has gone last."""
        return (self.gone, not self.stuck, self.name)


class ClassRoster:
    """What is known of a class.

    Args:
        stuck_min: minutes without a step done after which a student may need help.
    """

    def __init__(self, stuck_min: float = 10.0) -> None:
        self.stuck_min = stuck_min
        self._lock = threading.Lock()
        self._reports: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def take(self, name: str, report: Any, now_s: float) -> None:
        """A student's server reports; InputError if it is not a report."""
        checked = _checked(report)
        with self._lock:
            self._reports[name] = (now_s, checked)

    def leave(self, name: str) -> None:
        """A student does not show their progress any more: it is forgotten."""
        with self._lock:
            self._reports.pop(name, None)

    def rows(self, now_s: float) -> list[RosterRow]:
        """The table, in the order in which help is needed; reports of long ago are forgotten."""
        with self._lock:
            for name in [name for name, (at_s, _) in self._reports.items() if now_s - at_s > FORGET_S]:
                del self._reports[name]
            found = dict(self._reports)
        return sorted((self._row(name, *each, now_s) for name, each in found.items()), key=lambda row: row.order)

    def _row(self, name: str, at_s: float, report: Mapping[str, Any], now_s: float) -> RosterRow:
        gone = now_s - at_s > GONE_S
        here_s = report["here_s"] + (0.0 if gone else now_s - at_s)
        all_done = 0 < report["steps"] <= report["done"]
        stuck = []
        if not gone and not all_done:
            if here_s >= self.stuck_min * 60:
                stuck.append(f"no step done for {int(here_s // 60)} minutes")
            if report["wrong"] >= MANY_TRIES:
                stuck.append(f"{int(report['wrong'])} tries that were not right")
        return RosterRow(
            name=name,
            lab=int(report["lab"]),
            heading=report["heading"],
            step="all steps done" if all_done else report["step"],
            done=int(report["done"]),
            steps=int(report["steps"]),
            here_min=int(here_s // 60),
            wrong=int(report["wrong"]),
            stuck="; ".join(stuck),
            gone=gone,
        )


def _checked(report: Any) -> dict[str, Any]:
    if not isinstance(report, dict):
        raise InputError("a report is a JSON object")
    found: dict[str, Any] = {}
    for name, most in NUMBERS.items():
        value = report.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
            raise InputError(f"the field {name} of a report must be a number from 0 to {most:,}")
        found[name] = value
    for name in ("heading", "step"):
        value = report.get(name)
        if not isinstance(value, str):
            raise InputError(f"the field {name} of a report must be a text")
        found[name] = one_line(value)[:LONGEST]
    return found
