# SPDX-License-Identifier: BSD-3-Clause
"""File > Import and the exports to containerlab and Kathará; shows what was not carried over.

`linklab.exchange` reads and writes the files.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from linklab.editor.document import Document
from linklab.errors import InputError, LinklabError
from linklab.exchange import containerlab, kathara, read
from linklab.exchange.carried import Carried
from linklab.windows.dialogs import FormDialog
from linklab.windows.fields import Field, Page
from linklab.windows.window import Window
from linklab.windows.words import Phrase

KINDS = (*containerlab.ENDINGS, ".py", ".conf")


class Choosing(Protocol):
    """What asks for files and about unsaved changes."""

    def choose(
        self,
        title: str,
        take: Callable[[Path], None],
        *,
        save: bool = False,
        ending: str | tuple[str, ...] = "",
        name: str = "",
    ) -> None:
        """Ask for a file."""
        ...

    def safely(self, do: Callable[[], None]) -> None:
        """Ask about unsaved changes first."""
        ...


def foreign(path: Path) -> bool:
    """Whether a path names another program's network."""
    return path.suffix in KINDS or (path / kathara.CONF).is_file()


def import_into(window: Window, document: Document, path: Path) -> None:
    """Open another program's network as a drawing without a file."""
    try:
        found = read.read(path)
    except InputError as error:
        window.tell("This network cannot be imported", str(error))
        return
    _begin(window, document, path, found)


def _begin(window: Window, document: Document, path: Path, found: Carried) -> None:
    document.open(found.topology, None)
    document.never_saved()
    counts = {"nodes": len(found.topology.nodes), "links": len(found.topology.links)}
    window.say(Phrase("imported {file}: {nodes} nodes, {links} links", file=path.name, **counts))
    if found.notes:
        _show(window, Phrase("Imported: {file}", file=path.name), found.notes)


def open_foreign(window: Window, document: Document, path: Path) -> None:
    """Import a file; one that is a program runs only after the user has agreed and said which network to take."""
    if path.suffix != ".py":
        import_into(window, document, path)
        return
    note = Phrase(
        "{file} is a program: OK runs it, to see what it builds. Do so only if you trust whoever wrote it.",
        file=path.name,
    )
    words = "as for mn --topo: mytopo, or mytopo,3; may be empty if the file has only one"
    page = Page("Import", (Field("topo", "Topology", words),), note)

    def take(values: dict[str, Any]) -> None:
        found = read.read(path, values.get("topo", ""))
        window.soon(lambda: _begin(window, document, path, found))

    title = Phrase("Import {file}", file=path.name)
    FormDialog(window.root, window.look, title, pages=(page,), data={}, take=take, modal=True)


def _show(window: Window, title: str, notes: tuple[str, ...]) -> None:
    note = "Not everything means the same in both programs. What was left out or changed:"
    window.show_text(title, "\n".join(notes), note=note)


class Exchanging:
    """The commands of one document."""

    def __init__(self, window: Window, document: Document, filing: Choosing) -> None:
        self.window, self.document, self.filing = window, document, filing

    def open(self) -> None:
        """Ask for a network and import it."""
        ask = partial(self.filing.choose, "Import", self._opened, ending=KINDS)
        self.filing.safely(ask)

    def _opened(self, path: Path) -> None:
        open_foreign(self.window, self.document, path)

    def export_containerlab(self) -> None:
        """Ask for a name and write a topology file."""
        self._export("Export for containerlab", ".clab.yml")

    def export_kathara(self) -> None:
        """Ask for a name and write a folder."""
        self._export("Export for Kathará", "")

    def _export(self, title: str, ending: str) -> None:
        path = self.document.path
        name = f"{path.stem if path else 'network'}{ending or '-kathara'}"
        self.filing.choose(title, self.export_path, save=True, ending=ending[-4:], name=name)

    def export_path(self, path: Path) -> None:
        """Write it there."""
        try:
            notes = read.save(self.document.topology, path)
        except LinklabError as error:
            self.window.tell("Not exported", str(error))
            return
        self.window.say(Phrase("exported {path}", path=path))
        if notes:
            _show(self.window, Phrase("Exported: {file}", file=path.name), notes)
