# SPDX-License-Identifier: BSD-3-Clause
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab import units
from linklab.errors import InputError


@pytest.mark.parametrize(
    ("text", "rate_mbit"),
    [
        ("10mbit", 10.0),
        ("1gbit", 1000.0),
        ("10 Gbps", 10000.0),
        ("9.2 Gbps", 9200.0),
        ("37.7 Gbits/sec", 37700.0),
        ("1.05 Mbits/sec", 1.05),
        ("500 kbit/s", 0.5),
        ("64kibit", 0.065536),
        ("1000000bit", 1.0),
        ("1tbit", 1e6),
        (" 2.5GBIT ", 2500.0),
        ("0.1mbit", 0.1),
    ],
)
def test_rates_are_read_as_tc_and_as_people_write_them(text, rate_mbit):
    """mbit is 10^6 bit/s, capitals do not matter to a bit, and iperf3's own spelling works."""
    assert units.parse_rate_mbit(text) == rate_mbit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10mb", 'rate "10mb" has no unit I know; use kbit, mbit or gbit'),
        ("10", 'rate "10" has no unit; use kbit, mbit or gbit'),
        ("fast", 'rate "fast" is not a number with a unit; use kbit, mbit or gbit'),
        ("", 'rate "" is not a number with a unit; use kbit, mbit or gbit'),
        ("0mbit", 'rate "0mbit" must be above 0; use kbit, mbit or gbit'),
        ("-1mbit", 'rate "-1mbit" must be above 0; use kbit, mbit or gbit'),
        ("10mbps", 'rate "10mbps": mbps means bytes to tc and bits to people; use kbit, mbit or gbit'),
    ],
)
def test_a_rate_that_could_be_misread_is_refused(text, message):
    """The message holds the value and the units to use."""
    with pytest.raises(InputError) as caught:
        units.parse_rate_mbit(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "time_s"),
    [
        ("20ms", 0.02),
        ("1s", 1.0),
        ("100us", 0.0001),
        ("100µs", 0.0001),
        ("5 ns", 5e-9),
        ("1.5min", 90.0),
        ("2h", 7200.0),
        ("20 msec", 0.02),
        ("0s", 0.0),
    ],
)
def test_times_are_read_in_seconds(text, time_s):
    """Every unit of tc(8), and minutes and hours for runs."""
    assert units.parse_time_s(text) == time_s


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("20", 'time "20" has no unit; use us, ms or s'),
        ("20mz", 'time "20mz" has no unit I know; use us, ms or s'),
        ("-1s", 'time "-1s" must not be negative; use us, ms or s'),
        ("ms", 'time "ms" is not a number with a unit; use us, ms or s'),
    ],
)
def test_a_time_without_unit_is_refused(text, message):
    """tc would take a bare 20 for 20 µs, a student means 20 ms."""
    with pytest.raises(InputError) as caught:
        units.parse_time_s(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("5000000", 5_000_000),
        ("1514b", 1514),
        ("64kb", 65_536),
        ("25 MiB", 26_214_400),
        ("16G", 17_179_869_184),
        ("1.5k", 1536),
        ("10 bytes", 10),
    ],
)
def test_sizes_are_bytes_and_k_is_1024(text, size_bytes):
    """As in tc(8) and in iperf3 -n; a bare number is bytes, as tc's burst and limit have it."""
    assert units.parse_size_bytes(text) == size_bytes


@pytest.mark.parametrize("text", ["0.5b", "-1", "12 parsec", "many"])
def test_a_size_must_be_whole_bytes(text):
    """The message names the value."""
    with pytest.raises(InputError, match=text):
        units.parse_size_bytes(text)


def test_percentages_and_packets():
    """A percentage becomes a fraction, a packet count an integer, and both need their sign."""
    assert units.parse_percent_frac("1%") == 0.01
    assert units.parse_percent_frac("0.01 %") == 0.0001
    assert units.parse_packets("100p") == 100
    assert units.parse_packets("1000 packets") == 1000
    with pytest.raises(InputError, match='percentage "1" has no unit; use %'):
        units.parse_percent_frac("1")
    with pytest.raises(InputError, match='percentage "101%" must lie between 0% and 100%'):
        units.parse_percent_frac("101%")
    with pytest.raises(InputError, match='packet count "100" has no unit; use p, as in 100p'):
        units.parse_packets("100")
    with pytest.raises(InputError, match=r'packet count "1\.5p" is not a whole number'):
        units.parse_packets("1.5p")


@pytest.mark.parametrize(
    ("text", "number"),
    [("10gbit", 10000), ("10mbit", 10.0), ("1.5kbit", 0.0015), ("1bit", 1e-6), ("12345.678gbit", 12345678)],
)
def test_rates_are_written_in_the_unit_that_fits(text, number):
    """10000 Mbit/s is "10gbit"."""
    assert units.format_rate(number) == text


def test_times_and_shares_are_written_in_the_unit_that_fits():
    """Never an exponent, which tc does not read."""
    assert units.format_time(0.02) == "20ms"
    assert units.format_time(0.0001) == "100us"
    assert units.format_time(0.0) == "0s"
    assert units.format_time(90.0) == "90s"
    assert units.format_percent(0.0001) == "0.01%"


@pytest.mark.parametrize("call", [units.format_rate, units.format_time, units.format_percent])
def test_a_negative_quantity_is_not_written(call):
    """A negative number reaching a formatter is a fault of the program."""
    with pytest.raises(ValueError, match="-1"):
        call(-1)


_positive = st.floats(min_value=1e-6, max_value=1e9, allow_nan=False)


@given(_positive)
def test_rates_and_times_survive_the_round_trip(value):
    """parse(format(v)) is v, to the last bit."""
    assert units.parse_rate_mbit(units.format_rate(value)) == value
    assert units.parse_time_s(units.format_time(value)) == value


@given(st.floats(min_value=0, max_value=1))
def test_percentages_survive_the_round_trip(frac):
    """Also the smallest loss that a float can hold."""
    assert units.parse_percent_frac(units.format_percent(frac)) == frac


@given(st.integers(min_value=0, max_value=2**60))
def test_sizes_and_packets_stay_whole(count):
    """To the last byte, also where a double holds no such number."""
    assert units.parse_size_bytes(str(count)) == units.parse_size_bytes(f"{count}b") == count
    assert units.parse_packets(f"{count}p") == count
