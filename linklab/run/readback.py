# SPDX-License-Identifier: BSD-3-Clause
"""Lines that set something (tc, sysctl) → what a look afterwards must show; no network.

What is compared: the kind of each queueing discipline with the options that tc prints as they are typed (`Kind.shown`),
and each value of sysctl(8).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from linklab.tc import QDISCS, SETS, Line, parse_line

_VALUE = re.compile(r"[\d.]+[a-zA-Z%]+")


@dataclass(frozen=True)
class ReadBack:
    """A command that shows a setting, and what its output must match."""

    command: str
    pattern: str


def looks(lines: Iterable[str]) -> list[ReadBack]:
    """What to look at once the lines of one terminal have been typed; what a later line takes back is left out."""
    found: dict[str, dict[str, ReadBack]] = {}
    for line in lines:
        for part in re.split(r"&&|;|\|\|", line):
            try:
                words = [word for word in shlex.split(part, comments=True) if word != "sudo"]
            except ValueError:
                continue  # a quote that another line closes
            typed = parse_line(words)
            if typed is not None and typed.object == "qdisc" and typed.device:
                _qdisc(typed, found.setdefault(f"tc {typed.device}", {}))
            if words[:1] == ["sysctl"]:
                for name, _, value in (word.partition("=") for word in words[1:] if "=" in word):
                    shown = r"\s+".join(map(re.escape, value.split()))
                    found[f"sysctl {name}"] = {"": ReadBack(f"sysctl -n {name}", rf"^{shown}$")}
    return [look for places in found.values() for look in places.values()]


def _qdisc(line: Line, there: dict[str, ReadBack]) -> None:
    """Take one line into account, for the device it names; key: where the discipline hangs."""
    if line.verb == "delete":
        for key in list(there) if line.parent == "root" else [line.parent]:
            there.pop(key, None)
    if line.verb not in SETS or not line.kind or any("$" in word for word in (line.device, line.kind, *line.options)):
        return
    if line.parent == "root" and line.verb == "replace":
        there.clear()
    options = "".join(rf"(?=.*\b{name} {re.escape(value)}(?=\s|$))" for name, value in _shown_as_typed(line))
    there[line.parent] = ReadBack(
        f"tc qdisc show dev {line.device}", rf"(?im)^qdisc {re.escape(line.kind)} \S+{options}"
    )


def _shown_as_typed(line: Line) -> list[tuple[str, str]]:
    """Options whose value tc prints in the words in which it was typed, and in an order of its own."""
    shown = QDISCS[line.kind].shown if line.kind in QDISCS else ()
    return [(name, value) for name, value in pairwise(line.options) if name in shown and _VALUE.fullmatch(value)]
