# SPDX-License-Identifier: BSD-3-Clause
"""The evidence of somebody who does a lab as it is printed and gets what its recording holds.

For tests and for the table of all labs (tools/guide_labs.py): no network is needed. Times are counted, not recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from linklab.base.finish import Background
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, TypedEvidence
from linklab.guide.plan import LEAVES, MININET, LabPlan, RunWant
from linklab.guide.shell import commands_in
from linklab.guide.simulate import SimulatedNetwork
from linklab.manual.chapter import Recorded
from linklab.manual.model import Await, Commands, EditorActions, Interrupt, Step, WriteFile


@dataclass
class RecordedWork:
    """Does steps; what a line sets, and whether the kernel would refuse it, is simulated."""

    plan: LabPlan
    recorded: Recorded
    network: SimulatedNetwork = field(init=False)

    def __post_init__(self) -> None:
        self.network = SimulatedNetwork(self.plan.devices)
        self._now_s = 0.0
        self._running: dict[str, TypedEvidence] = {}
        self._prompts = {
            step.id
            for step in self.plan.steps
            for want in step.wants
            if isinstance(want, RunWant) and want.run.program == MININET and want.stays
        }
        # what the manual itself has refused, or what rests on settings that are not simulated, ends as it is printed
        self._printed = {
            (one.step.terminal, line): one.id
            for one in reversed(self.plan.steps)
            if isinstance(one.step.action, Commands)
            for line in one.step.action.lines[-1:]
        }
        self._shown = {
            (step.step.terminal, want.text)
            for step in self.plan.steps
            for want in step.wants
            if isinstance(want, RunWant)
        }

    def of(self, steps: Iterable[Step]) -> Iterator[tuple[Step, list[GuideEvidence]]]:
        """Each step that is not optional with the evidence that it leaves."""
        for step in steps:
            if not step.optional:
                yield step, list(self._of_step(step))

    def _of_step(self, step: Step) -> Iterator[GuideEvidence]:
        match step.action:
            case Commands(lines=lines, finish=finish):
                for number, line in enumerate(lines, 1):
                    yield from self._line(step, line, last=number == len(lines), stays=isinstance(finish, Background))
            case Interrupt(of=of) | Await(of=of):
                if of in self._running:
                    yield self._ended(of, self._running.pop(of), None)
            case WriteFile(path=path, text=text):
                yield FileEvidence(path, text)
            case EditorActions(verbs=verbs):
                if any(verb.words[0] in ("run", "stop") for verb in verbs):
                    self.network = SimulatedNetwork(self.plan.devices)
                for verb in verbs:
                    yield EditorEvidence(verb.words)

    def _line(self, step: Step, line: str, *, last: bool, stays: bool) -> Iterator[GuideEvidence]:
        self._now_s += 1
        begun = TypedEvidence(step.terminal, line, self._now_s)
        yield begun
        if last and (stays or step.id in self._prompts):
            self._running[step.id] = begun
            return
        refused = "" if (step.terminal, line) in self._shown else self._sets(step.terminal, line)
        status = 2 if refused else (step.status or 0) if last else 0
        yield self._ended(self._shows(step, line) if last else "", begun, status, refused)
        if line in LEAVES:
            for name in self._prompts & self._running.keys():
                yield self._ended(name, self._running.pop(name), 0)

    def _shows(self, step: Step, line: str) -> str:
        """The step whose output a line gives: of one that is typed elsewhere than printed, what is printed there."""
        own = self.plan.step(step.id).step
        if (step.terminal, line) == (own.terminal, own.typed.split("\n")[-1]):
            return step.id
        return self._printed.get((step.terminal, line), step.id)

    def _sets(self, terminal: str, line: str) -> str:
        """Carry out what the line sets; why it would be refused, "" if it would not."""
        for command in commands_in(terminal, line, self.plan.nodes):
            done = self.network.after(command)
            if done is not None and done.network is None:
                return done.why
            if done is not None and done.network is not None:
                self.network = done.network
        return ""

    def _ended(self, step: str, begun: TypedEvidence, status: int | None, refused: str = "") -> TypedEvidence:
        self._now_s += 1
        return TypedEvidence(
            begun.terminal,
            begun.text,
            begun.start_s,
            self._now_s,
            f"{refused}\n" if refused else self.recorded.outputs.get(step, ""),
            status,
            self.recorded.scalars.get(step, {}),
        )
