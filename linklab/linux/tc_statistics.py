# SPDX-License-Identifier: BSD-3-Clause
"""What queueing disciplines and classes count beside bytes, packets and drops: drops by cause, marks, their own state.

The structures of linux/pkt_sched.h (struct tc_NAME_xstats) → dicts with the field names of `tc -s -j qdisc`, whose
values they have too, in the kernel's own units where tc rounds. Called by the agent's samplers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from linklab.linux import netlink
from linklab.linux.tc_attributes import TCA_HTB_INIT

UINT64_MAX = 2**64 - 1


def _named(names: tuple[str, ...], form: str) -> Callable[[bytes], dict[str, Any]]:
    """A reader of a structure whose members are these."""
    return lambda data: dict(zip(names, struct.unpack_from(form, data), strict=True))


def _codel(data: bytes) -> dict[str, Any]:
    names = (
        "maxpacket",
        "count",
        "lastcount",
        "ldelay",
        "drop_next",
        "drop_overlimit",
        "ecn_mark",
        "dropping",
        "ce_mark",
    )
    values = dict(zip(names, struct.unpack_from("=4Ii4I", data), strict=True))
    return {**values, "dropping": bool(values["dropping"])}


def _fq_codel(data: bytes) -> dict[str, Any]:
    kind, *values = struct.unpack_from("=10I", data.ljust(40, b"\0"))
    names = ("maxpacket", "drop_overlimit", "ecn_mark", "new_flow_count", "new_flows_len", "old_flows_len", "ce_mark")
    return dict(zip((*names, "memory_usage", "drop_overmemory"), values, strict=True)) if kind == 0 else {}


def _pie(data: bytes) -> dict[str, Any]:
    names = (
        "prob",
        "delay",
        "avg_dq_rate",
        "dq_rate_estimating",
        "pkts_in",
        "dropped",
        "overlimit",
        "maxq",
        "ecn_mark",
    )
    values = dict(zip(names, struct.unpack_from("=Q8I", data), strict=True))
    return {**values, "prob": values["prob"] / UINT64_MAX}


def _fq(data: bytes) -> dict[str, Any]:
    names = ("gc", "highprio", "retrans", "throttled", "flows_plimit", "pkts_too_long", "alloc_errors")
    values = dict(zip(names, struct.unpack_from("=7Q", data), strict=True))
    flows, inactive, throttled = struct.unpack_from("=3I", data, 64)
    return {**values, "flows": flows, "inactive": inactive, "throttled_flows": throttled}


CAKE = {
    2: ("capacity_estimate", "=Q"),
    3: ("memory_limit", "=I"),
    4: ("memory_used", "=I"),
    5: ("avg_hdr_offset", "=I"),
    6: ("min_network_size", "=I"),
    7: ("max_network_size", "=I"),
    8: ("min_adj_size", "=I"),
    9: ("max_adj_size", "=I"),
}
"""TCA_CAKE_STATS_*: name and form."""
TCA_CAKE_STATS_TIN_STATS = 10
CAKE_TIN = {
    2: ("sent_packets", "=I"),
    3: ("sent_bytes", "=Q"),
    4: ("drops", "=I"),
    6: ("ack_drops", "=I"),
    8: ("ecn_mark", "=I"),
    10: ("backlog_packets", "=I"),
    11: ("backlog_bytes", "=I"),
    12: ("threshold_rate", "=Q"),
    13: ("target_us", "=I"),
    14: ("interval_us", "=I"),
    15: ("way_indirect_hits", "=I"),
    16: ("way_misses", "=I"),
    17: ("way_collisions", "=I"),
    18: ("peak_delay_us", "=I"),
    19: ("avg_delay_us", "=I"),
    20: ("base_delay_us", "=I"),
    21: ("sparse_flows", "=I"),
    22: ("bulk_flows", "=I"),
    23: ("unresponsive_flows", "=I"),
    24: ("max_pkt_len", "=I"),
    25: ("flow_quantum", "=I"),
}
"""TCA_CAKE_TIN_STATS_*: name and form."""


def _cake(data: bytes) -> dict[str, Any]:
    own = netlink.attributes(data)
    tins = netlink.attributes(own.get(TCA_CAKE_STATS_TIN_STATS, b""))
    return {**_listed(own, CAKE), "tins": [_listed(netlink.attributes(tins[n]), CAKE_TIN) for n in sorted(tins)]}


def _listed(attributes: dict[int, bytes], table: dict[int, tuple[str, str]]) -> dict[str, int]:
    found = {}
    for number, (name, form) in table.items():
        if number in attributes:
            (found[name],) = struct.unpack_from(form, attributes[number])
    return found


STATISTICS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "red": _named(("early", "pdrop", "other", "marked"), "=4I"),
    "choke": _named(("early", "pdrop", "other", "marked", "matched"), "=5I"),
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _named(
        (
            *("pkts_in", "dropped", "overlimit", "overmemory", "ecn_mark"),
            *("new_flow_count", "new_flows_len", "old_flows_len", "memory_used"),
        ),
        "=9I",
    ),
    "fq": _fq,
    "hhf": _named(("drop_overlimit", "hh_overlimit", "tot_hh", "cur_hh"), "=4I"),
    "cake": _cake,
}
"""By kind of discipline."""
SFQ_RED_AT = 48
"""Where the counters stand in struct tc_sfq_qopt_v1, which is longer than tc_sfq_qopt where SFQ does RED."""
_SFQ_RED = ("prob_drop", "forced_drop", "prob_mark", "forced_mark", "prob_mark_head", "forced_mark_head")


def _sfq(options: bytes) -> dict[str, Any]:
    return dict(zip(_SFQ_RED, struct.unpack_from("=6I", options, SFQ_RED_AT), strict=True)) if len(options) > 48 else {}


def _htb(options: bytes) -> dict[str, Any]:
    glob = netlink.attributes(options).get(TCA_HTB_INIT)
    return {} if glob is None else {"direct_packets": struct.unpack_from("=5I", glob)[4]}  # struct tc_htb_glob


IN_OPTIONS: dict[str, Callable[[bytes], dict[str, Any]]] = {"sfq": _sfq, "htb": _htb}
"""By kind of discipline, what it counts among its options: SFQ's drops and marks by RED, HTB's unclassified packets."""
CLASS_STATISTICS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "htb": _named(("lended", "borrowed", "giants", "tokens", "ctokens"), "=3I2i"),
}
"""By kind of class."""
