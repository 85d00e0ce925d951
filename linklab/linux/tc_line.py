# SPDX-License-Identifier: BSD-3-Clause
"""A command line of tc(8) → which object it adds, changes, or deletes, and where.

    tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 1gbit …
    → Line("qdisc", "add", "s1-eth1", "1:", "2:", "tbf", ("rate", "1gbit", …))

Read as iproute2 reads it (tc/tc.c, tc_qdisc.c, tc_class.c, tc_filter.c): the place in any order, then the kind, then
its options, which stay words here; `linklab.tc` knows what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

OBJECTS = ("qdisc", "class", "filter")
VERBS = ("add", "change", "replace", "link", "delete", "list", "show", "get")
SETS = ("add", "change", "replace", "link")
"""Verbs after which the object is there."""
MAKES = ("add", "replace")
"""Verbs that make the object where it is not there yet."""
HOOKS = ("ingress", "clsact")
"""Disciplines for what comes in; their name is the place, too."""
_NAMED = {"dev": "device", "parent": "parent", "handle": "handle", "classid": "handle"}
_FILTERS = {"protocol": "protocol", "preference": "priority", "priority": "priority", "prio": "priority"}
_OTHER = {"estimator": 2, "ingress_block": 1, "egress_block": 1, "block": 1, "chain": 1}
_KIND = re.compile(r"[a-z][a-z0-9_]*")
_START = re.compile(r"(?<![\w./-])tc[ \t]+(?=[-a-z])")
_END = re.compile(r"[\n;&|`]")


class Line(NamedTuple):
    """What one command line asks for.

    object: one of OBJECTS; verb: one of VERBS, in full.
    parent: "root" (also where nothing is said), a hook, a discipline ("1:") or a class ("1:10").
    handle: "2:", a class's "1:10", or "" where the kernel chooses.
    kind: "netem"; "" where the line names none.
    """

    object: str
    verb: str
    device: str
    parent: str = "root"
    handle: str = ""
    kind: str = ""
    options: tuple[str, ...] = ()
    protocol: str = ""
    priority: str = ""


def parse(words: Sequence[str]) -> Line | None:
    """The command of these words, with or without `sudo`; None if it is not one of tc's about an object."""
    rest = list(words)
    if rest[:1] == ["sudo"]:
        del rest[0]
    if rest[:1] != ["tc"]:
        return None
    del rest[0]
    while rest and rest[0].startswith("-"):
        del rest[0]
    if not rest or (what := _full(rest.pop(0), OBJECTS)) is None:
        return None
    verb = _full(rest.pop(0), VERBS) if rest else "show"
    if verb is None:
        return None
    return _place(what, verb, rest)


def _place(what: str, verb: str, rest: list[str]) -> Line:
    """Read where; the first word that is no place is the kind, and all after it are its options."""
    found = {"device": "", "parent": "root", "handle": "", "protocol": "", "priority": ""}
    kind = ""
    while rest and not kind:
        word = rest.pop(0)
        name = _NAMED.get(word)
        if name is None and what == "filter" and (full := _full(word, tuple(_FILTERS))) is not None:
            name = _FILTERS[full]
        if name is not None:
            found[name] = rest.pop(0) if rest else ""
        elif word in HOOKS or (word == "egress" and what == "filter"):
            found["parent"] = word
            kind = word if what == "qdisc" else ""
        elif word in _OTHER:
            del rest[: _OTHER[word]]
        elif word != "root":
            kind = word
    return Line(what, verb, kind=kind, options=tuple(rest), **found)


def _full(word: str, names: Sequence[str]) -> str | None:
    """The first of the names that the word abbreviates, as `matches` of iproute2 decides."""
    return next((name for name in names if word and name.startswith(word)), None)


def lines_in(text: str) -> Iterator[Line]:
    """Every command of tc about an object, wherever it stands in a text: a script, a manual, a string of a program.

    A line that ends in a backslash continues in the next. What a shell would put in for a variable stays as it is
    written, and a kind that is not a plain word counts as none.
    """
    text = text.replace("\\\n", " ")
    for start in _START.finditer(text):
        end = _END.search(text, start.end())
        command = text[start.start() : end.start() if end else len(text)]
        line = parse([word.strip("\"',()]") for word in command.split()])
        if line is not None:
            yield line if _KIND.fullmatch(line.kind) else line._replace(kind="", options=())
