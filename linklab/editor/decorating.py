# SPDX-License-Identifier: BSD-3-Clause
"""Notes, groups and the background picture as the person sees them: how they are made, and their dialogs.

What they are and what becomes of a topology is in `decorations`. Like the rest of the drawing they stay as they are
while the network runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linklab.editor import backdrop, decorations, edits
from linklab.editor.decorations import BACKGROUND, COLOURS, BackgroundPicture, Frame, Note
from linklab.editor.document import Document
from linklab.editor.properties import LOCKED
from linklab.errors import InputError
from linklab.windows.chooser import Chooser
from linklab.windows.dialogs import FormDialog
from linklab.windows.fields import Field, Page, number
from linklab.windows.window import Window
from linklab.windows.words import Phrase

Spot = tuple[float, float]
_COLOUR_NAMES = ("Grey", "Blue", "Green", "Orange", "Purple")
_PLACE = number(-(10**6), 10**6, "a number of pixels")
_SIDE = number(20, 10**6, "a number of pixels from 20")


class Decorating:
    """Decorations of one document.

    is_on: whether a network runs; free_spot: where the view has room.
    """

    def __init__(
        self, window: Window, document: Document, is_on: Callable[[], bool], free_spot: Callable[[], Spot]
    ) -> None:
        self.window, self.document, self.is_on, self.free_spot = window, document, is_on, free_spot
        self._open: dict[str, FormDialog] = {}

    def locked(self) -> bool:
        """Whether the drawing must stay as it is now; says so."""
        if self.is_on():
            self.window.say("the network is running: stop it to change the drawing")
        return self.is_on()

    @property
    def folder(self) -> Path:
        """The folder of the document's file, or the working directory."""
        return self.document.path.parent if self.document.path else Path.cwd()

    def add_note(self, at: Spot | None = None) -> None:
        """Ask for a text and put it there, or where there is room."""
        if self.locked():
            return
        spot = at or self.free_spot()

        def take(data: dict[str, Any]) -> None:
            text = _text(data)
            if not text:
                raise InputError("type a text, or Cancel")
            after, key = decorations.add_note(self.document.topology, *spot, text)
            self.document.apply("Add note", after, {key})

        self._form("Note", Page("Note", (_TEXT,)), {}, take)

    def add_group(self) -> None:
        """A frame around the selected nodes, or an empty one where there is room."""
        if self.locked():
            return
        topology = self.document.topology
        chosen = edits.places(topology, self.document.selected_names)
        if chosen:
            corner, size = decorations.around(chosen.values())
        else:
            corner, size = self.free_spot(), (300.0, 200.0)
        title = f"Group {len(decorations.frames(topology)) + 1}"
        after, key = decorations.add_frame(topology, corner, size, title)
        self.document.apply("Add group", after, {key})
        self.window.say("added a group; Return opens its title, and what stands inside moves with it")

    def choose_background(self) -> None:
        """Ask for a picture, or open the dialog of the one there is."""
        if self.locked():
            return
        if decorations.background(self.document.topology) is not None:
            self.open(BACKGROUND)
            return
        root, look = self.window.root, self.window.look
        title = "Background picture (.png, .jpg …)"
        Chooser(root, look, title, folder=self.folder, ending=".png", name="", save=False, take=self.set_background)

    def set_background(self, path: Path) -> None:
        """Put this picture behind the drawing, its file named as it is seen from the drawing's own."""
        if trouble := backdrop.trouble(path):
            self.window.tell("No background", trouble)
            return
        name = os.path.relpath(path, self.folder) if self.document.path else str(path)
        data = {"file": name, "x": 0.0, "y": 0.0, "scale": 1.0, "opacity": 0.5}
        self.document.apply("Add background", decorations.set_background(self.document.topology, data), {BACKGROUND})
        self.window.say("the picture is behind the drawing; Return opens its size and place, the arrows move it")

    def say_missing(self) -> None:
        """After opening: say that the picture is not there."""
        behind = decorations.background(self.document.topology)
        if behind is not None and (trouble := backdrop.trouble(backdrop.where(self.folder, behind.file))):
            self.window.say(trouble, bad=True)

    def open(self, key: str) -> None:
        """The dialog of a decoration."""
        opened = self._open.get(key)
        if opened is not None and opened.winfo_exists():
            opened.lift()
            opened.focus_set()
            return
        each = decorations.decorations(self.document.topology).get(key)
        if isinstance(each, Note):
            self._change(key, "Note", Page("Note", (_TEXT, *_AT)), _shown(each))
        elif isinstance(each, Frame):
            self._change(key, "Group", _GROUP, _shown(each))
        elif isinstance(each, BackgroundPicture):
            self._change(key, "Background picture", _BACKGROUND, _shown(each))

    def follow(self) -> None:
        """Show in every open dialog what its thing has become; those whose thing is gone close."""
        now = decorations.decorations(self.document.topology)
        locked = LOCKED if self.is_on() else ""
        for key, form in list(self._open.items()):
            if not form.winfo_exists():
                del self._open[key]
            elif key in now:
                form.follow(form.title(), _shown(now[key]), locked)
            elif key:
                title = form.title()
                del self._open[key]
                form.destroy()
                told = Phrase("{title}: it is no longer in the drawing, so its properties are closed", title=title)
                self.window.say(told)
            else:
                form.lock(locked)

    def close_all(self) -> None:
        """Another file is open: nothing of this one can be changed any more."""
        for form in self._open.values():
            form.destroy()
        self._open = {}

    def _change(self, key: str, title: str, page: Page, before: dict[str, Any]) -> None:
        def take(data: dict[str, Any]) -> None:
            values = dict(data)
            if "text" in before:
                values["text"] = _text(data)
            if key == BACKGROUND:
                values |= {name: data.get(name, 100) / 100 for name in ("scale", "opacity")}
                if trouble := backdrop.trouble(backdrop.where(self.folder, str(data.get("file", "")))):
                    raise InputError(trouble)
            values |= {name: "" for name in ("title",) if name in before and name not in data}
            if key not in decorations.decorations(self.document.topology):
                raise InputError(Phrase("the {name} has been deleted meanwhile", name=decorations.told(key)))
            after = decorations.change(self.document.topology, key, values)
            self.document.apply(Phrase("Change {name}", name=decorations.told(key)), after, {key})

        self._form(title, page, before, take, key)

    def _form(
        self, title: str, page: Page, data: dict[str, Any], take: Callable[[dict[str, Any]], None], key: str = ""
    ) -> None:
        """Open a dialog; key: of what it is, "" of what is yet to be made."""
        locked = LOCKED if self.is_on() else ""
        if key in self._open:
            self._open[key].destroy()
        self._open[key] = FormDialog(
            self.window.root, self.window.look, title, pages=(page,), data=data, take=take, locked=locked
        )


