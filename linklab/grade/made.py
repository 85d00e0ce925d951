# SPDX-License-Identifier: BSD-3-Clause
"""`solution/` and `wrong/NAME/` → what a student who does that makes, as templates that an instance fills.

A wrong answer says what it changes in the solution, in its marks.toml, or holds a whole file instead.  Pure.
Format: docs/writing-an-exercise.md, "Known wrong answers".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from linklab.base import toml
from linklab.exercise.model import Exercise

WORK, ANSWERS, DRAWING = "work.sh", "answers.toml", "topology.mn"


@dataclass(frozen=True)
class Made:
    """What a student makes; all texts may have placeholders, also of metrics in the answers.

    folder: where it is described, for messages.
    work: text of work.sh, "" where there is none.
    answers: question → answer.
    drawing: text of topology.mn, "" where the exercise hands one out.
    """

    folder: Path
    work: str
    answers: Mapping[str, Any]
    drawing: str

    @property
    def steps(self) -> list[str]:
        """The paragraphs of work.sh, each of which may be done or left undone by itself."""
        return [f"{step.strip()}\n" for step in re.split(r"\n\s*\n", self.work) if step.strip()]


def solution(exercise: Exercise) -> Made:
    """The model answer.

    Raises:
        InputError: answers.toml is no TOML.
    """
    folder = exercise.folder / "solution"
    nothing = Made(folder, "", {}, "")
    return _with_files(nothing, folder)


def take_changes(table: toml.Table, exercise: Exercise, folder: Path) -> Made:
    """What the wrong answer of a folder makes: takes `steps`, `work`, `then`, `blank`, and `answers` out of it.

    Raises:
        InputError: a change that cannot be made: the key, and what is wanted.
    """
    model = solution(exercise)
    steps, work, then = table.take("steps", list, None), table.take("work", dict, {}), table.take("then", str, "")
    blank, answers = table.texts("blank"), table.take("answers", dict, {})
    for name, given in ((WORK, steps is not None or work or then), (ANSWERS, blank or answers)):
        if given and (folder / name).is_file():
            raise table.wrong(f"there is a {name} beside it; give either that file or what is changed in the solution")
    if steps is not None:
        most = len(model.steps)
        if not all(isinstance(step, int) and 1 <= step <= most for step in steps):
            raise table.wrong(f'"steps" are numbers of the paragraphs of the solution\'s work.sh, 1 to {most}')
        model = replace(model, work="\n".join(model.steps[step - 1] for step in sorted({*steps})))
    for old, new in work.items():
        if not old or old not in model.work or not isinstance(new, str):
            raise table.wrong(f'[work] changes text of the solution\'s work.sh into text, and "{old}" is not there')
        model = replace(model, work=model.work.replace(old, new))
    if then:
        model = replace(model, work=f"{model.work}\n{then.strip()}\n")
    unknown = {*answers} - {answer.name for answer in exercise.answers}
    if unknown:
        raise table.wrong(f'[answers] has "{min(unknown)}", which is no question of {exercise.id}')
    kept = {name: text for name, text in model.answers.items() if not any(fnmatchcase(name, each) for each in blank)}
    if blank and len(kept) == len(model.answers):
        raise table.wrong(f'"blank" names questions that are not answered, and {", ".join(blank)} names none')
    return _with_files(replace(model, folder=folder, answers={**kept, **answers}), folder)


def _with_files(made: Made, folder: Path) -> Made:
    """The same with the whole files that the folder holds."""

    def text(name: str, otherwise: str) -> str:
        path = folder / name
        return path.read_text(encoding="utf-8") if path.is_file() else otherwise

    answers = (
        toml.parse(text(ANSWERS, ""), f"{folder / ANSWERS}").data if (folder / ANSWERS).is_file() else made.answers
    )
    return Made(made.folder, text(WORK, made.work), answers, text(DRAWING, made.drawing))
