"""Derived series: exact values by hand, and those that stock Flent computes from the same file."""

import math
from dataclasses import replace

import numpy as np
import pytest
from stock_flent import needs_flent, table_of

from linklab.data import Dataset, open_file, save
from linklab.data.table import Grid
from linklab.experiment.derive import completed, derive
from linklab.experiment.model import Derived, DerivedRule
from linklab.experiment.plots_of import own_plots
from linklab.measure import make_series
from linklab.plots.named import Loaded

NAN = math.nan


def of(step_s: float = 1.0, **values: list[float]) -> Dataset:
    """A data set whose series have a value at 0, 1, 2 … steps; "a" is called "a"."""
    series = {name: make_series(name, "Mbits/s", np.arange(len(v)) * step_s, v) for name, v in values.items()}
    return Dataset(series=series, flent={"STEP_SIZE": step_s})


def derived(data: Dataset, rule: DerivedRule, *names: str) -> list[float]:
    """The values of one derived series."""
    return derive(data, [Derived("d", rule, names)]).series["d"].value.tolist()


DATA = of(a=[1, NAN, 3, NAN, 0], b=[5, 4, 1, NAN, 0])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (DerivedRule.SUM, [6, 4, 4, NAN, 0]),
        (DerivedRule.MEAN, [3, 4, 2, NAN, 0]),
        # the means are 3, 4, 2, none, 0: each with those before it
        (DerivedRule.SMOOTH_MEAN, [3, 3.5, 3, NAN, 2.25]),
        (DerivedRule.DIFF_MIN, [1, NAN, 3, NAN, 0]),
        # 36 / (2 × 26), one flow, 16 / (2 × 10), none, and 0/0
        (DerivedRule.FAIRNESS, [36 / 52, 1, 0.8, NAN, NAN]),
    ],
)
def test_a_gap_counts_as_nothing(rule, expected):
    """A series without a value at a step is left out of it; a step without any value is a gap."""
    assert derived(DATA, rule, "a", "b") == pytest.approx(expected, nan_ok=True)


def test_a_smooth_average_runs_over_five_steps_that_have_a_value():
    """A gap neither counts nor ends the window."""
    data = of(a=[10, 20, 30, 40, NAN, 50, 60, 70])
    assert derived(data, DerivedRule.SMOOTH_MEAN, "a") == pytest.approx([10, 15, 20, 25, NAN, 30, 40, 50], nan_ok=True)


def test_fairness_says_its_convention_and_has_no_unit():
    """In its meta, for whoever compares it with an index of another convention."""
    series = derive(DATA, [Derived("d", DerivedRule.FAIRNESS, ("*",))]).series["d"]
    assert series.unit == ""
    assert "that have a value at the step" in series.meta["CONVENTION"]


def test_the_unit_is_the_common_one_unless_given():
    """The unit of what is derived, where all have the same."""
    found = derive(
        DATA, [Derived("d", DerivedRule.SUM, ("a", "b")), Derived("e", DerivedRule.SUM, ("a", "b"), "packets")]
    )
    assert (found.series["d"].unit, found.series["e"].unit) == ("Mbits/s", "packets")


def test_means_that_tools_gave_are_derived_too():
    """Flent's MEAN_VALUE of a sum is the sum of those of its series, of an index their index."""
    means = {"a": 1, "b": 3}
    series = {name: make_series(name, "", [0, 1], [1, 1], meta={"MEAN_VALUE": mean}) for name, mean in means.items()}
    rules = [
        Derived(rule.value, rule, ("a", "b")) for rule in (DerivedRule.SUM, DerivedRule.MEAN, DerivedRule.FAIRNESS)
    ]
    found = derive(Dataset(series=series), rules).series
    assert [found[one.series].meta["MEAN_VALUE"] for one in rules] == pytest.approx([4, 2, 0.8])


def test_means_of_flows_that_do_not_last_equally_long_have_no_sum():
    """Two flows one after the other, of 4 Mbit/s each, never were 8; nor is the sum of a flow without a mean known."""
    series = {name: make_series(name, "", [0, 1], [4, 4], meta={"MEAN_VALUE": 4}) for name in ("a", "b", "c")}
    series["d"] = make_series("d", "", [0, 1], [4, 4])
    rules = [
        Derived("ab", DerivedRule.SUM, ("a", "b")),
        Derived("bc", DerivedRule.SUM, ("b", "c")),
        Derived("cd", DerivedRule.SUM, ("c", "d")),
        Derived("all", DerivedRule.SUM, ("a", "bc")),
        Derived("rest", DerivedRule.MEAN, ("bc", "c")),
    ]
    spans = {"a": (5.0, 10.0), "b": (15.0, 10.0), "c": (15.0, 10.0), "d": (15.0, 10.0)}
    found = derive(Dataset(series=series), rules, spans).series
    assert {one.series: found[one.series].meta.get("MEAN_VALUE") for one in rules} == {
        "ab": None,
        "bc": 8,
        "cd": None,
        "all": None,
        "rest": 6,
    }
    assert derive(Dataset(series=series), rules).series["ab"].meta["MEAN_VALUE"] == 8


