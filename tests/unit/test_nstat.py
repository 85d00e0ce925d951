# SPDX-License-Identifier: BSD-3-Clause
"""Counters that nstat prints."""

from linklab.measure import measure

# nstat of iproute2 6.1.0, verbatim
LISTING = """#kernel
TcpRetransSegs                  63704              0.0
TcpExtTCPTimeouts               12                 0.0
"""


def test_counters_are_measured_by_the_kernels_name():
    """Each counter is a scalar without unit; a second listing has its number."""
    found = measure(
        "typed before\n" + LISTING + "#kernel\nTcpExtTCPTimeouts               3                  0.0\n"
    ).scalars
    assert {name: quantity.value for name, quantity in found.items()} == {
        "nstat.TcpRetransSegs": 63704,
        "nstat.TcpExtTCPTimeouts": 12,
        "nstat.2.TcpExtTCPTimeouts": 3,
    }


def test_a_heading_alone_measures_nothing():
    """Nothing was added since the last call; that is not 0 for any counter."""
    assert measure("#kernel\n").scalars == {}
