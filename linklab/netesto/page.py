# SPDX-License-Identifier: BSD-3-Clause
"""An experiment as a page, exp.html: a table with a column for each group, then graphs; `list_page` has the others.

It is one file that works offline, in light and dark, on paper and with a screen reader, in the style of the manuals.
Everything that a script or a stranger's folder says is escaped by the templates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from linklab.base.files import write_asked
from linklab.data import Dataset
from linklab.manual.images import data_uri
from linklab.manual.templates import templates
from linklab.netesto import names
from linklab.netesto.counters import CounterChange, changes, hosts_of, telling
from linklab.netesto.graphs import Graph
from linklab.netesto.key_values import WHOLE, of_group, spelt
from linklab.netesto.recorded import RecordedExperiment, RecordedSetting
from linklab.netesto.value_columns import NO_CPU
from linklab.netesto.values import FoundValues, Value, Values

PAGE = "exp.html"
UNKNOWN = "–"
HERE = Path(__file__).parent
AROUND = ("<!-- around -->", "<!-- /around -->")
"""What stands before and after the links to other experiments, which are known when the campaign has ended."""


# --- words


def shown(value: Value) -> str:
    """A value for people: four digits of a number, or all of a whole one; a dash for what was not measured."""
    if value is None or value == "":
        return UNKNOWN
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return UNKNOWN
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _several(*columns: str) -> Callable[[Values], str]:
    """Some values with slashes between them; one dash if none is known."""

    def of(values: Values) -> str:
        found = [values.get(column) for column in columns]
        return UNKNOWN if all(each is None for each in found) else " / ".join(map(shown, found))

    return of


def _test(values: Values) -> str:
    sizes = f" {shown(values.get('req'))}/{shown(values.get('reply'))}" if values.get("test") == names.RR else ""
    return f"{shown(values.get('test'))}{sizes}"


def _rates(values: Values) -> str:
    rate, count = values.get("rate"), values.get("instances")
    each = rate / int(count) if isinstance(rate, float) and isinstance(count, str) and int(count) else None
    return _several("rateMin", "each", "rateMax")({**values, "each": each})


_ROWS: tuple[tuple[str, str, Callable[[Values], str] | str], ...] = (
    ("Test", "with the sizes of request and reply", _test),
    ("Host", "", "host"),
    ("Server", "", "server"),
    ("Instances", "", "instances"),
    ("Duration", "s", "dur"),
    ("Delay", "s", "delay"),
    ("Congestion control", "", "ca"),
    ("Rate, all instances", "Mbit/s", "rate"),
    ("Rate, min / mean / max of an instance", "Mbit/s", _rates),
    ("Fairness of the instances", "Jain's index", "fairness"),
    ("Latency, min / mean / max", "µs", _several("minLatency", "meanLatency", "maxLatency")),
    ("Latency, p50 / p90 / p99 / p999", "µs", _several("p50Latency", "p90Latency", "p99Latency", "p999Latency")),
    ("rtt", "µs", "rtt"),
    ("pingRtt", "µs", "pingRtt"),
    ("cwnd", "packets", "cwnd"),
    ("localRetrans", "segments", "localRetrans"),
    ("remoteRetrans", "segments", "remoteRetrans"),
    ("lost", "segments", "lost"),
    ("retrans", "segments", "retrans"),
    ("retrans_total", "segments", "retrans_total"),
    ("retransPkts%", "of data segments", "retransPkts%"),
    ("localCpu", "", "localCpu"),
    ("remoteCpu", "", "remoteCpu"),
    ("client-tx-packets", "", "client-tx-packets"),
    ("client-tx-bytes", "", "client-tx-bytes"),
    ("client-tx-packet-len", "bytes", "client-tx-packet-len"),
    ("client-rx-packets", "", "client-rx-packets"),
    ("client-rx-bytes", "", "client-rx-bytes"),
    ("client-rx-packet-len", "bytes", "client-rx-packet-len"),
    ("tso", "", "tso"),
    ("gso", "", "gso"),
    ("lro", "", "lro"),
    ("gro", "", "gro"),
    ("rx-frames", "", "rx-frames"),
    ("tx-frames", "", "tx-frames"),
    ("adaptive-rx", "", "adaptive_rx"),
)
"""Rows of the table: words, unit, and the column or what makes the cell."""


@dataclass(frozen=True)
class PageRow:
    """A row of an experiment's table: its words, the unit, and a cell for each group."""

    words: str
    unit: str
    cells: Sequence[str]


