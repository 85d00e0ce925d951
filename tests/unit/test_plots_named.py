# SPDX-License-Identifier: BSD-3-Clause
"""Named plots of data sets: what the artists of a figure hold is what the series hold."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from linklab.data import Dataset
from linklab.errors import DataError, InputError
from linklab.measure import make_series
from linklab.plots.named import Loaded, Options, default_plot, draw, save, shown_of, specs_of
from linklab.plots.named.lines import entries_of, file_labels
from linklab.plots.named.thin import thinned
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import to_json

TIMES = [0.0, 1.0, 2.0, 3.0]
UP = PlotSpec(
    "up", "Upload", PlotKind.TIMESERIES, (PlotLine("TCP upload::*", "Flow"), PlotLine("Ping", "Ping", second_axis=True))
)


def loaded(name: str = "a.flent.gz", values: Mapping[str, Sequence[float]] | None = None, **metadata: Any) -> Loaded:
    """A data set of series at `TIMES`; pings are in ms, the others in Mbits/s."""
    found = {"TCP upload::1": [1.0, 2, 3, 4], "TCP upload::2": [2.0, 2, 2, 2], "Ping": [50.0, 60, 70, 80]}
    series = {
        key: make_series(key, "ms" if key.startswith("Ping") else "Mbits/s", TIMES[: len(value)], value)
        for key, value in (values or found).items()
    }
    flent = metadata.pop("flent", {})
    return Loaded(name, Dataset(metadata, {}, series, (), {"TOTAL_LENGTH": 3} | flent))


def drawn(spec: PlotSpec, *data: Loaded, specs: Sequence[PlotSpec] | None = None, **options: Any) -> Figure:
    """The figure of a plot."""
    figure = Figure(figsize=(6.4, 4.2), dpi=100)
    draw(figure, spec, data, Options(**options), specs)
    return figure


def lines_of(axes: Any) -> dict[str, list[float]]:
    """The values of the lines that show series, by the label of the series and the file's number."""
    named = {}
    for line in axes.get_lines():
        shown = shown_of(line)
        if shown is not None:
            named[f"{shown.line.of.label}/{shown.line.file}"] = line.get_ydata().tolist()
    return named


