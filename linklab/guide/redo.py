# SPDX-License-Identifier: BSD-3-Clause
"""Somebody's progress in a lab → the evidence of doing the same once more, on networks of our own.

Every line is typed again, in its order and with its overlaps; what it shows and measures, and what the kernel says
afterwards, is seen anew. Of the progress only what was typed and the files that were written are believed.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from linklab.base import lab_script
from linklab.base.processor_time import own_s
from linklab.base.text import quoted
from linklab.base.typed_file import lines_that_write
from linklab.engine.api import Background, Clock, Completed, Engine, Network, Shows, StopAfter, Typed
from linklab.errors import AgentError, BootError, DeadlineError, EngineError, InputError, ShortageError
from linklab.guide.claims import LineFiles, MostMeasured
from linklab.guide.collect import looks_only
from linklab.guide.continuing import starts_network
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.guide.plan import LEAVES, runs_at_once
from linklab.guide.progress import BEGUN, CONTINUED
from linklab.guide.redo_lines import (
    LONGEST_S,
    PROMPT,
    ProgressEntry,
    end_of,
    finish_of,
    inside_finish,
    is_about_jobs,
    is_stopped,
    leaves,
    without_prompt,
    written_meanwhile,
)
from linklab.guide.redo_shells import RedoShells
from linklab.guide.retyped import is_aside, typed_again
from linklab.guide.shell import CLIENT, SUSPENDED
from linklab.lab.model import Lab
from linklab.manual.model import WriteFile
from linklab.state.model import READ_STATE, State

IDLE_S = 1.0
"""What people pause between two lines beyond this is left out, unless something runs meanwhile."""
MOST_PAUSE_S = 600.0
KILL_S = 60.0
"""Network time after Ctrl+C at which a line is killed: an editor that is known by no name here takes it for a key."""
BESIDE_S = 60.0
"""Network time that a line gets beyond the student's, where others ran beside it, before Ctrl+C."""
LINE_WALL_S = 400.0
"""For one line; in the grader's sandbox the network's processor time counts (`linklab.grade.sandbox.patience`).

The longest, a campaign of Lab 24, takes some 200 s of it.
"""
_MOST_WITHOUT_END = 2
"""Lines that may fail to end within `LINE_WALL_S`, over all networks; the next one ends the redoing."""
_MOST_ENDED = 4096
"""Processes that are ended where a network goes on, of which it can have 2,048."""
_AT_ONCE = 500
"""Processes that one line ends: it may have 4,095 letters."""
_MOST_WRITTEN = 2**26
"""Characters of files that are written, each as often as it is; a lab has some thousand."""
_LONGEST_INSIDE = 2**16
"""Characters of a file that is written inside the network."""
_MOST_FILES, MOST_FOLDERS = 500, 8
"""How many files the progress may have written, and in how many folders one of them lies; a lab has a dozen in two."""
_MOST_MEASURED = MostMeasured(bytes=128 * 2**20, line_s=30.0, all_s=90.0, memory_bytes=3 * 2**30)
"""A queue that is sampled takes 2.4 MiB a minute, also while somebody reads on.

To read a MiB of it takes 0.05 s, and of results of tools up to 0.5 s.
"""


class RedoError(InputError):
    """The work cannot be done once more; the sentence says where it ended."""


