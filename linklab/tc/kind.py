# SPDX-License-Identifier: BSD-3-Clause
"""A kind of discipline, class or filter: the one row that says all that the rest of Linklab asks of it.

Words typed or read become options, options become words; a drawing's texts become options; what options mean to those
who judge (a rate, what the queue holds) and what the kernel needs for it are fields here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from linklab.errors import FieldError, InputError
from linklab.tc.option import OneOf, Option, Options, Parameter, Several, Switch, Valued

FRAME_BYTES = 1514
"""A full frame: what a limit in packets counts each."""
_MOST_UNREAD = 64
_UNREAD = re.compile(r"[a-z0-9_ ]{1,40}")


@dataclass(frozen=True)
class Drawn:
    """An option that drawings offer: its key there, and what a dialog says of it.

    option: name of the option, where the key is not a word of it.
    """

    key: str
    help: str
    default: str = ""
    required: bool = False
    option: str = ""


@dataclass(frozen=True)
class Kind:
    """One kind.

    options: in the order in which tc is given them.
    needs: names of the options that the kernel always tells.
    drawn: what a drawing may set, in the order of its dialog.
    classes: the kind of its classes, where it has some of its own.
    module: the kernel's module; "" where every kernel has it.
    queue: the option that limits what it holds; counts: what that option counts, "interface" where the limit is the
        interface's own (txqueuelen), and "" where it holds nothing by itself.
    rate: the option that limits the rate of all that passes; flow_rate: of each flow.
    told: options that have a fact of their own, so that the fact "options" leaves them out.
    shown: options that tc prints as they are typed.
    """

    name: str
    options: tuple[Option, ...] = ()
    needs: tuple[str, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    classes: Kind | None = None
    module: str = ""
    queue: str = "limit"
    counts: Literal["packets", "bytes", "interface", ""] = "packets"
    rate: str = ""
    flow_rate: str = ""
    told: tuple[str, ...] = ("limit",)
    shown: tuple[str, ...] = ()

    # --- words of tc

    def words(self, options: Options, *, spelled: bool = False) -> list[str]:
        """The words after the kind's name, in the order of `options`.

        spelled: as people write it ("20ms") instead of exactly ("20000us").

        Raises:
            StateError: no words of tc give these options.
        """
        return [
            word
            for option in self.options
            if option.name in options
            for word in option.say(options[option.name], spelled=spelled)
        ]

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The options of words as they are typed after the kind's name; only what is said.

        Raises:
            InputError: a word that this kind does not have, or a value that cannot be read.
        """
        rest, found = list(words), {}
        while rest:
            word = rest.pop(0)
            if word not in self._by_word:
                raise InputError(f'{self.name} has no "{word}"')
            option = self._by_word[word]
            found[option.name] = option.take(word, rest)
        return found

    @cached_property
    def _by_word(self) -> Mapping[str, Option]:
        return {word: option for option in self.options for word in option.starts}

    @cached_property
    def by_name(self) -> Mapping[str, Option]:
        """The options by their names in facts."""
        return {option.name: option for option in self.options}

    # --- facts

    def check(self, options: Options) -> None:
        """InputError unless the agent may say these options of this kind."""
        known = {option.name: option for option in self.options if option.told}
        for name, value in options.items():
            holds = is_unread if name == "unread" else known[name].holds if name in known else None
            if holds is None:
                raise InputError(f"may have {', '.join(known)}, found {name[:40]!r}")
            if not holds(value):
                raise InputError(f'"{name}" cannot be {str(value)[:60]!r}')
        for name in self.needs:
            if name not in options and "unread" not in options:
                raise InputError(f'"{name}" is missing')

    def capacity_bytes(self, options: Options, txqlen: int = 0) -> int | None:
        """Bytes that its queue holds, a packet counted as a full frame; None where it has no limit.

        txqlen: packets, the interface's own limit.
        """
        if self.counts == "interface":
            return txqlen * FRAME_BYTES
        limit = options.get(self.queue)
        if self.counts == "bytes":
            return None if limit is None else int(limit)
        limits = [] if limit is None else [limit * FRAME_BYTES]
        limits += [options["memory_limit"]] if options.get("memory_limit") else []
        return int(min(limits)) if limits else None

    def resized(self, options: Options, size_bytes: int) -> dict[str, Any] | None:
        """The options with a queue of this size; None where the kind has no limit to set."""
        if self.counts == "bytes":
            return {**options, self.queue: size_bytes}
        if self.queue not in options:
            return None
        changed = {**options, self.queue: max(round(size_bytes / FRAME_BYTES), 1)}
        if "memory_limit" in changed:
            # counts what packets take in memory, which is more than their bytes
            changed["memory_limit"] = max(changed["memory_limit"], 4 * size_bytes)
        return changed

    # --- drawings

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a drawing may set: of the discipline, or of its one class."""
        own = tuple(self._parameter(drawn) for drawn in self.drawn)
        return own + (self.classes.parameters if self.classes else ())

    def _parameter(self, drawn: Drawn) -> Parameter:
        option = self.by_name[drawn.option] if drawn.option else self._by_word[drawn.key]
        choices: tuple[str, ...] = ()
        match option:
            case Valued(form=form):
                kind = form.kind
            case OneOf(choices=words) if drawn.key not in words:
                kind, choices = "choice", words
            case Switch() | OneOf():
                kind = "flag"
            case Several():
                raise ValueError(f"{self.name}: {drawn.key} has several values and no field of a dialog")
        return Parameter(drawn.key, option, kind, drawn.help, drawn.default, drawn.required, choices)

    def from_drawing(self, texts: Mapping[str, Any]) -> dict[str, Any]:
        """The options that a drawing's texts give, with tc's default where tc insists on a value.

        Raises:
            FieldError: a text that cannot be, a key that is not there, or one that is missing.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for key in texts:
            if key not in known:
                raise FieldError(f'{self.name} has no "{key}"; it has {", ".join(known)}', key=str(key))
        found = {}
        for parameter in self.parameters:
            text = texts.get(parameter.name, "")
            if not text and parameter.required:
                text = parameter.default
                if not text:
                    raise FieldError(f'{self.name} needs "{parameter.name}": {parameter.help}', key=parameter.name)
            value = parameter.read(text)
            if value is not None:
                found[parameter.option.name] = value
        return found


def is_unread(value: Any) -> bool:
    """Whether this may be the list of what the agent cannot say of an object."""
    return (
        type(value) is list
        and 0 < len(value) <= _MOST_UNREAD
        and all(type(each) is str and _UNREAD.fullmatch(each) for each in value)
    )
