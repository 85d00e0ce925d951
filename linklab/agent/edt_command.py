# SPDX-License-Identifier: BSD-3-Clause
"""What `linklab link` does with one link in a terminal of a running network: set, change, show, del, stats, clear.

Prints what it did; what is wrong raises an exception of GIVEN or NETWORK, whose text is one sentence.  Many links at
once: `edt_many`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from linklab.agent.edt_place import ANY, HeldAt, LinkWays, PlaceError
from linklab.agent.trial_map import WayError
from linklab.agent.trial_nodes import NodeError
from linklab.linux import edt_maps
from linklab.linux.edt_stage import StagedLink, StageError
from linklab.linux.edt_words import read

GIVEN = (ValueError, PlaceError, WayError, NodeError)
"""What was typed is wrong."""
NETWORK = (StageError,)
"""The network or its kernel cannot."""
CORRUPTED_AND_ACCEPTED = (
    "senders leave the checksum to the link, so receivers accept what is corrupted; switch that off on the sender with "
    "ethtool -K INTERFACE tx off"
)


@dataclass(frozen=True)
class NamedLink:
    """A link of the running network, with the names of its ends."""

    source: str
    target: str
    place: HeldAt
    state: StagedLink

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


class LinkCommand:
    """One command; say: where its lines go."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self.say = say
        self.places = LinkWays()

    # --- one link

    def put(self, source: str, target: str, words: Sequence[str], at: str = "", *, change: bool = False) -> None:
        """Make a link what the words say; change: only what they name of a link that is there."""
        if change and not words:
            raise ValueError("say what is to be changed, such as linklab link change h1 h2 rate 20mbit")
        keys = self.places.keys(source, target)
        there = self._find(source, target, keys, at)
        if there is None and change:
            raise PlaceError(self._not_there(source, target))
        place = self.places.place(source, target, at) if at or there is None else there
        if there is not None and str(there) != str(place):
            raise PlaceError(f"{source} → {target} is at {there} already; linklab link del {source} {target} first")
        wanted = None if change else read(words)
        with self.places.stage(place) as stage, stage.standing():
            before = stage.get(keys)
            wanted = wanted or read(words, before.spec if before else None)
            stage.set_link(keys, wanted)
        self.say(f"{source} → {target} at {place}: {' '.join(wanted.words()) or 'nothing asked for'}")
        if note := place.note(orphan=wanted.orphan):
            self.say(f"note: {note}")
        if wanted.corrupt:
            self.say(f"note: {CORRUPTED_AND_ACCEPTED}")

    def delete(self, source: str, target: str, at: str = "") -> None:
        """Remove a link; its packets then pass untouched."""
        keys = self.places.keys(source, target)
        place = self._find(source, target, keys, at)
        if place is None:
            raise PlaceError(self._not_there(source, target))
        with self.places.stage(place) as stage:
            stage.delete(keys)
        self.say(f"{source} → {target} at {place}: removed")

    def _find(self, source: str, target: str, keys: Sequence[bytes], at: str) -> HeldAt | None:
        """Where the link with one of these keys is; one from any source may be at each of several interfaces.

        Raises:
            PlaceError: it is, and nobody says which is meant.
        """
        only = str(self.places.place(source, target, at)) if at and source == ANY else ""
        found = []
        for place in self.places.stages():
            if only in ("", str(place)):
                with self.places.stage(place) as stage:
                    if stage.stands and stage.get(keys) is not None:
                        found.append(place)
        if len(found) > 1:
            raise PlaceError(f"{source} → {target} is at {', '.join(map(str, found))}: say which with at")
        return found[0] if found else None

    def _not_there(self, source: str, target: str) -> str:
        there = list(itertools.islice(self.links(), 5))
        if not there:
            return f"{source} → {target} is not set, nor is any link; linklab link set {source} {target} delay 20ms"
        return f"{source} → {target} is not set; there are {', '.join(map(str, there))}, … (linklab link show)"

    def clear(self, at: str = "") -> None:
        """Take everything away, at one place or at all; packets that are held are lost."""
        places = [self.places.place(ANY, ANY, at)] if at else self.places.stages()
        if not places:
            self.say("no link is set")
        for place in places:
            with self.places.stage(place) as stage:
                if not stage.stands:
                    raise PlaceError(f"{place} has no links")
                stage.remove()
            self.say(f"{place}: cleared")

    # --- telling

    def links(self, source: str = "", target: str = "") -> Iterator[NamedLink]:
        """All links, or the one between two names."""
        keys = set(self.places.keys(source, target)) if source else set()
        for place in self.places.stages():
            with self.places.stage(place) as stage:
                found = list(stage.links()) if stage.stands else []
            for state in found:
                if not keys or keys & set(state.keys):
                    yield NamedLink(*self._ends(state), place, state)

    def _ends(self, state: StagedLink) -> tuple[str, str]:
        source, target = edt_maps.KEY.unpack(state.keys[0])
        return self.places.name(edt_maps.address_text(source)), self.places.name(edt_maps.address_text(target))

    def show(self, source: str = "", target: str = "") -> None:
        """Print what the links do."""
        found = 0
        for link in self.links(source, target):
            found += 1
            self.say(f"{link} at {link.place}: {' '.join(link.state.spec.words()) or 'nothing asked for'}")
        self._say_if_none(found, source, target)

    def _say_if_none(self, found: int, source: str, target: str) -> None:
        if not found and source:
            raise PlaceError(self._not_there(source, target))
        if not found:
            self.say("no link is set; linklab link set h1 h2 rate 10mbit delay 20ms sets one")

    def stats(self, source: str = "", target: str = "", *, as_json: bool = False) -> None:
        """Print what the links have counted."""
        if as_json:
            lines = [json.dumps(counted(link)) for link in self.links(source, target)]
            self.say("[" + ",\n ".join(lines) + "]")
            return
        found = 0
        for link in self.links(source, target):
            found += 1
            self.say(f"{link} at {link.place}: {' '.join(link.state.spec.words())}")
            for line in told(counted(link)):
                self.say(f"  {line}")
        self._say_if_none(found, source, target)
        for place in [] if source else self.places.stages():
            with self.places.stage(place) as stage:
                about = stage.about()
            self.say(f"{place}: {about['untouched']} packets belonged to no link")
            if about["no_room"]:
                self.say(f"{place}: {about['no_room']} packets passed because there was no room for their link's state")


