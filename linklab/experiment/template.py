# SPDX-License-Identifier: BSD-3-Clause
"""The test that `linklab test new` writes: every part once, with comments."""

TEMPLATE = '''\
# A test for `linklab test run FILE`. docs/tests.md, "Writing a test", describes every key.
# Check it with `linklab test check FILE`; nothing in it is a program.

title = "Uploads of several algorithms, with ping"
text = """
What it shows, and when to use it, in a few sentences.
"""
default_plot = "totals"

# Groups of flows, derived series and plots that many tests share. "common" brings the plots of TCP's own
# numbers, and the parameters for further pings, a telephone call, web pages, and counters of machines.
include = ["uploads", "common"]

# What a person may choose: linklab test run FILE -P streams=3 -P algorithms=bbr,cubic
[[parameter]]
name = "streams"
kind = "count"        # count, number, list (one for each flow), text, or yes-no
text = "how many uploads"
default = 2
least = 1

[[parameter]]
name = "algorithms"
kind = "list"
text = "congestion control of each upload"
otherwise = "cubic"   # for flows beyond the end of the list

# One flow, or one for each number up to `count`: {n} counts from 1, {i} from 0.
[[flow]]
series = "TCP upload::{n}"
# tcp, udp, sctp, icmp, udp_rtt, tcp_rtt, voip, http, bursts, cpu_load, command, qdisc, cpu, or netstat
traffic = "tcp"
direction = "up"      # from the first host to the target; "down" the other way
count = "streams"
congestion = "{algorithms}"
marking = "CS0"       # CS0 to CS7, AF11 to AF43, EF, LE, or the byte, such as 0x10
# start = "delay"     # times: length, delay, total, step, s and ms, as in "length + 2 delay"
# length = "length"
# shift = "{i} 2 s"   # begins so much later and is so much shorter

[[flow]]
series = "Ping (ms) ICMP"
traffic = "icmp"

# A series that is computed from others: average, smooth_average, sum, diff_min or fairness.
[[derived]]
series = "TCP upload fairness"
rule = "fairness"
of = ["TCP upload::*"]

# A plot: lines name series, or patterns of them ("*" stops at ":", "**" does not, " !" leaves some out).
[[plot]]
name = "totals"
text = "Sum of the uploads, with the round trip time"
kind = "timeseries"
axes = ["", "Latency (ms)"]
lines = [
  { series = "TCP upload sum", label = "Uploads" },
  { series = "Ping (ms) ICMP", label = "Ping", axis = 2 },
]

[[plot]]
name = "totals_box"
text = "The same as boxes, without the time before and after the load"
parent = "totals"
kind = "box"
cutoff = ["delay", "delay"]
'''
