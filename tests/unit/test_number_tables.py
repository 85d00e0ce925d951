"""`linklab test summary`, `stats` and `csv`: exact tables, and the numbers of stock Flent from the same file."""

import csv
import io
import json
import math
import re
from dataclasses import replace

import pytest
from stock_flent import flent, needs_flent, stats_of, table_of
from test_experiment_derive import RRUL, rrul
from test_reducers import CUTOFFS, flents_own

from linklab.cli import main
from linklab.data import Dataset, save
from linklab.experiment.derive import derive
from linklab.experiment.model import Derived, DerivedRule
from linklab.experiment.summary import text_of
from linklab.experiment.tables import Source, TableChoice, repetitions, summarise
from linklab.measure import make_series

STATS = {"mean": "mean", "median": "median", "min": "min", "max": "max", "std": "std_dev", "var": "variance"}
STATS |= {"cumsum": "cumul_total", "pct99": "pct99"}
"""Columns of ours → those of Flent's `-f stats_csv`."""


def small(value: float = 0.0, seed: int = 1, **metadata) -> Dataset:
    """Two flows of three samples and a ping, with a further number and a mean that the tool gave."""
    series = [
        make_series("TCP upload::1", "Mbits/s", [0, 1, 2], [2 + value, 4 + value, 6 + value]),
        make_series("TCP upload::1::tcp_cwnd", "", [0, 1, 2], [10, 20, 30]),
        make_series("TCP upload::2", "Mbits/s", [0, 1, 2], [6, math.nan, 2], meta={"MEAN_VALUE": 4.25}),
        make_series("Ping (ms) ICMP", "ms", [0, 1, 2], [0.04, 0.05, 0.06]),
    ]
    flents = {"NAME": "tcp_nup", "STEP_SIZE": 1.0, "TITLE": f"run {seed}"}
    ours = {"seed": seed, "path": "10mbit 50ms", **metadata}
    return Dataset(ours, {}, {one.name: one for one in series}, flent=flents)


def shown(capsys, *words) -> str:
    """What a verb prints; it must end well."""
    assert main(["test", *map(str, words)]) == 0
    return capsys.readouterr().out


