# SPDX-License-Identifier: BSD-3-Clause
"""`Options`: everything a person can ask of a figure beyond what its plot says, checked when it is made."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from matplotlib.colors import is_color_like

from linklab.errors import InputError

Limits = tuple[float | None, float | None]

LEGENDS = ("auto", "above", "right", "below", "none", "best", "upper left", "upper right", "lower left", "lower right")
LEGENDS_MORE = ("upper center", "lower center", "center left", "center right", "center")
STYLES = ("screen", "print", "grey")
ERRORS = ("auto", "interval", "sd", "none")
COLOUR_BY = ("auto", "series", "file")

MOST_PIXELS = 20_000
"""Of a figure's longer side; more is not drawn by the library behind."""


@dataclass(frozen=True)
class Options:
    """What a person asks of a figure; whatever is left alone is as the plot says.

    title: None for the plot's description and the data set's title, "" for none.
    labels: of the data sets, in their order, or of the series where there is one data set; "" for its own.
    label_x, labels_y: words of the axes, left and right; "" for the plot's.
    legend: where: "auto", "none", outside ("above", "right", "below") or inside the axes ("best", "upper left", …).
    legend_columns: 0 for as many as there is room for.
    legend_title: None for the plot's.
    filters: regular expressions whose matches are deleted from labels, one after the other.
    replace: words of labels → other words, in that order, after `filters`.
    shorten: words that all labels of data sets begin or end with are left out.
    only, hide: patterns of series (`linklab.data.names`): draw no others, leave these out.
    limits_x, limits_y: lowest and highest value of each x and y axis, None for its own; in the unit of the axis.
    log_x, log_y: base of a logarithmic axis, 2 or 10; 0 for a linear one.
    zero: y axes begin at 0; None for the kind's own.
    invert: axes of latency are turned, so that better is up or right.
    scaling: percentiles of the values that the y axes show; None for the plot's, (0, 100) for all.
    cutoff_s: seconds left out at the beginning and the end, before anything is computed; None for the plot's.
    between_s: the same in another way: seconds that are kept, from and to; an end of 0 or less counts from the end.
    smoothing: samples of a running mean, of every line; None for the plot's, 0 for none.
    absolute_time: the moment instead of seconds since the beginning.
    concatenate: data sets follow each other in time and are one.
    normalise: factors that the values of the series are divided by, one a series, from the first again.
    group_by, reduce: of combining plots, instead of the plot's.
    error: what the lines on bars and means are: the 95 % interval of the mean, the standard deviation, or none.
    print_n: how many data sets a group has, beside its name.
    split: names of groups into which the data sets of a box or bar plot are divided, in their order.
    sigmas: radii of ellipses, in standard deviations.
    subplots: each data set in a panel of its own.
    skip_missing: no room for a series that a data set of a box or bar plot lacks.
    colours: instead of the usual; by name or "#rrggbb".
    colour_by: whether a series or a data set has a colour.
    line_width: points; 0 for the usual.
    markers: None for the usual, which leaves them out where there are many points.
    marker_size: points; 0 for the usual.
    size_in: width and height, inches; None for the plot's.
    dpi: pixels an inch of a PNG.
    style: "screen" in colour, "print" for one column of a paper, "grey" without colour.
    annotation: at the bottom: which test, hosts and time; and how to read boxes, bars and ellipses.
    note: a sentence at the bottom.
    tick_labels: words at boxes and bars.
    """

    title: str | None = None
    labels: tuple[str, ...] = ()
    label_x: str = ""
    labels_y: tuple[str, ...] = ()
    legend: str = "auto"
    legend_columns: int = 0
    legend_reverse: bool = False
    legend_title: str | None = None
    filters: tuple[str, ...] = ()
    replace: Mapping[str, str] = field(default_factory=dict)
    shorten: bool = True
    only: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    limits_x: tuple[Limits, ...] = ()
    limits_y: tuple[Limits, ...] = ()
    log_x: int = 0
    log_y: int = 0
    zero: bool | None = None
    invert: bool = False
    scaling: tuple[float, float] | None = None
    cutoff_s: tuple[float, float] | None = None
    between_s: tuple[float, float] | None = None
    smoothing: int | None = None
    absolute_time: bool = False
    concatenate: bool = False
    normalise: tuple[float, ...] = ()
    group_by: str = ""
    reduce: str = ""
    error: str = "auto"
    print_n: bool = True
    split: tuple[str, ...] = ()
    sigmas: tuple[float, ...] = (1.0, 2.0)
    subplots: bool = False
    skip_missing: bool = False
    colours: tuple[str, ...] = ()
    colour_by: str = "auto"
    line_width: float = 0.0
    markers: bool | None = None
    marker_size: float = 0.0
    size_in: tuple[float, float] | None = None
    dpi: int = 200
    style: str = "screen"
    annotation: bool = True
    note: str = ""
    tick_labels: bool = True

    def __post_init__(self) -> None:
        _one_of("legend", self.legend, LEGENDS + LEGENDS_MORE)
        _one_of("style", self.style, STYLES)
        _one_of("error", self.error, ERRORS)
        _one_of("colour_by", self.colour_by, COLOUR_BY)
        for name in ("log_x", "log_y"):
            if getattr(self, name) not in (0, 2, 10):
                raise InputError(f"{name}: must be 2 or 10, or 0 for a linear axis, not {getattr(self, name)}")
        for name in ("limits_x", "limits_y"):
            _check_limits(name, getattr(self, name), bool(self.log_x if name == "limits_x" else self.log_y))
        if self.scaling is not None and not 0 <= self.scaling[0] < self.scaling[1] <= 100:
            raise InputError(f"scaling: must be two percentiles, the lower first, not {_shown(self.scaling)}")
        if self.cutoff_s is not None and not all(0 <= each < math.inf for each in self.cutoff_s):
            raise InputError(f"cutoff_s: must be two lengths in seconds, 0 or more, not {_shown(self.cutoff_s)}")
        if self.between_s is not None:
            start, end = self.between_s
            if self.cutoff_s is not None or not 0 <= start < math.inf or math.isnan(end) or 0 < end <= start:
                raise InputError(f"between_s: must be two times, the earlier first, not {_shown(self.between_s)}")
        if self.smoothing is not None and not 0 <= self.smoothing <= 1_000_000:
            raise InputError(f"smoothing: must be 0 to 1000000 samples, not {self.smoothing}")
        if self.absolute_time and self.concatenate:
            raise InputError("absolute_time and concatenate: data sets that follow each other have no common clock")
        for factor in self.normalise:
            if not math.isfinite(factor) or factor == 0:
                raise InputError(f"normalise: a factor must be a number other than 0, not {factor:g}")
        if not self.sigmas or not all(0 < each <= 10 for each in self.sigmas):
            raise InputError(f"sigmas: must be above 0 and at most 10, not {_shown(self.sigmas) or 'nothing'}")
        self._check_words()
        self._check_looks()

    def _check_words(self) -> None:
        for expression in self.filters:
            try:
                re.compile(expression)
            except re.error as error:
                raise InputError(f"filters: {expression!r:.60} is not a regular expression: {error}") from None
        if "" in self.replace:
            raise InputError("replace: the words to be replaced must not be empty")

    def _check_looks(self) -> None:
        for colour in self.colours:
            if not is_color_like(colour):
                raise InputError(f'colours: {colour!r:.60} is not a colour; give a name such as "black", or "#0072B2"')
        if not 0 <= self.legend_columns <= 20:
            raise InputError(f"legend_columns: must be 1 to 20, or 0 for the usual, not {self.legend_columns}")
        for name, most in (("line_width", 20), ("marker_size", 50)):
            value = getattr(self, name)
            if not 0 <= value <= most:
                raise InputError(f"{name}: must be at most {most} points, or 0 for the usual, not {value:g}")
        if not 10 <= self.dpi <= 2400:
            raise InputError(f"dpi: must be 10 to 2400, not {self.dpi}")
        if self.size_in is not None:
            if not all(0.5 <= side <= 100 for side in self.size_in):
                raise InputError(f"size_in: each side must be 0.5 to 100 inches, not {_shown(self.size_in)}")
            if max(self.size_in) * self.dpi > MOST_PIXELS:
                raise InputError(f"size_in: at {self.dpi} dpi more than {MOST_PIXELS} pixels; give less of either")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name}: {value!r:.60} is not one of {', '.join(known)}")


def _check_limits(name: str, limits: tuple[Limits, ...], log: bool) -> None:
    if len(limits) > 2:
        raise InputError(f"{name}: a figure has at most two such axes, not {len(limits)}")
    for low, high in limits:
        if not all(each is None or math.isfinite(each) for each in (low, high)):
            raise InputError(f"{name}: must be numbers")
        if low is not None and high is not None and low >= high:
            raise InputError(f"{name}: the lower limit {low:g} must be less than the upper {high:g}")
        if log and any(each is not None and each <= 0 for each in (low, high)):
            raise InputError(f"{name}: limits of a logarithmic axis must be above 0")


def _shown(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
