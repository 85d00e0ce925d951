# SPDX-License-Identifier: BSD-3-Clause
"""Which files a line typed into a terminal wrote, and what they and its output measured.

Told of every line when it begins and when it has ended; looks at the working folder, never into the network.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from linklab.base.bounded import Bounded
from linklab.errors import DataError
from linklab.guide.evidence import TypedEvidence
from linklab.guide.folders import ShellFolders
from linklab.guide.progress import FOLDER
from linklab.run.replay import is_read, measure_output
from linklab.run.workfolder import WorkFolder

SLOW_S = 0.5
"""Processor seconds for one look at all files; beyond it only those that a line names are looked at.

Not of wall-clock time, or what else the machine does would decide which files are a line's.
"""


@dataclass(frozen=True)
class MostMeasured:
    """What measuring the work of a stranger may take.

    bytes: of all lines, of what they showed and of their files.
    line_s, all_s: processor seconds for a line, and for all together.
    memory_bytes: of this process meanwhile.
    """

    bytes: int
    line_s: float
    all_s: float
    memory_bytes: int


@dataclass
class LineFiles:
    """The files of one working folder; what lies there when `begin` is called belongs to no line.

    most: how much is measured; a line for which there is no room, or that takes too long, is not measured.  None for
        no limit.
    """

    folder: Path
    most: MostMeasured | None = None
    is_small: bool = True
    _running: dict[tuple[str, str, float], TypedEvidence] = field(default_factory=dict)
    _named: dict[tuple[str, str, float], set[str]] = field(default_factory=dict)
    """Of each line that runs the files that it names, by the folder in which it began."""
    _unclaimed: set[str] = field(default_factory=set)
    _taken_bytes: int = 0
    _taken_s: float = 0.0

    def __post_init__(self) -> None:
        self._files = WorkFolder(self.folder)
        self._folders = ShellFolders()

    def begin(self) -> None:
        """A network begins: look at what is there; takes long in a folder with very many files."""
        self.continued()
        self._unclaimed.clear()
        self.is_small = True
        self._changed("")

    def continued(self) -> None:
        """Nothing runs any more, and all shells are new ones."""
        self._running.clear()
        self._named.clear()
        self._folders.begin()

    def closed(self, node: str) -> None:
        """All terminals of a node were closed: the next shell there is a new one."""
        self._folders.closed(node)

    def begins(self, line: TypedEvidence) -> None:
        """A line runs from now on."""
        self._running[line.key] = line
        self._named[line.key] = self._folders.named(line)

    def ended(self, line: TypedEvidence) -> TypedEvidence:
        """The line with the files that it wrote and what it measured, or why that could not be read."""
        self._running.pop(line.key, None)
        names = tuple(self._claimed(line))
        self._folders.ended(line)
        bytes_ = self._taken_bytes + len(line.output) + sum(map(self._size, filter(is_read, names)))
        if self.most is not None and bytes_ > self.most.bytes:
            why = f"not measured: with it, what lines showed and wrote would have more than {self.most.bytes >> 20} MiB"
            return replace(line, files=names, broken=why)
        if self.most is not None and self._taken_s > self.most.all_s:
            why = f"not measured: what lines showed and wrote took more than {self.most.all_s:g} s to read"
            return replace(line, files=names, broken=why)
        self._taken_bytes = bytes_
        try:
            with self._bounded():
                found = measure_output(line.output, names, self.folder, line.text, partial=True)
        except (DataError, OSError) as error:
            # without the folder, which is another on each machine and in each grading
            return replace(line, files=names, broken=str(error).replace(f"{self.folder}/", ""))
        scalars = {name: (quantity.value, quantity.unit) for name, quantity in found.scalars.items()}
        return replace(line, files=names, scalars=scalars)

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        if self.most is None:
            yield
            return
        begun_s = time.process_time()
        try:
            with Bounded(self.most.line_s, self.most.memory_bytes, "measuring what it showed and wrote"):
                yield
        finally:
            self._taken_s += time.process_time() - begun_s

    def _size(self, name: str) -> int:
        """Bytes of a file; 0 of one that has gone, which is not measured either."""
        with suppress(OSError):
            return (self.folder / name).stat().st_size
        return 0

    def _claimed(self, line: TypedEvidence) -> list[str]:
        """The files that a line wrote: those that are new, and that no other running line speaks of.

        Two that run at once may write files of the same name into folders of their own.
        """
        changed = (name for name in self._changed(line.text) if name.partition("/")[0] not in (FOLDER, "terminals"))
        self._unclaimed.update(changed)
        others = " ".join(other.text for other in self._running.values())
        named = self._named.pop(line.key, set())
        elsewhere = set[str]().union(*self._named.values())

        def is_ours(name: str) -> bool:
            if (name in named) != (name in elsewhere):
                return name in named
            last = name.rpartition("/")[2]
            return last in line.text or last not in others

        names = sorted(filter(is_ours, self._unclaimed))
        self._unclaimed.difference_update(names)
        return names

    def _changed(self, text: str) -> list[str]:
        """The files that have changed; in a folder with so many that looking takes long, those that a line names."""
        if self.is_small:
            begun_s = time.thread_time()
            changed = self._files.changed()
            self.is_small = time.thread_time() - begun_s < SLOW_S
            return changed
        words = {word.strip("'\"") for word in re.split(r"[\s<>|;&]+", text)}
        return [word for word in sorted(words) if word and self._is_below(word)]

    def _is_below(self, word: str) -> bool:
        """Whether a word of a line, which may be a stranger's, is the name of a file in the folder."""
        path = self.folder / word
        with suppress(OSError, ValueError):  # a name that is too long, a NUL
            return ".." not in path.parts and self.folder.resolve() in path.resolve().parents and path.is_file()
        return False
