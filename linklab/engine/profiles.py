# SPDX-License-Identifier: BSD-3-Clause
"""profiles.json → the profiles of what computing costs in network time; each says there where it comes from.

Read by the engine, by the commands and the editor for their choices; inside, `cpu_profile` reads the same file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Costs:
    """What computing takes in network time, picoseconds; words: whose computing, for people."""

    syscall_ps: int
    byte_ps: int
    packet_ps: int
    words: str


def _read() -> dict[str, Costs]:
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {
        name: Costs(profile["syscall_ps"], profile["byte_ps"], profile["packet_ps"], profile["words"])
        for name, profile in table.items()
    }


PROFILES: Mapping[str, Costs] = _read()
"""By name, in the order in which people are shown them."""
