# SPDX-License-Identifier: BSD-3-Clause
"""Where Linux differs from the textbook or the standard, with each difference measured."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator

from validate.chance import retransmitted, shared_100_mbit
from validate.disciplines import probes
from validate.experiment import Data, Experiment, Row, Runs, of_seeds
from validate.nets import LINE, MSS, goodput_mbit, network
from validate.numbers import correlation
from validate.transport import probe_rtt_begins, watched_bbr

# --- CoDel

GAPS = 8


def newton(count: int) -> list[float]:
    """The gaps between drops, in intervals, if each drop takes one Newton step (codel_Newton_step)."""
    inverse_root, found = 1.0, [1.0]
    for n in range(2, count + 1):
        inverse_root *= (3 - n * inverse_root**2) / 2
        found.append(inverse_root)
    return found


def codel_gaps(seed: int) -> Data:
    """12 Mbps of datagrams into 10 Mbps behind CoDel: milliseconds between its first drops."""
    with network(LINE, seed) as net:
        net.tc(
            "qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 3000 limit 100000000",
            "qdisc add dev s1-eth2 parent 1: handle 2: codel limit 10000",
        )
        arrived = probes(net, 1500, 1500, "every 0.001")
    drops = [now[2] for before, now in itertools.pairwise(arrived) if now[0] > before[0] + 1]
    return {"ms": [(b - a) / 1e6 for a, b in itertools.pairwise(drops)][:GAPS]}


def judge_codel(runs: Runs) -> Iterator[Row]:
    """The kernel's gaps are those of one Newton step; 1.5 ms is a little more than the time of a packet, 1.2 ms."""
    mean = [statistics.fmean(column) for column in zip(*(run["ms"] for run in runs.values()), strict=True)]
    rfc = [100 / n**0.5 for n in range(1, GAPS + 1)]
    step = [100 * each for each in newton(GAPS)]
    yield Row(
        f"CoDel under a constant overload: the first {GAPS} gaps between drops, mean of {len(runs)} seeds",
        f"RFC 8289: {', '.join(f'{ms:.0f}' for ms in rfc)} ms; "
        f"one Newton step: {', '.join(f'{ms:.0f}' for ms in step)} ms, here within 1.5 ms",
        "RFC 8289 §5.6; codel_Newton_step (include/net/codel_impl.h)",
        f"{', '.join(f'{ms:.1f}' for ms in mean)} ms",
        all(abs(ms - one) < 1.5 for ms, one in zip(mean, step, strict=True)),
    )


# --- HTB

BURST_FRAMES = 10


def htb_extra(seed: int) -> Data:
    """A burst of 40 frames into a bucket that holds ten: how many leave at once, from HTB and from tbf."""
    found: Data = {}
    burst = BURST_FRAMES * 1000
    for name, lines in {
        "htb": (
            "qdisc add dev s1-eth2 root handle 1: htb default 10",
            f"class add dev s1-eth2 parent 1: classid 1:10 htb rate 100kbit ceil 100kbit burst {burst} cburst {burst}",
        ),
        "tbf": (f"qdisc add dev s1-eth2 root tbf rate 100kbit burst {burst} limit 100000",),
    }.items():
        with network(LINE, seed) as net:
            net.tc(*lines)
            net.type("h1", "ping -c 1 10.0.0.2")
            net.type("h1", "sleep 5")
            arrived = probes(net, 40, 1000, "burst")
        found[name] = sum(one[2] - arrived[0][2] < 5_000_000 for one in arrived)
    return found


def judge_htb_extra(runs: Runs) -> Iterator[Row]:
    """HTB lets one frame more through than its bucket holds, tbf as many as it holds."""
    for name, expected, why in (
        ("tbf", BURST_FRAMES, "a packet leaves if there are tokens for the whole of it"),
        ("htb", BURST_FRAMES + 1, "a class may send while its tokens are not negative (htb_class_mode)"),
    ):
        found = sorted({run[name] for run in runs.values()})
        yield Row(
            f"a burst of 40 frames into a bucket of {BURST_FRAMES}, {name}: how many leave at once",
            f"{expected}: {why}; a token bucket has {BURST_FRAMES}",
            f"net/sched/sch_{name}.c",
            ", ".join(map(str, found)),
            found == [expected],
        )


