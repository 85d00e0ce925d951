# SPDX-License-Identifier: BSD-3-Clause
"""What every manual says of the terminals, once, where it is first needed: the clock, set_env.sh, folders made twice.

The words stand here and not in the manuals, because they are about Linklab and the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from linklab.base.finish import Background
from linklab.manual.model import Commands, Manual, Section, Step

LONG_S = 30.0
"""A test of this length is worth a faster clock."""

_SECONDS = re.compile(r"(?:\s-t\s+|--seconds\s+|\bsleep\s+)(\d+(?:\.\d+)?)")
_MAKES_FOLDER = re.compile(r"mkdir (\S+) && cd \1")

_TOGETHER = """\
<p>Nobody can press Enter in several terminals at the same time, but you can stop the network’s clock meanwhile:</p>
<ol>
<li>Type the command of each terminal without pressing Enter.</li>
<li>Stop time: type <code>clock pause</code> in a terminal that you do not need for them, such as the one with the
prompt <code>mininet&gt;</code>; in the editor, press Pause on the clock bar.</li>
<li>Press Enter in each of the terminals. Nothing runs yet.</li>
<li>Let time go on: type <code>clock resume</code> where you typed <code>clock pause</code>, or press Resume. All
commands begin at the same moment.</li>
</ol>
"""
_LONG = """\
<p>You do not have to wait for a long test{either}: <code>clock speed 8</code> lets up to eight
seconds of network time pass in each second of yours, as far as your machine can keep up; <code>clock speed 1</code>
ends that. The results stay the same, because every program in the network counts network time.</p>
"""


def clock_hint(manual: Manual) -> tuple[str, str]:
    """The box about the clock as HTML, and the id of the step that it stands after; ("", "") where no step needs it.

    That is the first of the steps that are typed together or take long.
    """
    together = next((step for step in manual.steps if step.together), None)
    long = next((step for step in manual.steps if _seconds(step) >= LONG_S), None)
    needing = [step for step in (together, long) if step is not None]
    if not needing:
        return "", ""
    parts = [_TOGETHER] if together else []
    if long:
        parts.append(_LONG.format(either=" either" if together else ""))
    first = min(needing, key=lambda step: step.line)
    text = "".join(parts)
    html = f'<aside class="hint" aria-label="The clock"><p class="label">The network’s clock is yours</p>{text}</aside>'
    return html, first.id


def _seconds(step: Step) -> float:
    """How long what is typed there takes, as far as it says so; 0 for what is left running."""
    if not isinstance(step.action, Commands) or isinstance(step.action.finish, Background):
        return 0.0
    return max((float(found) for line in step.action.lines for found in _SECONDS.findall(line)), default=0.0)


def begin_hint(manual: Manual, section: Section) -> str:
    """What somebody types who begins at this section, as HTML; "" where nothing was set before, or nothing is typed.

    It is said at main sections alone: within them a reader goes on from step to step.
    """
    within = [step for step in manual.steps if _is_in(step, section)]
    before = [step for step in manual.steps if step.setup and within and step.line < within[0].line]
    if section.level != 1 or not section.number or not [step for step in before if step not in within]:
        return ""
    command = f"sudo ~/set_env.sh {section.number}"
    return (
        f'<p class="begin">Do you begin here, or did a setting go wrong? <code>{command}</code> in any terminal of the '
        "network undoes what was set and makes the settings of the sections before this one.</p>"
    )


def _is_in(step: Step, section: Section) -> bool:
    return step.section == section.number or step.section.startswith(f"{section.number}.")


def folder_hint(steps: Sequence[Step], step: Step) -> str:
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
    name = escape(first[1])
    return (
        '<p class="aside">When you do this step again, the folder is there already and <code>mkdir</code> says so: '
        f"type <code>cd {name}</code> alone, and new results replace the old ones.</p>"
    )
