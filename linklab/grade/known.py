# SPDX-License-Identifier: BSD-3-Clause
"""`wrong/NAME/marks.toml` → a known wrong answer: the mistake, and what it must earn.

Read by `linklab exercise verify`, which proves it, and for the table of docs/marks.md.  Pure.
Format: docs/writing-an-exercise.md, "Known wrong answers".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base import toml
from linklab.errors import InputError
from linklab.exercise.model import Exercise
from linklab.grade.attempt import Attempt, take_changes


@dataclass(frozen=True)
class Known:
    """A known wrong answer.

    name: of its folder.
    made: what such a student does.
    says: the mistake in a sentence, by default the folder's name.
    fault: the id of the fault that it is made with, "" for that of the instance.
    shares: check → the share of its points that is earned (1 for the others), None where only `earns` is given.
    earns: the least and the most points of the whole.
    """

    name: str
    made: Attempt
    says: str
    fault: str
    shares: Mapping[str, float] | None
    earns: tuple[float, float]

    def holds_for(self, own: Exercise, weighted: Exercise) -> bool:
        """Whether its marks are also those of the exercise with a course's points: a range is of the own points."""
        return self.shares is not None or own.checks == weighted.checks

    @property
    def points(self) -> str:
        """What it earns, for people: "45" or "40 to 60"."""
        low, high = self.earns
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def known_answers(exercise: Exercise) -> list[Known]:
    """The known wrong answers of an exercise, by name.

    Raises:
        InputError: a marks.toml is wrong: the file, the key, and what is wanted.
    """
    return [_read(exercise, path) for path in sorted(exercise.folder.glob("wrong/*/marks.toml"))]


def _read(exercise: Exercise, path: Path) -> Known:
    try:
        return _known(exercise, path, toml.parse(toml.read_text(path), ""))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _known(exercise: Exercise, path: Path, table: toml.Table) -> Known:
    says = table.take("says", str, path.parent.name.replace("-", " "))
    fault = table.take("fault", str, "")
    given = "fails" in table.data or "partial" in table.data
    fails, partial = table.texts("fails"), table.take("partial", dict, {})
    earns = table.take("earns", list, None)
    made = take_changes(table, exercise, path.parent)
    table.end()
    if fault not in ("", *(each.id for each in exercise.faults)):
        raise InputError(f'"fault" is "{fault}", which {exercise.id} does not plant')
    shares: dict[str, float] = {**dict.fromkeys(fails, 0.0), **partial}
    for name in shares:
        if name not in [check.id for check in exercise.checks]:
            raise InputError(f'there is no check "{name}"')
    if given == (earns is not None):
        why = 'give either "fails", the checks that earn nothing, or "earns", the least and the most points'
        raise InputError(why)
    if earns is not None:
        return Known(path.parent.name, made, says, fault, None, _range(earns, exercise.weight))
    points = round(sum(check.weight * shares.get(check.id, 1.0) for check in exercise.checks), 2)
    return Known(path.parent.name, made, says, fault, shares, (points, points))


def _range(earns: Sequence[object], most: float) -> tuple[float, float]:
    numbers = [float(each) for each in earns if isinstance(each, (int, float)) and not isinstance(each, bool)]
    if len(numbers) != 2 or len(earns) != 2 or not 0 <= numbers[0] <= numbers[1] <= most:
        raise InputError(f'"earns" is the least and the most points, such as [40, 60], within 0 to {most:g}')
    return numbers[0], numbers[1]


def marks_table(exercises: Sequence[Exercise]) -> str:
    """What typical mistakes earn, exercise by exercise, as Markdown."""
    parts = []
    for exercise in exercises:
        lines = [f"## {exercise.heading}", "", "| mistake | points |", "|---|---|"]
        for known in sorted(known_answers(exercise), key=lambda each: (-each.earns[1], -each.earns[0], each.name)):
            made = f" (with the fault `{known.fault}`)" if known.fault else ""
            lines.append(f"| {known.says.rstrip('.')}{made} | {known.points} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
