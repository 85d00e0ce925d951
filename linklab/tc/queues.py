# SPDX-License-Identifier: BSD-3-Clause
"""Disciplines that decide which packet waits, leaves, or is dropped.  Words: the page of each, such as tc-codel(8)."""

from __future__ import annotations

from linklab.tc.forms import NUMBER, PACKETS, PACKETS_32, RATE, SIZE, SIZE_32, SLACK_NS, TIME_US, number
from linklab.tc.kind import Drawn, Kind
from linklab.tc.option import Several, Switch, Valued

_LIMIT = Valued("limit", "limit", PACKETS_32)
_QUANTUM = Valued("quantum", "quantum", SIZE)
_FLOWS = Valued("flows", "flows", NUMBER)
_MEMORY = Valued("memory_limit", "memory_limit", SIZE)
_ECN = Switch("ecn", "ecn", "noecn")
_CE_THRESHOLD = Valued("ce_threshold_us", "ce_threshold", TIME_US)
_CODEL = (Valued("target_us", "target", TIME_US), Valued("interval_us", "interval", TIME_US))
_PIE = (
    Valued("target_us", "target", TIME_US),
    Valued("tupdate_us", "tupdate", TIME_US),
    Valued("alpha", "alpha", NUMBER),
    Valued("beta", "beta", NUMBER),
)
_PIE_SWITCHES = (
    _ECN,
    Switch("bytemode", "bytemode", "nobytemode"),
    Switch("dq_rate_estimator", "dq_rate_estimator", "no_dq_rate_estimator"),
)

_DRAWN_LIMIT = Drawn("limit", "packets the queue holds")
_DRAWN_TARGET = Drawn("target", "standing delay that is accepted", "5ms")
_DRAWN_INTERVAL = Drawn("interval", "time over which the delay must fall below target", "100ms")
_DRAWN_THRESHOLD = Drawn("ce_threshold", "delay from where every packet is marked")
DRAWN_ECN = Drawn("ecn", "mark instead of dropping, where both ends agreed to ECN")

SFQ = Kind(
    "sfq",
    (
        _LIMIT,
        _QUANTUM,
        Valued("divisor", "divisor", NUMBER),
        _FLOWS,
        Valued("depth", "depth", NUMBER),
        Valued("perturb_s", "perturb", number(2**31)),
        Switch("headdrop", "headdrop"),
    ),
    needs=("limit",),
    drawn=(
        Drawn("perturb", "seconds between changes of the hash", "10"),
        Drawn("quantum", "bytes a flow sends in its turn"),
        _DRAWN_LIMIT,
        Drawn("depth", "packets of one flow"),
        Drawn("divisor", "buckets of the hash, a power of two"),
        Drawn("flows", "flows that are told apart"),
    ),
    module="sch_sfq",
)

CODEL = Kind(
    "codel",
    (_LIMIT, *_CODEL, _ECN, _CE_THRESHOLD),
    needs=("limit",),
    drawn=(_DRAWN_LIMIT, _DRAWN_TARGET, _DRAWN_INTERVAL, _DRAWN_THRESHOLD, DRAWN_ECN),
    module="sch_codel",
)

FQ_CODEL = Kind(
    "fq_codel",
    (
        _LIMIT,
        _FLOWS,
        _QUANTUM,
        *_CODEL,
        _MEMORY,
        Valued("drop_batch", "drop_batch", NUMBER),
        _ECN,
        _CE_THRESHOLD,
    ),
    needs=("limit",),
    drawn=(
        _DRAWN_LIMIT,
        Drawn("flows", "buckets flows are spread over", "1024"),
        _DRAWN_TARGET,
        _DRAWN_INTERVAL,
        Drawn("quantum", "bytes a flow sends in its turn", "1514"),
        _DRAWN_THRESHOLD,
        Drawn("memory_limit", "most bytes of memory"),
        DRAWN_ECN,
        Drawn("noecn", "never mark"),
    ),
    module="sch_fq_codel",
)

PIE = Kind(
    "pie",
    (_LIMIT, *_PIE, *_PIE_SWITCHES),
    needs=("limit",),
    drawn=(
        _DRAWN_LIMIT,
        Drawn("target", "delay aimed at", "15ms"),
        Drawn("tupdate", "time between updates of the probability", "15ms"),
        Drawn("alpha", "weight of the distance from target, 0 to 32", "2"),
        Drawn("beta", "weight of the trend, 0 to 32", "20"),
        DRAWN_ECN,
        Drawn("bytemode", "count by packet size"),
    ),
    module="sch_pie",
)

