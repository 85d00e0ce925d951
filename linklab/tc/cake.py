# SPDX-License-Identifier: BSD-3-Clause
"""cake: a shaper and a fair queue in one.  Words: tc-cake(8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linklab.linux.tc_options import CAKE_ACKS, CAKE_CELLS, CAKE_FLOWS
from linklab.tc.forms import NUMBER, RATE, SIGNED, SIZE, TIME_US
from linklab.tc.kind import Drawn, Kind
from linklab.tc.option import OneOf, Switch, Valued

_ROUND_TRIPS_US: Mapping[str, int] = {
    "datacentre": 100,
    "lan": 1000,
    "metro": 10_000,
    "regional": 30_000,
    "internet": 100_000,
    "oceanic": 300_000,
    "satellite": 1_000_000,
    "interplanetary": 3_600_000_000,
}


@dataclass(frozen=True)
class Cake(Kind):
    """It has words for round trips, and one for no rate."""

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The options of words typed after `cake`."""
        plain: list[str] = []
        for word in words:
            plain += ["rtt", f"{_ROUND_TRIPS_US[word]}us"] if word in _ROUND_TRIPS_US else [word]
        return super().read([word for word in plain if word != "unlimited"])


CAKE = Cake(
    "cake",
    (
        Valued("bandwidth_bit", "bandwidth", RATE),
        OneOf("diffserv", ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")),
        OneOf("flow", CAKE_FLOWS),
        Valued("rtt_us", "rtt", TIME_US),
        OneOf("ack_filter", CAKE_ACKS),
        Switch("nat", "nat", "nonat"),
        Switch("wash", "wash", "nowash"),
        Switch("ingress", "ingress", "egress"),
        Switch("autorate_ingress", "autorate-ingress"),
        Switch("split_gso", "split-gso", "no-split-gso"),
        Valued("overhead", "overhead", SIGNED),
        Valued("mpu", "mpu", NUMBER),
        OneOf("cell", CAKE_CELLS),
        Valued("memlimit", "memlimit", SIZE),
        Valued("fwmark", "fwmark", NUMBER),
    ),
    drawn=(
        Drawn("rtt", "round trip the queue is tuned for", "100ms"),
        Drawn("priority", "classes of traffic", option="diffserv"),
        Drawn("isolation", "what shares fairly", option="flow"),
        Drawn("memlimit", "most bytes of memory"),
        Drawn("overhead", "bytes added to each packet"),
        Drawn("ack-filter", "drop acknowledgements that a later one covers"),
    ),
    module="sch_cake",
    queue="memlimit",
    counts="bytes",
    rate="bandwidth_bit",
    told=("bandwidth_bit", "memlimit"),
)
