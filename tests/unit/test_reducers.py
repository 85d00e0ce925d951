"""Reducers: exact values by hand, and those of stock Flent from the same file."""

import gzip
import json
import math

import numpy as np
import pytest
from stock_flent import needs_flent, reduced_by_flent, stats_of
from test_experiment_derive import rrul

from linklab.analysis.emodel import mos, mos_of_rating, rating
from linklab.analysis.reducers import REDUCERS, Reduced, flows_of, reduce, reduced, reduced_values
from linklab.data import Dataset, open_file, save
from linklab.errors import InputError
from linklab.measure import make_series

NAN = math.nan


def data_of(*, flent=None, meta=None, **series) -> Dataset:
    """A data set of series by name: pairs of times and values."""
    made = {
        name.replace("__", "::"): make_series(name.replace("__", "::"), "ms", *pair, meta=(meta or {}).get(name))
        for name, pair in series.items()
    }
    return Dataset(series=made, flent={"STEP_SIZE": 1.0, **(flent or {})})


PING = data_of(a=([0, 1, 2, 3, 4], [4, 2, NAN, 10, 4]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mean", 5),
        ("median", 4),
        ("min", 2),
        ("max", 10),
        ("var", 9),  # (1 + 9 + 25 + 1) / 4
        ("std", 3),
        ("pct99", 9.82),  # 2.97 of the way along 2, 4, 4, 10
        ("span", 8),
        ("mean_span", 3),
        ("mean_zero", 4),
        ("cumsum", 20),
        ("raw_mean", 5),
        ("raw_pct99", 9.82),
    ],
)
def test_each_reducer_by_hand(name, expected):
    """A gap counts nowhere but in mean_zero."""
    found = reduced(name, PING, "a")
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.n == (5 if name == "mean_zero" else 4)


def test_nothing_is_not_zero():
    """A series that is not there, or has only gaps, has no number."""
    empty = data_of(a=([0, 1], [NAN, NAN]), b=([], []))
    for name in ("mean", "mean_span", "cumsum", "mos", "raw_seq_loss", "fairness", "fairness_mean", "meta:X"):
        for series in ("a", "b", "c"):
            assert str(reduced(name, empty, series)) == str(Reduced(NAN, 0)), name


def test_an_unknown_reducer_is_named_with_those_there_are():
    """One sentence, also for what only reduces a series."""
    with pytest.raises(InputError, match=r'no reducer "avg"; use mean, median, .*fairness_mean, or meta:KEY'):
        reduce("avg", PING, "a")
    with pytest.raises(InputError, match='"mos" does not reduce values; use mean'):
        reduced_values("mos", [1.0])


def test_the_mean_of_the_tool_is_preferred_where_nothing_is_cut():
    """As in Flent: a flow's mean is its bytes by its time, not the mean of samples; raw_mean takes those."""
    data = data_of(a=([0, 1, 2], [1, 2, 6]), meta={"a": {"MEAN_VALUE": 2.5}})
    assert (reduce("mean", data, "a"), reduce("raw_mean", data, "a")) == (2.5, 3)
    assert reduce("mean", data, "a", (0.5, 0)) == 2


def test_a_cutoff_is_exclusive_of_samples_and_inclusive_of_the_table():
    """The end counts from the beginning, or from the end of the test if it is not positive."""
    data = data_of(a=([0, 1, 2, 3, 4], [0, 10, 20, 30, 40]), flent={"TOTAL_LENGTH": 4})
    assert reduced("mean", data, "a", (1, 3)) == Reduced(20, 1)
    assert reduced("span", data, "a", (1, 3)) == Reduced(20, 3)
    assert reduced("mean", data, "a", (1, 0)) == Reduced(25, 2)
    assert reduced("mean", data, "a", (0, -1)) == Reduced(10, 3)


def test_a_total_counts_the_seconds_of_each_sample():
    """Flent's "dur"; without it each value of the table stands for one step."""
    data = data_of(a=([0, 1, 2], [10, 20, 30]), a__dur=([0, 1, 2], [0.5, 1, 2]), b=([0, 1, 2], [10, 20, 30]))
    assert (reduce("cumsum", data, "a"), reduce("cumsum", data, "b")) == (85, 60)
    assert math.isnan(reduce("raw_cumsum", data, "b"))


