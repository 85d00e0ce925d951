# SPDX-License-Identifier: BSD-3-Clause
"""The routes and IPv6 addresses of an interface, kept over its going down and up again.

Linux forgets them when an interface goes down (ip-route(8), net/ipv4/fib_frontend.c), so what `link h1 s1 down` and
`link h1 s1 up` type would leave h1 without its default route. Pure: from what `ip -j` shows to commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

ASKS = ("ip -j -4 route show dev {0}", "ip -j -6 route show dev {0}", "ip -j -6 addr show dev {0} scope global")
"""What is asked before the interface goes down; the answers, in this order, are for `restoring`."""
BY_KERNEL = ("kernel", "ra")


def kept(ask: Callable[[str], str], interface: str) -> list[str]:
    """Commands that bring back what `ask`, which types a command and gives what it shows, tells of an interface."""
    return restoring([ask(each.format(interface)) for each in ASKS], interface)


def restoring(shown: list[str], interface: str) -> list[str]:
    """The commands; none for what the kernel sets by itself."""
    ipv4, ipv6, addresses = (_objects(text) for text in shown)
    lines = []
    for entry in addresses:
        for address in entry.get("addr_info", ()):
            if "local" in address and not address.get("dynamic"):
                lines.append(f"ip addr replace {address['local']}/{address['prefixlen']} dev {interface} nodad")
    for family, routes in (("-4", ipv4), ("-6", ipv6)):
        # a gateway must be reached before it can be named
        for route in sorted(routes, key=lambda each: "gateway" in each):
            if route.get("protocol") not in BY_KERNEL and isinstance(route.get("dst"), str):
                lines.append(_command(family, route, interface))
    return lines


def _command(family: str, route: dict[str, Any], interface: str) -> str:
    words = [f"ip {family} route replace {route['dst']}"]
    words += [f"via {route['gateway']}"] if "gateway" in route else []
    words.append(f"dev {interface}")
    words += [f"src {route['prefsrc']}"] if "prefsrc" in route else []
    words += [f"metric {route['metric']}"] if "metric" in route else []
    return " ".join(words)


def _objects(text: str) -> list[dict[str, Any]]:
    """The list that `ip -j` printed; none where it printed something else."""
    try:
        found = json.loads(text[text.index("[") : text.rindex("]") + 1])
    except ValueError:
        return []
    return [each for each in found if isinstance(each, dict)]
