# SPDX-License-Identifier: BSD-3-Clause
"""tools/validate without a network: its statistics, and whether its judgements tell a good run from a bad one."""

import importlib
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="module", autouse=True)
def tools_on_path():
    """The package as `make validation` finds it."""
    before = list(sys.path)
    sys.path.insert(0, str(TOOLS))
    yield
    sys.path[:] = before


@pytest.fixture
def module():
    """A module of the package by name."""
    return lambda name: importlib.import_module(f"validate.{name}")


def verdicts(rows):
    """The verdict of each row."""
    return [row.ok for row in rows]


def test_of_twenty_fair_coins_six_to_fourteen_show_heads(module):
    """The interval is the central 95 % of the binomial distribution, as tables give it."""
    assert module("numbers").binomial_95(20, 0.5) == (6, 14)


def test_kolmogorovs_distance_of_the_middles_of_tenths_is_a_twentieth(module):
    """No ten values lie closer to a uniform distribution; the limit for 10,000 values is 0.01628."""
    values = [(2 * n + 1) / 20 for n in range(10)]
    assert module("numbers").kolmogorov(values, lambda x: x) == pytest.approx(0.05)
    assert module("numbers").kolmogorov_limit(10000) == pytest.approx(0.01628)


def test_alternating_signs_are_correlated_by_minus_one(module):
    """Autocorrelation at lag one of +1, -1, +1 … of 1,000 values."""
    assert module("numbers").correlation([(-1) ** n for n in range(1000)]) == pytest.approx(-0.999)


def test_one_newton_step_a_drop_gives_codels_second_gap_as_a_half(module):
    """From 1/√1 one step towards 1/√2 reaches 0.5, not 0.71; later steps come close."""
    gaps = module("textbook").newton(8)
    assert gaps[:4] == [1, 0.5, 0.5625, pytest.approx(0.48779, abs=1e-5)]
    assert all(abs(gap * math.sqrt(n) - 1) < 0.03 for n, gap in enumerate(gaps, 1) if n > 2)


def test_copies_of_one_run_are_not_chance(module):
    """Twenty seeds with six outcomes, none won by the first flow, fail; twenty that differ and win in turn pass."""
    copies = {seed: {"mbit": [178.0 + seed % 6, 776.3 - seed % 6]} for seed in range(20)}
    fair = {seed: {"mbit": [477.0 + seed, 477.3 - seed][:: (-1) ** seed]} for seed in range(20)}
    judge = module("chance").judge_two_cubic
    assert verdicts(judge(copies)) == [False, False, True]
    assert verdicts(judge(fair)) == [True, True, True]


def test_a_window_that_stands_still_belongs_to_a_stock_kernel(module):
    """A queue that never overflows is right with orphan=0 and wrong without it; a sawtooth the other way round."""
    still = {"retransmits": 0, "cwnd": [504, 504], "ping_ms": 27.1}
    saw = {"retransmits": 356, "cwnd": [162, 328], "ping_ms": 30.0}
    judge = module("ports").judge_orphan
    assert verdicts(judge({1: {"plain": saw, "netem": saw, "hop": saw, "orphan off": still}})) == [True] * 4
    assert verdicts(judge({1: {"plain": still, "netem": saw, "hop": saw, "orphan off": None}})) == [
        False,
        True,
        True,
        None,
    ]
    moves = {**still, "cwnd": [500, 504]}
    for wrong in (saw, moves):
        assert verdicts(judge({1: {"plain": saw, "netem": saw, "hop": saw, "orphan off": wrong}}))[3] is False


def test_a_loop_that_stops_time_or_takes_too_long_fails(module):
    """`sleep 5` has to end in 5 s of network time and within the processor time that is allowed; the pings too."""
    good = {"sleep_wall_s": 9.0, "sleep_cpu_s": 8.0, "sleep_network_s": 5.01, "lost": 0.0}
    good["computed"] = "11500740483 250000000 bash\n11600740483 1500000000 odd name"
    judge = module("spinning").judge_virtual
    (row,) = judge({1: {"python": good}})
    assert row.ok
    assert row.found.endswith("; time followed bash 0.25 s, odd name 1.50 s")
    for wrong in ({"sleep_cpu_s": 31.0}, {"sleep_network_s": 6.2}, {"lost": 10.0}, {"lost": None}):
        assert verdicts(judge({1: {"python": good | wrong}})) == [False], wrong
    (row,) = judge({1: {"python": dict.fromkeys(good)}})
    assert (row.ok, row.found) == (False, "`sleep 5` did not end within 90 s of wall time")