def test_loss_is_counted_from_sequence_numbers():
    """1 to 10 were sent; 3 is missing, 4 and 10 are marked as lost, and 5 came twice."""
    numbers = [1, 2, 4, 5, 5, 6, 7, 8, 9, 10]
    times = list(range(10))
    data = data_of(
        a=(times, [1, 1, NAN, 1, 1, 1, 1, 1, 1, NAN]), a__seq=(times, numbers), a__lost=([2, 9], [1, 1]), b=([0], [1])
    )
    assert reduce("raw_seq_loss", data, "a") == pytest.approx(0.3, abs=1e-12)
    assert math.isnan(reduce("raw_seq_loss", data, "b"))
    told = data_of(a=([0], [1]), a__loss=([0], [0]), meta={"a": {"PACKET_LOSS_RATE": 0.02}})
    assert reduce("raw_seq_loss", told, "a") == 0.02
    assert reduce("raw_seq_loss", told, "a::loss") == 0.02  # as the plots of Flent's VoIP tests ask for it


def test_meta_gives_a_number_of_the_series():
    """Also one inside; text and what is not there is no number."""
    data = data_of(a=([0], [1]), meta={"a": {"X": 3, "Y": {"Z": [4, 5]}, "T": "text"}})
    found = [reduce(f"meta:{key}", data, "a") for key in ("X", "Y:Z:1", "T", "Y:Z:2", "Q")]
    assert found == pytest.approx([3, 5, NAN, NAN, NAN], nan_ok=True)


def test_two_conventions_of_fairness():
    """The mean of the index at each step against the index of the means: 1 and 0.8 at the steps, means 2 and 2."""
    data = data_of(**{"TCP upload__1": ([0, 1], [3, 1]), "TCP upload__2": ([1, 2], [3, 1])}, flent={"STEP_SIZE": 1.0})
    # at 0 one flow, at 1 16 / (2 × 10), at 2 one flow
    assert reduce("fairness", data, "TCP upload::*") == pytest.approx(2.8 / 3, abs=1e-12)
    assert reduced("fairness_mean", data, "TCP upload::*") == Reduced(1.0, 2)


def test_a_derived_series_stands_for_its_flows():
    """Its meta names them."""
    data = data_of(a=([0], [3]), b=([0], [1]), c=([0], [1]), meta={"c": {"DERIVED_FROM": ["a", "b", "gone"]}})
    assert flows_of(data, "c") == ["a", "b"]
    assert reduce("fairness_mean", data, "c") == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize(
    ("r", "expected"), [(-1, 1), (50, 2.58), (60, 3.10), (70, 3.60), (80, 4.03), (90, 4.34), (93.2, 4.41), (101, 4.5)]
)
def test_opinion_of_a_rating(r, expected):
    """The limits of the categories of user satisfaction in G.107, Table B.1, and of the defaults."""
    assert mos_of_rating(r) == pytest.approx(expected, abs=0.0061)  # the table has 4.03 for 4.024


@pytest.mark.parametrize(
    ("delay_ms", "loss", "r", "score"),
    [
        # R by hand from the equations of G.107; the scores were checked with Flent's function
        (0, 0, 93.2062077, 4.4094059),
        (100, 0, 90.6637303, 4.3549201),
        (100, 0.01, 72.7392020, 3.7226986),  # 95 × 1 / (1 + 4.3) = 17.9245 less
        (200, 0, 85.8047182, 4.2231802),
        (400, 0.01, 44.3222984, 2.2804584),
        (500, 0.2, -23.3861298, 1),
    ],
)
def test_the_e_model(delay_ms, loss, r, score):
    """Ratings and scores to the digits that are given."""
    assert rating(delay_ms, loss) == pytest.approx(r, abs=1e-6)
    assert mos(delay_ms, loss) == pytest.approx(score, abs=1e-6)


def test_too_long_a_delay_by_hand():
    """At 200 ms X = 1: 25 (2^(1/6) - 3 (1 + 3^-6)^(1/6) + 2) = 3.0445 is lost beyond echoes, which change by 1.815."""
    idd = 25 * (2 ** (1 / 6) - 3 * (1 + 3**-6) ** (1 / 6) + 2)
    assert idd == pytest.approx(3.0444, abs=1e-4)
    assert rating(100, 0) - rating(200, 0) == pytest.approx(idd + 1.8146, abs=1e-3)


def test_no_score_is_below_one():
    """The polynomial is, between 0 and 6.5."""
    assert mos_of_rating(3.7) == 1


@pytest.mark.parametrize(("delay_ms", "loss"), [(-1, 0), (0, 1.1), (NAN, 0)])
def test_the_e_model_refuses_what_cannot_be(delay_ms, loss):
    """A negative delay, or more loss than all."""
    with pytest.raises(ValueError, match="need a delay >= 0"):
        mos(delay_ms, loss)


