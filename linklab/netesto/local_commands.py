# SPDX-License-Identifier: BSD-3-Clause
"""Commands that no host takes part in: variables, the clock, texts. Those that run other lines are in `expand`.

A command is a function of the state and the call, listed in LOCAL_COMMANDS; what is wrong goes into the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from linklab.base.spelling import nearest_words
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.command_table import host_name, number
from linklab.netesto.expressions import evaluate
from linklab.netesto.fields import shipped_names
from linklab.netesto.lines import CommandPlace, GivenHere, MacroRun, ScriptLine, Where, Word
from linklab.netesto.script import NAME, nearest
from linklab.netesto.state import EndError, ExpansionState
from linklab.netesto.statements import ScriptCommand
from linklab.netesto.value_columns import FIXED
from linklab.netesto.variables import VARIABLE, Scope, undefined


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
        return place_of(self.line, self.words[index].offset, self.place)

    @contextmanager
    def blaming(self, state: ExpansionState, index: int) -> Iterator[None]:
        """What goes wrong within is a problem of this word."""
        try:
            yield
        except InputError as error:
            state.complain(self.at(index), f"{self.name}: {error}")


def place_of(line: ScriptLine, offset: int, place: CommandPlace) -> CommandPlace:
    """The place of a word of a command, and of the argument of a RUN that its value comes from."""
    return CommandPlace(line.where(offset), place.running, _origin(line.word_at(offset), place.running))


def _origin(written: str, running: Sequence[MacroRun]) -> Where | None:
    """The outermost argument that a word of a macro takes its value from; None if it takes it from no argument."""
    found = None
    for run in reversed(running):
        names = VARIABLE.findall(written)
        argument = next((each for each in run.given if each.name in names), None)
        if argument is None:
            break
        found, written = argument.where, argument.written
    return found


def all_defined(
    state: ExpansionState, words: Sequence[Word], line: ScriptLine, place: CommandPlace, command: str
) -> bool:
    """Whether the filled words have no variable left; a problem for each that has."""
    fine = True
    for word in words:
        for name in undefined(word.text):
            fine = False
            where = place_of(line, word.offset, place)
            if near := _misspelt(name[1:], place):
                run, given = near
                where = CommandPlace(where.where, where.running, given.where)
                what = f"{run.name} has no {given.name}=; did you mean {name[1:]}=?"
                state.complain(where, f"RUN: {what}")
            else:
                state.complain(where, f"{command}: {_undefined(state, name, line.word_at(word.offset), place)}")
    return fine


def _misspelt(name: str, place: CommandPlace) -> tuple[MacroRun, GivenHere] | None:
    """The argument of a macro that runs, with a name that is nearly this one, and that RUN; None if there is none."""
    for run in reversed(place.running):
        given = {each.name: each for each in run.given}
        if near := nearest_words(name, given, alike=0.8):
            return run, given[near[0]]
    return None


def spaced(words: Sequence[Word], index: int) -> str:
    """What to say of a word that stands apart from its argument: a part of a list, or an = with spaces around it."""
    word = words[index].text
    before, after = (words[at].text if 0 <= at < len(words) else "" for at in (index - 1, index + 1))
    if word == "=":
        return f"there are spaces around the =; write {excerpt(f'{before}={after}')}"
    if before.endswith("=") and "=" not in word:
        return f"there is a space behind the =; write {excerpt(before + word)}"
    return split_list(before, word) if before.endswith(",") or word.startswith(",") else ""


def split_list(before: str, word: str) -> str:
    """What to say of a list with a space in it, between these two words."""
    return f'a list has no spaces: write {excerpt(before + word)} in place of "{excerpt(f"{before} {word}")}"'


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
    if value.startswith("<"):
        written = " ".join(word.text for word in call.words).partition("=")[2]
        state.complain(call.place, f'SET: "{excerpt(written)}" is a placeholder; put what it stands for in its place')
        value = value.strip("<>") or "x"  # so that no command complains of it again
    elif name:
        note_rest(state, call, 1)
    if name:
        state.assign(call.place, name, value)


def _set_exp(state: ExpansionState, call: ScriptCall) -> None:
    name, value = _assignment(state, call)
    if not name:
        return
    if len(call.words) > 1:
        joined = excerpt("".join(call.line.word_at(word.offset) for word in call.words))
        state.complain(call.at(1), f"SET_EXP: an expression has no spaces; write SET_EXP {joined}")
    elif all_defined(state, call.words, call.line, call.place, call.name):
        with call.blaming(state, 0):
            state.assign(call.place, name, str(evaluate(value)))


def _assignment(state: ExpansionState, call: ScriptCall) -> tuple[str, str]:
    """Name and value of name=value; ("", "") if they are not there."""
    given = call.words[0].text if call.words else ""
    name, equals, value = given.partition("=")
    if equals and value and len(call.words) > 1 and value.endswith(","):
        state.complain(call.at(1), f"{call.name}: {split_list(given, call.words[1].text)}")
        return "", ""
    if equals and not value and len(call.words) > 1:
        state.complain(
            call.place, f"{call.name} has a space after its =; write {call.name} {excerpt(given + call.words[1].text)}"
        )
        return "", ""
    if equals and NAME.fullmatch(name):
        return name, value
    if [word.text for word in call.words[1:2]] == ["="]:
        joined = excerpt("".join(word.text for word in (call.words if call.name == "SET_EXP" else call.words[:3])))
        state.complain(call.place, f"{call.name} has spaces around its =; write {call.name} {joined}")
        return "", ""
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
    if "${" in text:
        state.note(call.place, f"{call.name}: ${{name}} is not a variable, so the text shows it; $name is one")
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
        if equals:
            _note_column(state, call, name.strip())
    state.emit(call.place, "OTHER", values)


def _note_column(state: ExpansionState, call: ScriptCall, name: str) -> None:
    """Note a column of OTHER that exp.csv does not show, or fills with what was measured."""
    if name in FIXED:
        state.note(call.place, f"OTHER: {name} says what was set or measured, so OTHER does not fill it")
    elif name not in shipped_names():
        near = nearest(name, sorted(shipped_names() - FIXED), 0.75)
        what = f"fields.txt has no column {excerpt(name)}, so only the files exp.out of the experiment show it"
        state.note(call.place, f"OTHER: {what}{near}")


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
