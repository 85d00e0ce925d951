# SPDX-License-Identifier: BSD-3-Clause
"""What the samplers of a test wrote (JSON lines) → samples of disciplines, TCP connections, the processor, netstat.

Names of numbers are Flent's where it has one: "dropped" and "ecn_mark" count since the sample before, most others since
the beginning. Formats of the files: docs/tests.md; they are written by `linklab.agent.trial_samplers`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab.experiment.outputs import Samples

Line = dict[str, Any]
Key = tuple[str, int, int]
"""A node, and the ports of a connection as the node sees it: its own, and the other's."""

QUEUELESS = ("noqueue", "ingress", "clsact", "mq")
NAMED = {
    "bytes": "sent_bytes",
    "packets": "sent_pkts",
    "drops": "dropped",
    "backlog": "backlog_bytes",
    "qlen": "backlog_pkts",
    "overlimits": "overlimits",
    "requeues": "requeues",
    "sent_packets": "sent_pkts",
}
"""tc's name in JSON → Flent's, which are those of tc's text."""
QUEUE = "qdisc_stats_"
"""With it begins the name of an interface's queue."""
TINS = {
    3: dict(enumerate(("Bulk", "Best Effort", "Voice"))),
    4: dict(enumerate(("Bulk", "Best Effort", "Video", "Voice"))),
}
"""What tc calls the tins of CAKE, by how many there are; else they have numbers (q_cake.c of iproute2)."""
SINCE_LAST = ("dropped", "ecn_mark", "early", "pdrop", "marked", "ce_mark")
UNITS = {
    "sent_bytes": "bytes",
    "sent_pkts": "packets",
    "dropped": "packets",
    "ecn_mark": "packets",
    "backlog_bytes": "bytes",
    "backlog_pkts": "packets",
    "delay": "ms",
    "drop_next": "ms",
    "peak_delay": "ms",
    "base_delay": "ms",
    "target": "ms",
    "interval": "ms",
    "early": "packets",
    "pdrop": "packets",
    "marked": "packets",
    "maxpacket": "bytes",
    "memory_usage": "bytes",
}
TCP = {
    "tcp_cwnd": ("cwnd", 1.0, "packets"),
    "tcp_ssthresh": ("ssthresh", 1.0, "packets"),
    "tcp_rtt": ("rtt_ms", 1.0, "ms"),
    "tcp_rtt_var": ("rttvar_ms", 1.0, "ms"),
    "tcp_min_rtt": ("min_rtt_ms", 1.0, "ms"),
    "tcp_rto": ("rto_ms", 1.0, "ms"),
    "tcp_pacing_rate": ("pacing_bps", 1e-6, "Mbits/s"),
    "tcp_delivery_rate": ("delivery_bps", 1e-6, "Mbits/s"),
    "tcp_retransmits": ("retransmits", 1.0, "segments"),
    "tcp_lost": ("lost", 1.0, "segments"),
    "tcp_unacked": ("unacked", 1.0, "segments"),
    "tcp_notsent": ("notsent_bytes", 1.0, "bytes"),
    "tcp_delivered_ce": ("delivered_ce", 1.0, "segments"),
    "tcp_ca_state": ("ca_state", 1.0, ""),
}
"""Number of a sample → field of a reading, factor and unit."""
TOTALS = {
    "tcp_data_segs_out": ("data_segs_out", 1.0, "segments"),
    "tcp_bytes_acked": ("bytes_acked", 1.0, "bytes"),
    "tcp_bytes_sent": ("bytes_sent", 1.0, "bytes"),
}
"""What is kept beside it where a plan asks for the ends of connections."""
OWN = {
    "bw_bps": ("tcp_bbr_bw", 1e-6, "Mbits/s"),
    "min_rtt_ms": ("tcp_bbr_mrtt", 1.0, "ms"),
    "pacing_gain": ("tcp_bbr_pacing_gain", 1.0, ""),
    "cwnd_gain": ("tcp_bbr_cwnd_gain", 1.0, ""),
    "alpha": ("tcp_dctcp_alpha", 1.0, ""),
}
"""What BBR and DCTCP say of themselves."""
LARGEST = frozenset({"delay", "maxpacket", "avg_dq_rate", "prob"})
"""Numbers of a discipline of which several side by side have a largest one and no sum."""
CA_STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
TCP_UNITS = {
    name: unit for name, (_, _, unit) in [*TCP.items(), *TOTALS.items(), *((n, ("", f, u)) for n, f, u in OWN.values())]
}


def lines(path: Path) -> Iterator[Line]:
    """The whole lines of a file; none where it is missing. A last line that was cut off is left out."""
    if path.is_file():
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)


