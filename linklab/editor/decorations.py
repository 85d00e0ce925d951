# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn beside the network: notes, frames around groups, and a picture behind everything.

MiniEdit has no place for them; they are kept under "linklab", and no run looks at them:

    "linklab": {"notes": [{"number": 1, "x": 40.0, "y": 30.0, "text": "the bottleneck"}],
                "groups": [{"number": 1, "x": 0.0, "y": 0.0, "wide": 300.0, "high": 200.0, "title": "Site A"}],
                "background": {"file": "floor.png", "x": 0.0, "y": 0.0, "scale": 1.0, "opacity": 0.5}}

Coordinates are the drawing's pixels: a note's and a frame's left upper corner. Entries and keys that are not understood
stay in the file. Every change is a function Topology → Topology. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from linklab.topology import Topology
from linklab.windows.words import Phrase

KEY = "linklab"
BACKGROUND = "#background"
_NAMES = {"note": Phrase("note"), "group": Phrase("group"), "background": Phrase("background")}
_KEY = re.compile(r"#(note|group)\d+|#background")
"""No name of a node that Linux takes begins so."""
COLOURS = ("muted", "host", "switch", "router", "controller")
"""Colours of a frame, by their names in the palette."""
LEAST = 20.0
WIDE, TIGHT = (70.0, 60.0, 70.0), (45.0, 42.0, 62.0)
"""Left and right of the nodes in a group, above, and below, where their names are."""
MOST_CHARACTERS, MOST_LINES = 200, 60
Spot = tuple[float, float]


@dataclass(frozen=True)
class Note:
    """A text anywhere on the drawing."""

    number: int
    x: float
    y: float
    text: str

    @property
    def key(self) -> str:
        """What the selection knows it by."""
        return f"#note{self.number}"

    @property
    def described(self) -> str:
        """In words, for the status line."""
        return f"note: {self.lines[0]}"

    @property
    def lines(self) -> list[str]:
        """Its lines as they are drawn; what nobody could read on a drawing is left out."""
        return [line[:MOST_CHARACTERS] for line in self.text.splitlines()[:MOST_LINES]] or [""]


@dataclass(frozen=True)
class Frame:
    """A group: a frame with a title; what stands inside moves with it."""

    number: int
    x: float
    y: float
    wide: float
    high: float
    title: str
    colour: str = COLOURS[0]

    @property
    def key(self) -> str:
        """What the selection knows it by."""
        return f"#group{self.number}"

    @property
    def described(self) -> str:
        """In words, for the status line."""
        return f"group: {self.title}" if self.title else "a group"

    def holds(self, spot: Spot) -> bool:
        """Whether a place is inside."""
        return self.x <= spot[0] <= self.x + self.wide and self.y <= spot[1] <= self.y + self.high


@dataclass(frozen=True)
class BackgroundPicture:
    """A picture behind the drawing; `file` is relative to the topology's own file."""

    file: str
    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0
    opacity: float = 0.5

    @property
    def key(self) -> str:
        """What the selection knows it by."""
        return BACKGROUND

    @property
    def described(self) -> str:
        """In words, for the status line."""
        return f"background picture: {self.file}"


Decoration = Note | Frame | BackgroundPicture


def is_decoration(key: object) -> bool:
    """Whether a selected thing is one of these."""
    return isinstance(key, str) and _KEY.fullmatch(key) is not None


def told(key: object) -> str:
    """The name of a node, or the kind of a decoration, for the name of a change."""
    return _NAMES[str(key).strip("#0123456789")] if is_decoration(key) else str(key)


# --- reading


def notes(topology: Topology) -> list[Note]:
    """The notes, in the order of the file."""
    return [
        Note(number, _finite(data.get("x")), _finite(data.get("y")), str(data.get("text", "")))
        for number, data in _numbered(topology, "notes")
    ]


