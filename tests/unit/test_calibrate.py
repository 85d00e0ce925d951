# SPDX-License-Identifier: BSD-3-Clause
"""tools/calibrate.py without a network: its arithmetic, and the end of the server it starts."""

import importlib.util
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "tools/calibrate.py"


@pytest.fixture
def calibrate(monkeypatch):
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("calibrate", SOURCE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "calibrate", module)  # its dataclass looks there
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def started(calibrate, monkeypatch):
    """The servers that were started."""
    servers = []

    class Popen(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            servers.append(self)

    monkeypatch.setattr(calibrate.subprocess, "Popen", Popen)
    return servers


def program(code):
    """A server in place of iperf3's."""
    return [sys.executable, "-u", "-c", code]


GOES_ON = program("import time; print('listening'); time.sleep(60)")


def test_the_three_prices_of_two_transfers(calibrate):
    """1 µs for each of three links of 1000 packets more; the rest is calls and bytes copied twice."""
    on = calibrate.Work(cpu_s=1.0, sent_bytes=2**30, packets=20_000)
    off = calibrate.Work(cpu_s=1.003, sent_bytes=2**30, packets=21_000)
    assert calibrate.prices(on, off, 100_000) == {"syscall_ps": 100_000, "byte_ps": 437, "packet_ps": 1_000_000}


@pytest.mark.parametrize("without", [20_000, 19_000])
def test_transfers_of_as_many_packets_have_no_price(calibrate, without):
    """Regression: a ZeroDivisionError."""
    on, off = calibrate.Work(1.0, 2**30, 20_000), calibrate.Work(1.5, 2**30, without)
    with pytest.raises(SystemExit, match=f"20000 packets entered a link with offload and {without} without"):
        calibrate.prices(on, off, 100_000)


def test_a_server_that_does_not_listen_says_why(calibrate, started):
    """Regression: a StopIteration, and its reason was lost."""
    refused = program("import sys; sys.exit('unable to start listener: Address already in use')")
    with pytest.raises(SystemExit) as raised, calibrate.serving(refused):
        pass
    said = "'unable to start listener: Address already in use'"
    assert str(raised.value) == f"calibrate: iperf3's server does not listen; it says {said}"
    assert started[0].returncode == 1


def test_a_server_ends_with_a_test_that_fails(calibrate, started):
    """Regression: it was left behind and held the port."""
    with pytest.raises(ZeroDivisionError), calibrate.serving(GOES_ON):
        raise ZeroDivisionError
    assert started[0].returncode == -9


def test_a_server_that_goes_on_is_ended(calibrate, started, monkeypatch):
    """The message is one sentence."""
    monkeypatch.setattr(calibrate, "SERVER_ENDS_S", 0.1)
    with pytest.raises(SystemExit) as raised, calibrate.serving(GOES_ON):
        pass
    assert str(raised.value) == "calibrate: iperf3's server goes on 0.1 s after its test"
    assert started[0].returncode == -9


def test_quantiles_keep_the_mean_of_their_tail(calibrate):
    """The sixteenths of 0 to 1600 are hundreds; a disturbance above the limit counts as the limit."""
    assert calibrate.quantiles(range(1601), 10_000) == list(range(0, 1601, 100))
    knots = calibrate.quantiles([10] * 1500 + [20] * 99 + [99_999], 1_000)
    assert knots[:15] == [10] * 15
    mean = sum((low + high) / 2 for low, high in pairwise(knots)) / 16
    assert mean == pytest.approx((10 * 1500 + 20 * 99 + 1000) / 1600, rel=0.02)


def test_chance_is_read_from_what_the_program_prints(calibrate):
    """An interrupted datagram does not widen the spread; the price of a start is what it takes beyond its fork."""
    lines = "\n".join(
        [
            "wake " + " ".join(str(5000 + 10 * number) for number in range(100)) + " 900000",
            "packet " + " ".join(["990", "1010"] * 50) + " 40000",
            "fork 60000 60000 70000",
            "exec 300000 310000 320000",
        ]
    )
    found = calibrate.chance(lines)
    assert (found["fork_ps"], found["exec_ps"]) == (60_000_000, 250_000_000)
    assert found["spread_permille"] == [990] * 9 + [1010] * 8
    assert found["wake_ns"][0] == 5000 and found["wake_ns"][8] == 5500 and found["wake_ns"][16] > 5990
