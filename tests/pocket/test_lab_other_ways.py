# SPDX-License-Identifier: BSD-3-Clause
"""A lab is done again as its student did it: with the folder and the shells that were there, and by each line.

Each of these ways cost honest work its points once, of Lab 3 up to six.
"""

from dataclasses import replace

import pytest
from pockets import needs_pocket
from test_lab_grading import ROOT, handed_in, outcomes, worked

from linklab.cli import main
from linklab.grade.sandbox import SandboxEngine
from linklab.grade.unit import grade
from linklab.guide.evidence import EditorEvidence, FileEvidence, TypedEvidence
from linklab.guide.progress import BEGUN, CONTINUED, LabProgress
from linklab.judge.verdict import Outcome
from linklab.lab.model import find_lab, load_lab

pytestmark = needs_pocket

SET = "tc qdisc add dev h1-eth0 root netem delay 100ms"
SCRIPT = FileEvidence("d.sh", f"#!/bin/sh\n{SET}\n")
RUN, CLOSED, OPENED = EditorEvidence(("run",)), EditorEvidence(("closed", "h1")), EditorEvidence(("opened", "h1"))
MADE = ["mkdir -p day1 && touch day1/a", "ln -s day1 now", "cp set_env.sh d.sh", "ping -c 1 10.0.0.2 > out", "rm out"]
WAYS = {
    "a program of the network before": ([f"echo '{SET}' > d.sh", "chmod +x d.sh", BEGUN], "./d.sh"),
    "a folder of the network before": (["mkdir day1", BEGUN], f"cd day1 && {SET}"),
    "a link of the network before": ([*MADE, BEGUN], f"cd now && {SET}"),
    "a file that is gone": ([*MADE, BEGUN], f"mkdir out && {SET}"),
    "a program that Ctrl+C does not end": (["bash -c 'trap \"\" INT TERM; sleep 100000; sleep 100000'"], f"sudo {SET}"),
    "an editor beside it": ([], f"sudo {SET}; nano notes.txt"),
    "a terminal that was closed": ([SCRIPT, "mkdir day1", "cd day1", CLOSED, OPENED], "sh d.sh"),
    "a network that was continued": ([SCRIPT, "mkdir day1", "cd day1", "alias tc=echo", CONTINUED], "sh d.sh"),
    "a line with which its shell ends": ([], f"exec sudo {SET}"),
    "a script that ends its shell": ([FileEvidence("d.sh", f"{SET}\nexit 0\n")], ". ./d.sh"),
}


@pytest.fixture(scope="module")
def lab():
    """Lab 3."""
    return load_lab(find_lab("3", ROOT))


def test_what_ran_in_the_background_has_ended_in_a_network_that_was_continued(tmp_path, lab):
    """Regression: a server went on, so the next one found its port in use."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.note(BEGUN, environment={})
    for text, status in (("sleep 1000 &", 0), (CONTINUED, 0), ("pgrep -x sleep", 1), ("true", 0)):
        if text == CONTINUED:
            progress.note(CONTINUED, environment={})
            continue
        progress.add(TypedEvidence("h1", text, 1.0))
        progress.add(TypedEvidence("h1", text, 1.0, 1.5, status=status))
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, SandboxEngine())
    assert report.stopped == ""
    assert not [note for note in report.notes if "Not as it was" in note]


@pytest.mark.parametrize("text", ["sh d.sh", "chmod +x d.sh && ./d.sh"])
def test_a_script_that_was_saved_while_the_network_ran_is_there(tmp_path, lab, text):
    """Regression: it was said to be written by the line that ended next, which wrote none when it was done again."""

    def typed(evidence):
        is_it = isinstance(evidence, TypedEvidence) and "delay 100ms" in evidence.text
        return replace(evidence, text=text, files=("d.sh",) if evidence.ended else ()) if is_it else evidence

    folder = worked(tmp_path / "printed", lab, "show", typed).path.parent.parent
    (folder / "d.sh").write_text(f"#!/bin/sh\n{SET}\n", encoding="utf-8")
    assert main(["submit", str(folder), "--student", "s1", "--out", str(tmp_path / "a.zip")]) == 0
    report = grade(tmp_path / "a.zip", None, SandboxEngine())
    assert outcomes(report)["delay-h1"] is Outcome.PASS


def test_what_was_suspended_goes_on(tmp_path, lab):
    """Regression: Ctrl+Z was typed as Ctrl+C, so `bg` found no job, and clients no server."""
    progress = LabProgress.begin(tmp_path, lab)
    progress.note(BEGUN, environment={})
    lines = [("sleep 1000", 148), ("bg", 0), ("pgrep -x sleep", 0), ("kill %1", 0), ("true", 0), ("pgrep -x sleep", 1)]
    for number, (text, status) in enumerate(lines):
        progress.add(TypedEvidence("h1", text, float(number)))
        progress.add(TypedEvidence("h1", text, float(number), number + 0.5, status=status))
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, SandboxEngine())
    assert report.stopped == ""
    assert not [note for note in report.notes if "Not as it was" in note]


def test_files_lie_where_they_lay(tmp_path, lab):
    """In a folder called results too, and programs are programs."""
    work = worked(
        tmp_path / "printed",
        lab,
        "show",
        lambda each: (
            replace(each, text="results/d.sh")
            if isinstance(each, TypedEvidence) and "delay 100ms" in each.text
            else each
        ),
    )
    folder = work.path.parent.parent
    (folder / "results").mkdir()
    for name in ("d.sh", "results/d.sh"):
        (folder / name).write_text(f"#!/bin/sh\n{SET if '/' in name else 'true'}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    assert main(["submit", str(folder), "--student", "s1", "--out", str(tmp_path / "a.zip")]) == 0
    report = grade(tmp_path / "a.zip", None, SandboxEngine())
    assert outcomes(report)["delay-h1"] is Outcome.PASS


@pytest.mark.parametrize("way", WAYS)
def test_the_delay_counts_by_whichever_way_it_was_set(tmp_path, lab, way):
    """And what follows it in another terminal or the same."""
    before, text = WAYS[way]

    def typed(evidence):
        is_it = isinstance(evidence, TypedEvidence) and "delay 100ms" in evidence.text
        return replace(evidence, text=text) if is_it else evidence

    work = worked(tmp_path / "printed", lab, "show", typed)
    progress = LabProgress.begin(tmp_path / "done", lab)
    progress.note(BEGUN, environment={})
    progress.add(RUN)
    for each in before:
        if each in (BEGUN, CONTINUED):
            progress.note(each, environment={})
        elif isinstance(each, str):
            progress.add(TypedEvidence("h1", each, 0.0))
            progress.add(TypedEvidence("h1", each, 0.0, 0.5, status=0))
        else:
            progress.add(each)
    for _, each in work.entries():
        if each is not None and (each != RUN or BEGUN in before):
            progress.add(each)
    report = grade(handed_in(tmp_path / "a.zip", lab, progress), None, SandboxEngine())
    found = outcomes(report)
    assert report.stopped == ""
    assert [found[step] for step in ("unshaped", "ifconfig-h1", "delay-h1", "show")] == [Outcome.PASS] * 4
