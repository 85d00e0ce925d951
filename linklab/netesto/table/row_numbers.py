# SPDX-License-Identifier: BSD-3-Clause
"""Rows by the numbers of their experiments, as `rows=` names them: 7, 7.0, 7..9, all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab.base.text import excerpt
from linklab.netesto.table.cells import ITERATION, CsvRow, same_iteration
from linklab.netesto.table.located import Located

_RANGE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*\.\.\s*(\d{1,15}(?:\.\d{1,9})?)", re.ASCII)
_ONE = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)


def named_rows(part: Located, rows: Sequence[CsvRow]) -> Sequence[CsvRow]:
    """The rows of `7`, with all groups; of `7.0`; of `7..9`, with all groups; of `7.0..9.0`; of `all`.

    Raises:
        TableError: it has another form.
    """
    text = part.unquoted().text
    if text.lower() == "all":
        return rows
    ends = _RANGE.fullmatch(text)
    if ends:
        low, high = (float(end) for end in ends.groups())
        if low > high:
            raise part.error(f'"{excerpt(text)}" ends before it begins')
        whole = "." not in ends[1] + ends[2]
        return [row for row in rows if low <= _number(row, whole=whole) <= high]
    if not _ONE.fullmatch(text):
        raise part.error(f'"{excerpt(text)}" must be an experiment such as 7 or 7.0, a range such as 7..9, or all')
    if "." in text:
        return [row for row in rows if same_iteration(row.cells[ITERATION].text, text)]
    return [row for row in rows if row.cells[ITERATION].text.partition(".")[0].lstrip("0") == text.lstrip("0")]


def _number(row: CsvRow, *, whole: bool) -> float:
    """The number of a row's experiment, with the group unless `whole`."""
    text = row.cells[ITERATION].text
    return float(text.partition(".")[0] if whole else text)
