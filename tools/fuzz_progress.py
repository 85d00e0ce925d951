# SPDX-License-Identifier: BSD-3-Clause
"""For fuzz_targets.py: the progress of somebody who has done Lab 3, and what its reader promises."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from linklab.errors import InputError
from linklab.guide.continuing import left_off
from linklab.guide.evidence import PredictionEvidence, StateEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import plan_of
from linklab.guide.progress import FILE, FOLDER, LabProgress
from linklab.guide.recorded import RecordedWork
from linklab.lab.model import Lab, load_lab
from linklab.lab.reference import load_reference
from linklab.state.model import State
from linklab.state.node import Interface, Node

ROOT = Path(__file__).resolve().parents[1]
LAB = "03-netem-delay-and-jitter"


@cache
def _lab() -> Lab:
    return load_lab(ROOT / "labs" / LAB)


@cache
def progresses() -> list[bytes]:
    """One whole progress, with every kind of line."""
    lab = _lab()
    reference = load_reference(lab)
    assert reference is not None
    with tempfile.TemporaryDirectory() as name:
        progress = LabProgress.begin(Path(name), lab)
        progress.note("begun", lab=lab.number, slug=lab.slug, environment={"seed": 1})
        for number, (_, found) in enumerate(RecordedWork(plan_of(lab), reference.recorded).of(lab.manual.steps)):
            nodes = {"client": Node({}), "h1": Node({"h1-eth0": Interface(up=True, mtu=1500 - number % 3)})}
            for each in (*found, StateEvidence(State(nodes), float(number))):
                progress.add(each)
            progress.add(PredictionEvidence(lab.manual.predictions[0].id, str(number), "ms", "why"))
        return [progress.path.read_bytes()]


def read_progress(data: bytes, folder: Path) -> None:
    """Whatever is in the file, the lab begins, unless it is no progress; the file keeps all that it has."""
    path = folder / FOLDER / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    try:
        progress = LabProgress.begin(folder, _lab())
        read = progress.read()
        progress.trouble()
        evidence = [found for _, found in read.lines if found is not None]
        guide = Guide(_lab())
        guide.see_all(evidence)
        left_off(evidence)
    except InputError:
        progress_kept = path.read_bytes() == data
    else:
        progress_kept = path.read_bytes().startswith(data)
        if len(read.lines) + len(read.damaged) != read.total:
            raise AssertionError("a line is neither read nor told")
    if not progress_kept:
        raise AssertionError("the file has lost what it had")
