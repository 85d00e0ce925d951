# SPDX-License-Identifier: BSD-3-Clause
"""Means of groups of runs as lines over what the groups differ in: a number where their names begin with one."""

from __future__ import annotations

from typing import Any

from linklab.measure.series import FloatArray
from linklab.plots.named.axes import scale_of, set_asked, set_limits
from linklab.plots.named.groups import number_of
from linklab.plots.named.legend import add_legend
from linklab.plots.named.lines import DrawnLine
from linklab.plots.named.look import Looks
from linklab.plots.named.picture import PlotPanel, remember
from linklab.plots.named.words import plain


def draw_means(axes: Any, panel: PlotPanel) -> str:
    """Draw a line for each series through the means of the groups; returns how to read it."""
    sides = [[line for line in panel.lines if line.of.line.second_axis is right] for right in (False, True)]
    used = [(side, lines) for side, lines in enumerate(sides) if lines]
    places = _places(panel)
    looks = Looks(panel.options, len(panel.entries), 1)
    handles = []
    for number, (side, lines) in enumerate(used):
        at = axes.twinx() if number else axes
        scale = scale_of(lines, side, panel.spec, panel.options)
        ends: list[float] = []
        for entry in dict.fromkeys(line.entry for line in lines):
            mine = sorted((line for line in lines if line.entry == entry), key=lambda line: places[line.file])
            means, errors = _means(panel, mine, scale.factor)
            across = [places[line.file] for line in mine]
            look = dict(looks.line(entry, 0, len(mine))) | {"markevery": None, "markersize": 4}
            bars = at.errorbar(across, means, yerr=errors, capsize=2.5, elinewidth=0.9, **look)
            remember(bars.lines[0], mine[0], scale.factor)
            handles.append((mine[0].of.label + (" (right)" if number else ""), bars))
            ends += [mean + sign * error for mean, error in zip(means, errors, strict=True) for sign in (1, -1)]
        at.set_ylabel(plain(scale.words))
        set_limits(at, min(ends), max(ends), number, panel.options, zero=True)
        if panel.options.invert and scale.latency:
            at.invert_yaxis()
        if number:
            at.grid(visible=False)
            at.spines["right"].set_visible(True)
    _finish(axes, panel, places)
    add_legend(axes, handles, panel.spec, panel.options)
    return panel.error_words()


def _means(panel: PlotPanel, lines: list[DrawnLine], factor: float) -> tuple[list[float], list[float]]:
    known: list[FloatArray] = [line.known / factor for line in lines]
    return [float(each.mean()) for each in known], [panel.error_of(each) for each in known]


def _places(panel: PlotPanel) -> list[float]:
    """Where each group stands: at the number that its name begins with, if all have one and they differ."""
    numbers = [number_of(one.name) for one in panel.data]
    found = [number for number in numbers if number is not None]
    if len(found) == len(numbers) and len(set(found)) == len(found):
        return found
    return [float(number) for number in range(1, len(numbers) + 1)]


def _finish(axes: Any, panel: PlotPanel, places: list[float]) -> None:
    options = panel.options
    numbers = all(number_of(one.name) == place for one, place in zip(panel.data, places, strict=True))
    log = bool(options.log_x) and numbers and min(places) > 0
    space = 0.06 * (max(places) - min(places)) or 0.5
    low, high = (min(places) / 1.2, max(places) * 1.2) if log else (min(places) - space, max(places) + space)
    set_asked(axes.set_xlim, low, high, options.limits_x[0] if options.limits_x else (None, None))
    if log:
        axes.set_xscale("log", base=options.log_x)
        axes.minorticks_off()
    if not numbers or len(places) <= 12:
        # a group's name holds its unit and how many runs it has
        axes.set_xticks(places, [plain(name) for name in panel.names])
    axes.set_xlabel(plain(options.label_x))