def legend_of(axes: Any) -> list[str]:
    """The words of the legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_two_axes() -> None:
    """A line is drawn as it is, on the axis that the plot says, and the legend says which is read at the right."""
    figure = drawn(UP, loaded())
    left, right = figure.axes
    assert lines_of(left) == {"Flow 1/0": [1, 2, 3, 4], "Flow 2/0": [2, 2, 2, 2]}
    assert lines_of(right) == {"Ping/0": [50, 60, 70, 80]}
    assert legend_of(left) == ["Flow 1", "Flow 2", "Ping (right)"]
    assert (left.get_ylabel(), right.get_ylabel()) == ("Throughput (Mbit/s)", "Latency (ms)")
    assert left.get_xlim() == (0, 3) and left.get_ylim() == pytest.approx((0, 4.16))


def test_second_axis_alone_is_the_first() -> None:
    """Where nothing is read at the left, the axis of the right stands there."""
    (axes,) = drawn(UP, loaded(values={"Ping": [50.0, 60]})).axes
    assert lines_of(axes) == {"Ping/0": [50, 60]} and axes.get_ylabel() == "Latency (ms)"


def test_gap_stays_a_gap() -> None:
    """A value that was not measured is not drawn as one."""
    (axes,) = drawn(UP, loaded(values={"Ping": [50.0, float("nan"), 70]})).axes
    assert np.isnan(lines_of(axes)["Ping/0"][1]) and lines_of(axes)["Ping/0"][2] == 70


def test_several_files_are_told_apart() -> None:
    """One series of several files has their names, of which only what differs is shown, and looks of its own."""
    spec = PlotSpec("ping", "", PlotKind.TIMESERIES, (PlotLine("Ping"),))
    (axes,) = drawn(spec, loaded("x/rrul-red-01.flent.gz"), loaded("x/rrul-codel-01.flent.gz")).axes
    assert legend_of(axes) == ["red", "codel"]
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in axes.get_lines()]
    assert all(one != other for one, other in zip(*looks, strict=True))


def test_a_label_is_not_said_twice() -> None:
    """Of one series that a pattern matches, only what the pattern leaves open stands behind the label."""
    names = ["Ping (ms) ICMP", "TCP upload BE", "TCP upload BE::tcp_rtt", "qdisc_stats_r1"]
    data = loaded(values={name: [1.0, 2] for name in names})
    asked = {
        ("Ping (ms) *", ""): "Ping (ms) ICMP",
        ("Ping (ms) ICMP*", ""): "Ping (ms)",
        ("TCP up*", ""): "Ping (ms) upload BE",
        ("TCP** !*sum", "tcp_rtt"): "Ping (ms) upload BE",
        ("qdisc_stats_*", ""): "Ping (ms) qdisc_stats_r1",
    }
    for (pattern, key), label in asked.items():
        spec = PlotSpec("p", "", PlotKind.TIMESERIES, (PlotLine(pattern, "Ping (ms)", key=key),))
        assert [entry.label for entry in entries_of(spec, [data], Options())] == [label]


def test_flows_of_several_algorithms_say_which() -> None:
    """Where their names do not; nothing is said where all have the same, or files differ in it."""

    def of(name: str, *algorithms: str) -> Loaded:
        found = loaded(name)
        series = {
            key: replace(one, meta={"CONG_CONTROL": algorithm}) if key.startswith("TCP") else one
            for (key, one), algorithm in zip(found.data.series.items(), (*algorithms, ""), strict=True)
        }
        return replace(found, data=replace(found.data, series=series))

    def labels(*data: Loaded) -> list[str]:
        return [entry.label for entry in entries_of(UP, data, Options())]

    assert labels(of("a", "cubic", "bbr")) == ["Flow 1 (cubic)", "Flow 2 (bbr)", "Ping"]
    assert labels(of("a", "cubic", "cubic")) == labels(of("a", "cubic", "bbr"), of("b", "bbr", "cubic"))
    bbr = replace(UP, lines=(replace(UP.lines[0], label="BBR flow"),))
    assert [entry.label for entry in entries_of(bbr, [of("a", "cubic", "bbr")], Options())] == [
        "BBR flow 1 (cubic)",
        "BBR flow 2",
    ]


def test_cutoff_smoothing_normalise() -> None:
    """Ends are cut off before the running mean; a factor divides."""
    spec = PlotSpec("ping", "", PlotKind.TIMESERIES, (PlotLine("Ping", smoothing=3),))
    assert lines_of(drawn(spec, loaded()).axes[0]) == {"Ping/0": [55, 60, 70, 75]}
    assert lines_of(drawn(spec, loaded(), cutoff_s=(1, 0)).axes[0]) == {"Ping/0": [65, 70, 75]}
    assert lines_of(drawn(spec, loaded(), cutoff_s=(1, 1), smoothing=0).axes[0]) == {"Ping/0": [60, 70]}
    (axes,) = drawn(spec, loaded(), smoothing=0, normalise=(10,)).axes
    assert lines_of(axes) == {"Ping/0": [5, 6, 7, 8]} and axes.get_ylabel() == "Normalised values"


def test_concatenate_and_absolute_time() -> None:
    """Files follow each other after the length of their tests; absolute times count from when a test began."""
    spec = PlotSpec("ping", "", PlotKind.TIMESERIES, (PlotLine("Ping"),))
    (axes,) = drawn(spec, loaded(), loaded("b"), concatenate=True).axes
    (line,) = axes.get_lines()
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 3, 3, 4, 5, 6] and np.isnan(line.get_ydata()[4])
    at = loaded(flent={"T0": "1970-01-01T01:00:00.000000Z"})
    (axes,) = drawn(spec, at, absolute_time=True).axes
    assert axes.get_lines()[0].get_xdata().tolist() == [3600, 3601, 3602, 3603]
    assert axes.xaxis.get_major_formatter()(3601.5) == "01:00:01.500"
    with pytest.raises(InputError, match=r"a.flent.gz: it does not say when it began"):
        drawn(spec, loaded(), absolute_time=True)


def test_cdf() -> None:
    """The distribution is a step at each value, without bins, from a share of 0 to 1."""
    spec = PlotSpec("cdf", "", PlotKind.CDF, (PlotLine("Ping"),))
    (axes,) = drawn(spec, loaded(values={"Ping": [80.0, float("nan"), 50, 60]})).axes
    (line,) = axes.get_lines()
    assert line.get_drawstyle() == "steps-post"
    assert line.get_xdata().tolist() == [50, 50, 60, 80]
    assert line.get_ydata() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert axes.get_xlabel() == "Latency (ms)"


def test_box() -> None:
    """A box has the quartiles, whiskers of at most 1.5 interquartile ranges, and outliers beyond."""
    spec = PlotSpec("box", "", PlotKind.BOX, (PlotLine("Ping"),))
    data = Loaded("a", Dataset({}, {}, {"Ping": make_series("Ping", "ms", range(6), [1, 2, 3, 4, 5, 100])}))
    figure = drawn(spec, data)
    (axes,) = figure.axes
    box = next(patch for patch in axes.patches if shown_of(patch))
    assert (box.get_y(), box.get_height()) == (2.25, 2.5)
    median, whiskers, outliers = (np.asarray(line.get_ydata()) for line in axes.get_lines())
    assert median.tolist() == [3.5, 3.5] and outliers.tolist() == [100]
    assert whiskers[~np.isnan(whiskers)].tolist() == [2.25, 1, 1, 1, 4.75, 5, 5, 5]
    assert "whiskers: at most 1.5 interquartile ranges" in figure._supxlabel.get_text()


def test_bars() -> None:
    """A bar is as high as the mean, its line one standard deviation; files stand side by side in a cluster."""
    spec = PlotSpec("bar", "", PlotKind.BAR, (PlotLine("TCP upload::1", "Up"), PlotLine("Ping", second_axis=True)))
    left, right = drawn(spec, loaded("x-1"), loaded("y-2", {"TCP upload::1": [2.0, 4]})).axes
    assert [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in left.patches] == [(1, 2.5), (2, 3)]
    assert [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in right.patches] == [(4, 65)]
    ends = [(np.nanmin(line.get_ydata()), np.nanmax(line.get_ydata())) for line in left.get_lines()]
    assert ends == [pytest.approx((2.5 - 1.2909944, 2.5 + 1.2909944)), pytest.approx((3 - 2**0.5, 3 + 2**0.5))]
    assert [text.get_text() for text in left.get_xticklabels()] == ["Up", "Ping (right)"]
    assert [text.get_text() for text in left.texts] == ["no data"]
    assert legend_of(left) == ["x-1", "y-2"]
    left, right = drawn(spec, loaded("x-1"), loaded("y-2", {"TCP upload::1": [2.0, 4]}), skip_missing=True).axes
    assert not left.texts


def test_split_groups() -> None:
    """Data sets are divided into the named groups, each a cluster; what does not divide is refused."""
    spec = PlotSpec("bar", "", PlotKind.BAR, (PlotLine("Ping"),))
    files = [loaded(name, {"Ping": [value, value]}) for name, value in zip("abcd", (1.0, 2, 3, 4), strict=True)]
    (axes,) = drawn(spec, *files, split=("wired", "radio")).axes
    assert [(round(bar.get_x() + 0.36), bar.get_height()) for bar in axes.patches] == [(1, 1), (2, 2), (4, 3), (5, 4)]
    with pytest.raises(InputError, match="split: 3 data sets cannot be divided evenly into 2 groups"):
        drawn(spec, *files[:3], split=("wired", "radio"))


def test_ellipse() -> None:
    """Ellipses of one and two deviations of the covariance around the mean, a dot at the median, said in the figure."""
    spec = PlotSpec("e", "", PlotKind.ELLIPSIS, (PlotLine("Ping"), PlotLine("TCP upload::1", "Up")))
    data = loaded(values={"Ping": [10.0, 10, 30, 30], "TCP upload::1": [1.0, 3, 1, 3]})
    figure = drawn(spec, data)
    (axes,) = figure.axes
    one, two = axes.patches
    spread_x, spread_y = 20 / 3**0.5, 2 / 3**0.5  # deviations with n - 1
    assert (one.center, two.center) == ((20, 2), (20, 2))
    assert (one.width, one.height) == pytest.approx((2 * spread_x, 2 * spread_y))
    assert (two.width, two.height) == pytest.approx((4 * spread_x, 4 * spread_y))
    assert abs(one.angle) % 180 == pytest.approx(0)
    (dot,) = axes.get_lines()
    assert (dot.get_xdata().tolist(), dot.get_ydata().tolist()) == ([20], [2])
    assert "Ellipse: 1 and 2 standard deviations around the mean; dot: median." in figure._supxlabel.get_text()
    assert not axes.xaxis_inverted() and not axes.yaxis_inverted()
    (axes,) = drawn(spec, data, invert=True).axes
    assert axes.xaxis_inverted() and not axes.yaxis_inverted()


def test_qq() -> None:
    """Quantiles of both files, as many as the smaller has values, beside the line on which they are equal."""
    spec = PlotSpec("q", "", PlotKind.QQ, (PlotLine("Ping"),))
    (axes,) = drawn(spec, loaded("a", {"Ping": [4.0, 2, 3, 1]}), loaded("b", {"Ping": [30.0, 10, 20]})).axes
    points, same = axes.get_lines()
    assert points.get_xdata().tolist() == [1, 2.5, 4] and points.get_ydata().tolist() == [10, 20, 30]
    assert list(same.get_xdata()) == list(same.get_ydata()) == [1, 30]
    with pytest.raises(InputError, match="q: a Q-Q plot compares data sets; give two that have Ping"):
        drawn(spec, loaded())


def test_panels_share_the_time() -> None:
    """Parts stand one above the other on one time axis, each with its own legend and title."""
    down = PlotSpec("ping", "Round trips", PlotKind.TIMESERIES, (PlotLine("Ping"),))
    both = PlotSpec("all", "All", PlotKind.META, parts=("up", "ping"))
    spec = PlotSpec("up", "Upload", PlotKind.TIMESERIES, (PlotLine("TCP upload::1"),))
    data = loaded(values={"TCP upload::1": [1.0, 2, 3, 4], "Ping": [50.0, 60]})
    figure = drawn(both, data, specs=[spec, down, both])
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim() == (0, 3)
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("Upload", "Round trips")
    assert (first.get_xlabel(), second.get_xlabel()) == ("", "Time (s)")
    for parts, message in (
        (("nowhere",), "all: its part nowhere is not among the plots"),
        (("all",), "all: its part all is made of parts itself"),
        ((), "all: it is made of other plots, and names none"),
    ):
        with pytest.raises(InputError, match=message):
            drawn(PlotSpec("all", "", PlotKind.META, parts=parts), data, specs=[spec, both])


def test_subplots_have_the_same_axes() -> None:
    """Each file in a panel of its own, all at the same scale."""
    spec = PlotSpec("ping", "", PlotKind.TIMESERIES, (PlotLine("Ping"),))
    figure = drawn(spec, loaded("a"), loaded("b", {"Ping": [1.0, 200]}), subplots=True)
    assert [lines_of(axes) for axes in figure.axes] == [{"Ping/0": [50, 60, 70, 80]}, {"Ping/1": [1, 200]}]
    assert {axes.get_ylim() for axes in figure.axes} == {(0, 208)}


def test_hidden_file_counts_for_the_limits() -> None:
    """A data set that is not shown widens the axes, so that figures of several runs have one scale."""
    spec = PlotSpec("ping", "", PlotKind.TIMESERIES, (PlotLine("Ping"),))
    other = Loaded("b", loaded(values={"Ping": [1000.0, 1000]}).data, shown=False)
    (axes,) = drawn(spec, loaded(), other).axes
    assert lines_of(axes) == {"Ping/0": [50, 60, 70, 80]} and axes.get_ylim() == (0, 1040)


def test_figure_without_data_says_so() -> None:
    """A plot of series that are not there is a sentence, not an empty frame."""
    spec = PlotSpec("p", "", PlotKind.TIMESERIES, (PlotLine("TCP down*"), PlotLine("Ping", key="owd_up")))
    (axes,) = drawn(spec, loaded("run-7.flent.gz")).axes
    assert axes.texts[0].get_text() == "run-7 has no series TCP down*, Ping::owd_up."
    spec = PlotSpec("p", "", PlotKind.CDF, (PlotLine("Ping"),))
    (axes,) = drawn(spec, loaded(), cutoff_s=(2, 2)).axes
    assert axes.texts[0].get_text() == "a has no values of Ping in the time that is drawn."
    nan = float("nan")
    (axes,) = drawn(spec, loaded("a", {"Ping": [nan, nan]}), loaded("b", {"x": [1.0]})).axes
    assert axes.texts[0].get_text() == "None of the data sets has values of Ping in the time that is drawn."


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_same_bytes(tmp_path: Path, suffix: str) -> None:
    """The same data give the same bytes, whatever was drawn in between."""
    paths = [tmp_path / f"{number}{suffix}" for number in range(2)]
    for number, path in enumerate(paths):
        save(UP, [loaded()], Options(), path)
        if not number:
            drawn(UP, loaded("b"), style="grey")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size > 5000


def test_wrong_suffix_is_told_before_anything_is_drawn(tmp_path: Path) -> None:
    """A format that cannot be written is refused."""
    with pytest.raises(InputError, match=r"x.gif: a figure can be written as .pdf, .png, .svg"):
        save(UP, [], Options(), tmp_path / "x.gif")


def test_plots_come_from_the_file() -> None:
    """A file opens with its plots and its default on a machine that lacks the test; a wrong one gets a sentence."""
    data = loaded(plots=[to_json(UP), to_json(PlotSpec("b", "B", PlotKind.CDF))], default_plot="b")
    specs = specs_of([data])
    assert specs[0] == UP and default_plot([data], specs) == specs[1]
    with pytest.raises(DataError, match=r"a.flent.gz: plots: number 1: name is missing"):
        specs_of([loaded(plots=[{}])])
    names = [spec.name for spec in specs_of([loaded()])]
    assert names == ["mbits_s", "mbits_s_cdf", "mbits_s_box", "ms", "ms_cdf", "ms_box"]


@pytest.mark.parametrize("text", ["$", "$x_{$", "_a\nb\x1b[31m\u202e", "a" * 5000])
def test_strange_words_are_drawn(tmp_path: Path, text: str) -> None:
    """Whatever a stranger's file calls its series, units and titles, a figure comes out."""
    series = {text: make_series(text, text[:20], [0, 1], [1.0, 2])}
    data = [Loaded(f"{text}{end}", Dataset({}, {}, series, (), {"TITLE": text + end, "NAME": text})) for end in "ab"]
    for kind in (PlotKind.TIMESERIES, PlotKind.QQ):
        spec = PlotSpec(
            text, text, kind, (PlotLine(text, text), PlotLine("*", text)), (), (text, text), legend_title=text
        )
        if kind is PlotKind.QQ:
            spec = PlotSpec(text, text, kind, (PlotLine(text),))
        save(spec, data, Options(note=text), tmp_path / "x.svg")