def refused(capsys, *words) -> str:
    """The one line that a verb complains in."""
    assert main(["test", *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


@pytest.fixture
def file(tmp_path):
    """A file of `small`."""
    save(small(), tmp_path / "a.flent.gz")
    return tmp_path / "a.flent.gz"


def test_a_summary_for_people(capsys, file):
    """Series of their own, not the further numbers of samples; the mean of the tool is preferred, n counts samples."""
    assert shown(capsys, "summary", file) == (
        "tcp_nup, 10mbit 50ms, run 1, a.flent.gz\n"
        "series          mean  median  99th %  n  unit\n"
        "─────────────────────────────────────────────\n"
        "TCP upload::1   4.00    4.00    5.96  3  Mbit/s\n"
        "TCP upload::2   4.25    4.00    5.96  2  Mbit/s\n"
        "Ping (ms) ICMP  0.05    0.05  0.0598  3  ms\n"
    )


def test_which_series_a_table_shows(capsys, tmp_path):
    """What a program says beside its packets; what each packet says for a pattern that fits nothing else, and "**"."""
    names = [
        "VoIP",
        "VoIP::delay",
        "VoIP::seq",
        "VoIP::owd_up",
        "TCP upload::1",
        "TCP upload::1::tcp_cwnd",
        "qdisc tbf 1: r1-eth0",
    ]
    data = Dataset(series={name: make_series(name, "", [0, 1], [1, 2]) for name in names})
    save(data, tmp_path / "x.flent.gz")
    for words, expected in (
        ([], ["VoIP", "VoIP::delay", "TCP upload::1"]),
        (["--series", "qdisc **"], names[6:]),
        (["--series", "**"], names),
        (["--series", "TCP**"], names[4:5]),
        (["--series", "TCP**cwnd"], names[5:6]),
        (["--series", "*::seq"], names[2:3]),
    ):
        rows = csv.DictReader(io.StringIO(shown(capsys, "summary", tmp_path / "x.flent.gz", "--format", "csv", *words)))
        assert [row["series"] for row in rows] == expected


def test_statistics_for_people(capsys, file):
    """A total is one of rates only."""
    table = shown(capsys, "stats", file, "--series", "*::1", "--series", "Ping*")
    headings, _, flow, ping = [re.split(r" {2,}", line.strip()) for line in table.splitlines()[1:]]
    assert headings == ["series", "total", "min", "median", "99th %", "max", "mean", "std dev", "variance", "n", "unit"]
    assert flow == ["TCP upload::1", "12.00", "2.00", "4.00", "5.96", "6.00", "4.00", "1.63", "2.67", "3", "Mbit/s"]
    assert ping[:2] == ["Ping (ms) ICMP", "–"]


def test_what_is_cut_and_smoothed_is_said(capsys, file):
    """And counted: of 2, 4, 6 the middle one is left, and what is cut off counts in no mean, as in figures."""
    table = shown(capsys, "summary", file, "--cutoff", "0.5,-0.5", "--smooth", "2", "--series", "TCP upload::1")
    assert table.splitlines()[0].endswith("a.flent.gz, from 0.5 s to 0.5 s before the end, smoothed over 2 values")
    assert table.splitlines()[3].split()[2:] == ["4.00", "4.00", "4.00", "1", "Mbit/s"]
    whole = shown(capsys, "summary", file, "--smooth", "2", "--series", "TCP upload::1", "--reduce", "mean")
    assert whole.splitlines()[3].split()[2] == "3.33"  # of 2, (2 + 4) / 2 and (4 + 6) / 2


def test_a_warm_up_is_left_out(capsys, file):
    """Until the end of the test."""
    table = shown(capsys, "summary", file, "--warm-up", "0.5", "--reduce", "max", "--reduce", "min")
    assert "from 0.5 s to the end" in table
    assert table.splitlines()[3].split()[2:5] == ["4.00", "4.00", "1"]


def test_repetitions_are_one_table_with_intervals(capsys, tmp_path):
    """Means 4, 5, 6: t with two degrees of freedom is 4.3027, so 5 ± 4.3027 / √3; two flows do not change."""
    files = [tmp_path / f"{seed}.flent.gz" for seed in (1, 2, 3)]
    for seed, name in enumerate(files):
        save(small(seed, seed + 1), name)
    table = shown(capsys, "summary", *files)
    assert table.splitlines()[0] == "tcp_nup, 10mbit 50ms, run 1, 3 runs (seeds 1 to 3), 3 distinct outcomes"
    first, second = (re.split(r" {2,}", line) for line in table.splitlines()[3:5])
    assert first == ["TCP upload::1", "5.00 ± 2.48", "5.00 ± 2.48", "6.96 ± 2.48", "3", "Mbit/s"]
    assert second == ["TCP upload::2", "4.25, all equal", "4.00, all equal", "5.96, all equal", "3", "Mbit/s"]
    found = json.loads(shown(capsys, "summary", *files, "--format", "json"))[0]
    assert (found["runs"], found["distinct_outcomes"], found["seeds"]) == (3, 3, [1, 2, 3])
    half = 4.3026527297 / math.sqrt(3)
    flow = found["series"][0]
    assert (flow["mean"]["low"], flow["mean"]["high"]) == pytest.approx((5 - half, 5 + half), abs=1e-9)
    assert [row["distinct"] for row in found["series"]] == [3, 1, 1]
    assert shown(capsys, "summary", *files, "--each").count("unit") == 3


def test_half_an_interval_has_two_digits_that_count(capsys, tmp_path):
    """And its mean as many decimals."""
    files = [tmp_path / f"{seed}.flent.gz" for seed in (1, 2)]
    for seed, name in enumerate(files):
        save(small(seed / 1000, seed + 1), name)
    line = shown(capsys, "summary", *files, "--reduce", "mean").splitlines()[3]
    assert line.split("  ")[1].strip() == "4.0005 ± 0.0064"  # 12.706 × 0.0005


def test_half_an_interval_too_small_for_four_decimals(capsys, tmp_path):
    """Is shown as it is, and rounding as nothing."""
    files = [tmp_path / f"{seed}.flent.gz" for seed in (1, 2)]
    for shift, expected in ((2e-6, "4.0000 ± 1e-05"), (1e-13, "4.00, all equal")):
        for seed, name in enumerate(files):
            save(small(seed * shift, seed + 1), name)
        table = shown(capsys, "summary", *files, "--reduce", "mean")
        assert "2 runs (seeds 1 and 2)" in table
        assert re.split(r" {2,}", table.splitlines()[3])[1] == expected


def test_a_score_of_calls_says_nothing_of_flows(capsys, file):
    """A reducer that most series have no number of gives a table of those that have one."""
    assert len(shown(capsys, "summary", file, "--reduce", "mos").splitlines()) == 3
    assert len(shown(capsys, "summary", file, "--reduce", "meta:MEAN_VALUE").splitlines()) == 4


def lossy(lost, algorithms=("cubic", "bbr"), seed=1):
    """Two flows of different algorithms and a flood of which so many of 10 packets are lost."""
    data = small(seed=seed)
    series = {
        name: replace(data.series[name], meta={"CONG_CONTROL": algorithm})
        for name, algorithm in zip(("TCP upload::1", "TCP upload::2"), algorithms, strict=True)
    }
    for name, value in {"UDP": 1.0, "UDP::pkts": 5.0, "UDP::lost_pkts": lost / 2}.items():
        series[name] = make_series(name, "", [0.0, 1.0], [value] * 2)
    return replace(data, series=series)


def test_loss_stands_in_the_summary(capsys, tmp_path):
    """In percent, of what counts its packets, and only if there was any."""
    files = [tmp_path / f"{lost}.flent.gz" for lost in (0, 3, 5)]
    for lost, name in zip((0, 3, 5), files, strict=True):
        save(lossy(lost, seed=lost), name)
    assert "loss" not in shown(capsys, "summary", files[0], "--each")
    table = shown(capsys, "summary", files[1])
    assert table.splitlines()[1].split()[:5] == ["series", "mean", "median", "99th", "%"]
    (row,) = [line for line in table.splitlines() if line.startswith("UDP ")]
    assert row.split()[4:6] == ["30.00", "%"]
    (row,) = [line for line in shown(capsys, "summary", *files[1:]).splitlines() if line.startswith("UDP ")]
    assert "40.00 ± 127.06 %" in row  # 12.706 × 10 % / √2 × √2
    assert "loss" not in shown(capsys, "summary", files[1], "--reduce", "mean")


def test_algorithms_stand_in_the_summary_if_they_differ(capsys, tmp_path):
    """Of each flow; in CSV and JSON in any case."""
    file = tmp_path / "x.flent.gz"
    save(lossy(0), file)
    lines = shown(capsys, "summary", file).splitlines()
    assert lines[1].split()[-1] == "algorithm"
    assert [line.split()[-1] for line in lines if line.startswith("TCP upload::")] == ["cubic", "bbr"]
    (first, *_) = csv.DictReader(io.StringIO(shown(capsys, "summary", file, "--format", "csv")))
    assert first["algorithm"] == "cubic"
    save(lossy(0, ("bbr", "bbr")), file)
    assert "algorithm" not in shown(capsys, "summary", file)


def test_the_unit_is_that_of_the_number(capsys, file, tmp_path):
    """A score of calls is no time, a total no rate; several numbers of different units leave it to the series."""
    file = tmp_path / "call.flent.gz"
    series = {"VoIP": [50.0, 50.0], "VoIP::owd_up": [25.0, 25.0], "VoIP::seq": [0.0, 1.0]}
    found = {name: make_series(name, "ms", [0.0, 1.0], values) for name, values in series.items()}
    found["TCP"] = make_series("TCP", "Mbits/s", [0.0, 1.0], [1.0, 1.0])
    save(Dataset(series=found), file)
    units = {"mos": "MOS", "raw_seq_loss": "", "cumsum": "Mbits", "mean": "Mbits/s", "var": "Mbits/s²"}
    for reducer, unit in units.items():
        rows = csv.DictReader(io.StringIO(shown(capsys, "summary", file, "--reduce", reducer, "--format", "csv")))
        assert {row["unit"] for row in rows if row["series"] == ("VoIP" if unit in ("MOS", "") else "TCP")} == {unit}
    both = shown(capsys, "summary", file, "--reduce", "mos", "--reduce", "mean", "--format", "csv")
    assert {row["unit"] for row in csv.DictReader(io.StringIO(both))} == {"ms", "Mbits/s"}


def test_what_repetitions_are():
    """Another seed, or a number in the title; not another path, parameter or test."""
    same = [small(seed=1), small(seed=2)]
    others = [small(path="1mbit"), replace(small(), flent={**small().flent, "TITLE": "other"}), small(clock="wall")]
    groups = repetitions([Source(str(number), data) for number, data in enumerate([*same, *others])])
    assert [[source.name for source in group] for group in groups] == [["0", "1"], ["2"], ["3"], ["4"]]


def test_other_disciplines_are_no_repetitions():
    """Of a running network nothing else tells that a person has changed one; seeds and handles do not count."""

    def found(limit, handle="2:", **settings):
        discipline = {"name": "pfifo", "id": handle, "parent": "root", "params": {"limit": limit, "seed": handle}}
        port = {"iface": "r1-eth0", "qdiscs": [discipline]}
        remote = {"r1": {"EGRESS_INFO": {"iface": "r1-eth1"}, "PORTS": [{"iface": "r1-eth1"}, port]}}
        data = small()
        return replace(data, flent={**data.flent, "REMOTE_METADATA": remote, "SYSCTLS": settings})

    same = [found("100p"), found("100p", "8001:", **{"net.ipv4.tcp_mem": "1 2 3"})]
    others = [found("20p"), found("100p", **{"net.ipv4.tcp_congestion_control": "bbr"})]
    groups = repetitions([Source(str(number), data) for number, data in enumerate([*same, *others])])
    assert [[source.name for source in group] for group in groups] == [["0", "1"], ["2"], ["3"]]


def test_the_same_outcome_twice_counts_once():
    """Whatever their seeds and titles say."""
    found = summarise([Source("a", small(seed=1)), Source("b", small(seed=2)), Source("c", small(1, 3))], TableChoice())
    assert found.outcomes == 2


def test_fairness_of_flows(capsys, file):
    """A pattern is a row; means 4 and 4.25 give (8.25)² / (2 (16 + 18.0625))."""
    table = shown(capsys, "summary", file, "--series", "TCP upload::*", "--reduce", "fairness_mean", "--format", "csv")
    row = next(csv.DictReader(io.StringIO(table)))
    assert row["series"] == "TCP upload::*"
    assert float(row["fairness_mean"]) == pytest.approx(8.25**2 / (2 * (16 + 4.25**2)), abs=1e-12)
    assert "needs several flows; say which with --series" in refused(capsys, "summary", file, "--reduce", "fairness")


def test_columns_side_by_side(capsys, tmp_path):
    """Each file's columns, and a gap where one has no such time."""
    save(small(), tmp_path / "a.flent.gz")
    longer = make_series("Ping (ms) ICMP", "ms", [1, 2, 3], [5, 6, 7])
    save(Dataset(series={longer.name: longer}, flent={"STEP_SIZE": 1.0}), tmp_path / "b.flent.gz")
    words = ["csv", tmp_path / "a.flent.gz", tmp_path / "b.flent.gz", "--series", "Ping*"]
    assert shown(capsys, *words) == (
        "time_s,Ping (ms) ICMP - a.flent.gz,Ping (ms) ICMP - b.flent.gz\n"
        "0.0,0.04,\n1.0,0.05,5.0\n2.0,0.06,6.0\n3.0,,7.0\n"
    )  # fmt: skip
    assert shown(capsys, *words, "--format", "org").splitlines()[1:3] == ["|---+---+---|", "| 0.00 | 0.04 | – |"]


def test_samples_at_their_own_times(capsys, file):
    """Further numbers by a pattern that names them; a gap is an empty cell, in JSON null."""
    table = shown(
        capsys, "csv", file, "--samples", "--series", "**cwnd", "--series", "TCP upload::2", "--cutoff", "0,2"
    )
    assert table.splitlines() == [
        "file,series,unit,time_s,value",
        "a.flent.gz,TCP upload::1::tcp_cwnd,,0.0,10.0",
        "a.flent.gz,TCP upload::1::tcp_cwnd,,1.0,20.0",
        "a.flent.gz,TCP upload::2,Mbits/s,0.0,6.0",
        "a.flent.gz,TCP upload::2,Mbits/s,1.0,",
    ]
    found = json.loads(shown(capsys, "csv", file, "--series", "TCP upload::2", "--format", "json"))
    assert found[1] == {"time_s": 1.0, "TCP upload::2": None}


def test_names_of_strangers_are_no_formulas(capsys, tmp_path):
    """A spreadsheet would run what begins with "="; a terminal would obey an escape."""
    series = make_series("=1+\x1b[31m1", "ms", [0, 1], [1, 2])
    save(Dataset(series={series.name: series}), tmp_path / "x.flent.gz")
    assert "'=1+\\x1b[31m1" in shown(capsys, "csv", tmp_path / "x.flent.gz")
    assert "=1+\\x1b[31m1" in shown(capsys, "summary", tmp_path / "x.flent.gz")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--series", "UDP*"], r'a\.flent\.gz: no series matches "UDP\*"; it has TCP upload::1, TCP upload::2, Ping'),
        (["--reduce", "avg"], 'there is no reducer "avg"; use mean, median'),
    ],
)
def test_one_sentence_says_what_is_wrong(capsys, file, words, said):
    """And what to do."""
    assert re.search(said, refused(capsys, "summary", file, *words))


