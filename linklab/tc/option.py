# SPDX-License-Identifier: BSD-3-Clause
"""One option of a discipline, class or filter: its name and value in facts, and its words for tc.

    Valued("target_us", "target", TIME_US):  {"target_us": 5000}  ⇄  ["target", "5000us"], for people ["target", "5ms"]

tc has words for four kinds: a word with a value, a word with several, a word that is itself the setting (on or off),
and one word of several.  A fifth, `Silent`, can only be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from linklab.errors import FieldError, InputError
from linklab.tc.forms import Form, flag

Options: TypeAlias = Mapping[str, Any]
"""Option by its name in facts, in base units (`linklab.linux.tc_options`)."""


@dataclass(frozen=True)
class Valued:
    """A word that a value follows.

    aliases: other words that tc takes for it.
    told: whether the kernel tells it; what it does not is only ever typed.
    """

    name: str
    word: str
    form: Form
    aliases: tuple[str, ...] = ()
    told: bool = True

    @property
    def starts(self) -> tuple[str, ...]:
        """Words that begin this option."""
        return (self.word, *self.aliases)

    def holds(self, value: Any) -> bool:
        """Whether the agent may say this value."""
        return self.form.holds(value)

    def say(self, value: Any, *, spelled: bool) -> list[str]:
        """The words for tc."""
        return [self.word, self.form.spelled(value) if spelled else self.form.exact(value)]

    def take(self, word: str, rest: list[str]) -> Any:
        """The value, from the words that follow."""
        if not rest:
            raise InputError(f'"{word}" needs a value')
        try:
            return self.form.typed(rest.pop(0))
        except InputError as error:
            raise InputError(f'"{word}": {error}') from error


@dataclass(frozen=True)
class Switch:
    """A word for on, and one for off; off is "" where leaving it out is the only way to say so."""

    name: str
    on: str
    off: str = ""
    told: bool = True

    @property
    def starts(self) -> tuple[str, ...]:
        """Words that begin this option."""
        return tuple(filter(None, (self.on, self.off)))

    def holds(self, value: Any) -> bool:
        """Whether the agent may say this value."""
        return flag(value)

    def say(self, value: Any, *, spelled: bool) -> list[str]:
        """The words for tc, which are the same however values are spelled."""
        return list(filter(None, [self.on if value else self.off]))

    def take(self, word: str, rest: list[str]) -> bool:
        """The value of the word."""
        return word == self.on


@dataclass(frozen=True)
class OneOf:
    """One word of several, without another before it."""

    name: str
    choices: tuple[str, ...]
    told: bool = True

    @property
    def starts(self) -> tuple[str, ...]:
        """Words that begin this option."""
        return self.choices

    def holds(self, value: Any) -> bool:
        """Whether the agent may say this value."""
        return type(value) is str and value in self.choices

    def say(self, value: Any, *, spelled: bool) -> list[str]:
        """The word itself."""
        return [str(value)]

    def take(self, word: str, rest: list[str]) -> str:
        """The word itself."""
        return word


@dataclass(frozen=True)
class Several:
    """A word that a fixed number of values follow."""

    name: str
    word: str
    form: Form
    length: int
    told: bool = True

    @property
    def starts(self) -> tuple[str, ...]:
        """Words that begin this option."""
        return (self.word,)

    def holds(self, value: Any) -> bool:
        """Whether the agent may say this value."""
        return type(value) is list and len(value) == self.length and all(map(self.form.holds, value))

    def say(self, value: Any, *, spelled: bool) -> list[str]:
        """The words for tc."""
        return [self.word, *map(self.form.exact, value)]

    def take(self, word: str, rest: list[str]) -> list[Any]:
        """The values, from the words that follow."""
        if len(rest) < self.length:
            raise InputError(f'"{word}" needs {self.length} values')
        taken, rest[:] = rest[: self.length], rest[self.length :]
        return [self.form.typed(each) for each in taken]


@dataclass(frozen=True)
class Silent:
    """What the kernel tells and no word of tc sets."""

    name: str
    form: Form
    starts: tuple[str, ...] = ()
    told: bool = True

    def holds(self, value: Any) -> bool:
        """Whether the agent may say this value."""
        return self.form.holds(value)

    def say(self, value: Any, *, spelled: bool) -> list[str]:
        """Nothing."""
        return []

    def take(self, word: str, rest: list[str]) -> Any:
        """Never called: no word begins it."""
        raise AssertionError(word)


Option: TypeAlias = Valued | Switch | OneOf | Several | Silent


@dataclass(frozen=True)
class Parameter:
    """An option as a drawing and a dialog have it.

    name: its key in the drawing's object; option: the option in facts that it sets.
    kind: rate, time, size, packets, number, percent, flag or choice.
    default: what tc takes where nothing is said, as people write it.
    required: tc refuses to set the discipline without it.
    """

    name: str
    option: Option
    kind: str
    help: str
    default: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()

    def read(self, text: Any) -> Any:
        """The value that a text of the drawing gives; None where it asks for nothing.

        Raises:
            FieldError: the text cannot be; `key` is this parameter's name.
        """
        where = f'"{self.name}"'
        if not isinstance(text, str):
            raise FieldError("must be a string", where=where, key=self.name)
        if self.kind == "flag":
            if text not in ("", "0", "1"):
                raise FieldError("must be on (1) or off (0)", where=where, key=self.name)
            return self.option.take(self.name, []) if text == "1" else None
        if not text:
            return None
        if self.kind == "choice":
            if text not in self.choices:
                raise FieldError(f"must be one of {', '.join(self.choices)}", where=where, key=self.name)
            return text
        assert isinstance(self.option, Valued)
        try:
            return self.option.form.read(text)
        except InputError as error:
            raise FieldError(str(error), where=where, key=self.name) from error