@pytest.mark.parametrize("value", [0.0, 1e-300, -1e300, 1e300])
def test_extreme_values_are_drawn(tmp_path: Path, value: float) -> None:
    """Numbers at the ends of what a file can hold make a figure, too."""
    data = loaded(values={"Ping": [value, value], "TCP upload::1": [1.0, value]})
    for kind, log in ((PlotKind.TIMESERIES, 10), (PlotKind.BOX, 10), (PlotKind.BAR, 0), (PlotKind.CDF, 10)):
        save(PlotSpec("p", "", kind, UP.lines), [data], Options(log_y=log, log_x=log), tmp_path / "x.png")


def test_long_lines_keep_their_extremes() -> None:
    """A line of more points than pixels keeps the least and greatest value of each column, and its gaps."""
    time_s = np.linspace(0, 10, 100_000)
    value = np.sin(time_s)
    value[[12_345, 54_321]] = 7, -7
    value[70_000:80_000] = np.nan
    times, values = thinned(time_s, value, 500)
    assert times.size == 1000 and values[0] == 0 and (np.diff(times) >= 0).all()
    assert (np.nanmin(values), np.nanmax(values)) == (-7, 7)
    assert np.isnan(values[(times > 7.1) & (times < 7.9)]).all() and np.isnan(values).sum() < 110
    assert thinned(time_s, value, 50_000)[0] is time_s
    _, part = thinned(time_s, value, 500, (1.0, 1.4))
    assert np.nanmax(part) == 7 and part.size == 1000


