# SPDX-License-Identifier: BSD-3-Clause
"""What was collected and what is known of a trial → its data set, with the derived series and Flent's metadata."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.data import Dataset
from linklab.engine.api import Clock
from linklab.experiment import metadata
from linklab.experiment.collect import TrialOutcome
from linklab.experiment.derive import derive
from linklab.experiment.model import Trial
from linklab.experiment.prepared import Prepared
from linklab.experiment.trial_commands import failed_commands
from linklab.plots.spec_json import METADATA_KEY, to_json


def dataset(prepared: Prepared, found: TrialOutcome, environment: dict[str, Any], name: str) -> Dataset:
    """Everything that was measured and is known, with the derived series."""
    trial, expanded, place = prepared.trial, prepared.expanded, prepared.place
    outcome = found.outcome
    unreached = metadata.unreached(found.facts)
    notes = [*prepared.notes]
    notes += [f"{place.source} cannot reach {address}" for address in unreached]
    notes += found.notes
    if outcome.get("ended") == "early":
        notes.append(_early(outcome["ended_s"], expanded.total_s))
    ours = {
        "test": Path(trial.test).name,  # without its folder, which is private
        "parameters": dict(expanded.parameters),
        "path": place.words,
        "topology": place.name,
        "source": place.source,
        "targets": list(place.targets),
        "network": list(place.commands),
        "seed": trial.seed,
        "clock": trial.clock,
        "engine": trial.engine,
        "profile": trial.profile,
        "environment": environment,
        "kernel": environment.get("kernel"),
        "ended": outcome.get("ended"),
        "ended_s": outcome.get("ended_s"),
        "failed": dict(found.failed),
        "programs": outcome.get("programs"),
        "shared_objects": outcome.get("shared_objects"),
        "facts": [dict(one) for one in found.facts.values()],
        METADATA_KEY: [to_json(plot) for plot in expanded.plots],
        "default_plot": expanded.default_plot,
        **({"trial_commands": found.commands} if found.commands else {}),
        **{key: value for key, value in trial.extra.items() if not key.isupper()},
    }
    when = _when(trial, outcome)
    flent = {
        "NAME": expanded.name,
        "TITLE": trial.title or None,
        "NOTE": trial.note or None,
        "HOST": place.targets[0],
        "HOSTS": list(dict.fromkeys(place.targets)),
        "LOCAL_HOST": place.source,
        "TIME": when,
        "T0": when,
        "LENGTH": _whole(expanded.length_s),
        "TOTAL_LENGTH": _whole(expanded.total_s),
        "STEP_SIZE": expanded.step_s,
        "TEST_PARAMETERS": dict(expanded.parameters),
        "FAILED_RUNNERS": len(found.failed),
        "FLENT_VERSION": f"Linklab {__version__}",
        "DATA_FILENAME": name,
        **metadata.host_metadata(found.facts, place),
        **{key: value for key, value in trial.extra.items() if key.isupper()},
    }
    notes += failed_commands(Dataset(ours))
    measured = Dataset(ours, series=found.series, notes=tuple(dict.fromkeys(notes)), flent=flent)
    spans = {flow.series: (flow.start_s, flow.length_s) for flow in expanded.flows}
    made = derive(measured, expanded.derived, spans)
    # what the test is about comes first, what was sampled beside it last
    order = sorted(made.series, key=lambda name: made.series[name].source.endswith(".jsonl"))
    return replace(made, series={name: made.series[name] for name in order})


def _early(ended_s: float, total_s: float) -> str:
    if ended_s > total_s:
        return f"ended after its {total_s:g} s, before all of its programs had"
    return f"ended early, after {ended_s:.1f} s of {total_s:g} s"


def _when(trial: Trial, outcome: dict[str, Any]) -> str | None:
    """The date of T0; none where the clock knows no date, so that the same run gives the same bytes."""
    if trial.clock != Clock.WALL.value or "t0_date_ns" not in outcome:
        return None
    moment = datetime.fromtimestamp(outcome["t0_date_ns"] / 1e9, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value
