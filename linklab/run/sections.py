# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a long lab side by side: a network and a process each.

None waits for another (`linklab.lab.sections`), so the result does not depend on how many run at once.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from linklab.base.processes import end, processors, settle_in
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
    context = multiprocessing.get_context("fork")
    due = list(enumerate(parts))
    running: dict[Connection, tuple[int, ForkProcess]] = {}
    found: dict[int, Replayed] = {}
    network_s = [0.0] * len(parts)
    most = processors() if scene.engine.side_by_side else 1
    try:
        while due or running:
            while due and len(running) < most:
                number, part = due.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                work = (os.getpid(), (ours, theirs), scene, part, out / f"part{number + 1}")
                process = context.Process(target=_work, args=work)
                process.start()
                theirs.close()
                running[ours] = (number, process)
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                number, process = running[connection]
                try:
                    message = connection.recv()
                except EOFError:
                    why = f"{scene.lab.slug}: the process of part {number + 1} ended without a word"
                    raise EngineError(why) from None
                match message:
                    case ("begin", steps, now_s):
                        network_s[number] = now_s
                        note(steps)
                        narrator.begin(steps, sum(network_s))
                    case ("end", captures, now_s):
                        network_s[number] = now_s
                        narrator.end(captures, sum(network_s))
                    case ("failed", error):
                        raise error
                    case ("done", replayed):
                        found[number] = replayed
                        process.join()
                        connection.close()
                        del running[connection]
    finally:
        end([process for _, process in running.values()], grace_s=GRACE_S)
    return _joined(parts, [found[number] for number in range(len(parts))], out)


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

    report: Connection

    def begin(self, steps: Sequence[Step], network_s: float) -> None:
        self.report.send(("begin", list(steps), network_s))

    def end(self, captures: Sequence[Capture], network_s: float) -> None:
        self.report.send(("end", list(captures), network_s))


def _work(parent: int, pipe: tuple[Connection, Connection], scene: Scene, steps: Sequence[Step], out: Path) -> None:
    """The life of one part's process."""
    theirs, report = pipe
    theirs.close()
    if not settle_in(parent):
        return
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # the process of the lab ends us, or has gone
        answer: tuple[str, Any]
        try:
            answer = ("done", replay(scene, steps, out, _Teller(report), lambda _: None))
        except LinklabError as error:
            answer = ("failed", error)
        report.send(answer)
