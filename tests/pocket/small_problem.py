# SPDX-License-Identifier: BSD-3-Clause
"""A problem that takes a few seconds of network time, and an engine that measures each of its networks once."""

import tempfile
from pathlib import Path

from linklab.engine.pocket import PocketEngine
from linklab.grade.shared import SharedEngine

TOML = """
format = 1
kind = "problem"
number = 9
title = "Try"
version = 1
minutes = 5
topology = "Problem 9.mn"
[[parameter]]
name = "rate"
values = ["20 Mbps", "30 Mbps"]
series = "20 Mbps"
[derived]
rtt = "'20 ms'"
bdp = "bdp(rate, rtt)"
[[setting]]
on = "client"
lines = [
  "tc qdisc add dev s1-eth2 root handle 1: netem delay {rtt:tc}",
  "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst 20000 limit {= 2 * bdp : bytes}",
]
says = "{rate} and {rtt}"
[[fault]]
id = "window"
on = "h2"
lines = ["sysctl -q -w net.ipv4.tcp_rmem='4096 8192 12000'"]
key = "K"
seen = "start.throughput < 0.5 * goodput(rate)"
[[experiment]]
id = "start"
base = "start"
flows = [{ from = "h1", to = "h2" }]
seconds = 2
runs = 1
why = "W"
[[experiment]]
id = "mended"
base = "submitted"
flows = [{ from = "h1", to = "h2", streams = "answer.streams" }]
ping = { from = "h1", to = "h2" }
queue = "s1-eth2"
seconds = 4
omit = 1
runs = 2
why = "W"
[[answer]]
name = "streams"
kind = "number"
asks = "How many streams?"
[[answer]]
name = "throughput"
kind = "rate"
asks = "How fast?"
[[check]]
id = "filled"
title = "The link is filled"
kind = "measure"
metric = "mended.throughput"
low = "0.9 * goodput(rate)"
partial = [{ low = "0.5 * goodput(rate)", share = 0.5 }]
weight = 60
why = "W"
hints = ["a", "b", "c {rate}"]
[[check]]
id = "kept"
title = "The bottleneck is untouched"
kind = "unchanged"
reference = "healthy"
except = ["h2.rmem"]
needs = ["filled"]
weight = 20
why = "W"
hints = ["a", "b", "c"]
[[check]]
id = "measured"
title = "Measured"
kind = "answer"
answer = "throughput"
value = "mended.throughput"
within = "10 %"
weight = 20
hidden = true
why = "W"
"""
MODEL = "h2 sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'\n"
ANSWERS = 'streams = 1\nthroughput = "{mended.throughput}"\n'
_KEPT = tempfile.TemporaryDirectory(prefix="linklab-small-problem-")
ALONE = PocketEngine()
ENGINE = SharedEngine(ALONE, Path(_KEPT.name))
"""Most tests begin with the model answer's network, which is measured once for all of them."""
