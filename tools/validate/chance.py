# SPDX-License-Identifier: BSD-3-Clause
"""Chance: whether seeds differ as runs on a real machine do, and whether the order of typing decides who wins."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from validate.experiment import Data, Experiment, Row, Runs, distinct, of_seeds
from validate.nets import DUMBBELL, LINE, Net, goodput_mbit, network, rtts_ms
from validate.numbers import binomial_95

TWENTY = range(1, 21)
GBIT_20_MS = (
    "qdisc add dev s1-eth1 root handle 1: netem delay 20ms limit 100000",
    "qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2621440",
)


def _two_servers(net: Net) -> None:
    net.buffers("h1", "h2", "h3", "h4")
    for host in ("h3", "h4"):
        net.leave(host, "iperf3 -s > /dev/null")


def _pair(net: Net, commands: list[tuple[str, str]]) -> list[float]:
    net.together(commands)
    return [goodput_mbit(net.json(f"{host}.json")) for host in ("h1", "h2")]


def two_cubic(seed: int) -> Data:
    """Lab 20's two CUBIC flows for 60 s, both typed at the same instant."""
    with network(DUMBBELL, seed) as net:
        net.tc(*GBIT_20_MS)
        _two_servers(net)
        commands = [(f"h{n}", f"iperf3 -c 10.0.0.{n + 2} -t 60 -J > h{n}.json") for n in (1, 2)]
        return {"mbit": _pair(net, commands)}


def judge_two_cubic(runs: Runs) -> Iterator[Row]:
    """The sum fills the link, and the flow typed first wins as often as not."""
    pairs = [run["mbit"] for run in runs.values()]
    wins = sum(first > second for first, second in pairs)
    sums = [sum(pair) for pair in pairs]
    low, high = binomial_95(len(pairs), 0.5)
    yield Row(
        f"two CUBIC flows over 1 Gbps, {len(pairs)} seeds: distinct outcomes",
        "as many as seeds",
        "chance",
        of_seeds(runs),
        distinct(pairs) == len(pairs),
    )
    yield Row(
        "the flow typed first is ahead",
        f"{low} to {high} of {len(pairs)}",
        "binomial, p = 1/2, 95 %",
        f"{wins} of {len(pairs)}; shares of the first "
        f"{min(f / (f + s) for f, s in pairs):.0%} to {max(f / (f + s) for f, s in pairs):.0%}",
        low <= wins <= high,
    )
    yield Row(
        "sum of both",
        "900 to 957 Mbps; the limit is 956.4 Mbps = 1 Gbps × 1448/1514",
        "RFC 9293 §3.7.1, RFC 7323 §3",
        f"{min(sums):.1f} to {max(sums):.1f} Mbps",
        all(900 < each <= 957 for each in sums),
    )


def start_order(seed: int) -> Data:
    """The same two flows for 30 s: first h2 starts 1 µs after h1, then h1 1 µs after h2."""
    found: Data = {}
    for name, late in (("h1 first", {"h1": 0.0, "h2": 1e-6}), ("h2 first", {"h1": 1e-6, "h2": 0.0})):
        with network(DUMBBELL, seed) as net:
            net.tc(*GBIT_20_MS)
            _two_servers(net)
            at = net.program("start_at.py")
            start = round(net.network.now_s()) + 3
            clock = float(net.type("client", "python3 -c 'import time; print(time.time())'")) - net.network.now_s()
            commands = [
                (f"h{n}", f"{at} {clock + start + late[f'h{n}']:.9f} iperf3 -c 10.0.0.{n + 2} -t 30 -J > h{n}.json")
                for n in (1, 2)
            ]
            found[name] = _pair(net, commands)
    return found


def judge_start_order(runs: Runs) -> Iterator[Row]:
    """A head start of one microsecond does not decide who wins."""
    mirrored = sum(
        abs(run["h1 first"][0] - run["h2 first"][1]) < 0.5 and abs(run["h1 first"][1] - run["h2 first"][0]) < 0.5
        for run in runs.values()
    )
    earlier = sum(run["h1 first"][0] > run["h1 first"][1] for run in runs.values()) + sum(
        run["h2 first"][1] > run["h2 first"][0] for run in runs.values()
    )
    low, high = binomial_95(2 * len(runs), 0.5)
    yield Row(
        "two CUBIC flows, one 1 µs later: whether swapping their starts swaps their goodputs",
        "in no seed, to within 0.5 Mbps",
        "chance",
        f"{mirrored} of {len(runs)} seeds",
        mirrored == 0,
    )
    yield Row(
        "the earlier flow is ahead",
        f"{low} to {high} of {2 * len(runs)}",
        "binomial, p = 1/2, 95 %",
        f"{earlier} of {2 * len(runs)}",
        low <= earlier <= high,
    )


