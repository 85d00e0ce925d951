# SPDX-License-Identifier: BSD-3-Clause
"""The curriculum's TCP settings of a network namespace, the same on every host of every network.

Buffers as Mininet's `fixLimits` has them (mininet/util.py): least, first and most bytes; see tcp(7).
"""

BASELINE = {
    "net/ipv4/tcp_rmem": "10240 87380 16777216",
    "net/ipv4/tcp_wmem": "10240 87380 16777216",
    "net/ipv4/tcp_congestion_control": "cubic",
}
"""Paths below /proc/sys and their values."""
