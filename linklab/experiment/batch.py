# SPDX-License-Identifier: BSD-3-Clause
"""Batches of a batch file → a list of trials: loops, repetitions, overlaid values, variables, commands, names of files.

Flent's rules, in its order: what is inherited, then the values of the loops' argument sets, then `${}`. Where Linklab
does otherwise, docs/tests.md says so. Nothing is run here.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from linklab.base.text import excerpt
from linklab.data.suffixes import SUFFIX
from linklab.errors import InputError
from linklab.experiment.batch_commands import COMMAND_KEYS, commands_of
from linklab.experiment.batch_doubts import idle_loops, ignored_hosts, unused_keys
from linklab.experiment.batch_file import BatchFile, BatchPlace, BatchSection, expand, items, truth
from linklab.experiment.model import Trial
from linklab.experiment.places import nearest
from linklab.experiment.trial_list import (
    LONGEST_NAME,
    MOST_ENTRIES,
    ListedTrial,
    as_folder,
    as_name,
    check_names,
)

T = TypeVar("T")

ALL = "ALL"
TIME = "1970-01-01T000000"
"""What `${batch_time}` gives: a batch on the virtual clock has no time, and the same batch gives the same names."""

_LISTS = ("commands", "extra_commands")
_KNOWN = {
    *("test_name", "path", "topology", "from", "to", "hosts", "host", "length", "step_size", "seed", "clock", "engine"),
    *("cpu", "title", "note", "test_parameters", "output_path", "filename_extra", "batch_title", "repetitions"),
    *("pause", "debug_log", "disabled", "enabled", "abstract", "inherits", *_LISTS),
}
"""Keys of a batch that mean something; any other is a value for `${}`."""
_OF_FLENT = {
    *("extended_metadata", "debug_error", "socket_stats", "ip_version", "gzip", "data_dir", "log_file", "log_level"),
    *("local_bind", "remote_hosts", "remote_metadata", "http_getter_timeout", "output", "format", "plot"),
}
"""Settings of Flent's own that change nothing here."""


