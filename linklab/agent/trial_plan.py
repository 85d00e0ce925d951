# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a trial, JSON → checked dataclasses: what `linklab.agent.trial` starts, samples, and asks.

`linklab.experiment.plan` writes it. An unknown key is an error, because a plan that asks for more than is done would
give a data set that is not what was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

FORMAT = 1
ROLES = ("server", "flow")
CLIENT = "client"
"""The root namespace."""


class PlanError(Exception):
    """The plan cannot be used; the sentence says where and why."""


@dataclass(frozen=True)
class PlannedProgram:
    """A program of the test.

    start_s, stop_s: since T0; a flow that runs beyond stop_s is stopped.
        None: `TrialPlan.end_s` after the test's length.
    ready: {"tcp": PORT} or {"udp": PORT}, of a server: it is ready when something listens there.
    env: variables beside those of the runner.
    in_out: it runs in OUT, where it writes a file of its own; its node need not see that folder.
    """

    id: str
    node: str
    argv: tuple[str, ...]
    role: str = "flow"
    start_s: float = 0.0
    stop_s: float | None = None
    ready: Mapping[str, int] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    in_out: bool = False


@dataclass(frozen=True)
class PlannedInterface:
    """An interface whose disciplines are read."""

    node: str
    interface: str


@dataclass(frozen=True)
class Samplers:
    """What is read every `period_s`, from T0 on.

    sockets, ended, netstat: nodes; ended: where what is known in the end of each TCP connection is kept.
    ports: only sockets with one of these at either end, () for all.
    """

    period_s: float = 0.2
    qdiscs: tuple[PlannedInterface, ...] = ()
    sockets: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    cpu: bool = False
    netstat: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A command whose output, before and after the test, is kept; `once`: before alone."""

    node: str
    name: str
    argv: tuple[str, ...]
    once: bool = False


@dataclass(frozen=True)
class PlannedSetting:
    """A value of the kernel that is written, or a command; of those at one time the first comes first.

    at_s: since T0, before the flows of that time start; None: before anything of the test.
    word, name, value: as `linklab.linux.allowed_settings` has them; of a command the word is "", and the name for
        people.
    """

    node: str
    name: str
    word: str = ""
    value: str = ""
    argv: tuple[str, ...] = ()
    at_s: float | None = None


@dataclass(frozen=True)
class TrialPlan:
    """A test on a network.

    length_s: samples are taken so long at least; it ends with its last flow.
    grace_s: between SIGINT, SIGTERM and SIGKILL for a program that is stopped.
    ready_s: for each server to listen. end_s: beyond length_s for flows without a stop_s.
    command_s: for each command of a setting.
    """

    length_s: float
    programs: tuple[PlannedProgram, ...] = ()
    samplers: Samplers = field(default_factory=Samplers)
    facts: tuple[Fact, ...] = ()
    settings: tuple[PlannedSetting, ...] = ()
    grace_s: float = 2.0
    ready_s: float = 10.0
    end_s: float = 10.0
    command_s: float = 20.0


T = TypeVar("T")


def load(path: Path) -> TrialPlan:
    """Read a plan.

    Raises:
        PlanError: it cannot be read, is of another format, or says what cannot be.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PlanError(f"{path}: the plan cannot be read: {error}") from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        raise PlanError(f"{path}: not a plan of format {FORMAT}")
    try:
        return _plan(data)
    except PlanError as error:
        raise PlanError(f"{path}: {error}") from None


def _plan(data: dict[str, Any]) -> TrialPlan:
    programs = tuple(_made(PlannedProgram, one, f"program {n}") for n, one in enumerate(_list(data, "programs"), 1))
    data["programs"] = programs
    data["facts"] = tuple(_made(Fact, one, f"fact {n}") for n, one in enumerate(_list(data, "facts"), 1))
    data["settings"] = tuple(
        _made(PlannedSetting, one, f"setting {n}") for n, one in enumerate(_list(data, "settings"), 1)
    )
    for n, setting in enumerate(data["settings"], 1):
        if bool(setting.word) == bool(setting.argv):
            raise PlanError(f"setting {n}: it needs either a word or an argv")
    samplers = dict(data.get("samplers") or {})
    samplers["qdiscs"] = tuple(_made(PlannedInterface, one, "samplers.qdiscs") for one in _list(samplers, "qdiscs"))
    data["samplers"] = _made(Samplers, samplers, "samplers")
    plan = _made(TrialPlan, data, "plan")
    if not plan.samplers.period_s > 0 or not plan.length_s >= 0:
        raise PlanError("samplers.period_s has to be above 0, and length_s at least 0")
    known: set[str] = set()
    for program in programs:
        _check(program)
        if program.id in known:
            raise PlanError(f'program "{program.id}" is there twice')
        known.add(program.id)
    return plan


def _check(program: PlannedProgram) -> None:
    where = f'program "{program.id}"'
    if not program.argv or program.role not in ROLES:
        raise PlanError(f"{where}: it needs an argv, and a role of {' or '.join(ROLES)}")
    if not program.id or "/" in program.id or program.id.startswith("."):
        raise PlanError(f"{where}: its id names its files, so it has neither / nor a dot in front")
    if set(program.ready) - {"tcp", "udp"}:
        raise PlanError(f"{where}: ready is {{'tcp': PORT}} or {{'udp': PORT}}, not {dict(program.ready)}")


def _list(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = data.get(key, [])
    if not isinstance(found, list):
        raise PlanError(f"{key} is not a list")
    return found


def _made(kind: type[T], data: Any, where: str) -> T:
    """A dataclass from an object of JSON; lists become tuples."""
    if not isinstance(data, dict):
        raise PlanError(f"{where} is not an object")
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type] # T is a dataclass here
    if unknown := sorted(set(data) - names):
        raise PlanError(f"{where}: unknown: {', '.join(unknown)}")
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]  # type: ignore[arg-type]
    if lacking := [name for name in needed if name not in data]:
        raise PlanError(f"{where} lacks {', '.join(lacking)}")
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()})
