# SPDX-License-Identifier: BSD-3-Clause
"""One experiment: its plan, its network, and the folder that comes of it, without exp.csv and pages.

PlannedExperiment ─→ network, runner inside ─→ collect ─→ EXP.flent.gz, 0/ and 1/ (counters), raw/, *.pcap

The network is one of its own (`in_its_own`), or one that runs already (`OnRunning`).
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from linklab.base.files import write_json
from linklab.base.text import excerpt
from linklab.data import Dataset
from linklab.errors import EngineError
from linklab.experiment.collect import TrialOutcome
from linklab.experiment.connections import FlowEnd
from linklab.experiment.early_end import EarlyEnd, NotBegunError
from linklab.experiment.model import Trial
from linklab.experiment.out_file import keep
from linklab.experiment.prepared import Prepared
from linklab.experiment.result import dataset
from linklab.experiment.running import Door, completed, measure_on
from linklab.experiment.trial import measure
from linklab.experiment.trial_inside import Tell, TrialProgress, quiet
from linklab.measure import Quantity
from linklab.netesto import names
from linklab.netesto.capture_plan import captured
from linklab.netesto.network_plan import COUNTERS, PlannedExperiment
from linklab.netesto.running_site import keeping

DISCIPLINES = ("SET_NETEM", "SET_QDISC")
TEST = "netesto"
"""What the data set calls its test."""


Measured: TypeAlias = Callable[[PlannedExperiment, Prepared, Path, Tell], tuple[TrialOutcome, "MakeData"]]
"""Runs an experiment, with a new folder for the outputs of its programs; what was found, and what makes its data."""
MakeData: TypeAlias = Callable[[TrialOutcome, str], Dataset]


def in_its_own(planned: PlannedExperiment, prepared: Prepared, work: Path, tell: Tell) -> tuple[TrialOutcome, MakeData]:
    """Run an experiment in a network that is started for it."""
    tell(TrialProgress("starting the network"))
    try:
        with EarlyEnd() as early:
            found, environment = measure(prepared, early, tell, raw=work)
    except NotBegunError:
        raise EngineError("the experiment was ended before it had begun") from None
    return found, lambda found, name: dataset(prepared, found, environment, name)


@dataclass(frozen=True)
class OnRunning:
    """Runs experiments on the network behind a door; each has a door of its own, because its folder is a door's."""

    door: Callable[[], AbstractContextManager[Door]]

    def __call__(
        self, planned: PlannedExperiment, prepared: Prepared, work: Path, tell: Tell
    ) -> tuple[TrialOutcome, MakeData]:
        """Run an experiment, and leave the network as it was."""
        with self.door() as door:
            with keeping(planned, door):
                found = measure_on(prepared, door, tell)
            shutil.copytree(door.folder, work)
        return found, lambda found, name: completed(prepared, found, door, name)


