# SPDX-License-Identifier: BSD-3-Clause
"""What a right click offers, for a thing that is drawn or the empty canvas; another choice while the network runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from linklab.capture import wireshark
from linklab.editor import edits, lookups, several
from linklab.editor.asking import Asking
from linklab.editor.decorating import Decorating, Spot
from linklab.editor.decorations import BACKGROUND, is_decoration
from linklab.editor.document import Document, Key
from linklab.editor.editing import Editing
from linklab.editor.networking import Networking
from linklab.editor.properties import Properties
from linklab.windows.words import Phrase

Entry = tuple[str, Callable[[], None] | None]
LINE: Entry = ("", None)


class ContextMenus:
    """Menus of one document."""

    def __init__(
        self,
        document: Document,
        properties: Properties,
        editing: Editing,
        network: Networking,
        decorating: Decorating,
        *,
        asking: Asking,
    ) -> None:
        self.document, self.properties, self.editing, self.network = document, properties, editing, network
        self.decorating, self.asking = decorating, asking

    def entries(self, key: Key | None, at: Spot | None = None) -> list[Entry]:
        """What is offered; None is the empty canvas, `at` the place of the drawing."""
        running = self.network.is_running
        if key is None:
            return self._canvas_menu(running, at)
        if is_decoration(key):
            return self._decoration_menu(str(key), running)
        if isinstance(key, str) and ">" in key:
            return [("Delete", None if running else self.editing.delete)]
        entries = self._link_menu(key, running) if isinstance(key, int) else self._node_menu(key, running)
        chosen = [each for each in several.all_keys(self.document.topology) if each in self.document.selection]
        if key in chosen and len(chosen) > 1:
            place = next(i for i, (label, _) in enumerate(entries) if label == "Properties…")
            entries.insert(
                place + 1, (Phrase("Properties of all {count}…", count=len(chosen)), self.properties.open_selected)
            )
        return entries

    def _decoration_menu(self, key: str, running: bool) -> list[Entry]:
        entries: list[Entry] = [("Properties…", lambda: self.decorating.open(key))]
        if not running:
            entries += [("Duplicate", self.editing.duplicate)] if key != BACKGROUND else []
            entries.append(("Delete", self.editing.delete))
        return entries

    def _canvas_menu(self, running: bool, at: Spot | None) -> list[Entry]:
        if running:
            return [
                ("Root Terminal", lambda: self.network.terminal("client")),
                ("Mininet CLI", lambda: self.network.terminal("mininet")),
                ("Ping All", self.asking.ping_all),
                LINE,
                ("Stop", self.network.stop),
            ]
        return [
            ("Paste", self.editing.paste if self.editing.clipboard else None),
            ("Select All", self.editing.select_all),
            LINE,
            (Phrase("Add Note…"), lambda: self.decorating.add_note(at)),
            (Phrase("Add Group"), self.decorating.add_group),
            ("Background Picture…", self.decorating.choose_background),
            LINE,
            ("Run", self.network.run),
            ("Preferences…", self.properties.preferences),
        ]

    def _node_menu(self, name: str, running: bool) -> list[Entry]:
        net = self.network
        node = edits.named(self.document.topology)[name]
        kind = edits.kind_of(node)
        entries: list[Entry] = []
        if running and kind != "controller":
            if kind in ("host", "legacyRouter"):
                entries.append((Phrase("Terminal"), lambda: net.terminal(name)))
                entries += self._pings(name)
            else:
                entries.append((Phrase("List bridge details"), lambda: net.bridge_details(name)))
            entries.append(LINE)
            tables = lookups.lookups(self.document.topology, name)
            entries += [(each.label, partial(self.asking.look, each)) for each in tables]
            entries.append(LINE)
            entries += self._plots(name)
            entries.append(LINE)
            for port in self.document.topology.interfaces()[name]:
                entries += self._captures(name, port)
            entries.append(LINE)
        entries.append(("Properties…", lambda: self.properties.open(name)))
        if not running:
            entries += [("Duplicate", self.editing.duplicate), ("Delete", self.editing.delete)]
        return entries

    def _pings(self, name: str) -> list[Entry]:
        """To the other selected node, if it is one, and to any."""
        others = [each for each in self.asking.selected() if each != name]
        direct = (
            [(Phrase("Ping {node}", node=others[0]), partial(self.asking.ping, name, others[0]))]
            if len(others) == 1
            else []
        )
        return [*direct, ("Ping…", lambda: self.asking.choose_target(name))]

    def _plots(self, name: str) -> list[Entry]:
        return [self._plot(name, port) for port in self.document.topology.interfaces()[name]]

    def _plot(self, name: str, port: str) -> Entry:
        return Phrase("Plot queue of {port}", port=port), partial(self.network.plot_queue, name, port)

    def _captures(self, node: str, port: str) -> list[Entry]:
        """Into Wireshark where it is installed, to a file in any case; or the end of the one that goes on."""
        capturing = self.network.capturing
        if port in capturing.running:
            return [(Phrase("Stop capturing {port}", port=port), partial(capturing.stop, port))]
        begin = partial(capturing.begin, node, port)
        shown = [(Phrase("Capture {port} in Wireshark", port=port), partial(begin, into_wireshark=True))]
        kept = (Phrase("Capture {port} to a file", port=port), partial(begin, into_wireshark=False))
        return [*(shown if wireshark.is_here() else []), kept]

    def _link_menu(self, place: int, running: bool) -> list[Entry]:
        net = self.network
        entries: list[Entry] = [("Properties…", lambda: self.properties.open(place))]
        link = self.document.topology.links[place]
        if running:
            is_down = place in net.down
            entries = [
                (Phrase("Link Up"), (lambda: net.set_link(place, True)) if is_down else None),
                (Phrase("Link Down"), None if is_down else lambda: net.set_link(place, False)),
                LINE,
                *entries,
            ]
            ends = self.document.topology.link_ends()[place]
            for node, port in zip((link.src, link.dest), ends, strict=True):
                entries.append(self._plot(node, port))
            entries.append(LINE)
            for node, port in zip((link.src, link.dest), ends, strict=True):
                entries += self._captures(node, port)
        else:
            entries.append(("Delete", self.editing.delete))
        return entries
