# SPDX-License-Identifier: BSD-3-Clause
"""A test's TOML file ↔ `NamedTest`: read, checked, with what it includes put in.

Nothing in such a file is run, and it reaches no other files than those of the library, so a stranger's can be opened.
The format is described in docs/tests.md, "Writing a test".
"""

from __future__ import annotations

import contextlib
import difflib
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from linklab.base.text import excerpt
from linklab.base.toml import parse, read_text
from linklab.errors import InputError
from linklab.experiment.entries import (
    Condition,
    DerivedEntry,
    Entries,
    FlowEntry,
    NamedTest,
    ParameterEntry,
    ParameterKind,
    PlotEntry,
)
from linklab.experiment.entry_table import EntryTable, texts, when_of
from linklab.experiment.model import Traffic
from linklab.experiment.places import PLACE, nearest
from linklab.experiment.test_entries import read_derived, read_flow, read_parameter
from linklab.experiment.test_plots import read_plots

T = TypeVar("T")

LIBRARY = Path(__file__).resolve().parent / "library"
SHARED = LIBRARY / "shared"

FAMILIES: Mapping[str, str] = {
    "rrul": "Realtime response under load",
    "tcp": "TCP",
    "late": "TCP flows that join and leave",
    "duel": "Congestion controls against each other",
    "fairness": "Fairness between round trip times",
    "udp": "UDP",
    "http": "Web pages",
    "voip": "Telephony",
    "network": "Other measurements of a network",
    "machine": "Counters and load of machines",
    "own": "Tests of one's own",
}
"""Family → its heading, in the order of the list."""

MOST_BYTES = 200_000
DEEPEST = 6
"""Of files that include files."""


def test_names() -> list[str]:
    """The names of the library's tests, sorted."""
    return sorted(file.stem for file in LIBRARY.glob("*.toml"))


def load_test(name_or_path: str) -> NamedTest:
    """A test of the library by its name, or that of a TOML file.

    Raises:
        InputError: there is none of this name, or something in the file is wrong: the message names the place.
    """
    file = LIBRARY / f"{name_or_path}.toml"
    if "/" not in name_or_path and file.is_file():
        return _library_test(name_or_path)
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file():
        return read_test(path)
    raise InputError(f'there is no test "{excerpt(name_or_path)}"; {_which(name_or_path)}')


def _which(name: str) -> str:
    near = difflib.get_close_matches(name, test_names(), 3, 0.6)
    return f"did you mean {' or '.join(near)}?" if near else "linklab test list shows all; a file ends in .toml"


@lru_cache(maxsize=128)
def _library_test(name: str) -> NamedTest:
    return read_test(LIBRARY / f"{name}.toml")


def read_test(file: Path) -> NamedTest:
    """The test of a TOML file; InputError as `load_test`."""
    try:
        found = file.stat()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{file}: it is not a file; a test is a TOML file")
    if (size := found.st_size) > MOST_BYTES:
        raise InputError(f"{file}: it has {size:,} bytes; a test has at most {MOST_BYTES:,}")
    return parse_test(read_text(file), str(file), file.stem, file)


def parse_test(text: str, where: str, name: str, file: Path = Path()) -> NamedTest:
    """The test of a TOML text; `where` begins every message."""
    table = EntryTable(parse(text, where).data, where)
    title, words = table.text("title"), table.text("text", "").strip()
    family = table.text("family", "own")
    if family not in FAMILIES:
        raise table.wrong(f'"family" cannot be "{excerpt(family)}"; {nearest(family, FAMILIES)}')
    plot = table.text("default_plot", "")
    hosts, usual_hosts = _hosts(table, "hosts"), _hosts(table, "usual_hosts")
    total, total_least = table.text("total", "length + 2 delay"), table.text("total_least", "")
    length = table.take("length_s", (int, float), None)
    values = texts(table, "values")
    impossible = table.text("impossible", "")
    entries = _wanted(_entries(table, DEEPEST), table)
    table.end()
    test = NamedTest(
        name=name,
        title=title,
        family=family,
        text=words,
        plot=plot or next(iter(entries.plots), ""),
        entries=entries,
        hosts=hosts,
        usual_hosts=usual_hosts,
        total=total,
        total_least=total_least,
        length_s=None if length is None else float(length),
        values=values,
        impossible=impossible,
        file=file,
    )
    _check(test, table)
    return test