def test_zoom_shows_more_of_a_long_line() -> None:
    """Zooming in draws more points of the part that is seen, also of a line on the other axis."""
    time_s = np.arange(100_000) / 1000
    series = {name: make_series(name, "ms", time_s, np.sin(time_s)) for name in ("Ping", "Other")}
    lines = (PlotLine("Ping"), PlotLine("Other", second_axis=True))
    figure = drawn(PlotSpec("p", "", PlotKind.TIMESERIES, lines), Loaded("a", Dataset({}, {}, series)))
    left, right = figure.axes
    assert all(len(axes.get_lines()[0].get_xdata()) < 2000 for axes in (left, right))
    left.set_xlim(50, 50.1)
    for axes in (left, right):
        seen = axes.get_lines()[0].get_xdata()
        assert ((seen > 50) & (seen < 50.1)).sum() == 99


def test_distribution_of_very_many_values() -> None:
    """Counting at levels instead of ordering moves no step by more than a level."""
    values = np.random.default_rng(1).normal(50, 5, 30_000)
    data = Loaded("a", Dataset({}, {}, {"Ping": make_series("Ping", "ms", np.arange(30_000.0), values)}))
    (line,) = drawn(PlotSpec("p", "", PlotKind.CDF, (PlotLine("Ping"),)), data).axes[0].get_lines()
    x, share = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    level = np.ptp(values) / 65_535
    ordered = np.sort(values)
    below, above = (np.searchsorted(ordered, x[1:] + step, "right") / values.size for step in (-level, level))
    assert (below <= share[1:]).all() and (share[1:] <= above + 1e-12).all()
    assert (share[0], share[-1]) == (0, 1) and x.size <= 4001