def counted(link: NamedLink) -> dict[str, Any]:
    """What `stats --json` says of a link; all counts are 0 before its first packet."""
    state, spec = link.state.state, link.state.spec
    longest_ns = state.get("longest_ns", 0)
    return {
        "from": link.source,
        "to": link.target,
        "at": {"node": link.place.node, "interface": link.place.interface},
        "addresses": [[edt_maps.address_text(part) for part in edt_maps.KEY.unpack(key)] for key in link.state.keys],
        "words": spec.words(),
        "rate_bit": spec.rate_bit,
        "delay_ns": spec.delay_ns,
        "packets": state.get("packets", 0),
        "bytes": state.get("bytes", 0),
        "dropped": {"queue": state.get("full", 0), "loss": state.get("lost", 0)},
        **{name: state.get(name, 0) for name in ("marked", "duplicated", "reordered", "corrupted")},
        "longest_queue_ns": longest_ns,
        "longest_queue_bytes": longest_ns * spec.rate_bit // (8 * 10**9),
    }


def told(counts: dict[str, Any]) -> Iterator[str]:
    """The same as lines."""
    drops = counts["dropped"]
    yield f"{counts['packets']} packets, {counts['bytes']} bytes"
    yield f"dropped: {drops['queue']} by a full queue, {drops['loss']} by loss"
    more = ("marked", "duplicated", "reordered", "corrupted")
    if any(counts[name] for name in more):
        yield ", ".join(f"{name} {counts[name]}" for name in more)
    if counts["rate_bit"]:
        yield f"longest queue: {counts['longest_queue_ns'] / 1e6:.3f} ms, {counts['longest_queue_bytes']} bytes"
