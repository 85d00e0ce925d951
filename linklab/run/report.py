# SPDX-License-Identifier: BSD-3-Clause
"""A finished run as one HTML page: verdicts, and for every step what was typed, what it showed and its plots.

Reads the folder of the run and nothing else, so that it can be made later, and elsewhere. The page works offline; it is
`report.html.j2` beside the manual's templates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from linklab.base.environment import environment_in_words
from linklab.base.files import write_asked
from linklab.base.text import file_name
from linklab.errors import DataError, InputError
from linklab.lab.saved import SavedRun, SavedStep
from linklab.manual.blocks import shown_lines, terminal_label
from linklab.manual.html import page
from linklab.manual.images import data_uri
from linklab.manual.model import Show
from linklab.plots import catalogue

OUTPUT_LINES = 400
"""Longest output printed whole; of a longer one both ends, the rest is in `steps/`."""

_PARTS = frozenset({"run.json", "data", "files", "steps"})
"""Of a run's folder: what the page is made from."""


@dataclass(frozen=True)
class StepView:
    """What the page shows of a step; files are (address below the page, name), plots (title, data URI).

    unreadable: why its data set cannot be read, "" where it can be or there is none.
    """

    step: SavedStep
    terminal: str
    output: str
    files: Sequence[tuple[str, str]]
    plots: Sequence[tuple[str, str]]
    unreadable: str


def write_report(run: SavedRun, path: Path | None = None, told: Callable[[str], None] = lambda _: None) -> Path:
    """Write the page, into the run's folder unless `path` is given, and give its path.

    Args:
        run: the run.
        path: where a person wants the page.
        told: called with a sentence for each data set that cannot be read; the page shows it instead of the plots.

    Raises:
        InputError: the page cannot be written there, or would replace a file that is not a page.
    """
    if path is not None:
        _check_target(run, path)
    path = path or run.folder / "report.html"
    folder = os.path.relpath(run.folder / "files", path.parent)
    steps = []
    for step in run.steps.values():
        output = step.output
        if output.count("\n") > OUTPUT_LINES:
            output = shown_lines(output, Show("auto"))
        files = [(quote(os.fsencode(f"{folder}/{name}")), file_name(Path(name))) for name in step.files]
        plots, unreadable = _plots(run, step)
        if unreadable:
            told(unreadable)
        steps.append(StepView(step, terminal_label(step.terminal), output, files, plots, unreadable))
    html = page(
        "report.html.j2", run=run, heading=run.heading, views=steps, environment=environment_in_words(run.environment)
    )
    return write_asked(path, html)


def _check_target(run: SavedRun, path: Path) -> None:
    """InputError if a page at `path` would replace a part of the run, or any file that is not a page."""
    target, folder = path.resolve(), run.folder.resolve()
    cure = "give --out another name, such as report.html"
    if target.is_dir():
        raise InputError(f"{path}: this is a folder; {cure}")
    if target.is_relative_to(folder) and target.relative_to(folder).parts[0] in _PARTS:
        raise InputError(f"{path}: this is a part of the run, which the page must not replace; {cure}")
    if target.is_file() and target.suffix.lower() not in {".html", ".htm"}:
        raise InputError(f"{path}: this file is not a page (.html), so it is not replaced; {cure}")


def _plots(run: SavedRun, step: SavedStep) -> tuple[list[tuple[str, str]], str]:
    """The plots of a step, or why its data set cannot be read."""
    if not step.data_file:
        return [], ""
    try:
        part = catalogue.part_of(run.data(step.id))
    except DataError as error:
        return [], str(error)
    plots = [
        (catalogue.PLOTS[name].words, data_uri(catalogue.draw([part], [name])))
        for name in catalogue.reported(part.data)
        if name in catalogue.PLOTS
    ]
    return plots, ""
