# SPDX-License-Identifier: BSD-3-Clause
"""The plots of the library's tests: each can be written into a file, read from it, and drawn."""

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from stock_flent import combined_by_flent, needs_flent

from linklab.analysis.reducers import check_reducer
from linklab.data import Dataset, save
from linklab.experiment.expand import expand
from linklab.experiment.model import Expanded
from linklab.experiment.test_file import load_test
from linklab.experiment.test_file import test_names as library_tests
from linklab.measure import make_series
from linklab.plots.named import Loaded, Options, draw
from linklab.plots.named.combine import combined
from linklab.plots.named.groups import mode_of
from linklab.plots.named.lines import entries_of
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import read_specs, to_json

PARAMETERS = {"command": "date", "upload_streams": "2", "download_streams": "2", "bidir_streams": "2"}
RUNNABLE = [name for name in library_tests() if not load_test(name).impossible]


def expanded(name: str) -> Expanded:
    """A test of the library for four targets."""
    return expand(load_test(name), PARAMETERS, hosts=["h2", "h3", "h4", "h5"])


@pytest.mark.parametrize("name", RUNNABLE)
def test_plots_of_a_test_can_stand_in_its_files(name: str) -> None:
    """Whatever plot a test of the library has, a file carries it unchanged, and it asks for nothing unknown."""
    test = expanded(name)
    again = read_specs(json.loads(json.dumps([to_json(spec) for spec in test.plots])))
    assert tuple(again) == test.plots
    names = {spec.name: spec.kind for spec in again}
    assert test.default_plot in names
    for spec in again:
        assert all(names[part] not in (PlotKind.META, PlotKind.SUBPLOT_COMBINE) for part in spec.parts)
        assert not spec.group_by or mode_of(spec.group_by)
        assert all(check_reducer(line.reduce or spec.reduce) for line in spec.lines)


def file_of(test: Expanded, number: int, folder: Path = Path()) -> Loaded:
    """A data set with every series of a test, as a short run might give it."""
    rng = np.random.default_rng(number)
    units = {"icmp": "ms", "udp_rtt": "ms", "voip": "ms", "http": "ms"}
    names = {flow.series: units.get(flow.traffic.value, "Mbits/s") for flow in test.flows}
    names |= {derived.series: derived.unit for derived in test.derived}
    series = {
        name: make_series(name, unit, np.arange(0, 20, 0.2), rng.normal(50, 5, 100)) for name, unit in names.items()
    }
    for name in list(series):
        key = f"{name}::tcp_rtt"
        series[key] = make_series(key, "", np.arange(0, 20, 0.2), rng.normal(60, 5, 100))
    flent = {"NAME": test.name, "TOTAL_LENGTH": 20, "STEP_SIZE": 0.2}
    return Loaded(str(folder / f"t-codel-{number:02}.flent.gz"), Dataset({}, {}, series, (), flent))


@pytest.mark.parametrize("name", ["rrul", "tcp_nup", "rtt_fair_var", "voip", "http-rrul", "udp_flood"])
def test_every_plot_of_a_test_is_drawn(name: str) -> None:
    """Plots that show a test's series draw something of a run that has them, and the others say what is missing."""
    test = expanded(name)
    files = [file_of(test, number) for number in (1, 2)]
    for spec in test.plots:
        figure = Figure(figsize=(6.4, 4.2), dpi=60)
        draw(figure, spec, files, Options(), test.plots)
        if any(axes.axison for axes in figure.axes):
            continue
        # a score and a loss need numbers of packets, which these series lack
        reducers = {line.reduce or spec.reduce for line in spec.lines}
        found = entries_of(spec, files, Options())
        assert reducers & {"mos", "raw_seq_loss"} or len(found) < 1 + (spec.kind is PlotKind.ELLIPSIS), spec.name
        words = figure.axes[0].texts[0].get_text()
        assert any(known in words for known in ("No run gives a ", "None of the data sets has ", "An ellipse needs "))


@needs_flent
@pytest.mark.parametrize("mode", ["groups", "series", "groups_points"])
@pytest.mark.parametrize("cutoff", [None, (5.0, 5.0)])
def test_stock_flent_combines_to_the_same_numbers(
    tmp_path: Path, mode: str, cutoff: tuple[float, float] | None
) -> None:
    """Groups of files, and the numbers that are drawn of them, are those of Flent's own combiners."""
    names = ("rrul-codel-01", "rrul-codel-02", "rrul-pie-01")
    files = []
    for number, name in enumerate(names):
        made = file_of(expanded("rrul"), number)
        data = Dataset({}, {}, made.data.series, (), {**made.data.flent, "DATA_FILENAME": f"{name}.flent.gz"})
        save(data, tmp_path / f"{name}.flent.gz")
        files.append(Loaded(str(tmp_path / f"{name}.flent.gz"), data))
    series = {"TCP upload BE": "mean", "Ping (ms) ICMP": "mean" if mode == "groups_points" else "mean_span"}
    lines = tuple(PlotLine(one, reduce=reducer) for one, reducer in series.items())
    ours = combined(PlotSpec("p", "", PlotKind.BOX_COMBINE, lines, group_by=mode, cutoff_s=cutoff), files, Options())
    theirs = combined_by_flent([one.name for one in files], mode, series, cutoff)
    assert [one.label for one in ours.data] == list(theirs)
    for one in ours.data:
        found = {name: found.known.tolist() for name, found in one.data.series.items()}
        assert found == {name: pytest.approx(values, rel=1e-6) for name, values in theirs[one.label].items()}