# --- netem

CORRELATED = ((0.1, 0.25), (0.1, 0.5), (0.01, 0.25))
SENT = 20000


def netem_loss_correlated(seed: int) -> Data:
    """20,000 datagrams through netem's correlated loss: the rate, and the share of losses that follow a loss.

    The share is None if no datagram was lost.
    """
    found: Data = {}
    for loss, together in CORRELATED:
        with network(LINE, seed) as net:
            net.tc(f"qdisc add dev s1-eth2 root netem loss {loss * 100:g}% {together * 100:g}% limit 10000")
            got = {one[0] for one in probes(net, SENT, 142, "every 0.0005")}
        lost = [number not in got for number in range(SENT)]
        after = [b for a, b in itertools.pairwise(lost) if a]
        found[f"{loss} {together}"] = [sum(lost) / SENT, sum(after) / len(after) if after else None]
    return found


def judge_loss_correlated(runs: Runs) -> Iterator[Row]:
    """Far fewer than the rate that was set."""
    for loss, together in CORRELATED:
        pairs = [run[f"{loss} {together}"] for run in runs.values()]
        rate = statistics.fmean(lost for lost, _ in pairs)
        after = [share for _, share in pairs if share is not None]
        yield Row(
            f"netem loss {loss:.0%} {together:.0%}, {len(pairs)} seeds of {SENT:,} datagrams: loss rate; "
            "the same right after a loss",
            f"tc-netem(8): a rate of {loss:.0%}; here less than 0.8 of that, because the kernel's average of two "
            "uniform numbers is seldom that small",
            "tc-netem(8); get_crandom (net/sched/sch_netem.c)",
            f"{rate:.2%}; {f'{statistics.fmean(after):.1%}' if after else 'no loss'}; {of_seeds(runs)} distinct",
            rate < 0.8 * loss,
        )


JITTERS = (("25 %", "25%"), ("50 %", "50%"), ("90 %", "90%"))


def jitter_correlated(seed: int) -> Data:
    """Delay 100 ms ± 20 ms with correlation: the correlation of each delay with the next, over 10,000 datagrams."""
    found: Data = {}
    for name, word in JITTERS:
        with network(LINE, seed) as net:
            net.tc(f"qdisc add dev s1-eth2 root netem delay 100ms 20ms {word} limit 100000")
            arrived = sorted(probes(net, 10000, 142, "every 0.001"))
        found[name] = correlation([got - sent for _, sent, got in arrived])
    return found


def judge_jitter(runs: Runs) -> Iterator[Row]:
    """Near 0: the kernel takes the correlated number modulo 40 ms, which destroys the correlation."""
    for name, _ in JITTERS:
        found = [run[name] for run in runs.values()]
        yield Row(
            f"netem delay 100ms 20ms {name.replace(' ', '')}: correlation of one delay with the next",
            f"tc-netem(8): {name}; the kernel takes the number modulo twice the jitter, so less than 0.1",
            "tc-netem(8); tabledist (net/sched/sch_netem.c)",
            f"{min(found):+.3f} to {max(found):+.3f}",
            max(map(abs, found)) < 0.1,
        )


# --- CUBIC

EVERY = (5000, 10000)
"""Packets from one drop to the next; gact takes at most 10,000 (MAX_RAND of linux/tc_act/tc_gact.h)."""
RTT_S = 0.1
CUBIC_SECONDS = 80


def cubic_region(seed: int) -> Data:
    """CUBIC over 100 ms with every Nth packet dropped: the mean window, in segments."""
    found: Data = {}
    for every in EVERY:
        with network(LINE, seed) as net:
            net.tc(
                "qdisc add dev s1-eth1 root netem delay 50ms limit 100000",
                "qdisc add dev s1-eth2 root netem delay 50ms limit 100000",
                "qdisc add dev s1-eth2 clsact",
                f"filter add dev s1-eth2 egress matchall action gact pass random determ drop {every}",
            )
            net.buffers("h1", "h2")
            net.offload("off", "h1", "h2")
            net.leave("h2", "iperf3 -s > /dev/null")
            net.type("h1", f"iperf3 -c 10.0.0.2 -C cubic -O 20 -t {CUBIC_SECONDS} -J > flow.json")
            found[str(every)] = goodput_mbit(net.json("flow.json")) * 1e6 / 8 * RTT_S / MSS
    return found


