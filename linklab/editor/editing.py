# SPDX-License-Identifier: BSD-3-Clause
"""The edit commands of the window: undo, clipboard, deleting, aligning; refused with a word while the network runs.

What they do to a topology is in `edits`; here is which nodes are meant and what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linklab.editor import edits
from linklab.editor.decorations import BACKGROUND, decorations, is_decoration, told
from linklab.editor.document import Document, Key, everyone
from linklab.editor.room import shift_for
from linklab.topology import Topology
from linklab.windows.words import Phrase, joined, of_number


class Editing:
    """Edit commands of one document; `locked` says whether its network runs, `say` takes what is to be said.

    reveal: brings new things into view.
    """

    def __init__(
        self,
        document: Document,
        locked: Callable[[], bool],
        say: Callable[[str], None],
        reveal: Callable[[Sequence[Key]], None] = lambda _: None,
    ) -> None:
        self.document, self.locked, self.say, self.reveal = document, locked, say, reveal
        self.clipboard: Topology | None = None

    def unlocked(self, do: Callable[[], None]) -> None:
        """Do it unless the network runs."""
        if self.locked():
            self.say("the network is running: stop it to change the drawing")
        else:
            do()

    def undo(self) -> None:
        """Take back the last change."""
        if not self.locked():
            label = self.document.undo()
            self.say(Phrase("{change}: undone", change=Phrase(label)) if label else "nothing to undo")

    def redo(self) -> None:
        """Do again what was taken back."""
        if not self.locked():
            label = self.document.redo()
            self.say(Phrase("{change}: done again", change=Phrase(label)) if label else "nothing to do again")

    def copy(self) -> None:
        """Keep the selected nodes and the links among them for Paste."""
        names = self._to_copy()
        if names:
            self.clipboard = edits.part(self.document.topology, names)
            self.say(Phrase("copied {things}", things=_told(names)))

    def _to_copy(self) -> list[str]:
        """Selected nodes, notes and frames; the background is there once."""
        return [*self.document.selected_names, *(k for k in self.document.selected_decorations if k != BACKGROUND)]

    def cut(self) -> None:
        """Copy, then delete."""
        self.copy()
        self.delete("Cut")

    def paste(self) -> None:
        """Add what was copied, with new names, numbers and addresses."""
        if self.clipboard is not None and not self.locked():
            after, names = self._beside(self.clipboard)
            self.document.apply("Paste", after, names)
            self.reveal(names)
            self.say(Phrase("pasted {things}", things=_told(names)))

    def _beside(self, piece: Topology) -> tuple[Topology, list[str]]:
        """The drawing with a copy of a piece where it has room, and the copy's names."""
        topology = self.document.topology
        return edits.paste(topology, piece, shift_for(topology, piece))

    def duplicate(self) -> None:
        """Copy and paste beside, leaving what was copied before."""
        names = self._to_copy()
        if names and not self.locked():
            after, new = self._beside(edits.part(self.document.topology, names))
            self.document.apply("Duplicate", after, new)
            self.reveal(new)

    def delete(self, word: str = "Delete") -> None:
        """Remove what is selected."""
        if self.document.selection:
            self.unlocked(self._delete if word == "Delete" else lambda: self._delete(word))

    def _delete(self, word: str = "Delete") -> None:
        chosen = self.document.selection
        what = next(iter(chosen)) if len(chosen) == 1 else Phrase("{count} things", count=len(chosen))
        if isinstance(what, int):
            what = Phrase("link")
        elif is_decoration(what):
            what = told(what)
        label = Phrase("Cut {what}" if word == "Cut" else "Delete {what}", what=what)
        self.document.apply(label, edits.delete(self.document.topology, chosen), ())

    def select_all(self) -> None:
        """Every node, link, note and frame."""
        keys: set[Key] = {node.name for node in everyone(self.document.topology)}
        keys |= set(decorations(self.document.topology)) - {BACKGROUND}
        self.document.select(keys | set(range(len(self.document.topology.links))))

    def align(self, how: str) -> None:
        """Bring the selected nodes into line, as `edits.align` says."""
        names = self.document.selected_names
        if len(names) < 2:
            self.say("select at least two nodes to align")
        else:
            self.document.apply("Align", edits.align(self.document.topology, names, how))


def _told(keys: list[str]) -> str:
    """Names of nodes, and how many notes and frames."""
    names = [key for key in keys if not is_decoration(key)]
    others = len(keys) - len(names)
    drawn = [of_number(others, "{count} note or group", "{count} notes or groups")] if others else []
    return joined(", ", [*names, *drawn])
