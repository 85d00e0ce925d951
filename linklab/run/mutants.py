# SPDX-License-Identifier: BSD-3-Clause
"""Replays the mutants of labs (`linklab.lab.mutants`), each with its mistake and no further than it must show.

Before the mutants of a section are judged, the same steps are done as they are printed: where an expectation fails
even so, its failing proves nothing of a mutant.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from linklab.base.supervise import Began, Ended, Job, Told, supervised
from linklab.base.text import one_line
from linklab.base.worker import Tell
from linklab.engine.api import Engine
from linklab.judge.expectation import ExpectationVerdict, Observed, verdicts_on
from linklab.lab.caught import Found, control_story, judged
from linklab.lab.model import Lab
from linklab.lab.mutants import Mutant, begins, replayed_steps
from linklab.manual.model import Step
from linklab.manual.parse import groups
from linklab.run.many import TICK_S
from linklab.run.replay import Replayed, Scene, measure_captures, scalars_of
from linklab.run.stage import RunSettings, Stage, StatusError

Seen = tuple[list[ExpectationVerdict], str]
"""The verdicts on a lab's expectations, and the step that was refused, "" if none."""


@dataclass
class MutantTrial:
    """A replay: that of a mutant, or, as a control, of what some mutants replay without any mistake.

    mutant: None of a control; state: "waiting", "running", "caught", "late", "wrong", or of a control "holds".
    at: the first step that failed; why: what is wrong; doing: title of the step under way.
    """

    lab: Lab
    steps: Sequence[Step]
    mutant: Mutant | None
    control: MutantTrial | None = None
    state: str = "waiting"
    at: str = ""
    why: str = ""
    doing: str = ""
    done: int = 0
    wall_s: float = 0.0
    seen: Seen | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What it is called in a table."""
        return self.mutant.name if self.mutant else "(no mistake)"

    @property
    def good(self) -> bool:
        """Whether it came out as it should."""
        return self.state in ("caught", "late", "holds")


def trials_of(lab: Lab, mutants: Iterable[Mutant]) -> list[MutantTrial]:
    """A trial of each mutant, after the control of those that begin with the same section."""
    alike: dict[tuple[str, frozenset[str]], list[Mutant]] = {}
    for mutant in mutants:
        alike.setdefault((begins(lab, mutant), frozenset(mutant.after)), []).append(mutant)
    found = []
    for several in alike.values():
        control = MutantTrial(lab, replayed_steps(lab, several, wrong=False), None)
        found.append(control)
        found += [MutantTrial(lab, replayed_steps(lab, [one], wrong=True), one, control) for one in several]
    return found


def run_trials(
    trials: Sequence[MutantTrial],
    engine: Callable[[], Engine],
    jobs: int,
    changed: Callable[[MutantTrial | None], None],
) -> None:
    """Do all trials, some at once, and fill in what came of each.

    Args:
        trials: a control before those that need it.
        engine: makes the engine, in the process of a trial.
        jobs: how many at once.
        changed: told of each trial whose state changed, and with None a few times a second.
    """
    work = (Job(number, partial(_replay, trial, engine)) for number, trial in enumerate(trials))
    with supervised(work, jobs, tick_s=TICK_S) as events:
        for event in events:
            match event:
                case Began(number):
                    trials[number].state = "running"
                    changed(trials[number])
                case Told(number, (doing, done)):
                    trials[number].doing, trials[number].done = doing, done
                case Ended(number, seen, error, wall_s):
                    trial = trials[number]
                    trial.wall_s, trial.seen = wall_s, seen
                    trial.state, trial.why = "wrong", f"broke off: {one_line(str(error))}" if error else ""
                    for ended in _to_judge(trials, trial):
                        _judge(ended)
                        changed(ended)
                case _:
                    changed(None)


def _to_judge(trials: Sequence[MutantTrial], ended: MutantTrial) -> Iterator[MutantTrial]:
    """What can be judged now that this trial has ended: itself, if its control has, and those that waited for it."""
    if ended.control is None or ended.control.wall_s:
        yield ended
    yield from (trial for trial in trials if trial.control is ended and trial.wall_s)


def _judge(trial: MutantTrial) -> None:
    """Fill in what came of a trial whose control is known."""
    if trial.seen is None:
        return
    verdicts, refused = trial.seen
    if trial.mutant is None or trial.control is None:
        trial.why = control_story(trial.lab, verdicts, refused)
        trial.state = "wrong" if trial.why else "holds"
        return
    found = judged(trial.lab, trial.mutant, verdicts, refused)
    if trial.control.state != "holds":
        found = Found(False, found.at, "it proves nothing, since the same steps fail without the mistake")
    trial.at, trial.why = found.at, found.story
    trial.state = "wrong" if not found.caught else "late" if trial.mutant.late else "caught"


def _replay(trial: MutantTrial, engine: Callable[[], Engine], tell: Tell) -> Seen:
    """The work of one process: the verdicts on what was done."""
    lab = trial.lab
    if trial.mutant:
        lab = replace(lab, manual=replace(lab.manual, steps=trial.mutant.steps))
    scene, done, refused = Scene(lab, engine(), RunSettings()), Replayed(), ""
    finished: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="linklab-mutant-") as folder:
        stage = Stage(lab, scene.engine, scene.settings, Path(folder) / "files")
        with stage:
            for group in groups(trial.steps):
                tell((group[0].title or group[0].id, len(finished)))
                try:
                    captures = stage.perform(group)
                except StatusError as error:
                    refused = error.step
                    break
                measure_captures(scene, stage, captures, done)
                finished |= {capture.step: stage.captures[capture.step].output for capture in captures}
    observed = Observed(scalars_of(done.measured), finished, done.broken)
    return verdicts_on(lab.expectations, [observed]), refused
