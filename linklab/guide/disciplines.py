# SPDX-License-Identifier: BSD-3-Clause
"""A line of tc → the disciplines, classes and filters of an interface afterwards, as the kernel would have them.  Pure.

What the kernel refuses (a second discipline at a place, a change of what is not there) is refused here, too:
net/sched/sch_api.c, cls_api.c.
"""

from __future__ import annotations

from dataclasses import replace

from linklab.errors import InputError
from linklab.guide.settings import defaults_of
from linklab.state.node import Interface
from linklab.tc import DEFAULT_HANDLE, SETS, Class, Filter, Line, Qdisc

_WHOLE = ("netem", "tbf", "red")
"""Kinds of which a change says everything anew; others change what is said, and keep the rest."""
_STAYS = {"netem": ("distribution",)}
"""What such a change leaves as it was all the same."""
_OF_THE_KERNELS = 0x8001
"""The first handle that the kernel chooses (qdisc_alloc_handle)."""


def with_line(interface: Interface, line: Line) -> Interface:
    """The interface after a line.

    Raises:
        InputError: the kernel or tc refuses it; the sentence says why.
    """
    if line.object == "qdisc":
        return _qdisc(interface, line)
    return _class(interface, line) if line.object == "class" else _filter(interface, line)


def _qdisc(interface: Interface, line: Line) -> Interface:
    if line.verb == "delete":
        there = _at(interface, line.parent)
        if there is None or (line.kind and line.kind != there.kind):
            raise InputError(f"{line.device} has no {line.kind or 'discipline'} there that could be removed")
        return _without(interface, there)
    if line.verb not in SETS or not line.kind:
        raise InputError(f"tc qdisc {line.verb} needs the kind of a discipline")
    new = Qdisc.from_line(line)
    there = _at(interface, new.parent)
    _check_parent(interface, new.parent, line.device)
    if line.verb == "change" and (there is None or there.kind != new.kind):
        raise InputError(f"{line.device} has no {new.kind} there that could be changed")
    if line.verb in ("add", "link") and there is not None:
        raise InputError(f"{line.device} has a {there.kind} there already; change or replace it")
    if there is not None and there.kind == new.kind and new.handle in ("0:", there.handle):
        changed = replace(there, options=_changed(there, new))
        return replace(interface, qdiscs=tuple(changed if each is there else each for each in interface.qdiscs))
    rest = _without(interface, there) if there is not None else interface
    rest = replace(rest, qdiscs=tuple(each for each in rest.qdiscs if not _is_default(each, new.parent)))
    new = replace(new, options={**defaults_of(new.kind), **new.options}) if new.kind == "netem" else new
    if new.handle == "0:":
        taken = {each.handle for each in rest.qdiscs}
        free = (f"{number:x}:" for number in range(_OF_THE_KERNELS, 0xFFFF))
        new = replace(new, handle=next(handle for handle in free if handle not in taken))
    return replace(rest, qdiscs=(*rest.qdiscs, new))


def _changed(there: Qdisc, new: Qdisc) -> dict[str, object]:
    if new.kind not in _WHOLE:
        return {**there.options, **new.options}
    kept = {name: there.options[name] for name in _STAYS.get(new.kind, ()) if name in there.options}
    return {**(defaults_of(new.kind) if new.kind == "netem" else {}), **kept, **new.options}


def _at(interface: Interface, parent: str) -> Qdisc | None:
    """The discipline at a place; a class 0 of a discipline that has none of its own is the discipline itself.

    The one that is there by default does not count, as for the kernel (tc_modify_qdisc, tc_get_qdisc).
    """
    set_by_hand = (each for each in interface.qdiscs if each.handle != DEFAULT_HANDLE)
    return next((each for each in set_by_hand if _is_at(each, parent)), None)


def _is_at(qdisc: Qdisc, parent: str) -> bool:
    return bool({qdisc.parent, _plain(qdisc.parent)} & {parent, _plain(parent)})


def _is_default(qdisc: Qdisc, parent: str) -> bool:
    """Whether it is the one that is at a place as long as nobody sets another."""
    return qdisc.handle == DEFAULT_HANDLE and _is_at(qdisc, parent)


def _plain(place: str) -> str:
    """Of a shaper that has one class that is always there, as tbf has, the class: "1:1" is as "1:"."""
    major, colon, minor = place.partition(":")
    return f"{major}:" if colon and minor in ("", "0", "1") else place


def _check_parent(interface: Interface, parent: str, device: str) -> None:
    if parent == "root" or parent.startswith("ffff:"):
        return
    major = parent.partition(":")[0] + ":"
    if not any(each.handle == major for each in interface.qdiscs):
        raise InputError(f"{device} has no discipline {major}")


def _without(interface: Interface, gone: Qdisc) -> Interface:
    """Without a discipline and all that stands in it."""
    left = [each for each in interface.qdiscs if each is not gone]
    major = gone.handle.partition(":")[0]

    def inside(parent: str) -> bool:
        return parent.partition(":")[0] == major

    for child in [each for each in left if inside(each.parent)]:
        rest = _without(replace(interface, qdiscs=tuple(left)), child)
        left = list(rest.qdiscs)
    return replace(
        interface,
        qdiscs=tuple(left),
        classes=tuple(each for each in interface.classes if not inside(each.classid)),
        filters=tuple(each for each in interface.filters if not inside(each.parent)),
    )


def _class(interface: Interface, line: Line) -> Interface:
    there = next((each for each in interface.classes if each.classid == line.handle), None)
    if line.verb == "delete":
        if there is None:
            raise InputError(f"{line.device} has no class {line.handle}")
        return replace(interface, classes=tuple(each for each in interface.classes if each is not there))
    new = Class.from_line(line)
    _check_parent(interface, new.parent, line.device)
    there = next((each for each in interface.classes if each.classid == new.classid), None)
    if line.verb == "add" and there is not None:
        raise InputError(f"{line.device} has a class {new.classid} already")
    if line.verb == "change" and there is None:
        raise InputError(f"{line.device} has no class {new.classid}")
    new = replace(new, options={"ceil_bit": new.options.get("rate_bit"), **new.options})
    return replace(interface, classes=(*(each for each in interface.classes if each is not there), new))


def _filter(interface: Interface, line: Line) -> Interface:
    if line.verb == "delete":
        if not interface.filters:
            raise InputError(f"{line.device} has no filter")
        chosen = int(line.priority) if line.priority.isdecimal() else 0
        kept = [each for each in interface.filters if chosen and each.pref != chosen]
        return replace(interface, filters=tuple(kept))
    new = Filter.from_line(line)
    _check_parent(interface, new.parent if new.parent != "root" else "root", line.device)
    return replace(interface, filters=(*interface.filters, new))
