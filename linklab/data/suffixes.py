# SPDX-License-Identifier: BSD-3-Clause
"""The endings of data files' names, the name without them, and the data files of a folder."""

from __future__ import annotations

from pathlib import Path

SUFFIX = ".flent.gz"
"""Of every file that we name."""

FLENT_SUFFIXES = (SUFFIX, ".flent.bz2", ".flent", ".flnt")
"""Of data files alone."""

SUFFIXES = (*FLENT_SUFFIXES, ".json.gz", ".json.bz2", ".json")
"""Of data files, the longest first; a file with one of the last three may also hold something else."""


def stem_of(name: str) -> str:
    """The file's name without what all of them end with; a name that is nothing but an ending stays."""
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end) and name != end), name)


def data_files(path: Path) -> list[Path]:
    """The file, or the data files of a folder."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.iterdir() if each.name.endswith(FLENT_SUFFIXES) and each.is_file())
