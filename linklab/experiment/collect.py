# SPDX-License-Identifier: BSD-3-Clause
"""Raw outputs of a test in a folder → one data set, with what failed named in its metadata.

    outcome.json, ID.out, ID.err      of the programs      (`outputs`)
    qdiscs, sockets, cpu, netstat     .jsonl, sampled      (`samples`)
    facts.json                        asked before, after  (`metadata`)

Nothing is lost when a program fails: its series is absent, and the reason is in `failed`. The folder is written by
`linklab.agent.trial`; see docs/tests.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from linklab.errors import DataError, EngineError
from linklab.experiment import connections, outputs, programs, rpc, samples
from linklab.experiment.connections import FlowEnd
from linklab.experiment.irtt import read_irtt
from linklab.experiment.model import Traffic, TrafficFlow
from linklab.experiment.outputs import Samples, Streams
from linklab.experiment.plan import named_ports
from linklab.experiment.planned import IPERF, PlannedProcess, ProgramPlan, source_of, target_of
from linklab.experiment.samples import Key, Sockets
from linklab.measure import Series, make_series

HANDSHAKES = {Traffic.TCP: 4.5, Traffic.SCTP: 4.5, Traffic.UDP: 3.5}
"""Round trips between the start of an iperf3 client and the moment at which its server begins to count: connection,
parameters, and the connection of the stream (iperf_client_api.c, iperf_server_api.c of 3.12)."""
IPERF_HEAD_BYTES = 37 + 2
"""What a connection of iperf3 carries beside its data: a cookie at first (COOKIE_SIZE of iperf.h), and in the end the
FIN of each side, which tcp_info counts as a byte."""
SETTLED = 0.05
"""Of the last interval of an iperf3 report: shorter ones are left out."""
RUNNERS = {
    Traffic.ICMP: "fping",
    Traffic.HTTP: "curl",
    Traffic.CPU_LOAD: "stress-ng",
    Traffic.UDP_RTT: "irtt",
    Traffic.VOIP: "irtt",
} | dict.fromkeys(IPERF, "iperf3")


@dataclass
class TrialOutcome:
    """What a test measured.

    failed: series → why it is missing or broken off.
    notes: what else a person should know.
    commands: of the trial, that were run before and after the test: name, when, node, command, status, output.
    ends: of flows of TCP in the end, by series, where the plan asks for them.
    """

    series: dict[str, Series] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    outcome: dict[str, Any] = field(default_factory=dict)
    facts: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    commands: list[dict[str, Any]] = field(default_factory=list)
    ends: dict[str, FlowEnd] = field(default_factory=dict)


def collect(plan: ProgramPlan, folder: Path) -> TrialOutcome:
    """Everything that the runner left in its folder.

    Raises:
        EngineError: the runner left no outcome, so nothing was measured.
    """
    return _Collector(plan, folder).collect()


class _Collector:
    def __init__(self, plan: ProgramPlan, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.found = TrialOutcome()
        self.t0_s = 0.0
        self.t0_ns = 0
        self.ended: Sockets | None = None
        """Connections in their end; None where the plan does not ask for them."""

    def collect(self) -> TrialOutcome:
        try:
            self.found.outcome = json.loads((self.folder / "outcome.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise EngineError(f"the test left no outcome: {error}") from error
        self.t0_s = self.found.outcome.get("t0_date_ns", 0) / 1e9
        self.found.notes += [f"not sampled: {lack}" for lack in self.found.outcome.get("lacks", ())]
        self.found.facts = _facts(self.folder / "facts.json")
        self.t0_ns = self.found.outcome.get("t0_ns", 0)
        self.sockets = samples.read_sockets(self.folder / "sockets.jsonl")
        if self.plan.data["samplers"].get("ended"):
            self.ended = samples.read_sockets(self.folder / "ended.jsonl")
        for number, process in enumerate(self.plan.processes):
            self._process(process, number)
        self._sampled()
        self._note_unmarked()
        return self.found

    def _note_unmarked(self) -> None:
        """Of downloads that iperf3 alone leaves unmarked (native/iperf3_tos.c)."""
        shared = self.found.outcome.get("shared_objects", ())
        if any(name.startswith("iperf3_tos") for name in shared):
            return
        marked = [
            flow.series
            for process in self.plan.processes
            for flow in process.flows
            if flow.traffic in IPERF and flow.tos and flow.direction == "down"
        ]
        if marked:
            self.found.notes.append(
                f"sent unmarked: {', '.join(marked)}; iperf3_tos.c has not been compiled (linklab doctor)"
            )

    # --- programs

    def _process(self, process: PlannedProcess, number: int) -> None:
        ran = self.found.outcome["programs"].get(process.id, {})
        why = ran.get("why") or ("" if ran.get("started_s") is not None else "it was not started")
        traffic = process.flows[0].traffic
        try:
            made = self._samples(process, ran)
        except DataError as error:
            made = {}
            why = why or str(error)
        for flow in process.flows:
            known: dict[str, Any] = {
                "COMMAND": programs.spoken(process.argv),
                "RUNNER": RUNNERS.get(traffic, traffic.value),
            }
            known |= {"IDX": number, **_of_flow(flow)}
            one, rate = made.get(flow.series), str(flow.options.get("rate") or "")
            answered = one is not None and bool(one.rows)
            if why or (not answered and traffic is not Traffic.BURSTS):  # which only send
                self.found.failed[flow.series] = self._reason(process, why or "it measured nothing")
                known["FAILED"] = self.found.failed[flow.series]
            if one is not None and answered:
                self._keep(flow.series, one, known, source=process.output)
            if rate in made and made[rate].rows:  # a flow without any answer may have carried much
                self._keep(rate, made[rate], known, source=process.output)

    def _reason(self, process: PlannedProcess, why: str) -> str:
        words = " ".join(self._text(f"{process.id}.err").split())[-300:]
        return f"{why}: {words}" if words and words not in why else why

    def _samples(self, process: PlannedProcess, ran: Mapping[str, Any]) -> dict[str, Samples]:
        flow, text = process.flows[0], self._text(process.output)
        if rpc.is_rpc(flow):
            return self._rpc(process, text, ran)
        if flow.traffic in IPERF:
            return self._iperf(process, text, ran)
        readers: dict[Traffic, Callable[[], Samples]] = {
            Traffic.UDP_RTT: lambda: self._irtt(flow, text, ran),
            Traffic.VOIP: lambda: self._irtt(flow, text, ran),
            Traffic.ICMP: lambda: self._ping(flow, text, ran),
            Traffic.HTTP: lambda: outputs.read_fetches(text, self.t0_s),
            Traffic.TCP_RTT: lambda: outputs.read_answers(text, self.t0_s),
            Traffic.CPU_LOAD: lambda: _load(flow, ran),
            Traffic.COMMAND: lambda: outputs.read_command(
                text, ran.get("started_s") or 0.0, flow.interval_s, self.t0_s
            ),
        }
        read = readers.get(flow.traffic)
        return {flow.series: read()} if read is not None else {}

    def _text(self, name: str) -> str:
        try:
            return (self.folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _irtt(self, flow: TrafficFlow, text: str, ran: Mapping[str, Any]) -> Samples:
        ended_s = ran.get("ended_s") if ran.get("stopped") else None
        return read_irtt(text, self.t0_s, voip=flow.traffic is Traffic.VOIP, ended_s=ended_s)

    def _ping(self, flow: TrafficFlow, text: str, ran: Mapping[str, Any]) -> Samples:
        """The answers; what was sent after the end, or so late that no answer could have come, is not counted."""
        began_s, ended_s = ran.get("started_s") or flow.start_s, ran.get("ended_s") or flow.start_s
        count = programs.pings(flow)
        if self.found.outcome.get("ended") == "early":
            count = min(count, max(0, math.floor((ended_s - began_s) / flow.interval_s)))
        return outputs.read_ping(text, self.t0_s, began_s=began_s, interval_s=flow.interval_s, count=count)

    # --- requests back to back

    def _rpc(self, process: PlannedProcess, text: str, ran: Mapping[str, Any]) -> dict[str, Samples]:
        """Of each connection the answers, and what it moved; of one without requests that end, the latter alone."""
        found = rpc.read(text)
        servers: dict[str, dict[tuple[int, int], dict[str, Any]]] = {}
        made = {}
        for number, flow in enumerate(process.flows, 1):
            one = found.get(number)
            if one is None or not one.info:
                continue
            source, target = source_of(flow, self.plan.place), target_of(flow, self.plan.place)
            if target not in servers:
                servers[target] = rpc.read_server(self._text(f"{rpc.server_id(target)}.out"))
            remote = servers[target].get((one.port, one.peer_port), {})
            asks = flow.traffic is Traffic.TCP_RTT
            began_s = ran.get("started_s") or flow.start_s
            end = connections.rpc_end(one, remote, began_s, self.t0_ns, asks=asks)
            self.found.ends[str(flow.options.get("rate") or flow.series)] = end
            ends = (source, one.port, one.peer_port), (target, one.peer_port, one.port)
            moved = connections.payload(self.sockets, ends, end.ended_s, whole=self.ended is not None)
            made[flow.series] = connections.answers(one, self.t0_ns) if asks else moved
            if asks and flow.options.get("rate"):
                made[str(flow.options["rate"])] = moved
        return made

    # --- iperf3

    def _iperf(self, process: PlannedProcess, text: str, ran: Mapping[str, Any]) -> dict[str, Samples]:
        """The received side's numbers: of the sockets where they were sampled, else of the receiving iperf3."""
        flow = process.flows[0]
        client = outputs.read_iperf(text)
        receiving = client
        if flow.direction != "down":
            try:
                receiving = outputs.read_iperf(self._text(f"{process.server}.out"))
            except DataError as error:
                receiving = Streams()
                self.found.notes.append(f"{process.server}: {error}")
        made = {}
        for number, each in enumerate(process.flows):
            series = self._of_sockets(each, process, client, number) if flow.traffic is Traffic.TCP else None
            if series is None or not series.rows:
                series = self._of_reports(each, receiving, process.port, number, ran)
            series.meta |= _of_stream(each, client, receiving, number)
            made[each.series] = series
            if self.ended is not None and number < len(client.ports):
                self.found.ends[each.series] = self._iperf_end(each, client, receiving, number, ran)
        return made

    def _ends(self, flow: TrafficFlow, client: Streams, number: int) -> tuple[Key, Key]:
        """The ends of a stream: that of the client, and that of the server."""
        local, remote = client.ports[number]
        place = self.plan.place
        return (source_of(flow, place), local, remote), (target_of(flow, place), remote, local)

    def _iperf_end(
        self, flow: TrafficFlow, client: Streams, receiving: Streams, number: int, ran: Mapping[str, Any]
    ) -> FlowEnd:
        """A stream's connection in the end; it lasts until the receiver has what was under way."""
        here, there = self._ends(flow, client, number)
        began_s = ran.get("started_s") or flow.start_s
        known = [each.seconds[number] for each in (receiving, client) if number < len(each.seconds)]
        seconds = next((each for each in known if not math.isnan(each)), flow.length_s)
        ended_s = began_s + seconds
        assert self.ended is not None
        local, remote = (samples.last_of(self.ended, end) for end in (here, there))
        port, peer_port = client.ports[number]
        return FlowEnd(port, peer_port, began_s, ended_s, local, remote, head_bytes=IPERF_HEAD_BYTES)

    def _of_sockets(self, flow: TrafficFlow, process: PlannedProcess, client: Streams, number: int) -> Samples | None:
        """The connection as the kernels of both ends saw it."""
        if number >= len(client.ports):
            return None
        here, there = self._ends(flow, client, number)
        sender, receiver = (there, here) if flow.direction == "down" else (here, there)
        if receiver not in self.sockets.connections:
            return None
        further: dict[float, dict[str, float]] = {}
        if sender in self.sockets.connections:
            whole = self.ended is not None
            further = samples.tcp_numbers(self.sockets, self.sockets.connections[sender], whole=whole)
        found = Samples("Mbits/s")
        until_s = flow.start_s + flow.length_s
        for time_s, rate in samples.throughput(self.sockets, self.sockets.connections[receiver], receiver[0], until_s):
            found.add(time_s, rate, **further.get(time_s, {}))
        return found

    def _of_reports(
        self, flow: TrafficFlow, receiving: Streams, port: int, number: int, ran: Mapping[str, Any]
    ) -> Samples:
        """The intervals of the receiving iperf3; its clock began when the stream was connected."""
        found = Samples("Mbits/s")
        if number >= len(receiving.rows):
            return found
        began_s = (ran.get("started_s") or flow.start_s) + HANDSHAKES[flow.traffic] * self._round_trip_s(flow, port)
        rows = receiving.rows[number]
        usual = float(np.median([row.end_s - row.start_s for row in rows])) if rows else 0.0
        for row in rows:
            if row.end_s - row.start_s > SETTLED * usual:
                known = {} if math.isnan(row.lost) else {"lost_pkts": row.lost, "pkts": row.datagrams}
                found.add(round(began_s + row.end_s, 6), row.rate_bps / 1e6, **known)
        return found

    def _round_trip_s(self, flow: TrafficFlow, port: int) -> float:
        """The shortest that the control connection of its iperf3 saw; 0 if it was not sampled."""
        column = self.sockets.columns.get("min_rtt_ms")
        client, server = source_of(flow, self.plan.place), target_of(flow, self.plan.place)
        rtts = [
            row[column]
            for (node, own, other), connection in self.sockets.connections.items()
            if column is not None and (node, port) in ((client, other), (server, own))
            for row in connection.rows[:1]
            if row[column]
        ]
        return min(rtts, default=0.0) / 1e3

    # --- samplers

    def _sampled(self) -> None:
        qdiscs = samples.read_qdiscs(self.folder / "qdiscs.jsonl")
        flows = [flow for flow in self.plan.expanded.flows if flow.traffic is Traffic.QDISC]
        asked = {flow.series: self._queue(flow, qdiscs) for flow in flows}
        for name, one in qdiscs.items():
            if not any(one is taken for taken in asked.values()):  # which has the name that the test gives it
                self._keep(name, self._of_test(one), {}, source="qdiscs.jsonl")
        for flow in self.plan.expanded.flows:
            host = str(flow.options.get("host") or self.plan.place.source)
            found: Samples | None = None
            if flow.traffic is Traffic.QDISC:
                found = asked[flow.series]
            elif flow.traffic is Traffic.CPU:
                found = samples.read_cpu(self.folder / "cpu.jsonl")
            elif flow.traffic is Traffic.NETSTAT:
                found = samples.read_netstat(self.folder / "netstat.jsonl", host)
            else:
                continue
            if found is None:
                self.found.failed[flow.series] = "nothing was sampled"
            else:
                self._keep(flow.series, self._of_test(found), {}, source="sampler")
        if "cpu_stats" not in self.found.series and (cpu := samples.read_cpu(self.folder / "cpu.jsonl")):
            self._keep("cpu_stats", self._of_test(cpu), {}, source="cpu.jsonl")

    def _of_test(self, one: Samples) -> Samples:
        """What was sampled during the test; samplers go on while programs wait for their last answers."""
        end_s = self.plan.expanded.total_s + self.plan.expanded.step_s / 2  # a sample may be a little late
        return replace(one, rows=[row for row in one.rows if row[0] < end_s])

    def _queue(self, flow: TrafficFlow, qdiscs: Mapping[str, Samples]) -> Samples | None:
        """The queue that a flow names; without an interface it is the first one on the way up."""
        place = self.plan.place
        queues = {
            (one.meta["NODE"], one.meta["INTERFACE"]): one
            for name, one in qdiscs.items()
            if name.startswith(samples.QUEUE)
        }
        for port in named_ports(flow, place):
            if (port.node, port.interface) in queues:
                return queues[port.node, port.interface]
        return None

    def _keep(self, name: str, one: Samples, known: Mapping[str, Any], *, source: str) -> None:
        """A series, and its further numbers at the same times."""
        rows = sorted(one.rows, key=lambda row: row[0])
        times = np.array([row[0] for row in rows])
        meta = {**known, **{key: value for key, value in one.meta.items() if value is not None}}
        self.found.series[name] = make_series(name, one.unit, times, [row[1] for row in rows], source=source, meta=meta)
        for key in dict.fromkeys(key for row in rows for key in row[2]):
            unit = samples.TCP_UNITS.get(key, samples.UNITS.get(key, outputs.OWN_UNITS.get(key, "")))
            values = [row[2].get(key, math.nan) for row in rows]
            self.found.series[f"{name}::{key}"] = make_series(f"{name}::{key}", unit, times, values, source=source)