def test_patterns_match_series_and_not_their_further_numbers():
    """Nor the derived series itself, nor what comes after it."""
    names = ["TCP upload::1", "TCP upload::2", "TCP upload::1::tcp_cwnd"]
    series = {name: make_series(name, "", [0, 1], [number, number]) for number, name in enumerate(names, 1)}
    rules = [
        Derived("TCP upload avg", DerivedRule.MEAN, ("TCP upload** !TCP upload sum",)),
        Derived("TCP upload sum", DerivedRule.SUM, ("TCP upload** !TCP upload avg",)),
    ]
    found = derive(Dataset(series=series), rules).series
    assert found["TCP upload avg"].value.tolist() == [1.5, 1.5]
    assert found["TCP upload sum"].value.tolist() == [3, 3]


def test_what_is_there_stays_and_what_has_no_series_is_left_out():
    """A file that has a derived series keeps it, and a series of nothing is absent."""
    found = derive(DATA, [Derived("a", DerivedRule.SUM, ("b",)), Derived("c", DerivedRule.SUM, ("nothing*", "none"))])
    assert found.series == DATA.series


def test_a_derived_series_survives_the_file(tmp_path):
    """Its times are the file's common times, so the table of the file holds it exactly, gaps included."""
    data = derive(DATA, [Derived("d", DerivedRule.SUM, ("a", "b"))])
    save(data, tmp_path / "x.flent.gz")
    read = open_file(tmp_path / "x.flent.gz").series["d"]
    assert read.value.tolist() == pytest.approx([6, 4, 4, NAN, 0], nan_ok=True)


RRUL = [
    Derived("TCP upload avg", DerivedRule.MEAN, ("TCP upload* !TCP upload sum",)),
    Derived("TCP upload sum", DerivedRule.SUM, ("TCP upload* !TCP upload avg",)),
    Derived("TCP download avg", DerivedRule.MEAN, ("TCP download* !TCP download sum",)),
    Derived("TCP download sum", DerivedRule.SUM, ("TCP download* !TCP download avg",)),
    Derived("TCP totals", DerivedRule.SUM, ("TCP* !TCP * avg !TCP * sum",)),
    Derived("Ping (ms) avg", DerivedRule.MEAN, ("Ping (ms)*",)),
]


def rrul(seed: int = 1) -> Dataset:
    """What a test of 20 s might have left: flows at times of their own, with gaps, beginnings and ends that differ."""
    chance = np.random.default_rng(seed)
    series = {}
    for direction in ("upload", "download"):
        for number, mark in enumerate(("BE", "BK", "CS5", "EF")):
            time_s = np.sort(chance.uniform(5 + number, 25 - 2 * number, 80))
            time_s = time_s[(time_s < 12) | (time_s > 14.5 - number)]
            name = f"TCP {direction} {mark}"
            series[name] = make_series(name, "Mbits/s", time_s, chance.gamma(2, 3, time_s.size))
    for mark in ("UDP EF", "UDP BK", "UDP BE", "ICMP"):
        time_s = np.arange(150) * 0.2 + chance.uniform(0, 0.01, 150)
        value = np.where(chance.random(150) < 0.2, NAN, chance.gamma(5, 4, 150))
        series[f"Ping (ms) {mark}"] = make_series(f"Ping (ms) {mark}", "ms", time_s, value)
    flent = {"NAME": "rrul", "TITLE": "made up", "STEP_SIZE": 0.2, "LENGTH": 20, "TOTAL_LENGTH": 30, "HOST": "h3"}
    return Dataset(series=series, flent=flent | {"HOSTS": ["h3"], "T0": "2026-01-31T12:00:00.000000Z"})


@pytest.mark.parametrize("parameters", [{}, {"wifi_stats_hosts": "h1"}])
def test_a_file_of_flents_has_the_series_of_its_plots(parameters):
    """Also if it was run with parameters that our test refuses: plots and series are of one and the same test."""
    data = rrul()
    grid = Grid(data.table.times, {name: data.table.column(name) for name in data.series})
    data = replace(data, grid=grid, flent=data.flent | {"TEST_PARAMETERS": parameters})
    plots, _ = own_plots(Loaded("theirs", data))
    (sums,) = [plot for plot in plots if plot.name == "totals"]
    assert {line.series for line in sums.lines} <= set(completed(data).series)


@needs_flent
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_stock_flent_derives_the_same_numbers(tmp_path, seed):
    """It computes what is missing in a file of its test `rrul`; gaps stand at the same steps."""
    data = rrul(seed)
    save(data, tmp_path / "x.flent.gz")
    theirs = table_of(tmp_path / "x.flent.gz")
    found = derive(open_file(tmp_path / "x.flent.gz"), RRUL).series
    for one in RRUL:
        assert found[one.series].time_s == pytest.approx(theirs["x"])
        expected = [NAN if value is None else value for value in theirs[one.series]]
        assert found[one.series].value == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert 0 < np.isnan(expected).sum() < len(expected) or one.series.startswith("Ping")
