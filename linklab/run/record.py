# SPDX-License-Identifier: BSD-3-Clause
"""Makes a run, of just now or of earlier, the recording of its lab: `labs/NN-slug/reference/`.

Begins with the run's folder, so that what was seen to be good is what is recorded.
"""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from linklab.base.files import write, write_json
from linklab.engine.api import Clock
from linklab.errors import InputError, LabError
from linklab.judge.expectation import verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.lab.reference import FORMAT, figure_file, folder_of, load_reference, replayed
from linklab.lab.saved import SavedRun
from linklab.manual.model import Figure
from linklab.plots import catalogue
from linklab.run.compare import compare
from linklab.run.likeness import file_digests


def record(lab: Lab, run: SavedRun) -> list[str]:
    """Make a run the lab's recording; what changed, a line each.

    Raises:
        LabError: the run is not a whole one of the lab as it is now, was not made in a pocket, does not meet the
            expectations of today, cannot be repeated, or lacks a figure that the manual shows.
    """
    _check(lab, run)
    before = load_reference(lab)
    target = folder_of(lab)
    with tempfile.TemporaryDirectory(prefix=".reference-", dir=lab.folder) as name:
        folder = Path(name) / "reference"
        _write(lab, run, folder)
        if target.exists():
            target.rename(Path(name) / "before")  # removed with the temporary folder: no half recording is left
        folder.rename(target)
    return compare(before.recorded.scalars if before else {}, run.scalars)


def _check(lab: Lab, run: SavedRun) -> None:
    if run.section is not None or run.settings_only:
        raise LabError(f"{run.folder}: a reference is recorded from a run of the whole lab, judged by what it measured")
    if run.environment.get("engine", "pocket") != "pocket":
        raise LabError(f"{run.folder}: a reference must come out the same for everybody, so only the pocket makes one")
    if run.clock != Clock.VIRTUAL.value:
        raise LabError(
            f"{run.folder}: this run is of the {run.clock} clock, on which no run can be repeated; "
            "a reference is recorded on the virtual clock"
        )
    if (run.slug, run.replayed) != (lab.slug, replayed(lab)):
        raise LabError(f"{run.folder}: this is a run of other steps than those of {lab.slug} now; replay the lab")
    if run.not_repeatable:
        raise LabError(f"{run.folder}: a reference must come out the same for everybody. {run.not_repeatable}")
    if run.unclaimed:
        raise LabError(
            f"{lab.manual.path}: several steps may have written {', '.join(run.unclaimed)}; "
            "say which by files=PATH at its block, and replay the lab"
        )
    verdicts = verdicts_on(lab.expectations, [run.observed])
    failed = [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS]
    if failed:
        raise LabError(
            f"{lab.slug}: {len(failed)} of {len(verdicts)} expectations are not met "
            f"({failed[0].story}); a reference is recorded from a run that meets all"
        )


def _write(lab: Lab, run: SavedRun, folder: Path) -> None:
    (folder / "outputs").mkdir(parents=True)
    (folder / "figures").mkdir()
    for step, output in run.outputs.items():
        if output:
            write(folder / "outputs" / f"{step}.txt", output)
    for figure in lab.manual.figures:
        if figure.kind == "run" and all(step in run.steps for step in figure.steps):
            try:
                content = _drawn(run, figure)
            except InputError as error:
                raise LabError(f"{lab.manual.path}:{figure.line}: {error}") from error
            write(folder / "figures" / figure_file(figure.step, figure.name), content)
    write_json(
        folder / "reference.json",
        {
            "format": FORMAT,
            "lab": run.lab,
            "seed": run.seed,
            "clock": run.clock,
            "profile": run.profile,
            "replayed": run.replayed,
            "network_s": round(run.network_s, 3),
            "environment": dict(run.environment),
            "machine": dict(run.machine),
            "files": file_digests(run),
            "scalars": {
                step: {name: {"value": value, "unit": unit} for name, (value, unit) in found.items()}
                for step, found in run.scalars.items()
            },
        },
    )


def _drawn(run: SavedRun, figure: Figure) -> bytes:
    """A figure of the steps' data sets, or the SVG of that name that a step itself drew.

    Raises:
        InputError: there is nothing to draw, or no such file.
    """
    if not figure.name.endswith(".svg"):
        return catalogue.draw([catalogue.part_of(run.data(step)) for step in figure.steps], figure.names)
    step = run.steps[figure.steps[0]]
    found = [name for name in step.files if PurePosixPath(name).name == figure.name]
    if not found:
        files = ", ".join(step.files) or "none"
        raise LabError(f"{step.id}: this step has not written {figure.name}; its files: {files}")
    return (run.folder / "files" / found[0]).read_bytes()