def test_two_hundred_long_series_are_drawn_quickly() -> None:
    """200 series of 100,000 points take well under a second of processor time, and their legend is not 200 lines."""
    time_s = np.linspace(0, 70, 100_000)
    value = np.random.default_rng(1).normal(50, 5, time_s.size)
    series = {f"Ping::{number}": make_series(f"Ping::{number}", "ms", time_s, value) for number in range(200)}
    data = Loaded("a", Dataset({}, {}, series))
    spec = PlotSpec("p", "", PlotKind.TIMESERIES, (PlotLine("Ping::*"),))
    drawn(spec, loaded())
    start = time.process_time()
    figure = drawn(spec, data)
    taken_s = time.process_time() - start
    points = sum(len(line.get_xdata()) for line in figure.axes[0].get_lines())
    assert points <= 61_000 and taken_s < 2.0  # 0.2 to 0.4 s of processor time on a busy machine
    assert legend_of(figure.axes[0])[-1] == "and 179 more"


def test_legend_of_many_lines_names_colours_and_dashes() -> None:
    """Where series and files make many lines, each series has a colour and each file a dash, and the legend says so."""
    spec = PlotSpec(
        "p", "", PlotKind.TIMESERIES, (PlotLine("TCP upload::*", "Flow"), PlotLine("Ping", second_axis=True))
    )
    left, right = drawn(spec, loaded("x-red"), loaded("x-codel")).axes
    assert legend_of(left) == ["Flow 1", "Flow 2", "Ping (right)", "red", "codel"]
    entries = left.get_legend().get_lines()
    lines = [*left.get_lines(), *right.get_lines()]
    assert [entry.get_color() for entry in entries[:3]] == [line.get_color() for line in lines[::2]]
    assert [entry.get_linestyle() for entry in entries[3:]] == [line.get_linestyle() for line in lines[:2]]
    left, _ = drawn(spec, loaded("x-red"), loaded("x-codel"), colour_by="file").axes
    assert [entry.get_color() for entry in left.get_legend().get_lines()[:2]] == ["#0072B2", "#D55E00"]
    assert legend_of(left) == ["red", "codel", "Flow 1", "Flow 2", "Ping (right)"]


