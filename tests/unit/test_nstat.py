# SPDX-License-Identifier: BSD-3-Clause
"""Counters that nstat prints."""

from pathlib import Path

import pytest

from linklab.measure import measure

CAPTURES = Path(__file__).parent.parent / "captures"


def listing(case):
    """What nstat of iproute2 6.1.0 printed."""
    return (CAPTURES / f"nstat-6.1.0-{case}.txt").read_text()


def counted(text):
    """Scalars without their units, which there must not be."""
    found = measure(text).scalars
    assert {quantity.unit for quantity in found.values()} <= {""}
    return {name: quantity.value for name, quantity in found.items()}


def test_counters_are_measured_by_the_kernels_name():
    """Each counter is a scalar without unit."""
    assert counted(listing("two-counters")) == {"nstat.TcpRetransSegs": 63704, "nstat.TcpExtTCPTimeouts": 12}


def test_a_second_listing_has_its_number():
    """Also after what was typed before."""
    second = "#kernel\nTcpExtTCPTimeouts               3                  0.0\n"
    assert counted("typed before\n" + listing("two-counters") + second) == {
        "nstat.TcpRetransSegs": 63704,
        "nstat.TcpExtTCPTimeouts": 12,
        "nstat.2.TcpExtTCPTimeouts": 3,
    }


@pytest.mark.parametrize("text", ["", listing("nothing-new")])
def test_an_empty_listing_measures_nothing(text):
    """Nothing was added since the last call; that is not 0 for any counter."""
    assert counted(text) == {}


def test_a_line_that_is_cut_off_is_left_out():
    """Its number may have had more digits."""
    assert listing("truncated").endswith("TcpExtTCPTimeouts               1")
    assert counted(listing("truncated")) == {"nstat.TcpRetransSegs": 63704}
