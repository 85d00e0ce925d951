# SPDX-License-Identifier: BSD-3-Clause
"""One experiment's traffic on a running network → metrics and curves.

iperf3 and ping are typed together (`Network.run`); `linklab.measure` reads what they wrote. Names of metrics:
docs/writing-an-exercise.md, "Metrics".  Traffic that another node answers is not measured: only the target runs an
iperf3 server on the flow's port, and the target's kernel counts the echo requests it receives (RFC 2011, icmpInEchos).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from linklab.analysis.formulas import jain_index
from linklab.engine.api import Background, Completed, Network, Typed
from linklab.errors import DataError, EngineError, Fault, InputError, NothingMeasuredError
from linklab.exercise.model import Experiment, Ping, Transfer
from linklab.exercise.report import Trace
from linklab.grade.limits import HANG_S
from linklab.judge.evaluation import Lookup, names, number
from linklab.measure import Series, measure
from linklab.measure.iperf3 import Iperf3Test, read_file
from linklab.measure.nstat import read_nstat
from linklab.measure.qdisc import measure_samples, read_samples
from linklab.state.model import FOR_FREE

FIRST_PORT = 5201
MOST_STREAMS = 64
ECHO_REQUESTS = "IcmpInEchos"


@dataclass
class Driven:
    """What one experiment gave; `broken` is why it gave nothing, the network's doing."""

    metrics: dict[str, float] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)
    broken: str = ""


def drive(
    network: Network, experiment: Experiment, lookup: Lookup, addresses: Mapping[str, str], folder: Path
) -> Driven:
    """Drive the experiment's traffic.

    Args:
        network: running, in the state that is to be measured.
        experiment: what to send.
        lookup: for the number of streams.
        addresses: of the hosts.
        folder: the network's working folder.

    Raises:
        InputError: a host or interface is not there (the network's fault), the number of streams cannot be (the
            submission's where an answer says it), or what iperf3, ping or the sampler wrote cannot be read (the
            tool's).
        NoValueError: the number of streams follows from an answer that is not there.
        EngineError: the network failed.
    """
    for node in {each for flow in experiment.flows for each in (flow.source, flow.target)}:
        _need(node, addresses)
    servers = [
        Typed(f"{flow.target}#s{i}", f"iperf3 -s -p {FIRST_PORT + i}", Background())
        for i, flow in enumerate(experiment.flows)
    ]
    clients = [_client(i, flow, experiment, lookup, addresses) for i, flow in enumerate(experiment.flows)]
    together = list(clients)
    if ping := experiment.ping:
        _need(ping.source, addresses)
        target = _need(ping.target, addresses)
        command = f"ping -D -i {ping.interval_s:g} -w {math.ceil(experiment.seconds)} {target} > /lab/ping.txt 2>&1"
        together.append(Typed(f"{ping.source}#p", command))
    if experiment.queue:
        sampler = f"python3 -m linklab.agent.sampler {experiment.queue} --out /lab/queue.jsonl"
        sampler += f" --seconds {math.ceil(experiment.seconds)}"
        together.append(Typed("client#q", f"({FOR_FREE}PYTHONSAFEPATH=1 exec {sampler})"))
    for name in ("ping.txt", "queue.jsonl", *(f"flow-{i}.json" for i in range(len(clients)))):
        (folder / name).unlink(missing_ok=True)  # an experiment before this one left them
    if servers:
        network.run(servers, deadline_s=HANG_S)
    before = _echo_requests(network, ping.target) if ping else 0
    for done in network.run(together, deadline_s=HANG_S):
        if done.terminal == "client#q":
            _sampled(done, experiment.queue)
    if computing := [found.program for found in network.computed()]:
        raise EngineError(f"{computing[0]} computed so long that network time followed this machine's processor")
    for server in servers:  # not -1, which waits for ever for a client that did not get through
        network.stop(server.terminal, deadline_s=HANG_S)
    return _read(experiment, folder, _echo_requests(network, ping.target) - before if ping else 0)


def _echo_requests(network: Network, node: str) -> int:
    """How many echo requests a node has received since the network began."""
    (done,) = network.run([Typed(node, f"nstat -asz {ECHO_REQUESTS}")], deadline_s=HANG_S)
    try:
        (found,) = read_nstat(done.output)
        return int(found.scalars[f"nstat.{ECHO_REQUESTS}"].value)
    except (DataError, KeyError, ValueError) as error:
        raise EngineError(f"the pings that {node} received cannot be counted: {done.output.strip()[-300:]}") from error


def _sampled(done: Completed, interface: str) -> None:
    """The sampler ended well; 2 is its word for an interface that is not there, the submission's doing."""
    if done.exit_status == 2:
        raise InputError(f"the network has no interface {interface}", fault=Fault.NETWORK)
    if done.exit_status:
        raise EngineError(f"the queue of {interface} could not be sampled: {done.output.strip()[-300:]}")


def _need(node: str, addresses: Mapping[str, str]) -> str:
    if node not in addresses:
        raise InputError(f"the network has no host {node} with an address", fault=Fault.NETWORK)
    return addresses[node]


