# SPDX-License-Identifier: BSD-3-Clause
"""What keys do on the drawing: go from thing to thing, select several, move them, open their dialog or their menu.

Tab selects the next thing. With Ctrl held, Tab and the arrows go on without selecting; a dashed frame, the cursor,
shows where they are, and Space adds that thing to what is selected or takes it out.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial

from linklab.editor import edits
from linklab.editor.canvas import GRID, Drawing
from linklab.editor.decorations import decorations
from linklab.editor.document import Document, Key, everyone
from linklab.editor.gestures import Hooks
from linklab.windows.words import Phrase

ARROWS = (("Left", -1, 0), ("Right", 1, 0), ("Up", 0, -1), ("Down", 0, 1))


class Keyboard:
    """Binds the keys of the drawing."""

    def __init__(self, drawing: Drawing, document: Document, hooks: Hooks, open_selected: Callable[[], None]) -> None:
        self.drawing, self.document, self.hooks, self.open_selected = drawing, document, hooks, open_selected
        self.cursor: Key | None = None
        for event, do in (
            ("<Tab>", partial(self._cycle, 1)),
            ("<ISO_Left_Tab>", partial(self._cycle, -1)),
            ("<Shift-Tab>", partial(self._cycle, -1)),
            ("<Control-Tab>", partial(self._go_on, 1)),
            ("<Control-ISO_Left_Tab>", partial(self._go_on, -1)),
            ("<Control-Shift-Tab>", partial(self._go_on, -1)),
            ("<space>", self._toggle),
            ("<Control-space>", self._toggle),
            ("<Return>", self.open_selected),
            ("<KP_Enter>", self.open_selected),
            ("<Menu>", self.menu),
            ("<Shift-F10>", self.menu),
        ):
            drawing.bind(event, partial(_alone, do))
        for name, dx, dy in ARROWS:
            drawing.bind(f"<{name}>", partial(_alone, partial(self._nudge, dx * GRID, dy * GRID)))
            drawing.bind(f"<Shift-{name}>", partial(_alone, partial(self._nudge, dx, dy)))
            drawing.bind(f"<Control-{name}>", partial(_alone, partial(self._go, dx, dy)))
        for event in ("<Escape>", "<Button-1>"):
            drawing.bind(event, lambda _: self._leave(), add="+")

    # --- going about

    def _things(self) -> list[Key]:
        """Nodes, controllers, links, then notes, groups and the background, in the order of the file."""
        topology = self.document.topology
        names: list[Key] = [node.name for node in everyone(topology)]
        return [*names, *range(len(topology.links)), *decorations(topology)]

    @property
    def _here(self) -> Key | None:
        """Where the keys are: at the cursor, else at the last thing selected."""
        things = self._things()
        if self.cursor in things:
            return self.cursor
        chosen = [key for key in things if key in self.document.selection]
        return chosen[-1] if chosen else None

    def _next(self, direction: int) -> Key | None:
        things = self._things()
        if not things:
            return None
        here = self._here
        at = things.index(here) if here is not None else (-1 if direction > 0 else 0)
        return things[(at + direction) % len(things)]

    def _cycle(self, direction: int) -> None:
        """Select the next thing, and nothing else."""
        key = self._next(direction)
        if key is not None:
            self._leave()
            self.document.select({key})
            self.drawing.reveal(key)
            self.hooks.say(self._words(key))

    def _go_on(self, direction: int) -> None:
        """The cursor to the next thing; what is selected stays so."""
        self._put(self._next(direction))

    def _go(self, dx: int, dy: int) -> None:
        """The cursor to the nearest node in a direction."""
        nodes = edits.named(self.document.topology)
        here = self._here
        if here not in nodes:
            self._put(self._next(1))
            return
        x, y = edits.position(nodes[str(here)])

        def far(name: str) -> float:
            """How far a node is, one aside counting twice; infinite where it is not in that direction."""
            ox, oy = edits.position(nodes[name])
            ahead, aside = ((ox - x) * dx, abs(oy - y)) if dx else ((oy - y) * dy, abs(ox - x))
            return ahead + 2 * aside if ahead > 0 and ahead >= aside / 2 else float("inf")

        nearest = min((name for name in nodes if name != here), key=far, default=None)
        if nearest is not None and far(nearest) < float("inf"):
            self._put(nearest)

    def _put(self, key: Key | None) -> None:
        if key is None:
            return
        self.cursor = key
        self.drawing.reveal(key)
        self.show()
        chosen = self.document.selection
        is_chosen = "{thing}: selected; Space takes it out ({count} selected)"
        is_not = "{thing}: Space selects it too ({count} selected)"
        self.hooks.say(Phrase(is_chosen if key in chosen else is_not, thing=self._words(key), count=len(chosen)))

    def _toggle(self) -> None:
        """Add the thing at the cursor to what is selected, or take it out."""
        key = self._here
        if key is None:
            return
        self.cursor = key
        self.document.select(self.document.selection ^ {key})
        self.show()
        chosen = self.document.selection
        template = "{thing} selected, {count} in all" if key in chosen else "{thing} no longer selected, {count} in all"
        self.hooks.say(Phrase(template, thing=self._words(key), count=len(chosen)))

    def _leave(self) -> None:
        self.cursor = None
        self.drawing.delete("cursor")

    def _words(self, key: Key) -> str:
        if isinstance(key, str):
            each = decorations(self.document.topology).get(key)
            return key if each is None else each.described
        try:
            return " – ".join(self.document.topology.link_ends()[key])
        except KeyError:  # it leads nowhere
            return self.document.topology.links[key].name

    def show(self) -> None:
        """Draw the cursor where its thing now is."""
        self.drawing.delete("cursor")
        if self.cursor is not None and self.cursor in self._things():
            self.drawing.draw_cursor(self.cursor)

    # --- what is done there

    def _nudge(self, dx: float, dy: float) -> None:
        """Move what is selected; with nothing selected, the view."""
        topology = self.document.topology
        places = edits.places(topology, self.document.selection)
        if not self.document.selection:
            self.drawing.xview_scroll(round(dx / GRID), "units")
            self.drawing.yview_scroll(round(dy / GRID), "units")
        elif places and not self.hooks.locked():
            moved = {key: (x + dx, y + dy) for key, (x, y) in places.items()}
            self.document.apply("Move", edits.move(topology, moved), joins=f"nudge {sorted(places)}")

    def menu(self) -> None:
        """The menu of the thing where the keys are, or of the drawing."""
        key = self._here
        x, y = self.drawing.centre_of(key) if key is not None else (self.drawing.canvasx(20), self.drawing.canvasy(20))
        place = (round(x - self.drawing.canvasx(0)), round(y - self.drawing.canvasy(0)))
        self.hooks.open_menu(key, self.drawing.winfo_rootx() + place[0], self.drawing.winfo_rooty() + place[1])


def _alone(do: Callable[[], object], _: tk.Event[tk.Misc]) -> str:
    """What a key does here, and nothing that Tk would have it do besides."""
    do()
    return "break"
