# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs of what is drawn: which dialog a thing has, and what becomes of its values.

While the network runs nodes can be looked at, links changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from linklab.editor import edits, link_fields, node_fields, preference_fields
from linklab.editor.dialogs import FormDialog
from linklab.editor.document import Document, Key
from linklab.editor.fields import Page
from linklab.editor.identity import identity_of, key_of
from linklab.editor.link_dialog import LinkDialog
from linklab.editor.toplevel import Dialog
from linklab.editor.window import Window
from linklab.engine.choice import ENGINES
from linklab.errors import FieldError, InputError
from linklab.topology import Topology

LOCKED = "The network is running: stop it to change this."
BETWEEN = "The network is starting or stopping: a moment, please."
TITLES = {"legacySwitch": "Legacy switch", "legacyRouter": "Legacy router"}
PREFERENCES = 0
"""In place of an identity: the drawing as a whole."""
Changes = Mapping[int, tuple[dict[str, Any], dict[str, Any]]]


@dataclass(frozen=True)
class Opened:
    """A dialog that is open; `follow` shows in it what its thing has become, and is False if the thing is gone."""

    dialog: Dialog
    follow: Callable[[], bool]


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

    def apply_lines(self, place: int, lines: list[tuple[int, str]], then: Callable[[str], None]) -> None:
        """Type tc lines at the ends (0 src, 1 dest) of the link at that place; `then` gets what the kernel has."""
        ...


