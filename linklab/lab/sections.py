# SPDX-License-Identifier: BSD-3-Clause
"""Which steps of a manual a replay does: all, those of a section, or those of each part of a long lab.

Where lab.toml names `parts`, each of them begins with the settings of the sections before it, as `linklab run N
--section` does, so that none waits for another.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from linklab.base.finish import Background
from linklab.errors import LabError
from linklab.lab.model import Lab
from linklab.manual.model import Await, Commands, Interrupt, Manual, Step


def chosen_steps(manual: Manual, section: str | None) -> list[Step]:
    """The steps to replay: all but the optional ones, or those of a section after the settings before it.

    Raises:
        LabError: the manual has no such section, or nothing is done in it.
    """
    steps = [step for step in manual.steps if not step.optional]
    if section is None:
        return steps
    inside = _inside(manual, steps, section)
    return [*_settings(steps[: steps.index(inside[0])]), *inside]


def from_section(manual: Manual, section: str, also: Collection[str] = ()) -> list[Step]:
    """All steps from a section on, after what it needs of those before: settings, what still runs there, and `also`.

    All steps of the manual where `section` is "".
    """
    steps = chosen_steps(manual, None)
    start = steps.index(_inside(manual, steps, section)[0]) if section else 0
    ended = {step.action.of for step in steps[:start] if isinstance(step.action, Interrupt | Await)}
    before = {step.id for step in _settings(steps[:start])} | set(also)
    before |= {step.id for step in steps[:start] if _runs_on(step) and step.id not in ended}
    return [step for number, step in enumerate(steps) if number >= start or step.id in before]


def _runs_on(step: Step) -> bool:
    return isinstance(step.action, Commands) and isinstance(step.action.finish, Background)


def parts_of(lab: Lab) -> list[list[Step]]:
    """The steps of each part of a lab, with the settings that it needs before them; of most labs one part, whole."""
    steps = chosen_steps(lab.manual, None)
    starts = [steps.index(_inside(lab.manual, steps, _number(lab, slug))[0]) for slug in lab.parts]
    bounds = [0, *sorted(starts), len(steps)]
    return [[*_settings(steps[:start]), *steps[start:end]] for start, end in pairwise(bounds)]


def parts_problems(lab: Lab) -> list[str]:
    """What is wrong with the parts that lab.toml names, "FILE:LINE: …" each."""
    path = lab.folder / "lab.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    where = f"{path}:{next((number for number, line in enumerate(lines, 1) if line.startswith('parts')), 1)}"
    try:
        parts = parts_of(lab)
    except LabError as error:
        return [f"{where}: {error}"]
    found = []
    seen: set[str] = set()
    for number, steps in enumerate(parts, 1):
        ids = {step.id for step in steps}
        if not ids - seen:
            found.append(f"{where}: parts: part {number} has no step of its own")
        seen |= ids
        found += [
            f"{lab.manual.path}:{step.line}: {step.id} ends {step.action.of}, which another part of the lab starts"
            for step in steps
            if isinstance(step.action, Interrupt | Await) and step.action.of not in ids
        ]
    return found


def _number(lab: Lab, slug: str) -> str:
    for section in lab.manual.sections:
        if section.slug == slug and section.number:
            return section.number
    known = ", ".join(section.slug for section in lab.manual.sections if section.number)
    raise LabError(f'{lab.folder / "lab.toml"}: parts: the manual has no section "{slug}"; it has {known}')


def _inside(manual: Manual, steps: Sequence[Step], section: str) -> list[Step]:
    inside = [step for step in steps if step.section == section or step.section.startswith(f"{section}.")]
    if not inside:
        known = ", ".join(dict.fromkeys(step.section for step in steps if step.section))
        raise LabError(f'{manual.path}: nothing to do in section "{section}"; there are steps in {known}')
    return inside


def _settings(before: Sequence[Step]) -> list[Step]:
    return [step for step in before if step.setup or step.terminal == "editor"]
