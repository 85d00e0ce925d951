# SPDX-License-Identifier: BSD-3-Clause
"""What people call the steps of a manual, which has short ids for them; for pages, reports, and screen readers."""

from __future__ import annotations

from collections import Counter

from linklab.manual.blocks import terminal_name
from linklab.manual.model import Manual


def step_names(manual: Manual) -> dict[str, str]:
    """Ids of steps → names, each once: the sentence that asks for the step, or where it is done if none does.

    Where one sentence asks for several steps, or two sentences are equal, the names are counted: "…, 2 of 3".
    """
    plain = {step.id: step.title.rstrip(".") or f"Step in {_where(step.terminal)}" for step in manual.steps}
    equal = Counter(plain.values())
    seen: Counter[str] = Counter()
    names = {}
    for step, name in plain.items():
        seen[name] += 1
        names[step] = f"{name}, {seen[name]} of {equal[name]}" if equal[name] > 1 else name
    return names


def step_places(manual: Manual) -> dict[str, str]:
    """Ids of steps → where the manual has them, by its own numbers: "3.1, step 2"; "" before the first "Step.".

    Blocks that one sentence asks for have the same place; outside numbered sections it is "step 2".
    """
    return {
        step.id: ", ".join(filter(None, (step.section, f"step {step.number}"))) if step.number else ""
        for step in manual.steps
    }


def _where(terminal: str) -> str:
    return "the editor" if terminal == "editor" else terminal_name(terminal)
