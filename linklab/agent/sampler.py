# SPDX-License-Identifier: BSD-3-Clause
"""`python3 sampler.py IFACE --out FILE.jsonl`: readings of an interface's queueing disciplines at a steady period.

Speaks rtnetlink itself (rtnetlink(7), linux/pkt_sched.h), since starting tc for every reading would be too slow.
First line {"interface", "node", "period_s", "tc": what tc calls them}, then {"t": s since the first, "qdiscs": [...]}
with the field names of `tc -s -j qdisc`. Ends after --seconds, at SIGINT or SIGTERM, with whole lines.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.linux import netlink
from linklab.linux.tc_statistics import CLASS_STATISTICS, IN_OPTIONS, STATISTICS

RTM_GETQDISC, RTM_NEWQDISC = 38, 36
RTM_GETTCLASS, RTM_NEWTCLASS = 42, 40
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
EXIT_NO_QUEUE = 5
"""Exit status where the interface has no queue."""
CLASSFUL = ("htb", "hfsc", "drr", "qfq", "ets", "prio")
"""Disciplines whose classes are worth reading; those of fq_codel and its like are its flows, up to a thousand."""
NO_QUEUES = ("noqueue", "ingress", "clsact")
FLUSH_S = 0.25
STILL_S = 1.0
"""A reading that does not change is still written this often, so that a window that follows sees time pass."""
READINGS = 1500
"""After t seconds of a thinned run, readings are at least t / READINGS seconds apart, which is less than a pixel."""


class QdiscReader:
    """Reads the queueing disciplines of one interface of this network namespace over one socket.

    all_counters: also those that stand among a discipline's options. What `plot_q.sh` leaves in a working folder lacks
    them, as it did when the labs were recorded.
    """

    def __init__(self, interface: str, *, all_counters: bool = False) -> None:
        self.all_counters = all_counters
        try:
            self.index = socket.if_nametoindex(interface)
        except OSError:
            raise LookupError(f"there is no interface {interface} here") from None
        self.socket = netlink.connect()
        self.sequence = 0

    def raw(self, what: int = RTM_GETQDISC) -> bytes:
        """One dump as the kernel sent it."""
        self.sequence += 1
        body = netlink.TCMSG.pack(0, self.index, 0, 0, 0)
        self.socket.send(netlink.message(what, netlink.DUMP, self.sequence, body))
        chunks = []
        while True:
            data = self.socket.recv(65536)
            chunks.append(data)
            kinds = [kind for kind, _ in netlink.messages(data)]
            if netlink.NLMSG_DONE in kinds or netlink.NLMSG_ERROR in kinds:
                return b"".join(chunks)

    def read(self) -> list[dict[str, Any]]:
        """The disciplines now, root first."""
        found = [
            discipline(body, all_counters=self.all_counters)
            for kind, body in netlink.messages(self.raw())
            if kind == RTM_NEWQDISC and interface_of(body) == self.index
        ]
        return sorted(found, key=lambda qdisc: "root" not in qdisc)

    def classes(self) -> list[dict[str, Any]]:
        """The classes now, of the disciplines that have classes which a person made."""
        answers = (body for kind, body in netlink.messages(self.raw(RTM_GETTCLASS)) if kind == RTM_NEWTCLASS)
        return [found for body in answers if (found := traffic_class(body))["class"] in CLASSFUL]


def interface_of(body: bytes) -> int:
    """Number of the interface that an answer is about."""
    return int(netlink.TCMSG.unpack_from(body)[1])


def discipline(body: bytes, *, all_counters: bool = False) -> dict[str, Any]:
    """A queueing discipline's readings, with the field names of tc's JSON; all_counters as `QdiscReader` has it."""
    _, _, handle, parent, _ = netlink.TCMSG.unpack_from(body)
    attributes = netlink.attributes(body[netlink.TCMSG.size :])
    kind = attributes[TCA_KIND].rstrip(b"\0").decode()
    qdisc: dict[str, Any] = {"kind": kind, "handle": netlink.handle_text(handle)}
    if parent == netlink.ROOT:
        qdisc["root"] = True
    else:
        qdisc["parent"] = "ffff:fff1" if parent == netlink.INGRESS else netlink.handle_text(parent)
    counted = IN_OPTIONS[kind](attributes.get(TCA_OPTIONS, b"")) if all_counters and kind in IN_OPTIONS else {}
    return {**qdisc, **_statistics(attributes, kind, STATISTICS), **counted}


def traffic_class(body: bytes) -> dict[str, Any]:
    """A class's readings; "leaf" is the discipline within it."""
    _, _, handle, parent, leaf = netlink.TCMSG.unpack_from(body)
    attributes = netlink.attributes(body[netlink.TCMSG.size :])
    kind = attributes[TCA_KIND].rstrip(b"\0").decode()
    found: dict[str, Any] = {"class": kind, "handle": netlink.handle_text(handle)}
    if parent == netlink.ROOT:
        found["root"] = True
    else:
        found["parent"] = netlink.handle_text(parent)
    if leaf:
        found["leaf"] = netlink.handle_text(leaf << 16 if leaf < 1 << 16 else leaf)
    return {**found, **_statistics(attributes, kind, CLASS_STATISTICS)}


