# SPDX-License-Identifier: BSD-3-Clause
"""One container and the lines of shell that set it up: what a drawing has a field for is read out of them.

Addresses, routes, forwarding, and bridges become data; the rest stays a line, for the start command. Pure.
Commands: ip-address(8), ip-route(8), ip-link(8), ifconfig(8), route(8), brctl(8), sysctl(8).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface

from linklab.errors import InputError
from linklab.topology import addressing

FORWARDING = {4: "net.ipv4.ip_forward=1", 6: "net.ipv6.conf.all.forwarding=1"}
"""The sysctl that makes a router of a container, by the version of IP."""
_OF_BRIDGE = re.compile(
    r"brctl (addbr|addif|stp) .*"
    r"|ip link add (name |dev )?\S+ type bridge( stp_state [01])?"
    r"|ip link set (dev )?\S+ (master \S+( up)?|up|type bridge stp_state [01])"
)
_GOES_ON = re.compile(r"(&|\||;|[({]|\b(do|then|else))\s*$")
_SPANNING_TREE = re.compile(r"\bstp_state 1\b|\bbrctl stp \S+ (on|yes)$")


@dataclass
class Machine:
    """One container: what it is here, its interfaces by their own names in the order of its links, and its lines."""

    name: str
    kind: str = ""
    lines: list[str] = field(default_factory=list)
    interfaces: list[str] = field(default_factory=list)
    addresses: list[tuple[str, str]] = field(default_factory=list)
    routes: list[dict[str, str]] = field(default_factory=list)
    forwards: bool = False
    bridges: bool = False
    spanning_tree: bool = False

    def read_lines(self) -> None:
        """Move what a drawing has a field for from the lines into the fields of this machine."""
        rest = []
        for line in self.lines:
            # the lines are joined to one, in which a comment would swallow those that follow it
            typed = re.sub(r"(^|\s)#[^\"']*$", "", line).strip()
            # what stands in quotes is the program's own
            parts = [typed] if re.search("[\"']", typed) else re.split(r"\s*(?:&&|;)\s*", typed)
            left = [part for part in parts if part and not self._taken(part)]
            if left:
                rest.append(typed if len(left) == len(parts) else joined(left))
        self.lines = rest

    def _taken(self, line: str) -> bool:
        """Whether a line sets what a drawing has a field for, or what holds here anyway (an interface is up)."""
        try:
            words = shlex.split(line)
        except ValueError:
            return False
        return (
            self._is_for_a_bridge(words)
            or self._is_for_addresses(words)
            or self._is_for_forwarding(words)
            or self._is_for_routes(words)
        )

    def _is_for_a_bridge(self, words: list[str]) -> bool:
        joined = " ".join(words)
        if re.search(r"\bbrctl addbr\b|\btype bridge\b", joined):
            self.bridges = True
        if self.bridges and _SPANNING_TREE.search(joined):
            self.spanning_tree = True
        return self.bridges and _OF_BRIDGE.fullmatch(joined) is not None

    def _is_for_addresses(self, words: list[str]) -> bool:
        match words:
            case ["ip", *flag, str(what), "add", str(address), "dev", str(interface)] if _is("address", what, flag):
                return self._address(interface, address)
            case ["ifconfig", str(interface), str(address), *more] if more in ([], ["up"]):
                return self._address(interface, address, has_class=True)
            case ["ifconfig", str(interface), str(address), "netmask", str(mask), *more] if more in ([], ["up"]):
                return self._address(interface, f"{address}/{mask}")
            case ["ip", "link", "set", *more]:
                of = [word for word in more if word not in ("dev", "up")]
                return "up" in more and len(of) == 1 and of[0] in ("lo", *self.interfaces)
        return False

    def _is_for_forwarding(self, words: list[str]) -> bool:
        asked: set[str] = set()
        match words:
            case ["sysctl", *more]:
                asked = {word for word in more if not word.startswith("-")}
            case ["echo", "1", ">", "/proc/sys/net/ipv4/ip_forward"]:
                asked = {FORWARDING[4]}
        found = asked & set(FORWARDING.values())
        self.forwards = self.forwards or bool(found)
        return bool(found) and found == asked

    def _is_for_routes(self, words: list[str]) -> bool:
        match words:
            case ["ip", *flag, str(what), "add" | "replace", str(to), "via", str(via)] if _is("route", what, flag):
                return self._route(to, via)
            case ["ip", *flag, str(what), "add" | "replace", str(to), "via", str(via), "dev", str(interface)]:
                return _is("route", what, flag) and interface in self.interfaces and self._route(to, via)
            case ["route", "add", "default", "gw", str(via)]:
                return self._route(addressing.DEFAULT, via)
            case ["route", "add", "-net", str(to), "gw", str(via)] if "/" in to:
                return self._route(to, via)
        return False

    def _address(self, interface: str, address: str, *, has_class: bool = False) -> bool:
        try:
            given = ip_interface(addressing.with_class(address) if has_class else address)
        except ValueError:
            return False
        if interface not in self.interfaces:
            return False
        self.addresses.append((interface, str(given)))
        return True

    def _route(self, to: str, via: str) -> bool:
        """Whether it is a route, and does not contradict an earlier one."""
        try:
            route = addressing.read_route({"to": to, "via": via})
        except InputError:
            return False
        before = next((each["via"] for each in self.routes if each["to"] == route.to), None)
        if before is None or ip_address(before).version != route.version:
            self.routes.append({"to": route.to, "via": route.via})
            return True
        return before == route.via

    def own(self, interface: str) -> list[str]:
        """The addresses of an interface that are not the host's "ip"."""
        return [address for at, address in self.addresses if at == interface]

    @property
    def is_router(self) -> bool:
        """Whether it forwards, or has addresses on two interfaces."""
        return self.forwards or len({interface for interface, _ in self.addresses}) > 1


def _is(whole: str, typed: str, flag: Sequence[str]) -> bool:
    """Whether the word abbreviates this object of `ip`, with no flag or with -4 or -6."""
    return bool(typed) and whole.startswith(typed) and list(flag) in ([], ["-4"], ["-6"])


def renamed(line: str, names: Mapping[str, str]) -> str:
    """The line with each interface's name replaced."""
    wanted = sorted(filter(None, names), key=len, reverse=True)
    if not wanted:
        return line
    return re.sub(rf"(?<![\w-])({'|'.join(map(re.escape, wanted))})(?![\w-])", lambda found: names[found[0]], line)


def joined(lines: Iterable[str]) -> str:
    """Lines of a shell as one; no semicolon follows what takes the next line with it, such as "do" or "&"."""
    text = ""
    for line in lines:
        text += ("" if not text else " " if _GOES_ON.search(text) else "; ") + line
    return text
