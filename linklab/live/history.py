# SPDX-License-Identifier: BSD-3-Clause
"""Readings → tracks: what every flow, port and ping did so far, bounded, with the levels to read it against.

A flow is a TCP socket that sends; its rate is what its receiver has acknowledged. UDP, ICMP and everything else shows
in the rates of ports, which count all that leaves (frames, as tc counts them). Any thread may add or look.
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

from linklab.live.levels import LiveLevel, levels_of_flow, levels_of_port, rate_of
from linklab.live.readings import LiveReading, LiveSocket, PingTrip, PortCounters, PortDisciplines, PortQueue
from linklab.live.tracks import LiveSeries, Track
from linklab.live.ways import FlowWays, name_of, owners_of, split_end
from linklab.topology import Topology

LEAST_BYTES = 5000
"""What sends less, such as a connection for control or a port with neighbour discovery, gets no track."""
MOST_TRACKS = 700


class LiveFlow(NamedTuple):
    """A TCP socket that sends: its label, and the nodes at its ends."""

    label: str
    source: str
    target: str


class LiveHistory:
    """Everything since it was made.

    topology: gives the ways of flows, and so their BDPs; without it no BDP is known.
    """

    def __init__(self, topology: Topology | None = None) -> None:
        self.lock = threading.RLock()
        self.tracks: dict[str, Track] = {}
        self.time_s = math.nan
        """Network time of the last reading."""
        self.version = 0
        """Another number with every reading."""
        self.ports: dict[str, PortCounters] = {}
        self.disciplines: dict[str, PortDisciplines] = {}
        self.changes = 0
        """Another number whenever a track came or went, or a level may be another."""
        self._ways = FlowWays(topology)
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._owners: dict[str, str] = {}
        self._queues: dict[str, PortQueue] = {}
        self._first_bytes: dict[str, int] = {}
        self._sockets: dict[str, LiveSocket] = {}
        self._flows: dict[str, LiveFlow] = {}
        self._now: dict[str, float] = {}
        """What each track that goes on shows at the last reading."""
        self._is_cut = False
        self._has_flows = False
        self._numbers: dict[str, int] = {}
        self._last_levels: dict[str, list[LiveLevel]] = {}

    def number_of(self, of: str) -> int:
        """The number of a port or flow in the order of their coming, which gives its colour and pattern."""
        with self.lock:
            return self._numbers.setdefault(of, len(self._numbers))

    def cut(self) -> None:
        """Nobody has looked for a while: the tracks have a gap, and the next reading begins anew."""
        with self.lock:
            self.levels()  # of flows, whose sockets are forgotten
            for key in self._now:
                self.tracks[key].end(self.time_s)
            for kept in (self._now, self.ports, self._queues, self._first_bytes, self._sockets, self._flows):
                kept.clear()
            self._is_cut = True
            self.version += 1

    def see(self, reading: LiveReading) -> None:
        """Take a reading; one that is not later than the last is left out."""
        with self.lock:
            if reading.time_s <= self.time_s:
                return
            before_s = self.time_s if reading.before_s is None else max(reading.before_s, self.time_s)
            if self._is_cut:
                before_s, self._is_cut = math.nan, False
            for key, value in self._now.items():
                self.tracks[key].add(before_s, 0.0 if _is_rate(key) else value)
                if _is_rate(key):
                    self._now[key] = 0.0
            self._see_state(reading)
            self._see_ports(reading, before_s)
            self._see_sockets(reading, before_s)
            for trip in reading.trips:
                self._see_trip(trip)
            for key, value in self._now.items():
                self.tracks[key].add(reading.time_s, value)
            self.time_s = reading.time_s
            self.version += 1

    # --- looking

    def levels(self) -> list[LiveLevel]:
        """Those of ports and flows that have tracks; a flow that has ended keeps its last."""
        with self.lock:
            shown = {track.series.of for track in self.tracks.values()}
            self._last_levels = {key: kept for key, kept in self._last_levels.items() if f"cwnd {key}" in self.tracks}
            ports = [(name, port) for name, port in self.disciplines.items() if name in shown]
            found = [level for name, port in ports for level in levels_of_port(name, port)]
            for key, flow in self._flows.items():
                if key in shown and key in self._sockets:
                    self._last_levels[key] = self._levels_of(key, flow, self._sockets[key])
            return found + [level for kept in self._last_levels.values() for level in kept]

    def _levels_of(self, key: str, flow: LiveFlow, socket: LiveSocket) -> list[LiveLevel]:
        way = [self.disciplines.get(port) for port in self._ways.ports(flow.source, flow.target)]
        known = [port for port in way if port is not None]
        return levels_of_flow(key, flow.label, known, socket.number("min_rtt_ms") / 1000, socket.number("mss"))

    def is_minor(self, series: LiveSeries) -> bool:
        """Whether a line is left out until somebody asks for it: where flows have rates, that of a port without one."""
        with self.lock:
            if series.panel != "rate" or " " in series.of:  # a flow: its node and both its ends
                return False
            return self._has_flows and not self._is_limited(series.of)

    # --- taking

    def _see_state(self, reading: LiveReading) -> None:
        self._addresses.update(reading.addresses)
        if reading.addresses:
            self._owners = owners_of(self._addresses)
        for name, port in reading.disciplines.items():
            if port is None:
                for kept in (self.disciplines, self.ports, self._queues, self._first_bytes):
                    kept.pop(name, None)
                self._end(name, reading.time_s)
            else:
                self.disciplines[name] = port
            self.changes += 1

    def _see_ports(self, reading: LiveReading, before_s: float) -> None:
        lasted_s = reading.time_s - before_s  # NaN at the first reading
        for name, port in reading.ports.items():
            last, self.ports[name] = self.ports.get(name), port
            first = self._first_bytes.setdefault(name, port.bytes_out)
            if last is None or port.bytes_out < last.bytes_out or port.bytes_out - first < LEAST_BYTES:
                continue
            key = self._key(LiveSeries(f"rate {name}", "rate", name, f"{name} sends"), before_s)
            self._show(key, 8 * (port.bytes_out - last.bytes_out) / lasted_s)
        self._queues.update(reading.queues)
        for name in reading.queues.keys() | reading.disciplines.keys():
            queue = self._queues.get(name)
            if queue is None or not (queue.bytes or queue.drops or queue.marks or self._is_limited(name)):
                continue
            for panel, value in (("queue", queue.bytes), ("packets", queue.packets), ("drops", queue.drops)):
                label = f"{name} drops" if panel == "drops" else name
                began_s = math.nan if panel == "drops" else before_s  # what was dropped before is not known to be 0
                self._show(self._key(LiveSeries(f"{panel} {name}", panel, name, label), began_s), value)
            if queue.marks or f"marks {name}" in self._now:
                marks = LiveSeries(f"marks {name}", "drops", name, f"{name} marks", dashed=True)
                self._show(self._key(marks), queue.marks)

    def _is_limited(self, name: str) -> bool:
        port = self.disciplines.get(name)
        return port is not None and rate_of(port) is not None

    def _see_sockets(self, reading: LiveReading, before_s: float) -> None:
        for key, socket in reading.sockets.items():
            last, self._sockets[key] = self._sockets.get(key), socket
            if not socket.number("bytes_sent") >= LEAST_BYTES:
                continue
            flow = self._flows.get(key) or self._new_flow(key, socket)
            acked = socket.number("bytes_acked") - (last.number("bytes_acked") if last is not None else 0.0)
            name = flow.label
            self._show(
                self._key(LiveSeries(f"rate {key}", "rate", key, name), before_s),
                8 * acked / (reading.time_s - before_s),
            )
            self._show(self._key(LiveSeries(f"cwnd {key}", "cwnd", key, name)), socket.number("cwnd"))
            threshold = LiveSeries(f"ssthresh {key}", "cwnd", key, f"{name} ssthresh", dashed=True)
            self._show(self._key(threshold), socket.number("ssthresh"))
            self._show(self._key(LiveSeries(f"rtt {key}", "rtt", key, f"{name} srtt")), socket.number("rtt_ms") / 1000)
            self._show(self._key(LiveSeries(f"pacing {key}", "pacing", key, name)), socket.number("pacing_bps"))
        for key in reading.gone:
            if key in self._sockets:
                ended = self._sockets.pop(key)
                if key in self._flows:
                    self._last_levels[key] = self._levels_of(key, self._flows.pop(key), ended)
            self._end(key, reading.time_s)

    def _new_flow(self, key: str, socket: LiveSocket) -> LiveFlow:
        address, port = split_end(socket.peer)
        target = name_of(address, self._owners)
        label = f"{socket.node} → {target}:{port}"
        if any(flow.label == label for flow in self._flows.values()):
            label = f"{socket.node}:{split_end(socket.local)[1]} → {target}:{port}"
        self._flows[key] = LiveFlow(label, socket.node, target)
        return self._flows[key]

    def _see_trip(self, trip: PingTrip) -> None:
        pair = f"ping {trip.node} → {name_of(trip.peer, self._owners)}"
        key = self._key(LiveSeries(f"{pair} {trip.peer}", "rtt", pair, pair))
        if key is not None:
            self.tracks[key].add(trip.time_s, trip.rtt_s)

    # --- tracks

    def _key(self, series: LiveSeries, from_s: float = math.nan) -> str | None:
        """The track's key; a new track begins with 0 at `from_s`. None where there are too many."""
        if series.key not in self.tracks:
            if len(self.tracks) >= MOST_TRACKS and not self._forget_one():
                return None
            self.tracks[series.key] = Track(series)
            self._has_flows |= series.panel == "cwnd"
            self.number_of(series.of)
            self.changes += 1
            if not math.isnan(from_s):
                self.tracks[series.key].add(from_s, 0.0)
        return series.key

    def _forget_one(self) -> bool:
        """Forget the track that ended first; False where all go on."""
        ended = [(track.last or (0.0, 0.0), key) for key, track in self.tracks.items() if key not in self._now]
        if not ended:
            return False
        del self.tracks[min(ended)[1]]
        return True

    def _show(self, key: str | None, value: float) -> None:
        if key is not None:
            self._now[key] = value

    def _end(self, of: str, time_s: float) -> None:
        """What shows this port or flow ends."""
        for key in [key for key in self._now if self.tracks[key].series.of == of]:
            del self._now[key]
            self.tracks[key].end(time_s)
            self.changes += 1


def _is_rate(key: str) -> bool:
    return key.startswith("rate ")