def _wanted(entries: Entries, table: EntryTable) -> Entries:
    """The entries without those that the test includes and does not want."""
    plots, parameters = table.texts("without_plots"), table.texts("without_parameters")
    for key, gone, known in (
        *(("without_plots", gone, entries.plots) for gone in plots),
        *(("without_parameters", gone, entries.parameters) for gone in parameters),
    ):
        if gone not in known:
            raise table.wrong(f'"{key}": there is no "{excerpt(gone)}"; {nearest(gone, known)}')
    return Entries(
        {key: each for key, each in entries.parameters.items() if key not in parameters},
        tuple(flow for flow in entries.flows if not _names(flow.when, parameters)),
        {key: each for key, each in entries.derived.items() if not _names(each.when, parameters)},
        {key: each for key, each in entries.plots.items() if key not in plots and not _names(each.when, parameters)},
    )


def _hosts(table: EntryTable, key: str) -> int:
    hosts: int = table.take(key, int, 1)
    if not 1 <= hosts <= 1000:
        raise table.wrong(f'"{key}" must be a whole number from 1 to 1,000, not {hosts}')
    return hosts


def _names(when: tuple[Condition, ...], parameters: Sequence[str]) -> bool:
    return any(one.parameter in parameters for one in when)


def _entries(table: EntryTable, deep: int) -> Entries:
    """What a file holds, after what it includes; a later entry of a name replaces an earlier one."""
    parameters: dict[str, ParameterEntry] = {}
    flows: list[FlowEntry] = []
    derived: dict[str, DerivedEntry] = {}
    plots: dict[str, PlotEntry] = {}
    late: list[Entries] = []
    for name, when in _includes(table):
        found = _limited(_shared(name, table, deep), when)
        # extras come after what the test itself measures, as their plots do
        if name == "common":
            late.append(found)
            continue
        parameters.update(found.parameters)
        flows += found.flows
        derived.update(found.derived)
        plots.update(found.plots)
    wrong: list[InputError] = []
    own = {parameter.name: parameter for parameter in _read_all(read_parameter, table.entries("parameter"), wrong)}
    # a person reads the test's own first
    for further in (parameters, *(found.parameters for found in late)):
        own.update({name: each for name, each in further.items() if name not in own})
    flows += _read_all(read_flow, table.entries("flow"), wrong)
    derived.update({entry.series: entry for entry in _read_all(read_derived, table.entries("derived"), wrong)})
    inherited = {**plots, **{key: each for found in late for key, each in found.plots.items()}}
    with _collected(wrong):
        plots.update(read_plots(table, inherited))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else SeveralError(wrong)
    for found in late:
        flows += found.flows
        derived.update({key: each for key, each in found.derived.items() if key not in derived})
        plots.update({key: each for key, each in found.plots.items() if key not in plots})
    return Entries(own, tuple(flows), derived, plots)


class SeveralError(InputError):
    """A file has several faults: the message is the first and how many more, and `each` has all of them."""

    def __init__(self, faults: Sequence[InputError]) -> None:
        self.each = tuple(map(str, faults))
        count = len(faults) - 1
        super().__init__(f"{self.each[0]} ({count} more {'fault' if count == 1 else 'faults'}: linklab test check)")


@contextlib.contextmanager
def _collected(wrong: list[InputError]) -> Iterator[None]:
    """Keep a fault for later, so that a person reads of all of them at once."""
    try:
        yield
    except InputError as error:
        wrong.append(error)


