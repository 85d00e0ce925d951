# SPDX-License-Identifier: BSD-3-Clause
"""Options of queueing disciplines and classes as rtnetlink tells them → plain data.

tc's own JSON rounds (tbf's limit to a latency in µs, bursts to whole µs), gives some keys twice and leaves out the
classes of htb, so the kernel's own attributes are read here (linux/pkt_sched.h).  Where the kernel keeps a rounded
value, this gives the roundest number that it would round to the same: a burst of 5000000, not 4999920.
Units are in the names: rates in bit/s (`_bit`), times in ns or µs, sizes in bytes, shares 0..1.  Options whose 0 means
"nothing of the kind" are left out.  What no word of tc can say is named in "unread".
The same options, as people type them and as tc is given them, are in `linklab.tc`.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

from linklab.linux import tc_attributes as attr
from linklab.linux.netlink import attributes

Options = dict[str, Any]
U32_MAX = 2**32 - 1
TICK_NS = 64  # PSCHED_SHIFT, include/net/pkt_sched.h
ETHERNET = 1  # TC_LINKLAYER_ETHERNET
PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
FQ_WEIGHTS = (589824, 196608, 65536)
RED_FLAGS = {
    "ecn": attr.TC_RED_ECN,
    "harddrop": attr.TC_RED_HARDDROP,
    "adaptive": attr.TC_RED_ADAPTATIVE,
    "nodrop": attr.TC_RED_NODROP,
}
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
    """PIE keeps its target in ticks of 64 ns and tells it in µs; it tells 1 µs as 0, which tc cannot set."""
    return _first_that(max(told, 1), lambda us: us * 1000 // TICK_NS * TICK_NS // 1000, told)


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
    of_delay, of_loss, of_duplicate = struct.unpack_from("=3I", data.get(attr.TCA_NETEM_CORR, bytes(12)))
    reorder, of_reorder = struct.unpack_from("=2I", data.get(attr.TCA_NETEM_REORDER, bytes(8)))
    corrupt, of_corrupt = struct.unpack_from("=2I", data.get(attr.TCA_NETEM_CORRUPT, bytes(8)))
    rate, overhead, cell, cell_overhead = struct.unpack_from("=IiIi", data.get(attr.TCA_NETEM_RATE, bytes(16)))
    options = {
        "delay_ns": netem_ns(_u64(data, attr.TCA_NETEM_LATENCY64, latency * TICK_NS)),
        "jitter_ns": netem_ns(_u64(data, attr.TCA_NETEM_JITTER64, jitter * TICK_NS)),
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
        "rate_bit": _u64(data, attr.TCA_NETEM_RATE64, rate) * 8,
        "rate_overhead": overhead,
        "cell_size": cell,
        "cell_overhead": cell_overhead,
        "ecn": bool(u32(data, attr.TCA_NETEM_ECN)) or None,
    }
    model = attributes(data.get(attr.TCA_NETEM_LOSS, b""))
    if attr.NETEM_LOSS_GI in model:  # struct tc_netem_gimodel; tc takes p23 before p14
        p13, p31, p32, p14, p23 = (share(p) for p in struct.unpack_from("=5I", model[attr.NETEM_LOSS_GI]))
        options["loss_state"] = [p13, p31, p32, p23, p14]
    elif attr.NETEM_LOSS_GE in model:  # struct tc_netem_gemodel; tc takes 1-h
        p, r, h, k1 = struct.unpack_from("=4I", model[attr.NETEM_LOSS_GE])
        options["loss_gemodel"] = [share(p), share(r), share(U32_MAX - h), share(k1)]
    if attr.TCA_NETEM_SLOT in data:
        low, high, packets, size, _, random = struct.unpack_from("=qqiiqq", data[attr.TCA_NETEM_SLOT])
        options["slot"] = [low, high, packets, size]
        options["unread"] = ["slot distribution"] if random else []
    for name, needs in NETEM_NEEDS.items():
        if not any(options.get(each) for each in needs):
            options[name] = 0
    return {"limit": limit, **_present(options)}


def tbf(raw: bytes) -> Options:
    """TCA_TBF_PARMS: struct tc_tbf_qopt."""
    data = attributes(raw)
    parms = data[attr.TCA_TBF_PARMS]
    (rate, rest), (peak, _) = _ratespec(parms), _ratespec(parms[12:])
    limit, buffer, mtu = struct.unpack_from("=3I", parms, 24)
    rate, peak = _u64(data, attr.TCA_TBF_RATE64, rate), _u64(data, attr.TCA_TBF_PRATE64, peak)
    options = {"rate_bit": rate * 8, "burst": tbf_burst(rate, buffer, rest["overhead"]), "limit": limit}
    if peak:
        rest |= {"peakrate_bit": peak * 8, "peak_burst": tbf_burst(peak, mtu, rest["overhead"])}
    return options | _present(rest)


def htb(raw: bytes) -> Options:
    """TCA_HTB_INIT: struct tc_htb_glob."""
    data = attributes(raw)
    _, r2q, default, _, _ = struct.unpack_from("=5I", data[attr.TCA_HTB_INIT])
    options = {"default": default, "r2q": r2q, "direct_qlen": u32(data, attr.TCA_HTB_DIRECT_QLEN)}
    return options | ({"unread": ["offload"]} if attr.TCA_HTB_OFFLOAD in data else {})


def htb_class(raw: bytes) -> Options:
    """TCA_HTB_PARMS: struct tc_htb_opt; a class with classes below it has no quantum of its own."""
    data = attributes(raw)
    parms = data[attr.TCA_HTB_PARMS]
    (rate, rest), (ceil, _) = _ratespec(parms), _ratespec(parms[12:])
    buffer, cbuffer, quantum, level, prio = struct.unpack_from("=5I", parms, 24)
    rate, ceil = _u64(data, attr.TCA_HTB_RATE64, rate), _u64(data, attr.TCA_HTB_CEIL64, ceil)
    options = {"rate_bit": rate * 8, "ceil_bit": ceil * 8}
    options |= {"burst": htb_burst(rate, buffer), "cburst": htb_burst(ceil, cbuffer)}
    return options | _present({**rest, "prio": prio, "quantum": 0 if level else quantum})


def fq(raw: bytes) -> Options:
    """Attributes TCA_FQ_*."""
    data = attributes(raw)
    unread = []
    if attr.TCA_FQ_PRIOMAP in data and tuple(data[attr.TCA_FQ_PRIOMAP][4:20]) != PRIOMAP:
        unread.append("priomap")
    if attr.TCA_FQ_WEIGHTS in data and struct.unpack_from("=3i", data[attr.TCA_FQ_WEIGHTS]) != FQ_WEIGHTS:
        unread.append("weights")
    if u32(data, attr.TCA_FQ_OFFLOAD_HORIZON):
        unread.append("offload_horizon")
    maximum, threshold = u32(data, attr.TCA_FQ_FLOW_MAX_RATE), u32(data, attr.TCA_FQ_CE_THRESHOLD)
    return {
        "limit": u32(data, attr.TCA_FQ_PLIMIT),
        "flow_limit": u32(data, attr.TCA_FQ_FLOW_PLIMIT),
        "buckets": 1 << (u32(data, attr.TCA_FQ_BUCKETS_LOG) & 31),
        "orphan_mask": u32(data, attr.TCA_FQ_ORPHAN_MASK),
        "quantum": u32(data, attr.TCA_FQ_QUANTUM),
        "initial_quantum": u32(data, attr.TCA_FQ_INITIAL_QUANTUM),
        "low_rate_threshold_bit": u32(data, attr.TCA_FQ_LOW_RATE_THRESHOLD) * 8,
        "refill_delay_us": u32(data, attr.TCA_FQ_FLOW_REFILL_DELAY),
        "timer_slack_ns": u32(data, attr.TCA_FQ_TIMER_SLACK),
        "horizon_us": u32(data, attr.TCA_FQ_HORIZON),
        "horizon_drop": bool(data.get(attr.TCA_FQ_HORIZON_DROP, b"\1")[0]),
        "pacing": bool(u32(data, attr.TCA_FQ_RATE_ENABLE)),
        **({"maxrate_bit": maximum * 8} if maximum != U32_MAX else {}),
        **({"ce_threshold_us": threshold} if threshold != U32_MAX and attr.TCA_FQ_CE_THRESHOLD in data else {}),
        **({"unread": unread} if unread else {}),
    }


def codel(raw: bytes) -> Options:
    """Attributes TCA_CODEL_*."""
    data = attributes(raw)
    options = {
        "limit": u32(data, attr.TCA_CODEL_LIMIT),
        "target_us": codel_us(u32(data, attr.TCA_CODEL_TARGET)),
        "interval_us": codel_us(u32(data, attr.TCA_CODEL_INTERVAL)),
    }
    options["ecn"] = bool(u32(data, attr.TCA_CODEL_ECN))
    return options | (
        {"ce_threshold_us": codel_us(u32(data, attr.TCA_CODEL_CE_THRESHOLD))}
        if attr.TCA_CODEL_CE_THRESHOLD in data
        else {}
    )


def fq_codel(raw: bytes) -> Options:
    """Attributes TCA_FQ_CODEL_*."""
    data = attributes(raw)
    options: Options = {
        "limit": u32(data, attr.TCA_FQ_CODEL_LIMIT),
        "flows": u32(data, attr.TCA_FQ_CODEL_FLOWS),
        "quantum": u32(data, attr.TCA_FQ_CODEL_QUANTUM),
        "target_us": codel_us(u32(data, attr.TCA_FQ_CODEL_TARGET)),
        "interval_us": codel_us(u32(data, attr.TCA_FQ_CODEL_INTERVAL)),
        "memory_limit": u32(data, attr.TCA_FQ_CODEL_MEMORY_LIMIT),
        "drop_batch": u32(data, attr.TCA_FQ_CODEL_DROP_BATCH_SIZE),
        "ecn": bool(u32(data, attr.TCA_FQ_CODEL_ECN)),
    }
    if attr.TCA_FQ_CODEL_CE_THRESHOLD in data:
        options["ce_threshold_us"] = codel_us(u32(data, attr.TCA_FQ_CODEL_CE_THRESHOLD))
        if any(data.get(attr.TCA_FQ_CODEL_CE_THRESHOLD_SELECTOR, b"\0")) or any(
            data.get(attr.TCA_FQ_CODEL_CE_THRESHOLD_MASK, b"\0")
        ):
            options["unread"] = ["ce_threshold_selector"]
    return options


def pie(raw: bytes) -> Options:
    """Attributes TCA_PIE_*."""
    data = attributes(raw)
    return {
        "limit": u32(data, attr.TCA_PIE_LIMIT),
        "target_us": pie_us(u32(data, attr.TCA_PIE_TARGET)),
        "tupdate_us": u32(data, attr.TCA_PIE_TUPDATE),
        "alpha": u32(data, attr.TCA_PIE_ALPHA),
        "beta": u32(data, attr.TCA_PIE_BETA),
        "ecn": bool(u32(data, attr.TCA_PIE_ECN)),
        "bytemode": bool(u32(data, attr.TCA_PIE_BYTEMODE)),
        "dq_rate_estimator": bool(u32(data, attr.TCA_PIE_DQ_RATE_ESTIMATOR)),
    }


def fq_pie(raw: bytes) -> Options:
    """Attributes TCA_FQ_PIE_*."""
    data = attributes(raw)
    return {
        "limit": u32(data, attr.TCA_FQ_PIE_LIMIT),
        "flows": u32(data, attr.TCA_FQ_PIE_FLOWS),
        "target_us": pie_us(u32(data, attr.TCA_FQ_PIE_TARGET)),
        "tupdate_us": u32(data, attr.TCA_FQ_PIE_TUPDATE),
        "alpha": u32(data, attr.TCA_FQ_PIE_ALPHA),
        "beta": u32(data, attr.TCA_FQ_PIE_BETA),
        "quantum": u32(data, attr.TCA_FQ_PIE_QUANTUM),
        "memory_limit": u32(data, attr.TCA_FQ_PIE_MEMORY_LIMIT),
        "ecn_prob": u32(data, attr.TCA_FQ_PIE_ECN_PROB),
        "ecn": bool(u32(data, attr.TCA_FQ_PIE_ECN)),
        "bytemode": bool(u32(data, attr.TCA_FQ_PIE_BYTEMODE)),
        "dq_rate_estimator": bool(u32(data, attr.TCA_FQ_PIE_DQ_RATE_ESTIMATOR)),
    }


def red(raw: bytes) -> Options:
    """TCA_RED_PARMS and TCA_RED_MAX_P; with `adaptive` the kernel moves the probability: then it is no setting."""
    data = attributes(raw)
    limit, low, high, wlog, plog, cell, old_flags = struct.unpack_from("=3I4B", data[attr.TCA_RED_PARMS])
    flags = u32(data, attr.TCA_RED_FLAGS) if attr.TCA_RED_FLAGS in data else old_flags
    options: Options = {"limit": limit, "min": low, "max": high, "wlog": wlog, "plog": plog, "cell_log": cell}
    if not flags & attr.TC_RED_ADAPTATIVE and attr.TCA_RED_MAX_P in data:
        options["probability"] = round(u32(data, attr.TCA_RED_MAX_P) / 2**32, 9)
    return options | {name: True for name, bit in RED_FLAGS.items() if flags & bit}


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
    rtt, target = u32(data, attr.TCA_CAKE_RTT), u32(data, attr.TCA_CAKE_TARGET)
    options: Options = {
        "diffserv": CAKE_TINS[u32(data, attr.TCA_CAKE_DIFFSERV_MODE)],
        "flow": CAKE_FLOWS[u32(data, attr.TCA_CAKE_FLOW_MODE)],
        "ack_filter": CAKE_ACKS[u32(data, attr.TCA_CAKE_ACK_FILTER)],
        "rtt_us": rtt,
        "nat": bool(u32(data, attr.TCA_CAKE_NAT)),
        "wash": bool(u32(data, attr.TCA_CAKE_WASH)),
        "ingress": bool(u32(data, attr.TCA_CAKE_INGRESS)),
        "autorate_ingress": bool(u32(data, attr.TCA_CAKE_AUTORATE)),
        "split_gso": bool(u32(data, attr.TCA_CAKE_SPLIT_GSO)),
    }
    overhead = struct.unpack_from("=i", data.get(attr.TCA_CAKE_OVERHEAD, bytes(4)))[0]
    if attr.TCA_CAKE_RAW not in data:  # TCA_CAKE_RAW: no overhead was given
        options |= {
            "overhead": overhead,
            "mpu": u32(data, attr.TCA_CAKE_MPU),
            "cell": CAKE_CELLS[u32(data, attr.TCA_CAKE_ATM)],
        }
    rest = {
        "bandwidth_bit": _u64(data, attr.TCA_CAKE_BASE_RATE64, 0) * 8,
        "memlimit": u32(data, attr.TCA_CAKE_MEMORY),
        "fwmark": u32(data, attr.TCA_CAKE_FWMARK),
    }
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
