# SPDX-License-Identifier: BSD-3-Clause
"""A command that hosts take part in: its words → every argument, checked, with what was left out put in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.linux.allowed_settings import MODULE_PARAMETERS, setting_name
from linklab.netesto.command_table import ANY_HOST, SPECS, STREAM_SIZES, Spec
from linklab.netesto.disciplines import refuse_words
from linklab.netesto.limits import MOST_SECONDS, refuse_setting
from linklab.netesto.lines import CommandPlace, ScriptLine, Word
from linklab.netesto.local_commands import place_of, spaced
from linklab.netesto.script import nearest
from linklab.netesto.state import MICRO, ExpansionState


@dataclass(frozen=True)
class GivenArgument:
    """An argument as it stands in the line: name, value with its variables filled in, and its offset."""

    name: str
    value: str
    offset: int


class HostCommand:
    """Expands one command; `words` are those after its name, filled in, at the offsets they stand at."""

    def __init__(self, state: ExpansionState, word: str, line: ScriptLine, place: CommandPlace) -> None:
        self.state = state
        self.word = word
        self.spec: Spec = SPECS[word]
        self.line = line
        self.place = place
        self.wrong = False
        self.given: dict[str, GivenArgument] = {}

    def at(self, offset: int) -> CommandPlace:
        """The place of a word of the line."""
        return place_of(self.line, offset, self.place)

    def complain(self, place: CommandPlace, what: str) -> None:
        """Add a problem; the command is then left out."""
        self.wrong = True
        self.state.complain(place, f"{self.word}: {what}")

    def work(self, words: Sequence[Word]) -> None:
        """Check the arguments, fill in the rest, and emit the command."""
        given = self.given = self._given(words)
        if self.wrong:  # what was cut off would only seem wrong as well
            return
        arguments = {name: found.value for name, found in given.items() if name in self.spec.arguments}
        self._leave_out(arguments)
        for name, found in given.items():  # in the order of the line; what was put in is right
            if name in arguments:
                self._check(found)
        others = [found for name, found in given.items() if name not in self.spec.arguments]
        free = self._settings(others, arguments.get("module", "")) if self.spec.free else self._unknown(others)
        self._add_suffix(arguments)
        if not self.wrong:
            self._check_together(arguments)
        if not self.wrong:
            self._emit({name: arguments[name] for name in self.spec.arguments} | free)

    def _given(self, words: Sequence[Word]) -> dict[str, GivenArgument]:
        given: dict[str, GivenArgument] = {}
        for index, word in enumerate(words):
            name, equals, value = word.text.partition("=")
            tail = given.get(self.spec.tail)
            if not equals and tail is not None:
                given[self.spec.tail] = GivenArgument(tail.name, f"{tail.value} {word.text}", tail.offset)
            elif (not equals or not name) and (split := _split(words, index)):
                self.complain(self.at(word.offset), split)
            elif not equals or not name:
                self.state.note(self.at(word.offset), f'{self.word}: "{excerpt(word.text)}" is ignored; {_FORM}')
            else:
                if name in given:
                    self.state.note(
                        self.at(word.offset), f"{self.word}: {excerpt(name)} is given twice; the last value counts"
                    )
                given[name] = GivenArgument(name, value, word.offset)
        return given

    def _leave_out(self, arguments: dict[str, str]) -> None:
        """Put in what holds for arguments that are left out."""
        last = {"host": self.state.host, "exp": self.state.exp, "expName": self.state.exp_name}
        for name, argument in self.spec.arguments.items():
            value = last.get(name) or argument.left_out
            if name in arguments:
                continue
            if value is None:
                self.complain(self.place, f"{name}= is missing")
            else:
                arguments[name] = value

    def _check(self, found: GivenArgument) -> None:
        """Add a problem if the value is not of the argument's kind."""
        this = (self.word, found.name, found.value)
        if this in self.state.passed:
            return
        try:
            self.spec.arguments[found.name].check(found.value)
        except InputError as error:
            what = str(error)
            between = " " if what.startswith("must") else ": "
            self.complain(self.at(found.offset), f"{found.name}{between}{what}")
        else:
            self.state.passed.add(this)

    def _add_suffix(self, arguments: dict[str, str]) -> None:
        """HOST_SUFFIX for the names of machines without a dot."""
        for name in ("host", "server"):
            value = arguments.get(name, "")
            if value and self.state.suffix and "." not in value and (self.word != "DO_TCPDUMP" or value != ANY_HOST):
                arguments[name] = f"{value}.{self.state.suffix}"

    def _check_together(self, arguments: dict[str, str]) -> None:
        """Add a problem for values that are right one by one, and not together."""
        if self.word == "DO_CLIENT":
            if arguments["host"] == arguments["server"]:
                self._blame("server", f"{excerpt(arguments['server'])} is the client too; name another machine")
            end_s = self.state.now_us / MICRO + float(arguments["delay"]) + float(arguments["dur"])
            if end_s > MOST_SECONDS:
                days = MOST_SECONDS // 86_400
                self._blame("dur", f"the flows would end after more than {days} days of network time; shorten them")
        elif self.word in ("SET_NETEM", "SET_QDISC"):
            try:
                refuse_words(
                    self.word, tuple((name, arguments[name]) for name in self.spec.arguments if name != "host")
                )
            except InputError as error:
                self._blame("qdisc", str(error))
            if _BYTES_A_SECOND.fullmatch(arguments.get("rate", "")):
                what = f"tc takes {excerpt(arguments['rate'])} for bytes a second; is kbit or mbit meant?"
                self.state.note(self._at_argument("rate"), f"{self.word}: {what}")

    def _blame(self, name: str, what: str) -> None:
        """Add a problem at an argument, or at the command if it has a value that was left out."""
        self.complain(self._at_argument(name), what)

    def _at_argument(self, name: str) -> CommandPlace:
        """The place of an argument, or of the command where it is left out."""
        return self.at(self.given[name].offset) if name in self.given else self.place

    def _unknown(self, given: Sequence[GivenArgument]) -> dict[str, str]:
        """Note the arguments that the command does not know."""
        for found in given:
            near = nearest(found.name, self.spec.arguments)
            what = f"{self.word} has no argument {excerpt(found.name)}, so it is ignored{near}"
            self.state.note(self.at(found.offset), what)
        return {}

    def _settings(self, given: Sequence[GivenArgument], module: str) -> dict[str, str]:
        """What SET_SYSCTL and SET_MODULE_PARAMS set, each allowed."""
        before = f"{module}." if self.word == "SET_MODULE_PARAMS" else ""
        if before and module not in MODULE_PARAMETERS:
            if module:
                known = ", ".join(MODULE_PARAMETERS)
                self.complain(self.place, f'a script may set parameters of {known}, not of "{excerpt(module)}"')
            return {}
        if not given:
            self.complain(self.place, f"nothing is set; write {_EXAMPLES[self.word]}")
        settings = {}
        for found in given:
            name = setting_name(before + found.name)
            try:
                refuse_setting(self.word, name, found.value)
            except InputError as error:
                self.complain(self.at(found.offset), str(error))
            settings[name.removeprefix(before)] = found.value
        return settings

    def _emit(self, arguments: dict[str, str]) -> None:
        state = self.state
        if "exp" in arguments:
            number = self._experiment(arguments["exp"])
            if not number:
                return
            arguments["exp"] = state.exp = number
        state.exp_name = arguments.get("expName", state.exp_name)
        state.host = arguments.get("host", state.host)
        if self.word == "DO_SERVER":
            state.served.add(arguments["host"])
        if self.word == "DO_CLIENT":
            self._flows(arguments)
            for name, places in (("ca", state.algorithms), ("server", state.servers)):
                if arguments[name] not in places:
                    places[arguments[name]] = self._at_argument(name)
            state.start(self.place, arguments["exp"], int(arguments["instances"]))
            state.lasts(arguments["exp"], float(arguments["delay"]) + float(arguments["dur"]))
        if not self._again(arguments):
            state.emit(self.place, self.word, arguments)
        if self.word == "PROCESS_EXP":
            self._note_running(arguments["exp"])
            state.group = 1

    def _note_running(self, exp: str) -> None:
        """Note flows that are under way when their experiment is processed."""
        more_us = self.state.ends_us.pop(exp, 0) - self.state.now_us
        if more_us > 0:
            what = f"flows of experiment {exp} run for {more_us / MICRO:g} s more; they run to their end all the same"
            self.state.note(self.place, f"PROCESS_EXP: {what}. WAIT {more_us / MICRO:g} before it says what happens")

    def _flows(self, arguments: dict[str, str]) -> None:
        """Number the group of a DO_CLIENT, and tell bulk flows by their test alone."""
        if arguments["req"] in STREAM_SIZES:
            arguments |= {"test": "TCP_STREAM", "req": "S"}
        if not int(arguments["group"]):
            arguments["group"] = str(self.state.group)
            self.state.group += 1

    def _again(self, arguments: dict[str, str]) -> bool:
        """Whether the command repeats one that still holds: data that was fetched, a capture that runs."""
        done = self.state.done
        if self.word in ("DO_SERVER", "DO_CLIENT"):
            done.difference_update([each for each in done if each[0] == "GET_DATA"])
        if self.word not in ("GET_DATA", "DO_TCPDUMP"):
            return False
        this = (self.word, arguments["exp"], arguments["host"], arguments.get("server", ""))
        again = this in done
        done.add(this)
        return again

    def _experiment(self, exp: str) -> str:
        """The number that `exp` means; "" if there is none."""
        if exp.upper() == "COUNTER":
            self.state.counter += 1
            return str(self.state.counter)
        if exp != "PREV":
            return str(int(exp))
        if not self.state.exp:
            self.complain(self.place, "no experiment has begun yet; begin one with DO_SERVER exp=COUNTER")
        return self.state.exp


def _split(words: Sequence[Word], index: int) -> str:
    """What to say of a word that belongs to the argument before it; "" if it does not look so."""
    if split := spaced(words, index):
        return split
    before, word = words[index - 1].text if index else "", words[index].text
    if before.startswith(("rate=", "burst=", "limit=")) and _UNIT.fullmatch(word):
        return f'"{excerpt(word)}" must follow its number without a space: {excerpt(before + word)}'
    return ""


_BYTES_A_SECOND = re.compile(r"[\d.]+[kmgt]?i?bps", re.IGNORECASE)
_UNIT = re.compile(r"[kmgtKMGT]?i?(?:bit|bps|b|B)(?:/?s(?:ec)?)?")
_FORM = "an argument is name=value without spaces"
_EXAMPLES = {
    "SET_SYSCTL": "SET_SYSCTL host=h1 net.ipv4.tcp_ecn=1",
    "SET_MODULE_PARAMS": "SET_MODULE_PARAMS host=h1 module=tcp_cubic hystart=0",
}
