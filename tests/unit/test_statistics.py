"""Intervals, the bootstrap, distinct outcomes and effects, beside published tables and examples done by hand."""

import math
from itertools import product

import numpy as np
import pytest

from linklab.analysis.distributions import beta_share, f_tail, t_quantile
from linklab.analysis.effects import effects
from linklab.analysis.statistics import bootstrap, distinct, fingerprint, interval, median_interval
from linklab.data import Dataset
from linklab.measure import Quantity, make_series

NAN = math.nan


@pytest.mark.parametrize(
    ("probability", "freedom", "expected"),
    [
        # percentage points of t, as printed to six and more digits in Beyer's CRC tables and in R's manual pages
        (0.975, 1, 12.7062047362),
        (0.975, 2, 4.3026527297),
        (0.975, 3, 3.1824463053),
        (0.975, 4, 2.7764451052),
        (0.975, 5, 2.5705818356),
        (0.975, 9, 2.2621571628),
        (0.975, 10, 2.2281388520),
        (0.975, 29, 2.0452296421),
        (0.975, 30, 2.0422724563),
        (0.975, 120, 1.9799304051),
        (0.95, 1, 6.3137515147),
        (0.95, 10, 1.8124611228),
        (0.995, 1, 63.6567411629),
        (0.995, 5, 4.0321429836),
        (0.9995, 3, 12.9239786367),
        (0.975, math.inf, 1.9599639845),
    ],
)
def test_quantiles_of_student_as_in_the_tables(probability, freedom, expected):
    """To all ten digits, on both sides."""
    assert t_quantile(probability, freedom) == pytest.approx(expected, abs=5e-10)
    assert t_quantile(1 - probability, freedom) == pytest.approx(-expected, abs=5e-9)


