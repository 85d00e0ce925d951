# SPDX-License-Identifier: BSD-3-Clause
"""The connections of a trial's TCP flows: what they moved over time, and what was known of both ends in the end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linklab.experiment import samples
from linklab.experiment.outputs import Samples
from linklab.experiment.rpc import HEAD_BYTES, RpcConnection
from linklab.experiment.samples import Key, Sockets


@dataclass(frozen=True)
class FlowEnd:
    """What is known of a flow when it ended.

    local, remote: struct tcp_info of the client's and the server's end, by the names of `linklab.linux.sock_diag`; {}
        where it is not known.
    port, peer_port: of the client and of the server.
    began_s, ended_s: of its program.
    transactions: answers that were complete; None of a flow without requests.
    head_bytes: what the connection carried beside its payload.
    """

    port: int
    peer_port: int
    began_s: float
    ended_s: float
    local: Mapping[str, Any] = field(default_factory=dict)
    remote: Mapping[str, Any] = field(default_factory=dict)
    transactions: int | None = None
    head_bytes: int = 0

    @property
    def payload_bytes(self) -> int | None:
        """What reached the programs at both ends, nothing if not even the head did; None where it is not known."""
        counts = [info.get("bytes_received") for info in (self.local, self.remote)]
        if any(count is None for count in counts):
            return None
        return max(0, sum(counts) - self.head_bytes)  # type: ignore[arg-type]


def payload(sockets: Sockets, ends: tuple[Key, Key], until_s: float, *, whole: bool) -> Samples:
    """What reached both ends of a connection, Mbits/s, with the numbers of the first end's socket; empty if unknown.

    Args:
        sockets: that were sampled.
        ends: the client's, whose further numbers are given, and the server's.
        until_s: the end of the flow.
        whole: totals of the socket too (`samples.TOTALS`).
    """
    found = Samples("Mbits/s")
    rates: dict[float, float] = {}
    for end in ends:
        if end in sockets.connections:
            for time_s, rate in samples.throughput(sockets, sockets.connections[end], end[0], until_s):
                rates[time_s] = rates.get(time_s, 0.0) + rate
    client = sockets.connections.get(ends[0])
    further = samples.tcp_numbers(sockets, client, whole=whole) if client is not None else {}
    for time_s in sorted(rates):
        found.add(time_s, rates[time_s], **further.get(time_s, {}))
    return found


def answers(connection: RpcConnection, t0_ns: int) -> Samples:
    """How long each answer took, ms, at the moment at which it was complete."""
    found = Samples("ms")
    for when_ns, took_ns in connection.answers:
        found.add(round((when_ns - t0_ns) / 1e9, 9), took_ns / 1e6)
    if found.rows:
        found.meta = {"MEAN_VALUE": math.fsum(row[1] for row in found.rows) / len(found.rows)}
    return found


def rpc_end(connection: RpcConnection, remote: Mapping[str, Any], began_s: float, t0_ns: int, *, asks: bool) -> FlowEnd:
    """The end of a connection of `trial_rpc`; asks: it has requests that end."""
    return FlowEnd(
        connection.port,
        connection.peer_port,
        began_s,
        (connection.ended_ns - t0_ns) / 1e9,
        connection.info,
        remote,
        len(connection.answers) if asks else None,
        HEAD_BYTES,
    )
