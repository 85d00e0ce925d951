# SPDX-License-Identifier: BSD-3-Clause
"""Lines that set something (tc, sysctl) → what a look afterwards must show; no network.

What is compared: the kind of each queueing discipline and what tc prints as it is typed (tc-netem(8) and tc-tbf(8):
delay, loss, rate), and each value of sysctl(8).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

_SHOWN_AS_TYPED = ("delay", "rate", "loss")
_SETS = ("add", "replace", "change")


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
            if words[:2] == ["tc", "qdisc"] and "dev" in words[:-1]:
                _qdisc(words, found.setdefault(f"tc {words[words.index('dev') + 1]}", {}))
            if words[:1] == ["sysctl"]:
                for name, _, value in (word.partition("=") for word in words[1:] if "=" in word):
                    shown = r"\s+".join(map(re.escape, value.split()))
                    found[f"sysctl {name}"] = {"": ReadBack(f"sysctl -n {name}", rf"^{shown}$")}
    return [look for places in found.values() for look in places.values()]


def _qdisc(words: list[str], there: dict[str, ReadBack]) -> None:
    """Take one line into account, for the device it names; key: where the discipline hangs."""
    verb, device = words[2], words[words.index("dev") + 1]
    place, rest, options = "root", words[words.index("dev") + 2 :], []
    while rest and rest[0] in ("root", "ingress", "clsact", "parent", "handle"):
        head = rest.pop(0)
        if head in ("parent", "handle") and rest:
            value = rest.pop(0)
            place = value if head == "parent" else place
        elif head != "root":
            place = head
    if verb == "del":
        for key in list(there) if place == "root" else [place]:
            there.pop(key, None)
    if verb not in _SETS or not rest or "$" in " ".join(words):
        return
    if place == "root" and verb == "replace":
        there.clear()
    for name, value in pairwise(rest[1:]):
        if name in _SHOWN_AS_TYPED and re.fullmatch(r"[\d.]+[a-zA-Z%]+", value):
            options.append(rf".*\b{name} {re.escape(value)}(?=\s|$)")
    there[place] = ReadBack(f"tc qdisc show dev {device}", rf"(?im)^qdisc {re.escape(rest[0])} \S+{''.join(options)}")
