# SPDX-License-Identifier: BSD-3-Clause
"""Samples of an interface's queueing disciplines (JSON lines) → occupancy and drops over time.

A file may be read while it is still being written.
A file is one header {"interface", "node", "period_s", "tc": what `tc -d -j qdisc` said at the start}, then lines
{"t": s, "qdiscs": [as `tc -s -j qdisc` lists them]}.
It must not show netem's backlog as a queue: that is packets in flight on the emulated link.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linklab.base.text import excerpt, file_name
from linklab.errors import DataError
from linklab.measure import aqm
from linklab.measure.reading import Json, json_number, json_object, json_objects, load_json, read_text
from linklab.measure.series import Measurements, Quantity, Series, make_series

Qdisc = Json
# Known fields and how they are named here; other numbers are a discipline's own statistics and keep tc's name.
_FIELDS = {
    "backlog": ("queue.backlog", "bytes"),
    "qlen": ("queue.qlen", "packets"),
    "drops": ("queue.drops", "packets"),
    "bytes": ("queue.sent.bytes", "bytes"),
    "packets": ("queue.sent.packets", "packets"),
    "overlimits": ("queue.overlimits", ""),
    "requeues": ("queue.requeues", "packets"),
}
_NOT_MEASURED = {"refcnt", "root"}
_NO_QUEUE = {"ingress", "clsact", "noqueue"}
_NAMES = ("kind", "handle", "parent")
SHORTEST_S, LONGEST_S = 1e-9, 1e9
_FIELD = re.compile(r"[A-Za-z]\w{0,40}", re.ASCII)
MOST_FIELDS = 256
MOST_QDISCS = 1024
"""Of one interface; a card with a queue for each processor has some dozens."""


@dataclass
class QueueSamples:
    """What was read so far: the header, and per sample its time (s) and its list of disciplines."""

    source: str
    header: dict[str, Any] = field(default_factory=dict)
    time_s: list[float] = field(default_factory=list)
    qdiscs: list[list[Qdisc]] = field(default_factory=list)
    _rest: str = ""
    _line: int = 0

    def feed(self, text: str) -> None:
        """Take more of the file; a last line without its end waits for the next call.

        Raises:
            DataError: a whole line that is not a header or a sample.
        """
        lines = (self._rest + text).split("\n")
        self._rest = lines.pop()
        for line in lines:
            self._line += 1
            if line.strip():
                self._take(line)

    def _take(self, line: str) -> None:
        where = f"{self.source}: line {self._line}"
        if not self.header and not line.lstrip().startswith("{"):
            raise DataError(f'{where}: no sample of a queue, but "{excerpt(line)}"; give a file of the queue sampler')
        record = json_object(load_json(line, where), where)
        if not self.header:
            if not (_is_name(record.get("interface")) and _is_name(record.get("node", ""))):
                raise DataError(f"{where}: no header of queue samples: it names interface and node; sample anew")
            self.header = {**record, "tc": _disciplines(record.get("tc"), f"{where}: tc")}
            return
        if "t" not in record or "qdiscs" not in record:
            raise DataError(f"{where}: no sample of a queue: it has a time, t, and a list of disciplines, qdiscs")
        time_s = json_number(record["t"])
        if not (self.time_s or [-math.inf])[-1] <= time_s <= LONGEST_S:
            raise DataError(f"{where}: t is no time in seconds after the sample before; sample anew")
        self.time_s.append(time_s)
        self.qdiscs.append(_disciplines(record["qdiscs"], f"{where}: qdiscs"))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and excerpt(value) == value


def _disciplines(listed: object, where: str) -> list[Qdisc]:
    """What tc lists; DataError where its kind or handle is no text, or it lists more than an interface can have."""
    qdiscs = json_objects(listed, where)
    if len(qdiscs) > MOST_QDISCS:
        raise DataError(f"{where}: {len(qdiscs)} disciplines on one interface; {MOST_QDISCS} are read")
    for number, qdisc in enumerate(qdiscs):
        json_object(qdisc.get("options"), f"{where}[{number}]: options")
        if not all(_is_name(qdisc.get(key, "")) for key in _NAMES):
            raise DataError(f"{where}[{number}]: kind, handle and parent of a discipline must be names")
    return qdiscs


def looks_like_samples(text: str) -> bool:
    """Whether the first line is the header of a sample file."""
    try:
        header = load_json(text.partition("\n")[0], "the first line")
    except DataError:
        return False
    return isinstance(header, dict) and "interface" in header and "period_s" in header


def read_samples(path: Path) -> QueueSamples:
    """The samples of a file; a last line that is cut off is left out.

    Raises:
        DataError: the file cannot be read, has no header, or holds no sample.
    """
    samples = QueueSamples(file_name(path))
    samples.feed(read_text(path))
    if not samples.time_s:
        raise DataError(f"{samples.source}: no queue samples in it; was the sampler stopped before its first one?")
    return samples


def choose(qdiscs: Sequence[Qdisc], handle: str | None = None) -> tuple[Qdisc | None, str]:
    """The discipline whose backlog is the queue of the interface, and a sentence if that needs one.

    It is the innermost one: no other has it, or a class of it, as parent. netem is passed over for its parent.
    Of several innermost ones (htb with a child for each class) it is the common ancestor, whose backlog counts all.
    handle: take this one instead ("2:", or "2").

    Returns:
        (None, reason) if there is no queue.
    """
    if handle is not None:
        return _by_handle(qdiscs, handle.rstrip(":") + ":")
    queues = [qdisc for qdisc in qdiscs if qdisc.get("kind") not in _NO_QUEUE]
    if not queues:
        return None, "the interface has no queue; give it one with tc qdisc add"
    parents = {_parent_handle(qdisc) for qdisc in queues}
    by_handle = {handle: qdisc for qdisc in reversed(queues) if (handle := _handle(qdisc))}
    innermost = [qdisc for qdisc in queues if _handle(qdisc) not in parents]
    paths = [_path(qdisc, by_handle) for qdisc in innermost or queues[:1]]  # tc never lists parents in a circle
    lines = [[qdisc for qdisc in path if qdisc.get("kind") != "netem"] for path in paths]
    lines = [line for line in lines if line]
    if not lines:
        return paths[0][-1], "netem is the only discipline: its backlog is packets in flight, not a queue"
    common = lines[0]
    for line in lines[1:]:
        others = set(map(id, line))
        common = [qdisc for qdisc in common if id(qdisc) in others]
    if not common:
        return lines[0][-1], "several queues have no common parent; the first is taken, another by its handle"
    chosen = common[-1]
    children = [qdisc for qdisc in queues if _handle(chosen) and _parent_handle(qdisc) == _handle(chosen)]
    if any(child.get("kind") == "netem" for child in children):
        return chosen, f"{chosen.get('kind')} {chosen.get('handle')} holds a netem, whose packets in flight it counts"
    return chosen, ""


def _choose_each(samples: Sequence[Sequence[Qdisc]], handle: str | None) -> list[tuple[Qdisc | None, str]]:
    """`choose` for every sample; thousands of them have the same few shapes."""
    choices: dict[tuple[object, ...], tuple[int | None, str]] = {}
    found: list[tuple[Qdisc | None, str]] = []
    for qdiscs in samples:
        shape = tuple((qdisc.get("kind"), qdisc.get("handle"), qdisc.get("parent")) for qdisc in qdiscs)
        if shape not in choices:
            qdisc, reason = choose(qdiscs, handle)
            choices[shape] = next((i for i, other in enumerate(qdiscs) if other is qdisc), None), reason
        index, reason = choices[shape]
        found.append((None if index is None else qdiscs[index], reason))
    return found


def _by_handle(qdiscs: Sequence[Qdisc], wanted: str) -> tuple[Qdisc | None, str]:
    for qdisc in qdiscs:
        if qdisc.get("handle") == wanted:
            return qdisc, ""
    present = ", ".join(f"{qdisc.get('kind')} {qdisc.get('handle')}" for qdisc in qdiscs) or "none"
    return None, f"no discipline has the handle {wanted} (there are: {present})"


def _handle(qdisc: Qdisc) -> str:
    """The handle that children name; "" for 0:, the kernel's own default, which is never a parent."""
    handle = str(qdisc.get("handle", "0:"))
    return "" if handle == "0:" else handle


