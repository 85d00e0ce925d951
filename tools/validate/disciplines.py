# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines compared with theory: rates, waiting times, shares, targets, distributions, conservation."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from validate.experiment import Data, Experiment, Row, Runs, of_seeds
from validate.nets import DUMBBELL, LINE, Net, network
from validate.numbers import binomial_near, kolmogorov, kolmogorov_limit

HEADERS = 42
"""Bytes of the Ethernet, IP, and UDP headers of a datagram, which is what tc counts."""
Arrivals = list[list[int]]
"""Rows of [number, sent_ns, received_ns] in the order of arrival (inside/probe.py)."""


def probes(net: Net, count: int, frame: int, how: str, *, back: str = "10.0.0.2", server: str = "h2") -> Arrivals:
    """Send datagrams from h1 in frames of `frame` bytes and return those that arrived at `server`, address `back`."""
    net.quiet("h1", server)  # netem would delay the answers of ARP
    command = net.program("probe.py")
    net.leave(server, f"{command} receive 7000 > arrived.json")
    net.type("h1", f"{command} send {back} 7000 {count} {frame - HEADERS} {how}")
    net.left(server)
    arrived: Arrivals = net.json("arrived.json")
    return arrived


# --- tbf: rate and waiting

RATES_MBIT = {1: 600, 10: 3000, 100: 20000}
"""Rate → number of frames."""


def tbf_rate(seed: int) -> Data:
    """The rate at which frames of 1,500 bytes leave a tbf that is offered one and a half times its rate."""
    found: Data = {}
    for rate, count in RATES_MBIT.items():
        with network(LINE, seed) as net:
            net.tc(f"qdisc add dev s1-eth2 root tbf rate {rate}mbit burst 3000 limit 60000")
            arrived = probes(net, count, 1500, f"every {1500 * 8 / (rate * 1.5e6):.9f}")
        steady = arrived[10:-60]
        found[str(rate)] = (len(steady) - 1) * 12000e3 / (steady[-1][2] - steady[0][2])
    return found


def judge_tbf_rate(runs: Runs) -> Iterator[Row]:
    """The rate that was set."""
    for rate in RATES_MBIT:
        found = [run[str(rate)] for run in runs.values()]
        yield Row(
            f"rate of tbf, {rate} Mbps",
            f"{rate} Mbps within 0.06 %",
            "tc-tbf(8)",
            f"{min(found):.4f} to {max(found):.4f} Mbps",
            all(abs(each / rate - 1) < 0.0006 for each in found),
        )


QUEUE_RATE = 10e6
FRAME = 1500
SERVICE_NS = FRAME * 8 / QUEUE_RATE * 1e9
FRAMES = 30000
LOADS = (0.5, 0.8)


def md1(seed: int) -> Data:
    """Poisson arrivals at a tbf of 10 Mbps: the mean wait, and Lindley's recursion over the same arrivals, µs."""
    found: Data = {}
    for load in LOADS:
        with network(LINE, seed) as net:
            net.tc(f"qdisc add dev s1-eth2 root tbf rate 10mbit burst {FRAME + 2} limit 10000000")
            arrived = sorted(probes(net, FRAMES, FRAME, f"poisson {load * 1e9 / SERVICE_NS} {seed}"))
        least = min(got - sent for _, sent, got in arrived)
        waits = [got - sent - least for _, sent, got in arrived]
        lindley, free = [], 0.0
        for _, sent, _ in arrived:
            begin = max(float(sent), free)
            lindley.append(begin - sent)
            free = begin + SERVICE_NS
        found[str(load)] = {
            "lost": FRAMES - len(arrived),
            "wait_us": statistics.fmean(waits) / 1e3,
            "lindley_us": statistics.fmean(lindley) / 1e3,
            "load": SERVICE_NS * (len(arrived) - 1) / (arrived[-1][1] - arrived[0][1]),
        }
    return found


