# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: the file, the rounds until the intervals are narrow, tables, findings, and the command."""

import csv
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trials

from linklab.cli import main
from linklab.data import Dataset, save
from linklab.errors import InputError
from linklab.experiment.model import When
from linklab.experiment.sweep import Looked, Rounds, check_windows, checked, doubtful, value_of
from linklab.experiment.sweep_file import Measure, load_sweep, read_sweep
from linklab.experiment.sweep_report import cell_table, findings, trial_table
from linklab.experiment.sweep_template import TEMPLATE
from linklab.measure import make_series
from linklab.plots.intervals import IntervalPanel, Point, draw_intervals

HEAD = 'test = "tcp_1up"\npath = "10mbit 50ms {q}"\n'
FACTORS = '[factors]\nq = ["pfifo", "codel"]\n'
MEASURES = '[measures.throughput]\nseries = "TCP upload"\n'


def sweep(top: str = "", factors: str = FACTORS, measures: str = MEASURES, head: str = HEAD):
    """The sweep of a file's parts."""
    return read_sweep(f"{head}{top}{factors}{measures}", "x.toml")


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ('["1bdp", "2bdp"]', ("1bdp", "2bdp")),
        ("[1, 2.5]", ("1", "2.5")),
        ('{ from = "10ms", to = "30ms", step = "10ms" }', ("10ms", "20ms", "30ms")),
        ('{ from = "0.1 %", to = "0.35%", step = "0.1%" }', ("0.1%", "0.2%", "0.3%")),
        ('{ from = "30ms", to = "10ms", step = "-10ms" }', ("30ms", "20ms", "10ms")),
        ('{ from = "1mbit", to = "2mbit", points = 3 }', ("1mbit", "1.5mbit", "2mbit")),
        (
            '{ from = "0.25bdp", to = "4bdp", points = 5, spacing = "log" }',
            ("0.25bdp", "0.5bdp", "1bdp", "2bdp", "4bdp"),
        ),
        ("{ from = 1, to = 4, step = 1 }", ("1", "2", "3", "4")),
        ('{ from = "1mbit", to = "1000000mbit", points = 3, spacing = "log" }', ("1mbit", "1000mbit", "1000000mbit")),
    ],
)
def test_levels_are_a_list_or_a_range_with_units(text, levels):
    """Six digits, no exponent, in the unit that the file uses."""
    assert sweep(factors=f"[factors]\nq = {text}\n").factors == {"q": levels}


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"factors": "[factors]\nq = []\n"}, 'x.toml factors: "q" has no level'),
        ({"factors": '[factors]\nq = ["a", "a"]\n'}, '"q" has a level twice'),
        ({"factors": "[factors]\n"}, "there is no factor"),
        (
            {"factors": '[factors]\nq = ["a"]\nz = ["b"]\n'},
            'the factor "z" changes nothing; write {z} where it belongs',
        ),
        ({"factors": '[factors]\nz = ["b"]\n'}, '"{q}" is not a factor; the factors are z'),
        ({"factors": '[factors]\nq = {from = "1ms", to = "2s", points = 2}\n'}, "must have the same unit"),
        (
            {"factors": '[factors]\nq = {from = "1ms", to = "2ms"}\n'},
            'x.toml factors.q: give either "step" or "points"',
        ),
        ({"factors": '[factors]\nq = {from = "x", to = "2ms", points = 2}\n'}, '"from" must be a number with its unit'),
        ({"factors": '[factors]\nq = {from = "0ms", to = "2ms", points = 2, spacing = "log"}\n'}, '"spacing" must be'),
        ({"factors": '[factors]\nq = {from = "1ms", to = "2ms", step = "-1ms"}\n'}, '"step" does not lead'),
        ({"factors": '[factors]\nq = {from = "1ms", to = "9s", step = "0ms"}\n'}, "must have the same unit"),
        ({"factors": "[factors]\nq = {from = 0, to = 1000000, step = 1}\n"}, "it must have 2 to 1000 levels"),
        ({"measures": "[measures]\n"}, "there is no measure"),
        ({"measures": "[measures.a]\n"}, 'x.toml measures.a: "series" is missing'),
        ({"measures": '[measures.a]\nseries = "x"\nreduce = "avg"\n'}, 'there is no reducer "avg"'),
        ({"measures": '[measures.a]\nseries = "x"\nover = "avg"\n'}, '"over" must be mean, sum, min, max'),
        ({"measures": '[measures.a]\nseries = "x"\nfrom = "9s"\nto = "3s"\n'}, '"to" must be later than "from"'),
        ({"measures": '[measures.a]\nseries = "x"\nfrom = "9 apples"\n'}, "measures.a: from: time"),
        ({"top": 'until = "2"\n'}, "until: percentage"),
        ({"top": 'until = "0 %"\n'}, '"until" must be above 0 %'),
        ({"top": 'until = "2 %"\nrepetitions = 2\n'}, '"repetitions" must be at least 3'),
        ({"top": 'until = "2 %"\nrepetitions = 9\nmost = 8\n'}, '"most" must be at least "repetitions", 9'),
        ({"top": "most = 8\n"}, '"most" is for sweeps with "until"'),
        ({"top": "repetitions = 0\n"}, '"repetitions" must be a whole number from 1 on, not 0'),
        ({"top": "repetitions = 99999\n"}, "it makes more than 20000 trials"),
        ({"top": "speed = 3\n"}, 'x.toml: unknown key "speed"; the keys here are'),
        ({"top": 'length = "x"\n'}, "x.toml: length: time"),
        ({"head": 'test = "tcp_1up"\nnote = "{q}"\n'}, 'give either "path", such as'),
        ({"head": "test = [\n"}, "x.toml: "),
        ({"factors": '[factors]\nq = ["a"]\nrepetition = ["b"]\n'}, '"repetition" cannot be the name of a factor'),
        ({"top": 'length = "{repetition}s"\n'}, '"{repetition}" is not a factor'),
        ({"top": 'before = "x"\n'}, 'x.toml: "before" must be a list'),
    ],
)
def test_what_is_wrong_is_said_with_its_place(parts, why):
    """One sentence for each mistake."""
    with pytest.raises(InputError) as caught:
        sweep(**parts)
    assert why in str(caught.value)