def forty_connections(seed: int) -> Data:
    """Forty transfers of 200 kB, one after the other, over 100 Mbps: the duration of each, ns."""
    with network(LINE, seed) as net:
        net.tc(
            "qdisc add dev s1-eth2 root handle 1: tbf rate 100mbit burst 15000 limit 250000",
            "qdisc add dev s1-eth1 root netem delay 20ms limit 10000",
        )
        server, client = net.program("transfers.py"), net.program("transfers.py")
        net.leave("h2", f"{server} serve 40")
        net.type("h1", f"{client} fetch 10.0.0.2 40 200000 > durations.json")
        return {"ns": net.json("durations.json")}


def judge_forty(runs: Runs) -> Iterator[Row]:
    """Most connections take different times."""
    per_seed = [distinct(run["ns"]) for run in runs.values()]
    every = [ns / 1e6 for run in runs.values() for ns in run["ns"]]
    yield Row(
        "forty transfers of 200 kB one after the other: distinct durations",
        "at least 30 of 40",
        "chance",
        f"{min(per_seed)} to {max(per_seed)} of 40; {min(every):.3f} to {max(every):.3f} ms",
        min(per_seed) >= 30,
    )


BBR_FLOWS = 24


def retransmitted(net: Net, flows: int, apart_s: float, seconds: int, algorithm: str) -> tuple[float, float]:
    """Share of segments retransmitted, %, and goodput, Mbit/s, of `flows` flows h1→h2 that start `apart_s` apart."""
    ports = range(5201, 5201 + flows)
    net.type("h2", f"for p in $(seq {ports[0]} {ports[-1]}); do iperf3 -s -D -p $p; done")
    wait = f"sleep {apart_s}; " if apart_s else ""
    net.type(
        "h1",
        f"for p in $(seq {ports[0]} {ports[-1]}); do "
        f"iperf3 -c 10.0.0.2 -p $p -C {algorithm} -t {seconds} -J > $p.json & {wait}done; wait",
    )
    results = [net.json(f"{port}.json") for port in ports]
    again = sum(result["end"]["sum_sent"]["retransmits"] for result in results)
    sent = sum(result["end"]["sum_sent"]["bytes"] for result in results) / 1448
    return 100 * again / sent, sum(goodput_mbit(result) for result in results)


def shared_100_mbit(net: Net) -> None:
    """Shape s1's port to h2 as the labs do: 20 ms, then 100 Mbps with a queue of one BDP."""
    net.tc(
        "qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 100000",
        "qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 15000 limit 250000",
    )
    net.buffers("h1", "h2")


def bbr_24(seed: int) -> Data:
    """24 BBR flows for 20 s, started together and 0.3 s apart."""
    found: Data = {}
    for name, apart in (("together", 0.0), ("apart", 0.3)):
        with network(LINE, seed) as net:
            shared_100_mbit(net)
            share, goodput = retransmitted(net, BBR_FLOWS, apart, 20, "bbr")
            found[name] = {"share": round(share, 4), "mbit": round(goodput, 3)}
    return found


def judge_bbr_24(runs: Runs) -> Iterator[Row]:
    """Flows that start together lose at least half as much as flows that start apart."""
    together = [run["together"]["share"] for run in runs.values()]
    apart = [run["apart"]["share"] for run in runs.values()]
    yield Row(
        "24 BBR flows over 100 Mbps started together: segments retransmitted",
        "more than half the share of flows started 0.3 s apart",
        "no theory: 24 flows overfill a queue of one BDP either way",
        f"{min(together):.2f} to {max(together):.2f} % (0.3 s apart: {min(apart):.2f} to {max(apart):.2f} %), "
        f"{of_seeds(runs)} distinct",
        min(together) > min(apart) / 2,
    )


CBR_BITS = 5_600_000
PAYLOAD = 1250
CBR_LIMIT = 15_000


def two_cbr(seed: int) -> Data:
    """Two flows of 5.6 Mbps on the wire each into 10 Mbps for 30 s."""
    with network(DUMBBELL, seed) as net:
        net.tc(f"qdisc add dev s1-eth1 root handle 1: tbf rate 10mbit burst 1600 limit {CBR_LIMIT}")
        _two_servers(net)
        rate = CBR_BITS * PAYLOAD // (PAYLOAD + 42)
        commands = [
            (f"h{n}", f"iperf3 -u -c 10.0.0.{n + 2} -b {rate} -l {PAYLOAD} -t 30 -J > h{n}.json") for n in (1, 2)
        ]
        net.together(commands)
        ends = [net.json(f"h{n}.json")["end"]["sum"] for n in (1, 2)]
        return {"got": [round(100 - end["lost_percent"], 4) for end in ends]}


