# SPDX-License-Identifier: BSD-3-Clause
"""Lines typed → what they would set: a network as far as lines of tc, ip, ifconfig, ethtool and sysctl tell it.  Pure.

From this follows what each step of a manual wants; what somebody's own line has done is said by the kernel where it is
asked (`linklab.guide.evidence.StateEvidence`), and by this where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_interface
from typing import Any

from linklab.errors import InputError
from linklab.guide.disciplines import with_line
from linklab.guide.settings import UNTYPED, disciplines_of, settings_of
from linklab.guide.shell import CLIENT, ShellCommand
from linklab.state.model import State
from linklab.state.node import Interface
from linklab.tc import parse_line

_WRITTEN = re.compile(r"/(?:proc/sys|sys)/\S+")
_OFFLOADS = {
    **{name: name for name in ("tso", "gso", "gro")},
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
}
_SYSCTL_FLAGS = ("-w", "--write", "-q", "--quiet", "-n", "-qw", "-wq")
_LINK_NUMBERS = ("mtu", "txqueuelen", "gso_max_size", "gso_max_segs")


@dataclass(frozen=True)
class CarriedOut:
    """What came of a command that sets something.

    network: afterwards; None where the kernel would refuse the command, with `why`.
    keys: the settings that it is about, whether they changed or not.
    """

    network: SimulatedNetwork | None
    keys: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class SimulatedNetwork:
    """What is set in a network, as far as it is known.

    devices: interface → node, "client" for those of switches; empty where the topology is not known.
    interfaces: those that have disciplines; untyped: interface and kind of the disciplines that no line has set.
    other: all other settings, by their names in `linklab.guide.settings`.
    """

    devices: Mapping[str, str] = field(default_factory=dict)
    interfaces: Mapping[str, Interface] = field(default_factory=dict)
    other: Mapping[str, Any] = field(default_factory=dict)
    untyped: frozenset[tuple[str, str]] = frozenset()

    def settings(self) -> dict[str, Any]:
        """All that is set."""
        found = dict(self.other)
        for name, interface in self.interfaces.items():
            found |= disciplines_of(name, interface)
        for device, kind in self.untyped:
            if (key := f"{device} {kind}") in found:
                found[key] = {**found[key], UNTYPED: True}
        return found

    def with_state(self, state: State) -> SimulatedNetwork:
        """The network as the kernel told it; what the kernel was not asked for stays as lines have set it."""
        told = settings_of(state)
        interfaces = {}
        untyped = set()
        for name, (_, interface) in state.interfaces().items():
            interfaces[name] = _with_untold(interface, self.interfaces.get(name))
            typed = {each.kind for each in self.interfaces[name].qdiscs} if name in self.interfaces else set()
            untyped |= {
                (name, each.kind)
                for each in interface.qdiscs
                if each.kind not in typed or (name, each.kind) in self.untyped
            }
            told = {key: value for key, value in told.items() if key not in disciplines_of(name, interface)}
        return replace(self, interfaces=interfaces, other={**self.other, **told}, untyped=frozenset(untyped))

    def after(self, command: ShellCommand) -> CarriedOut | None:
        """What comes of a command; None if it sets nothing that is known here."""
        if command.program == "tee" or command.to:
            return self._written(command)
        readers = {
            "tc": self._tc,
            "sysctl": self._sysctl,
            "ethtool": self._ethtool,
            "ifconfig": self._ifconfig,
            "ip": self._ip,
        }
        reader = readers.get(command.program)
        return reader(command.node, command.words) if reader else None

    # --- each program

    def _tc(self, node: str, words: Sequence[str]) -> CarriedOut | None:
        line = parse_line(words)
        if line is None or line.verb in ("list", "show", "get") or not line.device:
            return None
        before = self.interfaces.get(line.device, Interface(up=True, mtu=1500))
        try:
            after = with_line(before, line)
        except InputError as error:
            return CarriedOut(None, (f"{line.device} {line.kind or 'root'}",), str(error))
        was, now = disciplines_of(line.device, before), disciplines_of(line.device, after)
        keys = [key for key in {**was, **now} if was.get(key) != now.get(key)]
        keys += [key for key in now if key.split(" ")[1].partition("#")[0] == line.kind]
        if why := self._not_here(node, line.device):
            return CarriedOut(None, tuple(dict.fromkeys(keys)), why)
        untyped = self.untyped - {(line.device, line.kind)}
        network = replace(self, interfaces={**self.interfaces, line.device: after}, untyped=untyped)
        return CarriedOut(network, tuple(sorted(dict.fromkeys(keys))))

    def _sysctl(self, node: str, words: Sequence[str]) -> CarriedOut | None:
        given = {}
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if equals:
                given[f"{node} {name.strip().replace('/', '.')}"] = " ".join(value.split())
            elif word not in _SYSCTL_FLAGS:
                return None
        return self._set(given)

    def _ethtool(self, node: str, words: Sequence[str]) -> CarriedOut | None:
        if len(words) < 5 or words[1] not in ("-K", "--offload", "--features"):
            return None
        device, rest = words[2], words[3:]
        given = {
            f"{device} {_OFFLOADS.get(name, name)}": value for name, value in zip(rest[::2], rest[1::2], strict=False)
        }
        return self._set(given, node, device)

    def _ifconfig(self, node: str, words: Sequence[str]) -> CarriedOut | None:
        if len(words) < 3:
            return None
        device, rest = words[1], list(words[2:])
        given: dict[str, Any] = {}
        address, mask = "", ""
        while rest:
            word = rest.pop(0)
            if word in ("up", "down"):
                given[f"{device} up"] = word == "up"
            elif word in ("mtu", "txqueuelen") and rest:
                given |= _number(device, word, rest.pop(0))
            elif word == "netmask" and rest:
                mask = rest.pop(0)
            elif word[:1].isdigit():
                address = word
        if address:
            given |= _address(device, f"{address}/{mask}" if mask else address)
        return self._set(given, node, device)

    def _ip(self, node: str, words: Sequence[str]) -> CarriedOut | None:
        rest = [word for word in words[1:] if word not in ("-4", "-6")]
        if len(rest) < 3:
            return None
        what, verb, rest = rest[0], rest[1], rest[2:]
        if what in ("link", "l", "li") and verb in ("set", "s"):
            named = rest[1:] if rest[0] == "dev" else rest
            if not named:
                return None
            device = named[0]
            return self._set(_of_link(device, rest), node, device)
        if what in ("addr", "address", "a") and verb in ("add", "a", "replace") and "dev" in rest[:-1]:
            device = rest[rest.index("dev") + 1]
            return self._set(_address(device, rest[0]), node, device)
        return None

    def _written(self, command: ShellCommand) -> CarriedOut | None:
        """What is written into a file of the kernel's, by a shell or by tee."""
        targets = [*command.to, *(command.words[1:] if command.program == "tee" else ())]
        source = command.source.words
        if not source or source[0] not in ("echo", "printf"):
            return None
        value = " ".join(word for word in source[1:] if word not in ("-n", "-e"))
        given = {}
        for target in targets:
            if _WRITTEN.fullmatch(target):
                name = target.removeprefix("/proc/sys/").replace("/", ".") if "/proc/" in target else target
                node = command.node if "/proc/" in target else CLIENT
                given[f"{node} {name}"] = value
        return self._set(given)

    # --- what they have in common

    def _set(self, given: Mapping[str, Any], node: str = "", device: str = "") -> CarriedOut | None:
        if not given:
            return None
        if device and (why := self._not_here(node, device)):
            return CarriedOut(None, tuple(given), why)
        return CarriedOut(replace(self, other={**self.other, **given}), tuple(given))

    def _not_here(self, node: str, device: str) -> str:
        owner = self.devices.get(device)
        if not self.devices or owner == node or device == "lo":
            return ""
        return f"{node} has no interface {device}" + (f"; it is {owner}'s" if owner else "")