def test_the_template_is_a_sweep(tmp_path):
    """As it is written, and nobody writes over a file with it."""
    path = tmp_path / "new.toml"
    assert main(["sweep", "--new", str(path), "-q"]) == 0
    assert path.read_text() == TEMPLATE
    found = load_sweep(path)
    assert (list(found.factors), [measure.name for measure in found.measures]) == (
        ["buffer", "cc"],
        ["throughput", "latency"],
    )
    assert found.measures[1].cutoff == (10.0, 25.0)
    assert main(["sweep", "--new", str(path)]) == 2


def test_each_cell_is_repeated_with_the_same_seeds():
    """Repetition by repetition, so that an early look shows all cells."""
    rounds = Rounds(sweep('repetitions = 2\nseed = 5\nlength = "7s"\n[parameters]\na = "{q}!"\n'))
    due = rounds.next()
    assert [(cell.levels["q"], entry.trial.seed) for cell, entry in due] == [
        ("pfifo", 5),
        ("codel", 5),
        ("pfifo", 6),
        ("codel", 6),
    ]
    entry = due[3][1]
    assert (entry.name, entry.label) == ("trials/codel-002", "q codel, seed 6")
    assert (entry.trial.path, entry.trial.parameters, entry.trial.length_s) == (
        "10mbit 50ms codel",
        {"a": "codel!"},
        7.0,
    )
    assert entry.trial.extra["sweep"] == {"factors": {"q": "codel"}, "repetition": 2}


def test_places_of_each_repetition():
    """Commands before a test, and starts that differ from one repetition to the next."""
    top = 'repetitions = 2\nbefore = ["tc {q} {repetition}"]\n[parameters]\ndelays = "0,0.{repetition}"\n'
    entries = [entry for cell, entry in Rounds(sweep(top)).next() if cell.levels["q"] == "codel"]
    assert [entry.trial.parameters["delays"] for entry in entries] == ["0,0.01", "0,0.02"]
    assert [command.line for entry in entries for command in entry.trial.commands] == ["tc codel 01", "tc codel 02"]
    assert {(each.when, each.essential) for entry in entries for each in entry.trial.commands} == {(When.PRE, True)}


