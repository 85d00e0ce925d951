# SPDX-License-Identifier: BSD-3-Clause
"""The queue of a switch's port: whether it fills and overflows when the sender is next to the switch.

TCP Small Queues (tcp_small_queue_check in net/ipv4/tcp_output.c; no RFC has them) limits the bytes that a sender has
below TCP. A packet counts until it is orphaned: a network card orphans it when it has sent it, but stock veth devices
and bridges do not.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.topology import Topology
from validate.experiment import Data, Experiment, Row, Runs, of_seeds
from validate.nets import LINE, ROUTED, Net, goodput_mbit, network, rtts_ms

RATE_MBIT = 100
RTT_MS = 20
LIMIT = 250_000
"""Bytes in the queue: one bandwidth-delay product (BDP) of 100 Mbps and 20 ms."""


@dataclass(frozen=True)
class Variant:
    """What lies before the port: a topology, commands typed before the flow, and the kernel's parameter `orphan`."""

    words: str
    shape: Topology
    lines: tuple[tuple[str, str], ...] = ()
    orphan: str = "1"


VARIANTS = {
    "plain": Variant("h1 - s1 - h2", LINE),
    "netem": Variant("with 10 µs of netem on h1", LINE, (("h1", "tc qdisc add dev h1-eth0 root netem delay 10us"),)),
    "hop": Variant(
        "with a router before the switch",
        ROUTED,
        (
            ("r1", "ip address flush dev r1-eth0; ip address flush dev r1-eth1"),
            ("r1", "ip address add 10.1.0.254/24 dev r1-eth0; ip address add 10.2.0.254/24 dev r1-eth1"),
            ("r1", "sysctl -qw net.ipv4.ip_forward=1"),
            ("h1", "ip address flush dev h1-eth0; ip address add 10.1.0.1/24 dev h1-eth0"),
            ("h2", "ip address flush dev h2-eth0; ip address add 10.2.0.2/24 dev h2-eth0"),
            ("h1", "ip route add default via 10.1.0.254"),
            ("h2", "ip route add default via 10.2.0.254"),
        ),
    ),
    "orphan off": Variant("h1 - s1 - h2 with orphan=0, as in a stock kernel", LINE, orphan="0"),
}


def port(variant: str, algorithm: str, seed: int, seconds: int) -> Data | None:
    """One flow through tbf on s1's port to h2, with 20 ms on the way back alone.

    None if the variant needs orphan=0 and the kernel has no such parameter.
    """
    chosen = VARIANTS[variant]
    peer = "10.2.0.2" if variant == "hop" else "10.0.0.2"
    with network(chosen.shape, seed) as net:
        if not net.parameter("orphan", chosen.orphan) and chosen.orphan == "0":
            return None
        for terminal, line in chosen.lines:
            net.type(terminal, line)
        net.tc(
            f"qdisc add dev s1-eth2 root handle 1: tbf rate {RATE_MBIT}mbit burst 15000 limit {LIMIT}",
            f"qdisc add dev s1-eth1 root netem delay {RTT_MS}ms limit 10000",
        )
        net.buffers("h1", "h2")
        return flow(net, peer, algorithm, seconds)


def flow(net: Net, peer: str, algorithm: str, seconds: int) -> Data:
    """What iperf3, the kernel, ping, and tbf report; cwnd, ping, and gains without the first 5 s."""
    info = net.program("tcp_info.py")
    net.leave("h2", "iperf3 -s > /dev/null")
    net.leave("h1#2", f"ping -i 0.1 -c {10 * seconds} {peer}")
    net.leave("h1#3", f"{info} {peer} 0.01 {seconds - 0.5} > info.json")
    net.type("h1", f"iperf3 -c {peer} -C {algorithm} -t {seconds} -J > flow.json")
    pings = rtts_ms(net.left("h1#2"))
    net.left("h1#3")
    result, samples = net.json("flow.json"), [one for one in net.json("info.json") if one["t_s"] > 5]
    gains = [one.get("gain", 256) for one in samples]
    cwnd = [one["cwnd"] for one in samples]
    return {
        "retransmits": result["end"]["sum_sent"]["retransmits"],
        "mbit": goodput_mbit(result),
        "cwnd": [min(cwnd), max(cwnd)],
        "ping_ms": round(statistics.fmean(pings[50:]), 4),
        "dropped": net.qdiscs("s1-eth2")["1:"]["drops"],
        "gains": {str(gain): round(gains.count(gain) / len(gains), 4) for gain in sorted(set(gains))},
    }


