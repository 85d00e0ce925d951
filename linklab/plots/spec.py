# SPDX-License-Identifier: BSD-3-Clause
"""What a plot of named series shows, as data: its kind, its lines, its axes. Nothing is drawn here.

The kinds are those of Flent, by the same names; docs/tests.md says what each shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PlotKind(Enum):
    """How series become a picture."""

    TIMESERIES = "timeseries"
    TIMESERIES_COMBINE = "timeseries_combine"
    LINE_COMBINE = "line_combine"
    CDF = "cdf"
    CDF_COMBINE = "cdf_combine"
    BOX = "box"
    BOX_COMBINE = "box_combine"
    BAR = "bar"
    BAR_COMBINE = "bar_combine"
    ELLIPSIS = "ellipsis"
    ELLIPSIS_COMBINE = "ellipsis_combine"
    QQ = "qq"
    META = "meta"
    SUBPLOT_COMBINE = "subplot_combine"


@dataclass(frozen=True)
class PlotLine:
    """The series that one entry of a plot draws.

    series: a name, or a pattern as `linklab.data.names` matches it: "*" stops at ":", "**" does not.
    label: in the legend; "" for the name.
    key: a further number of the samples, such as "tcp_cwnd": the series NAME::KEY.
    second_axis: read at the right.
    smoothing: samples of the running mean; 0 for none.
    reduce: what gives one number of a series where the kind needs one ("mean", "median", "mean_span", …); "" for the
        plot's.
    bold: drawn black and thick, to be told from the others at once: an average among its parts.
    """

    series: str
    label: str = ""
    key: str = ""
    second_axis: bool = False
    smoothing: int = 0
    reduce: str = ""
    bold: bool = False


@dataclass(frozen=True)
class PlotSpec:
    """A plot by name.

    lines: what it draws; empty for `META`.
    parts: names of the plots that a `META` stacks, or the one that a `SUBPLOT_COMBINE` draws of each file.
    axis_labels: of the left and the right axis; "" for words made of the unit.
    scaling: percentiles of the values that an axis shows, such as (5, 95); None for all.
    cutoff_s: seconds left out at the beginning and at the end; None for the test's own.
    group_by: how series of several files are grouped, as Flent calls it ("groups", "series", "batch", …); "" for none.
    reduce: what gives one number of a series.
    stacked: lines add up.
    side_by_side: parts stand beside each other, not below.
    legend_title: above the legend; "" for none.
    """

    name: str
    description: str
    kind: PlotKind
    lines: tuple[PlotLine, ...] = ()
    parts: tuple[str, ...] = ()
    axis_labels: tuple[str, str] = ("", "")
    scaling: tuple[float, float] | None = None
    cutoff_s: tuple[float, float] | None = None
    group_by: str = ""
    reduce: str = "mean"
    stacked: bool = False
    side_by_side: bool = False
    legend_title: str = ""
