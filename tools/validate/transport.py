# SPDX-License-Identifier: BSD-3-Clause
"""TCP compared with theory: Mathis' constant and BBR's gains."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator

from validate.experiment import Data, Experiment, Row, Runs, of_seeds
from validate.nets import LINE, MSS, Net, goodput_mbit, network

RTT_MS = 50
LOSSES = (0.001, 0.005)
SECONDS = 100


def mathis(seed: int) -> Data:
    """Reno with random loss on a path without a queue: rate · RTT · √p / MSS."""
    found: Data = {}
    for loss in LOSSES:
        with network(LINE, seed) as net:
            net.tc(
                f"qdisc add dev s1-eth2 root netem loss {loss * 100:g}% delay {RTT_MS / 2}ms limit 10000",
                f"qdisc add dev s1-eth1 root netem delay {RTT_MS / 2}ms limit 10000",
            )
            net.buffers("h1", "h2")
            net.offload("off", "h1", "h2")
            net.leave("h2", "iperf3 -s > /dev/null")
            net.type("h1", f"iperf3 -c 10.0.0.2 -C reno -O 5 -t {SECONDS} -J > flow.json")
            result = net.json("flow.json")
            rtt_s = result["end"]["streams"][0]["sender"]["mean_rtt"] / 1e6
            found[str(loss)] = goodput_mbit(result) * 1e6 / 8 * rtt_s * math.sqrt(loss) / MSS
    return found


def judge_mathis(runs: Runs) -> Iterator[Row]:
    """Between the constants of periodic and of random loss."""
    for loss in LOSSES:
        found = [run[str(loss)] for run in runs.values()]
        mean = statistics.fmean(found)
        yield Row(
            f"Reno at {loss:.1%} random loss, {RTT_MS} ms: rate × RTT × √p / MSS, {len(found)} seeds",
            "from 1.22 = √(3/2) for periodic loss to 1.31 for random loss, 5 % either way",
            "Mathis, Semke, Mahdavi, Ott 1997, table 1, each segment acknowledged (Linux counts segments, not ACKs)",
            f"{mean:.3f} ({min(found):.3f} to {max(found):.3f}); {of_seeds(runs)} distinct",
            0.95 * math.sqrt(1.5) < mean < 1.05 * 1.31,
        )


def watched_bbr(net: Net, seconds: int) -> list[dict[str, float]]:
    """One BBR flow over 100 Mbps, 20 ms, and a queue of one BDP: the samples of inside/tcp_info.py, every 5 ms."""
    net.tc(
        "qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 100000",
        "qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 15000 limit 250000",
    )
    net.buffers("h1", "h2")
    info = net.program("tcp_info.py")
    net.leave("h2", "iperf3 -s > /dev/null")
    net.leave("h1#2", f"{info} 10.0.0.2 0.005 {seconds} > info.json")
    net.type("h1", f"iperf3 -c 10.0.0.2 -C bbr -t {seconds} > /dev/null")
    net.left("h1#2")
    samples: list[dict[str, float]] = [one for one in net.json("info.json") if "gain" in one]
    return samples


def probe_rtt_begins(samples: list[dict[str, float]]) -> list[float]:
    """When each ProbeRTT began, s: the window falls to its four segments; the first second is slow start."""
    return [
        now["t_s"]
        for before, now in itertools.pairwise(samples)
        if now["cwnd"] <= 4 < before["cwnd"] and now["t_s"] > 1
    ]


def bbr(seed: int) -> Data:
    """BBR's gains over 45 s, and when each ProbeRTT began."""
    with network(LINE, seed) as net:
        samples = watched_bbr(net, 45)
    gains = [one["gain"] for one in samples]
    steady = [one["gain"] for one in samples if one["t_s"] > 3]
    return {
        "gains": {str(gain): gains.count(gain) for gain in sorted(set(gains))},
        "shares": {str(gain): round(steady.count(gain) / len(steady), 4) for gain in sorted(set(steady))},
        "probe_rtt_s": probe_rtt_begins(samples),
    }


def judge_bbr(runs: Runs) -> Iterator[Row]:
    """The gains are those of the draft and of the kernel's source."""
    expected = {739: "2/ln 2 = 2.885 (startup)", 88: "0.347 (drain)", 320: "5/4", 192: "3/4", 256: "1"}
    seen = {int(gain) for run in runs.values() for gain in run["gains"]} - {0}  # 0 until BBR has begun
    yield Row(
        "BBR's pacing gains",
        ", ".join(expected.values()),
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4; bbr_high_gain (net/ipv4/tcp_bbr.c)",
        ", ".join(f"{gain / 256:.3f}" for gain in sorted(seen, reverse=True)),
        seen == set(expected),
    )
    for gain, words in ((320, "5/4"), (192, "3/4")):
        found = [run["shares"].get(str(gain), 0.0) for run in runs.values()]
        yield Row(
            f"share of time at a pacing gain of {words}",
            "8 to 25 %: 1/8 of the cycle" + (", which a queue prolongs" if gain == 320 else ""),
            "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4",
            f"{min(found):.1%} to {max(found):.1%}",
            all(0.08 < each < 0.25 for each in found),
        )


FOUR = range(1, 5)
EXPERIMENTS = [
    Experiment("mathis", "Mathis' constant", FOUR, mathis, judge_mathis),
    Experiment("bbr-gains", "BBR's gains", range(1, 3), bbr, judge_bbr),
]