@pytest.mark.parametrize("probability", [0.5001, 0.6, 0.9, 0.99, 0.999999])
def test_quantiles_of_student_where_there_is_a_formula(probability):
    """One degree of freedom is Cauchy's distribution, and two have a closed form."""
    assert t_quantile(probability, 1) == pytest.approx(math.tan(math.pi * (probability - 0.5)), rel=1e-9)
    closed = (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    assert t_quantile(probability, 2) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize(("probability", "freedom"), [(0, 1), (1, 1), (0.5, 0), (NAN, 1)])
def test_a_quantile_of_nothing_is_refused(probability, freedom):
    """A certain event, or no degree of freedom."""
    with pytest.raises(ValueError, match="need 0 < probability < 1"):
        t_quantile(probability, freedom)


@pytest.mark.parametrize(
    ("ratio", "over", "under", "expected"),
    [
        (161.4476387976, 1, 1, 0.05),
        (4.9646027437, 1, 10, 0.05),
        (3.4780496908, 4, 10, 0.05),
        (7.5594322, 1, 10, 0.0205),
    ],
)
def test_tails_of_f_as_in_the_tables(ratio, over, under, expected):
    """Upper 5 % points; with one degree of freedom above the line F is t squared."""
    assert f_tail(ratio, over, under) == pytest.approx(expected, abs=5e-5)


def test_the_incomplete_beta_function_where_there_is_a_formula():
    """I_x(1, b) = 1 - (1 - x)^b; I_x(2, 2) = 3x² - 2x³; and the ends."""
    assert beta_share(0.3, 1, 4.5) == pytest.approx(1 - 0.7**4.5, rel=1e-13)
    assert beta_share(0.8, 2, 2) == pytest.approx(0.896, rel=1e-13)
    assert (beta_share(0, 2, 3), beta_share(1, 2, 3)) == (0, 1)


def test_a_mean_with_its_interval_by_hand():
    """Of 9.1 … 9.5 the mean is 9.3, s = √0.025, and 2.7764 × s / √5 = 0.19632."""
    found = interval([9.1, 9.2, NAN, 9.3, 9.4, 9.5])
    half = 2.7764451052 * math.sqrt(0.025) / math.sqrt(5)
    assert (found.value, found.half, found.n) == (pytest.approx(9.3), pytest.approx(half, abs=1e-9), 5)
    assert found.relative == pytest.approx(half / 9.3, rel=1e-9)
    assert half == pytest.approx(0.19632, abs=5e-6)


def test_another_level_is_another_interval():
    """At 90 % and four degrees of freedom t is 2.1318467863."""
    half = interval([9.1, 9.2, 9.3, 9.4, 9.5], 0.9).half
    assert half == pytest.approx(2.1318467863 * math.sqrt(0.025 / 5), abs=1e-9)
    with pytest.raises(ValueError, match="between 0 and 1"):
        interval([1, 2], 95)


def test_too_few_repetitions_have_no_interval():
    """One has a mean; none has nothing; equal ones have an interval without width, also where 0.1 is not exact."""
    one, none, same = interval([4.0]), interval([NAN]), interval([0.1] * 3)
    assert (one.value, one.n, math.isnan(one.low), math.isnan(one.relative)) == (4, 1, True, True)
    assert (none.n, math.isnan(none.value)) == (0, True)
    assert (same.half, same.relative) == (0, 0)
    assert interval([-1, 1]).relative == math.inf


@pytest.mark.parametrize(
    ("count", "rank", "covered"),
    [(6, 1, 0.96875), (9, 2, 0.9609375), (10, 2, 0.978515625), (20, 6, 0.9586105)],
)
def test_a_median_with_its_interval_as_in_the_tables(count, rank, covered):
    """Ranks and coverage of the sign test: of 6 values the least and the largest, 1 - 2/64."""
    found = median_interval(list(range(count, 0, -1)))
    assert (found.low, found.high) == (rank, count + 1 - rank)
    assert found.level == pytest.approx(covered, abs=1e-7)
    assert found.value == (count + 1) / 2


def test_five_values_are_too_few_for_a_median_at_95_percent():
    """Between the least and the largest of five lies the median in 93.75 % only."""
    assert math.isnan(median_interval([1, 2, 3, 4, 5]).low)
    assert median_interval([1, 2, 3, 4, 5], 0.9).low == 1
    assert math.isnan(median_interval([]).value)


def test_the_bootstrap_repeats_with_its_seed():
    """And its ends are among the values, for a median; of a mean they are close to Student's."""
    values = np.random.default_rng(3).normal(10, 1, 60)
    first, again, other = (bootstrap(values, np.mean, seed=seed, resamples=2000) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    student = interval(values)
    assert (first.low, first.high) == pytest.approx((student.low, student.high), abs=0.1 * student.half)
    assert math.isnan(bootstrap([1.0], np.mean, seed=1).low)


def test_the_bootstrap_by_hand():
    """Two draws of 0 and 1 have the means 0, 1/2, 1/2 and 1: at 95 % all of it, at 40 % only the middle."""
    assert (bootstrap([0, 1], np.mean, seed=5).low, bootstrap([0, 1], np.mean, seed=5).high) == (0, 1)
    inner = bootstrap([0, 1], np.mean, seed=5, level=0.4)
    assert (inner.low, inner.high, inner.value) == (0.5, 0.5, 0.5)


def test_distinct_outcomes():
    """A gap is an outcome like others."""
    assert distinct([1.5, 1.5, 2, NAN, NAN]) == 3


def test_a_fingerprint_is_of_what_was_measured():
    """Another title is the same outcome; another value, unit or name is another."""

    def data(value=1.0, unit="ms", name="a", scalar=5.0, **more):
        series = {name: make_series(name, unit, [0, 1], [value, NAN])}
        return Dataset({"seed": 1}, {"s": Quantity(scalar, "s")}, series, **more)

    same = fingerprint(data())
    assert fingerprint(data(flent={"TITLE": "other"})) == same
    others = [data(1.0000001), data(unit="s"), data(name="b"), data(scalar=6)]
    assert len({same, *map(fingerprint, others)}) == 5


def test_shares_of_variance_of_a_balanced_design_by_hand():
    """Two factors, two repetitions: cells 10 12, 20 22, 14 16, 28 30; mean 19.

    A: means 16 and 22, 8 × 3² = 72. B: means 13 and 25, 8 × 6² = 288. Cells: means 11, 21, 15, 29 give 2 × 184 = 368,
    so combinations add 8. Chance: 4 × 2 = 8. Together 376.
    """
    a = ["x"] * 4 + ["y"] * 4
    b = [1, 1, 2, 2] * 2
    found = effects({"A": a, "B": b}, [10, 12, 20, 22, 14, 16, 28, 30])
    assert [effect.factor for effect in found.factors] == ["B", "A"]
    assert [effect.share for effect in found.factors] == pytest.approx([288 / 376, 72 / 376])
    assert (found.interactions, found.chance) == (pytest.approx(8 / 376), pytest.approx(8 / 376))
    assert (found.most, found.balanced, found.n) == ("B", True, 8)
    assert found.factors[1].means == {"x": 16, "y": 22}
    # F = 72 / (8 / 4) = 36 with 1 and 4 degrees of freedom, the square of t = 6 with 4
    assert found.factors[1].p == pytest.approx(0.0038825, abs=1e-6)


def test_shares_of_variance_of_an_unbalanced_design_by_hand():
    """Cells x1: 1, x2: 3, y1: 4, y2: 6 and 8: one is repeated, and A and B are not independent.

    Total: mean 4.4, sum of squares 29.2. B alone: means 2.5 and 17/3 leave 4.5 + 38/3. A alone: 2 and 6 leave 2 + 8.
    Both: least squares give 5/7, and 25/7 more with y, 18/7 more with 2; left are 2, -2, -2, -6, 8 sevenths: 16/7.
    """
    found = effects({"A": "xxyyy", "B": "12122"}, [1, 3, 4, 6, 8])
    shares = {effect.factor: effect.share for effect in found.factors}
    assert shares["A"] == pytest.approx((4.5 + 38 / 3 - 16 / 7) / 29.2)
    assert shares["B"] == pytest.approx((2 + 8 - 16 / 7) / 29.2)
    assert found.chance == pytest.approx(2 / 29.2)
    assert found.interactions == pytest.approx((16 / 7 - 2) / 29.2)
    assert not found.balanced


def test_type_2_equals_the_textbook_where_the_design_is_balanced():
    """Three factors of 2, 3 and 4 levels, three times each: the sum of squares of means, factor by factor."""
    chance = np.random.default_rng(11)
    trials = [(*cell, number) for cell in product("ab", "cde", "fghi") for number in range(3)]
    outcomes = [3.0 * (one[0] == "a") + 1e4 + ord(one[2]) * 0.5 + chance.normal() for one in trials]
    names = {"1": [one[0] for one in trials], "2": [one[1] for one in trials], "3": [one[2] for one in trials]}
    found = {effect.factor: effect for effect in effects(names, outcomes).factors}
    y = np.array(outcomes)
    total = ((y - y.mean()) ** 2).sum()
    for factor, named in names.items():
        groups = [y[np.array(named) == level] for level in set(named)]
        own = sum(len(group) * (group.mean() - y.mean()) ** 2 for group in groups)
        assert found[factor].share == pytest.approx(own / total, rel=1e-8)
    assert found["1"].p < 1e-9
    assert found["2"].p > 1e-3


def test_factors_that_cannot_be_told_apart_explain_nothing_of_their_own():
    """As where each buffer was tried at one rate only; a factor of one level explains nothing either."""
    found = effects({"rate": "aabb", "buffer": "ccdd", "one": "eeee"}, [1, 2, 5, 6])
    assert [effect.share for effect in found.factors] == pytest.approx([0, 0, 0])
    assert found.most == ""
    assert not found.balanced


def test_no_repetitions_no_chance():
    """Main effects are known; what combinations and chance do cannot be told apart."""
    found = effects({"A": "xxyy", "B": "1212"}, [1, 2, 3, 5])
    assert math.isnan(found.chance)
    assert found.most == "A"
    # the rest of the model, (5 - 3 - 2 + 1)² / 4 with one degree of freedom, stands for chance
    assert found.interactions == pytest.approx(0.25 / 8.75)
    assert found.factors[0].p == pytest.approx(0.1256659, abs=1e-6)


def test_outcomes_that_are_all_the_same_or_missing():
    """Nothing is to be explained."""
    assert math.isnan(effects({"A": "xy"}, [4, 4]).factors[0].share)
    assert effects({"A": "xyx"}, [1, 2, NAN]).n == 2
    assert effects({"A": ""}, []).n == 0
    with pytest.raises(ValueError, match="factor A: 1 levels for 2 outcomes"):
        effects({"A": "x"}, [1, 2])
