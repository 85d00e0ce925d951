# SPDX-License-Identifier: BSD-3-Clause
"""Which data sets belong together in a plot that combines them, and how their values become those of the group.

The modes are Flent's by its names, and "meta:KEY" for what the metadata say. One rule is another: the number that is
left out of a file's name is its last, not its first, so that "codel-10-01" and "codel-20-01" stay apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.plots.named.loaded import Loaded
from linklab.plots.named.options import Options
from linklab.plots.named.words import common_start

MODES = (
    "groups",
    "groups_points",
    "groups_concat",
    "series",
    "both",
    "batch",
    "batch_points",
    "batch_concat",
    "batch_series",
    "meta:KEY",
    "meta_points:KEY",
    "meta_concat:KEY",
    "meta_series:KEY",
)
"""All that `mode_of` reads."""


class Grouping(Enum):
    """What becomes of the values of the data sets of a group."""

    EACH = "each"  # one number of each data set
    POINTS = "points"  # one number of all at each time
    CONCAT = "concat"  # all samples of all
    SERIES = "series"  # one number of each; series and groups change their places
    BOTH = "both"  # one number of each; the group's name is two, of a series and of a group


@dataclass(frozen=True)
class Mode:
    """by: "name", "batch", or "meta", which has a `key`."""

    by: str
    how: Grouping
    key: str = ""


_SERIAL = re.compile(
    r"(^|[^0-9A-Za-z])(?:seed|run|rep)?\d+(?![0-9A-Za-z])(?!.*[^0-9A-Za-z](?:seed|run|rep)?\d+(?![0-9A-Za-z]))"
)
"""The last number that stands alone, with the sign before it: of the repetition."""

_STAMP = re.compile(r"-?\d{4}-\d\d-\d\dT\d{6}(\.\d+)?")
"""The moment in the name that Flent gives a file."""


def mode_of(text: str) -> Mode:
    """The mode of its name.

    Raises:
        InputError: there is no such mode.
    """
    head, colon, key = text.partition(":")
    by, _, rest = head.partition("_")
    how = {each.value: each for each in Grouping}.get(rest or "each")
    match by:
        case "series" | "both" if not rest and not colon:
            return Mode("name", Grouping(by))
        case "groups" if how in (Grouping.EACH, Grouping.POINTS, Grouping.CONCAT) and not colon:
            return Mode("name", how)
        case "batch" if how not in (None, Grouping.BOTH) and not colon:
            return Mode("batch", how)
        case "meta" if how not in (None, Grouping.BOTH) and key:
            return Mode("meta", how, key)
    raise InputError(f'group_by: there is no mode "{excerpt(text)}"; I know {", ".join(MODES)}')


def grouped(data: Sequence[Loaded], mode: Mode, options: Options) -> dict[str, list[Loaded]]:
    """The data sets by the name of their group, in the order of the first of each; numbers in their own order."""
    names = _BY[mode.by](data, mode, options)
    found: dict[str, list[Loaded]] = {}
    for name, one in zip(names, data, strict=True):
        found.setdefault(name, []).append(one)
    numbers = [number_of(name) for name in found]
    if mode.by == "meta" and len(found) > 1 and all(number is not None for number in numbers):
        order = sorted(found, key=lambda name: (number_of(name) or 0.0, name))
        return {name: found[name] for name in order}
    return found


def number_of(name: str) -> float | None:
    """The number that a group's name begins with, such as 50 of "50ms"; None if it does not."""
    found = re.match(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", name)
    return float(found[0]) if found else None


def _by_name(data: Sequence[Loaded], mode: Mode, options: Options) -> list[str]:
    """By file names, without what all begin with and without the number of the repetition."""
    stems = [_STAMP.sub("", one.stem) for one in data]
    start = common_start(stems) if len(stems) > 1 else ""
    return [_group_of(stem[len(start) :], options) or start.strip(" -_.") or stem for stem in stems]


def _group_of(name: str, options: Options) -> str:
    for expression in options.filters:
        name = re.sub(expression, "", name, count=1)
    return _SERIAL.sub("", name, count=1).strip(" -_.")


def _by_batch(data: Sequence[Loaded], mode: Mode, options: Options) -> list[str]:
    """By the batch that ran them, and by test; two batches of one title are told apart by their ids."""
    keys = [tuple(str(one.data.flent.get(key) or "") for key in ("BATCH_UUID", "NAME")) for one in data]
    titles = [str(one.data.flent.get("BATCH_TITLE") or one.data.flent.get("BATCH_NAME") or "no batch") for one in data]
    several = len({test for _, test in keys}) > 1
    names = [f"{title} - {test}" if several else title for title, (_, test) in zip(titles, keys, strict=True)]
    ids = {name: {key for other, key in zip(names, keys, strict=True) if other == name} for name in names}
    return [f"{name} {key[0]}".strip() if len(ids[name]) > 1 else name for name, key in zip(names, keys, strict=True)]


def _by_key(data: Sequence[Loaded], mode: Mode, options: Options) -> list[str]:
    """By what the metadata say.

    Raises:
        InputError: no data set has the key.
    """
    found = [value_of(one, mode.key) for one in data]
    if all(value is None for value in found):
        raise InputError(f'group_by: no data set has "{excerpt(mode.key)}" in its metadata or parameters')
    return ["unknown" if value is None else _words(value) for value in found]


_BY = {"name": _by_name, "batch": _by_batch, "meta": _by_key}


def value_of(one: Loaded, key: str) -> Any:
    """What a data set says of itself: its parameters, Linklab's metadata, Flent's; "A.B" leads into what A holds."""
    ours, flent = one.data.metadata, one.data.flent
    places: list[Any] = [flent.get("TEST_PARAMETERS"), ours.get("parameters"), ours, flent]
    for place in places:
        value = place.get(key) if isinstance(place, dict) else None
        if value is None:
            value = place
            for part in key.split("."):
                value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def _words(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return excerpt(", ".join(map(str, value)) if isinstance(value, list) else str(value))
