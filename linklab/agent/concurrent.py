# SPDX-License-Identifier: BSD-3-Clause
"""Several iperf3 tests that begin at the same instant, for the `concurrent` command of the Mininet CLI.

`parse` turns the command's words into flows; `Tests.run` starts servers, then all clients on one signal, and gives the
JSON file of each flow. Knows a namespace by the id of a process in it, not Mininet. Drawing and the index are left to
`linklab plot iperf` and `linklab fairness`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Container, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

USAGE = "concurrent [-t SECONDS] CLIENT:SERVER[:ALGORITHM] [-P STREAMS]... [-- OPTION OF IPERF3...]"
FIRST_PORT = 5301
"""Not iperf3's own 5201, where a server of the student's may still run."""
MOST_STREAMS = 128
"""Of one iperf3 (iperf.h, MAX_STREAMS)."""
LISTEN_DEADLINE_S = 10.0
SETTLE_S = 0.2
"""Between the start of the shells and the signal, so that each of them waits for it."""
GRACE_S = 60.0
"""What a test may take beyond its time: a full buffer of a slow link is sent out at the end."""
_LISTEN = "0A"  # a state of /proc/net/tcp, include/net/tcp_states.h


class ConcurrentError(Exception):
    """The tests cannot be run; the sentence says which and why."""


@dataclass(frozen=True)
class ConcurrentFlow:
    """One iperf3 test from `client` to `server`.

    algorithm: "" leaves the client's own congestion control; streams: in parallel, None if the flow does not say.
    """

    client: str
    server: str
    algorithm: str = ""
    streams: int | None = None

    def __str__(self) -> str:
        several = f"{self.streams} streams" if self._several else ""
        about = ", ".join(part for part in (self.algorithm, several) if part)
        return f"{self.client} to {self.server}" + (f" ({about})" if about else "")

    @property
    def _several(self) -> bool:
        return self.streams is not None and self.streams > 1

    @property
    def file(self) -> str:
        """Name of its JSON file."""
        several = f"P{self.streams}" if self._several else ""
        return "-".join(part for part in (self.client, self.algorithm, several) if part) + ".json"


@dataclass(frozen=True)
class Plan:
    """What one `concurrent` command asks for."""

    flows: tuple[ConcurrentFlow, ...]
    seconds: float
    options: tuple[str, ...]

    def options_of(self, flow: ConcurrentFlow) -> list[str]:
        """The options of iperf3 for a flow: those of all, then its own, which count where both say the same."""
        return [*self.options, *(["-P", str(flow.streams)] if flow.streams is not None else [])]


def parse(line: str, nodes: Container[str]) -> Plan:
    """The words of a `concurrent` command.

    Raises:
        ConcurrentError: no flow, a node that is not there, a time or a number of streams that cannot be, two flows
            that would write one file.
    """
    words, _, rest = line.partition(" -- ")
    flows: list[ConcurrentFlow] = []
    seconds = 10.0
    todo = words.split()
    while todo:
        word = todo.pop(0)
        if word == "-t":
            text = todo.pop(0) if todo else ""
            if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) <= 0:
                raise ConcurrentError(f'"-t {text}" is no number of seconds; usage: {USAGE}')
            seconds = float(text)
            continue
        if word == "-P":
            flows[-1:] = [_with_streams(flows, todo.pop(0) if todo else "")]
            continue
        parts = word.split(":")
        if len(parts) not in (2, 3) or not all(parts):
            raise ConcurrentError(f'"{word}" is no flow; usage: {USAGE}')
        for name in parts[:2]:
            if name not in nodes:
                raise ConcurrentError(f"{name} is not in the network")
        flows.append(ConcurrentFlow(parts[0], parts[1], "".join(parts[2:])))
    if not flows:
        raise ConcurrentError(f"usage: {USAGE}")
    for number, flow in enumerate(flows):
        same = next((other for other in flows[:number] if other.file == flow.file), None)
        if same is not None:
            raise ConcurrentError(
                f"{flow} would write {flow.file}, as {same} does; give one of them another algorithm, or -P STREAMS "
                "behind it for parallel streams"
            )
    return Plan(tuple(flows), seconds, tuple(rest.split()))


def _with_streams(flows: Sequence[ConcurrentFlow], text: str) -> ConcurrentFlow:
    """The last flow, with as many parallel streams as the text says."""
    if not re.fullmatch(r"[1-9]\d{0,2}", text, re.ASCII) or int(text) > MOST_STREAMS:
        raise ConcurrentError(f'"-P {text}" is not a number of parallel streams from 1 to {MOST_STREAMS}')
    if not flows:
        raise ConcurrentError(f'"-P {text}" stands before the first flow; write it behind the flow that it is for')
    if flows[-1].streams is not None:
        raise ConcurrentError(f'"-P {text}" is the second for {flows[-1]}')
    return replace(flows[-1], streams=int(text))


def keep_earlier(folder: Path) -> Path | None:
    """Move the results of an earlier call out of the way; where they are now, None if there are none.

    `linklab.run.workfolder` knows the name: what was moved was not written by the step that runs.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    kept = next(
        path for number in count(1) if not (path := folder.with_name(f"{folder.name}.earlier-{number}")).exists()
    )
    folder.rename(kept)
    return kept


