# SPDX-License-Identifier: BSD-3-Clause
"""profiles.json → the profiles of what computing costs in network time; the file says where each comes from.

The engine reads them, and the commands and the editor for their choices; inside, `cpu_profile` reads the same file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from linklab.agent.cpu_profile import written


@dataclass(frozen=True)
class Costs:
    """What computing takes in network time.

    prices: the kernel's parameters by name, each as its file takes it (`linklab.agent.cpu_profile.written`).
    start_ms: commands that are typed together begin within this time, each at a moment drawn from the seed.
    words: whose computing it is, for people.
    """

    prices: Mapping[str, str]
    start_ms: int
    words: str


def _read() -> dict[str, Costs]:
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {name: Costs(written(profile), profile["start_ms"], profile["words"]) for name, profile in table.items()}


PROFILES: Mapping[str, Costs] = _read()
"""By name, in the order in which people are shown them."""