def _load(flow: TrafficFlow, ran: Mapping[str, Any]) -> Samples:
    """How many processes compute, from their start to their end."""
    found = Samples("", meta={"RUNNER": "stress-ng"})
    began_s, ended_s = ran.get("started_s"), ran.get("ended_s")
    if began_s is not None and ended_s is not None:
        workers = float(flow.options.get("workers") or 1)
        count = max(1, round((ended_s - began_s) / flow.interval_s))
        for number in range(count + 1):
            found.add(round(began_s + number * flow.interval_s, 6), workers)
    return found


def _facts(path: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    try:
        listed: Iterable[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {(str(one["node"]), str(one["name"])): one for one in listed}


def _of_flow(flow: TrafficFlow) -> dict[str, Any]:
    """What was asked of a flow, by Flent's names."""
    known: dict[str, Any] = {"TARGET": flow.target}
    if flow.traffic in IPERF:
        known |= {"DATA_TOS": hex(flow.tos)}
    elif flow.tos:
        known["TOS"] = hex(flow.tos)
    known |= {"CONG_CONTROL": flow.congestion} if flow.congestion else {}
    known |= {"DIRECTION": flow.direction} if flow.direction else {}
    return known


def _of_stream(flow: TrafficFlow, client: Streams, receiving: Streams, number: int) -> dict[str, Any]:
    """What iperf3 said of a stream in the end, by Flent's names."""

    def of(values: tuple[float, ...]) -> float:
        return values[number] if number < len(values) else math.nan

    rate = of(receiving.rate_bps)
    rate = of(client.rate_bps) if math.isnan(rate) else rate
    received = of(receiving.received_bytes)
    sent_pkts, lost = of(client.sent_pkts), of(receiving.lost)
    numbers: Mapping[str, tuple[float, Callable[[float], float | int]]] = {
        "MEAN_VALUE": (rate / 1e6, float),
        "ELAPSED_TIME": (of(client.seconds), float),
        "BYTES_SENT": (of(client.sent_bytes), int),
        "BYTES_RECVD": (of(client.received_bytes) if math.isnan(received) else received, int),
        "TCP_RETRANSMIT": (of(client.retransmits), int),
        "TCP_MSS": (client.mss, int),
        "LOST": (lost, int),
        "PACKETS_SENT": (sent_pkts, int),
        "PACKET_LOSS_RATE": (lost / sent_pkts if sent_pkts else math.nan, float),
    }
    known: dict[str, Any] = {key: to(value) for key, (value, to) in numbers.items() if not math.isnan(value)}
    if client.congestion:
        known["CONG_CONTROL"] = client.congestion
    return known
