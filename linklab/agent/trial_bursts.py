# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial_bursts.py ADDRESS --length S --rate BITS [--size BYTES] [--ports N] [--tos N]`: UDP to many ports.

Packets go to the ports in turn, so that each port is a flow. At every millisecond it sends what the rate has made due:
in a pocket it costs no network time, so without a rate it would send for ever at one instant.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()  # as all that measures and is not measured

import argparse
import socket
import time
from collections.abc import Sequence

FIRST_PORT = 10_000
TICK_S = 0.001


def main(argv: Sequence[str] | None = None) -> int:
    """Send until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--length", type=float, required=True)
    parser.add_argument("--rate", type=float, required=True, help="bit/s of payload")
    for name, default in (("size", 500), ("ports", 1), ("tos", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args(argv)
    is_6 = ":" in args.address
    with socket.socket(socket.AF_INET6 if is_6 else socket.AF_INET, socket.SOCK_DGRAM) as out:
        if args.tos:
            level, option = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if is_6 else (socket.IPPROTO_IP, socket.IP_TOS)
            out.setsockopt(level, option, args.tos)
        print(send(out, args))
    return 0


def send(out: socket.socket, args: argparse.Namespace) -> int:
    """Send; how many packets went."""
    begun = time.monotonic()
    payload, sent = bytes(args.size), 0
    while (gone := time.monotonic() - begun) < args.length:
        due = int((gone + TICK_S) * args.rate / 8 / args.size)
        while sent < due:
            out.sendto(payload, (args.address, FIRST_PORT + sent % args.ports))
            sent += 1
        time.sleep(TICK_S)
    return sent


if __name__ == "__main__":
    sys.exit(main())
