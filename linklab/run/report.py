# SPDX-License-Identifier: BSD-3-Clause
"""A finished run as one HTML page: verdicts, and for every step what was typed, what it showed and its plots.

Reads the folder of the run and nothing else, so that it can be made later, and elsewhere. The page works offline; it is
`report.html.j2` beside the manual's templates.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from linklab.base.files import write
from linklab.base.text import file_name
from linklab.errors import InputError
from linklab.lab.saved import SavedRun, SavedStep
from linklab.manual.blocks import excerpt, terminal_label
from linklab.manual.html import data_uri, page
from linklab.manual.model import Show
from linklab.plots import catalogue

OUTPUT_LINES = 400
"""Longest output printed whole; of a longer one both ends, the rest is in `steps/`."""


@dataclass(frozen=True)
class StepView:
    """What the page shows of a step; files are (address below the page, name), plots (title, data URI)."""

    step: SavedStep
    terminal: str
    output: str
    files: Sequence[tuple[str, str]]
    plots: Sequence[tuple[str, str]]


def write_report(run: SavedRun, path: Path | None = None) -> Path:
    """Write the page, into the run's folder unless `path` is given, and give its path.

    Raises:
        DataError: a data set of the run cannot be read.
        InputError: the page cannot be written there.
    """
    path = path or run.folder / "report.html"
    folder = os.path.relpath(run.folder / "files", path.parent)
    steps = []
    for step in run.steps.values():
        output = step.output
        if output.count("\n") > OUTPUT_LINES:
            output = excerpt(output, Show("auto"))
        files = [(quote(os.fsencode(f"{folder}/{name}")), file_name(Path(name))) for name in step.files]
        steps.append(StepView(step, terminal_label(step.terminal), output, files, _plots(run, step)))
    html = page("report.html.j2", run=run, heading=run.heading, views=steps)
    try:
        write(path, html)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def _plots(run: SavedRun, step: SavedStep) -> list[tuple[str, str]]:
    if not step.data_file:
        return []
    part = catalogue.part_of(run.data(step.id))
    return [
        (catalogue.PLOTS[name].words, data_uri(catalogue.draw([part], [name])))
        for name in catalogue.reported(part.data)
        if name in catalogue.PLOTS
    ]