def judge_md1(runs: Runs) -> Iterator[Row]:
    """The mean is that of Pollaczek and Khinchine, and that of the recursion."""
    for load in LOADS:
        every = [run[str(load)] for run in runs.values()]
        expected = load * SERVICE_NS / 1e3 / (2 * (1 - load))
        mean = statistics.fmean(one["wait_us"] for one in every)
        error = statistics.stdev(one["wait_us"] for one in every) / math.sqrt(len(every)) if len(every) > 1 else None
        yield Row(
            f"M/D/1, load {load}: mean wait behind tbf of 10 Mbps, frames of {FRAME} bytes",
            f"{expected:.0f} µs = ρS / 2(1 − ρ), within three standard errors and 0.3 %; no frame lost",
            "Pollaczek and Khinchine; Kleinrock, Queueing Systems I, §5.6",
            f"{mean:.1f} µs, standard error {'unknown' if error is None else f'{error:.1f}'} "
            f"({mean / expected - 1:+.2%}); {sum(one['lost'] for one in every)} lost",
            None
            if error is None
            else abs(mean - expected) < 3 * error + 0.003 * expected and not any(one["lost"] for one in every),
        )
        off = [one["wait_us"] / one["lindley_us"] - 1 for one in every]
        yield Row(
            f"the same, against Lindley's recursion over the same arrivals, load {load}",
            "the same within 1 %",
            "Lindley 1952: W' = max(0, W + S − A)",
            f"{min(off):+.2%} to {max(off):+.2%}",
            max(map(abs, off)) < 0.01,
        )


# --- htb

SHARES = {"10": 5, "20": 3, "30": 2}


def htb_shares(seed: int) -> Data:
    """Three overloaded classes below 10 Mbps for 20 s: the share of each, from its byte counter."""
    with network(LINE, seed) as net:
        net.tc(
            "qdisc add dev s1-eth2 root handle 1: htb default 10",
            "class add dev s1-eth2 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit",
            *(
                f"class add dev s1-eth2 parent 1:1 classid 1:{n} htb rate {r}mbit ceil 10mbit"
                for n, r in SHARES.items()
            ),
            *(
                f"filter add dev s1-eth2 protocol ip parent 1: prio 1 u32 match ip dport {7000 + int(n)} 0xffff "
                f"flowid 1:{n}"
                for n in SHARES
            ),
        )
        command = net.program("probe.py")
        for n in SHARES:
            net.leave(f"h1#{n}", f"{command} send 10.0.0.2 {7000 + int(n)} 25000 1458 every 0.001")
        net.type("client", "sleep 2")
        before = _class_bytes(net)
        net.type("client", "sleep 20")
        after = _class_bytes(net)
    sent = {n: after[n] - before[n] for n in SHARES}
    total = sum(sent.values())
    return {"shares": {n: sent[n] / total for n in SHARES}}


def _class_bytes(net: Net) -> dict[str, int]:
    words = net.type("client", "tc -s class show dev s1-eth2").split("class htb 1:")[1:]
    return {word.split()[0]: int(word.split("Sent ")[1].split()[0]) for word in words}


def judge_htb(runs: Runs) -> Iterator[Row]:
    """The shares that were set."""
    found = [run["shares"] for run in runs.values()]
    off = max(abs(shares[n] - r / 10) for shares in found for n, r in SHARES.items())
    yield Row(
        "HTB: shares of three overloaded classes of 5, 3 and 2 Mbps below 10 Mbps",
        "0.5, 0.3 and 0.2 within 0.001",
        "tc-htb(8)",
        ", ".join(f"{statistics.fmean(shares[n] for shares in found):.5f}" for n in SHARES),
        off < 0.001,
    )


# --- AQM targets


def pie_target(seed: int) -> Data:
    """12 Mbps of datagrams into 10 Mbps behind PIE: mean delay and share dropped in the last 20 of 60 s."""
    with network(LINE, seed) as net:
        net.tc(
            "qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 3000 limit 100000000",
            "qdisc add dev s1-eth2 parent 1: handle 2: pie limit 10000 target 15ms tupdate 15ms",
        )
        arrived = probes(net, 60000, 1500, "every 0.001")
    late = [one for one in arrived if one[0] >= 40000]
    return {
        "ms": statistics.fmean(got - sent for _, sent, got in late) / 1e6,
        "dropped": 1 - len(late) / (late[-1][0] - 39999),
    }