def _read_all(read: Callable[[EntryTable], T], tables: Sequence[EntryTable], wrong: list[InputError]) -> list[T]:
    found = []
    for table in tables:
        with _collected(wrong):
            found.append(read(table))
    return found


def _includes(table: EntryTable) -> list[tuple[str, tuple[Condition, ...]]]:
    """Names of shared files, and when what they hold counts."""
    found: list[tuple[str, tuple[Condition, ...]]] = []
    for item in table.take("include", list, []):
        if isinstance(item, str):
            found.append((item, ()))
            continue
        one = EntryTable(item, f"{table.where}: include")
        found.append((one.text("file"), when_of(one)))
        one.end()
    return found


def _limited(entries: Entries, when: tuple[Condition, ...]) -> Entries:
    """The entries with one more condition each."""
    if not when:
        return entries
    return Entries(
        entries.parameters,
        tuple(replace(flow, when=flow.when + when) for flow in entries.flows),
        {name: replace(each, when=each.when + when) for name, each in entries.derived.items()},
        {name: replace(each, when=each.when + when) for name, each in entries.plots.items()},
    )


def _shared(name: str, table: EntryTable, deep: int) -> Entries:
    known = sorted(file.stem for file in SHARED.glob("*.toml"))
    if name not in known:
        raise table.wrong(f'"include": there is no shared file "{excerpt(name)}"; {nearest(name, known)}')
    if not deep:
        raise table.wrong(f'"include": "{name}" is included by files that include it too deeply')
    file = SHARED / f"{name}.toml"
    shared = EntryTable(parse(read_text(file), f"shared/{name}").data, f"shared/{name}")
    found = _entries(shared, deep - 1)
    shared.end()
    return found


def _check_commands(test: NamedTest) -> None:
    """A command comes from the person who runs the test, never from its file, which may be a stranger's."""
    for flow in test.entries.flows:
        if flow.traffic is Traffic.COMMAND and not _of_the_person(flow, test):
            raise InputError(
                f'{flow.where}: "command" must be the place of a text parameter without a default, such as '
                '"{command}", which no key of "each" or "values" replaces: what is run is said on the command line, '
                "never in a file"
            )


def _of_the_person(flow: FlowEntry, test: NamedTest) -> bool:
    """Whether only a person can say the command of a flow; `flows._places` says what else may stand for a place."""
    place = PLACE.fullmatch(flow.options.get("command", ""))
    parameter = test.entries.parameters.get(place[1]) if place else None
    if parameter is None or parameter.kind is not ParameterKind.TEXT or parameter.default:
        return False
    replaced = {"i", "n", *test.values, *(key for places in flow.each for key in places)}
    return parameter.name not in replaced


def _check(test: NamedTest, table: EntryTable) -> None:
    """What cannot be seen in one entry alone."""
    _check_commands(test)
    plots = test.entries.plots
    if not test.entries.flows and not test.impossible:
        raise table.wrong("a test needs at least one [[flow]]")
    if test.plot and test.plot not in plots:
        raise table.wrong(f'"default_plot": there is no plot "{excerpt(test.plot)}"; {nearest(test.plot, plots)}')
    for plot in plots.values():
        for part in plot.parts:
            if part not in plots:
                raise InputError(f'{plot.where}: there is no plot "{excerpt(part)}"; {nearest(part, plots)}')
    parameters = test.entries.parameters
    conditional: list[FlowEntry | DerivedEntry | PlotEntry] = [
        *test.entries.flows,
        *test.entries.derived.values(),
        *plots.values(),
    ]
    for entry in conditional:
        for when in entry.when:
            if when.parameter not in parameters:
                raise InputError(
                    f'{entry.where}: "when": there is no parameter "{excerpt(when.parameter)}"; '
                    f"{nearest(when.parameter, parameters)}"
                )