def test_a_call_is_scored_by_delay_twice_jitter_and_loss():
    """One-way delays 90, 110, 100: mean 100; differences 20 and 10: jitter 15; one of four packets is lost."""
    times = [0, 1, 2, 3]
    data = data_of(
        a=(times, [190, 200, NAN, 200]), a__owd_up=([0, 1, 3], [90, 110, 100]), a__seq=(times, [1, 2, 3, 4]),
        a__lost=([2], [1]), b=(times, [1, 1, 1, 1]),
    )  # fmt: skip
    assert reduce("mos", data, "a") == mos(130, 0.25)
    assert math.isnan(reduce("mos", data, "b"))  # round trips alone give no one-way delay
    told = {"OWD_UP_MEAN": 50, "IPDV_UP_MEAN": 25, "PACKET_LOSS_RATE": 0.01}
    assert reduce("mos", data_of(a=([0], [1]), meta={"a": told}), "a") == mos(100, 0.01)


def flents_own(path, lost=(17, 18, 60)):
    """A file as Flent writes it of a test of 20 s: its own table, raw values with further numbers, means of tools."""
    chance = np.random.default_rng(7)
    t0_s = 1_700_000_000.25
    x_values = [round(0.2 * step, 1) for step in range(150)]
    results, raw = {}, {}
    for name in ("TCP upload", "Ping (ms) ICMP", "VoIP"):
        times = np.sort(chance.uniform(0, 30, 120))
        values = chance.gamma(4, 5, 120)
        table = np.interp(x_values, times, values)
        results[name] = [None if chance.random() < 0.1 else float(value) for value in table]
        raw[name] = [{"t": t0_s + t, "val": float(v)} for t, v in zip(times, values, strict=True)]
    for sample in raw["TCP upload"]:
        sample["dur"] = float(chance.uniform(0.1, 0.4))
    for number, sample in enumerate(raw["VoIP"]):
        sample |= {"seq": number, "owd_up": sample["val"] * 0.6, "ipdv_up": float(chance.normal(0, 2))}
        if number in lost:
            sample |= {"lost": True, "lost_dir": "up"}
            del sample["val"], sample["owd_up"], sample["ipdv_up"]
    results["TCP upload sum"] = [None if value is None else 2 * value for value in results["TCP upload"]]
    meta = {name: {"UNITS": "ms"} for name in results}
    meta["Ping (ms) ICMP"]["MEAN_VALUE"] = 20.125
    flent = {"NAME": "tcp_upload", "T0": "2023-11-14T22:13:20.250000Z", "TIME": "2023-11-14T22:13:20.000000Z"}
    flent |= {"TITLE": "", "LENGTH": 20, "TOTAL_LENGTH": 30, "STEP_SIZE": 0.2, "HOSTS": ["h3"], "TEST_PARAMETERS": {}}
    flent |= {"HOST": "h3", "DATA_FILENAME": path.name, "SERIES_META": meta, "BATCH_UUID": None}
    written = {"version": 4, "x_values": x_values, "results": results, "raw_values": raw, "metadata": flent}
    with gzip.open(path, "wt") as file:
        json.dump(written, file)


CUTOFFS = [None, (5.0, 25.0), (5.0, -5.0), (7.3, 0.0)]
STATISTICS = ["mean", "median", "min", "max", "std", "var", "pct99", "cumsum", "span", "mean_span", "mean_zero"]
RAW = ["raw_mean", "raw_median", "raw_min", "raw_max", "raw_std", "raw_var", "raw_pct99"]


@needs_flent
@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("kind", ["ours", "flents"])
def test_stock_flent_reduces_to_the_same_numbers(tmp_path, kind, cutoff):
    """Every statistic of every series, cut or not, of a file of ours and of one as Flent writes it."""
    path = tmp_path / "x.flent.gz"
    if kind == "ours":
        save(rrul(), path)
    else:
        flents_own(path)
    data = open_file(path)
    names = [name for name in data.series if name in rrul().series or not name.count("::")]
    theirs = reduced_by_flent(path, [*STATISTICS, *RAW], names, cutoff)
    compared = 0
    for reducer in [*STATISTICS, *RAW]:
        for name in names:
            expected = theirs[f"{reducer} {name}"]
            if expected is not None:
                assert reduce(reducer, data, name, cutoff) == pytest.approx(expected, rel=1e-9), (reducer, name)
                compared += 1
    assert compared > 60


