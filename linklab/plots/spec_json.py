# SPDX-License-Identifier: BSD-3-Clause
"""`PlotSpec` ↔ JSON, as a data set carries the plots of its test in its metadata under "plots".

The file may be a stranger's: whatever it holds, the answer is specs that can be drawn, or a DataError. What a spec has
by default is left out of the JSON. Unknown keys are an error, or a plot would be drawn without what it asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

from linklab.base.text import quoted
from linklab.errors import DataError
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec

METADATA_KEY = "plots"
"""Of a data set's metadata: a list of specs."""

MOST_PLOTS = 500
MOST_LINES = 1000
MOST_CHARACTERS = 1000

_PERCENT = 100.0
_LONGEST_S = 1e9


def to_json(spec: PlotSpec) -> dict[str, Any]:
    """Return the spec as a JSON object, without what it has by default."""
    found = _given(spec)
    found["kind"] = spec.kind.value
    if spec.lines:
        found["lines"] = [_given(line) for line in spec.lines]
    return found


def from_json(found: object, where: str = "plot") -> PlotSpec:
    """Return the spec of a JSON object.

    Raises:
        DataError: it is not one, or a value in it cannot be; the message begins with its place below `where`.
    """
    known = _object(found, where, PlotSpec)
    read: dict[str, Any] = {}
    for key, value in known.items():
        read[key] = _PLOT[key](value, f"{where}: {key}")
    for key in ("name", "kind"):
        if key not in read:
            raise DataError(f"{where}: {key} is missing")
    read.setdefault("description", read["name"])
    if not read["name"]:
        raise DataError(f"{where}: name must not be empty")
    return PlotSpec(**read)


def read_specs(found: object, where: str = METADATA_KEY) -> list[PlotSpec]:
    """Return the specs of a JSON list, in its order.

    Raises:
        DataError: it is not such a list, it has too many, or two have one name.
    """
    items = _list(found, where, MOST_PLOTS)
    specs = [from_json(item, f"{where}: number {number}") for number, item in enumerate(items, 1)]
    names = [spec.name for spec in specs]
    for number, name in enumerate(names, 1):
        if name in names[: number - 1]:
            raise DataError(f"{where}: number {number}: there is already a plot named {quoted(name)}")
    return specs


def _given(one: PlotSpec | PlotLine) -> dict[str, Any]:
    """Its fields that are not as by default."""
    values = {each.name: (getattr(one, each.name), each.default) for each in fields(one)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, (value, default) in values.items()
        if default is MISSING or value != default
    }


def _object(found: object, where: str, kind: type[PlotSpec] | type[PlotLine]) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise DataError(f"{where}: must be an object, not {quoted(found)}")
    known = [each.name for each in fields(kind)]
    for key in found:
        if key not in known:
            raise DataError(f"{where}: there is no key {quoted(key)}; I know {', '.join(known)}")
    return found


def _list(found: object, where: str, most: int) -> Sequence[Any]:
    if not isinstance(found, list | tuple):
        raise DataError(f"{where}: must be a list, not {quoted(found)}")
    if len(found) > most:
        raise DataError(f"{where}: {len(found)} are too many; at most {most}")
    return found


def _text(found: object, where: str) -> str:
    if not isinstance(found, str):
        raise DataError(f"{where}: must be text, not {quoted(found)}")
    if len(found) > MOST_CHARACTERS:
        raise DataError(f"{where}: {len(found)} characters are too many; at most {MOST_CHARACTERS}")
    return found


def _yes_or_no(found: object, where: str) -> bool:
    if not isinstance(found, bool):
        raise DataError(f"{where}: must be true or false, not {quoted(found)}")
    return found


def _whole(found: object, where: str) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= 1_000_000:
        raise DataError(f"{where}: must be a whole number from 0 to 1000000, not {quoted(found)}")
    return found


def _pair(most: float) -> Callable[[object, str], tuple[float, float] | None]:
    """A reader of null, or of two numbers from 0 to `most`."""

    def read(found: object, where: str) -> tuple[float, float] | None:
        if found is None:
            return None
        numbers = _list(found, where, MOST_LINES)
        for number in numbers:
            real = isinstance(number, int | float) and not isinstance(number, bool)
            if not real or not math.isfinite(number) or not 0 <= number <= most:
                raise DataError(f"{where}: must be numbers from 0 to {most:g}, not {quoted(number)}")
        if len(numbers) != 2:
            raise DataError(f"{where}: must be two numbers, not {len(numbers)}")
        return float(numbers[0]), float(numbers[1])

    return read


def _scaling(found: object, where: str) -> tuple[float, float] | None:
    pair = _pair(_PERCENT)(found, where)
    if pair is not None and pair[0] >= pair[1]:
        raise DataError(f"{where}: the first percentile must be less than the second")
    return pair


def _axis_labels(found: object, where: str) -> tuple[str, str]:
    words = [_text(word, where) for word in _list(found, where, MOST_LINES)]
    if len(words) != 2:
        raise DataError(f"{where}: must be two texts, of the left and the right axis, not {len(words)}")
    return words[0], words[1]


def _kind(found: object, where: str) -> PlotKind:
    names = [kind.value for kind in PlotKind]
    if found not in names:
        raise DataError(f"{where}: {quoted(found)} is no kind of plot; I know {', '.join(names)}")
    return PlotKind(found)


def _line(found: object, where: str) -> PlotLine:
    known = _object(found, where, PlotLine)
    if "series" not in known:
        raise DataError(f"{where}: series is missing")
    return PlotLine(**{key: _LINE[key](value, f"{where}: {key}") for key, value in known.items()})


def _lines(found: object, where: str) -> tuple[PlotLine, ...]:
    items = _list(found, where, MOST_LINES)
    return tuple(_line(item, f"{where}: number {number}") for number, item in enumerate(items, 1))


def _names(found: object, where: str) -> tuple[str, ...]:
    return tuple(_text(name, where) for name in _list(found, where, MOST_PLOTS))


_LINE: Mapping[str, Callable[[object, str], Any]] = {
    "series": _text,
    "label": _text,
    "key": _text,
    "second_axis": _yes_or_no,
    "smoothing": _whole,
    "reduce": _text,
    "bold": _yes_or_no,
}
_PLOT: Mapping[str, Callable[[object, str], Any]] = {
    "name": _text,
    "description": _text,
    "kind": _kind,
    "lines": _lines,
    "parts": _names,
    "axis_labels": _axis_labels,
    "scaling": _scaling,
    "cutoff_s": _pair(_LONGEST_S),
    "group_by": _text,
    "reduce": _text,
    "stacked": _yes_or_no,
    "side_by_side": _yes_or_no,
    "legend_title": _text,
}