def _parent_handle(qdisc: Qdisc) -> str:
    return f"{qdisc.get('parent', '')}".partition(":")[0] + ":"


def _path(qdisc: Qdisc, by_handle: Mapping[str, Qdisc]) -> list[Qdisc]:
    """From the outermost discipline to this one."""
    path, seen = [qdisc], {id(qdisc)}
    while (parent := by_handle.get(_parent_handle(path[-1]))) is not None and id(parent) not in seen:
        path.append(parent)
        seen.add(id(parent))
    return path[::-1]


def measure_samples(samples: QueueSamples, handle: str | None = None) -> Measurements:
    """Series and scalars of the queue.

    Scalars: queue.backlog.max, .mean (bytes), queue.packets.max, .mean, queue.drops (during the samples), and those of
    an active queue management (`linklab.measure.aqm`).
    Series: queue.backlog (bytes), queue.qlen (packets), queue.drops (since the discipline was made),
    queue.drops.rate (1/s), and every other number that tc gives, as queue.NAME; yes and no are 1 and 0.
    A sample without the discipline is a gap; a counter that starts again (the discipline was replaced) is noted.

    Raises:
        DataError: no sample has such a discipline.
    """
    chosen = _choose_each(samples.qdiscs, handle)
    notes = list(dict.fromkeys(reason for _, reason in chosen if reason))
    found = [qdisc for qdisc, _ in chosen if qdisc is not None]
    interface = samples.header.get("interface", "")
    if not found:
        raise DataError(f"{samples.source}: {interface}: {notes[0] if notes else 'no samples'}")
    names = list(dict.fromkeys(f"{qdisc.get('kind')} {qdisc.get('handle')}" for qdisc in found))
    if len(names) > 1:
        notes.append(f"the discipline of {interface} changed while it was sampled: {', then '.join(names)}")
    meta = {
        "interface": interface,
        "node": samples.header.get("node", ""),
        "kind": found[-1].get("kind"),
        "handle": found[-1].get("handle"),
        "options": found[-1].get("options") or _told_options(samples.header, names[-1]),
    }
    series: dict[str, Series] = {}
    for key in _numeric_fields(found):
        name, unit = _FIELDS.get(key, (f"queue.{key}", ""))
        values = [_value(qdisc, key) for qdisc, _ in chosen]
        series[name] = make_series(name, unit, samples.time_s, values, source=samples.source, meta=meta)
    scalars: dict[str, Quantity] = {}
    for name, scalar in (("queue.backlog", "queue.backlog"), ("queue.qlen", "queue.packets")):
        if name in series and series[name].known.size:
            scalars[f"{scalar}.max"] = Quantity(float(series[name].known.max()), series[name].unit)
            scalars[f"{scalar}.mean"] = Quantity(float(series[name].known.mean()), series[name].unit)
    if "queue.drops" in series:
        rate, total = _drop_rate(series["queue.drops"])
        series[rate.name] = rate
        scalars["queue.drops"] = Quantity(total, "packets")
    if meta["kind"] == "red" and (average := aqm.red_average(series, meta["options"])):
        series[average.name] = average
    described, own = aqm.describe(series)
    return Measurements(scalars | own, series | described, "queue", samples.source, tuple(notes))


