# SPDX-License-Identifier: BSD-3-Clause
"""Networks that have done the same before need not do it again: what they answered is read from a folder.

On the virtual clock, a network is a function of its drawing, its seed, the files in its working folder, and what is
typed, in order.  `SharedEngine` stands before another engine and keeps each answer under a digest of all of these, so
that submissions with the same parameters and the same settings are measured once.  Where a network is asked something
new, it is started, does again what has been answered for it, and goes on by itself.

Only whole networks are kept that answered to the end, and never one whose time followed this machine's processor.
Where submissions are graded, they are kept after their submission has been, and only if nothing broke or was stopped at
it, and the OOM killer ended nothing meanwhile.  The folder belongs to one grading on one machine and is thrown away
with it: no program or kernel changes meanwhile.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import pickle
import shutil
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from linklab.base.files import remove_folder, write
from linklab.base.processes import own_oom_kills
from linklab.engine.api import (
    Channel,
    Clock,
    Completed,
    Computed,
    Engine,
    FailedCommand,
    Network,
    Paced,
    Typed,
)
from linklab.errors import EngineError
from linklab.grade.sandbox import SandboxEngine
from linklab.grade.scratch import working_folder
from linklab.topology import Topology
from linklab.topology.plan import plan

CURE = "grade with --no-sharing, which measures each anew"
MOST_BYTES = 4 << 20
MOST_FILES = 200
"""A working folder that holds more, or anything but plain files, is not shared; the grader's own hold far less."""
MOST_KEPT_BYTES = 256 << 20
MOST_OF_ONE_BYTES = 8 << 20
"""Of all answers of a grading, and of those that are kept at once; an honest submission's take well below 1 MiB."""

_T = TypeVar("_T")
_Files = Mapping[str, bytes]


class SharedEngine:
    """An engine that takes answers from a folder where it can, and asks another engine for the rest.

    engine: the other one. folder: of the answers, which nobody but the grader may write to, since they are unpickled.
    waits: whether what is answered is kept when `keep` is called, and not at the end of each network.
    """

    def __init__(self, engine: Engine, folder: Path, *, waits: bool = False) -> None:
        self.engine = engine
        self.side_by_side = engine.side_by_side
        self._answers = _Answers(folder, waits)

    def keep(self) -> None:
        """Write the answers held back so far to the folder."""
        self._answers.write()

    def check(self) -> None:
        """As the engine behind it."""
        self.engine.check()

    def within(self, processor_s: float) -> SharedEngine:
        """The same, whose networks may take at most that much processor time, in seconds, where they are confined."""
        if isinstance(self.engine, SandboxEngine):
            found = copy.copy(self)
            found.engine = self.engine.within(processor_s)
            return found
        return self

    @contextlib.contextmanager
    def start(self, topology: Topology | None, *, workdir: Path, **options: Any) -> Iterator[Network]:
        """See `Engine.start`, whose options these are; a network that nobody needs is not started."""
        start = partial(self.engine.start, topology, workdir=workdir, **options)
        told = {name: value for name, value in options.items() if name != "on_stage"}
        if topology is None or told.get("clock", Clock.VIRTUAL) is not Clock.VIRTUAL or told.get("display"):
            with start() as network:
                yield network
            return
        what = [plan(topology), sorted((name, str(value)) for name, value in told.items())]
        shared = SharedNetwork(start, workdir, self._answers, what)
        with contextlib.closing(shared):
            yield shared
            shared.keep()


@dataclass(frozen=True)
class _Answer:
    """What was answered, and the files of the working folder that have changed: their contents, None where removed."""

    value: Any
    changed: Mapping[str, bytes | None]


