# SPDX-License-Identifier: BSD-3-Clause
"""The edit commands of the window: undo, clipboard, deleting, aligning; refused with a word while the network runs.

What they do to a topology is in `edits`; here is which nodes are meant and what is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from linklab.editor import edits
from linklab.editor.document import Key, everyone
from linklab.topology import Topology

if TYPE_CHECKING:
    from linklab.editor.app import Editor

PASTE_OFFSET = 40.0


class Editing:
    """Edit commands of one window."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.clipboard: Topology | None = None
        self._pasted = 0

    def unlocked(self, do: Callable[[], None]) -> None:
        """Do it unless the network runs."""
        if self.editor.networking.is_on:
            self.editor.say("the network is running: stop it to change the drawing")
        else:
            do()

    def undo(self) -> None:
        """Take back the last change."""
        if not self.editor.networking.is_on:
            label = self.editor.document.undo()
            self.editor.say(f"{label}: undone" if label else "nothing to undo")

    def redo(self) -> None:
        """Do again what was taken back."""
        if not self.editor.networking.is_on:
            label = self.editor.document.redo()
            self.editor.say(f"{label}: done again" if label else "nothing to do again")

    def copy(self) -> None:
        """Keep the selected nodes and the links among them for Paste."""
        names = self.editor.document.selected_names
        if names:
            self.clipboard, self._pasted = edits.part(self.editor.document.topology, names), 0
            self.editor.say(f"copied {', '.join(names)}")

    def cut(self) -> None:
        """Copy, then delete."""
        self.copy()
        self.delete("Cut")

    def paste(self) -> None:
        """Add what was copied, with new names, numbers and addresses."""
        if self.clipboard is not None and not self.editor.networking.is_on:
            self._pasted += 1
            after, names = edits.paste(self.editor.document.topology, self.clipboard, PASTE_OFFSET * self._pasted)
            self.editor.document.apply("Paste", after, names)
            self.editor.say(f"pasted {', '.join(names)}")

    def duplicate(self) -> None:
        """Copy and paste beside, leaving what was copied before."""
        names = self.editor.document.selected_names
        if names and not self.editor.networking.is_on:
            after, new = edits.paste(
                self.editor.document.topology, edits.part(self.editor.document.topology, names), PASTE_OFFSET
            )
            self.editor.document.apply("Duplicate", after, new)

    def delete(self, word: str = "Delete") -> None:
        """Remove what is selected."""
        if self.editor.document.selection:
            self.unlocked(self._delete if word == "Delete" else lambda: self._delete(word))

    def _delete(self, word: str = "Delete") -> None:
        chosen = self.editor.document.selection
        what = next(iter(chosen)) if len(chosen) == 1 else f"{len(chosen)} things"
        if isinstance(what, int):
            what = "link"
        self.editor.document.apply(f"{word} {what}", edits.delete(self.editor.document.topology, chosen), ())

    def select_all(self) -> None:
        """Every node and link."""
        keys: set[Key] = {node.name for node in everyone(self.editor.document.topology)}
        self.editor.document.select(keys | set(range(len(self.editor.document.topology.links))))

    def align(self, how: str) -> None:
        """Bring the selected nodes into line, as `edits.align` says."""
        names = self.editor.document.selected_names
        if len(names) < 2:
            self.editor.say("select at least two nodes to align")
        else:
            self.editor.document.apply("Align", edits.align(self.editor.document.topology, names, how))
