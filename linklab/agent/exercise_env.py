# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.exercise_env [FOLDER]`: set the environment of an exercise in the running network.

Settings are data of instance.json, written by `linklab.exercise.instance`: base64 of zlib of JSON, [[on, line, says],
…]. That is no secret, only nothing that shows at a glance. What an earlier call shaped is cleared first; what is set is
read back; what has no `says` is not named. Standard library alone, since a host with plain Mininet runs it too.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from linklab.agent.node_state import nodes
from linklab.linux import tc_line
from linklab.linux.tc_line import MAKES, SETS

LARGEST = 2**20
DEADLINE_S = 60
CLIENT = "client"
_SYSCTL = re.compile(r"\s*(?:sudo\s+)?sysctl\s+(?:-q\s+)?-w\s+(?P<name>[\w./-]+)=(?P<value>'[^']*'|\"[^\"]*\"|\S+)\s*")
_LINK = re.compile(r"\b(?:dev|ifconfig|ethtool -K|ip link set(?: dev)?)\s+(\S+-eth\d+)")
_EDT = re.compile(r"\s*(?:sudo\s+)?linklab\s+link\s+(?P<verb>set|change|load)\s+(?P<words>.*)")
_AT = re.compile(r"\bat\s+(?P<place>(?:[^\s:]+:)?(?P<device>\S+))")
EXISTS = "File exists"


class SettingError(Exception):
    """The environment cannot be set; a sentence."""


class Line(NamedTuple):
    """A command, where it is typed, and what a person is told of it; "" for nothing."""

    on: str
    command: str
    says: str


