# SPDX-License-Identifier: BSD-3-Clause
"""Directives that take several lines: a column in the paper's four (NewColField1 …), and a scale in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linklab.base.text import excerpt
from linklab.netesto.table.cells import BAD, CsvCell
from linklab.netesto.table.formula import Formula, combine, formula_of
from linklab.netesto.table.located import Located, TableError

_OPERATORS = {"newcoladd": "+", "newcolsub": "-", "newcolmult": "*", "newcoldiv": "/", "newcolconcat": "&"}
_FORM = ("NewColField1", "NewColOp", "NewColField2", "NewColName")
_LARGEST_FACTOR = 1e30


@dataclass
class ColumnForm:
    """The lines of a column so far, by their words."""

    lines: dict[str, Located] = field(default_factory=dict)

    def take(self, which: str, value: Located) -> Mapping[str, Located] | None:
        """Take a line; all four once they are there, and the next column begins.

        Raises:
            TableError: it has no value.
        """
        if not value:
            raise value.error(f"{which} needs a value")
        self.lines[which] = value
        if len(self.lines) < len(_FORM):
            return None
        whole, self.lines = self.lines, {}
        return whole

    def check_complete(self) -> None:
        """What was begun must be whole when the script ends.

        Raises:
            TableError: a line is missing.
        """
        if self.lines:
            missing = [name for name in _FORM if name not in self.lines]
            last = list(self.lines.values())[-1]
            verb = "is" if len(missing) == 1 else "are"
            raise last.error(f"this column is never made, because {', '.join(missing)} {verb} missing")


def computed_by(form: Mapping[str, Located], columns: Sequence[str]) -> tuple[Formula, TableError | None]:
    """What computes the column of four lines; with an error, it computes `BAD`."""

    def bad(_: Mapping[str, CsvCell]) -> CsvCell:
        return BAD

    word = form["NewColOp"]
    sign = _OPERATORS.get(word.text.lower(), word.text if word.text in "+-*/&" else "")
    if not sign:
        what = f'"{excerpt(word.text)}" must be NewColAdd, NewColSub, NewColMult, NewColDiv, or NewColConcat'
        return bad, word.error(what)
    try:
        one, other = (formula_of(form[name], columns) for name in ("NewColField1", "NewColField2"))
    except TableError as error:
        return bad, error
    between = CsvCell("_" if sign == "&" else "")  # the form puts it between the texts that it joins

    def compute(cells: Mapping[str, CsvCell]) -> CsvCell:
        left, right = one(cells), other(cells)
        return combine(sign, combine("&", left, between) if sign == "&" else left, right)

    return compute, None


@dataclass
class ScaleForm:
    """The columns to scale and the factor, as far as they are there."""

    columns: Sequence[str] = ()
    factor: float | None = None
    at: Located | None = None

    def take_columns(self, columns: Sequence[str], at: Located) -> None:
        """Take ScaleColumns."""
        self.columns, self.at = columns, at

    def take_factor(self, value: Located) -> None:
        """Take ScaleFactor.

        Raises:
            TableError: it is not a number.
        """
        try:
            factor = float(value.text)
        except ValueError:
            factor = float("nan")
        self.factor = factor if abs(factor) < _LARGEST_FACTOR else None
        if self.factor is None:
            raise value.error(f'"{excerpt(value.text)}" must be a number, such as 0.001')
        self.at = value

    def whole(self) -> tuple[frozenset[str], float] | None:
        """Columns and factor, once both are there; the next scale then begins."""
        if not self.columns or self.factor is None:
            return None
        found = frozenset(self.columns), self.factor
        self.columns, self.factor, self.at = (), None, None
        return found

    def check_complete(self) -> None:
        """What was begun must be whole when the script ends.

        Raises:
            TableError: one of the two is missing.
        """
        if self.at is not None:
            missing = "ScaleFactor" if self.factor is None else "ScaleColumns"
            raise self.at.error(f"nothing is scaled, because {missing} is missing")
