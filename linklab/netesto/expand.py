# SPDX-License-Identifier: BSD-3-Clause
"""A script → its commands with times, all variables filled in: `expand`.

A script never reads a result, so it is executed as a whole before anything runs. WAIT and RAND_WAIT move the clock,
all else takes no time. RAND_WAIT draws from the seed, the experiment's number, and how many waits of that experiment
came before it, so an experiment added at the end changes none before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.catalogue import holder
from linklab.netesto.command_table import SPECS
from linklab.netesto.expansion import Expansion, TimedCommand
from linklab.netesto.hosts import HostCommand
from linklab.netesto.limits import MOST_LOOPS, MOST_NESTED
from linklab.netesto.lines import CommandPlace, MacroRun, ScriptError, ScriptLine, ScriptProblem, Where, Word
from linklab.netesto.local_commands import LOCAL_COMMANDS, ScriptCall, all_defined, note_rest, place_of, spaced
from linklab.netesto.script import NAME, nearest, parse
from linklab.netesto.sources import SourceFile, find, read
from linklab.netesto.state import EndError, ExpansionState, StopError
from linklab.netesto.statements import ForLoop, Guard, Macro, Script, ScriptCommand, Statement
from linklab.netesto.unreached import note_unreached
from linklab.netesto.variables import Scope, undefined

__all__ = ["Expansion", "ScriptError", "ScriptProblem", "TimedCommand", "Where", "expand"]

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
    state = ExpansionState(seed, counter, dict(variables or {}), frozenset(variables or {}))
    worker = _Worker(state, [path.parent, *search])
    worker.whole(path)
    return state.result()


class _Worker:
    """Works off statements; `folders` is the search path of SOURCE."""

    def __init__(self, state: ExpansionState, folders: Sequence[Path]) -> None:
        self.state = state
        self.folders = folders

    def whole(self, path: Path) -> None:
        """Execute a script to its end, or to the first cap that it reaches."""
        self.state.sourced.add(path.resolve())
        try:
            self._file(SourceFile(path, str(path)), Scope({}, self.state.variables), ())
        except EndError:
            self.state.next_ten()
        except StopError:
            return
        for script in self.state.scripts:
            note_unreached(self.state, script.statements)

    def _file(self, source: SourceFile, scope: Scope, running: tuple[MacroRun, ...]) -> None:
        script: Script = parse(read(source.path, source.shown), source.shown)
        self.state.scripts.append(script)
        for problem in script.problems:
            self.state.complain(CommandPlace(problem.where, running), problem.what)
        self._block(script.statements, scope, running)

    def _block(self, statements: Sequence[Statement], scope: Scope, running: tuple[MacroRun, ...]) -> None:
        for statement in statements:
            place = CommandPlace(statement.where, running)
            self.state.step(place, 0)
            try:
                self._statement(statement, scope, place)
            except InputError as error:  # of filling in, or of what a command takes
                self.state.complain(place, str(error))

    def _statement(self, statement: Statement, scope: Scope, place: CommandPlace) -> None:
        if isinstance(statement, Macro):
            if statement.name in self.state.macros:
                self.state.note(place, f"{statement.name} is defined again; this definition replaces the earlier one")
            self.state.macros[statement.name] = statement
        elif all(self._holds(guard, statement.line, scope, place) for guard in statement.guards):
            if isinstance(statement, ForLoop):
                self._loop(statement, scope, place)
            else:
                self.state.reached.add(id(statement))
                self._command(statement, scope, place)

    def _holds(self, guard: Guard, line: ScriptLine, scope: Scope, place: CommandPlace) -> bool:
        text = guard.condition.text
        if guard.word == "IF_DEF":
            name = text.removeprefix("$")
            return scope.get(name) is not None if text.startswith("$") else scope.fill(text) in self.state.macros
        value = scope.fill(text)
        if undefined(value):
            return False
        if not _CONDITION.fullmatch(value):
            found = f'not "{excerpt(value)}"' if text == value else f'and {text} is "{excerpt(value)}"'
            hint = f"; is ${value} meant?" if text == value and NAME.fullmatch(value) else ""
            where = place_of(line, guard.condition.offset, place)
            self.state.complain(where, f"IF needs a number, {found}{hint}")
            return False
        return float(value) != 0

    def _loop(self, loop: ForLoop, scope: Scope, place: CommandPlace) -> None:
        at = place_of(loop.line, loop.values.offset, place)
        filled = scope.fill(loop.values.text)
        if not all_defined(self.state, [Word(filled, loop.values.offset)], loop.line, place, "FOR"):
            return
        for value in self._values(filled, at):
            self.state.turn(place)
            self.state.variables[loop.variable] = value
            with self.state.deeper(place):
                self._block(loop.body, scope, place.running)

    def _values(self, text: str, place: CommandPlace) -> Sequence[str]:
        """The values of a list such as a,b,c or 1..9,2."""
        if found := _RANGE.fullmatch(text):
            first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
            if step == 0 or (last - first) * step < 0:
                self.state.complain(place, f"FOR cannot go from {first} to {last} in steps of {step}")
                return []
            if (last - first) // step >= MOST_LOOPS:
                self.state.complain(place, f"FOR would run more than {MOST_LOOPS:,} times; use fewer values")
                return []
            return [str(value) for value in range(first, last + (1 if step > 0 else -1), step)]
        if ".." in text[1:]:
            self.state.complain(place, f'"{excerpt(text)}" is not a range; write first..last or first..last,step')
            return []
        return text.split(",")

    def _command(self, command: ScriptCommand, scope: Scope, place: CommandPlace) -> None:
        line = command.line
        words = [Word(scope.fill(word.text), word.offset) for word in command.words]
        words = [word for word in words if word.text]
        self.state.step(place, sum(len(word.text) for word in words))
        if not words:
            return
        name, rest = words[0].text, words[1:]
        if name.startswith("HOST_SUFFIX="):  # as the paper writes it
            name, rest = "HOST_SUFFIX", [Word(name.partition("=")[2], words[0].offset), *rest]
        if name in SPECS:
            if all_defined(self.state, rest, line, place, name):
                HostCommand(self.state, name, line, place).work(rest)
        elif name in LOCAL_COMMANDS:
            LOCAL_COMMANDS[name](self.state, ScriptCall(name, rest, command, scope, place))
        elif name == "SOURCE":
            self._source(ScriptCall(name, rest, command, scope, place))
        elif name == "RUN":
            self._run(ScriptCall(name, rest, command, scope, place))
        elif "$" in command.words[0].text:
            self.state.complain(place, f'{command.words[0].text} is "{excerpt(name)}", which is not a command')

    def _source(self, call: ScriptCall) -> None:
        if not call.words:
            self.state.complain(call.place, "SOURCE needs the name of a file")
            return
        if not all_defined(self.state, call.words[:1], call.line, call.place, "SOURCE"):
            return
        note_rest(self.state, call, 1)
        with call.blaming(self.state, 0):
            source = find(call.words[0].text, self.folders)
            if source.path not in self.state.sourced:
                self.state.sourced.add(source.path)
                with self.state.deeper(call.place):
                    self._file(source, call.scope, call.place.running)

    def _run(self, call: ScriptCall) -> None:
        place, state = call.place, self.state
        if not call.words:
            state.complain(place, "RUN needs the name of a macro")
            return
        if not all_defined(state, call.words, call.line, place, "RUN"):
            return
        name, _, times = call.words[0].text.partition(",")
        macro = self._macro(name, call)
        if times and not _TIMES.fullmatch(times):
            state.complain(call.at(0), f'RUN: the number of repetitions must be a whole number, not "{excerpt(times)}"')
        elif macro is not None and (arguments := self._arguments(call)) is not None:
            running = (*place.running, MacroRun(macro.name, place.where, call.command.given))
            for _ in range(int(times or "1")):
                for ca in arguments["ca"].split(",") if "ca" in arguments else [""]:
                    state.turn(place)
                    given = {**arguments, "ca": ca} if "ca" in arguments else dict(arguments)
                    if given.get("exp", "").upper() == "COUNTER":  # one number for all servers of the macro
                        state.variables["exp"] = given.pop("exp")
                    with state.deeper(place):
                        self._block(macro.body, call.scope.within(given), running)

    def _macro(self, name: str, call: ScriptCall) -> Macro | None:
        """The macro of this name; None, and a problem, if it cannot be run."""
        state, place = self.state, call.at(0)
        macros = {known.upper(): known for known in state.macros}
        if name not in state.macros and name.upper() in macros:
            state.note(place, f"RUN: the macro is spelt {macros[name.upper()]}")
            name = macros[name.upper()]
        if name not in state.macros:
            held = holder(name)
            cure = f"; SOURCE {held} of the library has it" if held else nearest(name, state.macros)
            cure = cure or "; define it with BEGIN, or SOURCE the file that does"
            state.complain(place, f'RUN: there is no macro "{excerpt(name)}"{cure}')
            return None
        if name in place.macros:
            state.complain(place, f"RUN: {name} runs itself and would never end; remove this RUN")
            return None
        if len(place.running) >= MOST_NESTED:
            state.complain(place, f"RUN: more than {MOST_NESTED} macros are nested")
            return None
        return state.macros[name]

    def _arguments(self, call: ScriptCall) -> dict[str, str] | None:
        """The arguments of a RUN; None, and a problem, if one of them is cut off."""
        arguments = {}
        for index, word in enumerate(call.words[1:], 1):
            name, equals, value = word.text.partition("=")
            if (not equals or not name) and index > 1 and (split := spaced(call.words, index)):
                self.state.complain(call.at(index), f"RUN: {split}")
                return None
            if equals and NAME.fullmatch(name):
                arguments[name] = value
            else:
                self.state.note(
                    call.at(index), f'RUN: "{excerpt(word.text)}" is ignored; an argument is name=value without spaces'
                )
        return arguments
