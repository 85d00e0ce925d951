# SPDX-License-Identifier: BSD-3-Clause
"""UDP datagrams with a number and a time of sending, and when each arrived by the kernel's own stamp (socket(7)).

    probe.py receive PORT
    probe.py send ADDRESS PORT COUNT BYTES every SECONDS | poisson PER_SECOND SEED | burst

`receive` ends when nothing has come for 3 s and prints a JSON list of [number, sent_ns, received_ns] in the order of
arrival. BYTES is the payload; a frame has 42 more (14 Ethernet, 20 IP, 8 UDP).
"""

import json
import random
import socket
import struct
import sys
import time
from collections.abc import Iterator

SO_TIMESTAMPNS = 35
HEAD = struct.Struct("!IQ")


def receive(port: int) -> None:
    """Print what arrived."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.SOL_SOCKET, 33, 64 * 2**20)  # SO_RCVBUFFORCE
        sock.bind(("", port))
        sock.settimeout(None)
        while True:
            try:
                data, ancillary, _, _ = sock.recvmsg(2048, 64)
            except TimeoutError:
                break
            sock.settimeout(3)
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
            found.append([*HEAD.unpack_from(data), seconds * 10**9 + nanoseconds])
    print(json.dumps(found))


def moments(how: list[str], count: int) -> Iterator[float]:
    """When to send, in seconds from the first."""
    if how[0] == "burst":
        yield from [0.0] * count
    elif how[0] == "every":
        yield from (number * float(how[1]) for number in range(count))
    else:
        chance, at = random.Random(int(how[2])), 0.0  # noqa: S311 - arrivals that can be repeated
        for _ in range(count):
            at += chance.expovariate(float(how[1]))
            yield at


def send(address: str, port: int, count: int, size: int, how: list[str]) -> None:
    """Send `count` datagrams."""
    rest = bytes(size - HEAD.size)
    planned = list(moments(how, count))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, 32, 64 * 2**20)  # SO_SNDBUFFORCE
        begin = time.monotonic() + 0.01
        for number, at in enumerate(planned):
            if (wait := begin + at - time.monotonic()) > 0:
                time.sleep(wait)
            sock.sendto(HEAD.pack(number, time.time_ns()) + rest, (address, port))  # unconnected: no refusals


if sys.argv[1] == "receive":
    receive(int(sys.argv[2]))
else:
    send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
