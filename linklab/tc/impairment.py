# SPDX-License-Identifier: BSD-3-Clause
"""One direction of a link as plain data: a JSON object with units → `Impairment`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from linklab import units
from linklab.errors import FieldError, InputError
from linklab.tc.forms import counts_packets
from linklab.tc.kind import FRAME_BYTES
from linklab.tc.kinds import DISCIPLINES, QDISCS
from linklab.tc.netem import DISTRIBUTIONS

EDT = "edt"
BACKENDS = ("netem", EDT)
"""What turns an impairment into what the kernel does: netem with shapers, or links by departure time."""
SHAPERS = ("tbf", "htb")
"""Disciplines that are nothing without a rate."""


@dataclass(frozen=True)
class Impairment:
    """One direction; None and 0 mean: nothing of the kind.

    queue_bytes or queue_pkts: what the shaper's queue (or a plain one) holds.
    held_pkts: what netem may hold; None is enough for the rate, or 100,000.
    discipline: key of DISCIPLINES or "" for first in, first out; options: its parameters as the drawing has them.
    ecn_s: the wait from which packets are marked, of the backend edt alone. backend: one of BACKENDS, "" for netem.
    """

    rate_mbit: float | None = None
    burst_bytes: int | None = None
    queue_bytes: int | None = None
    queue_pkts: int | None = None
    delay_s: float = 0.0
    jitter_s: float = 0.0
    correlation_frac: float = 0.0
    distribution: str = ""
    loss_frac: float = 0.0
    duplicate_frac: float = 0.0
    reorder_frac: float = 0.0
    corrupt_frac: float = 0.0
    held_pkts: int | None = None
    discipline: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    ecn_s: float | None = None
    backend: str = ""

    @classmethod
    def from_data(cls, data: Any) -> Impairment:
        """Read the JSON object; FieldError names the key that is wrong in it."""
        if not isinstance(data, Mapping):
            raise InputError("an impairment must be an object")
        known = {*_KEYS, "queue", "distribution", "discipline", "backend"}
        for key in data:
            if key not in known:
                raise FieldError(
                    f'"{key}" is nothing I know of a direction; there are {", ".join(sorted(known))}', key=str(key)
                )
        values: dict[str, Any] = {}
        for key, (name, parse) in _KEYS.items():
            if key in data:
                values[name] = _named(key, parse, data[key])
        if "queue" in data:
            name, parse = (
                ("queue_pkts", units.parse_packets)
                if counts_packets(data["queue"])
                else ("queue_bytes", units.parse_size_bytes)
            )
            values[name] = _named("queue", parse, data["queue"])
        if data.get("distribution", "") not in DISTRIBUTIONS:
            raise FieldError(f'"distribution" must be one of {", ".join(DISTRIBUTIONS[1:])}', key="distribution")
        values["distribution"] = data.get("distribution", "")
        values["discipline"], values["options"] = _discipline(data.get("discipline"))
        if data.get("backend", "") not in ("", *BACKENDS):
            raise FieldError(f'"backend" must be one of {", ".join(BACKENDS)}', key="backend")
        values["backend"] = EDT if data.get("backend") == EDT else ""
        found = cls(**values)
        found._check()
        return found

    def _check(self) -> None:
        if self.jitter_s and not self.delay_s:
            raise FieldError('"jitter" needs a "delay" to vary', key="jitter")
        if self.reorder_frac and not self.delay_s:
            raise FieldError('"reorder" needs a "delay": packets sent at once overtake those that wait', key="reorder")
        if self.distribution and not self.jitter_s:
            raise FieldError('"distribution" needs a "jitter"', key="distribution")
        if self.discipline in SHAPERS and self.rate_mbit is None:
            raise FieldError(f'{self.discipline} needs a "rate"', key="rate")
        if self.backend == EDT:
            from linklab.tc import edt_backend  # noqa: PLC0415 - it knows impairments

            edt_backend.spec(self)
        elif self.ecn_s is not None:
            raise FieldError('"ecn" is of the backend edt; netem\'s disciplines have options of that name', key="ecn")

    @property
    def has_netem(self) -> bool:
        """Whether a delay line stands first."""
        return any((self.delay_s, self.loss_frac, self.duplicate_frac, self.corrupt_frac))

    @property
    def has_queue(self) -> bool:
        """Whether it says how much the queue holds."""
        return self.queue_bytes is not None or self.queue_pkts is not None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return replace(self, backend="") == Impairment()

    def notes(self) -> list[str]:
        """What a person should know about this combination."""
        found = []
        if self.has_netem and self.discipline not in ("", "tbf") and not self.rate_mbit:
            found.append(f"without a rate here {self.discipline} never has a queue to manage")
        if self.has_netem and self.discipline not in ("", *SHAPERS) and self.rate_mbit:
            found.append("delay and discipline share this end: put the delay on the other end to see the queue alone")
        if (
            self.held_pkts is not None
            and self.rate_mbit
            and self.held_pkts < in_flight_pkts(self.rate_mbit, self.delay_s)
        ):
            found.append(
                f"the delay line holds {self.held_pkts} packets: fewer than are in flight, the rest is dropped"
            )
        return found


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "rate": ("rate_mbit", units.parse_rate_mbit),
    "burst": ("burst_bytes", units.parse_size_bytes),
    "delay": ("delay_s", units.parse_time_s),
    "jitter": ("jitter_s", units.parse_time_s),
    "correlation": ("correlation_frac", units.parse_percent_frac),
    "loss": ("loss_frac", units.parse_percent_frac),
    "duplicate": ("duplicate_frac", units.parse_percent_frac),
    "reorder": ("reorder_frac", units.parse_percent_frac),
    "corrupt": ("corrupt_frac", units.parse_percent_frac),
    "held": ("held_pkts", units.parse_packets),
    "ecn": ("ecn_s", units.parse_time_s),
}


def _named(key: str, parse: Callable[[str], Any], text: Any) -> Any:
    if not isinstance(text, str):
        raise FieldError(f'"{key}" must be a string with a unit', key=key)
    try:
        return parse(text)
    except InputError as error:
        raise FieldError(str(error), where=f'"{key}"', key=key) from error


def _discipline(data: Any) -> tuple[str, dict[str, str]]:
    """Kind and options of the JSON object; FieldError says what is wrong with it."""
    if data is None:
        return "", {}
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in DISCIPLINES:
        raise FieldError(f'"discipline" must be an object with a "kind" of {", ".join(DISCIPLINES)}', key="kind")
    options = {name: text for name, text in data.items() if name != "kind"}
    try:
        QDISCS[kind].from_drawing(options)
    except FieldError as error:
        raise FieldError(error.what, where=error.where, key=f"discipline.{error.key}") from error
    return kind, options


def in_flight_pkts(rate_mbit: float, delay_s: float) -> int:
    """Full frames that a link of this rate and one-way delay holds."""
    return math.ceil(rate_mbit * 1e6 * delay_s / 8 / FRAME_BYTES)