FQ_PIE = Kind(
    "fq_pie",
    (_LIMIT, _FLOWS, *_PIE, _QUANTUM, _MEMORY, Valued("ecn_prob", "ecn_prob", NUMBER), *_PIE_SWITCHES),
    needs=("limit",),
    drawn=(
        _DRAWN_LIMIT,
        Drawn("flows", "buckets flows are spread over", "1024"),
        Drawn("target", "delay aimed at", "15ms"),
        Drawn("tupdate", "time between updates of the probability", "15ms"),
        Drawn("alpha", "weight of the distance from target, 0 to 32", "2"),
        Drawn("beta", "weight of the trend, 0 to 32", "20"),
        Drawn("quantum", "bytes a flow sends in its turn"),
        Drawn("memory_limit", "most bytes of memory"),
        DRAWN_ECN,
    ),
    module="sch_fq_pie",
)

FQ = Kind(
    "fq",
    (
        _LIMIT,
        Valued("flow_limit", "flow_limit", PACKETS),
        Valued("buckets", "buckets", NUMBER),
        Valued("orphan_mask", "orphan_mask", NUMBER),
        _QUANTUM,
        Valued("initial_quantum", "initial_quantum", SIZE),
        Valued("maxrate_bit", "maxrate", RATE),
        Valued("low_rate_threshold_bit", "low_rate_threshold", RATE),
        Valued("refill_delay_us", "refill_delay", TIME_US),
        Valued("timer_slack_ns", "timer_slack", SLACK_NS),
        Valued("horizon_us", "horizon", TIME_US),
        Switch("horizon_drop", "horizon_drop", "horizon_cap"),
        Switch("pacing", "pacing", "nopacing"),
        _CE_THRESHOLD,
    ),
    needs=("limit",),
    drawn=(
        _DRAWN_LIMIT,
        Drawn("flow_limit", "packets of one flow", "100p"),
        Drawn("quantum", "bytes a flow sends in its turn"),
        Drawn("initial_quantum", "bytes a new flow may send at first"),
        Drawn("maxrate", "most that one flow may send"),
        Drawn("buckets", "size of the hash, a power of two"),
        _DRAWN_THRESHOLD,
        Drawn("nopacing", "do not pace"),
    ),
    module="sch_fq",
    flow_rate="maxrate_bit",
    told=("maxrate_bit", "limit"),
)


def fq_defaults(mtu: int) -> dict[str, int | bool]:
    """The options that fq has where nothing is said; mtu: bytes, of the interface (net/sched/sch_fq.c, fq_init)."""
    return {
        "limit": 10_000,
        "flow_limit": 100,
        "buckets": 1024,
        "orphan_mask": 1023,
        "quantum": 2 * (mtu + 14),
        "initial_quantum": 10 * (mtu + 14),
        "low_rate_threshold_bit": 550_000,
        "refill_delay_us": 40_000,
        "timer_slack_ns": 10_000,
        "horizon_us": 10_000_000,
        "horizon_drop": True,
        "pacing": True,
    }


PRIO = Kind(
    "prio",
    (Valued("bands", "bands", number(16)), Several("priomap", "priomap", number(15), 16)),
    module="sch_prio",
    counts="interface",
)

PFIFO = Kind("pfifo", (_LIMIT,), needs=("limit",), drawn=(Drawn("limit", "packets the queue holds", "1000p", True),))
PFIFO_HEAD_DROP = Kind("pfifo_head_drop", (_LIMIT,), needs=("limit",))
BFIFO = Kind(
    "bfifo",
    (Valued("limit", "limit", SIZE_32),),
    needs=("limit",),
    drawn=(Drawn("limit", "bytes the queue holds", required=True),),
    counts="bytes",
)
PFIFO_FAST = Kind("pfifo_fast", counts="interface")
NOQUEUE = Kind("noqueue", counts="")
MQ = Kind("mq", counts="")
INGRESS = Kind("ingress", module="sch_ingress", counts="")
CLSACT = Kind("clsact", module="sch_ingress", counts="")