def test_files_that_are_none(capsys, tmp_path, file):
    """Nothing is printed of the others."""
    (tmp_path / "bad.flent.gz").write_bytes(b"garbage")
    assert "bad.flent.gz: cannot be unpacked" in refused(capsys, "summary", file, tmp_path / "bad.flent.gz")
    (tmp_path / "empty").mkdir()
    assert "empty: there is no data file in this folder" in refused(capsys, "summary", tmp_path / "empty")


@pytest.mark.parametrize("cutoff", ["5", "a,b", "10,5", "-1,5", "nan,5"])
def test_a_cutoff_that_cannot_be(capsys, file, cutoff):
    """Two numbers, the second after the first."""
    with pytest.raises(SystemExit):
        main(["test", "summary", str(file), f"--cutoff={cutoff}"])
    assert "argument --cutoff: " in capsys.readouterr().err


def written(path, kind: str) -> None:
    """A file of ours with its derived series, one without, or one as Flent writes it."""
    if kind == "flents":
        flents_own(path)
    else:
        save(rrul() if kind == "bare" else derive(rrul(), RRUL), path)


def text_table(text: str) -> dict[str, list[str]]:
    """Rows of Flent's `-f summary`: series → mean, median, 99th percentile, data points; without units."""
    rows = re.findall(r"^ (\S.*?) +: +(.*)$", text, re.M)
    return {name: re.findall(r"N/A|[\d.]+(?![^ ]*/s)", line) for name, line in rows}


