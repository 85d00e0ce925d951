# SPDX-License-Identifier: BSD-3-Clause
"""TOML (https://toml.io/en/v1.0.0): tomllib of Python 3.11, tomli before; and tables that are read key by key.

The reader's one error is TOMLDecodeError, also where text nests deeper than Python calls or a number has thousands of
digits.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib as reader
    from tomllib import TOMLDecodeError
else:
    import tomli as reader
    from tomli import TOMLDecodeError

__all__ = ["TOMLDecodeError", "Table", "loads", "parse", "read_text"]

LARGEST = 1e15
"""No quantity that a person writes into a file is larger, in whatever unit."""
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def loads(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises:
        TOMLDecodeError: it is no TOML, or nests too deeply, or a number in it has thousands of digits.
    """
    try:
        table: dict[str, Any] = reader.loads(text)
    except TOMLDecodeError:
        raise
    except RecursionError as error:
        raise TOMLDecodeError("it nests too deeply") from error
    except ValueError as error:
        raise TOMLDecodeError("a number or a date in it is beyond what can be read") from error
    return table


def read_text(path: Path) -> str:
    """The text of a file that a person wrote.

    Raises:
        InputError: it is not there, cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def parse(text: str, where: str) -> Table:
    """The table of a text.

    Args:
        text: TOML.
        where: the place that messages begin with.

    Raises:
        InputError: it is not TOML, or its numbers or its depth are beyond what can be read.
    """
    try:
        return Table(loads(text), where)
    except TOMLDecodeError as error:
        raise InputError(f"{where}: {error}" if where else str(error)) from error


class Table:
    """A table whose keys are taken one by one, each of its type; what is left over is a mistake.

    where: the place that messages begin with, such as "lab.toml:12" or "experiment tuned".
    """

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise InputError(f"{where} must be a table, not {_shown(data)}")
        self.data: dict[str, Any] = dict(data)
        self.where = where
        self.known: list[str] = []

    def wrong(self, why: str) -> InputError:
        """The error that says what is wrong in this table."""
        return InputError(f"{self.where}: {why}" if self.where else why)

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """The value of a key, and take it out.

        Args:
            key: its name.
            kind: what it must be; true and false are no numbers.
            default: what to give if it is not there; without one it must be.
        """
        self.known.append(key)
        if key not in self.data:
            if default is ...:
                raise self.wrong(f'"{key}" is missing')
            return default
        value = self.data.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and not {bool, object} & set(kinds)):
            wanted = " or ".join(_NAMES.get(each, each.__name__) for each in kinds)
            raise self.wrong(f'"{key}" must be {wanted}, not {_shown(value)}')
        if isinstance(value, (int, float)) and not abs(value) <= LARGEST:  # NaN too
            raise self.wrong(f'"{key}" must be a number up to {LARGEST:g}')
        return value

    def text(self, key: str, default: Any = ...) -> str:
        """Text, or a number as text."""
        return str(self.take(key, (str, int, float), default))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or of numbers as text; empty if it is not there."""
        values = self.take(key, list, [])
        if not all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in values):
            raise self.wrong(f'"{key}" must be a list of texts')
        return tuple(str(value) for value in values)

    def tables(self, key: str) -> list[Table]:
        """A list of tables; empty if it is not there."""
        found = self.take(key, list, [])
        name = f"{self.where} {key}".strip()
        return [Table(item, f"{name}[{number}]") for number, item in enumerate(found)]

    def end(self) -> None:
        """Refuse a key that nobody took."""
        if self.data:
            known = (
                f"the keys here are {', '.join(dict.fromkeys(self.known))}" if self.known else "no key is known here"
            )
            raise self.wrong(f'unknown key "{excerpt(next(iter(self.data)))}"; {known}')


def _shown(value: object) -> str:
    """A value in a message; a whole number of more digits than Python writes has none."""
    if isinstance(value, int) and not abs(value) <= LARGEST:
        return "a number of many digits"
    return excerpt(repr(value))