def devices_of(ports: Iterable[str], nodes: Iterable[str]) -> dict[str, str]:
    """Which node has which interface: a host or a router its own, the client those of switches.

    Args:
        ports: names of all interfaces, such as "s1-eth2".
        nodes: of the hosts and routers.
    """
    own = set(nodes)
    return {port: owner if (owner := port.rpartition("-eth")[0]) in own else CLIENT for port in ports}


def _with_untold(interface: Interface, typed: Interface | None) -> Interface:
    """With the options that the kernel never tells, as they were typed, where the discipline is the same."""
    if typed is None:
        return interface
    options = {(each.kind, each.parent): each.options for each in typed.qdiscs}
    qdiscs = []
    for each in interface.qdiscs:
        before = options.get((each.kind, each.parent), {})
        known = each.known.by_name if each.known else {}
        untold = {name: value for name, value in before.items() if name in known and not known[name].told}
        qdiscs.append(replace(each, options={**untold, **each.options}))
    return replace(interface, qdiscs=tuple(qdiscs))


def _of_link(device: str, rest: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word, value in zip(rest, [*rest[1:], ""], strict=True):
        if word in ("up", "down"):
            found[f"{device} up"] = word == "up"
        elif word in _LINK_NUMBERS:
            found |= _number(device, word, value)
    return found


def _number(device: str, what: str, text: str) -> dict[str, Any]:
    return {f"{device} {what}": float(text)} if text.isdecimal() else {}


def _address(device: str, text: str) -> dict[str, Any]:
    try:
        return {f"{device} address": str(ip_interface(text if "/" in text else f"{text}/8"))}
    except ValueError:
        return {}
