# SPDX-License-Identifier: BSD-3-Clause
"""The file that `linklab sweep --new` writes: a sweep that runs as it is, with a comment on each key."""

TEMPLATE = """\
# A sweep: one test, run on every combination of the levels of some factors, and repeated with other seeds.
# Run it with: linklab sweep FILE      Look first: linklab sweep --check FILE

test = "tcp_1up"                        # linklab test list names them; a .toml file beside this one works too
path = "10mbit 50ms {buffer} fifo"      # {factor} stands for its level, here and in every other text
# topology = "my.mn"                    # instead of a path, with: from = "h1", to = ["h3"]
# before = ["tc qdisc …"]               # commands for the network's root namespace before each test
length = "20s"                          # of the load
title = "{cc}, buffer {buffer}"

repetitions = 3                         # of each combination, with the seeds 1, 2, 3
seed = 1                                # of the first one; the same seeds are taken for every combination
# until = "2 %"                         # instead: go on until the 95 % interval of every measure is within 2 %
# most = 20                             # … but stop there

# clock = "virtual"                     # virtual, paced or wall
# engine = "pocket"                     # pocket or host
# cpu = "desktop"                       # what computing costs

[parameters]                            # of the test: linklab test show tcp_1up
tcp_cong_control = "{cc}"

[factors]                               # the first one is the horizontal axis of the figure, the second makes lines
buffer = ["0.25bdp", "0.5bdp", "1bdp", "2bdp"]
cc = ["cubic", "reno"]
# Ranges of quantities:
# buffer = { from = "0.25bdp", to = "4bdp", points = 5, spacing = "log" }
# rtt = { from = "10ms", to = "90ms", step = "20ms" }

[measures.throughput]
series = "TCP upload"                   # a series of the test, or a pattern: "TCP upload::*"
reduce = "mean"                         # mean, median, pct99, mean_span, … of the series
from = "10s"                            # count from here on: 5 s before the load, and 5 s in which it settles
to = "25s"                              # the load ends
# over = "sum"                          # of several series that the pattern names: mean, sum, min or max

[measures.latency]
series = "Ping (ms) ICMP"
reduce = "mean"                         # not mean_span: after the cut, the least round trip may have a queue in it
from = "10s"
to = "25s"
# until = "none"                        # this measure does not decide when it is enough
"""
