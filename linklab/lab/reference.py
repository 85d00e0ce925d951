# SPDX-License-Identifier: BSD-3-Clause
"""The recorded run of a lab: `labs/NN-slug/reference/`, as the manual and the check of the labs read it.

Holds `reference.json` (seed, clock, environment, scalars), `outputs/STEP.txt` and `figures/STEP-NAME.svg` for each
figure the manual shows; `linklab.run.record` writes it. Nothing in it is ever typed by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.base.finish import Background, StopAfter
from linklab.base.text import excerpt
from linklab.errors import LabError
from linklab.judge.expectation import ExpectationVerdict, Observed, verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.sections import parts_problems
from linklab.manual.chapter import Recorded
from linklab.manual.model import Action, Await, Commands, EditorActions, Interrupt, WriteFile

FORMAT = 1
"""Of reference.json; raised when a reader of the old one would misread the new one."""

_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "seed": int,
    "clock": str,
    "profile": str,
    "replayed": str,
    "network_s": (int, float),
    "environment": dict,
}
"""What readers take from reference.json, beside format and scalars."""

_KINDS: Mapping[type[Action], str] = {
    Interrupt: "Interrupt",
    Await: "Await",
    WriteFile: "WriteFile",
    EditorActions: "EditorActions",
}
"""What is not typed and waited for, as recorded digests name it."""


@dataclass(frozen=True)
class Reference:
    """A recording as it is on disk."""

    data: dict[str, Any]
    recorded: Recorded


def folder_of(lab: Lab) -> Path:
    """Where a lab's recording is."""
    return lab.folder / "reference"


def figure_file(step: str, name: str) -> str:
    """Name of the file that holds a recorded figure: of a plot, or one that the step itself drew as an SVG."""
    return f"{step}-{name.removesuffix('.svg')}.svg"


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
        for key, kind in _KEYS.items():
            if not isinstance(data[key], kind) or isinstance(data[key], bool):
                raise TypeError(f"{key} is {data[key]!r}")
        scalars = {
            step: {name: (quantity["value"], quantity["unit"]) for name, quantity in found.items()}
            for step, found in data["scalars"].items()
        }
        outputs = {file.stem: file.read_text(encoding="utf-8") for file in (folder / "outputs").glob("*.txt")}
        images = {
            f"{figure.step}/{figure.name}": (folder / "figures" / figure_file(figure.step, figure.name)).read_bytes()
            for figure in lab.manual.figures
            if figure.kind == "run" and (folder / "figures" / figure_file(figure.step, figure.name)).is_file()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LabError(f"{path}: cannot be read: {excerpt(str(error))}; record the lab again") from error
    return Reference(data, Recorded(outputs, scalars, images))


def replayed(lab: Lab) -> str:
    """Digest of all that a replay does: the steps in order, the parts, the topology; prose does not change it.

    It is recorded, so what it is made from is spelt out here and does not follow the names of classes.
    """
    parts = [lab.topology.read_bytes() if lab.topology else b""]
    for step in lab.manual.steps:
        if not step.optional:
            at_once = ("at-once",) if step.at_once else ()  # without it the digest is that of before it existed
            before, after = (step.id, step.terminal, step.typed), (step.together, step.prompt, *at_once)
            parts.append(
                f"({', '.join(map(repr, before))}, {_how(step.action)}, {', '.join(map(repr, after))})".encode()
            )
    if lab.parts:
        parts.append(repr(lab.parts).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _how(action: Action) -> str:
    """The kind of a step, and of commands how they end."""
    if not isinstance(action, Commands):
        return repr(_KINDS[type(action)])
    match action.finish:
        case StopAfter(seconds=seconds):
            return f"StoppedAfter(seconds={seconds!r})"
        case Background():
            return "LeftRunning()"
        case _:
            return "AtPrompt()"


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
