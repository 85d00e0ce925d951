# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel rounds is told as the number that was given, and one that it rounds so again."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.linux import tc_options as q

RATES = st.integers(1000, 12_500_000_000)  # bytes/s: 8 kbit/s to 100 Gbit/s


def kernels_ticks(rate, size):
    """psched_ratecfg_precompute(), psched_l2t_ns() and PSCHED_NS2TICKS() of the kernel."""
    factor, shift = 10**9, 0
    while True:
        multiplier = factor // rate
        if multiplier & 1 << 31 or factor & 1 << 63:
            return (size * multiplier >> shift) >> 6
        factor, shift = factor << 1, shift + 1


def tcs_ticks(rate, size):
    """tc_calc_xmittime() of iproute2."""
    return int(int(1_000_000 * (size / rate)) * 15.625)


@given(RATES, st.integers(1, 2**31))
def test_a_burst_of_tbf_is_one_that_the_kernel_rounds_alike(rate, size):
    """Reading a burst and setting what was read changes nothing."""
    told = q.tbf_burst(rate, kernels_ticks(rate, size))
    assert kernels_ticks(rate, told) == kernels_ticks(rate, size)


@given(RATES, st.integers(1, 2**31))
def test_a_burst_of_htb_is_one_that_tc_rounds_alike(rate, size):
    """Reading a class and setting what was read changes nothing, save a burst of less than a byte."""
    told = q.htb_burst(rate, tcs_ticks(rate, size))
    assert tcs_ticks(rate, told) == tcs_ticks(rate, size) or told == 1


@pytest.mark.parametrize(
    ("rate", "size"), [(1_250_000_000, 5_000_000), (125_000_000, 500_000), (12_500_000, 50_000), (8_000, 1999)]
)
def test_bursts_of_the_labs_come_back_as_they_were_typed(rate, size):
    """5000000 bytes at 10 Gbit/s are 62499 ticks to the kernel, and 5000000 bytes to the reader."""
    assert q.tbf_burst(rate, kernels_ticks(rate, size)) == size


@given(st.integers(0, 2**32 - 1))
def test_a_share_is_told_shortly_and_exactly(raw):
    """The number has at most 11 digits and tc turns it into the same share."""
    told = q.share(raw)
    assert round(told * (2**32 - 1)) == raw
    assert float(f"{told:.11g}") == told


@pytest.mark.parametrize("percent", [0.01, 0.1, 0.2, 1, 2, 2.8, 25, 50, 99.99, 100])
def test_percentages_of_the_labs_come_back_as_they_were_typed(percent):
    """0.01 % is 0.0001."""
    assert q.share(round(percent / 100 * (2**32 - 1))) == pytest.approx(percent / 100, rel=1e-15)


@given(st.integers(1, 4_000_000))
def test_times_of_codel_and_pie_are_ones_that_the_kernel_rounds_alike(us):
    """5 ms that CoDel tells as 4999 µs is 5000 µs again."""
    kept = us * 1000 >> 10
    told = (kept << 10) // 1000
    assert q.codel_us(told) * 1000 >> 10 == kept
    ticks = us * 1000 // 64
    again = q.pie_us(ticks * 64 // 1000)
    assert again * 1000 // 64 * 64 // 1000 == ticks * 64 // 1000
    assert q.pie_us(0) == 1  # regression: 0 has no word of tc, so that the default was set
    assert q.codel_us(4999) == 5000
    assert q.codel_us(99_999) == 100_000


@given(st.integers(1, 60_000_000))
def test_a_delay_in_ticks_is_told_in_microseconds(us):
    """90 µs, which is 89984 ns to the kernel, is told as 90 µs; a delay given in ns is left alone."""
    assert q.netem_ns(int(us * 15.625) * 64) == us * 1000
    assert q.netem_ns(12_345_677) == 12_345_677


@given(st.integers(1, 10**9), st.integers(0, 10**6))
def test_the_roundest_number_has_most_zeros(low, width):
    """No number in the range ends in more zeros."""
    found = q.roundest(low, low + width)
    assert low <= found <= low + width
    step = 1
    while found % (step * 10) == 0:
        step *= 10
    assert (low + width) // (step * 10) * (step * 10) < low


def test_what_has_no_effect_is_left_out():
    """A correlation that a change of netem left behind is none of the settings."""
    qopt = struct.pack("=6I", 0, 1000, 0, 0, 0, 0)
    reorder = struct.pack("=HHII", 12, 3, 2**30, 2**31)
    assert q.netem(qopt + reorder) == {"limit": 1000}


def test_what_cannot_be_said_is_named():
    """A linklayer of ATM is told as unread, not dropped."""
    parms = struct.pack("=BBHhHI", 0, 2, 0, 0, 0, 125_000) + bytes(12) + struct.pack("=3I", 3000, 1_000_000, 0)
    options = q.tbf(struct.pack("=HH", 4 + len(parms), 1) + parms)
    assert options["unread"] == ["linklayer"]
    assert (options["rate_bit"], options["limit"]) == (1_000_000, 3000)