def frames(topology: Topology) -> list[Frame]:
    """The groups' frames, in the order of the file."""
    found = []
    for number, data in _numbered(topology, "groups"):
        x, y, wide, high = (_finite(data.get(key)) for key in ("x", "y", "wide", "high"))
        colour = data.get("colour")
        found.append(
            Frame(
                number,
                x,
                y,
                max(LEAST, wide),
                max(LEAST, high),
                str(data.get("title", ""))[:MOST_CHARACTERS],
                colour if colour in COLOURS else COLOURS[0],
            )
        )
    return found


def background(topology: Topology) -> BackgroundPicture | None:
    """The picture behind, if there is one."""
    data = _ours(topology).get("background")
    if not isinstance(data, Mapping) or not isinstance(data.get("file"), str) or not data["file"]:
        return None
    scale, opacity = _finite(data.get("scale"), 1.0), _finite(data.get("opacity"), 0.5)
    return BackgroundPicture(
        data["file"],
        _finite(data.get("x")),
        _finite(data.get("y")),
        min(20.0, max(0.05, scale)),
        min(1.0, max(0.05, opacity)),
    )


def decorations(topology: Topology) -> dict[str, Decoration]:
    """All of them by key: frames, notes, then the background."""
    if KEY not in topology.extra:
        return {}
    found: list[Decoration] = [*frames(topology), *notes(topology)]
    behind = background(topology)
    return {each.key: each for each in [*found, *([behind] if behind else [])]}


def carried(topology: Topology, keys: Collection[Any], spots: Mapping[str, Spot]) -> set[Any]:
    """These, and what stands inside the frames among them; `spots` are the nodes'."""
    found = set(keys)
    for frame in frames(topology):
        if frame.key in keys:
            found |= {name for name, spot in spots.items() if frame.holds(spot)}
            found |= {note.key for note in notes(topology) if frame.holds((note.x, note.y))}
            found |= {
                other.key
                for other in frames(topology)
                if frame.holds((other.x, other.y)) and frame.holds((other.x + other.wide, other.y + other.high))
            }
    return found


# --- changing


def add_note(topology: Topology, x: float, y: float, text: str) -> tuple[Topology, str]:
    """A new note; the topology and its key."""
    return _add(topology, "notes", {"x": float(round(x)), "y": float(round(y)), "text": text})


def add_frame(
    topology: Topology, corner: Spot, size: Spot, title: str, colour: str = COLOURS[0]
) -> tuple[Topology, str]:
    """A new group's frame by its left upper corner and its size; the topology and its key."""
    (x, y), (wide, high) = ((float(round(c)) for c in pair) for pair in (corner, size))
    data: dict[str, Any] = {"x": x, "y": y, "wide": wide, "high": high, "title": title}
    return _add(topology, "groups", data if colour == COLOURS[0] else {**data, "colour": colour})


def change(topology: Topology, key: str, values: Mapping[str, Any]) -> Topology:
    """Set some of a decoration's values; one that has gone is not brought back."""
    if key == BACKGROUND:
        data = _ours(topology).get("background")
        return set_background(topology, {**data, **values}) if isinstance(data, Mapping) else topology
    kind = "notes" if key.startswith("#note") else "groups"
    prefix = "#note" if kind == "notes" else "#group"
    entries = [(n, {**data, **values} if f"{prefix}{n}" == key else data) for n, data in _numbered(topology, kind)]
    return _with(topology, kind, [{**data, "number": n} for n, data in entries])


def set_background(topology: Topology, data: Mapping[str, Any] | None) -> Topology:
    """Put a picture behind the drawing, or take it away with None."""
    return _with(topology, "background", dict(data) if data else None)


def delete(topology: Topology, keys: Collection[Any]) -> Topology:
    """Remove those of these that are decorations; what a frame held stays."""
    for kind, prefix in (("notes", "#note"), ("groups", "#group")):
        entries = _numbered(topology, kind)
        kept = [{**data, "number": n} for n, data in entries if f"{prefix}{n}" not in keys]
        if len(kept) < len(entries):
            topology = _with(topology, kind, kept)
    return set_background(topology, None) if BACKGROUND in keys else topology


