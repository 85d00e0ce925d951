# SPDX-License-Identifier: BSD-3-Clause
"""What is being edited: a topology, what is selected, and every earlier state for undo.

A topology is immutable, so that an edit is a function from one to the next, and undoing it is going back to the one
before. The view is told by `on_change`, and of another file by `on_open`. Knows no tkinter and starts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from linklab.editor.decorations import decorations, is_decoration
from linklab.topology import Controller, Topology
from linklab.topology.parts import Node
from linklab.windows.words import Phrase

Key: TypeAlias = str | int
"""A selected thing: a node's or controller's name, a link's place in the file, "s1>c0", a switch's controller, or
"#note1", "#group1" and "#background" of `decorations`."""

AnyNode: TypeAlias = Node | Controller

UNDO_LEVELS = 500


def is_node(key: Key | None) -> bool:
    """Whether a thing is a node or a controller."""
    return isinstance(key, str) and ">" not in key and not is_decoration(key)


def everyone(topology: Topology) -> list[AnyNode]:
    """Nodes, then controllers, in the order of the file."""
    return [*topology.nodes, *topology.all_controllers]


@dataclass(frozen=True)
class Snapshot:
    """A topology and what was selected in it."""

    topology: Topology
    selection: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class Edit:
    """One undoable change: what it is called and the state before it."""

    label: str
    before: Snapshot
    joins: str = ""


class Document:
    """One open file."""

    def __init__(self, topology: Topology | None = None, path: Path | None = None) -> None:
        self.path = path
        self.state = Snapshot(topology or Topology())
        self.on_change: Callable[[], None] = lambda: None
        self.on_open: Callable[[], None] = lambda: None
        self._saved = self.state.topology
        self._undo: list[Edit] = []
        self._redo: list[Edit] = []

    def open(self, topology: Topology, path: Path | None) -> None:
        """Become that file, with nothing to undo; `on_open` is told."""
        self.path, self.state = path, Snapshot(topology)
        self._saved, self._undo, self._redo = topology, [], []
        self.on_open()

    @property
    def topology(self) -> Topology:
        """What is drawn now."""
        return self.state.topology

    @property
    def selection(self) -> frozenset[Key]:
        """What is selected now."""
        return self.state.selection

    @property
    def selected_names(self) -> list[str]:
        """Selected nodes and controllers, in the order of the file."""
        return [node.name for node in everyone(self.topology) if node.name in self.selection]

    @property
    def selected_decorations(self) -> list[str]:
        """Selected notes, frames and the background, in the order of the file."""
        return [key for key in decorations(self.topology) if key in self.selection]

    @property
    def selected_links(self) -> list[int]:
        """Places of the selected links."""
        return sorted(key for key in self.selection if isinstance(key, int))

    @property
    def title(self) -> str:
        """The file's name, or that there is none yet."""
        return self.path.name if self.path else Phrase("Untitled")

    @property
    def is_changed(self) -> bool:
        """Whether something would be lost without saving."""
        return self.topology != self._saved

    def apply(self, label: str, after: Topology, selection: Collection[Key] | None = None, *, joins: str = "") -> None:
        """Make a change that can be undone.

        label: for "Undo …"; selection: afterwards, None for what remains of it.
        joins: changes one after the other with the same word are undone together (a key held down).
        """
        chosen = self._remaining(after) if selection is None else frozenset(selection)
        if after == self.topology:
            self.select(chosen)
            return
        if not (joins and self._undo and self._undo[-1].joins == joins):
            self._undo = [*self._undo[-UNDO_LEVELS + 1 :], Edit(label, self.state, joins)]
        self._redo = []
        self.state = Snapshot(after, chosen)
        self.on_change()

    def select(self, keys: Collection[Key]) -> None:
        """Select these and nothing else; no undoable change."""
        if frozenset(keys) != self.selection:
            self.state = Snapshot(self.topology, frozenset(keys))
            self._end_joining()
            self.on_change()

    def undo(self) -> str | None:
        """Go back one step; its name, None if there is none."""
        return self._travel(self._undo, self._redo)

    def redo(self) -> str | None:
        """Go forward again; the step's name, None if there is none."""
        return self._travel(self._redo, self._undo)

    @property
    def undo_label(self) -> str | None:
        """Name of what undo would take back."""
        return self._undo[-1].label if self._undo else None

    @property
    def redo_label(self) -> str | None:
        """Name of what redo would do again."""
        return self._redo[-1].label if self._redo else None

    def saved(self, path: Path | None) -> None:
        """The topology as it is now is what the file holds."""
        self.path = path
        self._saved = self.topology
        self._end_joining()
        self.on_change()

    def never_saved(self) -> None:
        """Count as changed, as a drawing recovered from a crash does."""
        self._saved = Topology(version="2", name="nothing", extra={"linklab": {"recovered": True}})
        self.on_change()

    def _travel(self, source: list[Edit], target: list[Edit]) -> str | None:
        if not source:
            return None
        step = source.pop()
        target.append(Edit(step.label, self.state))
        self.state = step.before
        self.on_change()
        return step.label

    def _end_joining(self) -> None:
        if self._undo and self._undo[-1].joins:
            self._undo[-1] = Edit(self._undo[-1].label, self._undo[-1].before)

    def _remaining(self, after: Topology) -> frozenset[Key]:
        names = {node.name for node in everyone(after)} | set(control_links(after)) | set(decorations(after))
        return frozenset(
            key for key in self.selection if (key in names if isinstance(key, str) else key < len(after.links))
        )


def control_links(topology: Topology) -> list[str]:
    """Keys of the lines between switches and controllers, "s1>c0"."""
    return [f"{s.name}>{name}" for s in topology.switches for name in s.controllers]
