# SPDX-License-Identifier: BSD-3-Clause
"""The states of steps as lines of text, for a terminal and for the editor's window.  Pure.

Takes steps as `linklab.guide.session` writes them for other programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

GOOD = ("done", "done differently")
MARKS = {"done": "✓", "done differently": "≈", "wrong": "✗", "open": "·"}

Told = Mapping[str, Any]
"""A step: `StepState.as_json`."""


def is_flagged(step: Told) -> bool:
    """Whether something is the matter with a step: done wrongly, or left out."""
    return bool(step["status"] == "wrong" or step["left_out"])


def summary(heading: str, steps: Sequence[Told]) -> str:
    """Such as "Lab 3: … : 12 of 31 steps done"."""
    counted = [step for step in steps if step["counts"]]
    return f"{heading}: {sum(step['status'] in GOOD for step in counted)} of {len(counted)} steps done"


def listing(steps: Sequence[Told], told: Sequence[Told], following: str | None) -> Iterator[str]:
    """The lines of some of a lab's steps, under their sections and subgoals.

    Args:
        steps: all of the lab, which give the numbers.
        told: those to list.
        following: the id of the step that comes next.
    """
    numbers = {step["id"]: number for number, step in enumerate(steps, 1)}
    heading = before = ""
    for step in told:
        here = step["section"] + (f": {step['subgoal']}" if step["subgoal"] else "")
        if here != heading:
            heading, before = here, ""
            yield from ("", here)
        mark, arrow = MARKS[step["status"]], "   ← next" if step["id"] == following else ""
        yield f"{mark} {numbers[step['id']]:3} {step['task'] or step['id']} [{step['terminal']}] {step['id']}{arrow}"
        again = step["left_out"] and step["story"] == before != ""
        before = step["story"] if step["left_out"] else ""
        if again:
            yield "      left out for the same reason"
        elif step["story"]:
            yield f"      {step['story']}"
            yield from _beside(step)
            yield from _advice(step.get("advice", ""))
        elif step["left_out"]:
            yield "      left out: a later step is done, and this one is not"


def _beside(step: Told) -> Iterator[str]:
    """What was expected, what was seen, and why, below the story."""
    for label, key in (("Expected", "expected"), ("Seen", "seen"), ("Why", "why")):
        if step.get(key):
            yield f"      {label}: {step[key]}"


def _advice(text: str) -> Iterator[str]:
    """What a message means, as lines below the story; commands that help are set in further."""
    inside, first = False, "What it means: "
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif line:
            yield f"      {first}{'    ' if inside else ''}{line}"
            first = ""
