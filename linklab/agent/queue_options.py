# SPDX-License-Identifier: BSD-3-Clause
"""Options of queueing disciplines and classes as rtnetlink tells them → plain data.

tc's own JSON rounds (tbf's limit to a latency in µs, bursts to whole µs), says some keys twice and has no classes of
htb, so the kernel's words are read here (linux/pkt_sched.h). Where the kernel keeps a rounded value, the roundest
number that it would round so is given: a burst of 5000000, not 4999920. Units are in the names: rates in bit/s
(`_bit`), times in ns or µs, sizes in bytes, shares 0..1. Options at 0 that mean "nothing of the kind" are left out.
What cannot be told as a word of tc is named in "unread".
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

from linklab.linux.netlink import attributes

Options = dict[str, Any]
U32_MAX = 2**32 - 1
TICK_NS = 64  # PSCHED_SHIFT, include/net/pkt_sched.h
ETHERNET = 1  # TC_LINKLAYER_ETHERNET
PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
FQ_WEIGHTS = (589824, 196608, 65536)
CAKE_FLOWS = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
CAKE_TINS = ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")
CAKE_ACKS = ("no-ack-filter", "ack-filter", "ack-filter-aggressive")
CAKE_CELLS = ("noatm", "atm", "ptm")

NETEM_NEEDS = {
    "delay_correlation": ("jitter_ns",),
    "loss_correlation": ("loss",),
    "duplicate_correlation": ("duplicate",),
    "reorder": ("gap",),
    "reorder_correlation": ("gap",),
    "corrupt_correlation": ("corrupt",),
    "ecn": ("loss", "loss_state", "loss_gemodel"),
}
"""What a change may leave behind without effect: an option, and those of which it needs one."""


def roundest(low: int, high: int) -> int:
    """The number in low..high with the most zeros at its end, the smallest of such."""
    step, found = 1, low
    while low > 0 and (multiple := -(-low // step) * step) <= high:
        step, found = step * 10, multiple
    return found


def share(raw: int) -> float:
    """The shortest number that tc turns into this share of 2^32 - 1."""
    for digits in range(1, 17):
        value = float(f"{raw / U32_MAX:.{digits}g}")
        if round(value * U32_MAX) == raw:
            return value
    return raw / U32_MAX


def _first_that(low: int, gives: Callable[[int], int], wanted: int) -> int:
    """The roundest of the few numbers from `low` on that `gives` what the kernel told."""
    fitting = [number for number in range(low, low + 4) if gives(number) == wanted]
    return roundest(fitting[0], fitting[-1]) if fitting else low


def codel_us(told: int) -> int:
    """CoDel keeps times in units of 1024 ns (include/net/codel.h) and tells them in µs, rounded down twice."""
    return _first_that(told, lambda us: (us * 1000 >> 10 << 10) // 1000, told)


def pie_us(told: int) -> int:
    """PIE keeps its target in ticks of 64 ns and tells it in µs."""
    return _first_that(told, lambda us: us * 1000 // TICK_NS * TICK_NS // 1000, told)


def netem_ns(told: int) -> int:
    """tc up to iproute2 6.x gives delays in ticks, rounded down from whole µs: 89984 ns was 90 µs."""
    us = -(-told // 1000)
    return us * 1000 if us * 1000 // TICK_NS * TICK_NS == told else told


def tbf_burst(rate: int, ticks: int, overhead: int = 0) -> int:
    """Bytes whose time at `rate` (bytes/s) is `ticks`, as psched_l2t_ns() in include/net/sch_generic.h counts it."""
    factor, shift = 10**9, 0
    while not (factor // rate & 1 << 31 or factor & 1 << 63):
        factor, shift = factor << 1, shift + 1
    multiplier = factor // rate
    low = -(-(ticks * TICK_NS << shift) // multiplier)
    high = -(-((ticks + 1) * TICK_NS << shift) // multiplier) - 1
    return max(roundest(low, high) - overhead, 1)


def htb_burst(rate: int, ticks: int) -> int:
    """Bytes that tc turns into `ticks` at `rate` (bytes/s): in whole µs (tc_calc_xmittime(), tc/tc_core.c)."""
    us = -(-ticks * TICK_NS // 1000)
    low, high = -(-us * rate // 10**6), -(-(us + 1) * rate // 10**6) - 1
    while low <= high and int(10**6 * (low / rate)) < us:  # tc counts in doubles
        low += 1
    while low < high and int(10**6 * (high / rate)) > us:
        high -= 1
    return max(roundest(low, high), 1)


def u32(data: Mapping[int, bytes], kind: int) -> int:
    """An attribute that is a number; 0 where it is not there."""
    return int.from_bytes(data[kind][:4], sys.byteorder) if kind in data else 0


def _u64(data: Mapping[int, bytes], kind: int, otherwise: int) -> int:
    return int.from_bytes(data[kind][:8], sys.byteorder) if kind in data else otherwise


def _present(options: Options) -> Options:
    """Without what is 0, "" or empty."""
    return {name: value for name, value in options.items() if value not in (0, "", [], None) or value is False}


def _ratespec(data: bytes) -> tuple[int, Options]:
    """struct tc_ratespec: its rate in bytes/s, and the rest."""
    _, layer, overhead, _, mpu, rate = struct.unpack_from("=BBHhHI", data)
    unread = [] if layer & 0xF in (0, ETHERNET) else ["linklayer"]
    return rate, {"overhead": overhead, "mpu": mpu, "unread": unread}


def netem(raw: bytes) -> Options:
    """struct tc_netem_qopt, then attributes.  A delay's distribution is not told by the kernel."""
    latency, limit, loss, gap, duplicate, jitter = struct.unpack_from("=6I", raw)
    data = attributes(raw[24:])
    of_delay, of_loss, of_duplicate = struct.unpack_from("=3I", data.get(1, bytes(12)))
    reorder, of_reorder = struct.unpack_from("=2I", data.get(3, bytes(8)))
    corrupt, of_corrupt = struct.unpack_from("=2I", data.get(4, bytes(8)))
    rate, overhead, cell, cell_overhead = struct.unpack_from("=IiIi", data.get(6, bytes(16)))
    options = {
        "delay_ns": netem_ns(_u64(data, 10, latency * TICK_NS)),
        "jitter_ns": netem_ns(_u64(data, 11, jitter * TICK_NS)),
        "delay_correlation": share(of_delay),
        "loss": share(loss),
        "loss_correlation": share(of_loss),
        "duplicate": share(duplicate),
        "duplicate_correlation": share(of_duplicate),
        "reorder": share(reorder),
        "reorder_correlation": share(of_reorder),
        "gap": gap,
        "corrupt": share(corrupt),
        "corrupt_correlation": share(of_corrupt),
        "rate_bit": _u64(data, 8, rate) * 8,
        "rate_overhead": overhead,
        "cell_size": cell,
        "cell_overhead": cell_overhead,
        "ecn": bool(u32(data, 7)) or None,
    }
    model = attributes(data.get(5, b""))
    if 1 in model:  # NETEM_LOSS_GI: p13, p31, p32, p14, p23
        p13, p31, p32, p14, p23 = (share(p) for p in struct.unpack_from("=5I", model[1]))
        options["loss_state"] = [p13, p31, p32, p23, p14]
    elif 2 in model:  # NETEM_LOSS_GE: tc's word is 1-h
        p, r, h, k1 = struct.unpack_from("=4I", model[2])
        options["loss_gemodel"] = [share(p), share(r), share(U32_MAX - h), share(k1)]
    if 12 in data:
        low, high, packets, size, _, random = struct.unpack_from("=qqiiqq", data[12])
        options["slot"] = [low, high, packets, size]
        options["unread"] = ["slot distribution"] if random else []
    for name, needs in NETEM_NEEDS.items():
        if not any(options.get(each) for each in needs):
            options[name] = 0
    return {"limit": limit, **_present(options)}


