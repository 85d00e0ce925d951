# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial_counters.py [INTERFACE…]`: what a host counts and how it is set, as JSON: name → text.

Run on the host; a fact of a trial, before and after it. The kernel's files as they are, its network settings as lines
"NAME = VALUE", and what ip, tc, ethtool and top print. What a tool or the kernel does not have is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()

import json
import os
import subprocess
from collections.abc import Iterator, Sequence

FILES = ("snmp", "snmp6", "netstat", "sockstat")
SYSCTLS = Path("/proc/sys")
FOLDERS = ("net/core", "net/ipv4", "net/ipv6")
KERNEL = ("kernel/ostype", "kernel/osrelease", "kernel/hostname")
OF_INTERFACES = ("conf", "neigh")
"""Folders with the same settings for each interface, of which there are hundreds."""
SECRET = ("tcp_fastopen_key", "stable_secret")
TOOLS = {
    "interfaces.json": ("ip", "-j", "-s", "-s", "link"),
    "qdiscs.json": ("tc", "-s", "-j", "qdisc"),
    "top": ("top", "-b", "-n", "1", "-w", "200"),
}
TOOL_S = 3.0
"""What one tool may take; all of them together have the time of a fact (`linklab.agent.trial_facts`)."""
OF_EACH = {"offloads": "-k", "coalescing": "-c", "statistics": "-S"}
"""Of each interface, with ethtool's option."""


def told(interfaces: Sequence[str]) -> dict[str, str]:
    """All that can be had here."""
    found = {}
    for name in FILES:
        try:
            found[name] = Path("/proc/self/net", name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    found["sysctl"] = "".join(f"{line}\n" for line in settings())
    for name, argv in TOOLS.items():
        found[name] = printed(argv)
    for name, option in OF_EACH.items():
        found[name] = "".join(printed(("ethtool", option, interface)) for interface in interfaces)
    return {name: text for name, text in found.items() if text}


def settings() -> Iterator[str]:
    """The settings of this network, in the order of their names."""
    for name in KERNEL:
        yield from setting(name)
    for folder in FOLDERS:
        for place, folders, names in os.walk(SYSCTLS / folder):
            folders[:] = sorted(name for name in folders if name not in OF_INTERFACES)
            for name in sorted(names):
                if name not in SECRET:
                    yield from setting(f"{Path(place, name).relative_to(SYSCTLS)}")


def setting(name: str) -> Iterator[str]:
    """NAME = VALUE, as sysctl(8) says it; nothing for what cannot be read."""
    try:
        text = (SYSCTLS / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        yield f"{name.replace('/', '.')} = {line}"


def printed(argv: Sequence[str]) -> str:
    """What a tool prints; "" if it is not there, fails, or does not end."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            check=False,
            timeout=TOOL_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    print(json.dumps(told(sys.argv[1:])))