def judge_pie(runs: Runs) -> Iterator[Row]:
    """A controller with an integral part settles at its target."""
    found = [run["ms"] for run in runs.values()]
    dropped = [run["dropped"] for run in runs.values()]
    yield Row(
        "PIE, 12 Mbps into 10 Mbps: mean delay; share dropped",
        "16.2 ms within 2 %: its target, 15 ms, and the 1.2 ms in which tbf holds the next frame, which PIE counts as "
        "gone; 1/6 = 16.7 % dropped, within 1 point",
        "RFC 8033 §4.2: the drop probability stays constant where the delay equals the target; "
        "qdisc_peek_dequeued (include/net/sch_generic.h)",
        f"{min(found):.2f} to {max(found):.2f} ms; {min(dropped):.1%} to {max(dropped):.1%}; {of_seeds(runs)} distinct",
        all(abs(each / 16.2 - 1) < 0.02 for each in found) and all(abs(each - 1 / 6) < 0.01 for each in dropped),
    )


def codel_target(seed: int) -> Data:
    """Ten Reno flows through 100 Mbps and CoDel, 40 ms: mean delay of small datagrams, from 10 s to 30 s."""
    with network(LINE, seed) as net:
        net.tc(
            "qdisc add dev s1-eth2 root handle 1: tbf rate 100mbit burst 3000 limit 100000000",
            "qdisc add dev s1-eth2 parent 1: handle 2: codel limit 10000",
            "qdisc add dev s1-eth1 root netem delay 40ms limit 10000",
        )
        net.buffers("h1", "h2")
        net.offload("off", "h1", "h2")
        net.leave("h2#2", "iperf3 -s > /dev/null")
        net.leave("h1#2", "iperf3 -c 10.0.0.2 -C reno -P 10 -t 35 > /dev/null")
        net.type("client", "sleep 10")
        arrived = probes(net, 4000, 100, "every 0.005")
    return {"ms": round(statistics.fmean(got - sent for _, sent, got in arrived) / 1e6, 4)}


def judge_codel_target(runs: Runs) -> Iterator[Row]:
    """Near the target: CoDel drops while the delay is above it, and waits while it is below."""
    found = [run["ms"] for run in runs.values()]
    yield Row(
        "CoDel, ten Reno flows over 100 Mbps, 40 ms: mean delay",
        "near its target of 5 ms: 3 to 7 ms",
        "RFC 8289 §3.2",
        f"{min(found):.2f} to {max(found):.2f} ms; {of_seeds(runs)} distinct",
        all(3 < each < 7 for each in found),
    )


# --- netem

DELAY_MS, SPREAD_MS = 100, 10
PATH_MS = 0.004
"""What a datagram takes beside netem's delay: the prices of sending it and of entering two links."""
TABLES = ("normal", "pareto", "paretonormal")
TABLE_FOLDERS = ("/usr/lib/*/tc", "/usr/lib/tc", "/usr/share/tc", "/usr/lib64/tc")
SCALE = 8192
"""NETEM_DIST_SCALE of linux/pkt_sched.h: the number that stands for one standard deviation in a table."""


def table(name: str) -> list[float]:
    """iproute2's table of a distribution, sorted, in standard deviations."""
    for folder in TABLE_FOLDERS:
        for path in Path("/").glob(f"{folder[1:]}/{name}.dist"):
            lines = [line for line in path.read_text().split("\n") if not line.startswith("#")]
            return sorted(int(word) / SCALE for word in " ".join(lines).split())
    raise RuntimeError(f"tc's table {name}.dist is not in any of {', '.join(TABLE_FOLDERS)}")


def netem_delay(seed: int) -> Data:
    """10,000 datagrams, one per millisecond, through netem's distributions: moments, and distance from the table."""
    found: Data = {}
    for name in TABLES:
        with network(LINE, seed) as net:
            net.tc(
                f"qdisc add dev s1-eth2 root netem delay {DELAY_MS}ms {SPREAD_MS}ms distribution {name} limit 100000"
            )
            arrived = probes(net, 10000, 142, "every 0.001")
        delays = [(got - sent) / 1e6 for _, sent, got in arrived]
        expected = [DELAY_MS + SPREAD_MS * value for value in table(name)]
        found[name] = {
            "n": len(delays),
            "mean_ms": statistics.fmean(delays),
            "sd_ms": statistics.stdev(delays),
            "distance": kolmogorov(delays, lambda ms, e=expected: bisect_right(e, ms - PATH_MS) / len(e)),  # type: ignore[misc]
        }
    return found