def test_legend_is_no_longer_than_its_panel() -> None:
    """More entries than there is room for are counted instead of shown, so that the data keep their room."""
    names = [f"flow {number}" for number in range(60)]
    data = loaded(values={name: [1.0, 2] for name in names})
    spec = PlotSpec("p", "", PlotKind.TIMESERIES, tuple(PlotLine(name) for name in names))
    words = legend_of(drawn(spec, data).axes[0])
    assert words[-1] == f"and {60 - len(words) + 1} more" and len(words) <= 24
    words = legend_of(drawn(spec, data, legend_reverse=True, legend_columns=3, legend="above").axes[0])
    assert words[0] == "flow 38" and words[-1] == "and 21 more"
    assert drawn(spec, data, legend="none").axes[0].get_legend() is None


def test_words_of_a_narrow_figure_do_not_lie_on_each_other() -> None:
    """Titles, legends, axes and notes each have a place of their own, of many runs in low panels as well."""
    names = [f"TCP upload::{number}" for number in (1, 2, 3, 4)]
    parts = [
        PlotSpec(f"p{at}", f"Part {at}", PlotKind.TIMESERIES, tuple(map(PlotLine, names)), legend_title="Part")
        for at in (1, 2, 3)
    ]
    whole = PlotSpec("all", "Several panels", PlotKind.META, parts=("p1", "p2", "p3"))
    bars = PlotSpec("bars", "Bars of several runs", PlotKind.BAR_COMBINE, tuple(map(PlotLine, names)))
    runs = [
        loaded(f"tcp_nup-{letter * 20}-{at}", {name: [at, 2, 3, 4] for name in names})
        for at, letter in enumerate("abcdef", 1)
    ]
    for spec, size_in in ((whole, (4.0, 4.4)), (bars, (4.8, 3.0))):
        figure = Figure(figsize=size_in, dpi=100)
        canvas = FigureCanvasAgg(figure)
        draw(figure, spec, runs, Options(), [*parts, whole, bars])
        canvas.draw()
        renderer = canvas.get_renderer()
        extents = [figure._suptitle.get_window_extent(renderer), figure._supxlabel.get_window_extent(renderer)]
        for axes in figure.axes:
            extents += [axes.get_tightbbox(renderer)]
        for at, one in enumerate(extents):
            for other in extents[at + 1 :]:
                across, up = (
                    min(one.x1, other.x1) - max(one.x0, other.x0),
                    min(one.y1, other.y1) - max(one.y0, other.y0),
                )
                assert across < 3 or up < 3, (spec.name, one, other)


