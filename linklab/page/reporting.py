# SPDX-License-Identifier: BSD-3-Clause
"""What the guide of a lab says → the lab's report, for the page, for a file, and for handing in.

Works from the folder of a lab alone, so a report can be written when no network runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from linklab.base.numbers import format_number
from linklab.documents.handbook import chapter
from linklab.errors import InputError
from linklab.guide.evidence import PredictionEvidence
from linklab.guide.guide import Guide
from linklab.guide.predictions import PredictionTime
from linklab.guide.progress import BEGUN, CONTINUED, FILE, FOLDER, LabProgress
from linklab.guide.status import StepState
from linklab.judge.expectation import ExpectationVerdict
from linklab.judge.metric_words import metric_in_words
from linklab.lab.model import Lab
from linklab.manual.names import step_names
from linklab.page.lab_report import LabWork, lab_report
from linklab.page.notes import StudentNotes


class Judged(Protocol):
    """A guide, or a session that holds one."""

    def steps(self) -> list[StepState]:
        """The state of every step."""
        ...

    def measured(self, step_id: str) -> Mapping[str, tuple[float, str]]:
        """What a step measured when it was done last."""
        ...

    def verdicts(self) -> Sequence[ExpectationVerdict]:
        """What the lab expects of steps that are done."""
        ...

    def prediction(self, name: str) -> tuple[PredictionEvidence, PredictionTime] | None:
        """What the student predicted, and when that was written."""
        ...


def settled(lab: Lab, guide: Judged) -> dict[str, list[str]]:
    """The predictions whose steps are all done → what each measured, as "Ping h3 from h1: longest … 20 ms, mean …"."""
    good = {state.id for state in guide.steps() if state.status.good}
    names = step_names(lab.manual)
    return {
        asked.id: [f"{names[step]}: {text}" for step in asked.settled if (text := _measured(lab, guide, step))]
        for asked in lab.manual.predictions
        if good.issuperset(asked.settled)
    }


def _measured(lab: Lab, guide: Judged, step: str) -> str:
    """What a step measured of what the lab expects of it or its manual quotes; "" if that is nothing."""
    wanted = [each.what for each in lab.expectations if step == each.step and each.what]
    quotes = [*lab.manual.quotes, *(quote for answer in lab.load_answers().values() for quote in answer.quotes)]
    wanted += [quote.metric for quote in quotes if quote.kind == "scalar" and quote.step == step]
    found = guide.measured(step)
    return ", ".join(f"{metric_in_words(name)} {shown(found[name])}" for name in dict.fromkeys(wanted) if name in found)


def shown(quantity: tuple[float, str]) -> str:
    """A measured number as people read it, in four digits: three would make 110 ms of 109.7 ms."""
    try:
        return format_number(*quantity, significant=4)
    except ValueError:
        return f"{quantity[0]:g} {quantity[1]}".strip()


def work_of(lab: Lab, guide: Judged, environment: Mapping[str, Any]) -> LabWork:
    """What is known of somebody's work."""
    states = [state.as_json() for state in guide.steps()]
    standings = {asked.id: guide.prediction(asked.id) for asked in lab.manual.predictions}
    return LabWork(states, settled(lab, guide), environment, guide.verdicts(), standings)


def report_of(lab: Lab, folder: Path, work: LabWork, name: str = "") -> str:
    """The report as HTML; name: of the student, if not the one in the notes.

    Raises:
        InputError, ManualError: the notes or the manual cannot be read.
    """
    notes = StudentNotes.load(folder, lab.slug)
    notes.name = name or notes.name
    return lab_report(chapter(lab), notes, work, f"{datetime.now():%Y-%m-%d %H:%M}")


def report_of_folder(lab: Lab, folder: Path, name: str = "") -> str:
    """The report of a lab by what is kept in its folder; raises as `report_of`, and InputError without progress."""
    progress = progress_of(lab, folder)
    guide = Guide(lab)
    guide.see_all(progress.evidence())
    begun = [*progress.notes(BEGUN), *progress.notes(CONTINUED)]
    environment = begun[-1].get("environment", {}) if begun else {}
    work = replace(work_of(lab, guide, environment), trouble=progress.trouble())
    return report_of(lab, folder, work, name)


def progress_of(lab: Lab, folder: Path) -> LabProgress:
    """The progress of a lab in a folder; InputError if there is none."""
    if not (folder / FOLDER / FILE).is_file():
        raise InputError(f"{folder}: no lab was begun here; begin one with `linklab lab {lab.number}`")
    return LabProgress.begin(folder, lab)  # refuses another lab's, and what cannot be read at all
