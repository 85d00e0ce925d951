# SPDX-License-Identifier: BSD-3-Clause
"""Whether a manual teaches in the order it should: predictions before measurements, subgoals over long runs of steps.

Called by `linklab labs --check`. The forms and the reasons are in docs/writing-a-lab.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from linklab.lab.model import Lab
from linklab.manual.chapter import Recorded
from linklab.manual.model import Prediction, PredictionAnswer, Section, Step

FEWEST_PREDICTIONS = 5
MOST_BARE_STEPS = 3
"""Steps that a section may have without a subgoal."""


def teaching_problems(lab: Lab, recorded: Recorded) -> list[str]:
    """What is wrong with a lab's predictions and subgoals, "FILE:LINE: …" each; ManualError as `load_answers`."""
    return [*_outcomes_told(lab), *_predictions(lab, recorded), *_subgoals(lab)]


def _outcomes_told(lab: Lab) -> Iterator[str]:
    """Numbers and plots that stand before the step that measures them."""
    manual = lab.manual
    told = [(quote.line, quote.step) for quote in manual.quotes]
    told += [(figure.line, name) for figure in manual.figures for name in figure.steps]
    for line, name in told:
        step = manual.step(name)
        if step and step.line > line:
            yield f"{manual.path}:{line}: tells the outcome of {name} before line {step.line} measures it"


def _predictions(lab: Lab, recorded: Recorded) -> Iterator[str]:
    manual, answers = lab.manual, lab.load_answers()
    for asked in manual.predictions:
        where = f"{manual.path}:{asked.line}: prediction {asked.id}"
        yield from (f"{where}: {problem}" for problem in _settling(asked, lab, recorded))
        if asked.id not in answers:
            yield f"{where} has no answer; write it below a heading with {{#predict-{asked.id}}} in {lab.answers_path}"
    known = {asked.id for asked in manual.predictions}
    for answer in answers.values():
        if answer.prediction not in known:
            yield f'{answer.path}:{answer.line}: the manual has no prediction "{answer.prediction}"'
        yield from _unrecorded(answer, lab, recorded)
    count = len(manual.predictions)
    if count < FEWEST_PREDICTIONS:
        yield f"{manual.path}:1: the lab has {count} of at least {FEWEST_PREDICTIONS} predictions"


def _settling(asked: Prediction, lab: Lab, recorded: Recorded) -> Iterator[str]:
    """Why the steps that a prediction names do not settle it."""
    for name in asked.settled:
        step = lab.manual.step(name)
        if step is None:
            yield f'there is no step "{name}" that could settle it'
        elif step.line < asked.line:
            yield f"{name} (line {step.line}) is measured before it is asked for"
        elif not _measures(step, recorded):
            yield f"{name} (line {step.line}) shows nothing that could settle it"


def _measures(step: Step, recorded: Recorded) -> bool:
    return bool(recorded.scalars.get(step.id) or recorded.outputs.get(step.id, "").strip())


def _unrecorded(answer: PredictionAnswer, lab: Lab, recorded: Recorded) -> Iterator[str]:
    for quote in answer.quotes:
        where = f"{answer.path}:{quote.line}"
        if quote.kind == "section" and quote.metric not in {section.slug for section in lab.manual.sections}:
            yield f'{where}: there is no section "{quote.metric}"'
        elif quote.kind == "scalar" and quote.metric not in recorded.scalars.get(quote.step, {}):
            known = ", ".join(sorted(recorded.scalars.get(quote.step, {}))) or "nothing"
            yield f"{where}: the reference of {quote.step} has no {quote.metric}; it has {known}"
    for figure in answer.figures:
        if figure.kind == "run":
            yield f"{answer.path}:{figure.line}: an answer shows no plot; refer to the one in the manual"


def _subgoals(lab: Lab) -> Iterator[str]:
    manual = lab.manual
    for section in manual.sections:
        yield from (f"{manual.path}:{line}: {problem}" for line, problem in _in_section(section, lab))


def _in_section(section: Section, lab: Lab) -> Iterator[tuple[int, str]]:
    """Line and words of what is wrong with the subgoals of one section, without those below it."""
    end = min((other.line for other in lab.manual.sections if other.line > section.line), default=None)
    inside = range(section.line, end or lab.manual.text.count("\n") + 2)
    tasks = [task.line for task in lab.manual.tasks if task.line in inside]
    subgoals = [subgoal for subgoal in lab.manual.subgoals if subgoal.line in inside]
    if not subgoals and len(tasks) > MOST_BARE_STEPS:
        yield section.line, f'"{section.title}" has {len(tasks)} steps and no subgoal; say what groups of them are for'
    if subgoals and tasks and tasks[0] < subgoals[0].line:
        yield tasks[0], "this step stands before the first subgoal of its section"
    for number, subgoal in enumerate(subgoals):
        after = subgoals[number + 1].line if number + 1 < len(subgoals) else inside.stop
        if not any(subgoal.line < task < after for task in tasks):
            yield subgoal.line, f'no step follows the subgoal "{subgoal.title}"'