def tbf(raw: bytes) -> Options:
    """TCA_TBF_PARMS: struct tc_tbf_qopt."""
    data = attributes(raw)
    parms = data[1]
    (rate, rest), (peak, _) = _ratespec(parms), _ratespec(parms[12:])
    limit, buffer, mtu = struct.unpack_from("=3I", parms, 24)
    rate, peak = _u64(data, 4, rate), _u64(data, 5, peak)
    options = {"rate_bit": rate * 8, "burst": tbf_burst(rate, buffer, rest["overhead"]), "limit": limit}
    if peak:
        rest |= {"peakrate_bit": peak * 8, "peak_burst": tbf_burst(peak, mtu, rest["overhead"])}
    return options | _present(rest)


def htb(raw: bytes) -> Options:
    """TCA_HTB_INIT: struct tc_htb_glob."""
    data = attributes(raw)
    _, r2q, default, _, _ = struct.unpack_from("=5I", data[2])
    options = {"default": default, "r2q": r2q, "direct_qlen": u32(data, 5)}
    return options | ({"unread": ["offload"]} if 9 in data else {})


def htb_class(raw: bytes) -> Options:
    """TCA_HTB_PARMS: struct tc_htb_opt; a class with classes below it has no quantum of its own."""
    data = attributes(raw)
    (rate, rest), (ceil, _) = _ratespec(data[1]), _ratespec(data[1][12:])
    buffer, cbuffer, quantum, level, prio = struct.unpack_from("=5I", data[1], 24)
    rate, ceil = _u64(data, 6, rate), _u64(data, 7, ceil)
    options = {"rate_bit": rate * 8, "ceil_bit": ceil * 8}
    options |= {"burst": htb_burst(rate, buffer), "cburst": htb_burst(ceil, cbuffer)}
    return options | _present({**rest, "prio": prio, "quantum": 0 if level else quantum})


