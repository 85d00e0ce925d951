# SPDX-License-Identifier: BSD-3-Clause
"""Writes the drawn figures of the manuals: `python -m linklab.figures [NUMBER …]`.

Each module `linklab.figures.labNN` has `draw() -> dict[str, str]`, file name → SVG, for `labs/NN-slug/figures/`.
A test compares the files with what the modules draw.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import linklab.figures
from linklab.lab.model import find_lab


def drawn(numbers: Sequence[int] = ()) -> dict[Path, str]:
    """Every drawn figure of these labs, or of all: where it belongs, and its text."""
    files = {}
    for module in pkgutil.iter_modules(linklab.figures.__path__):
        found = re.fullmatch(r"lab(\d\d)", module.name)
        if found and (not numbers or int(found[1]) in numbers):
            folder = find_lab(str(int(found[1]))) / "figures"
            pictures = importlib.import_module(f"linklab.figures.{module.name}").draw()
            files.update({folder / name: text for name, text in pictures.items()})
    return files


def main(arguments: Sequence[str]) -> int:
    """Write the figures that changed, and name them."""
    for path, text in drawn([int(number) for number in arguments]).items():
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
