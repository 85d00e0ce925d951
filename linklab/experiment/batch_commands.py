# SPDX-License-Identifier: BSD-3-Clause
"""The commands of one trial of a batch: which, in which order, with what in the place of their variables.

As with Flent, a command may bring others with it, each runs once, and what the batch says wins over what the command
says, but for `disabled`, which is each command's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from linklab.base.text import excerpt
from linklab.experiment.batch_file import BatchSection, expand, items, truth
from linklab.experiment.model import TrialCommand, When

COMMAND_KEYS = {"type", "exec", "essential", "kill", "node", "where"}
"""What a command may say of itself."""
_KINDS = {each.value: each for each in When}
_PLACES = ("network", "host")


def commands_of(
    commands: Mapping[str, BatchSection], batch: BatchSection, variables: Mapping[str, str]
) -> Iterator[TrialCommand]:
    """The commands that a batch lists, each followed by those that it brings with it.

    Args:
        commands: all sections of commands, with what they inherit.
        batch: with what its loops lay over it.
        variables: of the trial, by name.
    """
    names = expand(batch.values.get("commands", ""), variables, batch.at("commands"))
    waiting = [(name, batch.at("commands")) for name in items(names)]
    seen: set[str] = set()
    while waiting:
        name, place = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        if name not in commands:
            known = ", ".join(commands) or "none"
            raise place.wrong(f"there is no [Command::{excerpt(name)}]; there are: {excerpt(known)}")
        own = commands[name]
        if own.off == "disabled":  # one that is abstract runs, since it is named
            continue
        section = _Filled(own.over(batch.values, batch.places), {**own.values, **variables})
        yield _command(section)
        place = section.section.at("extra_commands")
        waiting[:0] = [(each, place) for each in items(section.value("extra_commands"))]


class _Filled:
    """A section whose values are asked for with their variables replaced."""

    def __init__(self, section: BatchSection, variables: Mapping[str, str]) -> None:
        self.section, self.variables = section, variables

    def value(self, key: str) -> str:
        text = self.section.values.get(key, "")
        # a name that nobody has set may be a variable of the shell
        return expand(text, self.variables, self.section.at(key), lenient=key == "exec")

    def truth(self, key: str) -> bool:
        text = self.value(key)
        return bool(text) and truth(text, self.section.at(key), key)


def _command(filled: _Filled) -> TrialCommand:
    section = filled.section
    kind, where, line = filled.value("type"), filled.value("where") or _PLACES[0], filled.value("exec")
    if kind not in _KINDS:
        raise section.at("type").wrong(f'"type" must be {", ".join(_KINDS)}, not "{excerpt(kind)}"')
    if where not in _PLACES:
        raise section.at("where").wrong(f'"where" must be {" or ".join(_PLACES)}, not "{excerpt(where)}"')
    if not line:
        raise section.place.wrong('"exec" is missing: the command that is to be run')
    essential, kill = filled.truth("essential"), filled.truth("kill")
    return TrialCommand(section.name, line, _KINDS[kind], filled.value("node"), where == "host", essential, kill)
