# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines, classes and filters as a state holds them: which options each has, and how tc(8) says them.

Read by `linklab.exercise.state` (is it what the agent would say?) and `linklab.exercise.restore` (words for tc).
Names and units are those of `linklab.agent.queue_options`.  Words are made of checked numbers and of words listed here
alone, never of a student's text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from linklab.errors import InputError, StateError
from linklab.exercise import red

Options: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True)
class Kind:
    """What a kind may have, what it must have, and its words after `tc … KIND`."""

    options: Mapping[str, Check]
    needs: tuple[str, ...]
    words: Callable[[Options], list[str]]


def _count(most: int = 2**64) -> Check:
    return lambda value: type(value) is int and 0 <= value <= most


def _signed(value: Any) -> bool:
    return type(value) is int and -(2**31) <= value < 2**31


def _share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


def _flag(value: Any) -> bool:
    return type(value) is bool


def _one_of(*words: str) -> Check:
    return lambda value: type(value) is str and value in words


def _list(check: Check, length: int) -> Check:
    return lambda value: type(value) is list and len(value) == length and all(check(each) for each in value)


def _like(pattern: str) -> Check:
    return lambda value: type(value) is str and bool(re.fullmatch(pattern, value, re.ASCII))


def _unread(value: Any) -> bool:
    return (
        type(value) is list
        and 0 < len(value) <= 64
        and all(type(each) is str and re.fullmatch(r"[a-z0-9_ ]{1,40}", each) for each in value)
    )


_NUMBER = _count()
_RATE = _count(2**48)
_CLASSID = _like(r"[0-9a-f]{1,4}:[0-9a-f]{0,4}")
_PREFIX = _like(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}")
_MATCH = _like(r"[0-9a-f]{8}/[0-9a-f]{8}@-?\d{1,5}")


def percent(share: float) -> str:
    """0.0001 → "0.01%"."""
    return f"{Decimal(repr(float(share))).scaleb(2):f}%"


# --- one word (or two) for each option, in order

_Say: TypeAlias = tuple[Check, Callable[[Any], str]]


def _say(word: str, unit: str = "", check: Check = _NUMBER) -> _Say:
    return check, lambda value: f"{word} {value}{unit}"


def _switch(on: str, off: str) -> _Say:
    return _flag, lambda value: on if value else off


def _itself(*words: str) -> _Say:
    return _one_of(*words), str


def _plain(says: Mapping[str, _Say], needs: str = "") -> Kind:
    """A kind whose options are words, each by itself."""
    return Kind(
        {name: check for name, (check, _) in says.items()},
        tuple(needs.split()),
        lambda options: [word for name, (_, say) in says.items() if name in options and (word := say(options[name]))],
    )


_CODEL = {"target_us": _say("target", "us"), "interval_us": _say("interval", "us")}
_CE = {"ecn": _switch("ecn", "noecn"), "ce_threshold_us": _say("ce_threshold", "us")}
_PIE = {
    "target_us": _say("target", "us"),
    "tupdate_us": _say("tupdate", "us"),
    "alpha": _say("alpha"),
    "beta": _say("beta"),
}
_LIMIT = {"limit": _say("limit", check=_count(2**32 - 1))}
_SHAPED = {"overhead": _say("overhead"), "mpu": _say("mpu")}


# --- those whose options hang together

_SHARES = ("loss", "duplicate", "reorder", "corrupt")
_NETEM = {
    "limit": _count(2**32 - 1),
    **dict.fromkeys(("delay_ns", "jitter_ns"), _count(2**62)),
    **dict.fromkeys((*_SHARES, *(f"{name}_correlation" for name in ("delay", *_SHARES))), _share),
    "gap": _count(2**31),
    "rate_bit": _RATE,
    "rate_overhead": _signed,
    "cell_size": _count(2**31),
    "cell_overhead": _signed,
    "ecn": _flag,
    "loss_state": _list(_share, 5),
    "loss_gemodel": _list(_share, 4),
    "slot": _list(_count(2**62), 4),
}


