# SPDX-License-Identifier: BSD-3-Clause
"""Which step wrote which file of a run's working folder.

Looks at sizes and times of files, never into them.
"""

from __future__ import annotations

import re
import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath


@dataclass
class WorkFolder:
    """The working folder of a run; every terminal starts in it.

    root: on this machine.
    folders: terminal → its directory below the root, followed from the `cd`s typed.
    """

    root: Path
    folders: dict[str, PurePosixPath] = field(default_factory=dict)
    _seen: dict[PurePosixPath, tuple[int, int]] = field(default_factory=dict)

    def typed(self, terminal: str, command: str) -> None:
        """Follow the `cd`s of a command that succeeded; one that leaves the working folder leads back to its root."""
        here = self.folders.get(terminal, PurePosixPath())
        for part in re.split(r"&&|;|\|\|", command):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            if words[:1] == ["cd"]:
                here = _inside(here, words[1] if len(words) > 1 else "/")
        self.folders[terminal] = here

    def changed(self) -> list[PurePosixPath]:
        """Files below the root that are new or different since the last call, sorted."""
        found = {}
        for path in self.root.rglob("*"):
            with suppress(OSError):  # gone since it was listed, or in a folder that may not be entered
                state = path.lstat()
                if stat.S_ISREG(state.st_mode):
                    found[PurePosixPath(path.relative_to(self.root).as_posix())] = (state.st_size, state.st_mtime_ns)
        new = sorted(path for path, state in found.items() if self._seen.get(path) != state)
        self._seen = found
        return new

    def share_out(
        self, done: Mapping[str, tuple[str, str]], running: Mapping[str, tuple[str, str]]
    ) -> dict[str, list[PurePosixPath]]:
        """Give each changed file to one step.

        Args:
            done: steps that just finished: id → (terminal, what was typed).
            running: steps still going on, the same.

        Returns:
            Step id → its files.  A step that names the file gets it, the one deepest above it first; what nobody
            names goes to the only step that finished, or to the one whose directory is nearest.
        """
        shares: dict[str, list[PurePosixPath]] = {}
        for path in self.changed():
            naming = [step for step, (_, text) in {**done, **running}.items() if _names(text, path)]
            candidates = naming or list(done)
            if candidates:
                everyone = {**running, **done}
                depth = {step: self._depth(everyone[step][0], path) for step in candidates}
                owner = max(candidates, key=lambda step: depth[step])
                shares.setdefault(owner, []).append(path)
        return shares

    def _depth(self, terminal: str, path: PurePosixPath) -> int:
        folder = self.folders.get(terminal, PurePosixPath())
        return len(folder.parts) if folder in path.parents else -1


def _inside(here: PurePosixPath, target: str) -> PurePosixPath:
    """Where `cd target` leads, as far as it stays below the root."""
    if target.startswith(("/", "~", "$", "-")):
        return PurePosixPath()
    parts = list(here.parts)
    for part in PurePosixPath(target).parts:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def _names(text: str, path: PurePosixPath) -> bool:
    words = re.split(r"""[\s'"<>|;&=]+""", text)
    return any(path.name == PurePosixPath(word).name or (len(word) > 3 and word in path.stem) for word in words if word)
