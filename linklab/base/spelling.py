# SPDX-License-Identifier: BSD-3-Clause
"""A word that is not known → the known ones that are spelt nearly like it, whatever their case."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

MOST_COMPARED = 1000
"""Known words that are looked at: a stranger's file may have any number."""


def nearest_words(word: str, known: Iterable[str], most: int = 1, alike: float = 0.6) -> list[str]:
    """The known words that are nearest to this one, the nearest first.

    Args:
        word: as a person wrote it.
        known: what there is.
        most: how many to give.
        alike: how much of both must agree, from 0 to 1 (`difflib.SequenceMatcher.ratio`).
    """
    names = {name.lower(): name for name in islice(known, MOST_COMPARED)}
    return [names[near] for near in difflib.get_close_matches(word.lower(), names, most, alike)]
