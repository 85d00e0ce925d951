# SPDX-License-Identifier: BSD-3-Clause
"""How much room an expectation leaves, what range seeds support, and the table of seeds in a lab's folder."""

import math
import statistics
import sys
from pathlib import Path

import pytest
from test_runner import make_lab

from linklab.errors import LabError
from linklab.judge.quantity import Value
from linklab.judge.room import bound_room, outward, proposal, relation_room, tolerance_factor, too_wide
from linklab.judge.tolerance import parse_tolerance
from linklab.lab.seeds import dumped, load_spread, metrics_of, seed_problems, stale

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import ranges

MANUAL = "## A\n\n```h1 id=a\ntrue\n```\n\n```h1 id=b\ntrue\n```\n"
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "a"
what = "rate"
range = ["50 Mbps", "150 Mbps"]
why = "w"

[[expect]]
step = "b"
what = "rtt"
at_most = "5 ms"
why = "w"

[[expect]]
relation = "a.rate > 2 * b.rate"
why = "w"

[[expect]]
step = "a"
shows = "x"
why = "w"
"""


def tolerance(**shape):
    """A tolerance of lab.toml."""
    return parse_tolerance(shape, "why")


def runs(rates, rtts, slower=1e7):
    """What a run of each seed measured."""
    return {
        seed: {"a": {"rate": (rate, "bit/s"), "more": (1.0, "")}, "b": {"rtt": (rtt, "s"), "rate": (slower, "bit/s")}}
        for seed, (rate, rtt) in enumerate(zip(rates, rtts, strict=True), 1)
    }


@pytest.mark.parametrize(
    ("shape", "values", "wide"),
    [
        ({"range": ["75 Mbps", "125 Mbps"]}, [100e6], True),
        ({"range": ["76 Mbps", "124 Mbps"]}, [100e6], False),
        ({"value": 0}, [0], False),
        ({"at_most": "5 ms"}, [0.4e-3, 0.5e-3], True),
        ({"at_most": "5 ms"}, [0.4e-3, 0.6e-3], False),
        ({"at_most": "5 ms"}, [0, 0], True),
        ({"at_least": 100}, [1000, 2000], True),
        ({"at_least": 100}, [999, 2000], False),
    ],
)
def test_what_is_too_wide(shape, values, wide):
    """A range half as wide as its middle; a bound ten times from the worst of the values."""
    assert too_wide(tolerance(**shape), values) is wide


def test_the_room_of_a_bound():
    """In times of the value that is nearest to it."""
    assert bound_room(tolerance(at_most="6 ms"), [1e-3, 2e-3]) == pytest.approx(3)
    assert bound_room(tolerance(at_least=5), [10, 20]) == 2
    assert bound_room(tolerance(at_most=5), [0]) == math.inf


@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("s.a > 2 * s.b", 2.5),  # 10 against 2·1, and 15 against 2·3
        ("s.b < s.a", 5.0),
        ("s.a > s.b and s.a < 3 * s.a", 5.0),
        ("s.a > s.b or s.a < 3 * s.a", 1.0),
        ("s.a == s.a", 1.0),
        ("s.a > s.b - 100", 1.0),
        ("s.a > 0 * s.b", math.inf),
    ],
)
def test_the_room_of_a_relation(text, room):
    """That of its loosest comparison, in the run in which it is tightest."""
    values = [{"s.a": 10.0, "s.b": 1.0}, {"s.a": 15.0, "s.b": 3.0}]
    assert relation_room(text, [{key: Value(value, "") for key, value in run.items()}.get for run in values]) == room


def test_the_factor_is_howes():
    """Tables of two-sided tolerance factors, 95 % sure of 99.9 %: 4.614 for 20, 5.649 for 10, 8.299 for 5."""
    assert tolerance_factor(20) == pytest.approx(4.614, rel=0.01)
    assert tolerance_factor(10) == pytest.approx(5.649, rel=0.02)
    assert tolerance_factor(5) == pytest.approx(8.299, rel=0.06)


def test_what_seeds_support():
    """The mean, Howe's factor of standard deviations, and one per cent; never below 0 where no value is."""
    values = [90.0, 100.0, 110.0, 95.0, 105.0]
    low, high = proposal(values)
    reach = tolerance_factor(5) * statistics.stdev(values) + 1
    assert (low, high) == (pytest.approx(100 - reach), pytest.approx(100 + reach))
    assert proposal([4.0] * 5) == (pytest.approx(3.96), pytest.approx(4.04))
    assert proposal([0.0, 0.0, 9.0, 0.0, 0.0])[0] == 0
    assert outward(1.2341, 1.2341) == (1.23, 1.24)
    assert outward(-1234.5, 0.0) == (-1240.0, 0.0)


