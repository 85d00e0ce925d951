# SPDX-License-Identifier: BSD-3-Clause
"""A test on a network that runs already: its nodes are asked for the path, then the plan of any trial runs in it.

    Door.ask ─→ Ground ─→ TrialPlace ─→ plan ─→ Door.run ─→ collect ─→ derive ─→ NAME.flent.gz

A `Door` is the way into the network: `inside` for a terminal of it, `outside` for another program of this machine.
Nothing of the network is set; only servers and flows run in it, and end with the test.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Protocol

from linklab.base.text import one_line
from linklab.data import Dataset
from linklab.data.suffixes import SUFFIX
from linklab.errors import EngineError, InputError
from linklab.experiment import programs
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.collect import TrialOutcome
from linklab.experiment.expand import expand
from linklab.experiment.model import Expanded, Traffic, Trial, TrialCommand
from linklab.experiment.out_file import is_file, keep, refuse_unwritable, title_in_name
from linklab.experiment.place import PathPort, TrialPlace
from linklab.experiment.plan import make_plan
from linklab.experiment.prepared import Prepared
from linklab.experiment.result import dataset
from linklab.experiment.test_file import load_test
from linklab.experiment.trial_inside import (
    Tell,
    TrialProgress,
    between_commands,
    outcome_of,
    quiet,
    tell_progress,
)
from linklab.topology import Topology

WAY, RUNNER = tuple(programs.own("trial_way")), tuple(programs.own("trial"))
"""Neither costs network time."""
PLAN, OUT = "plan.json", "out"
ASK_S = 120.0
"""Wall seconds for an answer of a program that measures nothing."""
WORK = "/lab"
"""The network's working folder, as every node calls it."""
HERE = "this network"
"""Name of the network that one is in."""


def clock_of(engine: str, kernel_line: str) -> str:
    """The clock of a network: that of a pocket stands in its kernel's command line; another's is the wall's."""
    clock = re.search(r"\bCLOCK=(\w+)", kernel_line)
    return clock[1] if clock and engine != "host" else "wall"


class Door(Protocol):
    """A way into a network that runs.

    folder: a folder of the test's own; inside: how programs in the network call it.
    name: of the network, for people. facts: what is known of it: "engine", "clock", "kernel".
    """

    folder: Path
    inside: str
    name: str
    facts: Mapping[str, Any]

    def ask(self, argv: Sequence[str], what: str, node: str = "") -> tuple[int, str]:
        """Run a program on a node, by default in the root namespace; its exit status and what it printed."""
        ...

    def run(self, argv: Sequence[str], said: Callable[[str], None]) -> None:
        """Run the runner in the root namespace to its end, which Ctrl+C and SIGUSR1 bring about early."""
        ...


@dataclass(frozen=True)
class RunningChoice:
    """What a person may ask of a test on a running network, beyond what a trial says.

    version: of IP, for flows that say none. swap: uploads are downloads and the other way round.
    send_bytes: of each write of TCP, by stream, from the first again. probe_s: between two packets of UDP probes.
    delay_s: before the load; None for the usual. private: addresses of the source are kept.
    """

    version: int | None = None
    swap: bool = False
    send_bytes: tuple[int, ...] = ()
    probe_s: float | None = None
    delay_s: float | None = None
    private: bool = False


@dataclass(frozen=True)
class Ground:
    """What the network says of itself (`linklab.agent.trial_way`).

    targets: of each: node, address, egress, and the ports that packets leave by on the way up and down.
    slot: a set of ports on which nothing listens.
    """

    source: str
    targets: tuple[Mapping[str, Any], ...]
    addresses: Mapping[str, Sequence[str]]
    interfaces: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    slot: int = 0


def ground_of(door: Door, source: str, targets: Sequence[str]) -> Ground:
    """Ask the network which way leads from the source to the targets; "" and () for its first and last host.

    Raises:
        InputError: a node is not there or cannot be reached.
        EngineError: the network does not answer.
    """
    status, text = door.ask([*WAY, source, *targets], "looking for the path")
    try:
        found = json.loads(text[text.index("{") :])
    except ValueError:
        raise EngineError(f"looking for the path: {one_line(text) or 'no answer'} (status {status})") from None
    if "error" in found:
        raise InputError(f"{'' if door.name == HERE else f'{door.name}: '}{found['error']}")
    return Ground(
        found["source"],
        tuple(found["targets"]),
        found["addresses"],
        found["interfaces"],
        tuple(found["hosts"]),
        free_slot(found["taken"], found["recent"]),
    )


