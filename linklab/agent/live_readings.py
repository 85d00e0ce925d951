# SPDX-License-Identifier: BSD-3-Clause
"""`python3 live_readings.py [--period 0.1]`: what live plots show, a line of JSON for each reading that shows a change.

    "t"  network time, s; in every line
    "b"  that of the reading before, where it showed no change and was not told
    "p"  {"s1-eth1": [bytes received, bytes sent, packets received, packets sent, state 0 down, 1 no carrier, 2 up]}
    "q"  {"s1-eth1": [bytes, packets that wait, drops, marks]}, of the innermost disciplines, never of netem
    "d"  {"s1-eth1": {"qdiscs": […], "classes": […]}} or null where the port has gone; as linklab.tc has them
    "a"  {"h1": [addresses]}
    "s"  {"h1 10.0.0.1:40000 10.0.0.2:5201": [live_space.SOCKET_FIELDS]}: node, and both ends of a TCP socket
    "e"  [sockets that have gone]
    "r"  [[time, "h1", address that was pinged, round trip in ms or null if no reply came]]

Only what has changed is in a line. Lines "period SECONDS" on standard input set the time between readings; the end of
the terminal ends it. Started as `linklab.agent.apart` does, it leaves no trace in a run.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import os
import re
import select
import struct
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent import network_time
from linklab.agent.live_space import LiveSpace
from linklab.agent.trial_nodes import Nodes
from linklab.agent.trial_plan import CLIENT

PERIOD_S = 0.1
SHORTEST_S, LONGEST_S = 1e-4, 60.0
STILL, THOROUGH = 5, 10
"""At rest every fifth reading is told all the same; what seldom changes is looked at every tenth or twentieth time."""
PHASE = 0.613
"""Programs begin at whole tenths of a second and wait for round times. A timer that is due within its slack (50 µs,
prctl(2)) goes off with any other, so readings at round times would wake those programs earlier."""
ORDER = re.compile(rb"period ([0-9.e+-]{1,24})\s*")


def port_of_switch(name: str) -> str | None:
    """In the root namespace only the ports of switches are read: NAME-ethN."""
    return name if "-eth" in name else None


def port_of_node(node: str, name: str) -> str:
    """Within a node every interface is; one that does not bear the node's name gets it."""
    return name if name.startswith(f"{node}-") else f"{node}:{name}"


def spaces() -> list[LiveSpace]:
    """One for each network namespace, ours first; all that is in ours belongs to the client."""
    found = []
    for name, node in Nodes().found.items():
        if name == CLIENT:
            found.append(LiveSpace(CLIENT, port_of_switch))
        elif node.apart:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                found.append(node.inside(partial(LiveSpace, name, partial(port_of_node, name))))
    return found


def reading(watched: list[LiveSpace], ready_s: float, number: int) -> dict[str, Any]:
    """One line, as the module's docstring says.

    ready_s: the kernel's clock when network time began. number: of the reading; the first looks at everything, the
    others at what seldom changes in one namespace after the other.
    """
    line: dict[str, Any] = {"t": round(time.monotonic() - ready_s, 6)}
    root = watched[0]
    for place, space in enumerate(watched):
        thorough = number % (THOROUGH if space is root else 2 * THOROUGH) == place % THOROUGH or number == 0
        if space is not root and not thorough and space.is_still(root):
            continue
        for key, value in space.read(thorough=thorough).items():
            if isinstance(value, dict):
                line.setdefault(key, {}).update(value)
            else:
                line.setdefault(key, []).extend(value)
        for trip in space.pings():
            rtt = None if trip.rtt_ms is None else round(trip.rtt_ms, 6)
            line.setdefault("r", []).append([round(trip.time_s - ready_s, 6), space.node, trip.peer, rtt])
    return line


def ordered_period_s(text: bytes) -> float | None:
    """The time between readings that the last whole line sets, within what is allowed; None if no line does."""
    found = None
    for line in text.split(b"\n"):
        if match := ORDER.fullmatch(line):
            with contextlib.suppress(ValueError):
                wanted = float(match[1])
                found = min(max(wanted, SHORTEST_S), LONGEST_S) if math.isfinite(wanted) else found
    return found


def next_reading_s(now_s: float, period_s: float) -> float:
    """The next whole multiple of the period, plus its share PHASE."""
    return (math.floor(now_s / period_s - PHASE + 1e-6) + 1 + PHASE) * period_s


class Ticks:
    """Wakes at the times of readings, to the nanosecond (timerfd_create(2)): select may be late by a thousandth."""

    def __init__(self, period_s: float) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._file = self._libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self.set(period_s)

    def set(self, period_s: float) -> None:
        """From now on, this far apart."""
        first_ns, every_ns = round(1e9 * next_reading_s(time.monotonic(), period_s)), round(1e9 * period_s)
        times = struct.pack("@4q", *divmod(every_ns, 10**9), *divmod(first_ns, 10**9))  # struct itimerspec
        self._libc.timerfd_settime(self._file, 1, times, None)  # TFD_TIMER_ABSTIME

    def wait(self) -> bytes | None:
        """Wait for the next, or for what is typed: b"" for a tick; None once the terminal has gone."""
        ready = select.select([0, self._file], [], [])[0]
        if self._file in ready:
            os.read(self._file, 8)
        if 0 not in ready:
            return b""
        try:
            return os.read(0, 4096) or None
        except OSError:
            return None


def _write(text: bytes) -> None:
    while text:
        text = text[os.write(1, text) :]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print readings until the terminal is hung up."""
    parser = argparse.ArgumentParser(description="Print what live plots show.")
    parser.add_argument("--period", type=float, default=PERIOD_S, help="seconds of network time between readings (0.1)")
    period_s = min(max(parser.parse_args(arguments).period, SHORTEST_S), LONGEST_S)
    watched, ticks = spaces(), Ticks(period_s)
    ready_s = network_time.ready_s()
    number, moved, typed = 0, False, b""
    untold_s: float | None = None
    while True:
        line = reading(watched, ready_s, number)
        moved, did_move = len(line) > 1, moved
        if moved or did_move or number % STILL == 0:  # the line after a change says that it has ended
            before = {} if untold_s is None else {"b": untold_s}
            _write(json.dumps({**line, **before}, separators=(",", ":")).encode() + b"\n")
            untold_s = None
        else:
            untold_s = line["t"]
        number += 1
        while (heard := ticks.wait()) != b"":
            if heard is None:
                return 0
            whole, newline, rest = (typed + heard).rpartition(b"\n")
            typed = rest[-64:]
            if newline and (wanted := ordered_period_s(whole)) is not None:
                ticks.set(wanted)


if __name__ == "__main__":
    sys.exit(main())
