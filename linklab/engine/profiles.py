# SPDX-License-Identifier: BSD-3-Clause
"""profiles.json → the profiles of what computing costs in network time; each says there where it comes from.

Read by the engine, by the commands and the editor for their choices; inside, `cpu_profile` reads the same file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PRICES = ("syscall_ps", "byte_ps", "packet_ps", "fork_ps", "exec_ps", "spread_permille", "wake_ns")
"""What a profile sets of the kernel's parameters (kernel/README.md), by their names there."""


@dataclass(frozen=True)
class Costs:
    """What computing takes in network time.

    prices: the kernel's parameters in `PRICES` as they are written: picoseconds, or quantiles with commas between them.
    start_ms: commands that are typed together begin up to so much later, drawn from the seed.
    words: whose computing, for people.
    """

    prices: Mapping[str, str]
    start_ms: int
    words: str


def _read() -> dict[str, Costs]:
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {
        name: Costs({price: written(profile[price]) for price in PRICES}, profile["start_ms"], profile["words"])
        for name, profile in table.items()
    }


def written(price: int | list[int]) -> str:
    """A price as the kernel's parameter takes it."""
    return ",".join(map(str, price)) if isinstance(price, list) else str(price)


PROFILES: Mapping[str, Costs] = _read()
"""By name, in the order in which people are shown them."""
