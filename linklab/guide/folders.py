# SPDX-License-Identifier: BSD-3-Clause
"""In which folder each terminal's shell is, as its `cd` lines tell, and so which files a line names.  Pure."""

from __future__ import annotations

from posixpath import normpath
from typing import TypeAlias

from linklab.guide.evidence import TypedEvidence
from linklab.guide.shell import commands_in

Below: TypeAlias = "str | None"
"""A path below the working folder, "." for itself; None for elsewhere, or not known where."""

_LONGEST = 255
"""Letters of a path that is followed: a line may have 2,000 words, each of which could be a file's name."""
WORK = "/lab"
"""The working folder inside, which is home as well."""


class ShellFolders:
    """Told of every line that ends; a terminal begins in the working folder."""

    def __init__(self) -> None:
        self._at: dict[str, Below] = {}

    def begin(self) -> None:
        """All shells are new ones."""
        self._at.clear()

    def closed(self, node: str) -> None:
        """All shells of a node are new ones."""
        self._at = {terminal: at for terminal, at in self._at.items() if terminal.partition("#")[0] != node}

    def ended(self, line: TypedEvidence) -> None:
        """A line has ended, and has perhaps left its shell in another folder."""
        if line.status in (0, None):
            self._at[line.terminal] = self._followed(line)[1]

    def named(self, line: TypedEvidence) -> set[str]:
        """Below the working folder, the path of every word of a line, as if each were the name of a file."""
        return self._followed(line)[0]

    def _followed(self, line: TypedEvidence) -> tuple[set[str], Below]:
        at, found = self._at.get(line.terminal, "."), set[Below]()
        for command in commands_in(line.terminal, line.text):
            if command.program == "cd":
                at = _joined(at, command.words[1] if len(command.words) > 1 else "~")
            else:
                parts = (*command.fed, command.words, command.to)
                found |= {_joined(at, word) for words in parts for word in words}
        return {path for path in found if path is not None}, at


def _joined(at: Below, word: str) -> Below:
    """Where a word leads from a folder."""
    word = WORK + word[1:] if word == "~" or word.startswith("~/") else word
    if word.startswith("/"):
        at, word = ".", word.removeprefix(WORK) if f"{word}/".startswith(f"{WORK}/") else ".."
    if at is None or word.startswith("-"):
        return None
    path = normpath(f"{at}/{word.lstrip('/')}")
    return None if path == ".." or path.startswith("../") or len(path) > _LONGEST else path
