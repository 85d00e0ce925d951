# SPDX-License-Identifier: BSD-3-Clause
"""The guide on a lab's page says what `linklab step` says."""

import json

import pytest
from labpages import served

from linklab.cli import main
from linklab.guide.evidence import EditorEvidence, TypedEvidence
from linklab.guide.session import GuideSession
from linklab.lab.model import find_lab, load_lab


@pytest.mark.parametrize("line", ["", "./set_env.sh 4", "./set_env.sh 5.1"])
def test_the_next_step_is_the_same_everywhere(tmp_path, monkeypatch, capsys, line):
    """Regression: after set_env.sh the page led back to the first step, and the command to where set_env.sh leads."""
    session = GuideSession(load_lab(find_lab("14")), tmp_path)
    session.see(EditorEvidence(("run",)))
    if line:
        session.see(TypedEvidence("client", line, 1.0, 2.0, "", 0))
    seen = []
    with served(tmp_path) as page:
        page.context.events.watch(seen.append)
    on_page = [event for event in seen if event["kind"] == "guide"][-1]["next"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    assert main(["step", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert on_page == told["next"] == page.context.guide.next_step().id
    guide = page.context.guide.guide
    begins_at = guide.begins_at
    assert [step.id for step in guide.plan.steps].index(on_page) >= begins_at and (begins_at > 0) is bool(line)


def test_a_damaged_progress_is_told_on_the_page(tmp_path):
    """With what every other view says."""
    session = GuideSession(load_lab(find_lab("14")), tmp_path)
    session.see(EditorEvidence(("run",)))
    with session.progress.path.open("ab") as file:
        file.write(b"\xff\n")
    seen = []
    with served(tmp_path) as page:
        page.context.events.watch(seen.append)
        report = page.own("GET", "report")[2]
    told = [event for event in seen if event["kind"] == "guide"][-1]["trouble"]
    assert "progress.jsonl: line 3 of 3 cannot be read and is left out (byte 1 is not UTF-8)" in told
    assert "line 3 of 3 cannot be read" in report