def read_qdiscs(path: Path) -> dict[str, Samples]:
    """A series for each discipline and class that can hold packets, by name.

    "qdisc_stats_INTERFACE" is the queue of an interface: its innermost discipline, or their sum. A shaper around it and
    a netem, whose packets are under way and do not wait, are "qdisc KIND HANDLE INTERFACE"; a class is
    "class ID INTERFACE", and a tin of CAKE "qdisc cake TIN INTERFACE". Where several nodes have an interface of this
    name, the node's name and a blank stand before it.
    """
    found: dict[tuple[str, str, str], Samples] = {}
    last: dict[tuple[str, str, str], dict[str, float]] = {}
    nodes: dict[str, set[str]] = {}
    for line in lines(path):
        if "qdiscs" not in line:
            continue
        node, interface = line["node"], line["interface"]
        nodes.setdefault(interface, set()).add(node)
        for name, numbers, meta in _read(line):
            key = (name, node, interface)
            before = last.get(key, {})
            series = found.setdefault(key, Samples("bytes", meta=meta))
            shown = {
                key: value - before.get(key, value) if key in SINCE_LAST else value for key, value in numbers.items()
            }
            last[key] = numbers
            series.add(line["t"], shown.get("backlog_bytes", math.nan), **shown)
    return {
        f"{name}{interface if len(nodes[interface]) == 1 else f'{node} {interface}'}": series
        for (name, node, interface), series in found.items()
    }


def _read(line: Line) -> Iterator[tuple[str, dict[str, float], dict[str, Any]]]:
    """Names without the interface, numbers and what else is known of the disciplines of a reading."""
    where = {"NODE": line["node"], "INTERFACE": line["interface"], "RUNNER": "qdisc"}
    there = [one for one in line["qdiscs"] if one["kind"] not in QUEUELESS]
    around = {str(one.get("parent", "")).partition(":")[0] for one in there}
    leaves = [one for one in there if one["handle"].partition(":")[0] not in around and one["kind"] != "netem"]
    if leaves:
        summed: dict[str, float] = {}
        for one in leaves:
            for key, value in _numbers(one).items():
                together = max if key in LARGEST else float.__add__
                summed[key] = together(summed[key], value) if key in summed else value
        kinds = "+".join(dict.fromkeys(one["kind"] for one in leaves))
        yield QUEUE, summed, {**where, "KIND": kinds}
    for one in there:
        if not any(one is leaf for leaf in leaves):
            name = f"qdisc {one['kind']} {one['handle']} "
            yield name, _numbers(one), {**where, "KIND": one["kind"], "HANDLE": one["handle"]}
        tins = one.get("tins", ())
        for number, tin in enumerate(tins):
            name = TINS.get(len(tins), {}).get(number, f"Tin {number}")
            yield f"qdisc cake {name} ", _of_tin(tin), {**where, "KIND": "cake", "TIN": name}
    for one in line.get("classes", ()):
        name = f"class {one.get('handle', one.get('classid', ''))} "
        yield name, _numbers(one), {**where, "KIND": one.get("class", "")}


def _numbers(one: Line) -> dict[str, float]:
    """The numbers of a discipline by Flent's names; times in ms."""
    found = {}
    for key, value in one.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        found[NAMED.get(key, key)] = float(value)
    if "ldelay" in found:
        found["delay"] = found.pop("ldelay") / 1e3
        found["drop_next"] = found.get("drop_next", 0.0) / 1e3
    elif "delay" in found:
        found["delay"] /= 1e3
    for ours, theirs in (("dropped_pie", "pie_dropped"), ("overlimit_pie", "overlimit")):
        if one["kind" if "kind" in one else "class"] in ("pie", "fq_pie") and theirs in found:
            found[ours] = found.pop(theirs)
    if tins := [_of_tin(tin) for tin in one.get("tins", ())]:
        found["ecn_mark"] = sum(tin.get("ecn_mark", 0.0) for tin in tins)
        # a tin without flows keeps the delay that it had when it was used last
        used = [tin for tin in tins if tin.get("backlog_bytes") or tin.get("sparse_flows") or tin.get("bulk_flows")]
        found["delay"] = max((tin.get("delay", 0.0) for tin in used), default=0.0)
    return found


def _of_tin(tin: Line) -> dict[str, float]:
    """The numbers of a tin of CAKE; times in ms."""
    found = {}
    for key, value in tin.items():
        if key.endswith("_us"):
            name = key.removesuffix("_us")
            found["delay" if name == "avg_delay" else name] = float(value) / 1e3
        else:
            found[NAMED.get(key, key)] = float(value)
    return found


@dataclass
class SocketPair:
    """Readings of one end of a TCP connection, by field."""

    time_s: list[float] = field(default_factory=list)
    rows: list[Sequence[Any]] = field(default_factory=list)


@dataclass
class Sockets:
    """All readings of TCP sockets.

    times: of the readings of each node.
    """

    columns: dict[str, int] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)
    connections: dict[Key, SocketPair] = field(default_factory=dict)

    def column(self, connection: SocketPair, name: str) -> list[Any]:
        """A field of each reading."""
        at = self.columns[name]
        return [row[at] for row in connection.rows]


