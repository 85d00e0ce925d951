# SPDX-License-Identifier: BSD-3-Clause
"""A document → one HTML page that works offline, on the screen and on paper, and the files beside it.

Cells of `exp` lead to the page of their experiment, with links relative to the page. Plots are in the page as SVG, and
in files of their own where the script names them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from linklab.base.files import write_asked
from linklab.base.text import file_name, visible
from linklab.errors import InputError
from linklab.manual.images import data_uri
from linklab.manual.templates import templates
from linklab.netesto.table.cells import ITERATION, CsvCell, CsvRow
from linklab.netesto.table.document import Links, PlotItem, TableItem, TablePage
from linklab.plots import style
from linklab.plots.grouped_bars import draw_grouped_bars

HERE = Path(__file__).resolve().parent

_TINTS = {"cubic": 0, "bbr": 1, "bbr2": 1, "bbr3": 1, "reno": 2, "dctcp": 3, "nv": 4, "cdg": 5}
"""Congestion control → colour of its rows; others take turns."""
_OWN = re.compile(r'<meta name="linklab-files" content="([^"]*)">')
"""What a page says of the files that were written beside it."""
_MOST_HEAD = 100_000
"""Bytes of a page in which that stands."""
_MOST_TINTS = 6
_BY = "ca"

_HIGHLIGHTS: Mapping[str, str] = {
    "rate": "good",
    "retransPkts%": "bad",
    "localRetrans": "bad",
    "retrans_total": "bad",
    "rtt": "late",
    "meanLatency": "late",
    "p99Latency": "late",
}
"""Columns whose cells stand out where they are more than 0."""


@dataclass(frozen=True)
class WrittenTable:
    """The page, and the files beside it."""

    page: Path
    files: Sequence[Path]


def write_page(document: TablePage, script: Path, out: Path) -> WrittenTable:
    """Write the page and what belongs to it.

    Args:
        document: what the script gave.
        script: for the title.
        out: the page; its folder is made if need be.

    Raises:
        InputError: it cannot be written there, or a file beside it would take the place of one that is not its own.
    """
    files: dict[str, bytes] = {}
    views: list[dict[str, Any]] = []
    for item in document.items:
        if isinstance(item, TableItem):
            views.append(_table_view(item, document.links, out.parent))
            continue
        picture = _picture(item)
        if item.name:
            suffix = Path(item.name).suffix.lower()
            figure = draw_grouped_bars(item.chart.drawing)
            files[item.name] = picture if suffix == ".svg" else style.drawn(figure, suffix)
        views.append(_plot_view(item, picture))
    if document.log is not None:
        name, lines = document.log
        files[name] = "".join(f"{line}\n" for line in lines).encode()
    names = list(files)
    page = templates(HERE, HERE.parent).get_template("table.html.j2")
    html = page.render(
        title=_title(document, script),
        script=file_name(Path(script.name)),
        source=", ".join(file_name(Path(os.path.relpath(path, out.parent))) for path in document.sources),
        notes=[str(each) for each in document.said],
        items=views,
        tables=any(view["kind"] == "table" for view in views),
        files="/".join(names),
        program=Markup((HERE.parent / "grid.js").read_text(encoding="utf-8")),  # noqa: S704 - our own
    )
    _refuse_others(out, names)
    write_asked(out, html)
    return WrittenTable(out, [write_asked(out.parent / name, content) for name, content in files.items()])


def _refuse_others(out: Path, names: Sequence[str]) -> None:
    """Refuse to write over files that are not of an earlier page of this name: the script has chosen their names.

    Raises:
        InputError: such a file is there, or a link.
    """
    before = b""
    if out.is_file():
        with out.open("rb") as file:
            before = file.read(_MOST_HEAD)
    found = _OWN.search(before.decode("utf-8", "replace"))
    own = unescape(found[1]).split("/") if found else []
    for name in names:
        path = out.parent / name
        if path.is_symlink():
            raise InputError(f"{file_name(path)}: is a link, and the script writes to no other place; remove it")
        if path.exists() and name not in own:
            raise InputError(
                f"{file_name(path)}: is there already, and not from this script; move it away, or name another "
                "folder with -o"
            )


def _title(document: TablePage, script: Path) -> str:
    """The first plot's, or the script's name."""
    for item in document.items:
        if isinstance(item, PlotItem) and item.chart.drawing.title:
            return item.chart.drawing.title[0]
    return f"Experiments of {file_name(Path(script.name))}"


# --- plots


def _picture(item: PlotItem) -> bytes:
    """The plot as SVG."""
    return style.drawn(draw_grouped_bars(item.chart.drawing))


def _plot_view(item: PlotItem, picture: bytes) -> dict[str, Any]:
    chart = item.chart
    return {
        "kind": "plot",
        "uri": data_uri(picture),
        "width": chart.pixels[0],
        "height": chart.pixels[1],
        "words": chart.words,
        "file": item.name,
        "address": quote(item.name),
        "columns": chart.head,
        "rows": chart.rows,
    }


# --- tables


def _table_view(item: TableItem, links: Links, folder: Path) -> dict[str, Any]:
    numeric = {column for column in item.columns if any(row.cells[column].number is not None for row in item.rows)} - {
        ITERATION
    }
    decimals = {column: _decimals(item, column) for column in item.columns}
    head = "".join(_head(column, numeric=column in numeric) for column in item.columns)
    lead = _Leads(links, folder)
    lines = []
    for row, attributes in _banded(item):
        cells = "".join(_cell(row, column, decimals[column], lead, numeric) for column in item.columns)
        lines.append(f"<tr{attributes}>{cells}</tr>")
    count = len(item.rows)
    return {
        "kind": "table",
        "label": f"Table of {count} row{'' if count == 1 else 's'}",
        "head": Markup(head),  # noqa: S704 - escaped above
        "body": Markup("\n".join(lines)),  # noqa: S704 - likewise
    }


def _head(column: str, *, numeric: bool) -> str:
    attributes = ' class="n"' if numeric else " data-id" if column == ITERATION else ""
    return f'<th scope="col"{attributes}>{escape(visible(column))}</th>'


def _banded(item: TableItem) -> Iterator[tuple[CsvRow, str]]:
    """Each row with the attributes of its element: the colour of its band, and where a band begins."""
    tints: dict[str, int] = {}
    before: str | None = None
    bands = -1
    for row in item.rows:
        classes = []
        if item.change:
            value = row.cells[item.change].text
            if value != before:
                bands += 1
                classes += ["turn"] if before is not None else []
            before = value
            classes.append(f"tint-{0 if bands % 2 else 5}")
        elif _BY in row.cells:
            value = row.cells[_BY].text
            if value not in tints:
                tints[value] = _TINTS.get(value, len(tints) % _MOST_TINTS)
            classes.append(f"tint-{tints[value]}")
        yield row, f' class="{" ".join(classes)}"' if classes else ""


def _decimals(item: TableItem, column: str) -> int | None:
    """How many decimals the numbers of a column show; None for each as it is written.

    Whole numbers, such as 10.0 flows, have none.
    """
    if column not in item.decimals or column == ITERATION:
        return None
    numbers = [row.cells[column].number for row in item.rows]
    if all(number is None or number == int(number) for number in numbers):
        return 0
    return item.decimals[column]


def shown(cell: CsvCell, decimals: int | None) -> str:
    """The text of a cell."""
    if cell.number is None or decimals is None:
        return visible(cell.text, keep="")
    return f"{cell.number:.{decimals}f}"


def _cell(row: CsvRow, column: str, decimals: int | None, lead: _Leads, numeric: set[str]) -> str:
    cell = row.cells[column]
    text = escape(shown(cell, decimals))
    classes = ["n"] if column in numeric else []
    if cell.number is not None and cell.number > 0 and column in _HIGHLIGHTS:
        classes.append(_HIGHLIGHTS[column])
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if cell.number is not None:
        attributes += f' data-v="{cell.number!r}"'
    if column == ITERATION:
        address = lead.to(row)
        if address:
            text = f'<a href="{escape(address)}">{text}</a>'
    return f"<td{attributes}>{text}</td>"


class _Leads:
    """Addresses of the pages of experiments, as seen from the page."""

    def __init__(self, links: Links, folder: Path) -> None:
        self.links = links
        self.folder = folder
        self._known: dict[tuple[str, str], str] = {}

    def to(self, row: CsvRow) -> str:
        """The address of an experiment's page; "" if there is none."""
        key = (str(row.folder), row.experiment)
        if key not in self._known:
            self._known[key] = self._find(row)
        return self._known[key]

    def _find(self, row: CsvRow) -> str:
        """The first place that has the page; what the script says where no place has it."""
        inside = f"{row.experiment}/{self.links.file}"
        given = self.links.given if str(row.folder) == self.links.first else ()
        for each in given:
            # the folder of the page may not be there yet
            there = Path(os.path.normpath(self.folder.resolve() / each / inside))
            if not each.lower().startswith(("http://", "https://")) and there.is_file():
                return quote(f"{each}/{inside}")
        if (row.folder / inside).is_file():
            return quote(os.path.relpath(row.folder / inside, self.folder))
        for each in given:
            if each.lower().startswith(("http://", "https://")):
                return quote(f"{each}/{inside}", safe="/:?=&%")
        return ""