def judge_two_cbr(runs: Runs) -> Iterator[Row]:
    """Over all seeds both flows get the same; in a single run the phases of their clocks decide."""
    pairs = [run["got"] for run in runs.values()]
    fair = 100 * 10 / (2 * CBR_BITS / 1e6)
    mean = statistics.fmean(each for pair in pairs for each in pair)
    ahead = sum(first > second for first, second in pairs)
    low, high = binomial_95(len(pairs), 0.5)
    yield Row(
        f"two iperf3 flows of 5.6 Mbps of UDP into 10 Mbps, {len(pairs)} seeds: share that arrives, mean of all",
        f"{fair:.1f} % = 10 / 11.2 within 0.5 points; no two seeds alike",
        "the link drops what it cannot carry",
        f"{mean:.1f} %; {of_seeds(runs)} distinct",
        abs(mean - fair) < 0.5 and distinct(pairs) == len(pairs),
    )
    yield Row(
        "the flow typed first gets more",
        f"{low} to {high} of {len(pairs)}",
        "binomial, p = 1/2, 95 %",
        f"{ahead} of {len(pairs)}",
        low <= ahead <= high,
    )
    yield Row(
        "the same: share of each flow in one run",
        f"not {fair:.1f} % each: the phases of two clocks that do not drift decide whose packet meets a full queue",
        "Floyd, Jacobson 1992, On Traffic Phase Effects in Packet-Switched Gateways",
        f"{min(map(min, pairs)):.1f} to {max(map(max, pairs)):.1f} %",
        None,
    )


DRIFT = 50e-6
"""By how much one clock is faster than the other, as two quartz crystals may be."""
DRIFT_S = 120


def drifting(seed: int) -> Data:
    """The same rates for 120 s, from two senders of which one has the faster clock."""
    with network(DUMBBELL, seed) as net:
        net.tc(f"qdisc add dev s1-eth1 root handle 1: tbf rate 10mbit burst 1600 limit {CBR_LIMIT}")
        probe = net.program("probe.py")
        period = (PAYLOAD + 42) * 8 / CBR_BITS
        periods = {"h1": period, "h2": period * (1 + DRIFT)}
        counts = {host: round(DRIFT_S / each) for host, each in periods.items()}
        for host in ("h3", "h4"):
            net.leave(host, f"{probe} receive 7000 > {host}.json")
        net.together(
            [
                (f"h{n}", f"{probe} send 10.0.0.{n + 2} 7000 {counts[f'h{n}']} {PAYLOAD} every {periods[f'h{n}']:.12f}")
                for n in (1, 2)
            ]
        )
        for host in ("h3", "h4"):
            net.left(host)
        return {"got": [round(100 * len(net.json(f"h{n + 2}.json")) / counts[f"h{n}"], 4) for n in (1, 2)]}


def judge_drifting(runs: Runs) -> Iterator[Row]:
    """Clocks that drift pass through all phases."""
    pairs = [run["got"] for run in runs.values()]
    fair = 100 * 10 / (2 * CBR_BITS / 1e6)
    yield Row(
        f"two UDP flows of 5.6 Mbps into 10 Mbps for {DRIFT_S} s, one clock {DRIFT * 1e6:.0f} millionths faster: "
        "share of each that arrives",
        f"{fair:.1f} % within 2 points",
        f"the phase moves by {DRIFT * DRIFT_S * 1e3:.0f} ms, nearly three of the 2.1 ms between two packets",
        f"{min(map(min, pairs)):.1f} to {max(map(max, pairs)):.1f} %; {of_seeds(runs)} distinct",
        all(abs(each - fair) < 2 for pair in pairs for each in pair),
    )


def idle_ping(seed: int) -> Data:
    """200 pings over an idle link without delay, with each cost profile."""
    found: Data = {}
    for profile in ("ideal", "desktop", "slow-vm"):
        with network(LINE, seed, profile=profile) as net:
            found[profile] = rtts_ms(net.type("h1", "ping -i 0.02 -c 200 10.0.0.2"))
    return found


def judge_idle_ping(runs: Runs) -> Iterator[Row]:
    """No round trip takes zero time."""
    for profile in ("ideal", "desktop", "slow-vm"):
        every = [ms for run in runs.values() for ms in run[profile]]
        cut = statistics.quantiles(every, n=20)
        yield Row(
            f"ping over an idle link, profile {profile}",
            "never 0.000 ms",
            "ping prints microseconds; it uses the kernel's timestamps, so the time to wake up is not included",
            f"{len(every)} replies: min {min(every):.3f}, median {statistics.median(every):.3f}, 95 % {cut[18]:.3f}, "
            f"max {max(every):.3f} ms; {distinct(every)} values",
            min(every) > 0,
        )


EXPERIMENTS = [
    Experiment("two-cubic", "two CUBIC flows that start together", TWENTY, two_cubic, judge_two_cubic),
    Experiment(
        "start-order", "two CUBIC flows that start a microsecond apart", range(1, 11), start_order, judge_start_order
    ),
    Experiment("forty", "forty transfers one after the other", range(1, 6), forty_connections, judge_forty),
    Experiment("bbr-24", "24 BBR flows", range(1, 4), bbr_24, judge_bbr_24),
    Experiment("two-cbr", "two constant rates into a smaller link", TWENTY, two_cbr, judge_two_cbr),
    Experiment("drifting", "two constant rates from clocks that drift", range(1, 6), drifting, judge_drifting),
    Experiment("idle-ping", "ping over an idle link", range(1, 4), idle_ping, judge_idle_ping),
]