@needs_flent
@pytest.mark.parametrize("kind", ["ours", "flents"])
@pytest.mark.parametrize("cutoff", CUTOFFS)
def test_stock_flents_statistics(capsys, tmp_path, kind, cutoff):
    """Each number of `-f stats_csv`, and each series that it has; of a file of Flent's its `datapoints` too."""
    path = tmp_path / "x.flent.gz"
    written(path, kind)
    words = [] if cutoff is None else [f"--cutoff={cutoff[0]},{cutoff[1]}"]
    theirs = stats_of(path, *([] if cutoff is None else [f"--data-cutoff={cutoff[0]},{cutoff[1]}"]))
    ours = {
        row["series"]: row
        for row in csv.DictReader(io.StringIO(shown(capsys, "stats", path, "--format", "csv", *words)))
    }
    assert theirs.keys() == ours.keys()
    for name, numbers in theirs.items():
        assert float(ours[name]["datapoints"]) == numbers.pop("N")
        for reducer, column in STATS.items():
            assert float(ours[name][reducer]) == pytest.approx(numbers[column], abs=1e-6), (name, reducer)


@needs_flent
@pytest.mark.parametrize("kind", ["ours", "bare", "flents"])
def test_stock_flents_table(capsys, tmp_path, kind):
    """Each cell of `-f csv`, and its gaps; of a file of ours without derived series it adds these."""
    path = tmp_path / "x.flent.gz"
    written(path, kind)
    theirs = table_of(path)
    rows = list(csv.reader(io.StringIO(shown(capsys, "csv", path))))
    ours = {name: [float(row[k]) if row[k] else None for row in rows[1:]] for k, name in enumerate(rows[0])}
    assert ours.pop("time_s") == pytest.approx(theirs.pop("x"), abs=1e-9)
    if kind == "bare":
        theirs = {name: column for name, column in theirs.items() if name in ours}
    assert theirs.keys() == ours.keys()
    for name, column in theirs.items():
        assert [value is None for value in ours[name]] == [value is None for value in column]
        known = [value for value in column if value is not None]
        assert [value for value in ours[name] if value is not None] == pytest.approx(known, abs=1e-6)


