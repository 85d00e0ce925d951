# SPDX-License-Identifier: BSD-3-Clause
"""Does the steps of a manual on a running network, and brings back what each showed.

Speaks to the network only through `linklab.engine.api`. Where the manual works in the editor, its Run and Stop start
and end networks; else one network serves all steps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from linklab.base import installation
from linklab.base.finish import Background, Finish, Prompt, Shows, StopAfter
from linklab.base.typed_file import lines_that_write
from linklab.engine import api
from linklab.errors import EngineError, LabError, TopologyError
from linklab.judge.expectation import Expectation, ExpectationVerdict
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.manual.editing import EMPTY, edited
from linklab.manual.model import Await, Commands, EditorActions, EditorVerb, Interrupt, Step, WriteFile
from linklab.run.readback import ReadBack, looks
from linklab.run.workfolder import WorkFolder, share_out
from linklab.topology import Topology

DEADLINE_S = 600.0
"""Wall-clock seconds a step may take where the manual gives it no `deadline`."""

LOOK_DEADLINE_S = 60.0
"""The same for one look at what was set."""


class StatusError(EngineError):
    """A command of a step ended with another status than the manual expects."""

    step = ""

    @classmethod
    def of(cls, step: str, why: str) -> StatusError:
        """The error of a step."""
        found = cls(why)
        found.step = step
        return found


@dataclass(frozen=True)
class RunSettings:
    """How a lab is run: the clock, the seed of all chance, the profile of what computing costs.

    settings_only: what steps set is read back and judged, and nothing else.
    """

    clock: api.Clock = api.Clock.VIRTUAL
    seed: int = 1
    profile: str = "desktop"
    settings_only: bool = False


@dataclass(frozen=True)
class Capture:
    """What one step left.

    output: terminal output; that of a background command is complete once it was stopped or waited for.
    exit_status: None where there is none.
    start_s, end_s: network time, running on over the networks of a lab.
    files: paths below the working folder that the step wrote.
    """

    step: str
    terminal: str
    typed: str
    output: str
    exit_status: int | None
    start_s: float
    end_s: float
    files: tuple[str, ...] = ()


@dataclass
class Stage:
    """The networks of one run; a context manager that leaves none behind."""

    lab: Lab
    engine: api.Engine
    settings: RunSettings
    files: Path
    on_output: Callable[[str, str], None] | None = None
    environment: dict[str, Any] = field(default_factory=dict)
    captures: dict[str, Capture] = field(default_factory=dict)
    """By step; one left running is here from its start and is completed at its end."""
    unclaimed: list[str] = field(default_factory=list)
    """Files below the working folder of which nobody knows which step wrote them."""
    computed: list[api.Computed] = field(default_factory=list)
    """Programs of the networks that have ended for which network time followed the processor's; since the run began."""

    def __post_init__(self) -> None:
        self.files.mkdir(parents=True, exist_ok=True)
        self._date(self.files)
        self._folder = WorkFolder(self.files)
        self._folder.changed()
        self._stack = ExitStack()
        self._network: api.Network | None = None
        self._topology: Topology | None = None  # what the editor has open
        self._before_s = 0.0
        self._running: dict[str, Step] = {}
        self._asking: set[str] = set()
        verbs = [
            verb.words[0]
            for step in self.lab.manual.steps
            if isinstance(step.action, EditorActions) and not step.optional
            for verb in step.action.verbs
        ]
        # Without a Run in the manual the lab's network is there from the start; before the first, only its terminal.
        self._implicit = None if "run" in verbs else self.lab.load_topology()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # what failed may not answer any more, or only when what was typed has ended: the time is not asked for then
        self._close(ask_time=error is None)

    def now_s(self) -> float:
        """Network time since the run began."""
        return self._before_s + (self._network.now_s() if self._network else 0.0)

    def perform(self, group: Sequence[Step]) -> list[Capture]:
        """Do the steps of a group, which are typed together.

        Returns:
            A capture of each step that is finished now: those of the group that were not left running, and those
            that an earlier group left running and this one ended.  All are in `captures` too.

        Raises:
            EngineError: the network failed.
            StatusError: a command ended with another status than the manual expects.
        """
        done: dict[str, Step] = {}
        if len(group) > 1 and all(isinstance(step.action, Commands) for step in group):
            self._together(group)
            done = {step.id: step for step in group}
        else:
            for step in group:
                done.update({finished.id: finished for finished in self._one(step)})
        self._share_files(group, done)
        return [self.captures[step] for step in done if step not in self._running]

    def read_back(self, group: Sequence[Step]) -> list[ExpectationVerdict]:
        """Look whether what the steps set is set, in terminals of their nodes that nobody else uses."""
        verdicts = []
        for step in group:
            node = step.terminal.partition("#")[0]
            if not isinstance(step.action, Commands) or node == "mininet":
                continue
            for look in looks(step.action.lines):
                (shown,) = self._start().run([api.Typed(f"{node}#readback", look.command)], deadline_s=LOOK_DEADLINE_S)
                verdicts.append(self._looked(step, look, shown.output))
        return verdicts

    def ask(self, command: str) -> str:
        """What a command shows in a terminal that nobody else uses, in the root namespace."""
        (shown,) = self._start().run([api.Typed("client#asked", command)], deadline_s=LOOK_DEADLINE_S)
        return shown.output

    def _looked(self, step: Step, look: ReadBack, output: str) -> ExpectationVerdict:
        where = f"{self.lab.manual.path}:{step.line}"
        expected = Expectation(
            step.id, look.command, None, re.compile(look.pattern), "", "what was set is read back", "", "", where
        )
        found = expected.shows.search(output) if expected.shows else None
        if found:
            return ExpectationVerdict(expected, outcome=Outcome.PASS, expected=expected.expected, seen=found[0])
        said = f"{where}: step {step.id}: {look.command} shows {' '.join(output.split()) or 'nothing'} afterwards"
        return ExpectationVerdict(
            expected, outcome=Outcome.FAIL, expected=expected.expected, seen="not shown", story=said
        )

    def _one(self, step: Step) -> list[Step]:
        """Do one step; the steps that finished with it."""
        match step.action:
            case Commands(lines=lines):
                parts = []
                for number, line in enumerate(lines, 1):
                    last = number == len(lines)
                    shaped = replace(step, action=Commands((line,), step.action.finish if last else Prompt()))
                    parts.append(self._run([shaped])[0])
                self._keep(step, parts)
            case Interrupt(of=of) | Await(of=of):
                network, deadline_s = self._start(), step.deadline_s or DEADLINE_S
                start_s = self.now_s()
                if isinstance(step.action, Interrupt):
                    completed = network.stop(step.terminal, deadline_s=deadline_s)
                else:
                    completed = network.finished(step.terminal, deadline_s=deadline_s)
                self._add(step, completed.output, completed.exit_status, start_s, self.now_s())
                first = self.captures[of]
                self.captures[of] = replace(
                    first, output=completed.output, exit_status=completed.exit_status, end_s=self.now_s()
                )
                return [step, self._running.pop(of)]
            case WriteFile(path=path, text=text, append=append):
                parts = []
                for line in lines_that_write(path, text, append=append):
                    parts += self._run([replace(step, action=Commands((line,)))])
                self._keep(step, [replace(part, output="") for part in parts])
            case EditorActions(verbs=verbs):
                start_s = self.now_s()
                for verb in verbs:
                    self._edit(verb)
                self._add(step, "", None, start_s, self.now_s())
        return [step]

    def _together(self, group: Sequence[Step]) -> None:
        for step, completed in zip(group, self._run(group), strict=True):
            self._keep(step, [completed])

    def _run(self, steps: Sequence[Step]) -> list[api.Completed]:
        """Type one command of each step, all together, and check how each ended."""
        deadlines = [step.deadline_s or DEADLINE_S for step in steps]
        actions = [api.Typed(step.terminal, step.typed, _finish(step)) for step in steps]
        at_once = any(step.at_once for step in steps)
        results = self._start().run(actions, deadline_s=max(deadlines), on_output=self.on_output, at_once=at_once)
        for step, completed in zip(steps, results, strict=True):
            self._check(step, completed)
        return [self._without_prompt(step, completed) for step, completed in zip(steps, results, strict=True)]

    def _without_prompt(self, step: Step, completed: api.Completed) -> api.Completed:
        """Without the echo of the command and the prompt, which the engine knows of a shell alone."""
        asked = step.terminal in self._asking  # a program with a prompt of its own has this typed into it
        (self._asking.add if step.prompt else self._asking.discard)(step.terminal)
        if not step.prompt and not asked:
            return completed
        output = completed.output.rstrip().removesuffix(step.prompt or "")
        lines = output.splitlines()
        if lines and lines[0].strip() == step.typed.strip():
            del lines[0]
        return replace(completed, output="\n".join(lines) + "\n" if lines else "")

    def _check(self, step: Step, completed: api.Completed) -> None:
        ended = isinstance(step.action, Commands) and isinstance(step.action.finish, Prompt)
        if ended and step.status is not None and completed.exit_status not in (None, step.status):
            last = "\n".join(completed.output.strip().splitlines()[-3:]) or "nothing"
            raise StatusError.of(
                step.id,
                f"{self.lab.manual.path}:{step.line}: step {step.id}: {completed.text!r} in {step.terminal} ended with "
                f"status {completed.exit_status}, not {step.status}; it printed: {last}",
            )

    def _keep(self, step: Step, parts: Sequence[api.Completed]) -> None:
        output = "\n".join(part.output.rstrip("\n") for part in parts if part.output.strip("\n"))
        start_s, end_s = self._before_s + parts[0].start_s, self._before_s + parts[-1].end_s
        self._add(step, output + "\n" if output else "", parts[-1].exit_status, start_s, end_s)
        if isinstance(step.action, Commands) and isinstance(step.action.finish, Background):
            self._running[step.id] = step

    def _add(self, step: Step, output: str, status: int | None, start_s: float, end_s: float) -> None:
        self.captures[step.id] = Capture(step.id, step.terminal, step.typed, output, status, start_s, end_s)

    def _share_files(self, group: Sequence[Step], done: dict[str, Step]) -> None:
        finished = [step for key, step in done.items() if key not in self._running]
        finished = [step for step in finished if not isinstance(step.action, Interrupt | Await)]
        finished = finished or [step for step in group if step.id in self._running]
        running = [step for step in self._running.values() if step not in finished]
        shares, unclaimed = share_out(self._folder.changed(), finished, running)
        for step, paths in shares.items():
            capture = self.captures[step]
            self.captures[step] = replace(capture, files=tuple(dict.fromkeys([*capture.files, *paths])))
        self.unclaimed += unclaimed

    def _start(self, topology: Topology | None = None) -> api.Network:
        if self._network is None:
            settings = self.settings
            self._network = self._stack.enter_context(
                self.engine.start(
                    topology or self._implicit,
                    workdir=self.files,
                    clock=settings.clock,
                    seed=settings.seed,
                    profile=settings.profile,
                )
            )
            api.refuse_failed_commands(self._network)
            self.environment = dict(self._network.environment)
        return self._network

    def _close(self, *, ask_time: bool = True) -> None:
        try:
            if self._network is not None and ask_time:
                found = self._network.computed()
                self.computed += [replace(one, from_s=self._before_s + one.from_s) for one in found]
                self._before_s = self.now_s()
        finally:
            self._network = None
            self._running.clear()
            self._asking.clear()
            self._stack.close()

    def _date(self, path: Path) -> None:
        """Give a file or folder that we make the date at which the virtual clock begins, because `ls -l` shows it."""
        if self.settings.clock is api.Clock.VIRTUAL:
            os.utime(path, ns=(api.VIRTUAL_START_NS, api.VIRTUAL_START_NS))

    def _edit(self, verb: EditorVerb) -> None:
        match verb.words:
            case ("open", name):
                own = self.files / name
                topologies = installation.ROOT / "topologies"
                self._topology = Topology.load(own if own.is_file() else installation.need(topologies) / name)
            case ("run",):
                self._close()
                self._start(self._topology)
            case ("stop",):
                self._close()
            case ("terminal" | "close", _):
                return  # terminals are there as soon as something is typed into them
            case ("save", name):
                (self._topology or EMPTY).save(self.files / name)
                self._date(self.files / name)
            case words:
                try:
                    self._topology = edited(self._topology or EMPTY, words)
                except TopologyError as error:
                    raise LabError(f"{self.lab.manual.path}:{verb.line}: {error}") from error


def _finish(step: Step) -> Finish:
    """When a step has ended; where it says a prompt of its own, that is waited for instead of the shell's."""
    finish: Finish = step.action.finish if isinstance(step.action, Commands) else Prompt()
    shown = rf"(?:^|\n){re.escape(step.prompt)}\s*\Z" if step.prompt else ""
    match finish:
        case StopAfter(seconds=seconds):
            return StopAfter(seconds, shown)
        case Prompt() if shown:
            return Shows(shown)
        case _:
            return finish
