# SPDX-License-Identifier: BSD-3-Clause
"""The recorded run of a lab: `labs/NN-slug/reference/`, written from a run and read for the manual.

Holds `reference.json` (seed, clock, environment, scalars), `outputs/STEP.txt` and `figures/STEP-NAME.svg` for each
figure the manual shows. Nothing in it is ever typed by hand.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.base import files
from linklab.base.finish import Background, Prompt, StopAfter
from linklab.base.numbers import format_number
from linklab.base.text import excerpt
from linklab.errors import LabError
from linklab.judge.expectation import ExpectationVerdict, Observed, Scalars, verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.manual.html import Recorded
from linklab.manual.model import Commands, Step
from linklab.plots import catalogue
from linklab.run.runner import FORMAT, Run
from linklab.run.sections import parts_problems

NOTICEABLE = 0.005
"""Relative change of a number that is worth a line when a reference is replaced."""


@dataclass(frozen=True)
class Reference:
    """A recording as it is on disk."""

    data: dict[str, Any]
    recorded: Recorded


def folder_of(lab: Lab) -> Path:
    """Where a lab's recording is."""
    return lab.folder / "reference"


def load_reference(lab: Lab) -> Reference | None:
    """The recording of a lab, None if it has none.

    Raises:
        LabError: it is there and cannot be read.
    """
    folder = folder_of(lab)
    path = folder / "reference.json"
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise LabError(f"{path}: format {excerpt(str(data['format']))}, I read {FORMAT}; record the lab again")
        scalars = {
            step: {name: (quantity["value"], quantity["unit"]) for name, quantity in found.items()}
            for step, found in data["scalars"].items()
        }
        outputs = {file.stem: file.read_text(encoding="utf-8") for file in (folder / "outputs").glob("*.txt")}
        images = {
            f"{figure.step}/{figure.name}": (folder / "figures" / f"{figure.step}-{figure.name}.svg").read_bytes()
            for figure in lab.manual.figures
            if figure.kind == "run" and (folder / "figures" / f"{figure.step}-{figure.name}.svg").is_file()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LabError(f"{path}: cannot be read: {excerpt(str(error))}; record the lab again") from error
    return Reference(data, Recorded(outputs, scalars, images))


def replayed(lab: Lab) -> str:
    """Digest of all that a replay does: the steps in order, the parts, the topology; prose does not change it."""
    parts = [lab.topology.read_bytes() if lab.topology else b""]
    for step in lab.manual.steps:
        if not step.optional:
            done = [
                *map(repr, (step.id, step.terminal, step.typed)),
                _finish(step),
                *map(repr, (step.together, step.prompt)),
            ]
            parts.append(f"({', '.join(done)})".encode())
    if lab.parts:
        parts.append(repr(lab.parts).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _finish(step: Step) -> str:
    """When a step is finished, in words that stay while classes are renamed: recordings hold their digest."""
    if not isinstance(step.action, Commands):
        return repr(type(step.action).__name__)
    match step.action.finish:
        case Prompt():
            return "AtPrompt()"
        case Background():
            return "LeftRunning()"
        case StopAfter(seconds=seconds, pattern=""):
            return f"StoppedAfter(seconds={seconds!r})"
        case other:
            return repr(other)


def staleness(lab: Lab, reference: Reference, kernel_digest: str, profile: str) -> list[str]:
    """Why a recording is not what a replay on that kernel would give now; empty where it is current."""
    found = []
    if reference.data.get("replayed") != replayed(lab):
        found.append("other steps")
    if reference.data["environment"].get("kernel_digest", kernel_digest) != kernel_digest:
        found.append("another kernel")
    if reference.data["profile"] != profile:
        found.append(f"profile {reference.data['profile']}")
    return found


def judged(lab: Lab, reference: Reference) -> list[ExpectationVerdict]:
    """What the lab's expectations say of its recording; a step that printed nothing counts as done."""
    outputs = {step.id: reference.recorded.outputs.get(step.id, "") for step in lab.manual.steps if not step.optional}
    return verdicts_on(lab.expectations, [Observed(reference.recorded.scalars, outputs)])


def record(run: Run) -> list[str]:
    """Make a run the lab's recording; what changed, a line each.

    Raises:
        LabError: the run does not meet its expectations, or lacks a figure that the manual shows.
    """
    failed = [v for v in run.verdicts if v.outcome is not Outcome.PASS]
    if failed:
        raise LabError(
            f"{run.lab.slug}: {len(failed)} of {len(run.verdicts)} expectations are not met "
            f"({failed[0].story}); a reference is recorded from a run that meets all"
        )
    before = load_reference(run.lab)
    target = folder_of(run.lab)
    with tempfile.TemporaryDirectory(prefix=".reference-", dir=run.lab.folder) as name:
        folder = Path(name) / "reference"
        _write(run, folder)
        if target.exists():
            shutil.rmtree(target)
        folder.rename(target)
    return compare(before.recorded.scalars if before else {}, run.scalars)


def compare(before: Scalars, after: Scalars) -> list[str]:
    """What differs noticeably between two sets of scalars, in sentences; empty if nothing does."""
    lines = []
    for step in dict.fromkeys([*before, *after]):
        old, new = before.get(step, {}), after.get(step, {})
        for metric in dict.fromkeys([*old, *new]):
            if metric not in new:
                lines.append(f"{step}.{metric}: was {format_number(*old[metric])}, is gone")
            elif metric not in old:
                lines.append(f"{step}.{metric}: new, {format_number(*new[metric])}")
            elif not math.isclose(old[metric][0], new[metric][0], rel_tol=NOTICEABLE):
                now = format_number(*new[metric])
                lines.append(f"{step}.{metric}: was {format_number(*old[metric])}, is {now}")
    return lines


def problems(lab: Lab) -> list[str]:
    """What the manual quotes or shows and the recording lacks, "FILE:LINE: …" each; also a missing recording."""
    reference = load_reference(lab)
    recorded = reference.recorded if reference else Recorded()
    path, found = lab.manual.path, [*_reference_problems(lab, reference), *parts_problems(lab)]
    for quote in lab.manual.quotes:
        where = f"{path}:{quote.line}"
        if quote.kind == "section" and quote.metric not in {section.slug for section in lab.manual.sections}:
            found.append(f'{where}: there is no section "{quote.metric}"')
        elif quote.kind == "scalar" and lab.manual.step(quote.step) is None:
            found.append(f'{where}: there is no step "{quote.step}"')
        elif quote.kind == "scalar" and reference and quote.metric not in recorded.scalars.get(quote.step, {}):
            known = ", ".join(sorted(recorded.scalars.get(quote.step, {}))) or "nothing"
            found.append(f"{where}: the reference of {quote.step} has no {quote.metric}; it has {known}")
    for figure in lab.manual.figures:
        where = f"{path}:{figure.line}"
        if figure.kind == "file" and not (lab.folder / figure.name).is_file():
            found.append(f"{where}: there is no image {figure.name}")
        if figure.kind == "run":
            missing = [step for step in figure.steps if lab.manual.step(step) is None]
            if missing:
                found.append(f'{where}: there is no step "{missing[0]}"')
            elif reference and f"{figure.step}/{figure.name}" not in recorded.figures:
                found.append(f"{where}: the reference has no figure {figure.step}/{figure.name}")
    return found


def _reference_problems(lab: Lab, reference: Reference | None) -> list[str]:
    path = lab.manual.path
    if reference is None:
        return [f"{path}:1: there is no reference; make it with linklab record {lab.number}"]
    found = []
    if reference.data.get("replayed") != replayed(lab):
        found.append(f"{path}:1: the reference is of other steps; renew it with linklab record {lab.number}")
    for verdict in judged(lab, reference):
        if verdict.outcome is not Outcome.PASS:
            found.append(f"{verdict.expectation.where}: the reference does not meet this: {verdict.story}")
    return found


def _part(run: Run, step: str) -> catalogue.Part:
    if step not in run.measured:
        raise LabError(f"step {step} measured nothing to draw")
    capture = run.captures[step]
    return catalogue.Part(step, capture.terminal, run.measured[step], capture.start_s, capture.end_s)


def _write(run: Run, folder: Path) -> None:
    (folder / "outputs").mkdir(parents=True)
    (folder / "figures").mkdir()
    for step, capture in run.captures.items():
        if capture.output:
            files.write(folder / "outputs" / f"{step}.txt", capture.output)
    for figure in run.lab.manual.figures:
        if figure.kind == "run" and all(step in run.captures for step in figure.steps):
            try:
                content = catalogue.draw([_part(run, step) for step in figure.steps], figure.names)
            except LabError as error:
                raise LabError(f"{run.lab.manual.path}:{figure.line}: {error}") from error
            files.write(folder / "figures" / f"{figure.step}-{figure.name}.svg", content)
    files.write_json(
        folder / "reference.json",
        {
            "format": FORMAT,
            "lab": run.lab.number,
            "seed": run.settings.seed,
            "clock": run.settings.clock.value,
            "profile": run.settings.profile,
            "replayed": replayed(run.lab),
            "network_s": round(run.network_s, 3),
            "environment": dict(run.environment),
            "scalars": {
                step: {name: {"value": value, "unit": unit} for name, (value, unit) in found.items()}
                for step, found in run.scalars.items()
            },
        },
    )
