# SPDX-License-Identifier: BSD-3-Clause
"""What a trial reads at every whole period: disciplines and classes, TCP sockets, the processor, netstat's counters.

Each sampler writes JSON lines into a file of its own: first what its lines mean, then one line for each reading and
node, {"t": s since T0, …}. It holds its sockets and files open from the beginning, so a reading starts no program,
opens nothing, and enters no namespace. Sources: rtnetlink(7), sock_diag(7), proc(5).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from linklab.agent.sampler import CLASSFUL, QdiscReader
from linklab.agent.trial_nodes import NodeError, Nodes
from linklab.agent.trial_plan import PlannedInterface, Samplers
from linklab.linux.sock_diag import FIELDS, EndedSockets, SocketReader

PROC_BYTES = 1 << 16
CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
"""The columns of /proc/stat, ticks of USER_HZ."""
Read = Callable[[], "dict[str, Any] | None"]
Found = TypeVar("Found")


class Sampler:
    """A file of readings; `readers` give what stands in a line beside its time, or None for no line."""

    def __init__(self, path: Path, head: dict[str, Any], readers: list[Read], last: Sequence[Read] = ()) -> None:
        """last: what is read once, when the servers have ended."""
        self.readers, self.last = readers, last
        self.file: IO[str] = path.open("w", encoding="utf-8", buffering=1 << 16)
        self._write(head)

    def sample(self, t: float) -> None:
        """Read now."""
        self._sample(t, self.readers)

    def sample_last(self, t: float) -> None:
        """Read what is read when the servers have ended."""
        self._sample(t, self.last)

    def _sample(self, t: float, readers: Sequence[Read]) -> None:
        for read in readers:
            if (found := read()) is not None:
                self._write({"t": t, **found})

    def flush(self) -> None:
        """Have all readings in the file."""
        self.file.flush()

    def close(self) -> None:
        """No more."""
        self.file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line, separators=(",", ":")) + "\n")


def samplers(plan: Samplers, nodes: Nodes, out: Path) -> tuple[list[Sampler], list[str]]:
    """Those that the plan asks for, and for each part that cannot be had the reason."""
    lacks: list[str] = []
    found = []
    period = {"format": 1, "period_s": plan.period_s}

    def had(makers: list[Callable[[], Found]]) -> list[Found]:
        readers = []
        for make in makers:
            try:
                readers.append(make())
            except (LookupError, NodeError, OSError, ValueError) as error:
                lacks.append(str(error))
        return readers

    if plan.qdiscs:
        readers = had([lambda one=one: qdiscs(nodes, one) for one in plan.qdiscs])  # type: ignore[misc]
        found.append(Sampler(out / "qdiscs.jsonl", period, readers))
    if plan.sockets:
        readers = had([lambda node=node: sockets(nodes, node, plan.ports) for node in plan.sockets])  # type: ignore[misc]
        found.append(Sampler(out / "sockets.jsonl", {**period, "fields": FIELDS}, readers))
    if plan.ended:
        both = had([lambda node=node: ended(nodes, node, plan.ports) for node in plan.ended])  # type: ignore[misc]
        head = {**period, "fields": FIELDS}
        found.append(Sampler(out / "ended.jsonl", head, [during for during, _ in both], [after for _, after in both]))
    if plan.cpu:
        head = {**period, "fields": CPU, "ticks_per_s": os.sysconf("SC_CLK_TCK")}
        found.append(Sampler(out / "cpu.jsonl", head, had([processor])))
    if plan.netstat:
        readers = had([lambda node=node: netstat(nodes, node) for node in plan.netstat])  # type: ignore[misc]
        found.append(Sampler(out / "netstat.jsonl", period, readers))
    return found, lacks


def qdiscs(nodes: Nodes, wanted: PlannedInterface) -> Read:
    """The disciplines of an interface, and its classes where there are any."""
    try:
        reader = nodes[wanted.node].inside(lambda: QdiscReader(wanted.interface, all_counters=True))
    except LookupError:
        raise LookupError(f"{wanted.node}: there is no interface {wanted.interface} there") from None
    where = {"node": wanted.node, "interface": wanted.interface}

    def read() -> dict[str, Any]:
        found = reader.read()
        line = {**where, "qdiscs": found}
        if any(one["kind"] in CLASSFUL for one in found):
            line["classes"] = reader.classes()
        return line

    return read


def sockets(nodes: Nodes, node: str, ports: tuple[int, ...]) -> Read:
    """The TCP sockets of a node."""
    reader = nodes[node].inside(lambda: SocketReader(ports))
    return lambda: {"node": node, "sockets": reader.read()}


def ended(nodes: Nodes, node: str, ports: tuple[int, ...]) -> tuple[Read, Read]:
    """The TCP sockets of a node that have ended since the last reading; for the last one, those that live as well."""
    reader = nodes[node].inside(lambda: EndedSockets(ports))

    def line(found: list[list[Any]]) -> dict[str, Any] | None:
        return {"node": node, "sockets": found} if found else None

    return lambda: line(reader.read()), lambda: line(reader.read_last())


def processor() -> Read:
    """What the processors of this kernel did so far: all together, and each."""
    file = os.open("/proc/stat", os.O_RDONLY | os.O_CLOEXEC)

    def read() -> dict[str, Any]:
        lines = os.pread(file, PROC_BYTES, 0).decode("ascii").splitlines()
        rows = (line.split() for line in lines if line.startswith("cpu"))
        return {"cpu": {row[0]: [int(ticks) for ticks in row[1:]] for row in rows}}

    return read


def netstat(nodes: Nodes, node: str) -> Read:
    """The counters of a node's network: {"TcpExt": {"TCPLostRetransmit": 0, …}, "Ip": …}."""
    paths = [f"/proc/self/net/{name}" for name in ("snmp", "netstat")]
    files = nodes[node].inside(lambda: [os.open(path, os.O_RDONLY | os.O_CLOEXEC) for path in paths])

    def read() -> dict[str, Any]:
        found: dict[str, dict[str, int]] = {}
        for file in files:
            found.update(counters(os.pread(file, PROC_BYTES, 0).decode("ascii")))
        return {"node": node, "netstat": found}

    return read


def counters(text: str) -> dict[str, dict[str, int]]:
    """Of /proc/net/snmp or netstat: pairs of lines, names and numbers, each behind the name of its table."""
    lines = text.splitlines()
    found = {}
    for names, numbers in zip(lines[::2], lines[1::2], strict=True):
        table, *columns = names.split()
        found[table.rstrip(":")] = dict(zip(columns, map(int, numbers.split()[1:]), strict=True))
    return found
