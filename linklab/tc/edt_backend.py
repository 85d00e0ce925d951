# SPDX-License-Identifier: BSD-3-Clause
"""The edt backend: an `Impairment` → the words of `linklab link` that set it for all that leaves an interface.

Links by departure time: docs/links.md. Has the three functions of a backend, as `netem_backend` has; what stands at the
interface is fq, which the command puts there with its program.
"""

from __future__ import annotations

from linklab.errors import FieldError
from linklab.linux.edt_words import LinkSpec
from linklab.tc.impairment import Impairment
from linklab.tc.model import Class, Qdisc

FQ = "ed7:"
"""The handle of the command's fq (`linklab.linux.edt_maps.FQ_HANDLE`)."""
NOT_HERE = ("burst_bytes", "queue_pkts", "correlation_frac", "held_pkts", "discipline")
_SPELLED = {"burst_bytes": "burst", "queue_pkts": "queue", "correlation_frac": "correlation", "held_pkts": "held"}


def spec(impairment: Impairment) -> LinkSpec:
    """What the link does.

    Raises:
        FieldError: it asks for something that only netem and its shapers have, or that does not hang together.
    """
    for name in NOT_HERE:
        if getattr(impairment, name):
            key = _SPELLED.get(name, name)
            what = "counts packets; a link by departure time has a queue in bytes, such as 64kb"
            if name != "queue_pkts":
                what = "is nothing that a link by departure time has; take it away, or choose the backend netem"
            raise FieldError(what, where=f'"{key}"', key="kind" if key == "discipline" else key)
    try:
        return LinkSpec(
            rate_bit=round((impairment.rate_mbit or 0) * 1e6),
            delay_ns=round(impairment.delay_s * 1e9),
            jitter_ns=round(impairment.jitter_s * 1e9),
            distribution=impairment.distribution or "uniform",
            loss_good=_share(impairment.loss_frac),
            queue_bytes=impairment.queue_bytes,
            ecn_ns=None if impairment.ecn_s is None else round(impairment.ecn_s * 1e9),
            duplicate=_share(impairment.duplicate_frac),
            reorder=_share(impairment.reorder_frac),
            corrupt=_share(impairment.corrupt_frac),
        )
    except ValueError as error:
        raise FieldError(str(error), key="rate") from error


def _share(fraction: float) -> int:
    return min(2**32 - 1, round(fraction * 2**32))


def objects(impairment: Impairment) -> list[Qdisc | Class]:
    """What stands at the interface; [] where nothing is asked for."""
    return [Qdisc("fq", FQ, "root", {})] if spec(impairment).words() else []


def lines(interface: str, impairment: Impairment, verb: str = "add") -> list[str]:
    """The line that sets an interface, or changes it while packets wait; [] where nothing is asked for."""
    words = spec(impairment).words()
    return [f"linklab link set any any {' '.join(words)} at {interface}"] if words else []


def clear_line(interface: str) -> str:
    """The line that takes everything away."""
    return f"linklab link clear at {interface}"
