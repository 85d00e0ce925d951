# SPDX-License-Identifier: BSD-3-Clause
"""Which steps a replay does, and the parts of a long lab side by side: a network and a process each.

Where lab.toml names `parts`, each of them begins with the settings of the sections before it, as `linklab run N
--section` does, so that none waits for another: the result does not depend on how many run at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from linklab.base.processes import processors
from linklab.base.supervise import Ended, Job, Told, supervised
from linklab.base.worker import Tell, WorkerError
from linklab.errors import EngineError, LabError, LinklabError
from linklab.lab.model import Lab
from linklab.manual.model import Await, Interrupt, Manual, Step
from linklab.run.replay import Narrator, Replayed, Scene, replay, save_outputs
from linklab.run.stage import Capture

GRACE_S = 10.0
"""Wall-clock seconds that a part has to tear its network down; less than the process of a lab has itself."""


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


def replay_parts(
    scene: Scene,
    parts: Sequence[Sequence[Step]],
    out: Path,
    narrator: Narrator,
    note: Callable[[Sequence[Step]], None],
) -> Replayed:
    """Do the parts side by side, one a processor, and put together what they gave, as if one had followed the other.

    Raises:
        LinklabError: that of the first part that failed; the others are ended.
    """
    jobs = [
        Job(number, partial(_replay_part, scene, part, out / f"part{number + 1}")) for number, part in enumerate(parts)
    ]
    found: dict[int, Replayed] = {}
    network_s = [0.0] * len(parts)
    most = processors() if scene.engine.side_by_side else 1
    with supervised(jobs, most, grace_s=GRACE_S) as events:
        for event in events:
            match event:
                case Told(number, ("begin", steps, now_s)):
                    network_s[number] = now_s
                    note(steps)
                    narrator.begin(steps, sum(network_s))
                case Told(number, ("end", captures, now_s)):
                    network_s[number] = now_s
                    narrator.end(captures, sum(network_s))
                case Ended(number, replayed, error):
                    found[number] = _whole(scene, number, replayed, error)
    return _joined(parts, [found[number] for number in range(len(parts))], out)


def _whole(scene: Scene, number: int, replayed: Replayed | None, error: LinklabError | None) -> Replayed:
    if isinstance(error, WorkerError):
        raise EngineError(f"{scene.lab.slug}: part {number + 1}: {error}", fault=error.fault)
    if error is not None:
        raise error
    assert replayed is not None
    return replayed


def _joined(parts: Sequence[Sequence[Step]], found: Sequence[Replayed], out: Path) -> Replayed:
    """One result of all; a step that several parts did counts in the first, of which it is no mere setting."""
    whole = Replayed(environment=found[0].environment)
    seen: set[str] = set()
    for number, (steps, part) in enumerate(zip(parts, found, strict=True), 1):
        own = {step.id for step in steps} - seen
        seen |= own
        for step, capture in part.captures.items():
            if step in own:
                later = whole.network_s
                whole.captures[step] = replace(capture, start_s=capture.start_s + later, end_s=capture.end_s + later)
        whole.measured.update({step: value for step, value in part.measured.items() if step in own})
        whole.broken.update({step: why for step, why in part.broken.items() if step in own})
        whole.read_back += part.read_back
        whole.network_s += part.network_s
        shutil.copytree(out / f"part{number}" / "files", out / "files", dirs_exist_ok=True)
        shutil.rmtree(out / f"part{number}")
    save_outputs(whole.captures, out)
    return whole


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


@dataclass
class _Teller:
    """Narrator of a part that tells the process of the lab."""

    tell: Tell

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        self.tell(("begin", list(steps), network_s))

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        self.tell(("end", list(captures), network_s))


def _replay_part(scene: Scene, steps: Sequence[Step], out: Path, tell: Tell) -> Replayed:
    """The work of one part's process."""
    return replay(scene, steps, out, _Teller(tell), lambda _: None)
