# SPDX-License-Identifier: BSD-3-Clause
"""Plots that combine data sets: which belong together, and what is drawn of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from linklab.analysis.statistics import interval
from linklab.data import Dataset
from linklab.errors import InputError
from linklab.measure import make_series
from linklab.plots.named import Loaded, Options, draw
from linklab.plots.named.groups import grouped, mode_of
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec

NAMES = ["rrul-a-codel-01", "rrul-a-codel-02", "rrul-a-pie-01"]


def loaded(name: str, ping: Sequence[float] = (50, 60), up: Sequence[float] = (1, 3), **flent: Any) -> Loaded:
    """A data set of two series."""
    series = {
        "Ping": make_series("Ping", "ms", np.arange(len(ping), dtype=float), list(ping)),
        "TCP upload": make_series("TCP upload", "Mbits/s", np.arange(len(up), dtype=float), list(up)),
    }
    ours = flent.pop("ours", {})
    return Loaded(f"/x/{name}.flent.gz", Dataset(ours, {}, series, (), {"STEP_SIZE": 1.0, "NAME": "rrul"} | flent))


def groups(names: Sequence[str], mode: str = "groups", filters: tuple[str, ...] = ()) -> dict[str, int]:
    """How many of these files each group has."""
    found = grouped([loaded(name) for name in names], mode_of(mode), Options(filters=filters))
    return {name: len(files) for name, files in found.items()}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (NAMES, {"codel": 2, "pie": 1}),
        (["rrul-codel-01", "rrul-codel-02"], {"rrul-codel": 2}),
        (["rrul-codel-01"], {"rrul-codel": 1}),
        (["t-codel-10-01", "t-codel-10-02", "t-codel-20-01"], {"10": 2, "20": 1}),
        (["t-codel-10ms-1", "t-fq-10ms-1", "t-fq-10ms-2"], {"codel-10ms": 1, "fq-10ms": 2}),
        (["t-bbr_seed1", "t-bbr_seed2", "t-cubic_seed1"], {"bbr": 2, "cubic": 1}),
        (["rrul-2026-01-31T142530.123456.codel", "rrul-2026-01-31T142640.100001.pie"], {"codel": 1, "pie": 1}),
        (["same", "same"], {"same": 2}),
        (["01", "02"], {"01": 1, "02": 1}),
    ],
)
def test_groups_by_name(names: Sequence[str], found: dict[str, int]) -> None:
    """A group is the name without what all begin with and without the number of the repetition."""
    assert groups(names) == found


def test_filters_join_groups() -> None:
    """What a person filters from names no longer keeps files apart."""
    assert groups(["t-codel-10ms-1", "t-codel-20ms-1", "t-pie-10ms-1"], filters=(r"-\d+ms",)) == {"codel": 2, "pie": 1}


def test_groups_by_batch() -> None:
    """Runs of one batch belong together, under its title; two of one title stay apart."""
    files = [
        loaded(name, BATCH_UUID=uuid, BATCH_TITLE=title)
        for name, uuid, title in (("a", "1", "Wired"), ("b", "1", "Wired"), ("c", "2", "Radio"), ("d", "3", "Radio"))
    ]
    found = grouped([*files, loaded("e")], mode_of("batch"), Options())
    assert {name: len(each) for name, each in found.items()} == {"Wired": 2, "Radio 2": 1, "Radio 3": 1, "no batch": 1}


def test_groups_by_parameter() -> None:
    """A parameter groups, wherever it stands; numbers are in their order."""
    files = [loaded("a", TEST_PARAMETERS={"q": 20}), loaded("b", ours={"q": 5.0}), loaded("c", q=20)]
    assert list(grouped(files, mode_of("meta:q"), Options())) == ["5", "20"]
    files = [loaded("a", ours={"path": {"rate": "10mbit"}}), loaded("b")]
    assert list(grouped(files, mode_of("meta:path.rate"), Options())) == ["10mbit", "unknown"]
    with pytest.raises(InputError, match='group_by: no data set has "nothing" in its metadata or parameters'):
        grouped(files, mode_of("meta:nothing"), Options())


@pytest.mark.parametrize("mode", ["", "group", "series_concat", "groups_both", "meta", "meta:", "batch:x", "both_x"])
def test_unknown_modes(mode: str) -> None:
    """A mode that does not exist is refused, with all that do."""
    with pytest.raises(InputError, match=r"group_by: there is no mode .*; I know groups, groups_points"):
        mode_of(mode)


def drawn(
    kind: PlotKind, *data: Loaded, lines: Sequence[PlotLine] = (PlotLine("Ping"),), by: str = "", **options: Any
) -> Figure:
    """The figure of a combining plot."""
    figure = Figure(figsize=(6.4, 4.2), dpi=100)
    draw(figure, PlotSpec("p", "", kind, tuple(lines), group_by=by), data, Options(**options))
    return figure


def words(found: Any) -> list[str]:
    """The texts of artists."""
    return [text.get_text() for text in found]


CODEL = [loaded(NAMES[0], [50, 60, 70]), loaded(NAMES[1], [60, 70, 80]), loaded(NAMES[2], [10, 10, 10])]


def test_bars_are_means_of_runs_with_their_interval() -> None:
    """The line on a bar is the 95 % interval over the runs, which the figure says; one run has none."""
    figure = drawn(PlotKind.BAR_COMBINE, *CODEL)
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [65, 10]
    half = interval([60.0, 70.0]).half
    (line,) = axes.get_lines()
    ends = np.nanmin(line.get_ydata()), np.nanmax(line.get_ydata())
    assert ends == pytest.approx((65 - half, 65 + half)) and half == pytest.approx(63.531, abs=0.001)
    assert words(axes.get_xticklabels()) == ["codel (n=2)", "pie (n=1)"]
    told = figure._supxlabel.get_text()
    assert "Values: mean of each run.\nMean; line: 95 % interval of the mean of the runs." in told
    figure = drawn(PlotKind.BAR_COMBINE, *CODEL, error="sd", print_n=False)
    (axes,) = figure.axes
    assert np.nanmax(axes.get_lines()[0].get_ydata()) == pytest.approx(65 + 50**0.5)
    assert "± 1 standard deviation of the runs" in figure._supxlabel.get_text()
    assert words(axes.get_xticklabels()) == ["codel", "pie"]


def test_each_line_has_its_own_reducer() -> None:
    """One plot combines means and induced latency, and says which is which."""
    lines = (PlotLine("TCP upload", "Up"), PlotLine("Ping", "Induced", second_axis=True, reduce="mean_span"))
    figure = drawn(PlotKind.BAR_COMBINE, *CODEL, lines=lines)
    left, right = figure.axes
    assert [bar.get_height() for bar in left.patches] == [2, 2]
    assert [bar.get_height() for bar in right.patches] == [10, 0]
    assert "Values of each run: mean (Up); mean above the least value (Induced)." in figure._supxlabel.get_text()
    left, right = drawn(PlotKind.BAR_COMBINE, *CODEL, lines=lines, reduce="max").axes
    assert [bar.get_height() for bar in right.patches] == [75, 10]


def test_cutoff_is_taken_once() -> None:
    """What is cut off is left out before the mean, and not of the means again."""
    (axes,) = drawn(PlotKind.BAR_COMBINE, *CODEL, cutoff_s=(0.5, 0)).axes
    assert [bar.get_height() for bar in axes.patches] == [70, 10]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cutoff_s": (5, 5)}, "Only from 5 s to 5 s before the end."),
        ({"between_s": (1, 0)}, "Only from 1 s to the end."),
        ({"between_s": (1, 4)}, "Only from 1 s to 4 s."),
        ({}, ""),
    ],
)
def test_which_part_of_the_runs_counts_is_said(options: dict[str, Any], said: str) -> None:
    """Regression: boxes that leave out the first and last seconds did not say so."""
    long = loaded(NAMES[0], range(20))
    told = drawn(PlotKind.BOX_COMBINE, long, long, **options)._supxlabel.get_text()
    assert said in told and ("Only" in told) == bool(said)


def test_series_and_groups_change_places() -> None:
    """By series the groups stand below and the series are told apart by their looks."""
    (axes,) = drawn(
        PlotKind.BAR_COMBINE, *CODEL, lines=(PlotLine("Ping"), PlotLine("TCP upload", "Up")), by="series"
    ).axes
    assert words(axes.get_xticklabels()) == ["codel (n=2)", "pie (n=1)"]
    assert words(axes.get_legend().get_texts()) == ["Ping", "Up"]
    assert [bar.get_height() for bar in axes.patches] == [65, 2, 10, 2]


def test_both_parts_of_the_name() -> None:
    """By both, a name is a series and a group; a plot of several series, or a name of one part, is refused."""
    files = [loaded(f"t-{name}-1", [value, value]) for name, value in (("bbr-pie", 1), ("bbr-fq", 2), ("reno-pie", 3))]
    (axes,) = drawn(PlotKind.BAR_COMBINE, *files, by="both").axes
    assert words(axes.get_xticklabels()) == ["bbr", "reno"] and words(axes.get_legend().get_texts()) == ["pie", "fq"]
    assert [bar.get_height() for bar in axes.patches] == [1, 2, 3]
    with pytest.raises(InputError, match="group_by: both needs a plot of one series, and this one has 2"):
        drawn(PlotKind.BAR_COMBINE, *files, by="both", lines=(PlotLine("Ping"), PlotLine("TCP upload")))
    with pytest.raises(InputError, match='both needs names of two parts, as in "A-B", and there is "codel"'):
        drawn(PlotKind.BAR_COMBINE, *CODEL, by="both")


def test_points_at_each_time() -> None:
    """Per point, a line is the mean over the runs at each time; a run that is shorter no longer counts."""
    (axes,) = drawn(PlotKind.TIMESERIES_COMBINE, loaded(NAMES[0], [1, 2]), loaded(NAMES[1], [3, 6, 9])).axes
    (line,) = axes.get_lines()
    assert line.get_xdata().tolist() == [0, 1, 2] and line.get_ydata().tolist() == [2, 4, 9]
    (axes,) = drawn(PlotKind.TIMESERIES_COMBINE, *CODEL, reduce="span").axes
    assert axes.get_lines()[0].get_ydata().tolist() == [10, 10, 10]
    with pytest.raises(InputError, match="p: mos cannot combine values at a time; use mean, median"):
        drawn(PlotKind.TIMESERIES_COMBINE, *CODEL, reduce="mos")


def test_samples_together() -> None:
    """Concatenated, the distribution is of all samples of a group; by groups it is of one number of each run."""
    (axes,) = drawn(PlotKind.CDF_COMBINE, *CODEL).axes
    assert axes.get_lines()[0].get_xdata().tolist() == [50, 50, 60, 60, 70, 70, 80]
    (axes,) = drawn(PlotKind.CDF_COMBINE, *CODEL, by="groups").axes
    assert axes.get_lines()[0].get_xdata().tolist() == [60, 60, 70]
    (axes,) = drawn(PlotKind.CDF_COMBINE, *CODEL, reduce="mean_span").axes
    assert axes.get_lines()[0].get_xdata().tolist() == [0, 0, 0, 10, 10, 20, 20]


def test_boxes_and_ellipses_of_runs() -> None:
    """A box and an ellipse of a group are of one number of each of its runs."""
    figure = drawn(PlotKind.BOX_COMBINE, *CODEL)
    medians = [line.get_ydata()[0] for line in figure.axes[0].get_lines() if line.get_linewidth() == 1.4]
    assert medians == [65, 10]
    figure = drawn(PlotKind.ELLIPSIS_COMBINE, *CODEL, lines=(PlotLine("Ping"), PlotLine("TCP upload")))
    centres = [patch.center for patch in figure.axes[0].patches]
    assert centres == [(65, 2), (65, 2), (10, 2), (10, 2)]
    assert words(figure.axes[0].texts) == ["codel (n=2)", "pie (n=1)"]


@pytest.mark.parametrize("kind", [PlotKind.BOX_COMBINE, PlotKind.BAR_COMBINE, PlotKind.LINE_COMBINE])
def test_one_run_in_each_group_is_said_and_seen(kind: PlotKind) -> None:
    """A box of one value is a black stroke, and a bar has no interval though the line below it spoke of one."""
    spec = PlotSpec("p", "Ping", kind, (PlotLine("Ping"),))

    def told(names: Sequence[str]) -> tuple[str, int]:
        figure = Figure()
        draw(figure, spec, [loaded(name) for name in names], Options())
        dots = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
        return " ".join(text.get_text() for text in figure.texts), len(dots)

    words, dots = told(["t-10-01", "t-20-01"])
    assert "One run in each group, so " in words
    assert "with other seeds" in words
    assert "quartiles" not in words
    assert dots == (2 if kind is PlotKind.BOX_COMBINE else 0)
    assert "One run in each group" not in told(["t-10-01", "t-20-01", "t-20-02"])[0]


def test_line_over_a_parameter() -> None:
    """Means stand at the numbers that groups are called by, else side by side."""
    files = [
        loaded(f"t-{rate}-{run}", [run * rate, run * rate], TEST_PARAMETERS={"rate": f"{rate}mbit"})
        for rate in (50, 10)
        for run in (1, 2)
    ]
    (axes,) = drawn(PlotKind.LINE_COMBINE, *files, by="meta:rate").axes
    line = axes.get_lines()[0]
    assert line.get_xdata().tolist() == [10, 50] and line.get_ydata().tolist() == [15, 75]
    assert axes.get_xlabel() == "rate" and words(axes.get_xticklabels()) == ["10mbit (n=2)", "50mbit (n=2)"]
    (axes,) = drawn(PlotKind.LINE_COMBINE, *CODEL).axes
    assert axes.get_lines()[0].get_xdata().tolist() == [1, 2]


def test_unknown_reducer_and_mode_of_a_file() -> None:
    """A spec of a stranger's file that asks for what does not exist gets a sentence."""
    for options, message in (({"reduce": "x"}, 'there is no reducer "x"'), ({"by": "x"}, 'there is no mode "x"')):
        with pytest.raises(InputError, match=message):
            drawn(PlotKind.BAR_COMBINE, *CODEL, **options)
    (axes,) = drawn(PlotKind.BAR_COMBINE, *CODEL, lines=(PlotLine("nowhere"),)).axes
    assert words(axes.texts) == ["None of the data sets has series nowhere."]


