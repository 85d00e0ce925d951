# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of the tools that make traffic: the only place that knows their options.

iperf3(1), irtt-client(1), fping(8), stress-ng(1). What they print is read by `linklab.experiment.outputs`.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from linklab.experiment.model import Traffic, TrafficFlow

MOST_SLOTS, PORTS_APART = 40, 200
"""Of tests that run in one network at once, and between the ports of their iperf3."""
MOST_STREAMS = 128
"""Of one iperf3, which refuses more."""
LEAST_INTERVAL_S = 0.1
"""Of iperf3's reports; the sockets are sampled as often as is asked."""
VOIP_BYTES, VOIP_INTERVAL_S = 172, 0.02
"""G.711 in packets of 20 ms: 160 bytes of sound and 12 of RTP (RFC 3551)."""
PING_WAIT_MS = 30_000
"""For an answer: longer than any queue here; fping's own is one period, and what came later would count as lost."""
FEW = 64
"""Up to so many flows of a test each have a process, and iperf3 reports its intervals."""
PAGES = ("10k", "100k", "1M")
BURST_BPS = 100e6
"""Of bursts, at least: much more than the paths have that people try them on."""
AGENT = "/opt/linklab/linklab/agent"
"""Where our own programs are inside, on every engine."""


@dataclass(frozen=True)
class ServerPorts:
    """On which the servers of a test listen.

    iperf: of the first iperf3; the others have those after it. requests: over TCP; over SCTP it is the next one.
    rpc: of the first of those that answer requests back to back. rpc_clients: of the first connection to them: below
        the ports that the kernel gives (32768, net.ipv4.ip_local_port_range), with room for all of an experiment.
    """

    iperf: int = 5201
    irtt: int = 2112
    http: int = 80
    requests: int = 7000
    rpc: int = 7200
    rpc_clients: int = 26_000

    @classmethod
    def of_slot(cls, slot: int) -> ServerPorts:
        """Ports of a test that runs beside so many others in one network: they share none."""
        usual = cls()
        if not slot:
            return usual
        iperf, rpc = usual.iperf + PORTS_APART * slot, usual.rpc + PORTS_APART * slot + 10_000
        return cls(iperf, usual.irtt + slot, 8080 + slot, usual.requests + 2 * slot, rpc)


def iperf_server(port: int, step_s: float, *, reports: bool) -> list[str]:
    """A server for one test; it ends with it."""
    return ["iperf3", "-s", "-1", "-J", "-p", str(port), *_interval(step_s, reports=reports)]


def iperf_client(
    flow: TrafficFlow, address: str, port: int, step_s: float, *, streams: int, reports: bool
) -> list[str]:
    """A client; iperf3 knows whole seconds only, so a part of one is rounded up."""
    argv = ["iperf3", "-c", address, "-p", str(port), "-t", str(max(1, math.ceil(flow.length_s))), "-J"]
    argv += _interval(step_s, reports=reports)
    argv += ["-R"] if flow.direction == "down" else []
    argv += ["-P", str(streams)] if streams > 1 else []
    argv += ["-C", flow.congestion] if flow.congestion and flow.traffic is Traffic.TCP else []
    argv += ["-S", str(flow.tos)] if flow.tos else []
    argv += [f"-{flow.version}"] if flow.version is not None else []
    argv += ["-l", str(flow.size_bytes)] if flow.size_bytes is not None else []
    argv += ["-w", str(flow.options["window"])] if flow.options.get("window") else []
    if flow.traffic is Traffic.UDP:
        argv += ["-u", "-b", str(round(flow.rate_bps or 0))]
    elif flow.traffic is Traffic.SCTP:
        argv += ["--sctp"]
    if flow.traffic is not Traffic.UDP and flow.rate_bps is not None:
        argv += ["-b", str(round(flow.rate_bps))]
    return argv


def _interval(step_s: float, *, reports: bool) -> list[str]:
    """Reports of intervals, where no socket tells the same.

    Of many flows they would be gigabytes. And once the timer of its reports has passed, an iperf3 3.12 that waits for
    the other side at the end of its test polls without a pause (native/iperf3_wait.c).
    """
    return ["-i", f"{max(step_s, LEAST_INTERVAL_S):g}"] if reports else ["-i", "0"]


def irtt_server(port: int) -> list[str]:
    """A server for all clients, whatever interval they ask for."""
    return ["irtt", "server", "-i", "0s", "-b", f":{port}"]


def irtt_client(flow: TrafficFlow, address: str, port: int, file: str) -> list[str]:
    """A client that writes its JSON into a file: of a client that is interrupted, irtt 0.9 prints none.

    With the time stamps of arrival and departure apart, irtt 0.9 leaves one out where both are equal, as they are on
    the virtual clock; hence --tstamp=midpoint.
    """
    is_voip = flow.traffic is Traffic.VOIP
    interval_s = VOIP_INTERVAL_S if is_voip else flow.interval_s
    size = flow.size_bytes if flow.size_bytes is not None else VOIP_BYTES if is_voip else None
    argv = ["irtt", "client", "-i", f"{interval_s * 1e3:g}ms", "-d", f"{flow.length_s:g}s", "--tstamp=midpoint"]
    argv += ["-l", str(size)] if size is not None else []
    argv += [f"--dscp={flow.tos}"] if flow.tos else []
    argv += [f"-{flow.version}"] if flow.version is not None else []
    host = f"[{address}]" if ":" in address else address
    return [*argv, "-o", file, "-Q", f"{host}:{port}"]