@dataclass
class _Answers:
    """Those in a folder, by their digests, and new ones; if it `waits`, these are not there before `write`.

    killed: how many processes the OOM killer had ended before all of them.
    """

    folder: Path
    waits: bool
    new: dict[str, _Answer] = field(default_factory=dict)
    killed: int | None = field(default_factory=own_oom_kills)

    def find(self, key: str) -> _Answer | None:
        """What was answered, or None."""
        if key in self.new:
            return self.new[key]
        try:
            packed = (self.folder / key).read_bytes()
        except OSError:
            return None
        found: _Answer = pickle.loads(zlib.decompress(packed))  # noqa: S301 - `write` wrote it, in a folder of ours
        return found

    def add(self, new: Mapping[str, _Answer]) -> None:
        """Those of a network that has ended."""
        self.new |= new
        if not self.waits:
            self.write()

    def write(self) -> None:
        """Put the new ones into the folder, while there is room; what is not kept is measured again.

        None is kept where the OOM killer has ended a process meanwhile: it may have been one of the network's.
        """
        new, self.new = self.new, {}
        if own_oom_kills() != self.killed:
            return
        packed = {key: zlib.compress(pickle.dumps(answer), 1) for key, answer in new.items()}
        size = sum(map(len, packed.values()))
        if size > MOST_OF_ONE_BYTES or size + sum(map(_size, self.folder.iterdir())) > MOST_KEPT_BYTES:
            return
        with contextlib.suppress(OSError):
            for key, content in packed.items():
                write(self.folder / key, content, private=True)


def _size(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):  # another process has renamed it meanwhile
        return path.stat().st_size
    return 0


@dataclass(frozen=True)
class _Asked:
    """A question that was answered for a network that does not run: the files before it, and how it is asked."""

    before: _Files
    ask: Callable[[Network], Any]
    value: Any


@dataclass(frozen=True)
class _Begun:
    """What a network says of itself when it has started."""

    environment: dict[str, Any]
    nodes: Sequence[str]
    failed_commands: Sequence[FailedCommand]
    warnings: Sequence[str]

    @classmethod
    def of(cls, network: Network) -> _Begun:
        return cls(network.environment, list(network.nodes), list(network.failed_commands), list(network.warnings))


class _NotSharedError(Exception):
    """A working folder holds something else than a few plain files, or a network did not do the same again."""


