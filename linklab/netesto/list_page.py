# SPDX-License-Identifier: BSD-3-Clause
"""The list of a campaign's experiments, ExpList.html, and the links between their pages.

A row is that of the experiment in exp.csv (N.0). Sorting and filtering are done by grid.js in the page; without it the
page is a plain table.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from linklab.base.files import write_asked
from linklab.base.text import file_name
from linklab.netesto.csv_file import CSV_FILE, experiment_folders, finished, rows_of
from linklab.netesto.fields import WORDS, CsvField, number_of
from linklab.netesto.page import AROUND, HERE, PAGE, environment, shown

LIST = "ExpList.html"

_COLUMNS = (
    *(("exp", "one"), ("expName", "one"), ("testType", "one"), ("testNote", "one"), ("desc", "one"), ("ca", "all")),
    *(("instances", "sum"), ("dur", "max"), ("netem", "one"), ("qdisc", "one"), ("bw", "one"), ("buffers", "one")),
    *(("rate", "sumRateDur"), ("rateMin", "min"), ("rateMax", "max"), ("fairness", "one"), ("retransPkts%", "one")),
    *(("p50Latency", "avg"), ("p99Latency", "avg"), ("rtt", "avg"), ("pingRtt", "avg"), ("cwnd", "avg")),
)
"""Columns of the list: name and operator as in fields.txt. One that is blank everywhere is left out."""


def write_list(campaign: Path) -> Path:
    """Write ExpList.html with all experiments that have ended, and link their pages to each other; its path.

    Raises:
        InputError: a page cannot be written.
        DataError: the folder of an experiment cannot be read.
    """
    folders = [folder for folder in experiment_folders(campaign) if finished(folder)]
    link_pages(folders)
    fields = [CsvField(name, operator) for name, operator in _COLUMNS]
    rows = [(folder.name, rows_of(folder, fields)[0]) for folder in folders]
    used = [at for at in range(len(fields)) if any(row[at] for _, row in rows)]
    numeric = {at for at in used if all(not row[at] or number_of(row[at]) is not None for _, row in rows)}
    text = (
        environment()
        .get_template("list.html.j2")
        .render(
            title=file_name(Path(campaign.resolve().name)),
            columns=[(fields[at].name, at in numeric) for at in used],
            rows=[
                (_address(campaign, exp), [_cell(fields[at].name, row[at], number=at in numeric) for at in used])
                for exp, row in rows
            ],
            csv=CSV_FILE if (campaign / CSV_FILE).is_file() else "",
            program=Markup((HERE / "grid.js").read_text(encoding="utf-8")),  # noqa: S704 - our own
        )
    )
    return write_asked(campaign / LIST, text)


def _address(campaign: Path, exp: str) -> str:
    """Where the page of an experiment is; "" if it has none."""
    return f"{quote(exp)}/{PAGE}" if (campaign / exp / PAGE).is_file() else ""


def _cell(column: str, cell: str, *, number: bool) -> tuple[str, float | None]:
    """What a cell shows, and the number by which it is sorted; words stay as they are, such as a kernel 6.10."""
    value = number_of(cell) if number else None
    plain = value is None or (column in WORDS and column != "exp")
    return (cell if plain else shown(value)), value


# --- links


def link_pages(folders: Sequence[Path]) -> None:
    """Write into each experiment's page which one comes before and after it.

    Raises:
        InputError: a page cannot be written.
    """
    pages = [folder / PAGE for folder in folders if (folder / PAGE).is_file()]
    for at, path in enumerate(pages):
        before = pages[at - 1].parent.name if at else ""
        after = pages[at + 1].parent.name if at + 1 < len(pages) else ""
        text = path.read_text(encoding="utf-8")
        begin, first, rest = text.partition(AROUND[0])
        _, second, end = rest.partition(AROUND[1])
        linked = f"{begin}{first}{_around(before, after)}{second}{end}"
        if second and linked != text:
            write_asked(path, linked)


def _around(before: str, after: str) -> str:
    up = f'<a rel="up" href="../{LIST}">Up: all experiments</a>'
    return " ".join((_link("Previous", "prev", before), up, _link("Next", "next", after)))


def _link(words: str, relation: str, exp: str) -> str:
    if not exp:
        return f'<span class="nowhere">{words}</span>'
    return f'<a rel="{relation}" href="../{quote(exp)}/{PAGE}">{words}: {escape(exp)}</a>'