def move(topology: Topology, places: Mapping[str, Spot]) -> Topology:
    """Put those of these that are decorations at these coordinates."""
    for key, (x, y) in places.items():
        if is_decoration(key):
            topology = change(topology, key, {"x": float(round(x)), "y": float(round(y))})
    return topology


def part(topology: Topology, keys: Collection[Any]) -> dict[str, Any]:
    """The chosen notes and frames as the file would hold them, for the clipboard; the background is not copied."""
    found: dict[str, Any] = {
        kind: [dict(data) for n, data in _numbered(topology, kind) if f"{prefix}{n}" in keys]
        for kind, prefix in (("notes", "#note"), ("groups", "#group"))
    }
    return {kind: entries for kind, entries in found.items() if entries}


def paste(topology: Topology, piece: Topology, offset: Spot) -> tuple[Topology, list[str]]:
    """Add a copy of the notes and frames of `piece`, moved; the topology and the new keys."""
    keys = []
    for kind in ("notes", "groups"):
        for _, data in _numbered(piece, kind):
            place = {axis: _finite(data.get(axis)) + by for axis, by in zip(("x", "y"), offset, strict=True)}
            topology, key = _add(topology, kind, {**data, **place})
            keys.append(key)
    return topology, keys


def around(spots: Iterable[Spot], sides: tuple[float, float, float] = WIDE) -> tuple[Spot, Spot]:
    """Corner and size of a frame around nodes at these places; sides: so far left and right of them, above, below."""
    xs, ys = zip(*spots, strict=True)
    aside, above, below = sides
    x0, y0, x1, y1 = min(xs) - aside, min(ys) - above, max(xs) + aside, max(ys) + below
    return (x0, y0), (x1 - x0, y1 - y0)


def _add(topology: Topology, kind: str, data: Mapping[str, Any]) -> tuple[Topology, str]:
    entries = _numbered(topology, kind)
    number = max((n for n, _ in entries), default=0) + 1
    listed = [{**each, "number": n} for n, each in entries]
    prefix = "#note" if kind == "notes" else "#group"
    return _with(topology, kind, [*listed, {**data, "number": number}]), f"{prefix}{number}"


def _ours(topology: Topology) -> Mapping[str, Any]:
    ours = topology.extra.get(KEY, {})
    return ours if isinstance(ours, Mapping) else {}


def _numbered(topology: Topology, kind: str) -> list[tuple[int, Mapping[str, Any]]]:
    """The entries that are objects, each with a number of its own: its own one, or the next that is free."""
    filed = _ours(topology).get(kind)
    entries = [each for each in filed if isinstance(each, Mapping)] if isinstance(filed, list) else []
    taken: set[int] = set()
    found = []
    for each in entries:
        number = each.get("number")
        if type(number) is not int or not 0 < number < 10**9 or number in taken:
            number = max(taken, default=0) + 1
        taken.add(number)
        found.append((number, each))
    return found


def _with(topology: Topology, kind: str, value: Any) -> Topology:
    """The topology with one of our keys set; without it if there is nothing left, and entries not understood kept."""
    ours = dict(_ours(topology))
    filed = ours.get(kind)
    if isinstance(filed, list) and isinstance(value, list):
        value = [*value, *(each for each in filed if not isinstance(each, Mapping))]
    ours = {key: each for key, each in ours.items() if key != kind} | ({kind: value} if value else {})
    extra = {key: each for key, each in topology.extra.items() if key != KEY}
    return replace(topology, extra={**extra, KEY: ours} if ours else extra)


def _finite(value: Any, default: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return default
    return found if math.isfinite(found) and abs(found) < 1e9 else default
