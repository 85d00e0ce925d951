# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the viewer are those of its plot, and of `linklab test summary`."""

import csv
import io
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_number_tables import lossy, shown

from linklab.data import Dataset, save
from linklab.data.names import main_series
from linklab.data.table import smoothed
from linklab.measure import make_series
from linklab.plots.named import Loaded, Options, draw, shown_of
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.viewer import numbers

VALUES = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
NAN = math.nan


def run() -> Loaded:
    """One series, a value a second; the last moments of a test are a cut of their own."""
    series = make_series("TCP", "Mbits/s", [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], VALUES)
    return Loaded("a.flent.gz", Dataset({}, {}, {"TCP": series}, flent={"TOTAL_LENGTH": 6, "STEP_SIZE": 1.0}))


def plot(**more) -> PlotSpec:
    """Of that series over time."""
    return PlotSpec("tcp", "TCP", PlotKind.TIMESERIES, (PlotLine("TCP"),), **more)


def rows(write, spec: PlotSpec, **options) -> list[dict[str, str]]:
    """What an export holds."""
    return list(csv.DictReader(io.StringIO(write(spec, [run()], Options(**options), [spec]))))


@pytest.mark.parametrize(
    ("amount", "means"),
    [
        (0, [1, 2, NAN, 4, 5]),
        (2, [1, 1.5, NAN, 4, 4.5]),
        (3, [1.5, 1.5, NAN, 4.5, 4.5]),
        (4, [1.5, 1.5, NAN, 11 / 3, 4.5]),
        (10, [3, 3, NAN, 3, 3]),
    ],
)
def test_a_running_mean_runs_over_just_as_many_values(amount, means):
    """Centred; of an even number one more stands before the value; a gap is left out and stays one."""
    assert smoothed(np.array([1.0, 2.0, NAN, 4.0, 5.0]), amount) == pytest.approx(means, nan_ok=True)


@pytest.mark.parametrize("smoothing", [None, 2, 3, 4, 5])
@pytest.mark.parametrize("cutoff", [None, (1.0, 1.0)])
def test_the_numbers_are_those_of_the_drawn_line(smoothing, cutoff):
    """Cut first, then smoothed, over the same values; in the table and in every export."""
    figure, spec, options = Figure(), plot(), {"smoothing": smoothing, "cutoff_s": cutoff}
    draw(figure, spec, [run()], Options(**options), [spec])
    (line,) = [line for line in figure.axes[0].get_lines() if shown_of(line)]
    drawn = pytest.approx(line.get_ydata())
    assert [float(row["value"]) for row in rows(numbers.samples_csv, spec, **options)] == drawn
    assert len(line.get_ydata()) == (4 if cutoff else 6)
    (statistics,) = rows(numbers.statistics_csv, spec, **options)
    assert float(statistics["mean"]) == pytest.approx(float(np.mean(line.get_ydata())))


def test_a_plots_own_cut_is_that_of_its_numbers_and_of_all_exports():
    """Of 1 to 32 the first and the last second are left out; a person's own cut goes before it."""
    spec = plot(cutoff_s=(1.0, 1.0))
    assert [row["value"] for row in rows(numbers.samples_csv, spec)] == ["2.0", "4.0", "8.0", "16.0"]
    times = [float(row["time_s"]) for row in rows(numbers.columns_csv, spec)]
    assert min(times) >= 1 and max(times) <= 5.5
    assert [row["n"] for row in rows(numbers.statistics_csv, spec)] == ["4"]
    assert "  7.50" in numbers.summary(spec, [run()], Options(), [spec])
    assert [row["value"] for row in rows(numbers.samples_csv, spec, cutoff_s=(4.0, 0.0))] == ["16.0", "32.0"]


def test_a_distribution_is_not_smoothed_and_neither_are_its_numbers():
    """It takes the samples as they are, whatever is chosen for plots over time."""
    spec = PlotSpec("cdf", "", PlotKind.CDF, (PlotLine("TCP"),))
    assert [float(row["value"]) for row in rows(numbers.samples_csv, spec, smoothing=4)] == VALUES


def test_the_window_says_just_what_the_summary_says(capsys, tmp_path):
    """With the loss of packets and the algorithms of flows."""
    data, path = lossy(1), tmp_path / "a.flent.gz"
    save(data, path)
    spec = PlotSpec("all", "", PlotKind.TIMESERIES, tuple(map(PlotLine, main_series(data.series))))
    for cutoff, words in ((None, []), ((0.5, 0.0), ["--cutoff", "0.5,0"])):
        heading, _, *rows = shown(capsys, "summary", path, *words).splitlines()[1:]
        window = numbers.summary(spec, [Loaded("a", data)], Options(cutoff_s=cutoff), [spec]).splitlines()
        assert heading.split()[-1] == "algorithm" and "loss" in heading and any(" %" in row for row in rows)
        assert window[2] == heading and window[4:] == rows
