# SPDX-License-Identifier: BSD-3-Clause
"""What a plot does not draw of its data sets: sentences for the person who asked for the figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.plots.named.lines import LegendEntry, entries_of
from linklab.plots.named.loaded import Loaded
from linklab.plots.named.options import Options
from linklab.plots.spec import PlotKind, PlotSpec

_MOST_NAMES = 6
_MOST_LINES = 8
"""Of a figure over time that can be told apart."""
_GROUPING = (PlotKind.BOX_COMBINE, PlotKind.BAR_COMBINE, PlotKind.TIMESERIES_COMBINE)


def refuse_empty(spec: PlotSpec, data: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> None:
    """Refuse a figure of which `only` and `hide` leave nothing.

    Raises:
        InputError: they do; the message says which series there are.
    """
    if not (options.only or options.hide):
        return
    parts = _parts(spec, specs)
    if any(entries_of(part, data, options) for part in parts):
        return
    there = _names([e for part in parts for e in entries_of(part, data, replace(options, only=(), hide=()))])
    if there:
        words = [f'"{excerpt(pattern)}"' for pattern in options.only or options.hide]
        wrong = (
            f"no series matches {' or '.join(words)}" if options.only else f"{' and '.join(words)} hides every series"
        )
        raise InputError(f"{spec.name}: {wrong}; it shows {_some(there)}")


def lacking(spec: PlotSpec, data: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> Iterator[str]:
    """A sentence for each of several data sets that lacks what the plot shows of others, all of it or some lines."""
    shown = [one for one in data if one.shown]
    parts = _parts(spec, specs)
    of_each = [[entries_of(part, [one], replace(options, labels=())) for part in parts] for one in shown]
    for one, found in zip(shown, of_each, strict=True):
        own = {entry.line for entries in found for entry in entries}
        others = [e for each in of_each for entries in each for e in entries if e.line not in own]
        if others and not own:
            yield f"{excerpt(one.stem)}: nothing of it is drawn, because it has no {_some(_names(others))}"
        elif others:
            yield f"{excerpt(one.stem)}: it has no {_some(_names(others))}, which the plot {spec.name} shows of others"


def crowded(spec: PlotSpec, data: Sequence[Loaded], options: Options, specs: Sequence[PlotSpec]) -> str:
    """What to do about a figure over time in which files are hard to tell apart; "" where they are not."""
    files = sum(one.shown for one in data)
    parts = [part for part in _parts(spec, specs) if part.kind is PlotKind.TIMESERIES]
    lines = max((len(entries_of(part, data, options)) * files for part in parts), default=0)
    if files < 2 or lines <= _MOST_LINES or options.subplots or options.colour_by == "file":
        return ""
    grouped = next((one.name for one in specs if one.kind in _GROUPING), "")
    other = f", -p {grouped} makes one of each group of runs" if grouped else ""
    return f"{spec.name}: it has {lines} lines; --colour-by file gives each file a colour{other}"


def _parts(spec: PlotSpec, specs: Sequence[PlotSpec]) -> list[PlotSpec]:
    by_name = {one.name: one for one in specs}
    return [by_name[name] for name in spec.parts if name in by_name] or [spec]


def _names(entries: Sequence[LegendEntry]) -> list[str]:
    return list(dict.fromkeys(entry.name for entry in entries))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(f'"{excerpt(name)}"' for name in names[:_MOST_NAMES]) + more
