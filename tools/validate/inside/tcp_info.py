# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel says of a TCP connection, again and again: tcp_info.py ADDRESS PERIOD_S SECONDS.

Of the connections to ADDRESS, the one that has delivered most. Prints a JSON list of objects: t_s since the first
sample, cwnd and ssthresh (segments), rtt_us, retrans (in all), acked (bytes); with BBR also gain and cwnd_gain (times
256), min_rtt_us and bw (bytes a second). Source: linux/inet_diag.h, linux/tcp.h, linux/sock_diag.h.
"""

import json
import socket
import struct
import sys
import time

SOCK_DIAG_BY_FAMILY = 20
DUMP_REQUEST = 0x301
INFO, VEGAS_INFO, BBR_INFO = 2, 3, 16
"""Asked for by VEGAS_INFO, any congestion control says what it has of its own (bbr_get_info): the mask has 8 bits."""
ESTABLISHED = 1 << 1
"""State 1 in the mask of idiag_states."""


def sample(diag: socket.socket, address: bytes) -> dict[str, int] | None:
    """The busiest established connection to `address`; None if there is none."""
    wanted = 1 << (INFO - 1) | 1 << (VEGAS_INFO - 1)
    body = struct.pack("=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, wanted, ESTABLISHED)
    diag.send(struct.pack("=IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY, DUMP_REQUEST, 1, 0) + body)
    best: dict[str, int] | None = None
    while True:
        data = diag.recv(65536)
        while data:
            size, kind = struct.unpack_from("=IH", data)
            if kind == 3:  # NLMSG_DONE
                return best
            if kind == SOCK_DIAG_BY_FAMILY and data[16 + 4 + 4 + 16 : 16 + 4 + 4 + 16 + 4] == address:
                found = attributes(data[16 + 72 : size])
                if best is None or found["acked"] > best["acked"]:
                    best = found
            data = data[(size + 3) & ~3 :]


def attributes(data: bytes) -> dict[str, int]:
    """The fields of tcp_info and tcp_bbr_info that are of use here."""
    found = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        body = data[4:size]
        if kind == INFO:
            rtt, _, ssthresh, cwnd = struct.unpack_from("=4I", body, 68)
            (retrans,) = struct.unpack_from("=I", body, 100)
            (acked,) = struct.unpack_from("=Q", body, 120)
            found |= {"rtt_us": rtt, "ssthresh": ssthresh, "cwnd": cwnd, "retrans": retrans, "acked": acked}
        elif kind == BBR_INFO:
            low, high, min_rtt, gain, cwnd_gain = struct.unpack_from("=5I", body)
            found |= {"bw": high << 32 | low, "min_rtt_us": min_rtt, "gain": gain, "cwnd_gain": cwnd_gain}
        data = data[(size + 3) & ~3 :]
    return found


address, period_s, seconds = socket.inet_aton(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
samples = []
with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4) as diag:  # NETLINK_SOCK_DIAG
    begin = time.monotonic()
    for number in range(round(seconds / period_s)):
        if (wait := begin + number * period_s - time.monotonic()) > 0:
            time.sleep(wait)
        now = time.monotonic() - begin
        if (found := sample(diag, address)) is not None:
            samples.append({"t_s": round(now, 6), **found})
print(json.dumps(samples))
