# SPDX-License-Identifier: BSD-3-Clause
"""A script → its commands with times, all variables filled in: `expand`.

A script never reads a result, so it is worked off as a whole before anything runs. WAIT and RAND_WAIT move the clock,
all else takes no time. RAND_WAIT draws from the seed, the experiment's number, and how many waits of that experiment
came before it, so an experiment added at the end changes none before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.command_table import SPECS, number
from linklab.netesto.expansion import Expansion, TimedCommand
from linklab.netesto.expressions import evaluate
from linklab.netesto.hosts import HostCommand
from linklab.netesto.limits import DEEPEST, MOST_LOOPS
from linklab.netesto.lines import Line, Problem, ScriptError, Where, Word
from linklab.netesto.script import NAME, Command, Guard, Loop, Macro, Script, Statement, nearest, parse
from linklab.netesto.sources import LIBRARY, Source, find, library_names, read
from linklab.netesto.state import EndError, Place, State, StopError
from linklab.netesto.variables import Scope, undefined

__all__ = ["Expansion", "Problem", "ScriptError", "TimedCommand", "Where", "expand"]

_CONDITION = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_RANGE = re.compile(r"(-?[0-9]{1,15})\.\.(-?[0-9]{1,15})(?:,(-?[0-9]{1,15}))?")
_TIMES = re.compile(r"[0-9]{1,9}")


def expand(
    path: Path,
    *,
    search: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
    seed: int = 1,
    counter: int = 0,
) -> Expansion:
    """All commands of a script.

    Args:
        path: the script.
        search: folders that SOURCE looks into after the script's own, and before the library.
        variables: set before the first line, and kept: a SET of theirs in the script changes nothing.
        seed: of RAND_WAIT.
        counter: number of the last experiment so far; 0 for none.

    Raises:
        ScriptError: with every problem that was found.
        InputError: the file cannot be read.
    """
    state = State(seed, counter, dict(variables or {}), frozenset(variables or {}))
    worker = _Worker(state, [path.parent, *search])
    worker.whole(path)
    return state.result()


class _Worker:
    """Works off statements; `folders` is the search path of SOURCE."""

    def __init__(self, state: State, folders: Sequence[Path]) -> None:
        self.state = state
        self.folders = folders

    def whole(self, path: Path) -> None:
        """Work off a script to its end, or to the first cap that it reaches."""
        self.state.sourced.add(path.resolve())
        try:
            self._file(Source(path, str(path)), Scope({}, self.state.variables), ())
        except EndError:
            self.state.next_ten()
        except StopError:
            pass

    def _file(self, source: Source, scope: Scope, running: _Running) -> None:
        script: Script = parse(read(source.path, source.shown), source.shown)
        for problem in script.problems:
            self.state.complain(Place(problem.where, running), problem.what)
        self._block(script.statements, scope, running)

    def _block(self, statements: Sequence[Statement], scope: Scope, running: _Running) -> None:
        for statement in statements:
            place = Place(statement.where, running)
            self.state.step(place)
            try:
                self._statement(statement, scope, place)
            except InputError as error:  # of filling in, or of what a command takes
                self.state.complain(place, str(error))

    def _statement(self, statement: Statement, scope: Scope, place: Place) -> None:
        if isinstance(statement, Macro):
            if statement.name in self.state.macros:
                self.state.note(place, f"{statement.name} is defined anew; from here on this one holds")
            self.state.macros[statement.name] = statement
        elif all(self._holds(guard, statement.line, scope, place) for guard in statement.guards):
            if isinstance(statement, Loop):
                self._loop(statement, scope, place)
            else:
                self._command(statement, scope, place)

    def _holds(self, guard: Guard, line: Line, scope: Scope, place: Place) -> bool:
        text = guard.condition.text
        if guard.word == "IF_DEF":
            name = text.removeprefix("$")
            return scope.get(name) is not None if text.startswith("$") else scope.fill(text) in self.state.macros
        value = scope.fill(text)
        if undefined(value):
            return False
        if not _CONDITION.fullmatch(value):
            found = f'{text} is "{excerpt(value)}"' if text != value else f'"{excerpt(value)}"'
            hint = f"; is ${value} meant?" if text == value and NAME.fullmatch(value) else ""
            where = Place(line.where(guard.condition.offset), place.running)
            self.state.complain(where, f"IF needs a number, and {found} is none{hint}")
            return False
        return float(value) != 0

    def _loop(self, loop: Loop, scope: Scope, place: Place) -> None:
        at = Place(loop.line.where(loop.values.offset), place.running)
        filled = scope.fill(loop.values.text)
        if not self._defined([Word(filled, loop.values.offset)], loop.line, place, "FOR"):
            return
        for value in self._values(filled, at):
            self.state.turn(place)
            self.state.variables[loop.variable] = value
            self._block(loop.body, scope, place.running)

    def _values(self, text: str, place: Place) -> Sequence[str]:
        """The values of a list such as a,b,c or 1..9,2."""
        if found := _RANGE.fullmatch(text):
            first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
            if step == 0 or (last - first) * step < 0:
                self.state.complain(place, f"FOR cannot go from {first} to {last} in steps of {step}")
                return []
            if (last - first) // step >= MOST_LOOPS:
                self.state.complain(place, f"FOR would take more than {MOST_LOOPS:,} turns; let it take fewer")
                return []
            return [str(value) for value in range(first, last + (1 if step > 0 else -1), step)]
        if ".." in text[1:]:
            self.state.complain(place, f'"{excerpt(text)}" is not a range; write first..last or first..last,step')
            return []
        return text.split(",")

    def _defined(self, words: Sequence[Word], line: Line, place: Place, command: str) -> bool:
        """Whether the filled words have no variable left; a problem for each that has."""
        fine = True
        for word in words:
            for name in undefined(word.text):
                fine = False
                where = Place(line.where(word.offset), place.running)
                self.state.complain(where, f"{command}: {self._undefined(name, line, word, place)}")
        return fine

    def _undefined(self, name: str, line: Line, word: Word, place: Place) -> str:
        """What to say of a variable that nothing defines."""
        written = line.words(word.offset)[0].text
        macro = place.macros[-1] if place.macros else ""
        cure = (
            f"give {name[1:]}= to RUN {macro}, or SET it before" if macro else f"SET it before, or give -D {name[1:]}=…"
        )
        if name not in undefined(written):
            return f"{excerpt(written)} leads to {name}, which is not defined; SET it before, or give -D {name[1:]}=…"
        near = nearest(name[1:], self.state.variables).removeprefix("; did you mean ").rstrip("?")
        return f"{name} is not defined; {cure}{f' (is ${near} meant?)' if near else ''}"

    def _command(self, command: Command, scope: Scope, place: Place) -> None:
        line = command.line
        words = [Word(scope.fill(word.text), word.offset) for word in command.words]
        words = [word for word in words if word.text]
        if not words:
            return
        name, rest = words[0].text, words[1:]
        if name.startswith("HOST_SUFFIX="):  # as the paper writes it
            name, rest = "HOST_SUFFIX", [Word(name.partition("=")[2], words[0].offset), *rest]
        if name in SPECS:
            if self._defined(rest, line, place, name):
                HostCommand(self.state, name, line, place).work(rest)
        elif name in _LOCAL:
            _LOCAL[name](self, _Call(name, rest, command, scope, place))
        elif "$" in command.words[0].text:
            self.state.complain(place, f'{command.words[0].text} is "{excerpt(name)}", which is not a command')

    # commands that the expansion itself works off

    def _end(self, call: _Call) -> None:
        raise EndError

    def _nothing(self, call: _Call) -> None:
        """DEBUG and its kin change nothing here: -n shows every command."""

    def _set(self, call: _Call) -> None:
        name, value = self._assignment(call)
        if name:
            self.state.assign(name, value)

    def _set_exp(self, call: _Call) -> None:
        name, value = self._assignment(call)
        if len(call.words) > 1:
            at = Place(call.command.line.where(call.words[1].offset), call.place.running)
            self.state.complain(at, "SET_EXP: an expression has no spaces; write SET_EXP x=$a*2+1")
        elif name and self._defined(call.words, call.command.line, call.place, "SET_EXP"):
            self.state.assign(name, str(evaluate(value)))

    def _assignment(self, call: _Call) -> tuple[str, str]:
        """Name and value of name=value; ("", "") if they are not there."""
        given = call.words[0].text if call.words else ""
        name, equals, value = given.partition("=")
        if not equals or not NAME.fullmatch(name):
            what = f'not "{excerpt(given)}"' if given else "and nothing is there"
            self.state.complain(call.place, f"{call.name} needs name=value without spaces, {what}")
            return "", ""
        if call.name == "SET":
            self._stray(call, 1)
        return name, value

    def _stray(self, call: _Call, known: int) -> None:
        """Note words that a command has no use for."""
        for word in call.words[known:]:
            at = Place(call.command.line.where(word.offset), call.place.running)
            self.state.note(at, f'{call.name}: "{excerpt(word.text)}" is ignored; values have no spaces')

    def _host_suffix(self, call: _Call) -> None:
        if not call.words:
            self.state.complain(call.place, "HOST_SUFFIX needs a suffix, such as example.com")
            return
        self._stray(call, 1)
        self.state.emit(call.place, "HOST_SUFFIX", {"text": call.words[0].text})

    def _source(self, call: _Call) -> None:
        if not call.words:
            self.state.complain(call.place, "SOURCE needs the name of a file")
            return
        if not self._defined(call.words[:1], call.command.line, call.place, "SOURCE"):
            return
        self._stray(call, 1)
        source = find(call.words[0].text, self.folders)
        if source.path not in self.state.sourced:
            self.state.sourced.add(source.path)
            self._file(source, call.scope, call.place.running)

    def _wait(self, call: _Call) -> None:
        if times := self._times(call, 1):
            self.state.wait(call.place, times[0])

    def _rand_wait(self, call: _Call) -> None:
        times = self._times(call, 2)
        if times:
            least, most = times if len(times) > 1 else [0.0, times[0]]
            if most < least:
                self.state.complain(call.place, f"RAND_WAIT: {most:g} is less than {least:g}; write the smaller first")
            else:
                self.state.wait(call.place, self.state.draw(least, most))

    def _times(self, call: _Call, most: int) -> list[float]:
        """The seconds that a command gives; none if something is wrong with them."""
        if not call.words:
            self.state.complain(call.place, f"{call.name} needs a time in seconds, such as {call.name} 10")
        if not self._defined(call.words[:most], call.command.line, call.place, call.name):
            return []
        self._stray(call, most)
        return [number(word.text) for word in call.words[:most]]

    def _text(self, call: _Call) -> str:
        """What follows the command, as one text; variables that are not defined stay, and are noted."""
        first = call.command.words[0]
        text = call.scope.fill(call.command.line.text[first.offset + len(first.text) :].strip())
        for name in undefined(text):
            self.state.note(call.place, f"{call.name}: {name} is not defined, so the text keeps it as it is")
        return text

    def _desc(self, call: _Call) -> None:
        text = self._text(call)
        if not text:
            self.state.complain(call.place, "DESC needs a text")
        self.state.emit(call.place, "DESC", {"text": text})

    def _other(self, call: _Call) -> None:
        text, values = self._text(call), {}
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if equals and name.strip():
                values[name.strip()] = value.strip()
            else:
                self.state.complain(call.place, f'OTHER needs column=value,column=value; "{excerpt(part)}" is not that')
        self.state.emit(call.place, "OTHER", values)

    def _echo(self, call: _Call) -> None:
        self.state.said.append(self._text(call))

    def _next_counter(self, call: _Call) -> None:
        self.state.next_ten()

    def _run(self, call: _Call) -> None:
        line, place, state = call.command.line, call.place, self.state
        if not call.words:
            state.complain(place, "RUN needs the name of a macro")
            return
        if not self._defined(call.words, line, place, "RUN"):
            return
        name, _, times = call.words[0].text.partition(",")
        macro = self._macro(name, call)
        if times and not _TIMES.fullmatch(times):
            state.complain(place, f'RUN: how often must be a whole number, not "{excerpt(times)}"')
        elif macro is not None:
            arguments = self._arguments(call)
            running = (*place.running, (macro.name, place.where))
            for _ in range(int(times or "1")):
                for ca in arguments["ca"].split(",") if "ca" in arguments else [""]:
                    state.turn(place)
                    given = {**arguments, "ca": ca} if "ca" in arguments else dict(arguments)
                    if given.get("exp", "").upper() == "COUNTER":  # one number for all servers of the macro
                        state.variables["exp"] = given.pop("exp")
                    self._block(macro.body, call.scope.within(given), running)

    def _macro(self, name: str, call: _Call) -> Macro | None:
        """The macro of this name; None, and a problem, if it cannot be run."""
        state, place = self.state, call.place
        macros = {known.upper(): known for known in state.macros}
        if name not in state.macros and name.upper() in macros:
            state.note(place, f"RUN: the macro is spelt {macros[name.upper()]}")
            name = macros[name.upper()]
        if name not in state.macros:
            held = [file for file in library_names() if name in library_macros(file)]
            cure = f"; SOURCE {held[0]} of the library has it" if held else nearest(name, state.macros)
            cure = cure or "; define it with BEGIN, or SOURCE the file that does"
            state.complain(place, f'RUN: there is no macro "{excerpt(name)}"{cure}')
            return None
        if name in place.macros:
            state.complain(place, f"RUN: {name} runs itself, which would never end; take this RUN out of it")
            return None
        if len(place.running) >= DEEPEST:
            state.complain(place, f"RUN: more than {DEEPEST} macros run inside one another")
            return None
        return state.macros[name]

    def _arguments(self, call: _Call) -> dict[str, str]:
        arguments = {}
        for word in call.words[1:]:
            name, equals, value = word.text.partition("=")
            if equals and NAME.fullmatch(name):
                arguments[name] = value
            else:
                at = Place(call.command.line.where(word.offset), call.place.running)
                self.state.note(at, f'RUN: "{excerpt(word.text)}" is ignored; an argument is name=value without spaces')
        return arguments


@lru_cache
def library_macros(file: str) -> frozenset[str]:
    """The names of the macros that a script of the library defines."""
    statements = parse(read(LIBRARY / file, file), file).statements
    return frozenset(statement.name for statement in statements if isinstance(statement, Macro))


_Running = tuple[tuple[str, Where], ...]


class _Call:
    """A command as it is worked off: its name, the words behind it (filled in), the statement, scope and place."""

    def __init__(self, name: str, words: Sequence[Word], command: Command, scope: Scope, place: Place) -> None:
        self.name = name
        self.words = words
        self.command = command
        self.scope = scope
        self.place = place


_LOCAL: Mapping[str, Callable[[_Worker, _Call], None]] = {
    "END": _Worker._end,
    "SET": _Worker._set,
    "SET_EXP": _Worker._set_exp,
    "HOST_SUFFIX": _Worker._host_suffix,
    "SOURCE": _Worker._source,
    "RUN": _Worker._run,
    "WAIT": _Worker._wait,
    "RAND_WAIT": _Worker._rand_wait,
    "DESC": _Worker._desc,
    "OTHER": _Worker._other,
    "ECHO": _Worker._echo,
    "NEXT_COUNTER": _Worker._next_counter,
    "DEBUG": _Worker._nothing,
    "DEBUG_DISABLE": _Worker._nothing,
    "DEBUG_RESTORE": _Worker._nothing,
}
