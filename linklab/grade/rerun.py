# SPDX-License-Identifier: BSD-3-Clause
"""Builds a student's network again from data and measures it with the grader's own traffic, for several seeds.

Everything typed here is ours or made from checked data (`State`): no program of the student's runs in these networks.
One network a seed: the start is set up, then for each experiment its state restored, read back, and the traffic driven
on the virtual clock.  Experiments that are apart have another one, set up in the same way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linklab.engine.api import Clock, Engine, Network, Typed, refuse_failed_commands
from linklab.errors import EngineError, Fault, InputError, OverusedError, StateError
from linklab.exercise.fill import fill
from linklab.exercise.model import Experiment
from linklab.exercise.report import Trace
from linklab.exercise.restore import restore_lines, settings_alone, unlike, with_missing_sysctls
from linklab.exercise.wanted import with_facts
from linklab.grade.drawing import UnbuildableError, tame
from linklab.grade.limits import HANG_S
from linklab.grade.scratch import working_folder
from linklab.grade.traffic import Driven, drive
from linklab.judge.evaluation import Lookup, NoValueError
from linklab.judge.quantity import parse_value
from linklab.state.model import State
from linklab.topology import Topology

SETTLE = "sleep 2"
"""What is still queued or in flight from the experiment before has left after this: no RTT here is over a second."""

MOST_LINES = 2000
"""Commands that set a network to a submitted state, of which an exercise needs a few dozen: each takes some 7 ms."""


@dataclass(frozen=True)
class ExerciseNetwork:
    """What is built: the topology, what set_env.sh does and what it plants, as (node or "client", line)."""

    topology: Topology
    settings: Sequence[tuple[str, str]]
    fault: Sequence[tuple[str, str]]
    lookup: Lookup


@dataclass
class Rerun:
    """What the networks gave; dictionaries by experiment, as in `linklab.exercise.evidence.Evidence`.

    healthy, start: the states before and after the fault was planted; experiments: those that were chosen.
    impossible: why the network cannot be set to the submitted state, "" where it can or was not tried.
    """

    healthy: State
    start: State
    experiments: Sequence[Experiment] = ()
    metrics: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    traces: list[Trace] = field(default_factory=list)
    environment: dict[str, Any] = field(default_factory=dict)
    impossible: str = ""


Choose = Callable[["Rerun"], Sequence[Experiment]]
"""Says, by the healthy state, the start, and whether the submitted state is possible, which are worth doing."""


Settled = Callable[["Rerun"], bool]
"""Says, after one seed or more, whether the marks stand, so that no further run is needed."""


def rerun(
    plan: ExerciseNetwork,
    submitted: State | None,
    engine: Engine,
    seeds: Sequence[int],
    choose: Choose,
    *,
    settled: Settled = lambda _: False,
    claimed: bool = False,
) -> Rerun:
    """Set the network up and do the experiments, once for each seed.

    Args:
        plan: what is built.
        submitted: the student's state; None is the start as it is (nothing was handed in).  A sysctl that it leaves out
            is as at the start.
        engine: that runs the networks.
        seeds: at least one; an experiment takes as many of them as its `runs`.
        choose: is asked once, when the first network is set up; with no experiment only the states are read.
        claimed: whether the submitted state is a file's word, so that it is tried before anything is chosen.  What
            work.sh led to is tried when the first network has been measured, so that nothing measured changes by it:
            work.sh may have replaced the program that reads the network.
        settled: is asked after each seed; where it says so, the other seeds are left out.

    Raises:
        UnbuildableError: the submission's own topology is to blame.
        EngineError, MissingError: our tools failed.
    """
    found: Rerun | None = None
    for number, seed in enumerate(seeds):
        if found is not None and not any(number < each.runs for each in found.experiments):
            break
        if found is not None and settled(found):
            break
        try:
            with contextlib.ExitStack() as networks:
                pocket = networks.enter_context(_network(plan, engine, seed))
                healthy, start = pocket.set_up()
                if found is None:
                    found = Rerun(healthy, start, environment=dict(pocket.network.environment))
                    found.environment.pop("seed", None)
                    submitted = submitted and with_missing_sysctls(submitted, start)
                    if claimed and submitted is not None:
                        pocket, found.impossible = _tried(pocket, submitted, networks)
                    found.experiments = choose(found)
                for experiment in _due(found, number, apart=False):
                    _one(pocket, experiment, submitted, found, seed)
                if number == 0 and not claimed and submitted is not None:
                    found.impossible = _refused(pocket, submitted)
            _measure_apart(plan, engine, seed, _due(found, number, apart=True), found)
        except OverusedError as error:  # a network could not be set up; one that is measured is told by `_one`
            if found is None:
                raise UnbuildableError(f"the network does not build: {error}") from error
            if not found.experiments:
                found.impossible = str(error)
                found.experiments = choose(found)
            _give_up(found, number, error)
            break
    assert found is not None
    for name in (*found.broken, *found.errors):  # what only some seeds measured is no measurement
        found.metrics.pop(name, None)
    order = [experiment.id for experiment in found.experiments]
    found.metrics = {name: found.metrics[name] for name in order if name in found.metrics}
    found.traces.sort(key=lambda trace: order.index(trace.experiment))
    return found


def _due(found: Rerun, number: int, *, apart: bool) -> list[Experiment]:
    """The experiments that take the seed of that number, from 0, in a network of their own or in the first."""
    return [each for each in found.experiments if number < each.runs and each.apart == apart]


def _measure_apart(plan: ExerciseNetwork, engine: Engine, seed: int, due: Sequence[Experiment], found: Rerun) -> None:
    """Do experiments in a network of their own, which is shared, since nothing of work.sh is in it."""
    if not due:
        return
    with _network(plan, engine, seed) as pocket:
        pocket.set_up()
        for experiment in due:
            _one(pocket, experiment, None, found, seed)


def _give_up(found: Rerun, number: int, why: OverusedError) -> None:
    """What was still to be measured with the seed of that number could not be, through no fault that is known."""
    for each in found.experiments:
        measured = found.metrics.get(each.id, {}).values()
        done = each.id in found.broken or any(len(values) > number for values in measured)
        if number < each.runs and not done:
            found.errors.setdefault(each.id, str(why))


@contextlib.contextmanager
def _network(plan: ExerciseNetwork, engine: Engine, seed: int) -> Iterator[_Pocket]:
    """A new one, with a working folder that goes with it."""
    with (
        working_folder("linklab-grade-") as folder,
        _Pocket(plan, engine, folder, seed) as pocket,
    ):
        yield pocket


def _tried(pocket: _Pocket, submitted: State, networks: contextlib.ExitStack) -> tuple[_Pocket, str]:
    """Why a network cannot be set to a state, "" where it can; with the one to go on in, as setting it may end one."""
    try:
        return pocket, pocket.cannot_become(submitted)
    except OverusedError as error:
        networks.close()
        another = networks.enter_context(_network(pocket.plan, pocket.engine, pocket.seed))
        another.set_up()
        return another, str(error)


def _refused(pocket: _Pocket, submitted: State) -> str:
    """Why the kernel does not take a state, in another network where measuring it has ended this one."""
    try:
        return pocket.refuses(submitted)
    except OverusedError:
        try:
            with _network(pocket.plan, pocket.engine, pocket.seed) as another:
                another.set_up()
                return another.refuses(submitted)
        except OverusedError as error:  # hardly more than setting it was done here
            return str(error)


def _one(pocket: _Pocket, experiment: Experiment, submitted: State | None, found: Rerun, seed: int) -> None:
    """Do an experiment, or take what the same traffic in the same state gave in this network.

    One that broke with another seed is not tried again.
    """
    if experiment.id in {**found.broken, **found.errors}:
        return
    bases = {"healthy": found.healthy, "start": found.start, "submitted": submitted or found.start}
    theirs = experiment.base == "submitted" and submitted is not None
    lookup = pocket.plan.lookup
    try:
        changes = _changes(experiment, lookup)
        try:
            wanted = with_facts(bases[experiment.base], changes)
            same = repr(
                (
                    wanted.dumps(),
                    replace(experiment, id="", base="", changes={}, why="", runs=1, spread={}, steady=(), apart=False),
                )
            )
            if same not in pocket.done:
                pocket.become(wanted)
        except StateError as error:
            why = f"the network could not be set up for this again: {error}"
            (found.broken if theirs else found.errors)[experiment.id] = why
            return
        if same not in pocket.done:
            pocket.done[same] = drive(pocket.network, experiment, lookup, pocket.addresses(), pocket.folder)
        driven = pocket.done[same]
    except OverusedError as error:  # what else is due in this network ends by the same error
        found.errors[experiment.id] = str(error)
    except NoValueError as missing:
        found.broken[experiment.id] = f"{missing.name.removeprefix('answer.')} was not answered"
    except InputError as error:
        ours = error.fault not in (Fault.NETWORK, Fault.SUBMISSION)
        (found.errors if ours else found.broken)[experiment.id] = str(error)
    else:
        _add(found, experiment.id, driven, seed)


def _add(found: Rerun, experiment: str, driven: Driven, seed: int) -> None:
    if driven.broken:
        found.broken[experiment] = driven.broken
        return
    metrics = found.metrics.setdefault(experiment, {})
    for name, value in driven.metrics.items():
        metrics.setdefault(name, []).append(value)
    if not any(trace.experiment == experiment for trace in found.traces):  # plots show the first seed
        found.traces += [replace(trace, experiment=experiment, seed=seed) for trace in driven.traces]


def _changes(experiment: Experiment, lookup: Lookup) -> Mapping[str, float | str]:
    changes: dict[str, float | str] = {}
    for fact, text in experiment.changes.items():
        value = parse_value(fill(text, lookup))
        changes[fact] = value.word if value.is_word else value.number
    return changes


class _Pocket:
    """One network that takes one state after the other."""

    def __init__(self, plan: ExerciseNetwork, engine: Engine, folder: Path, seed: int) -> None:
        self.plan, self.engine, self.folder, self.seed = plan, engine, folder, seed
        self.done: dict[str, Driven] = {}
        self._starting = engine.start(tame(plan.topology), workdir=folder, clock=Clock.VIRTUAL, seed=seed)
        self.network: Network
        self.now: State

    def __enter__(self) -> _Pocket:
        try:
            self.network = self._starting.__enter__()
        except EngineError as error:
            if error.fault is not Fault.TOPOLOGY:
                raise
            raise UnbuildableError(f"the network does not build: {error}") from error
        try:
            refuse_failed_commands(self.network)
        except EngineError as error:
            self._starting.__exit__(None, None, None)
            raise UnbuildableError(f"the network does not build: {error}") from error
        return self

    def __exit__(self, *error: Any) -> None:
        self._starting.__exit__(*error)

    def set_up(self) -> tuple[State, State]:
        """Do what set_env.sh does; the states before and after the fault."""
        self._type(self.plan.settings)
        healthy = start = self.read()
        if self.plan.fault:
            self._type(self.plan.fault)
            start = self.read()
        self.now = start
        return healthy, start

    def become(self, wanted: State) -> None:
        """Restore a state and look whether it is there; StateError if it cannot be or is not."""
        lines = restore_lines(self.now, wanted)
        if len(lines) > MOST_LINES:
            raise StateError(f"setting it takes {len(lines):,} commands, and the grader types at most {MOST_LINES:,}")
        flush = [(host.name, "ip tcp_metrics flush") for host in self.plan.topology.hosts]
        self._script([*lines, *flush])
        self.network.run([Typed("client", SETTLE)], deadline_s=HANG_S)
        if lines:
            self.now = self.read()
            if wrong := unlike(self.now, wanted):
                raise StateError("; ".join(wrong[:3]))

    def cannot_become(self, wanted: State) -> str:
        """Why a state cannot be restored, "" where it can."""
        try:
            self.become(wanted)
        except StateError as error:
            self.now = self.read()  # of the lines some may have been typed
            return str(error)
        return ""

    def refuses(self, wanted: State) -> str:
        """Why the kernel does not take a state, "" where it does; of one that no lines set, what is set by itself."""
        try:
            restore_lines(self.now, wanted)
        except StateError:
            wanted = settings_alone(self.now, wanted)
        return self.cannot_become(wanted)

    def read(self) -> State:
        """The network's state."""
        try:
            return State.loads(self.network.state_text(), "the state read back")
        except InputError as error:  # our own program said it
            raise EngineError(f"the state cannot be read: {error}") from error

    def addresses(self) -> dict[str, str]:
        """IPv4 address of each node's first interface that has one."""
        found: dict[str, str] = {}
        for _, (node, interface) in sorted(self.now.interfaces().items()):
            if interface.addresses:
                found.setdefault(node, interface.addresses[0].partition("/")[0])
        return found

    def _type(self, lines: Iterable[tuple[str, str]]) -> None:
        """Settings of the exercise; that one fails on the exercise's own topology a test excludes."""
        there = {"client", *(node.name for node in self.plan.topology.nodes)}
        for on, line in lines:
            if on not in there:
                raise UnbuildableError(f"the topology has no {on}, which this exercise sets up")
            (done,) = self.network.run([Typed(on, line)], deadline_s=HANG_S)
            if done.exit_status:
                raise UnbuildableError(
                    f"the topology does not take what this exercise sets up: {on}: {line}: {done.output.strip()[-200:]}"
                )

    def _script(self, lines: Sequence[tuple[str, str]]) -> None:
        nodes = dict.fromkeys(on for on, _ in lines)
        for number, node in enumerate(nodes):
            path = self.folder / f"restore-{number}.sh"
            path.write_text("set -e\n" + "".join(f"{line}\n" for on, line in lines if on == node), encoding="utf-8")
            (done,) = self.network.run([Typed(node, f"sh /lab/{path.name}")], deadline_s=HANG_S)
            if done.exit_status:
                raise StateError(done.output.strip()[-300:], where=node)
