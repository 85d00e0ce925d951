# SPDX-License-Identifier: BSD-3-Clause
"""The report of a lab that was done on its page: name, predictions, answers, and how far each step came, as HTML.

Takes what the student wrote and what the guide says, and gives text; `linklab.page.reporting` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linklab.base.environment import environment_in_words
from linklab.guide.evidence import PredictionEvidence
from linklab.guide.missed import relation_in_words
from linklab.guide.predictions import PredictionTime
from linklab.judge.expectation import Expectation, ExpectationVerdict
from linklab.judge.metric_words import metric_in_words
from linklab.manual.chapter import Chapter
from linklab.manual.html import page, render_body
from linklab.manual.model import Prediction
from linklab.manual.names import step_names, step_places
from linklab.page.notes import StudentNotes
from linklab.page.predicted import WrittenPrediction

VERDICTS = {"done": "pass", "done differently": "pass", "wrong": "fail", "open": "skipped"}
"""State of a step → the verdict whose colour it has."""

_QUESTIONS = re.compile(r'id="questions".*?<ol>\n?(.*?)</ol>', re.DOTALL)
_ITEM = re.compile(r"<li>(.*?)</li>", re.DOTALL)


@dataclass(frozen=True)
class LabWork:
    """What is known of somebody's work on a lab.

    steps: the states of all steps, as `StepState.as_json` gives them.
    settled: ids of the predictions whose steps are done → what they measured, a text each.
    verdicts: what the lab expects of steps that were done, beside what they measured.
    environment: of the network.
    standings: ids of predictions → what was predicted, and when that was written; None where the order is not known.
    trouble: a sentence on what cannot be read of the progress, "" if all can.
    """

    steps: Sequence[Mapping[str, Any]] = ()
    settled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[ExpectationVerdict] = ()
    standings: Mapping[str, tuple[PredictionEvidence, PredictionTime] | None] = field(default_factory=dict)
    trouble: str = ""


def questions_in(body: str) -> list[str]:
    """The questions at the end of a manual, as HTML; from the manual's body as `render_body` writes it."""
    found = _QUESTIONS.search(body)
    return [item.strip() for item in _ITEM.findall(found[1])] if found else []


def lab_report(chapter: Chapter, notes: StudentNotes, work: LabWork, written: str) -> str:
    """The report as one HTML page.

    Args:
        chapter: of the lab.
        notes: what the student wrote.
        work: what the guide says.
        written: date and time, for the head.

    Raises:
        ManualError: as `render_body`.
    """
    body = render_body(chapter)
    names, places = step_names(chapter.manual), step_places(chapter.manual)
    told = {step: ": ".join(filter(None, (places[step], name))) for step, name in names.items()}
    needed = [step for step in work.steps if not step["optional"]]
    return page(
        "lab_report.html.j2",
        heading=chapter.heading,
        name=notes.name,
        written=written,
        trouble=work.trouble,
        done=sum(VERDICTS[step["status"]] == "pass" for step in needed if step["counts"]),
        counted=sum(step["counts"] for step in needed),
        steps=[{**_step(step, names), "place": places.get(step["id"], "")} for step in needed],
        predictions=[_prediction(asked, body, notes, work, told) for asked in chapter.manual.predictions],
        questions=[(text, notes.answers.get(str(number), "")) for number, text in enumerate(questions_in(body), 1)],
        verdicts=[_verdict(each, told, names) for each in work.verdicts],
        environment=environment_in_words(work.environment),
    )


def _step(state: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    found = [
        state["story"],
        state["expected"] and f"expected {state['expected']}",
        state["seen"] and f"saw {state['seen']}",
    ]
    status = "left out" if state["left_out"] else state["status"] if state["counts"] else "not followed"
    name = names.get(state["id"], state["task"])
    told = {"name": name, "status": status, "verdict": VERDICTS[state["status"]]}
    return {**state, **told, "found": [text for text in found if text]}


def _verdict(verdict: ExpectationVerdict, told: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    """A row of what was measured; told: the names of steps with their numbers."""
    expectation = verdict.expectation
    return {
        "step": "; ".join(told.get(step, step) for step in expectation.steps),
        "what": _what(expectation, names),
        "expected": verdict.expected,
        "seen": verdict.seen,
        "why": expectation.why,
        "verdict": verdict.outcome.value,
    }


def _what(expectation: Expectation, names: Mapping[str, str]) -> str:
    if expectation.relation:
        return relation_in_words(expectation, names)
    return metric_in_words(expectation.what) if expectation.what else "output"


def _prediction(
    asked: Prediction, body: str, notes: StudentNotes, work: LabWork, told: Mapping[str, str]
) -> dict[str, Any]:
    """One prediction; question and theory are those of its box in the manual; told: as for `_verdict`."""
    name = asked.id
    box = body.partition(f'id="predict-{name}"')[2].partition("</section>")[0]
    question = box.partition('<div class="question">')[2].partition('</div><p class="write">')[0]
    theory = box.partition("</summary>")[2].partition("</details>")[0]
    standing = work.standings.get(name)
    written = WrittenPrediction.of(standing[0]) if standing else notes.predictions.get(name)
    when = standing[1] if standing else PredictionTime.UNKNOWN
    said = when.sentence if written and (standing or name in work.settled) else ""
    return {
        "id": name,
        "number": asked.number,
        "question": question,
        "theory": theory,
        "predicted": "; ".join(filter(None, (written.told(asked.asks), written.words))) if written else "",
        "why": written.why if written else "",
        "said": said,
        "settled": name in work.settled,
        "measured": work.settled.get(name, ()),
        "decided_by": [(step, told.get(step, step)) for step in asked.settled],
    }
