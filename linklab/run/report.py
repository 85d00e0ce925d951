# SPDX-License-Identifier: BSD-3-Clause
"""A finished run as one HTML page: verdicts, and for every step what was typed, what it showed and its plots.

Reads nothing but the run and its files. The page works offline; it is `report.html.j2` beside this module's manual
templates.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from linklab.base import files
from linklab.base.text import file_name
from linklab.manual.blocks import excerpt, terminal_label
from linklab.manual.html import data_uri, page
from linklab.manual.model import Show
from linklab.measure import Measurements
from linklab.plots import catalogue
from linklab.run.runner import Run

OUTPUT_LINES = 400
"""Longest output printed whole; of a longer one both ends, the rest is in `steps/`."""


@dataclass(frozen=True)
class StepView:
    """What the page shows of a step; files are (address below the page, name), plots (title, data URI)."""

    id: str
    title: str
    terminal: str
    typed: str
    output: str
    start_s: float
    end_s: float
    files: Sequence[tuple[str, str]]
    plots: Sequence[tuple[str, str]]


def write_report(run: Run) -> Path:
    """Write `report.html` into the run's folder and give its path."""
    steps = []
    for step_id, capture in run.captures.items():
        step = run.lab.manual.step(step_id)
        output = capture.output
        if output.count("\n") > OUTPUT_LINES:
            output = excerpt(output, Show("auto"))
        steps.append(
            StepView(
                id=step_id,
                title=step.title if step else "",
                terminal=terminal_label(capture.terminal),
                typed=capture.typed,
                output=output,
                start_s=capture.start_s,
                end_s=capture.end_s,
                files=[(f"files/{quote(os.fsencode(name))}", file_name(Path(name))) for name in capture.files],
                plots=_plots(step_id, run.measured[step_id]) if step_id in run.measured else (),
            )
        )
    html = page("report.html.j2", run=run, heading=run.lab.heading, steps=steps)
    path = run.out / "report.html"
    files.write(path, html)
    return path


def _plots(step: str, measured: Measurements) -> list[tuple[str, str]]:
    part = catalogue.Part(step, "", measured)
    names = catalogue.reported(measured)
    return [(catalogue.PLOTS[name].words, data_uri(catalogue.draw([part], [name]))) for name in names]
