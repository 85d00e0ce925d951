# SPDX-License-Identifier: BSD-3-Clause
"""What every manual says of the terminals, once, where it is first needed: the clock, set_env.sh, folders made twice.

The words stand in `hints.html.j2` and not in the manuals, because they are about Linklab and the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab.base.catalogue import Say, unchanged
from linklab.base.finish import Background
from linklab.manual.model import Commands, Manual, Section, Step
from linklab.manual.templates import templates

LONG_S = 30.0
"""A test of this length is worth a faster clock."""

_SECONDS = re.compile(r"(?:\s-t\s+|--seconds\s+|\bsleep\s+|^flent .*?\s-l\s+)(\d+(?:\.\d+)?)")
_MAKES_FOLDER = re.compile(r"mkdir (\S+) && cd \1")


def clock_hint(manual: Manual, say: Say = unchanged) -> tuple[str, str]:
    """The box about the clock as HTML, and the id of the step that it stands after; ("", "") where no step needs it.

    That is the first of the steps that are typed together or take long.
    """
    together = next((step for step in manual.steps if step.together), None)
    long = next((step for step in manual.steps if _seconds(step) >= LONG_S), None)
    needing = [step for step in (together, long) if step is not None]
    if not needing:
        return "", ""
    first = min(needing, key=lambda step: step.line)
    return _hint("clock", say, together=together is not None, long=long is not None), first.id


def _seconds(step: Step) -> float:
    """How long what is typed there takes, as far as it says so; 0 for what is left running."""
    if not isinstance(step.action, Commands) or isinstance(step.action.finish, Background):
        return 0.0
    return max((float(found) for line in step.action.lines for found in _SECONDS.findall(line)), default=0.0)


def begin_hint(manual: Manual, section: Section, say: Say = unchanged) -> str:
    """What somebody types who begins at this section, as HTML; "" for the first with steps, or where nothing is typed.

    It is said at main sections alone: within them a reader goes on from step to step. Also where nothing is set before:
    somebody who has been further in the lab goes back to it that way.
    """
    within = [step for step in manual.steps if _is_in(step, section)]
    before = [step for step in manual.steps if within and step.line < within[0].line]
    sets = any(step.setup for step in manual.steps)
    if section.level != 1 or not section.number or not before or not sets:
        return ""
    return _hint("begin", say, command=f"sudo ~/set_env.sh {section.number}")


def _is_in(step: Step, section: Section) -> bool:
    return step.section == section.number or step.section.startswith(f"{section.number}.")


def folder_hint(steps: Sequence[Step], step: Step, say: Say = unchanged) -> str:
    """What to type where a folder is there already, as HTML, at the first step that makes one; "" elsewhere."""
    first = next(
        (
            (one, found[1])
            for one in steps
            if isinstance(one.action, Commands)
            for line in one.action.lines
            if (found := _MAKES_FOLDER.search(line))
        ),
        None,
    )
    if first is None or first[0] is not step:
        return ""
    return _hint("folder", say, name=first[1])


def _hint(which: str, say: Say, **values: object) -> str:
    return templates().get_template("hints.html.j2").render(hint=which, say=say, **values).strip()
