# SPDX-License-Identifier: BSD-3-Clause
"""answers.toml → typed answers; and the template of it that a student gets.  Pure.

Kinds: rate, time, size and share need a unit; number and index (0 to 1) have none; choice is one of the choices;
words are compared without regard to order, case, commas, the word "and", and what the exercise lets stand beside them;
text is read by the instructor alone. How numbers may be spelt: `linklab.base.typed_numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from linklab.base import toml
from linklab.base.text import excerpt
from linklab.base.typed_numbers import plain_quantity
from linklab.errors import InputError
from linklab.exercise.model import Answer, Exercise
from linklab.judge.dimension import WORD
from linklab.judge.quantity import Value, parse_value
from linklab.units import LARGEST

_UNITS = {"rate": "bit/s", "time": "s", "size": "bytes", "share": "1", "number": "1", "index": "1"}
_EXAMPLES = {
    "rate": "412 Mbps",
    "time": "40.5 ms",
    "size": "2.5 MB",
    "share": "0.2 %",
    "number": "3",
    "index": "0.97",
    "words": "h1 h2",
    "text": "two or three sentences",
}
_MOST_TEXT = 20_000
_AND = re.compile(r"&|(?<!\S)and(?!\S)", re.IGNORECASE)

NO_ANSWER = "there is no answer"


@dataclass(frozen=True)
class Answers:
    """What was answered.

    values: of the answers that could be read; problems: name → why the answer cannot be used, a sentence.
    missing: names of the questions that have no answer; unreadable: why the whole file cannot be read, "" where it can.
    notes: on the file as a whole; assumed: what questions that were left blank stand for, where they say so.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unreadable: str = ""
    assumed: Mapping[str, Value] = field(default_factory=dict)

    def value(self, name: str) -> Value | None:
        """What was answered, or what a blank stands for; None where neither is there."""
        return self.values.get(name, self.assumed.get(name))

    def why_not(self, name: str) -> str:
        """Why there is no value of that name, as part of a sentence."""
        return self.problems.get(name, NO_ANSWER)


def template(exercise: Exercise) -> str:
    """The text of answers.toml before anything is answered."""
    lines = [f"# {exercise.heading}: your answers.  Write a value between the quotation marks, with its unit.", ""]
    for answer in exercise.answers:
        empty = '"""\n"""' if answer.kind == "text" else '""'
        lines += [f"# {answer.asks}", f"# {example(answer)}", f"{answer.name} = {empty}", ""]
    return "\n".join(lines)


def unit_of_kind(kind: str) -> str:
    """The base unit of answers of a kind; those that are no quantity are words."""
    return _UNITS.get(kind, WORD)


def example(answer: Answer) -> str:
    """How an answer may be written: "one of: …" or "such as: 412 Mbps"."""
    return f"one of: {', '.join(answer.choices)}" if answer.choices else f"such as: {_EXAMPLES[answer.kind]}"


def read_answers(text: str, exercise: Exercise) -> Answers:
    """Every answer of the exercise, or why it cannot be used."""
    try:
        table = toml.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, or a number or a nest beyond all measure
        wrong = f'cannot be read: {error}; write each answer between quotation marks, such as "412 Mbps"'
        why = f"answers.toml {wrong}"
        every = {answer.name: why for answer in exercise.answers}
        return Answers(problems=every, notes=(why,), unreadable=wrong)
    values: dict[str, Value] = {}
    problems: dict[str, str] = {}
    missing: list[str] = []
    assumed: dict[str, Value] = {}
    for answer in exercise.answers:
        given = table.pop(answer.name, "")
        if isinstance(given, str) and not given.strip() and answer.default:
            assumed[answer.name] = typed(answer, answer.default)
            continue
        if isinstance(given, str) and not given.strip():
            missing.append(answer.name)
            problems[answer.name] = NO_ANSWER
            continue
        try:
            values[answer.name] = typed(answer, given)
        except InputError as error:
            problems[answer.name] = str(error)
    notes = [f'answers.toml: "{name}" is no question of this exercise' for name in sorted(table)[:10]]
    if values:  # where nothing was answered, nothing is assumed of anybody
        notes += [f"{name} was left blank: {value.shown} is taken" for name, value in assumed.items()]
    return Answers(values, problems, tuple(notes), tuple(missing), assumed=assumed)


def typed(answer: Answer, given: object) -> Value:
    """One answer as a value; its text is the same for all spellings of a number.

    Raises:
        InputError: it cannot be used; what was found and what is wanted.
    """
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise InputError(f"{answer.name}: a text or a number is wanted")
    if isinstance(given, int) and abs(given) > LARGEST:  # Python refuses to write thousands of digits
        raise InputError("the number is too large: write it between quotation marks, with its unit")
    written = str(given).strip()
    match answer.kind:
        case "text":
            return Value(unit=WORD, word=written[:_MOST_TEXT])
        case "words":
            return Value(unit=WORD, word=in_order(_AND.sub(" ", written[:_MOST_TEXT]), answer.beside))
        case "choice":
            for choice in answer.choices:
                if choice.casefold() == written.casefold():
                    return Value(unit=WORD, word=choice)
            raise InputError(f'"{excerpt(written)}" is none of {", ".join(answer.choices)}')
    value = parse_value(plain_quantity(written, "number" if answer.kind == "index" else answer.kind))
    if value.is_word:  # below zero, or beyond all measure: no check could compare it with a number
        raise InputError(f'"{excerpt(written)}" is no {answer.kind} that can be: write a number from 0 on')
    if answer.kind == "index" and not 0 <= value.number <= 1:
        raise InputError(f'"{excerpt(written)}" is no index: it lies between 0 and 1')
    return value


def in_order(words: str, beside: Collection[str] = ()) -> str:
    """Words sorted, small, without commas: "h2, H1" → "h1 h2"; those beside the answer stay where nothing else is."""
    found = re.split(r"[\s,;]+", words.strip().casefold())
    return " ".join(sorted([word for word in found if word.rstrip(":") not in beside] or found))