@needs_flent
def test_stock_flents_summary(capsys, tmp_path):
    """The two decimals of `-f summary` are those of our text table."""
    path = tmp_path / "x.flent.gz"
    written(path, "ours")
    theirs = text_table(flent("-i", path, "-f", "summary"))
    lines = [re.split(r" {2,}", line) for line in shown(capsys, "summary", path).splitlines()[3:]]
    lines = [line for line in lines if len(line) > 1]  # below the table are sentences
    assert len(lines) == len(theirs) == len(rrul().series) + len(RRUL)
    for name, *numbers, _ in lines:
        assert numbers == theirs[name]


@needs_flent
def test_a_file_of_flents_gets_the_derived_series_that_it_lacks(capsys, tmp_path):
    """As Flent computes them when it opens an old file of its test rrul."""
    path = tmp_path / "x.flent.json"
    save(rrul(), tmp_path / "ours.json")
    found = json.loads((tmp_path / "ours.json").read_text())
    del found["metadata"]["LINKLAB"]
    path.write_text(json.dumps(found))
    theirs = table_of(path)
    rows = list(csv.reader(io.StringIO(shown(capsys, "csv", path, "--series", "* avg", "--series", "TCP totals"))))
    assert sorted(rows[0][1:]) == ["Ping (ms) avg", "TCP download avg", "TCP totals", "TCP upload avg"]
    for k, name in enumerate(rows[0][1:], 1):
        ours = [float(row[k]) if row[k] else None for row in rows[1:]]
        assert [None if value is None else round(value, 6) for value in ours] == [
            None if value is None else round(value, 6) for value in theirs[name]
        ]


