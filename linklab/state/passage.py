# SPDX-License-Identifier: BSD-3-Clause
"""What the disciplines of an interface do to packets that leave it: rate, delay, loss, pacing, and what queues hold.

Pure; made into facts by `linklab.state.facts`.  Which disciplines packets enter is in `linklab.state.disciplines`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from linklab.state.disciplines import astray, entered, inside, leading, plain_leaves, root, sorting
from linklab.state.node import Interface
from linklab.tc import FRAME_BYTES, LEAF_LIMIT, Options, Qdisc, loss_model, mean_loss, most_burst

_OVERHEADS = ("rate_overhead", "cell_overhead")
_HTB_DEPTH = 8
"""Classes within each other (include/uapi/linux/pkt_sched.h, TC_HTB_MAXDEPTH)."""


def passage(interface: Interface, qdiscs: list[Qdisc]) -> dict[str, float | str]:
    """What an interface does to packets, by the names of facts: rate, delay, loss, and pacing, else what one may meet.

    Where filters lead packets apart, they have the least delay, the least loss, the fastest pacing, and the rates of
    all ways together: otherwise a discipline that no packet enters would stand for one that all have to pass.
    """
    netems = [qdisc.options for qdisc in entered(interface) if qdisc.kind == "netem"]
    least = _least(interface, qdiscs)
    found: dict[str, float | str] = {"delay": least.delay_ns / 1e9, "loss": round(1 - least.spared, 12)}
    for name, rate in (("rate", least.rate), ("pacing", least.pacing)):
        found[name] = float(rate) if math.isfinite(rate) else 0
    found["burst"] = float(next(_bursts(interface), 0))
    found["jitter"] = sum(netem.get("jitter_ns", 0) for netem in netems) / 1e9
    for name in ("duplicate", "corrupt", "reorder"):
        found[name] = round(1 - math.prod(1 - netem.get(name, 0) for netem in netems), 12)
    found["loss_model"] = "; ".join(filter(None, map(loss_model, netems)))
    return {name: value for name, value in found.items() if value}


class _Passed(NamedTuple):
    """What a way, or all ways from a discipline inwards, do to packets at least.

    delay_ns: of each; spared: share that is not lost; pacing: of a flow, bit/s; rate: what passes at most, bit/s; both
    inf where nothing limits it.
    """

    delay_ns: int = 0
    spared: float = 1.0
    pacing: float = math.inf
    rate: float = math.inf


def _least(interface: Interface, qdiscs: list[Qdisc]) -> _Passed:
    """Of all ways from the root inwards: least delay and loss, fastest pacing, and their rates together.

    A class or band that nothing stands in is a way, and so is an htb itself for packets that belong to none of its
    classes; where it has filters, these are taken to lead all packets of the tests into classes, as far as rates go.
    """
    below, leaves, past = inside(interface), plain_leaves(interface), astray(interface)
    leads, ends, led = leading(interface), _ends(interface), sorting(interface)
    passed: dict[str, _Passed] = {}
    for qdisc in reversed(qdiscs):
        in_it = [each for each in below.get(qdisc.handle, ()) if each.handle in passed]
        only = leads(qdisc)
        ways = [passed[each.handle] for each in in_it if only in ("", each.parent)]
        if only:
            ways = ways[:1] or [_Passed()]
        elif len(ways) < max(1, qdisc.bands) or leaves.get(qdisc.handle) or qdisc.handle in past:
            ways.append(_Passed())
        delay_ns, spared = min(way.delay_ns for way in ways), max(way.spared for way in ways)
        pacing = min(max(way.pacing for way in ways), qdisc.flow_rate_bit or math.inf)
        if qdisc.kind == "netem":
            delay_ns, spared = delay_ns + qdisc.options.get("delay_ns", 0), spared * (1 - mean_loss(qdisc.options))
        rate = sum(way.rate for way in ways)
        if qdisc.classful and (qdisc.handle not in past or led.get(qdisc.handle)):
            inner = {each.parent: passed[each.handle].rate for each in in_it}
            mine = ends.get(qdisc.handle, {})
            rate = _of_classes({only: mine[only]} if only else mine, inner)
        passed[qdisc.handle] = _Passed(delay_ns, spared, pacing, min(rate, _own_rate(qdisc)))
    top = root(interface)
    return _Passed() if top is None else passed[top.handle]


def _own_rate(qdisc: Qdisc) -> float:
    """What it lets through at most by itself, bit/s; a netem that takes packets for smaller ones limits nothing."""
    options = qdisc.options
    smaller = qdisc.kind == "netem" and min(options.get(name, 0) for name in _OVERHEADS) < 0
    if smaller or not qdisc.rate_bit:
        return math.inf
    peak = options.get("peakrate_bit", math.inf)
    return min(_of_bucket(qdisc.rate_bit, options.get("burst", 0)), _of_bucket(peak, options.get("peak_burst", 0)))


def _of_bucket(rate_bit: float, size: int) -> float:
    """What a token bucket lets through at most; one that holds too many bytes limits nothing while a test lasts."""
    return math.inf if size > most_burst(rate_bit) else rate_bit


class _End(NamedTuple):
    """A class of htb that holds packets, rates in bit/s.

    most: what it sends at most; own: what it sends without borrowing; top: its topmost class; tops: what that has.
    """

    most: float
    own: float
    top: str
    tops: float


def _ends(interface: Interface) -> dict[str, dict[str, _End]]:
    """Handle of an htb → its classes that hold packets.

    A class sends at its own rate without asking, and up to its ceiling what its parent has to give; the topmost has
    nobody to borrow from (htb_class_mode and htb_activate_prios in net/sched/sch_htb.c).
    """
    classes = {each.classid: each for each in interface.classes}
    parents = {each.parent for each in interface.classes}
    found: dict[str, dict[str, _End]] = {}
    for each in interface.classes:
        if each.classid in parents:
            continue
        chain = [each]
        while chain[-1].parent in classes and len(chain) <= _HTB_DEPTH:  # a hostile state may go in a circle
            chain.append(classes[chain[-1].parent])
        most = own = tops = 0.0
        for one in reversed(chain):
            rate = _of_bucket(one.options.get("rate_bit", 0), one.options.get("burst", 0))
            ceiling = _of_bucket(one.options.get("ceil_bit", 0), one.options.get("cburst", 0))
            own = min(rate, ceiling)
            most = min(ceiling, max(rate, most))
            if one is chain[-1]:
                most = tops = own
        handle = f"{each.classid.partition(':')[0]}:"
        found.setdefault(handle, {})[each.classid] = _End(most, own, chain[-1].classid, tops)
    return found


def _of_classes(ends: Mapping[str, _End], inner: Mapping[str, float]) -> float:
    """What classes of htb send together, each at most what stands in it lets through, bit/s."""
    total, owns, tops = 0.0, dict[str, float](), dict[str, float]()
    for classid, end in ends.items():
        within = inner.get(classid, math.inf)
        total += min(end.most, within)
        owns[end.top] = owns.get(end.top, 0.0) + min(end.own, within)
        tops[end.top] = end.tops
    return min(total, sum(max(own, tops[top]) for top, own in owns.items()))


def queue_bytes(interface: Interface) -> int | None:
    """Bytes that fit into the innermost queue, or into the smallest of several; None if there is no queue.

    A netem that has the lowest rate itself is where packets wait, whatever is in it.
    """
    tops_of, held = _tops(interface), list[int | None]()
    ways, leads = entered(interface), leading(interface)
    shaping = [(rate, qdisc) for qdisc in ways if (rate := _rate(qdisc, tops_of))]
    if shaping and (slowest := min(shaping, key=lambda each: each[0])[1]).kind == "netem":
        return slowest.capacity_bytes(interface.txqlen)
    filled, leaves = {f"{each.parent.partition(':')[0]}:" for each in ways}, plain_leaves(interface)
    for qdisc in ways:
        if qdisc.classful:
            only = leads(qdisc)
            ends = [each for each in leaves.get(qdisc.handle, ()) if only in ("", each.classid)]
            held += [each.options.get(LEAF_LIMIT, interface.txqlen) * FRAME_BYTES for each in ends]
        elif qdisc.handle not in filled:
            held.append(qdisc.capacity_bytes(interface.txqlen))
    known = [size for size in held if size is not None]
    return min(known) if known else None


def _rate(qdisc: Qdisc, tops_of: Mapping[str, Sequence[Options]]) -> int | None:
    """What it limits the rate to by itself, an htb by its topmost classes, bit/s; None where it does not."""
    if qdisc.classful:
        return sum(top.get("ceil_bit", 0) for top in tops_of.get(qdisc.handle, ())) or None
    return qdisc.rate_bit


def _bursts(interface: Interface) -> Iterator[int]:
    """Of what limits the rate, from the root inwards."""
    tops_of = _tops(interface)
    for qdisc in entered(interface):
        for options in (*tops_of.get(qdisc.handle, ()), qdisc.options):
            if "burst" in options:
                yield options["burst"]


def _tops(interface: Interface) -> dict[str, list[Options]]:
    """Handle of an htb, or a class → the options of the classes in it."""
    found: dict[str, list[Options]] = {}
    for each in interface.classes:
        found.setdefault(each.parent, []).append(each.options)
    return found
