# SPDX-License-Identifier: BSD-3-Clause
"""Known wrong ways of doing a lab: `labs/NN-slug/mutants.toml`, each a mistake in one step and what must miss for it.

Reads the file, puts the mistake into the manual's steps, and says which of them must show it and which are replayed.
What a replay gave is judged by `linklab.lab.caught`.
The form of the file, and the rule of where a mistake must show: docs/writing-a-lab.md, "Mutants".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from linklab.base import toml
from linklab.errors import InputError, LabError, ManualError
from linklab.judge.expectation import Expectation
from linklab.lab.model import Lab
from linklab.lab.sections import from_section
from linklab.manual.info import Place, retyped
from linklab.manual.model import Await, EditorActions, Interrupt, Step
from linklab.manual.parse import check_sequence, groups

FILE = "mutants.toml"
FEWEST = 3
"""Mutants that a lab must have."""
STATUS = "status"
"""What a step misses whose command ends with another status than the manual expects."""


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    mistake: what the student did wrong, a sentence.
    step: the step that is done otherwise; `steps` are all of the manual with it.
    fails: what must miss, by `names_of`, in the order of the file.
    late: why it cannot show where it is made; "" where it must.
    after: steps of earlier sections that have to be done before, though they set nothing.
    where: "mutants.toml:LINE".
    """

    name: str
    mistake: str
    step: str
    steps: tuple[Step, ...]
    fails: tuple[str, ...]
    late: str
    after: tuple[str, ...]
    where: str


def load_mutants(lab: Lab) -> list[Mutant]:
    """The mutants of a lab; none where it has no such file.

    Raises:
        LabError: the file does not fit its form, the manual or lab.toml.
    """
    path = lab.folder / FILE
    if not path.is_file():
        return []
    try:
        text = toml.read_text(path)
        lines = [number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[mutant\]\]", line)]
        table = toml.parse(text, str(path))
        tables = table.tables("mutant")
        table.end()
        for each, line in zip(tables, lines, strict=False):
            each.where = f"{path}:{line}"
        found = [_mutant(lab, each) for each in tables]
    except (InputError, ManualError) as error:
        raise error if isinstance(error, LabError) else LabError(str(error)) from error
    for number, mutant in enumerate(found):
        if mutant.name in {before.name for before in found[:number]}:
            raise LabError(f'{mutant.where}: another mutant is called "{mutant.name}" already')
    return found


def _mutant(lab: Lab, table: toml.Table) -> Mutant:
    name, mistake, step = (table.take(key, str) for key in ("name", "mistake", "step"))
    late = table.take("late", str, "")
    fails, after = table.texts("fails"), table.texts("after")
    steps = _with_mistake(lab, table, step)
    table.end()
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise table.wrong(f'name "{name}": use small letters, digits and "-"')
    if not fails:
        raise table.wrong('"fails" is missing: name the expectations that this mistake must miss')
    mutant = Mutant(name, mistake, step, steps, fails, late, after, table.where)
    order = order_of(lab)
    if unknown := [other for other in after if order.get(other, len(order)) >= order[step]]:
        raise table.wrong(f'after: the manual has no step "{unknown[0]}" before {step}')
    _check_fails(lab, mutant, table)
    return mutant


def _with_mistake(lab: Lab, table: toml.Table, changed: str) -> tuple[Step, ...]:
    """The steps of the manual, one of them done otherwise."""
    step = lab.manual.step(changed)
    if step is None or step.optional:
        raise table.wrong(f'the manual has no step "{changed}" that is replayed')
    omit, typed = table.take("omit", bool, False), table.take("type", str, "")
    words, terminal = table.take("replace", dict, {}), table.take("terminal", str, "")
    if omit + bool(typed) + bool(words or terminal) != 1:
        raise table.wrong("say how the step is changed: omit = true, type, or replace and terminal")
    if omit:
        left_out = {changed, *(other.id for other in lab.manual.steps if _ends(other) == changed)}
        steps = tuple(replace(other, optional=True) if other.id in left_out else other for other in lab.manual.steps)
    else:
        wrong = _otherwise(step, typed, words, terminal, table)
        steps = tuple(wrong if other.id == changed else other for other in lab.manual.steps)
    try:
        check_sequence(steps, lab.manual.path)
    except ManualError as error:
        raise table.wrong(f"with this mistake the manual cannot be replayed: {error}") from error
    return steps


def _otherwise(step: Step, typed: str, words: Mapping[str, object], terminal: str, table: toml.Table) -> Step:
    text = typed or _text(step)
    for old, new in words.items():
        if not isinstance(new, str) or not old or old not in text:
            raise table.wrong(f'replace: step {step.id} has no "{old}" that a text could replace')
        text = text.replace(old, new)
    path, _, line = table.where.rpartition(":")
    wrong = replace(retyped(step, text, Place(path, int(line))), terminal=terminal or step.terminal)
    if (wrong.typed, wrong.terminal) == (step.typed, step.terminal):
        raise table.wrong(f"step {step.id} stays as it is")
    return wrong


