# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's command `iperf` as it is done with iperf3."""

from pathlib import Path

import pytest

pytest.importorskip("mininet")

from linklab.agent import iperf

CAPTURES = Path(__file__).parents[1] / "captures"


class Host:
    """A host of Mininet that shows what it is told to."""

    def __init__(self, name, *shows):
        self.name, self.shows, self.told = name, list(shows), []

    def __str__(self):
        return self.name

    def IP(self):  # noqa: N802 - Mininet's name
        """Its address."""
        return "10.0.0.2"

    def cmd(self, command):
        """Note it and show the next text."""
        self.told.append(command)
        return self.shows.pop(0)

    def sendCmd(self, command):  # noqa: N802 - Mininet's name
        """Note it."""
        self.told.append(command)

    def sendInt(self):  # noqa: N802 - Mininet's name
        """Note it."""
        self.told.append("Ctrl+C")

    def waitOutput(self):  # noqa: N802 - Mininet's name
        """Note it."""
        self.told.append("wait")


@pytest.mark.parametrize(
    ("capture", "kind", "rates"),
    [
        ("iperf3-3.12-tcp-text.txt", "TCP", ["95.5 Mbits/sec", "97.8 Mbits/sec"]),
        ("iperf3-3.12-udp.txt", "UDP", ["10M", "1.05 Mbits/sec", "1.05 Mbits/sec"]),
    ],
)
def test_the_rates_are_those_of_the_client(capture, kind, rates):
    """Receiver first, as Mininet gives them; a server that does not listen yet is asked again."""
    refused = "iperf3: error - unable to connect to server: Connection refused\n"
    client, server = Host("h1", refused, (CAPTURES / capture).read_text()), Host("h2")
    assert iperf.iperf(None, [client, server], kind) == rates
    assert len(client.told) == 2
    assert server.told == ["iperf3 -s -1 -p 5001", "wait"]


def test_no_test_is_told_of_and_the_server_ended():
    """Where there is no way from one to the other."""
    client, server = Host("h1", "iperf3: error - unable to connect to server: No route to host\n"), Host("h2")
    assert iperf.iperf(None, [client, server]) == ["", ""]
    assert server.told == ["iperf3 -s -1 -p 5001", "Ctrl+C", "wait"]
