# SPDX-License-Identifier: BSD-3-Clause
"""The endings of data files' names, and the name without them."""

from __future__ import annotations

SUFFIX = ".flent.gz"
"""Of every file that we name."""

FLENT_SUFFIXES = (SUFFIX, ".flent.bz2", ".flent", ".flnt")
"""Of data files alone."""

SUFFIXES = (*FLENT_SUFFIXES, ".json.gz", ".json.bz2", ".json")
"""Of data files, the longest first; a file with one of the last three may also hold something else."""


def stem_of(name: str) -> str:
    """The file's name without what all of them end with; a name that is nothing but an ending stays."""
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end) and name != end), name)