def judge_cubic(runs: Runs) -> Iterator[Row]:
    """A little above the RFC's formula."""
    for every in EVERY:
        expected = 1.054 * (RTT_S * every) ** 0.75
        found = [run[str(every)] for run in runs.values()]
        mean = statistics.fmean(found)
        yield Row(
            f"CUBIC, every {every:,}th packet dropped, 100 ms: mean window",
            f"{expected:.0f} segments = 1.054 (RTT/p)^(3/4); here 0 to 25 % more",
            "RFC 9438 §5.1, eq. 6; net/ipv4/tcp_cubic.c",
            f"{mean:.0f} segments ({mean / expected - 1:+.1%}; {min(found):.0f} to {max(found):.0f})",
            1.0 < mean / expected < 1.25,
        )


# --- BBR


def probe_rtt(seed: int) -> Data:
    """When each ProbeRTT of a BBR flow of 65 s began."""
    with network(LINE, seed) as net:
        samples = watched_bbr(net, 65)
    return {"begins_s": probe_rtt_begins(samples)}


def judge_probe_rtt(runs: Runs) -> Iterator[Row]:
    """Ten seconds, and what the last ProbeRTT took."""
    gaps = [b - a for run in runs.values() for a, b in zip(run["begins_s"], run["begins_s"][1:], strict=False)]
    yield Row(
        "BBR: from one ProbeRTT to the next",
        "10 s (the draft); the kernel counts from the last minimum, which ProbeRTT itself finds, so "
        "10.2 to 10.35 s here",
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5; bbr_update_min_rtt (net/ipv4/tcp_bbr.c)",
        f"{min(gaps):.2f} to {max(gaps):.2f} s ({len(gaps)} gaps)" if gaps else "no ProbeRTT",
        bool(gaps) and min(gaps) >= 10.2 and max(gaps) <= 10.35,
    )


FLOWS = (4, 8, 16)


def bbr_flows(seed: int) -> Data:
    """4, 8 and 16 flows of BBR and CUBIC over 100 Mbps, 20 ms, one BDP, starts spread over 3 s: retransmissions, %."""
    found: Data = {}
    for algorithm in ("bbr", "cubic"):
        for flows in FLOWS:
            with network(LINE, seed) as net:
                shared_100_mbit(net)
                share, goodput = retransmitted(net, flows, 3 / flows, 30, algorithm)
                found[f"{algorithm} {flows}"] = {"share": round(share, 4), "mbit": round(goodput, 3)}
    return found


def judge_bbr_flows(runs: Runs) -> Iterator[Row]:
    """Shown beside the figures of the Netesto paper, not judged."""
    for algorithm in ("bbr", "cubic"):
        for flows in FLOWS:
            found = [run[f"{algorithm} {flows}"]["share"] for run in runs.values()]
            yield Row(
                f"{flows} {algorithm.upper()} flows over 100 Mbps, starts spread over 3 s: segments retransmitted",
                "0.3 to 4.7 % for 4 to 16 flows" if algorithm == "bbr" else "–",
                "Netesto paper" if algorithm == "bbr" else "for comparison",
                f"{min(found):.2f} to {max(found):.2f} %; {of_seeds(runs)} distinct",
                None,
            )


THREE = range(1, 4)
EXPERIMENTS = [
    Experiment("codel", "CoDel's gaps between drops", THREE, codel_gaps, judge_codel),
    Experiment("htb-extra", "HTB's extra packet", THREE, htb_extra, judge_htb_extra),
    Experiment("loss-correlation", "netem's correlated loss", THREE, netem_loss_correlated, judge_loss_correlated),
    Experiment("jitter-correlation", "netem's correlated jitter", THREE, jitter_correlated, judge_jitter),
    Experiment("cubic-region", "CUBIC outside the Reno-friendly region", range(1, 3), cubic_region, judge_cubic),
    Experiment("probe-rtt", "BBR's ProbeRTT", range(1, 3), probe_rtt, judge_probe_rtt),
    Experiment("bbr-flows", "retransmissions of several flows", range(1, 3), bbr_flows, judge_bbr_flows),
]
