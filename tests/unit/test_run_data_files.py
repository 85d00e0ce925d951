# SPDX-License-Identifier: BSD-3-Clause
"""Steps that run named tests: their data files are measured, and the figures that they draw can be recorded."""

import pytest
from scripted import ScriptedEngine
from test_runner import Silent, make_lab

from linklab.data import Dataset, save
from linklab.engine import api
from linklab.errors import DataError, LabError
from linklab.lab.reference import load_reference
from linklab.measure import make_series
from linklab.plots import catalogue
from linklab.run.data_files import in_names, measure_data_file
from linklab.run.record import record
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings

MANUAL = """\
## Measuring

Step. Run the tests, and draw.

```h1 id=tests
flent -B x.batch
```

```h1 id=plot
flent -p box -o one/box.svg
```

![Over time](run:tests/test-rtt)

![Boxes](run:plot/box.svg)

{{tests.flent.tcp-upload-sum.mean}}
"""
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "tests"
what = "flent.2.ping-icmp.max"
value = "60 ms"
within = "1 ms"
why = "the second file"
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>'


def data_set(longest_ms=55.0):
    """A test of 1 s."""
    times = [0.2, 0.4, 0.6, 0.8]
    found = [
        make_series("TCP upload::1", "Mbits/s", times, [8, 9, None, 10], meta={"MEAN_VALUE": 9.5, "TCP_RETRANSMIT": 3}),
        make_series("TCP upload::1::tcp_cwnd", "packets", times, [10, 20, 30, 40]),
        make_series("TCP upload sum", "Mbits/s", times, [8, 9, None, 10]),
        make_series("Ping (ms) ICMP", "ms", times, [50, 52, None, longest_ms]),
        make_series("qdisc_stats_s2-eth2", "bytes", times, [0, 1514, 3028, 0]),
        make_series("qdisc_stats_s2-eth2::dropped", "packets", times, [0, 2, 5, 0]),
        make_series("qdisc tbf 1: s2-eth2", "bytes", times, [0, 1, 2, 3]),
        make_series("cpu_stats", "", times, [0, 0, 0, 0]),
    ]
    return Dataset(series={series.name: series for series in found})


def batch_of_two(workdir):
    """What a batch leaves."""
    (workdir / "b").mkdir()
    save(data_set(), workdir / "b" / "one.flent.gz")
    save(data_set(60.0), workdir / "b" / "two.flent.gz")
    (workdir / "b" / "trials.json").write_text('{"trials": []}')
    return "Data files are in b\n"


def plot(workdir):
    """A figure."""
    (workdir / "one").mkdir()
    (workdir / "one" / "box.svg").write_text(SVG)
    return "Plot written\n"


ANSWERS = {"flent -B x.batch": batch_of_two, "flent -p box -o one/box.svg": plot}


def replay(lab, out, answers=ANSWERS):
    """Run it into `out`."""
    return run_lab(lab, ScriptedEngine(answers), RunSettings(api.Clock.VIRTUAL, 3, "ideal"), out, Silent())


@pytest.mark.parametrize(
    ("series", "name"),
    [
        ("Ping (ms) UDP BE", "ping-udp-be"),
        ("TCP upload::1", "tcp-upload-1"),
        ("qdisc_stats_s2-eth2", "qdisc_stats_s2-eth2"),
        ("TCP download sum", "tcp-download-sum"),
    ],
)
def test_series_in_names(series, name):
    """Letters that a name of a measurement cannot hold are hyphens."""
    assert in_names(series) == name


def test_numbers_of_a_data_file(tmp_path):
    """Those of the summary, in bit/s and seconds; nothing of shapers and processors; a gap is no number."""
    save(data_set(), tmp_path / "a.flent.gz")
    found = measure_data_file(tmp_path / "a.flent.gz")
    told = {name: (round(quantity.value, 9), quantity.unit) for name, quantity in found.scalars.items()}
    assert told["flent.tcp-upload-1.mean"] == (9.5e6, "bit/s")  # as the tool gave it, not 9.0
    assert told["flent.tcp-upload-1.median"] == (9e6, "bit/s")
    assert told["flent.tcp-upload-1.retransmits"] == (3, "segments")
    assert told["flent.ping-icmp.max"] == (0.055, "s")
    assert told["flent.ping-icmp.mean"] == (round(157 / 3e3, 9), "s")
    assert told["flent.qdisc_stats_s2-eth2.dropped"] == (7, "packets")
    assert not [name for name in told if "tbf" in name or "cpu" in name]
    assert "flent.tcp-upload-1.mean_span" not in told
    assert told["flent.ping-icmp.mean_span"][1] == "s"
    assert found.series["flent.tcp-upload-1-tcp_cwnd"].known.max() == 40
    assert found.series["flent.ping-icmp"].known.max() == pytest.approx(0.055)


def test_what_is_no_data_file(tmp_path):
    """It is named."""
    (tmp_path / "a.flent.gz").write_text("no")
    with pytest.raises(DataError, match=r"a\.flent\.gz"):
        measure_data_file(tmp_path / "a.flent.gz")


def test_a_batch_is_measured_file_by_file(tmp_path):
    """The second file has its number; the journal beside them is no measurement; expectations see both."""
    run = replay(make_lab(tmp_path, MANUAL, TOML), tmp_path / "run")
    assert run.broken == {}
    assert run.scalars["tests"]["flent.ping-icmp.max"] == pytest.approx((0.055, "s"))
    assert [verdict.outcome.value for verdict in run.verdicts] == ["pass"]
    assert run.data("tests").metadata["tool"] == "flent"
    assert catalogue.available(run.data("tests")) == ["bit/s", "packets", "s", "bytes"]  # too many lines for a panel


def only_one(workdir):
    """What a single test leaves."""
    save(data_set(), workdir / "one.flent.gz")
    return ""


def test_a_figure_that_a_step_drew_is_recorded(tmp_path):
    """Beside those that are drawn from its numbers; the manual shows both."""
    lab = make_lab(tmp_path, MANUAL, TOML.replace("flent.2.", "flent.").replace("60 ms", "55 ms"))
    run = replay(lab, tmp_path / "run", ANSWERS | {"flent -B x.batch": only_one})
    assert catalogue.available(run.data("tests")) == [
        "test-throughput",
        "test-flows",
        "test-rtt",
        "test-queue",
        "test-drops",
    ]
    record(lab, run)
    figures = load_reference(lab).recorded.figures
    assert figures["plot/box.svg"] == SVG.encode()
    assert b"<svg" in figures["tests/test-rtt"]
    assert sorted(path.name for path in (lab.folder / "reference/figures").iterdir()) == [
        "plot-box.svg",
        "tests-test-rtt.svg",
    ]


def test_a_figure_that_no_step_drew(tmp_path):
    """Recording says which files the step has."""
    manual = MANUAL.replace("run:plot/box.svg", "run:plot/bar.svg")
    lab = make_lab(tmp_path, manual, TOML.replace("flent.2.", "flent.").replace("60 ms", "55 ms"))
    run = replay(lab, tmp_path / "run", ANSWERS | {"flent -B x.batch": only_one})
    with pytest.raises(LabError, match=r"bar\.svg; its files: one/box\.svg"):
        record(lab, run)