def loaded(flows: int = 2, *, length: float = 10, first: float = 5.2) -> Dataset:
    """A test of `length` s of load in 20 s, with a queue, the processors, an average and an index."""
    times = [first, first + 1, first + 2]
    ups = [make_series(f"TCP upload::{n + 1}", "Mbits/s", times, [4, math.nan if n else 0, 2]) for n in range(flows)]
    data = Dataset(
        series={one.name: one for one in ups}
        | {name: make_series(name, "", [0, 10, 20], [1, 2, 3]) for name in ("qdisc_stats_r1-eth0", "cpu_stats")},
        flent={"NAME": "x", "STEP_SIZE": 1.0, "LENGTH": length, "TOTAL_LENGTH": 20},
    )
    rules = (("avg", DerivedRule.MEAN), ("fairness", DerivedRule.FAIRNESS))
    return derive(data, [Derived(f"TCP upload {name}", rule, ("TCP upload::*",)) for name, rule in rules])


def test_what_the_numbers_are_of_stands_below_the_table(capsys, tmp_path):
    """The idle seconds are part of the means; rows whose names do not say what they are; nothing beside a choice."""
    path = tmp_path / "x.flent.gz"
    save(loaded(), path)
    below = shown(capsys, "summary", path).splitlines()[-2:]
    assert below == [
        "Whole test, with 5 s before and 5 s after the load; --cutoff 5,-5 keeps the time of the load.",
        "qdisc_stats_… are the bytes that wait in the queue of an interface; "
        "cpu_stats is the load of the network's processors, from 0 to 1.",
    ]
    for words in (["--cutoff", "5,-5"], ["--series", "TCP**"], ["--format", "csv"], ["--format", "org"]):
        assert "Whole test" not in shown(capsys, "summary", path, *words)
    for other in (loaded(length=20), loaded(first=9.0)):
        save(other, path)
        assert "Whole test" not in shown(capsys, "summary", path)