@dataclass(frozen=True)
class BatchChoice:
    """Which batches are wanted, and what is laid over them.

    names: of batches; none, or ALL, for all that are neither abstract nor disabled.
    overrides: values by key for every batch; a loop's argument sets win over them, as with Flent.
    path: for batches that say none.
    shuffle_seed: of the order of the trials within each batch; None for the order of the file.
    host_commands: whether commands for this machine are run.
    """

    names: tuple[str, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    shuffle_seed: int | None = 1
    host_commands: bool = False


@dataclass(frozen=True)
class BatchList:
    """The trials of the batches that were chosen, in the order in which they start.

    unused: sentences about keys that nothing refers to, which may be spelt wrong, and about loops that change nothing.
    """

    entries: tuple[ListedTrial, ...]
    unused: tuple[str, ...]


def batch_list(file: BatchFile, choice: BatchChoice) -> BatchList:
    """Make the list of trials.

    Raises:
        InputError: a batch is wrong, or two trials would write the same file; the message names the place.
    """
    run = _uuid(file, choice)
    entries: list[ListedTrial] = []
    unused: list[str] = []
    for batch in _chosen(file, choice):
        passes = list(_passes(file, batch, MOST_ENTRIES - len(entries)))
        makers = [_Maker(file, choice, run, each) for each in passes]
        found = [maker.entry() for maker in makers]
        unused += ignored_hosts((maker.section, entry.trial) for maker, entry in zip(makers, found, strict=True))
        trials = [(one.sets, one.repetition, entry.trial) for one, entry in zip(passes, found, strict=True)]
        unused += idle_loops(batch, trials, host_commands=choice.host_commands)
        if choice.shuffle_seed is not None:
            random.Random(f"{choice.shuffle_seed}:{batch.name}").shuffle(found)  # noqa: S311 - an order, no secret
        entries += found
        sections = [batch, *(file.args[name] for _, names in _loops(file, batch) for name in names)]
        unused += unused_keys(file, sections, _KNOWN | _OF_FLENT | COMMAND_KEYS)
    if not entries:
        raise InputError("there is nothing to run: every batch is abstract or disabled, or a loop of it is empty")
    check_names(entries, "name them apart with filename_extra or output_path, for example with ${repetition}")
    return BatchList(tuple(entries), tuple(unused))


def _chosen(file: BatchFile, choice: BatchChoice) -> list[BatchSection]:
    """The batches to be run, with what the command line lays over them."""
    command_line = {key: BatchPlace("--override", 0) for key in choice.overrides}
    batches = {name: batch.over(choice.overrides, command_line) for name, batch in file.batches.items()}
    if not choice.names or ALL in choice.names:
        return [batch for batch in batches.values() if not batch.off]
    for name in choice.names:
        if name not in batches:
            usable = [known for known, batch in batches.items() if not batch.off]
            raise InputError(f'there is no batch "{excerpt(name)}"; {nearest(name, usable)}')
        if why := batches[name].off:
            raise batches[name].place.wrong(f"this batch is {why}, so it is not run")
    return [batches[name] for name in dict.fromkeys(choice.names)]


def _uuid(file: BatchFile, choice: BatchChoice) -> str:
    """The number by which Flent knows the data sets of one batch run, made of what was asked for."""
    kinds = (file.batches, file.commands, file.args)
    written = [[(name, sorted(section.values.items())) for name, section in kind.items()] for kind in kinds]
    asked = repr((written, choice.names, sorted(choice.overrides.items()), choice.path))
    return str(uuid.UUID(bytes=hashlib.sha256(asked.encode("utf-8", "backslashreplace")).digest()[:16]))


# --- loops


@dataclass(frozen=True)
class _Pass:
    """One pass of all loops of a batch: its argument sets, and which repetition of how many it is."""

    batch: BatchSection
    sets: tuple[str, ...]
    repetition: int
    repetitions: int


def _passes(file: BatchFile, batch: BatchSection, most: int) -> Iterator[_Pass]:
    """Every combination of the loops' argument sets with every repetition."""
    loops = [names for _, names in _loops(file, batch)]
    written = batch.values.get("repetitions", "1")
    repetitions = _whole(batch, "repetitions", expand(written, batch.values, batch.at("repetitions")))
    if not repetitions:
        raise batch.at("repetitions").wrong(
            '"repetitions" must be at least 1; to leave the batch out, write "disabled = yes"'
        )
    if math.prod(map(len, loops)) * repetitions > most:
        raise batch.place.wrong(f"its loops make more than {MOST_ENTRIES} trials; leave some out")
    for sets in itertools.product(*loops):
        for repetition in range(1, repetitions + 1):
            yield _Pass(batch, sets, repetition, repetitions)


def _loops(file: BatchFile, batch: BatchSection) -> list[tuple[str, list[str]]]:
    """The loops of a batch, with the names of their argument sets."""
    return [
        (key, file.args_like(items(text), batch.at(key)))
        for key, text in batch.values.items()
        if key.startswith("for_")
    ]


class _Maker:
    """Makes the trial of one pass."""

    def __init__(self, file: BatchFile, choice: BatchChoice, run: str, one: _Pass) -> None:
        self.file, self.choice, self.run = file, choice, run
        self.name, self.sets, self.repetition = one.batch.name, one.sets, one.repetition
        self.section = one.batch
        for name in one.sets:
            self.section = self.section.over(file.args[name].values, file.args[name].places)
        self.number = f"{one.repetition:0{max(2, len(str(one.repetitions)))}}"
        special = {"batch_name": self.name, "batch_time": TIME, "batch_uuid": run, "repetition": self.number}
        self.variables = {"batch_title": "untitled", **self.section.values, **special}
        if choice.path and not self.variables.get("topology"):
            self.variables.setdefault("path", choice.path)

    def entry(self) -> ListedTrial:
        """The trial with the name of its file."""
        extra = self.value("filename_extra") or "-".join((*self.sets, self.number))
        file_name = as_name(f"{self.name}-{extra}")
        folder = self._checked("output_path", as_folder)
        name = str(folder / file_name)
        self.variables["filename"] = file_name
        self.variables["data_filename"] = f"{file_name}{SUFFIX}"
        label = f"{self.name}: {', '.join((*self.sets, f'repetition {self.number}'))}"
        return ListedTrial(
            name, excerpt(label, LONGEST_NAME), self._trial(), self._number("pause", 0.0), self._truth("debug_log")
        )

    def _trial(self) -> Trial:
        if not (test := self.value("test_name")):
            raise self.section.place.wrong("test_name is missing; `linklab test list` names the tests")
        topology, source, targets = self.value("topology"), self.value("from"), self._targets()
        path = self.value("path")
        if bool(path) == bool(topology):
            what = "both path and topology are given" if path else "nothing says on which path the test is run"
            raise self.section.place.wrong(
                f'{what}; write "path = 10mbit 50ms fq_codel" or give it with --path, or write topology, from and to'
            )
        return Trial(
            test=self._beside("test_name", test) if test.endswith(".toml") else test,
            path=path,
            topology=self._beside("topology", topology) if topology else "",
            source=source,
            targets=targets,
            parameters=self._parameters(),
            length_s=self._number("length"),
            step_s=self._number("step_size"),
            seed=self._seed(),
            clock=self.value("clock") or "virtual",
            engine=self.value("engine") or "pocket",
            profile=self.value("cpu") or "desktop",
            title=self.value("title"),
            note=self.value("note"),
            extra=self._extra(),
            commands=tuple(commands_of(self.file.commands, self.section, self.variables)),
        )

    def value(self, key: str) -> str:
        """The value of a key with its variables replaced; "" where it is not there."""
        if key not in self.section.values and key not in self.variables:
            return ""
        return expand(self.variables[key], self.variables, self.section.at(key))

    def _checked(self, key: str, check: Callable[[str], T]) -> T:
        try:
            return check(self.value(key))
        except InputError as error:
            raise self.section.at(key).wrong(f"{key}: {error}") from error

    def _number(self, key: str, default: float | None = None) -> Any:
        if not (text := self.value(key)):
            return default
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number < 1e9:
            raise self.section.at(key).wrong(f'"{key}" must be a number of seconds, not "{excerpt(text)}"')
        return number

    def _truth(self, key: str) -> bool:
        text = self.value(key)
        return bool(text) and truth(text, self.section.at(key), key)

    def _seed(self) -> int:
        """The seed of the trial: the next one for each repetition, unless the file says itself how it depends on it."""
        first = _whole(self.section, "seed", self.value("seed") or "1")
        other = {**self.variables, "repetition": f"{self.repetition}0"}
        said = self.section.values.get("seed", "")
        if expand(said, other, self.section.at("seed")) != self.value("seed"):
            return first
        return first + self.repetition - 1

    def _targets(self) -> tuple[str, ...]:
        """The nodes that are measured to; Flent's hosts name them where there is a topology."""
        if to := self.value("to"):
            return tuple(items(to))
        return tuple(items(self.value("hosts") or self.value("host"))) if self.value("topology") else ()

    def _parameters(self) -> dict[str, str]:
        found = {}
        for each in filter(None, (part.strip() for part in self.value("test_parameters").split(";"))):
            key, equals, value = each.partition("=")
            if not equals or not key.strip():
                place = self.section.at("test_parameters")
                raise place.wrong(f'"{excerpt(each)}" must be KEY=VALUE; several are separated by ";"')
            found[key.strip()] = value.strip()
        return found

    def _beside(self, key: str, name: str) -> str:
        """A file that is named in a batch file lies beside it."""
        return str(Path(self.section.at(key).file).parent / name)

    def _extra(self) -> dict[str, Any]:
        return {
            "BATCH_NAME": self.name,
            "BATCH_TITLE": self.value("batch_title"),
            "BATCH_UUID": self.run,
            "batch": {"arguments": list(self.sets), "repetition": self.repetition},
        }


def _whole(section: BatchSection, key: str, text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise section.at(key).wrong(f'"{key}" must be a whole number, not "{excerpt(text)}"')
    return int(text)
