# SPDX-License-Identifier: BSD-3-Clause
"""What in a batch file looks like a mistake though it can be run: keys without a use, loops that change nothing."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from linklab.base.text import excerpt
from linklab.experiment.batch_file import BatchFile, BatchSection, used_in
from linklab.experiment.model import Trial


def unused_keys(file: BatchFile, sections: Iterable[BatchSection], known: Collection[str]) -> Iterator[str]:
    """A sentence for each key that means nothing and that nothing refers to: it may be spelt wrong.

    Args:
        file: of the sections.
        sections: a batch and the argument sets of its loops.
        known: keys that mean something.
    """
    sections = list(sections)
    everywhere = itertools.chain(sections, file.args.values(), file.commands.values())
    used = {name for section in everywhere for text in section.values.values() for name in used_in(text)}
    for section in sections:
        for key in section.values:
            if not (key in known or key in used or key.startswith("for_")):
                yield f'{section.at(key)}: nothing refers to "{excerpt(key)}"; is it spelt as it should be?'


def ignored_hosts(trials: Iterable[tuple[BatchSection, Trial]]) -> list[str]:
    """A sentence for each place that names hosts of Flent's for a path in words, which has hosts of its own."""
    places = dict.fromkeys(
        (str(section.at(key)), key, section.values[key])
        for section, trial in trials
        for key in ("hosts", "host")
        if trial.path and section.values.get(key)
    )
    return [
        f"{place}: {key} = {excerpt(value)} chooses nothing, because the targets of a path in words are its own, from "
        f"h2 on; a command that uses ${{{key}}} gets {excerpt(value)} all the same"
        for place, key, value in places
    ]


def idle_loops(
    batch: BatchSection, trials: Sequence[tuple[tuple[str, ...], int, Trial]], *, host_commands: bool
) -> Iterator[str]:
    """A sentence for each loop whose argument sets change nothing that is run.

    Args:
        batch: with its loops.
        trials: with the argument set of each loop, and the number of the repetition.
        host_commands: whether commands for this machine are run.
    """
    for number, key in enumerate(key for key in batch.values if key.startswith("for_")):
        alike: dict[object, set[str]] = {}
        for sets, repetition, trial in trials:
            others = (sets[:number], sets[number + 1 :], repetition)
            alike.setdefault(others, set()).add(_deciding(trial, host_commands=host_commands))
        names = dict.fromkeys(sets[number] for sets, _, _ in trials)
        if len(names) > 1 and all(len(found) == 1 for found in alike.values()):
            yield (
                f"{batch.at(key)}: the loop {key} changes nothing that is run, because no test, path, parameter, or "
                f"command uses what {excerpt(', '.join(names))} set; the trials differ only in their names"
            )


def _deciding(trial: Trial, *, host_commands: bool) -> str:
    """What decides the outcome of a trial."""
    commands = tuple(command for command in trial.commands if host_commands or not command.on_host)
    return repr(replace(trial, title="", note="", extra={}, commands=commands))
