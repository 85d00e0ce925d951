# SPDX-License-Identifier: BSD-3-Clause
"""The netem backend: an `Impairment` → disciplines and classes at one interface, and the lines that set them.

Order, from the root inwards: netem (1:), then the shaper (2:), then the discipline (3:).  Another backend has the same
three functions: `objects`, `lines` and `change_lines`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

from linklab.tc.impairment import Impairment, in_flight_pkts
from linklab.tc.kind import FRAME_BYTES
from linklab.tc.kinds import QDISCS
from linklab.tc.model import Class, Qdisc
from linklab.tc.netem import LIMIT_PKTS

HZ_OF_RULE = 250
"""tbf's burst must hold what passes in a tick; the curriculum counts with 250 ticks a second."""
NETEM, SHAPER, DISCIPLINE = "1:", "2:", "3:"
HTB_MINOR = 0x10
"""The one class of htb, which takes everything."""
UNCHANGEABLE = ("htb", "sfq")
"""`tc qdisc change` refuses these; they are set anew."""
Object: TypeAlias = Qdisc | Class


def default_burst_bytes(rate_mbit: float) -> int:
    """tbf's burst: what passes in 1/250 s, and at least two frames."""
    return max(math.ceil(rate_mbit * 1e6 / 8 / HZ_OF_RULE), 2 * FRAME_BYTES)


def objects(impairment: Impairment) -> list[Object]:
    """What stands at the interface, from the root inwards; [] where nothing is asked for."""
    delay = [Qdisc("netem", NETEM, "root", _netem(impairment))] if impairment.has_netem else []
    parent = NETEM if delay else "root"
    if impairment.discipline == "htb":
        return [*delay, *_htb(impairment, parent)]
    return [*delay, *_queues(impairment, parent)]


def _htb(impairment: Impairment, parent: str) -> Iterator[Object]:
    """htb shapes in a class; a queue that is asked for stands in that class."""
    classid = f"{SHAPER}{HTB_MINOR:x}"
    yield Qdisc("htb", SHAPER, parent, {"default": HTB_MINOR})
    yield Class("htb", classid, SHAPER, {**_bucket(impairment), **_options(impairment)})
    if impairment.has_queue:
        yield _fifo(impairment, DISCIPLINE, classid)


def _queues(impairment: Impairment, parent: str) -> Iterator[Qdisc]:
    """The shaper, or a queue alone, and the discipline; cake is both shaper and discipline."""
    kind = impairment.discipline
    if kind == "cake":
        rate = {} if impairment.rate_mbit is None else {"bandwidth_bit": _rate_bit(impairment)}
        yield Qdisc("cake", SHAPER, parent, {**rate, **_options(impairment)})
        return
    if impairment.rate_mbit is not None:
        limit = impairment.queue_bytes
        if limit is None:
            limit = (impairment.queue_pkts or LIMIT_PKTS) * FRAME_BYTES
        more = _options(impairment) if kind == "tbf" else {}
        yield Qdisc("tbf", SHAPER, parent, {**_bucket(impairment), "limit": limit, **more})
        parent = SHAPER
    elif impairment.has_queue and not kind:
        yield _fifo(impairment, SHAPER, parent)
    if kind not in ("", "tbf"):
        yield Qdisc(kind, DISCIPLINE, parent, _options(impairment))


def _netem(impairment: Impairment) -> dict[str, Any]:
    shares = {name: getattr(impairment, f"{name}_frac") for name in ("loss", "duplicate", "corrupt", "reorder")}
    options = {
        "limit": _held(impairment),
        "delay_ns": round(impairment.delay_s * 1e9),
        "jitter_ns": round(impairment.jitter_s * 1e9),
        "delay_correlation": impairment.correlation_frac,
        "distribution": impairment.distribution,
        **shares,
    }
    return {name: value for name, value in options.items() if value or name == "limit"}


def _held(impairment: Impairment) -> int:
    """Packets for netem: twice what is in flight, so that the delay line itself never drops."""
    if impairment.held_pkts is not None:
        return impairment.held_pkts
    if impairment.rate_mbit is None:
        return 100_000
    return max(LIMIT_PKTS, 2 * in_flight_pkts(impairment.rate_mbit, impairment.delay_s + impairment.jitter_s))


def _rate_bit(impairment: Impairment) -> int:
    assert impairment.rate_mbit is not None
    return round(impairment.rate_mbit * 1e6)


def _bucket(impairment: Impairment) -> dict[str, int]:
    """Rate and burst of a shaper."""
    assert impairment.rate_mbit is not None
    burst = impairment.burst_bytes or default_burst_bytes(impairment.rate_mbit)
    return {"rate_bit": _rate_bit(impairment), "burst": burst}


def _fifo(impairment: Impairment, handle: str, parent: str) -> Qdisc:
    if impairment.queue_pkts is not None:
        return Qdisc("pfifo", handle, parent, {"limit": impairment.queue_pkts})
    return Qdisc("bfifo", handle, parent, {"limit": impairment.queue_bytes})


def _options(impairment: Impairment) -> dict[str, Any]:
    return QDISCS[impairment.discipline].from_drawing(impairment.options)


def lines(interface: str, impairment: Impairment, verb: str = "add") -> list[str]:
    """The lines that set an interface without any discipline; [] where nothing is asked for.

    verb: "add", or "change" to alter values while packets wait (only where the same kinds stand there).
    """
    return [each.line(interface, verb, spelled=True) for each in objects(impairment)]


def change_lines(interface: str, before: Impairment | None, after: Impairment) -> list[str]:
    """The lines that lead from one to the other on a running interface.

    before: None where it is not known what is there.
    """
    kinds = _kinds(after)
    if before is not None and not before.is_empty and _kinds(before) == kinds and not {*kinds} & {*UNCHANGEABLE}:
        return lines(interface, after, "change")
    remove = [] if before is not None and before.is_empty else [f"tc qdisc del dev {interface} root"]
    return remove + lines(interface, after)


def _kinds(impairment: Impairment) -> list[str]:
    return [each.kind for each in objects(impairment) if isinstance(each, Qdisc)]