def free_slot(taken: Mapping[str, Sequence[int]], recent: int) -> int:
    """A set of ports that a test may use beside what runs in the network.

    Args:
        taken: ports on which something listens on any node, by protocol.
        recent: how many tests have asked just now and may not listen yet; each takes the first slot that it may.

    Raises:
        EngineError: there is none.
    """
    tcp, udp = set(taken["tcp"]), set(taken["udp"])
    free = []
    for slot in range(programs.MOST_SLOTS):
        ports = programs.ServerPorts.of_slot(slot)
        iperf = range(ports.iperf, ports.iperf + programs.PORTS_APART)
        if not tcp & {*iperf, ports.http, ports.requests, ports.requests + 1} and not udp & {*iperf, ports.irtt}:
            free.append(slot)
    if recent >= len(free):
        raise EngineError(
            f"this network has no ports for another test: {programs.MOST_SLOTS - len(free)} of {programs.MOST_SLOTS} "
            f"sets are in use, and {recent} tests may be starting; wait until one ends"
        )
    return free[recent]


def place_on(ground: Ground, hosts: int, name: str) -> TrialPlace:
    """The place of a test with so many targets; those that are there take turns."""
    ups = [port for target in ground.targets for port in target["up"]]
    downs = [port for target in ground.targets for port in target["down"]]
    ports = dict.fromkeys(PathPort(*port) for port in (*ups, *downs))
    addresses: dict[str, dict[int, str]] = {}
    for node, own in ground.addresses.items():
        addresses[node] = {}
        for address in own:
            addresses[node].setdefault(ip_address(address).version, address)
    for target in ground.targets:  # of a node with several, the one that was named
        addresses[target["node"]][ip_address(target["address"]).version] = target["address"]
    count = max(hosts, len(ground.targets))
    return TrialPlace(
        topology=Topology(),
        name=name,
        words="",
        source=ground.source,
        targets=tuple(ground.targets[number % len(ground.targets)]["node"] for number in range(count)),
        addresses=addresses,
        ports=tuple(ports),
        egress=ground.targets[0]["egress"],
        slot=ground.slot,
    )


def adapted(expanded: Expanded, ground: Ground, choice: RunningChoice) -> Expanded:
    """The test with what was asked of its flows."""
    opposite = {"up": "down", "down": "up"}
    versions = [ip_address(target["address"]).version for target in ground.targets]
    found = []
    streams = 0
    for flow in expanded.flows:
        changes: dict[str, Any] = {}
        version = choice.version or versions[flow.target % len(versions)]
        if flow.version is None and version != 4:  # IPv4 is what a flow takes that says nothing
            changes["version"] = version
        if flow.traffic is Traffic.TCP:
            if choice.send_bytes and flow.size_bytes is None:
                changes["size_bytes"] = choice.send_bytes[streams % len(choice.send_bytes)]
            if choice.swap:
                changes["direction"] = opposite.get(flow.direction, flow.direction)
            streams += 1
        elif flow.traffic is Traffic.UDP_RTT and choice.probe_s is not None:
            changes["interval_s"] = choice.probe_s
        found.append(replace(flow, **changes))
    return replace(expanded, flows=tuple(found))


def prepare_on(trial: Trial, ground: Ground, name: str, choice: RunningChoice) -> Prepared:
    """The plan of a trial on a running network.

    Raises:
        InputError: the test or one of its parameters cannot be, or a node lacks an address.
    """
    test = load_test(trial.test)

    def with_hosts(hosts: Sequence[str]) -> Expanded:
        return expand(
            test,
            trial.parameters,
            hosts=tuple(hosts),
            length_s=trial.length_s,
            step_s=trial.step_s,
            delay_s=choice.delay_s,
        )

    named = [target["node"] for target in ground.targets]
    place = place_on(ground, max(1, with_hosts(named).hosts), name)
    expanded = adapted(with_hosts(place.targets), ground, choice)
    return Prepared(trial, expanded, place, make_plan(expanded, place, trial.commands))


@dataclass(frozen=True)
class ReadyNetwork:
    """A test that may begin on a running network."""

    prepared: Prepared
    ground: Ground
    choice: RunningChoice


