# SPDX-License-Identifier: BSD-3-Clause
"""The tables: every kind of discipline, class and filter that is known, a row each.

A discipline that is to be known comes here, with its row in a module of this package, and with its reader of netlink's
attributes in `linklab.linux.tc_options`.
"""

from __future__ import annotations

from collections.abc import Mapping

from linklab.errors import InputError
from linklab.tc.cake import CAKE
from linklab.tc.filters import FLOWER, FW, MATCHALL, U32_FILTER
from linklab.tc.kind import Kind
from linklab.tc.netem import NETEM
from linklab.tc.option import Options, Parameter
from linklab.tc.queues import (
    BFIFO,
    CLSACT,
    CODEL,
    FQ,
    FQ_CODEL,
    FQ_PIE,
    INGRESS,
    MQ,
    NOQUEUE,
    PFIFO,
    PFIFO_FAST,
    PFIFO_HEAD_DROP,
    PIE,
    PRIO,
    SFQ,
)
from linklab.tc.red import RED
from linklab.tc.shapers import HTB, HTB_CLASS, TBF

_QDISCS = (
    *(NETEM, TBF, HTB, RED, SFQ, CODEL, FQ_CODEL, CAKE, PIE, FQ, FQ_PIE, PRIO),
    *(PFIFO, BFIFO, PFIFO_HEAD_DROP, PFIFO_FAST, NOQUEUE, MQ, INGRESS, CLSACT),
)
QDISCS: Mapping[str, Kind] = {kind.name: kind for kind in _QDISCS}
CLASSES: Mapping[str, Kind] = {HTB_CLASS.name: HTB_CLASS}
FILTERS: Mapping[str, Kind] = {kind.name: kind for kind in (U32_FILTER, MATCHALL, FW, FLOWER)}
DISCIPLINES: Mapping[str, tuple[Parameter, ...]] = {
    name: kind.parameters for name, kind in QDISCS.items() if kind.parameters
}
"""What a drawing may put at the end of a link, with the parameters of each, in the order of tc's manual pages."""


def check_options(kinds: Mapping[str, Kind], kind: str, options: Options) -> None:
    """InputError unless the options are such as the agent says of this kind; of one not known here it says "unread"."""
    if kind in kinds:
        kinds[kind].check(options)
    elif set(options) != {"unread"}:
        raise InputError(f"nothing is known of {kind}, so it can have no options")
    else:
        Kind(kind).check(options)


def module_of(object_: str, kind: str) -> str:
    """The kernel's module for a discipline or filter, "" where every kernel has it; by custom where it is not known."""
    known, prefix = (QDISCS, "sch") if object_ == "qdisc" else (FILTERS, "cls")
    return known[kind].module if kind in known else f"{prefix}_{kind}"
