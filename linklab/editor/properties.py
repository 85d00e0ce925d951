# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs of what is drawn: which dialog a thing has, and what becomes of its values.

While the network runs nodes can be looked at, links changed.
"""

from __future__ import annotations

from typing import Any, Protocol

from linklab.editor import edits, link_fields, node_fields, preference_fields
from linklab.editor.dialogs import FormDialog
from linklab.editor.document import Document, Key
from linklab.editor.link_dialog import LinkDialog
from linklab.editor.window import Window
from linklab.engine.choice import ENGINES
from linklab.errors import InputError
from linklab.topology import Topology
from linklab.topology.forgiven import forgiven

LOCKED = "The network is running: stop it to change this."


class RunningLinks(Protocol):
    """What a dialog asks of the network that the drawing runs as."""

    @property
    def is_on(self) -> bool:
        """Whether it runs, starts or ends."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether it is ready and has not ended."""
        ...

    def apply_lines(self, place: int, lines: list[tuple[int, str]]) -> None:
        """Type tc lines at the ends (0 src, 1 dest) of the link at that place."""
        ...


class Properties:
    """Dialogs of one document."""

    def __init__(self, window: Window, document: Document, network: RunningLinks) -> None:
        self.window, self.document, self.network = window, document, network

    @property
    def _topology(self) -> Topology:
        return self.document.topology

    def open_selected(self) -> None:
        """The dialog of what is selected."""
        chosen = self.document.selection
        if len(chosen) == 1:
            self.open(next(iter(chosen)))
        else:
            self.window.say("select one node or link to see its properties")

    def open(self, key: Key) -> None:
        """The dialog of a node, a controller or a link."""
        if isinstance(key, int):
            self._link(key)
        elif ">" not in key:
            self._node(key)

    def _node(self, name: str) -> None:
        node = edits.named(self._topology)[name]
        kind = edits.kind_of(node)
        pages = {
            "host": lambda: node_fields.host_pages(self._topology),
            "switch": node_fields.switch_pages,
            "legacySwitch": lambda: node_fields.legacy_pages(router=False),
            "legacyRouter": lambda: node_fields.legacy_pages(router=True),
            "controller": node_fields.controller_pages,
        }[kind]()
        titles = {"legacySwitch": "Legacy switch", "legacyRouter": "Legacy router"}
        title = f"{titles.get(kind, kind.capitalize())} {name}"
        opts = {**node.opts, "hostname": node.name}

        def take(data: dict[str, Any]) -> None:
            topology = self._topology
            current = edits.named(topology)[name]
            if "hostname" not in current.opts and data["hostname"] == name:
                data.pop("hostname")
            if "hostname" not in data and "hostname" in current.opts:
                raise InputError("a node needs a name")
            changed = {key: value for key, value in data.items() if current.opts.get(key, _NONE) != value}
            dropped = [key for key in current.opts if key not in data]
            self.document.apply(
                f"Change {name}", edits.set_opts(topology, name, changed, dropped), {data.get("hostname", name)}
            )

        locked = LOCKED if self.network.is_on else ""
        FormDialog(self.window.root, self.window.look, title, pages=pages, data=opts, take=take, locked=locked)

    def _link(self, place: int) -> None:
        link = self._topology.links[place]
        try:
            ends = self._topology.link_ends()[place]
        except KeyError:
            self.window.say("this link leads nowhere; delete it", bad=True)
            return
        running = self.network.is_running

        def take(opts: dict[str, Any], own: dict[str, Any]) -> None:
            before = self._topology.links[place]
            after = edits.set_link(self._topology, place, opts, own)
            self.document.apply(f"Change link {link.name}", after)
            if self.network.is_running:
                lines = link_fields.live_lines(before, after.links[place], ends)
                if lines:
                    self.network.apply_lines(place, lines)

        LinkDialog(self.window.root, self.window.look, link, ends, take, running=running)

    def preferences(self) -> None:
        """MiniEdit's preferences and ours, of this drawing."""
        ours = self._topology.extra.get("linklab", {})
        application = self._topology.preferences.data
        flat = preference_fields.flatten(application, ours)

        def take(data: dict[str, Any]) -> None:
            new, run = preference_fields.unflatten(data, application)
            self.document.apply("Change preferences", edits.set_preferences(self._topology, new, run))

        pages = preference_fields.pages(ENGINES)
        locked = LOCKED if self.network.is_on else ""
        FormDialog(self.window.root, self.window.look, "Preferences", pages=pages, data=flat, take=take, locked=locked)

    def show_all_commands(self) -> None:
        """The tc lines of every link."""
        try:
            topology, _ = forgiven(self._topology)
            ends = topology.link_ends()
            lines = [
                line
                for link, pair in zip(topology.links, ends, strict=True)
                for line in link_fields.lines_of(link, pair)
            ]
        except (InputError, KeyError) as error:
            self.window.say(f"a link has a fault: {error}", bad=True)
            return
        note = "What sets each link at Run, in the order it is typed. Switch ports are in the root namespace."
        self.window.show_text("Commands of all links", "\n".join(lines) or "# no links", note)


_NONE = object()
