"""The formulas give known values and keep their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from linklab.analysis.formulas import (
    bdp_bytes,
    coefficient_of_variation,
    goodput_limit,
    jain_at_each_step,
    jain_index,
    mathis_bps,
)

rates = st.floats(min_value=1e3, max_value=1e12)
flows = st.lists(st.floats(min_value=0, max_value=1e12), min_size=1, max_size=30).filter(lambda x: max(x) > 1e-3)


def test_known_values() -> None:
    """Values from the labs: 10 Gbit/s with 20 ms, 10 Mbit/s with time stamps, jumbo frames."""
    assert bdp_bytes(10e9, 0.020) == 25e6
    assert goodput_limit(10e6) == pytest.approx(9564068.69, rel=1e-9)
    assert goodput_limit(10e9, mtu_bytes=9000) == pytest.approx(10e9 * 8948 / 9014)
    assert goodput_limit(1e9, timestamps=False) == pytest.approx(1e9 * 1460 / 1514)
    assert jain_index([1, 1, 1, 0]) == 0.75
    assert jain_index([4, 1]) == pytest.approx(25 / 34)
    assert mathis_bps(1460, 0.1, 0.01) == pytest.approx(1460 * 8 / 0.1 * math.sqrt(1.5) * 10)
    assert coefficient_of_variation([1, 3]) == pytest.approx(math.sqrt(2) / 2)
    assert coefficient_of_variation([1, math.nan, 3]) == pytest.approx(math.sqrt(2) / 2)


def test_jain_at_each_step_leaves_out_who_has_no_value() -> None:
    """Of two flows, of one that is alone, of one that gets nothing, of none, of flows that all get nothing."""
    nan = math.nan
    found = jain_at_each_step(np.array([[4.0, 3.0, 5.0, nan, 0.0], [1.0, nan, 0.0, nan, 0.0]]))
    assert found == pytest.approx([25 / 34, 1, 0.5, nan, nan], nan_ok=True)


@given(flows)
def test_jain_bounds(throughputs: list[float]) -> None:
    """The index lies between 1/n and 1."""
    assert 1 / len(throughputs) - 1e-9 <= jain_index(throughputs) <= 1 + 1e-9


@given(flows, st.floats(min_value=1e-3, max_value=1e6))
def test_jain_scale_and_order(throughputs: list[float], factor: float) -> None:
    """Neither the unit nor the order of the flows changes the index."""
    index = jain_index(throughputs)
    assert jain_index([factor * value for value in throughputs]) == pytest.approx(index)
    assert jain_index(sorted(throughputs)) == pytest.approx(index)


@given(st.integers(1, 50), st.floats(min_value=1e-3, max_value=1e12))
def test_jain_extremes(count: int, rate: float) -> None:
    """Equal flows give 1; one flow with everything gives 1/n."""
    assert jain_index([rate] * count) == pytest.approx(1)
    assert jain_index([rate] + [0.0] * (count - 1)) == pytest.approx(1 / count)


@given(flows)
def test_jain_and_variation(throughputs: list[float]) -> None:
    """1/index - 1 is the square of the population's coefficient of variation."""
    count = len(throughputs)
    assume(count >= 2)
    population = coefficient_of_variation(throughputs) * math.sqrt((count - 1) / count)
    assert 1 / jain_index(throughputs) == pytest.approx(1 + population**2)


@given(rates, st.floats(min_value=0, max_value=10), st.floats(min_value=0.1, max_value=10))
def test_bdp_is_linear(rate: float, rtt: float, factor: float) -> None:
    """Twice the rate or twice the RTT is twice the product."""
    assert bdp_bytes(factor * rate, rtt) == pytest.approx(factor * bdp_bytes(rate, rtt))
    assert bdp_bytes(rate, factor * rtt) == pytest.approx(factor * bdp_bytes(rate, rtt))


@given(rates, st.integers(576, 9000), st.integers(576, 9000))
def test_goodput_grows_with_the_mtu(rate: float, one: int, other: int) -> None:
    """A larger MTU loses less to headers, and never more than the rate arrives."""
    small, large = sorted((one, other))
    assert goodput_limit(rate, mtu_bytes=small) <= goodput_limit(rate, mtu_bytes=large) < rate
    assert goodput_limit(rate, mtu_bytes=small) < goodput_limit(rate, mtu_bytes=small, timestamps=False)


@given(st.floats(min_value=1e-6, max_value=1), st.floats(min_value=1e-4, max_value=10))
def test_mathis_laws(loss: float, rtt: float) -> None:
    """Four times the loss halves the throughput, as does twice the RTT."""
    rate = mathis_bps(1448, rtt, loss)
    assert mathis_bps(1448, 2 * rtt, loss) == pytest.approx(rate / 2)
    assert mathis_bps(1448, rtt, loss / 4) == pytest.approx(2 * rate)


@pytest.mark.parametrize(
    "call",
    [
        lambda: jain_index([]),
        lambda: jain_index([0.0, 0.0]),
        lambda: jain_index([1.0, math.nan]),
        lambda: jain_index([1.0, -1.0]),
        lambda: bdp_bytes(-1, 0.1),
        lambda: bdp_bytes(1, math.nan),
        lambda: goodput_limit(0),
        lambda: goodput_limit(1e6, mtu_bytes=100),
        lambda: mathis_bps(1448, 0.1, 0),
        lambda: mathis_bps(1448, 0.1, 1.5),
        lambda: coefficient_of_variation([1.0, math.nan]),
        lambda: coefficient_of_variation([1.0, -1.0]),
    ],
)
def test_refused(call: object) -> None:
    """What has no meaning raises ValueError instead of giving a number."""
    with pytest.raises(ValueError, match=r"\w"):
        call()  # type: ignore[operator]
