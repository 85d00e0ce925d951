# SPDX-License-Identifier: BSD-3-Clause
"""Quantities and words as people write them ↔ values to compute with: "1 Gbps", "0.2 %", 12, "bbr".

Numbers are in base units (bit/s, s, bytes, 1) and products or quotients of those (`linklab.judge.dimension`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from linklab import units
from linklab.base.numbers import format_number, parse_number
from linklab.errors import InputError
from linklab.judge.dimension import PLAIN, WORD


@dataclass(frozen=True)
class Value:
    """A number with its base unit, or a word.

    text: as a person wrote it, "" where it was computed.
    """

    number: float = math.nan
    unit: str = "1"
    word: str = ""
    text: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is a word and no number."""
        return self.unit == WORD

    @property
    def shown(self) -> str:
        """For people: as written, else with the largest fitting unit and three digits."""
        if self.is_word:
            return self.word
        return self.text or format_number(self.number, self.unit)

    def formatted(self, how: str) -> str:
        """As a placeholder's format asks: "" (for people), "tc", "bytes", "percent", or ".2f" and the like.

        Raises:
            InputError: a format that this value does not have.
        """
        if how == "":
            return self.shown
        if self.is_word:
            raise InputError(f'the word "{self.word}" cannot be formatted as "{how}"')
        if how == "bytes" and self.unit in ("bytes", "1"):
            return str(round(self.number))
        if how == "percent" and self.unit == "1":
            return f"{100 * self.number:.3g} %"
        if how == "tc":
            return self._for_tc()
        try:
            return format(self.number, how)
        except ValueError as error:
            raise InputError(
                f'"{how}" is no format for {self.shown}; use tc, bytes, percent or one such as .2f'
            ) from error

    def _for_tc(self) -> str:
        match self.unit:
            case "bit/s":
                return f"{round(self.number)}bit" if self.number % 1e3 else units.format_rate(self.number / 1e6)
            case "s":
                return units.format_time(round(self.number, 9))
            case "bytes":
                return str(round(self.number))
            case _ if self.text.endswith("%"):
                return units.format_percent(self.number)
            case _:
                return f"{self.number:g}"


def parse_value(text: str | float) -> Value:
    """What toml or a person gives: "1 Gbps", "0.2 %", 12, or a word such as "bbr" or "10.0.0.1/8".

    Raises:
        InputError: it begins like a number and has a unit that is none ("10 Mbps" is one, "10 Mb" is not), or it is
            too large for a number. "nan" and "inf" are words: no quantity is unknown or without end.
    """
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return Value(_finite(float(text), str(text)), PLAIN, text=f"{text:g}")
    written = str(text).strip()
    if not any(letter.isdigit() for letter in written):
        return Value(unit=WORD, word=written, text=written)
    try:
        return Value(_finite(float(written), written), PLAIN, text=written)
    except ValueError:
        pass
    try:
        number, unit = parse_number(written)
    except InputError:
        if " " in written and written.split()[0].replace(".", "", 1).isdigit():
            raise
        return Value(unit=WORD, word=written, text=written)
    return Value(_finite(number, written), unit, text=written)


def _finite(number: float, written: str) -> float:
    if not math.isfinite(number):
        raise InputError(f'"{written[:60]}" is too large for a number')
    return number
