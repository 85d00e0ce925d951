# SPDX-License-Identifier: BSD-3-Clause
"""The fields of one direction of a link: what is typed → the object of an `Impairment`, and the lines that show it.

Pure. Every key is that of the object, parameters of a discipline are "discipline.NAME".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab import tc
from linklab.errors import InputError
from linklab.tc import DISCIPLINES, DISTRIBUTIONS, Impairment
from linklab.topology import Link
from linklab.windows.fields import Field
from linklab.windows.words import Phrase

DIRECTION_FIELDS = (
    Field(
        "backend",
        "Backend",
        "netem with tc's shapers, or eBPF and fq: packets leave by their time",
        kind="choice",
        choices=(("", "netem"), ("edt", "eBPF")),
    ),
    Field("rate", "Rate", "with its unit: 10gbit, 100mbit, 64kbit"),
    Field("burst", "Burst", "what may pass at once; empty: the rate for 4 ms", "bytes"),
    Field("queue", "Queue", "25000000 or 25MiB of bytes, or 100p packets"),
    Field("delay", "Delay", "one way: 20ms, 100us"),
    Field("jitter", "Jitter", "the delay varies by so much up and down"),
    Field("correlation", "Correlation", "how much a delay follows the one before: 25%"),
    Field("distribution", "Distribution", kind="choice", choices=tuple((d, d or "uniform") for d in DISTRIBUTIONS)),
    Field("loss", "Loss", "share of packets dropped at random: 0.01%"),
    Field("duplicate", "Duplicate", "share of packets sent twice: 1%"),
    Field("reorder", "Reorder", "share that overtakes those delayed: 25%"),
    Field("corrupt", "Corrupt", "share with one wrong bit: 0.01%"),
    Field("ecn", "ECN mark", "of eBPF: what waited so long is marked: 5ms"),
    Field("held", "In flight", "packets the delay line may hold; empty: enough", "packets"),
)


def tab_of(link: Link) -> int:
    """The tab that holds what was set: 0 both directions alike, 1 the first, 2 the other; 0 where nothing was."""
    if not link.opts:
        for tab, key in enumerate(("forward", "backward"), 1):
            if link.own.get(key):
                return tab
    return 0


def discipline_field(kind: str, name: str) -> Field:
    """The field of a parameter."""
    parameter = next(each for each in DISCIPLINES[kind] if each.name == name)
    words: str = Phrase(parameter.help)
    if parameter.default:
        words = Phrase("{help} (tc takes {default})", help=words, default=parameter.default)
    key = f"discipline.{name}"
    if parameter.kind == "flag":
        return Field(key, name, words, kind="flag", default="0")
    if parameter.kind == "choice":
        choices = (("", Phrase("as tc chooses")), *((each, each) for each in parameter.choices))
        return Field(key, name, words, kind="choice", choices=choices)
    units = {"size": "bytes", "packets": "packets"}
    return Field(key, name + (" *" if parameter.required else ""), words, units.get(parameter.kind, ""))


def shown(data: Mapping[str, Any]) -> dict[str, str]:
    """Texts of the fields for an object."""
    found = {field.key: str(data.get(field.key, "")) for field in DIRECTION_FIELDS}
    discipline = data.get("discipline") if isinstance(data.get("discipline"), Mapping) else {}
    found.update({f"discipline.{name}": str(text) for name, text in (discipline or {}).items() if name != "kind"})
    found["kind"] = str((discipline or {}).get("kind", ""))
    return found


def collect(values: Mapping[str, str]) -> dict[str, Any]:
    """The object from texts; `values` has "kind" too.

    Raises:
        FieldError: something cannot be; `key` is the field's.
    """
    data: dict[str, Any] = {}
    for field in DIRECTION_FIELDS:
        text = values.get(field.key, "").strip()
        if text:
            data[field.key] = text + "p" if field.key == "held" and text.isdecimal() else text
    kind = values.get("kind", "")
    if kind:
        options = {}
        for parameter in DISCIPLINES[kind]:
            text = values.get(f"discipline.{parameter.name}", "").strip()
            if text and not (parameter.kind == "flag" and text == "0"):
                options[parameter.name] = text
            elif parameter.required and parameter.default:
                options[parameter.name] = parameter.default
        data["discipline"] = {"kind": kind, **options}
    Impairment.from_data(data)
    return data


def mininet_lines(interface: str, opts: Mapping[str, Any]) -> list[str]:
    """The lines that Mininet 2.3 itself types for a link's `opts` (mininet/link.py, `TCIntf.config`)."""
    lines, parent = [], "root"
    if opts.get("bw"):
        lines.append(f"tc qdisc add dev {interface} root handle 5:0 htb default 1")
        rate = f"{float(opts['bw']):f}Mbit" if not isinstance(opts["bw"], str) else opts["bw"]
        lines.append(f"tc class add dev {interface} parent 5:0 classid 5:1 htb rate {rate} burst 15k")
        parent = "parent 5:1"
    words = [f"delay {opts['delay']}"] if opts.get("delay") else []
    if words and opts.get("jitter"):
        words.append(str(opts["jitter"]))
    if opts.get("loss"):
        words.append(f"loss {float(opts['loss']):.5f}")
    if opts.get("max_queue_size"):
        words.append(f"limit {opts['max_queue_size']}")
    if words:
        lines.append(f"tc qdisc add dev {interface} {parent} handle 10: netem {' '.join(words)}")
    return lines


def lines_of(link: Link, ends: tuple[str, str]) -> list[str]:
    """Every line that sets a link, both ends, with a comment for each; as they would be typed."""
    found = []
    nodes = (link.src, link.dest)
    for end, data in enumerate((link.own.get("forward"), link.own.get("backward"))):
        found.append(f"# {nodes[end]} → {nodes[1 - end]}, on {ends[end]}")
        own = None if data is None else Impairment.from_data(data)
        lines = mininet_lines(ends[end], link.opts) if own is None else tc.lines(ends[end], own)
        found += lines or ["# nothing: a plain link"]
    return found


def live_lines(before: Link, after: Link, ends: tuple[str, str]) -> list[tuple[int, str]]:
    """What to type at (0 src, 1 dest) of a running link to lead from one to the other."""
    found: list[tuple[int, str]] = []
    for end, key in enumerate(("forward", "backward")):
        old, new = before.own.get(key), after.own.get(key)
        if old == new and (new is not None or before.opts == after.opts):
            continue
        known = None
        if old is not None:
            known = Impairment.from_data(old)
        elif not mininet_lines(ends[end], before.opts):
            known = Impairment()
        if new is not None:
            found += [(end, line) for line in tc.change_lines(ends[end], known, Impairment.from_data(new))]
        else:
            if known is None or not known.is_empty:
                found.append((end, f"tc qdisc del dev {ends[end]} root"))
            found += [(end, line) for line in mininet_lines(ends[end], after.opts)]
    return found


def notes_of(data: Mapping[str, Any] | None) -> list[str]:
    """What to know about a direction; [] while it cannot be read."""
    if data is None:
        return []
    try:
        return Impairment.from_data(data).notes()
    except InputError:
        return []