def _statistics(
    attributes: dict[int, bytes], kind: str, own: Mapping[str, Callable[[bytes], dict[str, Any]]]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    stats = netlink.attributes(attributes.get(TCA_STATS2, b""))
    if TCA_STATS_BASIC in stats:
        found["bytes"], found["packets"] = struct.unpack_from("=QI", stats[TCA_STATS_BASIC])
    if TCA_STATS_QUEUE in stats:
        names = ("qlen", "backlog", "drops", "requeues", "overlimits")
        found.update(zip(names, struct.unpack_from("=5I", stats[TCA_STATS_QUEUE]), strict=True))
    if TCA_STATS_APP in stats and kind in own:
        found.update(own[kind](stats[TCA_STATS_APP]))
    return found


class Thinned:
    """Writes only the readings that a plot shows: none between two equal ones, and fewer as time goes on.

    A live plot that is forgotten for an hour would leave 160 MB at 100 readings a second; so it leaves some 5 MB.
    """

    def __init__(self, out: IO[str]) -> None:
        self.out = out
        self.held: dict[str, Any] | None = None
        self.last: dict[str, Any] | None = None

    def write(self, line: dict[str, Any]) -> None:
        """Take a reading."""
        if self.last is None or line["t"] - self.last["t"] >= STILL_S:
            self._put(line)
        elif line["qdiscs"] == self.last["qdiscs"]:
            self.held = line
        elif line["t"] - self.last["t"] >= line["t"] / READINGS:
            if self.held is not None and self.held["qdiscs"] == self.last["qdiscs"]:  # where the change begins
                self._put(self.held)
            self._put(line)
        else:
            self.held = line

    def end(self) -> None:
        """Write the last reading, whatever it shows."""
        if self.held is not None:
            self._put(self.held)

    def _put(self, line: dict[str, Any]) -> None:
        self.out.write(_text(line))
        self.last, self.held = line, None


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def sample(
    reader: QdiscReader,
    out: IO[str],
    period_s: float,
    seconds: float | None,
    stopped: Callable[[], bool],
    *,
    thin: bool = False,
) -> None:
    """Write readings until `seconds` have passed or `stopped()`; `thin` as `Thinned` says."""
    thinned = Thinned(out) if thin else None
    # on whole periods of the clock, so that how long this program took to start leaves no trace in a virtual run
    start = math.ceil(time.monotonic() / period_s + 1) * period_s
    time.sleep(start - time.monotonic())
    number, flushed = 0, start
    while not stopped():
        now = time.monotonic()
        if seconds is not None and now - start >= seconds:
            break
        line = {"t": round(now - start, 9), "qdiscs": reader.read()}
        if thinned is None:
            out.write(_text(line))
        else:
            thinned.write(line)
        if now - flushed >= FLUSH_S:
            out.flush()
            flushed = now
        number = max(number + 1, int((time.monotonic() - start) / period_s) + 1)
        time.sleep(max(0.0, start + number * period_s - time.monotonic()))
    if thinned is not None:
        thinned.end()
    out.flush()


def _told_by_tc(interface: str) -> list[dict[str, Any]]:
    """What tc calls the disciplines of an interface.

    Raises:
        OSError: tc could not be started.
        ValueError: it failed, or printed no list; its words.
    """
    asked = ["tc", "-d", "-j", "qdisc", "show", "dev", interface]
    tc = subprocess.run(asked, capture_output=True, text=True, check=False)
    try:
        found = json.loads(tc.stdout or "[]")
    except ValueError:
        found = None
    if tc.returncode or not isinstance(found, list):
        raise ValueError(tc.stderr.strip() or tc.stdout.strip() or f"exit status {tc.returncode}")
    return found


def main() -> int:
    """Sample until told to stop.

    Returns:
        0; 1 where tc fails, 2 for a wrong interface, EXIT_NO_QUEUE for one without a queue if it needs one.
    """
    parser = argparse.ArgumentParser(description="Sample the queueing disciplines of an interface.")
    parser.add_argument("interface")
    parser.add_argument("--out", type=Path, required=True, help="file for the readings, JSON lines")
    parser.add_argument("--period", type=float, default=0.01, help="seconds between readings (0.01)")
    parser.add_argument("--thin", action="store_true", help="leave out what a picture does not show")
    parser.add_argument("--seconds", type=float, help="end after this many seconds")
    parser.add_argument("--needs-queue", action="store_true", help=f"end with {EXIT_NO_QUEUE} where there is no queue")
    args = parser.parse_args()
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))
    try:
        reader = QdiscReader(args.interface)
    except LookupError as error:
        print(f"sampler: {error}; `ip link` lists them", file=sys.stderr)
        return 2
    try:
        told = _told_by_tc(args.interface)
    except (OSError, ValueError) as error:
        print(f"sampler: {args.interface}: tc could not list its queueing disciplines: {error}", file=sys.stderr)
        return 1
    if args.needs_queue and told and all(qdisc.get("kind") in NO_QUEUES for qdisc in told):
        return EXIT_NO_QUEUE
    header = {"interface": args.interface, "period_s": args.period, "tc": told}
    with args.out.open("w") as out:
        out.write(json.dumps(header) + "\n")
        sample(reader, out, args.period, args.seconds, lambda: bool(ended), thin=args.thin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
