# SPDX-License-Identifier: BSD-3-Clause
"""What a test is: traffic and probes between roles, derived series, plots. Data; nothing runs here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from linklab.plots.spec import PlotSpec

LENGTH_S = 60.0
"""Default length of a test."""
DELAY_S = 5.0
"""The load begins so long after the probes, and ends so long before them."""
STEP_S = 0.2
"""Between two samples, network time."""


class Traffic(Enum):
    """What a flow sends, or a probe reads."""

    TCP = "tcp"  # iperf3; Mbits/s as the receiver counts it
    UDP = "udp"  # iperf3 -u
    SCTP = "sctp"  # iperf3 --sctp
    ICMP = "icmp"  # fping; ms
    UDP_RTT = "udp_rtt"  # irtt; ms
    TCP_RTT = "tcp_rtt"  # a request and its answer on one connection; ms
    VOIP = "voip"  # irtt with the packets of a codec
    HTTP = "http"  # fetches of a list of pages; ms
    BURSTS = "bursts"  # packets back to back, again and again
    COMMAND = "command"  # a program that prints numbers
    CPU_LOAD = "cpu_load"  # stress-ng
    QDISC = "qdisc"  # counters of disciplines
    CPU = "cpu"  # /proc/stat
    NETSTAT = "netstat"  # /proc/net/netstat


@dataclass(frozen=True)
class TrafficFlow:
    """One flow or probe with nothing left open.

    series: the name of its series in the data set, such as "TCP upload BE" or "TCP upload::1".
    direction: "up" from the first host to a target, "down" from there; "" where it has none.
    target: number of the target host, from 0.
    source: the node that it comes from; "" for the test's source.
    together: flows of one such name are the streams or connections of one program; "" for a program of its own.
    start_s, length_s: network time since the test began.
    tos: the byte of the IP header that holds DSCP and ECN.
    congestion: algorithm of TCP; "" for the host's own.
    interval_s: between two samples, or two packets of a probe; 0 of TCP_RTT: requests follow each other at once.
    rate_bps: of UDP; None for the tool's own.
    size_bytes: of a datagram, or of one write of TCP; None for the tool's own.
    version: of IP, 4 or 6; None for what the target's name gives.
    options: what only this kind of traffic has, as text by name: "host" (a node to probe, sample or call, where it is
        no target), "interface" (QDISC), "urls" and "pages" (HTTP), "ports" (BURSTS), "window" (TCP), "command"
        (COMMAND), "workers" and "load" (CPU_LOAD), "request" and "response" (TCP_RTT, bytes), "protocol" (TCP_RTT,
        "sctp"), "rate" (TCP_RTT, the series of what it moves), "buffer" and "server_buffer" (TCP and TCP_RTT without an
        interval, bytes of the socket's buffers at either end).
    """

    series: str
    traffic: Traffic
    direction: str = ""
    target: int = 0
    start_s: float = 0.0
    length_s: float = LENGTH_S
    tos: int = 0
    congestion: str = ""
    interval_s: float = STEP_S
    rate_bps: float | None = None
    size_bytes: int | None = None
    version: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    together: str = ""


class DerivedRule(Enum):
    """How a derived series comes from others, value by value on common times."""

    MEAN = "average"
    SMOOTH_MEAN = "smooth_average"
    SUM = "sum"
    DIFF_MIN = "diff_min"  # the value less the least value of all
    FAIRNESS = "fairness"  # Jain's index of those that have a value


@dataclass(frozen=True)
class Derived:
    """A series that is computed from others.

    of: names or patterns of the series, as in `linklab.plots.spec.PlotLine`.
    unit: of the result; "" for an index.
    """

    series: str
    rule: DerivedRule
    of: tuple[str, ...]
    unit: str = ""


@dataclass(frozen=True)
class Expanded:
    """A test with its parameters: all that is to be run, computed and drawn.

    hosts: how many target hosts it needs.
    total_s: how long it lasts, network time.
    parameters: those that were given or have a value by default, as text; unknown ones are kept as metadata.
    default_plot: the plot that is shown by default.
    """

    name: str
    title: str
    flows: tuple[TrafficFlow, ...]
    derived: tuple[Derived, ...]
    plots: tuple[PlotSpec, ...]
    default_plot: str
    hosts: int
    length_s: float
    total_s: float
    step_s: float
    parameters: Mapping[str, str]


class When(Enum):
    """When a command of a trial runs."""

    PRE = "pre"  # before the test, and before anything is noted of the network
    POST = "post"  # after it, in any case
    MONITOR = "monitor"  # beside it


@dataclass(frozen=True)
class TrialCommand:
    """A shell command that belongs to a trial.

    name: for people.
    line: what the shell is given.
    node: in whose namespace it runs; "" for the network's root namespace ("client").
    on_host: it runs on this machine, outside of the network; whoever runs the trial does that.
    essential: of one before the test: where it fails, there is no test.
    kill: of one beside the test: it is ended when the test is; otherwise its end is waited for.
    """

    name: str
    line: str
    when: When
    node: str = ""
    on_host: bool = False
    essential: bool = False
    kill: bool = False


@dataclass(frozen=True)
class Trial:
    """One run of a test on a path: what decides its outcome, and nothing else.

    test: a name of the library, or the path of a TOML file.
    path: the words of a path, such as "10mbit 50ms fq_codel", or "" where `topology` is given.
    topology: a .mn file; "" for the path's own.
    source, targets: nodes; "" and () for the path's own.
    parameters: of the test, as text.
    length_s, step_s: None for the test's own.
    clock, engine, profile: as `linklab run` has them.
    title, note: for people; `extra` further metadata, such as the batch's; Flent's are in capitals.
    commands: what is run before, beside and after the test, in this order; the data set keeps what they print.
    """

    test: str
    path: str = ""
    topology: str = ""
    source: str = ""
    targets: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    length_s: float | None = None
    step_s: float | None = None
    seed: int = 1
    clock: str = "virtual"
    engine: str = "pocket"
    profile: str = "desktop"
    title: str = ""
    note: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    commands: tuple[TrialCommand, ...] = ()
