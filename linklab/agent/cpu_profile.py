# SPDX-License-Identifier: BSD-3-Clause
"""`cpu_profile [NAME]`: what computing costs in network time from now on; a command of the terminals of a pocket.

Writes the prices of a profile of linklab/engine/profiles.json to the kernel's parameters (kernel/README.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROFILES = Path(__file__).resolve().parent.parent / "engine/profiles.json"
PARAMETERS = Path("/sys/module/pocket/parameters")
COMMAND_LINE = Path("/proc/cmdline")
PRICES = ("syscall_ps", "byte_ps", "packet_ps")


def prices_now() -> dict[str, int]:
    """What the kernel charges at this moment, picoseconds."""
    return {name: int((PARAMETERS / name).read_text()) for name in PRICES}


def told(name: str, prices: dict[str, Any]) -> str:
    """A profile in a line: "desktop   system call 300 ns, byte copied 48 ps, packet into a link 1000 ns"."""
    call, byte, packet = (prices[price] for price in PRICES)
    return (
        f"{name:<8}  system call {call / 1000:g} ns, byte copied {byte:g} ps, packet into a link {packet / 1000:g} ns"
    )


def main(arguments: Sequence[str]) -> int:
    """Show or set; 0, or 1 where no pocket kernel runs or it charges other prices, or 2 for what was not understood."""
    profiles = json.loads(PROFILES.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(
        prog="cpu_profile",
        description="Show what computing costs in network time, or set it from now on, for every node.",
        epilog="It counts on the virtual and the paced clock; on the wall clock computing takes the time it takes. "
        "linklab run and linklab shell begin with the profile of their option --cpu.",
    )
    parser.add_argument("name", nargs="?", choices=profiles, metavar="NAME", help=f"one of {', '.join(profiles)}")
    name = parser.parse_args(arguments).name
    if not PARAMETERS.is_dir():
        sys.stderr.write(f"cpu_profile: there is no {PARAMETERS}: this is not a pocket kernel\n")
        return 1
    if name:
        for price in PRICES:
            (PARAMETERS / price).write_text(str(profiles[name][price]))
    now = prices_now()
    if name and (other := {price: is_now for price, is_now in now.items() if is_now != profiles[name][price]}):
        wrong = ", ".join(f"{price} is {is_now} and not {profiles[name][price]}" for price, is_now in other.items())
        sys.stderr.write(f"cpu_profile: {name} was not set: {wrong} ({PARAMETERS})\n")
        return 1
    for known, prices in profiles.items():
        mark = "*" if all(prices[price] == now[price] for price in PRICES) else " "
        if mark == "*" or not name:
            sys.stdout.write(f"{mark} {told(known, prices)}\n")
    if "CLOCK=wall" in COMMAND_LINE.read_text().split():
        sys.stdout.write("On the wall clock computing takes the time it takes; a profile changes nothing.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
