# SPDX-License-Identifier: BSD-3-Clause
"""The numbers in a student's work.sh, held against every student's parameters → whose values they are.

A number that follows from another's rate or round-trip time and not from the own was copied, whatever else differs.
Pure but for reading the exercise, which says what follows from its parameters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from linklab.errors import InputError
from linklab.exercise.instance import practice_instance, quantities
from linklab.exercise.load import known_exercise, load_exercise
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.report import Report

_NUMBER = re.compile(
    r"(?<![\w.:/-])(\d{1,15}(?:\.\d{1,6})?)(gbit|mbit|kbit|bit|ms|us|s|%)?(?![\w.:/-])", re.IGNORECASE | re.ASCII
)
_UNITS = {
    "gbit": ("bit/s", 1e9),
    "mbit": ("bit/s", 1e6),
    "kbit": ("bit/s", 1e3),
    "bit": ("bit/s", 1.0),
    "ms": ("s", 1e-3),
    "us": ("s", 1e-6),
    "s": ("s", 1.0),
    "%": ("1", 0.01),
    "": ("bytes", 1.0),
}
_MULTIPLES = {"bit/s": (1, 0.5, 0.25), "s": (1, 0.5), "bytes": (1, 2, 4, 0.5), "1": (1,)}
"""What students make of a quantity: twice the BDP as a buffer, half of the delay on each side."""
_OWN = {**_MULTIPLES, "bytes": (*(each / 4 for each in range(1, 13)), 4, 5, 6, 8, 10, 0.1, 0.125, 0.2)}
"""What they make of their own, wrong factors of a buffer too: such a number may be theirs, whoever else's it is."""
_LEAST_BYTES = 1000
MOST_NUMBERS = 1000
"""Different ones in a work.sh that are looked at, each for each student of the class; a model answer has a dozen."""
_SAME = 1e-3

_Quantities = Mapping[str, Mapping[str, float]]
"""Unit → name → value in base units."""


def plain(work: str) -> str:
    """work.sh without comments and with single spaces: two that are the same so do the same."""
    lines = (" ".join(re.sub(r"(?:^|\s)#.*", "", line).split()) for line in work.splitlines())
    return "\n".join(line for line in lines if line)


Parameters = tuple[tuple[str, str], ...]
"""(name, value), sorted."""


def taken(mine: Report, others: Iterable[Parameters]) -> dict[Parameters, list[str]]:
    """Of the numbers in a work.sh those that follow from other parameters than the own, as they are written.

    One for each quantity of the other's: two multiples of one BDP are one coincidence, not two; and none where all of
    them are what a wrong factor makes of the own.

    Those that follow from the practice instance's do not count, since everybody knows these.
    """
    try:
        exercise = _exercise(known_exercise(mine.exercise))
        own = _quantities(exercise, mine.parameters)
        public = _quantities(exercise, practice_instance(exercise).parameters)
        known = {other: _quantities(exercise, dict(other)) for other in others}
    except (InputError, ArithmeticError):
        return {}
    written = list(itertools.islice(_numbers(mine), MOST_NUMBERS))
    strange = [text for text in written if not _fits(text, own) and not _fits(text, public)]
    found = {}
    for other, theirs in known.items():
        numbers = {name: text for text in reversed(strange) if (name := _fits(text, theirs))}
        certain = any(not _fits(text, own, _OWN) for text in numbers.values())
        found[other] = [text for text in strange if certain and text in numbers.values()]
    return found


def not_compared(mine: Report) -> str:
    """What of a work.sh `taken` does not look at, as a sentence; "" if it looks at all."""
    count = len(_numbers(mine))
    if count <= MOST_NUMBERS:
        return ""
    return f"work.sh has {count:,} different numbers, of which only the first {MOST_NUMBERS:,} were compared."


def _numbers(mine: Report) -> dict[str, None]:
    """The different ones in a work.sh, as they are written."""
    return dict.fromkeys(found[0] for found in _NUMBER.finditer(plain(mine.work)))


@cache
def _exercise(folder: Path) -> Exercise:
    return load_exercise(folder)


def _fits(text: str, known: _Quantities, multiples: Mapping[str, Sequence[float]] = _MULTIPLES) -> str:
    """The name of the quantity that a number is a multiple of; "" where there is none."""
    found = _NUMBER.fullmatch(text)
    assert found is not None  # it came from there
    unit, factor = _UNITS[(found[2] or "").lower()]
    value = float(found[1]) * factor
    if not value or (unit == "bytes" and value < _LEAST_BYTES):
        return ""
    return next(
        (
            name
            for name, each in known.get(unit, {}).items()
            for more in multiples[unit]
            if abs(value - each * more) <= _SAME * value
        ),
        "",
    )


def _quantities(exercise: Exercise, parameters: Mapping[str, str]) -> _Quantities:
    lookup = quantities(exercise, Instance(exercise.id, exercise.version, "", "", "", dict(parameters), "", ""))
    found: dict[str, dict[str, float]] = {}
    for name in [*(parameter.name for parameter in exercise.parameters), *exercise.derived]:
        value = lookup(name)
        if value is not None and not value.is_word:
            found.setdefault(value.unit, {})[name] = value.number
    return found
