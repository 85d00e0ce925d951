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
class Attempt:
    """What a student does and answers; all texts may have placeholders, also of metrics in the answers.

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


def solution(exercise: Exercise) -> Attempt:
    """The model answer.

    Raises:
        InputError: a file cannot be read, or answers.toml is no TOML.
    """
    folder = exercise.folder / "solution"
    return _with_files(Attempt(folder, "", {}, ""), folder)


def take_changes(table: toml.Table, exercise: Exercise, folder: Path) -> Attempt:
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
        if not all(type(step) is int and 1 <= step <= most for step in steps):  # not true, which is an int of Python's
            raise table.wrong(f'"steps" are numbers of the paragraphs of the solution\'s work.sh, 1 to {most}')
        model = replace(model, work="\n".join(model.steps[step - 1] for step in sorted({*steps})))
    for old, new in work.items():
        if not isinstance(new, str):
            raise table.wrong(f'[work] changes "{old}" into {new!r}, which is no text')
        if not old or old not in model.work:
            raise table.wrong(f'[work] changes text of the solution\'s work.sh, and "{old}" is not there')
        model = replace(model, work=model.work.replace(old, new))
    if then:
        model = replace(model, work=f"{model.work}\n{then.strip()}\n")
    unknown = {*answers} - {answer.name for answer in exercise.answers}
    if unknown:
        raise table.wrong(f'[answers] has "{min(unknown)}", which is no question of {exercise.id}')
    for pattern in blank:
        if not any(fnmatchcase(name, pattern) for name in model.answers):
            raise table.wrong(f'"blank" has "{pattern}", which is no question that the solution answers')
    kept = {name: text for name, text in model.answers.items() if not any(fnmatchcase(name, each) for each in blank)}
    return _with_files(replace(model, folder=folder, answers={**kept, **answers}), folder)


def _with_files(made: Attempt, folder: Path) -> Attempt:
    """The same with the whole files that the folder holds, also where they are empty."""

    def own(name: str) -> str | None:
        return toml.read_text(folder / name) if (folder / name).is_file() else None

    work, answers, drawing = own(WORK), own(ANSWERS), own(DRAWING)
    return Attempt(
        made.folder,
        made.work if work is None else work,
        made.answers if answers is None else toml.parse(answers, str(folder / ANSWERS)).data,
        made.drawing if drawing is None else drawing,
    )
