# SPDX-License-Identifier: BSD-3-Clause
"""What a test's file holds, as data: entries with places left open, which `expand` fills in.

`test_file` makes them, `expand` turns them into flows, derived series and plots. The format is described in
docs/tests.md, "Writing a test".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from linklab.experiment.model import DerivedRule, Traffic
from linklab.plots.spec import PlotKind


class ParameterKind(Enum):
    """What the text of a parameter means."""

    TEXT = "text"
    COUNT = "count"  # a whole number, or num_cpus
    NUMBER = "number"
    LIST = "list"  # one for each of several flows, separated by commas
    YES_NO = "yes-no"
    REFUSED = "refused"  # what Flent has and cannot be had here; its text says why


@dataclass(frozen=True)
class ParameterEntry:
    """What a person may choose.

    otherwise: of a list, what flows beyond its end take; may have places left open.
    other_names: that mean the same, tried in this order after the name itself.
    least, most: of a count or a number.
    """

    name: str
    kind: ParameterKind
    text: str
    default: str = ""
    otherwise: str = ""
    other_names: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Condition:
    """Whether an entry counts: the parameter is given, or is one of `values`."""

    parameter: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class FlowEntry:
    """One or several flows, as written. Texts may have places left open, such as {n}.

    count: how many: a number, a parameter, a list parameter (one for each of its values), or "hosts".
    each: one flow for each of these, whose keys are places; they win over parameters and values of the same name.
    every: one flow after another at this distance, as many as fit into the length of the load.
    needs: a parameter without which the flow cannot be.
    number: which stream a single flow is, for parameters that are lists.
    """

    where: str
    series: str
    traffic: Traffic
    direction: str = ""
    target: str = "1"
    start: str = ""
    length: str = ""
    shift: str = ""
    every: str = ""
    marking: str = ""
    congestion: str = ""
    interval: str = ""
    rate: str = ""
    size: str = ""
    version: int | None = None
    count: str = ""
    each: tuple[Mapping[str, str], ...] = ()
    number: int | None = None
    needs: str = ""
    when: tuple[Condition, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DerivedEntry:
    """A derived series, as written; `of` are names and patterns of flows, or names of series derived before."""

    where: str
    series: str
    rule: DerivedRule
    of: tuple[str, ...]
    unit: str = ""
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class LineEntry:
    """A line of a plot, as written; smoothing: samples, or a time."""

    series: str
    label: str = ""
    key: str = ""
    axis: int = 1
    smoothing: str = ""
    reduce: str = ""
    bold: bool = False


@dataclass(frozen=True)
class PlotEntry:
    """A plot, as written, with what it takes from its parent put in."""

    where: str
    name: str
    kind: PlotKind
    text: str = ""
    lines: tuple[LineEntry, ...] = ()
    parts: tuple[str, ...] = ()
    axes: tuple[str, str] = ("", "")
    scaling: tuple[float, float] | None = None
    cutoff: tuple[str, str] | None = None
    group_by: str = ""
    reduce: str = "mean"
    legend: str = ""
    stacked: bool = False
    side_by_side: bool = False
    when: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Entries:
    """What a file of the library or a test may hold; names are unique."""

    parameters: Mapping[str, ParameterEntry] = field(default_factory=dict)
    flows: tuple[FlowEntry, ...] = ()
    derived: Mapping[str, DerivedEntry] = field(default_factory=dict)
    plots: Mapping[str, PlotEntry] = field(default_factory=dict)


@dataclass(frozen=True)
class NamedTest:
    """A test with all it includes.

    title: in a line; text: what it shows and when to use it.
    family: of the library's list.
    plot: which is shown unless a person asks for another.
    hosts: how many targets it needs at least; per_host: whether further ones get flows, too.
    usual_hosts: how many it gets unless a person names them.
    total: how long it lasts, as a time; total_least: at least so long.
    length_s: of the load, unless a person gives it.
    values: names → texts that stand for {name} in what it includes.
    impossible: why it cannot be run; "" where it can.
    file: where it stands.
    """

    name: str
    title: str
    family: str
    text: str
    plot: str
    entries: Entries
    hosts: int = 1
    usual_hosts: int = 1
    total: str = "length + 2 delay"
    total_least: str = ""
    length_s: float | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    impossible: str = ""
    file: Path = Path()

    @property
    def per_host(self) -> bool:
        """Whether every target host has flows of its own."""
        return any(flow.count == "hosts" for flow in self.entries.flows)