@dataclass
class Tests:
    """Runs a plan.

    pid: of a process in a node's namespaces; address: of a node; folder: where the JSON files go; told: of results
    that were there and were moved.
    """

    __test__ = False

    plan: Plan
    pid: Callable[[str], int]
    address: Callable[[str], str]
    folder: Path
    told: Callable[[str], None] = print

    def run(self) -> list[Path]:
        """Start everything, wait for the end; the JSON file of each flow.

        Raises:
            ConcurrentError: a server does not answer or a test failed; nothing is left running.
        """
        with ExitStack() as stack:
            for number, flow in enumerate(self.plan.flows):
                self._reach(flow)
                self._serve(flow, FIRST_PORT + number, stack)
            if (kept := keep_earlier(self.folder)) is not None:  # not before the new tests can begin
                self.told(f"The results that were in {self.folder} are in {kept} now.")
            self.folder.mkdir(exist_ok=True)
            clients = self._clients(stack)
            deadline = time.monotonic() + self.plan.seconds + GRACE_S
            for flow, client in zip(self.plan.flows, clients, strict=True):
                self._await(flow, client, deadline)
        return [self.folder / flow.file for flow in self.plan.flows]

    def _on(self, node: str, *command: str) -> list[str]:
        return ["mnexec", "-a", str(self.pid(node)), *command]

    def _reach(self, flow: ConcurrentFlow) -> None:
        """One small exchange, so that no flow begins with the wait for a hardware address (ARP) and another without."""
        ping = self._on(flow.client, "ping", "-q", "-c", "3", "-i", "0.2", "-W", "3", self.address(flow.server))
        if subprocess.run(ping, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
            raise ConcurrentError(f"{flow.client} gets no answer from {flow.server} ({self.address(flow.server)})")

    def _serve(self, flow: ConcurrentFlow, port: int, stack: ExitStack) -> None:
        command = self._on(flow.server, "iperf3", "-s", "-1", "-p", str(port))
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        stack.callback(_end, server)
        deadline = time.monotonic() + LISTEN_DEADLINE_S
        while not listens(self.pid(flow.server), port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise ConcurrentError(f"{flow.server}: the iperf3 server does not come up on port {port}")
            time.sleep(0.01)

    def _clients(self, stack: ExitStack) -> list[subprocess.Popen[bytes]]:
        """The clients, each a shell that waits for the one end of a pipe to close and then becomes iperf3."""
        ready, signal_all = os.pipe()
        clients = []
        for number, flow in enumerate(self.plan.flows):
            iperf3 = ["iperf3", "-c", self.address(flow.server), "-p", str(FIRST_PORT + number), "-J"]
            iperf3 += ["-t", f"{self.plan.seconds:g}", *(["-C", flow.algorithm] if flow.algorithm else [])]
            waiting = self._on(
                flow.client, "sh", "-c", 'read start; exec "$@"', "sh", *iperf3, *self.plan.options_of(flow)
            )
            with (self.folder / flow.file).open("wb") as out:
                clients.append(subprocess.Popen(waiting, stdin=ready, stdout=out))
            stack.callback(_end, clients[-1])
        os.close(ready)
        time.sleep(SETTLE_S)
        os.close(signal_all)
        return clients

    def _await(self, flow: ConcurrentFlow, client: subprocess.Popen[bytes], deadline: float) -> None:
        try:
            status = client.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise ConcurrentError(f"{flow}: no end after {self.plan.seconds + GRACE_S:g} s") from None
        if status:
            raise ConcurrentError(f"{flow}: {_why(self.folder / flow.file, status)}")


def listens(pid: int, port: int) -> bool:
    """Whether a TCP socket listens on a port in the network namespace of a process (proc_net_tcp, Linux)."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == _LISTEN and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


def describe(plan: Plan) -> str:
    """What is about to happen, in a sentence."""
    flows: Sequence[str] = [str(flow) for flow in plan.flows]
    return f"{len(flows)} flows of {plan.seconds:g} s, started together: {', '.join(flows)}"


def _why(file: Path, status: int) -> str:
    """What iperf3 wrote into its JSON instead of a result."""
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["error"])
    except (OSError, ValueError, KeyError):
        return f"iperf3 ended with status {status}"


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
