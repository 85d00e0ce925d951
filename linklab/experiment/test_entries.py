# SPDX-License-Identifier: BSD-3-Clause
"""The [[parameter]], [[flow]] and [[derived]] tables of a test's file → entries, each key checked."""

from __future__ import annotations

from collections.abc import Mapping

from linklab.base.text import excerpt
from linklab.experiment.entries import DerivedEntry, FlowEntry, ParameterEntry, ParameterKind
from linklab.experiment.entry_table import MOST_ENTRIES, EntryTable, texts, when_of
from linklab.experiment.model import DerivedRule, Traffic
from linklab.experiment.places import nearest

OPTIONS: Mapping[Traffic, tuple[str, ...]] = {
    Traffic.TCP: ("window",),
    Traffic.UDP: (),
    Traffic.SCTP: (),
    Traffic.ICMP: ("host",),
    Traffic.UDP_RTT: ("host",),
    Traffic.TCP_RTT: ("host", "protocol", "request", "response"),
    Traffic.VOIP: ("host",),
    Traffic.HTTP: ("host", "urls", "pages"),
    Traffic.BURSTS: ("ports",),
    Traffic.COMMAND: ("host", "command"),
    Traffic.CPU_LOAD: ("host", "workers", "load"),
    Traffic.QDISC: ("host", "interface"),
    Traffic.CPU: ("host",),
    Traffic.NETSTAT: ("host",),
}
"""What a flow of each kind may have under "options"; `TrafficFlow.options` says what each means."""

_KINDS = {kind.value: kind for kind in ParameterKind}
_TRAFFIC = {kind.value: kind for kind in Traffic}
_RULES = {rule.value: rule for rule in DerivedRule}


def read_parameter(table: EntryTable) -> ParameterEntry:
    """What a person may choose."""
    name = table.text("name")
    found = ParameterEntry(
        name=name,
        kind=table.choice("kind", _KINDS, "text"),
        text=table.text("text", ""),
        default=table.text("default", ""),
        otherwise=table.text("otherwise", ""),
        other_names=table.texts("other_names"),
        least=table.take("least", (int, float), None),
        most=table.take("most", (int, float), None),
    )
    table.end()
    return found


def read_flow(table: EntryTable) -> FlowEntry:
    """One entry of flows."""
    directions = {"": "", "up": "up", "down": "down"}
    version = table.take("version", int, None)
    if version not in (None, 4, 6):
        raise table.wrong(f'"version" must be 4 or 6, not {version}')
    number = table.take("number", int, None)
    found = FlowEntry(
        where=table.where,
        series=table.text("series"),
        traffic=table.choice("traffic", _TRAFFIC),
        direction=table.choice("direction", directions, ""),
        target=table.text("target", ""),
        start=table.text("start", ""),
        length=table.text("length", ""),
        shift=table.text("shift", ""),
        every=table.text("every", ""),
        marking=table.text("marking", ""),
        congestion=table.text("congestion", ""),
        interval=table.text("interval", ""),
        rate=table.text("rate", ""),
        size=table.text("size", ""),
        version=version,
        needs=table.text("needs", ""),
        count=table.text("count", ""),
        each=_each(table),
        number=number,
        when=when_of(table),
        options=texts(table, "options"),
    )
    if sum(bool(way) for way in (found.count, found.each, found.every, number is not None)) > 1:
        raise table.wrong('only one of "count", "each", "every", and "number" can be given')
    allowed = OPTIONS[found.traffic]
    for name in found.options:
        if name not in allowed:
            hint = nearest(name, allowed) if allowed else "it has no options"
            raise table.wrong(f'"options": {found.traffic.value} has no "{excerpt(name)}"; {hint}')
    table.end()
    return found


def _each(table: EntryTable) -> tuple[Mapping[str, str], ...]:
    """Tables of texts, or texts that are called {value}."""
    found = []
    for item in table.take("each", list, []):
        places = item if isinstance(item, dict) else {"value": item}
        if not all(isinstance(value, (str, int, float)) for value in places.values()):
            raise table.wrong('"each" must be a list of texts, or of tables of texts')
        found.append({str(key): str(value) for key, value in places.items()})
    if len(found) > MOST_ENTRIES:
        raise table.wrong(f'"each" has {len(found):,} entries; at most {MOST_ENTRIES} are allowed')
    return tuple(found)


def read_derived(table: EntryTable) -> DerivedEntry:
    """A derived series."""
    found = DerivedEntry(
        where=table.where,
        series=table.text("series"),
        rule=table.choice("rule", _RULES),
        of=table.texts("of"),
        unit=table.text("unit", ""),
        when=when_of(table),
    )
    if not found.of:
        raise table.wrong('"of" must name the series that it is computed from')
    table.end()
    return found