def test_an_average_above_all_that_it_is_of_is_explained():
    """While one flow says nothing, the average is that of the other."""
    flows = [make_series(f"TCP upload::{number}", "Mbits/s", [6, 7], [number, number]) for number in (1, 2)]
    for mean, said in ((2.5, True), (1.5, False)):
        meta = {"DERIVED_FROM": [one.name for one in flows]}
        average = make_series("TCP upload avg", "Mbits/s", [6, 7], [mean, mean], meta=meta)
        data = Dataset(series={one.name: one for one in (*flows, average)})
        assert ("TCP upload avg is larger than the mean of each flow" in text_of("x", data)) == said


def test_one_flow_has_no_fairness(capsys, tmp_path):
    """Unless a person asks for it."""
    path = tmp_path / "x.flent.gz"
    for flows in (1, 2):
        save(loaded(flows), path)
        assert ("fairness" in shown(capsys, "summary", path)) == (flows > 1)
        assert "fairness" in shown(capsys, "summary", path, "--series", "*fairness")


def test_an_old_file_of_flents_gets_units(capsys, tmp_path):
    """Files of version 3 say none; those of flows and of what is derived follow from the test."""
    old = {
        "version": 3,
        "x_values": [0.0, 1.0, 2.0],
        "results": {"TCP upload": [1.0, 2.0, 3.0], "Ping (ms) ICMP": [50.0, 51.0, 52.0]},
        "metadata": {"NAME": "tcp_upload", "TITLE": "", "T0": "2020-01-01T00:00:00.000000Z", "STEP_SIZE": 1.0},
    }
    path = tmp_path / "old.flent"
    path.write_text(json.dumps(old))
    rows = csv.DictReader(io.StringIO(shown(capsys, "summary", path, "--format", "csv")))
    assert {row["series"]: row["unit"] for row in rows} == {"TCP upload": "Mbits/s", "Ping (ms) ICMP": "ms"}
