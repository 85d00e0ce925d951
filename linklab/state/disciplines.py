# SPDX-License-Identifier: BSD-3-Clause
"""Where packets go in the disciplines of an interface: from the root inwards, into which classes and bands.

Pure; what happens to them there is in `linklab.state.passage`.  Packets of the tests have a type of service of 0, so a
prio without filters has one band for all of them, and an htb its default class.
"""

from __future__ import annotations

from collections.abc import Callable

from linklab.state.node import Interface
from linklab.tc import DEFAULT_HANDLE, Class, Filter, Qdisc

_QUEUES_OF_FLOWS = ("fq", "fq_codel", "fq_pie", "sfq", "cake")


def root(interface: Interface) -> Qdisc | None:
    """The discipline that packets enter first; None where the kernel has not even a default one."""
    return next((qdisc for qdisc in interface.qdiscs if qdisc.parent == "root"), None)


def inside(interface: Interface) -> dict[str, list[Qdisc]]:
    """Handle → the disciplines inside that one, or inside its classes."""
    found: dict[str, list[Qdisc]] = {}
    for qdisc in interface.qdiscs:
        found.setdefault(f"{qdisc.parent.partition(':')[0]}:", []).append(qdisc)
    found.pop(DEFAULT_HANDLE, None)
    return found


def inwards(interface: Interface) -> list[Qdisc]:
    """The disciplines from the root inwards."""
    return _walked(interface, lambda _: "")


def entered(interface: Interface) -> list[Qdisc]:
    """Those from the root inwards that packets of the tests may enter, whose type of service is 0.

    Where filters lead packets apart, and where some pass an htb at once, that is all of them.
    """
    return _walked(interface, leading(interface))


def leading(interface: Interface) -> Callable[[Qdisc], str]:
    """Discipline → the one of its places that packets of the tests enter, "" where that may be any or none."""
    apart, led = sorting(interface).keys() | astray(interface), _led(interface)

    def leads(qdisc: Qdisc) -> str:
        if qdisc.handle in led:
            return led[qdisc.handle]
        return "" if qdisc.handle in apart else _only_place(qdisc)

    return leads


def _walked(interface: Interface, only_place: Callable[[Qdisc], str]) -> list[Qdisc]:
    """The disciplines from the root inwards; in linear time, since a hostile state may have tens of thousands.

    only_place: of a discipline, the one of its places that is looked into, "" for all.
    """
    below, found = inside(interface), dict[int, Qdisc]()
    waiting = [qdisc for qdisc in [root(interface)] if qdisc is not None]
    while waiting:
        qdisc = waiting.pop()
        if id(qdisc) not in found:
            found[id(qdisc)] = qdisc
            only = only_place(qdisc)
            waiting += reversed([each for each in below.pop(qdisc.handle, []) if only in ("", each.parent)])
    return [*found.values()]


def trunk(interface: Interface) -> list[Qdisc]:
    """The disciplines that every packet enters: from the root to where classes or bands may lead them apart."""
    below, found = inside(interface), list[Qdisc]()
    ways = [qdisc for qdisc in [root(interface)] if qdisc is not None]
    while len(ways) == 1:
        found += ways
        ways = [] if ways[0].classful or ways[0].bands else below.pop(ways[0].handle, [])
    return found


def _only_place(qdisc: Qdisc) -> str:
    """Where all packets go that no filter leads elsewhere: a band of prio, the default class of htb, else ""."""
    if qdisc.classful:
        return f"{qdisc.handle}{qdisc.options.get('default', 0):x}"
    return f"{qdisc.handle}{qdisc.options['priomap'][0] + 1:x}" if qdisc.bands and "priomap" in qdisc.options else ""


def sorting(interface: Interface) -> dict[str, list[Filter]]:
    """Handle → the filters of a discipline, and of its classes, which may lead packets apart."""
    found: dict[str, list[Filter]] = {}
    for each in interface.filters:
        found.setdefault(f"{each.parent.partition(':')[0]}:", []).append(each)
    return found


def _led(interface: Interface) -> dict[str, str]:
    """Handle → the place to which the only filter of that discipline leads all packets of the tests."""
    parents = {each.parent for each in interface.classes}
    places = {each.classid for each in interface.classes if each.classid not in parents}
    places |= {f"{qdisc.handle}{band + 1:x}" for qdisc in interface.qdiscs for band in range(qdisc.bands)}
    found = {}
    for handle, filters in sorting(interface).items():
        (one, *more), place = filters, filters[0].options.get("classid", "")
        if not more and one.parent == handle and one.takes_all_ip and place in places and place.startswith(handle):
            found[handle] = place
    return found


def astray(interface: Interface) -> set[str]:
    """Handles of the htbs of which some packets may enter no class, so that they pass at once (tc-htb(8), default).

    Either it has no default class, or a filter leads to a class that is not there.
    """
    known = {each.classid for each in interface.classes}
    ends = known - {each.parent for each in interface.classes}
    htbs = {qdisc.handle: qdisc.options.get("default", 0) for qdisc in interface.qdiscs if qdisc.classful}
    found = {handle for handle, default in htbs.items() if f"{handle}{default:x}" not in ends}
    for handle, filters in sorting(interface).items():
        if handle in htbs and any(each.options.get("classid", "") not in known for each in filters):
            found.add(handle)
    return found - _led(interface).keys()


def plain_leaves(interface: Interface) -> dict[str, list[Class]]:
    """Handle of an htb → its classes with nothing in them: each has a queue of the kernel's, of LEAF_LIMIT packets."""
    parents = {each.parent for each in interface.classes} | {each.parent for each in interface.qdiscs}
    found: dict[str, list[Class]] = {}
    for each in interface.classes:
        if each.classid not in parents:
            found.setdefault(f"{each.classid.partition(':')[0]}:", []).append(each)
    return found


def queues(interface: Interface) -> str:
    """Whether packets that leave wait in "one" queue, or in "several", of flows, classes, bands, or pairs of hosts."""
    several = bool(interface.unread) or not all(link.is_of_all for link in interface.links)
    for qdisc in inwards(interface):
        own_of_flows = qdisc.kind in _QUEUES_OF_FLOWS and qdisc.options.get("flows") != 1
        several = several or own_of_flows or qdisc.bands > 1
    parents = {each.parent for each in interface.classes}
    ends = [each for each in interface.classes if each.classid not in parents]
    return "several" if several or len(ends) > 1 or astray(interface) else "one"
