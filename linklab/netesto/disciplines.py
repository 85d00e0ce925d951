# SPDX-License-Identifier: BSD-3-Clause
"""SET_NETEM and SET_QDISC at an interface → the commands of tc that lead from what stands there to what is asked for.

netem and a discipline stand at one interface together: netem first, the discipline within it. What the script writes
becomes words of tc only through `linklab.tc`, which knows every option; a shell never sees them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.linux.tc_line import parse
from linklab.tc.kinds import QDISCS
from linklab.tc.model import Class, Qdisc

NETEM, OWN = "1:", "2:"
"""Handles: of netem, and of a discipline that the script sets."""
ONE_QUEUE = "mq"
"""A discipline of interfaces with several queues; one with a single queue gets what each of its queues would have."""
NEEDED: Mapping[str, Mapping[str, frozenset[str]]] = {
    "tbf": {
        "rate": frozenset({"rate_bit"}),
        "burst": frozenset({"burst"}),
        "limit": frozenset({"limit", "latency_us", "latency_ns"}),
    }
}
"""What tc insists on: the argument, and the options any of which will do."""
Object: TypeAlias = Qdisc | Class


@dataclass(frozen=True)
class Standing:
    """What stands at an interface.

    delay: a netem at its root; rest: what is within it, or stands there alone, from the root inwards.
    other: something is there that this module does not know, such as what Mininet sets of a link's own options.
    """

    delay: Qdisc | None = None
    rest: tuple[Object, ...] = ()
    other: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the interface has nothing but the kernel's own."""
        return self.delay is None and not self.rest and not self.other

    def objects(self) -> list[Object]:
        """All of it, from the root inwards, each with its parent."""
        root = NETEM if self.delay is not None else "root"
        inner = [replace(each, parent=root) if each.parent in ("root", NETEM) else each for each in self.rest]
        return [*([self.delay] if self.delay is not None else []), *inner]


def drawn(lines: Sequence[str], *, other: bool) -> Standing:
    """What a drawing's lines of tc set; other: the link has options of Mininet's own."""
    found: list[Object] = []
    for line in lines:
        read = parse(line.split())
        if read is not None and read.kind in QDISCS and read.object == "qdisc":
            found.append(Qdisc.from_line(read))
        elif read is not None and read.object == "class":
            found.append(Class.from_line(read))
        else:
            return Standing(other=True)
    first = found[0] if found else None
    if isinstance(first, Qdisc) and first.kind == "netem" and first.parent == "root":
        return Standing(first, tuple(found[1:]), other)
    return Standing(None, tuple(found), other)


def with_netem(before: Standing, given: Mapping[str, str]) -> Standing:
    """After a SET_NETEM: delay in ms, limit in packets, loss in percent; none of them takes the netem away.

    Raises:
        InputError: the values cannot be.
    """
    delay_ms, loss = float(given["netem_delay"]), float(given["loss"].removesuffix("%"))
    if not delay_ms and not loss:
        return replace(before, delay=None)
    options: dict[str, Any] = {"limit": int(given["limit"])}
    options |= {"delay_ns": round(delay_ms * 1e6)} if delay_ms else {}
    options |= {"loss": loss / 100} if loss else {}
    return replace(before, delay=_checked(Qdisc("netem", NETEM, "root", options)))


@lru_cache(maxsize=1024)  # a script repeats its settings
def refuse_words(word: str, given: tuple[tuple[str, str], ...]) -> None:
    """Refuse a SET_NETEM or SET_QDISC that cannot be on any network.

    Args:
        word: the command.
        given: its arguments, without the host.

    Raises:
        InputError: the discipline or its words cannot be.
    """
    arguments = dict(given)
    if word == "SET_NETEM":
        with_netem(Standing(), arguments)
    elif arguments["action"] == "change" and arguments["qdisc"] != ONE_QUEUE:
        _read(arguments)  # what it changes, and so what it may leave out, is known on the network only
    else:
        with_qdisc(Standing(), arguments, "")


def with_qdisc(before: Standing, given: Mapping[str, str], default: str) -> Standing:
    """After a SET_QDISC; default: the kernel's default discipline as the script has set it, "" if it has not.

    Raises:
        InputError: the discipline or its words cannot be.
    """
    action, kind = given["action"], given["qdisc"]
    if action == "del":
        return replace(before, rest=(), other=False)
    words = _words(given)
    if kind == ONE_QUEUE:
        if words:
            raise InputError(f'{kind} has no option "{excerpt(words[0])}"')
        return replace(before, rest=(Qdisc(default, OWN, "root"),) if default else (), other=False)
    found = _read(given)
    if action == "change":
        first = before.rest[0] if before.rest else None
        if not isinstance(first, Qdisc) or first.kind != kind:
            raise InputError(f"there is no {kind} to change; set it first, with action=replace")
        found = replace(found, options={**first.options, **found.options})
    if kind == "netem":  # set as a discipline, it takes the place of SET_NETEM's
        return replace(before, delay=_checked(replace(found, handle=NETEM)), rest=(), other=False)
    return replace(before, rest=(_checked(found),), other=False)


def _words(given: Mapping[str, str]) -> list[str]:
    """The options of a SET_QDISC, as tc is given them."""
    words = [word for name in ("rate", "burst", "limit") if given[name] for word in (name, given[name])]
    return words + given["other"].split()


def _read(given: Mapping[str, str]) -> Qdisc:
    """The discipline that a SET_QDISC names; it may still lack options that tc insists on."""
    kind, words = given["qdisc"], _words(given)
    read = parse(["tc", "qdisc", "add", "dev", "X", "root", "handle", OWN, kind, *words])
    if read is None or read.device != "X" or read.kind != kind or read.parent != "root":
        what = excerpt(" ".join([kind, *words]))
        raise InputError(f'"{what}" must be a queueing discipline with options that it has, as tc writes them')
    return Qdisc.from_line(read)


def _checked(found: Qdisc) -> Qdisc:
    """The discipline, if it has what tc insists on."""
    lacking = [word for word, names in NEEDED.get(found.kind, {}).items() if not found.options.keys() & names]
    if lacking:
        raise InputError(f"{found.kind} needs {' and '.join(lacking)}")
    return found


def commands(interface: str, before: Standing, after: Standing) -> list[list[str]]:
    """The commands that lead from one to the other, as a program is given their words.

    Where the kinds are the same, values are changed while packets wait.
    """
    if before == after:
        return []
    old, new = before.objects(), after.objects()
    if not before.other and old and [_place(each) for each in old] == [_place(each) for each in new]:
        changed = [each for was, each in zip(old, new, strict=True) if was != each]
        return [each.line(interface, "change").split() for each in changed]
    removed = [] if before.is_empty else [["tc", "qdisc", "del", "dev", interface, "root"]]
    return removed + [each.line(interface).split() for each in new]


def _place(each: Object) -> tuple[str, ...]:
    return each.kind, each.parent, each.handle if isinstance(each, Qdisc) else each.classid