def fq(raw: bytes) -> Options:
    """Attributes TCA_FQ_*."""
    data = attributes(raw)
    unread = []
    if 16 in data and tuple(data[16][4:20]) != PRIOMAP:
        unread.append("priomap")
    if 17 in data and struct.unpack_from("=3i", data[17]) != FQ_WEIGHTS:
        unread.append("weights")
    if u32(data, 18):
        unread.append("offload_horizon")
    maximum, threshold = u32(data, 7), u32(data, 12)
    return {
        "limit": u32(data, 1),
        "flow_limit": u32(data, 2),
        "buckets": 1 << (u32(data, 8) & 31),
        "orphan_mask": u32(data, 10),
        "quantum": u32(data, 3),
        "initial_quantum": u32(data, 4),
        "low_rate_threshold_bit": u32(data, 11) * 8,
        "refill_delay_us": u32(data, 9),
        "timer_slack_ns": u32(data, 13),
        "horizon_us": u32(data, 14),
        "horizon_drop": bool(data.get(15, b"\1")[0]),
        "pacing": bool(u32(data, 5)),
        **({"maxrate_bit": maximum * 8} if maximum != U32_MAX else {}),
        **({"ce_threshold_us": threshold} if threshold != U32_MAX and 12 in data else {}),
        **({"unread": unread} if unread else {}),
    }


def codel(raw: bytes) -> Options:
    """Attributes TCA_CODEL_*."""
    data = attributes(raw)
    options = {"limit": u32(data, 2), "target_us": codel_us(u32(data, 1)), "interval_us": codel_us(u32(data, 3))}
    options["ecn"] = bool(u32(data, 4))
    return options | ({"ce_threshold_us": codel_us(u32(data, 5))} if 5 in data else {})


def fq_codel(raw: bytes) -> Options:
    """Attributes TCA_FQ_CODEL_*."""
    data = attributes(raw)
    options: Options = {
        "limit": u32(data, 2),
        "flows": u32(data, 5),
        "quantum": u32(data, 6),
        "target_us": codel_us(u32(data, 1)),
        "interval_us": codel_us(u32(data, 3)),
        "memory_limit": u32(data, 9),
        "drop_batch": u32(data, 8),
        "ecn": bool(u32(data, 4)),
    }
    if 7 in data:
        options["ce_threshold_us"] = codel_us(u32(data, 7))
        if any(data.get(10, b"\0")) or any(data.get(11, b"\0")):
            options["unread"] = ["ce_threshold_selector"]
    return options


def pie(raw: bytes) -> Options:
    """Attributes TCA_PIE_*."""
    data = attributes(raw)
    options: Options = {"limit": u32(data, 2), "target_us": pie_us(u32(data, 1)), "tupdate_us": u32(data, 3)}
    options |= {"alpha": u32(data, 4), "beta": u32(data, 5)}
    names = ("ecn", "bytemode", "dq_rate_estimator")
    return options | {name: bool(u32(data, kind)) for kind, name in enumerate(names, 6)}


