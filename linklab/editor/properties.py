# SPDX-License-Identifier: BSD-3-Clause
"""Dialogs of what is drawn: which dialog a thing has, and what becomes of its values.

While the network runs nodes can be looked at, links changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from linklab.editor import address_fields, edits, link_fields, node_fields, preference_fields, several
from linklab.editor.consequences import caused
from linklab.editor.decorations import is_decoration
from linklab.editor.document import Document, Key
from linklab.editor.identity import identity_of, key_of, keys_of
from linklab.editor.link_dialog import LinkDialog
from linklab.editor.several_dialog import SeveralDialog
from linklab.engine.choice import ENGINES
from linklab.errors import FieldError, InputError
from linklab.topology import Controller, Topology
from linklab.topology.forgiven import forgiven
from linklab.windows.dialogs import FormDialog
from linklab.windows.fields import Page
from linklab.windows.toplevel import Dialog
from linklab.windows.window import Window
from linklab.windows.words import Phrase

LOCKED = "The network is running: stop it to change this."
BETWEEN = "The network is starting or stopping: a moment, please."
TITLES = {
    "host": "Host",
    "switch": "Switch",
    "legacySwitch": "Legacy switch",
    "legacyRouter": "Legacy router",
    "controller": "Controller",
}
PREFERENCES, SEVERAL = 0, -1
"""In place of an identity: the drawing as a whole, and several things of it."""


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

    def apply_lines(self, wanted: Mapping[int, list[tuple[int, str]]], then: Callable[[str], None]) -> None:
        """Type tc lines at the ends (0 src, 1 dest) of links, by their places; `then` gets what the kernel has."""
        ...


class Properties:
    """Dialogs of one document.

    A dialog is of a thing, not of a place in the file: each change of the drawing is told to it (`follow`), and it
    shows the thing as it now is, or closes if the thing is gone.
    """

    def __init__(self, window: Window, document: Document, network: RunningLinks) -> None:
        self.window, self.document, self.network = window, document, network
        self.open_decoration: Callable[[str], None] = lambda key: None
        self._open: dict[int, Opened] = {}

    @property
    def _topology(self) -> Topology:
        return self.document.topology

    @property
    def _locked(self) -> str:
        return LOCKED if self.network.is_on else ""

    def open_selected(self) -> None:
        """The dialog of what is selected, one thing or several."""
        chosen = self.document.selection
        if len(chosen) == 1:
            self.open(next(iter(chosen)))
        elif found := [key for key in several.all_keys(self._topology) if key in chosen]:
            self._several(found)
        else:
            self.window.say("select a node or a link to see its properties, or several")

    def open(self, key: Key) -> None:
        """The dialog of a node, a controller, a link or a decoration; the one that is open comes to the front."""
        if is_decoration(key):
            self.open_decoration(str(key))
            return
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
                self.window.say(
                    Phrase("{title}: it is no longer in the drawing, so its properties are closed", title=title)
                )

    def close_all(self) -> None:
        """Another file is open: nothing of this one can be changed any more."""
        for opened in self._open.values():
            opened.dialog.destroy()
        self._open = {}

    # --- nodes

    def _node(self, name: str, identity: int) -> None:
        pages = node_pages(self._topology, name)
        first = name

        def take(data: dict[str, Any]) -> None:
            topology = self._topology
            name = str(key_of(topology, identity))
            data, ports = address_fields.split(data)
            current = edits.named(topology)[name]
            if "hostname" not in current.opts and data.get("hostname") == name:
                data.pop("hostname")
            if "hostname" not in data and "hostname" in current.opts:
                raise FieldError("a node needs a name", key="hostname")
            changed = {key: value for key, value in data.items() if current.opts.get(key, _NONE) != value}
            dropped = [key for key in current.opts if key not in data]
            after, new_name = edits.set_opts(topology, name, changed, dropped), data.get("hostname", name)
            if ports != address_fields.shown(topology, current, first):
                after = address_fields.taken(after, new_name, ports)
            found = caused(topology, after, name, new_name)
            found.refuse(first)
            self.document.apply(Phrase("Change {name}", name=name), after, {new_name})
            if found.words:
                self.window.say(found.words, bad=True)

        title, data = self._shown(name, first)
        root, look = self.window.root, self.window.look
        form = FormDialog(root, look, title, pages=pages, data=data, take=take, locked=self._locked)

        def follow() -> bool:
            key = key_of(self._topology, identity)
            if key is not None:
                form.follow(*self._shown(str(key), first), self._locked)
            return key is not None

        self._open[identity] = Opened(form, follow)

    def _shown(self, name: str, first: str) -> tuple[str, dict[str, Any]]:
        """Title and values of a node's dialog; first: its name when the dialog was opened, which its ports had then."""
        node = edits.named(self._topology)[name]
        kind = edits.kind_of(node)
        data = {**node.opts, "hostname": node.name, **address_fields.shown(self._topology, node, first)}
        return Phrase("{kind} {name}", kind=Phrase(TITLES[kind]), name=name), data

    # --- several things

    def _several(self, keys: Sequence[Key]) -> None:
        """The dialog of several things; there is one at a time."""
        if SEVERAL in self._open:
            self._open.pop(SEVERAL).dialog.destroy()
        identities = [identity for key in keys if (identity := identity_of(self._topology, key)) is not None]

        def now() -> list[several.Group]:
            return several.groups(self._topology, keys_of(self._topology, identities))

        def take(ticked: dict[str, dict[str, str]]) -> Mapping[tuple[str, str], str]:
            chosen = [group for group in now() if group.kind in ticked]
            after, wrong = several.changed(self._topology, chosen, ticked)
            if wrong:
                return wrong
            places = [key for group in chosen for key in group.keys if isinstance(key, int)]
            what = ", ".join(self.window.look.say(group.title) for group in chosen if ticked[group.kind])
            self._change(Phrase("Change {name}", name=what), after, places)
            own = [name for group in chosen if ticked[group.kind] for name in several.own_directions(after, group)]
            plain = "changed {things}" if what else Phrase("nothing was ticked")
            with_own = "changed {things}; {links} kept the settings of a direction of its own"
            self.window.say(Phrase(with_own if own else plain, things=what, links=", ".join(own)))
            return wrong

        root, look, chosen = self.window.root, self.window.look, now()
        dialog = SeveralDialog(root, look, chosen, self._shown_of(chosen), take)

        def follow() -> bool:
            chosen = now()
            between = self.network.is_on and not self.network.is_running
            locked = {group.kind: self._locked for group in chosen if group.kind != "link" or between}
            if chosen:
                dialog.follow(chosen, self._shown_of(chosen), locked)
            return bool(chosen)

        self._open[SEVERAL] = Opened(dialog, follow)
        follow()

    def _shown_of(self, chosen: Sequence[several.Group]) -> dict[str, dict[str, tuple[str, str]]]:
        return {group.kind: several.shown(self._topology, group) for group in chosen}

    # --- links

    def _link(self, place: int, identity: int) -> None:
        ends = self._ends(place)
        if ends is None:
            self.window.say("this link leads nowhere; delete it", bad=True)
            return

        def take(opts: dict[str, Any], own: dict[str, Any]) -> None:
            place = key_of(self._topology, identity)
            assert isinstance(place, int)
            name = self._topology.links[place].name
            self._change(
                Phrase("Change link {name}", name=name),
                edits.set_link(self._topology, place, opts, own),
                [place],
                answer,
            )

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

    def _change(
        self, label: str, after: Topology, places: Sequence[int], answer: Callable[[str], None] = lambda _: None
    ) -> None:
        """Change the drawing, and where the network runs the links at these places in it too."""
        before = self._topology
        self.document.apply(label, after)
        if not self.network.is_running:
            return
        ends = before.link_ends()
        found = {k: link_fields.live_lines(before.links[k], after.links[k], ends[k]) for k in places}
        wanted = {place: lines for place, lines in found.items() if lines}
        if wanted:
            self.network.apply_lines(wanted, answer)

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
    found = pages[kind]()
    node = edits.named(topology)[name]
    if not isinstance(node, Controller) and address_fields.is_shown(topology, node):
        found = (found[0], address_fields.page(topology, node), *found[1:])
    return found


_NONE = object()
