# SPDX-License-Identifier: BSD-3-Clause
"""Recorded terminals → the commands among them that configure the network, as a work.sh.  Pure.

The logs are written by `linklab.agent.recording`, whose docstring has their form.  A student may have edited them, so
nothing in them is trusted: what cannot be read is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from linklab.tc import lines_in

_HEAD = re.compile(r"# network (\d+\.\d+) \S+")
_LINE = re.compile(r"(-?\d+\.\d+) (\S+) ([$=]) (.*)")
_CONFIGURES = re.compile(
    r"""\btc\s.*\b(?:add|change|replace|del|delete)\b
      | \blinklab\s+link\s+(?:set|change|del|load|clear)\b
      | \bsysctl\s.*(?:-w\b|-p\b|=)
      | \bip\s.*\b(?:set|add|del|delete|replace|change|flush)\b
      | \bifconfig\s+\S+\s+\S
      | \bethtool\s+(?:-[KGACLs]|--(?:offload|features|set-\S+|change|coalesce|pause))\b
      | (?:>\s*|\btee\s+(?:-a\s+)?)/proc/sys/""",
    re.VERBOSE | re.DOTALL,
)
SET_ENV = re.compile(r"(?:^|[\s/;&])set_env\.sh\b")
_STATUS = re.compile(r"\d{1,3}", re.ASCII)
_LATEST_S = 1e12
_COMPOUND = re.compile(r"[|&;<>$`(){}*?\n\\]")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")

HEAD = """\
# What configured the network, from the terminals recorded in terminals/.
# A line that begins with a node's name runs there, any other in the Client's terminal.
"""


@dataclass(frozen=True)
class RecordedLine:
    """A command: where, when (s of network time), and its exit status, None where it is not known."""

    node: str
    terminal: str
    time_s: float
    text: str
    status: int | None = None


class ByNetwork:
    """What belongs to each network: logs say when its time 0 was, and those of one network differ by milliseconds."""

    def __init__(self) -> None:
        self._found: dict[
            int, tuple[float, list[RecordedLine]]
        ] = {}  # by whole seconds, since a log may name thousands

    def of(self, zero_s: float) -> list[RecordedLine]:
        """The lines of the network whose time 0 was then, within a second; new where none is known."""
        whole = int(min(zero_s, _LATEST_S))
        for second in (whole, whole - 1, whole + 1):
            if second in self._found and abs(self._found[second][0] - zero_s) < 1:
                return self._found[second][1]
        return self._found.setdefault(whole, (zero_s, []))[1]

    def lines(self) -> dict[float, list[RecordedLine]]:
        """Time 0 → lines, in the order of the networks."""
        return dict(sorted(self._found.values(), key=lambda each: each[0]))


def parse_log(node: str, text: str) -> dict[float, list[RecordedLine]]:
    """The commands of a node's log, by network: the moment at which each had its time 0 → what was typed."""
    networks = ByNetwork()
    commands: list[RecordedLine] = []
    more: list[str] = []  # lines of the last command after its first
    latest: dict[str, int] = {}  # terminal → place of its last command

    def whole() -> None:
        if more:
            commands[-1] = replace(commands[-1], text="\n".join([commands[-1].text, *more]))
            more.clear()

    for line in text.splitlines():
        if head := _HEAD.fullmatch(line):
            whole()
            commands, latest = networks.of(float(head[1])), {}
            continue
        found = _LINE.fullmatch(line)
        if found and found[3] == "$":
            whole()
            latest[found[2]] = len(commands)
            commands.append(RecordedLine(node, found[2], float(found[1]), found[4]))
        elif found and found[2] in latest and _STATUS.fullmatch(found[4]):
            whole()
            place = latest.pop(found[2])
            commands[place] = replace(commands[place], status=int(found[4]))
        elif line.startswith("\t") and commands:
            more.append(line[1:])
    whole()
    return networks.lines()


def last_network(logs: Mapping[str, str]) -> list[RecordedLine]:
    """What was typed in the network that ran last, in order of time; `logs` is node → text."""
    networks = all_networks(logs)
    return sorted(networks[-1], key=lambda typed: typed.time_s) if networks else []


def all_networks(logs: Mapping[str, str]) -> list[list[RecordedLine]]:
    """What was typed in each network, in the order of the networks; `logs` is node → text."""
    networks = ByNetwork()
    for node, text in logs.items():
        for zero_s, commands in parse_log(node, text).items():
            networks.of(zero_s).extend(commands)
    return list(networks.lines().values())


def configures(text: str) -> bool:
    """Whether a line sets something in the network."""
    return _CONFIGURES.search(text) is not None


def work_script(
    typed: Iterable[RecordedLine], nodes: Iterable[str], shaped: Iterable[tuple[str, str]] = ()
) -> tuple[str, list[str]]:
    """The configuring commands as a work.sh, and sentences on what may not repeat.

    Args:
        typed: as `last_network` gives them.
        nodes: of the topology.
        shaped: (node or "client", interface) that set_env.sh clears: what was done to them before it was run again is
            left out.
    """
    known, cleared = set(nodes), set(shaped)
    kept: list[tuple[str, str]] = []
    notes: list[str] = []
    for one in typed:
        on, text = typed_at(one, known)
        if not on or one.status not in (0, None):
            continue
        if SET_ENV.search(text):
            kept = [(place, line) for place, line in kept if not _is_cleared(place, line, cleared)]
        elif configures(text):
            kept.append((on, text))
            notes += [
                f'"{text}" uses ${name}, which work.sh does not know: write its value there'
                for name in dict.fromkeys(_VARIABLE.findall(text))
                if not re.search(rf"\b(?:{name}=|for\s+{name}\b|read\s+.*{name})", text)
            ]
    return HEAD + "".join(f"{_line(on, text)}\n" for on, text in kept), notes


def typed_at(one: RecordedLine, nodes: Collection[str]) -> tuple[str, str]:
    """On which node, or "client", a command ran, and the command; "" for what the Mininet CLI did itself."""
    text = one.text.strip()
    if one.node == "mininet":
        first, _, rest = text.partition(" ")
        return ("client", rest.strip()) if first == "sh" else (first if first in nodes else "", rest.strip())
    return (one.node if one.node in nodes else "client"), text


def _is_cleared(on: str, text: str, cleared: set[tuple[str, str]]) -> bool:
    return any((on, line.device) in cleared for line in lines_in(text))


def _line(on: str, text: str) -> str:
    plain = re.sub(r"^sudo\s+(?=[a-z])", "", text)
    if on == "client":
        return plain
    outside = re.sub(r"'[^']*'", "", plain)
    return f"{on} bash -c {shlex.quote(plain)}" if _COMPOUND.search(outside) or '"' in outside else f"{on} {plain}"