def decode(text: str) -> list[Line]:
    """The lines of an instance's `environment`.

    Raises:
        SettingError: it is damaged.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), LARGEST)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("too long, or cut off")
        entries = json.loads(data)
        lines = [Line(*entry) for entry in entries]
        if not all(isinstance(word, str) for line in lines for word in line):
            raise ValueError("no text")
    except (ValueError, TypeError, binascii.Error, zlib.error) as error:
        raise SettingError(
            f"the environment in instance.json is damaged ({error}); start from your file again"
        ) from error
    return lines


def shaped(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """The interfaces whose queueing disciplines the lines set, each once, as (node or "client", interface)."""
    return list(
        dict.fromkeys(
            (line.on, qdisc.device) for line in lines if (qdisc := _qdisc(line)) is not None and qdisc.verb in MAKES
        )
    )


def linked(lines: Sequence[Line]) -> dict[str, str]:
    """The places at which the lines set links by departure time, as `linklab link` calls them → the interface.

    A link whose line does not say where is at none of them: to set it again changes it.
    """
    found = [_AT.search(link["words"]) for line in lines if (link := _EDT.fullmatch(line.command))]
    return {place["place"]: place["device"] for place in found if place}


def _qdisc(line: Line) -> tc_line.Line | None:
    """The discipline that a line sets; None if it sets none."""
    found = tc_line.parse(line.command.split())
    return found if found and found.object == "qdisc" and found.verb in SETS and found.device and found.kind else None


class Setter:
    """Types lines where they belong, and looks whether they took effect."""

    def __init__(self, running: dict[str, int]) -> None:
        self.nodes = running

    def _run(self, on: str, command: str) -> tuple[int, str]:
        where = [] if on == CLIENT else ["mnexec", "-a", str(self.nodes[on])]
        done = subprocess.run(
            [*where, "sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=DEADLINE_S,
            check=False,
        )
        return done.returncode, done.stdout.strip()

    def look(self, lines: Sequence[Line]) -> None:
        """SettingError if this is not the network that the lines are for."""
        for on in dict.fromkeys(line.on for line in lines):
            if on != CLIENT and on not in self.nodes:
                raise SettingError(
                    f"node {on} is not running here: run the exercise's topology, then type this in its Client's "
                    "terminal (linklab attach client)"
                )
        wanted = {(line.on, device) for line in lines for device in _LINK.findall(line.command)}
        for on in sorted({on for on, _ in wanted}):
            there = set(self._run(on, "ls /sys/class/net")[1].split()) if on == CLIENT else None
            missing = sorted(d for place, d in wanted if place == on and there is not None and d not in there)
            if missing:
                raise SettingError(
                    f"there is no interface {missing[0]} here: run the exercise's own topology, then type this in its "
                    "Client's terminal (linklab attach client)"
                )

    def clear(self, lines: Sequence[Line]) -> None:
        """Take away the disciplines and links of the interfaces that the lines shape, where there are any."""
        for place in linked(lines):
            self._run(CLIENT, f"linklab link clear at {place} 2>/dev/null")
        for on, device in shaped(lines):
            if "qdisc fq ed7:" in self._run(on, f"tc qdisc show dev {device}")[1]:
                self._run(CLIENT, f"linklab link clear at {device if on == CLIENT else f'{on}:{device}'}")
            for place in ("root", "ingress"):
                self._run(on, f"tc qdisc del dev {device} {place} 2>/dev/null")

    def set(self, line: Line) -> None:
        """Type one line and read back what it set; SettingError if it did not work."""
        status, output = self._run(line.on, line.command)
        if status and not (EXISTS in output and re.search(r"\bip\b.*\badd\b", line.command)):
            raise SettingError(self._told(line, output or f"status {status}"))
        if qdisc := _qdisc(line):
            shown = self._run(line.on, f"tc qdisc show dev {qdisc.device}")[1]
            if not re.search(rf"^qdisc {re.escape(qdisc.kind)} ", shown, re.MULTILINE):
                raise SettingError(self._told(line, f"{qdisc.device} shows {shown or 'nothing'} afterwards"))
        if (link := _EDT.fullmatch(line.command)) and link["verb"] != "load":
            said, shown = output.partition("\n")[0], self._run(CLIENT, "linklab link show")[1]
            if said not in shown.splitlines():
                raise SettingError(self._told(line, f"linklab link show says {shown or 'nothing'} afterwards"))
        if found := _SYSCTL.fullmatch(line.command):
            wanted = found["value"].strip("'\"").split()
            shown = self._run(line.on, f"sysctl -n {found['name']}")[1]
            if shown.split() != wanted:
                raise SettingError(self._told(line, f"it is {' '.join(shown.split())} afterwards"))

    @staticmethod
    def _told(line: Line, why: str) -> str:
        what = f"{line.on}: {line.command}" if line.says else "a part of the environment could not be set"
        return f"{what}: {' '.join(why.split())}"


def read(folder: Path) -> tuple[str, list[Line]]:
    """Heading and lines of the instance in a folder.

    Raises:
        SettingError: there is none, or it is damaged.
    """
    path = folder / "instance.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        exercise, environment = data["exercise"], data.get("environment", "")
        kind, number = re.fullmatch(r"([a-z]+)[ -]?(\d+)", exercise).groups()  # type: ignore[union-attr] # caught below
    except FileNotFoundError:
        raise SettingError(f"{path} is not there; set_env.sh stands in the folder of a started exercise") from None
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise SettingError(f"{path} cannot be read: {error}") from error
    return f"{kind.title()} {number}", decode(environment) if environment else []


def main(argv: Sequence[str]) -> int:
    """Set the environment and say what was set; the exit status."""
    try:
        heading, lines = read(Path(argv[1] if len(argv) > 1 else "."))
        setter = Setter(nodes())
        setter.look(lines)
        setter.clear(lines)
        print(f"{heading}: setting the environment", flush=True)
        for line in lines:
            setter.set(line)
            if line.says:
                print(f"  {line.says}", flush=True)
    except (SettingError, OSError, subprocess.TimeoutExpired) as error:
        print(f"set_env.sh: {error}", file=sys.stderr)
        return 1
    print("The environment is set.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