def run_experiment(
    planned: PlannedExperiment,
    nodes: Mapping[str, str],
    trial: Trial,
    folder: Path,
    tell: Tell = quiet,
    *,
    measured: Measured = in_its_own,
) -> tuple[Path, Dataset]:
    """Run an experiment and fill its folder.

    Args:
        planned: the experiment.
        nodes: of the script's machines.
        trial: seed, clock, engine and profile, and what else its data set says of it.
        folder: new; gets all that comes of the experiment.
        tell: told how far it is.
        measured: runs it in its network.

    Returns:
        The data set's file, and the data set.

    Raises:
        EngineError: the network could not be started, or the experiment was ended before its time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / names.EXPERIMENT, planned.about)
    prepared = Prepared(trial, planned.expanded, planned.place, planned.plan, tuple(planned.settings.notes))
    work = folder / names.RAW
    found, make = measured(planned, prepared, work, tell)
    if found.outcome.get("ended") == "early":
        raise EngineError("the experiment was ended early, so it does not count")
    tell(TrialProgress("writing the data"))
    _mark_settings(found, planned.about, folder)
    _write_counters(found, folder)
    for inside, shown in captured(planned.experiment, nodes).items():
        if (work / "out" / inside).is_file():
            (work / "out" / inside).replace(folder / shown)
    _tidy(work)
    file = folder / names.data_file(planned.experiment.number)
    data = _with_ends(make(found, file.name), found)
    return keep(data, file, named=True), data


def _mark_settings(found: TrialOutcome, about: Mapping[str, Any], folder: Path) -> None:
    """Note what could not be set: the experiment then has gaps, and its description says which settings do not hold.

    A discipline's commands at an interface depend on each other, so none of the host's is said to hold then.
    """
    not_set = [one for one in found.outcome.get("settings", ()) if one["why"]]
    if not not_set:
        return
    for one in not_set:
        when = f" at {one['at_s']:g} s" if one["at_s"] is not None else ""
        what = f"not set on {one['node']}{when}: {one['what']}"
        found.failed[what] = one["why"]
        found.notes.append(f"{what}: {one['why']}")
    settings = [
        {**setting, "failed": True} if any(_is_of(one, setting) for one in not_set) else setting
        for setting in about["settings"]
    ]
    write_json(folder / names.EXPERIMENT, {**about, "settings": settings})


def _is_of(not_set: Mapping[str, Any], setting: Mapping[str, Any]) -> bool:
    """Whether what was not set belongs to this SET command."""
    if not_set["node"] != setting["host"]:
        return False
    if setting["word"] in DISCIPLINES:
        return bool(not_set["what"].startswith("tc "))
    return not_set["what"] in setting["arguments"]


def _write_counters(found: TrialOutcome, folder: Path) -> None:
    """The counters of each host as files, and no longer among the facts of the data set, which they would swell."""
    for (node, name), fact in list(found.facts.items()):
        if name != COUNTERS:
            continue
        del found.facts[node, name]
        for place, when in ((names.BEFORE, "before"), (names.AFTER, "after")):
            said = str((fact.get(when) or {}).get("text", ""))
            try:
                texts = json.loads(said)
            except (ValueError, RecursionError):
                texts = None
            if not isinstance(texts, dict):
                found.notes.append(f"the counters of {node} {when} the flows are missing: {excerpt(said)}")
                continue
            for file, text in texts.items():
                if file not in names.COUNTED or not isinstance(text, str):
                    found.notes.append(
                        f"the counters of {node} have something unknown, {excerpt(file)}; it is left out"
                    )
                    continue
                path = folder / place / node / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", errors="replace")


def _tidy(work: Path) -> None:
    """Of the runner's own files, what the data set and the counters hold goes; what the programs printed stays."""
    for path in [*(work / "out").glob("*.jsonl"), work / "out" / "facts.json"]:
        path.unlink(missing_ok=True)
    for path in (work / "out").iterdir():
        path.replace(work / path.name)
    shutil.rmtree(work / "out")


def _with_ends(data: Dataset, found: TrialOutcome) -> Dataset:
    """The data set with the final numbers of each flow, also of one that was too short for a series."""
    scalars = dict(data.scalars)
    for series, end in found.ends.items():
        scalars |= _final(series, end)
    return Dataset(data.metadata, scalars, data.series, data.notes, data.flent, data.grid)


def _final(series: str, end: FlowEnd) -> dict[str, Quantity]:
    """The final numbers of a flow."""
    made: dict[str, Quantity] = {}

    def add(name: str, value: Any, unit: str) -> None:
        if isinstance(value, int | float) and math.isfinite(value):
            made[f"{series} {name}"] = Quantity(float(value), unit)

    for where, info, port in ((names.LOCAL, end.local, end.port), (names.REMOTE, end.remote, end.peer_port)):
        for name, unit in names.FINAL.items():
            add(f"{where}{name}", info.get(name), unit)
        add(f"{where}port", port, "")
    add(names.TRANSACTIONS, end.transactions, "")
    add(names.BYTES, end.payload_bytes, "bytes")
    add(names.SECONDS, round(end.ended_s - end.began_s, 9), "s")
    return made
