# SPDX-License-Identifier: BSD-3-Clause
"""Addresses and routes that a plan gives to ports beside what Mininet sets: set, then read back.

Imported for plans that have some alone, since what is read before a network starts costs network time. `do` types a
command on the node and raises BuildError if it fails.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

from linklab.agent.open_vswitch import BuildError

Do = Callable[[str], None]


def set_addresses(host: Any, node: dict[str, Any], do: Do) -> None:
    """The addresses of its ports; a router that has an IPv6 address forwards IPv6, too.

    Raises:
        BuildError: the kernel refuses one, or does not show it afterwards.
    """
    for port in node.get("ports", ()):
        name = port["interface"]
        for address in port["addresses"]:
            if ":" in address:
                do(f"echo 0 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6")
                if node["kind"] == "legacyRouter":
                    do("echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
                do(f"ip addr replace {shlex.quote(address)} dev {name} nodad")  # nobody is asked whether it is taken
            else:
                do(f"ip addr replace {shlex.quote(address)} broadcast + dev {name}")
        shown = json.loads(host.cmd(f"ip -j addr show dev {name}") or "[]")
        seen = [f"{a['local']}/{a['prefixlen']}" for each in shown for a in each.get("addr_info", ())]
        missing = [address for address in port["addresses"] if address not in seen]
        if missing:
            raise BuildError(f"{host.name}: {name} shows {', '.join(seen) or 'nothing'}, not {', '.join(missing)}")
        _tell_mininet(host, port)


def _tell_mininet(host: Any, port: dict[str, Any]) -> None:
    """Have Mininet's own commands (`h1 ping r1`, pingall, /etc/hosts) find the port's first IPv4 address."""
    interface = host.nameToIntf[port["interface"]]
    first = next((address for address in port["addresses"] if ":" not in address), None)
    if first is not None and interface.ip is None:
        interface.ip, interface.prefixLen = first.split("/")


def set_routes(host: Any, node: dict[str, Any], do: Do) -> None:
    """The static routes of a node, after all its addresses.

    Raises:
        BuildError: the kernel refuses one, or does not show it afterwards.
    """
    for route in node.get("routes", ()):
        family = "-6" if ":" in route["via"] else "-4"
        to, via = shlex.quote(route["to"]), shlex.quote(route["via"])
        do(f"ip {family} route replace {to} via {via}")
        shown = json.loads(host.cmd(f"ip {family} -j route show {to}") or "[]")
        if route["via"] not in [each.get("gateway") for each in shown]:
            seen = ", ".join(str(each.get("gateway", each.get("dev"))) for each in shown)
            raise BuildError(
                f"{host.name}: the route to {route['to']} is {seen or 'not there'}, not via {route['via']}, "
                "after setting it"
            )
