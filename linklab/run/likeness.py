# SPDX-License-Identifier: BSD-3-Clause
"""A run and the recording of its lab → whether they are the same bytes, or which step differs first and how.

On the virtual clock one seed gives one run (docs/architecture.md, "The same seed, the same bytes"), so each replay of a
lab as it was recorded checks that promise. What is compared: what each step showed, the numbers that were read from it,
and by their digests the files that it wrote. Figures are left out: another version of matplotlib draws other bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath

from linklab.base.text import excerpt
from linklab.lab.model import Lab
from linklab.lab.reference import Reference, load_reference
from linklab.lab.saved import SavedRun

SAME = "the same bytes as the recording"
_DRAWN = {".pdf", ".png", ".svg", ".jpg"}
_MOST = 80


@dataclass(frozen=True)
class Likeness:
    """What came of a comparison.

    step: the first that differs, "" where none does.
    words: a clause of "the run is …": `SAME`, or how it differs and what else does between the two.
    """

    step: str
    words: str

    @property
    def same(self) -> bool:
        """Whether all bytes are."""
        return not self.step


def against_recording(lab: Lab, run: SavedRun) -> Likeness | None:
    """Compare a run with the recording of its lab.

    Returns:
        None where no recording can be expected to be the same: there is none, the run is of one section or of another
        engine, clock, seed or profile, the lab has other steps now, or the run cannot be repeated
        (`SavedRun.not_repeatable`).

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
    for step in run.steps:
        if how := _difference(step, run, reference):
            return Likeness(step, f"not the same bytes as the recording: step {step} is the first that differs: {how}")
    return Likeness("", SAME)


def file_digests(run: SavedRun) -> dict[str, str]:
    """The SHA-256 of each file that a step wrote, but for figures; paths below the working folder."""
    found = {}
    for step in run.steps.values():
        for name in step.files:
            path = run.folder / "files" / name
            if PurePosixPath(name).suffix.lower() not in _DRAWN and path.is_file():
                found[name] = _sha256(path)
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _difference(step: str, run: SavedRun, reference: Reference) -> str:
    """How a step differs from its recording, "" if it does not."""
    recorded = reference.recorded
    before, after = recorded.outputs.get(step, ""), run.steps[step].output
    if before != after:
        return _line(before, after)
    numbers = _number(recorded.scalars.get(step, {}), run.scalars.get(step, {}))
    return numbers or _file(reference.data.get("files", {}), run, step)


def _line(before: str, after: str) -> str:
    lines = zip_longest(before.split("\n"), after.split("\n"))
    number, (was, now) = next((number, pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1])
    if was is None or now is None:
        return f"it shows {'more' if was is None else 'less'} than {number - 1} lines"
    return f'line {number} was "{excerpt(was, _MOST)}", is "{excerpt(now, _MOST)}"'


def _number(before: Mapping[str, tuple[float, str]], after: Mapping[str, tuple[float, str]]) -> str:
    for metric in dict.fromkeys([*before, *after]):
        was, now = before.get(metric), after.get(metric)
        if was != now:
            # each digit, since the last may be the one that differs
            words = [f"{found[0]!r} {found[1]}".strip() if found else "nothing" for found in (was, now)]
            return f"{metric} was {words[0]}, is {words[1]}"
    return ""


def _file(digests: Mapping[str, str], run: SavedRun, step: str) -> str:
    for name in run.steps[step].files:
        path = run.folder / "files" / name
        if name in digests and (not path.is_file() or _sha256(path) != digests[name]):
            return f"the file {excerpt(name)} has other bytes"
    return ""