@dataclass
class Redoing:
    """One progress being done again.

    engine: builds the networks; folder: their working folder; until_s: on the monotonic clock, when it is to end.
    most_s: processor time of this process; beyond it the redoing ends, too.
    spent_s: processor time that was used before this, part of `most_s`.
    environment: of the first network.
    """

    lab: Lab
    engine: Engine
    folder: Path
    until_s: float
    most_s: float = math.inf
    spent_s: float = 0.0
    seed: int = 1
    environment: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""
    """Why it ended before the last line; "" if it did not."""
    in_vain: list[str] = field(default_factory=list)
    """Lines that ended for the student and were waited for in vain, each with its terminal."""
    otherwise: list[str] = field(default_factory=list)
    """Lines that ended with another exit status than the student's, or with their shell, and files not written."""

    def __post_init__(self) -> None:
        self._until_processor_s = own_s() + self.most_s - self.spent_s
        actions = (step.action for step in self.lab.manual.steps)
        self._inside = {each.path for each in actions if isinstance(each, WriteFile) and each.path.startswith("/")}
        self._stack = ExitStack()
        self._network: Network | None = None
        self._fresh: StateEvidence | None = None
        self._pending: list[StateEvidence] = []
        self._running: dict[tuple[str, str, float], _Running] = {}
        self._shells = RedoShells()
        self._shift_s = 0.0
        self._said_s = 0.0
        self._written: set[str] = set()
        self._written_chars = 0
        self._living: frozenset[str] = frozenset()
        """Numbers of the processes with which the network began."""
        self._mininet, self._at_prompt = "", False
        self._files = LineFiles(self.folder, _MOST_MEASURED)

    def evidence(self, entries: Sequence[ProgressEntry]) -> Iterator[GuideEvidence]:
        """What is seen while all of it is done again; ends early, and says so in `stopped`, where a network fails.

        Raises:
            BootError, ShortageError: a network does not start, or the machine ends it, for which nothing that was typed
                can be to blame.
        """
        with self._stack:
            try:
                for at, (kind, each) in enumerate(entries):
                    yield from self._entry(kind, each, entries[at + 1 :])
            except DeadlineError:
                self.stopped = "the time for it was up"
            except (BootError, ShortageError):
                raise
            except (EngineError, RedoError) as error:
                self.stopped = str(error)

    def _entry(self, kind: str, each: GuideEvidence | None, rest: Sequence[ProgressEntry]) -> Iterator[GuideEvidence]:
        if self._network is not None:
            self._left_s()
        if kind == BEGUN:
            self._begin()
        elif kind == CONTINUED:
            self._go_on()
        match each:
            case EditorEvidence(words=verb):
                if verb[:1] == ("closed",):
                    self._shells.closed(verb[1:2])
                    for node in verb[1:2]:
                        self._files.closed(node)
                yield each
            case FileEvidence():
                yield self._write(each)
            case TypedEvidence():
                yield from self._pending
                self._pending = []
                if each.ended:
                    yield from self._end(each)
                else:
                    yield from self._type(each, rest)

    # --- networks

    def _begin(self) -> None:
        self._stack.close()
        self._running.clear()
        self._shells.begin()
        self._mininet = ""
        lab_script.leave(self.lab.topology, self.folder)  # as whatever opens the lab does
        drawn = self.lab.load_topology() if runs_at_once(self.lab.manual) else None
        starting = self.engine.start(drawn, workdir=self.folder, clock=Clock.VIRTUAL, seed=self.seed)
        self._network = self._stack.enter_context(starting)
        self.environment = self.environment or dict(self._network.environment)
        self._files.begin()
        self._fresh = self._look()
        self._living = frozenset(self._processes())
        self._pending = [self._fresh]

    def _go_on(self) -> None:
        """The student's network was another one, set as the last; ours goes on without what ran in it."""
        if self._network is None:
            self._begin()
            return
        for one in list(self._running.values()):
            if one.terminal == self._mininet:
                self._run(Typed(one.terminal, LEAVES[0], StopAfter(LONGEST_S)))
            else:
                self._wait_end(one, stop=True)
        self._end_all_since()
        self._running.clear()
        self._shells.closed((CLIENT, *self.network.nodes))
        self._files.continued()
        self._mininet = ""
        self._pending = [*([self._fresh] if self._fresh else []), self._look()]

    def _processes(self) -> list[str]:
        """Numbers of all processes, which all nodes share."""
        return re.findall(r"/proc/(\d+)", self._run(Typed(f"{CLIENT}#look", "echo /proc/[0-9]*")).output)

    def _end_all_since(self) -> None:
        """End what was started since the network began, as servers in the background."""
        numbers = [each for each in self._processes() if each not in self._living][:_MOST_ENDED]
        for at in range(0, len(numbers), _AT_ONCE):
            # the pause is for the agent to see that the shells among them have gone
            self._run(
                Typed(f"{CLIENT}#look", f"kill -9 {' '.join(numbers[at : at + _AT_ONCE])} 2>/dev/null; sleep 0.1")
            )

    @property
    def network(self) -> Network:
        """The one that runs."""
        if self._network is None:
            raise RedoError("the progress does not say that a network began")
        return self._network

    def _left_s(self) -> float:
        if own_s() > self._until_processor_s:
            raise RedoError(
                f"reading it and doing it again took the grader more than {self.most_s:g} s of processor time"
            )
        left_s = self.until_s - time.monotonic()
        if left_s <= 0:
            raise DeadlineError("the time for it is up")
        return left_s

    def _run(self, typed: Typed) -> Completed:
        return self.network.run([typed], deadline_s=self._left_s())[0]

    def _relieve(self) -> None:
        """Have the kernel forget names of files where it must: to read them anew takes network time."""
        if self.network.holds_many_files():
            self._run(Typed(f"{CLIENT}#look", "echo 2 >/proc/sys/vm/drop_caches"))

    def _look(self) -> StateEvidence:
        self._relieve()
        done = self._run(Typed(f"{CLIENT}#look", READ_STATE))
        try:
            return StateEvidence(State.loads(done.output, "the network's state"), done.end_s)
        except InputError as error:
            raise EngineError(f"the state of the network cannot be read: {error}") from error

    # --- lines

    def _type(self, line: TypedEvidence, rest: Sequence[ProgressEntry]) -> Iterator[GuideEvidence]:
        ended, alone = end_of(line, rest)
        self._keep_pace(line.start_s)
        self._relieve()
        if self._mininet and line.terminal == CLIENT:
            self._bring_files(line, rest, ended)
            done = self._run(Typed(self._mininet, line.text, inside_finish(line, ended)))
            yield from self._done(line, done, ended)
            self._at_prompt = not leaves(line)
            return
        text = typed_again(line)
        if not text:
            yield TypedEvidence(line.terminal, line.text, self._now_s())
            return
        self._bring_files(line, rest, ended)
        taken = {one.terminal for one in self._running.values()}
        terminal = self._shells.free(line.terminal, taken, about_jobs=is_about_jobs(line))
        if starts_network(line) and line.terminal == CLIENT:
            self._mininet, self._at_prompt = terminal, True
            done = self._run(Typed(terminal, text, Shows(PROMPT)))
            yield self._starts(line, done, terminal)
        elif ended is not None and alone and ended.status != SUSPENDED:
            yield from self._alone(line, Typed(terminal, text, finish_of(ended), KILL_S), ended)
        else:
            done = self._run(Typed(terminal, text, Background(), KILL_S))
            yield self._starts(line, done, terminal)

    def _starts(self, line: TypedEvidence, done: Completed, terminal: str) -> TypedEvidence:
        """It runs from now on."""
        begun = TypedEvidence(line.terminal, line.text, done.start_s)
        self._running[line.key] = _Running(terminal, begun, done.output)
        self._files.begins(begun)
        return begun

    def _alone(self, line: TypedEvidence, typed: Typed, ended: TypedEvidence) -> Iterator[GuideEvidence]:
        """A line that runs while nothing else begins or ends; one that does not end is left where it is."""
        start_s = self._now_s()
        try:
            done = self.network.run([typed], deadline_s=min(self._left_s(), LINE_WALL_S))[0]
        except AgentError as error:  # its shell has ended with it, and the next line gets a new one; or it is too long
            self.otherwise.append(f"{quoted(line.text)} on {line.terminal} ({error})")
            yield TypedEvidence(line.terminal, line.text, start_s)
            yield self._look()
            return
        except DeadlineError:
            self._left_s()
            self.in_vain.append(f"{quoted(line.text)} on {line.terminal}")
            if len(self.in_vain) > _MOST_WITHOUT_END:
                said = f"{len(self.in_vain)} lines ended for the student but not here; the last is {self.in_vain[-1]}"
                raise RedoError(said) from None
            yield self._starts(line, Completed(typed.terminal, typed.text, "", None, start_s, start_s), typed.terminal)
            return
        yield from self._done(line, done, ended)

    def _done(self, line: TypedEvidence, done: Completed, ended: TypedEvidence | None) -> Iterator[GuideEvidence]:
        begun = TypedEvidence(line.terminal, line.text, done.start_s)
        self._files.begins(begun)
        yield begun
        self._said_s, self._shift_s = line.start_s, done.start_s - line.start_s
        yield from self._ended(begun, done, ended)

    def _end(self, line: TypedEvidence) -> Iterator[GuideEvidence]:
        """The end of a line as the student saw it; what was alone has ended already."""
        one = self._running.get(line.key)
        if one is None:
            return
        left_out_s = self._keep_pace(line.end_s or 0.0)  # while it still runs, or the pause would be cut to `IDLE_S`
        del self._running[line.key]
        if one.terminal == self._mininet:
            if self._at_prompt:  # it was left by Ctrl+D, which is no line
                self._run(Typed(one.terminal, LEAVES[0], StopAfter(LONGEST_S)))
            self._mininet = ""
            left = Completed(one.terminal, line.text, one.output, line.status or 0, 0.0, self._now_s())
            yield from self._ended(one.begun, left, line)
            return
        if line.status == SUSPENDED:
            self._shells.suspended(one.terminal)
        done = self._wait_end(one, BESIDE_S + left_out_s, stop=is_stopped(line), suspend=line.status == SUSPENDED)
        yield from self._ended(one.begun, done, line)

    def _ended(self, begun: TypedEvidence, done: Completed, ended: TypedEvidence | None) -> Iterator[GuideEvidence]:
        """A line has ended; ended: as the student saw it, None where it did not end there."""
        whole = begun.terminal == self._mininet or typed_again(begun) == begun.text
        whole = whole and not is_aside(begun)
        if ended is not None and whole and not is_stopped(ended) and _differ(ended.status, done.exit_status):
            statuses = f"status {done.exit_status}, the student's {ended.status}"
            self.otherwise.append(f"{quoted(begun.text)} on {begun.terminal} ({statuses})")
        seen = TypedEvidence(
            begun.terminal, begun.text, begun.start_s, done.end_s, without_prompt(done.output), done.exit_status
        )
        yield self._files.ended(seen)
        if not looks_only(seen, self.network.nodes):
            yield self._look()

    def _wait_end(self, one: _Running, within_s: float = BESIDE_S, *, stop: bool, suspend: bool = False) -> Completed:
        try:
            if stop:
                return self.network.stop(one.terminal, deadline_s=self._left_s(), suspend=suspend)
            return self.network.finished(one.terminal, deadline_s=self._left_s(), within_s=within_s)
        except AgentError:  # it has ended already
            now_s = self._now_s()
            return Completed(one.terminal, one.begun.text, one.output, None, one.begun.start_s, now_s)

    # --- time

    def _now_s(self) -> float:
        return self.network.now_s()

    def _keep_pace(self, said_s: float) -> float:
        """Wait until this moment of the student's time; while nothing runs, people's pauses are left out.

        Returns:
            How much of a pause beyond `MOST_PAUSE_S` was left out, in seconds: what runs may need it yet.
        """
        now_s = self._now_s()
        pause_s = said_s + self._shift_s - now_s
        if not self._running:
            pause_s = min(pause_s, IDLE_S)
        if pause_s > 0:
            self._run(Typed(f"{CLIENT}#pause", f"sleep {min(pause_s, MOST_PAUSE_S):.6f}"))
            now_s += min(pause_s, MOST_PAUSE_S)
        if not self._running:
            self._shift_s = now_s - said_s
        return max(0.0, pause_s - MOST_PAUSE_S)

    # --- files

    def _bring_files(self, line: TypedEvidence, rest: Sequence[ProgressEntry], ended: TypedEvidence | None) -> None:
        """Write what a line may use and is told of only when it ends."""
        for file in written_meanwhile(line, rest, ended):
            self._left_s()
            self._write(file)

    def _write(self, file: FileEvidence) -> FileEvidence:
        """Write a file as the student had it: in the working folder, or inside the network if it lies elsewhere.

        Raises:
            RedoError: no file can have that name or text, a folder stands where it belongs, or there are too many.
        """
        named = PurePosixPath(file.path)
        if ".." in named.parts:
            return file
        self._written.add(file.path)
        self._written_chars += len(file.text)
        if self._written_chars > _MOST_WRITTEN:
            raise RedoError(f"the progress writes more than {_MOST_WRITTEN >> 20} MiB into files")
        if len(self._written) > _MOST_FILES:
            raise RedoError(f"the progress names more than {_MOST_FILES} files")
        if named.is_absolute():
            self._write_inside(file)
            return file
        if len(named.parts) - 1 > MOST_FOLDERS:
            raise RedoError(f"the file {quoted(file.path)} of the progress lies in more than {MOST_FOLDERS} folders")
        try:
            path = self.folder / named
            if self.folder.resolve() in path.resolve().parents:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(file.text, encoding="utf-8")
        except (OSError, ValueError) as error:  # ValueError: a NUL, or half of a character
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise RedoError(f"the file {quoted(file.path)} of the progress cannot be written: {why}") from error
        return file

    def _write_inside(self, file: FileEvidence) -> None:
        """Write a file of the network's own that the lab's manual has written, such as /etc/sysctl.conf."""
        if file.path not in self._inside or len(file.text) > _LONGEST_INSIDE:
            self.otherwise.append(f"the file {quoted(file.path)}, which was not written")
            return
        try:
            lines = lines_that_write(file.path, file.text)
        except ValueError as error:  # half of a character
            raise RedoError(f"the file {quoted(file.path)} of the progress cannot be written: {error}") from error
        if any(self._run(Typed(f"{CLIENT}#look", line)).exit_status for line in lines):
            self.otherwise.append(f"the file {quoted(file.path)}, which could not be written")


def _differ(one: int | None, other: int | None) -> bool:
    """Whether two statuses are known and not the same."""
    return one is not None and other is not None and one != other


@dataclass(frozen=True)
class _Running:
    """A line that runs: in which terminal of ours, how it began, and what it has shown where nobody waits for it."""

    terminal: str
    begun: TypedEvidence
    output: str = ""