def _netem(options: Options) -> list[str]:
    words = [f"limit {options['limit']}"]
    if "delay_ns" in options or "jitter_ns" in options:
        words.append(f"delay {_us(options.get('delay_ns', 0))}")
        if "jitter_ns" in options:
            words.append(_us(options["jitter_ns"]))
            words += _correlation(options, "delay")
    if "loss_state" in options:
        words += ["loss state", *map(percent, options["loss_state"])]
    elif "loss_gemodel" in options:
        words += ["loss gemodel", *map(percent, options["loss_gemodel"])]
    modelled = "loss_state" in options or "loss_gemodel" in options
    for name in _SHARES[modelled:]:
        if options.get(name):
            words += [f"{name} {percent(options[name])}", *_correlation(options, name)]
    if options.get("gap"):
        if not options.get("delay_ns") or not options.get("reorder"):
            raise StateError("a netem that reorders without a delay is nothing tc can say")
        words.append(f"gap {options['gap']}")
    if "rate_bit" in options:
        rest = (options.get(name, 0) for name in ("rate_overhead", "cell_size", "cell_overhead"))
        words.append(f"rate {options['rate_bit']}bit {' '.join(map(str, rest))}")
    if "slot" in options:
        low, high, packets, size = options["slot"]
        words.append(f"slot {low}ns {high}ns packets {packets} bytes {size}")
    return words + (["ecn"] if options.get("ecn") else [])


def _us(time_ns: int) -> str:
    """In the smallest unit that every tc takes for a delay."""
    return f"{Decimal(time_ns).scaleb(-3):f}us" if time_ns % 1000 else f"{time_ns // 1000}us"


def _correlation(options: Options, name: str) -> list[str]:
    share = options.get(f"{name}_correlation")
    return [percent(share)] if share else []


def _red(options: Options) -> list[str]:
    return [*red.words(options), *(name for name in ("ecn", "harddrop", "adaptive", "nodrop") if options.get(name))]


def _u32(options: Options) -> list[str]:
    matches = (re.split("[/@]", match) for match in options["match"])
    words = [f"match u32 0x{value} 0x{mask} at {offset}" for value, mask, offset in matches]
    return [*words, f"flowid {options['classid']}"] if "classid" in options else words