def test_on_the_network_that_runs_there_is_no_path_and_no_seed():
    """Repetitions have numbers there; a file with a path is refused, and outside one without."""
    text = f'test = "tcp_1up"\nnote = "x"\nbefore = ["tc {{q}}"]\nrepetitions = 2\n{FACTORS}{MEASURES}'
    found = read_sweep(text, "x.toml", here=True)
    rounds = Rounds(found)
    (cell, entry), *_ = rounds.next()
    assert (entry.trial.path, entry.label) == ("", "q pfifo, repetition 1")
    rounds.take(cell, {found.measures[0].key: 3.0})
    assert trial_table(rounds).splitlines()[:2] == ["file,q,repetition,throughput", f"{entry.file},pfifo,1,3.0"]
    with pytest.raises(InputError, match="here is only the network that runs"):
        read_sweep(f"{HEAD}{FACTORS}{MEASURES}", "x.toml", here=True)
    with pytest.raises(InputError, match='give either "path"'):
        read_sweep(text, "x.toml")
    for key in ("seed = 2", 'clock = "wall"', 'engine = "host"', 'cpu = "slow"'):
        with pytest.raises(
            InputError, match=rf'^x\.toml: "{key.partition(" ")[0]}": the network that runs has its own'
        ):
            read_sweep(f"{key}\n{text}", "x.toml", here=True)


def test_the_order_within_a_repetition_is_shuffled_with_a_seed():
    """All cells of a repetition come before those of the next, in another order each time."""
    factors = '[factors]\nq = ["pfifo", "codel", "red", "pie", "sfq"]\n'

    def order(seed):
        return [(cell.levels["q"], entry.trial.seed) for cell, entry in Rounds(sweep(factors=factors), seed).next()]

    assert order(1) == order(1) != order(2)
    assert [seed for _, seed in order(1)] == [1] * 5 + [2] * 5 + [3] * 5
    assert sorted(order(1)) == sorted(order(None))
    assert [name for name, _ in order(1)[:5]] != [name for name, _ in order(1)[5:10]]


def done(rounds: Rounds, values) -> list[int]:
    """Do all rounds, with `values(levels, repetition)` for what a trial gives; how many trials each had."""
    counts = []
    while due := rounds.next():
        counts.append(len(due))
        for cell, _ in due:
            rounds.take(cell, {measure.key: values(cell, measure) for measure in rounds.sweep.measures})
    return counts


def test_a_cell_is_repeated_until_its_interval_is_narrow():
    """And no longer; a quiet cell needs the least, a noisy one more, one without a value as many as may be."""
    rng = random.Random(18)  # noqa: S311
    spreads = {"pfifo": 0.0, "codel": 5.0, "red": math.nan}
    rounds = Rounds(sweep('until = "2 %"\nmost = 60\n', '[factors]\nq = ["pfifo", "codel", "red"]\n'))
    counts = done(rounds, lambda cell, _: 100 + rng.gauss(0, 1) * spreads[cell.levels["q"]])
    quiet, noisy, lacking = rounds.cells
    assert (quiet.repetitions, lacking.repetitions) == (3, 60)
    assert 6 < noisy.repetitions < 60
    measure = rounds.sweep.measures[0]
    assert noisy.interval(measure).relative <= 0.02
    noisy.values["throughput"].pop()
    assert counts[0] == 9
    assert [cell.levels["q"] for cell, _, _ in rounds.missed()] == ["red"]


def test_a_measure_may_decide_nothing_or_ask_for_more():
    """Each has its own bound."""
    measures = MEASURES + '[measures.b]\nseries = "x"\nuntil = "none"\n[measures.c]\nseries = "y"\nuntil = "50 %"\n'
    found = sweep('until = "2 %"\n', measures=measures)
    assert [measure.until for measure in found.measures] == [0.02, None, 0.5]
    assert (found.repetitions, found.most) == (3, 30)


def test_a_measure_of_several_series():
    """A pattern names them; what has no value does not count."""
    times = [0.0, 1.0, 2.0, 3.0]
    values = {"TCP upload::1": [1, 2, 3, 4], "TCP upload::2": [5, 6, 7, 8], "TCP upload::3": [math.nan] * 4}
    data = Dataset(series={name: make_series(name, "Mbits/s", times, found) for name, found in values.items()})

    def found(**options) -> float:
        return value_of(Measure("m", **{"series": "TCP upload::*", **options}), data)

    assert found() == 4.5
    assert found(over="max", reduce="max") == 8.0
    assert found(series="TCP upload::1", cutoff=(0.5, 2.5)) == 2.5
    assert math.isnan(found(series="nothing"))
    assert found(reduce="fairness_mean") == pytest.approx((2.5 + 6.5) ** 2 / (2 * (2.5**2 + 6.5**2)))


