# SPDX-License-Identifier: BSD-3-Clause
"""An experiment's data set in the commands for data sets of tests: its plots, numbers, and the viewer's choice."""

from dataclasses import replace

import pytest
from netesto_folders import flow_numbers, flow_series, group, pings, write_experiment

from linklab.cli import main
from linklab.data import open_file, save
from linklab.data.names import matching
from linklab.experiment.plots_of import plots_of
from linklab.netesto import names
from linklab.netesto.data_plots import DEFAULT, data_plots
from linklab.plots.named import Loaded, Options, lacking
from linklab.plots.spec_json import METADATA_KEY, read_specs, to_json
from linklab.viewer.drawable import drawable


@pytest.fixture
def file(tmp_path):
    """A data set of one bulk flow and two request/response flows, with pings."""
    groups = [group(1), group(2, names.RR, instances=2)]
    series = [pings(), *flow_series(names.STREAM, 1, 1)]
    numbers = flow_numbers(names.STREAM, 1, 1)
    for instance in (1, 2):
        series += flow_series(names.RR, 2, instance, answers=[5.0, 7.0, 9.0])
        numbers |= flow_numbers(names.RR, 2, instance)
    path = write_experiment(tmp_path, 1, groups, series, numbers) / names.data_file(1)
    data = open_file(path)
    plots = [to_json(spec) for spec in data_plots({names.STREAM, names.RR})]
    save(replace(data, metadata={**data.metadata, METADATA_KEY: plots, "default_plot": DEFAULT}), path)
    return path


def test_the_plots_are_read_as_they_were_written():
    """By name once each, the default among them."""
    for tests in ({names.STREAM}, {names.RR}, {names.STREAM, names.RR}):
        specs = data_plots(tests)
        assert tuple(read_specs([to_json(spec) for spec in specs])) == specs
        assert specs[0].name == DEFAULT


def test_each_plot_finds_its_series(file):
    """None is empty; a flow's further numbers are no flows, and rates are no latencies."""
    data = open_file(file)
    by_name = {spec.name: spec for spec in data_plots({names.STREAM, names.RR})}
    found = {
        name: [one for line in spec.lines for one in matching(line.series, data.series)]
        for name, spec in by_name.items()
        if spec.lines
    }
    flows = ["STREAM 1::1", "RR rate 2::1", "RR rate 2::2"]
    assert found["goodput"] == found["cwnd"] == flows
    assert found["latency_cdf"] == ["RR 2::1", "RR 2::2"]
    assert found["ping"] == ["Ping (ms) h2 to h1"]
    loaded = Loaded(str(file), data)
    specs, default = plots_of([loaded])
    assert default == by_name["goodput"]
    for spec in specs:
        if spec.name != "delivery_rate":  # not among the series made here
            assert not list(lacking(spec, [loaded], Options(), specs)), spec.name


@pytest.mark.parametrize(
    "plot", ["goodput", "cwnd", "rtt", "latency_cdf", "latency_box", "ping", "overview", "retransmits"]
)
def test_the_plots_can_be_drawn(file, plot, tmp_path, capsys):
    """By the command for data sets of tests."""
    out = tmp_path / f"{plot}.svg"
    assert main(["test", "plot", str(file), "-p", plot, "-o", str(out)]) == 0
    assert out.read_text().startswith("<?xml")
    assert capsys.readouterr().err == ""


def test_the_viewer_offers_the_plots(file):
    """All that show something, the goodput first, and no plots by units instead of them."""
    offered = drawable([Loaded(str(file), open_file(file))])
    names_of = [spec.name for spec in offered.specs]
    assert offered.default.name == DEFAULT
    assert names_of == [spec.name for spec in data_plots({names.STREAM, names.RR}) if spec.name != "delivery_rate"]
    assert offered.why == ""


def test_numbers_by_the_commands_of_tests(file, capsys):
    """Summary and statistics name the flows and their pings."""
    assert main(["test", "summary", str(file)]) == 0
    summary = capsys.readouterr().out
    assert main(["test", "stats", str(file)]) == 0
    for text in (summary, capsys.readouterr().out):
        for name in ("STREAM 1::1", "RR 2::1", "RR rate 2::2", "Ping (ms) h2 to h1"):
            assert name in text
