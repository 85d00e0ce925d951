# SPDX-License-Identifier: BSD-3-Clause
"""A line of `linklab.agent.live_readings` → a `LiveReading`, checked; what cannot be one is a ValueError."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from linklab.agent.live_space import SOCKET_FIELDS
from linklab.errors import LinklabError
from linklab.tc import Class, Qdisc

T = TypeVar("T")
MOST_BYTES = 4 * 2**20


@dataclass(frozen=True)
class PortCounters:
    """Of a port since it was made."""

    bytes_in: int
    bytes_out: int
    packets_in: int
    packets_out: int
    state: int


@dataclass(frozen=True)
class PortQueue:
    """What waits at a port now, and what its queue has dropped and marked so far."""

    bytes: int
    packets: int
    drops: int
    marks: int


@dataclass(frozen=True)
class PortDisciplines:
    """The disciplines and classes of a port."""

    qdiscs: tuple[Qdisc, ...] = ()
    classes: tuple[Class, ...] = ()


@dataclass(frozen=True)
class LiveSocket:
    """A TCP socket: who has it, both its ends as ADDRESS:PORT, and what the kernel says of it (SOCKET_FIELDS)."""

    node: str
    local: str
    peer: str
    told: Mapping[str, Any]

    def number(self, name: str) -> float:
        """A field; NaN where the kernel does not tell it."""
        value = self.told[name]
        return float(value) if isinstance(value, int | float) else math.nan


@dataclass(frozen=True)
class PingTrip:
    """A reply that came, and the round-trip time; NaN where none came within ten seconds."""

    time_s: float
    node: str
    peer: str
    rtt_s: float


@dataclass(frozen=True)
class LiveReading:
    """What has changed at one moment of network time.

    before_s: of the reading before, where that one showed no change and was not told.
    """

    time_s: float
    before_s: float | None = None
    ports: Mapping[str, PortCounters] = field(default_factory=dict)
    queues: Mapping[str, PortQueue] = field(default_factory=dict)
    disciplines: Mapping[str, PortDisciplines | None] = field(default_factory=dict)
    addresses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sockets: Mapping[str, LiveSocket] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    trips: tuple[PingTrip, ...] = ()


def parse(line: str) -> LiveReading:
    """The reading of a line; ValueError where it is none."""
    if len(line) > MOST_BYTES:
        raise ValueError("a line of readings is too long")
    try:
        told = json.loads(line)
        time_s, before_s = _finite(told["t"]), _finite(told["b"]) if "b" in told else None
        if before_s is not None and before_s >= time_s:
            raise ValueError(f"not a line of readings: the one before was at {before_s} s, this one at {time_s} s")
        return LiveReading(
            time_s,
            before_s,
            _each(told, "p", lambda row: PortCounters(*_whole(row, 5))),
            _each(told, "q", lambda row: PortQueue(*_whole(row, 4))),
            _each(told, "d", _disciplines),
            _each(told, "a", lambda row: tuple(map(str, row))),
            {key: _socket(key, row) for key, row in told.get("s", {}).items()},
            tuple(map(str, told.get("e", ()))),
            tuple(
                PingTrip(_finite(t), str(node), str(peer), _seconds(rtt)) for t, node, peer, rtt in told.get("r", ())
            ),
        )
    except (ArithmeticError, AttributeError, KeyError, LinklabError, RecursionError, TypeError) as error:
        raise ValueError(f"not a line of readings: {error}") from None


def _each(told: Mapping[str, Any], key: str, make: Callable[[Any], T]) -> dict[str, T]:
    return {str(name): make(row) for name, row in told.get(key, {}).items()}


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"not a line of readings: {value}")
    return number


def _seconds(rtt_ms: Any) -> float:
    return math.nan if rtt_ms is None else _finite(rtt_ms) / 1000


def _whole(row: Any, count: int) -> list[int]:
    numbers = [int(value) for value in row]
    if len(numbers) != count or min(numbers) < 0 or max(numbers) >= 2**64:
        raise ValueError(f"not a line of readings: {row}")
    return numbers


def _disciplines(row: Any) -> PortDisciplines | None:
    if row is None:
        return None
    qdiscs = [Qdisc(one["kind"], one["handle"], one["parent"], one["options"]) for one in row["qdiscs"]]
    classes = [Class(one["kind"], one["classid"], one["parent"], one["options"]) for one in row["classes"]]
    return PortDisciplines(tuple(qdiscs), tuple(classes))


def _socket(key: str, row: Any) -> LiveSocket:
    node, local, peer = key.split(" ")
    return LiveSocket(node, local, peer, dict(zip(SOCKET_FIELDS, row, strict=True)))