def orphan(seed: int) -> Data:
    """Reno for 30 s in each variant."""
    return {name: port(name, "reno", seed, 30) for name in VARIANTS}


def judge_orphan(runs: Runs) -> Iterator[Row]:
    """The queue overflows, and Reno's window is a sawtooth between one and two BDP, with a margin of 30 and 10 %."""
    least, most = 0.7 * (LIMIT * 2 / 1514) / 2, 1.1 * (LIMIT * 2 / 1514)
    for name, variant in VARIANTS.items():
        found = [run[name] for run in runs.values() if run[name] is not None]
        if not found:
            yield Row(
                variant.words, "no losses", "tcp_small_queue_check", "this kernel has no parameter `orphan`", None
            )
            continue
        lost = [one["retransmits"] for one in found]
        low, high = min(one["cwnd"][0] for one in found), max(one["cwnd"][1] for one in found)
        stock = name == "orphan off"
        yield Row(
            f"Reno, 30 s, 100 Mbps, one BDP in tbf, {variant.words}: segments retransmitted; cwnd; ping",
            "0 lost, cwnd constant"
            if stock
            else f"the queue overflows; cwnd between {least:.0f} and {most:.0f} segments",
            "tcp_small_queue_check (net/ipv4/tcp_output.c)" if stock else "Reno: from 1 BDP to path and queue, 2 BDP",
            f"{min(lost)} to {max(lost)}; cwnd {low} to {high}; ping "
            f"{min(one['ping_ms'] for one in found):.1f} to {max(one['ping_ms'] for one in found):.1f} ms; "
            f"{of_seeds(dict(enumerate(found)))} distinct",
            max(lost) == 0 and all(one["cwnd"][0] == one["cwnd"][1] for one in found)
            if stock
            else min(lost) > 0 and low >= least and high <= most,
        )


def bbr_port(seed: int) -> Data:
    """BBR for 20 s in each variant."""
    return {name: port(name, "bbr", seed, 20) for name in VARIANTS}


def judge_bbr_port(runs: Runs) -> Iterator[Row]:
    """BBR's cycle has a phase at a gain of 0.75 after the one at 1.25."""
    for name, variant in VARIANTS.items():
        found = [run[name]["gains"] for run in runs.values() if run[name] is not None]
        if not found:
            continue
        up = [one.get("320", 0.0) for one in found]
        down = [one.get("192", 0.0) for one in found]
        stock = name == "orphan off"
        yield Row(
            f"BBR, 100 Mbps, one BDP in tbf, {variant.words}: time at a pacing gain of 1.25 and of 0.75",
            "no phase of 0.75"
            if stock
            else "more than 2 % at 0.75: each phase is 1/8 of the cycle, and the one at 0.75 may end early",
            "bbr_is_next_cycle_phase (net/ipv4/tcp_bbr.c)",
            f"{min(up):.1%} to {max(up):.1%} and {min(down):.1%} to {max(down):.1%}",
            None if stock else min(down) > 0.02,
        )


EXPERIMENTS = [
    Experiment("orphan", "the queue of a switch's port, Reno", range(1, 4), orphan, judge_orphan),
    Experiment("bbr-port", "the queue of a switch's port, BBR", range(1, 4), bbr_port, judge_bbr_port),
]