def fq_pie(raw: bytes) -> Options:
    """Attributes TCA_FQ_PIE_*."""
    data = attributes(raw)
    options: Options = {"limit": u32(data, 1), "flows": u32(data, 2), "target_us": pie_us(u32(data, 3))}
    numbers = ("tupdate_us", "alpha", "beta", "quantum", "memory_limit", "ecn_prob")
    options |= {name: u32(data, kind) for kind, name in enumerate(numbers, 4)}
    return options | {
        name: bool(u32(data, kind)) for kind, name in enumerate(("ecn", "bytemode", "dq_rate_estimator"), 10)
    }


def red(raw: bytes) -> Options:
    """TCA_RED_PARMS and TCA_RED_MAX_P; with `adaptive` the kernel moves the probability: then it is no setting."""
    data = attributes(raw)
    limit, low, high, wlog, plog, cell, old_flags = struct.unpack_from("=3I4B", data[1])
    flags = struct.unpack_from("=I", data[4])[0] if 4 in data else old_flags
    names = ("ecn", "harddrop", "adaptive", "nodrop")
    options: Options = {"limit": limit, "min": low, "max": high, "wlog": wlog, "plog": plog, "cell_log": cell}
    if not flags & 4 and 3 in data:
        options["probability"] = round(u32(data, 3) / 2**32, 9)
    return options | {name: True for bit, name in enumerate(names) if flags & 1 << bit}


def sfq(raw: bytes) -> Options:
    """struct tc_sfq_qopt_v1; there are never more flows than packets, and a given limit lowers the number."""
    quantum, perturb, limit, divisor, flows, depth, headdrop, red_limit, low, high = struct.unpack_from("=Ii8I", raw)
    options = {"limit": limit, "quantum": quantum, "divisor": divisor, "flows": min(flows, limit), "depth": depth}
    rest = {"perturb_s": perturb, "headdrop": bool(headdrop) or None}
    return options | _present({**rest, "unread": ["redflowlimit"] if red_limit or low or high else []})


def prio(raw: bytes) -> Options:
    """struct tc_prio_qopt."""
    return {"bands": struct.unpack_from("=i", raw)[0], "priomap": list(raw[4:20])}


def fifo(raw: bytes) -> Options:
    """struct tc_fifo_qopt."""
    return {"limit": struct.unpack_from("=I", raw)[0]}


def cake(raw: bytes) -> Options:
    """Attributes TCA_CAKE_*."""
    data = attributes(raw)
    rtt, target = u32(data, 7), u32(data, 8)
    options: Options = {
        "diffserv": CAKE_TINS[u32(data, 3)],
        "flow": CAKE_FLOWS[u32(data, 5)],
        "ack_filter": CAKE_ACKS[u32(data, 16)],
        "rtt_us": rtt,
        "nat": bool(u32(data, 11)),
        "wash": bool(u32(data, 13)),
        "ingress": bool(u32(data, 15)),
        "autorate_ingress": bool(u32(data, 9)),
        "split_gso": bool(u32(data, 17)),
    }
    overhead = struct.unpack_from("=i", data.get(6, bytes(4)))[0]
    if 12 not in data:  # TCA_CAKE_RAW: no overhead was given
        options |= {"overhead": overhead, "mpu": u32(data, 14), "cell": CAKE_CELLS[u32(data, 4)]}
    rest = {"bandwidth_bit": _u64(data, 2, 0) * 8, "memlimit": u32(data, 10), "fwmark": u32(data, 18)}
    return options | _present({**rest, "unread": ["target"] if abs(target - max(rtt // 20, 1)) > 1 else []})


def nothing(raw: bytes) -> Options:
    """A discipline without options."""
    return {}


QDISCS: dict[str, Callable[[bytes], Options]] = {
    "netem": netem,
    "tbf": tbf,
    "htb": htb,
    "fq": fq,
    "codel": codel,
    "fq_codel": fq_codel,
    "pie": pie,
    "fq_pie": fq_pie,
    "red": red,
    "sfq": sfq,
    "prio": prio,
    "pfifo_fast": nothing,
    "pfifo": fifo,
    "bfifo": fifo,
    "pfifo_head_drop": fifo,
    "cake": cake,
    "noqueue": nothing,
    "mq": nothing,
    "ingress": nothing,
    "clsact": nothing,
}
CLASSES = {"htb": htb_class}