def _told_options(header: dict[str, Any], name: str) -> dict[str, Any]:
    """The options that tc told of the discipline "KIND HANDLE" before the first sample."""
    told = [qdisc for qdisc in header.get("tc", []) if f"{qdisc.get('kind')} {qdisc.get('handle')}" == name]
    return dict(told[0].get("options") or {}) if told else {}


def _numeric_fields(found: Iterable[Qdisc]) -> list[str]:
    """The fields that hold numbers, in the order in which they appear; tc has two dozen for a discipline."""
    keys: dict[str, None] = {}
    for qdisc in found:
        for key in qdisc:
            if key not in keys and not math.isnan(_value(qdisc, key)) and _FIELD.fullmatch(key):
                keys[key] = None
    return [key for key in keys if key not in _NOT_MEASURED][:MOST_FIELDS]


def _value(qdisc: Qdisc | None, key: str) -> float:
    value = qdisc.get(key) if qdisc else None
    return float(value) if isinstance(value, bool) else json_number(value)


def _drop_rate(drops: Series) -> tuple[Series, float]:
    """Drops per second over each step, and how many there were in all; a restarted counter begins at 0 again."""
    steps, elapsed = np.diff(drops.value), np.diff(drops.time_s)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where((steps < 0) | (elapsed < SHORTEST_S), np.nan, steps / elapsed)
    series = make_series(
        "queue.drops.rate", "1/s", drops.time_s, [math.nan, *rate], source=drops.source, meta=drops.meta
    )
    return series, aqm.counted(drops)
