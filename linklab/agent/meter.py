# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.meter [PERIOD_S]`: what passes each interface here and how full its queue is, for ever.

Each line: {"t": s on this kernel's clock, "i": {"s1-eth1": [bytes received, bytes sent, bytes queued, drops]}}.
The queue is that of the innermost discipline, never netem's, which holds packets in flight.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from linklab.agent import sampler
from linklab.linux import netlink

PERIOD_S = 0.25
NOT_QUEUES = ("netem", "noqueue")


class EveryQdisc(sampler.QdiscReader):
    """Reads the disciplines of all interfaces in one dump."""

    def __init__(self) -> None:
        self.index = 0
        self.socket = netlink.connect()
        self.sequence = 0

    def queues(self) -> dict[int, tuple[int, int]]:
        """(bytes queued, drops of all disciplines) by interface index."""
        found: dict[int, list[dict[str, Any]]] = {}
        for kind, body in netlink.messages(self.raw()):
            if kind == sampler.RTM_NEWQDISC:
                found.setdefault(sampler.interface_of(body), []).append(sampler.discipline(body))
        return {index: _queue(qdiscs) for index, qdiscs in found.items()}


def _queue(qdiscs: list[dict[str, Any]]) -> tuple[int, int]:
    parents = {str(qdisc.get("parent", "")).partition(":")[0] for qdisc in qdiscs}
    leaves = [q for q in qdiscs if q["handle"].partition(":")[0] not in parents and q["kind"] not in NOT_QUEUES]
    return sum(q.get("backlog", 0) for q in leaves), sum(q.get("drops", 0) for q in qdiscs)


def traffic() -> dict[str, tuple[int, int]]:
    """Bytes (received, sent) of each interface, from proc_net(5), dev."""
    found = {}
    for line in Path("/proc/self/net/dev").read_text().split("\n")[2:]:
        name, colon, numbers = line.partition(":")
        if colon:
            values = numbers.split()
            found[name.strip()] = (int(values[0]), int(values[8]))
    return found


def main() -> int:
    """Print readings until the terminal is hung up."""
    period_s = float(sys.argv[1]) if len(sys.argv) > 1 else PERIOD_S
    reader = EveryQdisc()
    start, number = time.monotonic(), 0
    while True:
        queues = reader.queues()
        lines = {}
        for name, (received, sent) in traffic().items():
            if "-eth" in name:
                lines[name] = [received, sent, *queues.get(socket.if_nametoindex(name), (0, 0))]
        text = json.dumps({"t": round(time.monotonic(), 6), "i": lines}, separators=(",", ":"))
        os.write(1, text.encode() + b"\n")
        number += 1
        time.sleep(max(0.01, start + number * period_s - time.monotonic()))


if __name__ == "__main__":
    sys.exit(main())
