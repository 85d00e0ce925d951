# SPDX-License-Identifier: BSD-3-Clause
"""What a person gave for the parameters of a test → `Given`: checked, with defaults, ready to fill places."""

from __future__ import annotations

import difflib
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.experiment.entries import Condition, NamedTest, ParameterEntry, ParameterKind
from linklab.experiment.places import PLACE, fill

MOST_FLOWS = 5000
MOST_CHARACTERS = 10_000
_NO = ("", "0", "no", "false", "off")


@dataclass(frozen=True)
class Given:
    """The parameters of one run of a test.

    places: name → what {name} stands for: values of the test, and parameters that are not lists.
        A key of an entry's `each` wins over both.
    lists: name → values; otherwise: name → what flows beyond the end take.
    all: as metadata, defaults and unknown ones too; empty ones left out.
    typed: of those that the person gave, name → the name by which they were given.
    """

    places: Mapping[str, str]
    lists: Mapping[str, Sequence[str]]
    otherwise: Mapping[str, str]
    all: Mapping[str, str]
    yes: frozenset[str] = frozenset()
    typed: Mapping[str, str] = field(default_factory=dict)

    def fits(self, when: Sequence[Condition], index: int | None = None) -> bool:
        """Whether an entry counts; `index` is the number of the flow, for lists."""
        return all(self._fits(one, index) for one in when)

    def _fits(self, when: Condition, index: int | None) -> bool:
        if when.values is None:
            return when.parameter in self.yes
        if when.parameter in self.lists and index is not None:
            return self.nth(when.parameter, index) in when.values
        return self.places.get(when.parameter, "") in when.values

    def said_by(self, text: str) -> str:
        """The parameter, typed by the person, whose value a text with places takes; "" if it takes no such value."""
        for name in map(str, PLACE.findall(text)):
            if name in self.typed:
                return self.typed[name]
            if name in self.all and name not in {**self.places, **self.lists}:  # one that every test takes
                return name
            if found := self.said_by(self.otherwise.get(name, "")):
                return found
        return ""

    def nth(self, name: str, index: int) -> str:
        """The value of a list for a flow, from 0; may have places left open where it is the list's `otherwise`."""
        values = self.lists[name]
        return values[index] if index < len(values) else self.otherwise[name]


def split(text: str) -> list[str]:
    """Values separated by commas or semicolons; quotes keep what they enclose together, as in Flent."""
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split = True
    lexer.whitespace = ",;"
    lexer.commenters = ""
    try:
        return [word.strip() for word in lexer]
    except ValueError:
        raise InputError(f'"{excerpt(text)}": a quotation mark is not closed') from None


def read_parameters(test: NamedTest, given: dict[str, str]) -> Given:
    """The parameters of a test; InputError names one that is wrong or missing."""
    places: dict[str, str] = {}
    lists: dict[str, Sequence[str]] = {}
    otherwise: dict[str, str] = {}
    yes: set[str] = set()
    typed: dict[str, str] = {}
    kept = {name: str(value) for name, value in given.items()}
    for name, value in kept.items():
        if len(value) > MOST_CHARACTERS:
            raise InputError(f'parameter "{excerpt(name)}" has {len(value):,} characters; at most {MOST_CHARACTERS:,}')
    for parameter in test.entries.parameters.values():
        name = next((name for name in (parameter.name, *parameter.other_names) if name in kept), parameter.name)
        text = kept[name] if name in kept else _default(parameter, kept)
        if name in kept:
            typed[parameter.name] = name
        if parameter.kind is ParameterKind.REFUSED:
            if text:
                raise InputError(f"{test.name}: parameter {name}: {parameter.text}")
            continue
        try:
            text = _checked(parameter, text)
            if parameter.kind is ParameterKind.LIST:
                lists[parameter.name] = split(text)
                otherwise[parameter.name] = parameter.otherwise
        except InputError as error:
            raise InputError(f"{test.name}: parameter {parameter.name}: {error}") from error
        if parameter.kind is not ParameterKind.LIST:
            places[parameter.name] = text
        if text.strip().lower() not in _NO:
            yes.add(parameter.name)
            kept[name] = text
    places.update({name: fill(text, places) for name, text in test.values.items()})
    return Given(
        places, lists, otherwise, {name: text for name, text in kept.items() if text != ""}, frozenset(yes), typed
    )


def mistyped(test: NamedTest, given: Mapping[str, str]) -> list[str]:
    """A sentence for each parameter that the test does not have and that looks like one it has."""
    known = [name for one in test.entries.parameters.values() for name in (one.name, *one.other_names)]
    found = []
    for name in given:
        if name not in known and (near := difflib.get_close_matches(name, known, 1, 0.8)):
            found.append(
                f"{test.name} has no parameter {excerpt(name)}, which is kept as a label; did you mean {near[0]}?"
            )
    return found


def _default(parameter: ParameterEntry, kept: Mapping[str, str]) -> str:
    """The default, which may be another parameter's value, as in "{voip_host}"."""
    if parameter.default.startswith("{") and parameter.default.endswith("}"):
        return kept.get(parameter.default[1:-1], "")
    return parameter.default


def _checked(parameter: ParameterEntry, text: str) -> str:
    match parameter.kind:
        case ParameterKind.COUNT:
            return str(_number(parameter, str(os.cpu_count() or 1) if text == "num_cpus" else text, whole=True))
        case ParameterKind.NUMBER:
            _number(parameter, text, whole=False)
        case ParameterKind.YES_NO:
            return "" if text.strip().lower() in _NO else "yes"
    return text


def _number(parameter: ParameterEntry, text: str, *, whole: bool) -> float | int:
    least = 0 if parameter.least is None else parameter.least
    most = MOST_FLOWS if parameter.most is None else parameter.most
    kind = "a whole number" if whole else "a number"
    try:
        value: float = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        words = " (or num_cpus)" if whole and parameter.name.endswith("_streams") else ""
        raise InputError(f'it must be {kind} from {least:g} to {most:g}{words}, not "{excerpt(text)}"')
    return value