class SharedNetwork:
    """A network that starts when it is asked what no network before it was; see `linklab.engine.api.Network`."""

    def __init__(
        self,
        start: Callable[[], AbstractContextManager[Network]],
        workdir: Path,
        answers: _Answers,
        what: Sequence[Any],
    ) -> None:
        self._start, self._workdir, self._answers = start, workdir, answers
        self._running: Network | None = None
        self._ends = contextlib.ExitStack()
        self._key: str | None = ""
        """Digest of all that has been asked; None for a network that is not shared any more."""
        self._asked: list[_Asked] = []
        self._new: dict[str, _Answer] = {}
        begun = self._ask("start", what, _Begun.of)
        self.environment = begun.environment
        self.nodes, self.failed_commands, self.warnings = begun.nodes, begun.failed_commands, begun.warnings

    @property
    def link(self) -> Channel:
        """That of the network, which is not shared from here on: what is said there is not kept."""
        return self._alone().link

    @property
    def paced(self) -> Paced | None:
        """None: the virtual clock cannot be set."""
        return None

    def run(
        self,
        actions: Sequence[Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
        at_once: bool = False,
    ) -> list[Completed]:
        """See `Network.run`; with `on_output`, the network is not shared any more."""
        if on_output is not None:
            return self._alone().run(actions, deadline_s=deadline_s, on_output=on_output, at_once=at_once)
        typed = [[each.terminal, each.text, repr(each.finish)] for each in actions]
        ask = partial(_run, list(actions), deadline_s, at_once)
        return self._ask("run", [typed, at_once], ask)

    def stop(self, terminal: str, *, deadline_s: float = 60, suspend: bool = False) -> Completed:
        """See `Network.stop`."""

        def ask(network: Network) -> Completed:
            return network.stop(terminal, deadline_s=deadline_s, suspend=suspend)

        return self._ask("stop", [terminal, suspend], ask)

    def finished(self, terminal: str, *, deadline_s: float = 600, within_s: float | None = None) -> Completed:
        """See `Network.finished`."""

        def ask(network: Network) -> Completed:
            return network.finished(terminal, deadline_s=deadline_s, within_s=within_s)

        return self._ask("finished", [terminal, within_s], ask)

    def holds_many_files(self) -> bool:
        """Not what is measured here, which looks at few."""
        return False

    def now_s(self) -> float:
        """Network time."""
        return self._ask("now", None, lambda network: network.now_s())

    def computed(self) -> Sequence[Computed]:
        """See `Network.computed`."""
        return self._ask("computed", None, lambda network: list(network.computed()))

    def state_text(self) -> str:
        """See `Network.state_text`."""
        return self._ask("state", None, lambda network: network.state_text())

    def close(self) -> None:
        """End it, if it runs."""
        self._key = None
        self._ends.close()

    def keep(self) -> None:
        """Keep its answers for networks that are asked the same, if its time followed no processor."""
        if self._running is None or self._key is None:
            return
        with contextlib.suppress(EngineError):  # what is not kept is measured again
            if not self._running.computed():
                self._answers.add(self._new)

    # --- asking

    def _ask(self, what: str, words: Any, ask: Callable[[Network], _T]) -> _T:
        """The answer, from the folder if it is there, else from the network."""
        if self._key is None:
            return ask(self._alone())
        try:
            before = _files_in(self._workdir)
        except _NotSharedError:
            return ask(self._alone())
        key = _digest(self._key, what, words, before)
        if self._running is None and (found := self._answers.find(key)) is not None:
            _put(self._workdir, before, {**before, **found.changed})
            self._asked.append(_Asked(before, ask, found.value))
            self._key = key
            value: _T = found.value
            return value
        self._key = None  # where it raises, nothing of the network is kept
        value = ask(self._running or self._caught_up())
        with contextlib.suppress(_NotSharedError):
            after = _files_in(self._workdir)
            gone = dict.fromkeys({*before} - {*after})
            self._new[key] = _Answer(value, {**{k: v for k, v in after.items() if before.get(k) != v}, **gone})
            self._key = key
        return value

    def _alone(self) -> Network:
        """The network, whose answers are not kept from here on."""
        self._key = None
        return self._running or self._caught_up()

    def _caught_up(self) -> Network:
        """The network, started, after it has done what was answered for it; its folder is as it was found."""
        asked, self._asked = self._asked, []
        if not asked:
            network = self._running = self._ends.enter_context(self._start())
            return network
        with _emptied(self._workdir):
            _put(self._workdir, {}, asked[0].before)
            network = self._running = self._ends.enter_context(self._start())
            try:
                for each in asked:
                    _put(self._workdir, _files_in(self._workdir), each.before)
                    if each.ask(network) != each.value:
                        raise _NotSharedError
            except _NotSharedError as error:
                raise EngineError(f"a network did something else than one that was set to the same; {CURE}") from error
        return network


def _run(actions: Sequence[Typed], deadline_s: float, at_once: bool, network: Network) -> list[Completed]:
    return network.run(actions, deadline_s=deadline_s, at_once=at_once)


def _digest(before: str, what: str, words: Any, files: _Files) -> str:
    """Of a question and of all before it."""
    contents = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return hashlib.sha256(json.dumps([before, what, words, contents], sort_keys=True).encode()).hexdigest()


def _files_in(folder: Path) -> dict[str, bytes]:
    """The plain files of a folder and those below it; _NotSharedError where it holds anything else, or too much.

    Empty folders do not count: no program of the grader's looks for one.
    """
    found: dict[str, bytes] = {}
    room = MOST_BYTES
    try:
        for path in sorted(folder.rglob("*")):
            about = path.lstat()
            if stat.S_ISDIR(about.st_mode):
                continue
            room -= about.st_size
            if not stat.S_ISREG(about.st_mode) or room < 0 or len(found) == MOST_FILES:
                raise _NotSharedError
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    except OSError as error:  # such as one that its writer has closed to everybody
        raise _NotSharedError from error
    return found


@contextlib.contextmanager
def _emptied(folder: Path) -> Iterator[None]:
    """A folder without what it holds, which comes back in place of all that is there then."""
    with working_folder("linklab-aside-") as aside:
        there = [path.name for path in folder.iterdir()]
        for name in there:
            shutil.move(folder / name, aside / name)
        try:
            yield
        finally:
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():
                    remove_folder(path)
                else:
                    path.unlink()
            for name in there:
                shutil.move(aside / name, folder / name)


def _put(folder: Path, now: _Files, wanted: Mapping[str, bytes | None]) -> None:
    """Bring a folder from one content to another; None for a file that is not to be there."""
    for name in now:
        if wanted.get(name) is None:
            (folder / name).unlink()
    for name, content in wanted.items():
        if content is not None and now.get(name) != content:
            path = folder / name
            if path.is_dir():
                shutil.rmtree(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