def test_a_sum_with_a_flow_missing_is_not_known():
    """Neither where the series has no value nor where its program failed, so that there is no series."""
    known = {"TCP upload::1": [1.0, 3.0], "TCP upload::2": [5.0, 7.0]}

    def total(values, failed=()) -> float:
        series = {name: make_series(name, "Mbits/s", [0.0, 1.0], found) for name, found in values.items()}
        data = Dataset({"failed": dict.fromkeys(failed, "refused")}, series=series)
        return value_of(Measure("m", "TCP upload::*", over="sum"), data)

    assert total(known) == 8.0
    assert total(known, ["Ping (ms) ICMP"]) == 8.0
    assert math.isnan(total({**known, "TCP upload::3": [math.nan] * 2}))
    assert math.isnan(total(known, ["TCP upload::3"]))


TWO = 'test = "tcp_1up"\npath = "10mbit 50ms {q} {b}"\n'


def two_factors(values) -> Rounds:
    """A finished sweep of 2 × 2 cells with two repetitions."""
    rounds = Rounds(sweep("repetitions = 2\n", '[factors]\nq = ["x", "y"]\nb = ["1p", "2p"]\n', MEASURES, TWO))
    chance = iter([0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.2])
    done(rounds, lambda cell, _: values(cell.levels) + next(chance))
    return rounds


def test_the_factor_that_matters_most_is_named_with_its_share():
    """And those of the others; the tables hold every cell and every trial."""
    rounds = two_factors(lambda levels: (10.0 if levels["q"] == "x" else 4.0) + (1.0 if levels["b"] == "1p" else 0.0))
    first, method = findings(rounds, {"throughput": "Mbits/s"})
    assert first == (
        "throughput: q matters most, with 97.2 % of the variance (b 2.7 %, combinations of factors 0 %, "
        "differences between repetitions 0.108 %); its means lie between 4.6 and 10.6 Mbit/s"
    )
    assert method.startswith("Method: share of variance (η²")
    rows = list(csv.DictReader(cell_table(rounds, {"throughput": "Mbits/s"}).splitlines()))
    assert rows[0]["q"] == "x"
    assert rows[0]["throughput n"] == "2"
    assert float(rows[0]["throughput mean"]) == pytest.approx(11.1)
    assert float(rows[0]["throughput high"]) == pytest.approx(11.1 + 12.7062 * 0.1, rel=1e-4)
    assert (rows[0]["throughput distinct"], rows[0]["throughput unit"]) == ("2", "Mbits/s")
    assert trial_table(rounds).splitlines()[:2] == ["file,q,b,seed,throughput", "trials/x-1p-001.flent.gz,x,1p,1,11.0"]


def test_what_may_be_chance_is_called_so():
    """Values that depend on the seed alone; and values that are all the same."""
    same = list(findings(two_factors(lambda levels: 3.0), {}))
    assert same[0].startswith("throughput: no factor by itself explains any of the variance")
    rounds = Rounds(sweep("repetitions = 2\n"))
    done(rounds, lambda cell, measure: 3.0)
    assert (
        next(findings(rounds, {"throughput": "Mbits/s"}))
        == "throughput: all trials gave the same value, so no factor matters"
    )
    rounds = Rounds(sweep("repetitions = 2\n"))
    done(rounds, lambda cell, measure: None)
    assert list(findings(rounds, {"throughput": "Mbits/s"}))[::2] == [
        "throughput: too few trials gave a value to say what matters",
        "q pfifo: 2 of 2 trials gave no throughput",
    ]


def test_outcomes_that_differ_by_rounding_alone_are_the_same():
    """Sums of the same numbers in another order differ in their last digits, and no factor made them so."""
    parts = [0.1, 0.2, 0.3]
    orders = {("x", "1p"): parts, ("x", "2p"): parts[::-1], ("y", "1p"): parts, ("y", "2p"): parts}
    rounds = Rounds(sweep("repetitions = 2\n", '[factors]\nq = ["x", "y"]\nb = ["1p", "2p"]\n', MEASURES, TWO))
    done(rounds, lambda cell, _: 0.0 + sum(orders[tuple(cell.levels.values())]))
    assert len({value for cell in rounds.cells for value in cell.values["throughput"]}) == 2
    assert (
        next(findings(rounds, {"throughput": "Mbits/s"}))
        == "throughput: all trials gave the same value, so no factor matters"
    )
    rounds = two_factors(lambda levels: 1e6)
    assert ", differences between repetitions 100 %" in next(findings(rounds, {"throughput": "Mbits/s"})), (
        "0.2 of a million is a difference"
    )