def table_rows(found: FoundValues) -> list[PageRow]:
    """The table of an experiment: a row for each quantity, a cell for each group."""
    return [
        PageRow(words, unit, [shown(values.get(cell)) if isinstance(cell, str) else cell(values) for values in groups])
        for groups in [list(found.groups.values())]
        for words, unit, cell in _ROWS
    ]


def page_notes(recorded: RecordedExperiment, data: Dataset, found: FoundValues) -> list[str]:
    """Sentences to read the numbers by: notes of the run, flows that gave nothing, and what is never known."""
    notes = list(data.notes)
    for group in recorded.groups:
        silent = [i for i, _ in group.flows if found.flows[group.group, i]["rate"] is None]
        if silent:
            which = ", ".join(map(str, silent[:8])) + (", …" if len(silent) > 8 else "")
            notes.append(
                f"Group {group.group}: {len(silent)} of {group.instances} instances gave no rate ({which}), so no sum "
                "of this group is given."
            )
    if all(values.get(column) is None for column in NO_CPU for values in found.groups.values()):
        notes.append(
            "The load of the processor is not known: all hosts share one kernel, which does not count it by host."
        )
    return notes


# --- exp.html


def write_page(recorded: RecordedExperiment, data: Dataset, found: FoundValues, graphs: Sequence[Graph]) -> Path:
    """Write an experiment's page and its graphs beside it; the page's path.

    Raises:
        InputError: they cannot be written.
        DataError: a counter's file cannot be read.
    """
    for graph in graphs:
        write_asked(recorded.folder / f"{graph.name}.svg", graph.svg)
    text = (
        environment()
        .get_template("exp.html.j2")
        .render(
            recorded=recorded,
            rows=table_rows(found),
            groups=list(found.groups),
            whole=found.whole,
            graphs=[(graph, data_uri(graph.svg)) for graph in graphs],
            notes=page_notes(recorded, data, found),
            conditions=_conditions(recorded, data),
            settings=[_setting(one) for one in recorded.settings],
            counters=[(host, _telling(recorded.folder, host)) for host in hosts_of(recorded.folder)],
            files=_files(recorded),
            around=Markup("".join(AROUND)),  # noqa: S704 - our own
        )
    )
    return write_asked(recorded.folder / PAGE, text)


def _setting(setting: RecordedSetting) -> str:
    """A SET command as a script has it."""
    given = [f"{name}={value}" for name, value in setting.arguments.items() if value]
    return " ".join([setting.word, f"host={setting.host}", *given])


def _telling(folder: Path, host: str) -> list[CounterChange]:
    return telling(changes(folder, host))


def _conditions(recorded: RecordedExperiment, data: Dataset) -> list[tuple[str, str]]:
    """Name and value of what the experiment ran on."""
    known = {key: data.metadata.get(key) for key in ("topology", "engine", "clock", "profile", "kernel")}
    found = {"seed": recorded.seed, **known, **recorded.other}
    return [(key, spelt(str(value))) for key, value in found.items() if value not in (None, "")]


def _files(recorded: RecordedExperiment) -> list[tuple[str, str]]:
    """Address and name of the files beside the page."""
    made = [names.data_file(recorded.exp), WHOLE, *(of_group(group.group) for group in recorded.groups)]
    return [(quote(name), name) for name in (*made, *sorted(each.name for each in recorded.folder.glob("*.pcap")))]


@cache
def environment() -> jinja2.Environment:
    """The templates of this folder, which may include those of the manuals."""
    found = templates(HERE)
    found.filters["shown"] = shown
    return found
