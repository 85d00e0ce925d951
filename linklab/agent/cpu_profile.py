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
PRICES = ("syscall_ps", "byte_ps", "packet_ps", "fork_ps", "exec_ps", "spread_permille", "wake_ns")
"""The kernel's parameters that a profile sets, by the names that both have."""


def prices_now() -> dict[str, str]:
    """The kernel's parameters at this moment, in the form of `written`."""
    return {name: (PARAMETERS / name).read_text().strip() for name in PRICES}


def written(profile: dict[str, Any]) -> dict[str, str]:
    """The kernel's parameters of a profile as their files take them: a number, or quantiles separated by commas."""
    prices = {name: profile[name] for name in PRICES}
    return {
        name: ",".join(map(str, price)) if isinstance(price, list) else str(price) for name, price in prices.items()
    }


def told(name: str, profile: dict[str, Any]) -> str:
    """A profile in two lines: what computing costs, and how long a process that slept takes to run."""
    call, byte, packet, fork, start = (profile[price] for price in PRICES[:5])
    wake = [nanoseconds / 1000 for nanoseconds in profile["wake_ns"]]
    sleeper = (
        f"in {wake[0]:g} to {wake[-1]:g} us, half of them within {wake[len(wake) // 2]:g} us" if wake[-1] else "at once"
    )
    return (
        f"{name:<8}  system call {call / 1000:g} ns, byte copied {byte:g} ps, packet into a link {packet / 1000:g} ns, "
        f"fork {fork / 1e6:g} us, start of a program {start / 1e6:g} us\n{'':<12}a process that slept runs {sleeper}"
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
        for price, text in written(profiles[name]).items():
            (PARAMETERS / price).write_text(text)
    now = prices_now()
    asked = written(profiles[name]) if name else now
    if other := {price: is_now for price, is_now in now.items() if is_now != asked[price]}:
        wrong = ", ".join(f"{price} is {is_now} and not {asked[price]}" for price, is_now in other.items())
        sys.stderr.write(f"cpu_profile: {name} was not set: {wrong} ({PARAMETERS})\n")
        return 1
    for known, profile in profiles.items():
        mark = "*" if written(profile) == now else " "
        if mark == "*" or not name:
            sys.stdout.write(f"{mark} {told(known, profile)}\n")
    if "CLOCK=wall" in COMMAND_LINE.read_text().split():
        sys.stdout.write("On the wall clock computing takes the time it takes; a profile changes nothing.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
