# SPDX-License-Identifier: BSD-3-Clause
"""The columns that hold what a script had the flows do and what was measured; all others OTHER may fill."""

from __future__ import annotations

PERCENTILES = {"p50Latency": 50.0, "p90Latency": 90.0, "p99Latency": 99.0, "p999Latency": 99.9}

WHO = frozenset({"exp", "expName", "group", "host", "server", "instances", "instance"})
"""Columns that say what a row is about."""

NO_CPU = ("localCpu", "remoteCpu")
"""Never known: the hosts of a network share one kernel, which counts processor time for all of them together."""

OF_CLIENT = frozenset(
    {"tcpRmem", "tcpWmem", "tso", "gso", "lro", "gro", "adaptive_rx", "rx-frames", "tx-frames"}
    | {f"client-{way}-{what}" for way in ("rx", "tx") for what in ("packets", "bytes", "packet-len")}
)
"""Columns of a client's host, which an operator counts once a host, however many groups the host has."""

_RESULTS = (
    *("rate", "rateMin", "rateMax", "fairness", "transactions", "seconds", "mss", "dataSegsOut"),
    *("minLatency", "meanLatency", "maxLatency", *PERCENTILES),
    *("cwnd", "unacked", "rtt", "minRtt", "pingRtt"),
    *("localRetrans", "remoteRetrans", "lost", "retrans", "retrans_total", "retransPkts%", *NO_CPU),
)
_OF_SCRIPT = ("test", "ca", "dur", "delay", "req", "reply", "localBuffer", "remoteBuffer", "seed", "kernel")

FIXED = WHO | OF_CLIENT | {*_OF_SCRIPT, *_RESULTS}
"""Columns that OTHER does not fill: what the script had the flows do, and what was measured, even if it is unknown.

Left are desc, ecn, and those of the path, which a network may have without a SET command, and any other name.
"""
