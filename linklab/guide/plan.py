# SPDX-License-Identifier: BSD-3-Clause
"""A lab → what its steps want, in order: settings read back, programs run, files, the editor's verbs.  Pure.

Nothing is written for the guide alone: the wants follow from the lines of the manual, as the kernel would carry them
out one after the other (`linklab.guide.simulate`), and from the expectations of lab.toml.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from linklab.base.finish import Background
from linklab.guide.programs import ADDRESSES, LINKS, ProgramRun, run_of
from linklab.guide.settings import EFFECT, SettingsMap
from linklab.guide.shell import CLIENT, ShellCommand, commands_in
from linklab.guide.simulate import SimulatedNetwork, devices_of
from linklab.judge.expectation import Expectation
from linklab.lab.model import Lab
from linklab.manual.model import Await, Commands, EditorActions, Interrupt, Manual, Section, Step, WriteFile
from linklab.topology import Topology
from linklab.topology.addressing import has_ports

_FOLLOWED = frozenset(("run", "terminal"))
"""Verbs of the editor that leave evidence wherever the network runs; of "open" only the lab's own drawing does."""
RUN = ("run",)
"""The editor's verb that starts a network."""
MININET = "mn"
LEAVES = ("exit", "quit")
"""Words that leave Mininet's own command line, as Ctrl+D does."""
_BESIDE = frozenset(("sleep", "cd", "echo", "mkdir", "true", "wait"))
"""Programs of a line that are not what it is for, where there is another."""


@dataclass(frozen=True)
class SettingWant:
    """Settings that are to change; value None: to be gone. effects: what an interface's disciplines then do together.

    text: the line of the manual.
    """

    text: str
    changes: SettingsMap
    effects: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)


@dataclass(frozen=True)
class RunWant:
    """A program that is to be run; status: how it ends, None for any; stays: it is left running.

    context: what is set when it is run, as the manual has it.
    """

    text: str
    run: ProgramRun
    context: SettingsMap
    status: int | None = 0
    stays: bool = False


@dataclass(frozen=True)
class FileWant:
    """A file that is to have this text, or have it at its end."""

    path: str
    text: str
    append: bool


@dataclass(frozen=True)
class EditorWant:
    """Something to do in the editor."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class EndWant:
    """What another step left running is to end."""

    of: str


GuideWant: TypeAlias = SettingWant | RunWant | FileWant | EditorWant | EndWant


@dataclass(frozen=True)
class GuideStep:
    """A block of the manual.

    number: its place among all; task, task_number: the "Step." paragraph that it belongs to.
    networks: how many were started before it; wants: a line each.
    followed: whether terminals and kernel show that it is done. They do not show that something is drawn or that the
    network ends, nor what is done in a network that the reader has drawn.
    """

    number: int
    step: Step
    section: Section | None
    subgoal: str
    wants: tuple[GuideWant, ...]
    expectations: tuple[Expectation, ...]
    networks: int = 0
    followed: bool = True

    @property
    def id(self) -> str:
        """The manual's id of the block."""
        return self.step.id

    @property
    def tells_progress(self) -> bool:
        """Whether somebody who has done it has come this far; a terminal may have been open from the start."""
        opens = [isinstance(want, EditorWant) and want.words[0] in ("terminal", "close") for want in self.wants]
        return not self.step.optional and not all(opens)

    @property
    def earns(self) -> bool:
        """Whether a grader sees that it is done, so that it is a point: not what is only done in the editor."""
        drawn = all(isinstance(want, EditorWant) for want in self.wants)
        return not self.step.optional and self.followed and not drawn

    @property
    def measures(self) -> bool:
        """Whether something is looked at in it, so that what is set before it matters."""
        return any(isinstance(want, RunWant) for want in self.wants)


@dataclass(frozen=True)
class LabPlan:
    """All steps of a lab in order; nodes, devices: of its network, empty where the lab builds its own.

    addresses: of hosts, by their names, which /etc/hosts inside knows, too.
    """

    lab: Lab
    steps: tuple[GuideStep, ...]
    nodes: frozenset[str]
    devices: Mapping[str, str]
    addresses: Mapping[str, str] = field(default_factory=dict)

    def step(self, step_id: str) -> GuideStep:
        """The step of that id; KeyError if there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)


def plan_of(lab: Lab, manual: Manual | None = None) -> LabPlan:
    """The plan of a lab; TopologyError as its topology raises it."""
    manual = manual or lab.manual
    topology = lab.load_topology()
    nodes = frozenset(node.name for node in topology.nodes) if topology else _named_nodes(manual)
    devices = _devices(topology)
    network = SimulatedNetwork(devices)
    steps = []
    networks = 0
    written: list[str] = []
    for number, step in enumerate(manual.steps):
        before = network
        wants, network = _wants(step, network, nodes)
        expectations = tuple(each for each in lab.expectations if step.id in each.steps)
        wants = tuple(_of_mtu(_listing(want, written), expectations) for want in wants)
        written += [
            name
            for line in step.typed.splitlines()
            for each in commands_in(step.terminal, line, nodes)
            for name in each.to
        ]
        networks += sum(isinstance(want, EditorWant) and want.words == RUN for want in wants)
        section, subgoal = _section(manual, step), _subgoal(manual, step)
        followed = _is_followed(lab, manual, step)
        steps.append(GuideStep(number, step, section, subgoal, wants, expectations, networks, followed))
        if step.optional:
            network = before
    addresses = {host.name: topology.address(host).partition("/")[0] for host in topology.hosts} if topology else {}
    return LabPlan(lab, tuple(steps), nodes, devices, addresses)


def runs_at_once(manual: Manual) -> bool:
    """Whether the reader starts the lab's network before anything is typed; else only the Client is there at first."""
    for step in manual.steps:
        if isinstance(step.action, EditorActions):
            if any(verb.words[0] == "run" for verb in step.action.verbs):
                return True
        elif isinstance(step.action, Commands):
            return False
    return True