def test_ellipse_without_its_second_series() -> None:
    """What an ellipse lacks is said in the figure."""
    spec = PlotSpec("e", "", PlotKind.ELLIPSIS, (PlotLine("Ping"), PlotLine("TCP totals")))
    (axes,) = drawn(spec, loaded()).axes
    assert axes.texts[0].get_text() == "An ellipse needs two series, and there is no series TCP totals."
    values = {"Ping": make_series("Ping", "ms", [0, 1], [1, 2]), "Up": make_series("Up", "", [50, 51], [1, 2])}
    spec = PlotSpec("e", "", PlotKind.ELLIPSIS, (PlotLine("Ping"), PlotLine("Up")))
    (axes,) = drawn(spec, Loaded("a", Dataset({}, {}, values))).axes
    assert axes.texts[0].get_text() == "The two series have no time in common."


@pytest.mark.parametrize("kind", [PlotKind.TIMESERIES, PlotKind.CDF, PlotKind.ELLIPSIS])
@pytest.mark.parametrize(("time_s", "value"), [([0.0, 1e300], [-5.0, -3.0]), ([-1e300, 0.0], [0.0, 0.0])])
def test_logarithmic_axes_of_what_has_no_logarithm(kind: PlotKind, time_s: list[float], value: list[float]) -> None:
    """Axes of values and times that are not above 0, or without end, are drawn all the same."""
    series = {name: make_series(name, "ms", time_s, value) for name in ("Ping", "Other")}
    spec = PlotSpec("p", "", kind, (PlotLine("Ping"), PlotLine("Other")))
    figure = drawn(spec, Loaded("a", Dataset({}, {}, series)), log_x=10, log_y=2)
    FigureCanvasAgg(figure).draw()
    for low, high in (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()):
        assert low < high