class Properties:
    """Dialogs of one document.

    A dialog is of a thing, not of a place in the file: each change of the drawing is told to it (`follow`), and it
    shows the thing as it now is, or closes if the thing is gone.
    """

    def __init__(self, window: Window, document: Document, network: RunningLinks) -> None:
        self.window, self.document, self.network = window, document, network
        self._open: dict[int, Opened] = {}

    @property
    def _topology(self) -> Topology:
        return self.document.topology

    @property
    def _locked(self) -> str:
        return LOCKED if self.network.is_on else ""

    def open_selected(self) -> None:
        """The dialog of what is selected."""
        chosen = self.document.selection
        if len(chosen) == 1:
            self.open(next(iter(chosen)))
        else:
            self.window.say("select one node or link to see its properties")

    def open(self, key: Key) -> None:
        """The dialog of a node, a controller or a link; the one that is open already comes to the front."""
        identity = identity_of(self._topology, key)
        if identity is None or self._is_open(identity):
            return
        if isinstance(key, int):
            self._link(key, identity)
        else:
            self._node(key, identity)

    # --- what is open

    def _is_open(self, subject: int) -> bool:
        opened = self._open.get(subject)
        if opened is None or not opened.dialog.winfo_exists():
            return False
        opened.dialog.lift()
        opened.dialog.focus_set()
        return True

    def follow(self) -> None:
        """Tell every open dialog what the drawing has become; those whose thing is gone close."""
        for subject, opened in list(self._open.items()):
            if not opened.dialog.winfo_exists():
                del self._open[subject]
            elif not opened.follow():
                title = opened.dialog.title()
                del self._open[subject]
                opened.dialog.destroy()
                self.window.say(f"{title}: it is no longer in the drawing, so its properties are closed")

    def close_all(self) -> None:
        """Another file is open: nothing of this one can be changed any more."""
        for opened in self._open.values():
            opened.dialog.destroy()
        self._open = {}

    # --- nodes

    def _node(self, name: str, identity: int) -> None:
        pages = node_pages(self._topology, name)

        def take(data: dict[str, Any]) -> None:
            topology = self._topology
            name = str(key_of(topology, identity))
            current = edits.named(topology)[name]
            if "hostname" not in current.opts and data.get("hostname") == name:
                data.pop("hostname")
            if "hostname" not in data and "hostname" in current.opts:
                raise FieldError("a node needs a name", key="hostname")
            changed = {key: value for key, value in data.items() if current.opts.get(key, _NONE) != value}
            dropped = [key for key in current.opts if key not in data]
            self.document.apply(
                f"Change {name}", edits.set_opts(topology, name, changed, dropped), {data.get("hostname", name)}
            )

        title, data = self._shown(name)
        root, look = self.window.root, self.window.look
        form = FormDialog(root, look, title, pages=pages, data=data, take=take, locked=self._locked)

        def follow() -> bool:
            key = key_of(self._topology, identity)
            if key is not None:
                form.follow(*self._shown(str(key)), self._locked)
            return key is not None

        self._open[identity] = Opened(form, follow)

    def _shown(self, name: str) -> tuple[str, dict[str, Any]]:
        """Title and values of a node's dialog."""
        node = edits.named(self._topology)[name]
        kind = edits.kind_of(node)
        return f"{TITLES.get(kind, kind.capitalize())} {name}", {**node.opts, "hostname": node.name}

    # --- links

    def _link(self, place: int, identity: int) -> None:
        ends = self._ends(place)
        if ends is None:
            self.window.say("this link leads nowhere; delete it", bad=True)
            return

        def take(opts: dict[str, Any], own: dict[str, Any]) -> None:
            place = key_of(self._topology, identity)
            assert isinstance(place, int)
            self.change_links({place: (opts, own)}, answer)

        def answer(text: str) -> None:
            if dialog.winfo_exists():
                dialog.answer(text)

        dialog = LinkDialog(self.window.root, self.window.look, self._topology.links[place], ends, take)

        def follow() -> bool:
            place = key_of(self._topology, identity)
            ends = self._ends(place) if isinstance(place, int) else None
            if ends is None:
                return False
            assert isinstance(place, int)
            running = self.network.is_running
            locked = BETWEEN if self.network.is_on and not running else ""
            dialog.follow(self._topology.links[place], ends, locked, running=running)
            return True

        self._open[identity] = Opened(dialog, follow)
        follow()

    def _ends(self, place: int) -> tuple[str, str] | None:
        """Port names of a link; None where one leads nowhere."""
        try:
            return self._topology.link_ends()[place]
        except KeyError:
            return None

    def change_links(self, wanted: Changes, answer: Callable[[str], None] = lambda _: None) -> None:
        """Give links, by their places, new `opts` and `own`; a running network gets them too."""
        before, after = self._topology, self._topology
        ends = before.link_ends()
        for place, (opts, own) in wanted.items():
            after = edits.set_link(after, place, opts, own)
        names = [before.links[place].name for place in wanted]
        self.document.apply(f"Change {f'link {names[0]}' if len(names) == 1 else f'{len(names)} links'}", after)
        if self.network.is_running:
            for place in wanted:
                lines = link_fields.live_lines(before.links[place], after.links[place], ends[place])
                if lines:
                    self.network.apply_lines(place, lines, answer)

    # --- the whole drawing

    def preferences(self) -> None:
        """MiniEdit's preferences and ours, of this drawing."""
        if self._is_open(PREFERENCES):
            return

        def take(data: dict[str, Any]) -> None:
            new, run = preference_fields.unflatten(data, self._topology.preferences.data)
            self.document.apply("Change preferences", edits.set_preferences(self._topology, new, run))

        pages = preference_fields.pages(ENGINES)
        root, look = self.window.root, self.window.look
        form = FormDialog(root, look, "Preferences", pages=pages, data=self._flat(), take=take, locked=self._locked)

        def follow() -> bool:
            form.follow("Preferences", self._flat(), self._locked)
            return True

        self._open[PREFERENCES] = Opened(form, follow)

    def _flat(self) -> dict[str, Any]:
        """Preferences as plain keys."""
        ours = self._topology.extra.get("linklab", {})
        return preference_fields.flatten(self._topology.preferences.data, ours)

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
            self.window.say(f"a link has a fault: {error}", bad=True)
            return
        note = "What sets each link at Run, in the order it is typed. Switch ports are in the root namespace."
        self.window.show_text("Commands of all links", "\n".join(lines) or "# no links", note)


def node_pages(topology: Topology, name: str) -> tuple[Page, ...]:
    """The tabs of a node's or controller's dialog."""
    kind = edits.kind_of(edits.named(topology)[name])
    pages: dict[str, Callable[[], tuple[Page, ...]]] = {
        "host": lambda: node_fields.host_pages(topology),
        "switch": node_fields.switch_pages,
        "legacySwitch": lambda: node_fields.legacy_pages(router=False),
        "legacyRouter": lambda: node_fields.legacy_pages(router=True),
        "controller": node_fields.controller_pages,
    }
    return pages[kind]()


_NONE = object()
