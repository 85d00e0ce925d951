# SPDX-License-Identifier: BSD-3-Clause
"""The name of a topology file that is not there → the file that is probably meant."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

ALIKE = 0.7
"""Of 1: two letters wrong in a name of seven."""


def nearest(path: Path) -> Path | None:
    """The file that is probably meant by a name that none has: the same but for blanks, case or a few letters."""

    def plain(name: str) -> str:
        return re.sub(r"[\s_-]|(?<!\d)0+(?=\d)", "", name.lower())

    def numbers(name: str) -> list[str]:
        return re.findall(r"\d+", plain(name))

    wanted = plain(path.stem)
    there = {
        plain(file.stem): file
        for folder in (path.parent / "topologies", path.parent)
        for file in sorted(folder.glob("*.mn"))
        if numbers(file.stem) == numbers(path.stem)  # Lab 2 is not Lab 21
    }
    found = difflib.get_close_matches(wanted, there, n=1, cutoff=ALIKE)
    return there[found[0]] if found else None
