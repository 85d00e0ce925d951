# SPDX-License-Identifier: BSD-3-Clause
"""The list of a campaign's experiments, ExpList.html, and the links between their pages.

A row is that of the experiment in exp.csv (N.0). Sorting and filtering are a script in the page; without it the page is
a plain table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from linklab.base.files import write_asked
from linklab.base.text import file_name
from linklab.netesto.csv_file import CSV_FILE, experiment_folders, finished, rows_of
from linklab.netesto.fields import Field, number_of
from linklab.netesto.page import AROUND, PAGE, UNKNOWN, environment, shown

LIST = "ExpList.html"

_COLUMNS = (
    ("exp", "one", "Exp", ""),
    ("expName", "one", "Name", ""),
    ("testType", "one", "Type", ""),
    ("testNote", "one", "Note", ""),
    ("desc", "one", "Description", ""),
    ("ca", "all", "CC", ""),
    ("instances", "sum", "Flows", ""),
    ("dur", "max", "Duration", "s"),
    ("netem", "one", "netem", ""),
    ("qdisc", "one", "qdisc", ""),
    ("bw", "one", "bw", ""),
    ("buffers", "one", "buffers", ""),
    ("rate", "sumRateDur", "Rate", "Mbit/s"),
    ("rateMin", "min", "Least rate", "Mbit/s"),
    ("rateMax", "max", "Largest rate", "Mbit/s"),
    ("fairness", "one", "Fairness", ""),
    ("retransPkts%", "one", "Retrans.", "%"),
    ("p50Latency", "avg", "p50", "µs"),
    ("p99Latency", "avg", "p99", "µs"),
    ("rtt", "avg", "rtt", "µs"),
    ("pingRtt", "avg", "pingRtt", "µs"),
    ("cwnd", "avg", "cwnd", "packets"),
)
"""Columns of the list: name and operator as in fields.txt, words, unit. One that is blank everywhere is left out."""


def write_list(campaign: Path) -> Path:
    """Write ExpList.html with all experiments that have ended, and link their pages to each other; its path.

    Raises:
        InputError: a page cannot be written.
        DataError: the folder of an experiment cannot be read.
    """
    folders = [folder for folder in experiment_folders(campaign) if finished(folder)]
    link_pages(folders)
    fields = [Field(name, operator) for name, operator, _, _ in _COLUMNS]
    rows = [(folder.name, rows_of(folder, fields)[0]) for folder in folders]
    used = [at for at in range(len(fields)) if any(row[at] for _, row in rows)]
    text = (
        environment()
        .get_template("list.html.j2")
        .render(
            title=file_name(Path(campaign.resolve().name)),
            columns=[
                (name, words, unit, _holds_numbers([row[at] for _, row in rows]))
                for at in used
                for name, _, words, unit in [_COLUMNS[at]]
            ],
            rows=[
                (f"{quote(exp)}/{PAGE}" if (campaign / exp / PAGE).is_file() else "", [_cell(row[at]) for at in used])
                for exp, row in rows
            ],
            csv=CSV_FILE if (campaign / CSV_FILE).is_file() else "",
        )
    )
    return write_asked(campaign / LIST, text)


def _holds_numbers(cells: Sequence[str]) -> bool:
    return all(not cell or number_of(cell) is not None for cell in cells)


def _cell(cell: str) -> tuple[str, str]:
    """What a cell shows, and what it is sorted by: the number in full."""
    number = number_of(cell) if re.fullmatch(r"-?\d+\.\d+", cell, re.ASCII) else None
    return (cell or UNKNOWN if number is None else shown(number)), cell


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