def ready_on(trial: Trial, door: Door, tell: Tell = quiet, *, choice: RunningChoice | None = None) -> ReadyNetwork:
    """Look for the path, and make the plan.

    Args:
        trial: what to run; its source and targets are nodes or addresses of nodes. `path`, `topology` and `seed` of it
            do not count.
        door: the way in.
        tell: told how far it is.
        choice: what else was asked for.

    Raises:
        InputError: the test, its parameters, or a node cannot be.
        MissingError: the pocket kernel lacks a congestion control.
        EngineError: the network does not answer.
    """
    choice = choice or RunningChoice()
    tell(TrialProgress("looking for the path"))
    ground = ground_of(door, trial.source, trial.targets)
    prepared = prepare_on(trial, ground, door.name, choice)
    if door.facts.get("engine") == "pocket":
        refuse_missing(prepared.expanded, "pocket")
    return ReadyNetwork(prepared, ground, choice)


def run_ready(ready: ReadyNetwork, out: Path, door: Door, tell: Tell = quiet) -> Path:
    """Run it and write its data file.

    Args:
        ready: the test.
        out: the file, or a folder in which it gets a name with the time of the network's clock.
        door: the way in.
        tell: told how far it is.

    Raises:
        InputError: the file could not be written.
        EngineError: the network ended, or the test did not begin.
    """
    prepared = ready.prepared
    refuse_unwritable(out)
    found = measure_on(prepared, door, tell)
    tell(TrialProgress("writing the data"))
    path = out if is_file(out) else out / named(prepared, found)
    made = completed(prepared, found, door, path.name)
    if ready.choice.private:
        made = replace(made, flent={**made.flent, **_private(ready.ground)})
    return keep(made, path, named=is_file(out))


def run_on(trial: Trial, out: Path, door: Door, tell: Tell = quiet, *, choice: RunningChoice | None = None) -> Path:
    """Run a trial on a running network and write its data file: `ready_on`, then `run_ready`."""
    return run_ready(ready_on(trial, door, tell, choice=choice), out, door, tell)


def measure_on(ready: Prepared, door: Door, tell: Tell) -> TrialOutcome:
    """Run the plan, and the trial's own commands before and after it."""
    (door.folder / PLAN).write_text(json.dumps(ready.plan.data), encoding="utf-8")
    said: list[str] = []

    def listen(line: str) -> None:
        if line.startswith("{"):
            tell_progress(line, tell)
        elif line.strip():
            said.append(line.strip())

    def do(command: TrialCommand) -> tuple[int, str]:
        return door.ask(["sh", "-c", command.line], command.name, command.node)

    def measured() -> str:
        door.run([*RUNNER, f"{door.inside}/{PLAN}", f"{door.inside}/{OUT}"], listen)
        return " ".join(said)

    words, ran = between_commands(ready.trial.commands, do, measured, tell)
    return outcome_of(ready, door.folder / OUT, words, ran, tell)


# --- the data set


def completed(ready: Prepared, found: TrialOutcome, door: Door, name: str) -> Dataset:
    """The data set, with the network's own clock and nothing said of a seed."""
    facts = {key: door.facts.get(key) for key in ("engine", "clock")}
    trial = replace(ready.trial, extra={**ready.trial.extra, **facts, "seed": None, "profile": None, "running": True})
    made = dataset(replace(ready, trial=trial), found, dict(door.facts), name)
    when = _moment(found).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return replace(made, flent={**made.flent, "TIME": when, "T0": when})


def named(ready: Prepared, found: TrialOutcome) -> str:
    """The name of the file, as Flent makes it: the test, the time, the title."""
    time = _moment(found).strftime("%Y-%m-%dT%H%M%S.%f")
    title = title_in_name(ready.trial.title)
    return f"{ready.expanded.name}-{time}{'.' + title if title else ''}{SUFFIX}"


def _moment(found: TrialOutcome) -> datetime:
    """T0 on the network's clock."""
    return datetime.fromtimestamp(found.outcome.get("t0_date_ns", 0) / 1e9, timezone.utc)


def _private(ground: Ground) -> dict[str, Any]:
    """What Flent keeps of the source where it is asked for extended metadata."""
    own = {name: list(addresses) for name, addresses in ground.interfaces.items() if addresses}
    return {"EXTENDED_METADATA": True, "IP_ADDRS": own}