def test_numbers_in_the_tables_are_numbers():
    """A minus is no formula, neither of a value nor of a level; what would be a formula is told apart."""
    rounds = Rounds(sweep("repetitions = 2\n", '[factors]\nq = ["-2p", "-2"]\n'))
    done(rounds, lambda cell, _: -1.5)
    first, second = csv.DictReader(cell_table(rounds, {}).splitlines())
    assert (first["throughput mean"], first["q"], second["q"]) == ("-1.5", "'-2p", "-2")
    assert trial_table(rounds).splitlines()[-1].endswith(",-2,2,-1.5")


# --- the command


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """Trials are done without one, and runs are kept apart."""
    monkeypatch.setattr("linklab.experiment.trial.run_trial", trials.fake)
    monkeypatch.setattr("linklab.engine.pocket.PocketEngine.check", lambda self: None)
    monkeypatch.chdir(tmp_path)


FILE = (
    'test = "tcp_1up"\npath = "10mbit 50ms {buffer} {q}"\nuntil = "1 %"\nmost = 12\nlength = "9s"\n'
    '[factors]\nbuffer = ["10p", "20p"]\nq = ["fifo", "codel"]\n'
    '[measures.throughput]\nseries = "TCP upload"\n'
    '[measures.latency]\nseries = "Ping (ms) ICMP"\nreduce = "median"\n'
)


def test_a_sweep_ends_with_tables_a_figure_and_findings(no_network, tmp_path, capsys):
    """With one and with two processes the folder is the same, and so it is where it was gone on with."""
    path = tmp_path / "buffer.toml"
    path.write_text(FILE)
    assert main(["sweep", str(path), "-j1"]) == 0
    said = capsys.readouterr().out
    assert "2 buffer × 2 q, 3 repetitions each and up to 12 until the intervals are within their bounds" in said
    assert "At least 12 trials, 3 min 48 s of network time" in said
    assert "latency: q matters most, with 9" in said
    folder = tmp_path / "runs/sweep-buffer"
    whole = contents(folder)
    assert {"trials.json", "table.csv", "trials.csv", "figure.svg", "findings.txt"} < set(whole)
    assert len([name for name in whole if name.startswith("trials/")]) > 12
    assert main(["sweep", str(path), "-j2", "--out", str(tmp_path / "two"), "-q"]) == 0
    assert contents(tmp_path / "two") == whole
    (tmp_path / "two/trials/10p-fifo-002.flent.gz").unlink()
    for name in ("table.csv", "trials.csv", "figure.svg", "findings.txt"):
        (tmp_path / "two" / name).unlink()
    assert main(["sweep", str(path), "--resume", str(tmp_path / "two"), "-q"]) == 0
    assert contents(tmp_path / "two") == whole


def test_a_measure_that_is_changed_is_read_again(no_network, tmp_path):
    """From the data files, without running a trial."""
    path = tmp_path / "s.toml"
    path.write_text(FILE.replace('until = "1 %"\nmost = 12\n', ""))
    assert main(["sweep", str(path), "-q", "--out", str(tmp_path / "out")]) == 0
    before = {name: text for name, text in contents(tmp_path / "out").items() if name.startswith("trials/")}
    path.write_text(path.read_text().replace('"median"', '"max"'))
    assert main(["sweep", str(path), "-q", "--resume", str(tmp_path / "out")]) == 0
    assert {name: text for name, text in contents(tmp_path / "out").items() if name.startswith("trials/")} == before
    rows = list(csv.DictReader((tmp_path / "out/table.csv").read_text().splitlines()))
    assert float(rows[0]["latency mean"]) > 80
    assert main(["sweep", str(path), "-q", "--out", str(tmp_path / "new")]) == 0
    assert contents(tmp_path / "new") == contents(tmp_path / "out")


def test_a_measure_that_nothing_gives_is_said(no_network, tmp_path, capsys):
    """Before it runs, and at the end by the exit status."""
    path = tmp_path / "s.toml"
    path.write_text(FILE.replace('"TCP upload"', '"TCP uplaod"').replace('until = "1 %"\nmost = 12\n', ""))
    assert main(["sweep", str(path), "-q"]) == 1
    assert 'measure throughput: tcp_1up has no series "TCP uplaod". It has TCP upload, Ping' in capsys.readouterr().err
    path.write_text(FILE.replace("tcp_1up", "no_such_test"))
    assert main(["sweep", str(path), "--check"]) == 2


