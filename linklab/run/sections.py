# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a long lab side by side: a network and a process each.

None waits for another (`linklab.lab.sections`), so the result does not depend on how many run at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from linklab.base.processes import processors
from linklab.base.supervise import Ended, Job, Told, supervised
from linklab.base.worker import Tell, WorkerError
from linklab.data import Dataset
from linklab.errors import EngineError, LinklabError
from linklab.manual.model import Step
from linklab.run.replay import Narrator, Replayed, Scene, replay, save_data, save_outputs
from linklab.run.stage import Capture

GRACE_S = 10.0
"""Wall-clock seconds that a part has to tear its network down; less than the process of a lab has itself."""


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
        for step, data in part.measured.items():
            if step in own:
                whole.measured[step] = _later(data, whole.network_s)
        whole.broken.update({step: why for step, why in part.broken.items() if step in own})
        whole.read_back += part.read_back
        whole.unclaimed += part.unclaimed
        whole.computed += [replace(one, from_s=one.from_s + whole.network_s) for one in part.computed]
        whole.network_s += part.network_s
        shutil.copytree(out / f"part{number}" / "files", out / "files", dirs_exist_ok=True)
        shutil.rmtree(out / f"part{number}")
    save_outputs(whole.captures, out)
    save_data(whole.captures, whole.measured, out)
    return whole


def _later(data: Dataset, by_s: float) -> Dataset:
    times = {name: data.metadata[name] + by_s for name in ("start_s", "end_s")}
    return replace(data, metadata={**data.metadata, **times})


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