def _shown(each: decorations.Decoration) -> dict[str, Any]:
    """The values of its dialog."""
    if isinstance(each, Note):
        return {"text": each.text.splitlines(), "x": each.x, "y": each.y}
    if isinstance(each, Frame):
        return {name: getattr(each, name) for name in ("title", "x", "y", "wide", "high", "colour")}
    shown: dict[str, Any] = {"file": each.file, "x": each.x, "y": each.y}
    return shown | {"scale": each.scale * 100, "opacity": each.opacity * 100}


def _text(data: dict[str, Any]) -> str:
    return "\n".join(data.get("text") or [])


_TEXT = Field("text", "Text", "as many lines as you like; Tab goes on", kind="lines")
_AT = (
    Field("x", "Left", unit="px", check=_PLACE, default="0"),
    Field("y", "Top", unit="px", check=_PLACE, default="0"),
)
_GROUP = Page(
    "Group",
    (
        Field("title", "Title"),
        *_AT,
        Field("wide", "Width", unit="px", check=_SIDE, default="300"),
        Field("high", "Height", unit="px", check=_SIDE, default="200"),
        Field(
            "colour", "Colour", kind="choice", choices=tuple(zip(COLOURS, _COLOUR_NAMES, strict=True)), default="muted"
        ),
    ),
    note="Nodes and notes inside the frame move with it.",
)
_BACKGROUND = Page(
    "Background",
    (
        Field("file", "File", "relative to the drawing's own file"),
        *_AT,
        Field("scale", "Size", unit="%", check=number(5, 2000, "a number of percent from 5 to 2000"), default="100"),
        Field("opacity", "Strength", unit="%", check=number(5, 100, "a number of percent from 5 to 100"), default="50"),
    ),
    note="Delete it with Del while it is selected.",
)
