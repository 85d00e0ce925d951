# SPDX-License-Identifier: BSD-3-Clause
"""Which step a program that was run belongs to.  Pure.

The same command often stands in several steps (`ping 10.0.0.2` in a dozen). Which one is meant is decided by what is
set while it runs: the step before which the manual has just that set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from linklab.guide import words
from linklab.guide.chains import At, Chains
from linklab.guide.evidence import TypedEvidence
from linklab.guide.plan import RUN, EditorWant, GuideStep, LabPlan, RunWant, SettingWant
from linklab.guide.programs import ProgramRun, RunDifference, compared, likeness
from linklab.guide.servers import Servers
from linklab.guide.settings import SettingsMap
from linklab.guide.shell import commands_in
from linklab.guide.status import GuideStatus, WantStatus

NEAR = 10
"""Steps beyond the front at which a run that fits none may be a try."""
LIKE = 0.45
"""Likeness from which a run that fits no step is a try at one."""
ALIKE, ALIKE_UNKNOWN = 0.75, 0.5
"""Share of letters in common from which one program's name was typed for another's; less is enough where there is no
program of that name."""
NO_SUCH_PROGRAM = 127
"""How the shell tells that (POSIX.1-2017, XCU 2.8.2)."""


@dataclass(frozen=True)
class MatchedRun:
    """The want that a run belongs to, and how it differs from it: nothing for a run that is as wanted."""

    at: At
    differing: tuple[RunDifference, ...] = ()


class Matching:
    """Finds the step of a run."""

    def __init__(self, plan: LabPlan, wants: dict[At, WantStatus], chains: Chains, servers: Servers) -> None:
        self.plan, self.wants, self.chains, self.servers = plan, wants, chains, servers
        self._runs = [
            ((step.number, place), step, want)
            for step in plan.steps
            for place, want in enumerate(step.wants)
            if isinstance(want, RunWant)
        ]
        self._programs = {
            word
            for step in plan.steps
            for want in step.wants
            if isinstance(want, RunWant | SettingWant)
            for word in _first_words(step.step.terminal, want.text)[-1:]
        }

    def find(self, run: ProgramRun, now: SettingsMap, front: int, after: int | None = None) -> MatchedRun | None:
        """The want of a run; None if it is not one of the lab's.

        Args:
            run: what ran.
            now: what is set meanwhile.
            front: the number of the step at which somebody is.
            after: that of the step that ran last on its node.
        """
        fitting = [(at, step) for at, step, want in self._runs if not compared(want.run, run)]
        if (again := self.servers.again(at for at, _ in fitting)) is not None:
            return MatchedRun(again)
        if fitting:
            in_place = self._in_place(fitting, now)
            at = self._choose(fitting, in_place, front, self._next_on(run.node, after))
            slip = self._on_other_host(run, front) if at not in in_place else None
            return slip if slip is not None and slip.at < at else MatchedRun(at)
        return self._try(run, front)

    def exact(self, run: ProgramRun, now: SettingsMap, front: int, after: int | None = None) -> At | None:
        """The want that a run fulfils; None if there is none."""
        found = self.find(run, now, front, after)
        return found.at if found is not None and not found.differing else None

    def following(self, front: int) -> At | None:
        """The program that comes next from the front on; None where something is to be set first."""
        at, want = next(self._tries(front), (None, None))
        return at if isinstance(want, RunWant) else None

    def is_as_printed(self, at: At, line: TypedEvidence) -> bool:
        """Whether a line is that of a step, word for word."""
        want = self.plan.steps[at[0]].wants[at[1]]
        return isinstance(want, RunWant) and words.same_line(want.text, line.text)

    def repeats(self, line: TypedEvidence, front: int) -> bool:
        """Whether a line has done its step before, and is not what comes next in its terminal, or was left out."""
        here = [
            (step.number, self.wants[step.number, place].good, words.same_line(want.text, line.text))
            for step in self.plan.steps
            for place, want in enumerate(step.wants)
            if isinstance(want, SettingWant) and step.step.terminal == line.terminal
        ]
        following = next((same for number, good, same in here if number >= front and not good), False)
        left_out = any(same for number, good, same in here if number < front and not good)
        return any(same for _, good, same in here if good) and not following and not left_out

    def behind_prompt(self, text: str, front: int) -> At | None:
        """The step near the front that has just this line; None for no such step."""
        return next((at for at, want in self._tries(front) if words.same_line(want.text, text)), None)

    def misspelt(self, line: TypedEvidence, front: int) -> tuple[At, RunDifference] | None:
        """The step whose program a line was meant for, and the words: iperf for iperf3; None for no such step."""
        alike = ALIKE_UNKNOWN if line.status == NO_SUCH_PROGRAM else ALIKE
        typed = _first_words(line.terminal, line.text)
        if not typed or typed[-1] in self._programs:
            return None
        best: tuple[float, At, RunDifference] | None = None
        for at, want in self._tries(front):
            for one, other in zip(_first_words(line.terminal, want.text), typed, strict=False):
                score = _alike(want.text, line.text)
                if one != other and _alike(one, other) >= alike and (best is None or score > best[0]):
                    best = score, at, RunDifference("words", one, other)
        return best[1:] if best and best[0] >= ALIKE_UNKNOWN else None

    def _tries(self, front: int) -> Iterator[tuple[At, RunWant | SettingWant]]:
        """What is not done yet near the front."""
        for step in self.plan.steps[front : front + NEAR]:
            for place, want in enumerate(step.wants):
                open_one = not step.step.optional and not self.wants[step.number, place].good
                if open_one and isinstance(want, RunWant | SettingWant):
                    yield (step.number, place), want

    def _in_place(self, fitting: Sequence[tuple[At, GuideStep]], now: SettingsMap) -> list[At]:
        """Those before which the manual has set what is set now, be it nothing any more."""
        networks = self._networks()
        return [
            at
            for at, step in fitting
            if step.networks == networks and self.is_set(at, now) and not self.chains.nothing_gone_before(at[0])
        ]

    def _next_on(self, node: str, after: int | None) -> int | None:
        """The number of the first step after `after` that runs a program on this node; None if there is none."""
        if after is None:
            return None
        return next((at[0] for at, _, want in self._runs if at[0] > after and want.run.node == node), None)

    def _choose(
        self, fitting: Sequence[tuple[At, GuideStep]], in_place: Sequence[At], front: int, following: int | None
    ) -> At:
        """following: the step that comes next on the node after what ran there last, wherever the front is."""
        unfinished = [(at, step) for at, step in fitting if not self.wants[at].good and not step.step.optional]
        ahead = [at for at, _ in unfinished if at[0] >= front]
        if found := [at for at in ahead if at in in_place]:
            return found[0]
        if found := [at for at, _ in unfinished if at in in_place]:
            return next((at for at in found if at[0] == following), found[-1])
        if found := [at for at in in_place if self.wants[at].good]:
            return found[-1]  # once more
        if ahead:
            return ahead[0]
        return unfinished[-1][0] if unfinished else fitting[-1][0]

    def _networks(self) -> int:
        """How many networks of the manual were started."""
        return sum(
            isinstance(want, EditorWant) and want.words == RUN and self.wants[step.number, place].good
            for step in self.plan.steps
            for place, want in enumerate(step.wants)
        )

    def is_set(self, at: At, now: SettingsMap) -> bool:
        """Whether what is set is what the manual has set when it runs that."""
        initial, want = self.chains.initial, self.plan.steps[at[0]].wants[at[1]]
        assert isinstance(want, RunWant)
        return all(
            self.chains.same(key, want.context.get(key, initial.get(key)), now.get(key)) for key in self.chains.values
        )

    def _on_other_host(self, run: ProgramRun, front: int) -> MatchedRun | None:
        """What comes next in the manual, if it is to run this on another host."""
        for step in self.plan.steps[front:]:
            for place, want in enumerate(step.wants if step.tells_progress else ()):
                if not self.wants[step.number, place].good:
                    differing = compared(want.run, run) if isinstance(want, RunWant) else []
                    only_host = [each.what for each in differing] == ["node"]
                    return MatchedRun((step.number, place), tuple(differing)) if only_host else None
        return None

    def _try(self, run: ProgramRun, front: int) -> MatchedRun | None:
        """The open step near the front that a run was probably a try at."""
        best: tuple[float, At, RunWant] | None = None
        for at, step, want in self._runs:
            status = self.wants[at].status
            if status.good or step.step.optional or at[0] > front + NEAR:
                continue
            if at[0] < front and status is not GuideStatus.WRONG:
                continue
            score = likeness(want.run, run)
            score -= 0.02 * abs(at[0] - front)
            if likeness(want.run, run) >= LIKE and (best is None or score > best[0]):
                best = score, at, want
        return MatchedRun(best[1], tuple(compared(best[2].run, run))) if best else None


def _first_words(terminal: str, text: str) -> list[str]:
    """What a line begins with, and its program where that is another word, as behind sudo."""
    commands = commands_in(terminal, text)
    program = commands[0].source.program if commands else ""
    first = text.split(maxsplit=1)[0] if text.split() else ""
    return list(dict.fromkeys(filter(None, (first, program))))


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