def _client(i: int, flow: Transfer, experiment: Experiment, lookup: Lookup, addresses: Mapping[str, str]) -> Typed:
    streams = number(flow.streams, lookup).number
    if not (1 <= streams <= MOST_STREAMS and streams == int(streams)):
        raise InputError(
            f"the number of parallel streams must be a whole number from 1 to {MOST_STREAMS}, not {streams:g}",
            fault=Fault.SUBMISSION if any(name.startswith("answer.") for name in names(flow.streams)) else Fault.GIVEN,
        )
    words = ["iperf3", "-c", addresses[flow.target], "-p", str(FIRST_PORT + i), "-J"]
    words += ["-t", f"{experiment.seconds - experiment.omit_s:g}"]
    words += ["-O", f"{experiment.omit_s:g}"] if experiment.omit_s else []
    words += ["-P", f"{streams:g}"] if streams > 1 else []
    return Typed(f"{flow.source}#c{i}", f"{' '.join([*words, *flow.args.split()])} > /lab/flow-{i}.json")


def _read(experiment: Experiment, folder: Path, requests: int) -> Driven:
    driven = Driven()
    try:
        tests = [read_file(folder / f"flow-{i}.json")[0] for i in range(len(experiment.flows))]
    except NothingMeasuredError as error:
        driven.broken = f"iperf3 did not get through: {error.what}"
        return driven
    except DataError as error:
        raise _unread("iperf3's output", error, folder) from error
    if tests:
        _flows(experiment, tests, driven)
    if experiment.ping:
        _pings(experiment.ping, experiment.omit_s, folder / "ping.txt", requests, driven)
    if experiment.queue:
        _queue(experiment.queue, folder / "queue.jsonl", driven)
    return driven


def _unread(what: str, error: DataError, folder: Path) -> DataError:
    """The error for the student's report, without the path of the grader's folder."""
    return DataError(f"{what} cannot be read: {error.what.replace(f'{folder}/', '')}", fault=Fault.TOOL)


def _flows(experiment: Experiment, tests: Sequence[Iperf3Test], driven: Driven) -> None:
    flows = experiment.flows
    each = [test.sums[0].throughput_bps for test in tests]
    streams = [flow.throughput_bps for flow in tests[0].flows]
    driven.metrics["throughput"] = math.fsum(each)
    for source in dict.fromkeys(flow.source for flow in flows):
        own = [rate for flow, rate in zip(flows, each, strict=True) if flow.source == source]
        driven.metrics[f"throughput.{source}"] = math.fsum(own)
    shares = each if len(each) > 1 else streams
    if max(shares) > 0:
        driven.metrics["jain"] = jain_index(shares)
    driven.metrics["retransmits"] = math.fsum(test.sums[0].sent.retransmits for test in tests)
    for flow, test in zip(flows, tests, strict=True):
        series = test.measurements().series
        for what in ("throughput", "rtt"):
            if f"iperf3.{what}" in series:
                trace = _trace(series[f"iperf3.{what}"], what, f"{flow.source} → {flow.target}")
                # iperf3 begins its clock anew after what it omits; ping and queue count from the beginning
                time_s = tuple(at + experiment.omit_s for at in trace.time_s)
                driven.traces.append(replace(trace, time_s=time_s))


def _pings(ping: Ping, omit_s: float, path: Path, requests: int, driven: Driven) -> None:
    """Round-trip times and loss, if the target received at least as many requests as were answered."""
    try:
        found = measure("", [path], "ping")
    except NothingMeasuredError:  # the network unreachable, for one
        driven.metrics["ping.loss"] = 1.0
        return
    except DataError as error:
        raise _unread("ping's output", error, path.parent) from error
    if "ping.rtt" not in found.series:
        driven.broken = f"no reply to a ping from {ping.source} to {ping.target} told how long it took"
        return
    answered = found.series["ping.rtt"].known.size
    if requests < answered:
        driven.broken = (
            f"{ping.target} received only {requests} of the {answered} pings that were answered: another node answers "
            "in its place; look for its address on the other nodes"
        )
        return
    series = found.series["ping.rtt"].between(omit_s, math.inf)
    known = series.known
    driven.metrics["ping.loss"] = 1 - known.size / len(series) if len(series) else 1.0
    if known.size:
        driven.metrics |= {"ping.mean": float(known.mean()), "ping.max": float(known.max())}
    label = f"ping {ping.source} → {ping.target}"
    driven.traces.append(_trace(found.series["ping.rtt"], "rtt", label))


def _queue(interface: str, path: Path, driven: Driven) -> None:
    try:
        samples = read_samples(path)
    except DataError as error:
        raise _unread("samples of the queue", error, path.parent) from error
    try:
        found = measure_samples(samples)
    except DataError:  # an interface without a queue has no backlog, and not one of 0
        return
    if "queue.backlog.max" in found.scalars:
        driven.metrics["backlog.max"] = found.scalars["queue.backlog.max"].value
        driven.traces.append(_trace(found.series["queue.backlog"], "backlog", interface, coarse=0.1))


def _trace(series: Series, what: str, label: str, coarse: float = 0.0) -> Trace:
    time_s, values = series.time_s, series.value
    if coarse and len(series) > 1:  # the largest of each bin: what a plot of this width can show
        bins = np.floor(time_s / coarse).astype(int)
        starts = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])
        time_s, values = time_s[starts], np.maximum.reduceat(values, starts)
    return Trace("", 0, what, label, series.unit, tuple(map(float, time_s)), tuple(map(float, values)))
