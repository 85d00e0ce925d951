# SPDX-License-Identifier: BSD-3-Clause
"""The [[plot]] tables of a test's file → `PlotEntry`, with what each takes from its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab.base.text import excerpt
from linklab.experiment.entries import Condition, LineEntry, PlotEntry
from linklab.experiment.entry_table import EntryTable, when_of
from linklab.experiment.places import nearest
from linklab.plots.spec import PlotKind

_KINDS = {kind.value: kind for kind in PlotKind}
MOST_LINES = 200


def read_plots(table: EntryTable, inherited: Mapping[str, PlotEntry]) -> dict[str, PlotEntry]:
    """The plots of a file by name, in its order; `inherited` may be named as parents."""
    found: dict[str, PlotEntry] = {}
    for each in table.entries("plot"):
        plot = _plot(each, {**inherited, **found})
        if plot.name in found:
            raise each.wrong("there is already a plot of this name in the file")
        found[plot.name] = plot
    return found


def _plot(table: EntryTable, known: Mapping[str, PlotEntry]) -> PlotEntry:
    name, parent_name = table.text("name"), table.text("parent", "")
    if parent_name and parent_name not in known:
        raise table.wrong(f'"parent": there is no plot "{excerpt(parent_name)}"; {nearest(parent_name, known)}')
    parent = known.get(parent_name)
    taken: dict[str, Any] = dict(vars(parent)) if parent else {}
    kind = table.choice("kind", _KINDS, parent.kind.value if parent else ...)
    read: dict[str, Any] = {
        "text": table.take("text", str, None),
        "lines": _lines(table),
        "parts": table.texts("parts") or None,
        "axes": _pair(table, "axes", str),
        "scaling": _pair(table, "scaling", (int, float)),
        "cutoff": _pair(table, "cutoff", (str, int, float)),
        "group_by": table.take("group_by", str, None),
        "reduce": table.take("reduce", str, None),
        "legend": table.take("legend", str, None),
        "stacked": table.take("stacked", bool, None),
        "side_by_side": table.take("side_by_side", bool, None),
    }
    when: tuple[Condition, ...] = when_of(table) or (parent.when if parent else ())
    table.end()
    taken.update({key: value for key, value in read.items() if value is not None})
    if read["cutoff"] == ("", ""):
        taken["cutoff"] = None
    if taken.get("cutoff") is not None:
        taken["cutoff"] = tuple(str(value) for value in taken["cutoff"])
    taken.update(where=table.where, name=name, kind=kind, when=when)
    plot = PlotEntry(**taken)
    if not plot.lines and not plot.parts:
        raise table.wrong('it needs "lines", or "parts" if it is made of other plots')
    return plot


def _pair(table: EntryTable, key: str, kinds: type | tuple[type, ...]) -> tuple[Any, Any] | None:
    found = table.take(key, list, None)
    if found is None:
        return None
    if not found:
        return ("", "") if key != "scaling" else None
    if len(found) != 2 or not all(isinstance(item, kinds) and not isinstance(item, bool) for item in found):
        raise table.wrong(f'"{key}" must be a list of two')
    return found[0], found[1]


def _lines(table: EntryTable) -> tuple[LineEntry, ...] | None:
    found = table.take("lines", list, None)
    if found is None:
        return None
    if len(found) > MOST_LINES:
        raise table.wrong(f'"lines" has {len(found):,} entries; at most {MOST_LINES} are allowed')
    lines = []
    for number, item in enumerate(found, 1):
        one = EntryTable({"series": item} if isinstance(item, str) else item, f"{table.where}: line {number}")
        axis = one.take("axis", int, 1)
        if axis not in (1, 2):
            raise one.wrong(f'"axis" must be 1 (left) or 2 (right), not {axis}')
        lines.append(
            LineEntry(
                series=one.text("series"),
                label=one.text("label", ""),
                key=one.text("key", ""),
                axis=axis,
                smoothing=one.text("smoothing", ""),
                reduce=one.text("reduce", ""),
                bold=one.take("bold", bool, False),
            )
        )
        one.end()
    return tuple(lines)
