# SPDX-License-Identifier: BSD-3-Clause
"""A run and the recording of its lab → whether they have the same bytes, or which step differs first and how.

On the virtual clock one seed gives one run (docs/architecture.md, "The same seed, the same bytes"), so each replay of a
lab with the settings of its recording checks that promise. It compares what each step showed, the numbers that were
read from it, and, by their digests, the files that it wrote; not figures, which depend on the version of matplotlib.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from linklab.base.text import excerpt
from linklab.data.suffixes import SUFFIX
from linklab.lab.model import Lab
from linklab.lab.reference import Reference, load_reference
from linklab.lab.saved import SavedRun
from linklab.run.compare import made_differently, made_with

SAME = "the same bytes as the recording"
_FIGURES = {".pdf", ".png", ".svg", ".jpg"}
_EXPERIMENT = "experiment.json"
"""In the folder of each experiment of a campaign."""
_LINE_CHARS = 80
"""How much of a line that differs is quoted."""


@dataclass(frozen=True)
class Likeness:
    """The result of a comparison.

    step: the first step that differs; "" if none does, or if it is not known which.
    words: what the run gave: `SAME`, or "other bytes than the recording" and how they differ.
    causes: what else differs between the two, such as the version of a program; a line each.
    """

    step: str
    words: str
    causes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether all bytes are the same."""
        return self.words == SAME


def against_recording(lab: Lab, run: SavedRun) -> Likeness | None:
    """Compare a run with the recording of its lab.

    Returns:
        None if the two cannot be expected to be the same: the lab has no recording or other steps now, the run is of
        one section, of settings alone, or of another engine, clock, seed or profile, or it cannot be repeated
        (`SavedRun.computed`).

    Raises:
        LabError: the recording cannot be read.
    """
    if (
        run.section is not None
        or run.settings_only
        or run.computed
        or run.environment.get("engine", "pocket") != "pocket"
    ):
        return None
    reference = load_reference(lab)
    if reference is None:
        return None
    recorded = reference.data
    if (run.replayed, run.seed, run.clock, run.profile) != tuple(
        recorded[key] for key in ("replayed", "seed", "clock", "profile")
    ):
        return None
    step, how = _first_difference(run, reference)
    if not how:
        return Likeness("", SAME)
    before = made_with(recorded["environment"], recorded.get("machine", {}))
    causes = made_differently(before, made_with(run.environment, run.machine))
    return Likeness(step, f"other bytes than the recording: {how}", tuple(causes))


def made_otherwise(lab: Lab, run: SavedRun) -> str:
    """A sentence on the settings in which a whole run and the recording of its lab differ; "" if they agree in these.

    Raises:
        LabError: the recording cannot be read.
    """
    reference = None if run.section is not None or run.settings_only else load_reference(lab)
    if reference is None:
        return ""
    recorded = reference.data
    words = [
        f"{name} {recorded[name]}"
        for name, mine in (("seed", run.seed), ("clock", run.clock), ("profile", run.profile))
        if mine != recorded[name]
    ]
    return f"Not compared with the recording, which was made with {', '.join(words)}." if words else ""


def _first_difference(run: SavedRun, reference: Reference) -> tuple[str, str]:
    """The first step that differs ("" if it is not known which), and how; ("", "") if all bytes are the same."""
    for step in run.steps:
        if how := _difference(step, run, reference):
            return step, f"step {step} is the first that differs: {how}"
    written = {name for step in run.steps.values() for name in step.files}
    for name in _recorded_files(reference):
        if name not in written:
            return "", f"no step wrote the file {excerpt(name)}"
    return "", ""


def file_digests(run: SavedRun) -> dict[str, str]:
    """The SHA-256 of each file that a step wrote, by its path below the working folder.

    Figures are left out, and of an experiment of a campaign all but its data set, from which most of the rest is made.
    """
    return {path: digest for step in run.steps for path, digest in _digests(run, step)}


def _digests(run: SavedRun, step: str) -> Iterator[tuple[str, str]]:
    """The files that one step wrote, with the SHA-256 of each as it is at the end of the run."""
    for name in run.steps[step].files:
        path = run.folder / "files" / name
        if _is_made_of_data(run.folder / "files", PurePosixPath(name)):
            continue
        if PurePosixPath(name).suffix.lower() not in _FIGURES and path.is_file():
            yield name, _sha256(path)


def _is_made_of_data(files: Path, name: PurePosixPath) -> bool:
    """Whether a file lies in the folder of a campaign's experiment and is not the data set."""
    for folder in list(name.parents)[:-1]:
        if folder.name.isdecimal() and (files / folder / _EXPERIMENT).is_file():
            return name != folder / f"{folder.name}{SUFFIX}"
    return False


def _recorded_files(reference: Reference) -> Mapping[str, str]:
    """The files of the recording by their paths; {} for one that an older Linklab made without them."""
    return reference.data.get("files", {})  # type: ignore[no-any-return] # JSON


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _difference(step: str, run: SavedRun, reference: Reference) -> str:
    """How a step differs from its recording, "" if it does not."""
    recorded = reference.recorded
    # a recording is read without carriage returns at the ends of lines, which a terminal may have shown
    before, after = recorded.outputs.get(step, ""), run.steps[step].output.replace("\r\n", "\n")
    if before != after:
        return _line(before, after)
    numbers = _number(recorded.scalars.get(step, {}), run.scalars.get(step, {}))
    return numbers or _file(reference, run, step)


def _line(before: str, after: str) -> str:
    was, now = before.split("\n"), after.split("\n")
    for number, (one, other) in enumerate(zip(was, now, strict=False), 1):
        if one != other:
            return f'line {number} was "{excerpt(one, _LINE_CHARS)}", is "{excerpt(other, _LINE_CHARS)}"'
    if len(now) < len(was):
        return f"it ends after line {len(now)}, and the recording goes on"
    return f"it goes on after line {len(was)}, where the recording ends"


def _number(before: Mapping[str, tuple[float, str]], after: Mapping[str, tuple[float, str]]) -> str:
    for metric in dict.fromkeys([*before, *after]):
        was, now = before.get(metric), after.get(metric)
        if was != now:
            # with all digits, because only the last one may differ
            words = [f"{found[0]!r} {found[1]}".strip() if found else "nothing" for found in (was, now)]
            return f"{metric} was {words[0]}, is {words[1]}"
    return ""


def _file(reference: Reference, run: SavedRun, step: str) -> str:
    recorded = _recorded_files(reference)
    if "files" not in reference.data:
        return ""
    for name, digest in _digests(run, step):
        if name not in recorded:
            return f"the recording has no file {excerpt(name)}"
        if digest != recorded[name]:
            return f"the file {excerpt(name)} has other bytes"
    return ""
