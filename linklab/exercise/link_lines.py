# SPDX-License-Identifier: BSD-3-Clause
"""Links by departure time of an interface → the lines that set them again, by `linklab link load`.

Pure. What is written here are addresses, names of nodes, and words that `linklab.tc.EdtLink` has checked, so it is safe
to give to a shell. docs/links.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from linklab.errors import StateError
from linklab.state.node import Interface
from linklab.tc import EdtLink

ROWS = 200
"""Of one line, which is short enough for any shell's script."""


def link_lines(place: str, interface: Interface, owner: Mapping[str, str]) -> Iterator[str]:
    """The lines; place: as `linklab link` calls the interface; owner: address → node.

    Raises:
        StateError: a link has several pairs of addresses that are not those of two nodes.
    """
    links = interface.links
    for begin in range(0, len(links), ROWS):
        part = links[begin : begin + ROWS]
        words = list(dict.fromkeys(word for link in part for word in link.cells()))
        rows = [",".join(("from", "to", *words)), *(_row(place, link, words, owner) for link in part)]
        quoted = " ".join(f"'{row}'" for row in rows)
        yield f"printf '%s\\n' {quoted} | linklab link load - at {place} >/dev/null"


def _row(place: str, link: EdtLink, words: Sequence[str], owner: Mapping[str, str]) -> str:
    cells = link.cells()
    return ",".join((*_ends(place, link, owner), *(cells.get(word, "") for word in words)))


def _ends(place: str, link: EdtLink, owner: Mapping[str, str]) -> tuple[str, str]:
    """Addresses; names of nodes where a link is of all addresses of two."""
    if len(link.pairs) == 1:
        return link.pairs[0]
    sides = tuple({owner.get(pair[side], pair[side]) for pair in link.pairs} for side in (0, 1))
    if any(len(side) != 1 for side in sides):
        raise StateError(f"{place}: the link {' '.join(link.pairs[0])} has several ends, which cannot be repeated")
    return next(iter(sides[0])), next(iter(sides[1]))