def _is_followed(lab: Lab, manual: Manual, step: Step) -> bool:
    if not runs_at_once(manual) and step.terminal.partition("#")[0] != CLIENT:
        return False
    if not isinstance(step.action, EditorActions):
        return True
    drawing = ("open", lab.topology.name if lab.topology else "")
    return all(verb.words[0] in _FOLLOWED or tuple(verb.words) == drawing for verb in step.action.verbs)


def line_run(commands: Sequence[ShellCommand]) -> ProgramRun | None:
    """What a line is for: its one command that matters, or all of its words; None for an empty line."""
    meant = [command for command in commands if command.program not in _BESIDE] or list(commands)
    if not meant:
        return None
    if len(meant) == 1:
        return run_of(meant[0])
    words = tuple(word for command in commands for part in (*command.fed, command.words) for word in part)
    return ProgramRun(meant[0].node, meant[0].program, {}, words)


def _wants(
    step: Step, network: SimulatedNetwork, nodes: Collection[str]
) -> tuple[tuple[GuideWant, ...], SimulatedNetwork]:
    """What a step wants, and the network after it."""
    match step.action:
        case Commands(lines=lines):
            wants: list[GuideWant] = []
            for number, line in enumerate(lines, 1):
                want, network = _of_line(step, line, network, nodes, last=number == len(lines))
                wants += [want] if want else []
            return tuple(wants), network
        case WriteFile(path=path, text=text, append=append):
            return (FileWant(path, text, append),), network
        case EditorActions(verbs=verbs):
            if any(verb.words[0] in ("run", "stop") for verb in verbs):
                network = SimulatedNetwork(network.devices)
            return tuple(EditorWant(verb.words) for verb in verbs), network
        case Interrupt(of=of) | Await(of=of):
            return (EndWant(of),), network


def _listing(want: GuideWant, written: Sequence[str]) -> GuideWant:
    """Whoever is to list the working folder looks for the file that was written last."""
    if isinstance(want, RunWant) and want.run.program == "ls" and not want.run.words:
        return replace(want, run=replace(want.run, one_of=tuple(written[-1:])))
    return want


def _of_mtu(want: GuideWant, expectations: Sequence[Expectation]) -> GuideWant:
    """Where interfaces are listed for their MTU, `ip link` shows that, too."""
    of_mtu = bool(expectations) and all(
        each.shows is not None and "mtu" in re.compile(each.shows).pattern for each in expectations
    )
    if of_mtu and isinstance(want, RunWant) and want.run.program == ADDRESSES:
        return replace(want, run=replace(want.run, one_of=(LINKS,)))
    return want


def _of_line(
    step: Step, line: str, network: SimulatedNetwork, nodes: Collection[str], *, last: bool
) -> tuple[GuideWant | None, SimulatedNetwork]:
    commands = commands_in(step.terminal, line, nodes)
    before, after, keys = network, network, list[str]()
    refused = last and bool(step.status)  # the manual shows what the kernel does not take
    for command in () if refused else commands:
        done = after.after(command)
        if done is not None and done.network is not None:
            after = done.network
            keys += done.keys
    if keys:
        was, now = before.settings(), after.settings()
        changed = [key for key in {**was, **now} if was.get(key) != now.get(key)]
        about = dict.fromkeys([*keys, *changed])
        changes = {key: now.get(key) for key in about if not key.endswith(f" {EFFECT}")}
        places = dict.fromkeys(key.partition(" ")[0] for key in changes if key.partition(" ")[0] in after.interfaces)
        effects = {place: now.get(f"{place} {EFFECT}") for place in places}
        return SettingWant(line, changes, effects), after
    run = line_run(commands)
    if run is None or (run.program == "sleep" and not last):
        return None, network
    finish = step.action.finish if isinstance(step.action, Commands) else None
    # `sudo mn` ends with the network, but its step is done once the prompt of its own is there
    stays = last and (isinstance(finish, Background) or (step.prompt is not None and run.program == MININET))
    return RunWant(line, run, network.settings(), step.status if last else None, stays), network


def _devices(topology: Topology | None) -> dict[str, str]:
    if topology is None:
        return {}
    return devices_of(topology.port_names(), [node.name for node in topology.nodes if has_ports(node)])


def _named_nodes(manual: Manual) -> frozenset[str]:
    names = (step.terminal.partition("#")[0] for step in manual.steps)
    return frozenset(name for name in names if name not in (CLIENT, "mininet", "editor"))


def _section(manual: Manual, step: Step) -> Section | None:
    return next((section for section in reversed(manual.sections) if section.line < step.line), None)


def _subgoal(manual: Manual, step: Step) -> str:
    """The subgoal above a step within its section, "" where there is none."""
    section = _section(manual, step)
    first = section.line if section else 0
    above = [subgoal for subgoal in manual.subgoals if first < subgoal.line < step.line]
    return above[-1].title if above else ""


def chains_of(steps: Iterable[GuideStep]) -> dict[str, list[tuple[int, int, Any]]]:
    """Of each setting the values that the manual gives it, in order: (step, want, value)."""
    found: dict[str, list[tuple[int, int, Any]]] = {}
    for step in steps:
        for place, want in enumerate(step.wants):
            if isinstance(want, SettingWant) and not step.step.optional:
                for key, value in want.changes.items():
                    found.setdefault(key, []).append((step.number, place, value))
    return found