def test_a_unit_is_that_of_a_trial_that_has_the_series(no_network, tmp_path, monkeypatch):
    """Not that of the first file by name, whose flow may have failed (the unit was empty then)."""

    def fake(trial, out, tell):
        save(replace(trials.measured(trial), series={}) if "10p" in trial.path else trials.measured(trial), out)
        return out

    monkeypatch.setattr("linklab.experiment.trial.run_trial", fake)
    path = tmp_path / "s.toml"
    path.write_text(FILE.replace('until = "1 %"\nmost = 12\n', ""))
    main(["sweep", str(path), "-q", "--out", str(tmp_path / "out")])
    rows = list(csv.DictReader((tmp_path / "out/table.csv").read_text().splitlines()))
    assert {(row["throughput unit"], row["latency unit"]) for row in rows} == {("Mbits/s", "ms")}


def test_an_interval_that_is_not_known_is_not_drawn():
    """Of a single run there is a point, without bar and caps (they were drawn with the length 0)."""
    points = [Point(1.0, math.nan, math.nan), Point(2.0, 1.5, 2.5)]
    axes = draw_intervals([IntervalPanel("x", {"": points})], "f", ["1", "2"]).axes[0]
    (bars,) = axes.containers[0][2]
    assert [bool(np.isfinite(segment).all()) for segment in bars.get_segments() if len(segment)] == [True]
    for cap, end in zip(axes.containers[0][1], (1.5, 2.5), strict=True):
        heights = np.ma.filled(np.ma.asarray(cap.get_ydata(orig=False), dtype=float), np.nan)
        assert np.array_equal(heights, [np.nan, end], equal_nan=True)


def test_numbers_are_read_where_the_trial_runs():
    """By the key of the measure, with None for what is not there."""
    measures = sweep(measures=MEASURES + '[measures.none]\nseries = "none"\n').measures
    data = Dataset(series={"TCP upload": make_series("TCP upload", "Mbits/s", [0.0, 1.0], [1.0, 3.0])})
    assert Looked(measures)(data) == {"mean of TCP upload, mean": 2.0, "mean of none, mean": None}


def test_a_span_of_a_part_of_the_test_is_doubtful():
    """The least round trip of a part in which the queue never empties is not that of the path."""
    part = '[measures.latency]\nseries = "Ping (ms) ICMP"\nreduce = "mean_span"\nfrom = "10s"\n'
    (said,) = doubtful(sweep(measures=part))
    assert said.startswith("measure latency: mean_span counts from the least value after 10 s, when the queue may")
    assert not list(doubtful(sweep(measures=part.replace('from = "10s"\n', 'to = "25s"\n'))))
    assert not list(doubtful(sweep(measures=part.replace("mean_span", "mean"))))


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ('to = "55s"', 'measure m: "to" is 55 s, but the test lasts 30 s (q pfifo, seed 1)'),
        ('from = "30s"', 'measure m: "from" is 30 s, and nothing is left before 30 s, but'),
        ('from = "26s"\nto = "-5s"', 'measure m: "from" is 26 s, and nothing is left before 25 s, but'),
    ],
)
def test_a_window_beyond_the_test_is_refused(window, said):
    """Before anything runs, since nothing would be counted in it, or less than was asked for."""
    found = sweep(measures=f'[measures.m]\nseries = "TCP upload"\n{window}\n')
    entries = [replace(entry, network_s=30.0) for entry in checked(found)]
    with pytest.raises(InputError) as caught:
        check_windows(found, entries)
    assert said in str(caught.value)


def test_a_window_within_the_test_is_taken():
    """Up to its very end, and counted from there."""
    for window in ('to = "30s"', 'from = "10s"', 'from = "10s"\nto = "-5s"', ""):
        found = sweep(measures=f'[measures.m]\nseries = "TCP upload"\n{window}\n')
        check_windows(found, [replace(entry, network_s=30.0) for entry in checked(found)])


def test_one_factor_explains_and_matters_not_most():
    """Of one there is no most; how large its effect is stands beside its share, which says nothing of that."""
    rounds = Rounds(sweep("repetitions = 2\n"))
    values = {"pfifo": iter([9.560, 9.561]), "codel": iter([9.577, 9.578])}
    done(rounds, lambda cell, _: next(values[cell.levels["q"]]))
    said = next(findings(rounds, {"throughput": "Mbits/s"}))
    assert said.startswith("throughput: q explains 99.7 % of the variance (differences between repetitions 0.345 %)")
    assert "; its means lie between 9.561 and 9.578 Mbit/s" in said
