# SPDX-License-Identifier: BSD-3-Clause
"""Lines that a script never reaches: what is wrong with them as far as they tell without being executed.

Such lines do no harm, so what is found are notes, not problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.catalogue import holder
from linklab.netesto.command_table import SPECS
from linklab.netesto.limits import refuse_setting
from linklab.netesto.lines import CommandPlace, Word
from linklab.netesto.state import ExpansionState
from linklab.netesto.statements import ForLoop, Macro, ScriptCommand, Statement


def note_unreached(state: ExpansionState, statements: Iterable[Statement]) -> None:
    """Add notes on commands among the statements that were never executed."""
    for command in _commands(statements):
        if id(command) not in state.reached:
            for word, what in _wrong(command, state):
                place = CommandPlace(command.line.where(word.offset))
                state.note(place, f"this line is not reached, and {command.words[0].text} in it is wrong: {what}")


def _commands(statements: Iterable[Statement]) -> Iterator[ScriptCommand]:
    for statement in statements:
        if isinstance(statement, ForLoop | Macro):
            yield from _commands(statement.body)
        else:
            yield statement


def _wrong(command: ScriptCommand, state: ExpansionState) -> Iterator[tuple[Word, str]]:
    """Words of a command whose values can be told to be wrong."""
    first, *rest = command.words
    if first.text == "RUN" and rest and not any(guard.word == "IF_DEF" for guard in command.guards):
        name = rest[0].text.partition(",")[0]
        known = {macro.upper() for macro in state.macros}
        # macros that another script runs may use those of the library, which that script loads
        if "$" not in name and name.upper() not in known and not holder(name):
            yield rest[0], f'there is no macro "{excerpt(name)}"'
    spec = SPECS.get(first.text)
    module = next((word.text.partition("=")[2] for word in rest if word.text.startswith("module=")), "")
    for word in rest if spec else []:
        name, equals, value = word.text.partition("=")
        if not equals or "$" in word.text or spec is None:
            continue
        try:
            if name in spec.arguments:
                spec.arguments[name].check(value)
            elif spec.free:
                refuse_setting(first.text, f"{module}.{name}" if "module" in spec.arguments else name, value)
        except InputError as error:
            yield word, f"{excerpt(name)}: {error}"