def test_words_are_replaced_once() -> None:
    """A word that is put in the place of another may hold it."""
    (axes,) = drawn(
        PlotKind.BAR_COMBINE,
        *CODEL,
        lines=(PlotLine("Ping", "codel"), PlotLine("TCP upload")),
        replace={"codel": "fq_codel"},
    ).axes
    assert words(axes.get_xticklabels()) == ["fq_codel", "TCP upload"]
    assert words(axes.get_legend().get_texts()) == ["fq_codel (n=2)", "pie (n=1)"]


@pytest.mark.parametrize(("options", "said"), [({}, True), ({"zero": True}, False)])
def test_boxes_above_an_axis_that_begins_above_0_say_so(options: dict[str, Any], said: bool) -> None:
    """Regression: 9.0 looked much larger than 8.9."""
    near = [loaded(name, [value] * 3) for name, value in zip(NAMES, (8.9, 9.0, 9.1), strict=False)]
    figure = drawn(PlotKind.BOX_COMBINE, *near, **options)
    assert (min(figure.axes[0].get_ylim()) > 0) == said
    assert ("the axis does not begin at 0" in figure._supxlabel.get_text()) == said


def test_a_dot_near_0_is_drawn_whole() -> None:
    """Regression: half of it was cut off at the bottom; limits of a person's cut."""
    runs = [loaded(NAMES[0], [0.0] * 3), loaded(NAMES[2], [9.0] * 3)]
    for options, cut in (({}, False), ({"limits_y": ((0.0, 5.0),)}, True)):
        dots = [
            line
            for line in drawn(PlotKind.BOX_COMBINE, *runs, **options).axes[0].get_lines()
            if line.get_marker() == "o"
        ]
        assert len(dots) == 2
        assert all(dot.get_clip_on() == cut for dot in dots)
