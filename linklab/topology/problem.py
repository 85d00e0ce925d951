# SPDX-License-Identifier: BSD-3-Clause
"""One finding of the checks of a topology."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Problem:
    """One finding; where: "host h1", "link s1-s2" or "application"."""

    severity: Literal["error", "warning"]
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
