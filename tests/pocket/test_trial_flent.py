# SPDX-License-Identifier: BSD-3-Clause
"""Stock Flent as an oracle: it opens the files of twenty different tests, and computes the numbers that we do."""

import csv
import json
import math
import os
import subprocess
from pathlib import Path

import pytest
from pockets import needs_pocket

from linklab.analysis.reducers import reduced_values
from linklab.cli import main
from linklab.data import open_file

STOCK_FLENT = "/usr/bin/flent"
pytestmark = [
    *needs_pocket,
    pytest.mark.skipif(not Path(STOCK_FLENT).exists(), reason="Flent, which this compares with, is not installed"),
]
COLUMNS = {"mean": "mean", "median": "median", "min": "min", "max": "max", "std_dev": "std", "pct99": "pct99"}
"""Columns of Flent's `-f stats_csv` → ours."""
KINDS = ("timeseries", "cdf", "box", "bar", "box_combine", "bar_combine", "ellipsis_combine", "cdf_combine", "meta")
"""Of plots, in the order in which four different ones are chosen."""
OURS_ALONE = {"flood", "loss", "floods"}
"""Plots that Flent's tests of the same names lack."""
TESTS = {
    "rrul": "10mbit 20ms fq_codel",
    "rrul_be": "10mbit 20ms 50p",
    "rrul_noclassification": "10mbit 20ms cake",
    "rrul_up": "10mbit 20ms codel",
    "rrul46": "10mbit 20ms pie",
    "rtt_fair": "10mbit 20ms,40ms",
    "rtt_fair_var_up": "10mbit 20ms,40ms",
    "tcp_1up": "10mbit 50ms",
    "tcp_2up": "10mbit 50ms 50p",
    "tcp_2up_delay": "10mbit 50ms",
    "tcp_4up_squarewave": "10mbit 50ms fq_codel",
    "tcp_12down": "10mbit 50ms",
    "tcp_bidirectional": "10mbit 50ms",
    "tcp_nup": "10mbit 50ms loss 1%",
    "cubic_bbr": "10mbit 50ms",
    "reno_cubic_westwood_cdg": "10mbit 50ms",
    "voip": "10mbit 20ms loss 2%",
    "voip-1up": "1mbit 20ms",
    "udp_flood": "10mbit 20ms",
    "ping": "10mbit 20ms loss 10%",
}
"""Of as many kinds of traffic, paths and losses."""

SEVERAL = """
import json, os, sys, tempfile, traceback
sys.path.insert(0, "/usr/share/flent")
import flent, numpy, matplotlib.pyplot
for words in json.loads(sys.stdin.read()):
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            for number in (1, 2):
                os.dup2(said.fileno(), number)
            sys.argv = ["flent", "--rcfile=/dev/null", *words]
            status = 1
            try:
                status = flent.run_flent()
            except SystemExit as ended:
                status = ended.code
            except BaseException:
                traceback.print_exc()
            os._exit(status or 0)  # Flent itself has closed what it printed to
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        print(json.dumps([status, said.read().decode()]), flush=True)
"""
"""Runs Flent again and again, which then need not be loaded each time."""


def flent(folder, calls):
    """What stock Flent of the distribution says to each of several command lines, none of which it complains about."""
    env = {**os.environ, "HOME": str(folder), "MPLBACKEND": "Agg"}
    asked = json.dumps([[str(word) for word in call] for call in calls])
    ran = subprocess.run(
        ["/usr/bin/python3", "-c", SEVERAL], input=asked, capture_output=True, text=True, env=env, check=True
    )
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(found) == len(calls)
    for call, (status, said) in zip(calls, found, strict=True):
        assert status == 0, (call, said)
        assert "ERROR" not in said, (call, said)
        assert "Traceback" not in said, (call, said)
    return [said for _, said in found]


def plots_of(data):
    """The names of plots of four kinds."""
    by_kind = {}
    for plot in data.metadata["plots"]:
        if plot["name"] not in OURS_ALONE:
            by_kind.setdefault(plot["kind"], plot["name"])
    return [by_kind[kind] for kind in KINDS if kind in by_kind][:4]


def as_flent_counts(data, series, statistic, ours):
    """Our number, or what Flent takes instead where it is 0.

    It takes a mean that the tool gave, then that of the samples, then that of its table, and goes on to the next where
    one is 0 (docs/tests.md, "Beside Flent").
    """
    one = data.series[series]
    of_samples = reduced_values(statistic, one.value).value
    of_table = reduced_values(statistic, data.table.column(series)).value
    return next((value for value in (ours, of_samples) if value and not math.isnan(value)), of_table)


@pytest.mark.parametrize("test", TESTS)
def test_stock_flent_opens_the_file(test, tmp_path, capsys):
    """Tables and four kinds of plots, without an error; its numbers are those of `linklab test stats`, to 1e-6."""
    file = tmp_path / f"{test}.flent.gz"
    assert main(["test", "run", test, "--path", TESTS[test], "-l", "3", "-o", str(file)]) == 0
    data = open_file(file)
    capsys.readouterr()
    main(["test", "stats", str(file), "--format", "csv"])
    ours = {row["series"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}

    plots = {name: tmp_path / f"{name}.png" for name in plots_of(data)}
    tables = [["-f", form, "-i", file] for form in ("summary", "csv", "stats_csv")]
    said = flent(tmp_path, [*tables, *(["-p", name, "-o", figure, "-i", file] for name, figure in plots.items())])
    assert f"Summary of {test} test run" in said[0]
    assert said[1].count("\n") > 10
    assert len(plots) == 4
    for figure in plots.values():
        assert figure.stat().st_size > 5000

    lines = said[2].splitlines()
    rows = {row["series"]: row for row in csv.DictReader(lines[lines[0].startswith("Starting") :])}
    compared = 0
    for series in rows.keys() & ours.keys():
        for theirs, statistic in COLUMNS.items():
            mine = as_flent_counts(data, series, statistic, float(ours[series][statistic]))
            if rows[series]["mean"]:
                assert float(rows[series][theirs]) == pytest.approx(mine, rel=1e-6, abs=1e-12), (series, statistic)
                compared += 1
            elif statistic == "mean":  # it calls a series empty whose mean is 0
                assert not mine or math.isnan(mine), series
    assert compared >= 10
