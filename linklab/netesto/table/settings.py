# SPDX-License-Identifier: BSD-3-Clause
"""The variables of a plot: their names, what each may be, and what they say when a plot is drawn.

A variable keeps its value for the plots that follow, as in Netesto; an empty value gives back the usual one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from linklab.base.text import excerpt
from linklab.netesto.table.cells import number_in
from linklab.netesto.table.located import Located

_ON = ("on", "yes", "true", "t", "1", "horizontal", "vertical", "auto")
_OFF = ("off", "no", "false", "f", "0")

LEAST_PIXELS, MOST_PIXELS = 200, 6000
LEAST_INCHES, MOST_INCHES = 2.0, 30.0
MOST_TITLE = 400


def _anything(value: Located) -> None:
    if len(value.text) > MOST_TITLE:
        raise value.error(f"a plot has no room for more than {MOST_TITLE} characters here")


def _switch(value: Located) -> None:
    if value.text.lower() not in _ON[:5] + _OFF:
        raise value.error(f'"{excerpt(value.text)}" must be on or off')


def _log(value: Located) -> None:
    if value.text.lower() not in ("on", "off", "auto"):
        raise value.error(f'"{excerpt(value.text)}" must be auto, on or off')


def _direction(value: Located) -> None:
    if value.text.lower() not in ("off", "on", "horizontal", "vertical"):
        raise value.error(f'"{excerpt(value.text)}" must be off, horizontal or vertical')


def _style(value: Located) -> None:
    if value.text.lower() not in ("screen", "print", "grey"):
        raise value.error(f'"{excerpt(value.text)}" must be screen, print or grey')


def _number(value: Located) -> None:
    if number_in(value.text) is None:
        raise value.error(f'"{excerpt(value.text)}" must be a number')


def _divisor(value: Located) -> None:
    _number(value)
    if float(value.text) == 0:
        raise value.error("nothing can be divided by 0; leave the value empty to divide by nothing")


def _between(least: float, most: float, unit: str) -> Callable[[Located], None]:
    def check(value: Located) -> None:
        number = number_in(value.text)
        if number is None or not least <= number <= most:
            raise value.error(f'"{excerpt(value.text)}" must be a number from {least:g} to {most:g}{unit}')

    return check


def _size(value: Located) -> None:
    parts = sizes_of(value)
    if len(parts) not in (1, 2):
        raise value.error(f'"{excerpt(value.text)}" must be WIDTH,HEIGHT in pixels, such as 1300,650')
    for part in parts:
        _between(LEAST_PIXELS, MOST_PIXELS, " pixels")(part)


def sizes_of(value: Located) -> list[Located]:
    """Width and height of plotSize, which stand with a comma or an x between them."""
    return value.split(",") if "," in value.text else value.split("x")


def _units(value: Located) -> None:
    units_of(value)


def units_of(value: Located) -> list[tuple[float, str]]:
    """Factors and names of units, from the largest: of `1=us,1000=ms` (1000, "ms") and (1, "us").

    Raises:
        TableError: it has another form.
    """
    found = []
    for part in value.split(","):
        factor, equals, name = part.partition("=")
        number = number_in(factor.text)
        if not equals or number is None or number <= 0 or not name:
            raise part.error(f'"{excerpt(part.text)}" must be FACTOR=UNIT, such as 1000=ms')
        found.append((number, name.unquoted().text))
    return sorted(found, reverse=True)


VARIABLES: Mapping[str, Callable[[Located], None]] = {
    "plotX": _anything,
    "plotY1": _anything,
    "plotY2": _anything,
    "plotSeries": _anything,
    "plotTitle": _anything,
    "plotXTitle": _anything,
    "plotY1Title": _anything,
    "plotY2Title": _anything,
    "plotSeriesTitle": _anything,
    "plotSize": _size,
    "plotXSize": _between(LEAST_PIXELS, MOST_PIXELS, " pixels"),
    "plotYSize": _between(LEAST_PIXELS, MOST_PIXELS, " pixels"),
    "plotXLen": _between(LEAST_INCHES, MOST_INCHES, " inches"),
    "plotFilename": _anything,
    "Y1min": _number,
    "Y2min": _number,
    "Y1div": _divisor,
    "Y2div": _divisor,
    "Y1Units": _units,
    "Y2Units": _units,
    "Y1eqY2": _switch,
    "xUniform": _switch,
    "Y1LogScale": _log,
    "Y2LogScale": _log,
    "PlotPercent": _direction,
    "PlotRatio": _direction,
    "BkgLevel": _between(0, 1, ""),
    "rowColorChange": _anything,
    "plotIntervals": _switch,
    "plotStyle": _style,
}
"""Variable → what raises TableError for a value that it cannot have. The last two are Linklab's own."""


@dataclass
class PlotVariables:
    """The variables as they stand."""

    values: dict[str, Located] = field(default_factory=dict)

    def set(self, name: str, value: Located) -> None:
        """Give a variable a value, or its usual one again where the value is empty.

        Raises:
            TableError: it cannot have this value.
        """
        if not value:
            self.values.pop(name, None)
            return
        VARIABLES[name](value)
        if name == "plotSize":
            for part, each in zip(sizes_of(value), ("plotXSize", "plotYSize"), strict=False):
                self.values[each] = part
            return
        self.values[name] = value

    def get(self, name: str) -> Located | None:
        """The value that a variable was given."""
        return self.values.get(name)

    def text(self, name: str, usual: str = "") -> str:
        """The text of a variable."""
        found = self.values.get(name)
        return usual if found is None else found.text

    def number(self, name: str) -> float | None:
        """The number that a variable was given; None if it was given none."""
        found = self.values.get(name)
        return None if found is None else float(found.text)

    def is_on(self, name: str, *, usual: bool = False) -> bool:
        """Whether a switch is on."""
        found = self.values.get(name)
        return usual if found is None else found.text.lower() in _ON
