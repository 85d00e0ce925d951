# SPDX-License-Identifier: BSD-3-Clause
"""A small exercise and a small problem in a clone of their own, for tests of everything around exercises."""

import shutil
from pathlib import Path

from linklab.base import installation

TOPOLOGY = Path(__file__).parents[1] / "topologies" / "Lab 8.mn"

EXERCISE = """\
format = 1
kind = "exercise"
number = 3
title = "A small exercise"
version = 1
minutes = 20
topology = "Exercise 3.mn"
after = "Lab 5"

[[parameter]]
name = "rate"
values = ["100 Mbps", "200 Mbps", "300 Mbps"]
series = "100 Mbps"

[[parameter]]
name = "rtt"
values = ["20 ms", "40 ms"]
series = "20 ms"

[derived]
bdp = "bdp(rate, rtt)"

[[setting]]
on = "client"
lines = [
  "tc qdisc add dev s1-eth2 root handle 1: netem delay {rtt:tc}",
  "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate {rate:tc} burst 100000 limit 30000",
]
says = "Bottleneck s1-eth2: {rate}, delay {rtt}"

[[experiment]]
id = "tuned"
base = "submitted"
flows = [{ from = "h1", to = "h2" }]
seconds = 3
omit = 1
why = "Slow start is over after 1 s."

[[answer]]
name = "throughput"
kind = "rate"
asks = "How fast is it with {rate}?"

[[answer]]
name = "winner"
kind = "choice"
asks = "Which is faster?"
choices = ["reno", "bbr"]

[[answer]]
name = "words"
kind = "text"
asks = "Why?"

[[check]]
id = "rate"
title = "The bottleneck is as issued"
weight = 1
kind = "state"
fact = "s1-eth2.rate"
value = "rate"
within = "1 %"
why = "The bottleneck is part of the task."
hints = ["Look at s1-eth2.", "Its rate is not {rate}.", "sudo ./set_env.sh sets it again."]

[[check]]
id = "buffer"
title = "The switch's buffer holds a BDP"
weight = 2
kind = "state"
fact = "s1-eth2.queue"
low = "0.9 * bdp"
partial = [{ low = "0.5 * bdp", share = 0.5 }]
why = "A queue of a BDP keeps the link busy after a loss."
hints = ["Look at the queue of s1-eth2.", "Its limit is below a BDP.", "tc qdisc change … limit {bdp:bytes}"]

[[check]]
id = "throughput"
title = "The link is full"
weight = 3
kind = "measure"
metric = "tuned.throughput"
low = "0.8 * goodput(rate)"
needs = ["rate"]
why = "With a BDP in the queue the link stays busy."
hints = ["Measure from h1 to h2.", "It is less than the link could carry.", "Enlarge the buffer."]

[[check]]
id = "winner"
title = "Which algorithm wins"
weight = 1
kind = "answer"
answer = "winner"
is = "reno"
why = "There is only one."
hints = ["answers.toml, winner.", "Measure both.", "It is not bbr."]

[[check]]
id = "secret"
title = "Nothing of the reader's business"
weight = 2
kind = "answer"
answer = "throughput"
low = "0.8 * goodput(rate)"
why = "As measured."
hidden = true
"""

PROBLEM = """\
format = 1
kind = "problem"
number = 1
title = "A small problem"
version = 1
minutes = 10
topology = "Problem 1.mn"

[[parameter]]
name = "rate"
values = ["100 Mbps", "200 Mbps"]
series = "100 Mbps"

[[setting]]
on = "client"
lines = ["tc qdisc add dev s1-eth2 root tbf rate {rate:tc} burst 100000 limit 500000"]
says = "Rate of s1-eth2: {rate}"

[[fault]]
id = "window"
on = "h2"
lines = ["sysctl -w net.ipv4.tcp_rmem='4096 16384 65536'"]
key = "h2 holds 64 KiB."
seen = "start.throughput < 0.5 * goodput(rate)"

[[experiment]]
id = "start"
base = "start"
flows = [{ from = "h1", to = "h2" }]
seconds = 2
why = "Long enough."

[[check]]
id = "mended"
title = "h2 takes enough"
weight = 1
kind = "state"
fact = "h2.rmem"
low = '"1 MB"'
why = "The window bounds what is in flight."
hints = ["Look at h2.", "Its window is small.", "sysctl -w net.ipv4.tcp_rmem=…"]
"""

HANDOUT = """\
## Overview {{-}}

The link carries {rate}, and a BDP is {bdp:bytes} bytes.

![The network](topology:)

## Tasks

Step. Measure it.

```h1
iperf3 -c 10.0.0.2 -t 10
for n in 1 2; do echo ${{n}}; done
```
"""


def make_clone(root):
    """The two folders below `root`, which then is a clone as far as exercises go."""
    for name, text, handout in (
        ("exercises/3-small", EXERCISE, HANDOUT),
        ("problems/1-small", PROBLEM, "## Task\n\nFind what is wrong at {rate}.\n"),
    ):
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "exercise.toml").write_text(text)
        (folder / "handout.md").write_text(handout)
        shutil.copy(TOPOLOGY, folder / f"{name.partition('s/')[0].title()} {name.split('/')[1][0]}.mn")
    return root


def use_clone(root, monkeypatch):
    """Have everything look for exercises in a clone of the test's."""
    make_clone(root)
    monkeypatch.setattr(installation, "ROOT", root)
    return root
