# SPDX-License-Identifier: BSD-3-Clause
"""fields.txt: the columns of exp.csv and the operators that join the values of several groups.

Names and operators are those of Netesto's newest fields.txt (58 columns, with `sumRateDur`). Values are text, as the
files of an experiment hold them; "" is a value that is not known, and no operator makes a number of it: sums are then
unknown too, and means and extremes are those of the known values.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import InputError

FIELDS_FILE = "fields.txt"
SHIPPED = Path(__file__).parent / FIELDS_FILE
MOST_FIELDS = 1000

DIFFERENT = "+..."
"""Netesto's mark behind a value that is not that of every group."""

_SUFFIXES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([KMG]?)", re.ASCII)

WORDS = frozenset(
    {"exp", "expName", "testType", "testNote", "desc", "kernel", "host", "server", "ca"}
    | {"netem", "qdisc", "bw", "buffers", "ecn"}
)
"""Columns of words, where "6.10" is a name and not a number: a page shows them as they are."""

_FINE = frozenset({"retransPkts%", "rateMin", "rateMax", "fairness"})
"""Columns that have three decimals whatever their operator."""


@dataclass(frozen=True)
class CsvField:
    """A column: its name, and the operator that makes one value of those of several groups."""

    name: str
    operator: str


def number_of(text: str) -> float | None:
    """The number that a value is, with K, M and G for 10^3, 10^6 and 10^9; None if it is not a finite number."""
    found = _NUMBER.fullmatch(text.strip())
    number = float(found[1]) * _SUFFIXES[found[2]] if found else math.inf
    return number if math.isfinite(number) else None


# --- operators


def _one(values: Sequence[str], _: Sequence[str]) -> str:
    """The first value, with the mark if another group has another one."""
    return values[0] + (DIFFERENT if any(each != values[0] for each in values) else "")


def _all(values: Sequence[str], _: Sequence[str]) -> str:
    return "/".join(dict.fromkeys(values))


def _avg(values: Sequence[str], _: Sequence[str]) -> float:
    return _sum(values, _) / len(values)


def _sum(values: Sequence[str], _: Sequence[str]) -> float:
    return math.fsum(_numbers(values))


def _min(values: Sequence[str], _: Sequence[str]) -> float:
    return min(_numbers(values))


def _max(values: Sequence[str], _: Sequence[str]) -> float:
    return max(_numbers(values))


def _sum_rate_dur(values: Sequence[str], durations: Sequence[str]) -> float | str:
    """Σ (value × duration) / the longest duration, so that a late, short flow does not inflate the total."""
    lengths = _numbers(durations)
    longest = max(lengths)
    if longest <= 0:
        return ""
    return math.fsum(map(operator.mul, _numbers(values), lengths)) / longest


OPERATORS: Mapping[str, Callable[[Sequence[str], Sequence[str]], str | float]] = {
    "one": _one,
    "all": _all,
    "avg": _avg,
    "sum": _sum,
    "min": _min,
    "max": _max,
    "sumRateDur": _sum_rate_dur,
}


_WHOLE = (_sum, _sum_rate_dur)
"""Operators whose value is not known if one of the groups' is not: a part is no total."""


def combined(field: CsvField, values: Sequence[str], durations: Sequence[str]) -> str:
    """The cell that a field's operator makes of the values of groups, in the format of Netesto's exp.csv.

    Averages and `sumRateDur` have three decimals, other numbers one; `one` and `all` keep values as they are written.

    Args:
        field: the column.
        values: of each group; "" where it is not known: a sum is then "", and other operators leave it out.
        durations: of each group, for `sumRateDur`.

    Raises:
        InputError: the operator needs numbers and a value is not one.
    """
    known = [(value, dur) for value, dur in zip(values, durations, strict=True) if value.strip()]
    operate = OPERATORS[field.operator]
    if not known or (operate in _WHOLE and len(known) < len(values)):
        return ""
    try:
        cell = operate([value for value, _ in known], [dur for _, dur in known])
    except _NoNumberError as error:
        raise InputError(
            f'{field.name}:{field.operator} needs numbers, but a value is "{excerpt(str(error))}"; '
            "give this column the operator one or all"
        ) from None
    if isinstance(cell, float):
        decimals = 3 if operate in (_avg, _sum_rate_dur) or field.name in _FINE else 1
        return f"{cell:.{decimals}f}"
    number = number_of(cell) if field.name in _FINE else None
    return cell if number is None else f"{number:.3f}"


class _NoNumberError(ValueError):
    """A value of a column of numbers is none; the message is the value."""


def _numbers(values: Sequence[str]) -> list[float]:
    found = []
    for value in values:
        number = number_of(value)
        if number is None:
            raise _NoNumberError(value)
        found.append(number)
    return found


# --- the file


@cache
def shipped_fields() -> tuple[CsvField, ...]:
    """The 58 columns that an exp.csv has if nobody asks for others."""
    return read_fields(SHIPPED)


@cache
def shipped_names() -> frozenset[str]:
    """The names of these columns."""
    return frozenset(field.name for field in shipped_fields())


def fields_of(campaign: Path) -> tuple[CsvField, ...]:
    """The columns of a campaign: those of its own fields.txt, or else the shipped ones.

    Raises:
        InputError: its file cannot be read, or has mistakes.
    """
    own = campaign / FIELDS_FILE
    return read_fields(own) if own.is_file() else shipped_fields()


def read_fields(path: Path) -> tuple[CsvField, ...]:
    """The columns that a file of NAME:OPERATOR lines names, in its order.

    Raises:
        InputError: it cannot be read, or has mistakes; the message has a line for each of them.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file_name(path)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file_name(path)}: byte {error.start + 1} is not UTF-8 text") from None
    return parse_fields(text, file_name(path))


def parse_fields(text: str, source: str) -> tuple[CsvField, ...]:
    """The columns of a text.

    Raises:
        InputError: it has mistakes; the message has a line for each, which begins with "SOURCE:LINE: ".
    """
    found: dict[str, CsvField] = {}
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        name, colon, operation = (part.strip() for part in words.partition(":"))
        if why := _wrong(name, colon, operation, found):
            wrong.append(f"{source}:{number}: {why}")
        else:
            found[name] = CsvField(name, operation)
    if len(found) > MOST_FIELDS:
        wrong.append(f"{source}: {len(found)} columns are too many; at most {MOST_FIELDS}")
    if not found and not wrong:
        wrong.append(f"{source}: there is no column; write a line such as rate:sumRateDur for each")
    if wrong:
        raise InputError("\n".join(wrong))
    return tuple(found.values())


def _wrong(name: str, colon: str, operation: str, found: Mapping[str, CsvField]) -> str:
    """What is wrong with a line; "" if it is a column."""
    if not colon or not name:
        return f'"{excerpt(name or operation)}" is not a column; write NAME:OPERATOR, such as rate:sumRateDur'
    if any(letter in name for letter in ',"\t\0'):
        return f'the column "{excerpt(name)}" must not contain a comma, a quotation mark or a tab'
    if name in found:
        return f"there is already a column {excerpt(name)}; remove one of the two lines"
    if operation not in OPERATORS:
        near = next((each for each in OPERATORS if each.lower() == operation.lower()), "")
        cure = f"write {near}" if near else f"there are {', '.join(OPERATORS)}"
        return f'{excerpt(name)}: there is no operator "{excerpt(operation)}"; {cure}'
    return ""