KINDS: Mapping[str, Kind] = {
    "netem": Kind(_NETEM, ("limit",), _netem),
    "tbf": _plain(
        {
            "rate_bit": _say("rate", "bit", _RATE),
            "burst": _say("burst", check=_count(2**32 - 1)),
            **_LIMIT,
            "peakrate_bit": _say("peakrate", "bit", _RATE),
            "peak_burst": _say("mtu", check=_count(2**32 - 1)),
            **_SHAPED,
        },
        "rate_bit burst limit",
    ),
    "htb": _plain(
        {
            "default": (_count(2**16 - 1), lambda value: f"default {value:x}"),
            "r2q": _say("r2q"),
            "direct_qlen": _say("direct_qlen"),
        }
    ),
    "fq": _plain(
        {
            **_LIMIT,
            "flow_limit": _say("flow_limit"),
            "buckets": _say("buckets"),
            "orphan_mask": _say("orphan_mask"),
            "quantum": _say("quantum"),
            "initial_quantum": _say("initial_quantum"),
            "maxrate_bit": _say("maxrate", "bit", _RATE),
            "low_rate_threshold_bit": _say("low_rate_threshold", "bit", _RATE),
            "refill_delay_us": _say("refill_delay", "us"),
            "timer_slack_ns": _say("timer_slack", "ns"),
            "horizon_us": _say("horizon", "us"),
            "horizon_drop": _switch("horizon_drop", "horizon_cap"),
            "pacing": _switch("pacing", "nopacing"),
            "ce_threshold_us": _say("ce_threshold", "us"),
        },
        "limit",
    ),
    "codel": _plain({**_LIMIT, **_CODEL, **_CE}, "limit"),
    "fq_codel": _plain(
        {
            **_LIMIT,
            "flows": _say("flows"),
            "quantum": _say("quantum"),
            **_CODEL,
            "memory_limit": _say("memory_limit"),
            "drop_batch": _say("drop_batch"),
            **_CE,
        },
        "limit",
    ),
    "pie": _plain(
        {
            **_LIMIT,
            **_PIE,
            "ecn": _switch("ecn", "noecn"),
            "bytemode": _switch("bytemode", "nobytemode"),
            "dq_rate_estimator": _switch("dq_rate_estimator", "no_dq_rate_estimator"),
        },
        "limit",
    ),
    "fq_pie": _plain(
        {
            **_LIMIT,
            "flows": _say("flows"),
            **_PIE,
            "quantum": _say("quantum"),
            "memory_limit": _say("memory_limit"),
            "ecn_prob": _say("ecn_prob"),
            "ecn": _switch("ecn", "noecn"),
            "bytemode": _switch("bytemode", "nobytemode"),
            "dq_rate_estimator": _switch("dq_rate_estimator", "no_dq_rate_estimator"),
        },
        "limit",
    ),
    "red": Kind(
        {
            **dict.fromkeys(("limit", "min", "max"), _count(2**32 - 1)),
            **dict.fromkeys(("wlog", "plog", "cell_log"), _count(31)),
            "probability": _share,
            **dict.fromkeys(("ecn", "harddrop", "adaptive", "nodrop"), _flag),
        },
        ("limit", "min", "max", "wlog", "plog", "cell_log"),
        _red,
    ),
    "sfq": _plain(
        {
            **_LIMIT,
            "quantum": _say("quantum"),
            "divisor": _say("divisor"),
            "flows": _say("flows"),
            "depth": _say("depth"),
            "perturb_s": _say("perturb", check=_count(2**31)),
            "headdrop": (_flag, lambda value: "headdrop" if value else ""),
        },
        "limit",
    ),
    "prio": _plain(
        {
            "bands": _say("bands", check=_count(16)),
            "priomap": (_list(_count(15), 16), lambda bands: f"priomap {' '.join(map(str, bands))}"),
        }
    ),
    "cake": _plain(
        {
            "bandwidth_bit": _say("bandwidth", "bit", _RATE),
            "diffserv": _itself("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"),
            "flow": _itself(
                "flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"
            ),
            "rtt_us": _say("rtt", "us"),
            "ack_filter": _itself("no-ack-filter", "ack-filter", "ack-filter-aggressive"),
            "nat": _switch("nat", "nonat"),
            "wash": _switch("wash", "nowash"),
            "ingress": _switch("ingress", "egress"),
            "autorate_ingress": (_flag, lambda value: "autorate-ingress" if value else ""),
            "split_gso": _switch("split-gso", "no-split-gso"),
            "overhead": _say("overhead", check=_signed),
            "mpu": _say("mpu"),
            "cell": _itself("noatm", "atm", "ptm"),
            "memlimit": _say("memlimit"),
            "fwmark": _say("fwmark"),
        }
    ),
    **dict.fromkeys(("pfifo", "bfifo", "pfifo_head_drop"), _plain(_LIMIT, "limit")),
    **dict.fromkeys(("pfifo_fast", "noqueue", "mq", "ingress", "clsact"), _plain({})),
}
CLASS_KINDS: Mapping[str, Kind] = {
    "htb": _plain(
        {
            "rate_bit": _say("rate", "bit", _RATE),
            "ceil_bit": _say("ceil", "bit", _RATE),
            "burst": _say("burst"),
            "cburst": _say("cburst"),
            "prio": _say("prio"),
            "quantum": _say("quantum"),
            **_SHAPED,
        },
        "rate_bit ceil_bit",
    )
}
_FLOWID = {"classid": _say("classid", check=_CLASSID)}
FILTER_KINDS: Mapping[str, Kind] = {
    "u32": Kind(
        {
            "classid": _CLASSID,
            "match": lambda value: (
                type(value) is list and 0 < len(value) <= 128 and all(_MATCH(each) for each in value)
            ),
        },
        ("match",),
        _u32,
    ),
    "matchall": _plain(_FLOWID),
    "fw": _plain({"mark": (_NUMBER, lambda value: ""), "mask": (_NUMBER, lambda value: ""), **_FLOWID}, "mark"),
    "flower": _plain(
        {
            "ip_proto": (_like(r"icmp|tcp|udp|sctp|\d{1,3}"), lambda value: f"ip_proto {value}"),
            "src_ip": _say("src_ip", check=_PREFIX),
            "dst_ip": _say("dst_ip", check=_PREFIX),
            "src_port": _say("src_port", check=_count(65535)),
            "dst_port": _say("dst_port", check=_count(65535)),
            **_FLOWID,
        }
    ),
}


def check_options(kinds: Mapping[str, Kind], kind: str, options: Options) -> None:
    """InputError unless the options are such as the agent says of this kind; of one not known here it says "unread"."""
    if kind not in kinds:
        if set(options) - {"unread"} or not _unread(options.get("unread")):
            raise InputError(f"nothing is known of {kind}, so it can have no options")
        return
    known = kinds[kind]
    for name, value in options.items():
        check = _unread if name == "unread" else known.options.get(name)
        if check is None:
            raise InputError(f"may have {', '.join(known.options)}, found {name[:40]!r}")
        if not check(value):
            raise InputError(f'"{name}" cannot be {str(value)[:60]!r}')
    for name in known.needs:
        if name not in options and "unread" not in options:
            raise InputError(f'"{name}" is missing')