def judge_netem_delay(runs: Runs) -> Iterator[Row]:
    """The delays follow the table."""
    for name in TABLES:
        every = [run[name] for run in runs.values()]
        expected = [DELAY_MS + SPREAD_MS * value for value in table(name)]
        n = min(one["n"] for one in every)
        yield Row(
            f"netem delay {DELAY_MS}ms {SPREAD_MS}ms distribution {name}, {n:,} datagrams",
            f"the table of iproute2: mean {statistics.fmean(expected):.2f}, sd {statistics.pstdev(expected):.2f} ms; "
            f"Kolmogorov's distance below {kolmogorov_limit(n):.4f}",
            "tabledist (net/sched/sch_netem.c); Kolmogorov, 1 %",
            f"mean {statistics.fmean(one['mean_ms'] for one in every):.2f}, "
            f"sd {statistics.fmean(one['sd_ms'] for one in every):.2f} ms; "
            f"distance {min(one['distance'] for one in every):.4f} to {max(one['distance'] for one in every):.4f}",
            all(one["distance"] < kolmogorov_limit(one["n"]) for one in every),
        )


LOSSES = (0.001, 0.01, 0.1)
SENT = 20000


def netem_loss(seed: int) -> Data:
    """20,000 datagrams through netem's random loss: how many were lost."""
    found: Data = {}
    for loss in LOSSES:
        with network(LINE, seed) as net:
            net.tc(f"qdisc add dev s1-eth2 root netem loss {loss * 100:g}% limit 10000")
            found[str(loss)] = SENT - len(probes(net, SENT, 142, "every 0.0005"))
    return found


def judge_netem_loss(runs: Runs) -> Iterator[Row]:
    """The share of all seeds follows the binomial distribution."""
    for loss in LOSSES:
        lost = [run[str(loss)] for run in runs.values()]
        low, high = binomial_near(SENT * len(lost), loss)
        share = sum(lost) / SENT / len(lost)
        yield Row(
            f"netem loss {loss:.1%}, {len(lost)} seeds of {SENT:,} datagrams",
            f"{low:.3%} to {high:.3%}",
            "binomial, three standard deviations",
            f"{share:.3%}; {of_seeds({s: {'lost': n} for s, n in enumerate(lost)})} distinct",
            low <= share <= high,
        )


def conservation(seed: int) -> Data:
    """A path with random loss and an overloaded tbf: datagrams that arrived, and drops that each discipline counted."""
    with network(DUMBBELL, seed) as net:
        net.quiet("h1", "h3")
        net.tc(
            "qdisc add dev s1-eth1 root handle 1: netem loss 3% delay 5ms 2ms limit 1000",
            "qdisc add dev s2-eth2 root handle 2: tbf rate 10mbit burst 3000 limit 30000",
        )
        arrived = probes(net, 10000, 1500, "every 0.001", back="10.0.0.3", server="h3")
        netem, tbf = net.qdiscs("s1-eth1")["1:"]["drops"], net.qdiscs("s2-eth2")["2:"]["drops"]
    return {"arrived": len({one[0] for one in arrived}), "netem": netem, "tbf": tbf}


def judge_conservation(runs: Runs) -> Iterator[Row]:
    """Each packet either arrived or was counted as dropped."""
    sums = [sum(run.values()) for run in runs.values()]
    one = next(iter(runs.values()))
    yield Row(
        "conservation: 10,000 datagrams through netem loss and an overloaded tbf",
        "arrived + dropped by netem + dropped by tbf = 10,000",
        "no packet vanishes",
        f"{one['arrived']} + {one['netem']} + {one['tbf']} = {sum(one.values()):,} for the first seed, "
        f"{sum(each == 10000 for each in sums)} of {len(sums)} add up",
        all(each == 10000 for each in sums),
    )


FIVE = range(1, 6)
EXPERIMENTS = [
    Experiment("tbf-rate", "tbf's rate", range(1, 4), tbf_rate, judge_tbf_rate),
    Experiment("md1", "M/D/1 behind tbf", range(1, 7), md1, judge_md1),
    Experiment("htb-shares", "HTB's shares", range(1, 4), htb_shares, judge_htb),
    Experiment("pie", "PIE's target", range(1, 4), pie_target, judge_pie),
    Experiment("codel-target", "CoDel's target", range(1, 4), codel_target, judge_codel_target),
    Experiment("netem-delay", "netem's delay distributions", range(1, 4), netem_delay, judge_netem_delay),
    Experiment("netem-loss", "netem's random loss", FIVE, netem_loss, judge_netem_loss),
    Experiment("conservation", "conservation of packets", FIVE, conservation, judge_conservation),
]