def ping(flow: TrafficFlow, address: str) -> list[str]:
    """Echo requests at a steady interval, with the moment of each answer."""
    argv = ["fping", "-D", "-p", f"{flow.interval_s * 1e3:g}", "-c", str(pings(flow))]
    argv += ["-t", str(PING_WAIT_MS), "-i", "1"]
    argv += ["-O", str(flow.tos)] if flow.tos else []
    argv += ["-b", str(flow.size_bytes)] if flow.size_bytes is not None else []
    return [*argv, address]


def pings(flow: TrafficFlow) -> int:
    """How many echo requests it sends: at its beginning, and then at whole intervals."""
    return math.floor(round(flow.length_s / flow.interval_s, 6)) + 1


def cpu_load(flow: TrafficFlow) -> list[str]:
    """Load on the processors of the source."""
    share = str(flow.options.get("load", 100))
    workers = str(flow.options.get("workers", 1))
    return ["stress-ng", "--cpu", workers, "--cpu-load", share, "--timeout", f"{max(1, math.ceil(flow.length_s))}s"]


def own(name: str) -> list[str]:
    """A program of ours inside; what lies in the folder where it runs is not imported."""
    return ["env", "PYTHONSAFEPATH=1", "python3", f"{AGENT}/{name}.py"]


def pages_server(port: int) -> list[str]:
    """A web server with pages of any size."""
    return [*own("trial_pages"), str(port)]


def fetches(flow: TrafficFlow, address: str, port: int) -> list[str]:
    """Fetches of a page: all addresses at once, those of the own server by their sizes."""
    host = f"[{address}]" if ":" in address else address
    urls = listed(flow.options.get("urls"))
    if not urls:
        server = host if port == ServerPorts.http else f"{host}:{port}"
        urls = [f"http://{server}/{size}" for size in listed(flow.options.get("pages")) or PAGES]
    argv = [*own("trial_fetch"), "--interval", f"{flow.interval_s:g}", "--length", f"{flow.length_s:g}"]
    argv += ["--version", str(flow.version)] if flow.version is not None else []
    return [*argv, *urls]


def listed(text: object) -> list[str]:
    """The words of a list, between commas or blanks."""
    return str(text or "").replace(",", " ").split()


def request_server(port: int, *, sctp: bool) -> list[str]:
    """What answers requests."""
    return [*own("trial_requests"), "serve", str(port), *(["--sctp"] if sctp else [])]


def requests(flow: TrafficFlow, address: str, port: int) -> list[str]:
    """Requests on one connection; port: of the server of their protocol."""
    sctp = flow.options.get("protocol") == "sctp"
    argv = [*own("trial_requests"), "ask", address, str(port)]
    argv += ["--interval", f"{flow.interval_s:g}", "--length", f"{flow.length_s:g}"]
    for name in ("request", "response"):
        argv += [f"--{name}", str(flow.options[name])] if flow.options.get(name) else []
    argv += ["--tos", str(flow.tos)] if flow.tos else []
    return [*argv, "--sctp"] if sctp else argv


def rpc_server(ports: Sequence[tuple[int, str, int]]) -> list[str]:
    """What answers requests back to back: of each port its number, congestion control ("") and buffer (0)."""
    words = [f"{port}:{algorithm}:{buffer}" for port, algorithm, buffer in ports]
    return [*own("trial_rpc"), "serve", *words]


def rpc(flow: TrafficFlow, address: str, port: int, *, connections: int, from_port: int) -> list[str]:
    """Requests back to back on some connections, or, for a flow of TCP, one that never ends on each.

    from_port: of the first connection; the others have those after it.
    """
    argv = [*own("trial_rpc"), "ask", address, str(port), "--length", f"{flow.length_s:g}"]
    request = "stream" if flow.traffic is Traffic.TCP else str(flow.options.get("request", 1))
    argv += ["--request", request, "--response", str(flow.options.get("response", 1))]
    argv += ["--connections", str(connections), "--from", str(from_port)]
    argv += ["--congestion", flow.congestion] if flow.congestion else []
    argv += ["--buffer", str(flow.options["buffer"])] if flow.options.get("buffer") else []
    return [*argv, "--tos", str(flow.tos)] if flow.tos else argv


def bursts(flow: TrafficFlow, address: str, rate_mbit: float | None) -> list[str]:
    """Packets faster than the path takes them; rate_mbit: of the path, if it is known."""
    rate_bps = flow.rate_bps or max(BURST_BPS, 2e6 * (rate_mbit or 0.0))
    argv = [*own("trial_bursts"), address, "--length", f"{flow.length_s:g}", "--rate", f"{rate_bps:g}"]
    argv += ["--size", str(flow.size_bytes)] if flow.size_bytes is not None else []
    argv += ["--ports", str(flow.options["ports"])] if flow.options.get("ports") else []
    return [*argv, "--tos", str(flow.tos)] if flow.tos else argv


def command(flow: TrafficFlow) -> list[str]:
    """A command of a person's at every step, each number with its moment."""
    line = str(flow.options.get("command", ""))
    loop = 'n=0; while [ "$n" -lt "$1" ]; do printf "%s " "$(date +%s.%N)"; sh -c "$3"; sleep "$2"; n=$((n+1)); done'
    count = math.floor(flow.length_s / flow.interval_s) + 1
    return ["sh", "-c", loop, "linklab", str(count), f"{flow.interval_s:g}", line]


def spoken(argv: Sequence[str]) -> str:
    """The command line as a person would type it."""
    return shlex.join(argv)