def test_the_table_holds_what_expectations_name_and_reads_back(tmp_path):
    """Every metric of an expectation or a relation once, with a value of each seed."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    assert metrics_of(lab.expectations) == [("a", "rate"), ("b", "rtt"), ("b", "rate")]
    found = runs([90e6, 110e6 + 1 / 3], [1e-5, 2.5e-5])
    (lab.folder / "seeds.toml").write_text(dumped(lab, "abc", found))
    spread = load_spread(lab)
    assert (spread.kernel, list(spread.runs), stale(lab, spread)) == ("abc", [1, 2], "")
    assert spread.values("a", "rate") == [90e6, 110e6]
    assert spread.runs[2]["b"] == {"rtt": (2.5e-5, "s"), "rate": (1e7, "bit/s")}
    assert "more" not in spread.runs[1]["a"]


def test_a_value_that_a_run_lacks_stays_a_gap(tmp_path):
    """Unknown is not zero."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    found = runs([90e6, 110e6], [1e-5, 1e-5])
    del found[1]["a"]
    (lab.folder / "seeds.toml").write_text(dumped(lab, "abc", found))
    assert load_spread(lab).values("a", "rate") == [110e6]


def test_a_table_of_other_steps_or_metrics_is_stale(tmp_path):
    """It says nothing of the lab as it is now."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    text = dumped(lab, "abc", runs([90e6], [1e-5]))
    (lab.folder / "seeds.toml").write_text(text)
    other = make_lab(tmp_path / "metrics", MANUAL, TOML.replace('what = "rtt"', 'what = "delay"'))
    assert stale(other, load_spread(lab)) == "it lacks b delay"
    other = make_lab(tmp_path / "steps", MANUAL.replace("true", "false"), TOML)
    assert stale(other, load_spread(lab)) == "it was made of other steps"
    (lab.folder / "seeds.toml").write_text(text.replace("values = [9", "values = [9, 9"))
    with pytest.raises(LabError, match="2 values for 1 seeds; write it anew with tools/seeds"):
        load_spread(lab)


def test_a_range_that_a_seed_misses_is_a_problem_of_the_lab(tmp_path):
    """Ranges are tightened, but never beyond what chance does."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    (lab.folder / "seeds.toml").write_text(dumped(lab, "abc", runs([90e6, 151e6], [1e-5, 1e-5])))
    (problem,) = seed_problems(lab)
    assert problem.startswith(f"{lab.folder}/lab.toml:5: seed 2 misses it: a rate: expected 50 Mbps – 150 Mbps")


def test_a_seed_that_lacks_a_metric_is_a_problem_of_the_lab(tmp_path):
    """Regression: nothing was said of it."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    found = runs([90e6, 100e6], [1e-5, 1e-5])
    del found[2]["b"]["rtt"]
    (lab.folder / "seeds.toml").write_text(dumped(lab, "abc", found))
    (problem,) = seed_problems(lab)
    assert problem == f"{lab.folder}/lab.toml:11: seed 2 cannot be judged: step b gave no rtt: it has rate"


def test_the_tool_lists_what_could_be_tighter(tmp_path, capsys, monkeypatch):
    """With what was seen and what the seeds support; exit 1."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    rates = [98e6, 99e6, 100e6, 101e6, 102e6]
    (lab.folder / "seeds.toml").write_text(dumped(lab, "abc", runs(rates, [1e-5] * 5)))
    monkeypatch.setattr(sys, "argv", ["ranges.py", str(lab.folder)])
    assert ranges.main() == 1
    shown = capsys.readouterr().out
    assert "lab.toml:5 a rate: 50 Mbps – 150 Mbps; 98 Mbps – 102 Mbps\n    the seeds support 85.2 Mbps" in shown
    assert "b rtt: at most 5 ms; 10.0 µs – 10.0 µs" in shown
    assert "a.rate > 2 * b.rate: holds; holds 4.9 times over" in shown
    assert "3 expectations could be tighter by their seeds." in shown
