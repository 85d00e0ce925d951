# SPDX-License-Identifier: BSD-3-Clause
"""Which series a pattern names: Flent's globs, as text.

A pattern is a glob, then any number of excludes, each after " !": "TCP upload* !TCP upload sum !TCP upload avg".
Flent's separator of names is "::", as in "TCP upload::1" and "TCP upload::1::tcp_cwnd", so a "*" does not cross a ":"
and "**" does. "?" and "[…]" are those of fnmatch(3). In an exclude "*" crosses everything, as in Flent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase, translate
from functools import lru_cache

SEPARATOR = "::"
"""Between a series and its number, or one of the further numbers of its samples."""

_EXCLUDE = " !"
_FEW_STARS = 3
"""What an expression does well; with each more, the time that a name takes may grow by the name's length."""

_MOST_PARTS = 16
"""Further parts of a name that are looked at; Flent's have two.  Of a hundred thousand each would be cut off again."""


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that the pattern matches, in their own order.

    A pattern that is one of the names matches that name only, whatever letters it has.
    """
    known = list(names)
    if pattern in known:
        return [pattern]
    glob, *excludes = pattern.split(_EXCLUDE)
    found = [glob] if glob in known else [name for name in known if _matches(glob, name)]
    return [name for name in found if not any(fnmatchcase(name, exclude) for exclude in excludes)]


def is_pattern(text: str) -> bool:
    """Whether the text can match several names."""
    return any(letter in text for letter in "*?[")


def parent_of(name: str, names: Collection[str]) -> str:
    """The series whose samples hold this further number; "" if the name is a series of its own.

    "Ping (ms) ICMP::seq" is a further number of "Ping (ms) ICMP" where there is a series of that name;
    "TCP upload::1" is a series, since its last part is a number.
    """
    parent = name
    for _ in range(_MOST_PARTS):
        parent = parent.rpartition(SEPARATOR)[0]
        if parent in names and not name.removeprefix(parent + SEPARATOR).isdecimal():
            return parent
    return ""


def main_series(names: Collection[str]) -> list[str]:
    """The names that are series of their own, in their order: without further numbers of samples."""
    known = frozenset(names)
    return [name for name in names if not parent_of(name, known)]


def _matches(glob: str, name: str) -> bool:
    """Whether a glob is a name's; one of many stars would take an expression for ever, so it is followed by hand."""
    if glob.count("*") <= _FEW_STARS:
        return _expression(glob).match(name) is not None
    ends = {0}
    for part in re.split(r"(\*\*|\*)", glob):
        if part == "**":
            ends = set(range(min(ends), len(name) + 1))
        elif part == "*":
            ends = {at for end in ends for at in range(end, (name.find(":", end) + 1 or len(name) + 1))}
        else:
            plain = _expression_of(_plain(part))
            ends = {found.end() for end in ends if (found := plain.match(name, end))}
        if not ends:
            return False
    return len(name) in ends


@lru_cache(maxsize=256)
def _expression_of(text: str) -> re.Pattern[str]:
    return re.compile(f"(?s:{text})")


@lru_cache(maxsize=256)
def _expression(glob: str) -> re.Pattern[str]:
    """The glob as an expression; character by character, because translate joins stars that stand together."""
    parts = re.split(r"(\*\*|\*)", glob)
    stars = {"**": ".*", "*": "[^:]*"}
    return re.compile("(?s:" + "".join(stars.get(part) or _plain(part) for part in parts) + r")\Z")


def _plain(part: str) -> str:
    """A part without stars as an expression: what translate puts around it is cut off."""
    inside = re.fullmatch(r"\(\?s:(.*)\)\\[Zz]", translate(part), re.DOTALL)
    assert inside is not None
    return inside[1]