def read_sockets(path: Path) -> Sockets:
    """The readings of a file."""
    found = Sockets()
    for line in lines(path):
        if "fields" in line:
            found.columns = {name: number for number, name in enumerate(line["fields"])}
            continue
        node, time_s = line["node"], line["t"]
        found.times.setdefault(node, []).append(time_s)
        for row in line["sockets"]:
            key = (node, _port(row[0]), _port(row[1]))
            connection = found.connections.setdefault(key, SocketPair())
            connection.time_s.append(time_s)
            connection.rows.append(row)
    return found


def last_of(sockets: Sockets, end: Key) -> dict[str, Any]:
    """The last reading of a connection's end by field; {} where there is none."""
    found = sockets.connections.get(end)
    if found is None:
        return {}
    return {name: found.rows[-1][at] for name, at in sockets.columns.items() if name not in ("local", "peer", "own")}


def _port(end: str) -> int:
    return int(end.rpartition(":")[2])


def throughput(sockets: Sockets, receiver: SocketPair, node: str, until_s: float) -> list[tuple[float, float]]:
    """What a connection received, Mbits/s, from one reading to the next; 0 while it stalls.

    It begins with the first data, since what is before them is the handshake, and ends with the last data or at
    `until_s`, the end of the flow, whichever is later.
    The first reading counts from the one before it, at which the connection was not there.
    """
    counted = [float(value or 0) for value in sockets.column(receiver, "bytes_received")]
    times = sockets.times[node]
    first = times.index(receiver.time_s[0])
    before_s, before = (times[first - 1], 0.0) if first else (receiver.time_s[0], counted[0])
    found = []
    for time_s, total in zip(receiver.time_s, counted, strict=True):
        if time_s > before_s:
            found.append((time_s, (total - before) * 8e-6 / (time_s - before_s)))
        before_s, before = time_s, total
    moved = [time_s for time_s, rate in found if rate > 1e-3]
    return [(time_s, rate) for time_s, rate in found if moved[0] <= time_s <= max(moved[-1], until_s)] if moved else []


def tcp_numbers(sockets: Sockets, sender: SocketPair, *, whole: bool = False) -> dict[float, dict[str, float]]:
    """The further numbers of a connection's sender, by time; whole: those of TOTALS too."""
    found: dict[float, dict[str, float]] = {}
    table = TCP | TOTALS if whole else TCP
    at = {name: sockets.columns[field_] for name, (field_, _, _) in table.items() if field_ in sockets.columns}
    own = sockets.columns.get("own")
    for time_s, row in zip(sender.time_s, sender.rows, strict=True):
        numbers = {}
        for name, place in at.items():
            value = row[place]
            if isinstance(value, str):
                value = CA_STATES.index(value) if value in CA_STATES else None
            if value is not None:
                numbers[name] = value * table[name][1]
        for key, value in ((row[own] if own is not None else None) or {}).items():
            if key in OWN and value is not None:
                numbers[OWN[key][0]] = value * OWN[key][1]
        found[time_s] = numbers
    return found


def read_cpu(path: Path) -> Samples | None:
    """Load of all processors of the network's kernel together, 0 to 1, and of each; None where nothing was read."""
    found, before = Samples("", meta={"RUNNER": "cpu"}), None
    for line in lines(path):
        if "cpu" not in line:
            continue
        if before is not None:
            loads = {name: _load(before["cpu"].get(name), now) for name, now in line["cpu"].items()}
            own = {f"cpu{name.removeprefix('cpu')}": load for name, load in loads.items() if name != "cpu"}
            found.add(line["t"], loads.get("cpu", math.nan), load=loads.get("cpu", math.nan), **own)
        before = line
    return found if found.rows else None


def _load(before: Sequence[int] | None, now: Sequence[int]) -> float:
    if before is None:
        return math.nan
    # guest time is counted in user time too, so the first eight columns are all
    spent = [new - old for old, new in zip(before[:8], now[:8], strict=True)]
    total = sum(spent)
    return (total - spent[3] - spent[4]) / total if total > 0 else 0.0


def read_netstat(path: Path, node: str) -> Samples | None:
    """The counters of a node's network, since the beginning; None where nothing was read."""
    found = Samples("", meta={"RUNNER": "netstat"})
    for line in lines(path):
        if line.get("node") == node:
            tables: Mapping[str, Mapping[str, float]] = line["netstat"]
            numbers = {name: float(value) for name, value in tables.get("TcpExt", {}).items()}
            numbers |= {f"Tcp{name}": float(value) for name, value in tables.get("Tcp", {}).items()}
            found.add(line["t"], math.nan, **numbers)
    return found if found.rows else None
