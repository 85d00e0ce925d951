# SPDX-License-Identifier: BSD-3-Clause
"""Commands that no host takes part in: variables, the clock, texts. Those that run other lines are in `expand`.

A command is a function of the state and the call, listed in LOCAL_COMMANDS; what is wrong goes into the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.command_table import host_name, number
from linklab.netesto.expressions import evaluate
from linklab.netesto.lines import ScriptLine, Word
from linklab.netesto.script import NAME, ScriptCommand, nearest
from linklab.netesto.state import CommandPlace, EndError, ExpansionState
from linklab.netesto.variables import Scope, undefined


@dataclass(frozen=True)
class ScriptCall:
    """A command as it is executed: its name, the words after it (filled in), the statement, scope and place."""

    name: str
    words: Sequence[Word]
    command: ScriptCommand
    scope: Scope
    place: CommandPlace

    @property
    def line(self) -> ScriptLine:
        """The line it stands in."""
        return self.command.line

    def at(self, index: int) -> CommandPlace:
        """The place of a word."""
        return CommandPlace(self.line.where(self.words[index].offset), self.place.running)

    @contextmanager
    def blaming(self, state: ExpansionState, index: int) -> Iterator[None]:
        """What goes wrong within is a problem of this word."""
        try:
            yield
        except InputError as error:
            state.complain(self.at(index), f"{self.name}: {error}")


def all_defined(
    state: ExpansionState, words: Sequence[Word], line: ScriptLine, place: CommandPlace, command: str
) -> bool:
    """Whether the filled words have no variable left; a problem for each that has."""
    fine = True
    for word in words:
        for name in undefined(word.text):
            fine = False
            where = CommandPlace(line.where(word.offset), place.running)
            state.complain(where, f"{command}: {_undefined(state, name, line.words(word.offset)[0].text, place)}")
    return fine


def _undefined(state: ExpansionState, name: str, written: str, place: CommandPlace) -> str:
    """What to say of a variable that nothing defines; written: the word that it comes from."""
    given = f"give -D {name[1:]}=VALUE"
    if name not in undefined(written):
        return f"{excerpt(written)} leads to {name}, which is not defined; SET it before, or {given}"
    macro = place.macros[-1] if place.macros else ""
    cure = f"give {name[1:]}= to RUN {macro}, or SET it before" if macro else f"SET it before, or {given}"
    near = nearest(name[1:], state.variables).removeprefix("; did you mean ").rstrip("?")
    return f"{name} is not defined; {cure}{f' (is ${near} meant?)' if near else ''}"


def note_rest(state: ExpansionState, call: ScriptCall, known: int) -> None:
    """Note words that a command has no use for."""
    for index, word in enumerate(call.words[known:], known):
        state.note(call.at(index), f'{call.name}: "{excerpt(word.text)}" is ignored; a value cannot contain spaces')


def _end(state: ExpansionState, call: ScriptCall) -> None:
    raise EndError


def _nothing(state: ExpansionState, call: ScriptCall) -> None:
    """DEBUG and its kin change nothing: -n shows every command."""


def _set(state: ExpansionState, call: ScriptCall) -> None:
    name, value = _assignment(state, call)
    if name:
        state.assign(call.place, name, value)
        note_rest(state, call, 1)


def _set_exp(state: ExpansionState, call: ScriptCall) -> None:
    name, value = _assignment(state, call)
    if not name:
        return
    if len(call.words) > 1:
        state.complain(call.at(1), "SET_EXP: an expression has no spaces; write SET_EXP x=$a*2+1")
    elif all_defined(state, call.words, call.line, call.place, call.name):
        with call.blaming(state, 0):
            state.assign(call.place, name, str(evaluate(value)))


def _assignment(state: ExpansionState, call: ScriptCall) -> tuple[str, str]:
    """Name and value of name=value; ("", "") if they are not there."""
    given = call.words[0].text if call.words else ""
    name, equals, value = given.partition("=")
    if equals and NAME.fullmatch(name):
        return name, value
    found = f'not "{excerpt(given)}"' if given else "and nothing is there"
    state.complain(call.place, f"{call.name} needs name=value without spaces, {found}")
    return "", ""


def _host_suffix(state: ExpansionState, call: ScriptCall) -> None:
    if not call.words:
        state.complain(call.place, "HOST_SUFFIX needs a suffix, such as example.com")
        return
    note_rest(state, call, 1)
    suffix = call.words[0].text.removeprefix(".")
    if all_defined(state, call.words[:1], call.line, call.place, call.name):
        with call.blaming(state, 0):
            host_name(suffix)
            state.suffix = suffix
            state.emit(call.place, "HOST_SUFFIX", {"text": suffix})


def _wait(state: ExpansionState, call: ScriptCall) -> None:
    if times := _times(state, call, 1):
        state.wait(call.place, times[0])


def _rand_wait(state: ExpansionState, call: ScriptCall) -> None:
    if not (times := _times(state, call, 2)):
        return
    least, most = times if len(times) > 1 else [0.0, times[0]]
    if most < least:
        state.complain(call.place, f"RAND_WAIT: {most:g} is less than {least:g}; write the smaller first")
    else:
        state.wait(call.place, state.draw(least, most))


def _times(state: ExpansionState, call: ScriptCall, most: int) -> list[float]:
    """The seconds that a command gives; none if something is wrong with them."""
    if not call.words:
        state.complain(call.place, f"{call.name} needs a time in seconds, such as {call.name} 10")
    words = call.words[:most]
    if not all_defined(state, words, call.line, call.place, call.name):
        return []
    note_rest(state, call, most)
    times = []
    for index, word in enumerate(words):
        with call.blaming(state, index):
            times.append(number(word.text))
    return times if len(times) == len(words) else []


def _text(state: ExpansionState, call: ScriptCall) -> str:
    """What follows the command, as one text; variables that are not defined stay, and are noted."""
    first = call.command.words[0]
    text = call.scope.fill(call.line.text[first.offset + len(first.text) :].strip())
    for name in undefined(text):
        state.note(call.place, f"{call.name}: {name} is not defined, so the text shows it as it is written")
    return text


def _desc(state: ExpansionState, call: ScriptCall) -> None:
    text = _text(state, call)
    if not text:
        state.complain(call.place, "DESC needs a text")
    state.emit(call.place, "DESC", {"text": text})


def _other(state: ExpansionState, call: ScriptCall) -> None:
    values = {}
    for part in _text(state, call).split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            found = f'not "{excerpt(part)}"' if part else "and something is missing"
            state.complain(call.place, f"OTHER needs column=value,column=value, {found}")
        values[name.strip()] = value.strip()
    state.emit(call.place, "OTHER", values)


def _echo(state: ExpansionState, call: ScriptCall) -> None:
    state.say(call.place, _text(state, call))


def _next_counter(state: ExpansionState, call: ScriptCall) -> None:
    state.next_ten()


LOCAL_COMMANDS: Mapping[str, Callable[[ExpansionState, ScriptCall], None]] = {
    "END": _end,
    "SET": _set,
    "SET_EXP": _set_exp,
    "HOST_SUFFIX": _host_suffix,
    "WAIT": _wait,
    "RAND_WAIT": _rand_wait,
    "DESC": _desc,
    "OTHER": _other,
    "ECHO": _echo,
    "NEXT_COUNTER": _next_counter,
    "DEBUG": _nothing,
    "DEBUG_DISABLE": _nothing,
    "DEBUG_RESTORE": _nothing,
}