@needs_flent
@pytest.mark.parametrize("cutoff", [None, (5.0, 25.0)])
def test_stock_flent_scores_the_same_call(tmp_path, cutoff):
    """The loss equals; the score does where nothing is lost, since Flent divides what was lost by what was received."""
    path = tmp_path / "x.flent.gz"
    for lost in ((17, 18, 60), ()):
        flents_own(path, lost)
        theirs = reduced_by_flent(path, ["mos", "raw_seq_loss"], ["VoIP"], cutoff)
        data = open_file(path)
        assert reduce("raw_seq_loss", data, "VoIP", cutoff) == pytest.approx(theirs["raw_seq_loss VoIP"], rel=1e-9)
        score = reduce("mos", data, "VoIP", cutoff)
        if lost:
            assert theirs["mos VoIP"] < score < theirs["mos VoIP"] + 0.05
        else:
            assert score == pytest.approx(theirs["mos VoIP"], rel=1e-7)


@needs_flent
def test_stock_flent_scores_a_call_by_what_the_tool_said(tmp_path):
    """Delay, jitter and loss of the whole test, in the meta of the series, where nothing is cut."""
    told = {"OWD_UP_MEAN": 130.0, "IPDV_UP_MEAN": 12.5, "PACKET_LOSS_RATE": 0.01}
    series = {"VoIP": make_series("VoIP", "ms", [0, 1], [20, 30], meta=told)}
    save(Dataset(series=series), tmp_path / "x.flent.gz")
    theirs = reduced_by_flent(tmp_path / "x.flent.gz", ["mos", "raw_seq_loss"], ["VoIP"], None)
    data = open_file(tmp_path / "x.flent.gz")
    assert reduce("mos", data, "VoIP") == pytest.approx(theirs["mos VoIP"], abs=1e-9)
    assert reduce("raw_seq_loss", data, "VoIP") == theirs["raw_seq_loss VoIP"] == 0.01


@needs_flent
def test_stock_flents_table_of_statistics(tmp_path):
    """Its `-f stats_csv` of a file of ours: the same statistics, and as many data points."""
    path = tmp_path / "x.flent.gz"
    save(rrul(), path)
    data = open_file(path)
    columns = {"mean": "mean", "median": "median", "min": "min", "max": "max", "std_dev": "std", "variance": "var"}
    columns |= {"cumul_total": "cumsum", "pct99": "pct99"}
    theirs = stats_of(path)
    for name in data.series:
        for column, reducer in columns.items():
            assert reduce(reducer, data, name) == pytest.approx(theirs[name][column], rel=1e-9)
        assert reduced("mean", data, name).n == theirs[name]["N"]


def test_every_reducer_has_its_test():
    """Those that are tried above by hand or beside Flent."""
    tried = {*STATISTICS, *RAW, "raw_cumsum", "raw_seq_loss", "mos", "fairness", "fairness_mean"}
    assert tried == set(REDUCERS)


def test_answers_that_were_lost_do_not_count_in_a_score():
    """Who is called hears what arrives; the loss of both ways is a reducer of its own."""
    packets = {
        "a": ([0, 1, 2, 3], [50, NAN, NAN, 50]),
        "a::seq": ([0, 1, 2, 3], [0, 1, 2, 3]),
        "a::owd_up": ([0, 3], [25, 25]),
        "a::lost": ([1, 2], [1, 1]),
        "a::lost_up": ([1, 2], [1, 0]),
    }
    data = data_of(**packets)
    assert reduce("mos", data, "a", (0, 4)) == mos(25, 0.25)
    assert reduce("raw_seq_loss", data, "a", (0, 4)) == pytest.approx(0.5)
    told = {"OWD_UP_MEAN": 25, "IPDV_UP_MEAN": 0, "PACKET_LOSS_RATE": 0.2, "UPSTREAM_LOSS_RATE": 0.1}
    assert reduce("mos", data_of(**packets, meta={"a": told}), "a") == mos(25, 0.1)


def test_a_call_whose_loss_is_not_known_has_no_score():
    """Delays without sequence numbers do not say how many packets were lost, and unknown is not 0."""
    times = [0.0, 0.02, 0.04]
    known = {"a": (times, [50.0] * 3), "a::owd_up": (times, [25.0] * 3)}
    assert math.isnan(reduced("mos", data_of(**known), "a").value)
    assert reduced("mos", data_of(**known, **{"a::seq": (times, [0, 1, 2])}), "a").value == pytest.approx(
        mos(25.0, 0.0)
    )
