# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that a student may make in a lab, made up from its manual, and whether the guide names them.  Pure.

A step is left out, a number or an interface is another one, or a line is typed on another host. Which ones is drawn
from the lab's number, so every run has the same.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from linklab.guide.guide import Guide
from linklab.guide.plan import GuideStep, LabPlan, RunWant, SettingWant
from linklab.guide.recorded import RecordedWork
from linklab.guide.shell import CLIENT, CONSOLE
from linklab.guide.status import StepState
from linklab.lab.model import Lab
from linklab.lab.mutants import load_mutants
from linklab.manual.chapter import Recorded
from linklab.manual.model import Await, Commands, Interrupt, Step

KINDS = ("missing", "number", "interface", "host")
KNOWN = "known"
_NUMBER = re.compile(r"(?<![\w./:-])(\d+(?:\.\d+)?)(?=(?:[kmg]?bit|[mun]?s|%|[KMG])?(?![\w./:-]))")
_NOT_AFTER = re.compile(r"(?:handle|parent|classid|flowid|prio|protocol|pref|sleep|head|tail|-n)\s+$|[|>]")
_FREE_PROGRAMS = frozenset(("cd", "mkdir", "ls", "cat", "echo", "awk", "sed", "for", "head", "xdg-open", "linklab"))
"""Programs whose numbers and hosts say little: what is opened from another host is the same file."""


@dataclass(frozen=True)
class WrongWay:
    """A mistake in one step; typed: what is done in its place, "" where nothing is; steps: all, with the mistake."""

    kind: str
    step: str
    typed: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class NamedWay:
    """What came of a wrong way: whether the guide named its step first, and what it said; at: what it named."""

    way: WrongWay
    named: bool
    at: str
    story: str


def wrong_ways(plan: LabPlan, count: int = 10) -> list[WrongWay]:
    """As many wrong ways as are asked for, of all kinds in turn as far as the lab has them."""
    chance = random.Random(plan.lab.number)  # noqa: S311 - the same mistakes in every run
    of_kind = {kind: list(_of_kind(plan, kind)) for kind in KINDS}
    for ways in of_kind.values():
        chance.shuffle(ways)
    found: list[WrongWay] = []
    while len(found) < count and any(of_kind.values()):
        for kind in KINDS:
            if of_kind[kind] and len(found) < count:
                found.append(of_kind[kind].pop())
    return found


def known_ways(lab: Lab) -> list[WrongWay]:
    """The mistakes that the lab's mutants.toml describes; LabError as `load_mutants` raises it."""
    return [
        WrongWay(KNOWN, one.step, one.mistake, tuple(step for step in one.steps if not step.optional))
        for one in load_mutants(lab)
    ]


def tried(plan: LabPlan, recorded: Recorded, way: WrongWay) -> NamedWay:
    """Go a wrong way until the guide says that something is the matter, or its section and the next step are over."""
    guide, work = Guide(plan.lab), RecordedWork(plan, recorded)
    made = plan.step(way.step)
    after = 0
    for step, evidence in work.of(way.steps):
        guide.see_all(evidence)
        if plan.step(step.id).number < made.number:
            continue
        if flagged := [one for one in guide.steps() if one.flagged]:
            return _named(way, flagged[0])
        outside = plan.step(step.id).section != made.section
        after += outside and bool(plan.step(step.id).wants)
        if after > 1:
            break
    following = guide.next_step()
    return NamedWay(way, following is not None and following.id == way.step, following.id if following else "", "")


def _named(way: WrongWay, first: StepState) -> NamedWay:
    return NamedWay(way, first.id == way.step, first.id, first.story or "left out")


# --- the mistakes


def _of_kind(plan: LabPlan, kind: str) -> Iterator[WrongWay]:
    for step in plan.steps:
        if step.step.optional or not step.wants or isinstance(step.step.action, Interrupt | Await):
            continue
        if kind == "missing":
            if step.tells_progress:
                yield WrongWay(kind, step.id, "", tuple(_without(plan, step.id)))
        elif isinstance(step.step.action, Commands) and not _is_free(step):
            yield from _otherwise(plan, step, kind)


def _is_free(step: GuideStep) -> bool:
    runs = [want.run.program for want in step.wants if isinstance(want, RunWant)]
    return any(program in _FREE_PROGRAMS for program in runs) or step.step.typed.count("\n") > 0


def _without(plan: LabPlan, left_out: str) -> Iterator[Step]:
    for one in plan.steps:
        ends = isinstance(one.step.action, Interrupt | Await) and one.step.action.of == left_out
        if one.id != left_out and not ends:
            yield one.step


def _otherwise(plan: LabPlan, step: GuideStep, kind: str) -> Iterator[WrongWay]:
    assert isinstance(step.step.action, Commands)
    line = step.step.action.lines[0]
    lines: Iterable[str] = ()
    if kind == "number":
        lines = _with_other_number(line)
    elif kind == "interface":
        lines = _with_other_device(plan, step.step, line)
    for text in lines:
        if text != line:
            changed = replace(step.step, action=replace(step.step.action, lines=(text,)))
            yield WrongWay(kind, step.id, text, _with(plan, changed))
    if kind == "host":
        node = step.step.terminal.partition("#")[0]
        hosts = sorted(host for host in plan.nodes if not host.startswith("s"))
        others = [host for host in hosts if host != node][:1]
        if node not in (CLIENT, CONSOLE) or any(isinstance(want, SettingWant) for want in step.wants):
            for other in others if node != CONSOLE else []:
                yield WrongWay(kind, step.id, f"{line} [{other}]", _elsewhere(plan, step.id, other))


def _with(plan: LabPlan, changed: Step) -> tuple[Step, ...]:
    return tuple(changed if one.id == changed.id else one.step for one in plan.steps)


def _elsewhere(plan: LabPlan, step_id: str, terminal: str) -> tuple[Step, ...]:
    """A step, and the one that ends it, in another terminal."""

    def moved(step: Step) -> bool:
        return step.id == step_id or (isinstance(step.action, Interrupt | Await) and step.action.of == step_id)

    return tuple(replace(one.step, terminal=terminal) if moved(one.step) else one.step for one in plan.steps)


def _with_other_number(line: str) -> Iterator[str]:
    for found in _NUMBER.finditer(line):
        if _NOT_AFTER.search(line[: found.start()]) or float(found[1]) == 0:
            continue
        value = float(found[1])
        other = f"{value / 10:.12g}" if value >= 20 else str(int(value * 10 + 1))
        yield line[: found.start()] + other + line[found.end() :]


def _with_other_device(plan: LabPlan, step: Step, line: str) -> Iterator[str]:
    node = step.terminal.partition("#")[0]
    for device in [device for device in plan.devices if re.search(rf"\b{device}\b", line)]:
        owner = plan.devices[device]
        others: Sequence[str] = [other for other in plan.devices if plan.devices[other] == owner and other != device]
        if node in (owner, CLIENT):
            yield re.sub(rf"\b{device}\b", others[0] if others else "lo", line)
