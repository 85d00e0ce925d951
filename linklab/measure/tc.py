# SPDX-License-Identifier: BSD-3-Clause
"""Text of `tc [-s] qdisc show` → queueing disciplines as data, and their counters as scalars.

Samples over time are `qdisc`'s. It must not interpret options: they differ by discipline and stay words. Format:
iproute2, tc/tc_qdisc.c and tc_util.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from linklab.measure.reading import decimal
from linklab.measure.series import Measurements, Quantity

_HEAD = re.compile(
    r"^qdisc (?P<kind>\S+) (?P<handle>[0-9a-f]+:) (?:dev (?P<dev>\S+) )?"
    r"(?:root|parent (?P<parent>\S+)|\S+)\s*(?:refcnt \d+ ?)?(?P<options>.*)$"
)
_SENT = re.compile(
    r"^ Sent (?P<bytes>\d+) bytes (?P<packets>\d+) pkt "
    r"\(dropped (?P<dropped>\d+), overlimits (?P<overlimits>\d+) requeues (?P<requeues>\d+)\)",
    re.ASCII,
)
_BACKLOG = re.compile(r"^ backlog (?P<bytes>[\d.]+)(?P<unit>[KMG]?)b (?P<packets>\d+)p", re.ASCII)
_PAIR = re.compile(r"(?<![a-z_])([a-z][a-z_]*) (\d+)(?= |$)", re.ASCII)
_SCALE = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


@dataclass
class TextQdisc:
    """One discipline as `tc qdisc show` prints it.

    dev: "" where tc leaves it out because one device was asked for. parent: "root" or a class or handle.
    counters: sent.bytes, sent.packets, dropped, overlimits, requeues, backlog.bytes, backlog.packets, and the
    discipline's own (`early`, `marked`, …) as tc names them; only those that were printed.
    """

    kind: str
    handle: str
    dev: str
    parent: str
    options: str
    counters: dict[str, float] = field(default_factory=dict)


def read_qdiscs(text: str, source: str = "tc") -> list[TextQdisc]:
    """The disciplines in `text`, in order; [] if there is none.

    Raises:
        DataError: a counter is larger than any of the kernel's, or no number.
    """
    found: list[TextQdisc] = []
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.match(line):
            parent = head["parent"] or "root"
            found.append(TextQdisc(head["kind"], head["handle"], head["dev"] or "", parent, head["options"].strip()))
        elif found and line.startswith(" "):
            _read_counters(found[-1].counters, line, f"{source}: line {number}")
    return found


def _read_counters(counters: dict[str, float], line: str, where: str) -> None:
    if sent := _SENT.match(line):
        counters["sent.bytes"], counters["sent.packets"] = (
            decimal(sent["bytes"], where),
            decimal(sent["packets"], where),
        )
        counters.update({key: decimal(sent[key], where) for key in ("dropped", "overlimits", "requeues")})
    elif backlog := _BACKLOG.match(line):
        # tc rounds a large backlog to Kb (1024 bytes).
        counters["backlog.bytes"] = decimal(backlog["bytes"], where) * _SCALE[backlog["unit"]]
        counters["backlog.packets"] = decimal(backlog["packets"], where)
    else:
        counters.update({name: decimal(value, where) for name, value in _PAIR.findall(line)})


def read_tc(text: str, source: str = "tc") -> list[Measurements]:
    """One `Measurements` for every time tc printed counters in `text` (a discipline shown again begins the next).

    Scalars: tc.DEV.HANDLE.COUNTER, e.g. `tc.s1-eth2.1.dropped`; where tc printed no device, `tc.1.dropped`.
    """
    listings: list[dict[str, Quantity]] = []
    for qdisc in read_qdiscs(text, source):
        if not qdisc.counters:
            continue
        prefix = ".".join(part for part in ("tc", qdisc.dev, qdisc.handle.rstrip(":")) if part)
        named = {f"{prefix}.{name}": Quantity(value, _unit(name)) for name, value in qdisc.counters.items()}
        if not listings or not named.keys().isdisjoint(listings[-1].keys()):  # which goes through the shorter one
            listings.append({})
        listings[-1].update(named)
    return [Measurements(scalars, {}, "tc", source) for scalars in listings]


def _unit(name: str) -> str:
    if name.endswith("bytes"):
        return "bytes"
    return "packets" if name in {"sent.packets", "backlog.packets", "dropped"} else ""
