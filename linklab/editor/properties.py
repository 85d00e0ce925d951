# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs and context menus of what is drawn: which dialog a thing has, and what becomes of its values.

Part of the window; while the network runs nodes can be looked at, links changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linklab.editor import edits, link_fields, node_fields, preference_fields
from linklab.editor.dialogs import Form
from linklab.editor.document import Key
from linklab.editor.link_dialog import LinkDialog
from linklab.errors import InputError
from linklab.topology import Topology

if TYPE_CHECKING:
    from linklab.editor.app import Editor

Entry = tuple[str, Callable[[], None] | None]
LINE: Entry = ("", None)
LOCKED = "The network is running: stop it to change this."


class Properties:
    """Dialogs of one window."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor

    @property
    def _topology(self) -> Topology:
        return self.editor.document.topology

    def open_selected(self) -> None:
        """The dialog of what is selected."""
        chosen = self.editor.document.selection
        if len(chosen) == 1:
            self.open(next(iter(chosen)))
        else:
            self.editor.say("select one node or link to see its properties")

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
            self.editor.document.apply(
                f"Change {name}", edits.set_opts(topology, name, changed, dropped), {data.get("hostname", name)}
            )

        locked = LOCKED if self.editor.networking.is_on else ""
        Form(self.editor.root, self.editor.look, title, pages=pages, data=opts, take=take, locked=locked)

    def _link(self, place: int) -> None:
        link = self._topology.links[place]
        try:
            ends = self._topology.link_ends()[place]
        except KeyError:
            self.editor.say("this link leads nowhere; delete it", bad=True)
            return
        running = self.editor.networking.runner.state == "running"

        def take(opts: dict[str, Any], own: dict[str, Any]) -> None:
            before = self._topology.links[place]
            after = edits.set_link(self._topology, place, opts, own)
            self.editor.document.apply(f"Change link {link.name}", after)
            if self.editor.networking.runner.state == "running":
                lines = link_fields.live_lines(before, after.links[place], ends)
                if lines:
                    self.editor.networking.apply_lines(place, lines)

        LinkDialog(self.editor.root, self.editor.look, link, ends, take, running=running)

    def preferences(self) -> None:
        """MiniEdit's preferences and ours, of this drawing."""
        from linklab.commands.run import ENGINES  # noqa: PLC0415 - the window does not wait for the whole runner

        ours = self._topology.extra.get("linklab", {})
        application = self._topology.preferences.data
        flat = preference_fields.flatten(application, ours)

        def take(data: dict[str, Any]) -> None:
            new, run = preference_fields.unflatten(data, application)
            self.editor.document.apply("Change preferences", edits.set_preferences(self._topology, new, run))

        pages = preference_fields.pages(tuple(sorted(ENGINES)))
        locked = LOCKED if self.editor.networking.is_on else ""
        Form(self.editor.root, self.editor.look, "Preferences", pages=pages, data=flat, take=take, locked=locked)

    def show_all_commands(self) -> None:
        """The tc lines of every link."""
        try:
            ends = self._topology.link_ends()
            lines = [
                line
                for link, pair in zip(self._topology.links, ends, strict=True)
                for line in link_fields.lines_of(link, pair)
            ]
        except (InputError, KeyError) as error:
            self.editor.say(f"a link has a fault: {error}", bad=True)
            return
        note = "What sets each link at Run, in the order it is typed. Switch ports are in the root namespace."
        self.editor.show_text("Commands of all links", "\n".join(lines) or "# no links", note)

    # --- context menus

    def menu_entries(self, key: Key | None) -> list[Entry]:
        """What a right click offers, for a thing or the empty canvas."""
        running = self.editor.networking.runner.state == "running"
        if key is None:
            return self._canvas_menu(running)
        if isinstance(key, int):
            return self._link_menu(key, running)
        if ">" in key:
            return [("Delete", None if running else self.editor.editing.delete)]
        return self._node_menu(key, running)

    def _canvas_menu(self, running: bool) -> list[Entry]:
        editor = self.editor
        if running:
            return [
                ("Root Terminal", lambda: editor.networking.terminal("client")),
                ("Mininet CLI", lambda: editor.networking.terminal("mininet")),
                LINE,
                ("Stop", editor.networking.stop),
            ]
        return [
            ("Paste", editor.editing.paste if editor.editing.clipboard else None),
            ("Select All", editor.editing.select_all),
            LINE,
            ("Run", editor.networking.run),
            ("Preferences…", self.preferences),
        ]

    def _node_menu(self, name: str, running: bool) -> list[Entry]:
        net = self.editor.networking
        node = edits.named(self._topology)[name]
        kind = edits.kind_of(node)
        entries: list[Entry] = []
        if running and kind != "controller":
            if kind in ("host", "legacyRouter"):
                entries.append(("Terminal", lambda: net.terminal(name)))
            else:
                entries.append(("List bridge details", lambda: net.bridge_details(name)))
            entries += self._plots(name)
            entries.append(LINE)
        entries.append(("Properties…", lambda: self._node(name)))
        if not running:
            entries += [("Duplicate", self.editor.editing.duplicate), ("Delete", self.editor.editing.delete)]
        return entries

    def _plots(self, name: str) -> list[Entry]:
        ports = self._topology.interfaces()[name]
        return [(f"Plot queue of {port}", lambda p=port: self.editor.networking.plot_queue(name, p)) for port in ports]  # type: ignore[misc]

    def _link_menu(self, place: int, running: bool) -> list[Entry]:
        net = self.editor.networking
        entries: list[Entry] = [("Properties…", lambda: self._link(place))]
        link = self._topology.links[place]
        if running:
            is_down = place in net.down
            entries = [
                ("Link Up", (lambda: net.set_link(place, True)) if is_down else None),
                ("Link Down", None if is_down else lambda: net.set_link(place, False)),
                LINE,
                *entries,
            ]
            ends = self._topology.link_ends()[place]
            for node, port in zip((link.src, link.dest), ends, strict=True):
                entries.append((f"Plot queue of {port}", lambda n=node, p=port: net.plot_queue(n, p)))  # type: ignore[misc]
        else:
            entries.append(("Delete", self.editor.editing.delete))
        return entries


_NONE = object()