def test_limits_of_a_figure(tmp_path: Path) -> None:
    """More panels or pixels than can be drawn are refused before they are."""
    files = [loaded(str(number)) for number in range(31)]
    with pytest.raises(InputError, match="up: a figure has at most 30 panels, not 31"):
        drawn(UP, *files, subplots=True)
    parts = tuple(str(number) for number in range(30))
    specs = [PlotSpec(name, "", PlotKind.TIMESERIES, (PlotLine("Ping"),)) for name in parts]
    whole = PlotSpec("all", "", PlotKind.META, parts=parts)
    with pytest.raises(InputError, match=r"x.png: at 400 dpi it has more than 20000 pixels; give less with dpi"):
        save(whole, [loaded()], Options(dpi=400), tmp_path / "x.png", specs)
    greedy = PlotSpec("p", "", PlotKind.TIMESERIES, tuple(PlotLine("*") for _ in range(1000)))
    data = loaded(values={f"flow {number}": [1.0] for number in range(500)})
    assert len(entries_of(greedy, [data], Options())) == 2000


def test_title_and_notes() -> None:
    """A figure has the words of plot and file, broken where it ends; one for a paper has those asked for alone."""
    spec = PlotSpec("p", "word " * 20, PlotKind.TIMESERIES, (PlotLine("Ping"),))
    data = loaded("run.flent.gz", test="rrul", path="10mbit 50ms", flent={"LOCAL_HOST": "h1", "HOST": "h2"})
    figure = drawn(spec, data)
    *lines, last = figure._suptitle.get_text().split("\n")
    assert len(lines) == 2 and last == "run" and max(map(len, lines)) <= 83
    assert figure._supxlabel.get_text() == "rrul · 10mbit 50ms · h1 → h2 · 3 s"
    assert drawn(spec, data, style="print")._suptitle is None
    assert drawn(spec, data, style="print", title="Mine")._suptitle.get_text() == "Mine"
    assert drawn(spec, data, annotation=False)._supxlabel is None
    assert drawn(spec, data, annotation=False, note="Look")._supxlabel.get_text() == "Look"


def test_a_file_without_a_title_is_the_only_one_called_by_its_name() -> None:
    """Regression: one of several without a title took the titles from all."""
    titled = [loaded(f"t-{name}.flent.gz", flent={"TITLE": title}) for name, title in (("a", "CUBIC"), ("b", "Reno"))]
    assert file_labels([*titled, loaded("c.flent.gz")], Options()) == ["CUBIC", "Reno", "c"]
    assert file_labels([titled[0], titled[0], loaded("c.flent.gz")], Options()) == ["t-a", "t-a", "c"]


def test_samples_of_dashed_lines_are_longer() -> None:
    """Regression: dashes of files that share their colours could not be told apart in the legend."""
    files = [loaded(f"{name}.flent.gz") for name in "ab"]
    lengths = [drawn(UP, *some).axes[0].get_legend().handlelength for some in (files[:1], files)]
    assert lengths[1] == 4.2
