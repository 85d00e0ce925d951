# SPDX-License-Identifier: BSD-3-Clause
"""tools/validate without a network: its statistics, and that its judgements tell a good run from a bad one."""

import importlib
import json
import math
import sys
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
    """What was said of each row."""
    return [row.ok for row in rows]


def test_of_twenty_fair_coins_six_to_fourteen_show_heads(module):
    """The middle 95 % of the binomial distribution, as in its tables."""
    assert module("numbers").binomial_95(20, 0.5) == (6, 14)


def test_kolmogorovs_distance_of_the_middles_of_tenths_is_a_twentieth(module):
    """Ten values that a uniform distribution could not hit better; its limit for 10,000 values is 0.01628."""
    values = [(2 * n + 1) / 20 for n in range(10)]
    assert module("numbers").kolmogorov(values, lambda x: x) == pytest.approx(0.05)
    assert module("numbers").kolmogorov_limit(10000) == pytest.approx(0.01628)


def test_a_number_and_its_opposite_in_turn_are_correlated_by_minus_one(module):
    """Autocorrelation at lag one of +1, -1, +1 … of 1,000 values."""
    assert module("numbers").correlation([(-1) ** n for n in range(1000)]) == pytest.approx(-0.999)


def test_one_newton_step_a_drop_gives_codels_second_gap_as_a_half(module):
    """From 1/√1 to 1/√2 one step arrives at 0.5, not 0.71; later steps come close."""
    gaps = module("textbook").newton(8)
    assert gaps[:4] == [1, 0.5, 0.5625, pytest.approx(0.48779, abs=1e-5)]
    assert all(abs(gap * math.sqrt(n) - 1) < 0.03 for n, gap in enumerate(gaps, 1) if n > 2)


def test_copies_of_one_run_are_not_chance(module):
    """Twenty seeds of which six differ and the first flow never wins fail; twenty that differ and win in turn pass."""
    copies = {seed: {"mbit": [178.0 + seed % 6, 776.3 - seed % 6]} for seed in range(20)}
    fair = {seed: {"mbit": [477.0 + seed, 477.3 - seed][:: (-1) ** seed]} for seed in range(20)}
    judge = module("chance").judge_two_cubic
    assert verdicts(judge(copies)) == [False, False, True]
    assert verdicts(judge(fair)) == [True, True, True]


def test_a_window_that_stands_still_is_stock_mininet(module):
    """A queue that never overflows is right with orphan=0 and wrong without; the sawtooth is right without."""
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


def test_a_lost_packet_breaks_conservation(module):
    """One that neither arrived nor was dropped is missed."""
    judge = module("disciplines").judge_conservation
    assert verdicts(judge({1: {"arrived": 8352, "netem": 294, "tbf": 1354}})) == [True]
    assert verdicts(judge({1: {"arrived": 8351, "netem": 294, "tbf": 1354}})) == [False]


def test_what_was_measured_is_kept_for_its_kernel_alone(module, tmp_path, monkeypatch):
    """A later call reads the runs; a call with another kernel begins anew."""
    main = module("__main__")
    kernel = type("Kernel", (), {"digest": "aaa", "version": "7.3.4"})()
    monkeypatch.setattr(main.pocket_kernel, "require", lambda: kernel)
    main.Kept("codel", tmp_path).add(2, {"ms": [100.8]})
    assert main.Kept("codel", tmp_path).runs == {2: {"ms": [100.8]}}
    assert json.loads((tmp_path / "codel.json").read_text())["kernel"] == "aaa"
    kernel.digest = "bbb"
    assert main.Kept("codel", tmp_path).runs == {}
