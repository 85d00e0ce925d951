# SPDX-License-Identifier: BSD-3-Clause
"""One finding of the checks of a topology."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Problem:
    """One finding.

    where: "host h1", "link s1-s2" or "application"; at: the port of which it is ("r1-eth0"), or of the node its
    "gateway" or "routes", for who shows it there; "" where none is meant. version: of IP, of the address at a port.
    key: the option of the node that is wrong, such as "hostname"; "" if it is none.
    """

    severity: Literal["error", "warning"]
    where: str
    message: str
    at: str = field(default="", compare=False)
    version: int = field(default=4, compare=False)
    key: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
