# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's command `iperf`, done with iperf3.

Mininet 2.3 calls iperf 2, sees by a telnet whether its server listens, and then waits for two results of it: that of
the telnet and that of the test.  iperf 2.1 gives none for a telnet, so Mininet waits for ever (its issue 1060); and its
reports poll every 100 us, which each clock of a pocket must stop for.  iperf3 does neither.
"""

from __future__ import annotations

import re
import time
from typing import Any

from mininet.log import error, output

TRIES, BETWEEN_S = 20, 0.1
CONNECT_MS = 5000
RESULT = r"([\d.]+ \w+/sec).*\b{}\s*$"


def mend(net: Any) -> None:
    """Replace Mininet's `iperf`, which its command line, `--test iperf` and scripts call, by ours.

    net: the module mininet.net of this process; not imported here, because it may be what imports us.
    """
    net.Mininet.iperf = iperf


def iperf(  # noqa: PLR0917 - Mininet's
    net: Any,
    hosts: Any = None,
    l4Type: str = "TCP",  # noqa: N803 - Mininet's
    udpBw: str = "10M",  # noqa: N803 - Mininet's
    fmt: str | None = None,
    seconds: int = 5,
    port: int = 5001,
) -> list[str]:
    """Test between two hosts, the first and the last unless given; what the server and the client say, as rates.

    Over UDP what was asked for comes first.  Rates are "" where there was no test, and why is printed.
    """
    client, server = hosts or [net.hosts[0], net.hosts[-1]]
    output(f"*** Iperf: testing {l4Type} bandwidth between {client} and {server}, with iperf3\n")
    server.sendCmd(f"iperf3 -s -1 -p {port}")
    options = f"-p {port} -t {seconds} --connect-timeout {CONNECT_MS}"
    options += f" -u -b {udpBw}" if l4Type == "UDP" else ""
    options += f" -f {fmt}" if fmt else ""
    for _ in range(TRIES):
        shown = client.cmd(f"iperf3 -c {server.IP()} {options}")
        if "Connection refused" not in shown:  # by a server that does not listen yet
            break
        time.sleep(BETWEEN_S)
    results = [re.findall(RESULT.format(side), shown, re.MULTILINE) for side in ("receiver", "sender")]
    if not all(results):
        error(shown)
        server.sendInt()
    server.waitOutput()
    rates = [rate[-1] if rate else "" for rate in results]
    if l4Type == "UDP":
        rates.insert(0, udpBw)
    output(f"*** Results: {rates}\n")
    return rates