def test_a_terminal_in_which_keys_or_a_signal_do_not_arrive_fails(module):
    """Each of the two is told by what it did; a loop of forks may need three presses."""
    good = {"ctrl_c_s": 0.2, "key_ms": 12.0, "presses": 1}
    judge = module("spinning").judge_interrupted
    assert verdicts(judge({1: {"python": good, "fork": good | {"presses": 3, "ctrl_c_s": 8.5}}})) == [True, True]
    assert verdicts(judge({1: {"python": good | {"presses": 2}, "fork": good | {"presses": 4}}})) == [False, False]
    (deaf,) = judge({1: {"python": good | {"ctrl_c_s": None, "presses": None}}})
    assert (deaf.ok, deaf.found) == (False, "no prompt after 4 presses; median 12.0 ms")
    (mute,) = judge({1: {"python": good | {"key_ms": None}}})
    assert (mute.ok, mute.found) == (False, "press 1, 0.20 s; a key was not echoed within 10 s")


def test_a_loss_rate_without_losses_has_no_share_after_a_loss(module):
    """Regression: a seed without losses counted as 0 % after a loss."""
    run = {f"{loss} {together}": [loss / 2, 0.3] for loss, together in module("textbook").CORRELATED}
    none = {name: [0.0, None] for name in run}
    rows = list(module("textbook").judge_loss_correlated({1: run, 2: none}))
    assert [row.found.split("; ")[:2] for row in rows] == [["2.50%", "30.0%"], ["2.50%", "30.0%"], ["0.25%", "30.0%"]]
    assert verdicts(rows) == [True] * 3
    assert "no loss" in next(iter(module("textbook").judge_loss_correlated({1: none}))).found


def test_the_mean_wait_of_one_seed_is_not_judged(module):
    """Regression: an M/D/1 experiment that was stopped after its first seed broke the whole page."""
    run = {load: {"lost": 0, "wait_us": wait, "lindley_us": wait} for load, wait in (("0.5", 600.5), ("0.8", 2401.0))}
    judge = module("disciplines").judge_md1
    assert verdicts(judge({1: run})) == [None, True, None, True]
    assert verdicts(judge({1: run, 2: run})) == [True] * 4
    late = {load: one | {"wait_us": 1.02 * one["wait_us"]} for load, one in run.items()}
    assert verdicts(judge({1: late, 2: late})) == [False] * 4
    lossy = {load: one | {"lost": 1} for load, one in run.items()}
    assert verdicts(judge({1: lossy, 2: lossy})) == [False, True, False, True]


def test_a_lost_packet_breaks_conservation(module):
    """A datagram that neither arrived nor was counted as dropped fails the row."""
    judge = module("disciplines").judge_conservation
    assert verdicts(judge({1: {"arrived": 8352, "netem": 294, "tbf": 1354}})) == [True]
    assert verdicts(judge({1: {"arrived": 8351, "netem": 294, "tbf": 1354}})) == [False]


@pytest.fixture
def main(module, tmp_path, monkeypatch):
    """The command with a folder and a page of its own, and a kernel that was never built."""
    main = module("__main__")
    kernel = type("Kernel", (), {"digest": "aaa", "version": "7.3.4"})()
    monkeypatch.setattr(main.pocket_kernel, "require", lambda: kernel)
    monkeypatch.setattr(main, "KEPT", tmp_path)
    monkeypatch.setattr(main, "PAGE", tmp_path / "validation.md")
    return main


def test_measurements_are_kept_for_what_made_them_alone(main):
    """A later call reads the runs; with another kernel, or after a change of what is measured, all begins anew."""
    codel = main.experiments()["codel"]
    main.Kept(codel).add(2, {"ms": [100.8]})
    assert main.Kept(codel).runs == {2: {"ms": [100.8]}}
    assert main.Kept(replace(codel, measure=main.experiments()["pie"].measure)).runs == {}
    main.pocket_kernel.require().digest = "bbb"
    assert main.Kept(codel).runs == {}


def test_an_experiment_that_lacks_a_seed_is_not_a_success(main, monkeypatch, capsys):
    """The page names the seeds and the experiments that have not been measured; regression: it left them out."""
    good = {"arrived": 8352, "netem": 294, "tbf": 1354}
    monkeypatch.setattr(main.sys, "argv", ["validate", "--judge", "conservation"])
    assert main.main() == 1
    assert "| **conservation of packets** (`conservation`) |  |  | not yet measured | – |" in main.PAGE.read_text()
    for seed in (1, 2, 4, 5):
        main.Kept(main.experiments()["conservation"]).add(seed, good)
    assert main.main() == 1
    assert "(`conservation`, 4 seeds, 1 to 5; not yet measured: 3)" in main.PAGE.read_text()
    assert "not fully measured: conservation" in capsys.readouterr().err
    main.Kept(main.experiments()["conservation"]).add(3, good)
    assert main.main() == 0
    assert "(`conservation`, 5 seeds, 1 to 5)" in main.PAGE.read_text()
    main.Kept(main.experiments()["conservation"]).add(3, good | {"tbf": 1353})
    assert main.main() == 1
    assert "4 of 5 add up | **no** |" in main.PAGE.read_text()
