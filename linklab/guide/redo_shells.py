# SPDX-License-Identifier: BSD-3-Clause
"""Into which terminal of ours a line is typed when a lab is done once more.  Pure.

A progress tells the node of a line and not in which of its terminals it was typed, so one is taken in which nothing
runs.  Terminals that the student closed are not used again: their shells' folders, variables, and jobs are gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

_MOST = 20
"""Terminals of a node in which something runs at once."""


class RedoShells:
    """Names of terminals, such as h1 and h1#2."""

    def __init__(self) -> None:
        self._closed: Counter[str] = Counter()
        """Node → how often all of its terminals were closed in this network."""
        self._jobs: dict[str, str] = {}
        """Node → the terminal in which Ctrl+Z suspended a program last."""

    def begin(self) -> None:
        """A network begins."""
        self._closed.clear()
        self._jobs.clear()

    def closed(self, nodes: Iterable[str]) -> None:
        """All terminals of these nodes were closed."""
        for node in nodes:
            self._closed[node] += 1
            self._jobs.pop(node, None)

    def suspended(self, terminal: str) -> None:
        """Ctrl+Z was typed there."""
        self._jobs[_node_of(terminal)] = terminal

    def free(self, terminal: str, taken: Collection[str], *, about_jobs: bool) -> str:
        """A terminal of the node in which nothing runs; the first where that is possible, for its variables.

        Args:
            terminal: where the student typed.
            taken: terminals in which something runs.
            about_jobs: for a line like `bg`, which is of the terminal in which a program was suspended last.
        """
        node = _node_of(terminal)
        suspended = self._jobs.get(node)
        if about_jobs and suspended is not None and suspended not in taken:
            return suspended
        first = _MOST * self._closed[node] + 1
        names = [f"{terminal}#{number}" if number > 1 else terminal for number in range(first, first + _MOST)]
        return next((name for name in names if name not in taken), names[-1])


def _node_of(terminal: str) -> str:
    return terminal.partition("#")[0]