def _text(step: Step) -> str:
    """What stands in the box of a step, with the quotes of a file's name."""
    if isinstance(step.action, EditorActions):
        return "\n".join(shlex.join(verb.words) for verb in step.action.verbs)
    return step.typed


def _ends(step: Step) -> str:
    """The step that this one stops or waits for, "" if it does neither."""
    return step.action.of if isinstance(step.action, Interrupt | Await) else ""


def names_of(expectation: Expectation) -> str:
    """What `fails` calls an expectation: "STEP METRIC", "STEP shows", or a relation as it is written."""
    return expectation.relation or f"{expectation.step} {'shows' if expectation.shows else expectation.what}"


def _check_fails(lab: Lab, mutant: Mutant, table: toml.Table) -> None:
    """Whether what must miss is expected, and is measured where the mistake is made."""
    near, order = within_reach(lab, mutant.step), order_of(lab)
    for name in mutant.fails:
        at = _place(lab, name)
        if at is None:
            known = ", ".join(dict.fromkeys(f'"{names_of(each)}"' for each in lab.expectations))
            raise table.wrong(f'fails: lab.toml has no expectation "{name}"; it has {known}')
        if order[at] < order[mutant.step]:
            raise table.wrong(f'fails: "{name}" is measured before step {mutant.step}')
    first = min((_place(lab, name) or "" for name in mutant.fails), key=order.__getitem__)
    if first not in near and not mutant.late:
        raise table.wrong(
            f"step {first} is too late for a mistake in step {mutant.step}; it must show in {', '.join(near)}, "
            "or say in late why it cannot"
        )
    if first in near and mutant.late:
        raise table.wrong(f"late is not needed: step {first} is where the mistake is made")


def at_step(lab: Lab, expectation: Expectation) -> str:
    """The step with which an expectation is measured, of several the last: that which ends what was left running."""
    ends = _ended_by(lab)
    return max((ends.get(step, step) for step in expectation.steps), key=order_of(lab).__getitem__)


def _ended_by(lab: Lab) -> dict[str, str]:
    """Of each step that is left running the step that ends it."""
    return {_ends(step): step.id for step in lab.manual.steps if _ends(step) and not step.optional}


def order_of(lab: Lab) -> dict[str, int]:
    """The place of each step in the manual."""
    return {step.id: number for number, step in enumerate(lab.manual.steps)}


def _place(lab: Lab, name: str) -> str | None:
    """The step that misses what `fails` calls so; None where nothing is called so."""
    step, _, what = name.partition(" ")
    if what == STATUS and lab.manual.step(step):
        return step
    return next((at_step(lab, each) for each in lab.expectations if names_of(each) == name), None)


def within_reach(lab: Lab, changed: str) -> list[str]:
    """The steps at which a mistake in a step must show: those to the end of its section, of the smallest heading.

    Where none of them has an expectation, the next section's too, and so on.
    """
    judged = {at_step(lab, expectation) for expectation in lab.expectations}
    steps = [step for step in lab.manual.steps if not step.optional]
    at = next(number for number, step in enumerate(steps) if step.id == changed)
    found: list[str] = []
    for number, step in enumerate(steps[at:], at):
        if step.section != steps[number - 1].section and number > at and judged.intersection(found):
            break
        found.append(step.id)
    return found


def begins(lab: Lab, mutant: Mutant) -> str:
    """The section with which a replay of the mutant begins, "" for the manual's first step.

    It is that of the changed step, or an earlier one whose figures what must miss is compared with.
    """
    ends = _ended_by(lab)
    named = [expectation for expectation in lab.expectations if names_of(expectation) in mutant.fails]
    wanted = {mutant.step, *(ends.get(step, step) for each in named for step in each.steps)}
    return next(step.section for step in lab.manual.steps if step.id in wanted)


def _cut(lab: Lab, mutant: Mutant) -> str:
    """The last step that has to be done until all is measured that must miss."""
    order = order_of(lab)
    last = max((_place(lab, name) or "" for name in mutant.fails), key=order.__getitem__)
    return next(group[-1].id for group in groups(lab.manual.steps) if last in {step.id for step in group})


def replayed_steps(lab: Lab, mutants: Sequence[Mutant], *, wrong: bool) -> list[Step]:
    """The steps of a replay of mutants that begin alike: with the mistake of the first, or as they are printed."""
    order = order_of(lab)
    last = max(order[_cut(lab, mutant)] for mutant in mutants)
    steps = from_section(lab.manual, begins(lab, mutants[0]), mutants[0].after)
    own = {step.id: step for step in (mutants[0].steps if wrong else lab.manual.steps)}
    return [own[step.id] for step in steps if order[step.id] <= last and not own[step.id].optional]
